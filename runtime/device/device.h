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

#endif
