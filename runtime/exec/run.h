// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Private to exec: what run.c (the CPU), run_device.c and reduce.c share. */
#ifndef CF_EXEC_RUN_H
#define CF_EXEC_RUN_H

#include "exec/exec.h"

typedef struct cf_nest_run {
  cf_kernel_fn fn;
  const cf_task *opaque; /* or a task with a function of its own */
  size_t red_off;        /* and its first result in the partials */
  void *const *bases;
  const int64_t *ints;
  const void *scalars;
  char *partials; /* per block */
  size_t partial_stride;
  const cf_sections *sections; /* NULL: none in this nest */
  uint32_t ndims;
  bool tiled; /* the two innermost loops go in small tiles */
  int split;  /* dimension cut into blocks, -1: one block */
  int64_t lo[CF_DIMS], hi[CF_DIMS];
  int64_t per_block;
  int64_t nblocks;
  int64_t weight; /* operations per point */
} cf_nest_run;

/* This rank's part of the nest. False: nothing to do here. */
bool cf_run_range(const cf_exec *x, const cf_nest *n, cf_task *const *window, cf_nest_run *r);
/* Fills in split, per_block and nblocks. */
void cf_run_cut(const cf_exec *x, cf_nest_run *r, bool reduces);
void cf_run_box(const cf_nest_run *r, int64_t block, int64_t lo[CF_DIMS], int64_t hi[CF_DIMS]);
int64_t cf_run_points(const cf_nest_run *r);
int64_t cf_run_int(const cf_task *t, const cf_int_source *s); /* the value of one of a kernel's ints */

/* Partial results of one reduction on this rank, as sent to rank 0. */
typedef struct cf_partial {
  char value[CF_RED_SLOT];
  int64_t place; /* of a placed one: the iteration that it is from, in the order of the plain loops */
  uint64_t used; /* some block contributed */
  uint64_t done; /* the device has put it into its target */
} cf_partial;

/* Folds the blocks of one nest into this rank's partials. */
void cf_reduce_fold(const cf_bound *b, const cf_group *g, cf_task *const *tasks, const cf_nest *nest,
                    const cf_nest_run *r, cf_partial *mine);
bool cf_reduce_any(const cf_group *g, cf_task *const *tasks);
/* n: partial results, of all tasks of the group. */
cf_status cf_reduce_finish(cf_exec *x, const cf_group *g, cf_task *const *tasks, cf_partial *mine,
                           uint32_t n);

/* run_device.c: stores of the group are current where its kernels run, on the device or on the CPU, and what
 * it writes is stale elsewhere. */
cf_status cf_device_settle(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window,
                           const cf_bound *b);
/* The nests of a group that is bound for the device. */
cf_status cf_device_run(cf_exec *x, const cf_plan *p, const cf_bound *b, const cf_group *g,
                        cf_task *const *window, cf_partial *mine);
/* After a group that runs while the host is between a guard and the access that it stands for (guards of a
 * loop come before it): the stores of such guards go home. */
cf_status cf_device_release(cf_exec *x, const cf_group *g, cf_task *const *window);

#endif
