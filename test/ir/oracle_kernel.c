// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* In place of code generation: a kernel is a copy of the unit and is interpreted. Also looks over the
 * shoulder of the memo. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum { NESTS = 64 };

typedef struct kernel {
  cf_kernel k;
  cf_cg_unit unit;
  struct kernel *next;
  cf_arena arena;
} kernel;

static kernel *kernels;
static const kernel *current;
int or_point_order;
or_trace or_traced;
bool or_check_memo;

static void *copy(cf_arena *a, const void *p, size_t n) {
  void *q = cf_arena_alloc(a, n ? n : 1);
  if (n)
    memcpy(q, p, n);
  return q;
}

cf_status __wrap_cf_cg_assemble(const cf_cg_unit *u, cf_buf *text);
cf_status __wrap_cf_cg_assemble(const cf_cg_unit *u, cf_buf *text) {
  kernel *k = calloc(1, sizeof *k);
  k->unit = *u;
  cf_cg_nest *nests = copy(&k->arena, u->nests, u->nnests * sizeof *nests);
  for (uint32_t n = 0; n < u->nnests; n++) {
    cf_cg_task *t = copy(&k->arena, nests[n].tasks, nests[n].ntasks * sizeof *t);
    for (uint32_t i = 0; i < nests[n].ntasks; i++)
      t[i].access = copy(&k->arena, t[i].access, t[i].desc->naccess * sizeof *t[i].access);
    nests[n].tasks = t;
  }
  k->unit.nests = nests;
  k->next = kernels;
  kernels = k;
  cf_buf_put(text, &k, sizeof(void *));
  return CF_OK;
}

void or_kernels_free(void) {
  while (kernels) {
    kernel *k = kernels;
    kernels = k->next;
    cf_arena_free(&k->arena);
    free(k);
  }
}

static int64_t value(const cf_cg_int *v, const int64_t *ints) {
  return v->index < 0 ? v->lit : ints[v->index];
}

static void run_point(const cf_cg_nest *nest, const int64_t *n, void *const *bases, const int64_t *ints,
                      const char *scalars, char *partials) {
  uint64_t local[OR_OPS];
  bool defined[OR_OPS] = {0};
  for (uint32_t i = 0; i < nest->ntasks; i++) {
    const cf_cg_task *t = &nest->tasks[i];
    const or_op *o;
    uint64_t pass, red[OR_REDS];
    memcpy(&o, scalars + t->scalar_off, 8);
    memcpy(&pass, scalars + t->scalar_off + 8, 8);
    or_place pl[OR_ACC];
    int64_t iv[OR_DIMS], own[OR_DIMS] = {0}; /* of the operation's loops */
    for (uint32_t d = 0; d < t->desc->ndims; d++) {
      uint32_t at = t->loop_at[d];
      iv[d] = value(&t->iv_first[at], ints);
      if (at < nest->ndims)
        iv[d] += n[at] * value(&t->iv_step[at], ints);
      own[d] = (iv[d] - o->first[d]) / o->step[d]; /* points of a nest may be counted from elsewhere */
    }
    for (uint32_t a = 0; a < t->desc->naccess; a++) {
      const cf_cg_access *x = &t->access[a];
      pl[a] = (or_place){0};
      if (x->local >= 0) {
        pl[a].local = &local[x->local];
        pl[a].defined = &defined[x->local];
        continue;
      }
      pl[a].p = (char *)bases[x->base] + value(&x->off, ints);
      for (uint32_t l = 0; l < t->desc->ndims; l++)
        if (t->loop_at[l] < nest->ndims) {
          pl[a].stride[l] = value(&x->stride[t->loop_at[l]], ints);
          pl[a].p -= pl[a].stride[l] * (own[l] - n[t->loop_at[l]]);
        }
      for (uint32_t l = 0; l < t->desc->access[a].ninner; l++)
        pl[a].stride[t->desc->ndims + l] = value(&x->stride[nest->ndims + l], ints);
    }
    if (!or_body(o, pass, own, iv, pl, red))
      or_fail("op %d reads a demoted store before its value is there", o->id);
    for (int r = 0; r < t->desc->nreds; r++)
      cf_red_combine(t->desc->reds[r].op, t->desc->reds[r].type, partials + 16 * (t->red_off + (uint32_t)r),
                     &red[r]);
  }
}

static void run_nest(uint32_t which, void *const *bases, const int64_t *ints, const void *scalars,
                     const int64_t *lo, const int64_t *hi, void *partials) {
  const cf_cg_nest *nest = &current->unit.nests[which];
  int64_t points = 1, n[OR_DIMS] = {0};
  for (uint32_t i = 0; partials && i < nest->ntasks; i++)
    for (int r = 0; r < nest->tasks[i].desc->nreds; r++)
      cf_red_identity(nest->tasks[i].desc->reds[r].op, nest->tasks[i].desc->reds[r].type,
                      (char *)partials + 16 * (nest->tasks[i].red_off + (uint32_t)r));
  for (uint32_t d = 0; d < nest->ndims; d++)
    points *= hi[d] - lo[d];
  for (int64_t k = 0; k < points; k++) {
    int64_t at = or_point_order == 0 ? k : or_point_order == 1 ? points - 1 - k : (k * 7919 + 3) % points;
    for (int d = (int)nest->ndims - 1; d >= 0; d--) {
      n[d] = lo[d] + at % (hi[d] - lo[d]);
      at /= hi[d] - lo[d];
    }
    run_point(nest, n, bases, ints, scalars, partials);
  }
}

#define FN(i)                                                                                                \
  static void fn##i(void *const b[], const int64_t n[], const void *s, const int64_t lo[],                   \
                    const int64_t hi[], void *p) {                                                           \
    run_nest(i, b, n, s, lo, hi, p);                                                                         \
  }
#define FN8(a, b, c, d, e, f, g, h) FN(a) FN(b) FN(c) FN(d) FN(e) FN(f) FN(g) FN(h)
FN8(0, 1, 2, 3, 4, 5, 6, 7)
FN8(8, 9, 10, 11, 12, 13, 14, 15)
FN8(16, 17, 18, 19, 20, 21, 22, 23)
FN8(24, 25, 26, 27, 28, 29, 30, 31)
FN8(32, 33, 34, 35, 36, 37, 38, 39)
FN8(40, 41, 42, 43, 44, 45, 46, 47)
FN8(48, 49, 50, 51, 52, 53, 54, 55)
FN8(56, 57, 58, 59, 60, 61, 62, 63)
static cf_kernel_fn table[NESTS] = {
    fn0,  fn1,  fn2,  fn3,  fn4,  fn5,  fn6,  fn7,  fn8,  fn9,  fn10, fn11, fn12, fn13, fn14, fn15,
    fn16, fn17, fn18, fn19, fn20, fn21, fn22, fn23, fn24, fn25, fn26, fn27, fn28, fn29, fn30, fn31,
    fn32, fn33, fn34, fn35, fn36, fn37, fn38, fn39, fn40, fn41, fn42, fn43, fn44, fn45, fn46, fn47,
    fn48, fn49, fn50, fn51, fn52, fn53, fn54, fn55, fn56, fn57, fn58, fn59, fn60, fn61, fn62, fn63};

cf_status __wrap_cf_kernel_get(cf_codegen *cg, const char *text, size_t len, uint32_t nnests,
                               const char *name, const cf_kernel **out);
cf_status __wrap_cf_kernel_get(cf_codegen *cg, const char *text, size_t len, uint32_t nnests,
                               const char *name, const cf_kernel **out) {
  (void)cg, (void)len, (void)name;
  kernel *k;
  memcpy(&k, text, sizeof k);
  if (nnests > NESTS)
    or_fail("a group of %u nests", nnests);
  k->k.nnests = nnests;
  k->k.fn = table;
  *out = &k->k;
  return CF_OK;
}

/* The last call before the kernels of a group: notes which group's kernels the functions above stand for. */
cf_status __real_cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window);
cf_status __wrap_cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window);
cf_status __wrap_cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window) {
  cf_status st = __real_cf_move_in(x, p, g, window);
  current = (const kernel *)((const cf_bound *)g->exec)->kernel;
  if (or_rank() == 0) {
    or_traced.groups++;
    or_traced.tasks += g->ntasks;
    or_traced.temporaries += g->ndemoted;
    for (uint32_t i = 0; i < g->ntasks; i++) {
      or_traced.replicated += window[g->first + i]->domain == CF_REPLICATED;
      or_traced.single += window[g->first + i]->domain == CF_SINGLE;
    }
  }
  return st;
}

static bool same_plan(const cf_plan *a, const cf_plan *b, cf_task *const *tasks) {
  if (a->ntasks != b->ntasks || a->ngroups != b->ngroups || a->nstores != b->nstores ||
      !a->order != !b->order || memcmp(a->domains, b->domains, a->ntasks * sizeof *a->domains) != 0)
    return false;
  for (uint32_t s = 0; s < a->nstores; s++)
    if (!cf_partition_equal(&a->homes[s], &b->homes[s]))
      return false;
  for (uint32_t i = 0; i < a->ntasks; i++) {
    if (!cf_itile_equal(&a->itiles[i], &b->itiles[i], a->domains[i], b->domains[i]))
      return false;
    if (a->order && a->order[i] != b->order[i])
      return false;
    const cf_task *t = tasks[a->order ? a->order[i] : i];
    for (uint32_t k = 0; k < t->naccess; k++)
      if (a->locals[i][k] != b->locals[i][k] ||
          (t->access[k].store && !cf_partition_equal(&a->parts[i][k], &b->parts[i][k])))
        return false;
  }
  for (uint32_t g = 0; g < a->ngroups; g++) {
    const cf_group *x = &a->groups[g], *y = &b->groups[g];
    if (x->first != y->first || x->ntasks != y->ntasks || x->nnests != y->nnests ||
        x->ndemoted != y->ndemoted)
      return false;
    for (uint32_t n = 0; n < x->nnests; n++)
      if (x->nests[n].ntasks != y->nests[n].ntasks || x->nests[n].nedges != y->nests[n].nedges ||
          !x->nests[n].at != !y->nests[n].at ||
          (x->nests[n].at &&
           memcmp(x->nests[n].at, y->nests[n].at, x->nests[n].ntasks * sizeof *x->nests[n].at) != 0) ||
          memcmp(x->nests[n].tasks, y->nests[n].tasks, x->nests[n].ntasks * sizeof(uint32_t)) != 0)
        return false;
  }
  return true;
}

cf_status __real_cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                              cf_plan **out);
cf_status __wrap_cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                              cf_plan **out);
cf_status __wrap_cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                              cf_plan **out) {
  uint64_t hits = m->hits;
  cf_status st = __real_cf_memo_plan(m, tasks, n, ranks, fuse, out);
  if (st != CF_OK)
    return st;
  if (or_check_memo && m->hits != hits) {
    cf_plan *fresh;
    st = cf_analyse(tasks, n, ranks, fuse, &fresh);
    if (st != CF_OK)
      return st;
    if (!same_plan(*out, fresh, tasks))
      or_fail("the memo's plan differs from that of a new analysis");
    cf_plan_free(fresh);
  }
  if (or_rank() == 0) {
    const cf_plan *p = *out;
    or_traced.plans++;
    or_traced.hits += m->hits != hits;
    for (uint32_t g = 0; g < p->ngroups; g++)
      or_traced.hash = or_mix(or_traced.hash, p->groups[g].ntasks);
    for (uint32_t i = 0; i < n; i++)
      or_traced.any_single |= p->domains[i] == CF_SINGLE;
  }
  /* What the plan says must be taken from the plan. */
  for (uint32_t i = 0; i < n; i++) {
    tasks[i]->domain = CF_REPLICATED;
    tasks[i]->itile = (cf_itile){.loop = -1};
    for (uint32_t k = 0; k < tasks[i]->naccess; k++)
      tasks[i]->access[k].part = (cf_partition){0};
  }
  return CF_OK;
}

_Noreturn void __wrap_cf_fatal(cf_status st);
_Noreturn void __wrap_cf_fatal(cf_status st) { or_fail("error: %s (%s)", cf_last_error(), cf_strerror(st)); }
