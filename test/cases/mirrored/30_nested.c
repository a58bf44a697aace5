// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 30: rows from the last one, columns from the right, and inner loops that read the row below,
// shifted.
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

static void row(int m, double *r) {
#pragma cofuse forall
  for (int j = m - 1; j >= 0; j--)
    r[j] += 1;
}
static void shift(int m, double *r, const double *below) {
#pragma cofuse forall
  for (int j = m - 2; j >= 0; j--)
    r[j] += below[j + 1];
}
int main(void) {
  enum { N = 6, M = 5 };
  double u[N][M];
#pragma cofuse store(u[0 : N][0 : M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[i][j] = i;
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    row(M, u[i]);
  for (int i = N - 2; i >= 0; i--)
    shift(M, u[i], u[i + 1]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      int steps = N - 1 - i < M - 1 - j ? N - 1 - i : M - 1 - j; /* down the diagonal */
      OK(u[i][j] == (i + 1) * (steps + 1) + steps * (steps + 1) / 2);
    }
  puts("ok");
  return 0;
}
