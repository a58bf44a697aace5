// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil of radius 4 on 10 rows: at 4 ranks the halo reaches across whole tiles of neighbours.
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
  enum { N = 10, R = 4 };
  double u[N][N], w[N][N];
#pragma cofuse store(u[0 : N][0 : N], w[0 : N][0 : N])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = i * N + j;
      w[i][j] = 0;
    }
#pragma cofuse forall collapse(2)
  for (int i = R; i < N - R; i++)
    for (int j = R; j < N - R; j++)
      w[i][j] = u[i - R][j] + u[i + R][j] + u[i][j - R] + u[i][j + R];
  for (int i = R; i < N - R; i++)
    for (int j = R; j < N - R; j++)
      OK(w[i][j] == 4.0 * (i * N + j));
  puts("ok");
  return 0;
}
