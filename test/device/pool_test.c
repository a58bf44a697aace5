// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/device.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 10000 };
static atomic_int visits[MOST];
static int visitor[MOST], when[MOST];
static _Thread_local int clock_of_thread;

static void visit(void *arg, int64_t block, int thread) {
  (void)arg;
  atomic_fetch_add(&visits[block], 1);
  visitor[block] = thread;
  when[block] = clock_of_thread++;
}

static void every_block_once(void **s) {
  (void)s;
  static const int64_t sizes[] = {0, 1, 2, 3, 5, 6, 7, 64, 1000, 9973, MOST};
  for (int threads = 1; threads <= 5; threads++) {
    cf_pool *p;
    assert_int_equal(cf_pool_create(threads, &p), CF_OK);
    assert_int_equal(cf_pool_threads(p), threads);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
      for (int order = 0; order < 3; order++) {
        memset(visits, 0, sizeof visits);
        cf_pool_run(p, sizes[k], order, visit, NULL);
        for (int64_t i = 0; i < MOST; i++)
          assert_int_equal(visits[i], i < sizes[k]);
        for (int64_t i = 0; i + 1 < sizes[k]; i++)
          if (visitor[i] == visitor[i + 1] && order < 2)
            assert_true((when[i] < when[i + 1]) == (order == 0));
        for (int64_t i = 0; i < sizes[k]; i++)
          assert_in_range(visitor[i], 0, threads - 1);
      }
    cf_pool_destroy(p);
  }
}

static void shuffle_is_fixed_and_not_sorted(void **s) {
  (void)s;
  cf_pool *p;
  int first[100], rising = 0;
  assert_int_equal(cf_pool_create(1, &p), CF_OK);
  clock_of_thread = 0;
  cf_pool_run(p, 100, 2, visit, NULL);
  memcpy(first, when, sizeof first);
  clock_of_thread = 0;
  cf_pool_run(p, 100, 2, visit, NULL);
  assert_memory_equal(first, when, sizeof first);
  for (int i = 0; i + 1 < 100; i++)
    rising += when[i] < when[i + 1];
  assert_in_range(rising, 10, 90);
  cf_pool_destroy(p);
}

static void many_short_runs(void **s) {
  (void)s;
  cf_pool *p;
  assert_int_equal(cf_pool_create(3, &p), CF_OK);
  memset(visits, 0, sizeof visits);
  for (int i = 0; i < 20000; i++) {
    cf_pool_run(p, 3, 0, visit, NULL);
    if (i % 5000 == 0)
      usleep(2000); // long enough for the workers to fall asleep
  }
  for (int i = 0; i < 3; i++)
    assert_int_equal(visits[i], 20000);
  cf_pool_destroy(p);
}

static void note_rounding(void *arg, int64_t block, int thread) {
  (void)thread;
  ((int *)arg)[block] = fegetround();
}

static void workers_round_as_the_caller(void **s) {
  (void)s;
  cf_pool *p;
  int modes[8];
  assert_int_equal(cf_pool_create(4, &p), CF_OK);
  static const int wanted[] = {FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
  for (int k = 0; k < 3; k++) {
    fesetround(wanted[k]);
    cf_pool_run(p, 8, 0, note_rounding, modes);
    for (int i = 0; i < 8; i++)
      assert_int_equal(modes[i], wanted[k]);
  }
  cf_pool_destroy(p);
}

static void child_of_fork_runs_inline(void **s) {
  (void)s;
  cf_pool *p;
  assert_int_equal(cf_pool_create(3, &p), CF_OK);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    memset(visits, 0, sizeof visits);
    cf_pool_run(p, 50, 0, visit, NULL);
    int wrong = 0;
    for (int i = 0; i < 50; i++)
      wrong += visits[i] != 1 || visitor[i] != 0;
    cf_pool_destroy(p);
    _exit(wrong != 0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  memset(visits, 0, sizeof visits);
  cf_pool_run(p, 50, 0, visit, NULL);
  for (int i = 0; i < 50; i++)
    assert_int_equal(visits[i], 1);
  cf_pool_destroy(p);
}

static void default_threads_share(void **s) {
  (void)s;
  int alone = cf_pool_default_threads(0, 1), sum = 0;
  assert_true(alone >= 1);
  for (int r = 0; r < 3; r++)
    sum += cf_pool_default_threads(r, 3);
  assert_int_equal(sum, alone > 3 ? alone : 3);
  assert_int_equal(cf_pool_default_threads(0, 1 << 20), 1);
}

static void bad_size_is_refused(void **s) {
  (void)s;
  cf_pool *p = NULL;
  assert_int_equal(cf_pool_create(0, &p), CF_EINVAL);
  assert_null(p);
  cf_pool_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_block_once),          cmocka_unit_test(shuffle_is_fixed_and_not_sorted),
      cmocka_unit_test(many_short_runs),           cmocka_unit_test(workers_round_as_the_caller),
      cmocka_unit_test(child_of_fork_runs_inline), cmocka_unit_test(default_threads_share),
      cmocka_unit_test(bad_size_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
