// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the library share.
#ifndef DENSE_INTERNAL_H
#define DENSE_INTERNAL_H

#include "dense.h"

// A directive inside a macro.
#define DENSE_PRAGMA(text) _Pragma(#text)

_Noreturn void dense_fail(const char *format, ...);
double *dense_alloc(long count);
void dense_check_same(const char *operation, dense a, dense b);
// Ends an operand if nobody named it.
void dense_used(dense a);
void scalar_used(scalar s);
// The result of an operation: a new array, a new number.
dense dense_result(long rows, long cols);
scalar scalar_result(void);

#endif
