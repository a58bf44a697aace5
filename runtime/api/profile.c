// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Where the time goes: the table of groups (COFUSE_STATS=1) and the timeline (COFUSE_TRACE). */
#include "api/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 56, SHOWN = 20 };

/* "f:12, dot, g:30, ..": the tasks of a group, a repeated name once. */
static void label(const cf_group *g, cf_task *const *tasks, char *out, size_t room) {
  size_t n = 0;
  uint32_t more = 0;
  out[0] = 0;
  for (uint32_t i = 0; i < g->ntasks; i++) {
    const char *name = tasks[g->first + i]->desc->name;
    bool old = false;
    for (uint32_t j = 0; j < i && !old; j++)
      old = strcmp(tasks[g->first + j]->desc->name, name) == 0;
    if (old)
      continue;
    size_t len = strlen(name) + (n ? 1 : 0);
    if (n + len + 8 > room) {
      more++;
      continue;
    }
    n += (size_t)snprintf(out + n, room - n, "%s%s", n ? "+" : "", name);
  }
  if (more)
    snprintf(out + n, room - n, "+%u", more);
}

static uint64_t box_bytes(const cf_access *a) {
  uint64_t n = a->field_bytes;
  for (int d = 0; d < a->store->rank; d++)
    n *= a->lo[d] < a->hi[d] ? (uint64_t)(a->hi[d] - a->lo[d]) : 0;
  return n;
}

/* Bytes that must at least move between memory and processors, all ranks together: per store the largest box
 * that is read and the largest that is written. */
static uint64_t bytes_of(const cf_plan *p, const cf_group *g, cf_task *const *tasks) {
  uint64_t sum = 0;
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      const cf_access *a = &tasks[i]->access[k];
      if (!a->store || p->locals[i][k] >= 0)
        continue;
      uint64_t most[2] = {0, 0};
      bool first = true;
      for (uint32_t j = g->first; j < g->first + g->ntasks && first; j++)
        for (uint32_t m = 0; m < tasks[j]->naccess; m++) {
          const cf_access *b = &tasks[j]->access[m];
          if (b->store != a->store || p->locals[j][m] >= 0)
            continue;
          if (j < i || (j == i && m < k)) {
            first = false;
            break;
          }
          uint64_t n = box_bytes(b);
          if (b->priv & CF_READ && n > most[0])
            most[0] = n;
          if (b->priv & (CF_WRITE | CF_REDUCE) && n > most[1])
            most[1] = n;
        }
      if (first)
        sum += most[0] + most[1];
    }
  return sum;
}

void cf_profile_group(const cf_plan *p, cf_group *g, cf_task *const *tasks, double from, double to,
                      double compile) {
  char name[256];
  if (g->calls == 0)
    g->bytes = bytes_of(p, g, tasks);
  if (!g->profile || cf_trace_on)
    label(g, tasks, name, sizeof name);
  if (!g->profile) {
    g->profile = cf_map_get(&cf_ctx.profiles, name, strlen(name));
    if (!g->profile) {
      cf_profile *r = calloc(1, sizeof *r + strlen(name) + 1);
      if (!r || cf_map_put(&cf_ctx.profiles, name, strlen(name), r) != CF_OK) {
        free(r);
        return; /* only a line of a table is missing */
      }
      strcpy(r->name, name);
      r->next = cf_ctx.profile_list;
      cf_ctx.profile_list = r;
      g->profile = r;
    }
  }
  g->calls++;
  cf_profile *r = g->profile;
  r->calls++;
  r->tasks += g->ntasks;
  r->seconds += to - from - compile;
  r->bytes += g->bytes;
  if (cf_trace_on)
    cf_trace_span(CF_TRACE_GROUPS, from, to, name,
                  "%u tasks, %u nests, %u temporaries, %" PRIu64 " bytes; ends: %s", g->ntasks, g->nnests,
                  g->ndemoted, g->bytes, cf_rule_text(g->cut.rule));
}

static int longer(const void *a, const void *b) {
  double x = (*(cf_profile *const *)a)->seconds, y = (*(cf_profile *const *)b)->seconds;
  return (x < y) - (x > y);
}

void cf_profile_print(void) {
  uint32_t n = 0;
  double sum = 0;
  for (cf_profile *r = cf_ctx.profile_list; r; r = r->next, n++)
    sum += r->seconds;
  cf_profile **all = n ? malloc(n * sizeof *all) : NULL;
  if (!all)
    return;
  n = 0;
  for (cf_profile *r = cf_ctx.profile_list; r; r = r->next)
    all[n++] = r;
  qsort(all, n, sizeof *all, longer);
  fprintf(stderr, "cofuse: %-*s %9s %7s %10s %6s %10s %9s\n", LABEL, "group", "calls", "tasks", "time/s",
          "share", "GB", "GB/s");
  for (uint32_t i = 0; i < n && i < SHOWN; i++) {
    const cf_profile *r = all[i];
    fprintf(stderr, "cofuse: %-*.*s %9" PRIu64 " %7.4g %10.4g %5.1f%% %10.4g %9.3g\n", LABEL, LABEL, r->name,
            r->calls, (double)r->tasks / (double)r->calls, r->seconds, sum > 0 ? 100 * r->seconds / sum : 0.0,
            1e-9 * (double)r->bytes, r->seconds > 0 ? 1e-9 * (double)r->bytes / r->seconds : 0.0);
  }
  if (n > SHOWN)
    fprintf(stderr, "cofuse: and %u more\n", n - SHOWN);
  free(all);
}

void cf_profile_free(void) {
  while (cf_ctx.profile_list) {
    cf_profile *r = cf_ctx.profile_list;
    cf_ctx.profile_list = r->next;
    free(r);
  }
  cf_map_free(&cf_ctx.profiles);
}

/* ---- one file for all ranks */

static cf_status write_trace(FILE *f, const cf_buf *mine) {
  cf_comm *m = cf_ctx.exec.comm;
  uint64_t len = mine->failed ? 0 : mine->len, *all = calloc((size_t)m->size, sizeof *all);
  if (!all)
    return cf_fail(CF_ENOMEM, "out of memory for the timeline");
  all[0] = len;
  cf_status st = m->size > 1 ? m->ops->gather0(m, &len, sizeof len, all, cf_exec_stamp(&cf_ctx.exec)) : CF_OK;
  if (f)
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
  bool some = false;
  for (int r = 0; r < m->size && st == CF_OK; r++) {
    uint64_t stamp = cf_exec_stamp(&cf_ctx.exec);
    if (m->rank != 0) {
      cf_msg out = {0, mine->data, len};
      if (r == m->rank && len)
        st = m->ops->exchange(m, &out, 1, NULL, 0, stamp);
      continue;
    }
    char *text = mine->data;
    if (all[r] == 0)
      continue;
    if (r > 0) {
      text = malloc(all[r]);
      if (!text)
        st = cf_fail(CF_ENOMEM, "out of memory for the timeline");
      cf_msg in = {r, text, all[r]};
      if (text)
        st = m->ops->exchange(m, NULL, 0, &in, 1, stamp);
    }
    if (f && st == CF_OK) {
      fputs(some ? ",\n" : "", f);
      fwrite(text, 1, all[r], f);
      some = true;
    }
    if (r > 0)
      free(text);
  }
  if (f)
    fputs("\n]}\n", f);
  free(all);
  return st;
}

void cf_profile_write_trace(void) {
  if (!cf_trace_on)
    return;
  cf_buf *mine = cf_trace_stop();
  FILE *f = NULL;
  if (cf_ctx.exec.comm->rank == 0) {
    f = fopen(cf_ctx.opt.trace, "w");
    if (!f)
      cf_log(CF_LOG_ERROR, "COFUSE_TRACE=%s: cannot write: %s", cf_ctx.opt.trace, strerror(errno));
  }
  cf_must(write_trace(f, mine));
  if (f && fclose(f) != 0)
    cf_log(CF_LOG_ERROR, "COFUSE_TRACE=%s: cannot write: %s", cf_ctx.opt.trace, strerror(errno));
  cf_buf_free(mine);
}
