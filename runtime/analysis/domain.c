// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Launch domain of a task and, from it, the partition of every access. */
#include "analysis/analysis.h"
#include "ir/math.h"

/* The dimension's part of a map that does not come from `loop`: lowest contribution and span. */
static void others(const cf_task *t, const cf_access *a, int dim, int loop, int64_t *lo, int64_t *span) {
  *lo = *span = 0;
  for (int l = 0; l < a->map.nloops; l++) {
    int64_t c = a->map.coef[dim][l], tr = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims];
    if (l == loop || c == 0 || tr <= 1)
      continue;
    *span += cf_abs(c) * (tr - 1);
    if (c < 0)
      *lo += c * (tr - 1);
  }
}

static const cf_partition NONE = {.kind = CF_PART_NONE, .num = 1, .den = 1};

static cf_partition access_partition(const cf_task *t, const cf_access *a, const cf_partition *homes) {
  const cf_partition *home = &homes[a->store->mark];
  const cf_itile *it = &t->itile;
  if (t->domain != CF_GRID || a->whole || a->wrap || home->kind != CF_PART_TILING || it->loop < 0 ||
      a->priv & CF_REDUCE)
    return NONE;
  int dim = home->dim;
  int64_t c = a->map.coef[dim][it->loop], low, span;
  if (c == 0)
    return NONE;
  others(t, a, dim, it->loop, &low, &span);
  if (span >= cf_abs(c))
    return NONE; /* neighbouring tiles overlap */
  if (span > 0 && (it->home.grain % cf_abs(it->c) || cf_mod(it->home.origin - it->k, cf_abs(it->c))))
    return NONE;
  cf_partition p = {.kind = CF_PART_TILING,
                    .dim = (uint8_t)dim,
                    .count = it->home.count,
                    .grain = it->home.grain,
                    .origin = it->home.origin,
                    .num = 1,
                    .den = 1};
  int64_t k = a->map.off[dim] + low;
  if (c == it->c) {
    p.origin += k - it->k;
  } else {
    p.num = c;
    p.den = it->c;
    p.k = it->k;
    p.off = k;
  }
  return p;
}

/* Tries to tile the task along the home of `a`. */
static bool follow(cf_task *t, const cf_access *a, const cf_partition *homes) {
  const cf_partition *home = &homes[a->store->mark];
  if (a->whole || home->kind != CF_PART_TILING)
    return false;
  int dim = home->dim, loop = -1;
  for (int l = 0; l < t->ndims; l++)
    if (t->trip[l] > 1 && cf_abs(a->map.coef[dim][l]) > (loop < 0 ? 0 : cf_abs(a->map.coef[dim][loop])))
      loop = l;
  if (loop < 0) {
    if (a->hi[dim] - a->lo[dim] != 1)
      return false;
    t->domain = CF_SINGLE;
    t->itile = (cf_itile){.loop = -1, .ext = a->store->ext[dim], .home = *home, .row = a->lo[dim]};
    return true;
  }
  int64_t c = a->map.coef[dim][loop], low, span;
  others(t, a, dim, loop, &low, &span);
  if (span >= cf_abs(c))
    return false;
  int64_t k = a->map.off[dim] + low;
  if (span > 0 && (home->grain % cf_abs(c) || cf_mod(home->origin - k, cf_abs(c))))
    return false;
  if (c < 0)
    k += span; /* preimage of a falling map is taken from its high end */
  if (c < 0 && span > 0)
    return false;
  t->domain = CF_GRID;
  t->itile = (cf_itile){
      .loop = loop, .trip = t->trip[loop], .c = c, .k = k, .ext = a->store->ext[dim], .home = *home};
  return true;
}

static void replicate(cf_task *t) {
  t->domain = CF_REPLICATED;
  t->itile = (cf_itile){.loop = -1};
}

void cf_domain_decide(cf_task *t, const cf_partition *homes, int64_t ranks) {
  (void)ranks;
  const cf_access *anchor = NULL, *reader = NULL;
  bool small_write = false, reduces = t->nreds > 0;
  for (int i = 0; i < t->naccess; i++) {
    const cf_access *a = &t->access[i];
    if (!a->store || a->priv & CF_REDUCE)
      continue;
    bool tiled = homes[a->store->mark].kind == CF_PART_TILING;
    if (a->priv & CF_WRITE) {
      if (!tiled)
        small_write = true;
      else if (!anchor || a->store->bytes > anchor->store->bytes)
        anchor = a;
    } else if (tiled && !a->whole && (!reader || a->store->bytes > reader->store->bytes)) {
      bool moves = false;
      for (int l = 0; l < t->ndims; l++)
        moves |= t->trip[l] > 1 && a->map.coef[homes[a->store->mark].dim][l] != 0;
      if (moves)
        reader = a;
    }
  }
  replicate(t);
  if (!small_write && t->ndims > 0 && !t->empty) {
    if (anchor) {
      if (!follow(t, anchor, homes))
        replicate(t);
    } else if (reduces) {
      if (!reader || !follow(t, reader, homes)) {
        /* Split the iterations evenly along the outermost loop that has some. */
        int l = 0;
        while (l < t->ndims && t->trip[l] <= 1)
          l++;
        if (l < t->ndims) {
          t->domain = CF_GRID;
          t->itile = (cf_itile){
              .loop = l,
              .trip = t->trip[l],
              .c = 1,
              .ext = t->trip[l],
              .home = {.kind = CF_PART_TILING, .count = t->trip[l], .grain = 1, .num = 1, .den = 1}};
        }
      }
    }
  } else if (!small_write && anchor && !t->empty) {
    if (!follow(t, anchor, homes))
      replicate(t);
  }
  /* A reduction runs on one tile per point; a local task would need its result sent round. */
  if (t->domain == CF_SINGLE && reduces)
    replicate(t);
  for (int i = 0; i < t->naccess; i++)
    if (t->access[i].store)
      t->access[i].part = access_partition(t, &t->access[i], homes);
  /* Every written store must be written where it lives; what is not runs on every rank, which is right
   * for any map. */
  if (t->domain == CF_GRID || t->domain == CF_SINGLE) {
    for (int i = 0; i < t->naccess; i++) {
      const cf_access *a = &t->access[i];
      if (!a->store || !(a->priv & CF_WRITE))
        continue;
      const cf_partition *home = &homes[a->store->mark];
      bool ok = t->domain == CF_GRID
                    ? cf_partition_equal(&a->part, home)
                    : home->kind == CF_PART_TILING && cf_partition_equal(home, &t->itile.home) && !a->whole &&
                          a->lo[home->dim] == t->itile.row && a->hi[home->dim] == t->itile.row + 1 &&
                          a->store->ext[home->dim] == t->itile.ext;
      if (!ok) {
        replicate(t);
        for (int k = 0; k < t->naccess; k++)
          if (t->access[k].store)
            t->access[k].part = NONE;
        return;
      }
    }
  }
}
