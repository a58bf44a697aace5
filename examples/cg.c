// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjugate gradients, in calls of two libraries. All numbers of the iteration stay scalars of the library,
// so that nothing waits for them; the program looks at the residual in every 25th iteration only.
//
// usage: cg [matrix [iterations [target [jacobi [rounds]]]]]
// matrix: a Matrix Market file, or n for Poisson's equation on n x n points; target: of the relative
// residual, 0 to do all iterations; jacobi: 1 to precondition with the diagonal; rounds: solve so many times.
#include "krylov.h"

int main(int argc, char **argv) {
  const char *matrix = argc > 1 ? argv[1] : "100";
  long iterations = example_arg(argc, argv, 2, 1000, 0, 100000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-10;
  long jacobi = example_arg(argc, argv, 4, 0, 0, 1);
  long rounds = example_arg(argc, argv, 5, 1, 0, 1000000);
  struct system s = krylov_system(matrix, 0);
  csr a = s.a;
  if (!sparse_is_symmetric(a)) {
    fprintf(stderr, "cg: %s: the matrix is not symmetric\n", matrix);
    return 2;
  }

  dense x = dense_zeros(1, a.rows);
  double seconds = 0;
  for (long round = 0; round < rounds; round++) {
    if (round > 0) {
      dense_free(x);
      x = dense_zeros(1, a.rows);
    }
    dense r = dense_keep(dense_copy(s.b));
    dense z = jacobi ? dense_keep(dense_mul(r, s.scale)) : r;
    dense p = dense_keep(dense_copy(z));
    scalar rz = scalar_keep(dense_dot(r, z));
    double enough = target * scalar_get(dense_norm(s.b));

#pragma cofuse flush
    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      dense q = dense_keep(sparse_multiply(a, p));
      scalar alpha = scalar_keep(scalar_ratio(rz, dense_dot(p, q)));
      dense_add_to(x, dense_times(p, alpha));
      dense_sub_from(r, dense_times(q, alpha));
      dense_free(q);
      scalar_free(alpha);
      if (jacobi) {
        dense_free(z);
        z = dense_keep(dense_mul(r, s.scale));
      }
      scalar next = scalar_keep(dense_dot(r, z));
      dense direction = dense_keep(dense_add(z, dense_times(p, scalar_ratio(next, rz))));
      dense_free(p);
      p = direction;
      scalar_free(rz);
      rz = next;
      if (it % 25 == 0 && scalar_get(dense_norm(r)) <= enough)
        break;
    }
#pragma cofuse flush
    seconds += example_seconds() - start;
    dense_free(r);
    if (jacobi)
      dense_free(z);
    dense_free(p);
    scalar_free(rz);
  }

  int failed = krylov_check("cg", s, x, target > 0 ? 2 * target : 1);
  printf("solution %.10g %.10g %.10g\n", dense_get(x, 0, 0), dense_get(x, 0, a.rows / 2),
         dense_get(x, 0, a.rows - 1));
  printf("time %.6f s\n", seconds);
  dense_free(x);
  krylov_free(s);
  return failed;
}
