// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Homes for stores that a window touches first: solved together, because no local rule can tell that an
 * interior-shaped temporary belongs one row further in than its index says (architecture.md section 1).
 *
 * Stores are united when a task indexes both through the same loops with the same coefficients in their
 * tiled dimensions and at one offset each; a class then follows a store that already has a home.
 *
 * A store without a home that the window only reads gets none: its contents are those of the host, equal on
 * all ranks, so reading them needs no message, and tables (row pointers of length n + 1) must not lead. */
#include "analysis/analysis.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

typedef struct node {
  uint32_t parent;
  int64_t shift; /* index here = index in parent + shift */
  uint8_t dim;
  bool fixed;            /* home known */
  const cf_task *writer; /* first task of the window that writes a store without a home */
  const cf_access *write;
  bool row; /* tiled along a dimension of extent 1: lives where a row of another store lives */
} node;

/* How one task touches one store in its tiled dimension. */
typedef struct touch {
  uint32_t store;
  int64_t coef[CF_LOOPS];
  int64_t lo; /* smallest offset */
  bool ambiguous;
  bool point; /* no loop moves it: coef is 0 */
  bool row;   /* and the store is one of these */
} touch;

static uint32_t find(node *nd, uint32_t x, int64_t *shift) {
  int64_t s = 0;
  while (nd[x].parent != x) {
    s += nd[x].shift;
    x = nd[x].parent;
  }
  *shift = s;
  return x;
}

static bool moves(const touch *x) {
  for (int l = 0; l < CF_LOOPS; l++)
    if (x->coef[l])
      return true;
  return false;
}

/* Does the pair tell how the tiles of two stores should lie? Two fixed rows do not (`u[0] = v[5]`), unless
 * one is the only row there is. */
static bool related(const touch *x, const touch *y) {
  return memcmp(x->coef, y->coef, sizeof x->coef) == 0 && (!x->point || x->row || y->row);
}

static int collect(const cf_task *t, const node *nd, const cf_partition *homes, touch *out, int cap) {
  int n = 0;
  for (int i = 0; i < t->naccess; i++) {
    const cf_access *a = &t->access[i];
    if (!a->store || a->priv & CF_REDUCE || a->whole)
      continue;
    if (nd[a->store->mark].fixed && homes[a->store->mark].kind != CF_PART_TILING)
      continue;
    touch x = {.store = a->store->mark};
    int d = nd[x.store].dim;
    x.lo = a->map.off[d];
    for (int l = 0; l < a->map.nloops; l++) {
      int64_t tr = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims], c = a->map.coef[d][l];
      if (c < 0 && tr > 1)
        x.lo += c * (tr - 1);
      if (l < t->ndims)
        x.coef[l] = c;
    }
    x.point = a->hi[d] - a->lo[d] == 1;
    for (int l = 0; l < t->ndims; l++)
      x.point &= x.coef[l] == 0;
    x.row = nd[x.store].row;
    if (!x.point && !moves(&x))
      continue;
    int k = 0;
    while (k < n && (out[k].store != x.store || out[k].point != x.point))
      k++;
    if (k == n) {
      if (n < cap)
        out[n++] = x;
    } else if (memcmp(out[k].coef, x.coef, sizeof x.coef) != 0) {
      out[k].ambiguous = true;
    } else if (out[k].lo != x.lo) {
      out[k].ambiguous = true;
      out[k].lo = cf_min(out[k].lo, x.lo);
    }
  }
  return n;
}

static void set_home(node *nd, uint32_t ns, cf_partition *homes, uint32_t s, const cf_partition *h) {
  int64_t base;
  uint32_t root = find(nd, s, &base);
  for (uint32_t k = 0; k < ns; k++) {
    int64_t sh;
    if (nd[k].fixed || find(nd, k, &sh) != root)
      continue;
    homes[k] = *h;
    homes[k].dim = nd[k].dim;
    homes[k].origin = h->origin + sh - base;
    nd[k].fixed = true;
  }
}

/* Default home of a store; if it is first written by a nest of several loops in the tiled dimension (a flat
 * a[i*m+j]), whole rows of that nest stay together. */
static cf_partition default_home(const cf_store *s, const cf_task *t, const cf_access *a) {
  cf_partition h = cf_store_default_home(s);
  if (a->whole || a->priv & CF_REDUCE)
    return h;
  int64_t big = 0, span = 0, lo = a->map.off[h.dim];
  for (int l = 0; l < a->map.nloops; l++) {
    int64_t c = a->map.coef[h.dim][l], tr = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims];
    if (c == 0 || tr <= 1)
      continue;
    if (c < 0)
      lo += c * (tr - 1);
    big = cf_max(big, cf_abs(c));
  }
  for (int l = 0; l < a->map.nloops; l++) {
    int64_t c = cf_abs(a->map.coef[h.dim][l]);
    int64_t tr = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims];
    if (c && c != big)
      span += c * (tr - 1);
  }
  if (span > 0 && span < big) {
    h.grain = big;
    h.origin = cf_mod(lo, big);
    h.count = cf_ceil_div(s->ext[h.dim] - h.origin, big);
  }
  return h;
}

/* No store of this class has a home to follow: the largest one leads, or one that knows about rows. */
static void lead(node *nd, cf_store *const *stores, uint32_t ns, cf_partition *homes, uint32_t best) {
  int64_t shift;
  uint32_t root = find(nd, best, &shift);
  cf_partition h = default_home(stores[best], nd[best].writer, nd[best].write);
  for (uint32_t k = 0; k < ns && h.grain == 1; k++)
    if (!nd[k].fixed && !nd[k].row && find(nd, k, &shift) == root) {
      cf_partition other = default_home(stores[k], nd[k].writer, nd[k].write);
      if (other.grain > 1) {
        h = other;
        best = k;
      }
    }
  set_home(nd, ns, homes, best, &h);
}

/* Temporaries of one row, `t = -u[3,:]; u[0,:] = t`: a store with a dimension of extent 1 that meets other
 * stores only where those are at a fixed row lives with that row, not in tiles of its own. evidence, scratch:
 * per store. */
enum { MEETS_ROWS = 1, MEETS_TILES = 2, CANDIDATE = 4 };

static void find_rows(cf_task *const *tasks, uint32_t n, cf_store *const *stores, uint32_t ns, node *nd,
                      const cf_partition *homes, touch *tc, uint8_t *evidence) {
  bool any = false;
  for (uint32_t k = 0; k < ns; k++) {
    evidence[k] = 0;
    for (int d = 0; d < stores[k]->rank && !nd[k].fixed; d++)
      if (stores[k]->ext[d] == 1)
        evidence[k] = CANDIDATE;
    any |= evidence[k] != 0;
  }
  if (!any)
    return;
  for (bool changed = true; changed;) { /* evidence spreads through loops that hold several candidates */
    changed = false;
    for (uint32_t i = 0; i < n; i++) {
      int m = collect(tasks[i], nd, homes, tc, 64);
      uint8_t seen = 0;
      for (int x = 0; x < m; x++) {
        uint8_t e = evidence[tc[x].store];
        seen |= e & CANDIDATE ? e & (MEETS_ROWS | MEETS_TILES) : tc[x].point ? MEETS_ROWS : MEETS_TILES;
      }
      for (int x = 0; x < m; x++) {
        uint8_t *e = &evidence[tc[x].store];
        if (*e & CANDIDATE && (*e | seen) != *e) {
          *e |= seen;
          changed = true;
        }
      }
    }
  }
  for (uint32_t k = 0; k < ns; k++)
    if (evidence[k] == (CANDIDATE | MEETS_ROWS)) {
      nd[k].row = true;
      nd[k].dim = 0;
      while (stores[k]->ext[nd[k].dim] != 1)
        nd[k].dim++;
    }
}

void cf_align(cf_task *const *tasks, uint32_t n, cf_store *const *stores, uint32_t ns, cf_partition *homes) {
  node *nd = calloc(ns ? ns : 1, sizeof *nd);
  touch *tc = calloc(64, sizeof *tc);
  uint8_t *evidence = malloc(ns + 1);
  bool open = false;
  if (!nd || !tc || !evidence) { /* defaults are always right, only slower */
    for (uint32_t k = 0; k < ns; k++)
      homes[k] = stores[k]->home.kind ? stores[k]->home : cf_store_default_home(stores[k]);
    free(nd);
    free(tc);
    free(evidence);
    return;
  }
  for (uint32_t k = 0; k < ns; k++) {
    nd[k].parent = k;
    homes[k] = stores[k]->home;
    cf_partition def = cf_store_default_home(stores[k]);
    nd[k].dim = homes[k].kind == CF_PART_TILING ? homes[k].dim : def.dim;
    if (homes[k].kind == CF_PART_UNSET && def.kind == CF_PART_NONE)
      homes[k] = def;
    nd[k].fixed = true;
  }
  for (uint32_t i = 0; i < n; i++)
    for (int a = 0; a < tasks[i]->naccess; a++) {
      const cf_access *x = &tasks[i]->access[a];
      if (x->store && x->priv & (CF_WRITE | CF_REDUCE) && homes[x->store->mark].kind == CF_PART_UNSET) {
        node *k = &nd[x->store->mark];
        if (k->fixed) {
          k->writer = tasks[i];
          k->write = x;
        }
        k->fixed = false;
        open = true;
      }
    }
  if (!open)
    goto done;

  find_rows(tasks, n, stores, ns, nd, homes, tc, evidence);

  /* Unite stores that have no home yet. */
  for (uint32_t i = 0; i < n; i++) {
    int m = collect(tasks[i], nd, homes, tc, 64);
    for (int x = 0; x < m; x++)
      for (int y = x + 1; y < m; y++) {
        if (tc[x].ambiguous || tc[y].ambiguous || nd[tc[x].store].fixed || nd[tc[y].store].fixed ||
            !related(&tc[x], &tc[y]))
          continue;
        int64_t sx, sy;
        uint32_t rx = find(nd, tc[x].store, &sx), ry = find(nd, tc[y].store, &sy);
        if (rx == ry)
          continue; /* the first relation found stands */
        /* index_y = index_x + (lo_y - lo_x), so root_y + sy = root_x + sx + lo_y - lo_x */
        nd[ry].parent = rx;
        nd[ry].shift = sx + tc[y].lo - tc[x].lo - sy;
      }
  }

  for (;;) {
    bool changed = false;
    /* Edges to stores with a home: clear ones first, then those at several offsets. */
    for (int pass = 0; pass < 2 && !changed; pass++)
      for (uint32_t i = 0; i < n; i++) {
        int m = collect(tasks[i], nd, homes, tc, 64);
        for (int x = 0; x < m; x++)
          for (int y = 0; y < m; y++) {
            uint32_t u = tc[x].store, f = tc[y].store;
            if (nd[u].fixed || !nd[f].fixed || !related(&tc[x], &tc[y]) ||
                (pass == 0 && (tc[x].ambiguous || tc[y].ambiguous)))
              continue;
            cf_partition h = homes[f];
            h.origin += tc[x].lo - tc[y].lo;
            set_home(nd, ns, homes, u, &h);
            changed = true;
          }
      }
    if (changed)
      continue;
    /* Nothing to follow: the largest store that is left leads. */
    int64_t best = -1;
    for (uint32_t k = 0; k < ns; k++)
      if (!nd[k].fixed && (best < 0 || stores[k]->bytes > stores[best]->bytes))
        best = k;
    if (best < 0)
      break;
    lead(nd, stores, ns, homes, (uint32_t)best);
  }
done:
  free(nd);
  free(tc);
  free(evidence);
}
