// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* cofuse-ir: reads a window of tasks as text (docs/ir.md) and prints what the analysis makes of it. */
#include "exec/need.h"
#include "ir/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct view {
  cf_ir_window w;   /* in the plan's order */
  cf_task **window; /* as it was read */
  cf_names names;
  cf_plan *plan;
  cf_partition *given; /* homes before the analysis */
  int64_t ranks, rank;
  bool fuse;
  cf_buf out;
} view;

static const char usage[] =
    "usage: cofuse-ir COMMAND [-p RANKS] [-r RANK] [--no-fuse] [FILE]\n"
    "reads a window of tasks from FILE or standard input (the format is described in docs/ir.md) and prints\n"
    "  text         the window as it was understood\n"
    "  check        whether text and analysis survive printing and parsing; says nothing if so\n"
    "  homes        where each store lives\n"
    "  domains      how each task is launched, and the partition of each access\n"
    "  deps         pairs of accesses that conflict, and whether their tasks fuse all the same\n"
    "  groups       fused groups, and what ended them\n"
    "  nests        tasks that share a loop nest\n"
    "  temporaries  stores that need no memory\n"
    "  key          hash and length of the key under which the plan is remembered\n"
    "  plan         what rank RANK (default: the middle) of RANKS (default: 4) receives and sends\n"
    "  all          all of these\n";

static _Noreturn void die(const char *text) {
  fprintf(stderr, "cofuse-ir: error: %s\n", text);
  exit(1);
}

static void must(cf_status st) {
  if (st != CF_OK)
    die(cf_last_error());
}

/* ---- pieces */

/* "2.0 R u[i-1]": access 0 of task 2. */
static void put_access(view *v, uint32_t task, uint32_t acc) {
  const cf_task *t = v->w.tasks[task];
  const cf_access *a = &t->access[acc];
  cf_buf_printf(&v->out, "%u.%u ", task, acc);
  if (a->priv & CF_REDUCE)
    cf_buf_printf(&v->out, "reduce(%s) ", cf_redop_words[a->redop]);
  else
    cf_buf_printf(&v->out, "%s%s ", a->priv == 3 ? "RW" : a->priv & CF_WRITE ? "W" : "R", a->must ? "!" : "");
  cf_text_ref(&v->names, t, acc, &v->out);
  if (a->desc && a->desc->line)
    cf_buf_printf(&v->out, " (%s:%u)", t->desc->file, a->desc->line);
}

static const char *kind_of(const cf_access *a, const cf_access *b) {
  if ((a->priv | b->priv) & CF_REDUCE)
    return "reduction";
  if (a->priv & CF_WRITE && b->priv & CF_READ)
    return "flow";
  return a->priv & CF_WRITE ? "output" : "anti";
}

/* ---- commands */

static void show_text(view *v) { must(cf_text_window(v->window, v->w.ntasks, &v->out)); }

static void show_homes(view *v) {
  for (uint32_t i = 0; i < v->plan->nstores; i++) {
    const cf_store *s = v->names.stores[i];
    cf_buf_printf(&v->out, "%s: ", cf_names_of(&v->names, s));
    cf_partition_print(&v->plan->homes[i], &v->out);
    cf_buf_str(&v->out, v->given[i].kind ? "\n" : ", new\n");
  }
}

static void show_domains(view *v) {
  static const char *const domain[] = {"grid", "single", "replicated"};
  for (uint32_t i = 0; i < v->w.ntasks; i++) {
    const cf_task *t = v->w.tasks[i];
    cf_buf_printf(&v->out, "%u %s: %s", i, t->desc->name, domain[v->plan->domains[i]]);
    const cf_itile *it = &v->plan->itiles[i];
    if (v->plan->domains[i] == CF_SINGLE)
      cf_buf_printf(&v->out, ", row %lld", (long long)it->row);
    if (v->plan->domains[i] == CF_GRID)
      cf_buf_printf(&v->out, ", loop %d of %lld: element %lld n %+lld of %lld x %lld @ %lld", it->loop,
                    (long long)it->trip, (long long)it->c, (long long)it->k, (long long)it->home.count,
                    (long long)it->home.grain, (long long)it->home.origin);
    cf_buf_str(&v->out, "\n");
    for (uint32_t k = 0; k < t->naccess; k++) {
      if (!t->access[k].store)
        continue;
      cf_buf_str(&v->out, "  ");
      put_access(v, i, k);
      cf_buf_str(&v->out, ": ");
      cf_partition_print(&v->plan->parts[i][k], &v->out);
      cf_buf_str(&v->out, "\n");
    }
  }
}

static void show_deps(view *v) {
  for (uint32_t j = 0; j < v->w.ntasks; j++)
    for (uint32_t i = 0; i < j; i++)
      for (uint32_t a = 0; a < v->w.tasks[i]->naccess; a++)
        for (uint32_t b = 0; b < v->w.tasks[j]->naccess; b++) {
          const cf_access *x = &v->w.tasks[i]->access[a], *y = &v->w.tasks[j]->access[b];
          if (!x->store || x->store != y->store || !cf_access_intersects(x, y) ||
              !((x->priv | y->priv) & (CF_WRITE | CF_REDUCE)))
            continue;
          cf_rule r = cf_fusible(v->w.tasks[i], x, v->w.tasks[j], y, v->plan->homes, v->ranks);
          cf_buf_printf(&v->out, "%s: ", kind_of(x, y));
          put_access(v, i, a);
          cf_buf_str(&v->out, ", then ");
          put_access(v, j, b);
          cf_buf_printf(&v->out, ": %s\n", r == CF_CUT_END ? "fuses" : cf_rule_text(r));
        }
}

static void show_groups(view *v) {
  for (uint32_t g = 0; g < v->plan->ngroups; g++) {
    const cf_group *x = &v->plan->groups[g];
    cf_buf_printf(&v->out, "group %u:", g);
    for (uint32_t i = x->first; i < x->first + x->ntasks; i++)
      cf_buf_printf(&v->out, " %u %s%s", i, v->w.tasks[i]->desc->name,
                    i + 1 < x->first + x->ntasks ? "," : "\n");
    cf_buf_printf(&v->out, "  ends: %s", cf_rule_text(x->cut.rule));
    if (x->cut.rule != CF_CUT_END && x->cut.rule != CF_CUT_LIMIT) {
      cf_buf_str(&v->out, ": ");
      put_access(v, x->cut.task_i, x->cut.acc_i);
      cf_buf_str(&v->out, ", then ");
      put_access(v, x->cut.task_j, x->cut.acc_j);
    }
    cf_buf_str(&v->out, "\n");
  }
}

/* In a nest of different boxes: the task's iteration at point 0, and whether it has an edge. */
static void show_at(view *v, const cf_nest *n, uint32_t i) {
  if (!n->at)
    return;
  const cf_task *t = v->w.tasks[n->tasks[i]];
  for (int d = 0; d < t->ndims; d++)
    cf_buf_printf(&v->out, "%s%lld", d ? "," : "(", (long long)n->at[i][d]);
  bool edge = false;
  for (uint32_t e = 0; e < n->nedges; e++)
    edge |= i >= n->edges[e].first && i < n->edges[e].first + n->edges[e].ntasks;
  cf_buf_str(&v->out, edge ? ") edge" : ")");
}

static void show_nests(view *v) {
  for (uint32_t g = 0; g < v->plan->ngroups; g++) {
    const cf_group *x = &v->plan->groups[g];
    cf_buf_printf(&v->out, "group %u:", g);
    for (uint32_t n = 0; n < x->nnests; n++) {
      cf_buf_str(&v->out, n ? " |" : "");
      for (uint32_t i = 0; i < x->nests[n].ntasks; i++) {
        cf_buf_printf(&v->out, " %u", x->nests[n].tasks[i]);
        show_at(v, &x->nests[n], i);
      }
    }
    if (x->reordered)
      cf_buf_printf(&v->out, ", %u moved up", x->reordered);
    cf_buf_str(&v->out, "\n");
  }
}

static void show_temporaries(view *v) {
  for (uint32_t s = 0; s < v->names.nstores; s++)
    for (uint32_t i = 0, told = 0; i < v->w.ntasks && !told; i++)
      for (uint32_t k = 0; k < v->w.tasks[i]->naccess && !told; k++) {
        if (v->w.tasks[i]->access[k].store != v->names.stores[s] || v->plan->locals[i][k] < 0)
          continue;
        told = 1;
        uint32_t g = 0;
        while (v->plan->groups[g].first + v->plan->groups[g].ntasks <= i)
          g++;
        cf_buf_printf(&v->out, "%s: a value in group %u\n", cf_names_of(&v->names, v->names.stores[s]), g);
      }
}

static void show_key(view *v) {
  uint64_t *sites = calloc(v->w.ntasks + 1u, sizeof *sites);
  cf_buf key = {0}, site = {0};
  if (!sites)
    die("out of memory");
  for (uint32_t i = 0; i < v->w.ntasks; i++) { /* addresses differ from run to run */
    const cofuse_forall *d = v->w.tasks[i]->desc;
    cf_buf_clear(&site);
    cf_buf_printf(&site, "%d %s %s:%u:%u %d", d->kind, d->name, d->file, d->line, d->column, d->flags);
    for (int k = 0; k < d->naccess; k++)
      cf_buf_printf(&site, " %d %d %d", d->access[k].type, d->access[k].mode, d->access[k].flags);
    for (int k = 0; k < d->nreds; k++)
      cf_buf_printf(&site, " %d %d", d->reds[k].op, d->reds[k].type);
    sites[i] = site.failed ? 0 : cf_hash64(site.data, site.len, 0);
  }
  cf_memo_key(&key, v->window, v->w.ntasks, v->fuse, sites);
  char hex[33];
  cf_hash128_hex(key.data, key.len, hex);
  cf_buf_printf(&v->out, "%s, %zu bytes\n", hex, key.len);
  cf_buf_free(&key);
  cf_buf_free(&site);
  free(sites);
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

static void show_plan(view *v) {
  cf_buf_printf(&v->out, "rank %lld of %lld\n", (long long)v->rank, (long long)v->ranks);
  for (uint32_t g = 0; g < v->plan->ngroups; g++) {
    const cf_group *x = &v->plan->groups[g];
    cf_plan_apply(v->plan, v->w.tasks, x->first, x->ntasks);
    cf_needs n;
    must(cf_needs_of(v->plan, x, v->w.tasks, v->rank, v->ranks, &n));
    cf_buf_printf(&v->out, "group %u:%s\n", g, n.nall + n.npieces ? "" : " nothing");
    uint32_t in = 0, away = 0;
    size_t in_bytes = 0, out_bytes = 0;
    for (uint32_t i = 0; i < n.nall; i++)
      cf_buf_printf(&v->out, "  %s: %lld..%lld to all ranks\n", cf_names_of(&v->names, n.all[i].store),
                    (long long)n.all[i].lo, (long long)n.all[i].hi);
    for (uint32_t i = 0; i < n.npieces; i++) {
      const cf_need_piece *p = &n.piece[i];
      size_t bytes = cf_need_bytes(p->store, p->lo, p->hi);
      *(p->send ? &away : &in) += 1;
      *(p->send ? &out_bytes : &in_bytes) += bytes;
      cf_buf_printf(&v->out, "  %s: %lld..%lld of dim %d %s rank %lld, %zu bytes\n",
                    cf_names_of(&v->names, p->store), (long long)p->lo, (long long)p->hi, p->store->home.dim,
                    p->send ? "to" : "from", (long long)p->peer, bytes);
    }
    if (n.nall + n.npieces)
      cf_buf_printf(&v->out, "  in all: %u received, %zu bytes; %u sent, %zu bytes; %u collective%s\n", in,
                    in_bytes, away, out_bytes, n.nall, plural(n.nall));
    cf_needs_arrived(&n);
    cf_needs_written(x, v->w.tasks, v->ranks);
    cf_needs_free(&n);
  }
}

/* ---- check */

static bool same_edges(const cf_nest *a, const cf_nest *b) {
  if (a->nedges != b->nedges || !a->at != !b->at)
    return false;
  return !a->at || (memcmp(a->at, b->at, a->ntasks * sizeof *a->at) == 0 &&
                    memcmp(a->edges, b->edges, a->nedges * sizeof *a->edges) == 0);
}

static bool same_nests(const cf_group *a, const cf_group *b) {
  if (a->first != b->first || a->ntasks != b->ntasks || a->nnests != b->nnests ||
      a->ndemoted != b->ndemoted || a->reordered != b->reordered ||
      memcmp(&a->cut, &b->cut, sizeof a->cut) != 0)
    return false;
  for (uint32_t n = 0; n < a->nnests; n++)
    if (a->nests[n].ntasks != b->nests[n].ntasks || a->nests[n].nlocals != b->nests[n].nlocals ||
        memcmp(a->nests[n].tasks, b->nests[n].tasks, a->nests[n].ntasks * sizeof(uint32_t)) != 0 ||
        !same_edges(&a->nests[n], &b->nests[n]))
      return false;
  return true;
}

static bool same_plan(const view *v, const cf_plan *a, const cf_plan *b) {
  if (a->ntasks != b->ntasks || a->ngroups != b->ngroups || a->nstores != b->nstores ||
      !a->order != !b->order || (a->order && memcmp(a->order, b->order, a->ntasks * sizeof *a->order) != 0))
    return false;
  for (uint32_t s = 0; s < a->nstores; s++)
    if (!cf_partition_equal(&a->homes[s], &b->homes[s]))
      return false;
  for (uint32_t i = 0; i < a->ntasks; i++)
    for (uint32_t k = 0; k < v->w.tasks[i]->naccess; k++)
      if (a->domains[i] != b->domains[i] ||
          !cf_itile_equal(&a->itiles[i], &b->itiles[i], a->domains[i], b->domains[i]) ||
          a->locals[i][k] != b->locals[i][k] ||
          (v->w.tasks[i]->access[k].store && !cf_partition_equal(&a->parts[i][k], &b->parts[i][k])))
        return false;
  for (uint32_t g = 0; g < a->ngroups; g++)
    if (!same_nests(&a->groups[g], &b->groups[g]))
      return false;
  return true;
}

static void check(view *v) {
  cf_buf once = {0}, twice = {0};
  cf_ir_window again;
  cf_plan *plan;
  must(cf_text_window(v->window, v->w.ntasks, &once));
  must(cf_parse_window(once.data, once.len, "printed text", &again));
  must(cf_text_window(again.tasks, again.ntasks, &twice));
  if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
    die("the text changes when it is parsed and printed again");
  must(cf_analyse(again.tasks, again.ntasks, v->ranks, v->fuse, &plan));
  if (!same_plan(v, v->plan, plan))
    die("the analysis of the printed text gives another plan");
  cf_plan_free(plan);
  cf_ir_window_free(&again);
  cf_buf_free(&once);
  cf_buf_free(&twice);
}

/* ---- main */

typedef struct command {
  const char *name;
  void (*run)(view *);
} command;

static const command commands[] = {
    {"text", show_text}, {"check", check},        {"homes", show_homes}, {"domains", show_domains},
    {"deps", show_deps}, {"groups", show_groups}, {"nests", show_nests}, {"temporaries", show_temporaries},
    {"key", show_key},   {"plan", show_plan}, /* last: it changes the stores */
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void read_all(const char *path, cf_buf *out) {
  bool in = strcmp(path, "-") == 0;
  FILE *f = in ? stdin : fopen(path, "r");
  char part[4096];
  size_t n;
  if (!f) {
    fprintf(stderr, "cofuse-ir: error: cannot open %s: %s\n", path, strerror(errno));
    exit(1);
  }
  while ((n = fread(part, 1, sizeof part, f)) > 0)
    cf_buf_put(out, part, n);
  if (ferror(f) || out->failed) {
    fprintf(stderr, "cofuse-ir: error: cannot read %s: %s\n", path, strerror(errno));
    exit(1);
  }
  if (!in)
    fclose(f);
}

static int64_t number(const char *flag, const char *text, int64_t lo, int64_t hi) {
  char *end = NULL;
  errno = 0;
  long long n = text ? strtoll(text, &end, 10) : 0;
  if (!text || end == text || *end || errno || n < lo || n > hi) {
    fprintf(stderr, "cofuse-ir: error: %s takes a number from %lld to %lld\n", flag, (long long)lo,
            (long long)hi);
    exit(2);
  }
  return n;
}

int main(int argc, char **argv) {
  view v = {.ranks = 4, .rank = -1, .fuse = true};
  const char *what = NULL, *file = NULL;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (strcmp(a, "-h") == 0 || strcmp(a, "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(a, "-p") == 0)
      v.ranks = number("-p", argv[i + 1] ? argv[++i] : NULL, 1, 1 << 22);
    else if (strcmp(a, "-r") == 0)
      v.rank = number("-r", argv[i + 1] ? argv[++i] : NULL, 0, (1 << 22) - 1);
    else if (strcmp(a, "--no-fuse") == 0)
      v.fuse = false;
    else if (!what && a[0] != '-')
      what = a;
    else if (!file && (a[0] != '-' || !a[1]))
      file = a;
    else {
      fputs(usage, stderr);
      return 2;
    }
  }
  bool all = what && strcmp(what, "all") == 0, known = all;
  for (int c = 0; c < COMMANDS; c++)
    known |= what && strcmp(commands[c].name, what) == 0;
  if (!known) {
    fputs(usage, stderr);
    return 2;
  }
  if (v.rank < 0)
    v.rank = v.ranks / 2;
  if (v.rank >= v.ranks)
    die("-r RANK must be less than -p RANKS");
  cf_buf text = {0};
  file = file ? file : "-";
  read_all(file, &text);
  must(cf_parse_window(text.data ? text.data : "", text.len, strcmp(file, "-") ? file : "standard input",
                       &v.w));
  must(cf_analyse(v.w.tasks, v.w.ntasks, v.ranks, v.fuse, &v.plan));
  v.window = malloc((v.w.ntasks + 1u) * sizeof *v.window);
  if (!v.window)
    die("out of memory");
  memcpy(v.window, v.w.tasks, v.w.ntasks * sizeof *v.window);
  cf_plan_order(v.plan, v.window, v.w.tasks);
  must(cf_names_make(v.window, v.w.ntasks, &v.names));
  v.given = calloc(v.names.nstores + 1u, sizeof *v.given);
  if (!v.given)
    die("out of memory");
  for (uint32_t i = 0; i < v.names.nstores; i++)
    v.given[i] = v.names.stores[i]->home;
  for (int c = 0; c < COMMANDS; c++) {
    if (!all && strcmp(commands[c].name, what) != 0)
      continue;
    if (all)
      cf_buf_printf(&v.out, "%s== %s\n", c ? "\n" : "", commands[c].name);
    commands[c].run(&v);
  }
  if (v.out.failed)
    die("out of memory");
  if (v.out.len)
    fwrite(v.out.data, 1, v.out.len, stdout);
  free(v.window);
  cf_plan_free(v.plan);
  cf_names_free(&v.names);
  cf_ir_window_free(&v.w);
  cf_buf_free(&v.out);
  cf_buf_free(&text);
  free(v.given);
  return fflush(stdout) ? 1 : 0;
}
