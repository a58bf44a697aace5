// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Inside a group: which tasks share a loop nest, and which stores then need no memory (paper, 5.1).
 *
 * A group is legal when no message is needed inside it; its tasks share a nest only if, besides, every pair
 * of conflicting accesses meets in the same iteration. */
#include "analysis/analysis.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

bool cf_access_conflict(const cf_access *a, const cf_access *b) {
  return a->store && a->store == b->store && ((a->priv | b->priv) & (CF_WRITE | CF_REDUCE)) &&
         !(a->priv & b->priv & CF_REDUCE) && cf_access_intersects(a, b);
}

int cf_nest_relation(const cf_task *x, const int64_t *sx, const cf_task *y, const int64_t *sy,
                     const int64_t *trip) {
  bool moved = memcmp(sx, sy, y->ndims * sizeof *sx) != 0;
  int r = 0;
  for (int i = 0; i < x->naccess; i++)
    for (int k = 0; k < y->naccess; k++) {
      const cf_access *a = &x->access[i], *b = &y->access[k];
      if (!cf_access_conflict(a, b))
        continue;
      if (a->priv & CF_REDUCE || b->priv & CF_REDUCE)
        return 2;
      bool same;
      if (moved) {
        cf_access as = cf_access_shifted(a, x->ndims, sx), bs = cf_access_shifted(b, y->ndims, sy);
        same = cf_access_same_iteration(&as, &bs, x->ndims, trip);
      } else {
        same = cf_access_same_iteration(a, b, x->ndims, trip);
      }
      if (!same)
        return 2;
      r = 1;
    }
  return r;
}

bool cf_nest_conflict(const cf_task *x, const cf_task *y) {
  for (int i = 0; i < x->naccess; i++)
    for (int k = 0; k < y->naccess; k++)
      if (cf_access_conflict(&x->access[i], &y->access[k]))
        return true;
  return false;
}

bool cf_nest_same_shape(const cf_task *x, const cf_task *y) {
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

/* The access as a function of its nest's points; itself where they are the task's iterations. */
static const cf_access *at_points(const cf_task *t, const cf_access *a, const int64_t *shift,
                                  cf_access *room) {
  for (int d = 0; d < t->ndims; d++)
    if (shift[d] != 0) {
      *room = cf_access_shifted(a, t->ndims, shift);
      return room;
    }
  return a;
}

/* Every use of a store that the program has given up, in order: can it be a value? Its uses must be in one
 * nest, at one element per point, and every read behind a must-write of an earlier task: entries of one
 * task are not in the order of execution. On an edge the value must come from a task that runs together with
 * the reader there. Returns the number of fields, 0 if memory is needed. */
static uint32_t as_value(const cf_plan *p, const cf_group *g, cf_task *const *tasks, const cf_forming *f,
                         const cf_access *write, uint32_t at, field *fields) {
  const cf_store *s = write->store;
  uint32_t n = 0, uses = 0, last = g->first + g->ntasks;
  cf_access room[2];
  const cf_access *first = at_points(tasks[at], write, f->shift[at - g->first], &room[0]);
  for (uint32_t j = 0; j < p->ntasks; j++)
    for (uint32_t m = 0; m < tasks[j]->naccess; m++) {
      const cf_access *a = &tasks[j]->access[m];
      if (a->store != s)
        continue;
      uses++;
      if (j < at || j >= last || f->nest_of[j - g->first] != f->nest_of[at - g->first] ||
          a->priv & CF_REDUCE || a->ninner || a->whole || a->desc->flags & COFUSE_ACC_INDIRECT)
        return 0;
      if (!cf_access_same_element(at_points(tasks[j], a, f->shift[j - g->first], &room[1]), first))
        return 0;
      uint32_t k = 0;
      while (k < n && !same_field(&fields[k], a))
        k++;
      if (a->priv & CF_READ && (k == n || fields[k].task == j))
        return 0;
      if (a->priv & CF_READ && !f->common[j - g->first] &&
          f->segment[j - g->first] != f->segment[fields[k].task - g->first])
        return 0;
      if (k < n)
        continue;
      for (k = 0; k < n; k++) /* one byte under two names */
        if (a->field < fields[k].at + fields[k].bytes && fields[k].at < a->field + a->field_bytes)
          return 0;
      if (!a->must || n == MAX_FIELDS)
        return 0;
      fields[n++] = (field){a->field, a->field_bytes, a->desc->type, j};
    }
  return uses == s->pending ? n : 0;
}

/* Stores of the group that live and die inside one nest become values. */
static cf_status demote(cf_plan *p, cf_group *g, cf_task *const *tasks, const cf_forming *f) {
  uint32_t last = g->first + g->ntasks;
  field fields[MAX_FIELDS];
  for (uint32_t i = g->first; i < last; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      const cf_access *w = &tasks[i]->access[k];
      cf_store *s = w->store;
      if (!s || s->live || !tasks[i]->desc->body || p->locals[i][k] >= 0 || w->priv != CF_WRITE || !w->must ||
          w->ninner || w->whole)
        continue;
      uint32_t nf = as_value(p, g, tasks, f, w, i, fields);
      if (nf == 0)
        continue;
      cf_nest *n = &g->nests[f->nest_of[i - g->first]];
      uint8_t *types = cf_arena_alloc(&p->arena, n->nlocals + nf);
      if (!types)
        return CF_ENOMEM;
      if (n->nlocals)
        memcpy(types, n->local_types, n->nlocals);
      for (uint32_t m = 0; m < nf; m++)
        types[n->nlocals + m] = fields[m].type;
      n->local_types = types;
      for (uint32_t j = i; j < last; j++)
        for (uint32_t m = 0; m < tasks[j]->naccess; m++)
          for (uint32_t l = 0; l < nf && tasks[j]->access[m].store == s; l++)
            if (same_field(&fields[l], &tasks[j]->access[m]))
              p->locals[j][m] = (int32_t)(n->nlocals + l);
      n->nlocals += nf;
      g->ndemoted++;
    }
  return CF_OK;
}

/* All of the nest's tasks before `end` run the same points. */
static bool even(const cf_forming *f, uint32_t k, uint32_t end) {
  for (uint32_t j = f->lead[k] + 1; j < end; j++)
    if (f->nest_of[j] == k && (memcmp(f->shift[j], f->shift[f->lead[k]], sizeof f->shift[j]) != 0 ||
                               !cf_nest_same_shape(f->tasks[f->lead[k]], f->tasks[j])))
      return false;
  return true;
}

/* Assigns each task to a nest. edges: tasks with different boxes may share one. Returns how many tasks it
 * moved before others. */
static uint32_t form(cf_forming *f, bool edges) {
  uint32_t reordered = 0;
  f->nnests = 0;
  for (uint32_t i = 0; i < f->ntasks; i++) {
    const cf_task *t = f->tasks[i];
    /* From the last nest backwards: join the earliest-reached nest that fits, never crossing a nest that t
     * depends on. */
    int64_t join = -1;
    bool free = true; /* of all before it in the group */
    memset(f->shift[i], 0, sizeof f->shift[i]);
    for (int64_t k = (int64_t)f->nnests - 1; k >= 0 && join < 0; k--) {
      memset(f->shift[i], 0, sizeof f->shift[i]); /* an attempt at another nest left its own */
      bool depends = false, fits = cf_nest_same_shape(f->tasks[f->lead[k]], t);
      for (uint32_t j = 0; j < i && !(depends && !fits); j++) {
        if (f->nest_of[j] != (uint32_t)k)
          continue;
        int r = fits ? cf_nest_relation(f->tasks[j], f->shift[j], t, f->shift[i], t->trip)
                     : cf_nest_conflict(f->tasks[j], t);
        depends |= r > 0;
        fits &= r < 2;
      }
      if (edges && (!fits || !even(f, (uint32_t)k, i)))
        fits = cf_nest_place(f, (uint32_t)k, i, f->shift[i]);
      free &= !depends;
      if (fits)
        join = k;
      else if (depends)
        break;
    }
    if (join < 0)
      memset(f->shift[i], 0, sizeof f->shift[i]);
    if (join < 0 && free && t->ndims == 0 && f->nnests > 0) {
      /* A scalar's new value, which something later wants: if it came last, a loop that uses it could not
       * share the nest of those before. */
      memmove(f->lead + 1, f->lead, f->nnests * sizeof *f->lead);
      for (uint32_t j = 0; j < i; j++)
        f->nest_of[j]++;
      join = 0;
      f->lead[0] = i;
      f->nnests++;
      reordered++;
    } else if (join < 0) {
      join = f->nnests++;
      f->lead[join] = i;
    } else if (join != (int64_t)f->nnests - 1) {
      reordered++;
    }
    f->nest_of[i] = (uint32_t)join;
  }
  cf_nest_segments(f);
  return reordered;
}

/* Writes a nest's tasks and, if their boxes differ, where they stand and their edges. */
static cf_status write_nest(cf_plan *p, const cf_group *g, const cf_forming *f, uint32_t k) {
  cf_nest *n = &g->nests[k];
  bool peeled = false;
  for (uint32_t i = 0; i < f->ntasks; i++)
    if (f->nest_of[i] == k) {
      n->ntasks++;
      peeled |= !f->common[i];
    }
  n->tasks = cf_arena_alloc(&p->arena, n->ntasks * sizeof *n->tasks);
  if (!n->tasks)
    return CF_ENOMEM;
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->ntasks; i++)
    if (f->nest_of[i] == k)
      n->tasks[at++] = g->first + i;
  if (!peeled)
    return CF_OK;
  n->at = cf_arena_alloc(&p->arena, n->ntasks * sizeof *n->at);
  n->edges = cf_arena_alloc(&p->arena, n->ntasks * sizeof *n->edges);
  if (!n->at || !n->edges)
    return CF_ENOMEM;
  int64_t low[CF_DIMS] = {0}; /* of the common box */
  for (at = 0; at < n->ntasks; at++)
    for (int d = 0; d < CF_DIMS; d++) {
      int64_t s = f->shift[n->tasks[at] - g->first][d];
      low[d] = at == 0 || s > low[d] ? s : low[d];
    }
  for (at = 0; at < n->ntasks; at++) {
    uint32_t i = n->tasks[at] - g->first;
    for (int d = 0; d < CF_DIMS; d++)
      n->at[at][d] = low[d] - f->shift[i][d];
    if (f->common[i])
      continue;
    if (at > 0 && f->segment[n->tasks[at - 1] - g->first] == f->segment[i])
      n->edges[n->nedges - 1].ntasks++;
    else
      n->edges[n->nedges++] = (cf_edge){at, 1};
  }
  return CF_OK;
}

static cf_status write_nests(cf_plan *p, cf_group *g, cf_task *const *tasks, const cf_forming *f) {
  g->nnests = f->nnests;
  g->ndemoted = 0;
  g->nests = cf_arena_alloc(&p->arena, f->nnests * sizeof *g->nests);
  if (!g->nests)
    return CF_ENOMEM;
  for (uint32_t k = 0; k < f->nnests; k++)
    CF_TRY(write_nest(p, g, f, k));
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t m = 0; m < tasks[g->first + i]->naccess; m++)
      p->locals[g->first + i][m] = -1;
  return demote(p, g, tasks, f);
}

cf_status cf_build_nests(cf_plan *p, cf_group *g, cf_task *const *tasks) {
  size_t n = g->ntasks + 1u;
  cf_forming f = {.tasks = tasks + g->first,
                  .ntasks = g->ntasks,
                  .nest_of = calloc(n, sizeof *f.nest_of),
                  .lead = calloc(n, sizeof *f.lead),
                  .shift = calloc(n, sizeof *f.shift),
                  .segment = calloc(n, sizeof *f.segment),
                  .common = calloc(n, sizeof *f.common)};
  cf_status st = CF_ENOMEM;
  if (!f.nest_of || !f.lead || !f.shift || !f.segment || !f.common)
    goto done;
  uint32_t moved = form(&f, false), plain = f.nnests;
  st = write_nests(p, g, tasks, &f);
  if (st == CF_OK && plain > 1) { /* do edges save nests, without memory for what is a value else? */
    uint32_t values = g->ndemoted, with = form(&f, true);
    if (f.peeled && f.nnests < plain) {
      st = write_nests(p, g, tasks, &f);
      if (st == CF_OK && g->ndemoted < values) {
        with = form(&f, false);
        st = write_nests(p, g, tasks, &f);
      }
      moved = with;
    }
  }
  g->reordered += moved;
done:
  free(f.nest_of);
  free(f.lead);
  free(f.shift);
  free(f.segment);
  free(f.common);
  return st == CF_ENOMEM ? cf_fail(st, "out of memory while forming loop nests") : st;
}
