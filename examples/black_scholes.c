// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Black-Scholes prices and sensitivities of n options, written as a sequence of elementary operations on
// vectors: every operation makes a new vector, every vector is freed as soon as it was used.
//
// usage: black_scholes [n [iterations]]
#include "example.h"

#include <math.h>

static double *vec_new(long n) {
  double *v = example_alloc((size_t)n, sizeof *v);
#pragma cofuse store(v[0 : n])
  return v;
}

// Defines one operation: a new vector whose element i is `expression`.
#define VEC_UNARY(name, expression)                                                                          \
  static double *name(long n, const double *a) {                                                             \
    double *out = vec_new(n);                                                                                \
    _Pragma("cofuse forall") for (long i = 0; i < n; i++) out[i] = (expression);                             \
    return out;                                                                                              \
  }
#define VEC_SCALAR(name, expression)                                                                         \
  static double *name(long n, const double *a, double s) {                                                   \
    double *out = vec_new(n);                                                                                \
    _Pragma("cofuse forall") for (long i = 0; i < n; i++) out[i] = (expression);                             \
    return out;                                                                                              \
  }
#define VEC_BINARY(name, expression)                                                                         \
  static double *name(long n, const double *a, const double *b) {                                            \
    double *out = vec_new(n);                                                                                \
    _Pragma("cofuse forall") for (long i = 0; i < n; i++) out[i] = (expression);                             \
    return out;                                                                                              \
  }

VEC_UNARY(vec_exp, exp(a[i]))
VEC_UNARY(vec_log, log(a[i]))
VEC_UNARY(vec_sqrt, sqrt(a[i]))
VEC_UNARY(vec_erf, erf(a[i]))
VEC_UNARY(vec_neg, -a[i])
VEC_SCALAR(vec_scale, a[i] * s)
VEC_SCALAR(vec_shift, a[i] + s)
VEC_BINARY(vec_add, a[i] + b[i])
VEC_BINARY(vec_sub, a[i] - b[i])
VEC_BINARY(vec_mul, a[i] * b[i])
VEC_BINARY(vec_div, a[i] / b[i])

// f(v) in place of v: the old vector is freed.
#define APPLY(v, f, ...)                                                                                     \
  do {                                                                                                       \
    double *apply_old = (v);                                                                                 \
    (v) = f(n, apply_old, __VA_ARGS__);                                                                      \
    free(apply_old);                                                                                         \
  } while (0)
#define APPLY1(v, f)                                                                                         \
  do {                                                                                                       \
    double *apply_old = (v);                                                                                 \
    (v) = f(n, apply_old);                                                                                   \
    free(apply_old);                                                                                         \
  } while (0)

static const double sqrt_half = 0.70710678118654752440;
static const double inv_sqrt_2pi = 0.39894228040143267794;

// Distribution function of the normal distribution: (1 + erf(x / sqrt 2)) / 2.
static double *normal_cdf(long n, const double *x) {
  double *p = vec_scale(n, x, sqrt_half);
  APPLY1(p, vec_erf);
  APPLY(p, vec_shift, 1.0);
  APPLY(p, vec_scale, 0.5);
  return p;
}

// Its density: exp(-x*x/2) / sqrt(2 pi).
static double *normal_pdf(long n, const double *x) {
  double *p = vec_mul(n, x, x);
  APPLY(p, vec_scale, -0.5);
  APPLY1(p, vec_exp);
  APPLY(p, vec_scale, inv_sqrt_2pi);
  return p;
}

struct options {
  double *spot, *strike, *years, *rate, *volatility;
};
enum { CALL, PUT, DELTA, PUT_DELTA, GAMMA, VEGA, VANNA, VOLGA, THETA, RHO, PUT_RHO, RESULTS };

static void price(long n, const struct options *o, double **result) {
  double *root_t = vec_sqrt(n, o->years);
  double *sigma = vec_mul(n, o->volatility, root_t);

  // d1 = (log(S/K) + (r + v*v/2) T) / (v sqrt T), d2 = d1 - v sqrt T
  double *drift = vec_mul(n, o->volatility, o->volatility);
  APPLY(drift, vec_scale, 0.5);
  APPLY(drift, vec_add, o->rate);
  APPLY(drift, vec_mul, o->years);
  double *d1 = vec_div(n, o->spot, o->strike);
  APPLY1(d1, vec_log);
  APPLY(d1, vec_add, drift);
  free(drift);
  APPLY(d1, vec_div, sigma);
  double *d2 = vec_sub(n, d1, sigma);

  double *discounted = vec_mul(n, o->rate, o->years); // K exp(-r T)
  APPLY1(discounted, vec_neg);
  APPLY1(discounted, vec_exp);
  APPLY(discounted, vec_mul, o->strike);

  double *n1 = normal_cdf(n, d1);
  double *n2 = normal_cdf(n, d2);

  // call = S N(d1) - K exp(-r T) N(d2)
  double *paid = vec_mul(n, discounted, n2);
  result[CALL] = vec_mul(n, o->spot, n1);
  APPLY(result[CALL], vec_sub, paid);

  // put = K exp(-r T) N(-d2) - S N(-d1)
  double *minus_d1 = vec_neg(n, d1);
  double *minus_d2 = vec_neg(n, d2);
  double *m1 = normal_cdf(n, minus_d1);
  double *m2 = normal_cdf(n, minus_d2);
  free(minus_d1);
  free(minus_d2);
  APPLY(m1, vec_mul, o->spot);
  double *received = vec_mul(n, discounted, m2);
  result[PUT] = vec_sub(n, received, m1);
  free(m1);
  free(m2);
  free(discounted);
  result[PUT_RHO] = vec_mul(n, received, o->years);
  APPLY1(result[PUT_RHO], vec_neg);
  free(received);

  result[DELTA] = n1;
  result[PUT_DELTA] = vec_shift(n, n1, -1.0);
  double *density = normal_pdf(n, d1);
  result[VEGA] = vec_mul(n, o->spot, density);
  APPLY(result[VEGA], vec_mul, root_t);
  result[GAMMA] = vec_div(n, density, o->spot);
  APPLY(result[GAMMA], vec_div, sigma);

  // vanna = -pdf(d1) d2 / (v sqrt T), volga = vega d1 d2 / v
  result[VANNA] = vec_mul(n, density, d2);
  APPLY1(result[VANNA], vec_neg);
  APPLY(result[VANNA], vec_div, sigma);
  result[VOLGA] = vec_mul(n, result[VEGA], d1);
  APPLY(result[VOLGA], vec_mul, d2);
  APPLY(result[VOLGA], vec_div, o->volatility);
  free(d1);
  free(d2);

  // theta = -S v pdf(d1) / (2 sqrt T) - r K exp(-r T) N(d2)
  double *decay = vec_mul(n, o->spot, density);
  free(density);
  APPLY(decay, vec_mul, o->volatility);
  APPLY(decay, vec_div, root_t);
  APPLY(decay, vec_scale, -0.5);
  double *interest = vec_mul(n, o->rate, paid);
  result[THETA] = vec_sub(n, decay, interest);
  free(decay);
  free(interest);

  result[RHO] = vec_mul(n, paid, o->years);
  free(paid);
  free(n2);
  free(root_t);
  free(sigma);
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 100000, 0, 1000000000);
  long iterations = example_arg(argc, argv, 2, 10, 1, 1000000);

  struct options o = {vec_new(n), vec_new(n), vec_new(n), vec_new(n), vec_new(n)};
  double *spot = o.spot, *strike = o.strike, *years = o.years, *rate = o.rate, *volatility = o.volatility;
#pragma cofuse forall
  for (long i = 0; i < n; i++) {
    spot[i] = 20.0 + (double)(i * 7919 % 1000) * 0.1;
    strike[i] = 25.0 + (double)(i * 104729 % 900) * 0.1;
    years[i] = 0.25 + (double)(i * 31 % 40) * 0.1;
    rate[i] = 0.01 + (double)(i % 7) * 0.005;
    volatility[i] = 0.1 + (double)(i * 13 % 50) * 0.01;
  }

#pragma cofuse flush
  double start = example_seconds();
  double *result[RESULTS] = {0};
  for (long it = 0; it < iterations; it++) {
    for (int k = 0; k < RESULTS; k++)
      free(result[k]);
    price(n, &o, result);
  }
#pragma cofuse flush
  double seconds = example_seconds() - start;

  // Put-call parity: call - put = S - K exp(-r T).
  const double *call = result[CALL], *put = result[PUT];
  double worst = 0;
#pragma cofuse forall reduction(max : worst)
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
  free(o.spot);
  free(o.strike);
  free(o.years);
  free(o.rate);
  free(o.volatility);
  return worst < 1e-11 ? 0 : 1;
}
