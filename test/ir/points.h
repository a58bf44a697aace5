// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The pointwise oracle: small random windows, of which every dependence is worked out element by element,
 * against every decision that the analysis takes in constant time. */
#ifndef POINTS_H
#define POINTS_H

#include "exec/need.h"
#include "ir/text.h"

enum { PT_RANKS = 5, PT_RULES = CF_CUT_LIMIT + 1 };

/* ---- points_window.c */
/* A random window as text. */
void pt_generate(uint64_t seed, cf_buf *out);

/* ---- points_sets.c: what the tasks of a window touch, in granules of 4 bytes */
typedef struct pt_set {
  uint64_t *bits;
} pt_set;

typedef struct pt_sets {
  const cf_ir_window *w;
  int64_t ranks;
  cf_arena arena;
  uint32_t *words; /* per store, by mark */
  pt_set **at;     /* [task][access * ranks + p] */
} pt_sets;

/* domain and itile of the tasks must be set. */
void pt_sets_make(const cf_ir_window *w, int64_t ranks, pt_sets *out);
void pt_sets_free(pt_sets *s);
/* What access k of task i touches on rank p. */
const uint64_t *pt_set_of(const pt_sets *s, uint32_t i, uint32_t k, int64_t p);
/* Element (all dimensions) that access a touches in iteration n; false: outside of its box. */
bool pt_element(const cf_access *a, const int64_t *n, int nl, int64_t *element);
/* Calls f for every iteration of the parallel loops [lo, hi) of `loop`, and inner loops if inner is not NULL.
 */
typedef void pt_visit(const int64_t *n, void *arg);
void pt_iterate(const cf_task *t, const cf_access *inner, int loop, int64_t lo, int64_t hi, pt_visit *f,
                void *arg);

/* Why tasks i and j (i before j) may not share a group, CF_CUT_END if they may. `copies`: ranks work on
 * copies, so that only what flows from one to another counts; else also what one overwrites and another still
 * reads (paper, definition 3). */
cf_rule pt_pair(const pt_sets *s, uint32_t i, uint32_t j, bool copies, uint32_t *acc_i, uint32_t *acc_j);

/* ---- points_check.c */
/* Compares the plan with the points. NULL: right; else what is wrong. */
const char *pt_check(const pt_sets *s, const cf_plan *p);

#endif
