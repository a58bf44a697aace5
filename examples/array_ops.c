// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "array_ops.h"
#include "example.h"

double *array_new(long rows, long cols) {
  double *t = example_alloc((size_t)rows * (size_t)cols, sizeof *t);
#pragma cofuse store(t[0 : rows][0 : cols])
  return t;
}

void array_add(long rows, long cols, const double *a, long lda, const double *b, long ldb, double *out,
               long ldo) {
#pragma cofuse forall collapse(2)
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++)
      out[i * ldo + j] = a[i * lda + j] + b[i * ldb + j];
}

void array_scale(long rows, long cols, double factor, const double *a, long lda, double *out, long ldo) {
#pragma cofuse forall collapse(2)
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++)
      out[i * ldo + j] = factor * a[i * lda + j];
}

void array_copy(long rows, long cols, const double *a, long lda, double *out, long ldo) {
#pragma cofuse forall collapse(2)
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++)
      out[i * ldo + j] = a[i * lda + j];
}
