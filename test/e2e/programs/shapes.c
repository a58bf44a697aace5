// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kinds of arrays and kinds of access: VLAs, flat pointers, structs, views, aliases, strides, extents 0
// and 1.
#include "show.h"

static double *ramp(long n, double lo, double step) {
  double *x = malloc((n ? n : 1) * sizeof *x);
  for (long i = 0; i < n; i++)
    x[i] = lo + step * i;
  return x;
}

static void vla(void) {
  int n = 13, m = 9;
  double a[n][m], (*b)[m] = malloc(sizeof(double[n][m])), *c = malloc(n * m * sizeof *c);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = i * 10 + j, b[i][j] = 0, c[i * m + j] = i;
#pragma cofuse store(a, b[0 : n], c[0 : n][0 : m])
#pragma cofuse forall collapse(2)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      c[i * m + j] += *(*(b + i) + j) + (&a[i][0])[j] + j[a[i]];
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = *(c + i * m + j) * 2;
  show_f64("a", &a[0][0], n * m), show_f64("b", &b[0][0], n * m), show_f64("c", c, n * m);
  free(b), free(c);
}

static void add(int n, int m, double a[n][m], double b[][m], const double (*c)[m]) {
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += b[i][j] * c[i][j];
}
static void scale(int n, double *restrict a, double f) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    *(a++ - i + i) *= f;
}
static void scale2(int n, double *a, double f) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    *(a + i) *= f;
}
static void parameters(void) {
  int n = 11, m = 6;
  double *a = ramp(n * m, 0, 1), *b = ramp(n * m, 1, 0.5), *c = ramp(n * m, 2, 0.25);
#pragma cofuse store(a[0 : n * m], b[0 : n][0 : m], c[0 : n][0 : m])
  add(n, m, (void *)a, (void *)b, (void *)c);
  add(n, m, (void *)a, (void *)a, (void *)a);
  add(n - 2, m, (void *)(a + m), (void *)b, (void *)(a + 2 * m - 1));
  scale(n * m, a, 3);
  scale2(n, b + 7, -1);
  scale2(4, &b[30], -2);
  show_f64("a", a, n * m), show_f64("b", b, n * m);
  free(a), free(b), free(c);
}

struct cell {
  char tag;
  double v[3];
  int k;
};
struct model {
  int n;
  double *p, q[40];
  struct cell *cells;
  struct {
    float f[5][4];
  } in;
  struct model *next;
};
static void structs(void) {
  struct model *w = calloc(1, sizeof *w), *x = calloc(1, sizeof *x);
  w->next = x, x->n = w->n = 40;
  w->p = ramp(40, 1, 1), x->p = ramp(40, 2, 2);
  w->cells = calloc(40, sizeof *w->cells);
#pragma cofuse store(w->p[0 : w->n], w->next->p[0 : w->next->n], w->q, w->cells[0 : w->n], w->in.f)
#pragma cofuse forall
  for (int i = 0; i < w->n; i++) {
    w->next->p[i] += w->p[i];
    w->q[i] = w->next->p[i] / 2;
    w->cells[i].tag = i;
    w->cells[i].v[1] = w->q[i];
    w->cells[i].v[i % 2 ? 0 : 2] = i;
    (*(w->cells + i)).k -= 3;
  }
#pragma cofuse forall collapse(2)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 4; j++)
      w->in.f[i][j] += (float)w->cells[i * 4 + j].v[1] + w->cells[39 - i].tag;
#pragma cofuse forall
  for (int i = 0; i < w->n; i++)
    w->cells[i].v[0] += w->cells[w->n - 1 - i].v[1];
  show_f64("q", w->q, 40), show_f64("x", x->p, 40), show_f32("f", &w->in.f[0][0], 20);
  for (int i = 0; i < 40; i++)
    w->q[i] = w->cells[i].v[0] + w->cells[i].v[1] + w->cells[i].v[2] + w->cells[i].k + w->cells[i].tag;
  show_f64("cells", w->q, 40);
  free(w->p), free(w->cells), free(w), free(x->p), free(x);
}

/* Pointers into the middle; two names of one object; overlapping windows. */
static void views(void) {
  enum { N = 120 };
  double *a = ramp(N, 0, 1), *mid = a + 40, *end = a + N, *alias = a;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < 30; i++)
    mid[i] += a[i];
#pragma cofuse forall
  for (int i = 1; i <= 20; i++)
    end[-i] = mid[-i] + 1;
#pragma cofuse forall
  for (int i = -40; i < 80; i++)
    mid[i] *= 2;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    alias[i] += a[i];
#pragma cofuse forall
  for (int i = 0; i < N / 2; i++)
    a[i] = alias[N - 1 - i];
#pragma cofuse forall
  for (int i = 0; i < N / 2; i++)
    alias[2 * i] = a[2 * i + 1];
#pragma cofuse forall
  for (int i = 0; i < N / 3; i++)
    a[3 * i] = mid[3 * i - 40 + 1] + end[3 * i - N + 2];
  show_f64("a", a, N);
  free(a);
}

/* Not independent: found out at launch, run in order. */
static void carried(void) {
  enum { N = 90 };
  double *a = ramp(N, 0, 1), *b = a, *c = a + 1;
  int *h = calloc(N, sizeof *h);
#pragma cofuse store(a[0 : N], h[0 : N])
#pragma cofuse forall
  for (int i = 1; i < N; i++)
    a[i] = b[i - 1] * 0.5 + 1;
#pragma cofuse forall
  for (int i = 0; i < N - 1; i++)
    c[i] += a[i];
#pragma cofuse forall
  for (int i = 0; i < N - 1; i++)
    a[i] += b[i + 1];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    h[i / 2] += i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    h[7] = h[7] * 3 % 1000 + i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    h[i * 7 % 10] ^= i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    h[50] = i;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++)
      a[i + j] += i * 10 + j;
  show_f64("a", a, N), show("h", h, N * sizeof *h);
  free(a), free(h);
}

static void transposed(void) {
  enum { N = 17, M = 12 };
  double(*a)[M] = (void *)ramp(N * M, 0, 1), (*b)[N] = (void *)ramp(N * M, 1, 2), *d = ramp(M, 0, 0);
#pragma cofuse store(a[0 : N], b[0 : M], d[0 : M])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      b[j][i] = a[i][j] + b[j][N - 1 - i] * 0;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] += b[j][i] + b[M - 1 - j][N - 1 - i];
#pragma cofuse forall
  for (int i = 0; i < M; i++)
    d[i] = a[i][i] + a[M - 1 - i][i];
#pragma cofuse forall
  for (int i = 0; i < M; i++)
    a[i][i] = -1, a[i + 5][i] -= 2;
#pragma cofuse forall
  for (int j = 0; j < M; j++)
    a[3][j] = a[N - 1][M - 1 - j] + d[j];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i][0] = a[i][M - 1] + a[5][2];
#pragma cofuse forall collapse(2)
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++)
      a[i][j] = a[i][j] * 3 - d[j];
  show_f64("a", &a[0][0], N * M), show_f64("b", &b[0][0], N * M), show_f64("d", d, M);
  free(a), free(b), free(d);
}

/* Larger than a tile of the two inner loops, in two and three of them, rising and falling. */
static void transposed_in_tiles(void) {
  enum { N = 150, M = 197, K = 3 };
  double(*a)[M] = (void *)ramp(N * M, 0, 1), (*b)[N] = (void *)ramp(N * M, 1, 2);
  float(*c)[N][M] = calloc(K, sizeof *c), (*d)[M][N] = calloc(K, sizeof *d);
#pragma cofuse store(a[0 : N], b[0 : M], c[0 : K], d[0 : K])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = a[i][j] * 0.5 + b[j][i];
#pragma cofuse forall collapse(2)
  for (int j = M - 1; j >= 0; j--)
    for (int i = 1; i < N - 1; i++)
      b[j][i] = a[N - 1 - i][j] + j;
#pragma cofuse forall collapse(3)
  for (int k = 0; k < K; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        c[k][i][j] = (float)(k + b[j][i]);
#pragma cofuse forall collapse(3)
  for (int k = 0; k < K; k++)
    for (int j = 0; j < M; j += 2)
      for (int i = 0; i < N; i++)
        d[k][j][i] = c[k][i][M - 1 - j] + (float)a[i][j];
  show_f64("a", &a[0][0], N * M);
  show_f64("b", &b[0][0], N * M);
  show_f32("c", &c[0][0][0], K * N * M);
  show_f32("d", &d[0][0][0], K * N * M);
  free(a), free(b), free(c), free(d);
}

static void square_transpose_in_place(void) {
  enum { N = 15 };
  double(*a)[N] = (void *)ramp(N * N, 0, 1);
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) {
      double t = a[i][j];
      a[i][j] = a[j][i];
      a[j][i] = t;
    }
  show_f64("a", &a[0][0], N * N);
  free(a);
}

static void red_black(void) {
  enum { N = 18, M = 21 };
  double(*u)[M] = (void *)ramp(N * M, 0, 1);
#pragma cofuse store(u[0 : N])
  for (int it = 0; it < 3; it++)
    for (int colour = 0; colour < 2; colour++) {
#pragma cofuse forall
      for (int i = 1; i < N - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < M - 1; j += 2)
          u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      for (int s = 1; s <= 2; s++) {
#pragma cofuse forall collapse(2)
        for (int i = s; i < N - 1; i += 2)
          for (int j = 1 + (s + colour) % 2; j < M - 1; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      }
    }
  show_f64("u", &u[0][0], N * M);
  free(u);
}

static void staggered(void) {
  for (int n = 1; n < 40; n = n * 2 + 1) {
    double *p = ramp(n, 1, 0.3), *f = ramp(n + 1, 0, 0.1), *g = ramp(n + 2, 2, 0);
#pragma cofuse store(p[0 : n], f[0 : n + 1], g[0 : n + 2])
    for (int it = 0; it < 3; it++) {
#pragma cofuse forall
      for (int i = 1; i < n; i++)
        f[i] = p[i] - p[i - 1];
#pragma cofuse forall
      for (int i = 0; i < n; i++)
        p[i] += 0.1 * (f[i + 1] - f[i]);
#pragma cofuse forall
      for (int i = 0; i < n; i++)
        g[i + 1] = p[i] * 2;
#pragma cofuse forall
      for (int i = 1; i <= n; i++)
        p[i - 1] += (g[i + 1] - g[i - 1]) * 0.01;
      g[0] = g[1], g[n + 1] = g[n];
    }
    show_f64("p", p, n), show_f64("f", f, n + 1), show_f64("g", g, n + 2);
    free(p), free(f), free(g);
  }
}

static void three_and_four(void) {
  enum { A = 5, B = 6, C = 7, D = 3 };
  double *u = ramp(A * B * C, 0, 1), *v = ramp(A * B * C * D, 0, 0.1);
  double(*x)[B][C] = (void *)u, (*y)[B][C][D] = (void *)v;
#pragma cofuse store(u[0 : A][0 : B][0 : C], v[0 : A][0 : B][0 : C][0 : D])
#pragma cofuse forall collapse(3)
  for (int i = 1; i < A - 1; i++)
    for (int j = 1; j < B - 1; j++)
      for (int k = 1; k < C - 1; k++)
        for (int d = 0; d < D; d++)
          y[i][j][k][d] = x[i - 1][j][k] + x[i][j + 1][k - 1] * d;
#pragma cofuse forall collapse(3)
  for (int k = 0; k < C; k++)
    for (int i = 0; i < A; i++)
      for (int j = 0; j < B; j++) {
        double s = 0;
        for (int d = 0; d < D; d++)
          s += v[((i * B + j) * C + k) * D + d];
        u[(i * B + j) * C + k] += s + y[i][B - 1 - j][k][1];
      }
#pragma cofuse forall collapse(2)
  for (int j = 0; j < B; j++)
    for (int k = 0; k < C; k++)
      x[0][j][k] = x[A - 1][j][k], x[A - 1][j][k] = 7;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < A; i++)
    for (int k = 0; k < C; k++)
      x[i][0][k] = x[i][B - 2][k] + x[2][2][2] * 0;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      x[i][j][C - 1] = y[i][j][0][2];
#pragma cofuse forall
  for (int l = 0; l < A * B * C; l++)
    u[l] = u[l] * 2 + l;
#pragma cofuse forall
  for (int l = 0; l < A * B * C; l++)
    u[l] += v[l * D + 1];
  show_f64("u", u, A * B * C), show_f64("v", v, A * B * C * D);
  free(u), free(v);
}

/* Extents 0 and 1, one row, one column. */
static void thin(void) {
  static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {0, 4}, {4, 0}, {3, 1}, {1, 2}, {2, 1}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int n = sizes[s][0], m = sizes[s][1];
    double *a = ramp(n * m, 1, 1), *b = ramp(n * m, 2, 2), *c = ramp(n, 0, 1);
#pragma cofuse store(a[0 : n][0 : m], b[0 : n * m], c[0 : n])
#pragma cofuse forall collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[i * m + j] += b[(n - 1 - i) * m + j];
#pragma cofuse forall
    for (int i = 0; i < n * m; i++)
      b[i] = a[n * m - 1 - i];
#pragma cofuse forall
    for (int i = 0; i < n; i++) {
      double t = 0;
      for (int j = 0; j < m; j++)
        t += a[i * m + j];
      c[i] += t;
    }
#pragma cofuse forall collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 1; j < m; j++)
        a[i * m + j] = b[i * m + j - 1] + c[i];
    show_f64("a", a, n * m), show_f64("b", b, n * m), show_f64("c", c, n);
    free(a), free(b), free(c);
  }
}

static void wide_halo(void) {
  enum { N = 40 };
  for (int w = 1; w < N; w += 6) {
    double *a = ramp(N, 0, 1), *b = ramp(N, 0, 0);
#pragma cofuse store(a[0 : N], b[0 : N])
    for (int it = 0; it < 2; it++) {
#pragma cofuse forall
      for (int i = w; i < N; i++)
        b[i] = a[i - w] + 1;
#pragma cofuse forall
      for (int i = 0; i < N - w; i++)
        a[i] = b[i + w] * 2 + b[i];
    }
    show_f64("a", a, N), show_f64("b", b, N);
    free(a), free(b);
  }
}

static double global[20][30];
static float flat_global[600];
extern int later[50];
int later[50];
static void globals(void) {
  static unsigned char seen[20][30];
  enum { N = 20, M = 30 };
#pragma cofuse store(global, flat_global, seen, later)
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      global[i][j] = i - j;
      flat_global[i * M + j] = (float)i * 0.1f;
      seen[i][j] += i ^ j;
    }
#pragma cofuse forall
  for (int i = 0; i < 600; i++)
    flat_global[i] += (float)global[i / 30][i % 30];
#pragma cofuse forall
  for (int i = 0; i < 50; i++)
    later[i] = seen[i % 20][i % 30] + i;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      (&global[0][0])[i * M + j] += ((float(*)[M])flat_global)[i][j];
  show_f64("global", &global[0][0], 600), show_f32("flat", flat_global, 600), show("seen", seen, 600);
  show("later", later, sizeof later);
}

static void subscripts(void) {
  enum { N = 16, M = 11 };
  double *a = ramp(N * M, 0, 1), *b = ramp(N * M, 0, 0);
  static const double w[4] = {0.5, -1, 2, 0.25};
#pragma cofuse store(a[0 : N][0 : M], b[0 : N][0 : M])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    int base = i * M;
    double *row = b + base;
    for (int j = 0; j < M; j++) {
      int k = base + j;
      row[j] = a[k] + w[j % 4] + w[i & 3] + a[(N - 1 - i) * M + j];
    }
  }
#pragma cofuse forall
  for (int k = 0; k < N * M; k++) {
    int i = k / M, j = k % M;
    a[k] = b[i * M + j] + b[(N - 1 - i) * M + M - 1 - j];
  }
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N / 2; i++)
    for (int j = 0; j < M; j++)
      a[(2 * i + 1) * M + j] = a[2 * i * M + j];
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i += 2)
    for (int j = M - 1; j >= 0; j -= 3)
      b[i * M + j] = a[(N - 1 - i) * M + (M - 1 - j)];
#pragma cofuse forall
  for (unsigned i = 0; i < N; i++)
    b[i * M + (i * 5u) % M] += 1;
#pragma cofuse forall
  for (unsigned char i = 0; i < N; i++)
    b[(unsigned char)(i + 250) % N * M] -= 3;
  show_f64("a", a, N * M), show_f64("b", b, N * M);
  free(a), free(b);
}

/* Different element types over one allocation, and a store inside a bigger block. */
static void blocks(void) {
  enum { N = 64 };
  char *block = calloc(1, 3 * N * 8);
  double *d = (double *)block, *e = d + N;
  int *k = (int *)(block + 2 * N * 8);
#pragma cofuse store(d[0 : N], e[0 : N], k[0 : 2 * N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    d[i] = i, e[i] = d[i] * 2, k[2 * i] = i, k[2 * i + 1] = -i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    d[i] += e[N - 1 - i] + k[i];
  show("block", block, 3 * N * 8);
  free(block);
  block = calloc(2, N * 8);
  unsigned char *bytes = (unsigned char *)block;
  d = (double *)block;
#pragma cofuse store(d[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    d[i] = i * 1.25;
#pragma cofuse forall
  for (int i = 0; i < 8 * N; i++)
    bytes[i] ^= 1;
  show("bytes", bytes, 8 * N);
  free(block);
}

int main(int argc, char **argv) {
  CASE(vla);
  CASE(parameters);
  CASE(structs);
  CASE(views);
  CASE(carried);
  CASE(transposed);
  CASE(transposed_in_tiles);
  CASE(square_transpose_in_place);
  CASE(red_black);
  CASE(staggered);
  CASE(three_and_four);
  CASE(thin);
  CASE(wide_halo);
  CASE(globals);
  CASE(subscripts);
  CASE(blocks);
  return 0;
}
