// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer device: where kernels run. `cpu` is a persistent pool of threads over blocks of host memory. All
 * others have a memory of their own and run grids of threads; they are behind one table of functions. */
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

/* ---- devices with a memory of their own */

typedef struct cf_device cf_device;
typedef struct cf_device_code cf_device_code;
typedef struct cf_device_replay cf_device_replay;

enum {
  CF_GRID_DIMS = 3,
  CF_BOX_DIMS = 8, /* at least the loops of a nest */
};

/* What a kernel is told about its launch; passed by value, so that no copy to the device comes before it. The
 * layout is known to the text of kernels (codegen/assemble_device.c), by words of 8 bytes. */
typedef struct cf_device_box {
  int64_t lo[CF_BOX_DIMS], hi[CF_BOX_DIMS]; /* points of the nest */
  /* A nest with reductions runs block by block: block b is, per dimension, [lo + b * per, + span), cut at hi.
   */
  int64_t per[CF_BOX_DIMS], span[CF_BOX_DIMS];
  int64_t blocks;
  int64_t ints, scalars; /* bytes from the start of the arguments */
  int64_t fold, result;  /* bytes from the partial results to what is made of them */
  int64_t mask;          /* of targets */
  int64_t unused[10];
  int32_t ids[12]; /* `emu` only: tid, ntid, ctaid, nctaid, each x y z */
  int64_t pad[10];
} cf_device_box;

typedef struct cf_device_grid {
  uint32_t blocks[CF_GRID_DIMS], threads[CF_GRID_DIMS]; /* x is the fastest */
} cf_device_grid;

/* One launch. Bytes between the fields are zero: launches are compared. */
typedef struct cf_device_launch {
  const cf_device_code *code;
  const void *args; /* device addresses */
  void *partials;
  cf_device_grid grid;
  uint32_t k; /* function of the code */
  /* Launches of one level, which follow each other in a list, do not depend on one another. Levels rise. */
  uint32_t level;
  cf_device_box box;
} cf_device_launch;

/* Rows of a two-dimensional copy. */
typedef struct cf_device_copy {
  size_t runs, bytes, to_pitch, from_pitch;
} cf_device_copy;

/* Addresses of device memory are void * of the device: the host never follows them. Everything happens in the
 * order of the calls (one stream). Errors are recorded, with the device's own words for them. */
typedef struct cf_device_ops {
  /* CF_ENOMEM: not so much memory is free; nothing is recorded as an error. */
  cf_status (*alloc)(cf_device *d, size_t bytes, void **out);
  void (*release)(cf_device *d, void *p);
  /* The source may be used again when the call returns. */
  cf_status (*write)(cf_device *d, void *to, const void *from, const cf_device_copy *c);
  /* The data is there when the call returns. */
  cf_status (*read)(cf_device *d, void *to, const void *from, const cf_device_copy *c);
  cf_status (*copy)(cf_device *d, void *to, const void *from, size_t bytes); /* inside the device */
  cf_status (*fill)(cf_device *d, void *to, int byte, size_t bytes);
  /* image: what codegen made for d->target; entry: its functions, if it is code of this process. Functions
   * are called cofuse_k<k>_<id>. */
  cf_status (*load)(cf_device *d, const void *image, size_t size, void (*const *entry)(void), const char *id,
                    uint32_t n, cf_device_code **out);
  void (*unload)(cf_device *d, cf_device_code *c);
  /* The launches, level by level. replay: NULL, or where the device keeps what helps it with the same
   * launches again; NULL there at first. */
  cf_status (*run)(cf_device *d, const cf_device_launch *l, uint32_t n, cf_device_replay **replay);
  void (*forget)(cf_device *d, cf_device_replay *r); /* close does it for all */
  cf_status (*sync)(cf_device *d);
  /* Around calls of a library that is given addresses of the device. */
  cf_status (*hold)(cf_device *d, bool on);
  cf_status (*memory)(cf_device *d, size_t *free_bytes, size_t *all_bytes);
  void (*close)(cf_device *d);
} cf_device_ops;

struct cf_device {
  const cf_device_ops *ops;
  const char *name;       /* of the kind: "emu", "cuda" */
  char describe[128];     /* for people */
  char target[16];        /* what kernels are compiled for: "emu", "sm_90" */
  uint32_t block_threads; /* threads of a block */
  uint32_t most_blocks;   /* more of them than that gain nothing */
  uint64_t replays;       /* runs that were given to the device as one */
  bool messages;          /* may go to and from its memory */
  uint8_t id[16];         /* of this one among all in the world; of `emu`: 0 */
  uint32_t sharers;       /* ranks that use it, this one included; 0: not known yet. Set by who opened it */
  bool poisons;           /* stale copies are to be overwritten, so that whoever uses one sees it */
};

typedef struct cf_device_options {
  int local_rank; /* chooses among the devices of a machine */
  bool no_module; /* for tests: a driver without its kernel module will do */
  bool messages;  /* an MPI library wants addresses of its memory */
  size_t memory;  /* `emu`: bytes that it has; 0: no limit */
  int order;      /* `emu`: threads ascending 0, descending 1, shuffled 2 */
} cf_device_options;

/* name: "emu", "cuda". Errors: CF_EINVAL if this machine has no such device, with what to do about it. */
cf_status cf_device_open(const char *name, const cf_device_options *o, cf_device **out);

/* Runs a kernel on `cuda` and compares. Errors: CF_EINTERNAL with the operation that went wrong; the
 * device's. */
cf_status cf_device_check(cf_device *d);

/* ---- internal to device */
cf_status cf_emu_open(const cf_device_options *o, cf_device **out);
cf_status cf_cuda_open(const cf_device_options *o, cf_device **out);

#endif
