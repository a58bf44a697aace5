// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// All ways to write an array access.
#include <stdio.h>
#include <stdlib.h>

enum { N = 24, M = 10 };
struct part {
  int id;
  double pos[3];
  struct {
    float q;
    short h[2];
  } in;
};
struct world {
  int n, m;
  double *u;
  double fixed[N];
  struct part *p;
  double (*grid)[M];
};
static unsigned long sum(const void *p, size_t n) {
  unsigned long h = 14695981039346656037UL;
  for (size_t i = 0; i < n; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211UL;
  return h;
}
static double table[4] = {1, 2, 3, 5};
int count = N;

static void vla(int n, int m, double a[n][m], double (*b)[m], double c[static n * m]) {
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = a[i][m - 1 - j] + c[j * n + i];
  int old = m;
  m = 2; // the array keeps its extents
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < old; j++)
      a[i][j] += b[i][j] * i;
}
static void cube(int n, double t[n][n + 1][n + 2]) {
#pragma cofuse forall collapse(3)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n + 1; j++)
      for (int k = 0; k < n + 2; k++)
        t[i][j][k] = i * 100 + j * 10 + k;
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    t[i][i][i + 1] = -t[i][n][0];
}

int main(void) {
  struct world W = {N, M, calloc(N * M, 8), {0}, calloc(N, sizeof(struct part)), calloc(N, sizeof(double[M]))};
  struct world *w = &W;
  double *flat = calloc(N * M, 8), *other = calloc(N * M, 8), x[N], y[N];
  int *idx = malloc(N * sizeof *idx), n = N, m = M;
  unsigned um = M;
  for (int i = 0; i < N; i++) {
    idx[i] = (i * 7 + 3) % N;
    x[i] = i * 0.5;
    y[i] = -i;
    w->p[i].id = i;
    w->u[i] = i * i;
  }
  double *mid = flat + 3 * m;
  double(*view)[m] = (double(*)[m])other;
#pragma cofuse store(w->u[0:N*M], w->fixed, w->p[0:w->n], w->grid[0:N], flat[0:N][0:M], other[0:N*M], x, y, idx[0:n])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < w->n; i++)
    for (int j = 0; j < w->m; j++) {
      flat[i * m + j] = i - j;
      *(other + i * m + j) = *(flat + i * m + j) * 2 + i;
      w->grid[i][j] = other[m * i + j] + 1;
    }
#pragma cofuse forall
  for (int i = 0; i < n - 3; i++) {
    mid[i] += 3;
    int at = i * m, next = at + 1;
    view[i][2] = flat[next] + (&flat[at])[3];
    const double *row = flat + at;
    view[i][3] = row[4] + *row + 2[row];
  }
#pragma cofuse forall
  for (unsigned i = 1; i < w->n; i++) {
    w->u[i * um - 1] = w->u[i * um - um] + 1;
    w->fixed[i - 1] = x[w->n - 1 - i];
  }
#pragma cofuse forall
  for (int i = 0; i < w->n; i++) {
    struct part *p = &w->p[i];
    p->pos[1] = i * 0.25 + p->id;
    w->p[i].pos[0] = p->pos[1] * 2;
    (*(w->p + i)).in.q = 1.5f * i;
    w->p[i].in.h[1] = (short)(i - 3);
    w->p[i].id += w->p[i].in.h[1];
  }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    y[i] += x[idx[i]] * table[i % 4] + x[0] + *x + w->p[idx[i]].pos[1] + table[2];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[idx[i]] = y[i];
#pragma cofuse forall
  for (int i = 0; i < count / 2; i++)
    x[2 * i + 1] = x[2 * i] + y[count - 1 - i];
  vla(N, M, (double(*)[M])w->grid, view, w->u);
  double t[5][6][7];
#pragma cofuse store(t)
  cube(5, t);
  double alpha = 2;
  double pq[1] = {8}, rr = 4;
#pragma cofuse store(pq)
#pragma cofuse task
  alpha = rr / *pq;
#pragma cofuse task name(block)
  {
    pq[0] += 1;
    if (pq[0] > 3)
      alpha += pq[0];
    for (int i = 0; i < 3; i++)
      alpha *= 1 + i * 0.5;
  }
#pragma cofuse update(x[0:n], y)
#pragma cofuse host reads(x, y[2:3]) writes(idx[0:n])
  printf("%016lx %016lx %d\n", sum(x, sizeof x), sum(y, sizeof y), idx[3]);
#pragma cofuse host
  {
    printf("%016lx %016lx %016lx\n", sum(flat, 8 * N * M), sum(other, 8 * N * M), sum(w->u, 8 * N * M));
    printf("%016lx %016lx\n", sum(w->fixed, sizeof w->fixed), sum(w->grid, 8 * N * M));
  }
  for (int i = 0; i < N; i++)
    printf("%d %g %g %g %d\n", w->p[i].id, w->p[i].pos[0], w->p[i].pos[1], w->p[i].in.q, w->p[i].in.h[1]);
  printf("%016lx %.17g %.17g\n", sum(t, sizeof t), alpha, pq[0]);
#pragma cofuse flush
#pragma cofuse release(flat, other, w->u)
  free(flat);
  free(other);
  free(idx);
  free(w->u);
  free(w->p);
  free(w->grid);
  return 0;
}
