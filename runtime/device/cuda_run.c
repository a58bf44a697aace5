// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Launches on `cuda`. A window that comes again launches the same functions over the same boxes, with the
 * same addresses of arguments (what lies there may be others): such a sequence becomes a graph, which the
 * driver takes as one. A graph is never needed: where the driver will not make one, launches stay launches.
 */
#include "device/cuda_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
  LEAST = 3,   /* launches that are worth a graph */
  AGAIN = 2,   /* runs alike before one is made: the first changes most, and memory settles */
  PATIENCE = 4 /* graphs made for nothing */
};

struct cf_device_replay {
  cf_device_launch *last;
  uint32_t n, cap, alike, made;
  cu_graph graph;
  cu_graph_exec exec; /* NULL: there is none */
  cf_device_replay *before, *next;
};

/* Parameters of a launch where the driver looks for them. */
typedef struct params {
  cu_address args, partials;
  cf_device_box box;
  void *at[3];
} params;

static void set_params(params *p, const cf_device_launch *l) {
  p->args = (cu_address)(uintptr_t)l->args;
  p->partials = (cu_address)(uintptr_t)l->partials;
  p->box = l->box;
  p->at[0] = &p->args;
  p->at[1] = &p->box;
  p->at[2] = &p->partials;
}

static cf_status launch(cuda *d, const cf_device_launch *l) {
  const uint32_t *b = l->grid.blocks, *t = l->grid.threads;
  params p;
  set_params(&p, l);
  cu_function fn = l->code->fn[l->k];
  cu_result r = d->cu.launch(fn, b[0], b[1], b[2], t[0], t[1], t[2], 0, d->stream, p.at, NULL);
  if (r == CU_ERROR_OUT_OF_MEMORY && cf_cuda_trim(d)) /* for local memory of its threads */
    r = d->cu.launch(fn, b[0], b[1], b[2], t[0], t[1], t[2], 0, d->stream, p.at, NULL);
  return cf_cuda_check(d, r, "launch of a kernel");
}

static void drop_graph(cuda *d, cf_device_replay *r) {
  if (r->exec)
    d->cu.graph_exec_destroy(r->exec);
  if (r->graph)
    d->cu.graph_destroy(r->graph);
  r->exec = NULL;
  r->graph = NULL;
}

/* Nodes of a level follow all of the one before. */
static bool make_graph(cuda *d, cf_device_replay *r) {
  cu_node *node = malloc(r->n * sizeof *node);
  if (!node)
    return false;
  cu_result st = d->cu.graph_create(&r->graph, 0);
  uint32_t before = 0, level = 0; /* first of the level before, and of this one */
  for (uint32_t i = 0; i < r->n && st == CU_SUCCESS; i++) {
    if (i && r->last[i].level != r->last[i - 1].level) {
      before = level;
      level = i;
    }
    const cf_device_launch *l = &r->last[i];
    params p;
    set_params(&p, l);
    cu_kernel_node k = {.fn = l->code->fn[l->k], .params = p.at};
    memcpy(k.grid, l->grid.blocks, sizeof k.grid);
    memcpy(k.block, l->grid.threads, sizeof k.block);
    st = d->cu.graph_kernel(&node[i], r->graph, node + before, level - before, &k);
  }
  free(node);
  if (st == CU_SUCCESS)
    st = d->cu.graph_instantiate(&r->exec, r->graph, 0);
  if (st == CU_SUCCESS)
    return true;
  r->exec = NULL;
  drop_graph(d, r);
  return false;
}

static void remember(cuda *d, cf_device_replay *r, const cf_device_launch *l, uint32_t n) {
  drop_graph(d, r);
  r->alike = 0;
  if (n > r->cap) {
    cf_device_launch *more = realloc(r->last, n * sizeof *more);
    if (!more) {
      r->n = 0;
      return;
    }
    r->last = more;
    r->cap = n;
  }
  memcpy(r->last, l, n * sizeof *l);
  r->n = n;
}

/* The graph for these launches, if it is time for one. */
static cu_graph_exec graph_for(cuda *d, const cf_device_launch *l, uint32_t n, cf_device_replay **replay) {
  if (!replay || n < LEAST)
    return NULL;
  cf_device_replay *r = *replay;
  if (!r) {
    r = *replay = calloc(1, sizeof *r);
    if (!r)
      return NULL;
    r->next = d->replays;
    if (r->next)
      r->next->before = r;
    d->replays = r;
  }
  if (r->made >= PATIENCE && !r->exec)
    return NULL;
  if (r->n != n || memcmp(r->last, l, n * sizeof *l) != 0) {
    remember(d, r, l, n);
    return NULL;
  }
  if (!r->exec && ++r->alike >= AGAIN) {
    r->made++;
    if (!make_graph(d, r))
      r->made = PATIENCE;
  }
  return r->exec;
}

static cf_status run(cuda *d, const cf_device_launch *l, uint32_t n, cf_device_replay **replay) {
  for (uint32_t i = 0; i < n; i++)
    if (l[i].k >= l[i].code->n)
      return cf_fail(CF_EINTERNAL, "device cuda: function %u of %u", l[i].k, l[i].code->n);
  cu_graph_exec g = graph_for(d, l, n, replay);
  if (g) {
    cu_result r = d->cu.graph_launch(g, d->stream);
    if (r != CU_ERROR_OUT_OF_MEMORY) {
      d->pub.replays++;
      return cf_cuda_check(d, r, "launch of a graph");
    }
    drop_graph(d, *replay); /* one by one, then */
    (*replay)->made = PATIENCE;
  }
  for (uint32_t i = 0; i < n; i++)
    CF_TRY(launch(d, &l[i]));
  return CF_OK;
}

cf_status cf_cuda_run(cf_device *dev, const cf_device_launch *l, uint32_t n, cf_device_replay **replay) {
  cuda *d = (cuda *)dev;
  CF_TRY(cf_cuda_enter(d));
  cf_status st = run(d, l, n, replay);
  cf_cuda_leave(d);
  return st;
}

void cf_cuda_drop_graphs(cuda *d) {
  for (cf_device_replay *r = d->replays; r; r = r->next) {
    drop_graph(d, r);
    r->n = 0;
  }
}

void cf_cuda_forget(cf_device *dev, cf_device_replay *r) {
  cuda *d = (cuda *)dev;
  if (!r)
    return;
  if (cf_cuda_enter(d) == CF_OK) {
    drop_graph(d, r);
    cf_cuda_leave(d);
  }
  if (r->next)
    r->next->before = r->before;
  if (r->before)
    r->before->next = r->next;
  else
    d->replays = r->next;
  free(r->last);
  free(r);
}
