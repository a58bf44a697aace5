// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 14: a statement behind the inner loop, rows from the last to the first.
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
  enum { N = 8 };
  int a[N][2 * N] = {{0}};
  int cnt = 0;
#pragma cofuse store(a[0 : N][0 : 2 * N])
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--) {
    int hi = 2 * N - 1 - 2 * i;
    for (int j = hi; j > 0; j--)
      a[i][j] = 1;
    a[i][0] = 2;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 2 * N; j++) {
      OK(a[i][j] == (j == 0 ? 2 : j <= 2 * N - 1 - 2 * i));
      cnt += a[i][j];
    }
  OK(cnt == 64 + 16);
  puts("ok");
  return 0;
}
