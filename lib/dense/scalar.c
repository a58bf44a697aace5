// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that tasks compute: stores of one element, so that alpha = rr / pq is a task among the others.
#include "internal.h"

#include <math.h>
#include <stdlib.h>

scalar scalar_result(void) {
  scalar s = {dense_alloc(1), .unnamed = true};
#pragma cofuse store(s.p[0 : 1]) undefined
  return s;
}

scalar scalar_keep(scalar result) {
  result.unnamed = false;
  return result;
}

void scalar_free(scalar s) { free(s.p); }

void scalar_used(scalar s) {
  if (s.unnamed)
    scalar_free(s);
}

scalar scalar_of(double value) {
  scalar s = scalar_result();
  double *out = s.p;
#pragma cofuse task name(scalar_of)
  *out = value;
  return s;
}

double scalar_get(scalar s) {
  double value = *s.p;
  scalar_used(s);
  return value;
}

// `operation`, not `name`: that is a clause of the directive.
#define UNARY(operation, expression)                                                                         \
  scalar scalar_##operation(scalar a) {                                                                      \
    scalar s = scalar_result();                                                                              \
    double *out = s.p;                                                                                       \
    const double *x = a.p;                                                                                   \
    DENSE_PRAGMA(cofuse task name(scalar_##operation)) *out = (expression);                                  \
    scalar_used(a);                                                                                          \
    return s;                                                                                                \
  }

#define BINARY(operation, expression)                                                                        \
  scalar scalar_##operation(scalar a, scalar b) {                                                            \
    scalar s = scalar_result();                                                                              \
    double *out = s.p;                                                                                       \
    const double *x = a.p, *y = b.p;                                                                         \
    DENSE_PRAGMA(cofuse task name(scalar_##operation)) *out = (expression);                                  \
    scalar_used(a);                                                                                          \
    scalar_used(b);                                                                                          \
    return s;                                                                                                \
  }

UNARY(copy, x[0])
UNARY(neg, -x[0])
UNARY(sqrt, sqrt(x[0]))
BINARY(add, x[0] + y[0])
BINARY(sub, x[0] - y[0])
BINARY(mul, x[0] * y[0])
BINARY(div, x[0] / y[0])
BINARY(ratio, y[0] == 0 ? 0 : x[0] / y[0])
