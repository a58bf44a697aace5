// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What every device with a memory of its own must do. COFUSE_TEST_DEVICES: their names, by default emu. The
 * device cuda runs here on fake_cuda.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const all[] = {"emu", "cuda"};

static bool wanted(const char *name) {
  const char *list = getenv("COFUSE_TEST_DEVICES");
  return strstr(list ? list : "emu", name) != NULL;
}

static cf_device *open_device(const char *name, size_t memory) {
  cf_device *d = NULL;
  cf_device_options o = {.local_rank = 3, .no_module = true, .memory = memory};
  cf_status st = cf_device_open(name, &o, &d);
  if (st != CF_OK)
    print_message("%s\n", cf_last_error());
  assert_int_equal(st, CF_OK);
  assert_string_equal(d->name, name);
  assert_true(d->block_threads > 0 && d->most_blocks > 0 && d->target[0]);
  return d;
}

#define EACH_DEVICE(d)                                                                                       \
  for (size_t k_ = 0; k_ < 2; k_++)                                                                          \
    for (cf_device *d = wanted(all[k_]) ? open_device(all[k_], 0) : NULL; d; d->ops->close(d), d = NULL)

static unsigned char pattern(size_t i) { return (unsigned char)(i * 131 + (i >> 8) * 7 + (i >> 16)); }

static char *host(size_t n, size_t shift) {
  char *p = malloc(n ? n : 1);
  assert_non_null(p);
  for (size_t i = 0; i < n; i++)
    p[i] = (char)pattern(i + shift);
  return p;
}

static cf_device_copy run(size_t n) { return (cf_device_copy){1, n, n, n}; }

/* Up to sizes that go in several pieces. What was written may change at once. */
static void test_copies(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 7, 4096, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (21 << 20) + 5};
  EACH_DEVICE(d) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      size_t n = sizes[s];
      char *a = host(n, s), *b = malloc(n);
      void *mem;
      cf_device_copy c = run(n);
      assert_int_equal(d->ops->alloc(d, n, &mem), CF_OK);
      assert_int_equal(d->ops->write(d, mem, a, &c), CF_OK);
      memset(a, 0, n);
      assert_int_equal(d->ops->read(d, b, mem, &c), CF_OK);
      for (size_t i = 0; i < n; i++)
        if ((unsigned char)b[i] != pattern(i + s))
          fail_msg("%s: byte %zu of %zu", d->name, i, n);
      d->ops->release(d, mem);
      free(a);
      free(b);
    }
  }
}

/* Rows with gaps on either side; bytes between them stay. */
static void test_rows(void **state) {
  (void)state;
  static const cf_device_copy copies[] = {{5, 3, 8, 16},
                                          {1000, 8, 24, 8},
                                          {1000, 8, 8, 24},
                                          {700, 4096, 8192, 4096},
                                          {3, 5 << 20, 6 << 20, 5 << 20},
                                          {0, 8, 8, 8},
                                          {4, 0, 8, 8}};
  EACH_DEVICE(d) {
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
      cf_device_copy c = copies[k];
      size_t to = (c.runs + 1) * c.to_pitch, from = (c.runs + 1) * c.from_pitch;
      char *a = host(from, k), *b = malloc(to), *e = malloc(from);
      void *mem;
      assert_int_equal(d->ops->alloc(d, to, &mem), CF_OK);
      assert_int_equal(d->ops->fill(d, mem, 0x33, to), CF_OK);
      assert_int_equal(d->ops->write(d, mem, a, &c), CF_OK);
      cf_device_copy whole = run(to), back = {c.runs, c.bytes, c.from_pitch, c.to_pitch};
      assert_int_equal(d->ops->read(d, b, mem, &whole), CF_OK);
      memset(e, 0x44, from);
      assert_int_equal(d->ops->read(d, e, mem, &back), CF_OK);
      for (size_t i = 0; i < to; i++) {
        size_t r = i / c.to_pitch, x = i % c.to_pitch;
        bool in = r < c.runs && x < c.bytes;
        if ((unsigned char)b[i] != (in ? pattern(r * c.from_pitch + x + k) : 0x33))
          fail_msg("%s: copy %zu: byte %zu on the device", d->name, k, i);
      }
      for (size_t i = 0; i < from; i++) {
        size_t r = i / c.from_pitch, x = i % c.from_pitch;
        bool in = r < c.runs && x < c.bytes;
        if ((unsigned char)e[i] != (in ? pattern(i + k) : 0x44))
          fail_msg("%s: copy %zu: byte %zu on the host", d->name, k, i);
      }
      d->ops->release(d, mem);
      free(a);
      free(b);
      free(e);
    }
  }
}

/* So many small writes that what takes them up is used again, from a buffer that changes at once; some are
 * read in between. */
static void test_small(void **state) {
  (void)state;
  enum { N = 5000, WRITES = 5000 };
  EACH_DEVICE(d) {
    char *mem = NULL, a[N], b[N];
    void *p;
    assert_int_equal(d->ops->alloc(d, (size_t)N * WRITES, &p), CF_OK);
    mem = p;
    for (int w = 0; w < WRITES; w++) {
      size_t n = (size_t)(w % 7 == 0 ? N : 1 + w % 200);
      for (size_t i = 0; i < n; i++)
        a[i] = (char)pattern(i + (size_t)w);
      cf_device_copy c = run(n);
      assert_int_equal(d->ops->write(d, mem + (size_t)w * N, a, &c), CF_OK);
      memset(a, 0x77, sizeof a);
      if (w % 50 && w != WRITES - 1)
        continue;
      for (int v = w % 50 ? 0 : w; v <= w; v += 13) {
        n = (size_t)(v % 7 == 0 ? N : 1 + v % 200);
        c = run(n);
        assert_int_equal(d->ops->read(d, b, mem + (size_t)v * N, &c), CF_OK);
        for (size_t i = 0; i < n; i++)
          if ((unsigned char)b[i] != pattern(i + (size_t)v))
            fail_msg("%s: write %d of %d, byte %zu", d->name, v, w, i);
      }
    }
    d->ops->release(d, mem);
  }
}

/* data[i] = 2 * data[i] + i for the points of the box, in steps of the grid along x; y and z add nothing. */
static void twice(const void *args, const cf_device_box *box, void *partials) {
  double *data = *(double *const *)args, *count = partials;
  int64_t step = (int64_t)box->ids[3] * box->ids[9];
  if (box->ids[1] || box->ids[2] || box->ids[7] || box->ids[8])
    return;
  for (int64_t i = box->lo[0] + (int64_t)box->ids[6] * box->ids[3] + box->ids[0]; i < box->hi[0]; i += step) {
    data[i] = 2 * data[i] + (double)i;
    *count += 1;
  }
}

/* In the order of the calls: writes, launches, copies on the device, reads. */
static void test_launch(void **state) {
  (void)state;
  enum { N = 1000, TURNS = 5 };
  EACH_DEVICE(d) {
    fake_image image = {.magic = FAKE_MAGIC, .name = "cofuse_k0_test", .fn = twice};
    void (*entry)(void) = (void (*)(void))twice;
    cf_device_code *code;
    assert_int_equal(d->ops->load(d, &image, sizeof image, &entry, "test", 1, &code), CF_OK);
    double a[N], b[N], want[N], n;
    void *mem, *other, *args, *count;
    cf_device_copy c = run(sizeof a), one = run(sizeof mem), num = run(sizeof n);
    assert_int_equal(d->ops->alloc(d, sizeof a, &mem), CF_OK);
    assert_int_equal(d->ops->alloc(d, sizeof a, &other), CF_OK);
    assert_int_equal(d->ops->alloc(d, 64, &args), CF_OK);
    assert_int_equal(d->ops->alloc(d, 64, &count), CF_OK);
    assert_int_equal(d->ops->fill(d, count, 0, 64), CF_OK);
    for (int i = 0; i < N; i++)
      want[i] = a[i] = 0.5 * i;
    assert_int_equal(d->ops->write(d, mem, a, &c), CF_OK);
    assert_int_equal(d->ops->write(d, args, &mem, &one), CF_OK);
    for (int t = 0; t < TURNS; t++) {
      cf_device_launch l = {.code = code,
                            .args = args,
                            .partials = count,
                            .grid = {{1 + (uint32_t)t, 2, 1}, {d->block_threads / 2, 1, 2}},
                            .box = {.lo = {t}, .hi = {N - 2 * t}}};
      assert_int_equal(d->ops->run(d, &l, 1, NULL), CF_OK);
      memset(&l, 0xee, sizeof l); /* it was passed by value */
      for (int i = t; i < N - 2 * t; i++)
        want[i] = 2 * want[i] + i;
    }
    assert_int_equal(d->ops->copy(d, other, mem, sizeof a), CF_OK);
    assert_int_equal(d->ops->fill(d, mem, 0, sizeof a), CF_OK);
    assert_int_equal(d->ops->read(d, b, other, &c), CF_OK);
    assert_int_equal(d->ops->read(d, &n, count, &num), CF_OK);
    assert_memory_equal(b, want, sizeof b);
    assert_true(n == 5 * N - 3 * (0 + 1 + 2 + 3 + 4));
    assert_int_equal(d->ops->sync(d), CF_OK);
    d->ops->release(d, mem);
    d->ops->release(d, other);
    d->ops->release(d, args);
    d->ops->release(d, count);
    cf_device_launch none = {.code = code, .k = 7, .grid = {{1, 1, 1}, {1, 1, 1}}};
    assert_int_equal(d->ops->run(d, &none, 1, NULL), CF_EINTERNAL);
    d->ops->unload(d, code);
  }
}

/* Sequences that come again, with other arguments at the same place, among others: each as it was asked for,
 * however the device runs it. */
static void test_replays(void **state) {
  (void)state;
  enum { N = 300, LAUNCHES = 4, TURNS = 40 };
  EACH_DEVICE(d) {
    fake_image image = {.magic = FAKE_MAGIC, .name = "cofuse_k0_test", .fn = twice};
    void (*entry)(void) = (void (*)(void))twice;
    cf_device_code *code;
    assert_int_equal(d->ops->load(d, &image, sizeof image, &entry, "test", 1, &code), CF_OK);
    double want[2][N], got[N];
    void *mem[2], *args, *count;
    cf_device_copy c = run(sizeof got), one = run(sizeof args);
    assert_int_equal(d->ops->alloc(d, 64, &args), CF_OK);
    assert_int_equal(d->ops->alloc(d, 64, &count), CF_OK);
    for (int m = 0; m < 2; m++) {
      for (int i = 0; i < N; i++)
        want[m][i] = m + i;
      assert_int_equal(d->ops->alloc(d, sizeof got, &mem[m]), CF_OK);
      assert_int_equal(d->ops->write(d, mem[m], want[m], &c), CF_OK);
    }
    cf_device_replay *replay[2] = {NULL, NULL};
    for (int t = 0; t < TURNS; t++) {
      int m = t % 2, other = t % 11 == 10, n = t % 13 == 12 ? 2 : LAUNCHES;
      assert_int_equal(d->ops->write(d, args, &mem[m], &one), CF_OK);
      cf_device_launch l[LAUNCHES];
      memset(l, 0, sizeof l);
      for (int k = 0; k < n; k++) {
        l[k].code = code;
        l[k].args = args;
        l[k].partials = count;
        l[k].grid = (cf_device_grid){{2, 1, 1}, {d->block_threads, 1, 1}};
        l[k].level = (uint32_t)(3 * k); /* each needs the one before */
        l[k].box.lo[0] = k;
        l[k].box.hi[0] = N - 7 * k - other;
        for (int i = k; i < N - 7 * k - other; i++)
          want[m][i] = 2 * want[m][i] + i;
      }
      assert_int_equal(d->ops->run(d, l, (uint32_t)n, &replay[t % 3 == 0]), CF_OK);
      memset(l, 0xee, sizeof l);
      assert_int_equal(d->ops->read(d, got, mem[m], &c), CF_OK);
      for (int i = 0; i < N; i++)
        if (got[i] != want[m][i])
          fail_msg("%s: turn %d: element %d is %g, not %g", d->name, t, i, got[i], want[m][i]);
    }
    const char *graphs = getenv("FAKE_CUDA_GRAPHS");
    bool expected = strcmp(d->name, "cuda") == 0 && !(graphs && !atoi(graphs));
    assert_true(expected ? d->replays >= 10 && d->replays < TURNS : d->replays == 0);
    d->ops->forget(d, replay[0]); /* the other one is left to close */
    for (int m = 0; m < 2; m++)
      d->ops->release(d, mem[m]);
    d->ops->release(d, args);
    d->ops->release(d, count);
    d->ops->unload(d, code);
  }
}

/* Memory that ends, and comes back. */
static void test_memory(void **state) {
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    if (!wanted(all[k]))
      continue;
    cf_device *d = open_device(all[k], 64 << 20);
    size_t some, whole;
    assert_int_equal(d->ops->memory(d, &some, &whole), CF_OK);
    assert_true(some == whole && whole == 64 << 20);
    void *p[3];
    assert_int_equal(d->ops->alloc(d, 40 << 20, &p[0]), CF_OK);
    assert_int_equal(d->ops->alloc(d, 20 << 20, &p[1]), CF_OK);
    assert_int_equal(d->ops->alloc(d, 20 << 20, &p[2]), CF_ENOMEM);
    assert_int_equal(d->ops->memory(d, &some, &whole), CF_OK);
    assert_true(some == 4 << 20);
    d->ops->release(d, p[0]);
    assert_int_equal(d->ops->alloc(d, 20 << 20, &p[2]), CF_OK);
    d->ops->release(d, p[1]);
    d->ops->release(d, p[2]);
    d->ops->close(d);
  }
}

/* Copies that leave the memory of the emulated device are errors; so is a kernel that no driver takes. */
static void test_errors(void **state) {
  (void)state;
  cf_device *d = NULL;
  cf_device_options o = {.no_module = true};
  assert_int_equal(cf_device_open("abacus", &o, &d), CF_EINVAL);
  if (wanted("emu")) {
    d = open_device("emu", 0);
    char a[64] = {0};
    void *mem;
    assert_int_equal(d->ops->alloc(d, 64, &mem), CF_OK);
    cf_device_copy c = run(65), rows = {3, 8, 32, 8};
    assert_int_equal(d->ops->write(d, mem, a, &c), CF_EINTERNAL);
    assert_int_equal(d->ops->write(d, mem, a, &rows), CF_EINTERNAL);
    assert_int_equal(d->ops->fill(d, (char *)mem - 1, 0, 1), CF_EINTERNAL);
    assert_int_equal(d->ops->copy(d, mem, a, 8), CF_EINTERNAL);
    d->ops->release(d, mem);
    assert_int_equal(d->ops->fill(d, mem, 0, 1), CF_EINTERNAL);
    d->ops->close(d);
  }
  if (!wanted("cuda"))
    return;
  d = open_device("cuda", 0);
  cf_device_code *code;
  assert_int_equal(d->ops->load(d, "//", 2, NULL, "bad", 1, &code), CF_EINTERNAL);
  assert_non_null(strstr(cf_last_error(), "no fake kernel"));
  fake_image image = {.magic = FAKE_MAGIC, .name = "cofuse_k0_test", .fn = twice};
  assert_int_equal(d->ops->load(d, &image, sizeof image, NULL, "test", 2, &code), CF_EINTERNAL);
  assert_non_null(strstr(cf_last_error(), "cofuse_k1_test"));
  d->ops->close(d);
  setenv("FAKE_CUDA_NONE", "1", 1);
  assert_int_equal(cf_device_open("cuda", &o, &d), CF_EINVAL);
  assert_non_null(strstr(cf_last_error(), "CUDA_VISIBLE_DEVICES"));
  unsetenv("FAKE_CUDA_NONE");
  setenv("FAKE_CUDA_MAJOR", "7", 1);
  assert_int_equal(cf_device_open("cuda", &o, &d), CF_EINVAL);
  assert_non_null(strstr(cf_last_error(), "compute capability 7.0"));
  unsetenv("FAKE_CUDA_MAJOR");
  setenv("FAKE_CUDA_VERSION", "11020", 1);
  assert_int_equal(cf_device_open("cuda", &o, &d), CF_EINVAL);
  assert_non_null(strstr(cf_last_error(), "CUDA 11.2"));
  unsetenv("FAKE_CUDA_VERSION");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies),  cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_launch),  cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_replays), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
