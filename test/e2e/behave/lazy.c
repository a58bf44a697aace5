// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 200 times malloc, store, two loops, free: the arrays of all iterations must not pile up.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  long n = 1 << 21;
  double *r = calloc(n, sizeof *r);
#pragma cofuse store(r[0 : n])
  for (int k = 0; k < 200; k++) {
    double *t = malloc(n * sizeof *t);
#pragma cofuse store(t[0 : n])
#pragma cofuse forall
    for (long i = 0; i < n; i++)
      t[i] = k + i % 3;
#pragma cofuse forall
    for (long i = 0; i < n; i++)
      r[i] += t[i];
    free(t);
  }
  printf("%g %g\n", r[0], r[n - 1]);
  free(r);
  return 0;
}
