// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the library share.
#ifndef SPARSE_INTERNAL_H
#define SPARSE_INTERNAL_H

#include "sparse.h"

#include <stddef.h>

_Noreturn void sparse_fail(const char *format, ...);
void *sparse_alloc(long count, size_t bytes);

#endif
