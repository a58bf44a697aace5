// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Poisson's equation on the unit square by conjugate gradients, preconditioned with one V-cycle of geometric
// multigrid, in calls of two libraries: weighted Jacobi sweeps, bilinear interpolation, and its transpose as
// restriction. All operators are sparse matrices.
//
// Check: the solution is x (1 - x) y (1 - y), for which the five-point formula is exact.
//
// usage: multigrid [k [iterations [target [levels [rounds]]]]]
// 2^k - 1 points in each direction; target: of the relative residual, 0 to do all iterations; levels: 1 to k;
// rounds: solve so many times.
#include "../lib/sparse/sparse.h"
#include "example.h"

#include <math.h>

enum { MAX_LEVELS = 13 };

struct level {
  csr a;         // five-point formula times h squared
  csr from_next; // interpolation from the next coarser level
  dense sweep;   // omega / diagonal
};

// From m x m points to 2 m + 1 in each direction; both inside a border of zeros.
static csr interpolation(long m) {
  long n = 2 * m + 1, k = 0;
  int *row = example_alloc((size_t)(9 * m * m), sizeof *row);
  int *column = example_alloc((size_t)(9 * m * m), sizeof *column);
  double *value = example_alloc((size_t)(9 * m * m), sizeof *value);
  for (long i = 0; i < m; i++)
    for (long j = 0; j < m; j++)
      for (long y = -1; y <= 1; y++)
        for (long x = -1; x <= 1; x++) {
          row[k] = (int)((2 * i + 1 + y) * n + 2 * j + 1 + x);
          column[k] = (int)(i * m + j);
          value[k++] = (y ? 0.5 : 1.0) * (x ? 0.5 : 1.0);
        }
  csr p = sparse_from_triplets(n * n, m * m, k, row, column, value);
  free(row);
  free(column);
  free(value);
  return p;
}

// An approximate solution of a e = r, from zero; the last of `levels` levels is a sweep only.
static dense cycle(const struct level *l, long levels, dense r) {
  if (levels == 1)
    return dense_mul(r, l->sweep);
  dense e = dense_keep(dense_mul(r, l->sweep));
  dense coarse = dense_keep(sparse_multiply_transposed(l->from_next, dense_sub(r, sparse_multiply(l->a, e))));
  dense better = dense_keep(dense_add(e, sparse_multiply(l->from_next, cycle(l + 1, levels - 1, coarse))));
  dense_free(e);
  dense_free(coarse);
  dense rest = dense_sub(r, sparse_multiply(l->a, better));
  dense result = dense_add(better, dense_mul(rest, l->sweep));
  dense_free(better);
  return result;
}

int main(int argc, char **argv) {
  long k = example_arg(argc, argv, 1, 7, 1, MAX_LEVELS);
  long iterations = example_arg(argc, argv, 2, 50, 0, 1000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-12;
  long levels = example_arg(argc, argv, 4, k, 1, k);
  long rounds = example_arg(argc, argv, 5, 1, 0, 1000000);
  long n = (1L << k) - 1;
  double h = 1.0 / (double)(n + 1);

  struct level level[MAX_LEVELS];
  for (long l = 0; l < levels; l++) {
    long points = (1L << (k - l)) - 1;
    level[l].a = sparse_poisson(points, points);
    // The coarsest level of all is one point, for which a full step is exact.
    level[l].sweep = dense_keep(dense_inverse(sparse_diagonal(level[l].a), points == 1 ? 1.0 : 0.8));
    if (l + 1 < levels)
      level[l].from_next = interpolation(points / 2);
  }
  dense b = dense_vector(n * n), solution = dense_vector(n * n);
  double *f = b.p, *u = solution.p;
  // One loop over the vectors, which are then cut as all others are; a loop over rows would cut between rows.
#pragma cofuse forall
  for (long k = 0; k < n * n; k++) {
    double y = h * (double)(k / n + 1), x = h * (double)(k % n + 1);
    u[k] = x * (1.0 - x) * y * (1.0 - y);
    f[k] = 2.0 * h * h * (x * (1.0 - x) + y * (1.0 - y));
  }

  csr a = level[0].a;
  dense x = dense_zeros(1, n * n);
  double seconds = 0, size = scalar_get(dense_norm(b));
  for (long round = 0; round < rounds; round++) {
    if (round > 0) {
      dense_free(x);
      x = dense_zeros(1, n * n);
    }
    dense r = dense_keep(dense_copy(b));
    dense p = dense_keep(cycle(level, levels, r));
    scalar rz = scalar_keep(dense_dot(r, p));

#pragma cofuse flush
    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      dense q = dense_keep(sparse_multiply(a, p));
      scalar alpha = scalar_keep(scalar_ratio(rz, dense_dot(p, q)));
      dense_add_to(x, dense_times(p, alpha));
      dense_sub_from(r, dense_times(q, alpha));
      dense_free(q);
      scalar_free(alpha);
      dense z = dense_keep(cycle(level, levels, r));
      scalar next = scalar_keep(dense_dot(r, z));
      dense direction = dense_keep(dense_add(z, dense_times(p, scalar_ratio(next, rz))));
      dense_free(z);
      dense_free(p);
      p = direction;
      scalar_free(rz);
      rz = next;
      if (it % 25 == 0 && scalar_get(dense_norm(r)) <= target * size)
        break;
    }
#pragma cofuse flush
    seconds += example_seconds() - start;
    dense_free(r);
    dense_free(p);
    scalar_free(rz);
  }

  double residual = scalar_get(dense_norm(sparse_residual(a, x, b))) / size;
  double error = scalar_get(dense_norm_max(dense_sub(x, solution)));
  // Rounding alone leaves a residual in the order of the size of A x.
  double goal = fmax(2.0 * target, 1e-15 / (h * h)), bound = 100.0 * goal;
  bool good = target <= 0 || (residual <= goal && error <= bound);
  printf("residual %.3g\nerror %.3g\n", residual, error);
  printf("checks %s\n", good ? "passed" : "FAILED");
  printf("solution %.10g\n", dense_get(x, 0, n * n / 2));
  printf("time %.6f s\n", seconds);
  if (!good)
    fprintf(stderr, "multigrid: expected a residual of %.3g and an error of %.3g at most\n", goal, bound);
  for (long l = 0; l < levels; l++) {
    sparse_free(level[l].a);
    dense_free(level[l].sweep);
    if (l + 1 < levels)
      sparse_free(level[l].from_next);
  }
  dense_free(b);
  dense_free(solution);
  dense_free(x);
  return good ? 0 : 1;
}
