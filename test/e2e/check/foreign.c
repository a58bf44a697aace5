// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: foreign_set of another file, which no plugin compiles, writes a store. Without an argument a
// host directive says so; with one nobody does.
#include <stdio.h>
#include <stdlib.h>

void foreign_set(double *p, int i, double v);
void (*volatile set)(double *, int, double) = foreign_set;

int main(int argc, char **argv) {
  (void)argv;
  int n = 5000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = i;
#pragma cofuse flush
  if (argc > 1) {
    set(a, 4321, -1);
  } else {
#pragma cofuse host writes(a)
    set(a, 4321, -1);
  }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    b[i] = a[n - 1 - i];
  printf("%g\n", b[n - 1 - 4321]);
  free(a);
  free(b);
  return 0;
}
