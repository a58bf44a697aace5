// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "units.h"

double shared[64] = {1, 2, 3};

struct field *field_make(int n) {
  struct field *f = malloc(sizeof *f);
  f->n = n;
  f->now = malloc(n * sizeof *f->now);
  f->next = calloc(n, sizeof *f->next);
  for (int i = 0; i < n; i++)
    f->now[i] = i % 9;
#pragma cofuse store(f->now[0 : n], f->next[0 : n])
  return f;
}

void field_drop(struct field *f) {
  free(f->now), free(f->next);
  free(f);
}

void field_step(struct field *f, double c) {
  double *a = f->now, *b = f->next;
#pragma cofuse forall
  for (int i = 1; i < f->n - 1; i++)
    b[i] = c * (a[i - 1] + 2 * a[i] + a[i + 1]);
  b[0] = a[0], b[f->n - 1] = a[f->n - 1];
  f->now = b, f->next = a;
#pragma cofuse task
  total = total + 1;
  field_scale(f, 1.5);
}

double field_sum(const struct field *f) {
  long s = 0;
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < f->n; i++)
    s += (long)(f->now[i] * 1024);
  return (double)s / 1024;
}

double *lookup(struct field *f, int i) { return &f->now[i]; }
