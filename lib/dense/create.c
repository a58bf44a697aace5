// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays, views, copies.
#include "internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void dense_fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("dense: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  exit(2);
}

double *dense_alloc(long count) {
  double *p = (uint64_t)count > SIZE_MAX / sizeof *p ? NULL : malloc((size_t)(count ? count : 1) * sizeof *p);
  if (!p)
    dense_fail("out of memory: %ld numbers", count);
  return p;
}

void dense_check_same(const char *operation, dense a, dense b) {
  if (a.rows != b.rows || a.cols != b.cols)
    dense_fail("%s: %ld x %ld and %ld x %ld elements", operation, a.rows, a.cols, b.rows, b.cols);
}

dense dense_new(long rows, long cols) {
  if (rows < 0 || cols < 0 || (cols && rows > INT64_MAX / cols))
    dense_fail("an array cannot have %ld x %ld elements", rows, cols);
  dense a = {dense_alloc(rows * cols), rows, cols, cols, .owner = true};
#pragma cofuse store(a.p[0 : rows][0 : cols]) undefined
  return a;
}

dense dense_vector(long n) { return dense_new(1, n); }

dense dense_zeros(long rows, long cols) {
  dense a = dense_new(rows, cols);
  dense_fill(a, 0.0);
  return a;
}

dense dense_like(dense a) { return dense_new(a.rows, a.cols); }

dense dense_result(long rows, long cols) {
  dense a = dense_new(rows, cols);
  a.unnamed = true;
  return a;
}

dense dense_keep(dense result) {
  result.unnamed = false;
  return result;
}

void dense_free(dense a) {
  if (a.owner)
    free(a.p);
}

void dense_used(dense a) {
  if (a.unnamed)
    dense_free(a);
}

dense dense_view(dense a, long row, long col, long rows, long cols) {
  if (row < 0 || col < 0 || rows < 0 || cols < 0 || rows > a.rows - row || cols > a.cols - col)
    dense_fail("a view of %ld x %ld elements at (%ld, %ld) leaves an array of %ld x %ld", rows, cols, row,
               col, a.rows, a.cols);
  return (dense){a.p + row * a.ld + col, rows, cols, a.ld, .owner = false};
}

dense dense_part(dense vector, long first, long n) { return dense_view(vector, 0, first, 1, n); }
dense dense_row(dense a, long row) { return dense_view(a, row, 0, 1, a.cols); }
dense dense_column(dense a, long col) { return dense_view(a, 0, col, a.rows, 1); }

void dense_fill(dense out, double value) {
#pragma cofuse forall collapse(2) name(dense_fill)
  for (long i = 0; i < out.rows; i++)
    for (long j = 0; j < out.cols; j++)
      out.p[i * out.ld + j] = value;
}

void dense_set(dense out, dense a) {
  dense_check_same("set", out, a);
#pragma cofuse forall collapse(2) name(dense_set)
  for (long i = 0; i < out.rows; i++)
    for (long j = 0; j < out.cols; j++)
      out.p[i * out.ld + j] = a.p[i * a.ld + j];
  dense_used(a);
}

dense dense_copy(dense a) {
  dense out = dense_result(a.rows, a.cols);
  dense_set(out, a);
  return out;
}

double dense_get(dense a, long row, long col) {
  double value = dense_view(a, row, col, 1, 1).p[0];
  dense_used(a);
  return value;
}
