// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* dense: arrays of doubles, used as in an array language.
 *
 *     dense next = dense_keep(dense_scale(dense_add(a, b), 0.5));
 *     dense_set(dense_view(u, 1, 1, n - 2, m - 2), dense_sub(next, c));
 *     dense_free(next);
 *
 * Every operation is one small loop over whole arrays and puts its result into a new array. Nothing here
 * knows of other operations or of ranks: each is a `#pragma cofuse forall` that waits with its neighbours
 * until something needs a result; then what fits is fused, and intermediate arrays vanish. Without the plugin
 * it is a plain sequential library.
 *
 * Who frees: the result of an operation is unnamed, and the operation that it is passed to frees it after
 * use, so expressions nest without leaks. To use a result more than once, name it with dense_keep and end it
 * with dense_free. Views and what dense_new and dense_keep gave are never freed by an operation. The same
 * holds for scalars.
 *
 * Operands of one operation have the same shape; a fault ends the program with a message. */
#ifndef DENSE_H
#define DENSE_H

#include <stdbool.h>

/* rows x cols elements, row i begins at p + i * ld. A vector of n elements is one row. */
typedef struct dense {
  double *p;
  long rows, cols, ld;
  bool owner;   // p is the start of an allocation of its own, not a view into another array
  bool unnamed; // freed by the operation that reads it
} dense;

/* One number that operations compute and use without the program waiting for it. */
typedef struct scalar {
  double *p;
  bool unnamed;
} scalar;

/* create.c: arrays and views. Contents of a new array are undefined. */
dense dense_new(long rows, long cols);
dense dense_vector(long n);
dense dense_zeros(long rows, long cols);
dense dense_like(dense a);      // new, of the shape of a; a is not read and not freed
dense dense_keep(dense result); // names a result
void dense_free(dense a);       // nothing happens if a is a view
dense dense_view(dense a, long row, long col, long rows, long cols);
dense dense_part(dense vector, long first, long n);
dense dense_row(dense a, long row);    // 1 x cols
dense dense_column(dense a, long col); // rows x 1
void dense_fill(dense out, double value);
void dense_set(dense out, dense a); // out[:] = a; the two may not overlap
dense dense_copy(dense a);
double dense_get(dense a, long row, long col); // waits for the value

/* elementwise.c */
dense dense_add(dense a, dense b);
dense dense_sub(dense a, dense b);
dense dense_mul(dense a, dense b);
dense dense_div(dense a, dense b);
dense dense_min(dense a, dense b);
dense dense_max(dense a, dense b);
dense dense_neg(dense a);
dense dense_abs(dense a);
dense dense_square(dense a);
dense dense_sqrt(dense a);
dense dense_exp(dense a);
dense dense_log(dense a);
dense dense_sin(dense a);
dense dense_cos(dense a);
dense dense_scale(dense a, double factor);
dense dense_shift(dense a, double term);
dense dense_inverse(dense a, double numerator); // numerator / a
dense dense_at_least(dense a, double bound);
dense dense_at_most(dense a, double bound);

/* blas.c: with scalars that need not be known yet; a, b are freed if unnamed, y is changed in place */
dense dense_times(dense a, scalar s);               // a * s
dense dense_axpy(scalar s, dense a, dense b);       // b + s * a
dense dense_xmay(dense b, scalar s, dense a);       // b - s * a
void dense_add_to(dense y, dense a);                // y += a
void dense_sub_from(dense y, dense a);              // y -= a
dense dense_gemv(dense matrix, dense x);            // matrix * x, x and the result vectors
dense dense_gemv_transposed(dense matrix, dense x); // transposed matrix * x

/* reduce.c */
scalar dense_sum(dense a);
scalar dense_dot(dense a, dense b);
scalar dense_norm(dense a);     // square root of the sum of squares
scalar dense_norm_max(dense a); // largest magnitude, 0 for an empty array
scalar dense_smallest(dense a); // infinity for an empty array
scalar dense_largest(dense a);

/* scalar.c */
scalar scalar_of(double value);
scalar scalar_keep(scalar result);
void scalar_free(scalar s);
double scalar_get(scalar s); // waits for the value
scalar scalar_copy(scalar s);
scalar scalar_add(scalar a, scalar b);
scalar scalar_sub(scalar a, scalar b);
scalar scalar_mul(scalar a, scalar b);
scalar scalar_div(scalar a, scalar b);
scalar scalar_ratio(scalar a, scalar b); // a / b, but 0 where b is 0
scalar scalar_neg(scalar a);
scalar scalar_sqrt(scalar a);

#endif
