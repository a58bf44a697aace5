// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Kernels against plain C, bit for bit. Compiled with -ffp-contract=off: the bodies contract nothing. */
#include "kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1003 };

static void one_dimension(void **state) {
  (void)state;
  static const char body[] = "%a = cf.load 0 : f64\n"
                             "%s = cf.scalar 0 : f64 // captured\n"
                             "%0 = arith.mulf %a, %s : f64\n"
                             "%b = cf.load 1 : f64\n"
                             "%1 = arith.addf %0, %b : f64\n"
                             "cf.store %1, 2 : f64\n";
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64)};
  static const uint8_t st[] = {COFUSE_F64};
  cofuse_forall d = FORALL(1, body, .naccess = 3, .access = acc, .nscalars = 1, .scalar_types = st);
  double a[N], b[N], c[N], want[N], s = 1.7;
  uint64_t seed = 1;
  for (int i = 0; i < N; i++) {
    a[i] = kit_random(&seed), b[i] = kit_random(&seed);
    c[i] = want[i] = -7;
  }
  for (int i = 3; i < N - 1; i++)
    want[i] = a[i] * s + b[i];
  void *bases[] = {a, b, c};
  int64_t lo[] = {3}, hi[] = {N - 1}, ints[] = {8, 0};
  /* strides as literals, and only known at run time */
  for (int run_time = 0; run_time < 2; run_time++) {
    cf_cg_int s8 = run_time ? ARG(0) : LIT(8), off = run_time ? ARG(1) : LIT(0);
    cf_cg_access acs[] = {MEM(0, s8), MEM(1, s8), MEM(2, s8)};
    for (int i = 0; i < 3; i++)
      acs[i].off = off;
    cf_cg_task t = {.desc = &d, .access = acs, .scalar_off = 16};
    double scalars[3] = {9, 9, s};
    const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 3, 2);
    for (int i = 0; i < N; i++)
      c[i] = -7;
    k->fn[0](bases, ints, scalars, lo, hi, NULL);
    kit_same(c, want, sizeof c);
    /* empty ranges touch nothing */
    int64_t e_lo[] = {5}, e_hi[] = {5}, n_hi[] = {2};
    k->fn[0](bases, ints, scalars, e_lo, e_hi, NULL);
    k->fn[0](bases, ints, scalars, e_lo, n_hi, NULL);
    kit_same(c, want, sizeof c);
  }
}

/* t = a + b; u = t * c; d = u - a with t and u demoted */
static void locals_chain(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64)};
  static const char add[] = "%x = cf.load 0 : f64\n%y = cf.load 1 : f64\n%z = arith.addf %x, %y : f64\n"
                            "cf.store %z, 2 : f64\n";
  static const char mul[] = "%x = cf.load 0 : f64\n%y = cf.load 1 : f64\n%z = arith.mulf %x, %y : f64\n"
                            "cf.store %z, 2 : f64";
  static const char sub[] = "  %x = cf.load 0 : f64\n\n  %y = cf.load 1 : f64\n%z = arith.subf %x, %y : f64\n"
                            "cf.store %z, 2 : f64";
  cofuse_forall d0 = FORALL(1, add, .naccess = 3, .access = acc);
  cofuse_forall d1 = FORALL(1, mul, .naccess = 3, .access = acc);
  cofuse_forall d2 = FORALL(1, sub, .naccess = 3, .access = acc);
  cf_cg_access a0[] = {MEM(0, LIT(8)), MEM(1, LIT(8)), LOCAL(0)};
  cf_cg_access a1[] = {LOCAL(0), MEM(2, LIT(8)), LOCAL(1)};
  cf_cg_access a2[] = {LOCAL(1), MEM(0, LIT(8)), MEM(3, LIT(8))};
  cf_cg_task t[] = {{.desc = &d0, .access = a0}, {.desc = &d1, .access = a1}, {.desc = &d2, .access = a2}};
  static const uint8_t lt[] = {COFUSE_F64, COFUSE_F64};
  const cf_kernel *k = kit_nest(1, 3, t, 2, lt, 4, 0);
  double a[N], b[N], c[N], d[N], want[N];
  uint64_t seed = 2;
  for (int i = 0; i < N; i++) {
    a[i] = kit_random(&seed), b[i] = kit_random(&seed), c[i] = kit_random(&seed);
    want[i] = (a[i] + b[i]) * c[i] - a[i];
  }
  void *bases[] = {a, b, c, d};
  int64_t lo[] = {0}, hi[] = {N};
  k->fn[0](bases, NULL, NULL, lo, hi, NULL);
  kit_same(d, want, sizeof d);
}

/* Two nests: a five-point stencil with a leading dimension known at run time, and a copy back. */
static void two_dimensions(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64), ACC(F64), ACC(F64)};
  static const char five[] =
      "%n = cf.load 0 : f64\n%s = cf.load 1 : f64\n%w = cf.load 2 : f64\n"
      "%e = cf.load 3 : f64\n%q = arith.constant 0.25 : f64\n"
      "%0 = arith.addf %n, %s : f64\n%1 = arith.addf %0, %w : f64\n"
      "%2 = arith.addf %1, %e : f64\n%3 = arith.mulf %q, %2 : f64\ncf.store %3, 4 : f64\n";
  static const char copy[] = "%x = cf.load 0 : f64\ncf.store %x, 1 : f64\n";
  cofuse_forall d0 = FORALL(2, five, .naccess = 5, .access = acc);
  cofuse_forall d1 = FORALL(2, copy, .naccess = 2, .access = acc);
  enum { H = 37, W = 61 };
  static double u[H][W], v[H][W], u2[H][W], v2[H][W];
  uint64_t seed = 3;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      u[i][j] = u2[i][j] = kit_random(&seed);
  cf_cg_int ld = ARG(0), e = LIT(8);
  cf_cg_access a0[] = {MEM(0, ld, e), MEM(0, ld, e), MEM(0, ld, e), MEM(0, ld, e), MEM(1, ld, e)};
  for (int i = 0; i < 5; i++)
    a0[i].off = ARG(1 + i);
  cf_cg_access a1[] = {MEM(1, ld, e), MEM(0, ld, e)};
  a1[0].off = a1[1].off = ARG(5);
  cf_cg_task t0 = {.desc = &d0, .access = a0}, t1 = {.desc = &d1, .access = a1};
  cf_cg_nest nests[] = {{2, 1, &t0, 0, NULL}, {2, 1, &t1, 0, NULL}};
  cf_cg_unit unit = {.nnests = 2, .nests = nests, .nbases = 2, .nints = 6};
  const cf_kernel *k = kit_kernel(&unit);
  int64_t row = W * 8, ints[] = {row, 8, 2 * row + 8, row, row + 16, row + 8};
  int64_t lo[] = {0, 0}, hi[] = {H - 2, W - 2};
  void *bases[] = {u, v};
  for (int it = 0; it < 5; it++) {
    k->fn[0](bases, ints, NULL, lo, hi, NULL);
    k->fn[1](bases, ints, NULL, lo, hi, NULL);
    for (int i = 1; i < H - 1; i++)
      for (int j = 1; j < W - 1; j++)
        v2[i][j] = 0.25 * (u2[i - 1][j] + u2[i + 1][j] + u2[i][j - 1] + u2[i][j + 1]);
    for (int i = 1; i < H - 1; i++)
      for (int j = 1; j < W - 1; j++)
        u2[i][j] = v2[i][j];
  }
  kit_same(u, u2, sizeof u);
  kit_same(v, v2, sizeof v);
}

/* In place: no two accesses of one base may be taken for distinct. b[i] = 2 * b[i]; b[i] = b[i] + b[i]. */
static void same_base(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(I32), ACC(I32)};
  static const char body[] = "%x = cf.load 0 : i32\n%y = arith.addi %x, %x : i32\ncf.store %y, 1 : i32\n"
                             "%z = cf.load 0 : i32\n%w = arith.addi %z, %y : i32\ncf.store %w, 0 : i32\n";
  cofuse_forall d = FORALL(1, body, .naccess = 2, .access = acc);
  /* both accesses have run-time offsets, equal or one apart (a serial chain) */
  cf_cg_access a[] = {MEM(0, LIT(4)), MEM(0, LIT(4))};
  a[0].off = ARG(0);
  a[1].off = ARG(1);
  cf_cg_task t = {.desc = &d, .access = a};
  const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 1, 2);
  for (int shift = 0; shift < 3; shift++) {
    int32_t x[N + 4], want[N + 4];
    for (int i = 0; i < N + 4; i++)
      x[i] = want[i] = i * 7919;
    for (int i = 0; i < N; i++) {
      int32_t y = (int32_t)((uint32_t)want[i] * 2u);
      want[i + shift] = y;
      want[i] = (int32_t)((uint32_t)want[i] + (uint32_t)y);
    }
    void *bases[] = {x};
    int64_t ints[] = {0, 4 * shift}, lo[] = {0}, hi[] = {N};
    k->fn[0](bases, ints, NULL, lo, hi, NULL);
    kit_same(x, want, sizeof x);
  }
}

/* y[i] = sum over k of val[k] * x[col[k]] for k in rowptr[i] .. rowptr[i+1] */
static void indirect_csr(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(I32),
                                      ACC(I32),
                                      {.type = COFUSE_I32, .mode = COFUSE_R, .flags = COFUSE_ACC_INDIRECT},
                                      {.type = COFUSE_F64, .mode = COFUSE_R, .flags = COFUSE_ACC_INDIRECT},
                                      {.type = COFUSE_F64, .mode = COFUSE_R, .flags = COFUSE_ACC_INDIRECT},
                                      ACC(F64)};
  static const char body[] = "%b = cf.load 0 : i32\n%e = cf.load 1 : i32\n"
                             "%zero = arith.constant 0.0 : f64\n%one = arith.constant 1 : i32\n"
                             "%c4 = arith.constant 4 : i64\n%c8 = arith.constant 8 : i64\n"
                             "%r:2 = scf.while (%k = %b, %s = %zero) : (i32, f64) -> (i32, f64) {\n"
                             "  %c = arith.cmpi slt, %k, %e : i32\n"
                             "  scf.condition(%c) %k, %s : i32, f64\n"
                             "} do {\n"
                             "^bb0(%k: i32, %s: f64):\n"
                             "  %k64 = arith.extsi %k : i32 to i64\n"
                             "  %o4 = arith.muli %k64, %c4 : i64\n"
                             "  %o8 = arith.muli %k64, %c8 : i64\n"
                             "  %col = cf.load 2 at %o4 : i32\n"
                             "  %val = cf.load 3 at %o8 : f64\n"
                             "  %col64 = arith.extsi %col : i32 to i64\n"
                             "  %ox = arith.muli %col64, %c8 : i64\n"
                             "  %x = cf.load 4 at %ox : f64\n"
                             "  %p = arith.mulf %val, %x : f64\n"
                             "  %s1 = arith.addf %s, %p : f64\n"
                             "  %k1 = arith.addi %k, %one : i32\n"
                             "  scf.yield %k1, %s1 : i32, f64\n"
                             "}\n"
                             "cf.store %r#1, 5 : f64\n";
  cofuse_forall d = FORALL(1, body, .naccess = 6, .access = acc);
  cf_cg_access a[] = {MEM(0, LIT(4)), MEM(0, LIT(4)), MEM(1), MEM(2), MEM(3), MEM(4, LIT(8))};
  a[1].off = LIT(4);
  for (int i = 2; i < 5; i++)
    for (int s = 0; s < CF_CG_MAX_STRIDES; s++)
      a[i].stride[s] = LIT(0);
  cf_cg_task t = {.desc = &d, .access = a};
  const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 5, 0);
  enum { ROWS = 50, NNZ = 50 * 7 };
  int32_t ptr[ROWS + 1], col[NNZ];
  double val[NNZ], x[ROWS], y[ROWS], want[ROWS];
  uint64_t seed = 4;
  ptr[0] = 0;
  for (int i = 0; i < ROWS; i++)
    ptr[i + 1] = ptr[i] + i % 8 * (i % 8 < 7);
  for (int i = 0; i < ptr[ROWS]; i++) {
    col[i] = (int)(fabs(kit_random(&seed)) * (ROWS - 1));
    val[i] = kit_random(&seed);
  }
  for (int i = 0; i < ROWS; i++)
    x[i] = kit_random(&seed);
  for (int i = 0; i < ROWS; i++) {
    want[i] = 0;
    for (int j = ptr[i]; j < ptr[i + 1]; j++)
      want[i] += val[j] * x[col[j]];
  }
  void *bases[] = {ptr, col, val, x, y};
  int64_t lo[] = {0}, hi[] = {ROWS};
  k->fn[0](bases, NULL, NULL, lo, hi, NULL);
  kit_same(y, want, sizeof y);
}

/* c[i] = sum_j a[i][j] * b[j]: inner counters, one stride of each access at run time */
static void inner_loop(void **state) {
  (void)state;
  static const cofuse_access acc[] = {{.type = COFUSE_F32, .mode = COFUSE_R, .ninner = 1},
                                      {.type = COFUSE_F32, .mode = COFUSE_R, .ninner = 1},
                                      ACC(F32)};
  static const char body[] =
      "%m = cf.scalar 0 : i64\n%z = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n"
      "%f0 = arith.constant 0.0 : f32\n"
      "%s = scf.for %k = %z to %m step %one iter_args(%acc = %f0) -> (f32) : i64 {\n"
      "  %a = cf.load 0(%k) : f32\n  %b = cf.load 1( %k ) : f32\n"
      "  %p = arith.mulf %a, %b : f32\n  %n = arith.addf %acc, %p : f32\n"
      "  scf.yield %n : f32\n}\ncf.store %s, 2 : f32\n";
  static const uint8_t st[] = {COFUSE_I64};
  cofuse_forall d = FORALL(1, body, .naccess = 3, .access = acc, .nscalars = 1, .scalar_types = st);
  cf_cg_access a[] = {MEM(0, ARG(0), LIT(4)), MEM(1, LIT(0), ARG(1)), MEM(2, LIT(4))};
  cf_cg_task t = {.desc = &d, .access = a};
  const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 3, 2);
  enum { H = 19, W = 33 };
  static float A[H][W], b[W], c[H], want[H];
  uint64_t seed = 5;
  for (int j = 0; j < W; j++)
    b[j] = (float)kit_random(&seed);
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      A[i][j] = (float)kit_random(&seed);
  for (int i = 0; i < H; i++) {
    want[i] = 0;
    for (int j = 0; j < W; j++)
      want[i] += A[i][j] * b[j];
  }
  void *bases[] = {A, b, c};
  int64_t ints[] = {W * 4, 4}, lo[] = {0}, hi[] = {H}, m = W;
  k->fn[0](bases, ints, &m, lo, hi, NULL);
  kit_same(c, want, sizeof c);
}

/* Counters of every width, first value and step literal or not; a local array; a zero-dimensional task. */
static void counters_and_locals(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(I64)};
  static const uint8_t ivs[] = {COFUSE_I16, COFUSE_U64};
  static const char body[] = "%i = cf.iv 0 : i16\n%j = cf.iv 1 : i64\n%i64 = arith.extsi %i : i16 to i64\n"
                             "%p = cf.local i64 x 4\n%three = arith.constant 3 : i64\n"
                             "%m = arith.andi %j, %three : i64\n"
                             "%q = llvm.getelementptr %p[%m] : (!llvm.ptr, i64) -> !llvm.ptr, i64\n"
                             "llvm.store %i64, %q : i64, !llvm.ptr\n%v = llvm.load %q : !llvm.ptr -> i64\n"
                             "%k = arith.muli %v, %j : i64\ncf.store %k, 0 : i64\n";
  cofuse_forall d = FORALL(2, body, .naccess = 1, .access = acc);
  d.iv_types = ivs;
  cf_cg_access a[] = {MEM(0, LIT(8 * 11), LIT(8))};
  int64_t got[7][11], want[7][11], ints[] = {300, -100};
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 11; j++)
      want[i][j] = (int64_t)(int16_t)(300 - 100 * i) * (5 + 3 * j);
  void *bases[] = {got};
  int64_t lo[] = {0, 0}, hi[] = {7, 11};
  for (int run_time = 0; run_time < 2; run_time++) {
    cf_cg_task t = {.desc = &d,
                    .access = a,
                    .loop_at = {0, 1},
                    .iv_first = {run_time ? ARG(0) : LIT(300), LIT(5)},
                    .iv_step = {run_time ? ARG(1) : LIT(-100), LIT(3)}};
    memset(got, 0, sizeof got);
    kit_nest(2, 1, &t, 0, NULL, 1, 2)->fn[0](bases, ints, NULL, lo, hi, NULL);
    kit_same(got, want, sizeof got);
  }
}

static void zero_dimensions(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64)};
  static const char body[] = "%a = cf.load 0 : f64\n%b = cf.load 1 : f64\n%c = arith.divf %a, %b : f64\n"
                             "cf.store %c, 2 : f64\n";
  cofuse_forall d = FORALL(0, body, .kind = COFUSE_KIND_TASK, .naccess = 3, .access = acc);
  cf_cg_access a[] = {MEM(0), MEM(1), MEM(2)};
  cf_cg_task t = {.desc = &d, .access = a};
  double rr = 3, pq = 7, alpha = 0, want = rr / pq;
  void *bases[] = {&rr, &pq, &alpha};
  kit_nest(0, 1, &t, 0, NULL, 3, 0)->fn[0](bases, NULL, NULL, NULL, NULL, NULL);
  kit_same(&alpha, &want, sizeof alpha);
}

/* Library functions: resolved from libm; cofuse.nb.X beside X; pow(x, 2.0) kept a call only when marked. */
static void calls(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64)};
  static const char body[] = "%x = cf.load 0 : f64\n%two = arith.constant 2.0 : f64\n"
                             "%e = llvm.call @exp(%x) : (f64) -> f64\n"
                             "%f = llvm.call @cofuse.nb.exp(%e) : (f64) -> f64\n"
                             "%p = llvm.call @cofuse.nb.pow(%x, %two) : (f64, f64) -> f64\n"
                             "cf.store %f, 1 : f64\ncf.store %p, 2 : f64\n";
  cofuse_forall d = FORALL(1, body, .naccess = 3, .access = acc,
                           .decls = "llvm.func @exp(f64) -> f64\nllvm.func @cofuse.nb.exp(f64) -> f64\n"
                                    "llvm.func @cofuse.nb.pow(f64, f64) -> f64\n");
  cf_cg_access a[] = {MEM(0, LIT(8)), MEM(1, LIT(8)), MEM(2, LIT(8))};
  cf_cg_task t[] = {{.desc = &d, .access = a}, {.desc = &d, .access = a}};
  double x[N], y[N], z[N], want[N];
  uint64_t seed = 6;
  for (int i = 0; i < N; i++) {
    x[i] = kit_random(&seed);
    want[i] = exp(exp(x[i]));
  }
  void *bases[] = {x, y, z};
  int64_t lo[] = {0}, hi[] = {N};
  kit_nest(1, 2, t, 0, NULL, 3, 0)->fn[0](bases, NULL, NULL, lo, hi, NULL);
  kit_same(y, want, sizeof y);
  for (int i = 0; i < N; i++)
    want[i] = pow(x[i], 2.0);
  kit_same(z, want, sizeof z);
}

/* fmul and fadd stay two roundings, fma is one. */
static void no_contraction(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(F64), ACC(F64), ACC(F64), ACC(F64)};
  static const char body[] =
      "%a = cf.load 0 : f64\n%b = cf.load 1 : f64\n%m = arith.mulf %a, %b : f64\n"
      "%n = arith.negf %a : f64\n%q = arith.mulf %a, %a : f64\n"
      "%s = arith.subf %m, %q : f64\n%t = arith.addf %s, %a : f64\ncf.store %t, 2 : f64\n"
      "%f = math.fma %a, %b, %n : f64\ncf.store %f, 3 : f64\n";
  cofuse_forall d = FORALL(1, body, .naccess = 4, .access = acc);
  cf_cg_access a[] = {MEM(0, LIT(8)), MEM(1, LIT(8)), MEM(2, LIT(8)), MEM(3, LIT(8))};
  cf_cg_task t = {.desc = &d, .access = a};
  double x[N], y[N], z[N], f[N], wz[N], wf[N];
  uint64_t seed = 7;
  for (int i = 0; i < N; i++) {
    x[i] = kit_random(&seed), y[i] = kit_random(&seed);
    wz[i] = x[i] * y[i] - x[i] * x[i] + x[i];
    wf[i] = fma(x[i], y[i], -x[i]);
  }
  void *bases[] = {x, y, z, f};
  int64_t lo[] = {0}, hi[] = {N};
  kit_nest(1, 1, &t, 0, NULL, 4, 0)->fn[0](bases, NULL, NULL, lo, hi, NULL);
  kit_same(z, wz, sizeof z);
  kit_same(f, wf, sizeof f);
}

/* What compilers get wrong: sizes and alignments of the small types through one body each. */
static void all_types(void **state) {
  (void)state;
  for (int type = 0; type < COFUSE_OPAQUE; type++) {
    size_t n = cf_type_bytes(type);
    char body[256];
    cofuse_access acc[2] = {{.type = (uint8_t)type, .mode = 1}, {.type = (uint8_t)type, .mode = 2}};
    snprintf(body, sizeof body, "%%x = cf.load 0 : %s\ncf.store %%x, 1 : %s\n", cf_type_mlir(type),
             cf_type_mlir(type));
    cofuse_forall d = FORALL(1, body, .naccess = 2, .access = acc);
    cf_cg_access a[] = {MEM(0, LIT(-(int64_t)n)), MEM(1, LIT((int64_t)n))}; /* reversed read */
    cf_cg_task t = {.desc = &d, .access = a};
    char src[100 * 8], dst[100 * 8], want[100 * 8];
    for (size_t i = 0; i < 100 * n; i++)
      src[i] = (char)(type == COFUSE_BOOL ? i & 1 : i * 37);
    for (size_t i = 0; i < 100; i++)
      memcpy(want + i * n, src + (99 - i) * n, n);
    void *bases[] = {src + 99 * n, dst};
    int64_t lo[] = {0}, hi[] = {100};
    kit_nest(1, 1, &t, 0, NULL, 2, 0)->fn[0](bases, NULL, NULL, lo, hi, NULL);
    kit_same(dst, want, 100 * n);
  }
}

static void memory_table(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(I8)};
  cofuse_forall d =
      FORALL(1, "%x = arith.constant 1 : i8\ncf.store %x, 0 : i8\n", .naccess = 1, .access = acc);
  cf_cg_access a[] = {MEM(0, LIT(1))};
  cf_cg_task t = {.desc = &d, .access = a};
  const cf_codegen_stats *s = cf_codegen_get_stats(kit_codegen());
  const cf_kernel *k = kit_nest(1, 1, &t, 0, NULL, 1, 0);
  uint64_t compiled = s->compiled, hits = s->hits_memory;
  assert_ptr_equal(kit_nest(1, 1, &t, 0, NULL, 1, 0), k);
  assert_int_equal(s->compiled, compiled);
  assert_int_equal(s->hits_memory, hits + 1);
  assert_true(s->compile_ms > 0);
  assert_int_equal(strlen(k->id), 32);
}

static void rejected_by_mlir(void **state) {
  (void)state;
  static const cofuse_access acc[] = {ACC(I8)};
  cofuse_forall d =
      FORALL(1, "%x = arith.nonsense 1 : i8\ncf.store %x, 0 : i8\n", .naccess = 1, .access = acc);
  cf_cg_access a[] = {MEM(0, LIT(1))};
  cf_cg_task t = {.desc = &d, .access = a};
  cf_cg_nest n = {1, 1, &t, 0, NULL};
  cf_cg_unit u = {.nnests = 1, .nests = &n, .nbases = 1, .nints = 0};
  cf_buf text = {0};
  const cf_kernel *k = NULL;
  assert_int_equal(cf_cg_assemble(&u, &text), CF_OK);
  assert_int_equal(cf_kernel_get(kit_codegen(), text.data, text.len, 1, "bad:1", &k), CF_EJIT);
  assert_null(k);
  assert_non_null(strstr(cf_last_error(), "bad:1"));
  assert_non_null(strstr(cf_last_error(), "arith.nonsense"));
  cf_buf_clear(&text);
  /* a function nobody has: found when the kernel is linked, and the next kernel still works */
  d.body = "%x = llvm.call @no_such_function_anywhere() : () -> i8\ncf.store %x, 0 : i8\n";
  d.decls = "llvm.func @no_such_function_anywhere() -> i8\n";
  assert_int_equal(cf_cg_assemble(&u, &text), CF_OK);
  assert_int_equal(cf_kernel_get(kit_codegen(), text.data, text.len, 1, "bad:2", &k), CF_EJIT);
  assert_non_null(strstr(cf_last_error(), "no_such_function_anywhere"));
  cf_buf_free(&text);
  d.body = "%x = arith.constant 5 : i8\ncf.store %x, 0 : i8\n";
  d.decls = NULL;
  char c = 0;
  void *bases[] = {&c};
  int64_t lo[] = {0}, hi[] = {1};
  kit_nest(1, 1, &t, 0, NULL, 1, 0)->fn[0](bases, NULL, NULL, lo, hi, NULL);
  assert_int_equal(c, 5);
}

static int tear_down(void **state) {
  (void)state;
  kit_close();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_dimension),
      cmocka_unit_test(locals_chain),
      cmocka_unit_test(two_dimensions),
      cmocka_unit_test(same_base),
      cmocka_unit_test(indirect_csr),
      cmocka_unit_test(inner_loop),
      cmocka_unit_test(counters_and_locals),
      cmocka_unit_test(zero_dimensions),
      cmocka_unit_test(calls),
      cmocka_unit_test(no_contraction),
      cmocka_unit_test(all_types),
      cmocka_unit_test(memory_table),
      cmocka_unit_test(rejected_by_mlir),
  };
  return cmocka_run_group_tests_name("codegen-kernel", tests, NULL, tear_down);
}
