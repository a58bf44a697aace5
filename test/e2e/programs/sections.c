// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions into array sections: operators, types, kinds of arrays, shapes of subscripts, prior values.
// Sums of floats are sums of small integers, so that their order does not show.
#include "show.h"
#include <complex.h>
#include <math.h>

enum { N = 3001, BINS = 37 };

/* Input that is a store. */
static int *bins(int n, int m) {
  int *bin = malloc(sizeof(int) * n);
#pragma cofuse store(bin[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    bin[i] = (int)((unsigned)i * 2654435761u >> 7) % m;
  for (int i = 0; i < n; i++)
    bin[i] = bin[i] < 0 ? -bin[i] : bin[i];
  return bin;
}

static void histogram(void) {
  int *bin = bins(N, BINS);
  double *w = malloc(sizeof(double) * N), h[BINS];
  long count[BINS] = {3};
#pragma cofuse store(w[0 : N])
  for (int k = 0; k < BINS; k++)
    h[k] = k;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    w[i] = i % 17 - 8;
#pragma cofuse forall reduction(+ : h[0 : BINS], count[0 : BINS])
  for (int i = 0; i < N; i++) {
    h[bin[i]] += w[i];
    count[bin[i]]++;
  }
  show_f64("h", h, BINS);
  show("count", count, sizeof count);
  free(w), free(bin);
}

/* A store, part of a store, and what lies around it. */
static void in_store(void) {
  int *bin = bins(N, 8);
  long *h = calloc(64, sizeof *h);
#pragma cofuse store(h[0 : 64])
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    h[i] = i;
#pragma cofuse forall reduction(+ : h[10 : 8])
  for (int i = 0; i < N; i++)
    h[10 + bin[i]] += i;
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    h[i] *= 2;
  show("h", h, 64 * sizeof *h);
  free(h), free(bin);
}

struct world {
  int n;
  double *h;
  float fixed[5];
  struct {
    long c[4];
  } in;
};

static void members(void) {
  int *bin = bins(N, 5);
  struct world world = {5, malloc(5 * sizeof(double)), {1, 2, 3}, {{7, 8}}}, *w = &world;
  for (int k = 0; k < 5; k++)
    w->h[k] = -k;
#pragma cofuse forall reduction(+ : w->h[0 : w->n], w->fixed[0 : 5]) reduction(^ : w->in.c[1 : 3])
  for (int i = 0; i < N; i++) {
    if (i % 3)
      w->h[bin[i]] -= 2;
    *(w->fixed + bin[i]) += 1;
    w->in.c[1 + bin[i] % 3] ^= i;
  }
  show_f64("h", w->h, 5);
  show_f32("fixed", w->fixed, 5);
  show("c", w->in.c, sizeof w->in.c);
#pragma cofuse forall reduction(+ : world.fixed[1 : 4]) reduction(max : world.in.c[0])
  for (int i = 0; i < N; i++) {
    world.fixed[1 + bin[i] % 4] += 1;
    if (i * 3L > world.in.c[0])
      world.in.c[0] = i * 3L;
  }
  show_f32("fixed", w->fixed, 5);
  show("c", w->in.c, sizeof w->in.c);
  free(w->h), free(bin);
}

/* Sums per component: an inner loop over a constant, a variable and a triangular number of components. */
static void components(void) {
  int n = 400, m = 9;
  double(*u)[m] = malloc(sizeof(double[n][m])), s[9] = {0.5}, *t = calloc(m, sizeof *t), c[3] = {0};
#pragma cofuse store(u[0 : n][0 : m])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      u[i][k] = (i * 7 + k) % 23;
#pragma cofuse forall reduction(+ : s[ : m], t[0 : m]) reduction(+ : c[0 : 3])
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++)
      s[k] += u[i][k];
    for (int k = m - 1; k >= i % m; k--)
      t[k] = t[k] + u[i][k] * 2;
    for (int k = 0; k < 3; k++)
      c[k] += k;
  }
  show_f64("s", s, 9);
  show_f64("t", t, m);
  show_f64("c", c, 3);
  free(u), free(t);
}

static void rows(void) {
  int n = 57, m = 43;
  int(*u)[m] = malloc(sizeof(int[n][m]));
  int row[57] = {0}, column[43], hit[4][5] = {{0}};
  for (int j = 0; j < m; j++)
    column[j] = -1000 - j;
#pragma cofuse store(u[0 : n][0 : m])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      u[i][j] = (i * 31 + j * 17) % 101 - 50;
#pragma cofuse forall collapse(2) reduction(+ : row[0 : n]) reduction(max : column[0 : m])                   \
    reduction(+ : hit[0 : 4])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      row[i] += u[i][j];
      if (u[i][j] > column[j])
        column[j] = u[i][j];
      hit[i % 4][j % 5] += 1;
    }
  show("row", row, sizeof row);
  show("column", column, sizeof column);
  show("hit", hit, sizeof hit);
  free(u);
}

static void vla(void) {
  int n = 700, p = 6, q = 4;
  int *bin = bins(n, 3);
  double table[p][q], (*heap)[q] = calloc(p, sizeof *heap);
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++)
      table[i][j] = i - j;
#pragma cofuse forall reduction(+ : table[1 : 3][0 : q]) reduction(+ : heap[2 : 3])
  for (int i = 0; i < n; i++) {
    table[1 + bin[i]][i % q] += 3;
    (*(heap + 2 + bin[i]))[i % q] += 1;
    *(heap[2] + i % q) += 1;
  }
  show_f64("table", &table[0][0], p * q);
  show_f64("heap", &heap[0][0], p * q);
  free(heap), free(bin);
}

#define LOOP(DIRECTIVE) _Pragma(DIRECTIVE) for (int i = 0; i < N; i++)
#define OPERATORS(T, NAME, START)                                                                            \
  static void NAME(void) {                                                                                   \
    enum { K = 11 };                                                                                         \
    int *bin = bins(N, K);                                                                                   \
    T *x = malloc(sizeof(T) * N), add[K], mul[K], mn[K], mx[K], both[K], any[K];                             \
    _Pragma("cofuse store(x[0:N])") LOOP("cofuse forall") x[i] = (T)((i * 7 + START) % 90);                  \
    for (int k = 0; k < K; k++) {                                                                            \
      add[k] = (T)k;                                                                                         \
      mul[k] = 3;                                                                                            \
      mn[k] = (T)(k * 9);                                                                                    \
      mx[k] = (T)(k * 9);                                                                                    \
      both[k] = k != 3;                                                                                      \
      any[k] = k == 4;                                                                                       \
    }                                                                                                        \
    LOOP("cofuse forall reduction(+ : add[0:K]) reduction(* : mul[0:K])") {                                  \
      int k = bin[i];                                                                                        \
      add[k] += x[i];                                                                                        \
      mul[k] *= (T)(x[i] > 80 && i % 300 == 0 ? 2 : 1);                                                      \
    }                                                                                                        \
    LOOP("cofuse forall reduction(min : mn[0:K]) reduction(max : mx[0:K])") {                                \
      if (x[i] < mn[bin[i]])                                                                                 \
        mn[bin[i]] = x[i];                                                                                   \
      mx[bin[i]] = x[i] > mx[bin[i]] ? x[i] : mx[bin[i]];                                                    \
    }                                                                                                        \
    LOOP("cofuse forall reduction(&& : both[0:K]) reduction(|| : any[0:K])") {                               \
      int k = bin[i];                                                                                        \
      both[k] = both[k] && (x[i] != 5 || k != 7);                                                            \
      any[k] = any[k] || (x[i] == 6 && k == 2);                                                              \
    }                                                                                                        \
    show("add", add, sizeof add);                                                                            \
    show("mul", mul, sizeof mul);                                                                            \
    show("min", mn, sizeof mn);                                                                              \
    show("max", mx, sizeof mx);                                                                              \
    show("and", both, sizeof both);                                                                          \
    show("or", any, sizeof any);                                                                             \
    free(x), free(bin);                                                                                      \
  }
OPERATORS(int, ops_int, -20)
OPERATORS(unsigned char, ops_u8, 3)
OPERATORS(short, ops_i16, -7)
OPERATORS(unsigned long, ops_u64, 11)
OPERATORS(float, ops_f32, -20)
OPERATORS(double, ops_f64, 1)

static void bit_operators(void) {
  enum { K = 7 };
  int *bin = bins(N, K);
  unsigned a[K], o[K] = {1};
  long x[K] = {5, 4};
  _Bool seen[K] = {1}, all[K];
  for (int k = 0; k < K; k++)
    a[k] = ~0u - k, all[k] = k < 5;
#pragma cofuse forall reduction(& : a[0 : K]) reduction(| : o[0 : K]) reduction(^ : x[0 : K])                \
    reduction(|| : seen[0 : K]) reduction(&& : all[0 : K])
  for (int i = 0; i < N; i++) {
    int k = bin[i];
    a[k] &= ~(unsigned)(i << k);
    if (i % 2)
      o[k] |= (unsigned)i << 3;
    x[k] = x[k] ^ i;
    seen[k] = seen[k] || i > 2995;
    all[k] = all[k] && i < 2998;
  }
  show("and", a, sizeof a);
  show("or", o, sizeof o);
  show("xor", x, sizeof x);
  show("seen", seen, sizeof seen);
  show("all", all, sizeof all);
  free(bin);
}

/* Elements that no iteration touches keep their bits: a negative zero, a NaN, a truth value of 5. */
static void untouched(void) {
  double s[6] = {-0.0, 0.0, NAN, INFINITY, -0.0, 1}, p[3] = {-0.0, NAN, 2}, m[3] = {-0.0, NAN, -INFINITY};
  int truth[4] = {5, 0, 1, 7};
#pragma cofuse forall reduction(+ : s[0 : 6]) reduction(* : p[0 : 3]) reduction(max : m[0 : 3])
  for (int i = 0; i < 1000; i++) {
    if (i > 5000)
      s[i % 6] += 1, p[i % 3] *= 2;
    s[4] += -0.0;
    double x = i == 7 ? 3 : -5000;
    if (x > m[2 * (i % 2)])
      m[2 * (i % 2)] = x;
  }
#pragma cofuse forall reduction(&& : truth[0 : 4])
  for (int i = 0; i < 1000; i++)
    truth[2] = truth[2] && i < 900;
  printf("%s %a %a %a %a %a %a\n", case_name, s[0], s[1], s[2] == s[2] ? s[2] : 99, s[3], s[4], s[5]);
  printf("%s %a %a %a\n", case_name, p[0], p[1] == p[1] ? p[1] : 99, p[2]);
  printf("%s %a %a %a\n", case_name, m[0], m[1] == m[1] ? m[1] : 99, m[2]);
  show("truth", truth, sizeof truth);
}

/* NaN in the data, by both forms of a maximum. */
static void nans(void) {
  double x[N], a[5], b[5];
#pragma cofuse store(x)
  for (int k = 0; k < 5; k++)
    a[k] = b[k] = k == 2 ? NAN : -3;
  for (int i = 0; i < N; i++)
    x[i] = i % 11 == 0 ? NAN : i % 5 == 4 ? -9 : i % 50;
#pragma cofuse forall reduction(max : a[0 : 5]) reduction(max : b[0 : 5])
  for (int i = 0; i < N; i++) {
    if (x[i] > a[i % 5])
      a[i % 5] = x[i];
    b[i % 5] = fmax(b[i % 5], x[i]);
  }
  show_f64("if", a, 5);
  show_f64("fmax", b, 5);
}

static void complex_sums(void) {
  int *bin = bins(N, 6);
  double _Complex z[6] = {1 + 2 * I}, v[N];
  float _Complex f[8] = {0};
#pragma cofuse store(v)
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    v[i] = i % 9 - (i % 4) * I;
#pragma cofuse forall reduction(+ : z[0 : 6], f[2 : 6])
  for (int i = 0; i < N; i++) {
    z[bin[i]] += v[i];
    f[2 + bin[i]] += 1.0f - 2.0f * I;
  }
  show("z", z, sizeof z);
  show("f", f, sizeof f);
  free(bin);
}

static double field[BINS];
static void deposit(int at, double what) { field[at] += what; }

/* Updates in a function that names the array itself; scalars beside sections. */
static void in_function(void) {
  int *bin = bins(N, BINS), n = 0;
  double total = 0;
#pragma cofuse forall reduction(+ : field[0 : BINS], total) reduction(max : n)
  for (int i = 0; i < N; i++) {
    deposit(bin[i], i % 4);
    total += 2;
    if (bin[i] > n)
      n = bin[i];
  }
  show_f64("field", field, BINS);
  printf("%s %g %d\n", case_name, total, n);
  free(bin);
}

/* One after the other in one window, results read by tasks and by the host, in a loop of time steps. */
static void steps(void) {
  int n = 512, m = 16;
  int *bin = bins(n, m);
  double *x = calloc(n, sizeof *x), *h = calloc(m, sizeof *h);
#pragma cofuse store(x[0 : n], h[0 : m])
  for (int step = 0; step < 4; step++) {
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      x[i] = x[i] + i % 3 - 1;
#pragma cofuse forall reduction(+ : h[0 : m])
    for (int i = 0; i < n; i++)
      h[bin[i]] += x[i];
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      x[i] -= h[bin[i]] / 1024 > 1 ? 1 : 0;
    if (step == 1)
      h[3] += 1;
  }
  show_f64("h", h, m);
  show_f64("x", x, n);
  free(x), free(h), free(bin);
}

/* Loops that must run serially: the section is read, or named by another pointer, or empty. */
static void serial(void) {
  int n = 300;
  long h[12] = {0}, g[12] = {0}, *alias = h, *none = NULL;
  int zero = (int)(h[0] & 1);
  (void)zero;
#pragma cofuse forall reduction(+ : h[0 : 12])
  for (int i = 0; i < n; i++)
    h[i % 12] += alias[(i + 5) % 12] % 3 + 1;
#pragma cofuse forall reduction(+ : g[0 : 12]) reduction(+ : alias[0 : 12])
  for (int i = 0; i < n; i++)
    g[i % 12] += 1, alias[i % 7] += 2;
#pragma cofuse forall reduction(+ : h[0 : 6]) reduction(+ : alias[5 : 6])
  for (int i = 0; i < n; i++)
    h[i % 6] += 1, alias[5 + i % 6] += 2;
#pragma cofuse forall reduction(+ : none[0 : zero])
  for (int i = 0; i < n; i++)
    if (i < 0)
      none[i] += 1;
  show("h", h, sizeof h);
  show("g", g, sizeof g);
}

/* More bins than iterations, and more iterations than one block of every thread. */
static void sizes(void) {
  int n = 40, m = 20000, many = 300000;
  int *h = calloc(m, sizeof *h), *g = calloc(m, sizeof *g);
#pragma cofuse forall reduction(+ : h[0 : m])
  for (int i = 0; i < n; i++)
    h[i * 499] += i;
#pragma cofuse forall reduction(+ : g[0 : m])
  for (int i = 0; i < many; i++)
    g[(unsigned)i * 40503u % m] += i;
#pragma cofuse forall reduction(+ : g[5 : 3])
  for (int i = 0; i < many; i++)
    g[5 + i % 3] += i & 7;
  show("h", h, m * sizeof *h);
  show("g", g, m * sizeof *g);
  free(h), free(g);
}

int main(int argc, char **argv) {
  UNUSED_ARGS;
  CASE(histogram);
  CASE(in_store);
  CASE(members);
  CASE(components);
  CASE(rows);
  CASE(vla);
  CASE(ops_int);
  CASE(ops_u8);
  CASE(ops_i16);
  CASE(ops_u64);
  CASE(ops_f32);
  CASE(ops_f64);
  CASE(bit_operators);
  CASE(untouched);
  CASE(nans);
  CASE(complex_sums);
  CASE(in_function);
  CASE(steps);
  CASE(serial);
  CASE(sizes);
  return 0;
}
