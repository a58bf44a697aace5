// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../black_scholes.c fused by hand: one loop over the options. Every operation is a statement of its own, as
// in the example, so that no product is contracted into a sum.
#include "hand.h"

#include <math.h>

static const double sqrt_half = 0.70710678118654752440;
static const double inv_sqrt_2pi = 0.39894228040143267794;

static inline double normal_cdf(double x) {
  double p = erf(x * sqrt_half);
  p = p + 1.0;
  return p * 0.5;
}

static inline double normal_pdf(double x) {
  double p = x * x;
  p = exp(p * -0.5);
  return p * inv_sqrt_2pi;
}

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
  for (long i = 0; i < n; i++) {
    double s = spot[i], k = strike[i], t = years[i], r = rate[i], v = volatility[i];
    double root_t = sqrt(t), sigma = v * root_t;
    double drift = v * v;
    drift = drift * 0.5;
    drift = drift + r;
    drift = drift * t;
    double d1 = log(s / k);
    d1 = d1 + drift;
    d1 = d1 / sigma;
    double d2 = d1 - sigma;
    double discounted = exp(-(r * t)) * k;
    double n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    double paid = discounted * n2;
    double worth = s * n1;
    call[i] = worth - paid;
    double m1 = normal_cdf(-d1) * s;
    double received = discounted * normal_cdf(-d2);
    put[i] = received - m1;
    put_rho[i] = -(received * t);
    delta[i] = n1;
    put_delta[i] = n1 + -1.0;
    double density = normal_pdf(d1);
    double sensitivity = s * density * root_t;
    vega[i] = sensitivity;
    gamma[i] = density / s / sigma;
    vanna[i] = -(density * d2) / sigma;
    volga[i] = sensitivity * d1 * d2 / v;
    double decay = s * density * v / root_t * -0.5;
    double interest = r * paid;
    theta[i] = decay - interest;
    rho[i] = paid * t;
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
