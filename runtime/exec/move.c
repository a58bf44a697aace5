// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Data movement before a group, and for the host: which box of which store must come from whom.
 *
 * What rank q needs of a store is a closed formula, so every rank works out what to send without being
 * asked. Only ranks whose boxes overlap are visited. */
#include "exec/exec.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

/* ---- slabs: elements [lo, hi) of one dimension, all of the others */

static void slab_shape(const cf_store *s, int dim, size_t *outer, size_t *row) {
  *outer = 1;
  *row = s->elem_bytes;
  for (int d = 0; d < dim; d++)
    *outer *= (size_t)s->ext[d];
  for (int d = dim + 1; d < s->rank; d++)
    *row *= (size_t)s->ext[d];
}

static size_t slab_bytes(const cf_store *s, int dim, int64_t lo, int64_t hi) {
  size_t outer, row;
  slab_shape(s, dim, &outer, &row);
  return outer * row * (size_t)(hi - lo);
}

static char *slab_first(const cf_store *s, int dim, int64_t lo) {
  size_t outer, row;
  slab_shape(s, dim, &outer, &row);
  return s->base + (size_t)lo * row;
}

static void slab_copy(const cf_store *s, int dim, int64_t lo, int64_t hi, char *packed, bool unpack) {
  size_t outer, row;
  slab_shape(s, dim, &outer, &row);
  size_t n = row * (size_t)(hi - lo), pitch = row * (size_t)s->ext[dim];
  char *at = s->base + (size_t)lo * row;
  for (size_t o = 0; o < outer; o++, at += pitch, packed += n) {
    if (unpack)
      memcpy(at, packed, n);
    else
      memcpy(packed, at, n);
  }
}

static bool contiguous(const cf_store *s, int dim) {
  for (int d = 0; d < dim; d++)
    if (s->ext[d] > 1)
      return false;
  return true;
}

/* ---- what rank q needs of one store, in its tiled dimension */

typedef struct need {
  cf_store *store;
  int64_t halo_lo, halo_hi; /* own tile widened by so much; -1: not used */
  uint32_t naccess;         /* and the slabs of these accesses */
  struct {
    const cf_task *task;
    const cf_access *access;
  } *access;
} need;

static void need_of(const need *n, int64_t q, int64_t ranks, int64_t *lo, int64_t *hi) {
  const cf_partition *h = &n->store->home;
  int64_t ext = n->store->ext[h->dim];
  int64_t l = INT64_MAX, r = INT64_MIN;
  if (n->halo_lo >= 0) {
    int64_t t = cf_ceil_div(h->count, ranks) * h->grain;
    int64_t a = q == 0 ? 0 : q * t + h->origin, b = q == ranks - 1 ? ext : (q + 1) * t + h->origin;
    l = cf_clamp(a - n->halo_lo, 0, ext);
    r = cf_clamp(b + n->halo_hi, 0, ext);
  }
  for (uint32_t i = 0; i < n->naccess; i++) {
    int64_t a, b;
    cf_access_slab(n->access[i].task, n->access[i].access, h->dim, q, ranks, &a, &b);
    if (a >= b)
      continue;
    l = cf_min(l, a);
    r = cf_max(r, b);
  }
  *lo = l;
  *hi = r;
  if (l >= r)
    *lo = *hi = 0;
}

/* ---- one exchange for all stores of a group */

typedef struct piece {
  cf_store *store;
  int64_t lo, hi;
  size_t at; /* offset in the staging buffer, SIZE_MAX: straight from the store */
  int peer;
  bool send;
} piece;

typedef struct exchange {
  piece *v;
  uint32_t n, cap;
  size_t staging;
} exchange;

static cf_status add_piece(exchange *e, cf_store *s, int peer, bool send, int64_t lo, int64_t hi) {
  if (lo >= hi)
    return CF_OK;
  if (e->n == e->cap) {
    uint32_t cap = e->cap ? 2 * e->cap : 16;
    piece *v = realloc(e->v, cap * sizeof *v);
    if (!v)
      return cf_fail(CF_ENOMEM, "out of memory for messages");
    e->v = v;
    e->cap = cap;
  }
  piece *p = &e->v[e->n++];
  *p = (piece){s, lo, hi, SIZE_MAX, peer, send};
  if (!contiguous(s, s->home.dim)) {
    p->at = e->staging;
    e->staging += (slab_bytes(s, s->home.dim, lo, hi) + 63) / 64 * 64;
  }
  return CF_OK;
}

/* Adds this rank's sends and receives for one store. */
static cf_status add_need(cf_exec *x, exchange *e, const need *n) {
  cf_store *s = n->store;
  const cf_partition *h = &s->home;
  int64_t ranks = x->comm->size, me = x->comm->rank, ext = s->ext[h->dim];
  int64_t nlo, nhi, tlo, thi;
  need_of(n, me, ranks, &nlo, &nhi);
  if (nlo < nhi) {
    int64_t first = cf_partition_owner(h, ext, nlo, ranks), last = cf_partition_owner(h, ext, nhi - 1, ranks);
    for (int64_t q = first; q <= last; q++) {
      if (q == me)
        continue;
      cf_partition_home_tile(h, ext, q, ranks, &tlo, &thi);
      CF_TRY(add_piece(e, s, (int)q, false, cf_max(nlo, tlo), cf_min(nhi, thi)));
      x->stats.halo_rows += (uint64_t)cf_max(0, cf_min(nhi, thi) - cf_max(nlo, tlo));
    }
  }
  cf_partition_home_tile(h, ext, me, ranks, &tlo, &thi);
  if (tlo >= thi)
    return CF_OK;
  /* Who needs of my tile: with a halo alone, tiles within its width; otherwise look at each. */
  int64_t first = 0, last = ranks - 1;
  if (n->naccess == 0) {
    first = cf_partition_owner(h, ext, tlo - n->halo_hi, ranks);
    last = cf_partition_owner(h, ext, thi - 1 + n->halo_lo, ranks);
    /* Empty tiles at either end clip to the last or first owner's side: include them. */
    while (first > 0) {
      need_of(n, first - 1, ranks, &nlo, &nhi);
      if (nhi <= tlo)
        break;
      first--;
    }
    while (last < ranks - 1) {
      need_of(n, last + 1, ranks, &nlo, &nhi);
      if (nlo >= thi || nlo >= nhi)
        break;
      last++;
    }
  }
  for (int64_t q = first; q <= last; q++) {
    if (q == me)
      continue;
    need_of(n, q, ranks, &nlo, &nhi);
    CF_TRY(add_piece(e, s, (int)q, true, cf_max(nlo, tlo), cf_min(nhi, thi)));
  }
  return CF_OK;
}

static cf_status run_exchange(cf_exec *x, exchange *e) {
  uint32_t ns = 0, nr = 0;
  cf_msg *send = calloc(2 * (size_t)e->n + 1, sizeof *send), *recv = send ? send + e->n : NULL;
  char *staging = e->staging ? aligned_alloc(64, e->staging) : NULL;
  if (!send || (e->staging && !staging)) {
    free(send);
    free(staging);
    return cf_fail(CF_ENOMEM, "out of memory for messages");
  }
  for (uint32_t i = 0; i < e->n; i++) {
    const piece *p = &e->v[i];
    int dim = p->store->home.dim;
    cf_msg m = {p->peer, slab_first(p->store, dim, p->lo), slab_bytes(p->store, dim, p->lo, p->hi)};
    if (p->at != SIZE_MAX) {
      m.buf = staging + p->at;
      if (p->send)
        slab_copy(p->store, dim, p->lo, p->hi, m.buf, false);
    }
    if (p->send)
      send[ns++] = m;
    else
      recv[nr++] = m;
  }
  cf_status st = x->comm->ops->exchange(x->comm, send, (int)ns, recv, (int)nr, cf_exec_stamp(x));
  for (uint32_t i = 0; i < e->n && st == CF_OK; i++)
    if (!e->v[i].send && e->v[i].at != SIZE_MAX)
      slab_copy(e->v[i].store, e->v[i].store->home.dim, e->v[i].lo, e->v[i].hi, staging + e->v[i].at, true);
  free(send);
  free(staging);
  return st;
}

cf_status cf_move_rows_everywhere(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  if (x->comm->size == 1 || s->all_valid || s->home.kind != CF_PART_TILING || lo >= hi)
    return CF_OK;
  int dim = s->home.dim;
  int64_t ext = s->ext[dim], ranks = x->comm->size;
  if (lo == 0 && hi == ext && contiguous(s, dim)) {
    size_t outer, row, *off = calloc(2 * (size_t)ranks, sizeof *off);
    if (!off)
      return cf_fail(CF_ENOMEM, "out of memory for messages");
    slab_shape(s, dim, &outer, &row);
    for (int64_t q = 0; q < ranks; q++) {
      int64_t a, b;
      cf_partition_home_tile(&s->home, ext, q, ranks, &a, &b);
      off[q] = (size_t)a * row;
      off[ranks + q] = (size_t)(b - a) * row;
    }
    cf_status st = x->comm->ops->allgatherv(x->comm, s->base, off, off + ranks, cf_exec_stamp(x));
    free(off);
    CF_TRY(st);
  } else {
    int64_t first = cf_partition_owner(&s->home, ext, lo, ranks),
            last = cf_partition_owner(&s->home, ext, hi - 1, ranks);
    for (int64_t q = first; q <= last; q++) {
      int64_t a, b;
      cf_partition_home_tile(&s->home, ext, q, ranks, &a, &b);
      a = cf_max(a, lo);
      b = cf_min(b, hi);
      if (a >= b)
        continue;
      size_t n = slab_bytes(s, dim, a, b);
      char *buf = slab_first(s, dim, a), *tmp = NULL;
      if (!contiguous(s, dim)) {
        tmp = buf = malloc(n);
        if (!buf)
          return cf_fail(CF_ENOMEM, "out of memory for messages");
        if (q == x->comm->rank)
          slab_copy(s, dim, a, b, buf, false);
      }
      cf_status st = x->comm->ops->bcast(x->comm, buf, n, (int)q, cf_exec_stamp(x));
      if (st == CF_OK && tmp && q != x->comm->rank)
        slab_copy(s, dim, a, b, buf, true);
      free(tmp);
      CF_TRY(st);
    }
  }
  if (lo == 0 && hi == ext)
    s->all_valid = true;
  return CF_OK;
}

static cf_status fetch(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  int dim = s->home.dim;
  size_t outer, row;
  slab_shape(s, dim, &outer, &row);
  int64_t ext = s->ext[dim], pitch = (int64_t)row * ext;
  /* The third time in a row that the host asks for a piece it gets everything: a loop whose guard could not
   * be hoisted asks again for every element. */
  if (++s->misses > 2)
    return cf_move_rows_everywhere(x, s, 0, ext);
  if (!contiguous(s, dim)) { /* bytes of one outer index may cover any rows */
    if (lo / pitch != (hi - 1) / pitch)
      return cf_move_rows_everywhere(x, s, 0, ext);
    return cf_move_rows_everywhere(x, s, lo % pitch / (int64_t)row, (hi - 1) % pitch / (int64_t)row + 1);
  }
  int64_t r0 = lo / (int64_t)row, r1 = (hi - 1) / (int64_t)row + 1;
  if (r1 - r0 > 1)
    return cf_move_rows_everywhere(x, s, r0, r1);
  /* Inside one row only the bytes asked for travel. */
  int64_t q = cf_partition_owner(&s->home, ext, r0, x->comm->size);
  return x->comm->ops->bcast(x->comm, s->base + lo, (size_t)(hi - lo), (int)q, cf_exec_stamp(x));
}

cf_status cf_exec_fetch(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  if (x->comm->size == 1 || s->home.kind != CF_PART_TILING || lo >= hi || cf_store_everywhere(s, lo, hi))
    return CF_OK;
  CF_TRY(fetch(x, s, lo, hi));
  if (lo <= s->host_hi && hi >= s->host_lo) { /* one interval is remembered: grow it or start anew */
    s->host_lo = cf_min(s->host_lo, lo);
    s->host_hi = cf_max(s->host_hi, hi);
  } else {
    s->host_lo = lo;
    s->host_hi = hi;
  }
  return CF_OK;
}

/* ---- before a group */

/* An unconditional write reaches every element of its box: each loop walks one dimension, one by one. */
static bool fills_box(const cf_access *w) {
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
          w->field_bytes != r->store->elem_bytes || !fills_box(w))
        continue;
      bool covers = true;
      for (int d = 0; d < r->store->rank; d++)
        covers &= w->lo[d] <= r->lo[d] && w->hi[d] >= r->hi[d] && w->step[d] <= 1;
      if (covers)
        return true;
    }
  return false;
}

static cf_status widen(need **v, uint32_t *n, cf_store *s, need **out) {
  for (uint32_t i = 0; i < *n; i++)
    if ((*v)[i].store == s) {
      *out = &(*v)[i];
      return CF_OK;
    }
  need *w = realloc(*v, (*n + 1) * sizeof *w);
  if (!w)
    return cf_fail(CF_ENOMEM, "out of memory for the plan of a group");
  *v = w;
  w[*n] = (need){.store = s, .halo_lo = -1, .halo_hi = -1};
  *out = &w[(*n)++];
  return CF_OK;
}

static cf_status add_access(need *n, const cf_task *t, const cf_access *a) {
  void *w = realloc(n->access, (n->naccess + 1) * sizeof *n->access);
  if (!w)
    return cf_fail(CF_ENOMEM, "out of memory for the plan of a group");
  n->access = w;
  n->access[n->naccess].task = t;
  n->access[n->naccess++].access = a;
  return CF_OK;
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

cf_status cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window) {
  if (x->comm->size == 1)
    return CF_OK;
  cf_task *const *tasks = window + g->first;
  need *v = NULL;
  uint32_t nv = 0;
  exchange e = {0};
  cf_status st = CF_OK;
  for (uint32_t i = 0; i < g->ntasks && st == CF_OK; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess && st == CF_OK; k++) {
      const cf_access *a = &tasks[i]->access[k];
      cf_store *s = a->store;
      if (!s || !(a->priv & CF_READ) || p->locals[g->first + i][k] >= 0 || s->all_valid ||
          s->home.kind != CF_PART_TILING || box_empty(a) || written_before(tasks, i, a))
        continue;
      int dim = s->home.dim;
      int64_t wl, wr;
      if (tasks[i]->domain == CF_REPLICATED ||
          (tasks[i]->domain == CF_GRID && (a->whole || a->map.coef[dim][tasks[i]->itile.loop] == 0))) {
        st = cf_move_rows_everywhere(x, s, a->lo[dim], a->hi[dim]);
        continue;
      }
      need *n;
      st = widen(&v, &nv, s, &n);
      if (st != CF_OK)
        break;
      if (tasks[i]->domain == CF_GRID && as_halo(a, &s->home, &wl, &wr)) {
        if (wl <= s->halo_lo && wr <= s->halo_hi)
          continue;
        n->halo_lo = cf_max(n->halo_lo, cf_max(wl, s->halo_lo));
        n->halo_hi = cf_max(n->halo_hi, cf_max(wr, s->halo_hi));
      } else {
        st = add_access(n, tasks[i], a);
      }
    }
  for (uint32_t i = 0; i < nv && st == CF_OK; i++)
    if ((v[i].halo_lo >= 0 || v[i].naccess) && !v[i].store->all_valid)
      st = add_need(x, &e, &v[i]);
  /* Every rank takes part in the call, so that divergence is noticed, but ranks without neighbours send
   * nothing. */
  if (st == CF_OK && e.n)
    st = run_exchange(x, &e);
  else
    cf_exec_event(x, 1);
  for (uint32_t i = 0; i < nv; i++) {
    if (st == CF_OK && v[i].halo_lo >= 0) {
      v[i].store->halo_lo = cf_max(v[i].store->halo_lo, v[i].halo_lo);
      v[i].store->halo_hi = cf_max(v[i].store->halo_hi, v[i].halo_hi);
    }
    free(v[i].access);
  }
  free(v);
  free(e.v);
  return st;
}
