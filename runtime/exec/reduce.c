// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions into variables: blocks of a nest into this rank's partial results, those of all ranks into the
 * target. */
#include "exec/instance.h"
#include "exec/run.h"

#include <stdlib.h>
#include <string.h>

/* acc = acc op x. A value that was there before the loop is from before its first iteration: place -1. */
static void combine(const cofuse_red *red, void *acc, int64_t *place, const void *x, int64_t at) {
  if (cf_red_placed(red->op, red->type))
    cf_red_combine_placed(red->op, red->type, acc, place, x, at);
  else
    cf_red_combine(red->op, red->type, acc, x);
}

/* Bytes of a store that the group touches, which a target in plain sight may be part of. */
static cf_store *store_at(const cf_group *g, cf_task *const *tasks, const char *p) {
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (s && p >= s->base && p < s->base + s->bytes)
        return s;
    }
  return NULL;
}

/* Results that the device has not dealt with are put together on the host. */
static cf_status targets_to_host(cf_exec *x, const cf_group *g, cf_task *const *tasks,
                                 const cf_partial *mine) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < g->ntasks && x->device; i++)
    for (int r = 0; r < tasks[i]->nreds; r++, at++) {
      const char *p = tasks[i]->targets[r];
      cf_store *s = mine[at].done ? NULL : store_at(g, tasks, p);
      if (s)
        CF_TRY(cf_exec_host_access(x, s, p - s->base, p - s->base + (int64_t)cf_target_bytes(tasks[i], r),
                                   COFUSE_R | COFUSE_W));
    }
  return CF_OK;
}

cf_status cf_reduce_finish(cf_exec *x, const cf_group *g, cf_task *const *tasks, cf_partial *mine,
                           uint32_t n) {
  bool grid = false;
  for (uint32_t i = 0; i < g->ntasks; i++)
    grid |= tasks[i]->nreds > 0 && tasks[i]->domain == CF_GRID;
  CF_TRY(targets_to_host(x, g, tasks, mine));
  int size = x->comm->size;
  cf_partial *all = mine;
  bool root = x->comm->rank == 0;
  if (size > 1 && grid) {
    cf_buf_clear(&x->msgs);
    if (root) {
      all = calloc((size_t)size * n, sizeof *all);
      if (!all)
        return cf_fail(CF_ENOMEM, "out of memory for partial results");
    }
    cf_status st = x->comm->ops->gather0(x->comm, mine, n * sizeof *mine, all, cf_exec_stamp(x));
    if (st != CF_OK)
      return st;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < g->ntasks; i++) {
    const cf_task *t = tasks[i];
    for (int r = 0; r < t->nreds; r++, at++) {
      const cofuse_red *red = &t->desc->reds[r];
      size_t w = cf_type_bytes(red->type);
      char acc[CF_RED_SLOT];
      int64_t place = -1;
      if (mine[at].done)
        continue;
      memcpy(acc, t->targets[r], w);
      if (size == 1 || t->domain != CF_GRID) {
        if (mine[at].used)
          combine(red, acc, &place, mine[at].value, mine[at].place);
        memcpy(t->targets[r], acc, w);
      } else if (root) {
        for (int p = 0; p < size; p++)
          if (all[(size_t)p * n + at].used)
            combine(red, acc, &place, all[(size_t)p * n + at].value, all[(size_t)p * n + at].place);
        memcpy(t->targets[r], acc, w);
      }
      memcpy(mine[at].value, t->targets[r], w);
    }
  }
  if (size > 1 && grid) { /* the combined bits come from one rank */
    if (root)
      free(all);
    CF_TRY(x->comm->ops->bcast(x->comm, mine, n * sizeof *mine, 0, cf_exec_stamp(x)));
    at = 0;
    for (uint32_t i = 0; i < g->ntasks; i++)
      for (int r = 0; r < tasks[i]->nreds; r++, at++)
        if (!mine[at].done)
          memcpy(tasks[i]->targets[r], mine[at].value, cf_type_bytes(tasks[i]->desc->reds[r].type));
  }
  return CF_OK;
}

/* The place that a block has left with its result, as a number of an iteration of all of the task's. */
static int64_t place_of(const cf_nest_run *r, const cf_task *t, int64_t block, const char *partial) {
  int64_t lo[CF_DIMS], hi[CF_DIMS], place = 0, at = 0, row = 1;
  if (!r->opaque && r->ndims > 0)
    memcpy(&place, partial + 8, sizeof place);
  if (place == INT64_MAX)
    return place;
  cf_run_box(r, block, lo, hi);
  for (int d = (int)r->ndims - 1; d >= 0; d--) {
    int64_t n = hi[d] - lo[d];
    at += (lo[d] + place % n) * row;
    place /= n;
    row *= t->trip[d];
  }
  return at;
}

void cf_reduce_fold(const cf_bound *b, const cf_group *g, cf_task *const *tasks, const cf_nest *nest,
                    const cf_nest_run *r, cf_partial *mine) {
  for (uint32_t j = 0; j < nest->ntasks; j++) {
    uint32_t i = nest->tasks[j] - g->first;
    for (int k = 0; k < tasks[i]->nreds; k++) {
      const cofuse_red *red = &tasks[i]->desc->reds[k];
      uint32_t at = b->red_off[i] + (uint32_t)k;
      if (tasks[i]->red_count[k])
        continue;
      for (int64_t blk = 0; blk < r->nblocks; blk++) {
        const char *v = r->partials + blk * r->partial_stride + (size_t)at * CF_RED_SLOT;
        int64_t place = cf_red_placed(red->op, red->type) ? place_of(r, tasks[i], blk, v) : 0;
        if (!mine[at].used) {
          memcpy(mine[at].value, v, cf_type_bytes(red->type));
          mine[at].place = place;
        } else {
          combine(red, mine[at].value, &mine[at].place, v, place);
        }
        mine[at].used = 1;
      }
    }
  }
}

bool cf_reduce_any(const cf_group *g, cf_task *const *tasks) {
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (int r = 0; r < tasks[i]->nreds; r++)
      if (!tasks[i]->red_count[r])
        return true;
  return false;
}
