// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer ir: the scale-free representation (paper, section 3): stores, partitions, boxes, index tasks.
 *
 * Nothing here enumerates ranks or points: a partition is a closed formula in the rank p, and two
 * partitions compare in constant time. The number of ranks appears only as an argument of the
 * functions that evaluate a formula at one p. */
#ifndef CF_IR_H
#define CF_IR_H

#include "base/base.h"
#include "cofuse/descriptor.h"

enum { CF_RANK = COFUSE_MAX_RANK, CF_DIMS = COFUSE_MAX_DIMS, CF_INNER = COFUSE_MAX_INNER };
enum { CF_LOOPS = CF_DIMS + CF_INNER };

/* ---- partitions */

typedef enum cf_part_kind {
  CF_PART_UNSET = 0, /* home of a store no task has touched yet */
  CF_PART_NONE,      /* replicated: every rank sees the whole store */
  CF_PART_TILING,    /* cut along one dimension */
} cf_part_kind;

/* Tile p of a Tiling, in elements of dimension `dim`, with T = ceil(count / ranks):
 *   unscaled:  x in [p*T*grain + origin, (p+1)*T*grain + origin)
 *   element    e = num * ((x - k) / den) + off      (num == den == 1 after normalisation: e = x + off)
 * The home of a store always has num == den == 1 and off == 0; its first and last tile reach to the ends of
 * the store, so that every element has one owner. Equality is equality of all fields: partitions made
 * from different (count, grain) may coincide for some numbers of ranks, but never compare equal,
 * so grouping does not depend on the number of ranks. */
typedef struct cf_partition {
  uint8_t kind, dim;
  int64_t count, grain, origin;
  int64_t num, den, k, off;
} cf_partition;

bool cf_partition_equal(const cf_partition *a, const cf_partition *b);
/* Home tile [lo, hi) of rank p of `ranks` in a dimension of `ext` elements; lo == hi when empty. */
void cf_partition_home_tile(const cf_partition *h, int64_t ext, int64_t p, int64_t ranks, int64_t *lo,
                            int64_t *hi);
/* Owner of element e, by division. */
int64_t cf_partition_owner(const cf_partition *h, int64_t ext, int64_t e, int64_t ranks);
void cf_partition_print(const cf_partition *a, cf_buf *out);

/* ---- stores */

typedef struct cf_store {
  uint32_t id;
  uint8_t type;  /* enum cofuse_type */
  uint8_t rank;  /* 0: one element */
  uint8_t flags; /* COFUSE_OBJ_* */
  uint32_t elem_bytes;
  int64_t ext[CF_RANK];
  size_t bytes;
  char *base; /* host memory, the program's own */
  const char *file, *text;
  uint32_t line;
  cf_partition home;

  /* Split reference count (paper, section 5.1). */
  bool live;        /* the program can still name it */
  uint32_t pending; /* accesses of tasks in the window */
  uint32_t writers; /* those that write or reduce */

  /* Validity on each rank, symbolically: the own tile always; a halo of this many elements of the tiled
   * dimension on either side; or everything. O(1) whatever the number of ranks. Kept by exec. */
  bool all_valid;
  int64_t halo_lo, halo_hi;
  int64_t host_lo, host_hi; /* and these bytes, fetched for the host, are valid everywhere */
  uint32_t misses;          /* host reads that had to fetch since the last task wrote */

  /* Its copy on a device, see exec/instance.h. */
  struct cf_instance *instance;
  uint64_t host_epoch; /* exec's when the host last said that it will read or write it */
  bool on_device;      /* a group that ran on one has written it, on whatever rank */
  uint8_t away;        /* COFUSE_R: the device alone has some of it; COFUSE_W: it has some of it. Atomic. */

  /* Its memory, see device/pages.c. */
  bool touched; /* has most likely been used: no pages need to be found for it */
  bool lent;    /* its pages may be taken for others: what it holds is not wanted any more */

  struct cf_block *block; /* set when free() waits for pending tasks */
  uint32_t mark;          /* scratch of one analysis: index in the window */
  uint64_t keyed;         /* the last key that it has a mark in */
} cf_store;

/* Bytes [lo, hi) are current on every rank. */
static inline bool cf_store_everywhere(const cf_store *s, int64_t lo, int64_t hi) {
  return s->all_valid || (lo >= s->host_lo && hi <= s->host_hi);
}
/* Number of elements. */
int64_t cf_store_count(const cf_store *s);
/* Default home: tiles along the first dimension that is not much shorter than the longest; one element: NONE.
 * The number of ranks has no say: which tasks fuse must not depend on it. */
cf_partition cf_store_default_home(const cf_store *s);

/* ---- access maps and boxes */

/* Element index of dimension d at iteration n (parallel loops, then inner counters):
 * off[d] + sum_l coef[d][l] * n_l. Loops of trip <= 1 have coefficient 0, and so have places behind nloops in
 * the rows of dimensions below rank. */
typedef struct cf_amap {
  uint8_t rank;
  uint8_t nloops; /* parallel + inner */
  int64_t off[CF_RANK];
  int64_t coef[CF_RANK][CF_LOOPS];
} cf_amap;

/* All zero, which costs no more than the rank asks for. */
static inline void cf_amap_reset(cf_amap *m, uint8_t rank, uint8_t nloops) {
  m->rank = rank;
  m->nloops = nloops;
  for (int d = 0; d < rank; d++) {
    m->off[d] = 0;
    for (int l = 0; l < CF_LOOPS; l++)
      m->coef[d][l] = 0;
  }
}

enum { CF_READ = 1, CF_WRITE = 2, CF_REDUCE = 4 };

/* What every run of a task looks at comes first: tasks wait in the window and after it, out of the cache. */
typedef struct cf_access {
  cf_store *store;             /* NULL: captured memory */
  const void *capture;         /* captured: address of the bytes; owned by the task */
  const cofuse_access *desc;   /* NULL for a reduction target */
  int64_t at;                  /* bytes from store base (or capture) to the first iteration's address */
  uint32_t field, field_bytes; /* byte range inside an element; 0, elem_bytes unless a struct member */
  uint8_t priv;                /* CF_READ | CF_WRITE, or CF_REDUCE */
  uint8_t redop;               /* CF_REDUCE: enum cofuse_redop */
  uint8_t ninner;
  bool must;  /* writes every element of its box */
  bool whole; /* no usable map: may touch all of the box, which is the whole store */
  bool wrap;  /* a read whose subscripts leave their rows: the box takes in the rows next to them */
  int64_t bstride[CF_LOOPS];        /* bytes per iteration */
  int64_t lo[CF_RANK], hi[CF_RANK]; /* box, clipped to the store; empty if some lo >= hi */
  int64_t carry[2];      /* wrap: by how much indices of dimension 0 move at most, down (<= 0) and up */
  int64_t step[CF_RANK]; /* lattice: elements are congruent lo0[d] modulo step (0: one element) */
  int64_t phase[CF_RANK];
  int64_t itrip[CF_INNER];  /* trip counts of the inner counters */
  int64_t cut[CF_LOOPS][2]; /* iterations at the start and the end of each loop that never make the access */
  cf_partition part;        /* set by analysis */
  cf_amap map;              /* last: tasks are recycled, and its coefficients are not cleared with the rest */
} cf_access;

/* ---- tasks */

typedef enum cf_domain {
  CF_GRID,       /* each rank runs its tile of the iterations */
  CF_SINGLE,     /* local to the one tile that owns the anchor's row */
  CF_REPLICATED, /* every rank runs all of it */
} cf_domain;

/* The iterations of loop `loop` that rank p runs: preimage, under e = c*n + k, of the tile of a home. */
typedef struct cf_itile {
  int32_t loop; /* -1: not tiled */
  int64_t trip, c, k;
  int64_t ext; /* of the home's dimension */
  cf_partition home;
  int64_t row; /* CF_SINGLE: the element that decides the owner */
} cf_itile;

/* Copy of unregistered memory as it was when a task was issued. */
typedef struct cf_snapshot {
  struct cf_snapshot *next;
  _Alignas(64) char data[];
} cf_snapshot;

typedef struct cf_task {
  cofuse_forall *desc;
  struct cf_task *next_free;
  uint32_t number; /* all that the memo asks of it but its stores; 0: not known yet */
  uint8_t ndims, nreds;
  uint16_t naccess; /* including one CF_REDUCE access per deferred reduction, at the end */
  cf_access *access;
  void *scalars;        /* 8 bytes each */
  struct cf_call *call; /* api/again.c: may be issued again for calls like this one */
  uint64_t seq;         /* position in the program's stream */
  cf_snapshot *snapshots;
  cf_domain domain; /* set by analysis, with itile */
  bool empty;       /* some trip count is zero */
  /* Place in trip, first and step of each loop of the directive. Loops of one trip do not count in ndims and
   * come last, so that a row of a 1 x n array and a vector of n have one shape. */
  uint8_t loop_at[CF_DIMS];
  int64_t trip[CF_DIMS], first[CF_DIMS], step[CF_DIMS];
  void *targets[8];     /* per reduction: address of the result */
  int64_t red_count[8]; /* per reduction: elements of an array section; 0: one variable */
  bool deferred[8];     /* per reduction: the target is a store */
  cf_itile itile;
  double seconds; /* a loop that every rank ran: how long it took here */
  size_t cap;     /* bytes behind this header that hold access and scalars */
} cf_task;

enum { CF_MAX_REDS = 8 };

bool cf_itile_equal(const cf_itile *a, const cf_itile *b, cf_domain da, cf_domain db);
/* Iterations [lo, hi) of itile->loop that rank p runs. */
void cf_itile_range(const cf_itile *t, int64_t p, int64_t ranks, int64_t *lo, int64_t *hi);

/* Fills map, box, lattice, field of an access whose store, at, bstride, itrip, cut are set, de-linearising
 * byte addresses to indices (architecture.md section 1). trip: parallel trip counts, all >= 1. base_off: byte
 * offset of the pointer the access is based on, used when cond. Outcomes: CF_OK; CF_OK with whole = true
 * (only reads should accept that); CF_EBOUNDS: touches bytes outside the store, with *bad_lo/hi (bytes
 * relative to the store) for the message. */
cf_status cf_access_delinearise(cf_access *a, uint8_t ndims, const int64_t *trip, bool cond, int64_t base_off,
                                int64_t *bad_lo, int64_t *bad_hi);

/* Boxes (with lattice and byte range) share an element. Exact for boxes, conservative (true) otherwise. */
bool cf_access_intersects(const cf_access *a, const cf_access *b);
/* Two accesses of one store can touch the same element only in the same iteration of all parallel
 * loops (with trip > 1). a == b asks whether the map is injective on the parallel loops. */
bool cf_access_same_iteration(const cf_access *a, const cf_access *b, uint8_t ndims, const int64_t *trip);
/* Same element at every iteration; the byte ranges inside it may differ. */
bool cf_access_same_element(const cf_access *a, const cf_access *b);
/* The access as a function of n + shift, n the iterations of its task's ndims loops: map and address only. */
cf_access cf_access_shifted(const cf_access *a, uint8_t ndims, const int64_t *shift);
/* Same address at every iteration. */
bool cf_access_same_map(const cf_access *a, const cf_access *b);

/* Elements [lo, hi) of dimension dim of the store that the access touches on rank p. */
void cf_access_slab(const cf_task *t, const cf_access *a, int dim, int64_t p, int64_t ranks, int64_t *lo,
                    int64_t *hi);
/* The same for iterations [nlo, nhi) of the tiled loop of a CF_GRID task. */
void cf_access_slab_of(const cf_task *t, const cf_access *a, int dim, int64_t nlo, int64_t nhi, int64_t *lo,
                       int64_t *hi);

#endif
