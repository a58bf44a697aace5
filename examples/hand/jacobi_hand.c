// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../jacobi.c fused by hand: matrix-vector product, difference and quotient in one loop over rows. A row is
// summed in its order, as the program says; several rows at a time keep the adder busy.
#include "hand.h"

#include <math.h>

enum { ROWS = 8 };

// Sums of `rows` (at most ROWS) rows of a times x.
static inline void row_sums(long n, long rows, const double *restrict a, const double *restrict x,
                            double *restrict sums) {
  if (rows == ROWS) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (long j = 0; j < n; j++) {
      double xj = x[j];
      s0 += a[j] * xj;
      s1 += a[n + j] * xj;
      s2 += a[2 * n + j] * xj;
      s3 += a[3 * n + j] * xj;
      s4 += a[4 * n + j] * xj;
      s5 += a[5 * n + j] * xj;
      s6 += a[6 * n + j] * xj;
      s7 += a[7 * n + j] * xj;
    }
    const double all[ROWS] = {s0, s1, s2, s3, s4, s5, s6, s7};
    memcpy(sums, all, sizeof all);
    return;
  }
  for (long k = 0; k < rows; k++) {
    double s = 0;
    for (long j = 0; j < n; j++)
      s += a[k * n + j] * x[j];
    sums[k] = s;
  }
}

// One iteration; the largest change of an element.
static double sweep(long n, const double *restrict a, const double *restrict b, const double *restrict d,
                    const double *restrict x, double *restrict next) {
  double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) if (n * n > HAND_SERIAL)
  for (long i = 0; i < n; i += ROWS) {
    double sums[ROWS];
    long rows = n - i < ROWS ? n - i : ROWS;
    row_sums(n, rows, a + i * n, x, sums);
    for (long k = 0; k < rows; k++) {
      double rest = b[i + k] - sums[k];
      next[i + k] = rest / d[i + k];
      most = fmax(most, fabs(next[i + k] - x[i + k]));
    }
  }
  return most;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1000, 0, 100000);
  long iterations = example_arg(argc, argv, 2, 200, 0, 1000000);
  const double tolerance = argc > 3 ? strtod(argv[3], NULL) : 1e-13;

  double *restrict a = hand_new(n * n), *restrict d = hand_new(n), *restrict solution = hand_new(n);
  double *restrict b = hand_new(n), *x = hand_new(n), *next = hand_new(n);
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < n; j++) {
      double distance = 1.0 + (double)labs(i - j);
      a[i * n + j] = i == j ? 0.0 : ((i + j) % 2 ? -1.0 : 1.0) / (distance * distance);
    }
    d[i] = 2.0 + (double)(i % 5) * 0.25;
    solution[i] = 1.0 + (double)(i * 37 % 101) / 101.0;
    x[i] = 0;
  }
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++) {
    double sum, own = d[i] * solution[i];
    row_sums(n, 1, a + i * n, solution, &sum);
    b[i] = sum + own;
  }

  double start = example_seconds();
  double change = INFINITY;
  long it = 0;
  while (it < iterations && !(change < tolerance)) {
    double most = sweep(n, a, b, d, x, next);
    if (++it % 25 == 0)
      change = most;
    double *swap = x;
    x = next;
    next = swap;
  }
  double seconds = example_seconds() - start;

  double error = 0;
  for (long i = 0; i < n; i++)
    error = fmax(error, fabs(x[i] - solution[i]));
  printf("iterations %ld\n", it);
  printf("change %.3g\n", change);
  printf("error %.3g\n", error);
  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, x, (size_t)n));
  printf("time %.6f s\n", seconds);

  double bound = fmax(1e-12, 2.0 * pow(0.65, (double)it));
  if (!(error <= bound))
    fprintf(stderr, "jacobi_hand: the error is %.3g, expected %.3g at most\n", error, bound);
  free(a);
  free(d);
  free(solution);
  free(b);
  free(x);
  free(next);
  return error <= bound ? 0 : 1;
}
