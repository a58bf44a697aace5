// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* cofuse for authors of libraries: stores, partitions and index tasks issued by calls instead of pragmas (the
 * interface of Diffuse, ASPLOS 2025, section 3). Tasks of libraries that do not know each other fuse as loops
 * with pragmas do. docs/libraries.md has a tutorial.
 *
 * A task is a kernel over a launch domain of points (0..trip[0]) x (0..trip[1]) x ... Each argument names a
 * store and, by a partition, which elements a point touches. The points are independent: what one writes no
 * other one touches. Every rank runs the kernel on the points whose results it owns.
 *
 * A kernel is a C function that is called on pieces: a box of points, and per argument the box of elements
 * that belongs to them. It may call anything that runs on memory (BLAS, FFTW). With a body as MLIR text
 * besides, the task fuses into one loop with its neighbours; without one, it joins groups but keeps a call of
 * its own.
 *
 * Without the plugin (__COFUSE__ is not defined) the same calls run the function at once, on all points.
 * All calls are collective. Functions return 0, or a negative enum cofuse_code. */
#ifndef COFUSE_IR_H
#define COFUSE_IR_H

#include "cofuse/cofuse.h"
#include "cofuse/descriptor.h"

#ifdef __COFUSE__
#define COFUSE_API_ extern
#else
#define COFUSE_API_ COFUSE_INLINE_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- stores. The same as `#pragma cofuse store` and `release`, for arrays whose extents are values. */

/* The rank x extents array at base (row-major, elements of enum cofuse_type) is distributed from now on; its
 * contents are kept, and must be the same on every rank. name: for messages, copied. The memory stays the
 * caller's; code compiled with the plugin may free it at any time, other code only after cofuse_store_release
 * and cofuse_flush. */
COFUSE_API_ int cofuse_store_create(const char *name, void *base, int type, int rank,
                                    const int64_t extents[]);
COFUSE_API_ int cofuse_store_release(void *base); /* its contents are no longer needed */

/* ---- partitions */

/* Along one dimension of a store, point n of loop `loop` touches the elements [scale * n + offset, + width).
 * loop < 0: [offset, + width) for every point. */
typedef struct cofuse_along {
  int loop;
  int64_t scale, offset, width;
} cofuse_along;

enum { COFUSE_PART_NONE = 0, COFUSE_PART_TILING = 1 };
typedef struct cofuse_partition {
  int kind;                            /* COFUSE_PART_NONE: every point may touch all of the store */
  cofuse_along along[COFUSE_MAX_RANK]; /* COFUSE_PART_TILING: one per dimension */
} cofuse_partition;

static inline cofuse_partition cofuse_none(void) {
  cofuse_partition p = {COFUSE_PART_NONE, {{0, 0, 0, 0}}};
  return p;
}
/* Point n of loop 0 touches row n, which has `width` elements (not looked at for a store of one dimension).
 */
static inline cofuse_partition cofuse_rows(int64_t width) {
  cofuse_partition p = {COFUSE_PART_TILING, {{0, 1, 0, 1}, {-1, 0, 0, width}}};
  return p;
}

/* ---- kernels */

enum { COFUSE_READ = COFUSE_R, COFUSE_WRITE = COFUSE_W, COFUSE_READ_WRITE = COFUSE_R | COFUSE_W };

/* cofuse_call, cofuse_piece and cofuse_function: see descriptor.h. */
enum { COFUSE_KERNEL_SPLIT = 1 }; /* flags: may be called on parts of a rank's points, from several threads */

typedef struct cofuse_kernel_info {
  const char *name;
  int ndims, nargs, nscalars, nresults;
  struct {
    int type;      /* enum cofuse_type */
    int privilege; /* COFUSE_READ, COFUSE_WRITE (writes every element of its box), COFUSE_READ_WRITE */
    int counters;  /* with a body: dimensions that a point touches several elements of */
  } arg[COFUSE_MAX_ARGS];
  int scalar_type[COFUSE_MAX_ARGS];
  struct {
    int op, type; /* enum cofuse_redop, cofuse_type */
  } result[COFUSE_MAX_RESULTS];
  cofuse_function function; /* required */
  /* Optional: the work of one point as MLIR (descriptor.h has the pseudo operations; argument numbers are
   * access numbers; dimensions of width > 1 are the counters %k of the access, in order), and declarations.
   * It must compute the same as the function, bit for bit. */
  const char *body, *decls;
  int flags;
} cofuse_kernel_info;

typedef struct cofuse_kernel cofuse_kernel;
/* Copies info (not the texts and the name, which must stay). Kernels live as long as the program.
 * COFUSE_EINVAL if something in it is out of range. */
COFUSE_API_ int cofuse_kernel_create(const cofuse_kernel_info *info, cofuse_kernel **out);

typedef struct cofuse_arg {
  void *base; /* of a store */
  cofuse_partition part;
} cofuse_arg;

/* Issues one index task. trip: points per loop. scalar: addresses of values, copied. result: addresses of the
 * variables that results are combined into, prior values included; if one is no store, the call waits for it.
 * COFUSE_EINVAL: an argument is no store, or has another type. A partition that leaves its store ends the
 * job, as for loops. A task whose points turn out not to be independent runs as one call on every rank. */
COFUSE_API_ int cofuse_launch(cofuse_kernel *kernel, const int64_t trip[], const cofuse_arg arg[],
                              const void *const scalar[], void *const result[]);

#ifndef __COFUSE__
#include "cofuse/ir_plain.h"
#endif

#ifdef __cplusplus
}
#endif
#endif
