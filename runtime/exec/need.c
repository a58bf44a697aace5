// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Box arithmetic over tiles. What rank q needs of a store is a union of intervals of its tiled dimension,
 * each a closed formula in q whose ends move one way as q grows. So every rank works out what to send without
 * being asked, and finds by bisection who may ask. */
#include "exec/need.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

/* ---- what rank q needs of one store */

typedef enum form_kind {
  HALO,   /* the own tile, widened */
  AFFINE, /* what one access of a distributed task touches */
  LOCAL,  /* the same of a task that one rank runs alone */
} form_kind;

typedef struct form {
  form_kind kind;
  int64_t lo, hi; /* HALO: widths */
  bool falls;     /* AFFINE: the slab moves down as q grows */
  const cf_task *task;
  const cf_access *access;
} form;

typedef struct need {
  cf_store *store;
  form *forms;
  uint32_t nforms;
} need;

typedef struct span {
  int64_t lo, hi;
} span;

/* What rank q needs. */
static span form_of(const need *n, const form *f, int64_t q, int64_t ranks) {
  const cf_partition *h = &n->store->home;
  int64_t ext = n->store->ext[h->dim];
  span s;
  if (f->kind == HALO) {
    int64_t t = cf_ceil_div(h->count, ranks) * h->grain;
    int64_t a = q == 0 ? 0 : q * t + h->origin, b = q == ranks - 1 ? ext : (q + 1) * t + h->origin;
    return (span){cf_clamp(a - f->lo, 0, ext), cf_clamp(b + f->hi, 0, ext)};
  }
  cf_access_slab(f->task, f->access, h->dim, q, ranks, &s.lo, &s.hi);
  return s;
}

/* Where that lies: a rank without iterations stands where the next iteration would be, so that both ends are
 * monotone in q. */
static span place_of(const need *n, const form *f, int64_t q, int64_t ranks) {
  if (f->kind == HALO)
    return form_of(n, f, q, ranks);
  span s;
  const cf_itile *it = &f->task->itile;
  int64_t nlo, nhi;
  cf_itile_range(it, q, ranks, &nlo, &nhi);
  if (nlo >= nhi) {
    nlo = cf_clamp(nlo, 0, it->trip - 1);
    nhi = nlo + 1;
  }
  cf_access_slab_of(f->task, f->access, n->store->home.dim, nlo, nhi, &s.lo, &s.hi);
  return s;
}

/* All forms together as disjoint intervals, in order. */
static uint32_t need_of(const need *n, int64_t q, int64_t ranks, span *out) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < n->nforms; i++) {
    span s = form_of(n, &n->forms[i], q, ranks);
    if (s.lo >= s.hi)
      continue;
    uint32_t at = k++;
    for (; at > 0 && out[at - 1].lo > s.lo; at--)
      out[at] = out[at - 1];
    out[at] = s;
  }
  uint32_t m = 0;
  for (uint32_t i = 0; i < k; i++)
    if (m && out[m - 1].hi >= out[i].lo)
      out[m - 1].hi = cf_max(out[m - 1].hi, out[i].hi);
    else
      out[m++] = out[i];
  return m;
}

/* ---- who may need of my tile */

typedef struct asked {
  const need *n;
  const form *f;
  span tile;
  int64_t ranks;
} asked;

/* The part of q, and those of all ranks above, lie late enough to meet the tile ... */
static bool low_side(const asked *a, int64_t q) {
  span s = place_of(a->n, a->f, q, a->ranks);
  if (a->f->kind == AFFINE) { /* ranks without iterations at either end need no visit */
    const cf_itile *it = &a->f->task->itile;
    int64_t lo, hi;
    cf_itile_range(it, q, a->ranks, &lo, &hi);
    if (it->c > 0 ? hi <= 0 : lo >= it->trip)
      return false;
  }
  return a->f->falls ? s.lo < a->tile.hi : s.hi > a->tile.lo;
}

/* ... and this one, and those of all ranks below, early enough. */
static bool high_side(const asked *a, int64_t q) {
  span s = place_of(a->n, a->f, q, a->ranks);
  if (a->f->kind == AFFINE) {
    const cf_itile *it = &a->f->task->itile;
    int64_t lo, hi;
    cf_itile_range(it, q, a->ranks, &lo, &hi);
    if (it->c > 0 ? lo >= it->trip : hi <= 0)
      return false;
  }
  return a->f->falls ? s.hi > a->tile.lo : s.lo < a->tile.hi;
}

/* First q with low_side, ranks if none: steps of growing width away from the guess, then bisection. */
static int64_t first_rank(const asked *a, int64_t guess) {
  int64_t no = -1, yes = a->ranks, w = 1;
  if (low_side(a, guess)) {
    yes = guess;
    while (yes - w > no && low_side(a, yes - w)) {
      yes -= w;
      w *= 2;
    }
    no = cf_max(no, yes - w);
  } else {
    no = guess;
    while (no + w < yes && !low_side(a, no + w)) {
      no += w;
      w *= 2;
    }
    yes = cf_min(yes, no + w);
  }
  while (yes - no > 1) {
    int64_t m = no + (yes - no) / 2;
    if (low_side(a, m))
      yes = m;
    else
      no = m;
  }
  return yes;
}

/* Last q with high_side, -1 if none. */
static int64_t last_rank(const asked *a, int64_t guess) {
  int64_t yes = -1, no = a->ranks, w = 1;
  if (high_side(a, guess)) {
    yes = guess;
    while (yes + w < no && high_side(a, yes + w)) {
      yes += w;
      w *= 2;
    }
    no = cf_min(no, yes + w);
  } else {
    no = guess;
    while (no - w > yes && !high_side(a, no - w)) {
      no -= w;
      w *= 2;
    }
    yes = cf_max(yes, no - w);
  }
  while (no - yes > 1) {
    int64_t m = yes + (no - yes) / 2;
    if (high_side(a, m))
      yes = m;
    else
      no = m;
  }
  return yes;
}

/* Ranks [lo, hi) that may need something of the tile through this form. */
static span candidates(const need *n, const form *f, span tile, int64_t me, int64_t ranks) {
  if (f->kind == LOCAL) {
    const cf_itile *it = &f->task->itile;
    int64_t q = cf_partition_owner(&it->home, it->ext, it->row, ranks);
    return (span){q, q + 1};
  }
  asked a = {n, f, tile, ranks};
  return (span){first_rank(&a, me), last_rank(&a, me) + 1};
}

/* ---- collecting */

static cf_status nomem(void) { return cf_fail(CF_ENOMEM, "out of memory for the plan of a group"); }

/* Room for one more element of `size` bytes. */
static cf_status room(void *array, uint32_t n, uint32_t *cap, size_t size) {
  if (n < *cap)
    return CF_OK;
  uint32_t more = *cap ? 2 * *cap : 8;
  void **at = array, *v = realloc(*at, more * size);
  if (!v)
    return nomem();
  *at = v;
  *cap = more;
  return CF_OK;
}

static cf_status add_piece(cf_needs *e, cf_store *s, int64_t peer, bool send, int64_t lo, int64_t hi) {
  if (lo >= hi)
    return CF_OK;
  CF_TRY(room(&e->piece, e->npieces, &e->cap_pieces, sizeof *e->piece));
  e->piece[e->npieces++] = (cf_need_piece){s, lo, hi, peer, send};
  return CF_OK;
}

/* This rank's receives and sends for one store. spans: scratch for one interval per form, twice. */
static cf_status add_need(cf_needs *e, const need *n, int64_t me, int64_t ranks, span *spans) {
  cf_store *s = n->store;
  const cf_partition *h = &s->home;
  int64_t ext = s->ext[h->dim];
  span tile;
  uint32_t m = need_of(n, me, ranks, spans);
  for (uint32_t i = 0; i < m; i++) {
    int64_t last = cf_partition_owner(h, ext, spans[i].hi - 1, ranks);
    for (int64_t q = cf_partition_owner(h, ext, spans[i].lo, ranks); q <= last; q++) {
      if (q == me)
        continue;
      cf_partition_home_tile(h, ext, q, ranks, &tile.lo, &tile.hi);
      CF_TRY(add_piece(e, s, q, false, cf_max(spans[i].lo, tile.lo), cf_min(spans[i].hi, tile.hi)));
    }
  }
  cf_partition_home_tile(h, ext, me, ranks, &tile.lo, &tile.hi);
  if (tile.lo >= tile.hi)
    return CF_OK;
  span *who = spans + n->nforms;
  uint32_t nwho = 0;
  for (uint32_t i = 0; i < n->nforms; i++) {
    span c = candidates(n, &n->forms[i], tile, me, ranks);
    uint32_t at = nwho++;
    for (; at > 0 && who[at - 1].lo > c.lo; at--)
      who[at] = who[at - 1];
    who[at] = c;
  }
  int64_t next = 0; /* each rank once, in order */
  for (uint32_t i = 0; i < nwho; i++)
    for (int64_t q = cf_max(next, who[i].lo); q < who[i].hi; q++) {
      next = q + 1;
      if (q == me)
        continue;
      m = need_of(n, q, ranks, spans);
      for (uint32_t k = 0; k < m; k++)
        CF_TRY(add_piece(e, s, q, true, cf_max(spans[k].lo, tile.lo), cf_min(spans[k].hi, tile.hi)));
    }
  return CF_OK;
}

/* ---- what a group reads */

bool cf_fills_box(const cf_access *w) {
  for (int l = 0; l < w->map.nloops; l++) {
    int dims = 0;
    for (int d = 0; d < w->map.rank; d++)
      dims += w->map.coef[d][l] != 0;
    if (dims > 1)
      return false;
  }
  for (int d = 0; d < w->map.rank; d++) {
    int loops = 0;
    for (int l = 0; l < w->map.nloops; l++)
      loops += w->map.coef[d][l] != 0;
    if (loops > 1 || w->step[d] > 1)
      return false;
  }
  return true;
}

/* A replicated task of the group wrote the whole box before: it is current on every rank. */
static bool written_before(cf_task *const *tasks, uint32_t i, const cf_access *r) {
  for (uint32_t j = 0; j < i; j++)
    for (uint32_t k = 0; k < tasks[j]->naccess; k++) {
      const cf_access *w = &tasks[j]->access[k];
      if (w->store != r->store || !w->must || tasks[j]->domain != CF_REPLICATED || !(w->priv & CF_WRITE) ||
          w->field_bytes != r->store->elem_bytes || !cf_fills_box(w))
        continue;
      bool covers = true;
      for (int d = 0; d < r->store->rank; d++)
        covers &= w->lo[d] <= r->lo[d] && w->hi[d] >= r->hi[d] && w->step[d] <= 1;
      if (covers)
        return true;
    }
  return false;
}

static bool box_empty(const cf_access *a) {
  for (int d = 0; d < a->store->rank; d++)
    if (a->lo[d] >= a->hi[d])
      return true;
  return false;
}

/* Halo widths of a read through a shifted copy of the home. False: no such form. */
static bool as_halo(const cf_access *a, const cf_partition *h, int64_t *lo, int64_t *hi) {
  const cf_partition *p = &a->part;
  if (p->kind != CF_PART_TILING || p->dim != h->dim || p->count != h->count || p->grain != h->grain ||
      p->num != 1 || p->den != 1 || p->k || p->off)
    return false;
  *lo = cf_max(0, h->origin - p->origin);
  *hi = cf_max(0, p->origin - h->origin);
  return true;
}

static cf_status store_need(need **v, uint32_t *n, cf_store *s, need **out) {
  for (uint32_t i = 0; i < *n; i++)
    if ((*v)[i].store == s) {
      *out = &(*v)[i];
      return CF_OK;
    }
  need *w = realloc(*v, (*n + 1) * sizeof *w);
  if (!w)
    return nomem();
  *v = w;
  w[*n] = (need){.store = s};
  *out = &w[(*n)++];
  return CF_OK;
}

/* Both touch the same rows on every rank. */
static bool same_rows(const form *f, const cf_task *t, const cf_access *a, int dim) {
  const cf_access *x = f->access;
  return cf_itile_equal(&f->task->itile, &t->itile, f->task->domain, t->domain) &&
         f->task->ndims == t->ndims && memcmp(f->task->trip, t->trip, sizeof t->trip) == 0 &&
         memcmp(x->itrip, a->itrip, sizeof a->itrip) == 0 && x->whole == a->whole && x->wrap == a->wrap &&
         memcmp(x->carry, a->carry, sizeof a->carry) == 0 && x->lo[dim] == a->lo[dim] &&
         x->hi[dim] == a->hi[dim] && x->map.nloops == a->map.nloops && x->map.off[dim] == a->map.off[dim] &&
         memcmp(x->map.coef[dim], a->map.coef[dim], sizeof a->map.coef[dim]) == 0;
}

/* The form of this kind that says what the access needs, new if there is none. */
static cf_status form_for(need *n, form_kind kind, const cf_task *t, const cf_access *a, form **out) {
  for (uint32_t i = 0; i < n->nforms; i++)
    if (n->forms[i].kind == kind && (kind == HALO || same_rows(&n->forms[i], t, a, n->store->home.dim))) {
      *out = &n->forms[i];
      return CF_OK;
    }
  form *w = realloc(n->forms, (n->nforms + 1) * sizeof *w);
  if (!w)
    return nomem();
  n->forms = w;
  w[n->nforms] = (form){.kind = kind, .task = t, .access = a};
  *out = &w[n->nforms++];
  return CF_OK;
}

/* Elements [lo, hi) of the store are brought to every rank before the group. */
static bool goes_to_all(const cf_needs *e, const cf_store *s, int64_t lo, int64_t hi) {
  for (uint32_t i = 0; i < e->nall; i++)
    if (e->all[i].store == s && e->all[i].lo <= lo && e->all[i].hi >= hi)
      return true;
  return false;
}

static cf_status read_by(cf_needs *e, need **v, uint32_t *nv, const cf_task *t, const cf_access *a) {
  cf_store *s = a->store;
  int dim = s->home.dim;
  if (goes_to_all(e, s, 0, s->ext[dim]))
    return CF_OK;
  int64_t c = t->domain != CF_GRID || a->whole ? 0 : a->map.coef[dim][t->itile.loop];
  if (t->domain == CF_REPLICATED || (t->domain == CF_GRID && c == 0)) {
    if (goes_to_all(e, s, a->lo[dim], a->hi[dim]))
      return CF_OK;
    CF_TRY(room(&e->all, e->nall, &e->cap_all, sizeof *e->all));
    e->all[e->nall++] = (cf_need_all){s, a->lo[dim], a->hi[dim]};
    return CF_OK;
  }
  need *n;
  form *f;
  int64_t wl, wr;
  CF_TRY(store_need(v, nv, s, &n));
  if (t->domain == CF_GRID && as_halo(a, &s->home, &wl, &wr)) {
    if (wl <= s->halo_lo && wr <= s->halo_hi)
      return CF_OK;
    CF_TRY(form_for(n, HALO, t, a, &f));
    f->lo = cf_max(f->lo, cf_max(wl, s->halo_lo));
    f->hi = cf_max(f->hi, cf_max(wr, s->halo_hi));
    return CF_OK;
  }
  CF_TRY(form_for(n, t->domain == CF_SINGLE ? LOCAL : AFFINE, t, a, &f));
  f->falls = t->domain == CF_GRID && (c < 0) != (t->itile.c < 0);
  return CF_OK;
}

cf_status cf_needs_of(const cf_plan *p, const cf_group *g, cf_task *const *window, int64_t rank,
                      int64_t ranks, cf_needs *out) {
  cf_needs e = {0};
  if (ranks == 1) {
    *out = e;
    return CF_OK;
  }
  cf_task *const *tasks = window + g->first;
  need *v = NULL;
  uint32_t nv = 0, most = 0;
  cf_status st = CF_OK;
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess && st == CF_OK; k++) {
      const cf_access *a = &tasks[i]->access[k];
      const cf_store *s = a->store;
      if (s && a->priv & CF_READ && p->locals[g->first + i][k] < 0 && !s->all_valid &&
          s->home.kind == CF_PART_TILING && !box_empty(a) && !written_before(tasks, i, a))
        st = read_by(&e, &v, &nv, tasks[i], a);
    }
  for (uint32_t i = 0; i < nv; i++)
    most = v[i].nforms > most ? v[i].nforms : most;
  span *spans = most ? malloc(2 * most * sizeof *spans) : NULL;
  if (st == CF_OK && most && !spans)
    st = nomem();
  for (uint32_t i = 0; i < nv && st == CF_OK; i++) {
    cf_store *s = v[i].store;
    if (v[i].nforms && !goes_to_all(&e, s, 0, s->ext[s->home.dim]))
      st = add_need(&e, &v[i], rank, ranks, spans);
    for (uint32_t f = 0; f < v[i].nforms && st == CF_OK; f++)
      if (v[i].forms[f].kind == HALO) {
        st = room(&e.halo, e.nhalos, &e.cap_halos, sizeof *e.halo);
        if (st == CF_OK)
          e.halo[e.nhalos++] = (cf_need_halo){s, v[i].forms[f].lo, v[i].forms[f].hi};
      }
  }
  free(spans);
  for (uint32_t i = 0; i < nv; i++)
    free(v[i].forms);
  free(v);
  if (st != CF_OK) {
    cf_needs_free(&e);
    return st;
  }
  *out = e;
  return CF_OK;
}

void cf_needs_arrived(const cf_needs *n) {
  for (uint32_t i = 0; i < n->nall; i++) {
    cf_store *s = n->all[i].store;
    if (n->all[i].lo == 0 && n->all[i].hi == s->ext[s->home.dim])
      s->all_valid = true;
  }
  for (uint32_t i = 0; i < n->nhalos; i++) {
    n->halo[i].store->halo_lo = cf_max(n->halo[i].store->halo_lo, n->halo[i].lo);
    n->halo[i].store->halo_hi = cf_max(n->halo[i].store->halo_hi, n->halo[i].hi);
  }
}

void cf_needs_written(const cf_group *g, cf_task *const *window, int64_t ranks) {
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < window[i]->naccess; k++) {
      cf_store *s = window[i]->access[k].store;
      if (!s || !(window[i]->access[k].priv & CF_WRITE))
        continue;
      s->misses = 0;
      if (ranks > 1 && window[i]->domain != CF_REPLICATED) {
        s->all_valid = false;
        s->halo_lo = s->halo_hi = 0;
        s->host_lo = s->host_hi = 0;
      }
    }
}

void cf_needs_free(cf_needs *n) {
  free(n->all);
  free(n->piece);
  free(n->halo);
  *n = (cf_needs){0};
}

size_t cf_need_bytes(const cf_store *s, int64_t lo, int64_t hi) {
  size_t n = s->elem_bytes;
  for (int d = 0; d < s->rank; d++)
    n *= (size_t)(d == s->home.dim ? hi - lo : s->ext[d]);
  return n;
}
