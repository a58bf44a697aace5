// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The part of <cofuse/cofuse.h> that talks to the other ranks: position, flush, array files, counters. */
#define __COFUSE__ 1 /* the declarations, not the inline versions */
#include "cofuse/cofuse.h"

#include "api/context.h"
#include "base/npy.h"
#include "ir/math.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern const void *cf_user_comm;

int cofuse_init_comm_(const void *comm) {
  if (cf_context_used())
    return cf_fail(CF_EINVAL,
                   "cofuse_init_comm: cofuse is already in use; call it before the first directive");
  cf_user_comm = comm;
  cf_context_start();
  cf_user_comm = NULL; /* duplicated by now; the caller's object may go */
  return CF_OK;
}

int cofuse_rank(void) { return cf_context_on() ? cf_ctx.exec.comm->rank : 0; }
int cofuse_size(void) { return cf_context_on() ? cf_ctx.exec.comm->size : 1; }

/* The others are for the main thread. */
static cf_status on_main(const char *function) {
  cf_context_start();
  return cf_on_control ? CF_OK
                       : cf_fail(CF_EINVAL, "%s is called on a thread other than the main one", function);
}

int cofuse_flush(void) {
  CF_TRY(on_main("cofuse_flush"));
  if (!cf_context_start())
    return CF_OK;
  CF_TRY(cf_window_flush(UINT32_MAX, CF_FLUSH_DIRECTIVE, "cofuse_flush"));
  return cf_context_wait();
}

/* Own part of a store in its tiled dimension; rank 0 owns what is replicated. */
static void own_range(const cf_store *s, int64_t *lo, int64_t *hi, int *dim) {
  cf_comm *c = cf_ctx.exec.comm;
  cf_partition h = s->home.kind == CF_PART_UNSET ? cf_store_default_home(s) : s->home;
  *dim = h.kind == CF_PART_TILING ? h.dim : 0;
  if (h.kind == CF_PART_TILING) {
    cf_partition_home_tile(&h, s->ext[h.dim], c->rank, c->size, lo, hi);
    return;
  }
  *lo = 0;
  *hi = s->rank == 0 || c->rank != 0 ? 0 : s->ext[0];
}

int cofuse_local_box(const void *p, int64_t lo[], int64_t hi[]) {
  CF_TRY(on_main("cofuse_local_box"));
  const cf_store *s = cf_ctx.ready ? cf_registry_find(p) : NULL;
  if (!s)
    return cf_fail(CF_EINVAL, "cofuse_local_box: %p lies in no store", p);
  if (cf_ctx.disabled) { /* the whole store on rank 0, nothing elsewhere */
    int rank, size;
    cf_comm_guess(&rank, &size);
    for (int d = 0; d < s->rank; d++) {
      lo[d] = 0;
      hi[d] = rank == 0 ? s->ext[d] : 0;
    }
    return s->rank;
  }
  int64_t a, b;
  int dim;
  own_range(s, &a, &b, &dim);
  for (int d = 0; d < s->rank; d++) {
    lo[d] = d == dim ? a : 0;
    hi[d] = d == dim ? b : s->ext[d];
  }
  return s->rank;
}

static cf_status transfer(int fd, bool write, char *p, size_t n, off_t at, const char *path) {
  while (n > 0) {
    size_t part = n < (1u << 30) ? n : 1u << 30;
    ssize_t k = write ? pwrite(fd, p, part, at) : pread(fd, p, part, at);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return cf_fail(CF_EIO, "%s: %s", path, k < 0 ? strerror(errno) : "ends too early");
    p += k;
    n -= (size_t)k;
    at += k;
  }
  return CF_OK;
}

/* All ranks go on together, with the first error of any rank: who fails alone would leave the others waiting.
 */
static cf_status agree(cf_status mine, const char *path) {
  cf_comm *c = cf_ctx.exec.comm;
  if (c->size == 1)
    return mine;
  int64_t v = mine, all[4096];
  if (c->size > 4096)
    return mine;
  CF_TRY(c->ops->gather0(c, &v, sizeof v, all, cf_exec_stamp(&cf_ctx.exec)));
  for (int r = 0; c->rank == 0 && r < c->size; r++)
    v = v == CF_OK ? all[r] : v;
  CF_TRY(c->ops->bcast(c, &v, sizeof v, 0, cf_exec_stamp(&cf_ctx.exec)));
  if (v != CF_OK && mine == CF_OK)
    return cf_fail((cf_status)v, "%s: another rank failed on this file", path);
  return (cf_status)v;
}

int cofuse_save_npy(const char *path, const void *p, const char *dtype, int rank, const int64_t *shape) {
  CF_TRY(on_main("cofuse_save_npy"));
  bool on = cf_context_start();
  cf_comm *c = cf_ctx.exec.comm;
  cf_npy h;
  cf_buf head = {0};
  CF_TRY(cf_npy_describe(path, dtype, rank, shape, &h));
  CF_TRY(cf_npy_write_header(&h, &head));
  size_t bytes = h.elem_bytes;
  for (int d = 0; d < rank; d++)
    bytes *= (size_t)shape[d];
  cf_store *s = on ? cf_registry_find(p) : NULL;
  /* In place only if the file is the store, row for row; anything else is written by rank 0. */
  bool parts = s && s->base == (const char *)p && s->bytes == bytes && s->home.kind == CF_PART_TILING &&
               s->home.dim == 0;
  int64_t lo = 0, hi = (int64_t)bytes;
  if (parts) {
    int64_t last = cf_window_conflict(s, 0, (int64_t)s->bytes, false);
    if (last >= 0)
      CF_TRY(cf_window_flush((uint32_t)last, CF_FLUSH_HOST, path));
    int dim;
    own_range(s, &lo, &hi, &dim);
    int64_t row = s->ext[0] ? (int64_t)bytes / s->ext[0] : 0;
    lo *= row;
    hi *= row;
    cf_context_lock();
    cf_status home = cf_exec_host_access(&cf_ctx.exec, s, lo, hi, COFUSE_R);
    cf_context_unlock();
    CF_TRY(home);
  } else {
    cofuse_guard(p, p, (const char *)p + bytes, COFUSE_R, path);
    if (c && c->rank != 0)
      hi = 0;
  }
  bool root = !c || c->rank == 0;
  cf_status st = CF_OK;
  int fd = -1;
  if (root) { /* one rank makes the file, then all write into it */
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
      st = cf_fail(CF_EIO, "%s: cannot be written: %s", path, strerror(errno));
    else
      st = transfer(fd, true, head.data, head.len, 0, path);
  }
  if (on)
    st = agree(st, path);
  if (st == CF_OK && !root && lo < hi) {
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
      st = cf_fail(CF_EIO, "%s: cannot be written: %s", path, strerror(errno));
  }
  if (st == CF_OK && lo < hi)
    st = transfer(fd, true, (char *)(uintptr_t)p + lo, (size_t)(hi - lo), (off_t)h.data_offset + lo, path);
  if (fd >= 0 && close(fd) != 0 && st == CF_OK)
    st = cf_fail(CF_EIO, "%s: %s", path, strerror(errno));
  cf_buf_free(&head);
  return on ? agree(st, path) : st;
}

int cofuse_load_npy(const char *path, void *p, const char *dtype, int rank, const int64_t *shape) {
  CF_TRY(on_main("cofuse_load_npy"));
  bool on = cf_context_start();
  cf_npy want, have;
  CF_TRY(cf_npy_describe(path, dtype, rank, shape, &want));
  size_t bytes = want.elem_bytes;
  for (int d = 0; d < rank; d++)
    bytes *= (size_t)shape[d];
  /* A read that fails half-way leaves the rest as it was. */
  cofuse_guard(p, p, (const char *)p + bytes,
               COFUSE_W | (cf_ctx.exec.device || cf_ctx.exec.device_later ? COFUSE_R : 0), path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  cf_status st = CF_OK;
  if (fd < 0)
    st = cf_fail(CF_EIO, "%s: cannot be read: %s", path, strerror(errno));
  char start[65536];
  if (st == CF_OK) {
    ssize_t n = pread(fd, start, sizeof start, 0);
    st = n < 0 ? cf_fail(CF_EIO, "%s: %s", path, strerror(errno))
               : cf_npy_read_header(path, start, (size_t)n, &have);
  }
  if (st == CF_OK)
    st = cf_npy_match(path, &want, &have);
  if (st == CF_OK) /* every rank reads all of it: host writes are replicated */
    st = transfer(fd, false, p, bytes, (off_t)have.data_offset, path);
  if (fd >= 0)
    close(fd);
  return on ? agree(st, path) : st;
}

int cofuse_stats(struct cofuse_stats *o) {
  memset(o, 0, sizeof *o);
  CF_TRY(on_main("cofuse_stats"));
  if (!cf_context_start())
    return CF_OK;
  const cf_exec *x = &cf_ctx.exec;
  const cf_codegen_stats *k = cf_codegen_get_stats(x->cg);
  struct rusage ru = {0};
  getrusage(RUSAGE_SELF, &ru);
  o->tasks = x->stats.tasks;
  o->groups = x->stats.groups;
  o->temporaries_eliminated = x->stats.temporaries;
  o->windows = cf_ctx.windows;
  o->memo_hits = cf_ctx.memo.hits;
  o->kernels_compiled = k->compiled;
  o->cache_hits_memory = k->hits_memory;
  o->cache_hits_disk = k->hits_disk;
  o->compile_ms = k->compile_ms;
  o->analysis_ns = cf_ctx.analysis_ns;
  o->messages = x->comm->messages;
  o->bytes_sent = x->comm->bytes_sent;
  o->flushes = cf_ctx.flushes;
  for (const cf_site *s = cf_ctx.sites; s; s = s->next)
    o->serial_loops += s->serial;
  o->peak_rss_bytes = (uint64_t)ru.ru_maxrss * 1024;
  return CF_OK;
}
