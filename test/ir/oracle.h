// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The oracle: random small programs, run on simulated ranks and, point by point, sequentially.
 *
 * A program is a list of operations on a few arrays: directives, loops, host reads and writes, free. Every
 * write stores a token made of all that its iteration has read, so that a stale, missing or misplaced value
 * shows wherever it is read. Iterations of a kernel run in any order, since a nest may only hold dependences
 * inside an iteration. */
#ifndef ORACLE_H
#define ORACLE_H

#include "api/context.h"

enum {
  OR_ARRAYS = 6,
  OR_OPS = 24,
  OR_ACC = 5,
  OR_REDS = 2,
  OR_DIMS = 3,
  OR_INNER = 2,
  OR_RANKS = 5,
  OR_SLOTS = 3
};
enum { OR_LOOPS = OR_DIMS + OR_INNER };

typedef struct or_array {
  uint8_t type;
  int rank;
  int64_t ext[3];
  uint32_t elem;
  int64_t bytes;
  bool automatic;
  int host; /* -1, or: lies in the same block of memory right behind that array */
} or_array;

/* What the plugin would put into static storage. */
typedef struct or_site {
  cofuse_forall desc;
  cofuse_access acc[OR_ACC];
  cofuse_red red[OR_REDS];
  char text[OR_ACC][16], name[16];
} or_site;

typedef enum or_kind {
  OR_RUN, /* a forall or task */
  OR_STORE,
  OR_RELEASE, /* followed by a host write of everything, or by the loop of the same operation that writes all
               */
  OR_FREE,    /* free, malloc, host write; or scope exit of an automatic array */
  OR_READ,    /* host read of [lo, hi) */
  OR_WRITE,   /* host write of [lo, hi) */
  OR_UPDATE,
  OR_FLUSH,
  OR_REALLOC
} or_kind;

typedef struct or_access {
  int array;
  int64_t at, base; /* bytes from the array */
  int64_t stride[OR_LOOPS], itrip[OR_INNER];
} or_access;

typedef struct or_op {
  or_kind kind;
  int id, array, site;
  int64_t lo, hi;
  bool with_run, whole; /* whole: the guard does not know where the range ends */
  int64_t first[OR_DIMS], trip[OR_DIMS], step[OR_DIMS];
  or_access acc[OR_ACC];
  int red_array[OR_REDS]; /* -1: plain variable red_slot */
  int64_t red_at[OR_REDS];
  int red_slot[OR_REDS];
  const struct or_program *prog;
} or_op;

typedef struct or_program {
  uint64_t seed;
  int narrays, nsites, nops, passes, ranks;
  uint32_t window, window_max;
  int order;
  size_t defer;
  or_array array[OR_ARRAYS];
  or_site site[OR_OPS];
  or_op op[OR_OPS];
} or_program;

/* One copy of everything the program has: of the sequential run or of one rank. */
typedef struct or_world {
  char *mem[OR_ARRAYS];
  uint64_t slot[OR_SLOTS];
} or_world;

/* ---- oracle_program.c */
uint64_t or_mix(uint64_t a, uint64_t b);
void or_generate(or_program *p, uint64_t seed);
void or_fill(const or_program *p, char *mem, int array, int64_t lo, int64_t hi, uint64_t salt);

/* Where the accesses of one task of a kernel, or of the plain loop, go at run time. */
typedef struct or_place {
  char *p; /* address of the first iteration */
  int64_t stride[OR_LOOPS];
  uint64_t *local; /* demoted: value of this point */
  bool *defined;
} or_place;
/* One iteration. red: values to combine, one per reduction. False: a demoted value was read before it was
 * written. */
bool or_body(const or_op *o, uint64_t pass, const int64_t *n, const int64_t *iv, const or_place *pl,
             uint64_t *red);
void or_plain_loop(const or_op *o, uint64_t pass, or_world *w);

/* ---- oracle_print.c */
void or_print(const or_program *p);

/* ---- oracle_kernel.c */
void or_kernels_free(void);
extern int or_point_order; /* 0 ascending, 1 descending, 2 shuffled */
typedef struct or_trace {
  uint64_t hash;
  bool any_single; /* grouping may depend on the number of ranks */
  uint64_t plans, hits, groups, tasks, temporaries, replicated, single;
} or_trace;
extern or_trace or_traced; /* of rank 0 */
extern bool or_check_memo;

/* ---- oracle_ranks.c */
/* Runs the program on `ranks` simulated ranks. NULL: the answer was right; else what went wrong. */
const char *or_simulate(const or_program *p, int ranks);
/* Ends the run of the rank that is running now. */
_Noreturn void or_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int or_rank(void);
extern uint64_t or_serial_loops, or_issued_loops;

#endif
