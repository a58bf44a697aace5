// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exec/instance.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

enum {
  SEGMENTS = 8,
  SPARES = sizeof((cf_exec *)0)->spares / sizeof *((cf_exec *)0)->spares,
  EAGER = 3, /* so many times in a row the host reads parts before it gets everything */
};

typedef enum where { HOST, BOTH, DEVICE } where;

/* Rows up to `end`, from where the one before ends. */
typedef struct segment {
  int64_t end;
  where state;
} segment;

struct cf_instance {
  cf_store *store;
  struct cf_instance *prev, *next; /* all of exec */
  char *mem;                       /* NULL: none yet */
  int64_t lo, hi;                  /* rows that have memory */
  size_t bytes;
  uint64_t used; /* the last group that used it */
  uint32_t reads;
  int dim;
  uint32_t n;
  segment seg[SEGMENTS];
};

typedef struct cf_instance instance;

int cf_instance_dim(const cf_store *s) { return s->home.kind == CF_PART_TILING ? s->home.dim : 0; }

static int64_t rows_of(const cf_store *s, int dim) { return s->rank ? s->ext[dim] : 1; }

static size_t row_bytes(const cf_store *s) {
  size_t n = s->elem_bytes;
  for (int d = 1; d < s->rank; d++)
    n *= (size_t)s->ext[d];
  return n;
}

static cf_slab slab(const instance *i, int64_t lo, int64_t hi) {
  return cf_slab_of(i->store, i->dim, lo, hi);
}

/* ---- states */

/* What the guards look at (api/guard.c), on any thread. */
static void show(instance *i) {
  uint8_t away = 0;
  for (uint32_t k = 0; k < i->n; k++)
    away |= i->seg[k].state == DEVICE ? COFUSE_R | COFUSE_W : i->seg[k].state == BOTH ? COFUSE_W : 0;
  __atomic_store_n(&i->store->away, away, __ATOMIC_RELEASE);
}

static void put_segment(segment *to, uint32_t *n, int64_t end, where state) {
  if (end <= (*n ? to[*n - 1].end : 0))
    return;
  if (*n && to[*n - 1].state == state)
    to[*n - 1].end = end;
  else
    to[(*n)++] = (segment){end, state};
}

static void set_all(instance *i, where state) {
  i->n = 1;
  i->seg[0] = (segment){rows_of(i->store, i->dim), state};
}

static cf_status home_all(cf_exec *x, instance *i);

/* i's segments with rows [lo, hi) in another state. */
static uint32_t with(const instance *i, int64_t lo, int64_t hi, where state, segment *to) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < i->n; k++) {
    int64_t from = k ? i->seg[k - 1].end : 0, end = i->seg[k].end;
    put_segment(to, &n, cf_min(end, lo), i->seg[k].state);
    if (from < hi && end > lo)
      put_segment(to, &n, cf_min(end, hi), state);
    if (end > hi)
      put_segment(to, &n, end, i->seg[k].state);
  }
  return n;
}

static cf_status set(cf_exec *x, instance *i, int64_t lo, int64_t hi, where state) {
  segment to[SEGMENTS + 2];
  uint32_t n = with(i, lo, hi, state, to);
  if (n > SEGMENTS) { /* what is about to be written, on either side, has not been written yet */
    CF_TRY(home_all(x, i));
    n = with(i, lo, hi, state, to);
  }
  memcpy(i->seg, to, n * sizeof *to);
  i->n = n;
  show(i);
  return CF_OK;
}

/* ---- copies */

static void *address(const instance *i, const cf_slab *b) {
  return i->mem + b->first - (size_t)i->lo * (i->dim == 0 ? row_bytes(i->store) : 0);
}

static cf_status to_host(cf_exec *x, const instance *i, int64_t lo, int64_t hi) {
  cf_slab b = slab(i, lo, hi);
  cf_device_copy c = {b.runs, b.run_bytes, b.pitch, b.pitch};
  x->stats.to_host_copies++;
  x->stats.to_host_bytes += b.runs * b.run_bytes;
  return x->device->ops->read(x->device, i->store->base + b.first, address(i, &b), &c);
}

static cf_status to_device(cf_exec *x, const instance *i, int64_t lo, int64_t hi) {
  cf_slab b = slab(i, lo, hi);
  cf_device_copy c = {b.runs, b.run_bytes, b.pitch, b.pitch};
  x->stats.to_device_copies++;
  x->stats.to_device_bytes += b.runs * b.run_bytes;
  return x->device->ops->write(x->device, address(i, &b), i->store->base + b.first, &c);
}

static void poison_host(const instance *i, int64_t lo, int64_t hi) {
  cf_slab b = slab(i, lo, hi);
  for (size_t r = 0; r < b.runs; r++)
    memset(i->store->base + b.first + r * b.pitch, CF_INSTANCE_POISON, b.run_bytes);
}

static cf_status poison_device(cf_exec *x, const instance *i, int64_t lo, int64_t hi) {
  lo = cf_max(lo, i->lo);
  hi = cf_min(hi, i->hi);
  cf_slab b = slab(i, lo, hi);
  if (!i->mem || lo >= hi)
    return CF_OK;
  for (size_t r = 0; r < b.runs; r++)
    CF_TRY(x->device->ops->fill(x->device, (char *)address(i, &b) + r * b.pitch, CF_INSTANCE_POISON,
                                b.run_bytes));
  return CF_OK;
}

/* The host gets what the device alone has, which keeps nothing. */
static cf_status home_all(cf_exec *x, instance *i) {
  for (uint32_t k = 0; k < i->n; k++)
    if (i->seg[k].state == DEVICE)
      CF_TRY(to_host(x, i, k ? i->seg[k - 1].end : 0, i->seg[k].end));
  set_all(i, HOST);
  show(i);
  return CF_OK;
}

/* ---- memory of the device */

static void drop_spares(cf_exec *x) {
  for (uint32_t k = 0; k < x->nspares; k++)
    x->device->ops->release(x->device, x->spares[k].mem);
  x->nspares = 0;
}

static void give_back(cf_exec *x, void *mem, size_t bytes) {
  if (!mem)
    return;
  if (x->nspares == SPARES) { /* the oldest goes */
    x->device->ops->release(x->device, x->spares[0].mem);
    memmove(x->spares, x->spares + 1, --x->nspares * sizeof *x->spares);
  }
  x->spares[x->nspares].mem = mem;
  x->spares[x->nspares++].bytes = bytes;
}

static void unlink_instance(cf_exec *x, instance *i) {
  if (i->prev)
    i->prev->next = i->next;
  else
    x->instances = i->next;
  if (i->next)
    i->next->prev = i->prev;
  give_back(x, i->mem, i->bytes);
  i->store->instance = NULL;
  __atomic_store_n(&i->store->away, 0, __ATOMIC_RELEASE);
  free(i);
}

/* The instance that was not used for the longest time goes back to the host. False: all are in use now. */
static bool evict(cf_exec *x, cf_status *st) {
  instance *oldest = NULL;
  for (instance *i = x->instances; i; i = i->next)
    if (i->mem && i->used != x->turn && (!oldest || i->used < oldest->used))
      oldest = i;
  if (!oldest)
    return false;
  *st = home_all(x, oldest);
  x->stats.evicted++;
  unlink_instance(x, oldest);
  drop_spares(x);
  return true;
}

cf_status cf_instance_memory(cf_exec *x, size_t bytes, void **out) {
  for (uint32_t k = x->nspares; k-- > 0;)
    if (x->spares[k].bytes == bytes) {
      *out = x->spares[k].mem;
      x->nspares--;
      memmove(x->spares + k, x->spares + k + 1, (x->nspares - k) * sizeof *x->spares);
      return x->device->poisons ? x->device->ops->fill(x->device, *out, CF_INSTANCE_POISON, bytes) : CF_OK;
    }
  cf_status st = x->device->ops->alloc(x->device, bytes, out);
  if (st == CF_ENOMEM && x->nspares) {
    drop_spares(x);
    st = x->device->ops->alloc(x->device, bytes, out);
  }
  while (st == CF_ENOMEM) {
    cf_status moved = CF_OK;
    if (!evict(x, &moved))
      break;
    CF_TRY(moved);
    st = x->device->ops->alloc(x->device, bytes, out);
  }
  return st;
}

static cf_status obtain(cf_exec *x, const cf_store *s, size_t bytes, void **out) {
  cf_status st = cf_instance_memory(x, bytes, out);
  if (st != CF_ENOMEM)
    return st;
  size_t some = 0, all = 0;
  CF_TRY(x->device->ops->memory(x->device, &some, &all));
  return cf_fail(CF_ENOMEM,
                 "%s:%u: store(%s) needs %zu bytes on the device (%s), of which %zu of %zu are free, and all "
                 "others are in use by the same group of loops: use more ranks, smaller arrays, or "
                 "COFUSE_DEVICE=cpu",
                 s->file, s->line, s->text, bytes, x->device->describe, some, all);
}

/* Room for rows [lo, hi): of the store's bytes as they lie, so all of it if rows are no runs. */
static cf_status make_room(cf_exec *x, instance *i, int64_t lo, int64_t hi) {
  cf_store *s = i->store;
  if (i->mem && lo >= i->lo && hi <= i->hi)
    return CF_OK;
  if (i->dim != 0 || x->comm->size == 1 || s->home.kind != CF_PART_TILING) {
    lo = 0;
    hi = rows_of(s, i->dim);
  } else {
    int64_t a, b;
    cf_partition_home_tile(&s->home, s->ext[0], x->comm->rank, x->comm->size, &a, &b);
    if (a < b) {
      lo = cf_min(lo, a);
      hi = cf_max(hi, b);
    }
  }
  if (i->mem) {
    lo = cf_min(lo, i->lo);
    hi = cf_max(hi, i->hi);
  }
  size_t row = i->dim == 0 ? row_bytes(s) : 0, bytes = i->dim == 0 ? row * (size_t)(hi - lo) : s->bytes;
  void *mem;
  CF_TRY(obtain(x, s, bytes, &mem));
  if (i->mem) {
    CF_TRY(x->device->ops->copy(x->device, (char *)mem + (size_t)(i->lo - lo) * row, i->mem, i->bytes));
    give_back(x, i->mem, i->bytes);
  }
  i->mem = mem;
  i->bytes = bytes;
  i->lo = lo;
  i->hi = hi;
  return CF_OK;
}

/* The instance of a store; NULL: none. One whose rows are others than now, since the store had no home when
 * it was made, goes. */
static cf_status find(cf_exec *x, cf_store *s, instance **out) {
  instance *i = s->instance;
  if (i && i->dim != cf_instance_dim(s)) {
    CF_TRY(home_all(x, i));
    unlink_instance(x, i);
    i = NULL;
  }
  *out = i;
  return CF_OK;
}

static cf_status make(cf_exec *x, cf_store *s, instance **out) {
  CF_TRY(find(x, s, out));
  if (*out)
    return CF_OK;
  instance *i = calloc(1, sizeof *i);
  if (!i)
    return cf_fail(CF_ENOMEM, "out of memory for a store");
  i->store = s;
  i->dim = cf_instance_dim(s);
  set_all(i, HOST);
  i->next = x->instances;
  if (i->next)
    i->next->prev = i;
  x->instances = s->instance = i;
  *out = i;
  return CF_OK;
}

/* ---- what the other parts call */

/* Rows of [lo, hi) that are in one state get into another, by `copy` if there is one. */
static cf_status turn_rows(cf_exec *x, instance *i, int64_t lo, int64_t hi, where from, where to,
                           cf_status (*copy)(cf_exec *, const instance *, int64_t, int64_t)) {
  for (uint32_t k = 0; k < i->n;) {
    int64_t a = cf_max(k ? i->seg[k - 1].end : 0, lo), b = cf_min(i->seg[k].end, hi);
    if (i->seg[k].state != from || a >= b) {
      k++;
      continue;
    }
    CF_TRY(copy ? copy(x, i, a, b) : CF_OK);
    CF_TRY(set(x, i, a, b, to));
    k = 0; /* segments have moved */
  }
  return CF_OK;
}

cf_status cf_instance_host(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  instance *i;
  if (!s->instance || lo >= hi)
    return CF_OK;
  CF_TRY(find(x, s, &i));
  return i ? turn_rows(x, i, lo, hi, DEVICE, BOTH, to_host) : CF_OK;
}

cf_status cf_instance_host_wrote(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  instance *i;
  if (!s->instance || lo >= hi)
    return CF_OK;
  CF_TRY(find(x, s, &i));
  if (!i)
    return CF_OK;
  CF_TRY(set(x, i, lo, hi, HOST));
  return x->device->poisons ? poison_device(x, i, lo, hi) : CF_OK;
}

cf_status cf_instance_device(cf_exec *x, cf_store *s, int64_t lo, int64_t hi, bool fetch) {
  instance *i;
  if (lo >= hi)
    return CF_OK;
  CF_TRY(make(x, s, &i));
  i->used = x->turn;
  CF_TRY(make_room(x, i, lo, hi));
  return fetch ? turn_rows(x, i, lo, hi, HOST, BOTH, to_device) : CF_OK;
}

cf_status cf_instance_claim(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  return s->instance ? turn_rows(x, s->instance, lo, hi, HOST, BOTH, NULL) : CF_OK;
}

cf_status cf_instance_device_wrote(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  instance *i = s->instance;
  if (!i || lo >= hi)
    return CF_OK;
  i->reads = 0;
  CF_TRY(set(x, i, lo, hi, DEVICE));
  if (x->device->poisons)
    poison_host(i, lo, hi);
  return CF_OK;
}

bool cf_instance_direct(const cf_store *s, uint32_t k) {
  const instance *i = s->instance;
  return i && i->mem && i->dim == cf_instance_dim(s) && i->n + 2 * k <= SEGMENTS;
}

cf_status cf_instance_comes(cf_exec *x, cf_store *s, int64_t lo, int64_t hi) {
  CF_TRY(set(x, s->instance, lo, hi, DEVICE));
  if (x->device->poisons)
    poison_host(s->instance, lo, hi);
  return CF_OK;
}

bool cf_instance_there(const cf_store *s, int64_t lo, int64_t hi) {
  const instance *i = s->instance;
  for (uint32_t k = 0; i && k < i->n; k++)
    if (i->seg[k].state == HOST && (k ? i->seg[k - 1].end : 0) < hi && i->seg[k].end > lo)
      return false;
  return i && i->mem && i->lo <= lo && hi <= i->hi;
}

void *cf_instance_base(const cf_store *s) {
  const instance *i = s->instance;
  if (!i || !i->mem)
    return NULL;
  uintptr_t at = (uintptr_t)i->mem - (uintptr_t)i->lo * (i->dim == 0 ? row_bytes(s) : 0);
  return (void *)at;
}

cf_status cf_instance_home(cf_exec *x, cf_store *s) {
  instance *i;
  if (!s->instance)
    return CF_OK;
  CF_TRY(find(x, s, &i));
  if (!i)
    return CF_OK;
  CF_TRY(home_all(x, i));
  unlink_instance(x, i);
  return CF_OK;
}

void cf_instance_turn(cf_exec *x) { x->turn++; }

void cf_exec_forget(cf_exec *x, cf_store *s) {
  if (s->instance)
    unlink_instance(x, s->instance);
}

/* Bytes as rows. *exact: these rows have no other bytes. */
static void rows_of_bytes(const cf_store *s, int64_t lo, int64_t hi, int64_t *a, int64_t *b, bool *exact) {
  int dim = cf_instance_dim(s);
  int64_t n = rows_of(s, dim), row = s->elem_bytes;
  for (int d = dim + 1; d < s->rank; d++)
    row *= s->ext[d];
  bool runs = true; /* rows lie one behind the other */
  for (int d = 0; d < dim && d < s->rank; d++)
    runs &= s->ext[d] == 1;
  if (!runs) {
    int64_t pitch = row * n;
    *a = 0;
    *b = n;
    *exact = lo == 0 && hi == (int64_t)s->bytes;
    if (lo / pitch == (hi - 1) / pitch) {
      *a = lo % pitch / row;
      *b = (hi - 1) % pitch / row + 1;
    }
    return;
  }
  *a = lo / row;
  *b = (hi - 1) / row + 1;
  *exact = lo % row == 0 && hi % row == 0;
}

cf_status cf_exec_host_access(cf_exec *x, cf_store *s, int64_t lo, int64_t hi, int mode) {
  if (!s->instance || lo >= hi)
    return CF_OK;
  int64_t a, b;
  bool exact;
  rows_of_bytes(s, lo, hi, &a, &b, &exact);
  if (s->away & COFUSE_R && (mode & COFUSE_R || !exact)) {
    uint64_t copies = x->stats.to_host_copies;
    CF_TRY(cf_instance_host(x, s, a, b));
    /* What is there already costs nothing, however often it is read. */
    if (mode & COFUSE_R && x->stats.to_host_copies > copies && s->instance && ++s->instance->reads >= EAGER)
      CF_TRY(cf_instance_host(x, s, 0, rows_of(s, cf_instance_dim(s))));
  }
  return mode & COFUSE_W ? cf_instance_host_wrote(x, s, a, b) : CF_OK;
}

void cf_exec_home(cf_exec *x) {
  for (instance *i = x->instances; i; i = i->next)
    if (i->store->live && home_all(x, i) != CF_OK)
      cf_log(CF_LOG_ERROR, "%s", cf_last_error());
}

void cf_exec_abandon_device(cf_exec *x) {
  for (instance *i = x->instances; i; i = i->next) {
    i->store->instance = NULL;
    i->store->away = 0;
  }
  x->instances = NULL;
  x->device = NULL;
}

void cf_exec_close_device(cf_exec *x) {
  if (!x->device)
    return;
  cf_exec_home(x); /* exit handlers may still come that read arrays, without guards if no plugin saw them */
  while (x->instances)
    unlink_instance(x, x->instances);
  drop_spares(x);
  for (uint32_t k = 0; k < x->ncodes; k++)
    x->device->ops->unload(x->device, x->codes[k].code);
  free(x->codes);
  cf_buf_free(&x->image);
  cf_buf_free(&x->queue);
  if (x->args.mem)
    x->device->ops->release(x->device, x->args.mem);
  if (x->lanes.mem)
    x->device->ops->release(x->device, x->lanes.mem);
  if (x->results.mem)
    x->device->ops->release(x->device, x->results.mem);
  x->device->ops->close(x->device);
  x->device = NULL;
}
