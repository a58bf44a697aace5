// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Inside a group: which tasks share a loop nest, and which stores then need no memory (paper, 5.1).
 *
 * A group is legal when no message is needed inside it; its tasks share a nest only if, besides, every pair
 * of conflicting accesses meets in the same iteration. */
#include "analysis/analysis.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

static bool conflict(const cf_access *a, const cf_access *b) {
  return a->store && a->store == b->store && ((a->priv | b->priv) & (CF_WRITE | CF_REDUCE)) &&
         !(a->priv & b->priv & CF_REDUCE) && cf_access_intersects(a, b);
}

/* 0: independent; 1: may share a nest; 2: must keep their order in different nests. */
static int relation(const cf_task *x, const cf_task *y, bool same_shape) {
  int r = 0;
  for (int i = 0; i < x->naccess; i++)
    for (int k = 0; k < y->naccess; k++) {
      const cf_access *a = &x->access[i], *b = &y->access[k];
      if (!conflict(a, b))
        continue;
      if (!same_shape || a->priv & CF_REDUCE || b->priv & CF_REDUCE ||
          !cf_access_same_iteration(a, b, x->ndims, x->trip))
        return 2;
      r = 1;
    }
  return r;
}

static bool same_shape(const cf_task *x, const cf_task *y) {
  if (!x->desc->body || !y->desc->body) /* a C function keeps a call of its own */
    return false;
  if (x->ndims != y->ndims || !cf_itile_equal(&x->itile, &y->itile, x->domain, y->domain))
    return false;
  for (int d = 0; d < x->ndims; d++)
    if (x->trip[d] != y->trip[d])
      return false;
  /* Partials are kept per block, and blocks of a replicated nest are no blocks of a tile. */
  return true;
}

/* A part of an element (all of it, a struct member, half of a complex) that a must-write has covered. */
typedef struct field {
  uint32_t at, bytes;
  uint8_t type;
  uint32_t task; /* that wrote it first */
} field;
enum { MAX_FIELDS = 8 };

static bool same_field(const field *f, const cf_access *a) {
  return f->at == a->field && f->bytes == a->field_bytes && f->type == a->desc->type;
}

/* Every use of a store that the program has given up, in order: can it be a value? Its uses must be in one
 * nest, at one element per iteration, and every read behind a must-write of an earlier task: entries of one
 * task are not in the order of execution. Returns the number of fields, 0 if memory is needed. */
static uint32_t as_value(const cf_plan *p, const cf_group *g, cf_task *const *tasks, const uint32_t *nest_of,
                         const cf_access *first, uint32_t at, field *fields) {
  const cf_store *s = first->store;
  uint32_t n = 0, uses = 0, last = g->first + g->ntasks;
  for (uint32_t j = 0; j < p->ntasks; j++)
    for (uint32_t m = 0; m < tasks[j]->naccess; m++) {
      const cf_access *a = &tasks[j]->access[m];
      if (a->store != s)
        continue;
      uses++;
      if (j < at || j >= last || nest_of[j - g->first] != nest_of[at - g->first] || a->priv & CF_REDUCE ||
          a->ninner || a->whole || a->desc->flags & COFUSE_ACC_INDIRECT || !cf_access_same_element(a, first))
        return 0;
      uint32_t f = 0;
      while (f < n && !same_field(&fields[f], a))
        f++;
      if (a->priv & CF_READ && (f == n || fields[f].task == j))
        return 0;
      if (f < n)
        continue;
      for (uint32_t k = 0; k < n; k++) /* one byte under two names */
        if (a->field < fields[k].at + fields[k].bytes && fields[k].at < a->field + a->field_bytes)
          return 0;
      if (!a->must || n == MAX_FIELDS)
        return 0;
      fields[n++] = (field){a->field, a->field_bytes, a->desc->type, j};
    }
  return uses == s->pending ? n : 0;
}

/* Stores of the group that live and die inside one nest become values. */
static cf_status demote(cf_plan *p, cf_group *g, cf_task *const *tasks, const uint32_t *nest_of) {
  uint32_t last = g->first + g->ntasks;
  field fields[MAX_FIELDS];
  for (uint32_t i = g->first; i < last; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      const cf_access *w = &tasks[i]->access[k];
      cf_store *s = w->store;
      if (!s || s->live || !tasks[i]->desc->body || p->locals[i][k] >= 0 || w->priv != CF_WRITE || !w->must ||
          w->ninner || w->whole)
        continue;
      uint32_t nf = as_value(p, g, tasks, nest_of, w, i, fields);
      if (nf == 0)
        continue;
      cf_nest *n = &g->nests[nest_of[i - g->first]];
      uint8_t *types = cf_arena_alloc(&p->arena, n->nlocals + nf);
      if (!types)
        return CF_ENOMEM;
      if (n->nlocals)
        memcpy(types, n->local_types, n->nlocals);
      for (uint32_t f = 0; f < nf; f++)
        types[n->nlocals + f] = fields[f].type;
      n->local_types = types;
      for (uint32_t j = i; j < last; j++)
        for (uint32_t m = 0; m < tasks[j]->naccess; m++)
          for (uint32_t f = 0; f < nf && tasks[j]->access[m].store == s; f++)
            if (same_field(&fields[f], &tasks[j]->access[m]))
              p->locals[j][m] = (int32_t)(n->nlocals + f);
      n->nlocals += nf;
      g->ndemoted++;
    }
  return CF_OK;
}

cf_status cf_build_nests(cf_plan *p, cf_group *g, cf_task *const *tasks) {
  uint32_t n = g->ntasks;
  cf_status st = CF_ENOMEM;
  uint32_t *nest_of = calloc(n + 1, sizeof *nest_of), *lead = calloc(n + 1, sizeof *lead);
  if (!nest_of || !lead)
    goto done;
  for (uint32_t i = 0; i < n; i++) {
    const cf_task *t = tasks[g->first + i];
    /* From the last nest backwards: join the earliest-reached nest that fits, never crossing a nest that t
     * depends on. */
    int64_t join = -1;
    bool free = true; /* of all before it in the group */
    for (int64_t k = (int64_t)g->nnests - 1; k >= 0; k--) {
      const cf_task *l = tasks[g->first + lead[k]];
      bool shape = same_shape(l, t);
      int worst = 0;
      for (uint32_t j = 0; j < i && worst < 2; j++)
        if (nest_of[j] == (uint32_t)k) {
          int r = relation(tasks[g->first + j], t, shape);
          worst = r > worst ? r : worst;
        }
      free = free && worst == 0;
      if (worst < 2 && shape) {
        join = k;
        break;
      }
      if (worst > 0)
        break;
    }
    if (join < 0 && free && t->ndims == 0 && g->nnests > 0) {
      /* A scalar's new value, which something later wants: if it came last, a loop that uses it could not
       * share the nest of those before. */
      memmove(lead + 1, lead, g->nnests * sizeof *lead);
      for (uint32_t j = 0; j < i; j++)
        nest_of[j]++;
      join = 0;
      lead[0] = i;
      g->nnests++;
      g->reordered++;
    } else if (join < 0) {
      join = g->nnests++;
      lead[join] = i;
    } else if (join != (int64_t)g->nnests - 1) {
      g->reordered++;
    }
    nest_of[i] = (uint32_t)join;
  }
  g->nests = cf_arena_alloc(&p->arena, g->nnests * sizeof *g->nests);
  if (!g->nests)
    goto done;
  for (uint32_t i = 0; i < n; i++)
    g->nests[nest_of[i]].ntasks++;
  for (uint32_t k = 0; k < g->nnests; k++) {
    g->nests[k].tasks = cf_arena_alloc(&p->arena, g->nests[k].ntasks * sizeof *g->nests[k].tasks);
    if (!g->nests[k].tasks)
      goto done;
    g->nests[k].ntasks = 0;
  }
  for (uint32_t i = 0; i < n; i++) {
    cf_nest *k = &g->nests[nest_of[i]];
    k->tasks[k->ntasks++] = g->first + i;
  }
  st = demote(p, g, tasks, nest_of);
done:
  free(nest_of);
  free(lead);
  return st == CF_ENOMEM ? cf_fail(st, "out of memory while forming loop nests") : st;
}
