// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attempt to join one nest left its shift behind, and a reduction joined another nest with it: it got an
// edge.
#include <stdio.h>
#include <stdlib.h>

static void vectors(long n) {
  double *a = malloc(n * 8), *b = malloc(n * 8), *c = malloc(n * 8), *d = malloc(n * 8);
  for (long i = 0; i < n; i++)
    a[i] = b[i] = d[i] = 0, c[i] = i + 1;
#pragma cofuse store(a[0 : n], b[0 : n], c[0 : n], d[0 : n])
  double s = 0;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    a[i] = 1.0 + i;
#pragma cofuse forall
  for (long i = 1; i < n - 1; i++)
    b[i] = 2.0 * i;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    d[i] = 3.0 * b[i];
#pragma cofuse forall reduction(+ : s)
  for (long i = 0; i < n; i++)
    s += c[i];
  printf("%g\n", s);
  double y = 0;
  for (long i = 0; i < n; i++)
    y += a[i] + b[i] + d[i];
  printf("%g\n", y);
}

static void grids(void) {
  long n = 300;
  double(*u)[300] = malloc(n * n * 8), (*v)[300] = malloc(n * n * 8), (*w)[300] = malloc(n * n * 8),
  *norm = malloc(8);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      u[i][j] = i + j, v[i][j] = w[i][j] = 0;
  *norm = 0;
#pragma cofuse store(u[0 : n][0 : n], v[0 : n][0 : n], w[0 : n][0 : n], norm[0 : 1])
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      w[i][j] = 1;
#pragma cofuse forall collapse(2)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      v[i][j] += 2;
#pragma cofuse forall collapse(2) reduction(+ : *norm)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      *norm += u[i][j];
  printf("%g %g\n", *norm, v[4][5] + w[3][3]);
}

int main(void) {
  vectors(1000);
  grids();
  return 0;
}
