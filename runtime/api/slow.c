// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Loops that ran as the plain loop or in full on every rank: how long they took, and the line at exit that
 * names them (language.md section 5). */
#include "api/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NESTED = 32, NAMED = 5 };
static const double WORTH_S = 0.02, WORTH_SHARE = 0.02; /* less is not worth a line */

/* Plain loops that run now: they nest where a loop calls functions with directives of their own. */
static struct {
  cf_site *site;
  double since;
} running[NESTED];
static uint32_t depth;

void cf_slow_begin(cf_site *s) {
  if (depth == NESTED) /* left by longjmp many times */
    depth = 0;
  running[depth].site = s;
  running[depth++].since = cf_now();
}

void cofuse_ran(uint32_t line) {
  /* Without an entry the loop was not to be a task: clause if, no iteration, or COFUSE_DISABLE. An entry
   * above it was left by a jump. */
  if (!cf_on_control || !cf_ctx.ready || cf_ctx.finished)
    return;
  for (uint32_t d = depth; d-- > 0;)
    if (running[d].site->desc->line == line) {
      running[d].site->serial_s += cf_now() - running[d].since;
      depth = d;
      return;
    }
}

static double total(const cf_site *s) {
  return s->desc->kind == COFUSE_KIND_FORALL ? s->serial_s + s->replicated_s : 0;
}

static int slower(const void *a, const void *b) {
  double x = total(*(cf_site *const *)a), y = total(*(cf_site *const *)b);
  return (x < y) - (x > y);
}

void cf_slow_report(void) {
  if (cf_ctx.exec.comm->rank != 0 || cf_ctx.disabled)
    return;
  uint32_t n = 0;
  double sum = 0, run = cf_now() - cf_ctx.started;
  for (const cf_site *s = cf_ctx.sites; s; s = s->next)
    if (total(s) > 0)
      sum += total(s), n++;
  if (sum < WORTH_S || sum < WORTH_SHARE * run)
    return;
  cf_site **all = malloc(n * sizeof *all);
  if (!all)
    return;
  n = 0;
  for (cf_site *s = cf_ctx.sites; s; s = s->next)
    if (total(s) > 0)
      all[n++] = s;
  qsort(all, n, sizeof *all, slower);
  cf_buf b = {0};
  cf_buf_printf(&b, "%.3g s of %.3g s went to loops that did not run in parallel:", sum, run);
  for (uint32_t i = 0; i < n && i < NAMED; i++) {
    const cf_site *s = all[i];
    cf_buf_printf(&b, "%s %s:%u (%s)", i ? ";" : "", s->desc->file, s->desc->line, s->desc->name);
    if (s->serial_s > 0)
      cf_buf_printf(&b, " %" PRIu64 " times serially, %.3g s: %s", s->serial, s->serial_s,
                    s->why ? s->why : "?");
    if (s->replicated_s > 0)
      cf_buf_printf(&b, "%s %" PRIu64 " times on every rank, %.3g s", s->serial_s > 0 ? "," : "",
                    s->replicated, s->replicated_s);
  }
  if (n > NAMED)
    cf_buf_printf(&b, "; and %u more", n - NAMED);
  if (!b.failed && b.data)
    cf_log(CF_LOG_WARN, "%.*s", (int)b.len, (const char *)b.data);
  cf_buf_free(&b);
  free(all);
}
