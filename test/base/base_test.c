// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void fail_keeps_message(void **s) {
  (void)s;
  assert_int_equal(cf_fail(CF_EIO, "cannot read %s", "x"), CF_EIO);
  assert_string_equal(cf_last_error(), "cannot read x");
  cf_fail(CF_EIO, "outer: %s", cf_last_error());
  assert_string_equal(cf_last_error(), "outer: cannot read x");
  assert_string_equal(cf_strerror(CF_OK), "success");
  assert_string_equal(cf_strerror((cf_status)-99), "unknown status");
}

static void buf_grows(void **s) {
  (void)s;
  cf_buf b = {0};
  for (int i = 0; i < 1000; i++)
    cf_buf_printf(&b, "%d,", i);
  cf_buf_str(&b, "end");
  cf_buf_put(&b, "\0z", 2);
  assert_false(b.failed);
  assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4 + 3 + 2);
  assert_int_equal(strlen(b.data), b.len - 2);
  assert_memory_equal(b.data, "0,1,2,", 6);
  size_t cap = b.cap;
  cf_buf_clear(&b);
  assert_int_equal(b.cap, cap);
  assert_string_equal(b.data, "");
  cf_buf_put(&b, "", SIZE_MAX);
  assert_true(b.failed);
  cf_buf_str(&b, "more");
  assert_int_equal(b.len, 0);
  cf_buf_free(&b);
  assert_null(b.data);
}

static void arena_aligns_zeroes_and_reuses(void **s) {
  (void)s;
  cf_arena a = {0};
  for (int round = 0; round < 3; round++) {
    for (size_t n = 0; n < 3000; n += 7) {
      unsigned char *p = cf_arena_alloc(&a, n);
      assert_non_null(p);
      assert_int_equal((uintptr_t)p % 16, 0);
      for (size_t i = 0; i < n; i++)
        assert_int_equal(p[i], 0);
      memset(p, 0xab, n);
    }
    cf_arena_reset(&a);
    assert_non_null(a.head);
  }
  assert_non_null(cf_arena_alloc(&a, (size_t)3 << 20));
  assert_null(cf_arena_alloc(&a, SIZE_MAX - 3));
  cf_arena_free(&a);
  assert_null(a.head);
}

static void count_values(void *val, void *arg) { *(long *)arg += *(int *)val; }

static void map_holds_many(void **s) {
  (void)s;
  enum { N = 5000 };
  cf_map m = {0};
  static int values[N];
  long sum = 0;
  assert_null(cf_map_get(&m, "x", 1));
  for (int i = 0; i < N; i++) {
    values[i] = i;
    assert_int_equal(cf_map_put(&m, &i, sizeof i, &values[i]), CF_OK);
  }
  assert_int_equal(m.count, N);
  for (int i = 0; i < N; i++)
    assert_ptr_equal(cf_map_get(&m, &i, sizeof i), &values[i]);
  int absent = N;
  assert_null(cf_map_get(&m, &absent, sizeof absent));
  cf_map_each(&m, count_values, &sum);
  assert_int_equal(sum, (long)N * (N - 1) / 2);
  int key = 3;
  assert_int_equal(cf_map_put(&m, &key, sizeof key, &values[9]), CF_OK);
  assert_int_equal(m.count, N);
  assert_ptr_equal(cf_map_get(&m, &key, sizeof key), &values[9]);
  assert_int_equal(cf_map_put(&m, NULL, 0, &values[1]), CF_OK);
  assert_ptr_equal(cf_map_get(&m, NULL, 0), &values[1]);
  cf_map_free(&m);
}

static void hash_is_stable(void **s) {
  (void)s;
  char hex[33];
  cf_hash128_hex("", 0, hex);
  assert_string_equal(hex, "99aa06d3014798d86001c324468d497f"); // published XXH3 128-bit hash of nothing
  assert_int_not_equal(cf_hash64("a", 1, 0), cf_hash64("a", 1, 1));
}

// Runs cf_options_read with name=value and gives its status.
static cf_status read_with(const char *name, const char *value, cf_options *o) {
  setenv(name, value, 1);
  cf_status st = cf_options_read(o);
  unsetenv(name);
  return st;
}

static void options_have_defaults(void **s) {
  (void)s;
  cf_options o;
  assert_int_equal(cf_options_read(&o), CF_OK);
  assert_int_equal(o.window, 0);
  assert_int_equal(o.threads, 0);
  assert_string_equal(o.device, "auto");
  assert_null(o.stats);
  assert_null(o.cache_dir);
  assert_int_equal(o.log, CF_LOG_WARN);
  assert_int_equal(o.defer_bytes, (size_t)1024 << 20);
  assert_int_equal(o.max_message, 0);
}

static void options_parse(void **s) {
  (void)s;
  cf_options o;
  assert_int_equal(read_with("COFUSE_WINDOW", "1", &o), CF_OK);
  assert_int_equal(o.window, 1);
  assert_int_equal(read_with("COFUSE_WINDOW", "", &o), CF_OK);
  assert_int_equal(o.window, 0);
  assert_int_equal(read_with("COFUSE_LOG", "debug", &o), CF_OK);
  assert_int_equal(o.log, CF_LOG_DEBUG);
  assert_int_equal(cf_log_level, CF_LOG_DEBUG);
  assert_int_equal(read_with("COFUSE_STDOUT", "all", &o), CF_OK);
  assert_true(o.stdout_all);
  assert_int_equal(read_with("COFUSE_TEST_ORDER", "shuffled", &o), CF_OK);
  assert_int_equal(o.order, 2);
  assert_int_equal(read_with("COFUSE_DEFER_MB", "0", &o), CF_OK);
  assert_int_equal(o.defer_bytes, 0);
  assert_int_equal(read_with("COFUSE_STATS", "out.json", &o), CF_OK);
  assert_string_equal(o.stats, "out.json"); // a copy: the variable is gone by now
}

static void options_refuse(void **s) {
  (void)s;
  static const char *const bad[][3] = {
      {"COFUSE_WINDOW", "abc", "COFUSE_WINDOW=abc: expected a whole number from 1 to 1024, or auto"},
      {"COFUSE_WINDOW", "0", "COFUSE_WINDOW=0: expected a whole number from 1 to 1024, or auto"},
      {"COFUSE_WINDOW", "1025", "COFUSE_WINDOW=1025: expected a whole number from 1 to 1024, or auto"},
      {"COFUSE_WINDOW", " 4", "COFUSE_WINDOW= 4: expected a whole number from 1 to 1024, or auto"},
      {"COFUSE_THREADS", "2x", "COFUSE_THREADS=2x: expected a whole number from 1 to 4096, or auto"},
      {"COFUSE_THREADS", "99999999999999999999",
       "COFUSE_THREADS=99999999999999999999: expected a whole number from 1 to 4096, or auto"},
      {"COFUSE_DISABLE", "yes", "COFUSE_DISABLE=yes: expected 0 or 1"},
      {"COFUSE_DEVICE", "tpu", "COFUSE_DEVICE=tpu: expected one of auto,cpu,cuda,emu"},
      {"COFUSE_STDOUT", "1", "COFUSE_STDOUT=1: expected all"},
      {"COFUSE_LOG", "loud", "COFUSE_LOG=loud: expected one of off,error,warn,info,debug"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    cf_options o = {.window = 77};
    assert_int_equal(read_with(bad[i][0], bad[i][1], &o), CF_EINVAL);
    assert_string_equal(cf_last_error(), bad[i][2]);
    assert_int_equal(o.window, 77); // untouched on failure
  }
}

// Text that fn(arg) writes to stderr.
static char *stderr_of(void (*fn)(void)) {
  static char text[4096];
  fflush(stderr);
  FILE *f = tmpfile();
  assert_non_null(f);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(f), STDERR_FILENO);
  fn();
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

static void read_misspelt(void) {
  cf_options o;
  assert_int_equal(read_with("COFUSE_WINDWO", "1", &o), CF_OK);
  assert_int_equal(read_with("COFUSE_SOMETHING_ELSE", "1", &o), CF_OK);
  cf_log_rank = 1;
  assert_int_equal(read_with("COFUSE_THIRD", "1", &o), CF_OK);
  cf_log_rank = -1;
}

static void options_warn_of_unknown(void **s) {
  (void)s;
  const char *text = stderr_of(read_misspelt);
  assert_non_null(strstr(text, "COFUSE_WINDWO is not known to this version and is ignored; "
                               "did you mean COFUSE_WINDOW?\n"));
  assert_non_null(strstr(text, "COFUSE_SOMETHING_ELSE is not known to this version and is ignored\n"));
  assert_null(strstr(text, "COFUSE_THIRD")); // rank 0 says it
}

static void log_some(void) {
  cf_log_level = CF_LOG_WARN;
  cf_log(CF_LOG_INFO, "hidden");
  cf_log_rank = 3;
  cf_log(CF_LOG_ERROR, "%d things", 2);
  cf_log_rank = -1;
  cf_log(CF_LOG_WARN, "%05000d", 1);
}

static void log_has_rank_and_level(void **s) {
  (void)s;
  const char *text = stderr_of(log_some);
  assert_memory_equal(text, "cofuse[3]: error: 2 things\ncofuse: warning: 000", 47);
}

static void options_print_lists_all(void **s) {
  (void)s;
  static char text[8192];
  cf_options o;
  assert_int_equal(read_with("COFUSE_WINDOW", "7", &o), CF_OK);
  FILE *f = fmemopen(text, sizeof text, "w");
  cf_options_print(&o, f);
  fclose(f);
  assert_non_null(strstr(text, "COFUSE_WINDOW            7                    auto "));
  assert_non_null(strstr(text, "COFUSE_TIMEOUT           300                  300 "));
  assert_non_null(strstr(text, "COFUSE_CACHE_DIR "));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fail_keeps_message),
      cmocka_unit_test(buf_grows),
      cmocka_unit_test(arena_aligns_zeroes_and_reuses),
      cmocka_unit_test(map_holds_many),
      cmocka_unit_test(hash_is_stable),
      cmocka_unit_test(options_have_defaults),
      cmocka_unit_test(options_parse),
      cmocka_unit_test(options_refuse),
      cmocka_unit_test(options_warn_of_unknown),
      cmocka_unit_test(log_has_rank_and_level),
      cmocka_unit_test(options_print_lists_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
