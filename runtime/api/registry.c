// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Stores by address interval. The table changes only by program events, alike on every rank; decisions never
 * depend on the order of addresses. */
#include "api/context.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cf_hull cf_hull = {.lo = UINTPTR_MAX};

uint32_t cf_registry_lower(const void *p) {
  /* Without branches: which way each step goes is anybody's guess. */
  const uintptr_t *at = cf_ctx.ends;
  uint32_t n = cf_ctx.nstores;
  while (n > 1) {
    uint32_t half = n / 2;
    at += at[half - 1] <= (uintptr_t)p ? half : 0;
    n -= half;
  }
  return (uint32_t)(at - cf_ctx.ends) + (n == 1 && *at <= (uintptr_t)p);
}

cf_store *cf_registry_find(const void *p) {
  cf_store *r = cf_on_control ? cf_ctx.recent : NULL;
  if (r && (const char *)p >= r->base && (const char *)p < r->base + r->bytes)
    return r;
  if (cf_hull_misses((uintptr_t)p, (uintptr_t)p + 1))
    return NULL;
  uint32_t i = cf_registry_lower(p);
  if (i == cf_ctx.nstores || cf_ctx.stores[i]->base > (const char *)p)
    return NULL;
  if (cf_on_control)
    cf_ctx.recent = cf_ctx.stores[i];
  return cf_ctx.stores[i];
}

static inline cf_store **slot_at(const void *p) {
  return &cf_ctx.at[(uintptr_t)p * 0x9e3779b97f4a7c15u >> (64 - CF_AT_BITS)];
}

cf_store *cf_registry_at(const void *p) {
  cf_store **at = slot_at(p);
  if (*at && (*at)->base == p)
    return *at;
  cf_store *s = cf_registry_find(p);
  if (!s || s->base != p)
    return NULL;
  *at = s;
  return s;
}

/* Stores and blocks to be used again: programs in library style make one for each result. A sanitizer of
 * addresses wants to see them freed. */
typedef struct spare_part {
  struct spare_part *next;
} spare_part;
static spare_part *spare_stores, *spare_blocks;

static void spare(spare_part **list, void *part) {
#ifdef CF_ASAN
  (void)list;
  free(part);
#else
  spare_part *p = part;
  p->next = *list;
  *list = p;
#endif
}

/* All zero; NULL without memory. */
static void *obtain(spare_part **list, size_t bytes) {
  spare_part *p = *list;
  if (!p)
    return calloc(1, bytes);
  *list = p->next;
  return memset(p, 0, bytes);
}

static void drop(spare_part **list) {
  while (*list) {
    spare_part *p = *list;
    *list = p->next;
    free(p);
  }
}

static void set_hull(uintptr_t lo, uintptr_t hi) {
  atomic_store_explicit(&cf_hull.lo, lo, memory_order_relaxed);
  atomic_store_explicit(&cf_hull.hi, hi, memory_order_relaxed);
}

static void hull(void) {
  cf_ctx.recent = NULL;
  cf_ctx.generation++;
  cf_store *last = cf_ctx.nstores ? cf_ctx.stores[cf_ctx.nstores - 1] : NULL;
  if (last)
    set_hull((uintptr_t)cf_ctx.stores[0]->base, (uintptr_t)last->base + last->bytes);
  else
    set_hull(UINTPTR_MAX, 0);
}

void cf_registry_suspend(bool on) {
  static uintptr_t lo, hi; /* an empty hull is the first thing that a guard looks at, on any thread */
  cf_ctx.in_function = on;
  if (on && cf_ctx.exec.device) /* groups run with the lock held then, and a function may fork */
    cf_context_unlock();
  if (on) {
    lo = cf_hull.lo;
    hi = cf_hull.hi;
    set_hull(UINTPTR_MAX, 0);
  } else {
    set_hull(lo, hi);
  }
  if (!on && cf_ctx.exec.device)
    cf_context_lock();
}

/* Back to the allocator, unless its pages are wanted. touched: it has some. */
static void give_back(const cf_freed *f, bool touched, bool lent) {
  cf_pages *pages = cf_on_control && (touched || lent) ? cf_ctx.exec.pages : NULL;
  /* No more than what the program has in use: who frees all of it gets all of it back. */
  size_t limit = 0;
  for (uint32_t i = 0; i < cf_ctx.nstores && pages; i++)
    limit += cf_ctx.stores[i]->live ? cf_ctx.stores[i]->bytes : 0;
  if (pages)
    cf_pages_limit(pages, limit);
  if (pages && lent)
    cf_pages_keep_lent(pages, f);
  else if (!pages || !cf_pages_keep(pages, f, limit))
    f->release(f->base, f->whole);
}

static void forget(cf_store *s) {
  uint32_t i = cf_registry_lower(s->base);
  cf_context_lock();
  cf_exec_forget(&cf_ctx.exec, s);
  memmove(&cf_ctx.stores[i], &cf_ctx.stores[i + 1], (cf_ctx.nstores - i - 1) * sizeof *cf_ctx.stores);
  memmove(&cf_ctx.ends[i], &cf_ctx.ends[i + 1], (cf_ctx.nstores - i - 1) * sizeof *cf_ctx.ends);
  cf_ctx.nstores--;
  hull();
  if (*slot_at(s->base) == s)
    *slot_at(s->base) = NULL;
  cf_block *b = s->block;
  if (b) {
    b->touched |= s->touched;
    b->lent |= s->lent;
  }
  spare(&spare_stores, s);
  cf_context_unlock();
  if (b && --b->stores == 0) {
    cf_ctx.deferred -= b->weight;
    give_back(&b->freed, b->touched, b->lent);
    spare(&spare_blocks, b);
  }
}

void cf_registry_settle(cf_store *s) {
  if (!s->live && s->pending == 0)
    forget(s);
}

void cf_registry_drop(cf_store *s) {
  s->live = false;
  cf_registry_settle(s);
}

/* Ends a store whose memory goes on as plain memory: its contents must be current everywhere. */
static void retire(cf_store *s, const char *site) {
  if (s->live)
    cf_guard_store(s, 0, (int64_t)s->bytes, COFUSE_R | COFUSE_W, CF_FLUSH_STORE, site);
  else
    cf_guard_store(s, 0, (int64_t)s->bytes, COFUSE_W, CF_FLUSH_STORE, site);
}

static bool same_object(const cf_store *s, const cofuse_object *d, const char *base, const int64_t *ext,
                        size_t bytes) {
  if (s->base != base || s->bytes != bytes || s->type != d->type || s->rank != d->rank ||
      s->elem_bytes != d->elem_bytes)
    return false;
  for (int k = 0; k < d->rank; k++)
    if (s->ext[k] != ext[k])
      return false;
  return true;
}

static bool grow(void) {
  uint32_t cap = cf_ctx.cap_stores ? 2 * cf_ctx.cap_stores : 32;
  void *stores = realloc(cf_ctx.stores, cap * sizeof *cf_ctx.stores);
  if (stores)
    cf_ctx.stores = stores;
  void *ends = realloc(cf_ctx.ends, cap * sizeof *cf_ctx.ends);
  if (ends)
    cf_ctx.ends = ends;
  if (!stores || !ends)
    return false;
  cf_ctx.cap_stores = cap;
  return true;
}

/* As number i of the table. */
static bool insert(cf_store *s, uint32_t i) {
  cf_context_lock();
  bool room = cf_ctx.nstores < cf_ctx.cap_stores || grow();
  if (room) {
    memmove(&cf_ctx.stores[i + 1], &cf_ctx.stores[i], (cf_ctx.nstores - i) * sizeof *cf_ctx.stores);
    memmove(&cf_ctx.ends[i + 1], &cf_ctx.ends[i], (cf_ctx.nstores - i) * sizeof *cf_ctx.ends);
    cf_ctx.stores[i] = s;
    cf_ctx.ends[i] = (uintptr_t)s->base + s->bytes;
    cf_ctx.nstores++;
    *slot_at(s->base) = s;
    hull();
  }
  cf_context_unlock();
  return room;
}

cf_status cf_registry_add(const cofuse_object *d, char *base, const int64_t *ext, cf_store **out) {
  size_t bytes = d->elem_bytes;
  *out = NULL;
  for (int k = 0; k < d->rank; k++) {
    if (ext[k] < 0)
      return cf_fail(CF_EINVAL, "%s:%u: store(%s): extent %lld is negative", d->file, d->line, d->text,
                     (long long)ext[k]);
    if (__builtin_mul_overflow(bytes, (size_t)ext[k], &bytes) || bytes > (size_t)INT64_MAX)
      return cf_fail(CF_EINVAL, "%s:%u: store(%s): more bytes than an address can hold", d->file, d->line,
                     d->text);
  }
  if (bytes == 0)
    return CF_OK;
  if (!base)
    return cf_fail(CF_EINVAL, "%s:%u: store(%s): null pointer", d->file, d->line, d->text);
  uint32_t i;
  for (;;) { /* whatever overlaps ends first */
    i = cf_registry_lower(base);
    if (i == cf_ctx.nstores || cf_ctx.stores[i]->base >= base + bytes)
      break;
    char site[256];
    snprintf(site, sizeof site, "%s:%u", d->file, d->line);
    cf_store *s = cf_ctx.stores[i];
    if (s->live && same_object(s, d, base, ext, bytes)) {
      *out = s;
      return CF_OK;
    }
    if (s->live && s->flags & COFUSE_OBJ_AUTO) /* its scope would have ended it */
      return cf_fail(CF_EINVAL,
                     "%s: store(%s) overlaps store(%s) of %s:%u, which is still in use: release that first",
                     site, d->text, s->text, s->file, s->line);
    if (s->live) /* freed where no plugin saw it, most likely */
      cf_log(CF_LOG_WARN, "%s: store(%s) ends store(%s) of %s:%u, which it overlaps", site, d->text, s->text,
             s->file, s->line);
    uint32_t id = s->id;
    retire(s, site);
    i = cf_registry_lower(base); /* a flush may have removed it already */
    if (i < cf_ctx.nstores && cf_ctx.stores[i]->id == id && cf_ctx.stores[i]->pending) {
      cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_STORE,
                              site)); /* tasks whose box is empty conflict with nothing */
      i = cf_registry_lower(base);
    }
    if (i < cf_ctx.nstores && cf_ctx.stores[i]->id == id)
      cf_registry_drop(cf_ctx.stores[i]);
  }
  cf_store *s = obtain(&spare_stores, sizeof *s);
  if (!s)
    return cf_fail(CF_ENOMEM, "out of memory for a store");
  s->id = cf_ctx.next_store++;
  s->type = d->type;
  s->rank = d->rank;
  s->flags = d->flags;
  s->elem_bytes = d->elem_bytes;
  memcpy(s->ext, ext, d->rank * sizeof *ext);
  s->bytes = bytes;
  s->base = base;
  s->file = d->file;
  s->text = d->text;
  s->line = d->line;
  s->live = true;
  s->all_valid = true;
  if (!insert(s, i)) {
    spare(&spare_stores, s);
    return cf_fail(CF_ENOMEM, "out of memory for a store");
  }
  cf_exec_event(&cf_ctx.exec, bytes);
  if (bytes > cf_ctx.largest)
    cf_ctx.largest = bytes;
  *out = s;
  return CF_OK;
}

/* ---- free and realloc of compiled units */

/* Gives up every store inside the block, whose first is number i of the table and which ends at `end`. True:
 * some still have pending tasks, the first of these is then number i. */
static bool give_up(uint32_t i, const char *end, cf_block *b) {
  bool wait = false;
  while (i < cf_ctx.nstores && cf_ctx.stores[i]->base < end) {
    cf_store *s = cf_ctx.stores[i];
    s->live = false;
    if (s->pending == 0) {
      if (b)
        b->touched |= s->touched;
      forget(s);
      continue;
    }
    wait = true;
    if (b && !s->block) {
      s->block = b;
      b->stores++;
    }
    i++;
  }
  return wait;
}

/* *at: the first of them, if there are any. */
static bool holds_stores(const char *p, size_t n, uint32_t *at) {
  if (cf_hull_misses((uintptr_t)p, (uintptr_t)p + n))
    return false;
  *at = cf_registry_lower(p);
  return *at < cf_ctx.nstores && cf_ctx.stores[*at]->base < p + n;
}

static void free_block(void *p, size_t n) {
  (void)n;
  free(p);
}

/* ---- other threads */

/* Stores of another thread wait here for the control thread; under the lock. */
typedef struct left {
  struct left *next;
  void *p;
  size_t n, bytes;
  void (*release)(void *, size_t);
} left;
static left *left_list;
_Atomic bool cf_registry_left;

void cf_registry_leave(void *p, size_t n, size_t bytes, void (*release)(void *, size_t)) {
  left *l = malloc(sizeof *l);
  if (!l) {
    cf_context_unlock();
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory"));
  }
  *l = (left){left_list, p, n, bytes, release};
  left_list = l;
  cf_registry_left = true;
}

void cf_registry_close(void) {
  for (left *l = left_list, *next; l; l = next) {
    next = l->next;
    if (l->release)
      l->release(l->p, l->bytes);
    free(l);
  }
  left_list = NULL;
  for (uint32_t i = 0; i < cf_ctx.nstores; i++)
    free(cf_ctx.stores[i]);
  drop(&spare_stores);
  drop(&spare_blocks);
  free(cf_ctx.stores);
  free(cf_ctx.ends);
  cf_ctx.nstores = 0;
  set_hull(UINTPTR_MAX, 0);
}

void cf_registry_collect(void) {
  cf_context_lock();
  left *l = left_list;
  left_list = NULL;
  cf_registry_left = false;
  cf_context_unlock();
  while (l) {
    left *next = l->next;
    if (l->release)
      cf_registry_free(l->p, l->n, l->bytes, l->release);
    else
      give_up(cf_registry_lower(l->p), (char *)l->p + l->n, NULL);
    free(l);
    l = next;
  }
}

/* The guard for every store in [p, p + n). False: there is none. */
static bool touch_elsewhere(char *p, size_t n, int mode, const char *site) {
  bool any = false;
  for (uint32_t i = cf_registry_lower(p); i < cf_ctx.nstores && cf_ctx.stores[i]->base < p + n; i++) {
    cf_guard_store(cf_ctx.stores[i], 0, (int64_t)cf_ctx.stores[i]->bytes, mode, CF_FLUSH_MEMORY, site);
    any = true;
  }
  return any;
}

static void free_elsewhere(void *p, size_t n, size_t bytes, void (*release)(void *, size_t)) {
  cf_context_lock();
  bool held = touch_elsewhere(p, n, COFUSE_W, "free");
  if (held)
    cf_registry_leave(p, n, bytes, release);
  cf_context_unlock();
  if (!held)
    release(p, bytes);
}

void cf_registry_free(void *p, size_t n, size_t bytes, void (*release)(void *, size_t)) {
  if (cf_hull_misses((uintptr_t)p, (uintptr_t)p + n)) {
    release(p, bytes);
    return;
  }
  if (!cf_on_control) {
    free_elsewhere(p, n, bytes, release);
    return;
  }
  uint32_t at;
  if (!holds_stores(p, n, &at)) {
    release(p, bytes);
    return;
  }
  cf_block *b = obtain(&spare_blocks, sizeof *b);
  if (!b) { /* no memory to wait with: run what is pending instead */
    cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_MEMORY, NULL));
    give_up(cf_registry_lower(p), (char *)p + n, NULL);
    release(p, bytes);
    return;
  }
  size_t weight = 0; /* of the stores, not n: allocators round differently on each rank */
  for (uint32_t i = at; i < cf_ctx.nstores && cf_ctx.stores[i]->base < (char *)p + n; i++)
    weight += cf_ctx.stores[i]->bytes;
  *b = (cf_block){.freed = {p, n, bytes, release}, .weight = weight};
  if (!give_up(at, (char *)p + n, b)) {
    give_back(&b->freed, b->touched, false);
    spare(&spare_blocks, b);
    return;
  }
  /* A store that no task has run on yet is most likely a temporary whose pages were never touched. */
  if (cf_ctx.stores[at]->home.kind == CF_PART_UNSET)
    b->weight = weight / 16;
  cf_ctx.deferred += b->weight;
  /* Large arrays need a larger limit, or no temporary would ever live long enough to be fused away. */
  size_t limit = cf_ctx.opt.defer_bytes;
  if (limit / 16 < cf_ctx.largest)
    limit = cf_ctx.largest > SIZE_MAX / 16 ? SIZE_MAX : 16 * cf_ctx.largest;
  if (cf_ctx.deferred > limit)
    cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_MEMORY, NULL));
}

void cofuse_hook_free(void *p) {
  if (!p || cf_hull_misses((uintptr_t)p, UINTPTR_MAX)) {
    free(p);
    return;
  }
  size_t n = malloc_usable_size(p);
  cf_registry_free(p, n, n, free_block);
}

/* The block stays until the control thread has let go of the stores in it. */
static void *realloc_elsewhere(void *p, size_t n, size_t size) {
  cf_context_lock();
  bool held = touch_elsewhere(p, n, COFUSE_R | COFUSE_W, "realloc");
  void *fresh = held && size ? malloc(size) : NULL;
  if (fresh)
    memcpy(fresh, p, n < size ? n : size);
  if (held && (fresh || !size))
    cf_registry_leave(p, n, n, free_block);
  cf_context_unlock();
  return held ? fresh : realloc(p, size);
}

void *cofuse_hook_realloc(void *p, size_t size) {
  if (p && !cf_hull_misses((uintptr_t)p, UINTPTR_MAX)) {
    size_t n = malloc_usable_size(p);
    if (!cf_on_control)
      return realloc_elsewhere(p, n, size);
    uint32_t at;
    if (holds_stores(p, n, &at)) { /* the contents move: current everywhere first, then plain memory */
      cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_MEMORY, NULL));
      for (uint32_t i = cf_registry_lower(p); i < cf_ctx.nstores && cf_ctx.stores[i]->base < (char *)p + n;
           i++)
        cf_guard_store(cf_ctx.stores[i], 0, (int64_t)cf_ctx.stores[i]->bytes, COFUSE_R | COFUSE_W,
                       CF_FLUSH_MEMORY, NULL);
      give_up(cf_registry_lower(p), (char *)p + n, NULL);
    }
  }
  return realloc(p, size);
}
