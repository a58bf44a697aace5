// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the two units of one program.
#ifndef UNITS_H
#define UNITS_H
#include "show.h"

struct field {
  int n;
  double *now, *next;
};
extern double shared[64];
extern double total;
struct field *field_make(int n);
void field_drop(struct field *f);
void field_step(struct field *f, double c);
double field_sum(const struct field *f);
double *lookup(struct field *f, int i);

/* A loop in a header: one descriptor per unit that includes it. */
static inline void field_scale(struct field *f, double s) {
  double *x = f->now;
#pragma cofuse forall
  for (int i = 0; i < f->n; i++)
    x[i] = x[i] * s + 0.1 * i;
}
#endif
