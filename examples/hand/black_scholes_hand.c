// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../black_scholes.c fused by hand: one loop over the options, in strips, so that the calls of libm stand in
// loops of their own and all other loops are vectors; intermediate values stay in the nearest cache. Every
// operation is a statement of its own, as in the example, so that no product is contracted into a sum.
#include "hand.h"

#include <math.h>

static const double sqrt_half = 0.70710678118654752440;
static const double inv_sqrt_2pi = 0.39894228040143267794;

// (1 + x) / 2
static inline double half(double x) {
  double p = x + 1.0;
  return p * 0.5;
}

enum { STRIP = 128 };
enum { CALL, PUT, DELTA, PUT_DELTA, GAMMA, VEGA, VANNA, VOLGA, THETA, RHO, PUT_RHO, RESULTS };

static void price(long n, const double *restrict spot, const double *restrict strike,
                  const double *restrict years, const double *restrict rate,
                  const double *restrict volatility, double *const *result) {
  double *restrict call = result[CALL], *restrict put = result[PUT], *restrict delta = result[DELTA];
  double *restrict put_delta = result[PUT_DELTA], *restrict gamma = result[GAMMA],
                   *restrict vega = result[VEGA];
  double *restrict vanna = result[VANNA], *restrict volga = result[VOLGA], *restrict theta = result[THETA];
  double *restrict rho = result[RHO], *restrict put_rho = result[PUT_RHO];
  HAND_FOR(32 * n)
  for (long from = 0; from < n; from += STRIP) {
    long count = n - from < STRIP ? n - from : STRIP;
    double root_t[STRIP], sigma[STRIP], d1[STRIP], d2[STRIP], discounted[STRIP], density[STRIP];
    double n1[STRIP], n2[STRIP], m1[STRIP], m2[STRIP];
    for (long j = 0; j < count; j++) {
      long i = from + j;
      root_t[j] = sqrt(years[i]);
      sigma[j] = volatility[i] * root_t[j];
      d1[j] = spot[i] / strike[i];
      discounted[j] = -(rate[i] * years[i]);
    }
    for (long j = 0; j < count; j++)
      d1[j] = log(d1[j]);
    for (long j = 0; j < count; j++)
      discounted[j] = exp(discounted[j]);
    for (long j = 0; j < count; j++) {
      long i = from + j;
      double drift = volatility[i] * volatility[i];
      drift = drift * 0.5;
      drift = drift + rate[i];
      drift = drift * years[i];
      double x = d1[j] + drift;
      x = x / sigma[j];
      double y = x - sigma[j], square = x * x;
      d1[j] = x;
      d2[j] = y;
      discounted[j] = discounted[j] * strike[i];
      density[j] = square * -0.5;
      n1[j] = x * sqrt_half;
      n2[j] = y * sqrt_half;
      m1[j] = -x * sqrt_half;
      m2[j] = -y * sqrt_half;
    }
    for (long j = 0; j < count; j++) {
      n1[j] = erf(n1[j]);
      n2[j] = erf(n2[j]);
      m1[j] = erf(m1[j]);
      m2[j] = erf(m2[j]);
    }
    for (long j = 0; j < count; j++)
      density[j] = exp(density[j]);
#pragma omp simd
    for (long j = 0; j < count; j++) {
      long i = from + j;
      double s = spot[i], t = years[i], v = volatility[i], pdf = density[j] * inv_sqrt_2pi;
      double up1 = half(n1[j]), up2 = half(n2[j]), down1 = half(m1[j]), down2 = half(m2[j]);
      double paid = discounted[j] * up2, worth = s * up1;
      call[i] = worth - paid;
      double owed = down1 * s, received = discounted[j] * down2;
      put[i] = received - owed;
      put_rho[i] = -(received * t);
      delta[i] = up1;
      put_delta[i] = up1 + -1.0;
      double sensitivity = s * pdf * root_t[j];
      vega[i] = sensitivity;
      gamma[i] = pdf / s / sigma[j];
      vanna[i] = -(pdf * d2[j]) / sigma[j];
      volga[i] = sensitivity * d1[j] * d2[j] / v;
      double decay = s * pdf * v / root_t[j] * -0.5, interest = rate[i] * paid;
      theta[i] = decay - interest;
      rho[i] = paid * t;
    }
  }
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 100000, 0, 1000000000);
  long iterations = example_arg(argc, argv, 2, 10, 1, 1000000);

  double *restrict spot = hand_new(n), *restrict strike = hand_new(n), *restrict years = hand_new(n);
  double *restrict rate = hand_new(n), *restrict volatility = hand_new(n);
  HAND_FOR(n)
  for (long i = 0; i < n; i++) {
    spot[i] = 20.0 + (double)(i * 7919 % 1000) * 0.1;
    strike[i] = 25.0 + (double)(i * 104729 % 900) * 0.1;
    years[i] = 0.25 + (double)(i * 31 % 40) * 0.1;
    rate[i] = 0.01 + (double)(i % 7) * 0.005;
    volatility[i] = 0.1 + (double)(i * 13 % 50) * 0.01;
  }

  double *result[RESULTS];
  for (int k = 0; k < RESULTS; k++)
    result[k] = hand_new(n);
  double start = example_seconds();
  for (long it = 0; it < iterations; it++)
    price(n, spot, strike, years, rate, volatility, result);
  double seconds = example_seconds() - start;

  const double *call = result[CALL], *put = result[PUT];
  double worst = 0;
  for (long i = 0; i < n; i++) {
    double gap = fabs(call[i] - put[i] - spot[i] + strike[i] * exp(-rate[i] * years[i]));
    if (gap > worst)
      worst = gap;
  }
  printf("parity %s\n", worst < 1e-11 ? "holds" : "VIOLATED");
  uint64_t hash = 0;
  for (int k = 0; k < RESULTS; k++)
    hash = example_hash(hash, result[k], (size_t)n);
  printf("hash 0x%016llx\n", (unsigned long long)hash);
  printf("time %.6f s\n", seconds);

  for (int k = 0; k < RESULTS; k++)
    free(result[k]);
  free(spot);
  free(strike);
  free(years);
  free(rate);
  free(volatility);
  return worst < 1e-11 ? 0 : 1;
}
