// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* From byte addresses to access maps and boxes, and the questions asked of pairs of accesses. */
#include "ir/ir.h"
#include "ir/math.h"

/* Bytes between neighbours along each dimension. */
static void elem_strides(const cf_store *s, int64_t es[CF_RANK]) {
  int64_t x = s->elem_bytes;
  for (int d = s->rank - 1; d >= 0; d--) {
    es[d] = x;
    x *= s->ext[d];
  }
}

static void set_whole(cf_access *a) {
  const cf_store *s = a->store;
  a->whole = true;
  a->wrap = a->must = false;
  a->field = 0;
  a->field_bytes = s->elem_bytes;
  cf_amap_reset(&a->map, s->rank, 0);
  for (int d = 0; d < s->rank; d++) {
    a->lo[d] = 0;
    a->hi[d] = s->ext[d];
    a->step[d] = 1;
    a->phase[d] = 0;
  }
}

/* Splits a distance in bytes along the dimensions, nearest integer first, so that `ld - 1` elements
 * become (1, -1). Dimensions of extent 1 take nothing. False if it is no whole number of elements. */
static bool split_nearest(const cf_store *s, const int64_t es[], int64_t bytes, int64_t out[CF_RANK]) {
  for (int d = 0; d < s->rank; d++) {
    out[d] = 0;
    if (s->ext[d] == 1 && d != s->rank - 1)
      continue;
    if (s->ext[d] == 1 && bytes % es[d] == 0 && bytes != 0) {
      out[d] = bytes / es[d]; /* leaves the store; the box check will say so */
      return true;
    }
    out[d] = cf_round_div(bytes, es[d]);
    bytes -= out[d] * es[d];
  }
  return bytes == 0;
}

/* A read whose subscripts leave their rows, as u[i][j-1] with j from 0: the address is in the row before. The
 * box takes in all of such a row, and as many rows more; the map still gives the address. */
static void wrap_rows(cf_access *a, const int64_t *low, const int64_t *high) {
  const cf_store *s = a->store;
  int64_t down = 0, up = 0;
  for (int d = s->rank - 1; d >= 0; d--) {
    int64_t l = low[d] + down, h = high[d] + up;
    if (d == 0) {
      a->carry[0] = down;
      a->carry[1] = up;
    }
    if (d > 0 && (l < 0 || h >= s->ext[d])) {
      down = cf_floor_div(l, s->ext[d]);
      up = cf_floor_div(h, s->ext[d]);
      l = 0;
      h = s->ext[d] - 1;
    } else {
      down = up = 0;
    }
    a->lo[d] = cf_clamp(l, 0, s->ext[d]);
    a->hi[d] = cf_clamp(h + 1, 0, s->ext[d]);
    a->step[d] = 1;
    a->phase[d] = 0;
  }
  a->wrap = true;
}

/* Sets the index of the first iteration, going from byte `from` of the store: the pointer that a conditional
 * access is based on, because its own address may lie outside. False: no element starts there. */
static bool start_from(cf_access *a, const int64_t es[], int64_t from, uint32_t width) {
  const cf_store *s = a->store;
  int64_t rest = from, delta[CF_RANK] = {0};
  for (int d = 0; d < s->rank; d++) {
    a->map.off[d] = rest / es[d];
    rest %= es[d];
  }
  if (a->at != from && !split_nearest(s, es, a->at - from, delta)) {
    /* A struct member reached from the start of the array: the odd bytes are the field's offset. */
    int64_t odd = cf_mod(a->at - from, s->elem_bytes);
    if (!split_nearest(s, es, a->at - from - odd, delta))
      return false;
    rest += odd;
  }
  for (int d = 0; d < s->rank; d++)
    a->map.off[d] += delta[d];
  a->field = (uint32_t)rest;
  return rest + width <= s->elem_bytes;
}

/* The same from the first iteration that makes the access. */
static bool start_where_made(cf_access *a, const int64_t es[], uint32_t width) {
  const cf_store *s = a->store;
  int64_t rest = a->at;
  for (int l = 0; l < a->map.nloops; l++)
    rest += a->bstride[l] * a->cut[l][0];
  if (rest < 0 || rest >= (int64_t)s->bytes)
    return false;
  for (int d = 0; d < s->rank; d++) {
    a->map.off[d] = rest / es[d];
    rest %= es[d];
    for (int l = 0; l < a->map.nloops; l++)
      a->map.off[d] -= a->map.coef[d][l] * a->cut[l][0];
  }
  a->field = (uint32_t)rest;
  return rest + width <= s->elem_bytes;
}

/* Box and lattice of the map. False: some subscript leaves its row; low and high tell how far. Along the
 * outermost dimension a conditional access is clipped: there the address leaves the store. */
static bool set_box(cf_access *a, uint8_t ndims, const int64_t *trip, bool cond, int64_t *low,
                    int64_t *high) {
  const cf_store *s = a->store;
  const cf_amap *m = &a->map;
  bool inside = true;
  for (int d = 0; d < s->rank; d++) {
    int64_t l0 = m->off[d], h0 = m->off[d], g = 0;
    for (int l = 0; l < m->nloops; l++) {
      int64_t t = l < ndims ? trip[l] : a->itrip[l - ndims], c = m->coef[d][l];
      if (c == 0)
        continue;
      g = cf_gcd(g, c);
      int64_t x = c * a->cut[l][0], y = c * (t - 1 - a->cut[l][1]);
      l0 += cf_min(x, y);
      h0 += cf_max(x, y);
    }
    low[d] = l0;
    high[d] = h0;
    a->lo[d] = l0;
    a->hi[d] = h0 + 1;
    a->step[d] = g;
    a->phase[d] = g ? cf_mod(m->off[d], g) : 0;
    if (l0 < 0 || h0 >= s->ext[d]) {
      if (!cond || d > 0) {
        inside = false;
        continue;
      }
      a->lo[d] = cf_clamp(l0, 0, s->ext[d]);
      a->hi[d] = cf_clamp(h0 + 1, 0, s->ext[d]);
    }
  }
  return inside;
}

cf_status cf_access_delinearise(cf_access *a, uint8_t ndims, const int64_t *trip, bool cond, int64_t base_off,
                                int64_t *bad_lo, int64_t *bad_hi) {
  const cf_store *s = a->store;
  int64_t es[CF_RANK], n = (int64_t)s->bytes;
  int nl = ndims + a->ninner;
  uint32_t width = a->desc ? a->field_bytes : s->elem_bytes;
  elem_strides(s, es);

  /* Hull in bytes: decides about bounds whatever the shape says. */
  int64_t lo = a->at, hi = a->at + width;
  bool inner_empty = false;
  for (int l = 0; l < nl; l++) {
    int64_t t = l < ndims ? trip[l] : a->itrip[l - ndims];
    if (t <= 0)
      inner_empty = true;
    if (t > 1) {
      int64_t x = a->bstride[l] * a->cut[l][0], y = a->bstride[l] * (t - 1 - a->cut[l][1]);
      lo += cf_min(x, y);
      hi += cf_max(x, y);
    }
  }
  if (inner_empty) { /* touches nothing */
    set_whole(a);
    a->whole = false;
    for (int d = 0; d < s->rank; d++)
      a->hi[d] = 0;
    if (s->rank == 0)
      a->whole = true;
    a->must = false;
    return CF_OK;
  }
  if (!cond && (lo < 0 || hi > n)) {
    *bad_lo = lo;
    *bad_hi = hi;
    return CF_EBOUNDS;
  }

  a->whole = a->wrap = false;
  cf_amap_reset(&a->map, s->rank, (uint8_t)nl);
  int64_t from = cond ? base_off : a->at;
  if (cond && (from < 0 || from >= n))
    from = a->at;
  if (from < 0 || from >= n) {
    set_whole(a);
    return CF_OK;
  }
  for (int l = 0; l < nl; l++) {
    int64_t t = l < ndims ? trip[l] : a->itrip[l - ndims], c[CF_RANK];
    if (t <= 1)
      continue;
    if (!split_nearest(s, es, a->bstride[l], c)) {
      set_whole(a);
      return CF_OK;
    }
    for (int d = 0; d < s->rank; d++)
      a->map.coef[d][l] = c[d];
  }
  int64_t low[CF_RANK], high[CF_RANK];
  bool first = start_from(a, es, from, width);
  if (first && set_box(a, ndims, trip, cond, low, high))
    return CF_OK;
  if (cond && start_where_made(a, es, width) && set_box(a, ndims, trip, cond, low, high))
    return CF_OK;
  if (a->priv & CF_WRITE || !first || !start_from(a, es, from, width)) {
    set_whole(a);
    return CF_OK;
  }
  set_box(a, ndims, trip, cond, low, high);
  wrap_rows(a, low, high);
  return CF_OK;
}

bool cf_access_intersects(const cf_access *a, const cf_access *b) {
  if (a->store != b->store || !a->store)
    return false;
  if (a->field + a->field_bytes <= b->field || b->field + b->field_bytes <= a->field)
    return false;
  for (int d = 0; d < a->store->rank; d++) {
    if (cf_max(a->lo[d], b->lo[d]) >= cf_min(a->hi[d], b->hi[d]))
      return false;
    if (a->whole || b->whole)
      continue;
    int64_t g = cf_gcd(a->step[d], b->step[d]);
    if (g > 1 && cf_mod(a->map.off[d] - b->map.off[d], g) != 0)
      return false;
  }
  return true;
}

/* Largest and smallest contribution of the inner counters to dimension d. */
static void inner_span(const cf_access *a, int d, uint8_t ndims, int64_t *lo, int64_t *hi) {
  *lo = *hi = 0;
  for (int l = ndims; l < a->map.nloops; l++) {
    int64_t c = a->map.coef[d][l], t = a->itrip[l - ndims];
    if (t <= 1)
      continue;
    if (c > 0)
      *hi += c * (t - 1);
    else
      *lo += c * (t - 1);
  }
}

/* In one dimension: can indices agree in different iterations of the loops that appear in it?
 * Sorted by size, each coefficient must exceed all that the smaller ones and the difference can add up. */
static bool dim_determines(const cf_access *a, const cf_access *b, int d, uint8_t ndims, const int64_t *trip,
                           uint32_t *loops) {
  int64_t c[CF_DIMS], t[CF_DIMS];
  int n = 0;
  uint32_t set = 0;
  for (int l = 0; l < ndims; l++) {
    if (a->map.coef[d][l] != b->map.coef[d][l])
      return false;
    if (trip[l] <= 1 || a->map.coef[d][l] == 0)
      continue;
    int i = n++;
    int64_t ca = cf_abs(a->map.coef[d][l]);
    for (; i > 0 && c[i - 1] > ca; i--) {
      c[i] = c[i - 1];
      t[i] = t[i - 1];
    }
    c[i] = ca;
    t[i] = trip[l];
    set |= 1u << l;
  }
  int64_t alo, ahi, blo, bhi;
  inner_span(a, d, ndims, &alo, &ahi);
  inner_span(b, d, ndims, &blo, &bhi);
  int64_t diff = b->map.off[d] - a->map.off[d];
  int64_t reach = cf_max(cf_abs(diff + bhi - alo), cf_abs(diff + blo - ahi));
  for (int i = 0; i < n; i++) {
    if (c[i] <= reach)
      return false;
    reach += c[i] * (t[i] - 1);
  }
  *loops |= set;
  return true;
}

bool cf_access_same_iteration(const cf_access *a, const cf_access *b, uint8_t ndims, const int64_t *trip) {
  if (a->whole || b->whole || a->wrap || b->wrap)
    return false;
  uint32_t need = 0, have = 0;
  for (int l = 0; l < ndims; l++)
    if (trip[l] > 1)
      need |= 1u << l;
  for (int d = 0; d < a->store->rank; d++)
    dim_determines(a, b, d, ndims, trip, &have);
  return (need & ~have) == 0;
}

bool cf_access_same_element(const cf_access *a, const cf_access *b) {
  if (a->store != b->store || a->at - (int64_t)a->field != b->at - (int64_t)b->field ||
      a->ninner != b->ninner || a->whole || b->whole || a->wrap || b->wrap || a->map.nloops != b->map.nloops)
    return false;
  for (int l = 0; l < a->map.nloops; l++)
    for (int d = 0; d < a->map.rank; d++)
      if (a->map.coef[d][l] != b->map.coef[d][l])
        return false;
  return true;
}

cf_access cf_access_shifted(const cf_access *a, uint8_t ndims, const int64_t *shift) {
  cf_access b = *a;
  for (int l = 0; l < ndims; l++) {
    b.at -= a->bstride[l] * shift[l];
    for (int d = 0; d < a->map.rank; d++)
      b.map.off[d] -= a->map.coef[d][l] * shift[l];
  }
  return b;
}

bool cf_access_same_map(const cf_access *a, const cf_access *b) {
  return cf_access_same_element(a, b) && a->field == b->field && a->field_bytes == b->field_bytes;
}

void cf_access_slab_of(const cf_task *t, const cf_access *a, int dim, int64_t nlo, int64_t nhi, int64_t *lo,
                       int64_t *hi) {
  int64_t l0 = a->lo[dim], h0 = a->hi[dim];
  bool any = a->whole || (a->wrap && dim > 0);
  int64_t c = any || t->itile.loop < 0 ? 0 : a->map.coef[dim][t->itile.loop];
  if (c == 0) {
    if (nlo >= nhi)
      h0 = l0;
  } else { /* move the ends of the whole box in; an empty range collapses to its position */
    int64_t cut_lo = nlo, cut_hi = t->itile.trip - nhi;
    if (c < 0) {
      cut_lo = t->itile.trip - nhi;
      cut_hi = nlo;
    }
    /* Unclipped box of the access in this dimension. */
    int64_t ulo = a->map.off[dim], uhi = a->map.off[dim];
    if (a->wrap) {
      ulo += a->carry[0];
      uhi += a->carry[1];
    }
    for (int l = 0; l < a->map.nloops; l++) {
      int64_t cc = a->map.coef[dim][l], tt = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims];
      if (cc > 0)
        uhi += cc * (tt - 1);
      else if (cc < 0)
        ulo += cc * (tt - 1);
    }
    ulo += cf_abs(c) * cut_lo;
    uhi -= cf_abs(c) * cut_hi;
    int64_t pos = cf_clamp(ulo, 0, a->store->ext[dim]);
    l0 = cf_clamp(ulo, l0, h0);
    h0 = cf_clamp(uhi + 1, l0, h0);
    if (nlo >= nhi)
      l0 = h0 = pos;
  }
  *lo = l0;
  *hi = h0;
}

void cf_access_slab(const cf_task *t, const cf_access *a, int dim, int64_t p, int64_t ranks, int64_t *lo,
                    int64_t *hi) {
  if (t->domain == CF_GRID) {
    int64_t nlo, nhi;
    cf_itile_range(&t->itile, p, ranks, &nlo, &nhi);
    cf_access_slab_of(t, a, dim, nlo, nhi, lo, hi);
    return;
  }
  bool mine =
      t->domain != CF_SINGLE || cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, ranks) == p;
  *lo = a->lo[dim];
  *hi = mine ? a->hi[dim] : a->lo[dim];
}
