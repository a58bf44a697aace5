// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Device `emu`: a GPU without a GPU, for tests. It has a memory of its own, which the host reaches by copies
 * alone, and runs grids of threads: the kernels are those of a GPU, lowered for one, with special registers
 * and library functions of the device replaced by the host's (codegen/jit_device.c). Threads run one after
 * another, in an order that tests choose; kernels need no barrier, so any order is one of a real device. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

typedef void (*kernel_fn)(const void *args, const cf_device_box *box, void *partials);

/* Every block of memory that is handed out. */
typedef struct block {
  struct block *next;
  size_t bytes;
  char *mem;
} block;

typedef struct emu {
  cf_device pub;
  block *blocks;
  size_t used, limit;
  int order;
} emu;

struct cf_device_code {
  uint32_t n;
  kernel_fn fn[];
};

enum { FRESH = 0x5b }; /* what new memory holds */

static cf_status emu_alloc(cf_device *d, size_t bytes, void **out) {
  emu *e = (emu *)d;
  if (e->limit && (bytes > e->limit || e->used > e->limit - bytes))
    return CF_ENOMEM;
  block *b = malloc(sizeof *b);
  char *mem = aligned_alloc(256, (bytes + 255) / 256 * 256 + (bytes == 0) * 256);
  if (!b || !mem) {
    free(b);
    free(mem);
    return CF_ENOMEM;
  }
  memset(mem, FRESH, bytes);
  *b = (block){e->blocks, bytes, mem};
  e->blocks = b;
  e->used += bytes;
  *out = mem;
  return CF_OK;
}

static void emu_release(cf_device *d, void *p) {
  emu *e = (emu *)d;
  for (block **at = &e->blocks; *at; at = &(*at)->next)
    if ((*at)->mem == p) {
      block *b = *at;
      *at = b->next;
      e->used -= b->bytes;
      free(b->mem);
      free(b);
      return;
    }
}

/* A driver would refuse a copy that leaves its memory, or fault. */
static cf_status inside(const emu *e, const void *p, size_t bytes, const char *what) {
  uintptr_t at = (uintptr_t)p;
  for (const block *b = e->blocks; b; b = b->next)
    if (at >= (uintptr_t)b->mem && at - (uintptr_t)b->mem <= b->bytes &&
        bytes <= b->bytes - (at - (uintptr_t)b->mem))
      return CF_OK;
  return cf_fail(CF_EINTERNAL, "device emu: %s of %zu bytes at %p, which are not in its memory", what, bytes,
                 p);
}

static size_t reach(const cf_device_copy *c, size_t pitch) {
  return c->runs ? (c->runs - 1) * pitch + c->bytes : 0;
}

static void rows(void *to, const void *from, const cf_device_copy *c) {
  for (size_t r = 0; r < c->runs; r++)
    memcpy((char *)to + r * c->to_pitch, (const char *)from + r * c->from_pitch, c->bytes);
}

static cf_status emu_write(cf_device *d, void *to, const void *from, const cf_device_copy *c) {
  CF_TRY(inside((const emu *)d, to, reach(c, c->to_pitch), "write"));
  rows(to, from, c);
  return CF_OK;
}

static cf_status emu_read(cf_device *d, void *to, const void *from, const cf_device_copy *c) {
  CF_TRY(inside((const emu *)d, from, reach(c, c->from_pitch), "read"));
  rows(to, from, c);
  return CF_OK;
}

static cf_status emu_copy(cf_device *d, void *to, const void *from, size_t bytes) {
  CF_TRY(inside((const emu *)d, to, bytes, "copy"));
  CF_TRY(inside((const emu *)d, from, bytes, "copy"));
  memmove(to, from, bytes);
  return CF_OK;
}

static cf_status emu_fill(cf_device *d, void *to, int byte, size_t bytes) {
  CF_TRY(inside((const emu *)d, to, bytes, "fill"));
  memset(to, byte, bytes);
  return CF_OK;
}

static cf_status emu_load(cf_device *d, const void *image, size_t size, void (*const *entry)(void),
                          const char *id, uint32_t n, cf_device_code **out) {
  (void)d;
  (void)image;
  (void)size;
  (void)id;
  cf_device_code *c = malloc(sizeof *c + n * sizeof *c->fn);
  if (!c)
    return cf_fail(CF_ENOMEM, "out of memory for a kernel");
  c->n = n;
  for (uint32_t k = 0; k < n; k++)
    c->fn[k] = (kernel_fn)entry[k];
  *out = c;
  return CF_OK;
}

static void emu_unload(cf_device *d, cf_device_code *c) {
  (void)d;
  free(c);
}

/* A number below n for each i below n: another order of the same. */
static uint64_t turn(int order, uint64_t i, uint64_t n) {
  if (order == 1)
    return n - 1 - i;
  if (order == 2) { /* a step without a common factor */
    uint64_t step = n / 2 + 1;
    for (;; step++) {
      uint64_t a = step, b = n;
      while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
      }
      if (a == 1)
        return i * step % n;
    }
  }
  return i;
}

static cf_status launch(const emu *e, const cf_device_launch *l) {
  const cf_device_grid *g = &l->grid;
  if (l->k >= l->code->n)
    return cf_fail(CF_EINTERNAL, "device emu: function %u of %u", l->k, l->code->n);
  uint64_t blocks = 1, threads = 1;
  for (int i = 0; i < CF_GRID_DIMS; i++) {
    blocks *= g->blocks[i];
    threads *= g->threads[i];
  }
  cf_device_box b = l->box;
  for (int i = 0; i < CF_GRID_DIMS; i++) {
    b.ids[3 + i] = (int32_t)g->threads[i];
    b.ids[9 + i] = (int32_t)g->blocks[i];
  }
  for (uint64_t i = 0; i < blocks; i++) {
    uint64_t at = turn(e->order, i, blocks);
    for (int a = 0; a < CF_GRID_DIMS; a++) {
      b.ids[6 + a] = (int32_t)(at % g->blocks[a]);
      at /= g->blocks[a];
    }
    for (uint64_t j = 0; j < threads; j++) {
      at = turn(e->order, j, threads);
      for (int a = 0; a < CF_GRID_DIMS; a++) {
        b.ids[a] = (int32_t)(at % g->threads[a]);
        at /= g->threads[a];
      }
      l->code->fn[l->k](l->args, &b, l->partials);
    }
  }
  return CF_OK;
}

static cf_status emu_run(cf_device *d, const cf_device_launch *l, uint32_t n, cf_device_replay **replay) {
  const emu *e = (const emu *)d;
  (void)replay;
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && l[end].level == l[i].level;)
      end++;
    for (uint32_t k = 0; k < end - i; k++)
      CF_TRY(launch(e, &l[i + turn(e->order, k, end - i)]));
  }
  return CF_OK;
}

static void emu_forget(cf_device *d, cf_device_replay *r) {
  (void)d;
  (void)r;
}

static cf_status emu_sync(cf_device *d) {
  (void)d;
  return CF_OK;
}

static cf_status emu_hold(cf_device *d, bool on) {
  (void)d;
  (void)on;
  return CF_OK;
}

static cf_status emu_memory(cf_device *d, size_t *free_bytes, size_t *all_bytes) {
  const emu *e = (const emu *)d;
  *all_bytes = e->limit ? e->limit : SIZE_MAX;
  *free_bytes = *all_bytes - e->used;
  return CF_OK;
}

static void emu_close(cf_device *d) {
  emu *e = (emu *)d;
  while (e->blocks)
    emu_release(d, e->blocks->mem);
  free(e);
}

static const cf_device_ops ops = {
    .alloc = emu_alloc,
    .release = emu_release,
    .write = emu_write,
    .read = emu_read,
    .copy = emu_copy,
    .fill = emu_fill,
    .load = emu_load,
    .unload = emu_unload,
    .run = emu_run,
    .forget = emu_forget,
    .sync = emu_sync,
    .hold = emu_hold,
    .memory = emu_memory,
    .close = emu_close,
};

cf_status cf_emu_open(const cf_device_options *o, cf_device **out) {
  emu *e = calloc(1, sizeof *e);
  if (!e)
    return cf_fail(CF_ENOMEM, "out of memory");
  /* Small grids: what is beyond them goes round the loops of the kernels, which is to be tested, too. */
  e->pub = (cf_device){.ops = &ops,
                       .name = "emu",
                       .describe = "emulated on the CPU, for tests",
                       .target = "emu",
                       .block_threads = 8,
                       .most_blocks = 4,
                       .messages = o->messages,
                       .sharers = 1,
                       .poisons = true};
  e->limit = o->memory;
  e->order = o->order;
  *out = &e->pub;
  return CF_OK;
}
