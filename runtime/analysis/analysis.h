// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer analysis: a window of tasks in, a plan out (paper, sections 4 and 5; architecture.md section 2).
 *
 * Steps: align (homes for stores first touched here), domain and partition of every access, greedy longest
 * fusible prefixes, loop nests inside a group, temporaries, memoisation of the whole. Every step is a
 * function of the tasks alone: no rank, no time, no address enters, so all ranks decide alike. */
#ifndef CF_ANALYSIS_H
#define CF_ANALYSIS_H

#include "ir/ir.h"

typedef enum cf_rule {
  CF_CUT_END = 0, /* the window ended */
  CF_CUT_RAW,     /* reads what another tile of the group wrote */
  CF_CUT_WAR,     /* overwrites what another tile of the group still reads */
  CF_CUT_WAW,
  CF_CUT_REDUCTION, /* uses the result of a reduction of the group */
  CF_CUT_DOMAIN,    /* a local or replicated task against a distributed one */
  CF_CUT_LIMIT,     /* largest group reached */
} cf_rule;
const char *cf_rule_text(cf_rule r);

/* Why a group ended: access acc_j of task task_j (first one outside) against access acc_i of task_i. */
typedef struct cf_cut {
  cf_rule rule;
  uint32_t task_i, acc_i, task_j, acc_j; /* tasks: indices in the window */
} cf_cut;

/* Neighbours in a nest that run the same points, some of them outside what all of the nest run. */
typedef struct cf_edge {
  uint32_t first, ntasks; /* in cf_nest.tasks */
} cf_edge;

/* Tasks that share a loop nest. Its points are counted from the low corner of the box that all of them run;
 * what a task runs outside of it is peeled off: done after the nest, by a function for its edge alone. Each
 * point sees its tasks in their order, and points of one nest do not depend on each other. */
typedef struct cf_nest {
  uint32_t ntasks;
  uint32_t *tasks;        /* indices in the window, program order */
  int64_t (*at)[CF_DIMS]; /* per task: its iteration at point 0; NULL: 0 for all, all boxes are equal */
  uint32_t nlocals;
  uint8_t *local_types;
  uint32_t nedges;
  cf_edge *edges;
} cf_nest;

typedef struct cf_group {
  uint32_t first, ntasks; /* tasks [first, first + ntasks) of the window */
  cf_cut cut;
  uint32_t nnests;
  cf_nest *nests;
  uint32_t ndemoted, reordered;
  void *exec; /* attached by exec on first run; freed through cf_plan_memo's callback */
  /* COFUSE_STATS and COFUSE_TRACE, kept by api */
  uint64_t calls, bytes; /* bytes: of one call, all ranks together */
  void *profile;
} cf_group;

typedef struct cf_plan {
  uint32_t ntasks, ngroups, nstores;
  uint32_t *order;     /* NULL, or: position in the analysed window of the task that is at i in this plan */
  cf_group *groups;    /* of the window in the plan's order */
  cf_partition *homes; /* per store, in order of first occurrence in the window before it was reordered */
  cf_domain *domains;  /* per task */
  cf_itile *itiles;
  cf_partition **parts; /* per task, per access */
  uint32_t **store_at;  /* per task, per access: index in homes */
  int32_t **locals;     /* per task, per access: slot of its nest if the store is demoted there, else -1 */
  cf_arena arena;
} cf_plan;

/* Analyses tasks[0..n). Sets domain, itile of the tasks and part of their accesses as a side effect
 * (with homes not yet committed to the stores). fuse = false: every task is a group of its own. */
cf_status cf_analyse(cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse, cf_plan **out);
void cf_plan_free(cf_plan *p);

/* The window in the plan's order, in which everything else that takes a plan and a window wants it. */
void cf_plan_order(const cf_plan *p, cf_task *const *before, cf_task **after);
/* The last position in the plan's order of a task that was at [0, last] before. */
uint32_t cf_plan_last(const cf_plan *p, uint32_t last);

/* Commits what the plan says of tasks [first, first+ntasks) to tasks and stores: domain, itile, part, homes.
 */
void cf_plan_apply(const cf_plan *p, cf_task *const *tasks, uint32_t first, uint32_t ntasks);

/* ---- memo: plans by the content of the window */
typedef struct cf_memo {
  cf_map map;
  cf_map numbers; /* what the key says of a task but for its stores -> cf_task.number */
  cf_buf key, part;
  uint64_t hits, misses;
} cf_memo;
/* Plan of the window, analysed now or found. Owned by the memo. */
cf_status cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                       cf_plan **out);
/* The key of a window with all that it says of each task, for people. sites: per task, what stands for its
 * descriptor. */
void cf_memo_key(cf_buf *out, cf_task *const *tasks, uint32_t n, bool fuse, const uint64_t *sites);
/* drop_exec: frees cf_group.exec. */
void cf_memo_free(cf_memo *m, void (*drop_exec)(void *));
/* ---- steps, exposed to tests */
void cf_align(cf_task *const *tasks, uint32_t n, cf_store *const *stores, uint32_t ns, cf_partition *homes);
void cf_domain_decide(cf_task *t, const cf_partition *homes, int64_t ranks);
cf_rule cf_fusible(const cf_task *ti, const cf_access *a, const cf_task *tj, const cf_access *b,
                   const cf_partition *homes, int64_t ranks);
cf_status cf_build_nests(cf_plan *p, cf_group *g, cf_task *const *tasks);

/* Points [lo, hi) of the nest that all of its tasks [first, first + ntasks) run on rank p; false if there are
 * none. */
bool cf_nest_range(const cf_nest *n, uint32_t first, uint32_t ntasks, cf_task *const *window, int64_t p,
                   int64_t ranks, int64_t *lo, int64_t *hi);
/* The k-th of the boxes that [lo, hi) has outside [clo, chi), which lies in it or is empty; false: there are
 * no more. Those after dimension d do not differ from the common box in it. */
bool cf_nest_strip(int ndims, const int64_t *lo, const int64_t *hi, const int64_t *clo, const int64_t *chi,
                   int k, int64_t *slo, int64_t *shi);

/* ---- internal to analysis: nests in the making (nest.c, peel.c) */
typedef struct cf_forming {
  cf_task *const *tasks; /* of the group */
  uint32_t ntasks, nnests;
  uint32_t *nest_of, *lead;  /* per task; per nest */
  int64_t (*shift)[CF_DIMS]; /* per task: its iteration n is point n + shift of its nest, 0 for the lead */
  uint32_t *segment;         /* per task, numbered through: neighbours of a nest with the same box share it */
  bool *common;              /* per task: it runs no more than all of the nest do */
  bool peeled;               /* some task has an edge */
} cf_forming;
/* 0: independent; 1: conflicts meet in the same point only; 2: they meet in different ones. */
int cf_nest_relation(const cf_task *x, const int64_t *sx, const cf_task *y, const int64_t *sy,
                     const int64_t *trip);
/* The order of two accesses shows. */
bool cf_access_conflict(const cf_access *a, const cf_access *b);
bool cf_nest_conflict(const cf_task *x, const cf_task *y);
bool cf_nest_same_shape(const cf_task *x, const cf_task *y);
/* Can task i join nest k at the price of edges? Its shift then. */
bool cf_nest_place(const cf_forming *f, uint32_t k, uint32_t i, int64_t *shift);
/* Fills segment and common when all tasks have found their nest. */
void cf_nest_segments(cf_forming *f);

#endif
