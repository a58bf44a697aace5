// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: an access under a condition that leaves its store in one iteration, and rows of varying
// length (CSR) that end beyond theirs. With an argument of 1 or 2 one of the two is wrong, without none is.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int wrong = argc > 1 ? atoi(argv[1]) : 0;
  int n = 64, m = 200, start[65];
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *v = malloc(m * sizeof *v);
  long *row = malloc((n + 1) * sizeof *row);
#pragma cofuse store(a[0 : n], b[0 : n], v[0 : m], row[0 : n + 1])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = i;
#pragma cofuse forall
  for (int i = 0; i < m; i++)
    v[i] = i * 0.5;
  start[0] = 0;
  for (int i = 0; i < n; i++)
    start[i + 1] = start[i] + i % 5;
  for (int i = 0; i <= n; i++)
    row[i] = start[i];
  int reach = wrong == 1 ? n : n - 3;
  if (wrong == 2)
    row[n] = 260;
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double s = 0;
    if (i < reach)
      s = a[i + 3];
    for (long k = row[i]; k < row[i + 1]; k++)
      s += v[k];
    b[i] = s;
  }
  double s = 0;
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += b[i];
  printf("%g\n", s);
  free(a);
  free(b);
  free(v);
  free(row);
  return 0;
}
