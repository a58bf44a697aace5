// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A time loop whose scalar changes every iteration and whose end needs a value each time.
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 2, n = 1000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), big = 0;
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = i;
  for (int k = 0; k < steps; k++) {
    double h = 1.0 / (k + 3);
#pragma cofuse forall
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i] + h * (a[i - 1] - a[i + 1]);
#pragma cofuse forall
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i] * (1 - h);
    big = 0;
#pragma cofuse forall reduction(max : big)
    for (int i = 0; i < n; i++)
      if (a[i] > big)
        big = a[i];
  }
  printf("%.17g\n", big);
  free(a);
  free(b);
  return 0;
}
