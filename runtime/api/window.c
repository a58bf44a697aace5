// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The window of pending tasks: when it is analysed and what of it runs.
 *
 * Groups end by a constraint or by the end of the window. A full window runs only groups of the first kind;
 * the unfinished rest waits for the tasks that may still join it, so that grouping does not depend on where
 * the window happened to end. A window that is one group doubles. */
#include "api/context.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cf_cause_name(cf_cause c) {
  static const char *n[] = {"guard_read", "guard_write", "reduction", "update", "host", "directive",
                            "capture",    "scope",       "memory",    "store",  "exit"};
  return c < CF_FLUSH_CAUSES ? n[c] : "?";
}

/* All but the coefficients of maps, which are half of it: they are written together with the rank. */
static void clear(cf_task *t, uint32_t naccess) {
  enum { HEAD = offsetof(cf_access, map) + offsetof(cf_amap, coef) };
  memset(t, 0, sizeof *t);
  cf_access *a = (cf_access *)(t + 1);
  for (uint32_t k = 0; k < naccess; k++) {
    memset(&a[k], 0, HEAD);
#ifdef CF_ASAN
    memset((char *)&a[k] + HEAD, 0x5a, sizeof a[k] - HEAD); /* what nobody wrote shows */
#endif
  }
}

cf_task *cf_task_new(uint32_t naccess, uint32_t scalar_bytes) {
  size_t need = naccess * sizeof(cf_access) + scalar_bytes;
  cf_task **at = &cf_ctx.spare;
  while (*at && (*at)->cap < need)
    at = &(*at)->next_free;
  cf_task *t = *at;
  if (t) {
    *at = t->next_free;
    size_t cap = t->cap;
    clear(t, naccess);
    t->cap = cap;
  } else {
    size_t cap = need + need / 2 + 256;
    t = malloc(sizeof *t + cap);
    if (!t)
      return NULL;
    clear(t, naccess);
    t->cap = cap;
  }
  t->access = (cf_access *)(t + 1);
  t->scalars = (char *)t->access + naccess * sizeof(cf_access);
  return t;
}

void cf_task_recycle(cf_task *t) {
  if (cf_again_keep(t))
    return;
  while (t->snapshots) {
    cf_snapshot *s = t->snapshots;
    t->snapshots = s->next;
    free(s);
  }
  t->next_free = cf_ctx.spare;
  cf_ctx.spare = t;
}

/* A task has run: stores that nothing else waits for may go, so that the groups behind it find their memory.
 */
static void settle(cf_task *t) {
  for (uint32_t k = 0; k < t->naccess; k++) {
    cf_store *s = t->access[k].store;
    if (!s)
      continue;
    if (t->access[k].priv & (CF_WRITE | CF_REDUCE))
      s->writers--;
    if (--s->pending == 0)
      cf_registry_settle(s);
  }
  t->naccess = 0;
}

static void retire(cf_task *t) {
  if (t->domain == CF_REPLICATED && t->ndims && cf_ctx.exec.comm->size > 1) {
    cf_site_of(t->desc)->replicated++;
    cf_site_of(t->desc)->replicated_s += t->seconds;
  }
  cf_task_recycle(t);
}

static cf_status execute(cf_plan *p, cf_group *g) {
  bool check = cf_ctx.opt.check;
  if (check)
    CF_TRY(cf_check_before(g, cf_ctx.win));
  if (cf_ctx.opt.verify && g->ntasks > 1)
    return cf_verify_group(&cf_ctx.exec, p, g, cf_ctx.win, check ? cf_check_after : NULL);
  CF_TRY(cf_exec_group(&cf_ctx.exec, p, g, cf_ctx.win));
  return check ? cf_check_after(p, g, cf_ctx.win) : CF_OK;
}

/* With a device, guards of other threads bring home what they are asked for, at any time. */
static cf_status run_locked(cf_plan *p, cf_group *g) {
  cf_exec *x = &cf_ctx.exec;
  if (x->device_later && cf_exec_wants_device(x, g, cf_ctx.win))
    CF_TRY(cf_context_find_device());
  if (!x->device)
    return execute(p, g);
  cf_context_lock();
  cf_status st = execute(p, g);
  cf_context_unlock();
  return st;
}

/* Where kernels cannot be compiled there may still be some for the device: then small groups go there, too. A
 * group without a kernel has done nothing yet. Only on one rank: of several one alone may fail. */
static cf_status run_group(cf_plan *p, cf_group *g) {
  cf_exec *x = &cf_ctx.exec;
  cf_status st = run_locked(p, g);
  if (st != CF_EJIT || !x->fall_back || x->device_least == 0 || x->comm->size > 1 || cf_ctx.opt.verify ||
      !(x->device || x->device_later))
    return st;
  cf_log(CF_LOG_INFO, "small groups run on the device, too: %s", cf_last_error());
  x->device_least = 0;
  char *why = strdup(cf_last_error());
  if (x->device_later)
    CF_TRY(cf_context_find_device());
  if (!x->device)
    st = cf_fail(st, "%s", why ? why : "out of memory");
  else
    st = run_locked(p, g);
  free(why);
  return st;
}

static cf_status run_all(cf_plan *p, uint32_t ngroups) {
  uint32_t done = 0;
  bool timed = cf_ctx.opt.stats || cf_trace_on;
  const cf_codegen_stats *stats = timed ? cf_codegen_get_stats(cf_ctx.exec.cg) : NULL;
  for (uint32_t g = 0; g < ngroups; g++) {
    cf_plan_apply(p, cf_ctx.win, p->groups[g].first, p->groups[g].ntasks);
    double from = timed ? cf_now() : 0, compiled = timed ? stats->compile_ms : 0;
    CF_TRY(run_group(p, &p->groups[g]));
    if (timed)
      cf_profile_group(p, &p->groups[g], cf_ctx.win, from, cf_now(), 1e-3 * (stats->compile_ms - compiled));
    for (uint32_t i = 0; i < p->groups[g].ntasks; i++)
      settle(cf_ctx.win[p->groups[g].first + i]);
    done += p->groups[g].ntasks;
  }
  /* Tasks leave only now: indices of the plan are those of the whole window. */
  cf_task **gone = malloc((done + 1) * sizeof *gone);
  if (!gone)
    return cf_fail(CF_ENOMEM, "out of memory");
  memcpy(gone, cf_ctx.win, done * sizeof *gone);
  cf_ctx.nwin -= done;
  memmove(cf_ctx.win, cf_ctx.win + done, cf_ctx.nwin * sizeof *cf_ctx.win);
  for (uint32_t i = 0; i < done; i++)
    retire(gone[i]);
  free(gone);
  if (cf_ctx.exec.pages)
    cf_pages_window(cf_ctx.exec.pages);
  return CF_OK;
}

static cf_status run_groups(cf_plan *p, uint32_t ngroups) {
  cf_ctx.running = true;
  cf_status st = run_all(p, ngroups);
  cf_ctx.running = false;
  return st;
}

static cf_status plan(cf_plan **p) {
  double t = cf_now();
  uint64_t hits = cf_ctx.memo.hits;
  cf_status st =
      cf_memo_plan(&cf_ctx.memo, cf_ctx.win, cf_ctx.nwin, cf_ctx.exec.comm->size, cf_ctx.window_max > 1, p);
  double end = cf_now();
  cf_ctx.analysis_ns += (uint64_t)((end - t) * 1e9);
  if (cf_trace_on)
    cf_trace_span(CF_TRACE_WINDOWS, t, end, cf_ctx.memo.hits > hits ? "replay" : "analyse", "%u tasks",
                  cf_ctx.nwin);
  cf_ctx.windows++;
  if (st == CF_OK && (*p)->order) {
    cf_task **scratch = malloc(cf_ctx.nwin * sizeof *scratch);
    if (!scratch)
      return cf_fail(CF_ENOMEM, "out of memory");
    memcpy(scratch, cf_ctx.win, cf_ctx.nwin * sizeof *scratch);
    cf_plan_order(*p, scratch, cf_ctx.win);
    free(scratch);
  }
  return st;
}

static cf_status show(const cf_plan *p, uint32_t n, const char *why) {
  if (cf_ctx.opt.explain && cf_ctx.exec.comm->rank == 0)
    cf_explain_window(p, cf_ctx.win, n, why);
  if (cf_ctx.opt.dump && cf_ctx.exec.comm->rank == 0)
    cf_dump_window(p, cf_ctx.win, n, why);
  return CF_OK;
}

static cf_status full(void) {
  cf_plan *p;
  if (cf_ctx.opt.check)
    CF_TRY(cf_check_meet());
  CF_TRY(plan(&p));
  uint32_t n = p->ngroups;
  if (p->groups[n - 1].cut.rule == CF_CUT_END && n > 1) {
    n--;
  } else if (n == 1 && cf_ctx.window < cf_ctx.window_max) {
    cf_ctx.window = 2 * cf_ctx.window < cf_ctx.window_max ? 2 * cf_ctx.window : cf_ctx.window_max;
    return CF_OK;
  }
  CF_TRY(show(p, n, "window full"));
  return run_groups(p, n);
}

static void add_to_stream(const cf_task *t) {
  cf_exec *x = &cf_ctx.exec;
  cf_exec_event(x, cf_site_of(t->desc)->hash);
  for (int d = 0; d < t->ndims; d++)
    cf_exec_event(x, (uint64_t)t->trip[d]);
  for (uint32_t k = 0; k < t->naccess; k++)
    cf_exec_event(x, t->access[k].store ? (uint64_t)t->access[k].at ^ (uint64_t)t->access[k].store->id << 40
                                        : 2);
}

cf_status cf_window_push(cf_task *t) {
  if (cf_ctx.nwin == cf_ctx.cap_win) {
    uint32_t cap = cf_ctx.cap_win ? 2 * cf_ctx.cap_win : 64;
    void *w = realloc(cf_ctx.win, cap * sizeof *cf_ctx.win);
    if (!w)
      return cf_fail(CF_ENOMEM, "out of memory for the window");
    cf_ctx.win = w;
    cf_ctx.cap_win = cap;
  }
  for (uint32_t k = 0; k < t->naccess; k++)
    if (t->access[k].store) {
      t->access[k].store->pending++;
      if (t->access[k].priv & (CF_WRITE | CF_REDUCE)) /* left alone for readers: other threads look at it */
        t->access[k].store->writers++;
    }
  t->seq = cf_ctx.seq++;
  if (cf_ctx.exec.comm->size > 1)
    add_to_stream(t);
  if (cf_ctx.opt.check)
    cf_check_push(t);
  cf_ctx.win[cf_ctx.nwin++] = t;
  return cf_ctx.nwin >= cf_ctx.window ? full() : CF_OK;
}

static cf_status count_site(const char *why) {
  size_t n = strlen(why);
  cf_flush_site *f = cf_map_get(&cf_ctx.flush_map, why, n);
  if (!f) {
    f = calloc(1, sizeof *f + n + 1);
    if (!f)
      return cf_fail(CF_ENOMEM, "out of memory");
    memcpy(f->text, why, n);
    f->next = cf_ctx.flush_sites;
    cf_ctx.flush_sites = f;
    CF_TRY(cf_map_put(&cf_ctx.flush_map, why, n, f));
  }
  f->count++;
  return CF_OK;
}

cf_status cf_window_flush(uint32_t last, cf_cause cause, const char *site) {
  if (cf_ctx.nwin == 0)
    return CF_OK;
  if (cf_ctx.running)
    return cf_fail(CF_EINTERNAL, "%s: the window is running", site ? site : cf_cause_name(cause));
  cf_ctx.flushes++;
  cf_ctx.flush_by[cause]++;
  char why[300];
  why[0] = '\0';
  if (cf_ctx.opt.explain || cf_ctx.opt.dump)
    snprintf(why, sizeof why, "flush by %s%s%s", cf_cause_name(cause), site ? " at " : "", site ? site : "");
  if (cf_ctx.opt.explain)
    CF_TRY(count_site(why));
  cf_plan *p;
  if (cf_ctx.opt.check)
    CF_TRY(cf_check_meet());
  CF_TRY(plan(&p));
  uint32_t n = 0;
  last = cf_plan_last(p, last);
  while (n < p->ngroups && p->groups[n].first <= last)
    n++;
  CF_TRY(show(p, n, why));
  return run_groups(p, n);
}

void cf_window_bytes(const cf_access *a, int64_t *lo, int64_t *hi) {
  const cf_store *s = a->store;
  int64_t w = s->elem_bytes;
  *lo = 0;
  *hi = s->elem_bytes;
  for (int d = s->rank - 1; d >= 0; d--) {
    if (a->lo[d] >= a->hi[d]) {
      *lo = *hi = 0;
      return;
    }
    *lo += a->lo[d] * w;
    *hi += (a->hi[d] - 1) * w;
    w *= s->ext[d];
  }
}

int64_t cf_window_conflict(const cf_store *s, int64_t lo, int64_t hi, bool write) {
  for (int64_t i = (int64_t)cf_ctx.nwin - 1; i >= 0; i--) {
    const cf_task *t = cf_ctx.win[i];
    for (uint32_t k = 0; k < t->naccess; k++) {
      const cf_access *a = &t->access[k];
      if (a->store != s || (!write && !(a->priv & (CF_WRITE | CF_REDUCE))))
        continue;
      int64_t l, h;
      cf_window_bytes(a, &l, &h);
      if (l < hi && lo < h)
        return i;
    }
  }
  return -1;
}
