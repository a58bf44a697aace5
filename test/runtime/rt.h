// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Hand-written descriptors: the runtime is tested without the plugin. */
#ifndef RT_H
#define RT_H
#include "cofuse/descriptor.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A strided 2-D view of doubles: element (i, j) at p + i * ld + j. */
typedef struct view {
  double *p;
  int64_t ld;
} view;

static inline cofuse_object object2(const char *text) {
  return (cofuse_object){.abi = COFUSE_ABI,
                         .type = COFUSE_F64,
                         .rank = 2,
                         .elem_bytes = 8,
                         .line = 1,
                         .file = "rt.c",
                         .text = text};
}

static inline void rt_store(double *p, int64_t n, int64_t m, const char *text) {
  cofuse_object o = object2(text);
  cofuse_store_(&o, p, (int64_t[]){0, n, 0, m});
}

/* Runs `d` over n x m points; access k at v[k]. Scalars: doubles. */
static inline int rt_run(cofuse_forall *d, int64_t n, int64_t m, const view *v, const double *scalars,
                         void *const *targets) {
  int64_t ints[6 + 8 * 4], *q = ints;
  const void *sc[8];
  *q++ = 0, *q++ = n, *q++ = 1;
  *q++ = 0, *q++ = m, *q++ = 1;
  for (int k = 0; k < d->naccess; k++) {
    *q++ = (int64_t)(intptr_t)v[k].p;
    *q++ = (int64_t)(intptr_t)v[k].p;
    *q++ = v[k].ld * 8;
    *q++ = 8;
  }
  for (int k = 0; k < d->nscalars; k++)
    sc[k] = &scalars[k];
  return cofuse_run(d, ints, sc, targets);
}

static const uint8_t rt_iv[2] = {COFUSE_I64, COFUSE_I64};
static const uint8_t rt_f64[4] = {COFUSE_F64, COFUSE_F64, COFUSE_F64, COFUSE_F64};
#define RT_ACC(m, t) {COFUSE_F64, m, 0, 0, __LINE__, 1, t}
#define RT_FORALL(id, nacc, nsc, nred, accs, redv, text)                                                     \
  static cofuse_forall id = {COFUSE_ABI,                                                                     \
                             COFUSE_KIND_FORALL,                                                             \
                             2,                                                                              \
                             nsc,                                                                            \
                             nred,                                                                           \
                             nacc,                                                                           \
                             COFUSE_TU_OPT,                                                                  \
                             __LINE__,                                                                       \
                             1,                                                                              \
                             "rt.c",                                                                         \
                             "f",                                                                            \
                             #id,                                                                            \
                             rt_iv,                                                                          \
                             accs,                                                                           \
                             rt_f64,                                                                         \
                             redv,                                                                           \
                             text,                                                                           \
                             "",                                                                             \
                             0}

static inline void rt_read(const void *p, size_t n) {
  cofuse_guard(p, p, (const char *)p + n, COFUSE_R, "rt.c:1:1");
}
#endif
