// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The assembly of the shapes that matter: full-width vectors, no FMA that nobody asked for. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/cofuse-vector-XXXXXX";
static cf_codegen *codegen;

static int cpu_has(const char *flag) {
  FILE *f = fopen("/proc/cpuinfo", "r");
  static char line[1 << 16];
  int found = 0;
  while (f && !found && fgets(line, sizeof line, f))
    found = strncmp(line, "flags", 5) == 0 && strstr(line, flag);
  if (f)
    fclose(f);
  return found;
}

/* Compiles a nest and checks its assembly; removes the dump. */
static void check(uint32_t ndims, uint32_t ntasks, const cf_cg_task *t, uint32_t nlocals,
                  const uint8_t *types, uint32_t nints) {
  const char *width = cpu_has("avx512f") ? "zmm" : cpu_has("avx2") ? "ymm" : NULL;
  if (!width)
    skip();
  cf_cg_nest n = {ndims, ntasks, t, nlocals, types};
  cf_cg_unit u = {.nnests = 1, .nests = &n, .nbases = 8, .nints = nints};
  cf_buf text = {0};
  const cf_kernel *k;
  assert_int_equal(cf_cg_assemble(&u, &text), CF_OK);
  if (cf_kernel_get(codegen, text.data, text.len, 1, "vector", &k) != CF_OK)
    fail_msg("%s", cf_last_error());
  static const char *const suffixes[] = {"mlir", "ll", "s"};
  for (int i = 0; i < 3; i++) {
    char path[200], line[400];
    int mul = 0, add = 0, fma = 0, named = 0;
    snprintf(path, sizeof path, "%s/%s.%s", dir, k->id, suffixes[i]);
    FILE *f = fopen(path, "r");
    if (!f)
      fail_msg("no %s", path);
    while (fgets(line, sizeof line, f)) {
      named |= strstr(line, "vector") != NULL;
      mul |= strstr(line, "vmulpd") && strstr(line, width);
      add |= strstr(line, "vaddpd") && strstr(line, width);
      fma |= strstr(line, "vfm") != NULL;
    }
    fclose(f);
    remove(path);
    assert_true(named);
    if (i == 2)
      assert_true(mul && add && !fma);
  }
  cf_buf_free(&text);
}

static void chain(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64)};
  static const char add[] = "%x = cf.load 0 : f64\n%y = cf.load 1 : f64\n%z = arith.addf %x, %y : f64\n"
                            "cf.store %z, 2 : f64\n";
  static const char mul[] = "%x = cf.load 0 : f64\n%y = cf.load 1 : f64\n%z = arith.mulf %x, %y : f64\n"
                            "cf.store %z, 2 : f64\n";
  static const char sub[] = "%x = cf.load 0 : f64\n%y = cf.load 1 : f64\n%z = arith.subf %x, %y : f64\n"
                            "cf.store %z, 2 : f64\n";
  cofuse_forall d0 = FORALL(1, add, .naccess = 3, .access = acc);
  cofuse_forall d1 = FORALL(1, mul, .naccess = 3, .access = acc);
  cofuse_forall d2 = FORALL(1, sub, .naccess = 3, .access = acc);
  cf_cg_access a0[] = {MEM(0, LIT(8)), MEM(1, LIT(8)), LOCAL(0)};
  cf_cg_access a1[] = {LOCAL(0), MEM(2, LIT(8)), LOCAL(1)};
  cf_cg_access a2[] = {LOCAL(1), MEM(0, LIT(8)), MEM(3, LIT(8))};
  cf_cg_task t[] = {{.desc = &d0, .access = a0}, {.desc = &d1, .access = a1}, {.desc = &d2, .access = a2}};
  static const uint8_t types[] = {COFUSE_F64, COFUSE_F64};
  check(1, 3, t, 2, types, 0);
}

static void stencil(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64), ACC(F64), ACC(F64)};
  static const char body[] =
      "%n = cf.load 0 : f64\n%s = cf.load 1 : f64\n%w = cf.load 2 : f64\n"
      "%e = cf.load 3 : f64\n%q = cf.scalar 0 : f64\n"
      "%0 = arith.addf %n, %s : f64\n%1 = arith.addf %0, %w : f64\n"
      "%2 = arith.addf %1, %e : f64\n%3 = arith.mulf %q, %2 : f64\ncf.store %3, 4 : f64\n";
  static const uint8_t scalars[] = {COFUSE_F64};
  cofuse_forall d = FORALL(2, body, .naccess = 5, .access = acc, .nscalars = 1, .scalar_types = scalars);
  cf_cg_access a[] = {MEM(0, ARG(0), LIT(8)), MEM(0, ARG(0), LIT(8)), MEM(0, ARG(0), LIT(8)),
                      MEM(0, ARG(0), LIT(8)), MEM(1, ARG(0), LIT(8))};
  for (int i = 0; i < 5; i++)
    a[i].off = ARG(1 + i);
  cf_cg_task t = {.desc = &d, .access = a};
  check(2, 1, &t, 0, NULL, 6);
}

/* Lines of the optimised code of a nest that hold one of the texts; removes the dump. */
typedef struct tally {
  const char *texts[2];
  int lines;
} tally;
static void count(const cf_cg_nest *n, uint32_t nbases, uint32_t nints, tally *tallies, int ntallies) {
  cf_cg_unit u = {.nnests = 1, .nests = n, .nbases = nbases, .nints = nints};
  cf_buf text = {0};
  const cf_kernel *k;
  assert_int_equal(cf_cg_assemble(&u, &text), CF_OK);
  if (cf_kernel_get(codegen, text.data, text.len, 1, "count", &k) != CF_OK)
    fail_msg("%s", cf_last_error());
  cf_buf_free(&text);
  static const char *const suffixes[] = {"mlir", "s", "ll"};
  for (int i = 0; i < 3; i++) {
    char path[200], line[400];
    snprintf(path, sizeof path, "%s/%s.%s", dir, k->id, suffixes[i]);
    FILE *f = fopen(path, "r");
    if (!f)
      fail_msg("no %s", path);
    while (i == 2 && fgets(line, sizeof line, f))
      for (int t = 0; t < ntallies; t++)
        tallies[t].lines +=
            strstr(line, tallies[t].texts[0]) || (tallies[t].texts[1] && strstr(line, tallies[t].texts[1]));
    fclose(f);
    remove(path);
  }
}

/* A norm beside a store, over rows: the sum's lanes are vectors, and registers. */
static void sum(void **state) {
  (void)state;
  if (!cpu_has("avx2"))
    skip();
  static const cofuse_access acc[] = {ACC(F64), ACC(F64)};
  static const char body[] = "%x = cf.load 0 : f64\n%p = arith.mulf %x, %x : f64\n%s = cf.red 0 : f64\n"
                             "%r = arith.addf %s, %p : f64\ncf.setred %r, 0 : f64\ncf.store %p, 1 : f64\n";
  static const cofuse_red reds[] = {{.op = COFUSE_RED_ADD, .type = COFUSE_F64}};
  cofuse_forall d = FORALL(2, body, .naccess = 2, .access = acc, .nreds = 1, .reds = reds);
  cf_cg_access a[] = {MEM(0, ARG(0), LIT(8)), MEM(1, ARG(0), LIT(8))};
  cf_cg_task t = {.desc = &d, .access = a};
  cf_cg_nest n = {2, 1, &t, 0, NULL};
  tally seen[] = {{{"fmul <"}, 0}, {{"fadd <"}, 0}, {{"alloca"}, 0}};
  count(&n, 2, 1, seen, 3);
  assert_true(seen[0].lines > 0 && seen[1].lines > 0);
  assert_int_equal(seen[2].lines, 0);
}

/* Rows of a product side by side, each sum in its order: scalar chains, which also the SLP vectoriser, wrong
 * for narrow integers, has left alone. */
static void side_by_side(void **state) {
  (void)state;
  static const cofuse_access acc[] = {{.type = COFUSE_F64, .mode = COFUSE_R, .ninner = 1},
                                      {.type = COFUSE_F64, .mode = COFUSE_R, .ninner = 1},
                                      ACC(F64)};
  static const char body[] =
      "%m = cf.scalar 0 : i64\n%z = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n"
      "%f0 = arith.constant 0.0 : f64\n"
      "%s = scf.for %k = %z to %m step %one iter_args(%acc = %f0) -> (f64) : i64 {\n"
      "  %a = cf.load 0(%k) : f64\n  %b = cf.load 1( %k ) : f64\n"
      "  %p = arith.mulf %a, %b : f64\n  %n = arith.addf %acc, %p : f64\n"
      "  scf.yield %n : f64\n}\ncf.store %s, 2 : f64\n";
  static const uint8_t st[] = {COFUSE_I64};
  cofuse_forall d = FORALL(1, body, .naccess = 3, .access = acc, .nscalars = 1, .scalar_types = st);
  cf_cg_access a[] = {MEM(0, ARG(0), LIT(8)), MEM(1, LIT(0), LIT(8)), MEM(2, LIT(8))};
  cf_cg_task t = {.desc = &d, .access = a};
  cf_cg_nest n = {1, 1, &t, 0, NULL};
  /* Not any vector: there may be some that clear the result, should there be no columns. */
  tally seen[] = {{{"fmul double"}, 0}, {{"fmul <", "fadd <"}, 0}};
  count(&n, 3, 1, seen, 2);
  assert_true(seen[0].lines >= 8);
  assert_int_equal(seen[1].lines, 0);
}

static int set_up(void **state) {
  (void)state;
  cf_options opt;
  if (!mkdtemp(dir) || cf_options_read(&opt) != CF_OK)
    return 1;
  opt.cache_dir = "off";
  opt.dump = dir;
  return cf_codegen_create(&opt, 0, 1, NULL, NULL, &codegen) != CF_OK;
}

static int tear_down(void **state) {
  (void)state;
  cf_codegen_destroy(codegen);
  remove(dir);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chain), cmocka_unit_test(stencil),
                                     cmocka_unit_test(sum), cmocka_unit_test(side_by_side)};
  return cmocka_run_group_tests_name("codegen-vector", tests, set_up, tear_down);
}
