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
  uint64_t edges;        /* functions for what tasks run outside the points of their whole nest */
  uint64_t halo_rows;    /* rows of halos received */
  uint64_t verified;     /* groups that COFUSE_VERIFY found equal */
  uint64_t bytes_to_all; /* of stores, brought to every rank that has not got them */
  /* Of a device with a memory of its own. */
  uint64_t device_groups, launches, replays, argument_bytes, to_device_copies, to_device_bytes,
      to_host_copies, to_host_bytes, direct_bytes, evicted;
} cf_exec_stats;

typedef struct cf_device_memory {
  void *mem;
  size_t bytes;
} cf_device_memory;

typedef struct cf_exec {
  const cf_options *opt;
  cf_comm *comm;
  cf_codegen *cg;
  cf_pages *pages; /* NULL: arrays get their pages from the system alone (COFUSE_PAGES=0) */
  cf_pool *pool;   /* NULL until a group is large enough for threads */
  int threads;
  void (*in_function)(bool on); /* around calls of kernels that are C functions */
  uint64_t stamp; /* hash of the stream of tasks, stores and communications, alike on all ranks */
  cf_buf bases, ints, scalars, partials, msgs, pack;
  cf_exec_stats stats;

  cf_device *device; /* NULL: kernels run on the CPU */
  bool had_device;
  bool direct;          /* messages may go to and from its memory */
  bool device_later;    /* none has been needed yet */
  bool fall_back;       /* what cannot be compiled for it runs on the CPU */
  int64_t device_least; /* fewer iterations run on the CPU while their stores are there */
  uint64_t device_most; /* groups whose stores have more bytes, on a rank, run on the CPU */
  /* Moves on whenever the program issues a task: what the host has announced to touch before, it has touched.
   */
  uint64_t epoch;
  struct cf_instance *instances;
  uint64_t turn; /* number of groups */
  cf_device_memory spares[64], args, lanes, results;
  uint32_t nspares;
  struct {
    const cf_kernel *kernel;
    cf_device_code *code;
  } *codes; /* all that were loaded */
  uint32_t ncodes;
  cf_buf image; /* arguments of a launch, as they are put together */
  cf_buf queue; /* launches of a group */
} cf_exec;

/* Shall the group run on a device, if it can? Alike on all ranks. If there is none yet (device_later), one is
 * to be opened first. */
bool cf_exec_wants_device(const cf_exec *x, const cf_group *g, cf_task *const *window);
/* Runs tasks [g->first, g->first + g->ntasks) of the window. cf_plan_apply must have run. */
cf_status cf_exec_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *tasks);
void cf_exec_drop_bound(void *exec); /* frees cf_group.exec */

/* Makes bytes [lo, hi) of the store equal on all ranks (for a host read). Nothing may be pending on it. */
cf_status cf_exec_fetch(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);

/* The host reads bytes [lo, hi) of the store, or will write them (COFUSE_R, COFUSE_W), on this rank: what the
 * device has of them comes to the host, what it keeps is stale. */
cf_status cf_exec_host_access(cf_exec *x, cf_store *s, int64_t lo, int64_t hi, int mode);
void cf_exec_forget(cf_exec *x, cf_store *s); /* the store ends, with what it holds */
/* All live stores are current on the host. Errors are logged: nothing more can be done at the end of a
 * process. */
void cf_exec_home(cf_exec *x);
void cf_exec_close_device(cf_exec *x);   /* after cf_exec_home */
void cf_exec_abandon_device(cf_exec *x); /* in a child of fork: the device is the parent's */

/* ---- internal to exec, in the order of a group's life */
typedef struct cf_bound cf_bound;
/* Builds the kernel of a group and the recipe for its arguments. device: for it, if that is possible. */
cf_status cf_bind_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *tasks, bool device,
                        cf_bound **out);
/* Brings every box the group reads to where it is read: to the device's memory, if it runs there and messages
 * can. */
cf_status cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *tasks, bool device);
/* An unconditional write reaches every element of its box, which is a hull: each loop walks one dimension,
 * one by one. */
bool cf_fills_box(const cf_access *w);

typedef struct cf_int_source {
  uint32_t task, access; /* window index relative to the group; access */
  uint8_t what; /* 0 at, 1 bstride[k], 2 first[k], 3 step[k], 4 last offset (checked access), 5 trip[k] */
  uint8_t k;
  const int64_t *at; /* what 0 and 2: the task's iteration at point 0 of its nest; NULL: 0 */
} cf_int_source;

/* Bytes from the base to where the access is at point 0 of its nest; at: as above. */
static inline int64_t cf_access_start(const cf_task *t, const cf_access *a, const int64_t *at) {
  int64_t v = a->at;
  for (int l = 0; at && l < t->ndims; l++)
    v += a->bstride[l] * at[l];
  return v;
}

struct cf_bound {
  const cf_kernel *kernel;
  cf_bound *other; /* the same group, for the other place */
  bool asked;      /* for the device */
  bool on_device;
  cf_device_code *code; /* on a device */
  cf_device_replay **replay;
  cf_exec *exec;     /* whose device that is */
  uint32_t *level;   /* per nest, on a device: nests of one level need nothing of each other */
  uint32_t *fold_fn; /* per nest with reductions: the first of its two functions that fold them */
  uint32_t ntargets, target_fn;
  struct {
    uint32_t task, red, access; /* a reduction into a store, and that access */
  } *targets;
  uint32_t nints, nbases, scalar_bytes, nreds;
  cf_int_source *ints;
  struct {
    uint32_t task, access;
  } *bases;
  uint32_t *scalar_off, *red_off; /* per task of the group */
  bool *tiled;                    /* per nest: run in small tiles of its two innermost loops */
  int64_t *weight;                /* per nest: roughly, operations per point */
  uint32_t *edge_fn;              /* per nest of the group: function of the kernel for its first edge */
  /* COFUSE_CHECK: accesses that the kernel itself checks, and lowest and highest bad offset of each. The
   * kernel gets `bad` as one more base. */
  uint32_t nchecks;
  struct {
    uint32_t task, access;
  } *checks;
  int64_t (*bad)[2];
  /* Large stores, for their pages: access by which a nest uses one first or last. */
  uint32_t nuses;
  struct {
    uint32_t task, access, nest;
    bool first, fills; /* fills: and overwrites all of it */
    bool last;         /* and nothing outside the group will use it */
  } *uses;
  cf_arena arena;
};

/* Bytes of the target of reduction r. */
static inline size_t cf_target_bytes(const cf_task *t, int r) {
  size_t n = t->red_count[r] > 0 ? (size_t)t->red_count[r] : 1;
  return n * cf_type_bytes(t->desc->reds[r].type);
}

/* ---- reductions into array sections: of one task, during one run of its nest */
typedef struct cf_sections cf_sections;
bool cf_sections_any(const cf_task *t);
/* slot: of the task's first reduction; nblocks, points: of this rank. */
cf_status cf_sections_create(const cf_task *t, uint32_t slot, int64_t nblocks, int64_t points,
                             cf_sections **out);
void cf_sections_free(cf_sections *s);
/* Unit u runs blocks [u * per_unit, (u + 1) * per_unit), in order: fill once, point before each block. */
int64_t cf_sections_units(const cf_sections *s);
int64_t cf_sections_per_unit(const cf_sections *s);
void cf_sections_fill(const cf_sections *s, int64_t unit);
void cf_sections_point(const cf_sections *s, int64_t unit, char *partials);
cf_status cf_sections_report(const cf_sections *s);             /* CF_EBOUNDS if a block met a bad offset */
cf_status cf_sections_finish(cf_exec *x, const cf_sections *s); /* every rank calls it */

/* ---- pages of large arrays (memory.c) */
/* Notes in b which stores a nest of the group is the first to use, and which it is the last to. */
void cf_memory_plan(const cf_plan *p, const cf_group *g, cf_task *const *window, cf_bound *b);
/* Around the run of nest n. tasks: of the group. */
void cf_memory_before(cf_exec *x, const cf_bound *b, uint32_t n, cf_task *const *tasks);
void cf_memory_after(cf_exec *x, const cf_bound *b, uint32_t n, cf_task *const *tasks);

/* ---- checked accesses (COFUSE_CHECK) */
/* No analysis has bounded the addresses of this access. */
bool cf_bounds_open(const cf_access *a);
int64_t cf_bounds_limit(const cf_access *a); /* last offset from its base at which an element fits */
void cf_bounds_reset(const cf_bound *b);
/* CF_EBOUNDS with a message if a kernel has met a bad offset. tasks: of the group. */
cf_status cf_bounds_report(const cf_bound *b, cf_task *const *tasks);

/* ---- verification (COFUSE_VERIFY) */
/* Called after each task that ran alone, with its plan and its place in `window`. */
typedef cf_status (*cf_verify_each)(const cf_plan *p, const cf_group *g, cf_task *const *window);
/* Runs the group fused, restores what was there, runs it task by task and compares bit by bit. */
cf_status cf_verify_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window, cf_verify_each each);
/* COFUSE_TEST_FAULT: changes, on the last rank, one element of the largest store that the group wrote. */
cf_status cf_verify_inject(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window);
/* Access of tasks[0..n) that may have written the element last, for messages. False: none. */
bool cf_verify_writer(cf_task *const *tasks, uint32_t n, const cf_store *s, int64_t element,
                      const cf_task **task, const cf_access **access);
/* "[3][4]": an element by its number. */
void cf_element_print(const cf_store *s, int64_t element, cf_buf *out);

/* ---- bytes of a store, as runs: elements [lo, hi) of dimension dim; dim < 0: all */
typedef struct cf_slab {
  size_t runs, run_bytes, pitch, first; /* run r: bytes [first + r * pitch, ... + run_bytes) from the base */
} cf_slab;
cf_slab cf_slab_of(const cf_store *s, int dim, int64_t lo, int64_t hi);
/* This rank's own tile; everything if the store is replicated or has no home yet. */
cf_slab cf_slab_own(const cf_exec *x, const cf_store *s);

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
