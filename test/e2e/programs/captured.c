// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays that are no stores: read as they were at issue, written on every rank, changed and freed afterwards.
#include "show.h"

enum { N = 140, BIG = 20000 };
static double *ramp(int n, double lo, double step) {
  double *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++)
    x[i] = lo + step * i;
  return x;
}

static void changed(void) {
  double *x = ramp(N, 0, 1), *t = ramp(N, 1, 2), small[8];
#pragma cofuse store(x[0 : N])
  for (int it = 0; it < 5; it++) {
    for (int k = 0; k < 8; k++)
      small[k] = it * k;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += t[i] * small[i % 8] + small[3];
    t[it] = 1000;
    small[3] = -1, small[it] = 7;
    memset(t + 20, 0, 10 * sizeof *t);
  }
  free(t);
  show_f64("x", x, N);
  free(x);
}

static void big(void) {
  double *x = ramp(BIG, 0, 1), *t = ramp(BIG, 1, 2), *u;
#pragma cofuse store(x[0 : BIG])
  for (int it = 0; it < 3; it++) {
#pragma cofuse forall
    for (int i = 0; i < BIG; i++)
      x[i] += t[i];
    t[5] = it;
    t[BIG - 1] -= x[7];
#pragma cofuse forall
    for (int i = 1; i < BIG; i++)
      x[i] -= t[i - 1] * 0.5;
    for (int i = 0; i < BIG; i += 9)
      t[i] = -i;
  }
#pragma cofuse forall
  for (int i = 0; i < BIG; i++)
    x[i] += t[i];
  free(t);
  t = malloc(BIG * sizeof *t);
  for (int i = 0; i < BIG; i++)
    t[i] = 3;
#pragma cofuse forall
  for (int i = 0; i < BIG; i++)
    x[i] += t[BIG - 1 - i];
  u = realloc(t, BIG / 2 * sizeof *t);
  u[0] = 1e6;
#pragma cofuse forall
  for (int i = 0; i < BIG / 2; i++)
    x[i] += u[i];
#pragma cofuse store(u[0 : BIG / 2]) /* becomes a store while it is being read */
#pragma cofuse forall
  for (int i = 0; i < BIG / 2; i++)
    u[i] = x[i];
#pragma cofuse release(u) /* contents no longer needed */
  for (int i = 0; i < BIG / 2; i++)
    u[i] = i % 5;
#pragma cofuse forall
  for (int i = 0; i < BIG / 2; i++)
    x[i] += u[i];
  memset(u, 0, 100);
  show_f64("x", x, BIG), show_f64("u", u, BIG / 2);
  free(x), free(u);
}

static double stack_table(double *x, int k) {
  double t[BIG];
  for (int i = 0; i < BIG; i++)
    t[i] = i % 10 + k;
#pragma cofuse forall
  for (int i = 0; i < BIG; i++)
    x[i] += t[i];
  t[3] = 77;
  return t[4];
}
static void stack(void) {
  double *x = ramp(BIG, 0, 1), s = 0;
#pragma cofuse store(x[0 : BIG])
  for (int k = 0; k < 4; k++)
    s += stack_table(x, k);
  show_num("s", s), show_f64("x", x, BIG);
  free(x);
}

/* A loop that writes what is no store: on every rank. */
static void written(void) {
  double *x = ramp(N, 0, 1), *plain = ramp(N, 0, 0), s = 0, local[N];
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    plain[i] = x[i] * 2;
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++) {
    plain[i] += x[N - 1 - i];
    s += x[i];
  }
  show_num("s", s);
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    local[i] = plain[i];
    x[i] = local[i] + 1;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    local[i] = i ? plain[i - 1] : 0;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    plain[(i * 3) % N] = local[i]; /* 3 and N have no common divisor but 1 */
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    if (x[i] > 100)
      plain[i] = -1;
#pragma cofuse forall reduction(max : s)
  for (int i = 0; i < N; i++)
    if (local[i] > s)
      s = local[i];
  show_num("s", s), show_f64("x", x, N), show_f64("plain", plain, N), show_f64("local", local, N);
  free(x), free(plain);
}

static void no_stores_at_all(void) {
  int a[N], b[N], s = 0;
  for (int i = 0; i < N; i++)
    a[i] = i * i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    b[i] = a[i] + a[N - 1 - i];
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++)
    s += b[i];
#pragma cofuse flush
  show_num("s", s), show("b", b, sizeof b);
}

static const double coefficients[5] = {1, -2, 0.5, 3, 0.125};
static void constants(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 0, 0);
  const char *text = "cofuse";
#pragma cofuse store(x[0 : N], y[0 : N])
#pragma cofuse forall
  for (int i = 2; i < N - 2; i++) {
    double s = 0;
    for (int k = -2; k <= 2; k++)
      s += coefficients[k + 2] * x[i + k];
    y[i] = s + text[i % 6];
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = y[i] * coefficients[0] + coefficients[i % 5];
  show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

/* Structs by value and by pointer, changed after the issue. */
struct params {
  double dt, w[3];
  int n;
  struct params *up;
};
static void parameters(void) {
  double *x = ramp(N, 0, 1);
  struct params p = {0.5, {1, 2, 3}, N, NULL}, q = {2, {4, 5, 6}, 7, &p};
  const struct params *c = &q;
#pragma cofuse store(x[0 : N])
  for (int it = 0; it < 3; it++) {
#pragma cofuse forall
    for (int i = 0; i < p.n; i++)
      x[i] += p.dt * p.w[i % 3] + c->w[1] - c->up->dt + c->up->w[it];
    p.dt *= 2, p.w[1] = it, q.w[1]--;
  }
  show_f64("x", x, N);
  free(x);
}

int main(int argc, char **argv) {
  CASE(changed);
  CASE(big);
  CASE(stack);
  CASE(written);
  CASE(no_stores_at_all);
  CASE(constants);
  CASE(parameters);
  return 0;
}
