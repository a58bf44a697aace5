// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: a subscript that depends on data leaves its store. With an argument all subscripts are good.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  (void)argv;
  int n = 100, k = 40;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  int *col = malloc(n * sizeof *col);
#pragma cofuse store(x[0 : n], y[0 : n], col[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    x[i] = i;
    col[i] = (7 * i) % n;
  }
  if (argc == 1)
    col[k] = 1000007;
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    y[i] = x[col[i]] + 1;
  double s = 0;
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += y[i];
  printf("%g\n", s);
  free(x);
  free(y);
  free(col);
  return 0;
}
