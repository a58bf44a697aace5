// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* <cofuse/ir.h>: tasks issued by calls, between loops with pragmas. Prints results that are exact in any
 * order. */
#include <cofuse/ir.h>

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    int rc_ = (call);                                                                                        \
    if (rc_ != 0)                                                                                            \
      printf("line %d: %s: %s\n", __LINE__, cofuse_strerror(rc_), cofuse_last_error());                      \
  } while (0)

/* y = alpha A x */
static void gemv(const cofuse_call *c) {
  const cofuse_piece *a = &c->arg[0], *x = &c->arg[1], *y = &c->arg[2];
  cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)(a->hi[0] - a->lo[0]), (int)(a->hi[1] - a->lo[1]),
              *(const double *)c->scalar[0], a->data, (int)a->stride[0], x->data, (int)x->stride[0], 0,
              y->data, (int)y->stride[0]);
}

/* y += alpha x, also as MLIR */
static void axpy(const cofuse_call *c) {
  double alpha = *(const double *)c->scalar[0];
  const double *x = c->arg[0].data;
  double *y = c->arg[1].data;
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    y[i] += alpha * x[i];
}
static const char axpy_body[] = "%a = cf.scalar 0 : f64\n"
                                "%x = cf.load 0 : f64\n"
                                "%y = cf.load 1 : f64\n"
                                "%p = arith.mulf %a, %x : f64\n"
                                "%s = arith.addf %y, %p : f64\n"
                                "cf.store %s, 1 : f64\n";

static void dot(const cofuse_call *c) {
  double *s = c->result[0];
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    *s += ((const double *)c->arg[0].data)[i] * ((const double *)c->arg[1].data)[i];
}

/* y[n] = x[n] + x[n + 1] + x[n + 2] */
static void three(const cofuse_call *c) {
  const double *x = c->arg[0].data;
  double *y = c->arg[1].data;
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    y[i] = x[i] + x[i + 1] + x[i + 2];
}

/* b[j][i] = a[i][j] for points (i, j) */
static void transpose(const cofuse_call *c) {
  const cofuse_piece *a = &c->arg[0], *b = &c->arg[1];
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    for (int64_t j = 0; j < c->hi[1] - c->lo[1]; j++)
      ((double *)b->data)[j * b->stride[0] + i * b->stride[1]] =
          ((const double *)a->data)[i * a->stride[0] + j * a->stride[1]];
}

/* y[n] = x[last - n]: any point may read any element */
static void reversed(const cofuse_call *c) {
  const cofuse_piece *x = &c->arg[0];
  for (int64_t n = c->lo[0]; n < c->hi[0]; n++)
    ((double *)c->arg[1].data)[n - c->lo[0]] = ((const double *)x->data)[x->hi[0] - 1 - n];
}

static void scale(const cofuse_call *c) {
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    ((double *)c->arg[1].data)[i] *= *(const double *)c->arg[0].data;
}

/* y[n] += 1 + the length of a store */
static void longer(const cofuse_call *c) {
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    ((double *)c->arg[1].data)[i] += (double)(1 + c->arg[0].hi[0] - c->arg[0].lo[0]);
}

/* All points add up in one element: not independent. */
static void prefix(const cofuse_call *c) {
  double *x = c->arg[0].data;
  for (int64_t i = 1; i < c->hi[0] - c->lo[0] + 1; i++)
    x[i] += x[i - 1];
}

enum { N = 37, M = 23 };

static void show(const char *what, const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = (double)((long)(3 * s) % 1000003) + x[i];
  printf("%s %.17g\n", what, s);
}

int main(void) {
  static double a[N * M], b[M * N], x[N], y[N], z[N], s[1];
  const int f = COFUSE_F64;
  cofuse_kernel *k_gemv, *k_axpy, *k_dot, *k_three, *k_trans, *k_prefix, *k_reversed;
  CHECK(cofuse_kernel_create(
      &(cofuse_kernel_info){.name = "gemv",
                            .ndims = 1,
                            .nargs = 3,
                            .nscalars = 1,
                            .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_READ, 0}, {f, COFUSE_WRITE, 0}},
                            .scalar_type = {f},
                            .function = gemv},
      &k_gemv));
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "axpy",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .nscalars = 1,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_READ_WRITE, 0}},
                                                   .scalar_type = {f},
                                                   .function = axpy,
                                                   .body = axpy_body},
                             &k_axpy));
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "dot",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .nresults = 1,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_READ, 0}},
                                                   .result = {{COFUSE_RED_ADD, f}},
                                                   .function = dot,
                                                   .flags = COFUSE_KERNEL_SPLIT},
                             &k_dot));
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "three",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_WRITE, 0}},
                                                   .function = three,
                                                   .flags = COFUSE_KERNEL_SPLIT},
                             &k_three));
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "transpose",
                                                   .ndims = 2,
                                                   .nargs = 2,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_WRITE, 0}},
                                                   .function = transpose,
                                                   .flags = COFUSE_KERNEL_SPLIT},
                             &k_trans));
  CHECK(cofuse_kernel_create(
      &(cofuse_kernel_info){
          .name = "prefix", .ndims = 1, .nargs = 1, .arg = {{f, COFUSE_READ_WRITE, 0}}, .function = prefix},
      &k_prefix));
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "reversed",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_WRITE, 0}},
                                                   .function = reversed,
                                                   .flags = COFUSE_KERNEL_SPLIT},
                             &k_reversed));
  printf("bad kernel: %d\n",
         cofuse_kernel_create(&(cofuse_kernel_info){.name = "none", .nargs = 99}, &k_prefix) < 0);

  CHECK(cofuse_store_create("a", a, f, 2, (int64_t[]){N, M}));
  CHECK(cofuse_store_create("b", b, f, 2, (int64_t[]){M, N}));
  CHECK(cofuse_store_create("x", x, f, 1, (int64_t[]){N}));
  CHECK(cofuse_store_create("y", y, f, 1, (int64_t[]){N}));
  CHECK(cofuse_store_create("z", z, f, 1, (int64_t[]){N}));
  CHECK(cofuse_store_create("s", s, f, 1, (int64_t[]){1}));
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i * M + j] = (i * 7 + j * 3) % 11 - 5;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = i % 9 - 4;
  cofuse_partition vector = cofuse_rows(1);
  for (int it = 0; it < 3; it++) {
    double alpha = it + 1, minus = -1;
    /* y = alpha A x[0:M]: x is read by every point */
    cofuse_partition head = {COFUSE_PART_TILING, {{-1, 0, 0, M}}};
    CHECK(cofuse_launch(k_gemv, (int64_t[]){N}, (cofuse_arg[]){{a, cofuse_rows(M)}, {x, head}, {y, vector}},
                        (const void *[]){&alpha}, NULL));
    CHECK(cofuse_launch(k_axpy, (int64_t[]){N}, (cofuse_arg[]){{x, vector}, {y, vector}},
                        (const void *[]){&minus}, NULL));
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      z[i] = y[i] - 2 * x[i];
    CHECK(cofuse_launch(k_dot, (int64_t[]){N}, (cofuse_arg[]){{y, vector}, {z, vector}}, NULL,
                        (void *[]){&s[0]}));
    double now = 1;
    CHECK(cofuse_launch(k_dot, (int64_t[]){N}, (cofuse_arg[]){{x, vector}, {z, vector}}, NULL,
                        (void *[]){&now}));
    printf("%.17g\n", now);
    CHECK(cofuse_launch(k_reversed, (int64_t[]){N}, (cofuse_arg[]){{z, cofuse_none()}, {y, vector}}, NULL,
                        NULL));
    cofuse_partition wide = {COFUSE_PART_TILING, {{0, 1, 0, 3}}};
    CHECK(cofuse_launch(k_three, (int64_t[]){N - 2}, (cofuse_arg[]){{z, wide}, {x, vector}}, NULL, NULL));
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] = (long)x[i] % 13;
    cofuse_partition rows = {COFUSE_PART_TILING, {{0, 1, 0, 1}, {1, 1, 0, 1}}};
    cofuse_partition columns = {COFUSE_PART_TILING, {{1, 1, 0, 1}, {0, 1, 0, 1}}};
    CHECK(cofuse_launch(k_trans, (int64_t[]){N, M}, (cofuse_arg[]){{a, rows}, {b, columns}}, NULL, NULL));
#pragma cofuse forall collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        a[i * M + j] = b[j * N + i] - (i + it) % 3;
  }
  CHECK(cofuse_kernel_create(
      &(cofuse_kernel_info){
          .name = "prefix", .ndims = 1, .nargs = 1, .arg = {{f, COFUSE_READ_WRITE, 0}}, .function = prefix},
      &k_prefix));
  cofuse_partition pair = {COFUSE_PART_TILING, {{0, 1, 0, 2}}};
  CHECK(cofuse_launch(k_prefix, (int64_t[]){N - 1}, (cofuse_arg[]){{z, pair}}, NULL, NULL));
  printf("no store: %d\n",
         cofuse_launch(k_prefix, (int64_t[]){1}, (cofuse_arg[]){{&pair, pair}}, NULL, NULL) < 0);
  /* A scalar as a store; after its release it is none. */
  static double one = 4;
  cofuse_kernel *k_scale;
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "scale",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_READ_WRITE, 0}},
                                                   .function = scale},
                             &k_scale));
  CHECK(cofuse_store_create("one", &one, f, 0, (int64_t[]){0}));
  CHECK(
      cofuse_launch(k_scale, (int64_t[]){N}, (cofuse_arg[]){{&one, cofuse_none()}, {y, vector}}, NULL, NULL));
  CHECK(cofuse_store_release(&one));
  printf("released: %d\n", cofuse_launch(k_scale, (int64_t[]){N},
                                         (cofuse_arg[]){{&one, cofuse_none()}, {y, vector}}, NULL, NULL) < 0);
  /* A store without elements is an argument like any other, and so is a longer one at its address. */
  static double list[4];
  cofuse_kernel *k_longer;
  CHECK(cofuse_kernel_create(&(cofuse_kernel_info){.name = "longer",
                                                   .ndims = 1,
                                                   .nargs = 2,
                                                   .arg = {{f, COFUSE_READ, 0}, {f, COFUSE_READ_WRITE, 0}},
                                                   .function = longer},
                             &k_longer));
  for (int n = 0; n < 5; n += 4) {
    CHECK(cofuse_store_create("list", list, f, 1, (int64_t[]){n}));
    CHECK(cofuse_launch(k_longer, (int64_t[]){N}, (cofuse_arg[]){{list, cofuse_none()}, {y, vector}}, NULL,
                        NULL));
    CHECK(cofuse_store_release(list));
  }
  show("a", a, N * M);
  show("b", b, N * M);
  show("x", x, N);
  show("y", y, N);
  show("z", z, N);
  printf("s %.17g\n", s[0]);
  CHECK(cofuse_store_release(z));
  z[0] = 1;
  printf("%g\n", z[0]);
  for (int it = 0; it < 2; it++) { /* the same memory becomes a store again, now and then a shorter one */
    double two = 2;
    CHECK(cofuse_store_create("z", z, f, 1, (int64_t[]){N - it}));
    CHECK(cofuse_launch(k_axpy, (int64_t[]){N - it}, (cofuse_arg[]){{x, vector}, {z, vector}},
                        (const void *[]){&two}, NULL));
    show("z", z, N);
    CHECK(cofuse_store_release(z));
    for (int i = 0; i < N; i++)
      z[i] = i;
  }
  return 0;
}
