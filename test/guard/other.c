/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A second unit, compiled like the tests: its functions guard themselves. */
#include "other.h"

double other_sum(const double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}
void other_set(double *p, double v) { *p = v; }
struct triple other_make(double v) { return (struct triple){v, v + 1, v + 2}; }
double other_use(struct triple t) { return t.a + 2 * t.b + 3 * t.c; }

/* Bodies of C99 inline functions of other.h. */
extern inline double c99_get(const double *p, int i);
