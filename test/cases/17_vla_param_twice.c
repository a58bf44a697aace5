// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function with VLA parameters called with different arrays: nothing about addresses may be kept from
// the first call.
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

static void blur(int n, int m, double u[n][m], double v[n][m]) {
#pragma cofuse forall collapse(2)
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      v[i][j] = u[i - 1][j] + u[i + 1][j];
}
int main(void) {
  enum { N = 10, M = 3 };
  double a[N][M], b[N][M], x[N][M], y[N][M];
#pragma cofuse store(a[0 : N][0 : M], b[0 : N][0 : M], x[0 : N][0 : M], y[0 : N][0 : M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      a[i][j] = i;
      b[i][j] = 100 + i;
      x[i][j] = y[i][j] = 0;
    }
  blur(N, M, a, x);
  blur(N, M, b, y);
  for (int i = 1; i < N - 1; i++)
    for (int j = 0; j < M; j++) {
      OK(x[i][j] == 2 * i);
      OK(y[i][j] == 200 + 2 * i);
    }
  puts("ok");
  return 0;
}
