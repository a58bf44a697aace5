// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop headers: relational operators, steps, counter types, bounds, counters that live on, collapse.
#include "show.h"
#include <limits.h>

enum { N = 131 };
static int *fill(void) {
  int *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++)
    a[i] = i * i + 1;
  return a;
}
#define DONE show("a", a, N * sizeof *a), free(a)

static void operators(void) {
  int *a = fill();
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 3; i <= N - 4; i++)
    a[i] += 1;
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    a[i] *= 3;
#pragma cofuse forall
  for (int i = N - 1; i > 2; --i)
    a[i] -= i;
#pragma cofuse forall
  for (int i = 5; i != N; ++i)
    a[i] ^= i;
#pragma cofuse forall
  for (int i = N - 1; i != -1; i--)
    a[i] += i;
#pragma cofuse forall
  for (int i = 0; N > i; i += 3)
    a[i] += 7;
#pragma cofuse forall
  for (int i = N - 2; 0 <= i; i = i - 4)
    a[i] = -a[i];
#pragma cofuse forall
  for (int i = 1; i < N; i = 5 + i)
    a[i] += a[0] > 3;
#pragma cofuse forall
  for (int i = 2; i != 2 + 6 * 9; i += 6)
    a[i] += 1000;
  DONE;
}

static void empty_loops(void) {
  int *a = fill(), n = 0, m = -7;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = -1;
#pragma cofuse forall
  for (int i = 0; i < m; i++)
    a[i] = -1;
#pragma cofuse forall
  for (int i = 5; i >= 6; i--)
    a[i] = -1;
#pragma cofuse forall
  for (unsigned i = 10; i < 3; i++)
    a[i] = -1;
#pragma cofuse forall
  for (int i = 9; i <= 9; i += 100)
    a[i] = -2;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < n; j++)
      a[i] = -3;
#pragma cofuse forall
  for (int i = INT_MAX - 2; i < INT_MAX; i++)
    a[INT_MAX - i] = -4;
#pragma cofuse forall
  for (int i = INT_MIN + 3; i > INT_MIN; i--)
    a[i - INT_MIN] -= 5;
  DONE;
}

/* The counter keeps its last value when it is declared outside. */
static void counters_outside(void) {
  int *a = fill(), i, j = 77, sum = 0;
  long k;
  unsigned char c;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (i = 0; i < N; i++)
    a[i] += 1;
  sum += i;
#pragma cofuse forall
  for (i = N - 1; i >= 0; i -= 2)
    a[i] += 2;
  sum = sum * 3 + i;
#pragma cofuse forall
  for (i = 5; i < N; i += 7)
    a[i] += 2;
  sum = sum * 3 + i;
#pragma cofuse forall
  for (i = 50; i < 10; i++)
    a[i] += 2;
  sum = sum * 3 + i;
#pragma cofuse forall
  for (k = 1; k <= 9; k += 4)
    a[k] += 3;
  sum = sum * 3 + (int)k;
#pragma cofuse forall
  for (c = 0; c < 100; c += 9)
    a[c] += 3;
  sum = sum * 3 + c;
#pragma cofuse forall collapse(2)
  for (i = 0; i < 10; i++)
    for (j = 0; j < 13; j += 2)
      a[i * 13 + j] += i * j;
  sum = sum * 3 + i * 1000 + j;
#pragma cofuse forall private(j)
  for (i = 0; i < 10; i++)
    for (j = 0; j < 13; j++)
      a[i * 13 + j] -= i * j;
  sum += i;
  show("sum", &sum, sizeof sum);
  DONE;
}

#define TYPED(T, lo, hi, step)                                                                               \
  _Pragma("cofuse forall") for (T i = lo; i < hi; i += step) a[i] = a[i] * 3 + (int)sizeof(i + 0);           \
  _Pragma("cofuse forall") for (T i = lo; i < hi; i++) a[i] += (int)(i * 1000 / 7)
static void counter_types(void) {
  int *a = fill();
#pragma cofuse store(a[0 : N])
  TYPED(char, 0, 100, 3);
  TYPED(signed char, 1, 120, 2);
  TYPED(unsigned char, 3, N, 5);
  TYPED(short, 0, N, 2);
  TYPED(unsigned short, 0, N, 2);
  TYPED(unsigned, 7, N, 1);
  TYPED(long, 0, N, 11);
  TYPED(unsigned long, 0, N, 1);
  TYPED(long long, 0, N, 1);
  TYPED(size_t, 1, N, 1);
  TYPED(uint8_t, 0, 131, 1);
#pragma cofuse forall
  for (size_t i = N; i > 0; i--)
    a[i - 1] += (int)i;
#pragma cofuse forall
  for (size_t i = N; i-- > 0;)
    a[i] += (int)i;
#pragma cofuse forall
  for (unsigned i = N - 1; i < N; i--)
    a[i] += (int)i;
#pragma cofuse forall
  for (_Bool b = 0; b < 1; b++)
    a[b] += 1;
#pragma cofuse forall
  for (unsigned i = 0; i < N; i++)
    a[i] += (int)(i - 5 > 10) + (i * 4000000000u > 5);
#pragma cofuse forall
  for (unsigned char i = 250; i != 5; i++)
    a[i % 131] += 1;
  enum e { E0, E1, E9 = 9 };
#pragma cofuse forall
  for (enum e i = E0; i < E9; i++)
    a[i]--;
  DONE;
}

struct grid {
  int lo, hi, step;
  int *p;
  struct {
    long n[2];
  } s;
};
static void bounds(struct grid *g, const int *limit) {
#pragma cofuse forall
  for (int i = g->lo; i < g->hi; i += g->step)
    g->p[i] += 1;
#pragma cofuse forall
  for (int i = 0; i < *limit; i++)
    g->p[i] += 2;
#pragma cofuse forall
  for (long i = g->s.n[0]; i < g->s.n[1] - 1; i++)
    g->p[i] += 3;
#pragma cofuse forall
  for (int i = limit[0] - limit[0] / 2; i < (g->hi < 100 ? g->hi : 100); i += 1 + (g->lo > 0))
    g->p[i] += 4;
#pragma cofuse forall
  for (int i = 0; i < (int)sizeof(struct grid); i++)
    g->p[i] += 5;
#pragma cofuse forall
  for (int i = 0; (unsigned)i < (unsigned)*limit; i++)
    g->p[i] += 6;
#pragma cofuse forall
  for (int i = 0; i < 99.5; i++)
    g->p[i] += 6;
#pragma cofuse forall
  for (int i = 0; i + 1 < g->hi; i++)
    g->p[i] += 7;
#pragma cofuse forall
  for (int i = 0; i < g->hi && i < *limit; i++)
    g->p[i] += 8;
}
static void bounds_case(void) {
  int *a = fill(), limit = 77;
  struct grid g = {2, N - 1, 4, a, {{10, 90}}};
#pragma cofuse store(g.p[0 : N])
  bounds(&g, &limit);
  limit = 3;
  g.lo = 100, g.p = 0;
  DONE;
}

/* The bound is data that the loop writes, or a store. */
static void moving_bound(void) {
  int *a = fill(), n = 20;
#pragma cofuse store(a[0 : N])
  a[0] = 60;
#pragma cofuse forall
  for (int i = 1; i < a[0]; i++)
    a[i] += 1;
#pragma cofuse forall
  for (int i = 0; i < a[3]; i++)
    a[i] += i == 3 ? 0 : 1;
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    if (i == 10)
      n = 30;
    a[i] += 9;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (a[i] % 5 == 0)
      i++;
    a[i < N ? i : 0] += 9;
  }
  show("n", &n, sizeof n);
  DONE;
}

static void leaves(void) {
  int *a = fill(), found = -1;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    if (a[i] > 1000) {
      found = i;
      break;
    }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (i == 100)
      goto out;
    a[i]++;
  }
out:
  show("found", &found, sizeof found);
  DONE;
}

static void collapses(void) {
  enum { A = 3, B = 5, C = 4, D = 7 };
  int *a = malloc(A * B * C * D * sizeof *a);
  for (int i = 0; i < A * B * C * D; i++)
    a[i] = i;
  int(*v)[B][C][D] = (void *)a;
#pragma cofuse store(a[0 : A][0 : B][0 : C][0 : D])
#pragma cofuse forall collapse(4)
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < C; k++)
        for (int l = 0; l < D; l++)
          v[i][j][k][l] += i * 1000 + j * 100 + k * 10 + l;
#pragma cofuse forall collapse(3)
  for (int i = A - 1; i >= 0; i--)
    for (int j = 1; j < B; j += 2)
      for (int k = 0; k < C; k++)
        for (int l = 0; l < D; l++)
          v[i][j][k][l] *= 2;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < A; i++)
    for (int j = B - 1; j > 0; j--) {
      int s = 0;
      for (int k = 0; k < C; k++)
        s += v[i][j][k][0] * v[i][0][k][D - 1];
      v[i][j][1][2] = s;
    }
#pragma cofuse forall
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < C; k++)
        v[i][j][k][3] ^= v[A - 1 - i][j][k][4];
#pragma cofuse forall collapse(2)
  for (int l = 0; l < D; l++)
    for (int i = 0; i < A; i++)
      for (int j = 0; j < B; j++)
        v[i][j][0][l] += l;
#pragma cofuse forall collapse(2)
  for (int i = 0; i < A; i++)
    for (int j = 0; j <= i; j++)
      v[i][j][3][6] = -1;
#pragma cofuse forall collapse(1)
  for (int i = 0; i < A; i++)
    for (int j = 0; j <= i; j++)
      v[i][j][2][6] = -9;
  show("a", a, A * B * C * D * sizeof *a);
  free(a);
}

static void clauses(void) {
  int *a = fill(), t = 5, u = 9, big = 1;
  double h = 0.5;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall private(t) firstprivate(u) nowait name(first)
  for (int i = 0; i < N; i++) {
    t = i * 2;
    a[i] += t + u;
  }
#pragma cofuse forall firstprivate(u, h)
  for (int i = 0; i < N; i++) {
    int w = u;
    a[i] += w + (int)(h * i);
  }
#pragma cofuse forall if (big > 3)
  for (int i = 0; i < N; i++)
    a[i] += 1;
#pragma cofuse forall if (big) name(second)
  for (int i = 0; i < N; i++)
    a[i] += 1;
#define INC 3
#define LOOP(n) _Pragma("cofuse forall if(INC == 3)") for (int i = 0; i < n; i++) a[i] += INC
  LOOP(N);
  LOOP(7);
  u = 1000, h = 7; /* after the issue */
  t = 0;           // undefined after private(t)
  show("t", &t, sizeof t), show("u", &u, sizeof u);
  DONE;
}

int main(int argc, char **argv) {
  CASE(operators);
  CASE(empty_loops);
  CASE(counters_outside);
  CASE(counter_types);
  CASE(bounds_case);
  CASE(moving_bound);
  CASE(leaves);
  CASE(collapses);
  CASE(clauses);
  return 0;
}
