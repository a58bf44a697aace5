// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes of one array at different fixed columns: taken for a dependence, or for none, both
// wrong.
#include <math.h>
#include <stdint.h>
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
  for (int i = 2; i < N - 2; i++)
    a[i][0] = a[i][2];
  for (int i = 0; i < N; i++)
    OK(a[i][0] == ((i >= 2 && i < N - 2) ? 10 * i + 2 : 10 * i));
  puts("ok");
  return 0;
}
