// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Groups on a device with a memory of its own: stores go there if they are stale there, and stay; nests
 * become launches, in order, so none needs a barrier; results of reductions go into the stores that are their
 * targets, or come back to be combined on the host. */
#include "exec/instance.h"
#include "exec/need.h"
#include "exec/run.h"
#include "ir/math.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The access overwrites every byte of the rows that it touches. */
static bool fills_rows(const cf_access *w, int dim) {
  const cf_store *s = w->store;
  if (!w->must || w->whole || w->field_bytes != s->elem_bytes || !cf_fills_box(w))
    return false;
  for (int d = 0; d < s->rank; d++)
    if (d != dim && (w->lo[d] != 0 || w->hi[d] != s->ext[d]))
      return false;
  return true;
}

/* The device itself puts the result of target i into its store: on this rank it is all there is, and so are
 * the results that other tasks of the group have for it, which come in the order of the tasks. */
static bool finishes(const cf_exec *x, const cf_bound *b, cf_task *const *tasks, uint32_t i) {
  if (x->comm->size == 1)
    return true;
  const cf_store *s = tasks[b->targets[i].task]->access[b->targets[i].access].store;
  for (uint32_t k = 0; k < b->ntargets; k++) {
    const cf_task *t = tasks[b->targets[k].task];
    if (t->access[b->targets[k].access].store == s && t->domain != CF_REPLICATED)
      return false;
  }
  return b->ntargets < CF_DEVICE_TARGETS; /* else there may be more of them */
}

static int64_t all_rows(const cf_store *s) { return s->rank ? s->ext[cf_instance_dim(s)] : 1; }

/* Rows of the store that the access touches on this rank. */
static void rows_of(const cf_exec *x, const cf_task *t, const cf_access *a, int64_t *lo, int64_t *hi) {
  *lo = 0;
  *hi = 1;
  if (a->store->rank)
    cf_access_slab(t, a, cf_instance_dim(a->store), x->comm->rank, x->comm->size, lo, hi);
  else if (t->domain == CF_SINGLE)
    *hi = cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, x->comm->size) == x->comm->rank;
}

/* Bytes of the group's stores that a rank needs on the device, roughly. Alike on all ranks. */
static uint64_t bytes_of(const cf_exec *x, const cf_group *g, cf_task *const *window, bool once) {
  uint64_t n = 0;
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < window[i]->naccess; k++) {
      const cf_store *s = window[i]->access[k].store;
      bool seen = !s;
      for (uint32_t j = g->first; once && j <= i && !seen; j++)
        for (uint32_t m = 0; m < (j < i ? window[j]->naccess : k) && !seen; m++)
          seen = window[j]->access[m].store == s;
      if (!seen) /* parts are stored alone only if they are runs */
        n += s->home.kind == CF_PART_TILING && cf_instance_dim(s) == 0 && !window[i]->access[k].whole
                 ? s->bytes / (uint64_t)x->comm->size
                 : s->bytes;
    }
  return n;
}

static bool enough_to_do(const cf_exec *x, const cf_group *g, cf_task *const *window) {
  int64_t points = 0;
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++) {
    int64_t n = 1;
    for (int d = 0; d < window[i]->ndims && n < x->device_least; d++)
      n *= cf_min(window[i]->trip[d], INT32_MAX);
    points += n;
    for (uint32_t k = 0; k < window[i]->naccess; k++)
      if (window[i]->access[k].store && window[i]->access[k].store->on_device)
        return true;
    if (points >= x->device_least)
      return true;
  }
  return false;
}

bool cf_exec_wants_device(const cf_exec *x, const cf_group *g, cf_task *const *window) {
  if ((!x->device && !x->device_later) || !enough_to_do(x, g, window))
    return false;
  return x->device_most == UINT64_MAX || bytes_of(x, g, window, false) <= x->device_most ||
         bytes_of(x, g, window, true) <= x->device_most;
}

/* In the order of the program, so that what one task of the group writes is not fetched for the next. */
cf_status cf_device_settle(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window,
                           const cf_bound *b) {
  bool host = !b->on_device;
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (int turn = 0; turn < 2; turn++) /* what a task reads, then what it writes */
      for (uint32_t k = 0; k < window[i]->naccess; k++) {
        const cf_task *t = window[i];
        const cf_access *a = &t->access[k];
        bool writes = a->priv & CF_WRITE;
        if (!a->store || a->priv & CF_REDUCE || p->locals[i][k] >= 0 || (turn && !writes))
          continue;
        int64_t lo, hi;
        rows_of(x, t, a, &lo, &hi);
        bool fetch = a->priv & CF_READ || !fills_rows(a, cf_instance_dim(a->store));
        if (turn == 0 && host)
          CF_TRY(fetch ? cf_instance_host(x, a->store, lo, hi) : CF_OK);
        else if (turn == 0)
          CF_TRY(cf_instance_device(x, a->store, lo, hi, fetch));
        else if (host)
          CF_TRY(cf_instance_host_wrote(x, a->store, lo, hi));
        else
          CF_TRY(cf_instance_claim(x, a->store, lo, hi));
      }
  for (uint32_t i = 0; i < b->ntargets && !host; i++) {
    cf_store *s = window[g->first + b->targets[i].task]->access[b->targets[i].access].store;
    if (finishes(x, b, window + g->first, i))
      CF_TRY(cf_instance_device(x, s, 0, all_rows(s), true));
  }
  return CF_OK;
}

/* After the launches. */
static cf_status wrote(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window,
                       const cf_bound *b) {
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < window[i]->naccess; k++) {
      const cf_access *a = &window[i]->access[k];
      int64_t lo, hi;
      if (!a->store || !(a->priv & CF_WRITE) || p->locals[i][k] >= 0)
        continue;
      rows_of(x, window[i], a, &lo, &hi);
      a->store->on_device = true;
      CF_TRY(cf_instance_device_wrote(x, a->store, lo, hi));
    }
  for (uint32_t i = 0; i < b->ntargets; i++) {
    cf_store *s = window[g->first + b->targets[i].task]->access[b->targets[i].access].store;
    s->on_device = true;
    if (finishes(x, b, window + g->first, i))
      CF_TRY(cf_instance_device_wrote(x, s, 0, all_rows(s)));
  }
  return CF_OK;
}

cf_status cf_device_release(cf_exec *x, const cf_group *g, cf_task *const *window) {
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < window[i]->naccess; k++) {
      cf_store *s = window[i]->access[k].store;
      if (s && s->host_epoch == x->epoch)
        CF_TRY(cf_instance_home(x, s));
    }
  return CF_OK;
}

/* ---- arguments */

static cf_status room(cf_exec *x, cf_device_memory *m, size_t bytes) {
  if (bytes <= m->bytes)
    return CF_OK;
  if (m->mem)
    x->device->ops->release(x->device, m->mem);
  *m = (cf_device_memory){0};
  size_t more = bytes + bytes / 2 + 4096; /* for the next, if there is so much */
  cf_status st = cf_instance_memory(x, more, &m->mem);
  if (st == CF_ENOMEM) {
    more = bytes;
    st = cf_instance_memory(x, more, &m->mem);
  }
  if (st == CF_ENOMEM)
    return cf_fail(st,
                   "out of memory on the device (%s) for arguments and partial results of kernels: %zu bytes",
                   x->device->describe, bytes);
  CF_TRY(st);
  m->bytes = more;
  return CF_OK;
}

static size_t put(cf_buf *b, const void *data, size_t n) {
  static const char zero[64];
  cf_buf_put(b, zero, (64 - b->len % 64) % 64);
  size_t at = b->len;
  cf_buf_put(b, data, n);
  return at;
}

/* Bases, ints, scalars and captured memory, which goes along, in one piece. */
static cf_status send_arguments(cf_exec *x, const cf_bound *b, cf_task *const *tasks, cf_device_box *box) {
  cf_buf *all = &x->image;
  cf_buf_clear(all);
  size_t captured = 0;
  for (uint32_t i = 0; i < b->nbases; i++) {
    const cf_access *a = &tasks[b->bases[i].task]->access[b->bases[i].access];
    captured += a->store ? 0 : 64 + ((size_t)a->hi[0] + 63) / 64 * 64;
  }
  CF_TRY(room(x, &x->args, x->bases.len + x->ints.len + x->scalars.len + captured + 4 * 64));
  put(all, x->bases.data, x->bases.len);
  box->ints = (int64_t)put(all, x->ints.data, x->ints.len);
  box->scalars = (int64_t)put(all, x->scalars.data, x->scalars.len);
  for (uint32_t i = 0; i < b->nbases && !all->failed; i++) {
    const cf_access *a = &tasks[b->bases[i].task]->access[b->bases[i].access];
    if (a->store)
      continue;
    void *at = (char *)x->args.mem + put(all, a->capture, (size_t)a->hi[0]);
    if (!all->failed)
      memcpy(all->data + i * sizeof at, &at, sizeof at);
  }
  if (all->failed)
    return cf_fail(CF_ENOMEM, "out of memory for kernel arguments");
  x->stats.argument_bytes += all->len;
  cf_device_copy c = {1, all->len, all->len, all->len};
  return x->device->ops->write(x->device, x->args.mem, all->data, &c);
}

/* For tests: a kernel that reads the host's copy of captured memory gets rubbish. */
static void spoil_captured(const cf_exec *x, const cf_group *g, cf_task *const *tasks) {
  if (!x->device->poisons || x->opt->verify) /* which runs tasks twice */
    return;
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++)
      for (cf_snapshot *s = tasks[i]->snapshots; s; s = s->next)
        if (tasks[i]->access[k].capture == s->data)
          memset(s->data, CF_INSTANCE_POISON, (size_t)tasks[i]->access[k].hi[0]);
}

/* ---- launches */

static uint32_t power_of_two(int64_t n, uint32_t most) {
  uint32_t p = 1;
  while (p < n && p < most)
    p *= 2;
  return p;
}

/* Threads for n[a] points along each axis. */
static cf_device_grid grid_of(const cf_device *d, const int64_t n[CF_GRID_DIMS]) {
  cf_device_grid g;
  uint32_t threads = d->block_threads < CF_DEVICE_THREADS ? d->block_threads : CF_DEVICE_THREADS;
  uint32_t blocks = d->most_blocks;
  for (int a = 0; a < CF_GRID_DIMS; a++) {
    g.threads[a] = power_of_two(n[a], a == 2 && threads > 64 ? 64 : threads);
    threads /= g.threads[a];
  }
  for (int a = 0; a < CF_GRID_DIMS; a++) {
    enum { MOST = 65535 }; /* along y and z */
    int64_t all = cf_ceil_div(n[a], g.threads[a]);
    g.blocks[a] = (uint32_t)cf_max(1, cf_min(all, cf_min(blocks, MOST)));
    blocks /= g.blocks[a];
  }
  return g;
}

/* Text and struct agree. */
#define WORD(field, word)                                                                                    \
  _Static_assert(offsetof(cf_device_box, field) == 8 * (word), "word of the box: " #field)
WORD(lo, CF_DEVICE_BOX_LO);
WORD(hi, CF_DEVICE_BOX_HI);
WORD(per, CF_DEVICE_BOX_PER);
WORD(span, CF_DEVICE_BOX_SPAN);
WORD(blocks, CF_DEVICE_BOX_BLOCKS);
WORD(ints, CF_DEVICE_BOX_INTS);
WORD(scalars, CF_DEVICE_BOX_SCALARS);
WORD(fold, CF_DEVICE_BOX_FOLD);
WORD(result, CF_DEVICE_BOX_RESULT);
WORD(mask, CF_DEVICE_BOX_MASK);
WORD(ids, CF_DEVICE_BOX_IDS);
_Static_assert(sizeof(cf_device_box) == 8 * CF_DEVICE_BOX_WORDS, "size of the box");
_Static_assert(CF_BOX_DIMS >= COFUSE_MAX_DIMS, "loops of a nest");
#undef WORD

static void fill_box(cf_device_box *box, const cf_nest_run *r) {
  for (uint32_t d = 0; d < CF_BOX_DIMS; d++) {
    bool in = d < r->ndims;
    box->lo[d] = in ? r->lo[d] : 0;
    box->hi[d] = in ? r->hi[d] : 1;
    bool cut = in && (int)d == r->split;
    box->per[d] = cut ? r->per_block : 0;
    box->span[d] = cut ? r->per_block : box->hi[d] - box->lo[d];
  }
  box->blocks = r->nblocks;
}

/* Launches of a group are put together and then run as one, level by level: levels of nests, and in them
 * those of what a nest launches. n: points along each axis, of which every one needs a thread, or a turn of
 * one. */
static cf_status launch(cf_exec *x, const cf_bound *b, uint32_t level, uint32_t fn,
                        const int64_t n[CF_GRID_DIMS], uint32_t multiple, const cf_device_box *box,
                        void *partials) {
  cf_device_launch l;
  memset(&l, 0, sizeof l);
  l.code = b->code;
  l.args = x->args.mem;
  l.partials = partials;
  l.grid = grid_of(x->device, n);
  while (l.grid.blocks[0] * l.grid.threads[0] % multiple)
    l.grid.blocks[0]++;
  l.k = fn;
  l.level = level;
  l.box = *box;
  x->stats.launches++;
  cf_buf_put(&x->queue, &l, sizeof l);
  return x->queue.failed ? cf_fail(CF_ENOMEM, "out of memory for launches of kernels") : CF_OK;
}

enum { PER_NEST = 1 << 16 }; /* levels */
static uint32_t level_of(const cf_bound *b, uint32_t nest, uint32_t step) {
  return b->level[nest] * PER_NEST + (step < PER_NEST - 1 ? step : PER_NEST - 1);
}

/* Levels rise; where they are equal, the order stays. */
static cf_status sort_queue(cf_exec *x, uint32_t n) {
  const cf_device_launch *l = (const void *)x->queue.data;
  uint32_t i = 1;
  while (i < n && l[i].level >= l[i - 1].level)
    i++;
  if (i >= n)
    return CF_OK;
  uint32_t *order = malloc(n * sizeof *order);
  cf_device_launch *sorted = malloc(n * sizeof *sorted);
  for (i = 0; order && sorted && i < n; i++) {
    uint32_t at = i;
    for (; at > 0 && l[order[at - 1]].level > l[i].level; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (i = 0; order && sorted && i < n; i++)
    memcpy(&sorted[i], &l[order[i]], sizeof *sorted);
  cf_status st = CF_OK;
  if (order && sorted)
    memcpy(x->queue.data, sorted, n * sizeof *sorted);
  else
    st = cf_fail(CF_ENOMEM, "out of memory for launches of kernels");
  free(order);
  free(sorted);
  return st;
}

static cf_status run_queue(cf_exec *x, const cf_bound *b) {
  uint32_t n = (uint32_t)(x->queue.len / sizeof(cf_device_launch));
  cf_status st = n ? sort_queue(x, n) : CF_OK;
  if (n && st == CF_OK)
    st = x->device->ops->run(x->device, (const void *)x->queue.data, n, b->replay);
  x->stats.replays = x->device->replays;
  cf_buf_clear(&x->queue);
  return st;
}

static cf_status launch_points(cf_exec *x, const cf_bound *b, uint32_t level, uint32_t fn,
                               const cf_nest_run *r, cf_device_box *box) {
  int64_t n[CF_GRID_DIMS] = {1, 1, 1};
  for (uint32_t a = 0; a < CF_GRID_DIMS && a < r->ndims; a++)
    n[a] = r->hi[r->ndims - 1 - a] - r->lo[r->ndims - 1 - a];
  fill_box(box, r);
  return launch(x, b, level, fn, n, 1, box, NULL);
}

/* Bytes of partial results of all lanes. */
static size_t lanes_of(const cf_bound *b, int64_t nblocks) {
  return (size_t)nblocks * (CF_DEVICE_LANES + 1) * b->nreds * CF_RED_SLOT;
}

/* Blocks and lanes, as on the CPU; then both are folded. What comes out lies in x->results. */
static cf_status launch_reducing(cf_exec *x, const cf_bound *b, uint32_t n, cf_nest_run *r, uint32_t nreds,
                                 cf_device_box *box) {
  cf_run_cut(x, r, true);
  fill_box(box, r);
  const int64_t one[CF_GRID_DIMS] = {1, 1, 1};
  if (r->ndims == 0)
    return launch(x, b, level_of(b, n, 0), n, one, 1, box, x->results.mem);
  size_t lanes = lanes_of(b, r->nblocks);
  box->fold = (int64_t)lanes;
  box->result = (int64_t)((uintptr_t)x->results.mem - (uintptr_t)x->lanes.mem);
  const int64_t all[CF_GRID_DIMS] = {r->nblocks * CF_DEVICE_LANES, 1, 1},
                blocks[CF_GRID_DIMS] = {r->nblocks, 1, 1};
  const int64_t reds[CF_GRID_DIMS] = {nreds, 1, 1};
  CF_TRY(launch(x, b, level_of(b, n, 0), n, all, CF_DEVICE_LANES, box, x->lanes.mem));
  CF_TRY(launch(x, b, level_of(b, n, 1), b->fold_fn[n], blocks, 1, box, x->lanes.mem));
  return launch(x, b, level_of(b, n, 2), b->fold_fn[n] + 1, reds, nreds, box, x->lanes.mem);
}

/* Results into stores, as far as the device can do it; the others are read for the host. */
static cf_status deliver(cf_exec *x, const cf_bound *b, const cf_group *g, cf_task *const *tasks,
                         cf_device_box *box, cf_partial *mine) {
  const int64_t one[CF_GRID_DIMS] = {1, 1, 1};
  box->mask = 0;
  for (uint32_t i = 0; i < b->ntargets; i++) {
    cf_partial *m = &mine[b->red_off[b->targets[i].task] + b->targets[i].red];
    m->done = finishes(x, b, tasks, i);
    if (m->done && m->used)
      box->mask |= (int64_t)((uint64_t)1 << i);
  }
  if (box->mask) {
    box->result = 0;
    CF_TRY(launch(x, b, UINT32_MAX, b->target_fn, one, 1, box, x->results.mem));
  }
  CF_TRY(run_queue(x, b));
  bool wanted = false;
  for (uint32_t i = 0; i < b->nreds; i++)
    wanted |= mine[i].used && !mine[i].done;
  if (!wanted)
    return CF_OK;
  size_t bytes = (size_t)b->nreds * CF_RED_SLOT;
  char *values = malloc(bytes);
  if (!values)
    return cf_fail(CF_ENOMEM, "out of memory for partial results");
  cf_device_copy c = {1, bytes, bytes, bytes};
  x->stats.to_host_copies++;
  x->stats.to_host_bytes += bytes;
  cf_status st = x->device->ops->read(x->device, values, x->results.mem, &c);
  for (uint32_t i = 0, at = 0; i < g->ntasks && st == CF_OK; i++)
    for (int r = 0; r < tasks[i]->nreds; r++, at++) {
      memcpy(mine[at].value, values + (size_t)at * CF_RED_SLOT, cf_type_bytes(tasks[i]->desc->reds[r].type));
      if (tasks[i]->ndims) /* without loops there is no other iteration */
        memcpy(&mine[at].place, values + (size_t)at * CF_RED_SLOT + 8, sizeof mine[at].place);
    }
  free(values);
  return st;
}

/* What tasks of the nest run outside the points that all of them run. */
static cf_status run_edges(cf_exec *x, const cf_bound *b, const cf_group *g, uint32_t n,
                           cf_task *const *window, const cf_nest_run *all, bool any, cf_device_box *box) {
  const cf_nest *nest = &g->nests[n];
  const int64_t none[CF_DIMS] = {0};
  x->stats.edges += nest->nedges;
  for (uint32_t e = 0; e < nest->nedges; e++) {
    int64_t lo[CF_DIMS], hi[CF_DIMS];
    if (!cf_nest_range(nest, nest->edges[e].first, nest->edges[e].ntasks, window, x->comm->rank,
                       x->comm->size, lo, hi))
      continue;
    cf_nest_run r = {.ndims = all->ndims, .split = -1, .nblocks = 1};
    for (int k = 0;
         cf_nest_strip((int)r.ndims, lo, hi, any ? all->lo : none, any ? all->hi : none, k, r.lo, r.hi); k++)
      CF_TRY(launch_points(x, b, level_of(b, n, 3 + e), b->edge_fn[n] + e, &r, box));
  }
  return CF_OK;
}

/* Points of the nest on this rank, and reductions in it. False: there are none of the former. */
static bool range_of(const cf_exec *x, const cf_bound *b, const cf_nest *nest, uint32_t n,
                     cf_task *const *window, cf_nest_run *r, uint32_t *nreds) {
  *r = (cf_nest_run){.split = -1, .nblocks = 1, .weight = b->weight[n]};
  *nreds = 0;
  for (uint32_t j = 0; j < nest->ntasks; j++)
    *nreds += (uint32_t)window[nest->tasks[j]]->nreds;
  return cf_run_range(x, nest, window, r);
}

/* Memory for partial results, of whatever nest needs most: no launch is to find it moved. */
static cf_status room_for_results(cf_exec *x, const cf_bound *b, const cf_group *g, cf_task *const *window) {
  if (!b->nreds)
    return CF_OK;
  size_t row = (size_t)b->nreds * CF_RED_SLOT, most = 0;
  for (uint32_t n = 0; n < g->nnests; n++) {
    cf_nest_run r;
    uint32_t nreds;
    if (!range_of(x, b, &g->nests[n], n, window, &r, &nreds) || !nreds || !r.ndims)
      continue;
    cf_run_cut(x, &r, true);
    size_t bytes = lanes_of(b, r.nblocks) + (size_t)r.nblocks * row;
    most = bytes > most ? bytes : most;
  }
  CF_TRY(room(x, &x->lanes, most));
  return room(x, &x->results, row);
}

cf_status cf_device_run(cf_exec *x, const cf_plan *p, const cf_bound *b, const cf_group *g,
                        cf_task *const *window, cf_partial *mine) {
  cf_task *const *tasks = window + g->first;
  cf_device_box box = {0};
  CF_TRY(send_arguments(x, b, tasks, &box));
  spoil_captured(x, g, tasks);
  CF_TRY(room_for_results(x, b, g, window));
  cf_buf_clear(&x->queue);
  double t0 = cf_trace_on ? cf_now() : 0;
  for (uint32_t n = 0; n < g->nnests; n++) {
    const cf_nest *nest = &g->nests[n];
    cf_nest_run r;
    uint32_t nreds;
    bool any = range_of(x, b, nest, n, window, &r, &nreds);
    for (uint32_t j = 0; j < nest->ntasks && any; j++)
      for (int k = 0; k < window[nest->tasks[j]]->nreds; k++)
        mine[b->red_off[nest->tasks[j] - g->first] + (uint32_t)k].used = 1;
    if (any && nreds)
      CF_TRY(launch_reducing(x, b, n, &r, nreds, &box));
    else if (any)
      CF_TRY(launch_points(x, b, level_of(b, n, 0), n, &r, &box));
    CF_TRY(run_edges(x, b, g, n, window, &r, any, &box));
    x->stats.nests += any;
  }
  CF_TRY(b->nreds ? deliver(x, b, g, tasks, &box, mine) : run_queue(x, b));
  if (cf_trace_on)
    cf_trace_span(CF_TRACE_KERNELS, t0, cf_now(), tasks[0]->desc->name, "%u tasks, on the device", g->ntasks);
  CF_TRY(wrote(x, p, g, window, b));
  x->stats.device_groups++;
  return CF_OK;
}
