// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large arrays that come and go, as in a library: their pages move from those that nothing reads any more to
// those that are about to be written (runtime/device/pages.c). Arrays of several sizes, written in whole, in
// part or by the host first, from calloc and from malloc, several to a block, freed early and late.
#include "show.h"

enum { ROWS = 700, COLS = 1000, POOL = 6 };

typedef struct grid {
  long n, m;
  double *p, *block;
} grid;

static unsigned seed = 1;
static unsigned next(unsigned below) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % below;
}

static grid grid_new(long n, long m, int zeros) {
  size_t count = (size_t)n * (size_t)m;
  double *t = zeros ? calloc(count, sizeof *t) : malloc(count * sizeof *t);
#pragma cofuse store(t[0 : n][0 : m])
  return (grid){n, m, t, t};
}

static void fill(grid a, double v) {
  double *p = a.p;
  long n = a.n, m = a.m;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      p[i * m + j] = v + (double)((i * 7 + j * 3) % 41);
}

static void combine(grid out, grid a, grid b, double f) {
  double *o = out.p;
  const double *x = a.p, *y = b.p;
  long n = out.n, m = out.m;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      o[i * m + j] = f * x[i * m + j] + y[i * m + j] * 0.5;
}

// All of it, from the rows above and below: another nest than what wrote them.
static void turn(grid out, grid a) {
  double *o = out.p;
  const double *x = a.p;
  long n = out.n, m = out.m;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      o[i * m + j] = x[i * m + (m - 1 - j)] * 0.75 + 1.0;
}

// The inside only: the border keeps what it has.
static void inside(grid out, grid a) {
  double *o = out.p;
  const double *x = a.p;
  long n = out.n, m = out.m;
#pragma cofuse forall collapse(2)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++)
      o[i * m + j] = 0.25 * (x[(i - 1) * m + j] + x[(i + 1) * m + j] + x[i * m + j - 1] + x[i * m + j + 1]);
}

static void sometimes(grid out, grid a) {
  double *o = out.p;
  const double *x = a.p;
  long n = out.n, m = out.m;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      if (x[i * m + j] > 20.0)
        o[i * m + j] = x[i * m + j] - 20.0;
}

static unsigned long long hash(grid a) {
  unsigned long long h = 0;
  for (long k = 0; k < a.n * a.m; k++) {
    unsigned long long bits;
    memcpy(&bits, &a.p[k], sizeof bits);
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

// Two arrays in one block: what goes with one must leave the other alone.
static void pair(void) {
  long n = ROWS, m = COLS, size = n * m;
  double *block = malloc(2 * (size_t)size * sizeof *block), *a = block, *b = block + size;
#pragma cofuse store(a[0 : n][0 : m], b[0 : n][0 : m])
  grid x = {n, m, a, block}, y = {n, m, b, block}, z = grid_new(n, m, 0), w = grid_new(n, m, 0);
  fill(x, 3.0);
  turn(y, x);
  turn(z, y);
  combine(w, x, y, 0.5);
  free(block);
  grid v = grid_new(n, m, 0);
  turn(v, w);
  free(w.block);
  printf("pair %016llx %016llx\n", hash(z), hash(v));
  free(z.block);
  free(v.block);
}

int main(void) {
  grid pool[POOL];
  for (int k = 0; k < POOL; k++) {
    pool[k] = grid_new(ROWS + (k % 2) * 100, COLS, k == 3);
    if (k != 3)
      fill(pool[k], k);
  }
  for (int step = 0; step < 60; step++) {
    int a = (int)next(POOL), b = (a + 2 * (1 + (int)next(POOL / 2 - 1))) % POOL;
    grid t = grid_new(pool[a].n, pool[a].m, next(5) == 0), u = grid_new(pool[a].n, pool[a].m, 0);
    if (next(4) == 0) // the host is first
      for (long k = 0; k < t.n * t.m; k += 100)
        t.p[k] = (double)k;
    switch (next(4)) {
    case 0:
      combine(t, pool[a], pool[b], 0.5);
      turn(u, t);
      break;
    case 1:
      fill(t, 2.0);
      inside(t, pool[a]);
      combine(u, t, pool[b], -0.25);
      break;
    case 2:
      fill(u, 1.0);
      sometimes(u, pool[a]);
      turn(t, u);
      combine(u, t, pool[b], 0.125);
      break;
    default:
      turn(t, pool[b]);
      combine(u, t, t, 0.5);
      inside(u, t);
    }
    free(t.block);
    free(pool[a].block);
    pool[a] = u;
    if (next(9) == 0)
      printf("step %d: %016llx\n", step, hash(pool[next(POOL)]));
  }
  pair();
  for (int k = 0; k < POOL; k++) {
    printf("grid %d: %016llx\n", k, hash(pool[k]));
    free(pool[k].block);
  }
  return 0;
}
