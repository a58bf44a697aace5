// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the Krylov solvers share: the system, and the check at the end.
#ifndef KRYLOV_H
#define KRYLOV_H

#include "../lib/sparse/sparse.h"
#include "example.h"

#include <math.h>

struct system {
  csr a;
  dense b, solution, scale; // scale: 1 / diagonal, 1 where the diagonal is 0
};

// `matrix` is the path of a Matrix Market file, or n for Poisson's equation on n x n points. The right-hand
// side belongs to a solution that is known. With a time step dt > 0 the system is that of an implicit step,
// (I - dt A) x = b.
static inline struct system krylov_system(const char *matrix, double dt) {
  struct system s;
  char *end;
  long n = strtol(matrix, &end, 10);
  if (end != matrix && !*end) {
    if (n < 1 || n > 10000) {
      fprintf(stderr, "a grid of %s points a side: expected 1 to 10000\n", matrix);
      exit(2);
    }
    s.a = sparse_poisson(n, n);
  } else {
    s.a = sparse_read(matrix);
    if (s.a.rows != s.a.cols) {
      fprintf(stderr, "%s: the matrix is %ld x %ld, expected a square one\n", matrix, s.a.rows, s.a.cols);
      exit(2);
    }
  }
  if (dt > 0) {
    csr step = sparse_shifted(s.a, -dt, 1.0);
    sparse_free(s.a);
    s.a = step;
  }
  n = s.a.rows;
  s.solution = dense_vector(n);
  double *x = s.solution.p;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    x[i] = 1.0 + 0.5 * sin(0.1 * (double)i);
  s.b = dense_keep(sparse_multiply(s.a, s.solution));
  s.scale = dense_keep(sparse_diagonal(s.a));
  double *d = s.scale.p;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    d[i] = d[i] == 0.0 ? 1.0 : 1.0 / d[i];
  return s;
}

// The residual is computed anew from x: that of the iteration may have drifted away from it.
static inline int krylov_check(const char *name, struct system s, dense x, double target) {
  double residual = scalar_get(dense_norm(sparse_residual(s.a, x, s.b))) / scalar_get(dense_norm(s.b));
  double error = scalar_get(dense_norm_max(dense_sub(x, s.solution)));
  printf("converged %s\n", residual <= target ? "yes" : "NO");
  printf("residual %.3g\n", residual);
  printf("error %.3g\n", error);
  if (!(residual <= target))
    fprintf(stderr, "%s: the relative residual is %.3g, expected %.3g at most\n", name, residual, target);
  return residual <= target ? 0 : 1;
}

static inline void krylov_free(struct system s) {
  sparse_free(s.a);
  dense_free(s.b);
  dense_free(s.solution);
  dense_free(s.scale);
}

#endif
