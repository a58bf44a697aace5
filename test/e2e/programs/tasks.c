// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar tasks, scalar stores, chains as in conjugate gradients, and what is captured when.
#include "show.h"
#include <math.h>
#include <stdbool.h>

enum { N = 97 };
static double *ramp(int n, double lo, double step) {
  double *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++)
    x[i] = lo + step * i;
  return x;
}

/* Every scalar is a store: no task stops the window. Values are small integers, sums exact. */
static void chain(void) {
  double *r = ramp(N, 1, 1), *p = ramp(N, 0, 2), *x = ramp(N, 0, 0), rr = 0, pq = 0, alpha = 0, beta = 0,
         old = 0;
#pragma cofuse store(r[0 : N], p[0 : N], x[0 : N], rr, pq, alpha, beta, old)
#pragma cofuse task
  rr = 0;
#pragma cofuse forall reduction(+ : rr)
  for (int i = 0; i < N; i++)
    rr += r[i] * r[i];
  for (int it = 0; it < 5; it++) {
#pragma cofuse task
    pq = 0;
#pragma cofuse forall reduction(+ : pq)
    for (int i = 1; i < N - 1; i++)
      pq += floor(p[i]) * 2 + floor(p[i - 1] + p[i + 1]);
#pragma cofuse task
    alpha = floor(rr / (1 + fabs(pq)) * 16) / 16;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] = floor(x[i] + alpha * p[i]);
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      r[i] = floor(r[i] - alpha);
#pragma cofuse task
    {
      old = rr;
      rr = 0;
    }
#pragma cofuse forall reduction(+ : rr)
    for (int i = 0; i < N; i++)
      rr += r[i] * r[i];
#pragma cofuse task
    beta = old != 0 ? floor(rr / old * 8) / 8 : 0;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      p[i] = r[i] + beta * p[i];
    if (it % 2 == 1 && rr < 1)
      break;
  }
  show_num("rr", rr), show_num("pq", pq), show_num("alpha", alpha), show_num("beta", beta),
      show_num("old", old);
  show_f64("x", x, N), show_f64("p", p, N), show_f64("r", r, N);
  free(r), free(p), free(x);
}

static void blocks(void) {
  double a = 2, b = 3, v[4] = {1, 2, 3, 4}, *x = ramp(N, 0, 1);
  int n = 5, k = 0;
  bool flag = false;
#pragma cofuse store(a, b, n, flag, v, x[0 : N])
#pragma cofuse task
  {
    double t = a * b;
    a = t + 1;
    if (a > 6)
      b = a;
    else
      b = -a;
    for (int i = 0; i < n; i++)
      a += i;
    flag = a > b;
    n++;
  }
#pragma cofuse task
  v[2] = v[0] + a;
#pragma cofuse task
  {
    v[0] += x[3];
    x[N - 1] = v[2] * 2;
    x[k] -= 1;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = x[i] * a + v[2] + v[0] + n;
#pragma cofuse task
  a = x[N / 2] + x[0];
#pragma cofuse task name(last)
  b++;
#pragma cofuse task
  if (flag)
    b *= 2;
  printf("%s %g %g %d %d %g %g\n", case_name, a, b, n, flag, v[0], v[2]);
  show_f64("x", x, N);
  free(x);
}

/* Scalars that are no stores: captured at issue, written before the next statement. */
static void captured(void) {
  double *x = ramp(N, 0, 1), c = 2, d[3] = {1, 2, 3}, *q = &c, s = 0;
  int k = 1;
  struct {
    double a, b[2];
  } m = {4, {5, 6}}, *mp = &m;
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += c * d[1] + *q + m.a + mp->b[k] + d[k + 1];
  c = 100, d[1] = 100, m.a = 100, k = 0, mp->b[1] = 100, d[2] = -1;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += c * d[1] + *q + m.a + mp->b[k];
  q = &d[0], k = 1, d[0] = 7;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += *q;
#pragma cofuse task
  s = c + d[0];
  show_num("s", s);
  *q = 1;
#pragma cofuse task
  *q = s + 1;
  show_num("q", *q);
#pragma cofuse task
  {
    c = d[0] + 1;
    d[1] = c * 2;
    m.b[1] = d[1];
  }
  printf("%s %g %g %g\n", case_name, c, d[1], m.b[1]);
#pragma cofuse task
  x[5] = c;
#pragma cofuse task
  c = x[5] + x[6];
  show_num("c", c), show_f64("x", x, N);
  free(x);
}

/* *c may be a store or not; only the address tells. */
static void scale(double *x, int n, const double *c, double *norm) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] *= *c;
#pragma cofuse task
  *norm = 0;
#pragma cofuse forall reduction(+ : *norm)
  for (int i = 0; i < n; i++)
    *norm += x[i];
}
static void by_pointer(void) {
  double *x = ramp(N, 0, 1), a = 2, b = 3, na = 0, nb = 0, *heap = malloc(2 * sizeof *heap);
#pragma cofuse store(x[0 : N], a, na)
  scale(x, N, &a, &nb);
  scale(x, N, &b, &na);
  scale(x, N, &na, &na);
  a = na > 10 ? 0.5 : 0.25;
  scale(x + 4, N - 4, &a, &x[3]);
  heap[0] = 4, heap[1] = 0;
  scale(x, N, heap, heap + 1);
  scale(x + 10, 20, &x[2], &nb);
  heap[0] = 0;
  free(heap);
  printf("%s %g %g %g %g\n", case_name, a, b, na, nb);
  show_f64("x", x, N);
  free(x);
}

static int counter;
static void scalar_scopes(void) {
  double *x = ramp(N, 0, 1);
#pragma cofuse store(x[0 : N], counter)
  for (int it = 0; it < 6; it++) {
    double s = it;
#pragma cofuse store(s)
#pragma cofuse forall reduction(+ : s)
    for (int i = 0; i < N; i++)
      s += x[i] > it;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += s;
#pragma cofuse task
    counter += (int)s;
    if (it == 3)
      continue;
    s = 0;
  }
  show_num("counter", counter), show_f64("x", x, N);
  free(x);
}
static double norm(const double *x, int n) {
  double s = 0;
#pragma cofuse store(s)
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += x[i];
  return s;
}
static double recurse(double *x, int n, int depth) {
  double s = 1, t[4];
#pragma cofuse store(s, t)
#pragma cofuse forall
  for (int i = 0; i < 4; i++)
    t[i] = depth + i;
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += x[i] + depth;
  if (depth)
    s += recurse(x, n, depth - 1);
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] += t[1] + t[3] - t[0];
  return s + t[2];
}
static void functions(void) {
  double *x = ramp(N, 0, 1), all = 0;
#pragma cofuse store(x[0 : N])
  for (int i = 0; i < 5; i++)
    all += norm(x, N) * norm(x + i, N - 2 * i);
  all += recurse(x, N, 4);
  show_num("all", all), show_f64("x", x, N);
  free(x);
}

/* A task on ordinary scalars, with things a task cannot do. */
static void refused(void) {
  double *x = ramp(N, 0, 1), s = 1;
#pragma cofuse store(x[0 : N], s)
#pragma cofuse task
  {
    printf("%s inside %g\n", case_name, x[2]);
    x[2] += 1;
  }
#pragma cofuse task
  s = x[2] + rand() * 0;
#pragma cofuse task
  x[1] = s, x[0] = x[1];
#pragma cofuse task
  ;
#pragma cofuse task
  for (int i = 1; i < N; i++)
    x[i] += x[i - 1];
  show_num("s", s), show_f64("x", x, N);
  free(x);
}

int main(int argc, char **argv) {
  CASE(chain);
  CASE(blocks);
  CASE(captured);
  CASE(by_pointer);
  CASE(scalar_scopes);
  CASE(functions);
  CASE(refused);
  return 0;
}
