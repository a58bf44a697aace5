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

typedef struct cf_nest {
  uint32_t ntasks;
  uint32_t *tasks; /* indices in the window, program order */
  uint32_t nlocals;
  uint8_t *local_types;
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
  cf_buf key;
  uint64_t hits, misses;
} cf_memo;
/* Plan of the window, analysed now or found. Owned by the memo. */
cf_status cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                       cf_plan **out);
/* The key of a window. sites: per task, what stands for its descriptor; NULL: the descriptor's address. */
void cf_memo_key(cf_buf *out, cf_task *const *tasks, uint32_t n, bool fuse, const uint64_t *sites);
/* drop_exec: frees cf_group.exec. */
void cf_memo_free(cf_memo *m, void (*drop_exec)(void *));
/* ---- steps, exposed to tests */
void cf_align(cf_task *const *tasks, uint32_t n, cf_store *const *stores, uint32_t ns, cf_partition *homes);
void cf_domain_decide(cf_task *t, const cf_partition *homes, int64_t ranks);
cf_rule cf_fusible(const cf_task *ti, const cf_access *a, const cf_task *tj, const cf_access *b,
                   const cf_partition *homes, int64_t ranks);
cf_status cf_build_nests(cf_plan *p, cf_group *g, cf_task *const *tasks);

#endif
