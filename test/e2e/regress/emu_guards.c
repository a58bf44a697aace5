// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards of a plain loop come before it: what the second one runs must not take away what the first one is
// for.
#include <stdio.h>
static double a[12][7], d[6][7], b[40], c[40], x[12];
static void pending(double s) {
#pragma cofuse forall collapse(2)
  for (int i = 0; i < 12; i++)
    for (int j = 2; j < 6; j++)
      a[i][j] = a[i][j] * 0.5 + s;
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    b[i] = b[i] + s * i;
}
/* A plain loop, since its writes are no box: it reads a[0] and writes what a pending task reads. */
static void last(int n, int m, double *d, const double *p) {
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      d[j] = p[i];
}
int main(int argc, char **argv) {
  (void)argv;
  int n = 2 * argc, m = 39 + argc; // not known to the compiler
  double s = 0;
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 7; j++)
      a[i][j] = i + 0.25 * j;
  for (int i = 0; i < 40; i++)
    b[i] = i;
#pragma cofuse store(a, b)
  pending(1);
#pragma cofuse flush
  pending(2);
  for (int q = 0; q < m; q++) // reads a[0][0], then b
    c[q] = a[0][0] + b[q];
  pending(3);
  for (int q = 0; q < n; q++) { // writes what tasks leave of a row
    a[1][q] = 100 + q;
    s += b[q];
  }
  pending(4);
  for (int q = 0; q < n; q++)
    a[11][q] += b[q];
#pragma cofuse store(d)
#pragma cofuse forall
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 7; j++)
      d[i][j] = i - j;
#pragma cofuse flush
#pragma cofuse forall
  for (int i = 0; i < 12; i++)
    for (int j = 1; j < 5; j++)
      a[i][j + 1] = a[i][j + 1] + d[j + 1][j - 1] * d[j][j];
  last(1, 27, &d[0][0], &a[0][0]);
  s += d[0][3] + d[3][6];
  for (int q = 0; q < m; q++)
    s += c[q] * (q + 1);
  printf("%.17g %g %g %g\n", s, a[1][1], a[11][0], a[11][1]);
#pragma cofuse store(x)
#pragma cofuse forall
  for (int i = 0; i < 5; i++)
    x[i] = i;
#pragma cofuse flush
#pragma cofuse forall
  for (int i = 1; i < 7; i++)
    x[i] = -i;
#pragma cofuse release(x)
  x[0] = 55; // no pending task touches it, but the device has it
  for (int i = 1; i < n + 10; i++)
    x[i] = 2 * i;
#pragma cofuse store(x)
#pragma cofuse forall
  for (int i = 0; i < 12; i++)
    x[i] += 1;
  for (int i = 0; i < 12; i++)
    printf(" %g", x[i]);
  printf("\n");
}
