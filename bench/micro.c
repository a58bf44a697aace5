// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Micro-kernels as annotated loops. Each repetition is run before the next begins (flush): cofuse would fuse
// them.
#include "micro.h"

static double *micro_vector(long n, long seed) {
  double *v = example_alloc_lines((size_t)n, sizeof *v);
#pragma cofuse store(v[0 : n])
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    v[i] = micro_value(i, seed);
  return v;
}

static int *micro_places(long n) {
  int *p = example_alloc((size_t)n, sizeof *p);
#pragma cofuse store(p[0 : n])
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    p[i] = micro_place(i, n);
  return p;
}

static double axpy(const struct data *d) {
  long n = d->elements;
  double *y = d->a;
  const double *x = d->b;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    y[i] = 0.25 * x[i] + y[i];
#pragma cofuse flush
  return 0;
}

static double triad(const struct data *d) {
  long n = d->elements;
  double *a = d->a;
  const double *b = d->b, *c = d->c;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 0.5 * c[i];
#pragma cofuse flush
  return 0;
}

static double dot(const struct data *d) {
  long n = d->elements;
  const double *a = d->a, *b = d->b;
  double sum = 0;
#pragma cofuse forall reduction(+ : sum)
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static double five_point(const struct data *d) {
  long n = d->side;
  double *v = d->a;
  const double *u = d->b;
#pragma cofuse forall collapse(2)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      v[i * n + j] = 0.2 * (u[i * n + j] + u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                            u[i * n + j + 1]);
#pragma cofuse flush
  return 0;
}

static double nine_point(const struct data *d) {
  long n = d->side;
  double *v = d->a;
  const double *u = d->b;
#pragma cofuse forall collapse(2)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      v[i * n + j] = 0.2 * u[i * n + j] +
                     0.125 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]) +
                     0.075 * (u[(i - 1) * n + j - 1] + u[(i - 1) * n + j + 1] + u[(i + 1) * n + j - 1] +
                              u[(i + 1) * n + j + 1]);
#pragma cofuse flush
  return 0;
}

static double seven_point(const struct data *d) {
  long n = d->side, p = n * n;
  double *v = d->a;
  const double *u = d->b;
#pragma cofuse forall collapse(3)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      for (long k = 1; k < n - 1; k++)
        v[i * p + j * n + k] =
            0.4 * u[i * p + j * n + k] +
            0.1 * (u[(i - 1) * p + j * n + k] + u[(i + 1) * p + j * n + k] + u[i * p + (j - 1) * n + k] +
                   u[i * p + (j + 1) * n + k] + u[i * p + j * n + k - 1] + u[i * p + j * n + k + 1]);
#pragma cofuse flush
  return 0;
}

static double transpose(const struct data *d) {
  long n = d->side;
  double *v = d->a;
  const double *u = d->b;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      v[i * n + j] = u[j * n + i];
#pragma cofuse flush
  return 0;
}

static double gather(const struct data *d) {
  long n = d->elements;
  double *v = d->a;
  const double *u = d->b;
  const int *at = d->at;
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    v[i] = u[at[i]];
#pragma cofuse flush
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
