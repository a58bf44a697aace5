// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Partitions and home tiles: closed formulas in the rank, no enumeration. */
#include "ir/ir.h"
#include "ir/math.h"

bool cf_partition_equal(const cf_partition *a, const cf_partition *b) {
  return a->kind == b->kind && a->dim == b->dim && a->count == b->count && a->grain == b->grain &&
         a->origin == b->origin && a->num == b->num && a->den == b->den && a->k == b->k && a->off == b->off;
}

/* Length in elements of one tile before clipping. */
static int64_t tile_elems(const cf_partition *h, int64_t ranks) {
  return cf_ceil_div(h->count, ranks) * h->grain;
}

void cf_partition_home_tile(const cf_partition *h, int64_t ext, int64_t p, int64_t ranks, int64_t *lo,
                            int64_t *hi) {
  int64_t t = tile_elems(h, ranks);
  int64_t a = p == 0 ? 0 : p * t + h->origin;
  int64_t b = p == ranks - 1 ? ext : (p + 1) * t + h->origin;
  *lo = cf_clamp(a, 0, ext);
  *hi = cf_clamp(b, 0, ext);
  if (*hi < *lo)
    *hi = *lo;
}

int64_t cf_partition_owner(const cf_partition *h, int64_t ext, int64_t e, int64_t ranks) {
  (void)ext;
  int64_t t = tile_elems(h, ranks);
  if (t <= 0)
    return 0;
  return cf_clamp(cf_floor_div(e - h->origin, t), 0, ranks - 1);
}

void cf_partition_print(const cf_partition *a, cf_buf *out) {
  switch (a->kind) {
  case CF_PART_UNSET:
    cf_buf_str(out, "unset");
    return;
  case CF_PART_NONE:
    cf_buf_str(out, "none");
    return;
  default:
    cf_buf_printf(out, "tiling(dim %d, %lld x %lld @ %lld", a->dim, (long long)a->count, (long long)a->grain,
                  (long long)(a->origin + (a->num == a->den ? a->off : 0)));
    if (a->num != a->den)
      cf_buf_printf(out, ", %lld/%lld %+lld", (long long)a->num, (long long)a->den, (long long)a->off);
    cf_buf_str(out, ")");
  }
}

int64_t cf_store_count(const cf_store *s) {
  int64_t n = 1;
  for (int d = 0; d < s->rank; d++)
    n *= s->ext[d];
  return n;
}

/* Rows of a tile lie together in memory, so an outer dimension is better than a longer inner one. */
static bool long_enough(int64_t ext, int64_t longest) {
  return ext == longest || (ext > 1 && ext >= longest / 8) || (ext >= 64 && ext >= longest / 1024);
}

cf_partition cf_store_default_home(const cf_store *s) {
  cf_partition h = {.kind = CF_PART_NONE, .num = 1, .den = 1};
  if (cf_store_count(s) <= 1)
    return h;
  int64_t longest = 0;
  int dim = 0;
  for (int d = 0; d < s->rank; d++)
    longest = cf_max(longest, s->ext[d]);
  while (!long_enough(s->ext[dim], longest))
    dim++;
  h.kind = CF_PART_TILING;
  h.dim = (uint8_t)dim;
  h.count = s->ext[dim];
  h.grain = 1;
  return h;
}

bool cf_itile_equal(const cf_itile *a, const cf_itile *b, cf_domain da, cf_domain db) {
  if (da != db)
    return false;
  if (da == CF_REPLICATED)
    return true;
  if (da == CF_SINGLE) /* one owner for any number of ranks */
    return a->row - a->home.origin == b->row - b->home.origin && a->home.count == b->home.count &&
           a->home.grain == b->home.grain;
  /* With c == 1 only the shift between tile and iterations matters, and the clipping ends. */
  if (a->loop != b->loop || a->trip != b->trip || a->c != b->c || a->home.count != b->home.count ||
      a->home.grain != b->home.grain)
    return false;
  return a->home.origin - a->k == b->home.origin - b->k;
}

void cf_itile_range(const cf_itile *t, int64_t p, int64_t ranks, int64_t *lo, int64_t *hi) {
  if (t->loop < 0) {
    *lo = 0;
    *hi = t->trip;
    return;
  }
  /* Unclipped tile: the ends of the store need no care, the trip count clips; the first and last
   * rank take what lies beyond. */
  int64_t len = cf_ceil_div(t->home.count, ranks) * t->home.grain;
  int64_t a = p * len + t->home.origin, b = a + len;
  int64_t x, y;
  bool first = p == 0, last = p == ranks - 1;
  if (t->c > 0) {
    x = first ? 0 : cf_ceil_div(a - t->k, t->c);
    y = last ? t->trip : cf_ceil_div(b - t->k, t->c);
  } else { /* e = k - |c| n falls with n: rank 0 has the highest iterations */
    x = last ? 0 : cf_floor_div(t->k - b, -t->c) + 1;
    y = first ? t->trip : cf_floor_div(t->k - a, -t->c) + 1;
  }
  *lo = cf_clamp(x, 0, t->trip);
  *hi = cf_clamp(y, 0, t->trip);
  if (*hi < *lo)
    *hi = *lo;
}
