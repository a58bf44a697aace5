// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../multigrid.c fused by hand: a loop per product with a matrix, and everything element-wise in the loop
// before or after it. Each level has three arrays; the corrected e takes the place of e, the result that of
// the residual.
#include "poisson.h"

enum { MAX_LEVELS = 13 };

struct level {
  struct rows a;
  struct rows from_next;                        // interpolation from the next coarser level
  long *restrict first, *restrict entry;        // its columns: where they begin, which entries they are,
  int *restrict row;                            // in which rows
  double *restrict sweep;                       // omega / diagonal
  double *restrict r, *restrict e, *restrict t; // right-hand side, approximation, residual and result
};

// Coarse neighbours of fine point f in one direction, m coarse points: the first, and how many.
static long neighbours(long f, long m, long *first) {
  *first = f % 2 ? f / 2 : f > 0 ? f / 2 - 1 : 0;
  return f % 2 ? 1 : (f > 0) + (f / 2 < m);
}

static void make_interpolation(struct level *l, long m) {
  long n = 2 * m + 1;
  struct rows p = {.n = n * n, .entries = 9 * m * m};
  p.start = hand_alloc(p.n + 1, sizeof *p.start);
  p.column = hand_alloc(p.entries, sizeof *p.column);
  p.value = hand_alloc(p.entries, sizeof *p.value);
  l->first = hand_alloc(m * m + 1, sizeof *l->first);
  l->row = hand_alloc(p.entries, sizeof *l->row);
  l->entry = hand_alloc(p.entries, sizeof *l->entry);
  // The number of entries in the rows before fine line i is 3 m for each of its coarse neighbours.
  HAND_FOR(9 * m * m)
  for (long i = 0; i < n; i++) {
    long above = 0, ci, cj;
    for (long f = 0; f < i; f++)
      above += neighbours(f, m, &ci);
    long k = 3 * m * above, rows = neighbours(i, m, &ci);
    for (long j = 0; j < n; j++) {
      p.start[i * n + j] = k;
      long cols = neighbours(j, m, &cj);
      for (long y = ci; y < ci + rows; y++)
        for (long x = cj; x < cj + cols; x++) {
          p.column[k] = (int)(y * m + x);
          p.value[k++] = (i % 2 ? 1.0 : 0.5) * (j % 2 ? 1.0 : 0.5);
        }
    }
  }
  p.start[p.n] = p.entries;
  HAND_FOR(9 * m * m)
  for (long c = 0; c < m * m; c++) {
    long k = 9 * c, ci, cj;
    l->first[c] = k;
    for (long i = 2 * (c / m); i <= 2 * (c / m) + 2; i++)
      for (long j = 2 * (c % m); j <= 2 * (c % m) + 2; j++) {
        neighbours(i, m, &ci);
        long cols = neighbours(j, m, &cj);
        l->row[k] = (int)(i * n + j);
        l->entry[k++] = p.start[i * n + j] + (c / m - ci) * cols + c % m - cj;
      }
  }
  l->first[m * m] = 9 * m * m;
  l->from_next = p;
}

// t = r - A e
static void residual(const struct level *l, const double *restrict r, const double *restrict e,
                     double *restrict t) {
  HAND_FOR(5 * l->a.n)
  for (long i = 0; i < l->a.n; i++) {
    double sum = row_times(&l->a, i, e);
    t[i] = r[i] - sum;
  }
}

// On the next level: r = transposed P t, e = r * sweep
static void restrict_to(const struct level *l, struct level *next) {
  const double *restrict value = l->from_next.value, *restrict t = l->t;
  const long *restrict first = l->first, *restrict entry = l->entry;
  const int *restrict row = l->row;
  double *restrict r = next->r, *restrict e = next->e;
  const double *restrict sweep = next->sweep;
  HAND_FOR(9 * next->a.n)
  for (long j = 0; j < next->a.n; j++) {
    double sum = 0;
    for (long k = first[j]; k < first[j + 1]; k++)
      sum += value[entry[k]] * t[row[k]];
    r[j] = sum;
    e[j] = sum * sweep[j];
  }
}

// e += P coarse
static void correct(const struct level *l, const double *restrict coarse, double *restrict e) {
  HAND_FOR(5 * l->a.n)
  for (long i = 0; i < l->a.n; i++) {
    double sum = row_times(&l->from_next, i, coarse);
    e[i] = e[i] + sum;
  }
}

// t = e + (r - A e) * sweep; t . r
static double smooth(const struct level *l, const double *restrict r, const double *restrict e,
                     double *restrict t) {
  const double *restrict sweep = l->sweep;
  double dot = 0;
#pragma omp parallel for schedule(static) reduction(+ : dot) if (5 * l->a.n > HAND_SERIAL)
  for (long i = 0; i < l->a.n; i++) {
    double sum = row_times(&l->a, i, e);
    double rest = r[i] - sum;
    rest = rest * sweep[i];
    t[i] = e[i] + rest;
    dot += r[i] * t[i];
  }
  return dot;
}

// From r and e of the finest level, e = r * sweep: the result of a V-cycle, and its product with r.
static const double *cycle(struct level *l, long levels, const double *r, double *dot) {
  if (levels == 1) {
    const double *restrict e = l->e;
    double sum = 0;
    if (dot) {
      HAND_SUM(l->a.n, sum)
      for (long i = 0; i < l->a.n; i++)
        sum += r[i] * e[i];
      *dot = sum;
    }
    return e;
  }
  residual(l, r, l->e, l->t);
  restrict_to(l, l + 1);
  correct(l, cycle(l + 1, levels - 1, l[1].r, NULL), l->e);
  double sum = smooth(l, r, l->e, l->t);
  if (dot)
    *dot = sum;
  return l->t;
}

// q = A p; p . q
static double product(const struct rows *a, const double *restrict p, double *restrict q) {
  double pq = 0;
#pragma omp parallel for schedule(static) reduction(+ : pq) if (5 * a->n > HAND_SERIAL)
  for (long i = 0; i < a->n; i++) {
    q[i] = row_times(a, i, p);
    pq += p[i] * q[i];
  }
  return pq;
}

// x += alpha p, r -= alpha q, e = r * sweep
static void advance(long n, double alpha, const double *restrict p, const double *restrict q,
                    double *restrict x, double *restrict r, const double *restrict sweep,
                    double *restrict e) {
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double step = p[i] * alpha, down = q[i] * alpha;
    x[i] += step;
    double rest = r[i] - down;
    r[i] = rest;
    e[i] = rest * sweep[i];
  }
}

static void turn(long n, const double *restrict z, double beta, double *restrict p) {
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double old = p[i] * beta;
    p[i] = z[i] + old;
  }
}

int main(int argc, char **argv) {
  long k = example_arg(argc, argv, 1, 7, 1, MAX_LEVELS);
  long iterations = example_arg(argc, argv, 2, 50, 0, 1000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-12;
  long levels = example_arg(argc, argv, 4, k, 1, k);
  long rounds = example_arg(argc, argv, 5, 1, 0, 1000000);
  long n = (1L << k) - 1;
  double h = 1.0 / (double)(n + 1);

  struct level level[MAX_LEVELS] = {0};
  for (long l = 0; l < levels; l++) {
    long points = (1L << (k - l)) - 1, all = points * points;
    struct level *at = &level[l];
    at->a = poisson(points, points, 1.0, 0.0);
    at->sweep = hand_new(all);
    at->e = hand_new(all);
    at->t = hand_new(all);
    at->r = hand_new(all);
    double omega = points == 1 ? 1.0 : 0.8;
    HAND_FOR(all)
    for (long i = 0; i < all; i++) {
      at->sweep[i] = omega / 4.0;
      at->e[i] = at->t[i] = at->r[i] = 0;
    }
    if (l + 1 < levels)
      make_interpolation(at, points / 2);
  }
  long all = n * n;
  double *restrict b = hand_new(all), *restrict solution = hand_new(all), *restrict x = hand_new(all);
  double *restrict p = hand_new(all), *restrict q = hand_new(all), *restrict r = level[0].r,
                   *restrict e = level[0].e;
  HAND_FOR(all)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double py = h * (double)(i + 1), px = h * (double)(j + 1);
      long at = i * n + j;
      solution[at] = px * (1.0 - px) * py * (1.0 - py);
      b[at] = 2.0 * h * h * (px * (1.0 - px) + py * (1.0 - py));
    }

  double seconds = 0, size = norm(all, b);
  for (long round = 0; round < rounds; round++) {
    HAND_FOR(all)
    for (long i = 0; i < all; i++) {
      x[i] = 0;
      r[i] = b[i];
      e[i] = r[i] * level[0].sweep[i];
    }
    double rz;
    memcpy(p, cycle(level, levels, r, &rz), (size_t)all * sizeof *p);

    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      double next, alpha = ratio(rz, product(&level[0].a, p, q));
      advance(all, alpha, p, q, x, r, level[0].sweep, e);
      const double *z = cycle(level, levels, r, &next);
      turn(all, z, ratio(next, rz), p);
      rz = next;
      if (it % 25 == 0 && norm(all, r) <= target * size)
        break;
    }
    seconds += example_seconds() - start;
  }

  double rest = residual_norm(&level[0].a, x, b) / size, error = largest_difference(all, x, solution);
  double goal = fmax(2.0 * target, 1e-15 / (h * h)), bound = 100.0 * goal;
  bool good = target <= 0 || (rest <= goal && error <= bound);
  printf("residual %.3g\nerror %.3g\n", rest, error);
  printf("checks %s\n", good ? "passed" : "FAILED");
  printf("solution %.10g\n", x[all / 2]);
  printf("time %.6f s\n", seconds);
  if (!good)
    fprintf(stderr, "multigrid_hand: expected a residual of %.3g and an error of %.3g at most\n", goal,
            bound);
  for (long l = 0; l < levels; l++) {
    struct level *at = &level[l];
    rows_free(at->a);
    free(at->sweep);
    free(at->e);
    free(at->t);
    free(at->r);
    if (l + 1 < levels) {
      rows_free(at->from_next);
      free(at->first);
      free(at->row);
      free(at->entry);
    }
  }
  free(b);
  free(solution);
  free(x);
  free(p);
  free(q);
  return good ? 0 : 1;
}
