// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix of Poisson's equation in compressed rows, made by all threads, and products with it. The entries
// and their order are those of sparse_poisson, so a row's sum is the same number.
#ifndef HAND_POISSON_H
#define HAND_POISSON_H

#include "hand.h"

#include <math.h>
#include <stdbool.h>

struct rows {
  long n, entries;
  long *restrict start;
  int *restrict column;
  double *restrict value;
};

static inline void *hand_alloc(long count, size_t bytes) {
  return example_alloc((size_t)(count > 0 ? count : 1), bytes);
}

// factor * A + shift * identity for n x m points.
static inline struct rows poisson(long n, long m, double factor, double shift) {
  struct rows a = {.n = n * m, .entries = n * m ? 5 * n * m - 2 * n - 2 * m : 0};
  a.start = hand_alloc(a.n + 1, sizeof *a.start);
  a.column = hand_alloc(a.entries, sizeof *a.column);
  a.value = hand_alloc(a.entries, sizeof *a.value);
  double center = factor * 4.0 + shift, side = -factor;
  HAND_FOR(5 * n * m)
  for (long i = 0; i < n; i++) {
    long k = i * (5 * m - 2) - (i > 0 ? m : 0);
    for (long j = 0; j < m; j++) {
      long at = i * m + j;
      const long to[5] = {at - m, at - 1, at, at + 1, at + m};
      const bool there[5] = {i > 0, j > 0, true, j < m - 1, i < n - 1};
      a.start[at] = k;
      for (int s = 0; s < 5; s++)
        if (there[s]) {
          a.column[k] = (int)to[s];
          a.value[k++] = s == 2 ? center : side;
        }
    }
  }
  a.start[a.n] = a.entries;
  return a;
}

static inline void rows_free(struct rows a) {
  free(a.start);
  free(a.column);
  free(a.value);
}

static inline double row_times(const struct rows *a, long i, const double *restrict x) {
  double sum = 0;
  for (long k = a->start[i]; k < a->start[i + 1]; k++)
    sum += a->value[k] * x[a->column[k]];
  return sum;
}

static inline double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

static inline double norm(long n, const double *restrict x) {
  double sum = 0;
  HAND_SUM(n, sum)
  for (long i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sqrt(sum);
}

// || b - A x ||
static inline double residual_norm(const struct rows *a, const double *restrict x, const double *restrict b) {
  double sum = 0;
  for (long i = 0; i < a->n; i++) {
    double rest = b[i];
    for (long k = a->start[i]; k < a->start[i + 1]; k++)
      rest -= a->value[k] * x[a->column[k]];
    sum += rest * rest;
  }
  return sqrt(sum);
}

static inline double largest_difference(long n, const double *restrict x, const double *restrict y) {
  double most = 0;
  for (long i = 0; i < n; i++)
    most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

#endif
