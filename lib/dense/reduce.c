// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions into scalars: the result is a store, so the window does not stop for it.
#include "internal.h"

#include <math.h>

scalar dense_sum(dense a) {
  scalar result = scalar_result();
  double *sum = result.p;
#pragma cofuse task name(dense_zero)
  *sum = 0;
#pragma cofuse forall collapse(2) reduction(+ : *sum) name(dense_sum)
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      *sum += a.p[i * a.ld + j];
  dense_used(a);
  return result;
}

scalar dense_dot(dense a, dense b) {
  dense_check_same("dot", a, b);
  scalar result = scalar_result();
  double *sum = result.p;
#pragma cofuse task name(dense_zero)
  *sum = 0;
#pragma cofuse forall collapse(2) reduction(+ : *sum) name(dense_dot)
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      *sum += a.p[i * a.ld + j] * b.p[i * b.ld + j];
  dense_used(a);
  dense_used(b);
  return result;
}

scalar dense_norm(dense a) {
  scalar result = scalar_sqrt(dense_dot(dense_keep(a), dense_keep(a)));
  dense_used(a);
  return result;
}

scalar dense_norm_max(dense a) {
  scalar result = scalar_result();
  double *most = result.p;
#pragma cofuse task name(dense_zero)
  *most = 0;
#pragma cofuse forall collapse(2) reduction(max : *most) name(dense_norm_max)
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      *most = fmax(*most, fabs(a.p[i * a.ld + j]));
  dense_used(a);
  return result;
}

scalar dense_smallest(dense a) {
  scalar result = scalar_result();
  double *least = result.p;
#pragma cofuse task name(dense_infinity)
  *least = INFINITY;
#pragma cofuse forall collapse(2) reduction(min : *least) name(dense_smallest)
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      *least = fmin(*least, a.p[i * a.ld + j]);
  dense_used(a);
  return result;
}

scalar dense_largest(dense a) {
  scalar result = scalar_result();
  double *most = result.p;
#pragma cofuse task name(dense_infinity)
  *most = -INFINITY;
#pragma cofuse forall collapse(2) reduction(max : *most) name(dense_largest)
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      *most = fmax(*most, a.p[i * a.ld + j]);
  dense_used(a);
  return result;
}
