// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* test-ir-points [seed [count]], or POINTS_SEED and POINTS_COUNT. A window that the analysis decides wrongly
 * is shrunk and printed as text. POINTS_SHOW=N prints the first N windows in which a fusion is missed that
 * the points allow. */
#include "points.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Per rule of a cut and domains of both tasks: how many there were, and how many the points would have
 * allowed. */
typedef struct tally {
  uint64_t cuts, missed, copies;
} tally;

static tally tallies[PT_RULES][3][3];
static const char *const domain_names[] = {"grid", "single", "replicated"};
static uint64_t windows, tasks, joined, groups, temporaries, edges;
static int show, only = -1;
static volatile uint64_t running;

static void died(int sig) {
  char text[128];
  int n = snprintf(text, sizeof text, "seed %llu: signal %d\n", (unsigned long long)running, sig);
  if (write(2, text, (size_t)n) < 0)
    _exit(3);
  _exit(2);
}

/* The promise of forall, as the runtime tests it before a task is issued. */
static bool may_issue(const cf_task *t) {
  for (int i = 0; i < t->naccess; i++)
    for (int k = 0; k < t->naccess; k++) {
      const cf_access *w = &t->access[i], *a = &t->access[k];
      if (!w->store || !(w->priv & (CF_WRITE | CF_REDUCE)) || a->store != w->store ||
          (w->priv & CF_REDUCE && k == i) || !cf_access_intersects(w, a))
        continue;
      if ((w->priv | a->priv) & CF_REDUCE)
        return false;
      if (t->ndims && !cf_access_same_iteration(w, a, t->ndims, t->trip))
        return false;
    }
  return true;
}

/* Leaves out tasks that would not be issued. */
static void admit(cf_ir_window *w) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->ntasks; i++) {
    if (may_issue(w->tasks[i])) {
      w->tasks[n++] = w->tasks[i];
      continue;
    }
    for (uint32_t k = 0; k < w->tasks[i]->naccess; k++) {
      cf_access *a = &w->tasks[i]->access[k];
      if (a->store) {
        a->store->pending--;
        a->store->writers -= (a->priv & (CF_WRITE | CF_REDUCE)) != 0;
      }
    }
  }
  w->ntasks = n;
}

typedef struct validity {
  cf_partition home;
  bool all;
  int64_t lo, hi;
} validity;

/* Brings the window into the plan's order; the result is what restore takes. */
static cf_task **into_order(cf_ir_window *w, const cf_plan *p) {
  cf_task **before = malloc((w->ntasks + 1u) * sizeof *before);
  memcpy(before, w->tasks, w->ntasks * sizeof *before);
  cf_plan_order(p, before, w->tasks);
  return before;
}

static void restore(cf_ir_window *w, cf_task **before) {
  memcpy(w->tasks, before, w->ntasks * sizeof *before);
  free(before);
}

/* Analyses for so many ranks and compares. Leaves the window as it was. */
static const char *check(cf_ir_window *w, int64_t ranks) {
  cf_plan *p;
  pt_sets s;
  validity *keep = calloc(w->nstores + 1u, sizeof *keep);
  if (cf_analyse(w->tasks, w->ntasks, ranks, true, &p) != CF_OK)
    return cf_last_error();
  for (uint32_t i = 0; i < w->nstores; i++) {
    const cf_store *x = w->stores[i];
    keep[i] = (validity){x->home, x->all_valid, x->halo_lo, x->halo_hi};
  }
  cf_task **before = into_order(w, p);
  cf_plan_apply(p, w->tasks, 0, w->ntasks);
  pt_sets_make(w, ranks, &s);
  const char *e = pt_check(&s, p);
  for (uint32_t g = 0; g < p->ngroups && ranks == 2; g++) {
    groups++;
    joined += p->groups[g].ntasks - 1;
    temporaries += p->groups[g].ndemoted;
    for (uint32_t n = 0; n < p->groups[g].nnests; n++)
      edges += p->groups[g].nests[n].nedges;
  }
  pt_sets_free(&s);
  restore(w, before);
  cf_plan_free(p);
  for (uint32_t i = 0; i < w->nstores; i++) {
    cf_store *x = w->stores[i];
    x->home = keep[i].home;
    x->all_valid = keep[i].all;
    x->halo_lo = keep[i].lo;
    x->halo_hi = keep[i].hi;
  }
  free(keep);
  return e;
}

/* NULL: right on all numbers of ranks. Only what the parser accepts can be wrong. */
static const char *judge(const char *text, size_t len, int64_t *ranks) {
  cf_ir_window w;
  const char *e = NULL;
  if (cf_parse_window(text, len, "window", &w) != CF_OK)
    return NULL;
  admit(&w);
  for (*ranks = 1; *ranks <= PT_RANKS && !e && w.ntasks; ++*ranks)
    e = check(&w, *ranks);
  --*ranks;
  cf_ir_window_free(&w);
  return e;
}

/* Leaves out lines that the failure does not need. */
static void shrink(cf_buf *text) {
  cf_buf less = {0};
  bool again = true;
  int64_t ranks;
  while (again) {
    again = false;
    for (size_t at = 0; at < text->len;) {
      const char *end = strchr(text->data + at, '\n');
      size_t next = end ? (size_t)(end - text->data) + 1 : text->len;
      cf_buf_clear(&less);
      cf_buf_put(&less, text->data, at);
      cf_buf_put(&less, text->data + next, text->len - next);
      if (judge(less.data, less.len, &ranks)) {
        cf_buf_clear(text);
        cf_buf_put(text, less.data, less.len);
        again = true;
      } else {
        at = next;
      }
    }
  }
  cf_buf_free(&less);
}

/* Could task j have joined the group in front of it, for every number of ranks? */
static bool allowed(const pt_sets *sets, const cf_group *g, uint32_t j, bool copies) {
  for (int64_t r = 2; r <= PT_RANKS; r++)
    for (uint32_t i = g->first; i < j; i++) {
      uint32_t a, b;
      if (pt_pair(&sets[r], i, j, copies, &a, &b) != CF_CUT_END)
        return false;
    }
  return true;
}

static void count_missed(cf_ir_window *w) {
  cf_plan *p;
  pt_sets sets[PT_RANKS + 1];
  if (cf_analyse(w->tasks, w->ntasks, 4, true, &p) != CF_OK)
    return;
  cf_task **before = into_order(w, p);
  for (uint32_t i = 0; i < w->ntasks; i++) {
    w->tasks[i]->domain = p->domains[i];
    w->tasks[i]->itile = p->itiles[i];
  }
  for (int64_t r = 2; r <= PT_RANKS; r++)
    pt_sets_make(w, r, &sets[r]);
  for (uint32_t g = 0; g + 1 < p->ngroups; g++) {
    const cf_group *x = &p->groups[g];
    if (x->cut.rule == CF_CUT_LIMIT || x->cut.rule == CF_CUT_END)
      continue;
    tally *t = &tallies[x->cut.rule][p->domains[x->cut.task_i]][p->domains[x->cut.task_j]];
    uint32_t j = x->first + x->ntasks;
    bool missed = allowed(sets, x, j, false);
    t->cuts++;
    t->missed += missed;
    t->copies += allowed(sets, x, j, true);
    if (missed && show > 0 && (only < 0 || (int)x->cut.rule == only)) {
      show--;
      cf_buf shown = {0};
      if (cf_text_window(w->tasks, w->ntasks, &shown) != CF_OK)
        continue;
      printf("missed: access %u.%u, then %u.%u: %s (group from task %u)\n%s\n", x->cut.task_i, x->cut.acc_i,
             x->cut.task_j, x->cut.acc_j, cf_rule_text(x->cut.rule), x->first, shown.data);
      cf_buf_free(&shown);
    }
  }
  for (int64_t r = 2; r <= PT_RANKS; r++)
    pt_sets_free(&sets[r]);
  restore(w, before);
  cf_plan_free(p);
}

static void report(void) {
  uint64_t cuts = 0, missed = 0, copies = 0;
  for (int k = 0; k < PT_RULES * 9; k++) {
    const tally *t = &tallies[k / 9][k / 3 % 3][k % 3];
    cuts += t->cuts;
    missed += t->missed;
    copies += t->copies;
  }
  printf("tasks %llu in %llu groups, %llu joined one, %llu temporaries, %llu edges; cuts %llu, of which the "
         "points allow "
         "%llu\n",
         (unsigned long long)tasks, (unsigned long long)groups, (unsigned long long)joined,
         (unsigned long long)temporaries, (unsigned long long)edges, (unsigned long long)cuts,
         (unsigned long long)missed);
  printf("missed: %.2f %% of the legal fusions",
         100.0 * (double)missed / (double)(joined + missed ? joined + missed : 1));
  printf(" (%.2f %% if what another rank still reads may be overwritten, since ranks work on copies)\n",
         100.0 * (double)copies / (double)(joined + copies ? joined + copies : 1));
  printf("cuts, by rule and launch domains of both tasks: all, legal by the points, legal on copies\n");
  for (int k = 0; k < PT_RULES * 9; k++) {
    const tally *t = &tallies[k / 9][k / 3 % 3][k % 3];
    if (t->cuts)
      printf("  %8llu %7llu %7llu  %s, then %s: %s\n", (unsigned long long)t->cuts,
             (unsigned long long)t->missed, (unsigned long long)t->copies, domain_names[k / 3 % 3],
             domain_names[k % 3], cf_rule_text((cf_rule)(k / 9)));
  }
}

static uint64_t number(int argc, char **argv, int i, const char *env, uint64_t def) {
  const char *s = argc > i ? argv[i] : getenv(env);
  return s && *s ? strtoull(s, NULL, 0) : def;
}

int main(int argc, char **argv) {
  uint64_t seed = number(argc, argv, 1, "POINTS_SEED", 1),
           count = number(argc, argv, 2, "POINTS_COUNT", 20000), bad = 0;
  show = (int)number(0, argv, 9, "POINTS_SHOW", 0);
  only = (int)number(0, argv, 9, "POINTS_RULE", (uint64_t)-1);
  cf_buf text = {0};
  signal(SIGSEGV, died);
  signal(SIGABRT, died);
  signal(SIGALRM, died);
  double start = cf_now();
  for (uint64_t i = 0; i < count && bad < 3; i++) {
    cf_ir_window w;
    int64_t ranks;
    running = seed + i;
    alarm(60);
    pt_generate(seed + i, &text);
    if (cf_parse_window(text.data, text.len, "window", &w) != CF_OK) {
      printf("seed %llu: %s\n%s", (unsigned long long)(seed + i), cf_last_error(), text.data);
      return 1;
    }
    admit(&w);
    windows++;
    tasks += w.ntasks;
    const char *e = judge(text.data, text.len, &ranks);
    if (e) {
      bad++;
      printf("FAILED seed %llu on %lld ranks: %s\n", (unsigned long long)(seed + i), (long long)ranks, e);
      shrink(&text);
      e = judge(text.data, text.len, &ranks);
      printf("shrunk, on %lld ranks: %s\n%s\n", (long long)ranks, e ? e : "?", text.data);
      fflush(stdout);
    } else {
      count_missed(&w);
    }
    cf_ir_window_free(&w);
  }
  printf("%llu windows from seed %llu on 1 to %d ranks: %llu wrong; %.1f s\n", (unsigned long long)windows,
         (unsigned long long)seed, PT_RANKS, (unsigned long long)bad, cf_now() - start);
  report();
  cf_buf_free(&text);
  return bad != 0;
}
