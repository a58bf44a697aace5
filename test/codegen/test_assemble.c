// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The text: canonical, and never a crash whatever the body holds. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

static const cofuse_access kit_acc[] = {ACC(F64),
                                        {.type = COFUSE_F64, .mode = 1, .flags = COFUSE_ACC_INDIRECT},
                                        {.type = COFUSE_F64, .mode = 1, .ninner = 2},
                                        {.type = COFUSE_F64, .mode = 2},
                                        {.type = COFUSE_OPAQUE, .mode = 2}};
static const uint8_t kit_scalars[] = {COFUSE_F64, COFUSE_I32};
static const cofuse_red kit_reds[] = {
    {.op = COFUSE_RED_ADD, .type = COFUSE_F64},
    {.op = COFUSE_RED_ADD, .type = COFUSE_F64, .flags = COFUSE_RED_SECTION}};
static const uint8_t kit_locals[] = {COFUSE_F64, COFUSE_I64};

/* Assembles `body` in a nest of two loops with one of everything. */
static cf_status assemble(const char *body, const char *decls, cf_buf *text) {
  cofuse_forall d = FORALL(2, body, .naccess = 5, .access = kit_acc, .nscalars = 2,
                           .scalar_types = kit_scalars, .nreds = 2, .reds = kit_reds, .decls = decls);
  cf_cg_access a[] = {MEM(0, LIT(80), LIT(8)), MEM(1), MEM(0, LIT(80), LIT(8), LIT(16), ARG(2)), LOCAL(0),
                      MEM(2, LIT(1))};
  for (int s = 0; s < CF_CG_MAX_STRIDES; s++)
    a[1].stride[s] = LIT(0);
  a[0].off = ARG(1);
  cf_cg_task t = {
      .desc = &d, .access = a, .loop_at = {0, 1}, .iv_first = {ARG(0), LIT(0)}, .iv_step = {LIT(1), LIT(-2)}};
  cf_cg_nest n = {2, 1, &t, 2, kit_locals};
  cf_cg_unit u = {.nnests = 1, .nests = &n, .nbases = 3, .nints = 4};
  return cf_cg_assemble(&u, text);
}

static const char good[] = "  %x = cf.load 0 : f64   // comment with % and {\n"
                           "%i = cf.iv 0 : i64\n%j = cf.iv 1 : i64\n"
                           "%y = cf.load 1 at %i : f64\n%z = cf.load 2(%i, %j) : f64\n"
                           "%s = cf.scalar 0 : f64\n%n = cf.scalar 1 : i32\n"
                           "%p = cf.local f32 x 7\n%q = cf.local i8\n"
                           "%c = arith.constant {note = \"a % and a { in \\\" a string\"} true\n"
                           "scf.if %c {\n%0 = arith.addf %x, %y : f64\n"
                           "cf.store %0, 3 : f64\n}\n"
                           "%r = cf.red 0 : f64\ncf.setred %r, 0 : f64\n"
                           "%g = cf.red 1 at %i : f64\ncf.setred %g, 1 at %j : f64\n";

static void canonical(void **state) {
  (void)state;
  cf_buf a = {0}, b = {0};
  if (assemble(good, "llvm.func @exp(f64) -> f64\n", &a) != CF_OK)
    fail_msg("%s", cf_last_error());
  char *copy = strdup(good); /* other addresses */
  assert_int_equal(assemble(copy, "llvm.func @exp(f64) -> f64\n", &b), CF_OK);
  free(copy);
  assert_string_equal(a.data, b.data);
  assert_null(strstr(a.data, "kit.c"));
  assert_null(strstr(a.data, "cf.load"));
  assert_null(strstr(a.data, "comment"));
  assert_non_null(strstr(a.data, "a % and a { in"));
  const cf_kernel *k;
  if (cf_kernel_get(kit_codegen(), a.data, a.len, 1, "good", &k) != CF_OK)
    fail_msg("%s\n%s", cf_last_error(), a.data);
  cf_buf_free(&a);
  cf_buf_free(&b);
}

static void malformed(void **state) {
  (void)state;
  static const struct {
    const char *body, *what;
  } cases[] = {
      {"%x = cf.load 9 : f64", "no such access"},
      {"%x = cf.load 99999999999999999999 : f64", "access number expected"},
      {"%x = cf.load 0 : f32", "type differs"},
      {"%x = cf.load 4 : i8", "type differs"},
      {"%x = cf.load 0", "':' expected"},
      {"%x = cf.load 0 :", "type expected"},
      {"%x = cf.load 0 : f64 f64", "text after the end"},
      {"%x = cf.load 0(%k) : f64", "inner counters"},
      {"%x = cf.load 2(%k) : f64", "inner counters"},
      {"%x = cf.load 2(%k, %k, %k, %k, %k) : f64", "too many inner counters"},
      {"%x = cf.load 2(%k, : f64\n)", "inner counter expected"},
      {"%x = cf.load 2(%k) : f64)", "bracket"},
      {"%x = cf.load 2(%k", "')' expected"},
      {"%x = cf.load 1 : f64", "without 'at'"},
      {"%x = cf.load 0 at %o : f64", "on a direct access"},
      {"%x = cf.load 1 at 5 : f64", "offset expected"},
      {"cf.load 0 : f64", "needs a name"},
      {"%x = cf.store %v, 0 : f64", "no result"},
      {"cf.store 0 : f64", "value and ','"},
      {"cf.store %v 0 : f64", "value and ','"},
      {"%x = cf.bogus 0 : f64", "unknown operation"},
      {"%x = cf.", "name of the operation"},
      {"cf.br ^bb0", "unknown operation"},
      {"%x = cf.scalar 2 : f64", "no such scalar"},
      {"%x = cf.scalar 1 : i64", "type differs"},
      {"%x = cf.iv 2 : i64", "no such loop"},
      {"%x = cf.iv 0 : i32", "type differs"},
      {"%x = cf.red 2 : f64", "no such reduction"},
      {"%x = cf.red 1 : f64", "section without 'at'"},
      {"%x = cf.red 0 at %o : f64", "'at' on a reduction into a variable"},
      {"%x = cf.red 1(%k) : f64", "inner counters on a reduction"},
      {"cf.setred %x, 1 at : f64", "offset expected after 'at'"},
      {"cf.setred %x, 0 : i64", "type differs"},
      {"%x = cf.local f128", "unknown type"},
      {"%x = cf.local f64 x 0", "number of elements"},
      {"%x = cf.local f64 x 4000000000", "too large"},
      {"%x = cf.local f64 x 99999999999", "number of elements"},
      {"%x = arith.constant % 3", "without a name"},
      {"}\nllvm.return\n}\nllvm.func @evil() {", "bracket closed"},
      {"scf.if %c {", "not closed"},
      {"%x = foo \"abc", "string without end"},
      {"%x = foo \"abc\\", "string without end"},
      {"%x = \xc3\xa9", "ASCII"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cf_buf text = {0};
    cf_status st = assemble(cases[i].body, NULL, &text);
    if (st != CF_EINVAL || !strstr(cf_last_error(), cases[i].what) || !strstr(cf_last_error(), "kit.c:7"))
      fail_msg("%s: status %d, message %s", cases[i].body, st, cf_last_error());
    cf_buf_free(&text);
  }
  cf_buf text = {0};
  assert_int_equal(assemble("", "llvm.mlir.global @x() : i32", &text), CF_EINVAL);
  assert_int_equal(assemble("", "llvm.func @cofuse_k0()", &text), CF_EINVAL);
  assert_int_equal(assemble("", "llvm.func @f(f64)\nllvm.func @f(f32)\n", &text), CF_EINVAL);
  assert_non_null(strstr(cf_last_error(), "differently"));
  assert_int_equal(assemble("", "llvm.func @f(f64)\nllvm.func @f(f64) // same\n", &text), CF_OK);
  assert_int_equal(assemble(NULL, NULL, &text), CF_OK);
  cf_buf_free(&text);
}

/* Mutations of a good body; what assembles may go to MLIR, which must refuse in words. */
static void fuzz(void **state) {
  (void)state;
  static const char *const bits[] = {
      "%x",   "cf.load ", "{",   "}",         " : f64", "\n", "\"", "at ",         "(",         ")",  "0",
      "^bb0", "%",        "cf.", "scf.yield", "f32",    "#",  "= ", "llvm.return", "!llvm.ptr", "-1", "//"};
  uint64_t seed = 42;
  const char *rounds = getenv("FUZZ_ROUNDS");
  int n = rounds ? atoi(rounds) : 3000;
  int compiled = 0, refused = 0; /* of what reached MLIR */
  for (int round = 0; round < n; round++) {
    char body[sizeof good + 256];
    memcpy(body, good, sizeof good);
    size_t len = sizeof good - 1;
    int edits = 1 + round % 4;
    for (int e = 0; e < edits; e++) {
      size_t at = (size_t)((kit_random(&seed) + 1) / 2 * (double)len);
      const char *b = bits[(size_t)((kit_random(&seed) + 1) / 2 * (double)(sizeof bits / sizeof *bits))];
      size_t cut = (size_t)((kit_random(&seed) + 1) * 4), add = strlen(b);
      if (round % 3 == 0)
        cut = 0;
      if (round % 5 == 0)
        add = 0;
      if (at + cut > len)
        cut = len - at;
      memmove(body + at + add, body + at + cut, len - at - cut + 1);
      memcpy(body + at, b, add);
      len += add - cut;
    }
    cf_buf text = {0};
    cf_status st = assemble(body, round % 7 ? NULL : body, &text);
    assert_true(st == CF_OK || st == CF_EINVAL);
    const cf_kernel *k;
    if (st == CF_OK && round % 8 == 0) {
      st = cf_kernel_get(kit_codegen(), text.data, text.len, 1, "fuzz", &k);
      assert_true(st == CF_OK || st == CF_EJIT);
      compiled += st == CF_OK;
      refused += st == CF_EJIT;
    }
    cf_buf_free(&text);
  }
  print_message("%d compiled, %d refused by MLIR\n", compiled, refused);
  assert_true(compiled > 0 && refused > 0);
}

static int tear_down(void **state) {
  (void)state;
  kit_close();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(canonical),
      cmocka_unit_test(malformed),
      cmocka_unit_test(fuzz),
  };
  return cmocka_run_group_tests_name("codegen-assemble", tests, NULL, tear_down);
}
