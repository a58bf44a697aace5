// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Home tiles and iteration tiles against enumeration, with random parameters. */
#include "ir/ir.h"
#include "ir/math.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t state = 88172645463325252u;
static int64_t between(int64_t lo, int64_t hi) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return lo + (int64_t)(state % (uint64_t)(hi - lo + 1));
}

static cf_partition random_home(int64_t ext) {
  return (cf_partition){.kind = CF_PART_TILING,
                        .count = between(1, 2 * ext),
                        .grain = between(0, 2) ? 1 : between(1, 7),
                        .origin = between(-ext - 5, ext + 5),
                        .num = 1,
                        .den = 1};
}

static void every_element_has_one_owner(void **s) {
  (void)s;
  for (int k = 0; k < 20000; k++) {
    int64_t ext = between(1, 40), ranks = between(0, 3) ? between(1, 8) : between(1, 100);
    cf_partition h = random_home(ext);
    int owners[40] = {0};
    int64_t last = 0;
    for (int64_t p = 0; p < ranks; p++) {
      int64_t lo, hi;
      cf_partition_home_tile(&h, ext, p, ranks, &lo, &hi);
      assert_true(0 <= lo && lo <= hi && hi <= ext);
      if (lo < hi) {
        assert_int_equal(lo, last); /* tiles ascend with the rank and leave no gap */
        last = hi;
      }
      for (int64_t e = lo; e < hi; e++) {
        owners[e]++;
        assert_int_equal(cf_partition_owner(&h, ext, e, ranks), p);
      }
    }
    for (int64_t e = 0; e < ext; e++)
      assert_int_equal(owners[e], 1);
  }
}

static void tiles_of_many_ranks_cost_nothing(void **s) {
  (void)s;
  cf_partition h = {
      .kind = CF_PART_TILING, .count = (int64_t)1 << 40, .grain = 3, .origin = -7, .num = 1, .den = 1};
  int64_t ext = 3 * h.count, ranks = 1 << 20, lo, hi, end = 0;
  for (int64_t p = 0; p < ranks; p += ranks / 64 - 1) {
    cf_partition_home_tile(&h, ext, p, ranks, &lo, &hi);
    assert_true(lo < hi && lo >= end);
    assert_int_equal(cf_partition_owner(&h, ext, lo, ranks), p);
    assert_int_equal(cf_partition_owner(&h, ext, hi - 1, ranks), p);
    end = hi;
  }
}

static void default_homes(void **s) {
  (void)s;
  cf_store st = {.rank = 2, .ext = {10, 90}, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).dim, 1);
  st.ext[0] = 12;
  assert_int_equal(cf_store_default_home(&st).dim, 0);
  st = (cf_store){.rank = 3, .ext = {1, 64, 60000}, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).dim, 1);
  st = (cf_store){.rank = 2, .ext = {1, 5}, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).dim, 1);
  st = (cf_store){.rank = 0, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).kind, CF_PART_NONE);
  assert_int_equal(cf_store_count(&st), 1);
  st = (cf_store){.rank = 3, .ext = {1, 1, 1}, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).kind, CF_PART_NONE);
  st = (cf_store){.rank = 1, .ext = {2}, .elem_bytes = 8};
  assert_int_equal(cf_store_default_home(&st).kind, CF_PART_TILING);
}

/* The iterations of all ranks are those of the loop, once each, and touch elements of the rank's tile. The
 * tile is the unclipped one: first and last reach to infinity, as iterations of another store's view may. */
static void iteration_tiles_partition_the_loop(void **s) {
  (void)s;
  for (int k = 0; k < 20000; k++) {
    int64_t ext = between(1, 40), ranks = between(0, 3) ? between(1, 8) : between(1, 60);
    cf_itile t = {.loop = 0, .trip = between(0, 30), .c = between(1, 4), .k = between(-10, 40), .ext = ext};
    t.home = random_home(ext);
    if (between(0, 1))
      t.c = -t.c;
    int seen[30] = {0};
    for (int64_t p = 0; p < ranks; p++) {
      int64_t lo, hi;
      cf_itile_range(&t, p, ranks, &lo, &hi);
      assert_true(0 <= lo && lo <= hi && hi <= t.trip);
      for (int64_t n = lo; n < hi; n++) {
        int64_t e = t.c * n + t.k;
        seen[n]++;
        assert_int_equal(cf_partition_owner(&t.home, ext, e, ranks), p);
        int64_t a, b;
        cf_partition_home_tile(&t.home, ext, p, ranks, &a, &b);
        if (0 <= e && e < ext)
          assert_true(a <= e && e < b);
      }
    }
    for (int64_t n = 0; n < t.trip; n++)
      assert_int_equal(seen[n], 1);
  }
}

/* Equal iteration tiles mean equal ranges on every rank, whatever the number of ranks. */
static void equal_tiles_are_equal(void **s) {
  (void)s;
  int equal = 0;
  for (int k = 0; k < 200000; k++) {
    cf_itile a = {.loop = 0, .trip = 12, .c = between(-2, 2), .k = between(0, 3), .ext = between(8, 9)},
             b = a;
    if (a.c == 0)
      continue;
    a.home = (cf_partition){.kind = CF_PART_TILING,
                            .count = between(3, 4),
                            .grain = between(1, 2),
                            .origin = between(0, 3),
                            .num = 1,
                            .den = 1};
    b.home = a.home;
    b.k = between(0, 3);
    b.home.origin = between(0, 3);
    b.home.count = between(3, 4);
    b.ext = between(8, 9);
    if (!cf_itile_equal(&a, &b, CF_GRID, CF_GRID))
      continue;
    equal++;
    assert_false(cf_itile_equal(&a, &b, CF_GRID, CF_SINGLE));
    for (int64_t ranks = 1; ranks < 7; ranks++)
      for (int64_t p = 0; p < ranks; p++) {
        int64_t alo, ahi, blo, bhi;
        cf_itile_range(&a, p, ranks, &alo, &ahi);
        cf_itile_range(&b, p, ranks, &blo, &bhi);
        assert_int_equal(alo, blo);
        assert_int_equal(ahi, bhi);
      }
  }
  assert_true(equal > 1000);
}

static void rounding(void **s) {
  (void)s;
  for (int64_t b = 1; b < 9; b++)
    for (int64_t a = -40; a <= 40; a++) {
      int64_t f = cf_floor_div(a, b), c = cf_ceil_div(a, b), r = cf_round_div(a, b);
      assert_true(f * b <= a && a < (f + 1) * b);
      assert_true((c - 1) * b < a && a <= c * b);
      assert_int_equal(cf_mod(a, b), a - f * b);
      assert_true(2 * cf_abs(a - r * b) <= b);
    }
  assert_int_equal(cf_gcd(12, -18), 6);
  assert_int_equal(cf_gcd(0, 5), 5);
  assert_int_equal(cf_gcd(0, 0), 0);
}

int main(void) {
  const struct CMUnitTest t[] = {
      cmocka_unit_test(rounding),
      cmocka_unit_test(every_element_has_one_owner),
      cmocka_unit_test(tiles_of_many_ranks_cost_nothing),
      cmocka_unit_test(default_homes),
      cmocka_unit_test(iteration_tiles_partition_the_loop),
      cmocka_unit_test(equal_tiles_are_equal),
  };
  return cmocka_run_group_tests(t, NULL, NULL);
}
