// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The cache on disk and the sharing between ranks. Whether LLVM gets loaded can only be seen from a fresh
 * process, so the program runs itself: `codegen-cache child <folder> <mode>` prints what happened. */
#define _GNU_SOURCE
#include "kit.h"

#include "codegen/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the kernel of all these tests: y[i] = exp(x[i]) */

static void kernel_text(cf_buf *text) {
  static const cofuse_access acc[] = {ACC(F64), ACC(F64)};
  static const char body[] =
      "%x = cf.load 0 : f64\n%e = llvm.call @exp(%x) : (f64) -> f64\ncf.store %e, 1 : f64\n";
  cofuse_forall d = FORALL(1, body, .naccess = 2, .access = acc, .decls = "llvm.func @exp(f64) -> f64\n");
  cf_cg_access a[] = {MEM(0, LIT(8)), MEM(1, LIT(8))};
  cf_cg_task t = {.desc = &d, .access = a};
  cf_cg_nest n = {1, 1, &t, 0, NULL};
  cf_cg_unit u = {.nnests = 1, .nests = &n, .nbases = 2, .nints = 0};
  if (cf_cg_assemble(&u, text) != CF_OK)
    abort();
}

static int kernel_right(const cf_kernel *k) {
  double x[5] = {0}, y[5] = {0};
  void *bases[] = {x, y};
  int64_t lo[] = {0}, hi[] = {5};
  k->fn[0](bases, NULL, NULL, lo, hi, NULL);
  for (int i = 0; i < 5; i++)
    if (y[i] != 1.0)
      return 0;
  return 1;
}

static int llvm_loaded(void) {
  FILE *f = fopen("/proc/self/maps", "r");
  char line[4096];
  int found = 0;
  while (f && fgets(line, sizeof line, f))
    found |= strstr(line, "libLLVM") || strstr(line, "libMLIR");
  if (f)
    fclose(f);
  return found;
}

/* ---- child */

static char *wire;
static size_t wire_len;
static int other_cpu;

/* Rank 0 runs first and leaves its message here for rank 1. */
static cf_status share(void *arg, void **buf, size_t *len) {
  if (*(int *)arg == 0) {
    wire = malloc(*len);
    wire_len = *len;
    memcpy(wire, *buf, *len);
    if (other_cpu)
      wire[8] ^= 1;
    return CF_OK;
  }
  *buf = wire;
  *len = wire_len;
  wire = NULL;
  return CF_OK;
}

static cf_codegen *make(const char *dir, int rank, int size, int *arg) {
  cf_options opt;
  cf_codegen *cg = NULL;
  if (cf_options_read(&opt) != CF_OK)
    abort();
  opt.cache_dir = dir;
  if (cf_codegen_create(&opt, rank, size, size > 1 ? share : NULL, arg, &cg) != CF_OK)
    fprintf(stderr, "%s\n", cf_last_error());
  return cg;
}

static int child(const char *dir, const char *mode) {
  static int ranks[2] = {0, 1};
  if (strcmp(mode, "nobody") == 0 && geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
    return 2;
  int size = strncmp(mode, "share", 5) == 0 ? 2 : 1, right = 1;
  other_cpu = strcmp(mode, "share-other-cpu") == 0;
  cf_buf text = {0};
  kernel_text(&text);
  if (strcmp(mode, "share-bad") == 0)
    cf_buf_str(&text, "garbage");
  cf_codegen *cg[2] = {0};
  const cf_codegen_stats *s = NULL;
  for (int r = 0; r < size; r++) {
    const cf_kernel *k = NULL;
    if (!(cg[r] = make(dir, r, size, &ranks[r])))
      return 3;
    cf_status st = cf_kernel_get(cg[r], text.data, text.len, 1, "cache", &k);
    if (strcmp(mode, "share-bad") == 0)
      right &= st == CF_EJIT && (strstr(cf_last_error(), "on rank 0:") != NULL) == (r == 1);
    else
      right &= st == CF_OK && kernel_right(k);
    if (st != CF_OK && strcmp(mode, "share-bad") != 0)
      fprintf(stderr, "%s\n", cf_last_error());
    s = cf_codegen_get_stats(cg[r]);
    if (r == 1)
      right &= s->compiled == 0 && s->hits_disk == 0;
  }
  s = cf_codegen_get_stats(cg[0]);
  printf("right %d compiled %d disk %d llvm %d\n", right, (int)s->compiled, (int)s->hits_disk, llvm_loaded());
  fflush(stdout);
  if (strcmp(mode, "crash") == 0)
    _exit(0);
  for (int r = 0; r < size; r++)
    cf_codegen_destroy(cg[r]);
  cf_buf_free(&text);
  return 0;
}

/* ---- parent */

static const char *self;
static char root[64];

/* Starts a child; stdout of it in *out, stderr in <root>/err. */
static FILE *start(const char *dir, const char *mode) {
  cf_buf cmd = {0};
  cf_buf_printf(&cmd, "exec '%s' child '%s' %s 2>'%s/err'", self, dir, mode, root);
  FILE *p = popen(cmd.data, "r");
  cf_buf_free(&cmd);
  assert_non_null(p);
  return p;
}

static void expect(FILE *p, const char *want) {
  char line[200] = "";
  if (!fgets(line, sizeof line, p))
    line[0] = 0;
  int status = pclose(p);
  line[strcspn(line, "\n")] = 0;
  assert_string_equal(line, want);
  assert_int_equal(status, 0);
}

static void run(const char *dir, const char *mode, const char *want) { expect(start(dir, mode), want); }

static int warnings(void) {
  char path[100], line[4096];
  snprintf(path, sizeof path, "%s/err", root);
  FILE *f = fopen(path, "r");
  int n = 0;
  while (f && fgets(line, sizeof line, f))
    n += strstr(line, "warn") != NULL;
  if (f)
    fclose(f);
  return n;
}

/* Number of files that end so; the last one's path. */
static int files(const char *dir, const char *end, char *path) {
  DIR *d = opendir(dir);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    size_t a = strlen(e->d_name), b = strlen(end);
    if (e->d_name[0] == '.' || a < b || strcmp(e->d_name + a - b, end) != 0)
      continue;
    n++;
    if (path)
      snprintf(path, 400, "%s/%s", dir, e->d_name);
  }
  if (d)
    closedir(d);
  return n;
}

static const char *fresh(char *dir, const char *name) {
  snprintf(dir, 100, "%s/%s", root, name);
  return dir;
}

static char *slurp(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *buf = malloc(1 << 20);
  *n = fread(buf, 1, 1 << 20, f);
  fclose(f);
  return buf;
}

static void spill(const char *path, const char *p, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(p, 1, n, f), n);
  fclose(f);
  chmod(path, 0600);
}

static const char COLD[] = "right 1 compiled 1 disk 0 llvm 1";
static const char WARM[] = "right 1 compiled 0 disk 1 llvm 0";
static const char WARM_OBJECT[] = "right 1 compiled 0 disk 1 llvm 1";

static void cold_and_warm(void **state) {
  (void)state;
  char dir[100], so[400];
  fresh(dir, "deep/er/folder");
  run(dir, "plain", COLD);
  assert_int_equal(warnings(), 0);
  assert_int_equal(files(dir, "", NULL), 1);
  assert_int_equal(files(dir, ".so", so), 1);
  run(dir, "plain", WARM);
  assert_int_equal(warnings(), 0);
  run("off", "plain", COLD);
  setenv("XDG_CACHE_HOME", root, 1);
  run("", "plain", COLD);
  run("", "plain", WARM);
  unsetenv("XDG_CACHE_HOME");
}

static void bad_entries(void **state) {
  (void)state;
  char dir[100], so[400], link[500];
  size_t n;
  fresh(dir, "bad");
  run(dir, "plain", COLD);
  assert_int_equal(files(dir, ".so", so), 1);
  char *good = slurp(so, &n);
  cf_buf text = {0};
  kernel_text(&text);
  cf_cache *c = NULL;
  cf_code code = {0};
  char jit[400];
  snprintf(jit, sizeof jit, "%s", COFUSE_JIT_PATH);
  assert_int_equal(cf_cache_open(dir, jit, &c), CF_OK);
  assert_true(cf_cache_get(c, text.data, text.len, &code));
  assert_int_equal(code.kind, CF_CODE_SHARED);
  free(code.data);
  int level = cf_log_level;
  cf_log_level = CF_LOG_OFF;
  for (size_t at = 0; at < n; at += at + 700 < n ? 13 : 1) {
    good[at] ^= 4;
    spill(so, good, n);
    good[at] ^= 4;
    if (cf_cache_get(c, text.data, text.len, &code))
      fail_msg("byte %zu of %zu changed and the entry is taken", at, n);
  }
  for (size_t len = 0; len < n; len += len + 300 < n ? 101 : 1) {
    spill(so, good, len);
    if (cf_cache_get(c, text.data, text.len, &code))
      fail_msg("cut to %zu of %zu bytes and the entry is taken", len, n);
  }
  cf_log_level = level;
  cf_cache_close(c);
  cf_buf_free(&text);
  /* a whole run: one warning, compiled again, replaced */
  spill(so, good, n / 2);
  run(dir, "plain", COLD);
  assert_int_equal(warnings(), 1);
  run(dir, "plain", WARM);
  assert_int_equal(warnings(), 0);
  /* others could have written it */
  chmod(so, 0666);
  run(dir, "plain", COLD);
  assert_int_equal(warnings(), 1);
  run(dir, "plain", WARM);
  if (geteuid() == 0) {
    assert_int_equal(chown(so, 12345, 0), 0);
    run(dir, "plain", COLD);
    assert_int_equal(warnings(), 1);
    run(dir, "plain", WARM);
  }
  /* not followed */
  snprintf(link, sizeof link, "%s.elsewhere", so);
  assert_int_equal(rename(so, link), 0);
  assert_int_equal(symlink(link, so), 0);
  run(dir, "plain", COLD);
  assert_int_equal(warnings(), 1);
  run(dir, "plain", WARM);
  free(good);
}

static void unusable_folder(void **state) {
  (void)state;
  char dir[100], err[100];
  size_t n;
  run("/dev/null/cache", "plain", COLD);
  assert_int_equal(warnings(), 1);
  snprintf(err, sizeof err, "%s/err", root);
  char *text = slurp(err, &n);
  text[n] = 0;
  assert_non_null(strstr(text, "/dev/null/cache"));
  assert_non_null(strstr(text, "COFUSE_CACHE_DIR"));
  free(text);
  fresh(dir, "closed");
  assert_int_equal(mkdir(dir, 0700), 0);
  chmod(dir, 0);
  run(dir, "nobody", COLD);
  assert_int_equal(warnings(), 1);
  chmod(dir, 0555);
  run(dir, "nobody", COLD);
  assert_int_equal(warnings(), 1);
  assert_int_equal(files(dir, "", NULL), 0);
}

static void crash_leaves_object(void **state) {
  (void)state;
  char dir[100];
  fresh(dir, "crash");
  run(dir, "crash", COLD);
  assert_int_equal(files(dir, ".o", NULL), 1);
  run(dir, "plain", WARM_OBJECT);
  assert_int_equal(files(dir, ".o", NULL), 0);
  run(dir, "plain", WARM);
}

static void at_once(void **state) {
  (void)state;
  enum { COUNT = 4 };
  char dir[100];
  fresh(dir, "race");
  FILE *p[COUNT];
  for (int i = 0; i < COUNT; i++)
    p[i] = start(dir, "plain");
  for (int i = 0; i < COUNT; i++) {
    char line[200] = "";
    assert_non_null(fgets(line, sizeof line, p[i]));
    assert_int_equal(pclose(p[i]), 0);
    assert_non_null(strstr(line, "right 1"));
  }
  assert_int_equal(files(dir, "", NULL), 1);
  run(dir, "plain", WARM);
}

static void shared_by_ranks(void **state) {
  (void)state;
  char dir[100];
  fresh(dir, "share");
  run(dir, "share", COLD);
  run(dir, "share", WARM);
  run("off", "share", COLD);
  run("off", "share-bad", "right 1 compiled 0 disk 0 llvm 1");
  run("off", "share-other-cpu", COLD);
  run(dir, "share-other-cpu", WARM_OBJECT);
}

/* Many kernels: more links than run at once, each finished by destroy. */
static void many(void **state) {
  (void)state;
  enum { COUNT = 7 };
  char dir[100];
  fresh(dir, "many");
  for (int round = 0; round < 2; round++) {
    cf_codegen *cg = make(dir, 0, 1, NULL);
    for (int i = 0; i < COUNT; i++) {
      cf_buf text = {0};
      const cf_kernel *k;
      kernel_text(&text);
      cf_buf_printf(&text, "// %d\n", i);
      if (cf_kernel_get(cg, text.data, text.len, 1, "many", &k) != CF_OK)
        fail_msg("%s", cf_last_error());
      assert_true(kernel_right(k));
      cf_buf_free(&text);
    }
    assert_int_equal(cf_codegen_get_stats(cg)->compiled, round ? 0 : COUNT);
    cf_codegen_destroy(cg);
    assert_int_equal(files(dir, ".so", NULL), COUNT);
    assert_int_equal(files(dir, "", NULL), COUNT);
  }
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "child") == 0)
    return child(argv[2], argv[3]);
  static char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0)
    return 1;
  self = path;
  strcpy(root, "/tmp/cofuse-cache-XXXXXX");
  if (!mkdtemp(root))
    return 1;
  chmod(root, 0777);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cold_and_warm),
      cmocka_unit_test(bad_entries),
      cmocka_unit_test(unusable_folder),
      cmocka_unit_test(crash_leaves_object),
      cmocka_unit_test(at_once),
      cmocka_unit_test(shared_by_ranks),
      cmocka_unit_test(many),

  };
  int failed = cmocka_run_group_tests_name("codegen-cache", tests, NULL, NULL);
  cf_buf cmd = {0};
  cf_buf_printf(&cmd, "rm -rf '%s'", root);
  if (system(cmd.data) != 0)
    failed = 1;
  cf_buf_free(&cmd);
  return failed;
}
