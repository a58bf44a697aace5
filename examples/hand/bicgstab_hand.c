// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../bicgstab.c fused by hand: five loops an iteration, parted by sums and by products with the matrix. Where
// an array has had its last reader, the next one takes its place (h that of r, the new r that of h).
#include "krylov_hand.h"

// v = A y; shadow . v
static double product(const struct rows *a, const double *restrict y, const double *restrict shadow,
                      double *restrict v) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (a->n > HAND_SERIAL)
  for (long i = 0; i < a->n; i++) {
    v[i] = row_times(a, i, y);
    sum += shadow[i] * v[i];
  }
  return sum;
}

// h = r - alpha v in place of r; z = h * scale
static void half_step(long n, double alpha, const double *restrict v, double *restrict r,
                      const double *restrict scale, double *restrict z) {
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double down = v[i] * alpha;
    r[i] = r[i] - down;
    if (z)
      z[i] = r[i] * scale[i];
  }
}

// t = A z; t . h and t . t
static void second_product(const struct rows *a, const double *restrict z, const double *restrict h,
                           double *restrict t, double *sums) {
  double th = 0, tt = 0;
#pragma omp parallel for schedule(static) reduction(+ : th, tt) if (a->n > HAND_SERIAL)
  for (long i = 0; i < a->n; i++) {
    t[i] = row_times(a, i, z);
    th += t[i] * h[i];
    tt += t[i] * t[i];
  }
  sums[0] = th;
  sums[1] = tt;
}

// x += alpha y + omega z, r = h - omega t in place of h; shadow . r. z is h without a preconditioner.
static double advance(long n, double alpha, double omega, const double *restrict y, const double *restrict z,
                      const double *restrict t, const double *restrict shadow, double *restrict x,
                      double *restrict r) {
  double next = 0;
  HAND_SUM(n, next)
  for (long i = 0; i < n; i++) {
    double first = y[i] * alpha, h = r[i], second = (z ? z[i] : h) * omega, down = t[i] * omega;
    double sum = x[i] + first;
    x[i] = sum + second;
    double rest = h - down;
    r[i] = rest;
    next += shadow[i] * rest;
  }
  return next;
}

// p = r + beta (p - omega v), y = p * scale
static void turn(long n, double beta, double omega, const double *restrict r, const double *restrict v,
                 double *restrict p, const double *restrict scale, double *restrict y) {
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    double part = v[i] * omega, old = p[i] - part;
    old = old * beta;
    p[i] = r[i] + old;
    if (y)
      y[i] = p[i] * scale[i];
  }
}

int main(int argc, char **argv) {
  const char *grid = argc > 1 ? argv[1] : "100";
  long iterations = example_arg(argc, argv, 2, 1000, 0, 100000000);
  double target = argc > 3 ? strtod(argv[3], NULL) : 1e-10;
  long jacobi = example_arg(argc, argv, 4, 0, 0, 1);
  double dt = argc > 5 ? strtod(argv[5], NULL) : 0;
  long rounds = example_arg(argc, argv, 6, 1, 0, 1000000);
  struct system s = krylov_system(grid, dt);
  long n = s.a.n;

  double *x = hand_zeros(n, 1), *r = hand_new(n), *shadow = hand_new(n), *p = hand_new(n), *v = hand_new(n);
  double *t = hand_new(n), *y = jacobi ? hand_new(n) : NULL, *z = jacobi ? hand_new(n) : NULL;
  double seconds = 0;
  for (long round = 0; round < rounds; round++) {
    memset(x, 0, (size_t)n * sizeof *x);
    double rho = 0;
    HAND_SUM(n, rho)
    for (long i = 0; i < n; i++) {
      r[i] = shadow[i] = p[i] = s.b[i];
      rho += s.b[i] * s.b[i];
      if (y)
        y[i] = p[i] * s.scale[i];
    }
    double enough = target * norm(n, s.b);

    double start = example_seconds();
    for (long it = 1; it <= iterations; it++) {
      double sums[2];
      double alpha = ratio(rho, product(&s.a, y ? y : p, shadow, v));
      half_step(n, alpha, v, r, s.scale, z);
      second_product(&s.a, z ? z : r, r, t, sums);
      double omega = ratio(sums[0], sums[1]);
      double next = advance(n, alpha, omega, y ? y : p, z, t, shadow, x, r);
      double beta = ratio(next, rho) * ratio(alpha, omega);
      turn(n, beta, omega, r, v, p, s.scale, y);
      rho = next;
      if (it % 25 == 0 && norm(n, r) <= enough)
        break;
    }
    seconds += example_seconds() - start;
  }

  int failed = krylov_check("bicgstab_hand", &s, x, target > 0 ? 2 * target : 1);
  printf("solution %.10g %.10g %.10g\n", x[0], x[n / 2], x[n - 1]);
  printf("time %.6f s\n", seconds);
  free(x);
  free(r);
  free(shadow);
  free(p);
  free(v);
  free(t);
  free(y);
  free(z);
  krylov_free(&s);
  return failed;
}
