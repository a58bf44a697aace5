// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The micro-kernels of micro.c by hand: restrict, OpenMP threads over static blocks, the transpose in tiles.
#include "micro.h"

#include "../examples/hand/hand.h"

#define SIMD _Pragma("omp simd")

static double *micro_vector(long n, long seed) {
  double *v = hand_new(n);
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    v[i] = micro_value(i, seed);
  return v;
}

static int *micro_places(long n) {
  int *p = example_alloc((size_t)n, sizeof *p);
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    p[i] = micro_place(i, n);
  return p;
}

static double axpy(const struct data *d) {
  long n = d->elements;
  double *restrict y = d->a;
  const double *restrict x = d->b;
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    y[i] = 0.25 * x[i] + y[i];
  return 0;
}

static double triad(const struct data *d) {
  long n = d->elements;
  double *restrict a = d->a;
  const double *restrict b = d->b, *restrict c = d->c;
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 0.5 * c[i];
  return 0;
}

static double dot(const struct data *d) {
  long n = d->elements;
  const double *restrict a = d->a, *restrict b = d->b;
  double sum = 0;
  HAND_SUM(n, sum)
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static double five_point(const struct data *d) {
  long n = d->side;
  HAND_FOR(n * n)
  for (long i = 1; i < n - 1; i++) {
    double *restrict v = d->a + i * n;
    const double *restrict u = d->b + i * n, *restrict north = u - n, *restrict south = u + n;
    SIMD for (long j = 1; j < n - 1; j++) v[j] = 0.2 * (u[j] + north[j] + south[j] + u[j - 1] + u[j + 1]);
  }
  return 0;
}

static double nine_point(const struct data *d) {
  long n = d->side;
  HAND_FOR(n * n)
  for (long i = 1; i < n - 1; i++) {
    double *restrict v = d->a + i * n;
    const double *restrict u = d->b + i * n, *restrict north = u - n, *restrict south = u + n;
    SIMD for (long j = 1; j < n - 1; j++) v[j] =
        0.2 * u[j] + 0.125 * (north[j] + south[j] + u[j - 1] + u[j + 1]) +
        0.075 * (north[j - 1] + north[j + 1] + south[j - 1] + south[j + 1]);
  }
  return 0;
}

static double seven_point(const struct data *d) {
  long n = d->side, p = n * n;
#pragma omp parallel for collapse(2) schedule(static) if (n * n * n > HAND_SERIAL)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++) {
      double *restrict v = d->a + i * p + j * n;
      const double *restrict u = d->b + i * p + j * n;
      const double *restrict up = u - p, *restrict down = u + p, *restrict north = u - n,
                             *restrict south = u + n;
      SIMD for (long k = 1; k < n - 1; k++) v[k] =
          0.4 * u[k] + 0.1 * (up[k] + down[k] + north[k] + south[k] + u[k - 1] + u[k + 1]);
    }
  return 0;
}

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

// A block of 4 x 4 in registers.
static inline void transpose_block(long n, const double *restrict u, double *restrict v) {
  quad r[4], s[4], t[4];
  for (int k = 0; k < 4; k++)
    r[k] = *(const quad *)(u + k * n);
  s[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  s[1] = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  s[2] = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  s[3] = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  t[0] = __builtin_shufflevector(s[0], s[2], 0, 1, 4, 5);
  t[1] = __builtin_shufflevector(s[1], s[3], 0, 1, 4, 5);
  t[2] = __builtin_shufflevector(s[0], s[2], 2, 3, 6, 7);
  t[3] = __builtin_shufflevector(s[1], s[3], 2, 3, 6, 7);
  for (int k = 0; k < 4; k++)
    *(quad *)(v + k * n) = t[k];
}

// Tiles of whole cache lines on both sides; rows of tiles are shared among the threads.
static double transpose(const struct data *d) {
  enum { TILE = 32 };
  long n = d->side;
  double *restrict v = d->a;
  const double *restrict u = d->b;
  HAND_FOR(n * n)
  for (long i0 = 0; i0 < n; i0 += TILE)
    for (long j0 = 0; j0 < n; j0 += TILE) {
      long i1 = i0 + TILE < n ? i0 + TILE : n, j1 = j0 + TILE < n ? j0 + TILE : n;
      for (long i = i0; i < i1; i += 4)
        for (long j = j0; j < j1; j += 4)
          if (i + 4 <= n && j + 4 <= n)
            transpose_block(n, u + j * n + i, v + i * n + j);
          else
            for (long y = i; y < i + 4 && y < n; y++)
              for (long x = j; x < j + 4 && x < n; x++)
                v[y * n + x] = u[x * n + y];
    }
  return 0;
}

static double gather(const struct data *d) {
  long n = d->elements;
  double *restrict v = d->a;
  const double *restrict u = d->b;
  const int *restrict at = d->at;
  HAND_FOR(n)
  for (long i = 0; i < n; i++)
    v[i] = u[at[i]];
  return 0;
}

static const struct kernel micro_kernels[] = {
    {"axpy", 1, axpy},           {"triad", 1, triad},        {"dot", 1, dot},
    {"5-point", 2, five_point},  {"9-point", 2, nine_point}, {"7-point", 3, seven_point},
    {"transpose", 2, transpose}, {"gather", 1, gather},
};

int main(int argc, char **argv) {
  return micro_main(argc, argv, (int)(sizeof micro_kernels / sizeof *micro_kernels));
}
