// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 17: rows from below, and the second call swaps source and target of the first.
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

static void blur(int n, int m, double u[n][m], double v[n][m]) {
#pragma cofuse forall collapse(2)
  for (int i = n - 2; i > 0; i--)
    for (int j = m - 1; j >= 0; j--)
      v[i][j] = u[i + 1][j] - u[i - 1][m - 1 - j];
}
int main(void) {
  enum { N = 10, M = 3 };
  double a[N][M], x[N][M];
#pragma cofuse store(a[0 : N][0 : M], x[0 : N][0 : M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      a[i][j] = 10 * i + j;
      x[i][j] = 0;
    }
  blur(N, M, a, x);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      OK(x[i][j] == (i > 0 && i < N - 1 ? 20 + 2 * j - (M - 1) : 0));
  blur(N, M, x, a);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      int up = i + 1 < N - 1 ? 20 + 2 * j - (M - 1) : 0, down = i > 1 ? 20 + 2 * (M - 1 - j) - (M - 1) : 0;
      OK(a[i][j] == (i > 0 && i < N - 1 ? up - down : 10 * i + j));
    }
  puts("ok");
  return 0;
}
