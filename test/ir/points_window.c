// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Random windows as text. Most accesses go straight through, so that much fuses; the rest tries every way of
 * not quite doing so. */
#include "points.h"

#include <string.h>

enum { STORES = 5, TASKS = 7, ACCESSES = 4 };

typedef struct store {
  char name[4];
  int rank;
  int64_t ext[3];
  bool fields; /* elements of two halves */
} store;

static uint64_t state;

static int below(int n) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
  uint64_t x = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return (int)((x ^ (x >> 31)) % (uint64_t)n);
}
static bool chance(int percent) { return below(100) < percent; }

static void make_store(store *s, int k, int64_t n, int64_t m, cf_buf *b) {
  static const char *const type[] = {"f64", "i64", "f64", "f32"};
  memcpy(s->name, (char[]){'s', (char)('0' + k), 0}, 3);
  s->rank = chance(15) ? 0 : chance(45) ? 1 : chance(90) ? 2 : 3;
  int64_t base[3] = {n, m, 2};
  for (int d = 0; d < s->rank; d++) {
    s->ext[d] = base[chance(10) ? below(3) : d];
    if (chance(25))
      s->ext[d] += below(4) - 2;
    if (d == 0 && chance(10))
      s->ext[d] *= 2;
    if (s->ext[d] < 1)
      s->ext[d] = 1;
  }
  if (s->rank == 2 && chance(10)) {
    s->ext[1] = s->ext[0];
    s->ext[0] = 1;
  }
  s->fields = chance(12);
  cf_buf_printf(b, "store %s: %s", s->name, s->fields ? "opaque(8)" : type[below(4)]);
  for (int d = 0; d < s->rank; d++)
    cf_buf_printf(b, "[%lld]", (long long)s->ext[d]);
  if (s->rank && chance(45)) {
    int dim = 0;
    while (dim + 1 < s->rank && (s->ext[dim] == 1 || chance(8)))
      dim++;
    int grain = chance(85) ? 1 : 1 + below(3);
    cf_buf_printf(b, " home tiling(dim %d, %lld x %d @ %d)", dim,
                  (long long)(s->ext[dim] + grain - 1) / grain + (chance(15) ? below(3) - 1 > 0 : 0), grain,
                  chance(75) ? 0 : below(3) - 1);
  } else if (chance(5)) {
    cf_buf_str(b, " home none");
  }
  if (chance(50))
    cf_buf_str(b, " released");
  if (chance(25))
    cf_buf_str(b, " valid all");
  else if (chance(15))
    cf_buf_printf(b, " valid %d, %d", below(3), below(3));
  cf_buf_str(b, "\n");
}

/* An index of dimension d that stays inside for loops of these trips; inner: 0, or the trip of loop p. */
static void make_index(const store *s, int d, int nloops, const int64_t *trip, int loop, int64_t inner,
                       cf_buf *b) {
  int64_t lo = 0, hi = 0, ext = s->ext[d];
  bool any = false;
  if (loop >= 0 && loop < nloops) {
    int64_t c = chance(86) ? 1 : chance(55) ? -1 : chance(70) ? 2 : chance(50) ? -2 : 3;
    int64_t most = trip[loop] - 1;
    if ((c < 0 ? -c : c) * most >= ext)
      c = c < 0 ? -1 : 1;
    if (most < ext) {
      cf_buf_printf(b, "%s%s%c", c < 0 ? "-" : "",
                    c == 2 || c == -2 ? "2*"
                    : c == 3          ? "3*"
                                      : "",
                    "ijk"[loop]);
      any = true;
      *(c < 0 ? &lo : &hi) += c * most;
    }
    if (chance(4) && nloops > 1) { /* a flat view */
      int other = (loop + 1) % nloops;
      if (hi - lo + trip[other] - 1 < ext) {
        cf_buf_printf(b, "+%c", "ijk"[other]);
        hi += trip[other] - 1;
        any = true;
      }
    }
  }
  if (inner > 0 && hi - lo + inner - 1 < ext) {
    cf_buf_printf(b, "%sp", any ? "+" : "");
    any = true;
    hi += inner - 1;
  }
  int64_t room = ext - (hi - lo), off = -lo;
  if (room > 1 && chance(35))
    off += below(room > 3 && chance(70) ? 3 : (int)room);
  if (off || !any)
    cf_buf_printf(b, any ? "%+lld" : "%lld", (long long)off);
}

static void make_access(const store *stores, int n, int nloops, const int64_t *trip, bool write, int lead,
                        cf_buf *b) {
  const store *s = &stores[lead >= 0 ? lead : below(n)];
  bool whole = !write && chance(5), both = write && chance(25);
  int64_t inner = !whole && s->rank && chance(write ? 4 : 10) ? 1 + below(3) : 0;
  bool cond = chance(8);
  cf_buf_printf(b, "  %s%s ", both ? "RW" : write ? "W" : "R", write && !cond ? "!" : "");
  if (whole) {
    cf_buf_printf(b, "whole %s indirect", s->name);
  } else {
    cf_buf_str(b, s->name);
    int first = s->rank > nloops ? s->rank - nloops : 0;
    if (s->rank == 2 && s->ext[0] == 1)
      first = 1;
    bool swap = nloops > 1 && chance(5);
    int at = s->rank ? below(s->rank) : 0; /* of the inner loop */
    for (int d = 0; d < s->rank; d++) {
      int loop = d - first;
      if (swap && loop >= 0)
        loop = 1 - loop;
      if (!write && chance(8))
        loop = -1;
      cf_buf_str(b, "[");
      make_index(s, d, nloops, trip, loop, d == at ? inner : 0, b);
      cf_buf_str(b, "]");
    }
  }
  if (inner)
    cf_buf_printf(b, " for p < %lld", (long long)inner);
  if (s->fields && !whole)
    cf_buf_printf(b, " bytes %s",
                  chance(45)   ? "0..4 type f32"
                  : chance(80) ? "4..8 type f32"
                               : "0..8 type f64");
  else if (s->fields)
    cf_buf_str(b, " type f32");
  if (cond)
    cf_buf_str(b, " cond");
  cf_buf_str(b, "\n");
}

static void make_task(const store *stores, int n, int k, int64_t rows, int64_t cols, cf_buf *b) {
  int nloops = chance(10) ? 0 : chance(45) ? 1 : chance(93) ? 2 : 3, lead = below(n);
  int64_t trip[3] = {0};
  cf_buf_printf(b, "\n%s t%d \"w.c\":%d", nloops ? "forall" : "task", k, k);
  for (int try = 0; try < 5 && stores[lead].rank != nloops; try++)
    lead = below(n);
  const store *s = &stores[lead];
  for (int l = 0; l < nloops; l++) {
    int d = s->rank > nloops ? s->rank - nloops + l : l;
    if (s->rank == 2 && s->ext[0] == 1 && nloops == 1)
      d = 1;
    int64_t e = d < s->rank ? s->ext[d] : (int64_t[]){rows, cols, 2}[l];
    if (chance(40))
      e -= below(3);
    trip[l] = e < 1 ? 1 : e;
    cf_buf_printf(b, "%s%c < %lld", l ? ", " : " for ", "ijk"[l], (long long)trip[l]);
  }
  cf_buf_str(b, "\n");
  int reads = below(ACCESSES), at = chance(70) ? reads : below(reads + 1);
  bool reduces = nloops && chance(15);
  for (int i = 0; i <= reads; i++)
    if (i == at && !(reduces && chance(70)))
      make_access(stores, n, nloops, trip, true, chance(90) ? lead : -1, b);
    else
      make_access(stores, n, nloops, trip, chance(8), -1, b);
  if (!reduces)
    return;
  for (int try = 0; try < 8; try++) {
    const store *r = &stores[below(n)];
    if (r->rank == 0 && !r->fields) {
      cf_buf_printf(b, "  reduce(%s) f64 into %s\n", chance(70) ? "add" : "max", r->name);
      return;
    }
  }
  cf_buf_str(b, "  reduce(add) f64 now\n");
}

void pt_generate(uint64_t seed, cf_buf *out) {
  store s[STORES];
  state = seed * 0x9e3779b97f4a7c15u + 12345;
  below(2);
  int64_t rows = 2 + below(8), cols = 1 + below(4);
  int n = 2 + below(STORES - 1), tasks = 2 + below(TASKS - 1);
  cf_buf_clear(out);
  cf_buf_str(out, "cofuse-ir 1\n\n");
  for (int k = 0; k < n; k++)
    make_store(&s[k], k, rows, cols, out);
  for (int k = 0; k < tasks; k++)
    make_task(s, n, k, rows, cols, out);
}
