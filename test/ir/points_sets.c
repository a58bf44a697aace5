// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Definitions 1 to 3 of the paper, written down as sets. */
#include "ir/math.h"
#include "points.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 4 };

void pt_iterate(const cf_task *t, const cf_access *inner, int loop, int64_t lo, int64_t hi, pt_visit *f,
                void *arg) {
  int nl = t->ndims + (inner ? inner->ninner : 0);
  int64_t n[CF_LOOPS] = {0}, begin[CF_LOOPS] = {0}, end[CF_LOOPS];
  for (int l = 0; l < nl; l++) {
    end[l] = l < t->ndims ? t->trip[l] : inner->itrip[l - t->ndims];
    if (l == loop) {
      begin[l] = lo;
      end[l] = hi;
    }
    if (begin[l] >= end[l])
      return;
    n[l] = begin[l];
  }
  for (;;) {
    f(n, arg);
    int l = nl - 1;
    while (l >= 0 && ++n[l] == end[l])
      n[l] = begin[l], l--;
    if (l < 0)
      return;
  }
}

bool pt_element(const cf_access *a, const int64_t *n, int nl, int64_t *element) {
  int64_t e = 0;
  for (int d = 0; d < a->store->rank; d++) {
    int64_t x = a->map.off[d];
    for (int l = 0; l < nl && l < a->map.nloops; l++)
      x += a->map.coef[d][l] * n[l];
    if (x < a->lo[d] || x >= a->hi[d])
      return false;
    e = e * a->store->ext[d] + x;
  }
  *element = e;
  return true;
}

typedef struct fill {
  const cf_task *t;
  const cf_access *a;
  uint64_t *bits;
} fill;

static void add_element(const fill *f, int64_t e) {
  int64_t from = (e * f->a->store->elem_bytes + f->a->field) / GRANULE;
  int64_t to = (e * f->a->store->elem_bytes + f->a->field + f->a->field_bytes + GRANULE - 1) / GRANULE;
  for (int64_t g = from; g < to; g++)
    f->bits[g / 64] |= (uint64_t)1 << (g % 64);
}

static void visit(const int64_t *n, void *arg) {
  fill *f = arg;
  int64_t e;
  if (pt_element(f->a, n, f->t->ndims + f->a->ninner, &e))
    add_element(f, e);
}

/* Iterations of the tiled loop that rank p runs; loop -1: all or none of the task. */
static void part_of(const cf_task *t, int64_t p, int64_t ranks, int *loop, int64_t *lo, int64_t *hi) {
  *loop = -1;
  *lo = 0;
  *hi = 1;
  if (t->domain == CF_GRID) {
    *loop = t->itile.loop;
    cf_itile_range(&t->itile, p, ranks, lo, hi);
  } else if (t->domain == CF_SINGLE) {
    *hi = cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, ranks) == p;
  }
}

static void touch(const cf_task *t, const cf_access *a, int64_t p, int64_t ranks, uint64_t *bits) {
  int loop;
  int64_t lo, hi;
  fill f = {t, a, bits};
  part_of(t, p, ranks, &loop, &lo, &hi);
  if (lo >= hi || t->empty)
    return;
  if (a->whole) {
    for (int64_t e = 0; e < cf_store_count(a->store); e++)
      add_element(&f, e);
    return;
  }
  if (!cf_text_is_empty(a))
    pt_iterate(t, a, loop, lo, hi, visit, &f);
}

static void *take(pt_sets *s, size_t n) {
  void *p = cf_arena_alloc(&s->arena, n);
  if (!p)
    abort();
  return p;
}

void pt_sets_make(const cf_ir_window *w, int64_t ranks, pt_sets *out) {
  pt_sets s = {.w = w, .ranks = ranks};
  s.words = take(&s, (w->nstores + 1) * sizeof *s.words);
  for (uint32_t i = 0; i < w->nstores; i++) {
    w->stores[i]->mark = i;
    s.words[i] = (uint32_t)((w->stores[i]->bytes + GRANULE - 1) / GRANULE + 63) / 64;
  }
  s.at = take(&s, (w->ntasks + 1) * sizeof *s.at);
  for (uint32_t i = 0; i < w->ntasks; i++) {
    const cf_task *t = w->tasks[i];
    s.at[i] = take(&s, (t->naccess * (size_t)ranks + 1) * sizeof **s.at);
    for (uint32_t k = 0; k < t->naccess; k++)
      for (int64_t p = 0; t->access[k].store && p < ranks; p++) {
        uint64_t *bits = take(&s, s.words[t->access[k].store->mark] * sizeof *bits);
        touch(t, &t->access[k], p, ranks, bits);
        s.at[i][k * ranks + p].bits = bits;
      }
  }
  *out = s;
}

void pt_sets_free(pt_sets *s) { cf_arena_free(&s->arena); }

const uint64_t *pt_set_of(const pt_sets *s, uint32_t i, uint32_t k, int64_t p) {
  return s->at[i][k * s->ranks + p].bits;
}

/* Some rank's part of one access meets another rank's part of the other. */
static bool across(const pt_sets *s, uint32_t i, uint32_t a, uint32_t j, uint32_t b) {
  uint32_t words = s->words[s->w->tasks[i]->access[a].store->mark];
  for (int64_t p = 0; p < s->ranks; p++)
    for (int64_t q = 0; q < s->ranks; q++) {
      if (p == q)
        continue;
      const uint64_t *x = pt_set_of(s, i, a, p), *y = pt_set_of(s, j, b, q);
      for (uint32_t w = 0; w < words; w++)
        if (x[w] & y[w])
          return true;
    }
  return false;
}

/* Parts of one and the same rank, too. */
static bool anywhere(const pt_sets *s, uint32_t i, uint32_t a, uint32_t j, uint32_t b) {
  uint32_t words = s->words[s->w->tasks[i]->access[a].store->mark];
  for (int64_t p = 0; p < s->ranks; p++)
    for (uint32_t w = 0; w < words; w++)
      if (pt_set_of(s, i, a, p)[w] & pt_set_of(s, j, b, p)[w])
        return true;
  return across(s, i, a, j, b);
}

static cf_rule accesses(const pt_sets *s, uint32_t i, uint32_t ka, uint32_t j, uint32_t kb, bool copies) {
  const cf_task *ti = s->w->tasks[i], *tj = s->w->tasks[j];
  const cf_access *a = &ti->access[ka], *b = &tj->access[kb];
  bool aw = a->priv & CF_WRITE, bw = b->priv & CF_WRITE, br = b->priv & CF_READ;
  bool ard = a->priv & CF_REDUCE, brd = b->priv & CF_REDUCE;
  if (ard && brd)
    return a->redop == b->redop || copies || !anywhere(s, i, ka, j, kb) ? CF_CUT_END : CF_CUT_REDUCTION;
  if (ard) /* the result is there when the group has ended */
    return anywhere(s, i, ka, j, kb) ? CF_CUT_REDUCTION : CF_CUT_END;
  if (brd) /* stored when the group ends: only a value that not every rank has is missing */
    return aw && ti->domain != CF_REPLICATED && anywhere(s, i, ka, j, kb) ? CF_CUT_REDUCTION : CF_CUT_END;
  if (!aw && !bw)
    return CF_CUT_END;
  if (ti->domain == CF_REPLICATED)
    return CF_CUT_END; /* each rank has done all of it before */
  if (tj->domain == CF_REPLICATED && !(aw && br))
    return CF_CUT_END; /* each rank overwrites its own copy */
  if (copies && !(aw && br))
    return CF_CUT_END;
  if (!across(s, i, ka, j, kb))
    return CF_CUT_END;
  if (ti->domain != CF_GRID || tj->domain != CF_GRID)
    return CF_CUT_DOMAIN;
  return aw && br ? CF_CUT_RAW : aw ? CF_CUT_WAW : CF_CUT_WAR;
}

cf_rule pt_pair(const pt_sets *s, uint32_t i, uint32_t j, bool copies, uint32_t *acc_i, uint32_t *acc_j) {
  const cf_task *ti = s->w->tasks[i], *tj = s->w->tasks[j];
  for (uint32_t a = 0; a < ti->naccess; a++)
    for (uint32_t b = 0; b < tj->naccess; b++) {
      if (!ti->access[a].store || ti->access[a].store != tj->access[b].store)
        continue;
      cf_rule r = accesses(s, i, a, j, b, copies);
      if (r == CF_CUT_END)
        continue;
      *acc_i = a;
      *acc_j = b;
      return r;
    }
  return CF_CUT_END;
}
