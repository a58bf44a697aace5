// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Runs a bound group: nests one after another, each over blocks of this rank's tile, then reductions.
 *
 * Blocks of a nest with reductions depend on the tile and the shape alone, never on the number of threads,
 * and partials are combined in their order: the result is the same for any number of threads. */
#include "exec/run.h"
#include "exec/exec.h"
#include "exec/instance.h"
#include "exec/need.h"
#include "exec/opaque.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

enum {
  REDUCE_BLOCKS = 8,  /* so many partials are kept of a small nest */
  REDUCE_LEAST = 256, /* of blocks of at least */
  REDUCE_MOST = 8192, /* and at most so many points */
  THREAD_WORK = 8192, /* fewer operations are not worth a second thread */
};

static void run_tiles(const cf_nest_run *r, const int64_t *lo, const int64_t *hi) {
  enum { TILE = 64 }; /* a line of the cache for each of its rows: 4 KiB */
  int64_t l[CF_DIMS], h[CF_DIMS];
  uint32_t in = r->ndims - 1, out = in - 1;
  memcpy(l, lo, sizeof l);
  memcpy(h, hi, sizeof h);
  for (int64_t i = lo[out]; i < hi[out]; i += TILE)
    for (int64_t j = lo[in]; j < hi[in]; j += TILE) {
      l[out] = i;
      h[out] = cf_min(i + TILE, hi[out]);
      l[in] = j;
      h[in] = cf_min(j + TILE, hi[in]);
      r->fn(r->bases, r->ints, r->scalars, l, h, NULL);
    }
}

void cf_run_box(const cf_nest_run *r, int64_t block, int64_t lo[CF_DIMS], int64_t hi[CF_DIMS]) {
  memcpy(lo, r->lo, sizeof r->lo);
  memcpy(hi, r->hi, sizeof r->hi);
  if (r->split >= 0) {
    lo[r->split] = r->lo[r->split] + block * r->per_block;
    hi[r->split] = cf_min(lo[r->split] + r->per_block, r->hi[r->split]);
  }
}

static void run_block(void *arg, int64_t block, int thread) {
  const cf_nest_run *r = arg;
  int64_t lo[CF_DIMS], hi[CF_DIMS];
  (void)thread;
  cf_run_box(r, block, lo, hi);
  char *partials = r->partials ? r->partials + block * r->partial_stride : NULL;
  if (r->opaque) {
    cf_opaque_call(r->opaque, lo, hi, partials ? partials + r->red_off : NULL, CF_RED_SLOT);
    return;
  }
  if (r->tiled)
    run_tiles(r, lo, hi);
  else
    r->fn(r->bases, r->ints, r->scalars, lo, hi, partials);
}

/* Blocks that share the private copies of array sections. */
static void run_unit(void *arg, int64_t unit, int thread) {
  const cf_nest_run *r = arg;
  int64_t n = cf_sections_per_unit(r->sections), first = unit * n, end = cf_min(first + n, r->nblocks);
  cf_sections_fill(r->sections, unit);
  for (int64_t b = first; b < end; b++) {
    cf_sections_point(r->sections, unit, r->partials + b * r->partial_stride);
    run_block(arg, b, thread);
  }
}

/* This rank's part of the nest. False: nothing to do here. */
bool cf_run_range(const cf_exec *x, const cf_nest *n, cf_task *const *window, cf_nest_run *r) {
  r->ndims = window[n->tasks[0]]->ndims;
  return cf_nest_range(n, 0, n->ntasks, window, x->comm->rank, x->comm->size, r->lo, r->hi);
}

int64_t cf_run_points(const cf_nest_run *r) {
  int64_t points = 1;
  for (uint32_t d = 0; d < r->ndims; d++)
    points *= r->hi[d] - r->lo[d];
  return points;
}

static bool worth_threads(const cf_exec *x, const cf_nest_run *r) {
  return x->threads > 1 && cf_run_points(r) >= cf_ceil_div(THREAD_WORK, r->weight);
}

/* Of a nest with reductions: `range` iterations of the loop that is cut, with `inner` points each. Blocks of
 * equal size, since threads share them; whole strips of the innermost loop (codegen/assemble_nest.c). */
static int64_t reduce_block(int64_t range, int64_t inner) {
  enum { STRIP = 16 };
  int64_t n = cf_max(1, cf_clamp(range * inner / REDUCE_BLOCKS, REDUCE_LEAST, REDUCE_MOST) / inner);
  n = cf_ceil_div(range, cf_ceil_div(range, n));
  return inner == 1 ? cf_ceil_div(n, STRIP) * STRIP : n;
}

void cf_run_cut(const cf_exec *x, cf_nest_run *r, bool reduces) {
  int64_t points = cf_run_points(r);
  r->split = -1;
  r->nblocks = 1;
  for (uint32_t d = 0; d < r->ndims; d++) {
    int64_t n = r->hi[d] - r->lo[d];
    if (r->split < 0 && n > 1)
      r->split = (int)d;
  }
  if (r->split < 0)
    return;
  int64_t range = r->hi[r->split] - r->lo[r->split], inner = points / range;
  if (reduces)
    r->per_block = reduce_block(range, inner);
  else if (x->opt->order != 0) /* tests: many small blocks, so that order matters */
    r->per_block = 1 + range / 7;
  else if (worth_threads(x, r))
    r->per_block = cf_ceil_div(range, x->threads);
  else
    r->per_block = range;
  r->nblocks = cf_ceil_div(range, r->per_block);
}

static cf_status run_nest(cf_exec *x, cf_nest_run *r) {
  void (*run)(void *, int64_t, int) = r->sections ? run_unit : run_block;
  int64_t n = r->sections ? cf_sections_units(r->sections) : r->nblocks;
  if (n == 1) {
    run(r, 0, 0);
    return CF_OK;
  }
  if (worth_threads(x, r) || x->opt->order != 0) {
    if (!x->pool)
      CF_TRY(cf_pool_create(x->threads, &x->pool));
    cf_pool_run(x->pool, n, x->opt->order, run, r);
    return CF_OK;
  }
  for (int64_t b = 0; b < n; b++)
    run(r, b, 0);
  return CF_OK;
}

/* What tasks of the nest run outside the points that all of them run; all: how r ran those, or would have. */
static cf_status run_edges(cf_exec *x, const cf_bound *b, const cf_group *g, uint32_t n,
                           cf_task *const *window, const cf_nest_run *all, bool any) {
  const cf_nest *nest = &g->nests[n];
  const int64_t none[CF_DIMS] = {0};
  x->stats.edges += nest->nedges;
  for (uint32_t e = 0; e < nest->nedges; e++) {
    int64_t lo[CF_DIMS], hi[CF_DIMS];
    if (!cf_nest_range(nest, nest->edges[e].first, nest->edges[e].ntasks, window, x->comm->rank,
                       x->comm->size, lo, hi))
      continue;
    cf_nest_run r = {.fn = b->kernel->fn[b->edge_fn[n] + e],
                     .bases = all->bases,
                     .ints = all->ints,
                     .scalars = all->scalars,
                     .weight = all->weight,
                     .ndims = all->ndims};
    for (int k = 0;
         cf_nest_strip((int)r.ndims, lo, hi, any ? all->lo : none, any ? all->hi : none, k, r.lo, r.hi);
         k++) {
      cf_run_cut(x, &r, false);
      CF_TRY(run_nest(x, &r));
    }
  }
  return CF_OK;
}

/* The task of the group with reductions into array sections, ntasks if there is none. There is one at most:
 * its result is wanted at once, so nothing follows it in its window. */
static uint32_t section_task(const cf_group *g, cf_task *const *tasks) {
  uint32_t i = 0;
  while (i < g->ntasks && !cf_sections_any(tasks[i]))
    i++;
  return i;
}

/* A rank without a part of the nest has no copies yet, and takes part with identities. */
static cf_status finish_sections(cf_exec *x, const cf_task *t, uint32_t slot, cf_sections **s) {
  if (!*s) {
    CF_TRY(cf_sections_create(t, slot, 1, 0, s));
    cf_sections_fill(*s, 0);
  }
  return cf_sections_finish(x, *s);
}

int64_t cf_run_int(const cf_task *t, const cf_int_source *s) {
  switch (s->what) {
  case 0:
    return cf_access_start(t, &t->access[s->access], s->at);
  case 1:
    return t->access[s->access].bstride[s->k];
  case 2:
    return t->first[s->k] + (s->at ? s->at[s->k] * t->step[s->k] : 0);
  case 3:
    return t->step[s->k];
  case 5:
    return t->trip[s->k];
  default:
    return cf_bounds_limit(&t->access[s->access]);
  }
}

static cf_status fill(cf_exec *x, const cf_bound *b, const cf_group *g, cf_task *const *tasks) {
  cf_buf_clear(&x->bases);
  cf_buf_clear(&x->ints);
  cf_buf_clear(&x->scalars);
  for (uint32_t i = 0; i < b->nbases; i++) {
    const cf_access *a = &tasks[b->bases[i].task]->access[b->bases[i].access];
    const void *p = !a->store      ? a->capture
                    : b->on_device ? cf_instance_base(a->store)
                                   : (const void *)a->store->base;
    cf_buf_add(&x->bases, &p, sizeof p);
  }
  if (b->nchecks) {
    cf_bounds_reset(b);
    cf_buf_add(&x->bases, &b->bad, sizeof b->bad);
  }
  for (uint32_t i = 0; i < b->nints; i++) {
    int64_t v = cf_run_int(tasks[b->ints[i].task], &b->ints[i]);
    cf_buf_add(&x->ints, &v, sizeof v);
  }
  for (uint32_t i = 0; i < g->ntasks; i++)
    cf_buf_add(&x->scalars, tasks[i]->scalars, 8u * tasks[i]->desc->nscalars);
  if (x->bases.failed || x->ints.failed || x->scalars.failed)
    return cf_fail(CF_ENOMEM, "out of memory for kernel arguments");
  return CF_OK;
}

/* n bytes at a multiple of 64, until the buffer is asked again; NULL without memory. */
static char *room_for(cf_buf *b, size_t n) {
  cf_buf_clear(b);
  if (b->cap < n + 64) {
    cf_buf_free(b);
    b->data = malloc(n + 64);
    b->cap = b->data ? n + 64 : 0;
  }
  return b->data ? b->data + (-(uintptr_t)b->data & 63) : NULL;
}

static cf_status move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window,
                         bool device) {
  if (!cf_trace_on)
    return cf_move_in(x, p, g, window, device);
  cf_comm *c = x->comm;
  uint64_t messages = c->messages, bytes = c->bytes_sent, collectives = c->collectives;
  double t = cf_now();
  CF_TRY(cf_move_in(x, p, g, window, device));
  if (c->messages != messages || c->collectives != collectives || x->comm->bytes_sent != bytes)
    cf_trace_span(
        CF_TRACE_MESSAGES, t, cf_now(), "move in", "%llu messages, %llu collectives, %llu bytes sent",
        (unsigned long long)(c->messages - messages), (unsigned long long)(c->collectives - collectives),
        (unsigned long long)(c->bytes_sent - bytes));
  return CF_OK;
}

/* On the CPU, nest by nest. sectioned: the task with array sections, whose private copies are left in
 * *sections. */
static cf_status run_nests(cf_exec *x, const cf_bound *b, const cf_group *g, cf_task *const *window,
                           cf_partial *mine, uint32_t sectioned, cf_sections **sections) {
  cf_task *const *tasks = window + g->first;
  cf_status st = CF_OK;
  for (uint32_t n = 0; n < g->nnests && st == CF_OK; n++) {
    const cf_nest *nest = &g->nests[n];
    const cf_task *first = window[nest->tasks[0]];
    cf_memory_before(x, b, n, tasks);
    bool opaque = cf_task_is_opaque(first), whole = opaque && !((const cf_opaque *)first->desc)->split;
    cf_nest_run r = {.fn = opaque ? NULL : b->kernel->fn[n],
                     .tiled = b->tiled[n],
                     .opaque = opaque ? first : NULL,
                     .red_off = (size_t)b->red_off[nest->tasks[0] - g->first] * CF_RED_SLOT,
                     .bases = (void *const *)x->bases.data,
                     .ints = (const int64_t *)x->ints.data,
                     .scalars = x->scalars.data,
                     .weight = b->weight[n]};
    if (!cf_run_range(x, nest, window, &r)) {
      st = run_edges(x, b, g, n, window, &r, false);
      if (b->nchecks && st == CF_OK)
        st = cf_bounds_report(b, tasks);
      cf_memory_after(x, b, n, tasks);
      continue;
    }
    bool reduces = false;
    for (uint32_t j = 0; j < nest->ntasks; j++)
      reduces |= window[nest->tasks[j]]->nreds > 0;
    if (whole) {
      r.split = -1;
      r.nblocks = 1;
    } else {
      cf_run_cut(x, &r, reduces);
    }
    if (reduces) {
      r.partial_stride = (size_t)b->nreds * CF_RED_SLOT;
      r.partials = room_for(&x->partials, (size_t)r.nblocks * r.partial_stride);
      if (!r.partials) {
        st = cf_fail(CF_ENOMEM, "out of memory for partial results");
        break;
      }
    }
    for (uint32_t j = 0; j < nest->ntasks && st == CF_OK; j++)
      if (nest->tasks[j] - g->first == sectioned)
        st = cf_sections_create(tasks[sectioned], b->red_off[sectioned], r.nblocks, cf_run_points(&r),
                                sections);
    if (st != CF_OK)
      break;
    for (uint32_t j = 0; j < nest->ntasks; j++)
      if (nest->tasks[j] - g->first == sectioned)
        r.sections = *sections;
    bool timed = x->comm->size > 1 && window[nest->tasks[0]]->domain == CF_REPLICATED && r.ndims;
    double t0 = timed || cf_trace_on ? cf_now() : 0;
    if (opaque && x->in_function)
      x->in_function(true);
    st = run_nest(x, &r);
    if (st == CF_OK)
      st = run_edges(x, b, g, n, window, &r, true);
    if (opaque && x->in_function)
      x->in_function(false);
    if (cf_trace_on)
      cf_trace_span(CF_TRACE_KERNELS, t0, cf_now(), window[nest->tasks[0]]->desc->name,
                    "%u tasks, %lld blocks", nest->ntasks, (long long)r.nblocks);
    if (timed)
      for (uint32_t j = 0; j < nest->ntasks; j++)
        window[nest->tasks[j]]->seconds = (cf_now() - t0) / nest->ntasks;
    if (b->nchecks && st == CF_OK)
      st = cf_bounds_report(b, tasks);
    if (r.sections && x->opt->check && st == CF_OK)
      st = cf_sections_report(*sections);
    if (reduces && st == CF_OK)
      cf_reduce_fold(b, g, tasks, nest, &r, mine);
    cf_memory_after(x, b, n, tasks);
    x->stats.nests++;
  }
  return st;
}

static cf_status bound_of(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window, const cf_bound **out) {
  bool device = x->device && cf_exec_wants_device(x, g, window);
  cf_bound *b = g->exec;
  while (b && b->asked != device)
    b = b->other;
  if (!b) {
    CF_TRY(cf_bind_group(x, p, g, window, device, &b));
    b->other = g->exec;
    g->exec = b;
  }
  *out = b;
  return CF_OK;
}

cf_status cf_exec_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window) {
  cf_task *const *tasks = window + g->first;
  const cf_bound *b;
  CF_TRY(bound_of(x, p, g, window, &b));
  if (x->device)
    cf_instance_turn(x);
  CF_TRY(move_in(x, p, g, window, b->on_device));
  if (x->device)
    CF_TRY(cf_device_settle(x, p, g, window, b));
  CF_TRY(fill(x, b, g, tasks));

  cf_partial few[4] = {0}, *mine = few;
  if (b->nreds > sizeof few / sizeof *few) {
    mine = calloc(b->nreds, sizeof *mine);
    if (!mine)
      return cf_fail(CF_ENOMEM, "out of memory for partial results");
  }
  cf_status st = CF_OK;
  uint32_t sectioned = section_task(g, tasks);
  cf_sections *sections = NULL;
  if (b->on_device)
    st = cf_device_run(x, p, b, g, window, mine);
  else
    st = run_nests(x, b, g, window, mine, sectioned, &sections);
  if (st == CF_OK && cf_reduce_any(g, tasks))
    st = cf_reduce_finish(x, g, tasks, mine, b->nreds);
  if (mine != few)
    free(mine);
  if (st == CF_OK && sectioned < g->ntasks)
    st = finish_sections(x, tasks[sectioned], b->red_off[sectioned], &sections);
  cf_sections_free(sections);
  if (st != CF_OK)
    return st;
  if (x->device)
    CF_TRY(cf_device_release(x, g, window));
  cf_needs_written(g, window, x->comm->size);
  if (x->opt->fault && g->ntasks > 1)
    CF_TRY(cf_verify_inject(x, p, g, window));
  x->stats.groups++;
  x->stats.tasks += g->ntasks;
  x->stats.temporaries += g->ndemoted;
  x->stats.reordered += g->reordered;
  return CF_OK;
}
