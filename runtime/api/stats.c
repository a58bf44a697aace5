// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_STATS: counters at exit, totals over ranks, as a table or as flat JSON (language.md section 6). */
#include "api/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MAX_COUNTERS = 56 };
typedef struct counters {
  uint32_t n;
  const char *name[MAX_COUNTERS];
  double value[MAX_COUNTERS];
  bool sum[MAX_COUNTERS]; /* over ranks; otherwise alike on all ranks and taken from rank 0 */
} counters;

static void add(counters *c, const char *name, double v, bool sum) {
  c->name[c->n] = name;
  c->value[c->n] = v;
  c->sum[c->n++] = sum;
}

static const char *flush_key(int c) {
  static char names[CF_FLUSH_CAUSES][40];
  snprintf(names[c], sizeof names[c], "flushes_%s", cf_cause_name((cf_cause)c));
  return names[c];
}

static void collect(counters *c) {
  const cf_exec *x = &cf_ctx.exec;
  const cf_codegen_stats *k = cf_codegen_get_stats(x->cg);
  struct rusage ru = {0};
  getrusage(RUSAGE_SELF, &ru);
  uint64_t serial = 0, replicated = 0;
  for (const cf_site *s = cf_ctx.sites; s; s = s->next) {
    serial += s->serial;
    replicated += s->replicated;
  }
  add(c, "ranks", x->comm->size, false);
  add(c, "threads", x->threads, false);
  add(c, "tasks", (double)x->stats.tasks, false);
  add(c, "groups", (double)x->stats.groups, false);
  add(c, "temporaries_eliminated", (double)x->stats.temporaries, false);
  add(c, "reordered_tasks", (double)x->stats.reordered, false);
  add(c, "edges", (double)x->stats.edges, false);
  add(c, "bytes_of_pages_reused", x->pages ? (double)cf_pages_moved(x->pages) : 0, true);
  add(c, "windows", (double)cf_ctx.windows, false);
  add(c, "memo_hits", (double)cf_ctx.memo.hits, false);
  add(c, "tasks_issued_again", (double)cf_ctx.issued_again, true);
  add(c, "kernels_compiled", (double)k->compiled, true);
  add(c, "cache_hits_memory", (double)k->hits_memory, true);
  add(c, "cache_hits_disk", (double)k->hits_disk, true);
  add(c, "compile_ms", k->compile_ms, true);
  add(c, "analysis_ns", (double)cf_ctx.analysis_ns, true);
  if (x->had_device) {
    add(c, "device_groups", (double)x->stats.device_groups, true);
    add(c, "device_launches", (double)x->stats.launches, true);
    add(c, "device_replays", (double)x->stats.replays, true);
    add(c, "bytes_of_arguments", (double)x->stats.argument_bytes, true);
    add(c, "copies_to_device", (double)x->stats.to_device_copies, true);
    add(c, "bytes_to_device", (double)x->stats.to_device_bytes, true);
    add(c, "copies_to_host", (double)x->stats.to_host_copies, true);
    add(c, "bytes_to_host", (double)x->stats.to_host_bytes, true);
    add(c, "bytes_between_devices", (double)x->stats.direct_bytes, true);
    add(c, "stores_evicted", (double)x->stats.evicted, true);
  }
  add(c, "messages", (double)x->comm->messages, true);
  uint64_t moved = 0; /* at least, between memory and processors; all ranks, as every rank counts it */
  for (const cf_profile *r = cf_ctx.profile_list; r; r = r->next)
    moved += r->bytes;
  add(c, "bytes_moved", (double)moved, false);
  add(c, "bytes_sent", (double)x->comm->bytes_sent, true);
  add(c, "bytes_to_all_ranks", (double)x->stats.bytes_to_all, false);
  add(c, "collectives", (double)x->comm->collectives, false);
  add(c, "halo_rows", (double)x->stats.halo_rows, true);
  add(c, "flushes", (double)cf_ctx.flushes, false);
  for (int f = 0; f < CF_FLUSH_CAUSES; f++)
    add(c, flush_key(f), (double)cf_ctx.flush_by[f], false);
  add(c, "serial_loops", (double)serial, false);
  add(c, "replicated_loops", (double)replicated, false);
  add(c, "peak_rss_bytes", (double)ru.ru_maxrss * 1024, true);
}

static void total(counters *c) {
  cf_comm *m = cf_ctx.exec.comm;
  if (m->size == 1)
    return;
  double *all = m->rank == 0 ? calloc((size_t)m->size * MAX_COUNTERS, sizeof *all) : NULL;
  if (m->rank == 0 && !all)
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory for statistics"));
  cf_must(m->ops->gather0(m, c->value, sizeof c->value, all, cf_exec_stamp(&cf_ctx.exec)));
  for (int r = 1; all && r < m->size; r++)
    for (uint32_t i = 0; i < c->n; i++)
      if (c->sum[i])
        c->value[i] += all[(size_t)r * MAX_COUNTERS + i];
  free(all);
}

static void print_number(FILE *f, double v) {
  if (v == (double)(int64_t)v)
    fprintf(f, "%" PRId64, (int64_t)v);
  else
    fprintf(f, "%.3f", v);
}

void cf_context_print_stats(void) {
  bool root = cf_ctx.exec.comm->rank == 0;
  if (root && (cf_ctx.opt.explain || cf_ctx.opt.stats))
    cf_explain_summary();
  if (!cf_ctx.opt.stats)
    return;
  counters c = {0};
  collect(&c);
  total(&c);
  if (!root)
    return;
  if (strcmp(cf_ctx.opt.stats, "1") == 0) {
    for (uint32_t i = 0; i < c.n; i++) {
      fprintf(stderr, "cofuse: %-26s ", c.name[i]);
      print_number(stderr, c.value[i]);
      fputs("\n", stderr);
    }
    cf_profile_print();
    return;
  }
  FILE *f = fopen(cf_ctx.opt.stats, "w");
  if (!f) {
    cf_log(CF_LOG_ERROR, "COFUSE_STATS=%s: cannot write: %s", cf_ctx.opt.stats, strerror(errno));
    return;
  }
  fputs("{", f);
  for (uint32_t i = 0; i < c.n; i++) {
    fprintf(f, "%s\n  \"%s\": ", i ? "," : "", c.name[i]);
    print_number(f, c.value[i]);
  }
  fputs("\n}\n", f);
  fclose(f);
}
