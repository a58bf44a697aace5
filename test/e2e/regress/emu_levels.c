// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over different ranges in one group: those that need each other run in order, sums of two do not mix.
#include <stdio.h>
int main(void) {
  enum { N = 2000, M = 170 };
  static double a[N], b[N], c[M], d[M], s, t, u;
#pragma cofuse store(a, b, c, d, s, t, u)
  for (int turn = 0; turn < 6; turn++) {
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      a[i] = 0.25 * a[i] + i % 7 + turn;
#pragma cofuse forall
    for (int i = 0; i < M; i++)
      c[i] = 0.5 * c[i] - i % 5;
#pragma cofuse forall reduction(+ : s)
    for (int i = 0; i < N; i++)
      s += a[i];
#pragma cofuse forall reduction(+ : t)
    for (int i = 0; i < M; i++)
      t += c[i] * 3;
#pragma cofuse forall reduction(max : u)
    for (int i = 10; i < N - 10; i++)
      u = a[i] > u ? a[i] : u;
#pragma cofuse forall
    for (int i = 1; i < M - 1; i++)
      d[i] = c[i - 1] + a[i];
#pragma cofuse forall
    for (int i = 20; i < N; i++)
      b[i] = 2 * a[i] + b[i];
#pragma cofuse forall
    for (int i = 3; i < M; i++)
      d[i] += b[i];
#pragma cofuse forall
    for (int i = 0; i < M - 7; i++)
      c[i] -= d[i];
  }
#pragma cofuse flush
  printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", (double)s, (double)t, (double)u, a[33], c[40], d[50]);
}
