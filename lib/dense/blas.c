// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of linear algebra. Factors are scalars: where they come from a reduction, nothing waits for
// them.
#include "internal.h"

dense dense_times(dense a, scalar s) {
  dense out = dense_result(a.rows, a.cols);
  const double *factor = s.p;
#pragma cofuse forall collapse(2) name(dense_times)
  for (long i = 0; i < out.rows; i++)
    for (long j = 0; j < out.cols; j++)
      out.p[i * out.ld + j] = a.p[i * a.ld + j] * *factor;
  dense_used(a);
  scalar_used(s);
  return out;
}

dense dense_axpy(scalar s, dense a, dense b) {
  dense_check_same("axpy", a, b);
  dense out = dense_result(a.rows, a.cols);
  const double *factor = s.p;
#pragma cofuse forall collapse(2) name(dense_axpy)
  for (long i = 0; i < out.rows; i++)
    for (long j = 0; j < out.cols; j++)
      out.p[i * out.ld + j] = b.p[i * b.ld + j] + *factor * a.p[i * a.ld + j];
  dense_used(a);
  dense_used(b);
  scalar_used(s);
  return out;
}

dense dense_xmay(dense b, scalar s, dense a) {
  dense_check_same("xmay", a, b);
  dense out = dense_result(a.rows, a.cols);
  const double *factor = s.p;
#pragma cofuse forall collapse(2) name(dense_xmay)
  for (long i = 0; i < out.rows; i++)
    for (long j = 0; j < out.cols; j++)
      out.p[i * out.ld + j] = b.p[i * b.ld + j] - *factor * a.p[i * a.ld + j];
  dense_used(a);
  dense_used(b);
  scalar_used(s);
  return out;
}

void dense_add_to(dense y, dense a) {
  dense_check_same("add_to", y, a);
#pragma cofuse forall collapse(2) name(dense_add_to)
  for (long i = 0; i < y.rows; i++)
    for (long j = 0; j < y.cols; j++)
      y.p[i * y.ld + j] += a.p[i * a.ld + j];
  dense_used(a);
}

void dense_sub_from(dense y, dense a) {
  dense_check_same("sub_from", y, a);
#pragma cofuse forall collapse(2) name(dense_sub_from)
  for (long i = 0; i < y.rows; i++)
    for (long j = 0; j < y.cols; j++)
      y.p[i * y.ld + j] -= a.p[i * a.ld + j];
  dense_used(a);
}

dense dense_gemv(dense matrix, dense x) {
  if (x.rows != 1 || x.cols != matrix.cols)
    dense_fail("gemv: %ld x %ld matrix and %ld x %ld vector", matrix.rows, matrix.cols, x.rows, x.cols);
  dense out = dense_result(1, matrix.rows);
#pragma cofuse forall name(dense_gemv)
  for (long i = 0; i < matrix.rows; i++) {
    double sum = 0;
    for (long j = 0; j < matrix.cols; j++)
      sum += matrix.p[i * matrix.ld + j] * x.p[j];
    out.p[i] = sum;
  }
  dense_used(matrix);
  dense_used(x);
  return out;
}

dense dense_gemv_transposed(dense matrix, dense x) {
  if (x.rows != 1 || x.cols != matrix.rows)
    dense_fail("gemv_transposed: %ld x %ld matrix and %ld x %ld vector", matrix.rows, matrix.cols, x.rows,
               x.cols);
  dense out = dense_result(1, matrix.cols);
#pragma cofuse forall name(dense_gemv_transposed)
  for (long j = 0; j < matrix.cols; j++) {
    double sum = 0;
    for (long i = 0; i < matrix.rows; i++)
      sum += matrix.p[i * matrix.ld + j] * x.p[i];
    out.p[j] = sum;
  }
  dense_used(matrix);
  dense_used(x);
  return out;
}
