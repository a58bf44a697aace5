// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BiCGSTAB for matrices that are not symmetric (van der Vorst 1992), in calls of two libraries; the numbers
// of the iteration stay scalars of the library. Preconditioned with the diagonal from the right: A D^-1 y =
// b, x = D^-1 y, so that the residual is that of A x = b.
//
// usage: bicgstab [matrix [iterations [target [jacobi [dt [rounds]]]]]]
// As cg; rounds, too. dt: solve for an implicit step of length dt, (I - dt A) x = b. That is what matrices of
// flow and growth problems are for; by themselves olm1000 and cryg2500 are too ill-conditioned for this
// method.
#include "krylov.h"

int main(int argc, char **argv) {
  const char *matrix = argc > 1 ? argv[1] : "100";
  long iterations = example_arg(argc, argv, 2, 1000, 0, 100000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-10;
  long jacobi = example_arg(argc, argv, 4, 0, 0, 1);
  double dt = argc > 5 ? strtod(argv[5], NULL) : 0;
  long rounds = example_arg(argc, argv, 6, 1, 0, 1000000);
  struct system s = krylov_system(matrix, dt);
  csr a = s.a;

  dense x = dense_zeros(1, a.rows);
  double seconds = 0;
  for (long round = 0; round < rounds; round++) {
    if (round > 0) {
      dense_free(x);
      x = dense_zeros(1, a.rows);
    }
    dense r = dense_keep(dense_copy(s.b)), shadow = dense_keep(dense_copy(s.b));
    dense p = dense_keep(dense_copy(s.b));
    scalar rho = scalar_keep(dense_dot(shadow, r));
    double enough = target * scalar_get(dense_norm(s.b));

#pragma cofuse flush
    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      dense y = jacobi ? dense_keep(dense_mul(p, s.scale)) : p;
      dense v = dense_keep(sparse_multiply(a, y));
      scalar alpha = scalar_keep(scalar_ratio(rho, dense_dot(shadow, v)));
      dense h = dense_keep(dense_sub(r, dense_times(v, alpha)));
      dense z = jacobi ? dense_keep(dense_mul(h, s.scale)) : h;
      dense t = dense_keep(sparse_multiply(a, z));
      scalar omega = scalar_keep(scalar_ratio(dense_dot(t, h), dense_dot(t, t)));
      dense_add_to(x, dense_times(y, alpha));
      dense_add_to(x, dense_times(z, omega));
      dense residual = dense_keep(dense_sub(h, dense_times(t, omega)));
      dense_free(r);
      r = residual;

      scalar next = scalar_keep(dense_dot(shadow, r));
      scalar beta = scalar_keep(scalar_mul(scalar_ratio(next, rho), scalar_ratio(alpha, omega)));
      dense direction = dense_keep(dense_add(r, dense_times(dense_sub(p, dense_times(v, omega)), beta)));
      scalar_free(rho);
      scalar_free(alpha);
      scalar_free(beta);
      scalar_free(omega);
      if (jacobi) {
        dense_free(y);
        dense_free(z);
      }
      dense_free(p);
      dense_free(v);
      dense_free(h);
      dense_free(t);
      p = direction;
      rho = next;
      if (it % 25 == 0 && scalar_get(dense_norm(r)) <= enough)
        break;
    }
#pragma cofuse flush
    seconds += example_seconds() - start;
    dense_free(r);
    dense_free(shadow);
    dense_free(p);
    scalar_free(rho);
  }

  int failed = krylov_check("bicgstab", s, x, target > 0 ? 2 * target : 1);
  printf("solution %.10g %.10g %.10g\n", dense_get(x, 0, 0), dense_get(x, 0, a.rows / 2),
         dense_get(x, 0, a.rows - 1));
  printf("time %.6f s\n", seconds);
  dense_free(x);
  krylov_free(s);
  return failed;
}
