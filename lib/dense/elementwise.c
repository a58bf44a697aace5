// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element by element: one loop for each operation.
#include "internal.h"

#include <math.h>

#define FOR_EACH(operation)                                                                                  \
  DENSE_PRAGMA(cofuse forall collapse(2) name(operation))                                                    \
  for (long i = 0; i < out.rows; i++)                                                                        \
    for (long j = 0; j < out.cols; j++)

#define UNARY(name, expression)                                                                              \
  dense dense_##name(dense a) {                                                                              \
    dense out = dense_result(a.rows, a.cols);                                                                \
    FOR_EACH(dense_##name) {                                                                                 \
      double x = a.p[i * a.ld + j];                                                                          \
      out.p[i * out.ld + j] = (expression);                                                                  \
    }                                                                                                        \
    dense_used(a);                                                                                           \
    return out;                                                                                              \
  }

#define WITH_NUMBER(name, number, expression)                                                                \
  dense dense_##name(dense a, double number) {                                                               \
    dense out = dense_result(a.rows, a.cols);                                                                \
    FOR_EACH(dense_##name) {                                                                                 \
      double x = a.p[i * a.ld + j];                                                                          \
      out.p[i * out.ld + j] = (expression);                                                                  \
    }                                                                                                        \
    dense_used(a);                                                                                           \
    return out;                                                                                              \
  }

#define BINARY(name, expression)                                                                             \
  dense dense_##name(dense a, dense b) {                                                                     \
    dense_check_same(#name, a, b);                                                                           \
    dense out = dense_result(a.rows, a.cols);                                                                \
    FOR_EACH(dense_##name) {                                                                                 \
      double x = a.p[i * a.ld + j], y = b.p[i * b.ld + j];                                                   \
      out.p[i * out.ld + j] = (expression);                                                                  \
    }                                                                                                        \
    dense_used(a);                                                                                           \
    dense_used(b);                                                                                           \
    return out;                                                                                              \
  }

BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, (x)*y)
BINARY(div, x / y)
BINARY(min, y < x ? y : x)
BINARY(max, y > x ? y : x)
UNARY(neg, -x)
UNARY(abs, fabs(x))
UNARY(square, (x)*x)
UNARY(sqrt, sqrt(x))
UNARY(exp, exp(x))
UNARY(log, log(x))
UNARY(sin, sin(x))
UNARY(cos, cos(x))
WITH_NUMBER(scale, factor, (x)*factor)
WITH_NUMBER(shift, term, x + term)
WITH_NUMBER(inverse, numerator, numerator / x)
WITH_NUMBER(at_least, bound, x < bound ? bound : x)
WITH_NUMBER(at_most, bound, x > bound ? bound : x)
