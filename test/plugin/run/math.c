// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Library functions: exact ones inline, the others by call, constants folded.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200 };
static double x[N], y[N], o[N];
static float f[N], of[N];
static int k[N];
static unsigned long sum(const void *p, size_t n) {
  unsigned long h = 14695981039346656037UL;
  for (size_t i = 0; i < n; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211UL;
  return h;
}
static double hypot3(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }

int main(void) {
  for (int i = 0; i < N; i++) {
    x[i] = (i - 100) * 0.37;
    y[i] = (i * 29 % 41) * 0.21 + 0.1;
    f[i] = (float)(x[i] * 0.3);
  }
  x[3] = NAN;
  x[5] = INFINITY;
  x[7] = -0.0;
#pragma cofuse store(x, y, o, f, of, k)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    o[i] = exp(-y[i]) + log(y[i]) * sin(x[i]) + pow(y[i], 1.7) + pow(y[i], 2.0) + erf(y[i]) + cbrt(x[i]) +
           atan2(x[i], y[i]) + hypot(x[i], y[i]) + tanh(y[i]) + fmod(x[i], y[i]) + log1p(y[i]) + expm1(y[i]);
    of[i] = expf(-f[i]) + sqrtf(fabsf(f[i])) + powf(fabsf(f[i]), 0.3f) + cosf(f[i]) + floorf(f[i]) + roundf(f[i]);
  }
  printf("%016lx %016lx\n", sum(o, sizeof o), sum(of, sizeof of));
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    o[i] = sqrt(y[i]) + fabs(x[i]) + floor(x[i]) + ceil(x[i]) + trunc(x[i]) + round(x[i]) + rint(x[i]) +
           nearbyint(x[i]) + copysign(y[i], x[i]) + fma(x[i], y[i], 0.3) + fmin(x[i], y[i]) + fmax(x[i], y[i]) +
           hypot3(x[i], y[i], M_PI);
    k[i] = isnan(x[i]) + 2 * !!isinf(x[i]) + 4 * isfinite(x[i]) + 8 * !!signbit(x[i]) + 16 * isnormal(x[i]) +
           abs(k[i] - i) * 32 + (x[i] != x[i]) + isgreater(x[i], y[i]) + (int)labs(-(long)i);
    of[i] = x[i] > 0 ? INFINITY : f[i] < 0 ? -HUGE_VALF : NAN;
    of[i] = fmaxf(of[i], f[i]) - fminf(f[i], 1);
  }
  printf("%016lx %016lx %016lx\n", sum(o, sizeof o), sum(of, sizeof of), sum(k, sizeof k));
  return 0;
}
