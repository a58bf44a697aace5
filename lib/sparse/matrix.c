// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices from triplets. Ordinary C: it runs on every rank; the arrays become stores when they are complete.
#include "internal.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void sparse_fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("sparse: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  exit(2);
}

void *sparse_alloc(long count, size_t bytes) {
  void *p = (uint64_t)count > SIZE_MAX / bytes ? NULL : malloc((size_t)(count ? count : 1) * bytes);
  if (!p)
    sparse_fail("out of memory: %ld elements of %zu bytes", count, bytes);
  return p;
}

// Stable counting sort of `order` by key; begin[k] becomes the first position of key k.
static long *sort_by(long keys, const int *key, long n, const long *order, long *begin) {
  long *sorted = sparse_alloc(n, sizeof *sorted);
  for (long k = 0; k <= keys; k++)
    begin[k] = 0;
  for (long k = 0; k < n; k++)
    begin[key[k] + 1]++;
  for (long k = 0; k < keys; k++)
    begin[k + 1] += begin[k];
  for (long k = 0; k < n; k++) {
    long t = order ? order[k] : k;
    sorted[begin[key[t]]++] = t;
  }
  for (long k = keys; k > 0; k--)
    begin[k] = begin[k - 1];
  begin[0] = 0;
  return sorted;
}

csr sparse_from_triplets(long rows, long cols, long entries, const int *row, const int *column,
                         const double *value) {
  if (rows < 0 || cols < 0 || entries < 0 || rows > INT_MAX || cols > INT_MAX)
    sparse_fail("a matrix cannot be %ld x %ld with %ld entries", rows, cols, entries);
  for (long k = 0; k < entries; k++)
    if (row[k] < 0 || row[k] >= rows || column[k] < 0 || column[k] >= cols)
      sparse_fail("entry (%d, %d) is outside a %ld x %ld matrix", row[k], column[k], rows, cols);
  csr a = {.rows = rows, .cols = cols};
  a.start = sparse_alloc(rows + 1, sizeof *a.start);
  a.column = sparse_alloc(entries, sizeof *a.column);
  a.value = sparse_alloc(entries, sizeof *a.value);
  a.first = sparse_alloc(cols + 1, sizeof *a.first);
  a.row = sparse_alloc(entries, sizeof *a.row);
  a.entry = sparse_alloc(entries, sizeof *a.entry);

  // By columns, then stably by rows: columns ascend in each row. Equal places are neighbours and are added.
  long *by_column = sort_by(cols, column, entries, NULL, a.first);
  long *by_row = sort_by(rows, row, entries, by_column, a.start);
  long n = 0;
  for (long i = 0, k = 0; i < rows; i++) {
    long end = a.start[i + 1], begin = n;
    a.start[i] = n;
    for (; k < end; k++) {
      long t = by_row[k];
      if (n > begin && a.column[n - 1] == column[t]) {
        a.value[n - 1] += value[t];
        continue;
      }
      a.column[n] = column[t];
      a.row[n] = row[t];
      a.value[n++] = value[t];
    }
  }
  a.start[rows] = a.entries = n;
  free(by_row);
  free(by_column);

  int *row_of = sparse_alloc(n, sizeof *row_of);
  for (long k = 0; k < n; k++)
    row_of[k] = a.row[k];
  by_column = sort_by(cols, a.column, n, NULL, a.first);
  for (long k = 0; k < n; k++) {
    a.entry[k] = by_column[k];
    a.row[k] = row_of[by_column[k]];
  }
  free(row_of);
  free(by_column);
#pragma cofuse store(a.start[0 : a.rows + 1], a.column[0 : a.entries], a.value[0 : a.entries])
#pragma cofuse store(a.first[0 : a.cols + 1], a.row[0 : a.entries], a.entry[0 : a.entries])
  return a;
}

csr sparse_poisson(long n, long m) {
  if (n < 0 || m < 0 || (m && n > INT_MAX / m))
    sparse_fail("a grid cannot have %ld x %ld points", n, m);
  long most = 5 * n * m, k = 0;
  int *row = sparse_alloc(most, sizeof *row), *column = sparse_alloc(most, sizeof *column);
  double *value = sparse_alloc(most, sizeof *value);
  const long step[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (int s = 0; s < 5; s++) {
        long y = i + step[s][0], x = j + step[s][1];
        if (y < 0 || y >= n || x < 0 || x >= m)
          continue;
        row[k] = (int)(i * m + j);
        column[k] = (int)(y * m + x);
        value[k++] = s == 0 ? 4.0 : -1.0;
      }
  csr a = sparse_from_triplets(n * m, n * m, k, row, column, value);
  free(row);
  free(column);
  free(value);
  return a;
}

csr sparse_shifted(csr a, double factor, double shift) {
  if (a.rows != a.cols)
    sparse_fail("shifted: the matrix is %ld x %ld", a.rows, a.cols);
  long n = 0, most = a.entries + a.rows;
  int *row = sparse_alloc(most, sizeof *row), *column = sparse_alloc(most, sizeof *column);
  double *value = sparse_alloc(most, sizeof *value);
  for (long i = 0; i < a.rows; i++) {
    row[n] = column[n] = (int)i;
    value[n++] = shift;
    for (long k = a.start[i]; k < a.start[i + 1]; k++) {
      row[n] = (int)i;
      column[n] = a.column[k];
      value[n++] = factor * a.value[k];
    }
  }
  csr b = sparse_from_triplets(a.rows, a.cols, n, row, column, value);
  free(row);
  free(column);
  free(value);
  return b;
}

void sparse_free(csr a) {
  free(a.start);
  free(a.column);
  free(a.value);
  free(a.first);
  free(a.row);
  free(a.entry);
}

// Row j of the transposed matrix lists the same columns and values as row j.
bool sparse_is_symmetric(csr a) {
  if (a.rows != a.cols)
    return false;
  for (long j = 0; j < a.cols; j++) {
    if (a.first[j] != a.start[j] || a.first[j + 1] != a.start[j + 1])
      return false;
    for (long k = a.first[j]; k < a.first[j + 1]; k++)
      if (a.row[k] != a.column[k] || a.value[a.entry[k]] != a.value[k])
        return false;
  }
  return true;
}
