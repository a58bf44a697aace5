// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Host access (language.md section 4): before plain C touches a store, what is pending on it runs and what is
 * read is made current. Control is replicated, so every rank comes here with the same question. */
#include "api/context.h"

#include <stdio.h>
#include <string.h>

static inline bool away(const cf_store *s, int mode) {
  return __atomic_load_n(&s->away, __ATOMIC_ACQUIRE) & mode & (COFUSE_R | COFUSE_W);
}

/* What a device has of it; the lock, since other threads may ask as well. */
static void bring_home(cf_store *s, int64_t lo, int64_t hi, int mode) {
  if (!away(s, mode))
    return;
  if (cf_on_control)
    cf_context_lock();
  cf_status st = cf_exec_host_access(&cf_ctx.exec, s, lo, hi, mode);
  if (cf_on_control || st != CF_OK)
    cf_context_unlock();
  cf_must(st);
}

/* The host is about to touch it. Another thread may only use what no task touches meanwhile. */
static void announce(cf_store *s) {
  if (cf_on_control)
    s->host_epoch = cf_ctx.exec.epoch;
}

static void guard_store(cf_store *s, int64_t lo, int64_t hi, int mode, cf_cause cause, const char *site) {
  bool write = mode & COFUSE_W, live = s->live;
  bool remote = (mode & COFUSE_R) && cf_ctx.exec.comm->size > 1 && !cf_store_everywhere(s, lo, hi);
  /* The plugin says that all of a range is written only if it is; a directive does not. */
  int home = cause == CF_FLUSH_HOST ? mode | COFUSE_R : mode;
  if (!live && write) {
    /* Now, since the store may be gone after a flush. What no pending task touches is the host's already. */
    bring_home(s, lo, hi, COFUSE_R | COFUSE_W);
    announce(s);
  }
  if ((write ? s->pending : s->writers) == 0 && !remote) {
    if (live)
      bring_home(s, lo, hi, home);
    announce(s);
    return;
  }
  if (!cf_on_control) {
    cf_fail(CF_EINVAL,
            "%s: a thread other than the main one uses store(%s) (%s:%u) while tasks on it are pending or "
            "its data is "
            "on other ranks: put `#pragma cofuse update(%s)` before the parallel region%s",
            site ? site : "host access", s->text, s->file, s->line, s->text,
            write ? ", and `#pragma cofuse flush`, since the thread writes it or frees it" : "");
    cf_context_unlock(); /* held by every caller on such a thread */
    cf_fatal(CF_EINVAL);
  }
  if (cf_ctx.child && cf_ctx.exec.comm->size > 1)
    cf_fatal(
        cf_fail(CF_ECOMM,
                "%s: a forked child uses store(%s) (%s:%u) while tasks on it are pending or its data is on "
                "other ranks: put `#pragma cofuse flush` and `#pragma cofuse update(%s)` before fork",
                site ? site : "host access", s->text, s->file, s->line, s->text));
  int64_t last = (write ? s->pending : s->writers) ? cf_window_conflict(s, lo, hi, write) : -1;
  if (last >= 0)
    cf_must(cf_window_flush((uint32_t)last, cause, site));
  if (!live)
    return;
  if (mode & COFUSE_R) {
    /* What ran just now may have left its results on their owners only. */
    if (cf_ctx.opt.check && !s->all_valid)
      cf_must(cf_check_meet());
    if (cf_ctx.exec.device)
      cf_context_lock();
    cf_status st = cf_exec_fetch(&cf_ctx.exec, s, lo, hi);
    if (cf_ctx.exec.device)
      cf_context_unlock();
    cf_must(st);
  }
  bring_home(s, lo, hi, home);
  announce(s); /* not before: what runs now is done when the host goes on */
}

void cf_guard_store(cf_store *s, int64_t lo, int64_t hi, int mode, cf_cause cause, const char *site) {
  if (!cf_ctx.opt.check) {
    guard_store(s, lo, hi, mode, cause, site);
    return;
  }
  bool live = s->live;
  cf_check_guard(site);
  guard_store(s, lo, hi, mode, cause, site);
  if (live && mode & COFUSE_W) /* not before: what the flush wrote is not the host's */
    cf_check_open(s, lo, hi);
}

static void touch(cf_store *s, const char *lo, const char *hi, int mode, const char *site) {
  const char *end = s->base + s->bytes;
  lo = lo < s->base ? s->base : lo;
  hi = hi > end ? end : hi;
  if (lo < hi)
    cf_guard_store(s, lo - s->base, hi - s->base, mode,
                   mode & COFUSE_W ? CF_FLUSH_GUARD_WRITE : CF_FLUSH_GUARD_READ, site);
}

/* Of the stores that overlap [lo, hi), the one with the smallest id above `after`: ids are alike on all
 * ranks, the order of addresses is not; and a flush in between may remove stores. */
static cf_store *next_by_id(uintptr_t lo, uintptr_t hi, int64_t after) {
  cf_store *best = NULL;
  for (uint32_t i = cf_registry_lower((const void *)lo); i < cf_ctx.nstores; i++) {
    cf_store *s = cf_ctx.stores[i];
    if ((uintptr_t)s->base >= hi)
      break;
    if ((int64_t)s->id > after && (!best || s->id < best->id))
      best = s;
  }
  return best;
}

static void touch_all(uintptr_t lo, uintptr_t hi, int mode, const char *site) {
  cf_store *s;
  int64_t next;
  for (int64_t id = -1; (s = next_by_id(lo, hi, id)); id = next) {
    next = s->id;
    touch(s, (const char *)lo, (const char *)hi, mode, site);
  }
}

/* Stores i and i + 1 of the table may lie in one object. What waits to be freed is an object that the program
 * has no more; where allocators put the next one is no business of this rank alone. */
static bool abut(uint32_t i) {
  enum { CLOSE = 8 };
  const cf_store *a = cf_ctx.stores[i], *b = cf_ctx.stores[i + 1];
  return a->base + a->bytes + CLOSE > b->base && !a->block && !b->block;
}

/* An over-approximate range counts for the object that its pointer is based on, or ranks with another layout
 * of memory would reach into other neighbours: for that store and those that abut with it (one array carved
 * into several stores, members of a struct), which lie alike on every rank. */
static void touch_near(const cf_store *s, uintptr_t lo, uintptr_t hi, int mode, const char *site) {
  uint32_t i = cf_registry_lower(s->base), k = i;
  while (i > 0 && abut(i - 1))
    i--;
  while (k + 1 < cf_ctx.nstores && abut(k))
    k++;
  uintptr_t begin = (uintptr_t)cf_ctx.stores[i]->base,
            end = (uintptr_t)cf_ctx.stores[k]->base + cf_ctx.stores[k]->bytes;
  if (i == k) {
    touch(cf_ctx.stores[i], (const char *)(lo > begin ? lo : begin), (const char *)(hi < end ? hi : end),
          mode, site);
    return;
  }
  touch_all(lo > begin ? lo : begin, hi < end ? hi : end, mode, site);
}

static inline cf_span *span_of(uintptr_t a) { return &cf_ctx.spans[(a >> 12 ^ a >> 20) % CF_SPANS]; }

static void learn(uintptr_t a) {
  if (cf_ctx.opt.check)
    return;
  if (cf_ctx.spans_generation != cf_ctx.generation) {
    memset(cf_ctx.spans, 0, sizeof cf_ctx.spans);
    cf_ctx.spans_generation = cf_ctx.generation;
  }
  uint32_t i = cf_registry_lower((const void *)a);
  const cf_store *next = i < cf_ctx.nstores ? cf_ctx.stores[i] : NULL,
                 *before = i ? cf_ctx.stores[i - 1] : NULL;
  cf_span *e = span_of(a);
  if (next && (uintptr_t)next->base <= a)
    *e = (cf_span){(uintptr_t)next->base, (uintptr_t)next->base + next->bytes, cf_ctx.stores[i]};
  else
    *e = (cf_span){before ? (uintptr_t)before->base + before->bytes : 0,
                   next ? (uintptr_t)next->base : UINTPTR_MAX, NULL};
}

static void touch_range(const void *base, uintptr_t lo, uintptr_t hi, int mode, const char *site) {
  if (!(mode & COFUSE_MAY)) {
    cf_store *s = cf_registry_find((const void *)lo);
    if (s && hi <= (uintptr_t)s->base + s->bytes)
      touch(s, (const char *)lo, (const char *)hi, mode, site);
    else
      touch_all(lo, hi, mode, site);
    return;
  }
  cf_store *s = cf_registry_find(base);
  if (!s)
    s = cf_registry_find((const void *)lo);
  if (s)
    touch_near(s, lo, hi, mode, site);
}

/* The store that the table of spans has for a range based on `at`, or no store there: *none. NULL and not
 * *none: unknown. */
static inline const cf_store *recall(uintptr_t at, uintptr_t lo, uintptr_t hi, bool *none) {
  const cf_span *e = span_of(lo);
  bool hit =
      cf_ctx.spans_generation == cf_ctx.generation && lo >= e->lo && hi <= e->hi && at >= e->lo && at < e->hi;
  *none = hit && !e->store;
  return hit ? e->store : NULL;
}

static inline bool waits(const cf_store *s, int mode) {
  return (mode & COFUSE_W ? s->pending : s->writers) > 0 || away(s, mode);
}

/* Apart, so that cofuse_guard saves no registers when there is nothing to do. */
static __attribute__((noinline)) void guard(const void *base, uintptr_t lo, uintptr_t hi, int mode,
                                            const char *site) {
  if (!cf_on_control) { /* the table stays as it is meanwhile */
    cf_context_lock();
    touch_range(base, lo, hi, mode, site);
    cf_context_unlock();
    return;
  }
  bool none;
  const cf_store *s = recall((uintptr_t)base, lo, hi, &none);
  if (s && !waits(s, mode) &&
      cf_store_everywhere(s, (const char *)lo - s->base, (const char *)hi - s->base)) {
    if (cf_ctx.exec.direct) /* a message may make the device the only one that has it */
      announce((cf_store *)(uintptr_t)s);
    return;
  }
  learn(lo);
  touch_range(base, lo, hi, mode, site);
}

/* What the range means is written in plugin/guard/Guard.h. */
void cofuse_guard(const void *base, const void *lo_, const void *hi_, int mode, const char *site) {
  uintptr_t lo = (uintptr_t)lo_, hi = (uintptr_t)hi_;
  if (hi < lo)
    hi = UINTPTR_MAX;
  if (cf_hull_misses(lo, hi))
    return;
  if (cf_on_control) {
    bool none;
    const cf_store *s = recall((uintptr_t)base, lo, hi, &none);
    if (none || (s && !waits(s, mode) && (s->all_valid || !(mode & COFUSE_R))))
      return;
  }
  guard(base, lo, hi, mode, site);
}

void cofuse_before_jump(void) {
  /* The frames in between are still intact: what is pending on their arrays runs now. Frames of other threads
   * have no stores. */
  if (!cf_on_control)
    return;
  for (uint32_t i = 0; i < cf_ctx.nstores; i++)
    if (cf_ctx.stores[i]->flags & COFUSE_OBJ_AUTO && cf_ctx.stores[i]->pending) {
      cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_SCOPE, NULL));
      return;
    }
}

void cofuse_unwound(const void *sp) {
  /* The stack grows down: automatic stores below the pointer belonged to frames that are gone. One that tasks
   * still wait for was left by a jump out of code that no plugin has seen; its memory is the stack that this
   * runs on. */
  if (!cf_on_control)
    return;
  for (uint32_t i = 0; i < cf_ctx.nstores;) {
    cf_store *s = cf_ctx.stores[i];
    if (!(s->flags & COFUSE_OBJ_AUTO) || s->base >= (const char *)sp) {
      i++;
      continue;
    }
    if (s->pending) {
      cf_fail(CF_EINVAL,
              "store(%s) of %s:%u: longjmp left its scope while tasks on it were pending: put `#pragma "
              "cofuse flush` before "
              "the call that jumps, or compile the file that calls longjmp with the plugin",
              s->text, s->file, s->line);
      cf_fatal(CF_EINVAL);
    }
    cf_registry_drop(s);
    i = 0;
  }
}

/* ---- directives */

static void check_abi(uint32_t abi, const char *file, uint32_t line) {
  if (abi == COFUSE_ABI)
    return;
  cf_fail(CF_EABI,
          "%s:%u was compiled by a cofuse plugin of ABI version %u, but libcofuse has version %u: recompile "
          "it with the "
          "plugin that belongs to this library",
          file, line, abi, COFUSE_ABI);
  cf_fatal(CF_EABI);
}

void cofuse_store_(cofuse_object *d, void *base, const int64_t *ext) {
  /* On another thread loops are plain loops, and what they work on is plain memory. Disabled: known to
   * cofuse_local_box all the same. */
  if ((!cf_context_start() && !(cf_on_control && cf_ctx.disabled)) || cf_ctx.in_function)
    return;
  check_abi(d->abi, d->file, d->line);
  int64_t len[COFUSE_MAX_RANK];
  char *p = base;
  size_t row = d->elem_bytes;
  for (int k = d->rank - 1; k >= 0; k--) {
    len[k] = ext[2 * k + 1];
    if (ext[2 * k] != 0 && k > 0) {
      cf_fail(CF_EINVAL,
              "%s:%u: store(%s): only the first extent may have a lower bound; a store is a whole array",
              d->file, d->line, d->text);
      cf_fatal(CF_EINVAL);
    }
    if (k == 0 && p) /* a null pointer is told apart below, whatever the lower bound */
      p += ext[0] * (int64_t)row;
    row *= (size_t)(len[k] < 0 ? 0 : len[k]);
  }
  cf_store *s;
  cf_must(cf_registry_add(d, p, len, &s));
}

void cofuse_release_(cofuse_object *d, void *base) {
  bool on = cf_context_start();
  if (!cf_on_control) {
    cf_context_lock();
    if (cf_registry_find(base))
      cf_registry_leave(base, 1, 1, NULL);
    cf_context_unlock();
    return;
  }
  if ((!on && !cf_ctx.disabled) || cf_ctx.in_function)
    return;
  check_abi(d->abi, d->file, d->line);
  cf_store *s = cf_registry_find(base);
  if (s)
    cf_registry_drop(s);
}

void cofuse_scope_exit(void *slot) {
  void *base = *(void **)slot;
  if (!base || !cf_on_control)
    return;
  cf_store *s = cf_registry_find(base);
  if (!s || s->base != (char *)base || !(s->flags & COFUSE_OBJ_AUTO))
    return;
  if (s->pending) { /* the frame goes: its tasks run now, but what only they need is a temporary */
    s->live = false;
    int64_t last = cf_window_conflict(s, 0, (int64_t)s->bytes, true);
    cf_must(cf_window_flush(last < 0 ? UINT32_MAX : (uint32_t)last, CF_FLUSH_SCOPE, NULL));
    return;
  }
  cf_registry_drop(s);
}

void cofuse_scope_leave(void *slot) {
  void *base = *(void **)slot;
  cf_store *s = base && cf_on_control ? cf_registry_find(base) : NULL;
  if (!s || s->base != (char *)base || !(s->flags & COFUSE_OBJ_AUTO))
    return;
  if (!s->live) { /* released in the block already; goes with its last task */
    cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_SCOPE, NULL));
    return;
  }
  cf_guard_store(s, 0, (int64_t)s->bytes, COFUSE_R | COFUSE_W, CF_FLUSH_SCOPE, NULL);
  cf_registry_drop(s);
}

/* Byte hull of a section of a store, [lo, hi) from the store's base. */
static bool section(const cofuse_object *d, char *base, const int64_t *ext, cf_store **out, int64_t *lo,
                    int64_t *hi) {
  cf_store *s = cf_registry_find(base);
  if (!s && d->rank > 0) /* the base may lie before the part that is a store */
    s = cf_registry_find(base + ext[0] * (int64_t)d->elem_bytes);
  if (!s)
    return false;
  *out = s;
  if (d->rank == 0 && s->rank > 0) { /* just the name of a pointer: all of the store */
    *lo = 0;
    *hi = (int64_t)s->bytes;
    return true;
  }
  int64_t a = base - s->base, b = a;
  int64_t row = d->elem_bytes;
  for (int k = d->rank - 1; k >= 0; k--) {
    if (ext[2 * k + 1] <= 0)
      return false;
    a += ext[2 * k] * row;
    b += (ext[2 * k] + ext[2 * k + 1] - 1) * row;
    row *= d->rank == s->rank ? s->ext[k] : ext[2 * k] + ext[2 * k + 1];
  }
  *lo = a < 0 ? 0 : a;
  *hi = b + (int64_t)d->elem_bytes > (int64_t)s->bytes ? (int64_t)s->bytes : b + (int64_t)d->elem_bytes;
  return *lo < *hi;
}

static void touch_section(cofuse_object *d, void *base, const int64_t *ext, int mode, cf_cause cause) {
  bool on = cf_context_start(), elsewhere = !cf_on_control;
  if ((!on && !elsewhere) || (!elsewhere && cf_ctx.in_function))
    return;
  check_abi(d->abi, d->file, d->line);
  cf_store *s;
  int64_t lo, hi;
  char site[256];
  snprintf(site, sizeof site, "%s:%u", d->file, d->line);
  if (elsewhere)
    cf_context_lock();
  if (section(d, base, ext, &s, &lo, &hi))
    cf_guard_store(s, lo, hi, mode, cause, site);
  if (elsewhere)
    cf_context_unlock();
}

void cofuse_update_(cofuse_object *d, void *base, const int64_t *ext) {
  touch_section(d, base, ext, COFUSE_R, CF_FLUSH_UPDATE);
}

void cofuse_host_(cofuse_object *d, void *base, const int64_t *ext, int mode) {
  touch_section(d, base, ext, mode, CF_FLUSH_HOST);
}

/* For directives that mean all stores: whether there may be something to do. Inside a kernel there is not,
 * whatever its thread. */
static bool on_main(const char *directive, const char *file, uint32_t line) {
  if (cf_context_start())
    return !cf_ctx.in_function;
  if (cf_on_control || cf_hull_misses(0, UINTPTR_MAX))
    return false;
  cf_fail(CF_EINVAL,
          "%s:%u: `%s` on a thread other than the main one: put it before the parallel region, on the thread "
          "that reaches the first directive",
          file, line, directive);
  cf_fatal(CF_EINVAL);
}

void cofuse_host_all_(const char *file, uint32_t line) {
  if (!on_main("host", file, line))
    return;
  char site[256];
  snprintf(site, sizeof site, "%s:%u", file, line);
  cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_HOST, site));
  touch_all(0, UINTPTR_MAX, COFUSE_R | COFUSE_W, site);
}

void cofuse_flush_(const char *file, uint32_t line) {
  if (!on_main("flush", file, line))
    return;
  char site[256];
  snprintf(site, sizeof site, "%s:%u", file, line);
  cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_DIRECTIVE, site));
  cf_must(cf_context_wait());
}
