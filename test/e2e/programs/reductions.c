// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: operators and types, prior values, targets, several at once, NaN in minima and maxima.
// Floating-point sums use values whose sums are exact, so that their order cannot show.
#include "show.h"
#include <math.h>
#include <stdbool.h>

enum { N = 173 };

#define INTEGER(T)                                                                                           \
  do {                                                                                                       \
    T *a = malloc(N * sizeof *a), r[7] = {3, 1, (T) - 1, 0, (T)85, 100, (T)2};                               \
    for (int i = 0; i < N; i++)                                                                              \
      a[i] = (T)(i * 37 + 1);                                                                                \
    T sum = r[0], product = r[1], all = r[2], any = r[3], odd = r[4], lo = r[5], hi = r[6];                  \
    _Pragma("cofuse store(a[0:N])") _Pragma(                                                                 \
        "cofuse forall reduction(+ : sum) reduction(* : product) reduction(& : all) reduction(| : any)     \
                           reduction(^ : odd) reduction(min : lo) reduction(max : hi)") for (int i = 0;      \
                                                                                             i < N; i++) {   \
      sum += a[i];                                                                                           \
      product *= (T)((T) - 1 > 0 ? a[i] | 1 : i % 60 == 7 ? -3 : 1);                                         \
      all &= (T)(a[i] | 12);                                                                                 \
      any |= (T)(a[i] & 0x55);                                                                               \
      odd ^= a[i];                                                                                           \
      if (a[i] < lo)                                                                                         \
        lo = a[i];                                                                                           \
      hi = a[i] > hi ? a[i] : hi;                                                                            \
    }                                                                                                        \
    T out[] = {sum, product, all, any, odd, lo, hi};                                                         \
    show(#T, out, sizeof out);                                                                               \
    free(a);                                                                                                 \
  } while (0)
static void integers(void) {
  INTEGER(unsigned char);
  INTEGER(signed char);
  INTEGER(char);
  INTEGER(short);
  INTEGER(unsigned short);
  INTEGER(int);
  INTEGER(unsigned);
  INTEGER(long);
  INTEGER(unsigned long);
  INTEGER(long long);
}

static void logical(void) {
  int *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++)
    a[i] = i + 1;
  int every = 1, some = 0, none = 0, five = 5;
  bool b = true, c = false;
  double d = 2.5;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall reduction(&& : every, b, five) reduction(|| : some, c, none)
  for (int i = 0; i < N; i++) {
    every = every && a[i];
    b = b && a[i] < 100;
    five = five && a[i] > 0;
    some = some || a[i] == 77;
    c = c || a[i] < 0;
    none = none || a[i] > 1000;
  }
#pragma cofuse forall reduction(+ : d)
  for (int i = 0; i < N; i++)
    d += a[i] > 3 && a[i] % 2;
  printf("%s %d %d %d %d %d %d %g\n", case_name, every, some, none, five, b, c, d);
  free(a);
}

static void floats(void) {
  double *x = malloc(N * sizeof *x), s = 10, p = 1, lo = 1e9, hi = -1e9, m2 = 0;
  float *f = malloc(N * sizeof *f), fs = 0.5f, fp = 1;
  for (int i = 0; i < N; i++)
    x[i] = (i * 31 % N - 40) * 0.25, f[i] = (float)(i % 16);
#pragma cofuse store(x[0 : N], f[0 : N])
#pragma cofuse forall reduction(+ : s, fs, m2) reduction(* : p, fp) reduction(min : lo) reduction(max : hi)
  for (int i = 0; i < N; i++) {
    s += x[i];
    s -= 2;
    fs = fs + f[i];
    m2 += x[i] * x[i];
    p *= i % 50 ? 1 : 2;
    fp = (i % 60 == 7 ? 0.5f : 1) * fp;
    lo = fmin(lo, x[i]);
    hi = hi < x[i] ? x[i] : hi;
  }
  show_num("s", s), show_num("fs", fs), show_num("p", p), show_num("fp", fp), show_num("lo", lo),
      show_num("hi", hi);
  show_num("m2", m2);
  fs = 0;
#pragma cofuse forall reduction(+ : fs)
  for (int i = 0; i < N; i++)
    fs += x[i] * 2.0; /* float += double */
  show_num("fs", fs);
  long count = 0;
#pragma cofuse forall reduction(+ : count)
  for (int i = 0; i < N; i++)
    if (x[i] > 0)
      count++;
    else if (x[i] < -5)
      --count;
  show_num("count", count);
  free(x), free(f);
}

/* Each accepted form of a minimum or maximum with NaN, infinities and both zeros in the data. */
#define PRAGMA(text) _Pragma(#text)
#define FORM(label, op, statement)                                                                           \
  do {                                                                                                       \
    double m = starts[k];                                                                                    \
    _Pragma("cofuse store(x[0:N])") PRAGMA(cofuse forall reduction(op : m)) for (int i = 0; i < n; i++)      \
        statement;                                                                                           \
    show_f64(label, &m, 1);                                                                                  \
  } while (0)
static void nan_forms(void) {
  static const double starts[] = {0, INFINITY, -INFINITY, NAN, 1e300};
  for (int k = 0; k < 5; k++)
    for (int n = 0; n <= N; n += 43) {
      double *x = malloc(N * sizeof *x);
      for (int i = 0; i < N; i++)
        x[i] = i % 9 == 0 ? NAN : i % 50 == 4 ? INFINITY : i % 50 == 7 ? -INFINITY : (i * 71 % 100) - 50;
      FORM("if<", min, if (x[i] < m) m = x[i]);
      FORM("if>", max, if (x[i] > m) m = x[i]);
      FORM("if m>", min, if (m > x[i]) m = x[i]);
      FORM("?<", min, m = x[i] < m ? x[i] : m);
      FORM("?>", max, m = x[i] > m ? x[i] : m);
      FORM("?m<", max, m = m < x[i] ? x[i] : m);
      FORM("fmin", min, m = fmin(m, x[i]));
      FORM("fmin2", min, m = fmin(x[i], m));
      FORM("fmax", max, m = fmax(m, x[i]));
      FORM("fmax2", max, m = fmax(x[i], m));
      FORM("?m>", max, m = m > x[i] ? m : x[i]);
      FORM("?m>=", max, m = m >= x[i] ? m : x[i]);
      FORM("if<=", min, if (x[i] <= m) m = x[i]);
      FORM("abs", max, m = fmax(m, fabs(x[i])));
      FORM("expr", max, if (x[i] * 2 + 1 > m) m = x[i] * 2 + 1);
      free(x);
    }
}

static void zeros(void) {
  double x[N], s = -0.0, m = 0.0, q = -0.0;
  for (int i = 0; i < N; i++)
    x[i] = i % 2 ? -0.0 : -0.0;
#pragma cofuse store(x)
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++)
    s += x[i];
  show_f64("s", &s, 1);
#pragma cofuse forall reduction(+ : q)
  for (int i = 0; i < 0; i++)
    q += x[i];
  show_f64("q", &q, 1);
#pragma cofuse forall reduction(min : m)
  for (int i = 0; i < N; i++)
    if (x[i] < m)
      m = x[i];
  show_f64("m", &m, 1);
}

struct result {
  int id;
  double sum, max[3];
};
static double global_sum = 1;
static void targets(void) {
  double *x = malloc(N * sizeof *x), *dot = calloc(4, sizeof *dot), scalar = 5, *ptr = &scalar,
         local[3] = {1, 2, 3};
  struct result r = {0}, *rp = &r;
  for (int i = 0; i < N; i++)
    x[i] = i % 13 - 4;
#pragma cofuse store(x[0 : N], dot[0 : 4])
#pragma cofuse forall reduction(+ : dot[0], scalar)
  for (int i = 0; i < N; i++) {
    dot[0] += x[i];
    scalar += x[i];
  }
#pragma cofuse forall reduction(+ : dot[1]) reduction(max : dot[2])
  for (int i = 0; i < N; i++) {
    dot[1] += x[i] * dot[0];
    if (x[i] > dot[2])
      dot[2] = x[i];
  }
#pragma cofuse forall reduction(+ : *ptr)
  for (int i = 0; i < N; i++)
    *ptr += x[i];
#pragma cofuse forall reduction(+ : r.sum)
  for (int i = 0; i < N; i++)
    r.sum += x[i];
#pragma cofuse forall reduction(+ : rp->sum) reduction(max : rp->max[1])
  for (int i = 0; i < N; i++) {
    rp->sum += x[i] * 2;
    rp->max[1] = fmax(rp->max[1], x[i]);
  }
#pragma cofuse forall reduction(+ : local[1], global_sum)
  for (int i = 0; i < N; i++) {
    local[1] += x[i];
    global_sum += 2;
  }
  int k = 2;
#pragma cofuse forall reduction(+ : local[k])
  for (int i = 0; i < N; i++)
    local[k] += x[i];
  printf("%s %g %g %g %g %g %g %g %g %g %g\n", case_name, dot[0], dot[1], dot[2], scalar, r.sum, r.max[1],
         local[1], local[2], global_sum, *ptr);
  double before = scalar;
#pragma cofuse forall reduction(+ : scalar)
  for (int i = 0; i < N; i++)
    scalar += before + x[i];
  show_num("scalar", scalar);
  free(x), free(dot);
}

static void zero_dim(void) {
  double x[N], s = 3, t = 0, best = -100;
  for (int i = 0; i < N; i++)
    x[i] = i % 7;
#pragma cofuse store(x, s, t, best)
  for (int it = 0; it < 3; it++) {
#pragma cofuse forall reduction(+ : s) reduction(max : best)
    for (int i = 0; i < N; i++) {
      s += x[i];
      best = x[i] > best ? x[i] : best;
    }
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += s > 700;
#pragma cofuse task
    t = s * 2 + best;
    if (it == 1)
      s = 0;
  }
  show_num("s", s), show_num("t", t), show_num("best", best), show_f64("x", x, N);
}

static void histogram(void) {
  int *k = malloc(N * sizeof *k), h[10] = {1, 2, 3};
  double *w = calloc(10, sizeof *w);
  for (int i = 0; i < N; i++)
    k[i] = i * i % 10;
#pragma cofuse store(k[0 : N], w[0 : 10])
#pragma cofuse forall reduction(+ : h[0 : 10])
  for (int i = 0; i < N; i++)
    h[k[i]] += i;
  int n = 10;
#pragma cofuse forall reduction(+ : w[0 : n])
  for (int i = 0; i < N; i++)
    w[k[i]] += 0.5 * i;
#pragma cofuse forall reduction(+ : h[0 : 3])
  for (int i = 0; i < N; i++)
    h[i % 3] += 1;
  show("h", h, sizeof h), show_f64("w", w, 10);
  free(k), free(w);
}

static void shapes(void) {
  enum { M = 29 };
  double(*a)[M] = malloc(N * sizeof *a), s = 0, hi = -1e9, rows[N], t = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = (i * 7 + j * 3) % 11;
#pragma cofuse store(a[0 : N], rows)
#pragma cofuse forall collapse(2) reduction(+ : s) reduction(max : hi)
  for (int i = 1; i < N - 1; i++)
    for (int j = M - 1; j > 0; j -= 2) {
      s += a[i][j] - a[i - 1][j];
      if (a[i][j] + j > hi)
        hi = a[i][j] + j;
    }
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      s += a[i][j];
#pragma cofuse forall collapse(2) reduction(+ : t)
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++)
      t += a[i][j] * (j + 1);
#pragma cofuse forall reduction(+ : t)
  for (int i = 0; i < N; i++) {
    rows[i] = 0;
    for (int j = 0; j < M; j++)
      rows[i] += a[i][j];
    t += rows[i];
  }
#pragma cofuse forall reduction(+ : t)
  for (int i = 0; i < 50; i++)
    t += i; /* touches no array */
#pragma cofuse forall reduction(+ : t)
  for (int j = 0; j < M; j++)
    t += a[N / 2][j]; /* one row */
  show_num("s", s), show_num("hi", hi), show_num("t", t), show_f64("rows", rows, N);
  free(a);
}

/* Not what `reduction` promises. */
static void misuse(void) {
  int x[N], s = 0, arg = -1, m = -1;
  for (int i = 0; i < N; i++)
    x[i] = i * 29 % 101;
#pragma cofuse store(x)
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++) {
    s += x[i];
    x[i] = s;
  }
  show("prefix", x, sizeof x);
#pragma cofuse forall reduction(max : m)
  for (int i = 0; i < N; i++)
    if (x[i] > m) {
      m = x[i];
      arg = i;
    }
  printf("%s %d %d %d\n", case_name, s, m, arg);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    s += x[i]; /* the clause was forgotten */
#pragma cofuse forall reduction(* : s)
  for (int i = 0; i < N; i++)
    s += x[i]; /* the wrong operator */
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++)
    s = x[i] - s;
  printf("%s %d\n", case_name, s);
}

int main(int argc, char **argv) {
  CASE(integers);
  CASE(logical);
  CASE(floats);
  CASE(nan_forms);
  CASE(zeros);
  CASE(targets);
  CASE(zero_dim);
  CASE(histogram);
  CASE(shapes);
  CASE(misuse);
  return 0;
}
