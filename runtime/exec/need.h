// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What a group needs from other ranks: a function of its plan, of the validity of its stores and of
 * (rank, ranks). Nothing is sent here, so the tool, the bench and the tests ask the same question for any
 * number of ranks. The cost grows with the tiles that overlap, never with the ranks. */
#ifndef CF_NEED_H
#define CF_NEED_H

#include "analysis/analysis.h"

/* Elements [lo, hi) of the tiled dimension must be current on every rank: one collective. */
typedef struct cf_need_all {
  cf_store *store;
  int64_t lo, hi;
} cf_need_all;

/* Elements [lo, hi) of the tiled dimension go to or come from one other rank. */
typedef struct cf_need_piece {
  cf_store *store;
  int64_t lo, hi, peer;
  bool send;
} cf_need_piece;

/* Once the pieces have arrived, so much around each own tile is current. */
typedef struct cf_need_halo {
  cf_store *store;
  int64_t lo, hi;
} cf_need_halo;

typedef struct cf_needs {
  cf_need_all *all;
  cf_need_piece *piece;
  cf_need_halo *halo;
  uint32_t nall, npieces, nhalos;
  uint32_t cap_all, cap_pieces, cap_halos;
} cf_needs;

/* cf_plan_apply must have run. Collectives and halos are the same on all ranks, in the same order. */
cf_status cf_needs_of(const cf_plan *p, const cf_group *g, cf_task *const *window, int64_t rank,
                      int64_t ranks, cf_needs *out);
/* The validity of the stores when all of it has arrived. */
void cf_needs_arrived(const cf_needs *n);
/* ... and when the group has run. */
void cf_needs_written(const cf_group *g, cf_task *const *window, int64_t ranks);
void cf_needs_free(cf_needs *n);
size_t cf_need_bytes(const cf_store *s, int64_t lo, int64_t hi);

#endif
