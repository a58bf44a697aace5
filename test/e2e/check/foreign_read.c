// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: an unguarded read of what other ranks own gives NaN instead of an old value.
#include <stdio.h>
#include <stdlib.h>

double foreign_get(const double *p, int i);
double (*volatile get)(const double *, int) = foreign_get;

int main(void) {
  int n = 5000;
  double *a = calloc(n, sizeof *a);
#pragma cofuse store(a[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] += 1;
#pragma cofuse flush
  printf("%g %g\n", get(a, 0), get(a, n - 1));
#pragma cofuse update(a[0 : n])
  printf("%g %g\n", get(a, 0), get(a, n - 1));
  free(a);
  return 0;
}
