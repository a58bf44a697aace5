// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Files of a program whose control is replicated (language.md section 4): what every rank would write is
 * written once, by rank 0; what rank 0 reads from standard input reaches all. */
#define _GNU_SOURCE
#include "api/files.h"
#include "api/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- standard input: every rank makes the same reads, rank 0 alone has the bytes */

static ssize_t read_for_all(void *cookie, char *buf, size_t n) {
  (void)cookie;
  int64_t got = 0;
  if (!cf_context_on() || cf_ctx.exec.comm->size == 1)
    return read(STDIN_FILENO, buf, n);
  if (!cf_on_control)
    cf_fatal(cf_fail(CF_EINVAL, "a thread other than the main one reads standard input, which rank 0 shares "
                                "with the other ranks"));
  cf_comm *c = cf_ctx.exec.comm;
  if (c->rank == 0) {
    do
      got = read(STDIN_FILENO, buf, n);
    while (got < 0 && errno == EINTR);
  }
  cf_must(c->ops->bcast(c, &got, sizeof got, 0, cf_exec_stamp(&cf_ctx.exec)));
  if (got > 0)
    cf_must(c->ops->bcast(c, buf, (size_t)got, 0, cf_exec_stamp(&cf_ctx.exec)));
  return (ssize_t)got;
}

void cf_files_share_stdin(void) {
  FILE *f = fopencookie(NULL, "r", (cookie_io_functions_t){.read = read_for_all});
  if (f)
    stdin = f;
}

/* ---- files that the program writes */

typedef struct written {
  struct written *next;
  char path[];
} written;
static written *written_paths;
static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER; /* any thread may open files */

static bool was_written(const char *path) {
  pthread_mutex_lock(&paths_lock);
  const written *w = written_paths;
  while (w && strcmp(w->path, path) != 0)
    w = w->next;
  pthread_mutex_unlock(&paths_lock);
  return w;
}

static void note_written(const char *path) {
  size_t n = strlen(path) + 1;
  if (was_written(path))
    return;
  written *w = malloc(sizeof *w + n);
  if (!w)
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory for the name of a file"));
  memcpy(w->path, path, n);
  pthread_mutex_lock(&paths_lock);
  w->next = written_paths;
  written_paths = w;
  pthread_mutex_unlock(&paths_lock);
}

/* A private file with the contents of `path`, for a mode that reads as well: what the program reads back must
 * be what it wrote. */
static FILE *private_copy(const char *path, const char *mode) {
  char name[] = "/tmp/cofuse-XXXXXX";
  FILE *from = fopen(path, "r");
  if (!from && *mode == 'r')
    return NULL; /* errno is fopen's */
  int fd = mkstemp(name);
  FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
  char buf[65536];
  size_t n;
  while (to && from && *mode != 'w' && (n = fread(buf, 1, sizeof buf, from)) > 0)
    fwrite(buf, 1, n, to);
  if (from)
    fclose(from);
  if (!to) {
    if (fd >= 0)
      close(fd);
    return NULL;
  }
  fclose(to);
  FILE *f = fopen(name, mode);
  unlink(name);
  return f;
}

void *cofuse_hook_fopen(const char *path, const char *mode) {
  int rank, size;
  cf_comm_guess(&rank, &size);
  if (cf_context_used() && cf_ctx.exec.comm) {
    rank = cf_ctx.exec.comm->rank;
    size = cf_ctx.exec.comm->size;
  }
  const char *all = getenv("COFUSE_FILES");
  if (size <= 1 || !path || !mode || (all && strcmp(all, "all") == 0))
    return fopen(path, mode);
  bool writes = strpbrk(mode, "wa+") != NULL;
  /* Read back what rank 0 has written before: not earlier than it has. Paths are noted alike on all ranks. */
  if ((!writes || *mode != 'w') && was_written(path) && cf_context_on()) {
    if (!cf_on_control)
      cf_fatal(
          cf_fail(CF_EINVAL, "a thread other than the main one reads %s, which this run has written", path));
    cf_must(cf_ctx.exec.comm->ops->barrier(cf_ctx.exec.comm, cf_exec_stamp(&cf_ctx.exec)));
  }
  if (writes)
    note_written(path);
  if (rank == 0 || !writes)
    return fopen(path, mode);
  if (strchr(mode, '+'))
    return private_copy(path, mode);
  return fopen("/dev/null", mode);
}
