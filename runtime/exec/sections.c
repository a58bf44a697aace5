// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions into array sections.
 *
 * The blocks of a nest are dealt out, in order, to a few units. A unit owns a private copy of every section,
 * which starts from identities; its blocks run one after another and update the copy. Then units are combined
 * in their order, ranks in theirs, and the result with what the section held. How many units there are
 * follows from the tile, the shape and the lengths, never from the number of threads, so the bits do not
 * depend on it. Identities are exact: -0.0 for a sum of floats, and so on (cf_red_identity); that a logical
 * operation turns 5 into 1 only where an iteration touches it is seen to at launch. */
#include "exec/exec.h"
#include "ir/math.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  UNITS_MAX = 128,
  UNITS_BYTES = 64 << 20, /* of all private copies together, if there is more than one */
  CHUNK_BYTES = 4 << 20,  /* of all ranks' results that rank 0 holds at a time */
  FRONT = 64,             /* in front of each array; the last 16 bytes take bad offsets (COFUSE_CHECK) */
};

struct cf_sections {
  const cf_task *task;
  uint32_t slot; /* of the task's first reduction in partials */
  int64_t nunits, per_unit;
  size_t unit_bytes, at[CF_MAX_REDS]; /* of a unit; of the arrays in it */
  char *mem;
};

static bool is_section(const cf_task *t, int r) { return t->red_count[r] > 0; }

bool cf_sections_any(const cf_task *t) {
  for (int r = 0; r < t->nreds; r++)
    if (is_section(t, r))
      return true;
  return false;
}

cf_status cf_sections_create(const cf_task *t, uint32_t slot, int64_t nblocks, int64_t points,
                             cf_sections **out) {
  cf_sections *s = calloc(1, sizeof *s);
  if (!s)
    return cf_fail(CF_ENOMEM, "out of memory for partial results");
  *s = (cf_sections){.task = t, .slot = slot};
  int64_t elements = 0;
  for (int r = 0; r < t->nreds; r++) {
    if (!is_section(t, r))
      continue;
    s->at[r] = s->unit_bytes + FRONT;
    s->unit_bytes += FRONT + (cf_target_bytes(t, r) + 63) / 64 * 64;
    elements += t->red_count[r];
  }
  /* To fill and combine a copy should cost less than the iterations that it serves. */
  int64_t n = cf_min(cf_min(nblocks, UNITS_MAX), points / cf_max(1, elements));
  n = cf_max(1, cf_min(n, UNITS_BYTES / (int64_t)s->unit_bytes));
  s->per_unit = cf_ceil_div(nblocks, n);
  s->nunits = cf_ceil_div(nblocks, s->per_unit);
  s->mem = aligned_alloc(64, (size_t)s->nunits * s->unit_bytes);
  if (!s->mem) {
    free(s);
    return cf_fail(CF_ENOMEM, "%s:%u: out of memory for private copies of %s", t->desc->file, t->desc->line,
                   t->desc->reds[0].text);
  }
  *out = s;
  return CF_OK;
}

void cf_sections_free(cf_sections *s) {
  if (s)
    free(s->mem);
  free(s);
}

int64_t cf_sections_units(const cf_sections *s) { return s->nunits; }
int64_t cf_sections_per_unit(const cf_sections *s) { return s->per_unit; }

static char *array_of(const cf_sections *s, int64_t unit, int r) {
  return s->mem + (size_t)unit * s->unit_bytes + s->at[r];
}

void cf_sections_fill(const cf_sections *s, int64_t unit) {
  for (int r = 0; r < s->task->nreds; r++) {
    if (!is_section(s->task, r))
      continue;
    const cofuse_red *red = &s->task->desc->reds[r];
    char *array = array_of(s, unit, r);
    int64_t *bad = (int64_t *)(void *)(array - 2 * sizeof(int64_t));
    bad[0] = INT64_MAX;
    bad[1] = INT64_MIN;
    cf_red_fill(red->op, red->type, array, (size_t)s->task->red_count[r]);
  }
}

void cf_sections_point(const cf_sections *s, int64_t unit, char *partials) {
  cf_red_section *slot = (cf_red_section *)(void *)partials + s->slot;
  for (int r = 0; r < s->task->nreds; r++)
    if (is_section(s->task, r)) {
      slot[r].array = array_of(s, unit, r);
      slot[r].last = (int64_t)(cf_target_bytes(s->task, r) - cf_type_bytes(s->task->desc->reds[r].type));
    }
}

cf_status cf_sections_report(const cf_sections *s) {
  const cofuse_forall *d = s->task->desc;
  for (int r = 0; r < s->task->nreds; r++) {
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int64_t u = 0; u < s->nunits && is_section(s->task, r); u++) {
      const int64_t *bad = (const int64_t *)(void *)(array_of(s, u, r) - 2 * sizeof(int64_t));
      lo = cf_min(lo, bad[0]);
      hi = cf_max(hi, bad[1]);
    }
    if (lo > hi)
      continue;
    int64_t w = (int64_t)cf_type_bytes(d->reds[r].type);
    char range[64];
    lo = cf_floor_div(lo, w);
    hi = cf_floor_div(hi, w);
    if (lo == hi)
      snprintf(range, sizeof range, "element %lld", (long long)lo);
    else
      snprintf(range, sizeof range, "elements from %lld to %lld", (long long)lo, (long long)hi);
    return cf_fail(CF_EBOUNDS,
                   "%s:%u: COFUSE_CHECK: loop of line %u updates %s outside the section of its reduction "
                   "clause: %s of the section, but it has %lld; name all of the elements "
                   "that the loop updates",
                   d->file, d->reds[r].line, d->line, d->reds[r].text, range,
                   (long long)s->task->red_count[r]);
  }
  return CF_OK;
}

/* Rank by rank into what the target holds, on rank 0, which sends the bits to all. */
static cf_status combine_ranks(cf_exec *x, const cf_sections *s, int r) {
  const cofuse_red *red = &s->task->desc->reds[r];
  size_t w = cf_type_bytes(red->type), bytes = cf_target_bytes(s->task, r), size = (size_t)x->comm->size;
  size_t chunk = (size_t)cf_max(4096, CHUNK_BYTES / (int64_t)size);
  char *mine = array_of(s, 0, r), *target = s->task->targets[r], *all = NULL;
  if (x->comm->rank == 0 && !(all = malloc(size * (chunk < bytes ? chunk : bytes))))
    return cf_fail(CF_ENOMEM, "out of memory for partial results");
  cf_status st = CF_OK;
  for (size_t at = 0; at < bytes && st == CF_OK; at += chunk) {
    size_t n = bytes - at < chunk ? bytes - at : chunk;
    st = x->comm->ops->gather0(x->comm, mine + at, n, all, cf_exec_stamp(x));
    for (size_t p = 0; all && st == CF_OK && p < size; p++)
      cf_red_combine_all(red->op, red->type, target + at, all + p * n, n / w);
    if (st == CF_OK)
      st = x->comm->ops->bcast(x->comm, target + at, n, 0, cf_exec_stamp(x));
  }
  free(all);
  return st;
}

cf_status cf_sections_finish(cf_exec *x, const cf_sections *s) {
  const cf_task *t = s->task;
  for (int r = 0; r < t->nreds; r++) {
    if (!is_section(t, r))
      continue;
    const cofuse_red *red = &t->desc->reds[r];
    size_t n = (size_t)t->red_count[r];
    for (int64_t u = 1; u < s->nunits; u++)
      cf_red_combine_all(red->op, red->type, array_of(s, 0, r), array_of(s, u, r), n);
    if (x->comm->size > 1 && t->domain == CF_GRID)
      CF_TRY(combine_ranks(x, s, r));
    else
      cf_red_combine_all(red->op, red->type, t->targets[r], array_of(s, 0, r), n);
  }
  return CF_OK;
}
