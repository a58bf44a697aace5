// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Inner loops whose bounds move with outer counters.
#include <stdio.h>
#include <stdlib.h>

enum { N = 23, M = 31 };
static double a[N][M], b[N][M], x[N * M], y[M];
static int c[N][M];
static void show(const char *what) {
  unsigned long h = 14695981039346656037UL;
  const unsigned char *all[] = {(void *)a, (void *)b, (void *)x, (void *)y, (void *)c};
  const size_t size[] = {sizeof a, sizeof b, sizeof x, sizeof y, sizeof c};
  for (int k = 0; k < 5; k++)
    for (size_t i = 0; i < size[k]; i++)
      h = (h ^ all[k][i]) * 1099511628211UL;
  printf("%-12s %016lx\n", what, h);
}
static double dot(const double *p, const double *q, int n) {
  double s = 0;
  for (int k = 0; k < n; k++)
    s += p[k] * q[k];
  return s;
}

int main(int argc, char **argv) {
  (void)argv;
  int n = N, m = M, width = 2 + argc;
  double(*g)[M] = calloc(N, sizeof *g), *packed = calloc(N * N, sizeof *packed);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      a[i][j] = i * 0.25 + j;
      b[i][j] = i - j * 0.5;
      c[i][j] = i * j;
    }
  for (int j = 0; j < M; j++)
    y[j] = 1.0 / (j + 1);
#pragma cofuse store(a, b, x, y, c, g[0 : N], packed[0 : N * N])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] += b[i][j] * y[j];
  show("lower");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      a[i][j] -= b[i][j];
  show("upper");
#pragma cofuse forall
  for (int i = n - 1; i >= 0; i--)
    for (int j = i; j >= 0; j--)
      b[i][j] = a[i][j] * 2 + a[i][i];
  show("down");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = m - 1; j > i; j -= 3)
      b[i][j] = a[i][j] + i;
  show("down step");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = i; j < m; j += 2)
      b[i][j] = a[i][j] - i;
  show("step");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = 2 * i; j > i - 4; j--)
      if (j >= 0 && j < m)
        b[i][j] += j;
  show("clipped");
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < i; j++)
      for (int k = j; k < i; k++)
        s += a[j][k] * y[k - j];
    g[i][i] = s;
  }
  show("nested");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = i - width; j < i; j++)
      if (j >= 0)
        g[i][j] = b[i][j] + a[i][j];
  show("band");
#pragma cofuse forall
  for (size_t i = 0; i < (size_t)n; i++)
    for (size_t j = 0; j < n - 1 - i; j++)
      g[i][j] += a[n - 1 - i][j];
  show("size_t");
#pragma cofuse forall
  for (unsigned i = 0; i < (unsigned)n; i++)
    for (unsigned j = i; j != (unsigned)n; j++)
      c[i][j] = c[i][j] * 3 + (int)(i - j);
  show("unsigned");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = i + n; j < n; j++)
      g[i][j] = 7;
  show("empty");
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      packed[i * n + j] = a[i][j] + dot(a[i], b[i], j);
  show("flat");
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = i < j ? i : j; k < n; k++)
        x[i * m + j] += a[i][k] * b[j][k];
  show("unbounded");
  double sum = 0;
#pragma cofuse forall reduction(+ : sum)
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j += 4)
      sum += (int)packed[j * n + i];
  printf("%.17g\n", sum);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      printf("%.17g\n", g[i][j]);
  free(g);
  free(packed);
  return 0;
}
