// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the twins of cg and bicgstab share: the system of ../krylov.h for a grid of Poisson's equation.
#ifndef KRYLOV_HAND_H
#define KRYLOV_HAND_H

#include "poisson.h"

struct system {
  struct rows a;
  double *restrict b, *restrict solution, *restrict scale;
};

static inline struct system krylov_system(const char *grid, double dt) {
  struct system s;
  char *end;
  long n = strtol(grid, &end, 10);
  if (end == grid || *end || n < 1 || n > 10000) {
    fprintf(stderr, "a grid of %s points a side: expected 1 to 10000 (the twins read no files)\n", grid);
    exit(2);
  }
  s.a = dt > 0 ? poisson(n, n, -dt, 1.0) : poisson(n, n, 1.0, 0.0);
  n = s.a.n;
  s.solution = hand_new(n);
  s.b = hand_new(n);
  s.scale = hand_new(n);
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    s.solution[i] = 1.0 + 0.5 * sin(0.1 * (double)i);
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double d = 0;
    for (long k = s.a.start[i]; k < s.a.start[i + 1]; k++)
      if (s.a.column[k] == i)
        d = s.a.value[k];
    s.b[i] = row_times(&s.a, i, s.solution);
    s.scale[i] = d == 0.0 ? 1.0 : 1.0 / d;
  }
  return s;
}

static inline int krylov_check(const char *name, const struct system *s, const double *x, double target) {
  double residual = residual_norm(&s->a, x, s->b) / norm(s->a.n, s->b);
  double error = largest_difference(s->a.n, x, s->solution);
  printf("converged %s\n", residual <= target ? "yes" : "NO");
  printf("residual %.3g\n", residual);
  printf("error %.3g\n", error);
  if (!(residual <= target))
    fprintf(stderr, "%s: the relative residual is %.3g, expected %.3g at most\n", name, residual, target);
  return residual <= target ? 0 : 1;
}

static inline void krylov_free(struct system *s) {
  rows_free(s->a);
  free(s->b);
  free(s->solution);
  free(s->scale);
}

#endif
