// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer device: where kernels run. `cpu` is a persistent pool of threads over blocks. */
#ifndef CF_DEVICE_H
#define CF_DEVICE_H

#include "base/base.h"

typedef struct cf_pool cf_pool;

/* One unit of work; thread: 0 (the caller) to threads-1. */
typedef void (*cf_block_fn)(void *arg, int64_t block, int thread);

/* n threads in all, the caller's among them. Threads take the caller's floating-point environment
 * at each run. */
cf_status cf_pool_create(int n, cf_pool **out);
int cf_pool_threads(const cf_pool *p);
/* Calls fn for blocks 0..nblocks-1, static contiguous ranges per thread in ascending order (order 0),
 * descending (1) or a fixed shuffle (2); returns when all are done. Not reentrant. */
void cf_pool_run(cf_pool *p, int64_t nblocks, int order, cf_block_fn fn, void *arg);
void cf_pool_destroy(cf_pool *p);
/* CPUs this process may use, divided among the local_size ranks that may use the same ones. At least 1. */
int cf_pool_default_threads(int local_rank, int local_size);

/* ---- pages of large arrays (pages.c); for one thread */
typedef struct cf_pages cf_pages;
enum { CF_PAGES_LEAST = 2 << 20 }; /* smaller arrays are none of its business */
cf_pages *cf_pages_create(void);   /* NULL: out of memory */
void cf_pages_destroy(cf_pages *p);
/* A block that the program has freed: its memory is [base, base + bytes), and release(base, whole) gives it
 * back. */
typedef struct cf_freed {
  void *base;
  size_t bytes, whole;
  void (*release)(void *base, size_t whole);
} cf_freed;
/* Takes over a freed block, to release it later. False: it does not want it. */
bool cf_pages_keep(cf_pages *p, const cf_freed *f, size_t limit);
/* Releases the oldest ones, until no more than limit bytes are kept. */
void cf_pages_limit(cf_pages *p, size_t limit);
/* The same for pages of which only the contents are useless: the block itself stays the caller's until
 * cf_pages_keep_lent. */
void cf_pages_lend(cf_pages *p, void *base, size_t bytes);
/* cf_pages_keep for a block that holds pages lent before; releases it at once if they are gone. */
void cf_pages_keep_lent(cf_pages *p, const cf_freed *f);
/* All of [base, base + bytes) will be overwritten next: gives it pages. What it holds now is lost. */
void cf_pages_fill(cf_pages *p, void *base, size_t bytes);
/* A window has run; what was kept for some of them and not used is released. */
void cf_pages_window(cf_pages *p);
uint64_t cf_pages_moved(const cf_pages *p); /* bytes */

#endif
