// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow in loop bodies: conditions, guards, inner loops with data-dependent bounds, local arrays.
#include "show.h"
#include <math.h>

enum { N = 157 };
static double *ramp(int n, double lo, double step) {
  double *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++)
    x[i] = lo + step * i;
  return x;
}

static void conditions(void) {
  double *a = ramp(N, -5, 0.11), *b = ramp(N, 2, -0.05), *c = ramp(N, 0, 0);
  int *k = malloc(N * sizeof *k);
#pragma cofuse store(a[0 : N], b[0 : N], c[0 : N], k[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (a[i] < -2)
      c[i] = 1;
    else if (a[i] < 0) {
      c[i] = a[i] > -1 ? b[i] : a[i] * 2;
      if (b[i] > 0.5)
        c[i] -= 7;
    } else if (b[i] < 0 && a[i] / b[i] < -3 || a[i] == 0)
      c[i] = 3;
    else
      c[i] = 4;
    k[i] = (a[i] > 0) ? 1 : (b[i] > 0 ? 2 : 3);
    if (i % 7 == 3)
      continue;
    if (k[i] == 2) {
      k[i] = 20;
      if (i & 1)
        continue;
      k[i]++;
    }
    c[i] += k[i];
  }
  show_f64("c", c, N), show("k", k, N * sizeof *k);
  free(a), free(b), free(c), free(k);
}

/* The guard keeps the access inside the array and the divisor from zero. */
static void guards(void) {
  double *a = ramp(N, 1, 1), *b = ramp(N, 0, 0);
  int *d = malloc(N * sizeof *d);
  for (int i = 0; i < N; i++)
    d[i] = i % 4;
#pragma cofuse store(a[0 : N], b[0 : N], d[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (i > 0 && i < N - 1)
      b[i] = a[i - 1] + a[i + 1];
    if (d[i] && 10 / d[i] > 3)
      b[i] += 100;
    double left = i ? a[i - 1] : 0, right = i + 1 < N ? a[i + 1] : 0;
    b[i] += left * right;
    if (i == 0 || a[i - 1] > 50)
      b[i] = -b[i];
    b[i] += d[i] == 0 ? 0 : 7 % d[i];
  }
  show_f64("b", b, N);
  free(a), free(b), free(d);
}

static void csr(void) {
  int *row = malloc((N + 1) * sizeof *row), *col = malloc(8 * N * sizeof *col), nnz = 0;
  double *val = malloc(8 * N * sizeof *val), *x = ramp(N, 0.1, 0.3), *y = ramp(N, 0, 0), *z = ramp(N, 0, 0);
  for (int i = 0; i < N; i++) {
    row[i] = nnz;
    for (int k = 0; k < i % 6; k++, nnz++)
      col[nnz] = (i * 31 + k * 17) % N, val[nnz] = 1.0 / (k + 1 + i);
  }
  row[N] = nnz;
#pragma cofuse store(row[0 : N + 1], col[0 : nnz], val[0 : nnz], x[0 : N], y[0 : N], z[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    z[i] = 0;
    for (int k = row[i]; k < row[i + 1]; ++k)
      z[i] += val[k] * y[col[k]];
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = x[i] + z[i];
  show_f64("y", y, N), show_f64("z", z, N), show_f64("x", x, N);
  free(row), free(col), free(val), free(x), free(y), free(z);
}

/* The same with the matrix not declared: replicated tables. */
static void csr_tables(void) {
  static int row[N + 1], col[8 * N];
  static double val[8 * N];
  int nnz = 0;
  double x[N], y[N];
  for (int i = 0; i < N; i++) {
    row[i] = nnz, x[i] = i * 0.3;
    for (int k = 0; k < i % 5; k++, nnz++)
      col[nnz] = (i * 31 + k * 17) % N, val[nnz] = 1.0 / (k + 1 + i);
  }
  row[N] = nnz;
#pragma cofuse store(x, y)
  for (int it = 0; it < 4; it++) {
#pragma cofuse forall
    for (int i = 0; i < N; i++) {
      double s = 0;
      int k = row[i];
      while (k < row[i + 1]) {
        s += val[k] * x[col[k]];
        k++;
      }
      y[i] = s;
    }
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] = y[i] * 0.5 + 1;
    val[it] += 1; /* after the tasks were issued */
  }
  show_f64("y", y, N), show_f64("x", x, N);
}

static void inner_loops(void) {
  enum { M = 23 };
  double *a = ramp(N * M, 0.5, 0.01), *s = ramp(N, 0, 0), *w = ramp(M, 1, 1);
  int *len = malloc(N * sizeof *len), *steps = malloc(N * sizeof *steps);
  for (int i = 0; i < N; i++)
    len[i] = i % M;
#pragma cofuse store(a[0 : N][0 : M], s[0 : N], w[0 : M], len[0 : N], steps[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    double acc = 0;
    for (int j = 0; j < M; j++)
      acc += a[i * M + j] * w[j];
    for (int j = M - 1; j >= 0; j -= 2)
      acc -= a[i * M + j];
    for (int j = 0; j < len[i]; j++)
      acc += a[i * M + j] / 3;
    for (int j = 0; j < M; j++) {
      if (j == 5)
        continue;
      if (a[i * M + j] > 6)
        break;
      acc += w[j];
    }
    s[i] = acc;
    int n = i + 1, c = 0;
    while (n != 1) {
      n = n % 2 ? 3 * n + 1 : n / 2;
      c++;
      if (c > 40)
        break;
    }
    do {
      c += 2;
    } while (c < 10);
    steps[i] = c;
  }
  show_f64("s", s, N), show("steps", steps, N * sizeof *steps);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      for (int k = j; k < j + 2 && k < M; k++)
        a[i * M + j] += w[k] * (k - j);
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    for (int j = 1; j < M; j++)
      a[i * M + j] += a[i * M + j - 1] * 0.5;
    for (int j = M; j-- > 1;)
      a[i * M + j - 1] -= a[i * M + j] * 0.25;
  }
  show_f64("a", a, N * M);
  free(a), free(s), free(w), free(len), free(steps);
}

static void local_arrays(void) {
  double *a = ramp(N, 1, 0.5), *b = ramp(N, 0, 0);
#pragma cofuse store(a[0 : N], b[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    double t[5] = {1, a[i]}, m[2][3];
    for (int k = 2; k < 5; k++)
      t[k] = t[k - 1] * 0.5 + t[k - 2];
    for (int p = 0; p < 2; p++)
      for (int q = 0; q < 3; q++)
        m[p][q] = t[p + q] * (p + 1);
    int best = 0;
    for (int k = 1; k < 5; k++)
      if (t[k] > t[best])
        best = k;
    b[i] = m[1][2] + m[0][best % 3] + best;
  }
  show_f64("b", b, N);
  free(a), free(b);
}

struct vec {
  double x, y, z;
};
static struct vec cross(struct vec a, struct vec b) {
  struct vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return r;
}
static void local_structs(void) {
  struct vec *p = malloc(N * sizeof *p), *q = malloc(N * sizeof *q);
  for (int i = 0; i < N; i++)
    p[i] = (struct vec){i, 2 * i, -i}, q[i] = (struct vec){0.5 * i, 1, i};
#pragma cofuse store(p[0 : N], q[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    struct vec v = p[i];
    v.x += q[i].y;
    q[i] = cross(v, q[i]);
    p[i].z = v.x;
  }
  show_f64("p", (double *)p, 3 * N), show_f64("q", (double *)q, 3 * N);
  free(p), free(q);
}

static void switches(void) {
  int *k = malloc(N * sizeof *k);
#pragma cofuse store(k[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    switch (i % 5) {
    case 0:
      k[i] = 10;
      break;
    case 1:
    case 2:
      k[i] = 20;
    case 3:
      k[i] = 30;
      break;
    default:
      k[i] = -1;
    }
  }
  show("k", k, N * sizeof *k);
  free(k);
}

/* Writes that not every iteration does, and reads after them. */
static void conditional_writes(void) {
  double *a = ramp(N, 1, 1), *b = ramp(N, -1, -1), *t = ramp(N, 0, 0);
#pragma cofuse store(a[0 : N], b[0 : N], t[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    if (i % 3)
      t[i] = a[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    b[i] += t[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (b[i] > 20)
      t[i] = 1;
    else
      t[i] = 2;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i % 2; j++)
      t[i] = -t[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] = t[i] + (b[i] > 0 ? a[i] : t[i]);
  free(t);
  show_f64("a", a, N), show_f64("b", b, N);
  free(a), free(b);
}

static void gather(void) {
  double *x = ramp(N, 1, 0.7), *y = ramp(N, 0, 0), *tab = ramp(7, 5, 2);
  int *p = malloc(N * sizeof *p);
  for (int i = 0; i < N; i++)
    p[i] = (i * 44 + 5) % N;
#pragma cofuse store(x[0 : N], y[0 : N], p[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[i] = x[p[i]] + x[p[p[i]]] * tab[i % 7];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = y[p[i]];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[p[i]] = x[i] + tab[3]; /* a permutation: independent */
  show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y), free(p), free(tab);
}

int main(int argc, char **argv) {
  CASE(conditions);
  CASE(guards);
  CASE(csr);
  CASE(csr_tables);
  CASE(inner_loops);
  CASE(local_arrays);
  CASE(local_structs);
  CASE(switches);
  CASE(conditional_writes);
  CASE(gather);
  return 0;
}
