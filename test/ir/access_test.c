// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Access maps and boxes against enumeration of byte addresses. */
#include "ir/ir.h"
#include "ir/math.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIMS = 3, INNER = 2, BYTES = 2048 };

static uint64_t state = 88172645463325252u;
static int64_t between(int64_t lo, int64_t hi) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return lo + (int64_t)(state % (uint64_t)(hi - lo + 1));
}

typedef struct fixture {
  cf_store store;
  cofuse_access desc;
  uint8_t ndims;
  int64_t trip[CF_DIMS];
  int64_t width; /* bytes of the access made last; field_bytes of a `whole` one is that of the element */
} fixture;

static void make_store(fixture *f) {
  cf_store *s = &f->store;
  *s = (cf_store){
      .type = COFUSE_OPAQUE, .rank = (uint8_t)between(0, 3), .elem_bytes = (uint32_t)between(1, 3) * 8};
  s->bytes = s->elem_bytes;
  for (int d = 0; d < s->rank; d++)
    s->bytes *= (size_t)(s->ext[d] = between(1, 4));
  f->ndims = (uint8_t)between(0, DIMS);
  for (int l = 0; l < f->ndims; l++)
    f->trip[l] = between(1, 4);
}

/* A random access; mostly one of whole elements in bounds. Returns the outcome of de-linearising. */
static cf_status make_access(fixture *f, cf_access *a, bool cond, int64_t *bad) {
  cf_store *s = &f->store;
  int64_t es[3], x = s->elem_bytes;
  for (int d = s->rank - 1; d >= 0; d--) {
    es[d] = x;
    x *= s->ext[d];
  }
  *a = (cf_access){.store = s,
                   .desc = &f->desc,
                   .priv = between(0, 1) ? CF_READ : CF_READ | CF_WRITE,
                   .ninner = (uint8_t)(between(0, 3) ? 0 : between(1, INNER))};
  a->field_bytes = between(0, 3) ? 8 : 4;
  f->width = a->field_bytes;
  a->at = between(0, 9) ? between(0, (int64_t)s->bytes / 8 - 1) * 8 : between(-16, (int64_t)s->bytes + 8);
  for (int l = 0; l < f->ndims + a->ninner; l++) {
    if (l >= f->ndims)
      a->itrip[l - f->ndims] = between(0, 9) ? between(1, 3) : 0;
    if (s->rank && between(0, 9)) {
      a->bstride[l] = between(-1, 2) * es[between(0, s->rank - 1)];
      if (!between(0, 4))
        a->bstride[l] += between(-1, 1) * es[between(0, s->rank - 1)];
    } else if (!between(0, 4)) {
      a->bstride[l] = between(-3, 3) * 8;
    }
  }
  for (int l = 0; l < f->ndims + a->ninner && cond; l++) { /* as the condition leaves iterations out */
    int64_t t = l < f->ndims ? f->trip[l] : a->itrip[l - f->ndims];
    if (t > 0 && !between(0, 2)) {
      a->cut[l][0] = between(0, t - 1);
      a->cut[l][1] = between(0, t - 1 - a->cut[l][0]);
    }
  }
  int64_t base = between(0, (int64_t)(s->bytes / s->elem_bytes) - 1) * s->elem_bytes;
  return cf_access_delinearise(a, f->ndims, f->trip, cond, base, &bad[0], &bad[1]);
}

/* Calls fn with the iteration numbers of every point, inner counters behind. */
static void each_point(const fixture *f, const cf_access *a, void (*fn)(const int64_t *n, void *arg),
                       void *arg) {
  int64_t n[CF_LOOPS] = {0}, points = 1, t[CF_LOOPS];
  int nl = f->ndims + a->ninner;
  for (int l = 0; l < nl; l++)
    points *= t[l] = l < f->ndims ? f->trip[l] : a->itrip[l - f->ndims];
  for (int64_t i = 0; i < points; i++) {
    int64_t r = i;
    for (int l = nl - 1; l >= 0; l--) {
      n[l] = r % t[l];
      r /= t[l];
    }
    bool made = true;
    for (int l = 0; l < nl; l++)
      made &= n[l] >= a->cut[l][0] && n[l] < t[l] - a->cut[l][1];
    if (made)
      fn(n, arg);
  }
}

static int64_t address(const fixture *f, const cf_access *a, const int64_t *n) {
  int64_t at = a->at;
  for (int l = 0; l < f->ndims + a->ninner; l++)
    at += a->bstride[l] * n[l];
  return at;
}

typedef struct check {
  const fixture *f;
  const cf_access *a;
  int64_t lo, hi;                     /* bytes */
  int64_t elo[CF_RANK], ehi[CF_RANK]; /* elements inside the store */
  bool any, straddles;
} check;

static void hull_point(const int64_t *n, void *arg) {
  check *c = arg;
  int64_t at = address(c->f, c->a, n), w = c->f->width;
  c->lo = c->any ? cf_min(c->lo, at) : at;
  c->hi = c->any ? cf_max(c->hi, at + w) : at + w;
  c->any = true;
}

static void map_point(const int64_t *n, void *arg) {
  check *c = arg;
  const cf_access *a = c->a;
  const cf_store *s = a->store;
  int64_t at = 0, x[CF_RANK];
  bool in = true;
  for (int d = 0; d < s->rank; d++) {
    x[d] = a->map.off[d];
    for (int l = 0; l < a->map.nloops; l++)
      x[d] += a->map.coef[d][l] * n[l];
    at = at * s->ext[d] + x[d];
    in &= 0 <= x[d] && x[d] < s->ext[d];
  }
  assert_int_equal(at * s->elem_bytes + a->field, address(c->f, a, n));
  if (a->wrap && at >= 0 && at * s->elem_bytes < (int64_t)s->bytes) { /* the element as the store has it */
    in = true;
    for (int d = s->rank - 1; d >= 0; d--) {
      x[d] = at % s->ext[d];
      at /= s->ext[d];
    }
  }
  for (int d = 0; d < s->rank && in; d++) {
    assert_true(a->lo[d] <= x[d] && x[d] < a->hi[d]);
    assert_int_equal(a->step[d] > 0 ? cf_mod(x[d] - a->phase[d], a->step[d]) : x[d] - a->map.off[d], 0);
    c->elo[d] = cf_min(c->elo[d], x[d]);
    c->ehi[d] = cf_max(c->ehi[d], x[d] + 1);
  }
}

static void straddle_point(const int64_t *n, void *arg) {
  check *c = arg;
  int64_t at = address(c->f, c->a, n), w = c->a->store->elem_bytes;
  if (at < 0 || cf_floor_div(at, w) != cf_floor_div(at + c->a->field_bytes - 1, w) ||
      cf_mod(at, w) != cf_mod(c->a->at, w))
    c->straddles = true;
}

static void maps_reproduce_addresses(void **st) {
  (void)st;
  int maps = 0, wholes = 0, outs = 0, wraps = 0;
  for (int k = 0; k < 100000; k++) {
    fixture f = {0};
    cf_access a;
    int64_t bad[2] = {0};
    bool cond = !between(0, 3);
    make_store(&f);
    cf_status s = make_access(&f, &a, cond, bad);
    check c = {.f = &f, .a = &a};
    each_point(&f, &a, hull_point, &c);
    bool out = c.any && (c.lo < 0 || c.hi > (int64_t)f.store.bytes);
    if (!cond)
      assert_int_equal(s, out ? CF_EBOUNDS : CF_OK);
    if (s == CF_EBOUNDS) {
      outs++;
      assert_int_equal(bad[0], c.lo);
      assert_int_equal(bad[1], c.hi);
      continue;
    }
    assert_int_equal(s, CF_OK);
    if (!c.any) {
      for (int d = 0; d < f.store.rank; d++)
        assert_true(a.lo[d] >= a.hi[d]);
      continue;
    }
    if (a.whole) {
      wholes++;
      for (int d = 0; d < f.store.rank; d++)
        assert_true(a.lo[d] == 0 && a.hi[d] == f.store.ext[d]);
      continue;
    }
    maps += !a.wrap;
    wraps += a.wrap;
    assert_false(a.wrap && a.priv & CF_WRITE);
    for (int d = 0; d < f.store.rank; d++) {
      c.elo[d] = INT64_MAX;
      c.ehi[d] = INT64_MIN;
    }
    each_point(&f, &a, map_point, &c);
    for (int d = 0; d < f.store.rank && !cond && !a.wrap; d++) { /* the exact hull */
      assert_int_equal(a.lo[d], c.elo[d]);
      assert_int_equal(a.hi[d], c.ehi[d]);
    }
    each_point(&f, &a, straddle_point, &c);
    if (!cond)
      assert_false(c.straddles);
  }
  assert_true(maps > 20000 && wholes > 1000 && outs > 10000 && wraps > 1000);
}

/* Subscripts inside their rows, as a program writes them, always give a map. */
static void plain_subscripts_get_a_map(void **st) {
  (void)st;
  for (int k = 0; k < 50000; k++) {
    fixture f = {0};
    make_store(&f);
    cf_store *s = &f.store;
    cf_access a = {.store = s, .desc = &f.desc, .priv = CF_READ, .field_bytes = 8};
    int64_t es = s->elem_bytes, bad[2], coef[CF_RANK][CF_LOOPS] = {0}, off[CF_RANK] = {0};
    for (int d = s->rank - 1; d >= 0; d--) {
      int l = (int)between(-1, f.ndims - 1);
      int64_t c = between(0, 3) ? 1 : between(0, 1) ? -1 : 2;
      if (l >= 0 && f.trip[l] > 1 && cf_abs(c) * (f.trip[l] - 1) < s->ext[d]) {
        coef[d][l] = c;
        a.bstride[l] += c * es;
        off[d] = between(0, s->ext[d] - 1 - cf_abs(c) * (f.trip[l] - 1)) + (c < 0 ? -c * (f.trip[l] - 1) : 0);
      } else {
        off[d] = between(0, s->ext[d] - 1);
      }
      a.at += off[d] * es;
      es *= s->ext[d];
    }
    int64_t field = between(0, s->elem_bytes / 8 - 1) * 8;
    a.at += field;
    bool cond = between(0, 1);
    assert_int_equal(cf_access_delinearise(&a, f.ndims, f.trip, cond, cond ? 0 : a.at, &bad[0], &bad[1]),
                     CF_OK);
    /* Two subscripts that move together within one row of another shape may look like one: (1, -1) on rows
     * of 2. */
    if (a.whole) {
      bool together = false;
      for (int l = 0; l < f.ndims; l++) {
        int n = 0;
        for (int d = 0; d < s->rank; d++)
          n += coef[d][l] != 0;
        for (int d = 1; d < s->rank; d++)
          together |= n > 1 || 2 * cf_abs(coef[d][l]) >= s->ext[d];
      }
      assert_true(together || cond);
      continue;
    }
    assert_int_equal(a.field, field);
  }
}

static void mark_point(const int64_t *n, void *arg) {
  unsigned char **m = arg;
  const check *c = (const check *)(void *)m[1];
  int64_t at = address(c->f, c->a, n);
  for (int64_t b = cf_max(at, 0); b < cf_min(at + c->a->field_bytes, (int64_t)c->a->store->bytes); b++)
    m[0][b] = 1;
}

/* Bytes that the access touches; of a `whole` access: all it may touch. */
static void mark(const fixture *f, const cf_access *a, unsigned char *bytes) {
  check c = {.f = f, .a = a};
  memset(bytes, 0, BYTES);
  each_point(f, a, mark_point, (unsigned char *[]){bytes, (unsigned char *)&c});
}

static void intersection_is_never_missed(void **st) {
  (void)st;
  int meet = 0, apart = 0;
  for (int k = 0; k < 60000; k++) {
    fixture f = {0};
    cf_access a, b;
    int64_t bad[2];
    make_store(&f);
    if (make_access(&f, &a, !between(0, 5), bad) != CF_OK ||
        make_access(&f, &b, !between(0, 5), bad) != CF_OK)
      continue;
    static unsigned char x[BYTES], y[BYTES];
    mark(&f, &a, x);
    mark(&f, &b, y);
    bool common = false;
    for (size_t i = 0; i < f.store.bytes; i++)
      common |= x[i] && y[i];
    if (common)
      assert_true(cf_access_intersects(&a, &b));
    meet += common;
    apart += !cf_access_intersects(&a, &b);
    assert_int_equal(cf_access_intersects(&a, &b), cf_access_intersects(&b, &a));
  }
  assert_true(meet > 5000 && apart > 5000);
}

typedef struct visit {
  const fixture *f;
  const cf_access *a;
  int64_t *iteration; /* per byte: 1 + number of the parallel iteration that touches it; -1: several */
  bool record;
  bool other; /* a byte of another iteration was met */
} visit;

static void visit_point(const int64_t *n, void *arg) {
  visit *v = arg;
  int64_t it = 0, at = address(v->f, v->a, n);
  for (int l = 0; l < v->f->ndims; l++)
    it = it * v->f->trip[l] + n[l];
  for (int64_t b = cf_max(at, 0); b < cf_min(at + v->a->field_bytes, (int64_t)v->a->store->bytes); b++) {
    int64_t *m = &v->iteration[b];
    if (v->record)
      *m = *m == 0 || *m == 1 + it ? 1 + it : -1;
    else if (*m && *m != 1 + it)
      v->other = true;
  }
}

static void same_iteration_is_never_claimed_wrongly(void **st) {
  (void)st;
  int claimed = 0, self = 0;
  for (int k = 0; k < 150000; k++) {
    fixture f = {0};
    cf_access a, b;
    int64_t bad[2];
    make_store(&f);
    if (make_access(&f, &a, false, bad) != CF_OK)
      continue;
    if (between(0, 1)) {
      if (make_access(&f, &b, false, bad) != CF_OK)
        continue;
    } else {
      b = a;
      b.at += between(-1, 1) * (int64_t)f.store.elem_bytes;
      if (cf_access_delinearise(&b, f.ndims, f.trip, false, b.at, &bad[0], &bad[1]) != CF_OK)
        continue;
    }
    bool same = cf_access_same_iteration(&a, &b, f.ndims, f.trip);
    assert_int_equal(same, cf_access_same_iteration(&b, &a, f.ndims, f.trip));
    if (!same)
      continue;
    static int64_t it[BYTES];
    memset(it, 0, sizeof it);
    visit v = {&f, &a, it, true, false};
    each_point(&f, &a, visit_point, &v);
    v.a = &b;
    v.record = false;
    each_point(&f, &b, visit_point, &v);
    assert_false(v.other);
    claimed++;
    self += a.at == b.at;
    if (cf_access_same_map(&a, &b))
      for (int l = 0; l < f.ndims; l++)
        assert_true(a.bstride[l] == b.bstride[l] || f.trip[l] <= 1);
  }
  assert_true(claimed > 3000 && self > 500);
}

typedef struct slab {
  const fixture *f;
  const cf_access *a;
  const cf_task *t;
  int dim;
  int64_t nlo, nhi, lo, hi;
} slab;

static void slab_point(const int64_t *n, void *arg) {
  slab *s = arg;
  const cf_access *a = s->a;
  const cf_store *st = a->store;
  if (s->t->itile.loop >= 0 && (n[s->t->itile.loop] < s->nlo || n[s->t->itile.loop] >= s->nhi))
    return;
  int64_t at = address(s->f, a, n);
  if (at < 0 || at + a->field_bytes > (int64_t)st->bytes)
    return; /* a condition keeps it from being executed */
  int64_t e = at / st->elem_bytes, x = 0;
  for (int d = st->rank - 1; d >= s->dim; d--) {
    x = e % st->ext[d];
    e /= st->ext[d];
  }
  assert_true(s->lo <= x && x < s->hi);
}

static void slabs_hold_what_a_rank_touches(void **st) {
  (void)st;
  for (int k = 0; k < 40000; k++) {
    fixture f = {0};
    cf_access a;
    int64_t bad[2];
    make_store(&f);
    if (f.store.rank == 0 || f.ndims == 0 || make_access(&f, &a, !between(0, 3), bad) != CF_OK)
      continue;
    cf_task t = {.ndims = f.ndims, .domain = CF_GRID};
    memcpy(t.trip, f.trip, sizeof t.trip);
    int loop = (int)between(0, f.ndims - 1);
    int64_t ranks = between(1, 6);
    t.itile = (cf_itile){.loop = loop,
                         .trip = f.trip[loop],
                         .c = between(0, 1)   ? 1
                              : between(0, 1) ? -1
                                              : 2,
                         .k = between(-2, 4),
                         .ext = 5};
    t.itile.home = (cf_partition){.kind = CF_PART_TILING,
                                  .count = between(1, 6),
                                  .grain = between(1, 2),
                                  .origin = between(-2, 2),
                                  .num = 1,
                                  .den = 1};
    for (int64_t p = 0; p < ranks; p++)
      for (int d = 0; d < f.store.rank; d++) {
        slab s = {.f = &f, .a = &a, .t = &t, .dim = d};
        cf_itile_range(&t.itile, p, ranks, &s.nlo, &s.nhi);
        cf_access_slab(&t, &a, d, p, ranks, &s.lo, &s.hi);
        if (s.nlo >= s.nhi)
          assert_true(s.lo >= s.hi);
        else
          assert_true(a.lo[d] <= s.lo && s.hi <= cf_max(a.hi[d], a.lo[d]));
        each_point(&f, &a, slab_point, &s);
      }
    t.domain = CF_SINGLE;
    t.itile.loop = -1;
    t.itile.row = between(0, 4);
    for (int64_t p = 0; p < ranks; p++) {
      int64_t lo, hi;
      cf_access_slab(&t, &a, 0, p, ranks, &lo, &hi);
      bool owner = cf_partition_owner(&t.itile.home, 5, t.itile.row, ranks) == p;
      assert_true(owner ? lo == a.lo[0] && hi == a.hi[0] : lo >= hi);
    }
  }
}

int main(void) {
  const struct CMUnitTest t[] = {
      cmocka_unit_test(maps_reproduce_addresses),
      cmocka_unit_test(plain_subscripts_get_a_map),
      cmocka_unit_test(intersection_is_never_missed),
      cmocka_unit_test(same_iteration_is_never_claimed_wrongly),
      cmocka_unit_test(slabs_hold_what_a_rank_touches),
  };
  return cmocka_run_group_tests(t, NULL, NULL);
}
