// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses under conditions that keep them inside their rows, or do not: neighbours at the border, masks,
// conditional writes to shifted elements, rows that run into the next one.
#include "show.h"
#include <complex.h>

enum { N = 23, M = 17 };

static void fill(int n, int m, double u[n][m]) {
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      u[i][j] = (i * 37 + j * 11) % 101 - 50;
}

static void neighbours(void) {
  double u[N][M], v[N][M], w[N][M];
#pragma cofuse store(u, v, w)
  fill(N, M, u);
  for (int step = 0; step < 3; step++) {
#pragma cofuse forall collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        double x = 0;
        if (j > 0)
          x += u[i][j - 1];
        if (j < M - 1)
          x += 2 * u[i][j + 1];
        if (i)
          x += 3 * u[i - 1][j];
        if (!(i >= N - 1))
          x += 4 * u[i + 1][j];
        v[i][j] = x / 8;
      }
#pragma cofuse forall collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        u[i][j] = v[i][j] + 1;
#pragma cofuse forall collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        w[i][j] = (j != 0 ? u[i][j - 1] : 0) + (j == M - 1 ? 0 : u[i][j + 1]) +
                  (i > 0 && j > 1 && i - 1 < N - 2 ? u[i - 1][j - 2] : 7);
  }
  show_f64("u", &u[0][0], N * M);
  show_f64("w", &w[0][0], N * M);
}

/* The condition does not tell: the neighbour may be in the row before or behind. */
static void masks(void) {
  int n = 40, m = 9;
  int *mask = malloc(sizeof(int) * n * m);
  double(*u)[m] = malloc(sizeof(double[n][m])), (*v)[m] = malloc(sizeof(double[n][m])), s = 0;
  double *flat = &u[0][0];
#pragma cofuse store(u[0 : n][0 : m], v[0 : n][0 : m])
#pragma cofuse store(mask[0 : n][0 : m])
  fill(n, m, u);
  for (int k = 0; k < n * m; k++)
    mask[k] = k % 5 && k > 0 && k < n * m - 12;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double x = 1;
      if (mask[i * m + j])
        x += flat[i * m + j - 1] - flat[i * m + j + 1] * 2 + flat[i * m + j + 12];
      v[i][j] = x;
    }
#pragma cofuse forall reduction(+ : s)
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      s += flat[i * m + j - 1] + 3 * flat[i * m + j + 1] + flat[i * m + j + m - 2];
#pragma cofuse forall collapse(2)
  for (int i = n - 2; i > 0; i--)
    for (int j = 0; j < m; j++)
      v[i][j] += flat[i * m - j] + flat[(i - 1) * m + 2 * j];
  show_f64("v", &v[0][0], n * m);
  show_num("s", s);
  free(u), free(v), free(mask);
}

static void writes(void) {
  double u[N][M], v[N][M];
  int a[200];
#pragma cofuse store(u, v, a)
  fill(N, M, u);
  fill(N, M, v);
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (j > 2)
        v[i][j - 3] += u[i][j];
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      if (i < 2 || j + 1 >= M)
        continue;
      v[i - 2][j + 1] = u[i][j] * 2;
    }
#pragma cofuse forall
  for (int i = 0; i < 200; i++)
    a[i] = i;
#pragma cofuse forall
  for (int i = 0; i < 200; i++)
    if (i >= 50 && i < 120)
      a[i - 50] = -i;
  show_f64("v", &v[0][0], N * M);
  show("a", a, sizeof a);
}

/* Types, steps and directions of counters. */
static void counters(void) {
  enum { R = 31, S = 12 };
  int u[R][S], v[R][S];
  unsigned m = S;
  size_t n = R;
#pragma cofuse store(u, v)
#pragma cofuse forall collapse(2)
  for (size_t i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      u[i][j] = (int)(i * 7 + j);
#pragma cofuse forall collapse(2)
  for (size_t i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      v[i][j] = 0;
#pragma cofuse forall collapse(2)
  for (size_t i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++) {
      int x = j > 0 ? u[i][j - 1] : -1;
      if (j + 1 < m)
        x += 2 * u[i][j + 1];
      if (i > 0)
        x += 3 * u[i - 1][j];
      if (i + 1 < n && j != m - 1)
        x += 5 * u[i + 1][j + 1];
      if (j - 1 < m - 1) /* wraps: not for 0 */
        x -= u[i][j - 1];
      v[i][j] = x;
    }
#pragma cofuse forall collapse(2)
  for (long i = R - 1; i >= 0; i -= 2)
    for (signed char j = S - 1; j >= 0; j--) {
      if (j > 3)
        v[i][j] -= u[i][j - 4];
      if (i < 20 && 20 - i > 3)
        v[i][j] += u[i + 3][j];
      if (j == 0)
        v[i][j] += u[i][j + 11];
    }
#pragma cofuse forall collapse(2)
  for (int i = 1; i < R; i += 3)
    for (int j = 0; j < S; j += 5)
      if (j >= 5 && j <= 6 + 4)
        v[i][j] += u[i - 1][j + 1] + u[i][j - 5];
  show("v", v, sizeof v);
}

/* Sequential inner loops, of known, moving and unknown length. */
static void inner(void) {
  int n = 29, m = 14;
  double(*u)[m] = malloc(sizeof(double[n][m])), *s = malloc(sizeof *s * n);
  int *end = malloc(sizeof *end * n);
#pragma cofuse store(u[0 : n][0 : m], s[0 : n], end[0 : n])
  fill(n, m, u);
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double x = 0;
    for (int k = 0; k < m; k++) {
      if (k > 0)
        x += u[i][k - 1];
      if (k < m - 2 && i > 0)
        x -= u[i - 1][k + 2];
      if (k != m - 1)
        x += u[i][k + 1] * (i % 2);
    }
    for (int k = m - 1; k >= 0; k--)
      if (k)
        x += u[i][k - 1];
    for (int k = i % m; k < m; k++)
      if (k >= 2 && k > i)
        x += u[i][k - 2];
    for (size_t k = 0; k < (size_t)m; k++)
      if (k > 0)
        x += u[i][k - 1];
    s[i] = x;
    end[i] = i % m;
  }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int k = 0; k < end[i]; k++)
      if (k > 0)
        s[i] += u[i][k - 1];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      if (k > 0)
        u[i][k - 1] = s[i] + k;
  show_f64("s", s, n);
  show_f64("u", &u[0][0], n * m);
  free(u), free(s), free(end);
}

static float at(int n, int m, int l, const float *p, int i, int j, int k) {
  return i < 0 || i >= n || j < 0 || j >= m || k < 0 || k >= l ? 0 : p[(i * m + j) * l + k];
}

/* Conditions in a function, on its parameters; three dimensions. */
static void functions(void) {
  int n = 11, m = 7, l = 5;
  float *p = malloc(sizeof(float) * n * m * l), *out = malloc(sizeof(float) * n * m * l);
#pragma cofuse store(p[0 : n][0 : m][0 : l], out[0 : n][0 : m][0 : l])
#pragma cofuse forall collapse(3)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        p[(i * m + j) * l + k] = i * 3 - j + k;
#define AT(x, y, z) at(n, m, l, p, x, y, z)
#pragma cofuse forall collapse(3)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        out[(i * m + j) * l + k] = AT(i - 1, j, k) + 2 * AT(i + 1, j, k) + 3 * AT(i, j - 1, k) +
                                   4 * AT(i, j + 1, k) + 5 * AT(i, j, k - 1) + 6 * AT(i, j, k + 1) +
                                   AT(i + 1, j - 1, k + 1);
  show_f32("out", out, n * m * l);
  free(p), free(out);
}

/* One address under several conditions, conditions that say nothing, that never hold, that always do. */
static void several(void) {
  double u[N][M], v[N][M];
  int lo = 3, hi = 9, big = 1000;
#pragma cofuse store(u, v)
  fill(N, M, u);
  fill(N, M, v);
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      double x = 0;
      if (j >= 2)
        x += u[i][j - 2];
      if (j >= 5 && i > 0)
        x += u[i][j - 2] * 2;
      if (j >= lo && j <= hi)
        x += u[i][j - lo] + u[i][j + 7];
      if (j < big && j > 0 - big && (i < j || j > 4 || i > 3) && j > 0)
        x += u[i][j - 1];
      if (j > big)
        x += u[i][j + 500];
      if (i < 0)
        x += u[i - 900][j];
      if (i == 5 && j == 16)
        x += u[i + 17][j - 16];
      if (j > 0)
        if (j < M - 1)
          x += u[i][j - 1] * u[i][j + 1];
        else
          x += u[i][j - 1];
      else
        x -= u[i][j + 1];
      v[i][j] = x;
    }
  show_f64("v", &v[0][0], N * M);
}

static void complex_rows(void) {
  double _Complex u[N][M], v[N][M];
  int flag = 0;
#pragma cofuse store(u, v)
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[i][j] = i - j * I;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      v[i][j] = j > 0 ? u[i][j - 1] : 1 + I;
      if (j < M - 1 && (flag || creal(u[i][j + 1]) > 3))
        v[i][j] += cimag(u[i][j + 1]);
    }
  show("v", v, sizeof v);
}

int main(int argc, char **argv) {
  UNUSED_ARGS;
  CASE(neighbours);
  CASE(masks);
  CASE(writes);
  CASE(counters);
  CASE(inner);
  CASE(functions);
  CASE(several);
  CASE(complex_rows);
  return 0;
}
