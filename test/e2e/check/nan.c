// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: where a NaN comes from. It arises in one element of a temporary of three fused tasks. A NaN
// that the program put there itself is not reported.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 3000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
#pragma cofuse store(a[0 : n], b[0 : n])
  for (int i = 0; i < n; i++)
    a[i] = i == 1234 ? -1 : i;
  b[7] = NAN;
  {
#pragma cofuse store(c[0 : n])
#pragma cofuse forall name(root)
    for (int i = 0; i < n; i++)
      c[i] = sqrt(a[i]);
#pragma cofuse forall name(twice)
    for (int i = 0; i < n; i++)
      a[i] = 2 * c[i];
    free(c);
  }
  int bad = 0;
#pragma cofuse forall reduction(+ : bad)
  for (int i = 0; i < n; i++)
    bad += a[i] != a[i];
  printf("%d\n", bad);
#pragma cofuse forall name(shift)
  for (int i = 0; i < n; i++)
    b[i] = a[n - 1 - i];
  printf("%g\n", b[0]);
  free(a);
  free(b);
  return 0;
}
