// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages were moved into arrays whose write has the whole array as its hull, but leaves elements out.
#include <stdio.h>
#include <stdlib.h>

static const long n = 1024, m = 1024 * 1024;

static double *host_ones(long size) {
  double *a = malloc((size_t)size * sizeof *a);
  for (long i = 0; i < size; i++)
    a[i] = 1.0;
  return a;
}

static double total(const double *a, long size) {
  double z = 0;
  for (long i = 0; i < size; i++)
    z += a[i];
  return z;
}

/* Leaves pages behind. */
static void used_and_freed(long size) {
  double *t = malloc((size_t)size * sizeof *t);
#pragma cofuse store(t[0 : size])
#pragma cofuse forall
  for (long i = 0; i < size; i++)
    t[i] = 7.0;
#pragma cofuse flush
  free(t);
}

int main(void) {
  double *held = host_ones(3 * m); /* as much is kept as is in use */
#pragma cofuse store(held[0 : 3 * m])
  used_and_freed(3 * m);
  double *a = host_ones(m);
#pragma cofuse store(a[0 : n][0 : n])
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    a[i * n + i] = 2.0;
  printf("diagonal %g\n", total(a, m));

  used_and_freed(3 * m);
  double *b = host_ones(3 * m);
#pragma cofuse store(b[0 : 3 * m])
#pragma cofuse forall
  for (long i = 0; i < m; i++)
    for (int j = 0; j < 3; j += 2)
      b[3 * i + j] = 2.0;
  printf("two of three %g\n", total(b, 3 * m));

  used_and_freed(3 * m);
  double *c = host_ones(m);
#pragma cofuse store(c[0 : n][0 : n])
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    for (long j = 0; j <= i; j++)
      c[i * n + j] = 3.0;
  printf("triangle %g\n", total(c, m));

  /* In one window: dead temporaries lend their pages. */
  double *t = malloc((size_t)m * sizeof *t), *q = malloc((size_t)m * sizeof *q);
#pragma cofuse store(t[0 : m], q[0 : m])
#pragma cofuse forall
  for (long i = 0; i < m; i++)
    t[i] = 7.0;
#pragma cofuse forall
  for (long i = 0; i < m; i++)
    q[i] = t[m - 1 - i];
  free(t);
  double *d = host_ones(m);
#pragma cofuse store(d[0 : n][0 : n])
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    d[(n - 1 - i) * n + i] = 2.0;
  printf("other diagonal %g %g\n", total(d, m), total(q, m));
  free(held), free(a), free(b), free(c), free(d), free(q);
  return 0;
}
