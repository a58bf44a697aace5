// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Small units by hand: what the layers above would build from descriptors. */
#ifndef TEST_CODEGEN_KIT_H
#define TEST_CODEGEN_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/codegen.h"

#define LIT(x) ((cf_cg_int){.index = -1, .lit = (x)})
#define ARG(i) ((cf_cg_int){.index = (i), .lit = 0})

/* Access of `type` at bases[b] + sum of the strides given. */
#define MEM(b, ...)                                                                                          \
  {                                                                                                          \
    .local = -1, .base = (b), .off = {-1, 0}, .stride = { __VA_ARGS__ }                                      \
  }
#define LOCAL(slot) {.local = (slot)}
#define ACC(t) {.type = COFUSE_##t, .mode = COFUSE_R | COFUSE_W, .text = "x"}

#define FORALL(nd, text, ...)                                                                                \
  {.abi = COFUSE_ABI,                                                                                        \
   .ndims = (nd),                                                                                            \
   .file = "kit.c",                                                                                          \
   .function = "f",                                                                                          \
   .name = "f:1",                                                                                            \
   .line = 7,                                                                                                \
   .body = (text),                                                                                           \
   .iv_types = kit_iv_types,                                                                                 \
   __VA_ARGS__}

extern const uint8_t kit_iv_types[COFUSE_MAX_DIMS]; /* all I64 */

/* A code generator without disk cache, made at first use. */
cf_codegen *kit_codegen(void);
void kit_close(void);

/* Assembles and compiles; fails the test on an error. */
const cf_kernel *kit_kernel(const cf_cg_unit *u);
/* One nest of ndims loops. */
const cf_kernel *kit_nest(uint32_t ndims, uint32_t ntasks, const cf_cg_task *tasks, uint32_t nlocals,
                          const uint8_t *local_types, uint32_t nbases, uint32_t nints);

void kit_same_(const void *a, const void *b, size_t n, const char *file, int line);
#define kit_same(a, b, n) kit_same_(a, b, n, __FILE__, __LINE__) /* bitwise */

/* Deterministic numbers. */
double kit_random(uint64_t *state); /* in [-1, 1) */

#endif
