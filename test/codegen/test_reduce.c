// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions: the functions on values, and kernels of every operator and type against them. */
#include "codegen/assemble.h"
#include "kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_float(int type) { return type == COFUSE_F32 || type == COFUSE_F64; }
static bool is_bits(int op) { return op == COFUSE_RED_AND || op == COFUSE_RED_OR || op == COFUSE_RED_XOR; }
static bool is_signed(int type) {
  return type == COFUSE_I8 || type == COFUSE_I16 || type == COFUSE_I32 || type == COFUSE_I64;
}

static double combined(int op, double a, double b) {
  cf_red_combine(op, COFUSE_F64, &a, &b);
  return a;
}

static double identity(int op) {
  double x;
  cf_red_identity(op, COFUSE_F64, &x);
  return x;
}

static void floats(void **state) {
  (void)state;
  double nan_ = (double)NAN, inf = (double)INFINITY;
  assert_true(signbit(identity(COFUSE_RED_ADD)) && identity(COFUSE_RED_ADD) == 0);
  assert_true(signbit(combined(COFUSE_RED_ADD, identity(COFUSE_RED_ADD), -0.0)));
  assert_false(signbit(combined(COFUSE_RED_ADD, identity(COFUSE_RED_ADD), 0.0)));
  assert_true(identity(COFUSE_RED_MUL) == 1);
  /* if (x < m) m = x */
  assert_true(combined(COFUSE_RED_MIN, 3, nan_) == 3);
  assert_true(isnan(combined(COFUSE_RED_MIN, nan_, 3)));
  assert_true(combined(COFUSE_RED_MIN, inf, identity(COFUSE_RED_MIN)) == inf);
  assert_true(signbit(combined(COFUSE_RED_MIN, -0.0, 0.0)));
  assert_false(signbit(combined(COFUSE_RED_MIN, 0.0, -0.0)));
  assert_true(combined(COFUSE_RED_MAX, -inf, identity(COFUSE_RED_MAX)) == -inf);
  assert_true(isnan(combined(COFUSE_RED_MAX, nan_, 3)));
  assert_true(combined(COFUSE_RED_MAX, 3, nan_) == 3);
  /* fmin, fmax */
  assert_true(combined(COFUSE_RED_FMIN, 3, nan_) == 3);
  assert_true(combined(COFUSE_RED_FMIN, nan_, 3) == 3);
  assert_true(isnan(combined(COFUSE_RED_FMIN, nan_, identity(COFUSE_RED_FMIN))));
  assert_true(combined(COFUSE_RED_FMAX, identity(COFUSE_RED_FMAX), -inf) == -inf);
  assert_true(combined(COFUSE_RED_LAND, identity(COFUSE_RED_LAND), 2) == 1);
  assert_true(combined(COFUSE_RED_LOR, identity(COFUSE_RED_LOR), 0) == 0);
  assert_true(combined(COFUSE_RED_LOR, 0, nan_) == 1);
}

#define CHECK_INT(T, type, lowest, highest)                                                                  \
  do {                                                                                                       \
    T a, b;                                                                                                  \
    cf_red_identity(COFUSE_RED_MIN, type, &a);                                                               \
    assert_true(a == (T)(highest));                                                                          \
    cf_red_identity(COFUSE_RED_MAX, type, &a);                                                               \
    assert_true(a == (T)(lowest));                                                                           \
    a = (T)(highest), b = 1;                                                                                 \
    cf_red_combine(COFUSE_RED_ADD, type, &a, &b);                                                            \
    assert_true(a == (T)(lowest));                                                                           \
    a = (T)(highest), b = (T)(lowest);                                                                       \
    cf_red_combine(COFUSE_RED_MIN, type, &a, &b);                                                            \
    assert_true(a == (T)(lowest));                                                                           \
    a = (T)(lowest), b = (T)(highest);                                                                       \
    cf_red_combine(COFUSE_RED_MAX, type, &a, &b);                                                            \
    assert_true(a == (T)(highest));                                                                          \
    cf_red_identity(COFUSE_RED_AND, type, &a);                                                               \
    cf_red_combine(COFUSE_RED_AND, type, &a, &b);                                                            \
    assert_true(a == b);                                                                                     \
  } while (0)

static void integers(void **state) {
  (void)state;
  CHECK_INT(int8_t, COFUSE_I8, INT8_MIN, INT8_MAX);
  CHECK_INT(uint8_t, COFUSE_U8, 0, UINT8_MAX);
  CHECK_INT(int16_t, COFUSE_I16, INT16_MIN, INT16_MAX);
  CHECK_INT(uint16_t, COFUSE_U16, 0, UINT16_MAX);
  CHECK_INT(int32_t, COFUSE_I32, INT32_MIN, INT32_MAX);
  CHECK_INT(uint32_t, COFUSE_U32, 0, UINT32_MAX);
  CHECK_INT(int64_t, COFUSE_I64, INT64_MIN, INT64_MAX);
  CHECK_INT(uint64_t, COFUSE_U64, 0, UINT64_MAX);
  bool a = true, b = true;
  cf_red_combine(COFUSE_RED_ADD, COFUSE_BOOL, &a, &b);
  assert_int_equal(*(unsigned char *)&a, 1);
}

/* The statement of the loop, as MLIR: m = m op x. */
static void put_step(cf_buf *b, int op, int type) {
  const char *t = cf_type_mlir(type);
  bool f = is_float(type);
  static const char *const plain[] = {[COFUSE_RED_ADD] = "add",
                                      [COFUSE_RED_MUL] = "mul",
                                      [COFUSE_RED_AND] = "and",
                                      [COFUSE_RED_OR] = "or",
                                      [COFUSE_RED_XOR] = "xor"};
  cf_buf_printf(b, "%%x = cf.load 0 : %s\n%%m = cf.red 0 : %s\n", t, t);
  switch (op) {
  case COFUSE_RED_LAND:
  case COFUSE_RED_LOR:
    cf_buf_printf(b, "%%z = arith.constant %s : %s\n", f ? "0.0" : "0", t);
    for (int k = 0; k < 2; k++)
      cf_buf_printf(b, "%%b%d = arith.cmp%s, %%%s, %%z : %s\n", k, f ? "f une" : "i ne", k ? "x" : "m", t);
    cf_buf_printf(b, "%%c = arith.%si %%b0, %%b1 : i1\n", op == COFUSE_RED_LAND ? "and" : "or");
    if (!f && cf_type_bytes(type) == 1)
      cf_buf_printf(b, "%%r = arith.extui %%c : i1 to i8\n");
    else
      cf_buf_printf(b, "%%r = arith.%s %%c : i1 to %s\n", f ? "uitofp" : "extui", t);
    break;
  case COFUSE_RED_MIN:
  case COFUSE_RED_MAX: {
    bool min = op == COFUSE_RED_MIN;
    const char *pred = f                 ? (min ? "f olt" : "f ogt")
                       : is_signed(type) ? (min ? "i slt" : "i sgt")
                                         : (min ? "i ult" : "i ugt");
    cf_buf_printf(b, "%%c = arith.cmp%s, %%x, %%m : %s\n%%r = arith.select %%c, %%x, %%m : %s\n", pred, t, t);
    break;
  }
  case COFUSE_RED_FMIN:
  case COFUSE_RED_FMAX:
    cf_buf_printf(b, "%%r = arith.%snumf %%m, %%x : %s\n", op == COFUSE_RED_FMIN ? "min" : "max", t);
    break;
  default:
    if (type == COFUSE_BOOL && op == COFUSE_RED_ADD) /* converted back to _Bool */
      cf_buf_str(b, "%r = arith.ori %m, %x : i8\n");
    else
      cf_buf_printf(b, "%%r = arith.%s%s %%m, %%x : %s\n", plain[op], is_bits(op) || !f ? "i" : "f", t);
  }
  cf_buf_printf(b, "cf.setred %%r, 0 : %s\n", t);
}

static void fill(int type, char *x, int n, int variant) {
  uint64_t seed = 11 + (uint64_t)variant;
  size_t bytes = cf_type_bytes(type);
  for (int i = 0; i < n; i++) {
    double r = kit_random(&seed);
    if (variant == 1 && i % 3 == 1)
      r = i % 2 ? (double)NAN : -0.0;
    if (variant == 2)
      r = i % 2 ? 0.0 : -0.0;
    if (variant == 3)
      r = (double)NAN;
    float f = (float)r;
    int64_t v = type == COFUSE_BOOL ? r > 0 : (int64_t)(isnan(r) ? 0 : r * 0x1p62);
    memcpy(x + bytes * (size_t)i,
           type == COFUSE_F32   ? (void *)&f
           : type == COFUSE_F64 ? (void *)&r
                                : (void *)&v,
           bytes);
  }
}

static void same_value(int type, const void *got, const void *want) {
  double a, b;
  float fa, fb;
  memcpy(&fa, got, 4), memcpy(&fb, want, 4);
  a = (double)fa, b = (double)fb;
  if (type == COFUSE_F64)
    memcpy(&a, got, 8), memcpy(&b, want, 8);
  if (is_float(type) && isnan(a) && isnan(b))
    return; /* which NaN is not said anywhere */
  kit_same(got, want, cf_type_bytes(type));
}

/* What a kernel leaves for n elements. Floating-point numbers have a partial result for each place in a strip
 * and one for what is left over (assemble_nest.c); not to be seen where `if (x > m) m = x` is meant. */
static void expect(int op, int type, const char *x, int n, char *want) {
  size_t bytes = cf_type_bytes(type);
  enum { LANES = CF_ASM_LANES };
  char part[LANES + 1][8];
  bool lanes = is_float(type) && (op == COFUSE_RED_ADD || op == COFUSE_RED_MUL || op >= COFUSE_RED_FMIN);
  for (int l = 0; l <= LANES; l++)
    cf_red_identity(op, type, part[l]);
  for (int i = 0; i < n; i++)
    cf_red_combine(op, type, part[lanes && i < n / LANES * LANES ? i % LANES : LANES], x + bytes * (size_t)i);
  for (int half = LANES / 2; lanes && half > 0; half /= 2)
    for (int l = 0; l < half; l++)
      cf_red_combine(op, type, part[l], part[l + half]);
  if (lanes)
    cf_red_combine(op, type, part[0], part[LANES]);
  memcpy(want, part[lanes ? 0 : LANES], bytes);
}

static int64_t first_best(int op, int type, const char *x, int n) {
  char best[8];
  int64_t at = INT64_MAX;
  size_t bytes = cf_type_bytes(type);
  cf_red_identity(op, type, best);
  for (int i = 0; i < n; i++) {
    char next[8];
    memcpy(next, best, bytes);
    cf_red_combine(op, type, next, x + bytes * (size_t)i);
    if (memcmp(next, best, bytes) != 0)
      at = i;
    memcpy(best, next, bytes);
  }
  return at;
}

/* Places of equal values decide, and only they. */
static void placed(void **state) {
  (void)state;
  static const double z[] = {0.0, -0.0, 1.0, -1.0, (double)NAN};
  for (int max = 0; max < 2; max++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 5; k++)
        for (int sooner = 0; sooner < 2; sooner++) {
          int op = max ? COFUSE_RED_MAX : COFUSE_RED_MIN;
          double acc = z[i];
          int64_t place = 5, at = sooner ? 3 : 9;
          bool take = (max ? z[k] > z[i] : z[k] < z[i]) || (z[k] == z[i] && sooner);
          cf_red_combine_placed(op, COFUSE_F64, &acc, &place, &z[k], at);
          kit_same(&acc, take ? &z[k] : &z[i], sizeof acc);
          assert_int_equal(place, take ? at : 5);
          float f = (float)z[i], g = (float)z[k];
          place = 5;
          cf_red_combine_placed(op, COFUSE_F32, &f, &place, &g, at);
          assert_int_equal(place, take ? at : 5);
        }
}

static void one_kernel(int op, int type) {
  enum { COUNT = 67 };
  cf_buf body = {0};
  put_step(&body, op, type);
  cofuse_access acc[] = {{.type = (uint8_t)type, .mode = COFUSE_R}};
  cofuse_red red[] = {{.op = (uint8_t)op, .type = (uint8_t)type}};
  cofuse_forall d = FORALL(1, body.data, .naccess = 1, .access = acc, .nreds = 1, .reds = red);
  size_t bytes = cf_type_bytes(type);
  cf_cg_access a[] = {MEM(0, LIT((int64_t)bytes))};
  cf_cg_task t = {.desc = &d, .access = a, .red_off = 3};
  const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 1, 0);
  char x[COUNT * 8];
  void *bases[] = {x};
  for (int variant = 0; variant < (is_float(type) ? 4 : 1); variant++) {
    fill(type, x, COUNT, variant);
    static const int cuts[][2] = {{0, COUNT}, {0, 1}, {5, 5}, {1, 40}};
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
      int64_t lo[] = {cuts[c][0]}, hi[] = {cuts[c][1]};
      char partials[16 * 5], before[16 * 5], want[8];
      memset(partials, 0x5a, sizeof partials);
      memcpy(before, partials, sizeof before);
      k->fn[0](bases, NULL, NULL, lo, hi, partials);
      expect(op, type, x + bytes * (size_t)lo[0], (int)(hi[0] - lo[0]), want);
      same_value(type, partials + 16 * 3, want);
      memcpy(before + 16 * 3, partials + 16 * 3, bytes);
      if (cf_red_placed(op, type)) {
        int64_t place = first_best(op, type, x + bytes * (size_t)lo[0], (int)(hi[0] - lo[0]));
        kit_same(partials + 16 * 3 + 8, &place, sizeof place);
        memcpy(before + 16 * 3 + 8, &place, sizeof place);
      }
      kit_same(partials, before, sizeof partials); /* nothing else was written */
    }
  }
  cf_buf_free(&body);
}

static void kernels(void **state) {
  (void)state;
  for (int type = 0; type < COFUSE_OPAQUE; type++)
    for (int op = 0; op <= COFUSE_RED_FMAX; op++)
      if (!(is_float(type) && is_bits(op)) && !(!is_float(type) && op >= COFUSE_RED_FMIN))
        one_kernel(op, type);
}

/* Two reductions of two tasks in one nest, one of them never set: its partial is the identity. */
static void several(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64)};
  static const cofuse_red reds[] = {{.op = COFUSE_RED_ADD, .type = COFUSE_F64},
                                    {.op = COFUSE_RED_MIN, .type = COFUSE_I32}};
  static const char body[] = "%x = cf.load 0 : f64\n%s = cf.red 0 : f64\n%r = arith.addf %s, %x : f64\n"
                             "cf.setred %r, 0 : f64\n";
  cofuse_forall d = FORALL(1, body, .naccess = 1, .access = acc, .nreds = 2, .reds = reds);
  cf_cg_access a[] = {MEM(0, LIT(8))}, b[] = {MEM(1, LIT(8))};
  cf_cg_task t[] = {{.desc = &d, .access = a, .red_off = 0}, {.desc = &d, .access = b, .red_off = 2}};
  double x[] = {1, 2, 3, 4}, y[] = {10, 20, 30, 40}, want[] = {10, 100};
  void *bases[] = {x, y};
  int64_t lo[] = {0}, hi[] = {4};
  char partials[64];
  int32_t none = INT32_MAX;
  kit_nest(1, 2, t, 0, NULL, 2, 0)->fn[0](bases, NULL, NULL, lo, hi, partials);
  kit_same(partials, &want[0], 8);
  kit_same(partials + 32, &want[1], 8);
  kit_same(partials + 16, &none, 4);
  kit_same(partials + 48, &none, 4);
}

/* h[k[i]] += x[i] into the array that a slot of partials names, checked and not; a[1] stays as it is. */
static void sections(void **state) {
  (void)state;
  enum { N = 100, BINS = 5 };
  static const cofuse_access acc[] = {ACC(I64), ACC(F64)};
  static const char body[] =
      "%k = cf.load 0 : i64\n%c = arith.constant 8 : i64\n%o = arith.muli %k, %c : i64\n"
      "%x = cf.load 1 : f64\n%h = cf.red 1 at %o : f64\n%s = arith.addf %h, %x : f64\n"
      "cf.setred %s, 1 at %o : f64\n";
  static const cofuse_red reds[] = {{.op = COFUSE_RED_ADD, .type = COFUSE_F64},
                                    {.op = COFUSE_RED_ADD, .type = COFUSE_F64, .flags = COFUSE_RED_SECTION}};
  cofuse_forall d = FORALL(1, body, .naccess = 2, .access = acc, .nreds = 2, .reds = reds);
  cf_cg_access acs[] = {MEM(0, LIT(8)), MEM(1, LIT(8))};
  int64_t k[N], lo[] = {0}, hi[] = {N};
  double x[N], want[BINS] = {0};
  for (int i = 0; i < N; i++) {
    k[i] = i * 7 % BINS;
    x[i] = i;
    want[k[i]] += i;
  }
  void *bases[] = {k, x};
  for (int check = 0; check < 2; check++)
    for (int bad = 0; bad <= check; bad++) {
      struct {
        int64_t lowest, highest;
        double h[BINS + 1];
      } mem = {INT64_MAX, INT64_MIN, {0}};
      cf_red_fill(COFUSE_RED_ADD, COFUSE_F64, mem.h, BINS);
      assert_true(signbit(mem.h[0]) && signbit(mem.h[BINS - 1]) && !signbit(mem.h[BINS]));
      _Alignas(16) cf_red_section partials[3] = {{0}, {0}, {mem.h, 8 * (BINS - 1)}};
      cf_cg_task t = {.desc = &d, .access = acs, .red_off = 1, .check = check};
      const cf_kernel *kernel = kit_nest(1, 1, &t, 0, NULL, 2, 0);
      k[50] = bad ? BINS : 0; /* bin 0 as it was */
      k[51] = bad ? -3 : 2;
      kernel->fn[0](bases, NULL, NULL, lo, hi, partials);
      assert_true(partials[2].array == mem.h);
      if (bad) {
        assert_true(mem.h[0] == want[0] - 50 && mem.h[2] == want[2] - 51 && mem.h[BINS] == 0);
        assert_true(mem.lowest == -24 && mem.highest == 8 * BINS);
      } else {
        kit_same(mem.h, want, sizeof want);
        assert_true(mem.lowest == INT64_MAX && mem.highest == INT64_MIN);
      }
    }
}

/* Whole arrays: as element by element, for every operator and type. */
static void arrays(void **state) {
  (void)state;
  enum { N = 37 };
  for (int type = 0; type < COFUSE_OPAQUE; type++)
    for (int op = 0; op <= COFUSE_RED_FMAX; op++) {
      size_t w = cf_type_bytes(type);
      if (type == COFUSE_C32 || type == COFUSE_C64 || (is_float(type) && is_bits(op)))
        continue;
      _Alignas(8) unsigned char a[8 * N], b[8 * N], one[8 * N], id[8 * N], unit[8];
      cf_red_fill(op, type, id, N);
      cf_red_identity(op, type, unit);
      for (int i = 0; i < N; i++) {
        double v = (i * 37 % 19) - 9;
        float f = (float)v;
        int64_t n = type == COFUSE_BOOL ? i % 2 : (int64_t)v;
        memcpy(a + (size_t)i * w, type == COFUSE_F64 ? (void *)&v : type == COFUSE_F32 ? (void *)&f : &n, w);
        kit_same(id + (size_t)i * w, unit, w);
      }
      memcpy(b, a, sizeof b);
      memcpy(one, a, sizeof one);
      for (size_t i = 0; i < N; i++)
        cf_red_combine(op, type, one + i * w, a + (N - 1 - i) * w);
      for (size_t i = 0; i < N; i++)
        memcpy(b + i * w, a + (N - 1 - i) * w, w);
      cf_red_combine_all(op, type, a, b, N);
      kit_same(a, one, N * w);
    }
}

static int tear_down(void **state) {
  (void)state;
  kit_close();
  return 0;
}

/* A task with a loop of its own hands a value to one that sums, which hands another back: parts that take
 * turns. In two dimensions, so that places go on from row to row. */
static void parts(void **state) {
  (void)state;
  enum { ROWS = 3, WIDE = 2 * CF_ASM_PART + 37, M = 3 };
  static const cofuse_access acc0[] = {{.type = COFUSE_F64, .mode = COFUSE_R, .ninner = 1}, ACC(F64)};
  static const cofuse_access acc1[] = {ACC(F64), ACC(F64)};
  static const cofuse_access acc2[] = {
      {.type = COFUSE_F64, .mode = COFUSE_R, .ninner = 1}, ACC(F64), ACC(F64)};
  static const char loop[] = "%m = arith.constant 3 : i64\n%z = arith.constant 0 : i64\n"
                             "%one = arith.constant 1 : i64\n%f0 = arith.constant -0.0 : f64\n"
                             "%s = scf.for %k = %z to %m step %one iter_args(%acc = %f0) -> (f64) : i64 {\n"
                             "  %a = cf.load 0(%k) : f64\n  %n = arith.addf %acc, %a : f64\n"
                             "  scf.yield %n : f64\n}\ncf.store %s, 1 : f64\n";
  static const char sums[] = "%x = cf.load 0 : f64\n%s = cf.red 0 : f64\n%r = arith.addf %s, %x : f64\n"
                             "cf.setred %r, 0 : f64\n%m = cf.red 1 : f64\n%c = arith.cmpf ogt, %x, %m : f64\n"
                             "%n = arith.select %c, %x, %m : f64\ncf.setred %n, 1 : f64\n"
                             "%y = arith.mulf %x, %x : f64\ncf.store %y, 1 : f64\n";
  static const char back[] =
      "%z = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n%y = cf.load 1 : f64\n"
      "%s = scf.for %k = %z to %one step %one iter_args(%acc = %y) -> (f64) : i64 {\n"
      "  %a = cf.load 0(%k) : f64\n  %n = arith.addf %acc, %a : f64\n"
      "  scf.yield %n : f64\n}\ncf.store %s, 2 : f64\n";
  static const cofuse_red reds[] = {{.op = COFUSE_RED_ADD, .type = COFUSE_F64},
                                    {.op = COFUSE_RED_MAX, .type = COFUSE_F64}};
  cofuse_forall d0 = FORALL(2, loop, .naccess = 2, .access = acc0);
  cofuse_forall d1 = FORALL(2, sums, .naccess = 2, .access = acc1, .nreds = 2, .reds = reds);
  cofuse_forall d2 = FORALL(2, back, .naccess = 3, .access = acc2);
  static double a[ROWS][WIDE][M], got[ROWS][WIDE], want[ROWS][WIDE];
  cf_cg_access a0[] = {MEM(0, LIT((int64_t)sizeof a[0]), LIT(8 * M), LIT(8)), LOCAL(0)};
  cf_cg_access a1[] = {LOCAL(0), LOCAL(1)};
  cf_cg_access a2[] = {MEM(0, LIT((int64_t)sizeof a[0]), LIT(8 * M), LIT(8)), LOCAL(1),
                       MEM(1, LIT((int64_t)sizeof got[0]), LIT(8))};
  cf_cg_task t[] = {{.desc = &d0, .access = a0}, {.desc = &d1, .access = a1}, {.desc = &d2, .access = a2}};
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t l = 0; l < 2; l++)
      t[k].loop_at[l] = (uint8_t)l;
  static const uint8_t types[] = {COFUSE_F64, COFUSE_F64};
  const cf_kernel *kernel = kit_nest(2, 3, t, 2, types, 2, 0);
  uint64_t seed = 5;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < WIDE; j++)
      for (int k = 0; k < M; k++) /* sums are exact, and zeros of both signs are the largest */
        a[i][j][k] =
            j % 5 == 3 ? (j / 5 % 2 ? 0.0 : -0.0) : -(double)(1 + (int)(8 * fabs(kit_random(&seed))));
  static const int cuts[][2] = {{0, WIDE}, {0, CF_ASM_PART}, {1, CF_ASM_PART + 18},
                                {3, 9},    {20, WIDE},       {7, 7}};
  for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
    int64_t lo[] = {0, cuts[c][0]}, hi[] = {ROWS, cuts[c][1]};
    void *bases[] = {a, got};
    double partials[4] = {7, 7, 7, 7}, sum = -0.0, most = -(double)INFINITY;
    int64_t place = INT64_MAX;
    memset(got, 0x11, sizeof got);
    memset(want, 0x11, sizeof want);
    kernel->fn[0](bases, NULL, NULL, lo, hi, partials);
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = lo[1]; j < hi[1]; j++) {
        double x = -0.0 + a[i][j][0] + a[i][j][1] + a[i][j][2];
        sum += x;
        if (x > most) {
          most = x;
          place = i * (hi[1] - lo[1]) + j - lo[1];
        }
        want[i][j] = x * x + a[i][j][0];
      }
    kit_same(got, want, sizeof got);
    kit_same(&partials[0], &sum, sizeof sum);
    kit_same(&partials[2], &most, sizeof most);
    kit_same(&partials[3], &place, sizeof place);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(placed),  cmocka_unit_test(sections), cmocka_unit_test(arrays),
      cmocka_unit_test(floats),  cmocka_unit_test(integers), cmocka_unit_test(kernels),
      cmocka_unit_test(several), cmocka_unit_test(parts),
  };
  return cmocka_run_group_tests_name("codegen-reduce", tests, NULL, tear_down);
}
