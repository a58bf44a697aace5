// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The five-point stencil in library style with hand-written descriptors, against plain C, bit for bit;
 * with a max-reduction. Exit status 0 and "ok" if right. */
#include "rt.h"

static const cofuse_access a3[] = {RT_ACC(COFUSE_W, "d[i][j]"), RT_ACC(COFUSE_R, "a[i][j]"),
                                   RT_ACC(COFUSE_R, "b[i][j]")};
RT_FORALL(add, 3, 0, 0, a3, 0,
          "%a = cf.load 1 : f64\n%b = cf.load 2 : f64\n%c = arith.addf %a, %b : f64\ncf.store %c, 0 : f64\n");
static const cofuse_access a2[] = {RT_ACC(COFUSE_W, "d[i][j]"), RT_ACC(COFUSE_R, "a[i][j]")};
RT_FORALL(
    scale, 2, 1, 0, a2, 0,
    "%a = cf.load 1 : f64\n%s = cf.scalar 0 : f64\n%c = arith.mulf %a, %s : f64\ncf.store %c, 0 : f64\n");
RT_FORALL(copy, 2, 0, 0, a2, 0, "%a = cf.load 1 : f64\ncf.store %a, 0 : f64\n");
static const cofuse_access a1[] = {RT_ACC(COFUSE_R, "a[i][j]")};
static const cofuse_red rmax[] = {{COFUSE_RED_MAX, COFUSE_F64, 0, 1, 1, "m"}};
RT_FORALL(vmax, 1, 0, 1, a1, rmax,
          "%a = cf.load 0 : f64\n%m = cf.red 0 : f64\n%g = arith.cmpf ogt, %a, %m : f64\n%n = arith.select "
          "%g, %a, %m : f64\n"
          "cf.setred %n, 0 : f64\n");

static void op3(cofuse_forall *d, int64_t n, int64_t m, view x, view y, view z) {
  if (!rt_run(d, n, m, (view[]){x, y, z}, 0, 0))
    printf("not issued\n"), exit(2);
}

int main(int argc, char **argv) {
  int64_t n = argc > 1 ? atoll(argv[1]) : 12, m = argc > 2 ? atoll(argv[2]) : 10,
          it = argc > 3 ? atoll(argv[3]) : 3;
  double *u = malloc((size_t)(n * m) * 8), *r = malloc((size_t)(n * m) * 8), *q = malloc((size_t)(n * m) * 8);
  for (int64_t i = 0; i < n * m; i++)
    u[i] = r[i] = (double)(i * 7919 % 1013) / 17;
  rt_store(u, n, m, "u");
  view c = {u + m + 1, m};
  for (int64_t k = 0; k < it; k++) {
    double *t[5];
    for (int i = 0; i < 5; i++) {
      t[i] = malloc((size_t)((n - 2) * (m - 2)) * 8);
      rt_store(t[i], n - 2, m - 2, "t");
    }
    view v[5];
    for (int i = 0; i < 5; i++)
      v[i] = (view){t[i], m - 2};
    op3(&add, n - 2, m - 2, v[0], (view){u + 1, m}, (view){u + m, m});
    op3(&add, n - 2, m - 2, v[1], v[0], (view){u + m + 2, m});
    op3(&add, n - 2, m - 2, v[2], v[1], (view){u + 2 * m + 1, m});
    op3(&add, n - 2, m - 2, v[3], v[2], c);
    if (!rt_run(&scale, n - 2, m - 2, (view[]){v[4], v[3]}, (double[]){0.2}, 0) ||
        !rt_run(&copy, n - 2, m - 2, (view[]){c, v[4]}, 0, 0))
      return 2;
    for (int i = 0; i < 5; i++)
      cofuse_hook_free(t[i]);
  }
  double big = -1e300, ref = -1e300;
  if (!rt_run(&vmax, n, m, (view[]){{u, m}}, 0, (void *[]){&big}))
    return 2;
  for (int64_t k = 0; k < it; k++) {
    memcpy(q, r, (size_t)(n * m) * 8);
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < m - 1; j++)
        q[i * m + j] =
            (r[(i - 1) * m + j] + r[i * m + j - 1] + r[i * m + j + 1] + r[(i + 1) * m + j] + r[i * m + j]) *
            0.2;
    memcpy(r, q, (size_t)(n * m) * 8);
  }
  for (int64_t i = 0; i < n * m; i++)
    ref = r[i] > ref ? r[i] : ref;
  rt_read(u, (size_t)(n * m) * 8);
  int bad = 0;
  for (int64_t i = 0; i < n * m && bad < 5; i++)
    if (memcmp(&u[i], &r[i], 8))
      printf("differs at %lld,%lld: %.17g, not %.17g\n", (long long)(i / m), (long long)(i % m), u[i], r[i]),
          bad++;
  if (big != ref)
    printf("max %.17g, not %.17g\n", big, ref), bad++;
  puts(bad ? "FAIL" : "ok");
  cofuse_hook_free(u);
  return bad != 0;
}
