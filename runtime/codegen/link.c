// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Objects to shared objects by an external linker, off the critical path. Few run at once: the program
 * is computing meanwhile. The program may collect children of its own with wait(), so a linker that is
 * gone when we look is judged by its output alone (the cache verifies what it finds). */
#include "codegen/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_RUNNING = 2 };

typedef struct job {
  char *in, *out;
  cf_link_done_fn done;
  void *arg;
  pid_t pid;
  struct job *next;
} job;

struct cf_linker {
  char path[PATH_MAX];
  bool lld;
  job *running[MAX_RUNNING]; /* NULL: free place */
  job *head, **tail;         /* waiting, in order of arrival */
};

static bool executable(const char *path) {
  struct stat sb;
  return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && access(path, X_OK) == 0;
}

/* Absolute path of a program on PATH. */
static bool on_path(const char *name, char out[PATH_MAX]) {
  for (const char *p = getenv("PATH"); p && *p;) {
    size_t n = strcspn(p, ":");
    if (n && *p == '/' && (size_t)snprintf(out, PATH_MAX, "%.*s/%s", (int)n, p, name) < PATH_MAX &&
        executable(out))
      return true;
    p += n + (p[n] == ':');
  }
  return false;
}

cf_linker *cf_linker_open(void) {
  cf_linker *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  l->tail = &l->head;
  l->lld = true;
  snprintf(l->path, sizeof l->path, "%s/bin/ld.lld", COFUSE_LLVM_ROOT);
  if (executable(l->path) || on_path("ld.lld-19", l->path) || on_path("ld.lld", l->path))
    return l;
  l->lld = false;
  if (on_path("ld", l->path))
    return l;
  free(l);
  return NULL;
}

/* Starts a job with its output silenced. false: it cannot be started. */
static bool start(cf_linker *l, job *j) {
  const char *argv[] = {l->path,
                        "-shared",
                        "--hash-style=gnu",
                        "--build-id=none",
                        "-s",
                        "-z",
                        "noexecstack",
                        "-o",
                        j->out,
                        j->in,
                        NULL,
                        NULL};
  if (l->lld)
    argv[10] = "--threads=1";
  posix_spawn_file_actions_t fa;
  if (posix_spawn_file_actions_init(&fa) != 0)
    return false;
  posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
  int e = posix_spawn(&j->pid, l->path, &fa, NULL, (char *const *)(uintptr_t)argv, environ);
  posix_spawn_file_actions_destroy(&fa);
  return e == 0;
}

static void finish(job *j, bool ok) {
  j->done(j->arg, j->out, ok);
  free(j->in);
  free(j->out);
  free(j);
}

/* 1: ended well, 0: ended badly, -1: runs. */
static int ended(const job *j, bool wait) {
  int status;
  pid_t p;
  do
    p = waitpid(j->pid, &status, wait ? 0 : WNOHANG);
  while (p < 0 && errno == EINTR);
  if (p == 0)
    return -1;
  if (p < 0) {
    struct stat sb;
    return stat(j->out, &sb) == 0 && sb.st_size > 0;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Collects what has ended (with wait: one that runs for sure) and starts what waits. */
static void step(cf_linker *l, bool wait) {
  for (int i = 0; i < MAX_RUNNING; i++) {
    job *j = l->running[i];
    if (j) {
      int e = ended(j, wait);
      wait = false;
      if (e < 0)
        continue;
      l->running[i] = NULL;
      finish(j, e == 1);
    }
    while (!l->running[i] && (j = l->head)) {
      l->head = j->next;
      if (!l->head)
        l->tail = &l->head;
      if (start(l, j))
        l->running[i] = j;
      else
        finish(j, false);
    }
  }
}

static bool busy(const cf_linker *l) {
  for (int i = 0; i < MAX_RUNNING; i++)
    if (l->running[i])
      return true;
  return l->head != NULL;
}

void cf_linker_add(cf_linker *l, const char *in, const char *out, cf_link_done_fn done, void *arg) {
  job *j = calloc(1, sizeof *j);
  char *i = strdup(in), *o = strdup(out);
  if (!j || !i || !o) {
    free(j);
    free(i);
    free(o);
    done(arg, out, false);
    return;
  }
  *j = (job){.in = i, .out = o, .done = done, .arg = arg};
  *l->tail = j;
  l->tail = &j->next;
  step(l, false);
}

void cf_linker_poll(cf_linker *l) { step(l, false); }

void cf_linker_close(cf_linker *l) {
  if (!l)
    return;
  while (busy(l))
    step(l, true);
  free(l);
}
