// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_CHECK, the parts that look at the program: host writes that no guard announced, ranks that took
 * different ways, and NaNs that appear. (Subscripts are checked by the kernels: exec/bounds.c.)
 *
 * Host writes: the bytes that live on this rank are remembered as one hash per chunk. From the moment a task
 * on a store is issued, only tasks may change it, except where a guard announces a write: its chunks are open
 * until the next task on that store is issued, since one guard may stand for a whole loop. Before a group
 * runs, closed chunks of its stores must have their hash. An unguarded read cannot be seen; so that it shows,
 * what a group leaves invalid here is overwritten with bytes 0xff, which are NaNs in floating point.
 *
 * NaNs are noticed in the same pass. Reported is a task that leaves one in a chunk that had none, unless a
 * store that it reads holds one here already: the first report is the origin, not what it infects. */
#include "api/context.h"
#include "ir/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, BUCKETS = 256, SITE = 112, STEPS = 256 };
enum { OPEN = 1, HAS_NAN = 2 };

typedef struct shadow {
  struct shadow *next;
  uint32_t id;
  bool alive;
  cf_slab slab;      /* the bytes looked at */
  size_t per_run, n; /* chunks of one run, of all */
  size_t nopen, nans;
  uint64_t *hash;
  uint8_t *state;
  const cofuse_forall *since; /* last task that ran on the store */
} shadow;

/* One task since the ranks last compared. */
typedef struct step {
  uint64_t stamp;
  char site[SITE];
} step;

typedef struct history {
  uint64_t n; /* steps, of which the first STEPS are kept */
  step v[STEPS];
} history;

static struct {
  pthread_mutex_t lock; /* guards may come from any thread */
  shadow *bucket[BUCKETS];
  uint32_t count, sweep_at;
  const cofuse_forall *last_task;
  char last_guard[SITE];
  uint64_t meetings; /* comparisons of ranks so far: the same number on each */
  history past;
} ck = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- shadows */

static shadow *find(uint32_t id) {
  shadow *h = ck.bucket[id % BUCKETS];
  while (h && h->id != id)
    h = h->next;
  return h;
}

static void drop(shadow **at) {
  shadow *h = *at;
  *at = h->next;
  free(h->hash);
  free(h->state);
  free(h);
  ck.count--;
}

/* Forgets the shadows of stores that are gone. */
static void sweep(void) {
  for (uint32_t i = 0; i < cf_ctx.nstores; i++) {
    shadow *h = find(cf_ctx.stores[i]->id);
    if (h)
      h->alive = true;
  }
  for (uint32_t b = 0; b < BUCKETS; b++)
    for (shadow **at = &ck.bucket[b]; *at;) {
      if (!(*at)->alive) {
        drop(at);
        continue;
      }
      (*at)->alive = false;
      at = &(*at)->next;
    }
  ck.sweep_at = 2 * ck.count + 64;
}

void cf_check_end(void) {
  for (uint32_t b = 0; b < BUCKETS; b++)
    while (ck.bucket[b])
      drop(&ck.bucket[b]);
}

static size_t chunk_bytes(const shadow *h, size_t c) {
  return (size_t)cf_min(CHUNK, (int64_t)(h->slab.run_bytes - c % h->per_run * CHUNK));
}

/* Offset of chunk c from the store's base. */
static size_t chunk_at(const shadow *h, size_t c) {
  return h->slab.first + c / h->per_run * h->slab.pitch + c % h->per_run * CHUNK;
}

/* First NaN of a chunk: offset from its start, -1 if there is none. */
static int64_t find_nan(const cf_store *s, const char *p, size_t bytes) {
  if (s->type == COFUSE_F64 || s->type == COFUSE_C64) {
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
      double v;
      memcpy(&v, p + i, 8);
      if (isnan(v))
        return (int64_t)i;
    }
  } else if (s->type == COFUSE_F32 || s->type == COFUSE_C32) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      float v;
      memcpy(&v, p + i, 4);
      if (isnan(v))
        return (int64_t)i;
    }
  }
  return -1;
}

static uint64_t chunk_hash(const cf_store *s, const shadow *h, size_t c) {
  return cf_hash64(s->base + chunk_at(h, c), chunk_bytes(h, c), 0);
}

static void set_state(shadow *h, size_t c, uint8_t state) {
  h->nopen = h->nopen + (state & OPEN ? 1 : 0) - (h->state[c] & OPEN ? 1 : 0);
  h->nans = h->nans + (state & HAS_NAN ? 1 : 0) - (h->state[c] & HAS_NAN ? 1 : 0);
  h->state[c] = state;
}

/* Takes the present contents of open chunks as right. */
static void close_chunks(const cf_store *s, shadow *h) {
  for (size_t c = 0; h->nopen && c < h->n; c++) {
    if (!(h->state[c] & OPEN))
      continue;
    h->hash[c] = chunk_hash(s, h, c);
    set_state(h, c, find_nan(s, s->base + chunk_at(h, c), chunk_bytes(h, c)) >= 0 ? HAS_NAN : 0);
  }
}

/* Sets which bytes are looked at; all are open then. */
static void shape(shadow *h, const cf_slab *slab) {
  free(h->hash);
  free(h->state);
  h->slab = *slab;
  h->per_run = (slab->run_bytes + CHUNK - 1) / CHUNK;
  h->n = h->nopen = slab->runs * h->per_run;
  h->nans = 0;
  h->hash = malloc((h->n + 1) * sizeof *h->hash);
  h->state = malloc(h->n + 1);
  if (!h->hash || !h->state)
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory for COFUSE_CHECK"));
  memset(h->state, OPEN, h->n);
}

static shadow *shadow_of(const cf_store *s) {
  shadow *h = find(s->id);
  if (h)
    return h;
  if (ck.count >= ck.sweep_at)
    sweep();
  h = calloc(1, sizeof *h);
  if (!h)
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory for COFUSE_CHECK"));
  h->id = s->id;
  h->next = ck.bucket[s->id % BUCKETS];
  ck.bucket[s->id % BUCKETS] = h;
  ck.count++;
  cf_slab own = cf_slab_own(&cf_ctx.exec, s);
  shape(h, &own);
  return h;
}

/* ---- host writes */

void cf_check_push(const cf_task *t) {
  cf_exec *x = &cf_ctx.exec;
  pthread_mutex_lock(&ck.lock);
  ck.last_task = t->desc;
  if (x->comm->size > 1) {
    /* A scalar that differs between ranks makes a different program, too. */
    for (int s = 0; s < t->desc->nscalars; s++)
      cf_exec_event(x,
                    cf_hash64((const char *)t->scalars + 8 * s, cf_type_bytes(t->desc->scalar_types[s]), 0));
    if (ck.past.n < STEPS) {
      ck.past.v[ck.past.n].stamp = x->stamp;
      snprintf(ck.past.v[ck.past.n].site, SITE, "%s:%u", t->desc->file, t->desc->line);
    }
    ck.past.n++;
  }
  for (uint32_t k = 0; k < t->naccess; k++)
    if (t->access[k].store)
      close_chunks(t->access[k].store, shadow_of(t->access[k].store));
  pthread_mutex_unlock(&ck.lock);
}

void cf_check_guard(const char *site) {
  if (!site || !cf_on_control)
    return;
  size_t n = strnlen(site, SITE - 1);
  memcpy(ck.last_guard, site, n);
  ck.last_guard[n] = 0;
}

/* Opens the chunks of bytes [lo, hi), or takes the present contents of closed ones as right. */
static void touch_chunks(const cf_store *s, int64_t lo, int64_t hi, bool open) {
  shadow *h = find(s->id);
  for (size_t r = 0; h && r < h->slab.runs; r++) {
    int64_t first = (int64_t)(h->slab.first + r * h->slab.pitch), end = first + (int64_t)h->slab.run_bytes;
    int64_t a = cf_max(lo, first) - first, b = cf_min(hi, end) - first;
    for (int64_t k = a / CHUNK; a < b && k * CHUNK < b; k++) {
      size_t c = r * h->per_run + (size_t)k;
      if (open)
        set_state(h, c, h->state[c] | OPEN);
      else if (!(h->state[c] & OPEN))
        h->hash[c] = chunk_hash(s, h, c);
    }
  }
}

void cf_check_open(const cf_store *s, int64_t lo, int64_t hi) {
  pthread_mutex_lock(&ck.lock);
  touch_chunks(s, lo, hi, true);
  pthread_mutex_unlock(&ck.lock);
}

static cf_status changed(const cf_store *s, const shadow *h, size_t c, const cf_task *t) {
  int64_t w = s->elem_bytes, lo = (int64_t)chunk_at(h, c) / w,
          hi = ((int64_t)(chunk_at(h, c) + chunk_bytes(h, c)) - 1) / w;
  char since[SITE + 32] = "";
  cf_buf b = {0};
  if (h->since)
    snprintf(since, sizeof since, "after the task of %.*s:%u and ", SITE - 16, h->since->file,
             h->since->line);
  cf_element_print(s, lo, &b);
  if (hi > lo) {
    cf_buf_str(&b, " to ");
    cf_element_print(s, hi, &b);
  }
  cf_fail(
      CF_EINVAL,
      "COFUSE_CHECK: store(%s) of %s:%u was changed by code that no guard covered, %sbefore the task of "
      "%s:%u%s%s: compile the file that does it with the plugin, or put `#pragma cofuse host writes(%s)` on "
      "the statement",
      s->text, s->file, s->line, since, t->desc->file, t->desc->line, s->rank ? ", somewhere in " : "",
      b.data ? b.data : "", s->text);
  cf_buf_free(&b);
  return CF_EINVAL;
}

static cf_status look(const cf_store *s, const cf_task *t) {
  shadow *h = find(s->id);
  for (size_t c = 0; h && c < h->n; c++)
    if (!(h->state[c] & OPEN) && chunk_hash(s, h, c) != h->hash[c])
      return changed(s, h, c, t);
  if (h)
    h->since = t->desc;
  return CF_OK;
}

/* Stores are visited once each: `mark` is free between analyses. */
enum { FRESH, SEEN, WRITTEN = 2, LOCAL = 4 };

static void mark_all(cf_task *const *tasks, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++)
      if (tasks[i]->access[k].store)
        tasks[i]->access[k].store->mark = FRESH;
}

cf_status cf_check_before(const cf_group *g, cf_task *const *window) {
  cf_task *const *tasks = window + g->first;
  pthread_mutex_lock(&ck.lock);
  cf_status st = CF_OK;
  mark_all(tasks, g->ntasks);
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess && st == CF_OK; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (!s || s->mark == SEEN)
        continue;
      s->mark = SEEN;
      st = look(s, tasks[i]);
    }
  pthread_mutex_unlock(&ck.lock);
  return st;
}

/* ---- after a group */

/* A store that the group reads holds a NaN here before it runs. */
static bool infected(cf_task *const *tasks, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      const cf_access *a = &tasks[i]->access[k];
      const shadow *h = a->store && a->priv & (CF_READ | CF_REDUCE) ? find(a->store->id) : NULL;
      if (h && h->nans)
        return true;
    }
  return false;
}

static void report_nan(const cf_store *s, size_t at, cf_task *const *tasks, uint32_t n) {
  const cf_task *t;
  const cf_access *a;
  int64_t element = (int64_t)(at / s->elem_bytes);
  if (!cf_verify_writer(tasks, n, s, element, &t, &a))
    return;
  cf_site *site = cf_site_of(t->desc);
  if (site->told_nan)
    return;
  site->told_nan = true;
  cf_buf b = {0};
  cf_element_print(s, element, &b);
  cf_log(CF_LOG_WARN, "COFUSE_CHECK: %s:%u: task %s is the first to leave a NaN in store(%s) of %s:%u%s%s%s",
         t->desc->file, a->desc ? a->desc->line : t->desc->line, t->desc->name, s->text, s->file, s->line,
         s->rank ? ", at " : "", b.data ? b.data : "",
         n > 1 ? " (one of several fused tasks: COFUSE_VERIFY=1 as well looks after each of them)" : "");
  cf_buf_free(&b);
}

/* Remembers what the group has written, and notices NaNs in chunks that had none. */
static void remember(const cf_store *s, cf_task *const *tasks, uint32_t n, bool report) {
  shadow *h = shadow_of(s);
  cf_slab own = cf_slab_own(&cf_ctx.exec, s);
  if (memcmp(&own, &h->slab, sizeof own) != 0) { /* its home was decided just now */
    bool open = h->nopen > 0, nan = h->nans > 0;
    shape(h, &own);
    if (open)
      return;
    memset(h->state, nan ? HAS_NAN : 0, h->n);
    h->nans = nan ? h->n : 0;
    h->nopen = 0;
  }
  for (size_t c = 0; c < h->n; c++) {
    if (h->state[c] & OPEN)
      continue;
    h->hash[c] = chunk_hash(s, h, c);
    int64_t nan = find_nan(s, s->base + chunk_at(h, c), chunk_bytes(h, c));
    if (nan >= 0 && !(h->state[c] & HAS_NAN) && report)
      report_nan(s, chunk_at(h, c) + (size_t)nan, tasks, n);
    set_state(h, c, nan >= 0 ? HAS_NAN : 0);
  }
}

/* What the task has written on other ranks is no longer current here: make a read of it that no guard covers
 * visible. Only that: bytes that an earlier guard has fetched stay, since the host may be about to read them.
 */
static void poison(const cf_access *a) {
  const cf_store *s = a->store;
  cf_slab own = cf_slab_own(&cf_ctx.exec, s);
  int64_t lo, hi;
  cf_window_bytes(a, &lo, &hi);
  for (size_t r = 0; r <= own.runs; r++) { /* the gaps around the runs */
    size_t from = r ? own.first + (r - 1) * own.pitch + own.run_bytes : 0;
    size_t to = r < own.runs ? own.first + r * own.pitch : s->bytes;
    int64_t l = cf_max(lo, (int64_t)from), h = cf_min(hi, (int64_t)to);
    if (l < h)
      memset(s->base + l, 0xff, (size_t)(h - l));
  }
}

cf_status cf_check_after(const cf_plan *p, const cf_group *g, cf_task *const *window) {
  cf_task *const *tasks = window + g->first;
  pthread_mutex_lock(&ck.lock);
  bool report = !infected(tasks, g->ntasks);
  mark_all(tasks, g->ntasks);
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      const cf_access *a = &tasks[i]->access[k];
      if (!a->store)
        continue;
      if (a->priv & (CF_WRITE | CF_REDUCE))
        a->store->mark |= WRITTEN;
      if (p->locals[g->first + i][k] >= 0)
        a->store->mark |= LOCAL;
    }
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (!s || s->mark & (SEEN | LOCAL) || !(s->mark & WRITTEN))
        continue;
      remember(s, tasks, g->ntasks, report);
      s->mark |= SEEN;
    }
  for (uint32_t i = 0; i < g->ntasks && cf_ctx.exec.comm->size > 1; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess && tasks[i]->domain != CF_REPLICATED; k++) {
      const cf_access *a = &tasks[i]->access[k];
      if (a->store && a->priv & CF_WRITE && p->locals[g->first + i][k] < 0 && !a->store->all_valid &&
          a->store->home.kind == CF_PART_TILING)
        poison(a);
    }
  /* Results that went at once into an element of a store. */
  for (uint32_t i = 0; i < g->ntasks; i++)
    for (int r = 0; r < tasks[i]->nreds; r++) {
      const char *t = tasks[i]->targets[r];
      const char *end = t + (tasks[i]->deferred[r] ? 0 : cf_target_bytes(tasks[i], r));
      for (uint32_t k = cf_registry_lower(t); k < cf_ctx.nstores && cf_ctx.stores[k]->base < end; k++)
        touch_chunks(cf_ctx.stores[k], t - cf_ctx.stores[k]->base, end - cf_ctx.stores[k]->base, false);
    }
  pthread_mutex_unlock(&ck.lock);
  return CF_OK;
}

/* ---- divergence */

typedef struct position {
  uint64_t stamp, tasks;
  char task[SITE], guard[SITE];
} position;

static void describe(cf_buf *b, int rank, const position *p) {
  cf_buf_printf(b, "; rank %d: %llu tasks, the last at %s, last guarded access at %s", rank,
                (unsigned long long)p->tasks, p->task[0] ? p->task : "(none)",
                p->guard[0] ? p->guard : "(none)");
}

/* Where two ranks parted, from what they did since they last agreed. */
static void describe_parting(cf_buf *b, const history *zero, const history *other, int rank) {
  uint64_t i = 0;
  while (i < STEPS && i < zero->n && i < other->n && zero->v[i].stamp == other->v[i].stamp)
    i++;
  if (i == STEPS || (i >= zero->n && i >= other->n))
    return;
  const char *x = i < zero->n ? zero->v[i].site : NULL, *y = i < other->n ? other->v[i].site : NULL;
  if (x && y && strcmp(x, y) == 0)
    cf_buf_printf(b, ": the task of %s has other scalars or sizes on rank %d than on rank 0", x, rank);
  else
    cf_buf_printf(b, ": where rank 0 issues %s%s, rank %d issues %s%s", x ? "the task of " : "no task",
                  x ? x : "", rank, y ? "the task of " : "none", y ? y : "");
}

/* All ranks are here: rank 0 says where it and rank `other` parted. */
static cf_status part(cf_comm *c, int other, const position *zero, const position *theirs, uint64_t stamp) {
  history *all = NULL;
  if (c->rank == 0 && !(all = calloc((size_t)c->size, sizeof *all)))
    return cf_fail(CF_ENOMEM, "out of memory for COFUSE_CHECK");
  cf_status st = c->ops->gather0(c, &ck.past, sizeof ck.past, all, stamp);
  cf_buf b = {0};
  if (st == CF_OK && all) {
    describe_parting(&b, &all[0], &all[other], other);
    describe(&b, 0, zero);
    describe(&b, other, theirs);
  }
  free(all);
  if (st == CF_OK)
    st = cf_fail(CF_EINVAL,
                 "COFUSE_CHECK: ranks 0 and %d took different ways through the program%s; control must not "
                 "depend on the rank, on time, on process ids or on unseeded random numbers",
                 other, b.data && !b.failed ? b.data : "");
  cf_buf_free(&b);
  return st;
}

cf_status cf_check_meet(void) {
  cf_exec *x = &cf_ctx.exec;
  cf_comm *c = x->comm;
  if (c->size == 1)
    return CF_OK;
  position mine = {.stamp = x->stamp, .tasks = cf_ctx.seq};
  if (ck.last_task)
    snprintf(mine.task, sizeof mine.task, "%s:%u", ck.last_task->file, ck.last_task->line);
  memcpy(mine.guard, ck.last_guard, sizeof mine.guard);
  position *all = c->rank == 0 ? calloc((size_t)c->size, sizeof *all) : NULL;
  if (c->rank == 0 && !all)
    return cf_fail(CF_ENOMEM, "out of memory for COFUSE_CHECK");
  /* Not the stream's stamp: ranks that went different ways must meet here all the same. */
  uint64_t stamp = cf_hash64("COFUSE_CHECK", 12, ++ck.meetings);
  cf_status st = c->ops->gather0(c, &mine, sizeof mine, all, stamp);
  int64_t other = 0;
  for (int r = 1; all && st == CF_OK && r < c->size && !other; r++)
    if (all[r].stamp != all[0].stamp)
      other = r;
  if (st == CF_OK)
    st = c->ops->bcast(c, &other, sizeof other, 0, stamp);
  if (st == CF_OK && other)
    st = part(c, (int)other, all, all ? &all[other] : NULL, ~stamp);
  free(all);
  ck.past.n = 0;
  return st;
}
