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

/* Of a store's rows, on the device. */
static void *device_first(const cf_store *s, int dim, int64_t lo) {
  return (char *)cf_instance_base(s) + (slab_first(s, dim, lo) - s->base);
}

/* Ranges of the piece's store that will come, if it is the first of them; else 0. */
static uint32_t ranges_to_come(const cf_needs *e, uint32_t i) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->npieces; k++)
    if (e->piece[k].store == e->piece[i].store && !e->piece[k].send) {
      if (k < i)
        return 0;
      n++;
    }
  return n;
}

/* Pieces that go from or to the device's memory: what is sent, if it is all there; what comes, if its store
 * is there and the state of its rows stays simple. First memory is made, which may move; then the state of
 * what is sent may change; and only then comes what will be received, since to bring it to the host would be
 * to bring what has not come. */
static cf_status choose_direct(cf_exec *x, const cf_needs *e, bool *direct) {
  for (uint32_t i = 0; i < e->npieces; i++) {
    const cf_need_piece *p = &e->piece[i];
    direct[i] = contiguous(p->store, p->store->home.dim) && cf_instance_direct(p->store, 0);
    if (direct[i]) /* and it stays: memory is not taken from what was used in this turn */
      CF_TRY(cf_instance_device(x, p->store, p->lo, p->hi, false));
  }
  for (uint32_t i = 0; i < e->npieces; i++) {
    const cf_need_piece *p = &e->piece[i];
    if (!p->send)
      continue;
    direct[i] = direct[i] && cf_instance_there(p->store, p->lo, p->hi);
    if (!direct[i])
      CF_TRY(cf_instance_host(x, p->store, p->lo, p->hi));
  }
  for (uint32_t i = 0; i < e->npieces; i++) {
    uint32_t n = e->piece[i].send ? 0 : ranges_to_come(e, i);
    if (!n)
      continue;
    bool all = direct[i] && cf_instance_direct(e->piece[i].store, n);
    for (uint32_t k = i; k < e->npieces; k++)
      if (!e->piece[k].send && e->piece[k].store == e->piece[i].store)
        direct[k] = all;
  }
  return CF_OK;
}

/* Where the bytes of a piece are or will be, marked as current there if they come. */
static cf_status place(cf_exec *x, const cf_need_piece *p, bool direct, char *staging, cf_msg *m) {
  cf_store *s = p->store;
  int dim = s->home.dim;
  *m = (cf_msg){(int)p->peer, slab_first(s, dim, p->lo), slab_bytes(s, dim, p->lo, p->hi)};
  if (direct) {
    m->buf = device_first(s, dim, p->lo);
    x->stats.direct_bytes += p->send ? m->bytes : 0;
    return p->send ? CF_OK : cf_instance_comes(x, s, p->lo, p->hi);
  }
  /* What comes is marked before it comes: to mark it may bring other rows to the host. */
  CF_TRY(p->send ? cf_instance_host(x, s, p->lo, p->hi) : cf_instance_host_wrote(x, s, p->lo, p->hi));
  if (staging) {
    m->buf = staging;
    if (p->send)
      slab_copy(s, dim, p->lo, p->hi, staging, false);
  }
  return CF_OK;
}

static cf_status exchange(cf_exec *x, const cf_needs *e, const size_t *off, char *staging, cf_msg *msg,
                          bool *direct) {
  uint32_t ns = 0, nr = 0, n = e->npieces;
  cf_msg *send = msg, *recv = msg + n;
  bool any = false;
  for (int turn = 0; turn < 2; turn++) /* what is sent, then what comes */
    for (uint32_t i = 0; i < n; i++) {
      const cf_need_piece *p = &e->piece[i];
      if (p->send == (turn == 1))
        continue;
      CF_TRY(place(x, p, direct[i], off[i + 1] > off[i] ? staging + off[i] : NULL,
                   p->send ? &send[ns++] : &recv[nr++]));
      any |= direct[i];
      if (!p->send)
        x->stats.halo_rows += (uint64_t)(p->hi - p->lo);
    }
  if (any) /* kernels have written what is sent, and read what will be overwritten */
    CF_TRY(x->device->ops->sync(x->device));
  if (any)
    CF_TRY(x->device->ops->hold(x->device, true));
  cf_status st = x->comm->ops->exchange(x->comm, send, (int)ns, recv, (int)nr, cf_exec_stamp(x));
  if (any)
    CF_TRY(x->device->ops->hold(x->device, false));
  CF_TRY(st);
  for (uint32_t i = 0; i < n; i++) {
    const cf_need_piece *p = &e->piece[i];
    if (!p->send && off[i + 1] > off[i])
      slab_copy(p->store, p->store->home.dim, p->lo, p->hi, staging + off[i], true);
  }
  return CF_OK;
}

static cf_status run_exchange(cf_exec *x, const cf_needs *e, bool device) {
  uint32_t n = e->npieces;
  size_t *off;
  CF_TRY(stage(e, &off));
  cf_msg *msg = calloc(2 * (size_t)n + 1, sizeof *msg);
  bool *direct = calloc(n + 1u, sizeof *direct);
  char *staging = off[n] ? aligned_alloc(64, off[n]) : NULL;
  cf_status st = CF_OK;
  if (!msg || !direct || (off[n] && !staging))
    st = cf_fail(CF_ENOMEM, "out of memory for messages");
  if (st == CF_OK && x->direct && device)
    st = choose_direct(x, e, direct);
  if (st == CF_OK)
    st = exchange(x, e, off, staging, msg, direct);
  free(off);
  free(msg);
  free(direct);
  free(staging);
  return st;
}

/* Every rank's own part to all others. */
static cf_status gather_all(cf_exec *x, cf_store *s, char *base) {
  int dim = s->home.dim;
  int64_t ranks = x->comm->size;
  size_t outer, row, *off = calloc(2 * (size_t)ranks, sizeof *off);
  if (!off)
    return cf_fail(CF_ENOMEM, "out of memory for messages");
  slab_shape(s, dim, &outer, &row);
  for (int64_t q = 0; q < ranks; q++) {
    int64_t a, b;
    cf_partition_home_tile(&s->home, s->ext[dim], q, ranks, &a, &b);
    off[q] = (size_t)a * row;
    off[ranks + q] = (size_t)(b - a) * row;
  }
  cf_status st = x->comm->ops->allgatherv(x->comm, base, off, off + ranks, cf_exec_stamp(x));
  free(off);
  return st;
}

/* The same between devices. False: it cannot be. */
static bool gather_devices(cf_exec *x, cf_store *s, int64_t own_lo, int64_t own_hi, cf_status *st) {
  int64_t ext = s->ext[s->home.dim];
  *st = CF_OK;
  if (!contiguous(s, s->home.dim) || !cf_instance_direct(s, 2))
    return false;
  *st = cf_instance_device(x, s, 0, ext, false);
  if (*st == CF_OK)
    *st = cf_instance_device(x, s, own_lo, own_hi, true);
  if (*st == CF_OK && !cf_instance_direct(s, 2))
    return false;
  if (*st == CF_OK && own_lo > 0)
    *st = cf_instance_comes(x, s, 0, own_lo);
  if (*st == CF_OK && own_hi < ext)
    *st = cf_instance_comes(x, s, own_hi, ext);
  if (*st == CF_OK)
    *st = x->device->ops->sync(x->device);
  if (*st == CF_OK && (*st = x->device->ops->hold(x->device, true)) == CF_OK) {
    *st = gather_all(x, s, cf_instance_base(s));
    if (x->device->ops->hold(x->device, false) != CF_OK)
      *st = CF_EINTERNAL;
  }
  x->stats.direct_bytes += slab_bytes(s, s->home.dim, own_lo, own_hi);
  return true;
}

/* Elements of the tiled dimension [lo, hi) to all ranks; device: to its memory, if that is possible. */
static cf_status rows_everywhere(cf_exec *x, cf_store *s, int64_t lo, int64_t hi, bool device) {
  if (x->comm->size == 1 || s->all_valid || s->home.kind != CF_PART_TILING || lo >= hi)
    return CF_OK;
  int dim = s->home.dim;
  int64_t ext = s->ext[dim], ranks = x->comm->size, own_lo, own_hi;
  cf_partition_home_tile(&s->home, ext, x->comm->rank, ranks, &own_lo, &own_hi);
  cf_status st;
  if (device && x->direct && lo == 0 && hi == ext && gather_devices(x, s, own_lo, own_hi, &st)) {
    s->all_valid = st == CF_OK;
    x->stats.bytes_to_all += slab_bytes(s, dim, lo, hi);
    return st;
  }
  CF_TRY(cf_instance_host(x, s, cf_max(own_lo, lo), cf_min(own_hi, hi)));
  /* Rows of other ranks will be from them. */
  CF_TRY(cf_instance_host_wrote(x, s, lo, cf_min(hi, own_lo)));
  CF_TRY(cf_instance_host_wrote(x, s, cf_max(lo, own_hi), hi));
  x->stats.bytes_to_all += slab_bytes(s, dim, lo, hi);
  if (lo == 0 && hi == ext && contiguous(s, dim)) {
    CF_TRY(gather_all(x, s, s->base));
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
      st = x->comm->ops->bcast(x->comm, buf, n, (int)q, cf_exec_stamp(x));
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
    return rows_everywhere(x, s, 0, ext, false);
  if (!contiguous(s, dim)) { /* bytes of one outer index may cover any rows */
    if (lo / pitch != (hi - 1) / pitch)
      return rows_everywhere(x, s, 0, ext, false);
    return rows_everywhere(x, s, lo % pitch / (int64_t)row, (hi - 1) % pitch / (int64_t)row + 1, false);
  }
  int64_t r0 = lo / (int64_t)row, r1 = (hi - 1) / (int64_t)row + 1;
  if (r1 - r0 > 1)
    return rows_everywhere(x, s, r0, r1, false);
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

cf_status cf_move_in(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window, bool device) {
  if (x->comm->size == 1)
    return CF_OK;
  cf_needs n;
  CF_TRY(cf_needs_of(p, g, window, x->comm->rank, x->comm->size, &n));
  cf_status st = CF_OK;
  for (uint32_t i = 0; i < n.nall && st == CF_OK; i++)
    st = rows_everywhere(x, n.all[i].store, n.all[i].lo, n.all[i].hi, device);
  /* Every rank takes part in the call, so that divergence is noticed, but ranks without neighbours send
   * nothing. */
  if (st == CF_OK && n.npieces)
    st = run_exchange(x, &n, device);
  else
    cf_exec_event(x, 1);
  if (st == CF_OK)
    cf_needs_arrived(&n);
  cf_needs_free(&n);
  return st;
}
