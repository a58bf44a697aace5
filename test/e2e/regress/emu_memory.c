// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More arrays than a device has memory for: those that were not used for the longest time make room.
#include <stdio.h>
#include <stdlib.h>
enum { N = 4000, ARRAYS = 9 };
int main(void) {
  double *a[ARRAYS], s = 0;
  for (int k = 0; k < ARRAYS; k++) {
    double *x = a[k] = malloc(N * sizeof *x);
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] = i + k;
#pragma cofuse flush
  }
  for (int turn = 0; turn < 4; turn++)
    for (int k = 0; k < ARRAYS; k++) {
      double *x = a[k], *y = a[(k + 2 + turn) % ARRAYS];
#pragma cofuse forall
      for (int i = 1; i < N - 1; i++)
        x[i] = 0.5 * x[i] + 0.25 * (y[i - 1] + y[i + 1]);
#pragma cofuse flush
      if (k == turn)
        x[7 * turn] += 100;
    }
  for (int k = 0; k < ARRAYS; k++)
    for (int i = 0; i < N; i++)
      s += a[k][i] * (i % 5 + k);
  printf("%.17g %.17g\n", s, a[3][17]);
  for (int k = 0; k < ARRAYS; k++)
    free(a[k]);
}
