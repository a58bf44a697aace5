// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* From a call of rewritten code to an index task, or back to the plain loop.
 *
 * The plain loop is always right: its host guards make its data coherent. So whatever cannot be shown to be
 * a sound task here returns 0. What may still go wrong later (tilings that do not fit) is handled by running
 * the task on every rank. */
#include "api/context.h"
#include "ir/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_MAX = 64 << 10 }; /* bytes of unregistered memory copied at issue */
enum {
  SECTION_BYTES = 64 << 20, /* a loop that reduces into more than this runs serially */
  SECTION_SMALL = 8192,     /* elements that may always be more than the loop's iterations */
};

typedef struct issue {
  cofuse_forall *d;
  cf_task *t;
  void *const *targets;
  bool at_once; /* reads memory in place that the program may change */
  const char *why;
  const cofuse_access *cause;
} issue;

static _Noreturn void fatal_bounds(const cofuse_forall *d, const cofuse_access *a, const cf_store *s,
                                   int64_t lo, int64_t hi) {
  char ext[160];
  int n = 0;
  ext[0] = 0;
  for (int k = 0; k < s->rank; k++)
    n += snprintf(ext + n, sizeof ext - (size_t)n, "[%lld]", (long long)s->ext[k]);
  int64_t w = s->elem_bytes;
  cf_fail(CF_EBOUNDS,
          "%s:%u: loop of line %u accesses %s beyond store(%s) of %s:%u: elements %lld to %lld, but the "
          "store has %lld "
          "(extents %s); declare the whole array or correct the loop bounds",
          d->file, a->line, d->line, a->text, s->text, s->file, s->line, (long long)cf_floor_div(lo, w),
          (long long)cf_floor_div(hi - 1, w), (long long)cf_store_count(s), s->rank ? ext : "none: a scalar");
  cf_fatal(CF_EBOUNDS);
}

/* How many integers describe the access in a call. */
static int ints_of(const cofuse_forall *d, const cofuse_access *a) {
  int loops = d->ndims + a->ninner;
  return 2 + loops + a->ninner + (a->flags & COFUSE_ACC_RANGED ? 2 * loops : 0);
}

static int serial(issue *q, const char *why, const cofuse_access *cause) {
  q->why = why;
  q->cause = cause;
  return 0;
}

static bool compatible(const cf_store *s, int type) {
  if (s->type == COFUSE_OPAQUE)
    return true;
  if (s->type == COFUSE_C32 || s->type == COFUSE_C64) /* halves */
    return type == (s->type == COFUSE_C32 ? COFUSE_F32 : COFUSE_F64);
  return s->type == type ||
         (s->elem_bytes == cf_type_bytes(type) && strcmp(cf_type_mlir(s->type), cf_type_mlir(type)) == 0);
}

/* A reduction target that another access of the loop may touch is a dependence between iterations. */
static bool holds_target(const issue *q, const char *lo, const char *hi) {
  for (int r = 0; r < q->d->nreds; r++) {
    const char *t = q->targets[r];
    if (t + cf_target_bytes(q->t, r) > lo && t < hi)
      return true;
  }
  return false;
}

/* Unregistered memory: bytes [lo, hi) as they are now. */
static int capture(issue *q, cf_access *a, const char *lo, const char *hi, const char *at) {
  if (hi - lo > SNAPSHOT_MAX) {
    a->capture = lo;
    q->at_once = true;
  } else {
    cf_snapshot *s = aligned_alloc(64, (sizeof *s + (size_t)(hi - lo) + 63) / 64 * 64);
    if (!s)
      cf_fatal(
          cf_fail(CF_ENOMEM, "%s:%u: out of memory for a copy of %s", q->d->file, q->d->line, a->desc->text));
    s->next = q->t->snapshots;
    q->t->snapshots = s;
    memcpy(s->data, lo, (size_t)(hi - lo));
    a->capture = s->data;
  }
  a->at = at - lo;
  a->hi[0] = hi - lo; /* bytes, for COFUSE_CHECK */
  return 1;
}

/* Store that the program means by this address. One that it gave up and that pending tasks still use is
 * memory like any other from then on: those tasks run first. */
static cf_store *lookup(const void *p) {
  cf_store *s = cf_registry_find(p);
  if (!s || s->live)
    return s;
  cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_STORE, NULL));
  return cf_registry_find(p);
}

/* Iterations of a loop of n that make the access: those with counter values in range. cut: how many at the
 * start and at the end do not. */
static void take_range(int64_t first, int64_t step, int64_t n, const int64_t range[2], int64_t cut[2]) {
  int64_t by;
  for (int end = 0; end < 2; end++) {
    if (range[end] == (end ? INT64_MAX : INT64_MIN) || __builtin_sub_overflow(range[end], first, &by) ||
        by == INT64_MIN)
      continue;
    /* Lowest value: a rising counter reaches it after ceil(by / step) iterations, a falling one leaves it
     * after floor(by / step); for the highest value the other way round. */
    bool start = (end == 0) == (step > 0);
    int64_t k = start ? cf_ceil_div(step > 0 ? by : -by, cf_abs(step))
                      : n - 1 - cf_floor_div(step > 0 ? by : -by, cf_abs(step));
    cut[start ? 0 : 1] = cf_clamp(k, 0, n);
  }
}

/* One access. 1: done; 0: the loop must run serially. */
static int take_access(issue *q, cf_access *a, const cofuse_access *d, const int64_t *v) {
  static const char nothing[64];
  cf_task *t = q->t;
  const char *at = (const char *)(uintptr_t)v[0], *base = (const char *)(uintptr_t)v[1];
  bool cond = d->flags & COFUSE_ACC_COND, indirect = d->flags & COFUSE_ACC_INDIRECT;
  bool unbounded = d->flags & COFUSE_ACC_UNBOUNDED, writes = d->mode & COFUSE_W, empty = false;
  bool object = d->flags & COFUSE_ACC_OBJECT;
  v += 2;
  a->desc = d;
  a->ninner = d->ninner;
  a->priv = (uint8_t)((d->mode & COFUSE_R ? CF_READ : 0) | (writes ? CF_WRITE : 0));
  if (!a->priv)
    a->priv = CF_READ; /* read only behind its own write */
  a->field_bytes = (uint32_t)cf_type_bytes(d->type);
  int outer = q->d->ndims, nl = outer + d->ninner;
  int64_t lo = 0, hi = a->field_bytes;
  for (int l = 0; l < nl; l++) {
    int place = l < outer ? t->loop_at[l] : t->ndims + l - outer;
    int64_t n = l >= outer         ? (a->itrip[l - outer] = v[nl + l - outer])
                : place < t->ndims ? t->trip[place]
                                   : 1;
    int64_t cut[2] = {0, 0};
    if (n > 0 && d->flags & COFUSE_ACC_RANGED)
      take_range(l < outer ? t->first[place] : 0, l < outer ? t->step[place] : 1, n,
                 v + nl + d->ninner + 2 * l, cut);
    if (l >= outer || place < t->ndims) {
      a->bstride[place] = v[l];
      memcpy(a->cut[place], cut, sizeof cut);
    }
    int64_t from = cut[0], to = n - 1 - cut[1];
    if (n <= 0 || from > to) {
      empty = true;
      continue;
    }
    lo += cf_min(v[l] * from, v[l] * to);
    hi += cf_max(v[l] * from, v[l] * to);
  }
  if (empty && !unbounded) { /* touches nothing */
    a->capture = nothing;
    a->priv = CF_READ;
    return 1;
  }
  if (indirect && object && d->ninner) { /* the size of the object stands where an inner trip count would */
    a->ninner = 0;
    lo = 0;
    hi = v[nl];
  }
  cf_store *s;
  if (cond || indirect || unbounded) {
    /* The base alone decides: other addresses of the access may lie in whatever the allocator put next to it,
     * on one rank and not on another. One past the end of an array it may itself be the first byte of a
     * neighbour. */
    s = lookup(base);
    if (s && cond && !indirect && !unbounded && (at + hi <= s->base || at + lo >= s->base + s->bytes))
      return serial(q, "it accesses, under a condition, memory outside the array that its pointer points to",
                    d);
  } else {
    s = lookup(at + lo);
  }
  if (!s) {
    if (writes)
      return serial(q, "it writes memory that is no store", d);
    if ((indirect || unbounded) && !(object && indirect))
      return serial(q, "it reads, through data-dependent subscripts, memory that is no store", d);
    if (cond && !object)
      return serial(q, "it reads, under a condition, memory that is no store", d);
    if (holds_target(q, at + lo, at + hi))
      return serial(q, "it uses the variable that it reduces into", d);
    uint32_t next = cf_registry_lower(at + lo);
    if (next < cf_ctx.nstores && cf_ctx.stores[next]->base < at + hi)
      return serial(q, "it reads plain memory and a store through one access", d);
    return capture(q, a, at + lo, at + hi, at);
  }
  /* Clipped: the hull of a conditional access may reach into memory that lies elsewhere on other ranks. */
  if (holds_target(q, at + lo > s->base ? at + lo : s->base,
                   at + hi < s->base + s->bytes ? at + hi : s->base + s->bytes))
    return serial(q, "it uses the variable that it reduces into", d);
  if (!compatible(s, d->type))
    return serial(q, "it accesses a store with another element type", d);
  a->store = s;
  a->at = at - s->base;
  if (indirect || unbounded) {
    if (writes)
      return serial(q, "it writes a store through data-dependent subscripts", d);
    if (holds_target(q, s->base, s->base + s->bytes))
      return serial(q, "it uses the variable that it reduces into", d);
    a->whole = true;
    a->field = 0;
    a->field_bytes = s->elem_bytes;
    cf_amap_reset(&a->map, s->rank, 0);
    for (int k = 0; k < s->rank; k++) {
      a->hi[k] = s->ext[k];
      a->step[k] = 1;
    }
    return 1;
  }
  int64_t bad_lo = 0, bad_hi = 0;
  cf_status st = cf_access_delinearise(a, t->ndims, t->trip, cond, base - s->base, &bad_lo, &bad_hi);
  if (st == CF_EBOUNDS)
    fatal_bounds(q->d, d, s, bad_lo, bad_hi);
  cf_must(st);
  if (a->whole && writes)
    return serial(q, "its writes are not a box of the store's shape", d);
  a->must = writes && !cond && !a->whole;
  return 1;
}

/* The promise of forall: no iteration touches what another one writes. */
static int check_independence(issue *q) {
  const cf_task *t = q->t;
  for (int i = 0; i < t->naccess; i++) {
    const cf_access *w = &t->access[i];
    if (!w->store || !(w->priv & (CF_WRITE | CF_REDUCE)))
      continue;
    for (int k = 0; k < t->naccess; k++) {
      const cf_access *a = &t->access[k];
      if (a->store != w->store || (w->priv & CF_REDUCE && k == i) || !cf_access_intersects(w, a))
        continue;
      if (w->priv & CF_REDUCE || a->priv & CF_REDUCE)
        return serial(q, "it uses the variable that it reduces into", a->desc ? a->desc : w->desc);
      if (t->ndims == 0 || cf_access_same_iteration(w, a, t->ndims, t->trip))
        continue;
      if (cf_site_of(q->d)->told)
        return serial(q, "iterations depend on each other", w->desc);
      cf_site_of(q->d)->told = true;
      if (cf_ctx.exec.comm->rank == 0)
        cf_log(CF_LOG_WARN,
               "%s:%u: loop runs serially: its iterations depend on each other: %s (line %u) is written and "
               "%s (line %u) "
               "%s the same element of store(%s) in another iteration",
               q->d->file, q->d->line, w->desc->text, w->desc->line, a->desc->text, a->desc->line,
               a->priv & CF_WRITE ? "writes" : "reads", a->store->text);
      return serial(q, "iterations depend on each other", w->desc);
    }
  }
  return 1;
}

/* Iterations, those of inner loops included where an access tells their number; INT64_MAX: not known. */
static int64_t work_of(const cf_task *t) {
  int64_t outer = 1, most = 1;
  for (int l = 0; l < t->ndims; l++)
    outer = __builtin_mul_overflow(outer, t->trip[l], &outer) ? INT64_MAX : outer;
  for (int i = 0; i < t->naccess; i++) {
    int64_t n = 1;
    for (int k = 0; k < t->access[i].ninner; k++)
      if (t->access[i].itrip[k] < 0 || __builtin_mul_overflow(n, t->access[i].itrip[k], &n))
        return INT64_MAX;
    most = cf_max(most, n);
  }
  return __builtin_mul_overflow(outer, most, &outer) ? INT64_MAX : outer;
}

/* Lengths of array sections. Private copies of a section must be worth it. */
static int take_sections(issue *q, const int64_t *counts) {
  cf_task *t = q->t;
  for (int r = 0; r < q->d->nreds; r++) {
    t->red_count[r] = 0;
    if (!(q->d->reds[r].flags & COFUSE_RED_SECTION))
      continue;
    t->red_count[r] = *counts++;
    if (t->red_count[r] <= 0)
      return serial(q, "the section that it reduces into is empty", NULL);
    if (t->red_count[r] > SECTION_BYTES / (int64_t)cf_type_bytes(q->d->reds[r].type))
      return serial(q, "it reduces into a section of more than 64 MiB", NULL);
  }
  return 1;
}

static int check_sections(issue *q) {
  const cf_task *t = q->t;
  size_t bytes = 0;
  int64_t elements = 0;
  for (int r = 0; r < t->nreds; r++) {
    if (!t->red_count[r])
      continue;
    bytes += cf_target_bytes(t, r);
    elements += t->red_count[r];
    const char *lo = q->targets[r], *hi = lo + cf_target_bytes(t, r);
    for (int k = 0; k < t->nreds; k++) {
      const char *o = q->targets[k];
      if (k != r && o < hi && o + cf_target_bytes(t, k) > lo)
        return serial(q, "it reduces into the same memory twice", NULL);
    }
  }
  if (bytes > SECTION_BYTES)
    return serial(q, "it reduces into sections of more than 64 MiB", NULL);
  if (elements > SECTION_SMALL && elements > work_of(t))
    return serial(q, "it reduces into a section with more elements than it has iterations", NULL);
  return 1;
}

/* && and || turn a value that is neither 0 nor 1 into one of them, but only if some iteration updates it. */
static bool is_logical(const cofuse_red *r) {
  return (r->op == COFUSE_RED_LAND || r->op == COFUSE_RED_LOR) && r->type != COFUSE_BOOL;
}

/* What a section holds comes into the result: brought here before anything is issued. */
static int fetch_targets(issue *q) {
  const cf_task *t = q->t;
  char site[256];
  for (int r = 0; r < t->nreds; r++) {
    const cofuse_red *red = &q->d->reds[r];
    if (!t->red_count[r] && !is_logical(red))
      continue;
    const char *p = q->targets[r];
    size_t w = cf_type_bytes(red->type), n = cf_target_bytes(t, r) / w;
    snprintf(site, sizeof site, "%s:%u", q->d->file, q->d->line);
    cofuse_guard(p, p, p + n * w, COFUSE_R | COFUSE_W, site);
    char zero[8] = {0}, one[8];
    cf_red_identity(COFUSE_RED_MUL, red->type, one);
    for (size_t i = 0; i < n && is_logical(red); i++, p += w)
      if (memcmp(p, zero, w) != 0 && memcmp(p, one, w) != 0)
        return serial(q, "it reduces by && or || into a value that is neither 0 nor 1", NULL);
  }
  return 1;
}

static bool is_deferred(const void *target, const cofuse_red *r, cf_store **s) {
  *s = lookup(target);
  return *s && cf_store_count(*s) == 1 && compatible(*s, r->type) && (const char *)target == (*s)->base;
}

static void take_reductions(issue *q, void *const *targets, bool *now) {
  cf_task *t = q->t;
  for (int r = 0; r < q->d->nreds; r++) {
    cf_store *s;
    t->targets[r] = targets[r];
    t->deferred[r] =
        !t->red_count[r] && !is_logical(&q->d->reds[r]) && is_deferred(targets[r], &q->d->reds[r], &s);
    if (!t->deferred[r]) {
      *now = true;
      continue;
    }
    cf_access *a = &t->access[t->naccess++];
    a->store = s;
    a->priv = CF_REDUCE;
    a->redop = q->d->reds[r].op;
    a->field_bytes = s->elem_bytes;
    a->whole = true;
    cf_amap_reset(&a->map, s->rank, 0);
    for (int k = 0; k < s->rank; k++) {
      a->hi[k] = s->ext[k];
      a->step[k] = 1;
    }
  }
}

static int build(issue *q, const int64_t *ints, void *const *targets, bool *now) {
  cofuse_forall *d = q->d;
  cf_task *t = q->t;
  t->desc = d;
  t->ndims = 0;
  t->nreds = d->nreds;
  for (int single = 0, at = 0; single < 2; single++)
    for (int l = 0; l < d->ndims; l++) {
      const int64_t *v = ints + 3 * l;
      if ((v[1] == 1) != single)
        continue;
      t->first[at] = v[0];
      t->trip[at] = v[1];
      t->step[at] = v[2];
      t->loop_at[l] = (uint8_t)at++;
      t->ndims = (uint8_t)(t->ndims + !single);
    }
  ints += 3 * d->ndims;
  const int64_t *counts = ints;
  for (int i = 0; i < d->naccess; i++)
    counts += ints_of(d, &d->access[i]);
  if (!take_sections(q, counts))
    return 0;
  for (int i = 0; i < d->naccess; i++) {
    if (!take_access(q, &t->access[i], &d->access[i], ints))
      return 0;
    t->naccess++;
    ints += ints_of(d, &d->access[i]);
  }
  take_reductions(q, targets, now);
  return check_sections(q) && check_independence(q);
}

static void take_scalars(cf_task *t, const void *const *scalars) {
  const cofuse_forall *d = t->desc;
  for (int s = 0; s < d->nscalars; s++)
    memcpy((char *)t->scalars + 8 * s, scalars[s], cf_type_bytes(d->scalar_types[s]));
}

int cofuse_run(cofuse_forall *d, const int64_t *ints, const void *const *scalars, void *const *targets) {
  if (!cf_context_start() || cf_ctx.settled || cf_ctx.in_function)
    return 0;
  if (d->abi != COFUSE_ABI) {
    cf_fail(CF_EABI,
            "a loop was compiled by a cofuse plugin of ABI version %u, but libcofuse has version %u: "
            "recompile the "
            "program with the plugin that belongs to this library",
            d->abi, COFUSE_ABI);
    cf_fatal(CF_EABI);
  }
  cf_ctx.exec.epoch++;
  for (int l = 0; l < d->ndims; l++)
    if (ints[3 * l + 1] <= 0)
      return 1; /* no iteration: nothing is looked at */
  if (d->nreds > CF_MAX_REDS)
    return 0;
  uint64_t hash;
  cf_task *t = cf_again_find(d, ints, targets, &hash);
  if (t) {
    take_scalars(t, scalars);
    cf_must(cf_window_push(t));
    return 1;
  }
  t = cf_task_new(d->naccess + d->nreds, 8u * d->nscalars);
  if (!t)
    cf_fatal(cf_fail(CF_ENOMEM, "%s:%u: out of memory for a task", d->file, d->line));
  issue q = {.d = d, .t = t, .targets = targets};
  bool now = false;
  if (!build(&q, ints, targets, &now) || !fetch_targets(&q)) {
    cf_site *s = cf_site_of(d);
    s->serial++;
    s->why = q.why;
    cf_slow_begin(s);
    cf_log(CF_LOG_DEBUG, "%s:%u: plain loop: %s: %s", d->file, d->line, q.why, q.cause ? q.cause->text : "");
    cf_task_recycle(t);
    return 0;
  }
  cf_again_note(t, ints, hash);
  take_scalars(t, scalars);
  char site[256]; /* not cleared: this is the way of every task */
  site[0] = '\0';
  if (now || q.at_once)
    snprintf(site, sizeof site, "%s:%u", d->file, d->line);
  if (now) /* targets that are plain memory, or elements of a store that is more than that */
    for (int r = 0; r < d->nreds; r++) {
      cf_store *s;
      if (!t->deferred[r] && !t->red_count[r] && (s = cf_registry_find(t->targets[r])))
        cf_guard_store(s, (char *)t->targets[r] - s->base,
                       (char *)t->targets[r] - s->base + (int64_t)cf_type_bytes(d->reds[r].type),
                       COFUSE_R | COFUSE_W, CF_FLUSH_REDUCTION, site);
    }
  cf_must(cf_window_push(t));
  if (now || q.at_once)
    cf_must(cf_window_flush(UINT32_MAX, now ? CF_FLUSH_REDUCTION : CF_FLUSH_CAPTURE, site));
  return 1;
}
