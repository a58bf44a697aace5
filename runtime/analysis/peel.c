// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Loop nests of tasks with different boxes: they share the points that all of them run, and what a task runs
 * beyond is peeled off (architecture.md, section 1).
 *
 * Tasks are laid on top of each other so that conflicting accesses meet in one point. Along the tiled loop
 * the tiles decide how; along the others the first dependence does. */
#include "analysis/analysis.h"
#include "ir/math.h"

#include <string.h>

/* Boxes of a nest's tasks in its points: what all run, and the hull. */
typedef struct extent {
  int64_t lo[CF_DIMS], hi[CF_DIMS], hull_lo[CF_DIMS], hull_hi[CF_DIMS];
} extent;

static void extend(extent *e, const cf_task *t, const int64_t *shift, bool first) {
  for (int d = 0; d < t->ndims; d++) {
    int64_t lo = shift[d], hi = shift[d] + t->trip[d];
    e->lo[d] = first ? lo : cf_max(e->lo[d], lo);
    e->hi[d] = first ? hi : cf_min(e->hi[d], hi);
    e->hull_lo[d] = first ? lo : cf_min(e->hull_lo[d], lo);
    e->hull_hi[d] = first ? hi : cf_max(e->hull_hi[d], hi);
  }
}

/* Of the nest's tasks before `end`. */
static extent extent_of(const cf_forming *f, uint32_t k, uint32_t end) {
  extent e = {0};
  for (uint32_t j = f->lead[k]; j < end; j++)
    if (f->nest_of[j] == k)
      extend(&e, f->tasks[j], f->shift[j], j == f->lead[k]);
  return e;
}

static bool is_common(const extent *e, const cf_task *t, const int64_t *shift) {
  for (int d = 0; d < t->ndims; d++)
    if (shift[d] != e->lo[d] || shift[d] + t->trip[d] != e->hi[d])
      return false;
  return true;
}

/* Tiles of x and y can be laid on top of each other along the tiled loop: y's shift against x there. */
static bool tiles_meet(const cf_task *x, const cf_task *y, int64_t *shift) {
  *shift = 0;
  if (x->domain != CF_GRID)
    return cf_itile_equal(&x->itile, &y->itile, x->domain, y->domain);
  const cf_itile *a = &x->itile, *b = &y->itile;
  if (y->domain != CF_GRID || a->loop != b->loop || a->loop < 0 || a->c != b->c ||
      a->home.count != b->home.count || a->home.grain != b->home.grain)
    return false;
  int64_t diff = (b->k - b->home.origin) - (a->k - a->home.origin);
  if (diff % a->c)
    return false;
  *shift = diff / a->c;
  return true;
}

/* The dimension of both maps in which loop l stands alone, -1 if there is none. */
static int lone_dim(const cf_access *a, const cf_access *b, int l) {
  for (int d = 0; d < a->map.rank; d++) {
    if (a->map.coef[d][l] == 0 || a->map.coef[d][l] != b->map.coef[d][l])
      continue;
    bool alone = true;
    for (int m = 0; m < CF_LOOPS; m++)
      alone &= m == l || ((m >= a->map.nloops || a->map.coef[d][m] == 0) &&
                          (m >= b->map.nloops || b->map.coef[d][m] == 0));
    if (alone)
      return d;
  }
  return -1;
}

/* Along the loops not in *known, the shift that lets conflicting accesses of x and y meet. */
static bool meet(const cf_task *x, const int64_t *sx, const cf_task *y, int64_t *sy, uint32_t *known) {
  for (int i = 0; i < x->naccess; i++)
    for (int k = 0; k < y->naccess; k++) {
      const cf_access *a = &x->access[i], *b = &y->access[k];
      if (!cf_access_conflict(a, b) || a->whole || b->whole)
        continue;
      for (int l = 0; l < y->ndims; l++) {
        int d = *known >> l & 1 ? -1 : lone_dim(a, b, l);
        if (d < 0)
          continue;
        int64_t c = a->map.coef[d][l], diff = b->map.off[d] - a->map.off[d];
        if (diff % c)
          return false;
        sy[l] = sx[l] + diff / c;
        *known |= 1u << l;
      }
    }
  return true;
}

/* The shift at which task i would join nest k. */
static bool find_shift(const cf_forming *f, uint32_t k, uint32_t i, int64_t *s) {
  const cf_task *t = f->tasks[i];
  uint32_t known = 0;
  bool related = false;
  memset(s, 0, CF_DIMS * sizeof *s);
  for (uint32_t j = f->lead[k]; j < i; j++) {
    if (f->nest_of[j] != k)
      continue;
    const cf_task *x = f->tasks[j];
    int64_t along;
    if (x->ndims != t->ndims || x->domain != t->domain || !x->desc->body || !tiles_meet(x, t, &along))
      return false;
    if (cf_nest_same_shape(x, t) && !cf_nest_conflict(x, t) && !related) { /* lies as its twin does */
      memcpy(s, f->shift[j], CF_DIMS * sizeof *s);
      known = ~0u;
      related = true;
    }
    if (t->domain == CF_GRID && !(known >> t->itile.loop & 1)) {
      s[t->itile.loop] = f->shift[j][t->itile.loop] + along;
      known |= 1u << t->itile.loop;
    }
    if (!cf_nest_conflict(x, t))
      continue;
    related = true;
    if (!meet(x, f->shift[j], t, s, &known))
      return false;
  }
  const cf_task *lead = f->tasks[f->lead[k]];
  for (int l = 0; l < t->ndims; l++)
    if (!(known >> l & 1) && t->trip[l] != lead->trip[l])
      return false;
  return related;
}

bool cf_nest_place(const cf_forming *f, uint32_t k, uint32_t i, int64_t *s) {
  const cf_task *t = f->tasks[i];
  if (t->ndims == 0 || !t->desc->body || !find_shift(f, k, i, s))
    return false;
  extent e = extent_of(f, k, i);
  extend(&e, t, s, false);
  int64_t trip[CF_DIMS];
  for (int d = 0; d < t->ndims; d++) {
    int64_t both = e.hi[d] - e.lo[d];
    trip[d] = e.hull_hi[d] - e.hull_lo[d];
    /* Where edges are a good part of it, separate nests do as well. */
    if (both < 1 || 4 * (trip[d] - both) > both)
      return false;
  }
  /* A reduction has one partial result for each block of its nest, none for an edge. */
  if (t->nreds && !is_common(&e, t, s))
    return false;
  for (uint32_t j = f->lead[k]; j < i; j++)
    if (f->nest_of[j] == k && ((f->tasks[j]->nreds && !is_common(&e, f->tasks[j], f->shift[j])) ||
                               cf_nest_relation(f->tasks[j], f->shift[j], t, s, trip) == 2))
      return false;
  return true;
}

void cf_nest_segments(cf_forming *f) {
  uint32_t next = 0;
  f->peeled = false;
  for (uint32_t k = 0; k < f->nnests; k++) {
    extent e = extent_of(f, k, f->ntasks);
    uint32_t before = UINT32_MAX;
    for (uint32_t j = f->lead[k]; j < f->ntasks; j++) {
      if (f->nest_of[j] != k)
        continue;
      const cf_task *t = f->tasks[j];
      bool same = before != UINT32_MAX;
      for (int d = 0; d < t->ndims && same; d++)
        same = f->shift[j][d] == f->shift[before][d] && t->trip[d] == f->tasks[before]->trip[d];
      next += !same;
      f->segment[j] = next;
      f->common[j] = is_common(&e, t, f->shift[j]);
      f->peeled |= !f->common[j];
      before = j;
    }
  }
}

bool cf_nest_range(const cf_nest *n, uint32_t first, uint32_t ntasks, cf_task *const *window, int64_t p,
                   int64_t ranks, int64_t *lo, int64_t *hi) {
  const cf_task *t = window[n->tasks[first]];
  if (t->domain == CF_SINGLE && cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, ranks) != p)
    return false;
  for (uint32_t i = first; i < first + ntasks; i++) {
    t = window[n->tasks[i]];
    for (int d = 0; d < t->ndims; d++) {
      int64_t a = 0, b = t->trip[d], at = n->at ? n->at[i][d] : 0;
      if (t->domain == CF_GRID && t->itile.loop == d)
        cf_itile_range(&t->itile, p, ranks, &a, &b);
      lo[d] = i == first ? a - at : cf_max(lo[d], a - at);
      hi[d] = i == first ? b - at : cf_min(hi[d], b - at);
    }
    if (!n->at) /* all run the same points */
      break;
  }
  for (int d = 0; d < t->ndims; d++)
    if (lo[d] >= hi[d])
      return false;
  return true;
}

bool cf_nest_strip(int ndims, const int64_t *lo, const int64_t *hi, const int64_t *clo, const int64_t *chi,
                   int k, int64_t *slo, int64_t *shi) {
  bool none = false;
  for (int d = 0; d < ndims; d++)
    none |= clo[d] >= chi[d];
  memcpy(slo, lo, (size_t)ndims * sizeof *slo);
  memcpy(shi, hi, (size_t)ndims * sizeof *shi);
  if (none)
    return k == 0;
  for (int d = 0; d < ndims; d++) {
    if (lo[d] < clo[d] && k-- == 0) {
      shi[d] = clo[d];
      return true;
    }
    if (chi[d] < hi[d] && k-- == 0) {
      slo[d] = chi[d];
      return true;
    }
    slo[d] = clo[d];
    shi[d] = chi[d];
  }
  return false;
}
