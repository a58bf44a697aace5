// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 02: columns copied to the right, at both ends of the row, by loops in both directions.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(c)                                                                                                \
  do {                                                                                                       \
    if (!(c)) {                                                                                              \
      printf("FAIL line %d\n", __LINE__);                                                                    \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (0)

int main(void) {
  enum { N = 7 };
  double a[N][N];
#pragma cofuse store(a[0 : N][0 : N])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = 10 * i + j;
#pragma cofuse forall
  for (int i = N - 3; i >= 2; i--)
    a[i][N - 1] = a[i][N - 3];
#pragma cofuse forall
  for (int i = 2; i < N - 2; i++)
    a[i][2] = a[i][0];
  for (int i = 0; i < N; i++) {
    OK(a[i][N - 1] == ((i >= 2 && i < N - 2) ? 10 * i + N - 3 : 10 * i + N - 1));
    OK(a[i][2] == ((i >= 2 && i < N - 2) ? 10 * i : 10 * i + 2));
    OK(a[i][1] == 10 * i + 1);
  }
  puts("ok");
  return 0;
}
