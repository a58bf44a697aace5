// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* cofuse-scale [--reps N] RANKS:FOLDER...: what it costs to analyse a stream of windows for simulated numbers
 * of ranks, and what a rank in the middle sends and receives. Each folder holds the windows of one stream as
 * text (docs/ir.md), written by COFUSE_DUMP and stretched by scale.py. Times are medians; repetitions go
 * round all folders, so that whatever else the machine does hits all alike. */
#include "exec/need.h"
#include "ir/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 4096, FOLDERS = 16, MOST_REPS = 1001, SHORT = 64 /* calls timed together */, TRIES = 3 };
enum { FIRST, REPLAY, APPLY, PLAN, KINDS };

typedef struct window {
  cf_ir_window w;
  cf_partition *homes; /* as given */
  uint32_t runs;       /* groups that ran; the rest waits for the next window */
  cf_plan *plan;       /* of the memo of the stream */
  double *time[KINDS]; /* per repetition */
} window;

typedef struct stream {
  int64_t ranks;
  char *folder;
  window *v;
  uint32_t n;
  cf_memo memo;
  uint64_t tasks, messages, collectives;
  size_t bytes, memory;
  uint64_t analysed; /* tasks of windows that are not alike */
} stream;

/* Validity of a store when the window before has run. */
typedef struct known {
  bool all;
  int64_t lo, hi;
} known;

static _Noreturn void die(const char *what, const char *which) {
  fprintf(stderr, "cofuse-scale: error: %s%s%s\n", which ? which : "", which ? ": " : "", what);
  exit(1);
}

static void must(cf_status st) {
  if (st != CF_OK)
    die(cf_last_error(), NULL);
}

static void *zeroed(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  if (!p)
    die("out of memory", NULL);
  return p;
}

/* ---- reading */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void read_window(window *v, const char *path, int reps) {
  FILE *f = fopen(path, "r");
  cf_buf text = {0};
  char part[4096];
  size_t n;
  if (!f)
    die("cannot open it", path);
  while ((n = fread(part, 1, sizeof part, f)) > 0)
    cf_buf_put(&text, part, n);
  fclose(f);
  must(cf_parse_window(text.data ? text.data : "", text.len, path, &v->w));
  v->runs = UINT32_MAX;
  if (text.data && sscanf(text.data, "# runs %u of", &v->runs) != 1)
    v->runs = UINT32_MAX;
  v->homes = zeroed(v->w.nstores, sizeof *v->homes);
  for (uint32_t i = 0; i < v->w.nstores; i++)
    v->homes[i] = v->w.stores[i]->home;
  for (int k = 0; k < KINDS; k++)
    v->time[k] = zeroed((size_t)reps, sizeof(double));
  cf_buf_free(&text);
}

static void read_stream(stream *s, int reps) {
  char *names[WINDOWS], path[4096];
  DIR *d = opendir(s->folder);
  struct dirent *e;
  if (!d)
    die("cannot open the folder", s->folder);
  while ((e = readdir(d)) && s->n < WINDOWS) {
    size_t n = strlen(e->d_name);
    if (n > 3 && strcmp(e->d_name + n - 3, ".ir") == 0 && !(names[s->n++] = strdup(e->d_name)))
      die("out of memory", NULL);
  }
  closedir(d);
  if (!s->n)
    die("no windows in the folder", s->folder);
  qsort(names, s->n, sizeof *names, by_name);
  s->v = zeroed(s->n, sizeof *s->v);
  for (uint32_t i = 0; i < s->n; i++) {
    snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
    read_window(&s->v[i], path, reps);
    s->tasks += s->v[i].w.ntasks;
    free(names[i]);
  }
}

/* ---- time */

/* Analysed as if never seen, with the building of its key and its place in the memo. */
static void measure_first(const stream *s, window *v, int rep) {
  double best = 0;
  for (int i = 0; i < TRIES; i++) {
    cf_memo m = {0};
    cf_plan *p;
    double t = cf_now();
    must(cf_memo_plan(&m, v->w.tasks, v->w.ntasks, s->ranks, true, &p));
    t = cf_now() - t;
    best = i && best < t ? best : t;
    cf_memo_free(&m, NULL);
  }
  v->time[FIRST][rep] = best;
}

/* Found in the memo that holds the whole stream. */
static void measure_replay(stream *s, window *v, int rep) {
  cf_plan *p;
  uint64_t misses = s->memo.misses;
  must(cf_memo_plan(&s->memo, v->w.tasks, v->w.ntasks, s->ranks, true, &p));
  double t = cf_now();
  for (int i = 0; i < SHORT; i++)
    must(cf_memo_plan(&s->memo, v->w.tasks, v->w.ntasks, s->ranks, true, &p));
  v->time[REPLAY][rep] = (cf_now() - t) / SHORT;
  if (s->memo.misses != misses && v->plan)
    die("a window is not found again", s->folder);
  v->plan = p;
}

/* ---- messages */

static void recall(const cf_map *at, window *v) {
  for (uint32_t i = 0; i < v->w.nstores; i++) {
    cf_store *s = v->w.stores[i];
    const known *k = cf_map_get(at, &s->id, sizeof s->id);
    s->home = v->homes[i];
    s->all_valid = k ? k->all : true; /* new: equal contents everywhere */
    s->halo_lo = k ? k->lo : 0;
    s->halo_hi = k ? k->hi : 0;
  }
}

static void remember(cf_map *at, const window *v) {
  for (uint32_t i = 0; i < v->w.nstores; i++) {
    const cf_store *s = v->w.stores[i];
    known *k = cf_map_get(at, &s->id, sizeof s->id);
    if (!k)
      must(cf_map_put(at, &s->id, sizeof s->id, k = zeroed(1, sizeof *k)));
    *k = (known){s->all_valid, s->halo_lo, s->halo_hi};
  }
}

static void drop(void *val, void *arg) {
  (void)arg;
  free(val);
}

/* The whole stream once, as the rank in the middle would run it. */
static void measure_plan(stream *s, int rep) {
  cf_map at = {0};
  s->messages = s->collectives = 0;
  s->bytes = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    window *v = &s->v[i];
    double t = 0, applied = 0;
    recall(&at, v);
    cf_task **tasks = zeroed(v->w.ntasks + 1u, sizeof *tasks);
    cf_plan_order(v->plan, v->w.tasks, tasks);
    for (uint32_t g = 0; g < v->plan->ngroups && g < v->runs; g++) {
      const cf_group *x = &v->plan->groups[g];
      cf_needs n;
      double t0 = cf_now();
      cf_plan_apply(v->plan, tasks, x->first, x->ntasks);
      applied += cf_now() - t0;
      t0 = cf_now();
      must(cf_needs_of(v->plan, x, tasks, s->ranks / 2, s->ranks, &n));
      t += cf_now() - t0;
      s->collectives += n.nall;
      s->messages += n.npieces;
      for (uint32_t k = 0; k < n.npieces; k++)
        s->bytes += cf_need_bytes(n.piece[k].store, n.piece[k].lo, n.piece[k].hi);
      cf_needs_arrived(&n);
      cf_needs_written(x, tasks, s->ranks);
      cf_needs_free(&n);
    }
    v->time[PLAN][rep] = t;
    v->time[APPLY][rep] = applied;
    free(tasks);
    remember(&at, v);
    for (uint32_t k = 0; k < v->w.nstores; k++)
      v->w.stores[k]->home = v->homes[k];
  }
  cf_map_each(&at, drop, NULL);
  cf_map_free(&at);
}

/* Fills the memo of the stream, and adds up the memory of its plans and keys. */
static void measure_memory(stream *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t misses = s->memo.misses;
    measure_replay(s, &s->v[i], 0);
    if (s->memo.misses != misses) {
      s->analysed += s->v[i].w.ntasks;
      s->memory += s->memo.key.len + sizeof(cf_plan) + cf_arena_bytes(&s->v[i].plan->arena);
    }
  }
}

/* ---- report */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Microseconds per task over windows of at least `least` tasks. */
static double per_task(const stream *s, int kind, int reps, uint32_t least) {
  double sum = 0, tasks = 0, v[MOST_REPS];
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->v[i].w.ntasks < least)
      continue;
    memcpy(v, s->v[i].time[kind], (size_t)reps * sizeof *v);
    qsort(v, (size_t)reps, sizeof *v, by_value);
    sum += v[reps / 2];
    tasks += s->v[i].w.ntasks;
  }
  return tasks > 0 ? 1e6 * sum / tasks : 0;
}

int main(int argc, char **argv) {
  static stream s[FOLDERS];
  int n = 0, reps = 21;
  for (int i = 1; i < argc; i++) {
    char *colon;
    if (strcmp(argv[i], "--reps") == 0 && i + 1 < argc) {
      reps = atoi(argv[++i]);
      continue;
    }
    long long ranks = strtoll(argv[i], &colon, 10);
    if (*colon != ':' || ranks < 1 || n == FOLDERS)
      die("usage: cofuse-scale [--reps N] RANKS:FOLDER...", NULL);
    s[n].ranks = ranks;
    s[n++].folder = colon + 1;
  }
  if (n == 0 || reps < 1 || reps > MOST_REPS)
    die("usage: cofuse-scale [--reps N] RANKS:FOLDER...", NULL);
  for (int k = 0; k < n; k++) {
    read_stream(&s[k], reps);
    measure_memory(&s[k]);
  }
  uint32_t most = 0;
  for (int k = 0; k < n; k++)
    most = s[k].n > most ? s[k].n : most;
  /* Each time another folder is the first: it pays for what the caches lost meanwhile. */
  for (int rep = 0; rep < reps; rep++) {
    for (uint32_t i = 0; i < most; i++)
      for (int k = 0; k < n; k++) {
        stream *x = &s[(k + rep) % n];
        if (i < x->n)
          measure_first(x, &x->v[i], rep);
      }
    for (uint32_t i = 0; i < most; i++)
      for (int k = 0; k < n; k++) {
        stream *x = &s[(k + rep) % n];
        if (i < x->n)
          measure_replay(x, &x->v[i], rep);
      }
    for (int k = 0; k < n; k++)
      measure_plan(&s[k], rep);
  }
  for (int k = 0; k < n; k++)
    printf("{\"ranks\": %lld, \"windows\": %u, \"tasks\": %llu, \"first_us\": %.4f, \"replay_us\": %.4f, "
           "\"first16_us\": %.4f, \"replay16_us\": %.4f, \"apply_us\": %.4f, \"plan_us\": %.4f, \"memory\": "
           "%.2f, \"messages\": "
           "%llu, "
           "\"bytes\": %zu, \"collectives\": %llu}\n",
           (long long)s[k].ranks, s[k].n, (unsigned long long)s[k].tasks, per_task(&s[k], FIRST, reps, 1),
           per_task(&s[k], REPLAY, reps, 1), per_task(&s[k], FIRST, reps, 16),
           per_task(&s[k], REPLAY, reps, 16), per_task(&s[k], APPLY, reps, 1), per_task(&s[k], PLAN, reps, 1),
           (double)s[k].memory / (double)s[k].analysed, (unsigned long long)s[k].messages, s[k].bytes,
           (unsigned long long)s[k].collectives);
  return 0;
}
