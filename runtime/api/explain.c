// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_EXPLAIN: what was fused, why a group ended, which temporaries went away. */
#include "api/context.h"
#include "ir/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *file_of(const cofuse_forall *d) {
  const char *s = strrchr(d->file, '/');
  return s ? s + 1 : d->file;
}

static void print_side(const cf_task *t, const cf_access *a) {
  const cofuse_forall *d = t->desc;
  uint32_t line = a->desc ? a->desc->line : d->line;
  const char *text = a->desc ? a->desc->text : a->store ? a->store->text : "?";
  const char *verb = a->priv & CF_REDUCE  ? "reduced"
                     : a->priv == 3       ? "updated"
                     : a->priv & CF_WRITE ? "written"
                                          : "read";
  fprintf(stderr, "%s %s at %s:%u (task %s)", text, verb, file_of(d), line, d->name);
}

static void print_group(const cf_plan *p, const cf_group *g, cf_task *const *tasks, uint32_t index) {
  fprintf(stderr, "cofuse:   group %u: %u task%s in %u loop nest%s:", index, g->ntasks,
          g->ntasks == 1 ? "" : "s", g->nnests, g->nnests == 1 ? "" : "s");
  for (uint32_t n = 0; n < g->nnests; n++) {
    fputs(n ? " |" : "", stderr);
    for (uint32_t i = 0; i < g->nests[n].ntasks; i++) {
      const cofuse_forall *d = tasks[g->nests[n].tasks[i]]->desc;
      fprintf(stderr, " %s(%s:%u)", d->name, file_of(d), d->line);
    }
  }
  fputs("\n", stderr);
  for (uint32_t n = 0; n < g->nnests; n++)
    for (uint32_t e = 0; e < g->nests[n].nedges; e++) {
      const cf_nest *nest = &g->nests[n];
      fputs("cofuse:     runs edges of their own beside the nest:", stderr);
      for (uint32_t i = nest->edges[e].first; i < nest->edges[e].first + nest->edges[e].ntasks; i++) {
        const cofuse_forall *d = tasks[nest->tasks[i]]->desc;
        fprintf(stderr, " %s(%s:%u)", d->name, file_of(d), d->line);
      }
      fputs("\n", stderr);
    }
  if (g->ndemoted) {
    fprintf(stderr, "cofuse:     %u temporar%s removed:", g->ndemoted, g->ndemoted == 1 ? "y" : "ies");
    for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
      for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
        const cf_access *a = &tasks[i]->access[k];
        bool first = p->locals[i][k] >= 0;
        for (uint32_t j = g->first; j <= i && first; j++)
          for (uint32_t m = 0; m < (j == i ? k : tasks[j]->naccess) && first; m++)
            first = tasks[j]->access[m].store != a->store;
        if (first)
          fprintf(stderr, " %s(%s:%u)", a->store->text, a->store->file, a->store->line);
      }
    fputs("\n", stderr);
  }
  if (g->cut.rule == CF_CUT_END || g->cut.rule == CF_CUT_LIMIT) {
    fprintf(stderr, "cofuse:     ends: %s\n", cf_rule_text(g->cut.rule));
    return;
  }
  const cf_task *ti = tasks[g->cut.task_i], *tj = tasks[g->cut.task_j];
  const cf_access *a = &ti->access[g->cut.acc_i], *b = &tj->access[g->cut.acc_j];
  fprintf(stderr, "cofuse:     ends: %s of store(%s): ", cf_rule_text(g->cut.rule), a->store->text);
  print_side(ti, a);
  fputs(", then ", stderr);
  print_side(tj, b);
  fputs("\n", stderr);
}

void cf_explain_window(const cf_plan *p, cf_task *const *tasks, uint32_t ngroups, const char *why) {
  uint32_t n = 0;
  for (uint32_t g = 0; g < ngroups; g++)
    n += p->groups[g].ntasks;
  fprintf(stderr, "cofuse: window %" PRIu64 " (%s): %u of %u pending tasks run as %u group%s\n",
          cf_ctx.windows, why, n, p->ntasks, ngroups, ngroups == 1 ? "" : "s");
  for (uint32_t g = 0; g < ngroups; g++)
    print_group(p, &p->groups[g], tasks, g);
}

void cf_explain_summary(void) {
  for (const cf_flush_site *f = cf_ctx.flush_sites; f; f = f->next)
    fprintf(stderr, "cofuse: %s: %" PRIu64 " time%s\n", f->text, f->count, f->count == 1 ? "" : "s");
  for (const cf_site *s = cf_ctx.sites; s; s = s->next) {
    if (s->serial &&
        s->desc->kind == COFUSE_KIND_FORALL) /* a task on plain scalars is meant to run at once */
      fprintf(stderr, "cofuse: %s:%u (%s) ran %" PRIu64 " time%s as the plain loop: %s\n", s->desc->file,
              s->desc->line, s->desc->name, s->serial, s->serial == 1 ? "" : "s", s->why ? s->why : "?");
    if (s->replicated)
      fprintf(stderr, "cofuse: %s:%u (%s) ran %" PRIu64 " time%s on every rank in full\n", s->desc->file,
              s->desc->line, s->desc->name, s->replicated, s->replicated == 1 ? "" : "s");
  }
}

void cf_dump_window(const cf_plan *p, cf_task *const *tasks, uint32_t ngroups, const char *why) {
  char path[4096];
  if (mkdir(cf_ctx.opt.dump, 0777) != 0 && errno != EEXIST) {
    cf_log(CF_LOG_WARN, "COFUSE_DUMP=%s: cannot make the folder: %s", cf_ctx.opt.dump, strerror(errno));
    cf_ctx.opt.dump = NULL;
    return;
  }
  snprintf(path, sizeof path, "%s/window%06" PRIu64 ".ir", cf_ctx.opt.dump, cf_ctx.windows);
  FILE *f = fopen(path, "w");
  if (!f) {
    cf_log(CF_LOG_WARN, "COFUSE_DUMP: cannot write %s: %s", path, strerror(errno));
    return;
  }
  cf_buf b = {0};
  cf_names names;
  cf_status st = cf_names_make(tasks, p->ntasks, &names);
  if (st == CF_OK) {
    cf_buf_printf(&b, "# runs %u of %u groups: %s\n", ngroups, p->ngroups, why);
    cf_text_stores(&names, tasks, p->ntasks, &b);
    for (uint32_t g = 0; g < p->ngroups; g++) {
      const cf_group *gr = &p->groups[g];
      cf_buf_printf(&b, "\n# group %u: %u tasks, %u nests, %u temporaries; ends: %s\n", g, gr->ntasks,
                    gr->nnests, gr->ndemoted, cf_rule_text(gr->cut.rule));
      for (uint32_t i = gr->first; i < gr->first + gr->ntasks; i++)
        cf_text_task(&names, tasks[i], &b);
    }
    cf_names_free(&names);
  }
  if (st != CF_OK || b.failed || fwrite(b.data, 1, b.len, f) != b.len)
    cf_log(CF_LOG_WARN, "COFUSE_DUMP: cannot write %s", path);
  fclose(f);
  cf_buf_free(&b);
}
