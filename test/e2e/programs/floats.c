// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point: mixed precision, contraction, comparisons with NaN, math functions, complex numbers.
#include "show.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <tgmath.h>

enum { N = 301 };
static double *ramp(double lo, double step) {
  double *x = malloc(N * sizeof *x);
  for (int i = 0; i < N; i++)
    x[i] = lo + step * i;
  return x;
}

/* Where clang contracts a * b + c within one expression, and where it must not. */
static void contraction(void) {
  double *a = ramp(0.1, 0.37), *b = ramp(-3, 0.11), *c = ramp(1e-3, 0.7), *r = malloc(12 * N * sizeof *r);
  float *f = malloc(N * sizeof *f), *g = malloc(N * sizeof *g);
  for (int i = 0; i < N; i++)
    f[i] = (float)a[i], g[i] = (float)b[i];
#pragma cofuse store(a[0 : N], b[0 : N], c[0 : N], r[0 : 12][0 : N], f[0 : N], g[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    r[i] = a[i] * b[i] + c[i];
    r[N + i] = c[i] - a[i] * b[i];
    r[2 * N + i] = a[i] * b[i] - c[i];
    r[3 * N + i] = a[i] * b[i] + c[i] * b[i];
    r[4 * N + i] = -(a[i] * b[i]) + c[i];
    double t = a[i] * b[i];
    r[5 * N + i] = t + c[i];
    r[6 * N + i] = (t = a[i] * c[i]) + b[i];
    t = c[i];
    t += a[i] * b[i];
    r[7 * N + i] = t;
    t -= (a[i] * a[i]);
    r[8 * N + i] = t * t - (-a[i]) * b[i];
    r[9 * N + i] = (double)(f[i] * g[i]) + c[i];
    f[i] = f[i] * g[i] + 1.0f;
    g[i] = f[i] * g[i] + 1.0;
    r[10 * N + i] = a[i] * b[i] - c[i] * a[i];
    r[11 * N + i] = (i & 1 ? a[i] * b[i] : c[i]) + a[i] * (b[i] * 3 + 1);
  }
  show_f64("r", r, 12 * N), show_f32("f", f, N), show_f32("g", g, N);
  free(a), free(b), free(c), free(r), free(f), free(g);
}

/* A product in one task and its sum in the next must not meet in one FMA. */
static void across_tasks(void) {
  double *a = ramp(0.1, 0.37), *b = ramp(-3, 0.11), *t = malloc(N * sizeof *t), *y = ramp(7, 0.01);
#pragma cofuse store(a[0 : N], b[0 : N], t[0 : N], y[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    t[i] = a[i] * b[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[i] = t[i] + y[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    t[i] = -t[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[i] -= t[i];
  free(t);
  show_f64("y", y, N);
  free(a), free(b), free(y);
}

static inline double axpy(double a, double x, double y) { return a * x + y; }
static inline float half(float x) { return x / 2; }
static double poly(double x) {
  double s = 0.3;
  for (int k = 0; k < 5; k++)
    s = s * x + k;
  return s;
}
static double clamp(double x, double lo, double hi) {
  if (x < lo)
    return lo;
  if (x > hi)
    return hi;
  return x;
}
static void calls(void) {
  double *a = ramp(0.1, 0.37), *b = ramp(-3, 0.11);
  float *f = malloc(N * sizeof *f);
#pragma cofuse store(a[0 : N], b[0 : N], f[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    f[i] = half(a[i]);
    a[i] = axpy(b[i], a[i], 1) + axpy(a[i], half(b[i]), poly(b[i]) * a[i]);
    b[i] = clamp(a[i] * b[i] - 1, -1e2, 1e2) * 1.0f;
  }
  show_f64("a", a, N), show_f64("b", b, N), show_f32("f", f, N);
  free(a), free(b), free(f);
}

static void pragmas(void) {
  double *a = ramp(0.1, 0.37), *b = ramp(-3, 0.11), *c = ramp(1, 1.7);
#pragma cofuse store(a[0 : N], b[0 : N], c[0 : N])
  {
#pragma STDC FP_CONTRACT OFF
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      c[i] = a[i] * b[i] + c[i];
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
#pragma STDC FP_CONTRACT ON
    c[i] = a[i] * b[i] + c[i];
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
#pragma clang fp contract(off)
    c[i] += a[i] * b[i];
  }
  show_f64("c", c, N);
  free(a), free(b), free(c);
}

static void special(void) {
  double *x = ramp(-2, 0.5);
  int *k = malloc(N * sizeof *k);
  x[3] = NAN, x[5] = INFINITY, x[7] = -INFINITY, x[9] = -0.0, x[11] = DBL_MIN / 8, x[13] = DBL_MAX;
#pragma cofuse store(x[0 : N], k[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    k[i] = (x[i] < 0) | (x[i] <= 0) << 1 | (x[i] > 0) << 2 | (x[i] >= 0) << 3 | (x[i] == 0) << 4 |
           (x[i] != 0) << 5;
    k[i] |= !x[i] << 6 | (x[i] ? 1 : 0) << 7 | (x[i] && 1) << 8 | !(x[i] < 1) << 9;
    k[i] |= (isnan(x[i]) ? 1 : 0) << 10 | (isinf(x[i]) ? 1 : 0) << 11 | (signbit(x[i]) ? 1 : 0) << 12;
    k[i] |= (isfinite(x[i]) ? 1 : 0) << 13 | (isless(x[i], 2.0) ? 1 : 0) << 14;
    if (x[i] > 100 || !(x[i] == x[i]))
      k[i] = -k[i];
    x[i] = -x[i] - 0.0 + (x[i] - x[i]) * 0;
    x[i] = 0.0 - x[i];
  }
  show("k", k, N * sizeof *k), show_f64("x", x, N);
  free(x), free(k);
}

#define ONE(i, e) r[(i) * N + j] = (e)
static void math_f64(void) {
  double *x = ramp(-4, 0.03), *y = ramp(3.1, -0.021), *r = malloc(36 * N * sizeof *r);
#pragma cofuse store(x[0 : N], y[0 : N], r[0 : 36][0 : N])
#pragma cofuse forall
  for (int j = 0; j < N; j++) {
    double p = fabs(x[j]) + 0.01;
    ONE(0, exp(x[j]));
    ONE(1, log(p));
    ONE(2, sin(x[j]));
    ONE(3, cos(x[j]));
    ONE(4, tan(x[j]));
    ONE(5, sqrt(p));
    ONE(6, pow(p, y[j]));
    ONE(7, pow(x[j], 2.0));
    ONE(8, pow(p, 0.5));
    ONE(9, fabs(x[j]));
    ONE(10, floor(x[j] * 3));
    ONE(11, ceil(x[j] * 3));
    ONE(12, trunc(x[j] * 3));
    ONE(13, round(x[j] * 4));
    ONE(14, rint(x[j] * 4));
    ONE(15, nearbyint(x[j] * 4));
    ONE(16, fmin(x[j], y[j]));
    ONE(17, fmax(x[j], y[j]));
    ONE(18, fma(x[j], y[j], p));
    ONE(19, copysign(x[j], y[j]));
    ONE(20, hypot(x[j], y[j]));
    ONE(21, atan2(x[j], y[j]));
    ONE(22, atan(x[j]));
    ONE(23, asin(x[j] / 20));
    ONE(24, acos(x[j] / 20));
    ONE(25, sinh(x[j]));
    ONE(26, cosh(x[j]));
    ONE(27, tanh(x[j]));
    ONE(28, erf(x[j]));
    ONE(29, erfc(x[j]));
    ONE(30, cbrt(x[j]));
    ONE(31, exp2(x[j]));
    ONE(32, expm1(x[j]));
    ONE(33, log1p(p) + log2(p) + log10(p));
    ONE(34, fmod(x[j], 1.3) + remainder(x[j], 0.7) + fdim(x[j], y[j]));
    ONE(35, tgamma(p) + ldexp(x[j], 3) + (double)lround(x[j]));
  }
  for (int i = 0; i < 36; i++) {
    char name[8];
    snprintf(name, sizeof name, "r%d", i);
    show_f64(name, r + i * N, N);
  }
  free(x), free(y), free(r);
}

static void math_f32(void) {
  float *x = malloc(N * sizeof *x), *r = malloc(16 * N * sizeof *r);
  for (int i = 0; i < N; i++)
    x[i] = (float)i * 0.021f - 3;
#pragma cofuse store(x[0 : N], r[0 : 16][0 : N])
#pragma cofuse forall
  for (int j = 0; j < N; j++) {
    ONE(0, expf(x[j]));
    ONE(1, sqrtf(fabsf(x[j])));
    ONE(2, powf(fabsf(x[j]), 1.5f));
    ONE(3, sinf(x[j]) * cosf(x[j]));
    ONE(4, (float)exp((double)x[j]));
    ONE(5, sqrt(fabs(x[j])));
    ONE(6, floorf(x[j]) + (float)floor((double)x[j]));
    ONE(7, fmaxf(x[j], 0) + fminf(x[j], 0.5f));
    ONE(8, logf(fabsf(x[j]) + 1));
    ONE(9, tanhf(x[j]));
    ONE(10, x[j] * 0.1);
    ONE(11, x[j] * 0.1f);
    ONE(12, x[j] + 1e-9);
    ONE(13, powf(x[j], 2));
    ONE(14, fabs(x[j]) / 3);
    ONE(15, atan2f(x[j], 2) + hypotf(x[j], 1));
  }
  for (int i = 0; i < 16; i++) {
    char name[8];
    snprintf(name, sizeof name, "r%d", i);
    show_f32(name, r + i * N, N);
  }
  free(x), free(r);
}

/* Constant arguments, folded by the compiler, and calls that it simplifies. */
static void folded(void) {
  double *x = ramp(-4, 0.03), a = 3;
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
  for (int j = 0; j < N; j++)
    x[j] = x[j] * exp(1.0) + sin(0.5) * pow(x[j], 3.0) + pow(2.0, x[j]) + pow(x[j], -1) + pow(10.0, x[j]) +
           sqrt(a) + exp(log(fabs(x[j]) + 1)) + 3.14159265358979323846 / 3 + pow(x[j], 4) + fabs(-x[j]) +
           pow(x[j], 1.0) + pow(x[j], 0.0);
  show_f64("x", x, N);
  free(x);
}

static void complexes(void) {
  double complex *z = malloc(N * sizeof *z), *w = malloc(N * sizeof *w);
  float complex *f = malloc(N * sizeof *f);
  double *m = malloc(N * sizeof *m);
  for (int i = 0; i < N; i++)
    z[i] = 0.1 * i - 3 + (0.05 * i - 1) * I, w[i] = 0, f[i] = (float)i - 0.5f * I;
#pragma cofuse store(z[0 : N], w[0 : N], f[0 : N], m[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    w[i] = z[i] * z[i] + 2 * z[i] - 1;
    m[i] = creal(w[i]) - cimag(z[i]);
    w[i] += conj(z[i]) * I;
    w[i] /= z[i] + 1e3;
    f[i] = f[i] * f[i] - (float)m[i];
    f[i] = -f[i] * 2;
    m[i] += cabs(z[i]) + (z[i] == w[i]) + (z[i] != 0);
  }
  show_f64("w", (double *)w, 2 * N), show_f32("f", (float *)f, 2 * N), show_f64("m", m, N);
  free(z), free(w), free(f), free(m);
}

static void doubles_and_floats(void) {
  float *f = malloc(N * sizeof *f);
  double *d = malloc(N * sizeof *d);
  long double *e = malloc(N * sizeof *e);
  for (int i = 0; i < N; i++)
    f[i] = 0.1f * (float)i, d[i] = 0.3 * i, e[i] = i;
  float s = 1.1f;
#pragma cofuse store(f[0 : N], d[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    f[i] += d[i];
    f[i] *= 1.1;
    d[i] += f[i] * s;
    f[i] -= s * 2;
    f[i]++;
    d[i]--;
    d[i] = f[i] > d[i] ? f[i] : d[i];
    d[i] = i / 2 + i / 2.f + 1 / 3 + (float)(d[i] / 3);
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    e[i] = e[i] / 3 + d[i];
  for (int i = 0; i < N; i++)
    d[i] += (double)e[i];
  show_f32("f", f, N), show_f64("d", d, N);
  free(f), free(d), free(e);
}

int main(int argc, char **argv) {
  CASE(contraction);
  CASE(across_tasks);
  CASE(calls);
  CASE(pragmas);
  CASE(special);
  CASE(math_f64);
  CASE(math_f32);
  CASE(folded);
  CASE(complexes);
  CASE(doubles_and_floats);
  return 0;
}
