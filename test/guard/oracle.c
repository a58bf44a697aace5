/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A poisoning runtime: it makes a missing or wrong guard visible.
 *
 * The truth about a store lives in a private copy. Its host bytes are 0xFF (NaN, -1, a wild pointer) until
 * a reading guard copies them in, and what the host writes reaches the truth only where a writing guard said
 * so. Each task invalidates everything. So a program gives the answer of the plain build only if every
 * access was guarded, with the right range and mode.
 *
 *   ORACLE=off       stores are plain memory (also used by the plain build)
 *   ORACLE_DROP=k    ignore the k-th guard site: a mutation that the tests should notice
 *   ORACLE_SITES=f   write to f number and source line of the sites that had an effect
 *   ORACLE_LAUNCH=1  cofuse_run claims to have launched the task */
#define _GNU_SOURCE
#include "oracle.h"
#include "cofuse/descriptor.h"
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STORES = 256, MAX_SITES = 8192, POISON = 0xFF };

typedef struct store {
  unsigned char *host, *truth;
  bool *valid, *writable; /* per byte */
  size_t bytes;
  bool automatic;
} store;

typedef struct site {
  const void *caller;
  const char *where;
  bool effective;
} site;

static store stores[MAX_STORES];
static int nstores;
static site sites[MAX_SITES];
static int nsites, dropped = -1;
static int active = -1;
static unsigned long guards, fetched;

static void fatal(const char *what, const char *where) {
  fflush(stdout);
  fprintf(stderr, "oracle: %s at %s\n", what, where ? where : "?");
  _exit(9);
}

static void write_sites(void) {
  FILE *f = fopen(getenv("ORACLE_SITES"), "w");
  if (!f)
    return;
  for (int k = 0; k < nsites; k++)
    if (sites[k].effective)
      fprintf(f, "%d %s\n", k, sites[k].where);
  fclose(f);
}

int cofuse_t_active(void) {
  if (active < 0) {
    const char *mode = getenv("ORACLE"), *drop = getenv("ORACLE_DROP");
    active = !(mode && strcmp(mode, "off") == 0);
    dropped = drop ? atoi(drop) : -1;
    if (getenv("ORACLE_SITES"))
      atexit(write_sites);
  }
  return active;
}

static void sync_one(store *s) {
  for (size_t i = 0; i < s->bytes; i++)
    if (s->writable[i])
      s->truth[i] = s->host[i];
  memset(s->host, POISON, s->bytes);
  memset(s->valid, 0, s->bytes);
  memset(s->writable, 0, s->bytes);
}

void cofuse_t_store(void *p, size_t bytes) {
  if (!cofuse_t_active())
    return;
  if (nstores == MAX_STORES)
    fatal("too many stores", __func__);
  store *s = &stores[nstores++];
  *s = (store){p, malloc(bytes), calloc(bytes, 1), calloc(bytes, 1), bytes, false};
  memcpy(s->truth, p, bytes);
  sync_one(s);
}

void cofuse_t_store_auto(void *p, size_t bytes) {
  cofuse_t_store(p, bytes);
  if (active)
    stores[nstores - 1].automatic = true;
}

static void drop_store(int k) {
  free(stores[k].truth);
  free(stores[k].valid);
  free(stores[k].writable);
  stores[k] = stores[--nstores];
}

void cofuse_t_release(void *p) {
  for (int k = 0; k < nstores; k++)
    if (stores[k].host == p) {
      drop_store(k);
      return;
    }
}

void cofuse_t_sync(void) {
  for (int k = 0; k < nstores; k++)
    sync_one(&stores[k]);
}

static store *holding(const void *p) {
  for (int k = 0; k < nstores; k++)
    if ((const unsigned char *)p >= stores[k].host &&
        (const unsigned char *)p < stores[k].host + stores[k].bytes)
      return &stores[k];
  return NULL;
}

void cofuse_t_add(double *p, size_t n, double v) {
  cofuse_t_sync();
  store *s = holding(p);
  double *t = s ? (double *)(s->truth + ((unsigned char *)p - s->host)) : p;
  for (size_t i = 0; i < n; i++)
    t[i] += v;
}

int cofuse_t_live(void) { return nstores; }
unsigned long cofuse_t_guards(void) { return guards; }
unsigned long cofuse_t_fetched(void) { return fetched; }

static site *site_of(const void *caller, const char *where) {
  for (int k = 0; k < nsites; k++)
    if (sites[k].caller == caller)
      return &sites[k];
  if (nsites == MAX_SITES)
    fatal("too many sites", __func__);
  sites[nsites] = (site){caller, where, false};
  return &sites[nsites++];
}

static void apply(store *s, uintptr_t lo, uintptr_t hi, int mode, site *at) {
  uintptr_t begin = (uintptr_t)s->host, end = begin + s->bytes;
  size_t from = (lo > begin ? lo : begin) - begin, to = (hi < end ? hi : end) - begin;
  for (size_t i = from; i < to; i++) {
    if ((mode & COFUSE_R) && !s->valid[i] && !s->writable[i]) {
      s->host[i] = s->truth[i];
      s->valid[i] = at->effective = true;
      fetched++;
    }
    if ((mode & COFUSE_W) && !s->writable[i])
      s->writable[i] = at->effective = true;
  }
}

/* Applies a range that may reach too far to s and to the stores that abut with it: nothing but parts of one
 * object lies that close together. */
static void apply_near(store *s, uintptr_t lo, uintptr_t hi, int mode, site *at) {
  enum { CLOSE = 8 };
  uintptr_t begin = (uintptr_t)s->host, end = begin + s->bytes;
  for (bool grown = true; grown;) {
    grown = false;
    for (int k = 0; k < nstores; k++) {
      uintptr_t b = (uintptr_t)stores[k].host, e = b + stores[k].bytes;
      if (b > begin && b < end + CLOSE && e > end) {
        end = e;
        grown = true;
      }
      if (e < end && e + CLOSE > begin && b < begin) {
        begin = b;
        grown = true;
      }
    }
  }
  lo = lo > begin ? lo : begin;
  hi = hi < end ? hi : end;
  for (int k = 0; k < nstores; k++)
    if (hi > (uintptr_t)stores[k].host && lo < (uintptr_t)stores[k].host + stores[k].bytes)
      apply(&stores[k], lo, hi, mode, at);
}

void cofuse_guard(const void *base, const void *lo, const void *hi, int mode, const char *where) {
  guards++;
  if (!cofuse_t_active())
    return;
  site *at = site_of(__builtin_return_address(0), where);
  if (at - sites == dropped)
    return;
  uintptr_t l = (uintptr_t)lo, h = (uintptr_t)hi;
  if (!(mode & (COFUSE_R | COFUSE_W)))
    fatal("guard without a mode", where);
  if (mode & COFUSE_MAY) {
    if ((mode & COFUSE_W) && !(mode & COFUSE_R))
      fatal("blind write over an approximate range", where);
    store *s = holding(base);
    if (!s)
      s = holding(lo);
    if (s)
      apply_near(s, l, h < l ? UINTPTR_MAX : h, mode, at);
    return;
  }
  if (base != lo)
    fatal("exact guard whose base is not its first byte", where);
  if (h < l)
    fatal("inverted range", where);
  for (int k = 0; k < nstores; k++)
    if (h > (uintptr_t)stores[k].host && l < (uintptr_t)stores[k].host + stores[k].bytes)
      apply(&stores[k], l, h, mode, at);
}

void cofuse_before_jump(void) {}

void cofuse_unwound(const void *stack_pointer) {
  for (int k = nstores - 1; k >= 0; k--)
    if (stores[k].automatic && (const void *)stores[k].host < stack_pointer)
      drop_store(k);
}

/* Stores inside the block end. keep: bring their contents to the host first. */
static void end_block(void *p, bool keep) {
  unsigned char *begin = p, *end = begin + (p ? malloc_usable_size(p) : 0);
  for (int k = nstores - 1; k >= 0; k--)
    if (stores[k].host >= begin && stores[k].host < end) {
      if (keep) {
        sync_one(&stores[k]);
        memcpy(stores[k].host, stores[k].truth, stores[k].bytes);
      }
      drop_store(k);
    }
}

void cofuse_hook_free(void *p) {
  end_block(p, false);
  free(p);
}

void *cofuse_hook_realloc(void *p, size_t n) {
  end_block(p, true);
  return realloc(p, n);
}

void *cofuse_hook_fopen(const char *path, const char *mode) { return fopen(path, mode); }

static int checked_units;
void cofuse_abi_check(uint32_t abi, const char *file) {
  if (abi != COFUSE_ABI || !file || !*file)
    fatal("wrong ABI", file);
  checked_units++;
}
int cofuse_t_units(void) { return checked_units; }

int cofuse_run(cofuse_forall *desc, const int64_t *ints, const void *const *scalars, void *const *targets) {
  (void)desc, (void)ints, (void)scalars, (void)targets;
  cofuse_t_sync();
  return getenv("ORACLE_LAUNCH") != NULL;
}
