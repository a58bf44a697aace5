// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every function of lib/dense against a plain loop over the same numbers, on vectors, matrices, views with
// offsets, rows, columns, one element and none. Prints one line per function, so that a difference names it.
#include "../../lib/dense/dense.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void verdict(const char *what, bool good) {
  if (!good) {
    failures++;
    printf("FAIL %s\n", what);
  }
}

static double number(long i, long j, int salt) {
  return 0.25 + (double)((i * 37 + j * 11 + salt * 5) % 53) / 19.0;
}

static dense make(long rows, long cols, int salt) {
  dense a = dense_new(rows, cols);
  double *p = a.p;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++)
      p[i * cols + j] = 0.25 + (double)((i * 37 + j * 11 + salt * 5) % 53) / 19.0;
  return a;
}

static bool close_to(double x, double y) { return fabs(x - y) <= 1e-13 * fabs(y); }

// Operations on a and b, and what they make of x and y, the elements of a and b.
#define OPERATIONS(CASE)                                                                                     \
  CASE(dense_copy(a), x)                                                                                     \
  CASE(dense_add(a, b), x + y)                                                                               \
  CASE(dense_sub(a, b), x - y)                                                                               \
  CASE(dense_mul(a, b), (x) * y)                                                                             \
  CASE(dense_div(a, b), x / y)                                                                               \
  CASE(dense_min(a, b), y < x ? y : x)                                                                       \
  CASE(dense_max(a, b), y > x ? y : x)                                                                       \
  CASE(dense_neg(a), -x)                                                                                     \
  CASE(dense_abs(dense_neg(a)), x)                                                                           \
  CASE(dense_square(a), (x) * x)                                                                             \
  CASE(dense_sqrt(a), sqrt(x))                                                                               \
  CASE(dense_exp(a), exp(x))                                                                                 \
  CASE(dense_log(a), log(x))                                                                                 \
  CASE(dense_sin(a), sin(x))                                                                                 \
  CASE(dense_cos(a), cos(x))                                                                                 \
  CASE(dense_scale(a, 3.0), x * 3.0)                                                                         \
  CASE(dense_shift(a, 3.0), x + 3.0)                                                                         \
  CASE(dense_inverse(a, 3.0), 3.0 / x)                                                                       \
  CASE(dense_at_least(a, 1.0), x < 1.0 ? 1.0 : x)                                                            \
  CASE(dense_at_most(a, 1.0), x > 1.0 ? 1.0 : x)                                                             \
  CASE(dense_times(a, s), x * 1.5)                                                                           \
  CASE(dense_sub(dense_add(dense_mul(a, b), a), dense_scale(dense_copy(b), 2.0)), product + x - y * 2.0)

// a and b are views of numbers with salt 1 and 2 at (r0, c0). All results are made first, so that they fuse.
static void operations(const char *shape, dense a, dense b, long r0, long c0) {
  scalar s = scalar_keep(scalar_of(1.5)), reduced[6];
  dense result[40];
  int results = 0;
#define COMPUTE(call, expression) result[results++] = dense_keep(call);
  OPERATIONS(COMPUTE)
  reduced[0] = scalar_keep(dense_sum(a));
  reduced[1] = scalar_keep(dense_dot(a, b));
  reduced[2] = scalar_keep(dense_smallest(a));
  reduced[3] = scalar_keep(dense_largest(a));
  reduced[4] = scalar_keep(dense_norm_max(dense_neg(a)));
  reduced[5] = scalar_keep(dense_norm(a));

  int k = 0;
#define COMPARE(call, expression)                                                                            \
  {                                                                                                          \
    dense got = result[k++];                                                                                 \
    bool good = got.rows == a.rows && got.cols == a.cols;                                                    \
    for (long i = 0; good && i < a.rows; i++)                                                                \
      for (long j = 0; j < a.cols; j++) {                                                                    \
        double x = number(i + r0, j + c0, 1), y = number(i + r0, j + c0, 2), product = (x) * y;              \
        (void)x, (void)y, (void)product;                                                                     \
        good = good && got.p[i * got.ld + j] == (expression);                                                \
      }                                                                                                      \
    verdict(#call, good);                                                                                    \
    dense_free(got);                                                                                         \
  }
  OPERATIONS(COMPARE)
  double sum = 0, dot = 0, least = INFINITY, most = -INFINITY, largest = 0;
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++) {
      double x = number(i + r0, j + c0, 1), y = number(i + r0, j + c0, 2);
      sum += x;
      dot += x * y;
      least = fmin(least, x);
      most = fmax(most, x);
      largest = fmax(largest, x);
    }
  verdict("sum", close_to(scalar_get(reduced[0]), sum));
  verdict("dot", close_to(scalar_get(reduced[1]), dot));
  verdict("smallest", scalar_get(reduced[2]) == least);
  verdict("largest", scalar_get(reduced[3]) == most);
  verdict("norm_max", scalar_get(reduced[4]) == largest);
  double norm = scalar_get(reduced[5]), squares = 0;
  for (long i = 0; i < a.rows; i++)
    for (long j = 0; j < a.cols; j++)
      squares += number(i + r0, j + c0, 1) * number(i + r0, j + c0, 1);
  verdict("norm", close_to(norm, sqrt(squares)));
  for (k = 0; k < 6; k++)
    scalar_free(reduced[k]);
  scalar_free(s);
  printf("%s: %ld x %ld, sum %.6g\n", shape, a.rows, a.cols, sum);
}

// What changes an array in place, here inside a larger one whose rest must stay.
static void in_place(long rows, long cols) {
  dense base = make(rows + 3, cols + 4, 1), b = make(rows + 3, cols + 4, 2);
  dense a = dense_view(base, 1, 2, rows, cols), c = dense_view(b, 2, 1, rows, cols);
  dense_set(a, c);
  dense_add_to(a, dense_scale(c, 2.0));
  dense_sub_from(a, c);
  dense_fill(dense_row(a, rows - 1), 7.0);
  dense_fill(dense_column(a, 0), 8.0);
  dense_set(dense_column(a, cols - 1), dense_column(c, 0));
  bool good = true;
  for (long i = 0; i < base.rows; i++)
    for (long j = 0; j < base.cols; j++) {
      long k = i - 1, l = j - 2;
      double want = number(i, j, 1);
      if (k >= 0 && k < rows && l >= 0 && l < cols) {
        want = number(k + 2, l + 1, 2);
        want = want + want * 2.0 - want;
        want = l == cols - 1 ? number(k + 2, 1, 2) : l == 0 ? 8.0 : k == rows - 1 ? 7.0 : want;
      }
      good = good && close_to(dense_get(base, i, j), want);
    }
  verdict("in place", good);
  dense_free(base);
  dense_free(b);
}

static void matrix_times_vector(long rows, long cols) {
  dense m = make(rows, cols, 3), x = make(1, cols, 1), y = make(1, rows, 2);
  dense mx = dense_keep(dense_gemv(m, x)), ym = dense_keep(dense_gemv_transposed(m, y));
  scalar two = scalar_keep(scalar_of(2.0));
  dense axpy = dense_keep(dense_axpy(two, mx, y)), xmay = dense_keep(dense_xmay(y, two, mx));
  bool good = true;
  for (long i = 0; i < rows; i++) {
    double want = 0;
    for (long j = 0; j < cols; j++)
      want += number(i, j, 3) * number(0, j, 1);
    good = good && close_to(mx.p[i], want) && close_to(axpy.p[i], number(0, i, 2) + 2.0 * want) &&
           fabs(xmay.p[i] - (number(0, i, 2) - 2.0 * want)) <= 1e-12 * want;
  }
  verdict("gemv", good);
  good = true;
  for (long j = 0; j < cols; j++) {
    double want = 0;
    for (long i = 0; i < rows; i++)
      want += number(i, j, 3) * number(0, i, 2);
    good = good && close_to(ym.p[j], want);
  }
  verdict("gemv_transposed", good);
  const dense all[] = {m, x, y, mx, ym, axpy, xmay};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    dense_free(all[k]);
  scalar_free(two);
}

static void scalars(void) {
  scalar a = scalar_keep(scalar_of(6.0)), b = scalar_keep(scalar_of(1.5)), zero = scalar_keep(scalar_of(0.0));
  verdict("scalar_copy", scalar_get(scalar_copy(a)) == 6.0);
  verdict("scalar_add", scalar_get(scalar_add(a, b)) == 7.5);
  verdict("scalar_sub", scalar_get(scalar_sub(a, b)) == 4.5);
  verdict("scalar_mul", scalar_get(scalar_mul(a, b)) == 9.0);
  verdict("scalar_div", scalar_get(scalar_div(a, b)) == 4.0);
  verdict("scalar_ratio", scalar_get(scalar_ratio(a, b)) == 4.0 && scalar_get(scalar_ratio(a, zero)) == 0.0);
  verdict("scalar_neg", scalar_get(scalar_neg(a)) == -6.0);
  verdict("scalar_sqrt", scalar_get(scalar_sqrt(scalar_mul(b, a))) == 3.0);
  scalar_free(a);
  scalar_free(b);
  scalar_free(zero);
}

// What must end the program with a message.
static void misuse(const char *which) {
  dense a = dense_zeros(3, 4), v = dense_zeros(1, 4);
  if (strcmp(which, "shapes") == 0)
    dense_add(a, v);
  else if (strcmp(which, "view") == 0)
    dense_view(a, 1, 1, 3, 3);
  else if (strcmp(which, "overflow") == 0)
    dense_view(a, 1, 1, INT64_MAX, 3);
  else if (strcmp(which, "gemv") == 0)
    dense_gemv_transposed(a, v);
  else if (strcmp(which, "size") == 0)
    dense_new(-1, 3);
  else if (strcmp(which, "huge") == 0)
    dense_new(INT64_MAX, 3);
  else if (strcmp(which, "get") == 0)
    dense_get(a, 3, 0);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    misuse(argv[1]);
    return 0;
  }
  static const struct {
    const char *name;
    long rows, cols, r0, c0, part_rows, part_cols;
  } shapes[] = {{"vector", 1, 103, 0, 0, 1, 103}, {"part of a vector", 1, 103, 0, 7, 1, 81},
                {"matrix", 13, 17, 0, 0, 13, 17}, {"view", 13, 17, 2, 3, 9, 11},
                {"row", 13, 17, 12, 0, 1, 17},    {"column", 13, 17, 0, 16, 13, 1},
                {"element", 13, 17, 5, 5, 1, 1},  {"one", 1, 1, 0, 0, 1, 1},
                {"tall", 40, 2, 1, 0, 38, 2},     {"nothing", 13, 17, 4, 4, 0, 5}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    dense a = make(shapes[k].rows, shapes[k].cols, 1), b = make(shapes[k].rows, shapes[k].cols, 2);
    long r0 = shapes[k].r0, c0 = shapes[k].c0, rows = shapes[k].part_rows, cols = shapes[k].part_cols;
    operations(shapes[k].name, dense_view(a, r0, c0, rows, cols), dense_view(b, r0, c0, rows, cols), r0, c0);
    dense_free(a);
    dense_free(b);
  }
  in_place(9, 8);
  in_place(2, 30);
  matrix_times_vector(20, 31);
  matrix_times_vector(3, 50);
  scalars();
  printf("%s\n", failures ? "failed" : "ok");
  return failures ? 1 : 0;
}
