// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jacobi iteration for a dense system A x = b with dominant diagonal, in library calls: x = (b - R x) / d,
// where d is the diagonal of A and R the rest. The right-hand side is made from a known solution, so the
// check is against that.
//
// usage: jacobi [n [iterations [tolerance]]]
#include "../lib/dense/dense.h"
#include "example.h"

#include <math.h>

// Off the diagonal 1 / (1 + |i - j|)^2, of alternating sign; on it more than the sum of a row.
static void make_system(long n, dense rest, dense diagonal, dense solution) {
  double *r = rest.p, *d = diagonal.p, *x = solution.p;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double distance = 1.0 + (double)labs(i - j);
      r[i * n + j] = i == j ? 0.0 : ((i + j) % 2 ? -1.0 : 1.0) / (distance * distance);
    }
#pragma cofuse forall
  for (long i = 0; i < n; i++) {
    d[i] = 2.0 + (double)(i % 5) * 0.25;
    x[i] = 1.0 + (double)(i * 37 % 101) / 101.0;
  }
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1000, 0, 100000);
  long iterations = example_arg(argc, argv, 2, 200, 0, 1000000);
  const double tolerance = argc > 3 ? strtod(argv[3], NULL) : 1e-13; // 0: all iterations

  dense rest = dense_new(n, n), diagonal = dense_vector(n), solution = dense_vector(n);
  make_system(n, rest, diagonal, solution);
  dense b = dense_keep(dense_add(dense_gemv(rest, solution), dense_mul(diagonal, solution)));
  dense x = dense_zeros(1, n);

#pragma cofuse flush
  double start = example_seconds();
  double change = INFINITY;
  long it = 0;
  while (it < iterations && !(change < tolerance)) {
    dense next = dense_keep(dense_div(dense_sub(b, dense_gemv(rest, x)), diagonal));
    // A maximum does not depend on the order of its terms: every number of ranks stops at the same time.
    if (++it % 25 == 0)
      change = scalar_get(dense_norm_max(dense_sub(next, x)));
    dense_free(x);
    x = next;
  }
#pragma cofuse flush
  double seconds = example_seconds() - start;

  double error = scalar_get(dense_norm_max(dense_sub(x, solution)));
  printf("iterations %ld\n", it);
  printf("change %.3g\n", change);
  printf("error %.3g\n", error);
  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, x.p, (size_t)n));
  printf("time %.6f s\n", seconds);

  // Each iteration shrinks the error by the largest row sum of R / d at least, which is 0.645 here.
  double bound = fmax(1e-12, 2.0 * pow(0.65, (double)it));
  if (!(error <= bound))
    fprintf(stderr, "jacobi: the error is %.3g, expected %.3g at most\n", error, bound);
  dense_free(rest);
  dense_free(diagonal);
  dense_free(solution);
  dense_free(b);
  dense_free(x);
  return error <= bound ? 0 : 1;
}
