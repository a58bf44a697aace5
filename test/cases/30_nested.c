// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A forall that calls a function which has a forall of its own.
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

static void row(int m, double *r) {
#pragma cofuse forall
  for (int j = 0; j < m; j++)
    r[j] += 1;
}
int main(void) {
  enum { N = 6, M = 5 };
  double u[N][M];
#pragma cofuse store(u[0 : N][0 : M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[i][j] = i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    row(M, u[i]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      OK(u[i][j] == i + 1);
  puts("ok");
  return 0;
}
