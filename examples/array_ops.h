// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small array library as one finds it under NumPy-like front ends: one function per operation, each a
// pass over rows x cols numbers. An operand is a pointer to its first number and a leading dimension ld,
// so it may be a view into the middle of a larger array.
#ifndef ARRAY_OPS_H
#define ARRAY_OPS_H

// A new array of rows x cols numbers, ld = cols. Given back with free. Ends the program without memory.
double *array_new(long rows, long cols);

void array_add(long rows, long cols, const double *a, long lda, const double *b, long ldb, double *out,
               long ldo);
void array_scale(long rows, long cols, double factor, const double *a, long lda, double *out, long ldo);
void array_copy(long rows, long cols, const double *a, long lda, double *out, long ldo);

#endif
