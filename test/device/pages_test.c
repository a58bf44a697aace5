// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Pages move from freed blocks into new ones; what is not theirs stays. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/device.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 8 << 20 };

static int released;
static void release(void *p, size_t n) {
  (void)n;
  released++;
  free(p);
}

static bool keep(cf_pages *p, char *block, size_t bytes, size_t limit) {
  return cf_pages_keep(p, &(cf_freed){block, bytes, bytes, release}, limit);
}

static char *new_block(int value) {
  char *p = malloc(BYTES);
  assert_non_null(p);
  if (value)
    memset(p, value, BYTES);
  return p;
}

static int count(const char *p, int value) {
  int n = 0;
  for (int i = 0; i < BYTES; i++)
    n += p[i] == value;
  return n;
}

static void freed(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  released = 0;
  char *a = new_block(1), *b = new_block(0), *around = new_block(3);
  assert_true(keep(p, a, BYTES, 4 * (size_t)BYTES));
  assert_false(keep(p, around, 100, BYTES)); /* too small to care */
  cf_pages_fill(p, b, BYTES);
  if (cf_pages_moved(p) == 0) { /* an old system */
    cf_pages_destroy(p);
    free(b);
    free(around);
    skip();
  }
  assert_true(count(b, 1) > BYTES / 2);
  memset(b, 2, BYTES);
  assert_int_equal(count(b, 2), BYTES);
  assert_int_equal(count(around, 3), BYTES);
  cf_pages_destroy(p);
  assert_int_equal(released, 1); /* and the block was still one for free */
  free(b);
  free(around);
}

static void age_and_limit(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  released = 0;
  assert_false(keep(p, NULL, BYTES, BYTES / 2));
  assert_true(keep(p, new_block(1), BYTES, BYTES));
  assert_true(keep(p, new_block(1), BYTES, BYTES));
  assert_int_equal(released, 1); /* the first went for the second */
  for (int i = 0; i < 20; i++)
    cf_pages_window(p);
  assert_int_equal(released, 2);
  cf_pages_destroy(p);
}

/* Two arrays of a block lend their pages; when the block goes, nothing points into it any more. */
static void lent(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  released = 0;
  char *block = malloc(2 * (size_t)BYTES), *b = new_block(0), *c = new_block(0);
  memset(block, 1, 2 * (size_t)BYTES);
  cf_pages_lend(p, block, BYTES);
  cf_pages_lend(p, block + BYTES, BYTES);
  cf_pages_fill(p, b, BYTES / 2);
  memset(b, 2, BYTES);
  cf_pages_keep_lent(p, &(cf_freed){block, 2 * (size_t)BYTES, 2 * (size_t)BYTES, release});
  for (int i = 0; i < 20; i++)
    cf_pages_window(p);
  assert_int_equal(released, 1);
  uint64_t moved = cf_pages_moved(p);
  cf_pages_fill(p, c, BYTES);
  assert_true(cf_pages_moved(p) == moved); /* there is nothing to take */
  /* Lent, used up, and then freed: at once. */
  char *d = new_block(4);
  cf_pages_lend(p, d, BYTES);
  cf_pages_fill(p, c, BYTES);
  for (int i = 0; i < 20; i++)
    cf_pages_window(p);
  cf_pages_keep_lent(p, &(cf_freed){d, BYTES, BYTES, release});
  assert_int_equal(released, 2);
  cf_pages_destroy(p);
  assert_int_equal(count(b, 2), BYTES);
  free(b);
  free(c);
}

/* A source of several mappings, as large pages and earlier moves leave them, and one that may not be moved.
 */
static void mappings(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  released = 0;
  char *a = new_block(1), *b = new_block(0), *c = new_block(5), *d = new_block(6);
  uintptr_t large = 2 << 20, middle = ((uintptr_t)a + BYTES / 2) / large * large;
  madvise((void *)middle, large, MADV_HUGEPAGE); /* takes the mapping apart */
  assert_true(keep(p, a, BYTES, BYTES));
  cf_pages_fill(p, b, BYTES);
  assert_true(count(b, 1) > BYTES / 2 || cf_pages_moved(p) == 0);
  memset(b, 2, BYTES);
  assert_int_equal(count(b, 2), BYTES);
  /* Part of the source is read only: nothing of it moves, and the target is as it was. */
  uintptr_t at = ((uintptr_t)c + BYTES / 2) / 4096 * 4096;
  assert_int_equal(mprotect((void *)at, 4096, PROT_READ), 0);
  assert_true(keep(p, c, BYTES, 2 * (size_t)BYTES));
  uint64_t moved = cf_pages_moved(p);
  cf_pages_fill(p, d, BYTES);
  assert_true(cf_pages_moved(p) == moved);
  assert_int_equal(count(d, 6), BYTES);
  mprotect((void *)at, 4096, PROT_READ | PROT_WRITE);
  cf_pages_destroy(p);
  assert_int_equal(released, 2);
  free(b);
  free(d);
}

/* No more than a limit is kept, and lent pages do not count. */
static void limit(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  released = 0;
  char *lent = new_block(1);
  cf_pages_lend(p, lent, BYTES);
  assert_true(keep(p, new_block(1), BYTES, 2 * (size_t)BYTES));
  assert_true(keep(p, new_block(1), BYTES, 2 * (size_t)BYTES));
  cf_pages_limit(p, BYTES);
  assert_int_equal(released, 1);
  cf_pages_limit(p, 0);
  assert_int_equal(released, 2);
  cf_pages_keep_lent(p, &(cf_freed){lent, BYTES, BYTES, release});
  cf_pages_destroy(p);
  assert_int_equal(released, 3);
}

/* Memory that others see, too, keeps its pages. */
static void shared(void **state) {
  (void)state;
  cf_pages *p = cf_pages_create();
  char name[] = "/tmp/cofuse-pages-XXXXXX";
  int f = mkstemp(name);
  assert_true(f >= 0 && ftruncate(f, BYTES) == 0);
  unlink(name);
  char *map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  assert_true(map != MAP_FAILED);
  assert_true(keep(p, new_block(1), BYTES, BYTES));
  cf_pages_fill(p, map, BYTES);
  assert_true(cf_pages_moved(p) == 0);
  map[5] = 7;
  char in_file = 0;
  assert_true(pread(f, &in_file, 1, 5) == 1 && in_file == 7);
  munmap(map, BYTES);
  close(f);
  cf_pages_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(freed),    cmocka_unit_test(age_and_limit),
                                     cmocka_unit_test(lent),     cmocka_unit_test(shared),
                                     cmocka_unit_test(mappings), cmocka_unit_test(limit)};
  return cmocka_run_group_tests_name("device-pages", tests, NULL, NULL);
}
