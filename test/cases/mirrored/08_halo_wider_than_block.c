// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 08: far neighbours on one side only, both loops counting down; then on the other side.
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
  enum { N = 10, R = 4 };
  double u[N][N], w[N][N];
#pragma cofuse store(u[0 : N][0 : N], w[0 : N][0 : N])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = i * N + j;
      w[i][j] = 0;
    }
#pragma cofuse forall collapse(2)
  for (int i = N - R - 1; i >= 0; i--)
    for (int j = N - R - 1; j >= 0; j--)
      w[i][j] = u[i + R][j] + u[i][j + R];
#pragma cofuse forall collapse(2)
  for (int i = N - 1; i >= R; i--)
    for (int j = N - R - 1; j >= 0; j--)
      u[i][j] = w[i - R][j] - 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double ahead = 2.0 * (i * N + j) + R * N + R, behind = 2.0 * ((i - R) * N + j) + R * N + R - 1;
      OK(w[i][j] == (i < N - R && j < N - R ? ahead : 0));
      OK(u[i][j] == (i >= R && j < N - R ? behind : i * N + j));
    }
  puts("ok");
  return 0;
}
