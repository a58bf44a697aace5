// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and relaxation: one loop over rows each, with an inner loop over the row's entries.
#include "internal.h"

static dense vector_like(long n) {
  dense out = dense_vector(n);
  out.unnamed = true;
  return out;
}

static void used(dense a) {
  if (a.unnamed)
    dense_free(a);
}

static void check(const char *operation, csr a, dense vector, long n) {
  if (vector.rows != 1 || vector.cols != n)
    sparse_fail("%s: %ld x %ld matrix and %ld x %ld vector", operation, a.rows, a.cols, vector.rows,
                vector.cols);
}

dense sparse_multiply(csr a, dense x) {
  check("multiply", a, x, a.cols);
  dense out = vector_like(a.rows);
#pragma cofuse forall name(sparse_multiply)
  for (long i = 0; i < a.rows; i++) {
    double sum = 0;
    for (long k = a.start[i]; k < a.start[i + 1]; k++)
      sum += a.value[k] * x.p[a.column[k]];
    out.p[i] = sum;
  }
  used(x);
  return out;
}

dense sparse_multiply_transposed(csr a, dense x) {
  check("multiply_transposed", a, x, a.rows);
  dense out = vector_like(a.cols);
#pragma cofuse forall name(sparse_multiply_transposed)
  for (long j = 0; j < a.cols; j++) {
    double sum = 0;
    for (long k = a.first[j]; k < a.first[j + 1]; k++)
      sum += a.value[a.entry[k]] * x.p[a.row[k]];
    out.p[j] = sum;
  }
  used(x);
  return out;
}

dense sparse_residual(csr a, dense x, dense b) {
  check("residual", a, x, a.cols);
  check("residual", a, b, a.rows);
  dense out = vector_like(a.rows);
#pragma cofuse forall name(sparse_residual)
  for (long i = 0; i < a.rows; i++) {
    double rest = b.p[i];
    for (long k = a.start[i]; k < a.start[i + 1]; k++)
      rest -= a.value[k] * x.p[a.column[k]];
    out.p[i] = rest;
  }
  used(x);
  used(b);
  return out;
}

dense sparse_diagonal(csr a) {
  dense out = vector_like(a.rows < a.cols ? a.rows : a.cols);
#pragma cofuse forall name(sparse_diagonal)
  for (long i = 0; i < out.cols; i++) {
    double d = 0;
    for (long k = a.start[i]; k < a.start[i + 1]; k++)
      if (a.column[k] == i)
        d = a.value[k];
    out.p[i] = d;
  }
  return out;
}

dense sparse_relax(csr a, dense diagonal, dense x, dense b, double omega) {
  if (a.rows != a.cols)
    sparse_fail("relax: the matrix is %ld x %ld", a.rows, a.cols);
  check("relax", a, x, a.cols);
  check("relax", a, b, a.rows);
  check("relax", a, diagonal, a.rows);
  dense out = vector_like(a.rows);
#pragma cofuse forall name(sparse_relax)
  for (long i = 0; i < a.rows; i++) {
    double rest = b.p[i];
    for (long k = a.start[i]; k < a.start[i + 1]; k++)
      rest -= a.value[k] * x.p[a.column[k]];
    out.p[i] = x.p[i] + omega * rest / diagonal.p[i];
  }
  used(diagonal);
  used(x);
  used(b);
  return out;
}
