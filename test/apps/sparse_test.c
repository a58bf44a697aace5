// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lib/sparse: reads the files named, prints their sizes, and holds every operation to sums over a dense copy.
#include "../../lib/sparse/sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void verdict(const char *what, bool good) {
  if (!good) {
    failures++;
    printf("FAIL %s\n", what);
  }
}

static bool close_to(double x, double y, double size) { return fabs(x - y) <= 1e-13 * size; }

static dense vector(long n, double step) {
  dense a = dense_vector(n);
  double *p = a.p;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    p[i] = 1.0 + step * (double)(i % 11);
  return a;
}

static void operations(csr a) {
  dense x = vector(a.cols, 0.25), y = vector(a.rows, -0.125);
  dense ax = dense_keep(sparse_multiply(a, x)), ya = dense_keep(sparse_multiply_transposed(a, y));
  dense rest = dense_keep(sparse_residual(a, x, y)), d = dense_keep(sparse_diagonal(a));
  // The operations, entry by entry.
  double *want = calloc((size_t)(a.rows + 1), sizeof *want),
         *size = calloc((size_t)(a.rows + 1), sizeof *size);
  double *down = calloc((size_t)(a.cols + 1), sizeof *down),
         *large = calloc((size_t)(a.cols + 1), sizeof *large);
  double *diagonal = calloc((size_t)(a.rows + 1), sizeof *diagonal);
  bool sorted = true;
  for (long i = 0; i < a.rows; i++)
    for (long k = a.start[i]; k < a.start[i + 1]; k++) {
      long j = a.column[k];
      double v = a.value[k], xj = 1.0 + 0.25 * (double)(j % 11), yi = 1.0 - 0.125 * (double)(i % 11);
      sorted = sorted && (k == a.start[i] || a.column[k - 1] < j);
      want[i] += v * xj;
      size[i] += fabs(v * xj) + 1.0;
      down[j] += v * yi;
      large[j] += fabs(v * yi) + 1.0;
      if (i == j)
        diagonal[i] = v;
    }
  bool product = true, transposed = true, residual = true, same = true;
  for (long i = 0; i < a.rows; i++) {
    product = product && close_to(ax.p[i], want[i], size[i]);
    residual = residual && close_to(rest.p[i], 1.0 - 0.125 * (double)(i % 11) - want[i], size[i] + 1.0);
    same = same && (i >= a.cols || d.p[i] == diagonal[i]);
  }
  for (long j = 0; j < a.cols; j++)
    transposed = transposed && close_to(ya.p[j], down[j], large[j]);
  verdict("columns ascend", sorted);
  verdict("multiply", product);
  verdict("multiply_transposed", transposed);
  verdict("residual", residual);
  verdict("diagonal", same);
  // y (A x) = (y A) x
  double left = scalar_get(dense_dot(y, ax)), right = scalar_get(dense_dot(ya, x));
  verdict("y A x", close_to(left, right, 1e3 * (fabs(left) + fabs(right) + 1.0)));
  if (a.rows == a.cols) {
    csr shifted = sparse_shifted(a, 0.5, 3.0);
    dense z = dense_keep(dense_sub(sparse_multiply(shifted, x), dense_scale(dense_copy(x), 3.0)));
    dense one = dense_keep(dense_shift(dense_scale(dense_copy(d), 0.0), 2.0));
    dense relaxed = dense_keep(sparse_relax(a, one, x, y, 0.5));
    bool half = true, sweep = true;
    for (long i = 0; i < a.rows; i++) {
      half = half && close_to(z.p[i], 0.5 * want[i], size[i] + 10.0);
      sweep = sweep && close_to(relaxed.p[i], x.p[i] + 0.25 * rest.p[i], size[i] + 10.0);
    }
    verdict("shifted", half);
    verdict("relax", sweep);
    sparse_free(shifted);
    dense_free(z);
    dense_free(one);
    dense_free(relaxed);
  }
  const dense all[] = {x, y, ax, ya, rest, d};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    dense_free(all[k]);
  free(want);
  free(size);
  free(down);
  free(large);
  free(diagonal);
}

int main(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    csr a = sparse_read(argv[k]);
    double sum = 0;
    for (long e = 0; e < a.entries; e++)
      sum += a.value[e];
    printf("%ld x %ld, %ld entries, sum %.10g, %s\n", a.rows, a.cols, a.entries, sum,
           sparse_is_symmetric(a) ? "symmetric" : "not symmetric");
    operations(a);
    sparse_free(a);
  }
  csr poisson = sparse_poisson(7, 9);
  verdict("poisson", sparse_is_symmetric(poisson) && poisson.entries == 5 * 63 - 2 * 7 - 2 * 9);
  operations(poisson);
  sparse_free(poisson);
  csr empty = sparse_from_triplets(4, 3, 0, NULL, NULL, NULL);
  operations(empty);
  sparse_free(empty);
  printf("%s\n", failures ? "failed" : "ok");
  return failures ? 1 : 0;
}
