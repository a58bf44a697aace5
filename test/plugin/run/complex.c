// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O2 -march=native -ffp-contract=off
// RUN: %compare -O2 -fcx-limited-range
// RUN: %compare -O1 -fcx-fortran-rules -fno-math-errno
// float _Complex and double _Complex.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24 };
typedef double _Complex dc;
typedef float _Complex fc;
struct point {
  int id;
  dc z;
  fc w[2];
};
static const double special[] = {0,        -0.0,      1,   -2.5, 1e300, -1e-300,
                                 INFINITY, -INFINITY, NAN, 3.25, 1e160, 5e-324};
enum { S = sizeof special / sizeof *special };

static void print(const char *what, const double *p, int n) {
  printf("%s\n", what);
  for (int i = 0; i < n; i++) // the sign of a NaN is nobody's business
    if (isnan(p[i]))
      printf("  nan\n");
    else
      printf("  %a\n", p[i]);
}
static void printf32(const char *what, const float *p, int n) {
  for (int i = 0; i < n; i++)
    if (isnan(p[i]))
      printf("%s nan\n", what);
    else
      printf("%s %a\n", what, p[i]);
}
static dc square(dc z) { return z * z; }
static double norm2(dc z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }
static dc step(dc z, dc c, int n) {
  for (int k = 0; k < n; k++) {
    if (norm2(z) > 4)
      return z;
    z = square(z) + c;
  }
  return z;
}
static dc scaled(dc z, double f) {
  z *= f;
  return z + 1.0;
}

int main(int argc, char **argv) {
  (void)argv;
  dc a[N], b[N], c[N], *d = malloc(N * sizeof *d), alpha = 0.5 - 0.25 * I * argc;
  fc f[N], g[N];
  double re[N], im[N];
  struct point p[N];
  for (int i = 0; i < N; i++) {
    a[i] = sin(i) + cos(i * 3) * I;
    b[i] = i - 7 + (3 - i * 0.5) * I;
    c[i] = d[i] = 0;
    f[i] = 0.25f * i - 1.5f * I;
    g[i] = 0;
    p[i].id = i;
    p[i].z = i;
    p[i].w[0] = p[i].w[1] = I;
  }
#pragma cofuse store(a, b, c, d[0 : N], f, g, re, im, p)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    c[i] = a[i] * b[i] + alpha;
    d[i] = a[i] / b[i] - b[N - 1 - i] * 2;
    re[i] = creal(a[i] * 3.0) + im[i] * 0 + cimag(b[i]);
    im[i] = __imag__ c[i] + re[i] * creal(2.0 * d[i]);
  }
  print("c", (double *)c, 2 * N);
  print("d", (double *)d, 2 * N);
  print("re", re, N);
  print("im", im, N);
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    dc t = a[i] - 1, u = {0.5, i}, v[2] = {t, u}, w;
    __real__ t += 2;
    __imag__ t = re[i];
    t *= 0.5;
    t /= u;
    u -= I;
    w = i % 3 ? t : conj(u) + i;
    c[i] = -w + ~t * v[i & 1] + 2 / u + (dc)re[i];
    re[i] *= alpha + t;
    if (c[i] == d[i] || a[i] != 0 || !u)
      d[i] += c[i] ? 1 : -I;
  }
  print("c", (double *)c, 2 * N);
  print("d", (double *)d, 2 * N);
  print("re", re, N);
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    g[i] = f[i] * (fc)a[i] + 1.5f;
    g[i] += f[i] / (g[i] + I);
    f[i] = g[i] * 2.0;
    p[i].z = scaled(a[i], i) * p[i].w[1];
    p[i].w[0] = __builtin_complex(1.0f, crealf(g[i])) * p[i].id;
  }
  printf32("g", (float *)g, 2 * N);
  printf32("f", (float *)f, 2 * N);
  for (int i = 0; i < N; i++)
    print("p", (double[]){creal(p[i].z), cimag(p[i].z), crealf(p[i].w[0]), cimagf(p[i].w[0])}, 4);
#pragma cofuse forall firstprivate(alpha)
  for (int i = 0; i < N; i++) {
    d[i] = step(0, (alpha + a[i]) * 0.25, 12);
    re[i] = cabs(d[i]) + carg(b[i]);
    c[i] = cexp(a[i]) + csqrt(b[i]) * cpow(a[i], 2);
    g[i] = csqrtf(f[i]) + cabsf(g[i]);
  }
  print("d", (double *)d, 2 * N);
  print("c", (double *)c, 2 * N);
  print("re", re, N);
  printf32("g", (float *)g, 2 * N);
  dc sum = 1 + I, prod = 0;
  fc fsum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i * 0.5 - (i % 5) * I; // exact sums
#pragma cofuse forall reduction(+ : sum, fsum)
  for (int i = 0; i < N; i++) {
    sum += a[i] * 2;
    sum -= I;
    fsum = fsum + (fc)a[i];
  }
  print("sum", (double *)&sum, 2);
  printf32("fsum", (float *)&fsum, 2);
#pragma cofuse forall reduction(+ : c[3])
  for (int i = 0; i < N; i++)
    c[3] += a[i];
  print("c3", (double *)&c[3], 2);
#pragma cofuse store(prod)
#pragma cofuse task
  prod = a[1] * c[3] + sum;
  print("task", (double *)&prod, 2);

  static dc x[S * S], y[S * S], q[S * S], r[S * S];
  static fc xf[S * S], yf[S * S], qf[S * S], rf[S * S];
  for (int i = 0; i < S * S; i++) {
    x[i] = __builtin_complex(special[i % S], special[i / S]);
    y[i] = __builtin_complex(special[(i * 7 + 3) % S], special[(i / S * 5 + i) % S]);
    xf[i] = x[i];
    yf[i] = y[i];
  }
#pragma cofuse store(x, y, q, r, xf, yf, qf, rf)
  for (int k = 0; k < S; k++) {
#pragma cofuse forall
    for (int i = 0; i < S * S; i++) {
      q[i] = x[i] * y[(i + k * 13) % (S * S)];
      r[i] = x[i] / y[(i + k * 13) % (S * S)];
      qf[i] = xf[i] * yf[(i + k * 13) % (S * S)];
      rf[i] = xf[i] / yf[(i + k * 13) % (S * S)];
    }
    print("q", (double *)q, 2 * S * S);
    print("r", (double *)r, 2 * S * S);
    printf32("qf", (float *)qf, 2 * S * S);
    printf32("rf", (float *)rf, 2 * S * S);
  }
  free(d);
  return 0;
}
