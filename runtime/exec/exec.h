// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer exec: runs the groups of a plan on this rank: moves what they need, binds and calls kernels,
 * combines reductions; and makes data current for the host. */
#ifndef CF_EXEC_H
#define CF_EXEC_H

#include "analysis/analysis.h"
#include "codegen/codegen.h"
#include "comm/comm.h"
#include "device/device.h"

typedef struct cf_exec_stats {
  uint64_t groups, tasks, nests, temporaries, reordered;
  uint64_t halo_rows; /* rows of halos received */
} cf_exec_stats;

typedef struct cf_exec {
  const cf_options *opt;
  cf_comm *comm;
  cf_codegen *cg;
  cf_pool *pool; /* NULL until a group is large enough for threads */
  int threads;
  uint64_t stamp; /* hash of the stream of tasks, stores and communications, alike on all ranks */
  cf_buf bases, ints, scalars, partials, msgs, pack;
  cf_exec_stats stats;
} cf_exec;

/* Runs tasks [g->first, g->first + g->ntasks) of the window. cf_plan_apply must have run. */
cf_status cf_exec_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *tasks);
void cf_exec_drop_bound(void *exec); /* frees cf_group.exec */

/* Makes bytes [lo, hi) of the store equal on all ranks (for a host read). Nothing may be pending on it. */
cf_status cf_exec_fetch(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);

/* ---- internal to exec, in the order of a group's life */
typedef struct cf_bound cf_bound;
/* Builds the kernel of a group and the recipe for its arguments. */
cf_status cf_bind_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *tasks, cf_bound **out);
/* Brings every box the group reads to where it is read. */
cf_status cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *tasks);
/* Elements of the tiled dimension [lo, hi) to all ranks. */
cf_status cf_move_rows_everywhere(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);

typedef struct cf_int_source {
  uint32_t task, access; /* window index relative to the group; access */
  uint8_t what;          /* 0 at, 1 bstride[k], 2 first[k], 3 step[k] */
  uint8_t k;
} cf_int_source;

struct cf_bound {
  const cf_kernel *kernel;
  uint32_t nints, nbases, scalar_bytes, nreds;
  cf_int_source *ints;
  struct {
    uint32_t task, access;
  } *bases;
  uint32_t *scalar_off, *red_off; /* per task of the group */
  cf_arena arena;
};

/* Adds one event of the program's stream. */
static inline void cf_exec_event(cf_exec *x, uint64_t what) {
  x->stamp = (x->stamp ^ what) * 0x9e3779b97f4a7c15u;
  x->stamp ^= x->stamp >> 29;
}

/* Stamp of the next communication: ranks that took another way have another one, and are not matched. */
static inline uint64_t cf_exec_stamp(cf_exec *x) {
  cf_exec_event(x, 1);
  return x->stamp;
}

#endif
