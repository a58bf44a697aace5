// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -ffast-math, fmin of a value and the variable kept the variable from before the loop: its partial
// result starts from NaN, which nnan excludes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  for (int n = 1; n <= 100; n += 11) {
    double *x = malloc((size_t)n * sizeof *x), a = 50, b = -50, c = 50, d = -50;
    for (int i = 0; i < n; i++)
      x[i] = i * 37 % 101 - 40;
#pragma cofuse store(x[0 : n])
#pragma cofuse forall reduction(min : a)
    for (int i = 0; i < n; i++)
      a = fmin(x[i], a);
#pragma cofuse forall reduction(max : b)
    for (int i = 0; i < n; i++)
      b = fmax(b, x[i]);
#pragma cofuse forall reduction(min : c)
    for (int i = 0; i < n; i++)
      if (x[i] < c)
        c = x[i];
#pragma cofuse forall reduction(max : d)
    for (int i = 0; i < n; i++)
      d = x[i] >= d ? x[i] : d;
    printf("%d %g %g %g %g\n", n, a, b, c, d);
    free(x);
  }
}
