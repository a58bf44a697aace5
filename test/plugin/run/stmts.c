// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Control flow in the body: inner loops of all kinds, continue, break, inlined functions, local arrays.
#include <math.h>
#include <stdio.h>

enum { N = 40, M = 7 };
static double u[N], v[N], g[N][M];
static int k[N], col[N * M], ptr[N + 1];

static unsigned long sum(const void *p, size_t n) {
  unsigned long h = 14695981039346656037UL;
  for (size_t i = 0; i < n; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211UL;
  return h;
}
static void show(int line) {
  printf("%d %016lx %016lx %016lx %016lx\n", line, sum(u, sizeof u), sum(v, sizeof v), sum(k, sizeof k),
         sum(g, sizeof g));
}

static double poly(double x, int n) {
  double r = 0;
  while (n-- > 0)
    r = r * x + n;
  return r;
}
static int sign(double x) {
  if (x < 0)
    return -1;
  if (x > 0)
    return 1;
  return 0;
}
static int find(const double *row, int n, double limit) {
  for (int j = 0; j < n; j++)
    if (row[j] > limit)
      return j;
  return -1;
}
static void addrow(int n, double *r, double x) {
  for (int j = 0; j < n; j++)
    r[j] += x;
}
static double tail(double x) { return x > 0 ? poly(x, 3) : sign(x) + 0.5; }
static void twice(double *x) { *x = *x + *x; }

static int kind(int x) {
  switch (x % 6) {
  case 0:
    return 5;
  case 1:
  case 2:
    x += 3;
    break;
  default:
    x = -x;
    // fall through
  case 4: {
    if (x > -20)
      break;
    x *= 2;
  }
  }
  return x;
}

int main(void) {
  int n = N, m = M;
  for (int i = 0; i < N; i++) {
    u[i] = (i * 37 % 19) - 9;
    v[i] = 0;
    k[i] = i * 7 % 5;
    for (int j = 0; j < M; j++) {
      g[i][j] = (i * 13 + j * 5) % 23 - 11;
      col[i * M + j] = (i * j * 11 + 3) % N;
    }
  }
  for (int i = 0; i <= N; i++)
    ptr[i] = i * (i + 1) % (M * 3) + i * 6;
#pragma cofuse store(u, v, g, k, col, ptr)
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    if (u[i] < 0)
      continue;
    v[i] = poly(u[i], k[i]);
    if (k[i] == 2)
      continue;
    else
      v[i] += 1;
    v[i] *= sign(u[i] - 3);
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++) {
      if (g[i][j] < -5)
        continue;
      if (g[i][j] > 8)
        break;
      s += g[i][j] * j;
    }
    k[i] = find(g[i], m, 4.0);
    v[i] = s;
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < n; i++) { // CSR
    double s = 0;
    for (int e = ptr[i]; e < ptr[i + 1] && e < N * M; e++)
      s += u[col[e]];
    for (int e = ptr[i]; e < ptr[i + 1]; e += 2)
      s -= e < N * M ? u[col[e]] : 0;
    v[i] = s;
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    int c = i, steps = 0;
    while (c > 1 && steps < 50) {
      c = c % 2 ? 3 * c + 1 : c / 2;
      steps++;
    }
    do {
      steps += 2;
      if (steps > 60)
        break;
    } while (steps < 30);
    for (c = 0;; c++) {
      if (c * c > steps)
        break;
      if (c == 3)
        continue;
      v[i] += c;
    }
    k[i] = steps * 100 + c;
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double t[M], w[3] = {1, 2}, acc[2][2] = {{1, 2}, {3}};
    int j, last;
    for (j = 0; j < m; j++)
      t[j] = g[i][j] * w[j % 3];
    last = j;
    for (j = m - 1; j >= 0; j -= 2)
      acc[j & 1][i & 1] += t[j];
    twice(&t[2]);
    twice(&w[2]);
    addrow(3, t + 1, w[1]);
    v[i] = acc[0][0] + acc[0][1] * acc[1][0] + t[1] + t[2] + t[3] + last + j + w[2];
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 1; i < n - 1; i++) {
    for (int j = 0; j < m; j++)
      g[i][j] = 0.5 * g[i][j] + j;
    addrow(m, g[i], u[i]);
    addrow(m - 2, &g[i][1], tail(u[i - 1]));
  }
  show(__LINE__);
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double z = 0;
      for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++)
          z += (a + 1) * (b - j) * 0.1;
      g[i][j] = z + (j % 2 ? g[i][j] : fabs(u[i]));
    }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++) {
      switch (i + j) {
      case 3 ... 9:
        s += j;
        if (j == 4)
          continue;
        break;
      case 12:
        continue;
      case 14:
        s += 7;
      default:
        s++;
      }
      s += 100;
    }
    k[i] = s + kind(i) + ({
             int big = i > 7 ? i : 7;
             big * 2;
           });
  }
  show(__LINE__);
  int priv = 3, first = 5;
#pragma cofuse forall private(priv) firstprivate(first)
  for (int i = 0; i < n; i++) {
    int t = first + i;
    for (priv = 0; priv < 3; priv++)
      t += priv;
    k[i] = t + priv;
  }
  show(__LINE__);
  printf("%d\n", first);
  return 0;
}
