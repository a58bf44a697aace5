// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* From a group of the plan to a kernel and the recipe for its arguments. The recipe holds no value that may
 * change between two windows of one key, so a replay only fills it in. */
#include "exec/exec.h"
#include "exec/opaque.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

typedef struct binder {
  cf_task *const *tasks; /* of the group */
  cf_bound *b;
  uint32_t cap_ints;
  int64_t *values; /* of ints that may be shared, for equality */
  int32_t *owner;  /* offsets: base they belong to; strides: -1; never shared: -2 */
  bool check, device;
} binder;

static cf_cg_int literal(int64_t v) { return (cf_cg_int){-1, v}; }

static cf_cg_int take(binder *k, cf_int_source src, int64_t value, int32_t owner) {
  if (owner != -2)
    for (uint32_t i = 0; i < k->b->nints; i++)
      if (k->owner[i] == owner && k->values[i] == value)
        return (cf_cg_int){(int32_t)i, 0};
  uint32_t i = k->b->nints++;
  k->b->ints[i] = src;
  k->values[i] = value;
  k->owner[i] = owner;
  return (cf_cg_int){(int32_t)i, 0};
}

static int32_t base_of(binder *k, uint32_t task, uint32_t acc) {
  const cf_access *a = &k->tasks[task]->access[acc];
  for (uint32_t i = 0; i < k->b->nbases && a->store; i++) {
    const cf_access *o = &k->tasks[k->b->bases[i].task]->access[k->b->bases[i].access];
    if (o->store == a->store)
      return (int32_t)i;
  }
  uint32_t i = k->b->nbases++;
  k->b->bases[i].task = task;
  k->b->bases[i].access = acc;
  return (int32_t)i;
}

/* at: iteration of the task at point 0 of its nest, NULL: 0. */
static void bind_task(binder *k, uint32_t i, const int64_t *at, const int32_t *locals, cf_cg_access *acc,
                      cf_cg_task *out) {
  const cf_task *t = k->tasks[i];
  out->desc = t->desc;
  out->access = acc;
  out->check = k->check;
  for (uint32_t a = 0; a < t->desc->naccess; a++) {
    const cf_access *x = &t->access[a];
    acc[a].local = locals[a];
    if (locals[a] >= 0)
      continue;
    acc[a].base = base_of(k, i, a);
    acc[a].off = take(k, (cf_int_source){i, a, 0, 0, at}, cf_access_start(t, x, at), acc[a].base);
    int width = (int)cf_type_bytes(x->desc->type);
    for (uint32_t l = 0; l < (uint32_t)t->ndims + x->ninner; l++) {
      int64_t s = x->bstride[l];
      if (s == 0 || s == width || s == -width)
        acc[a].stride[l] = literal(s);
      else
        acc[a].stride[l] = take(k, (cf_int_source){i, a, 1, (uint8_t)l, NULL}, s, -1);
    }
    if (k->check && cf_bounds_open(x)) {
      acc[a].limit = 1 + (uint32_t)take(k, (cf_int_source){i, a, 4, 0, NULL}, 0, -2).index;
      acc[a].slot = k->b->nchecks++;
      k->b->checks[acc[a].slot].task = i;
      k->b->checks[acc[a].slot].access = a;
    }
  }
  memcpy(out->loop_at, t->loop_at, sizeof out->loop_at);
  for (uint8_t d = 0; d < t->desc->ndims; d++) {
    out->iv_first[d] = take(k, (cf_int_source){i, 0, 2, d, d < t->ndims ? at : NULL}, 0, -2);
    out->iv_step[d] = t->step[d] == 1 || t->step[d] == -1 ? literal(t->step[d])
                                                          : take(k, (cf_int_source){i, 0, 3, d, NULL}, 0, -2);
  }
  bool placed = false;
  for (int r = 0; r < t->nreds; r++)
    placed |= cf_red_placed(t->desc->reds[r].op, t->desc->reds[r].type);
  for (uint8_t d = 0; k->device && placed && d < t->ndims; d++)
    out->trip[d] = take(k, (cf_int_source){i, 0, 5, d, NULL}, 0, -2);
}

/* Reductions into stores, which a device finishes itself. cap: at most so many. */
static void bind_targets(binder *k, const cf_group *g, cf_cg_target *out, uint32_t cap) {
  for (uint32_t i = 0; i < g->ntasks; i++) {
    const cf_task *t = k->tasks[i];
    uint32_t access = t->desc->naccess;
    for (int r = 0; r < t->nreds; r++) {
      if (!t->deferred[r])
        continue;
      uint32_t n = k->b->ntargets, a = access++;
      if (n == cap)
        return;
      out[n] = (cf_cg_target){.op = t->desc->reds[r].op,
                              .type = t->desc->reds[r].type,
                              .slot = k->b->red_off[i] + (uint32_t)r,
                              .base = (uint32_t)base_of(k, i, a)};
      k->b->targets[n].task = i;
      k->b->targets[n].red = (uint32_t)r;
      k->b->targets[n].access = a;
      k->b->ntargets++;
    }
  }
}

/* One access goes along its rows with the innermost loop, another with the loop around it, as in a
 * transposition: row by row, the second would take a line of the cache for each element. */
static bool wants_tiles(const cf_nest *nest, cf_task *const *window, int32_t *const *locals) {
  enum { LINE = 64 };
  int in = window[nest->tasks[0]]->ndims - 1;
  bool with = false, across = false;
  for (uint32_t j = 0; j < nest->ntasks; j++) {
    const cf_task *t = window[nest->tasks[j]];
    if (in < 1 || t->nreds) /* a reduction has one partial result for each call of its kernel */
      return false;
    for (uint32_t k = 0; k < t->desc->naccess; k++) {
      const cf_access *a = &t->access[k];
      if (locals[nest->tasks[j]][k] >= 0 || !a->store)
        continue;
      int64_t inner = cf_abs(a->bstride[in]), outer = cf_abs(a->bstride[in - 1]);
      with |= inner > 0 && inner < LINE;
      across |= inner >= LINE && outer > 0 && outer < LINE;
    }
  }
  return with && across;
}

/* Iterations of inner loops per point of the task, at least 1: where their number depends on data, as many as
 * would use each element of the longest array that they read once. */
static int64_t inner_work(const cf_task *t) {
  int64_t points = 1, most = 1;
  for (int l = 0; l < t->ndims; l++)
    points = __builtin_mul_overflow(points, t->trip[l], &points) ? INT64_MAX : points;
  for (uint32_t k = 0; k < t->naccess; k++) {
    const cf_access *a = &t->access[k];
    int64_t n = 1;
    for (int l = 0; l < a->ninner; l++)
      n = __builtin_mul_overflow(n, cf_max(1, a->itrip[l]), &n) ? INT64_MAX : n;
    if (a->store && a->whole)
      n = cf_max(n, cf_store_count(a->store) / points);
    most = cf_max(most, n);
  }
  return most;
}

static int64_t weight_of(const cf_nest *nest, cf_task *const *window) {
  int64_t w = 0;
  for (uint32_t j = 0; j < nest->ntasks; j++)
    w = __builtin_add_overflow(w, inner_work(window[nest->tasks[j]]), &w) ? INT64_MAX : w;
  return w;
}

/* Every nest of the group can run on a device. */
/* A GPU touches elements at multiples of their size, unlike a CPU: no fields of packed structs. Memory of a
 * device is aligned, and parts of a store begin with an element. */
static bool is_aligned(const cf_task *t) {
  for (uint32_t k = 0; k < t->naccess && k < t->desc->naccess; k++) {
    const cf_access *a = &t->access[k];
    int64_t bytes = (int64_t)cf_type_bytes(t->desc->access[k].type), odd = a->at % bytes | a->field % bytes;
    for (int l = 0; l < t->ndims + a->ninner && !a->whole; l++)
      odd |= a->bstride[l] % bytes;
    if (odd || (a->store && a->store->elem_bytes % bytes))
      return false;
  }
  return true;
}

static bool for_device(const cf_exec *x, const cf_group *g, cf_task *const *tasks) {
  if (x->opt->check)
    return false;
  for (uint32_t i = 0; i < g->ntasks; i++) {
    const char *why = "it is a C function";
    bool runs = !cf_task_is_opaque(tasks[i]) && cf_cg_device_runs(tasks[i]->desc, &why);
    if (runs && is_aligned(tasks[i]))
      continue;
    if (runs)
      why = "it uses fields that are not aligned";
    cf_log(CF_LOG_INFO, "%s:%u: runs on the CPU, not on the device: %s", tasks[i]->desc->file,
           tasks[i]->desc->line, why);
    return false;
  }
  return true;
}

/* The device's code of a kernel; kept for the life of exec. */
static cf_status load_device(cf_exec *x, cf_bound *b, uint32_t nfn) {
  const cf_kernel *k = b->kernel;
  for (uint32_t i = 0; i < x->ncodes; i++)
    if (x->codes[i].kernel == k) {
      b->code = x->codes[i].code;
      return CF_OK;
    }
  void *more = realloc(x->codes, (x->ncodes + 1) * sizeof *x->codes);
  if (!more)
    return cf_fail(CF_ENOMEM, "out of memory for a kernel");
  x->codes = more;
  CF_TRY(x->device->ops->load(x->device, k->image, k->image_size, (void (*const *)(void))k->fn, k->id, nfn,
                              &b->code));
  x->codes[x->ncodes].kernel = k;
  x->codes[x->ncodes++].code = b->code;
  return CF_OK;
}

/* The kernel for COFUSE_TARGET. Newer devices take the code of sm_90. */
static cf_status precompile(cf_exec *x, cf_cg_unit *unit, const char *name) {
  cf_buf text = {0};
  unit->device = true;
  cf_buf_printf(&text, CF_CG_TARGET "%s\n", strcmp(x->opt->target, "sm_100") == 0 ? "sm_90" : x->opt->target);
  cf_status st = cf_cg_assemble(unit, &text);
  if (st == CF_OK)
    st = cf_kernel_precompile(x->cg, text.data, text.len, cf_cg_functions(unit), name);
  cf_buf_free(&text);
  return st;
}

/* Two nests that use one store, of which one writes it, run in their order. Stores are compared, not boxes: a
 * replay may have others. Partial results of two nests lie in columns of their own. */
static bool in_order(const cf_nest *a, const cf_nest *b, cf_task *const *window) {
  for (uint32_t i = 0; i < a->ntasks; i++) {
    const cf_task *s = window[a->tasks[i]];
    for (uint32_t j = 0; j < b->ntasks; j++) {
      const cf_task *t = window[b->tasks[j]];
      for (uint32_t k = 0; k < s->naccess; k++)
        for (uint32_t m = 0; m < t->naccess; m++)
          if (s->access[k].store && s->access[k].store == t->access[m].store &&
              (s->access[k].priv | t->access[m].priv) & (CF_WRITE | CF_REDUCE))
            return true;
    }
  }
  return false;
}

static void set_levels(const cf_group *g, cf_task *const *window, cf_bound *b) {
  for (uint32_t n = 0; n < g->nnests; n++)
    for (uint32_t m = 0; m < n; m++)
      if (b->level[m] >= b->level[n] && in_order(&g->nests[m], &g->nests[n], window))
        b->level[n] = b->level[m] + 1;
}

static cf_status bind(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window, bool device,
                      cf_bound **out, bool *shared) {
  cf_task *const *tasks = window + g->first;
  uint32_t nacc = 0, cap = 0;
  uint32_t nfn = g->nnests;
  for (uint32_t n = 0; n < g->nnests; n++)
    nfn += g->nests[n].nedges;
  for (uint32_t i = 0; i < g->ntasks; i++) {
    nacc += tasks[i]->naccess;
    cap += tasks[i]->desc->naccess * (2 + CF_LOOPS) + 3 * CF_DIMS;
  }
  cf_bound *b = calloc(1, sizeof *b);
  binder k = {.tasks = tasks, .b = b, .check = x->opt->check};
  cf_arena tmp = {0};
  cf_buf text = {0}, name = {0};
  cf_status st = CF_ENOMEM;
  if (!b)
    goto done;
  cf_cg_target targets[CF_DEVICE_TARGETS];
  bool target = x->opt->target && strcmp(x->opt->target, "none") != 0;
  bool can = (device || target) && for_device(x, g, tasks);
  b->exec = x;
  b->asked = device;
  b->replay = cf_arena_alloc(&b->arena, sizeof *b->replay);
  b->on_device = device && can;
  k.device = can;
  b->level = cf_arena_alloc(&b->arena, (g->nnests + 1) * sizeof *b->level);
  b->fold_fn = cf_arena_alloc(&b->arena, (g->nnests + 1) * sizeof *b->fold_fn);
  b->targets = cf_arena_alloc(&b->arena, CF_DEVICE_TARGETS * sizeof *b->targets);
  b->ints = cf_arena_alloc(&b->arena, (cap + 1) * sizeof *b->ints);
  b->bases = cf_arena_alloc(&b->arena, (nacc + 1) * sizeof *b->bases);
  b->scalar_off = cf_arena_alloc(&b->arena, (g->ntasks + 1) * sizeof *b->scalar_off);
  b->red_off = cf_arena_alloc(&b->arena, (g->ntasks + 1) * sizeof *b->red_off);
  k.values = cf_arena_alloc(&tmp, (cap + 1) * sizeof *k.values);
  k.owner = cf_arena_alloc(&tmp, (cap + 1) * sizeof *k.owner);
  cf_cg_access *acc = cf_arena_alloc(&tmp, (nacc + 1) * sizeof *acc);
  cf_cg_access *all = acc;
  b->checks = cf_arena_alloc(&b->arena, (nacc + 1) * sizeof *b->checks);
  b->bad = cf_arena_alloc(&b->arena, (nacc + 1) * sizeof *b->bad);
  cf_cg_task *ct = cf_arena_alloc(&tmp, g->ntasks * sizeof *ct);
  cf_cg_nest *cn = cf_arena_alloc(&tmp, nfn * sizeof *cn);
  b->edge_fn = cf_arena_alloc(&b->arena, (g->nnests + 1) * sizeof *b->edge_fn);
  b->tiled = cf_arena_alloc(&b->arena, g->nnests + 1);
  b->weight = cf_arena_alloc(&b->arena, (g->nnests + 1) * sizeof *b->weight);
  if (!b->replay || !b->level || !b->fold_fn || !b->targets || !b->tiled || !b->weight || !b->edge_fn ||
      !b->checks || !b->bad || !b->ints || !b->bases || !b->scalar_off || !b->red_off || !k.values ||
      !k.owner || !acc || !ct || !cn)
    goto done;

  for (uint32_t i = 0; i < g->ntasks; i++) {
    b->scalar_off[i] = b->scalar_bytes;
    b->red_off[i] = b->nreds;
    b->scalar_bytes += 8u * tasks[i]->desc->nscalars;
    b->nreds += tasks[i]->nreds;
  }
  b->uses = cf_arena_alloc(&b->arena, 2 * ((size_t)nacc + 1) * sizeof *b->uses);
  if (!b->uses)
    goto done;
  cf_memory_plan(p, g, window, b);
  uint32_t at = 0, edge = g->nnests;
  bool compiled = false;
  for (uint32_t n = 0; n < g->nnests; n++) {
    const cf_nest *nest = &g->nests[n];
    b->weight[n] = weight_of(nest, window);
    if (cf_task_is_opaque(window[nest->tasks[0]])) {
      cn[n] = (cf_cg_nest){.tasks = ct + at};
      continue;
    }
    compiled = true;
    cn[n] = (cf_cg_nest){.ndims = window[nest->tasks[0]]->ndims,
                         .ntasks = nest->ntasks,
                         .tasks = ct + at,
                         .nlocals = nest->nlocals,
                         .local_types = nest->local_types};
    b->edge_fn[n] = edge;
    b->tiled[n] = wants_tiles(nest, window, p->locals);
    for (uint32_t e = 0; e < nest->nedges; e++) {
      for (uint32_t j = 0; j < nest->edges[e].ntasks; j++)
        if (window[nest->tasks[nest->edges[e].first + j]]->nreds) {
          st = cf_fail(CF_EINTERNAL, "a reduction has an edge");
          goto done;
        }
      cn[edge] = cn[n];
      cn[edge].tasks = ct + at + nest->edges[e].first;
      cn[edge++].ntasks = nest->edges[e].ntasks;
    }
    for (uint32_t j = 0; j < nest->ntasks; j++) {
      uint32_t i = nest->tasks[j] - g->first;
      bind_task(&k, i, nest->at ? nest->at[j] : NULL, p->locals[nest->tasks[j]], acc, &ct[at]);
      ct[at].scalar_off = b->scalar_off[i];
      ct[at].red_off = b->red_off[i];
      acc += tasks[i]->desc->naccess;
      at++;
    }
  }
  st = CF_OK;
  if (!compiled)
    goto done;
  if (can)
    set_levels(g, window, b);
  if (can)
    bind_targets(&k, g, targets, CF_DEVICE_TARGETS);
  for (uint32_t i = 0; i < nacc; i++)
    all[i].report = b->nbases;
  cf_cg_unit unit = {.nnests = nfn,
                     .nests = cn,
                     .nbases = b->nbases + (b->nchecks > 0),
                     .nints = b->nints,
                     .device = b->on_device,
                     .nreds = b->nreds,
                     .ntargets = b->ntargets,
                     .targets = targets};
  uint32_t all_fn = cf_cg_functions(&unit);
  b->target_fn = all_fn - 1;
  for (uint32_t n = 0, fold = nfn; n < g->nnests; n++) {
    b->fold_fn[n] = fold;
    fold += cf_cg_folds(&cn[n]) ? 2 : 0;
  }
  if (b->on_device)
    cf_buf_printf(&text, CF_CG_TARGET "%s\n", x->device->target);
  st = cf_cg_assemble(&unit, &text);
  if (st == CF_OK && text.failed)
    st = cf_fail(CF_ENOMEM, "out of memory for the text of a kernel");
  if (st != CF_OK)
    goto done;
  for (uint32_t i = 0; i < g->ntasks && i < 8; i++)
    cf_buf_printf(&name, "%s%s", i ? "+" : "", tasks[i]->desc->name);
  if (g->ntasks > 8)
    cf_buf_printf(&name, "+%u more", g->ntasks - 8);
  st = cf_kernel_get(x->cg, text.data, text.len, all_fn, name.data ? name.data : "", &b->kernel);
  *shared = st == CF_EJIT; /* what rank 0 said, to all */
  if (st == CF_OK && b->on_device)
    st = load_device(x, b, all_fn);
  if (st == CF_OK && can && target)
    st = precompile(x, &unit, name.data ? name.data : "");
done:
  cf_arena_free(&tmp);
  cf_buf_free(&text);
  cf_buf_free(&name);
  if (st != CF_OK) {
    cf_exec_drop_bound(b);
    return st == CF_ENOMEM ? cf_fail(st, "out of memory while building a kernel of %u tasks", g->ntasks) : st;
  }
  *out = b;
  return CF_OK;
}

cf_status cf_bind_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window, bool device,
                        cf_bound **out) {
  bool shared = false;
  cf_status st = bind(x, p, g, window, device, out, &shared);
  if (!shared || !device || !x->fall_back)
    return st;
  const cf_task *t = window[g->first];
  cf_log(CF_LOG_WARN, "%s:%u: runs on the CPU, not on the device: %s", t->desc->file, t->desc->line,
         cf_last_error());
  CF_TRY(bind(x, p, g, window, false, out, &shared));
  (*out)->asked = true;
  return CF_OK;
}

void cf_exec_drop_bound(void *exec) {
  for (cf_bound *b = exec, *other; b; b = other) {
    other = b->other;
    if (b->replay && *b->replay && b->exec->device)
      b->exec->device->ops->forget(b->exec->device, *b->replay);
    cf_arena_free(&b->arena);
    free(b);
  }
}
