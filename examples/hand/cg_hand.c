// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../cg.c fused by hand: three loops an iteration, parted by the two sums that the next loop needs.
#include "krylov_hand.h"

// q = A p; p . q
static double product(const struct rows *a, const double *restrict p, double *restrict q) {
  double pq = 0;
#pragma omp parallel for schedule(static) reduction(+ : pq) if (a->n > HAND_SERIAL)
  for (long i = 0; i < a->n; i++) {
    q[i] = row_times(a, i, p);
    pq += p[i] * q[i];
  }
  return pq;
}

// x += alpha p, r -= alpha q, z = r * scale where z is an array of its own; r . z
static double advance(long n, double alpha, const double *restrict p, const double *restrict q,
                      double *restrict x, double *restrict r, const double *restrict scale,
                      double *restrict z) {
  double next = 0;
  if (!z) {
    HAND_SUM(n, next)
    for (long i = 0; i < n; i++) {
      double step = p[i] * alpha, down = q[i] * alpha;
      x[i] += step;
      double rest = r[i] - down;
      r[i] = rest;
      next += rest * rest;
    }
    return next;
  }
  HAND_SUM(n, next)
  for (long i = 0; i < n; i++) {
    double step = p[i] * alpha, down = q[i] * alpha;
    x[i] += step;
    double rest = r[i] - down, scaled = rest * scale[i];
    r[i] = rest;
    z[i] = scaled;
    next += rest * scaled;
  }
  return next;
}

static void turn(long n, const double *restrict z, double beta, double *restrict p) {
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double old = p[i] * beta;
    p[i] = z[i] + old;
  }
}

int main(int argc, char **argv) {
  const char *grid = argc > 1 ? argv[1] : "100";
  long iterations = example_arg(argc, argv, 2, 1000, 0, 100000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-10;
  long jacobi = example_arg(argc, argv, 4, 0, 0, 1);
  long rounds = example_arg(argc, argv, 5, 1, 0, 1000000);
  struct system s = krylov_system(grid, 0);
  long n = s.a.n;

  double *x = hand_zeros(n, 1), *r = hand_new(n), *p = hand_new(n), *q = hand_new(n);
  double *z = jacobi ? hand_new(n) : NULL;
  double seconds = 0;
  for (long round = 0; round < rounds; round++) {
    memset(x, 0, (size_t)n * sizeof *x);
    double rz = 0;
    HAND_SUM(n, rz)
    for (long i = 0; i < n; i++) {
      r[i] = s.b[i];
      p[i] = jacobi ? r[i] * s.scale[i] : r[i];
      rz += r[i] * p[i];
    }
    double enough = target * norm(n, s.b);

    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      double alpha = ratio(rz, product(&s.a, p, q));
      double next = advance(n, alpha, p, q, x, r, s.scale, z);
      turn(n, z ? z : r, ratio(next, rz), p);
      rz = next;
      if (it % 25 == 0 && norm(n, r) <= enough)
        break;
    }
    seconds += example_seconds() - start;
  }

  int failed = krylov_check("cg_hand", &s, x, target > 0 ? 2 * target : 1);
  printf("solution %.10g %.10g %.10g\n", x[0], x[n / 2], x[n - 1]);
  printf("time %.6f s\n", seconds);
  free(x);
  free(r);
  free(p);
  free(q);
  free(z);
  krylov_free(&s);
  return failed;
}
