// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Data movement before a group (need.c says what), and for the host. */
#include "exec/exec.h"
#include "exec/instance.h"
#include "exec/need.h"
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

/* ---- one exchange for all stores of a group */

/* Bytes of staging memory before piece i, and in all. */
static cf_status stage(const cf_needs *e, size_t **off) {
  size_t *v = malloc((e->npieces + 1u) * sizeof *v);
  if (!v)
    return cf_fail(CF_ENOMEM, "out of memory for messages");
  v[0] = 0;
  for (uint32_t i = 0; i < e->npieces; i++) {
    const cf_need_piece *p = &e->piece[i];
    int dim = p->store->home.dim;
    v[i + 1] = v[i];
    if (!contiguous(p->store, dim))
      v[i + 1] += (slab_bytes(p->store, dim, p->lo, p->hi) + 63) / 64 * 64;
  }
  *off = v;
  return CF_OK;
}

static cf_status run_exchange(cf_exec *x, const cf_needs *e) {
  uint32_t ns = 0, nr = 0, n = e->npieces;
  size_t *off;
  CF_TRY(stage(e, &off));
  cf_msg *send = calloc(2 * (size_t)n + 1, sizeof *send), *recv = send ? send + n : NULL;
  char *staging = off[n] ? aligned_alloc(64, off[n]) : NULL;
  if (!send || (off[n] && !staging)) {
    free(off);
    free(send);
    free(staging);
    return cf_fail(CF_ENOMEM, "out of memory for messages");
  }
  for (uint32_t i = 0; i < n; i++) {
    const cf_need_piece *p = &e->piece[i];
    int dim = p->store->home.dim;
    cf_msg m = {(int)p->peer, slab_first(p->store, dim, p->lo), slab_bytes(p->store, dim, p->lo, p->hi)};
    /* What comes is marked before it comes: to mark it may bring other rows to the host. */
    cf_status st = p->send ? cf_instance_host(x, p->store, p->lo, p->hi)
                           : cf_instance_host_wrote(x, p->store, p->lo, p->hi);
    if (st != CF_OK) {
      free(off);
      free(send);
      free(staging);
      return st;
    }
    if (off[i + 1] > off[i]) {
      m.buf = staging + off[i];
      if (p->send)
        slab_copy(p->store, dim, p->lo, p->hi, m.buf, false);
    }
    if (p->send) {
      send[ns++] = m;
    } else {
      recv[nr++] = m;
      x->stats.halo_rows += (uint64_t)(p->hi - p->lo);
    }
  }
  cf_status st = x->comm->ops->exchange(x->comm, send, (int)ns, recv, (int)nr, cf_exec_stamp(x));
  for (uint32_t i = 0; i < n && st == CF_OK; i++) {
    const cf_need_piece *p = &e->piece[i];
    if (!p->send && off[i + 1] > off[i])
      slab_copy(p->store, p->store->home.dim, p->lo, p->hi, staging + off[i], true);
  }
  free(off);
  free(send);
  free(staging);
  return st;
}

cf_status cf_move_rows_everywhere(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  if (x->comm->size == 1 || s->all_valid || s->home.kind != CF_PART_TILING || lo >= hi)
    return CF_OK;
  int dim = s->home.dim;
  int64_t ext = s->ext[dim], ranks = x->comm->size, own_lo, own_hi;
  cf_partition_home_tile(&s->home, ext, x->comm->rank, ranks, &own_lo, &own_hi);
  CF_TRY(cf_instance_host(x, s, cf_max(own_lo, lo), cf_min(own_hi, hi)));
  /* Rows of other ranks will be from them. */
  CF_TRY(cf_instance_host_wrote(x, s, lo, cf_min(hi, own_lo)));
  CF_TRY(cf_instance_host_wrote(x, s, cf_max(lo, own_hi), hi));
  x->stats.bytes_to_all += slab_bytes(s, dim, lo, hi);
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
  x->stats.bytes_to_all += (uint64_t)(hi - lo);
  CF_TRY(cf_instance_host(x, s, r0, r1)); /* the other bytes of the row */
  if (q != x->comm->rank)
    CF_TRY(cf_instance_host_wrote(x, s, r0, r1));
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

cf_status cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window) {
  if (x->comm->size == 1)
    return CF_OK;
  cf_needs n;
  CF_TRY(cf_needs_of(p, g, window, x->comm->rank, x->comm->size, &n));
  cf_status st = CF_OK;
  for (uint32_t i = 0; i < n.nall && st == CF_OK; i++)
    st = cf_move_rows_everywhere(x, n.all[i].store, n.all[i].lo, n.all[i].hi);
  /* Every rank takes part in the call, so that divergence is noticed, but ranks without neighbours send
   * nothing. */
  if (st == CF_OK && n.npieces)
    st = run_exchange(x, &n);
  else
    cf_exec_event(x, 1);
  if (st == CF_OK)
    cf_needs_arrived(&n);
  cf_needs_free(&n);
  return st;
}
