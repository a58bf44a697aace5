// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The JIT component on a thread of its own.
 *
 * LLVM and MLIR keep thread-local caches. On the main thread they are destroyed first thing in exit(), before
 * any exit handler runs that may still have kernels to compile; the compiler's thread lives until the process
 * ends. */
#ifndef CF_CODEGEN_COMPILER_H
#define CF_CODEGEN_COMPILER_H

#include "codegen/jit.h"

typedef struct cf_compiler cf_compiler;

/* path: libcofuse-jit.so. verify: check the IR between steps. The library is never closed. */
cf_status cf_compiler_open(const char *path, bool verify, cf_compiler **out);
/* As the functions of cf_jit_ops, with errors recorded. */
cf_status cf_compiler_compile(cf_compiler *c, const cf_jit_job *job, void **object, size_t *size);
cf_status cf_compiler_load(cf_compiler *c, const void *object, size_t size, const char *id, uint32_t nnests,
                           cf_kernel_fn *fn);
void cf_compiler_close(cf_compiler *c); /* NULL is allowed */

#endif
