// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../cfd.c fused by hand. A step is: the source with the copy of p; 20 relaxations, each one loop that makes
// a row of p, its ends, and the copy of it that the next relaxation reads; both momenta with the walls and
// the copies of u and v that the next step reads. The copies are the program's: p, u and v are read by
// neighbours while they are written.
#include "hand.h"

#include <math.h>
#include <stdbool.h>

static const double viscosity = 0.01, density = 1.0;

struct flow {
  long n, relaxations;
  double h, dt;
  double *u, *v, *p, *b;
  double *old_u, *old_v, *new_u, *new_v, *old_p, *new_p; // copies: those of now, and those to come
  bool smooth;                                           // walls without friction
};

static void swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

static void source(const struct flow *f, double *restrict b, const double *restrict u,
                   const double *restrict v, const double *restrict p, double *restrict old_p) {
  const double slope = 0.5 / f->h, per_step = 1.0 / f->dt;
  long n = f->n;
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++) {
    memcpy(old_p + i * n, p + i * n, (size_t)n * sizeof *p);
    if (i == 0 || i == n - 1)
      continue;
    for (long k = i * n + 1; k < i * n + n - 1; k++) {
      double ux = (u[k + 1] - u[k - 1]) * slope, uy = (u[k + n] - u[k - n]) * slope;
      double vx = (v[k + 1] - v[k - 1]) * slope, vy = (v[k + n] - v[k - n]) * slope;
      double sum = (ux + vy) * per_step, shear = uy * vx * 2.0, ux2 = ux * ux, vy2 = vy * vy;
      sum = sum - ux2;
      sum = sum - shear;
      sum = sum - vy2;
      b[k] = sum * density;
    }
  }
}

// p from `old`; its copy for the next relaxation into `new` unless there is none.
static void relax(const struct flow *f, double *restrict p, const double *restrict b,
                  const double *restrict old, double *restrict new) {
  const double h = f->h, weight = h * h, part = 1.0 / (4.0 * h * h), push = 0.25 * h * h;
  long n = f->n;
  HAND_FOR(n * n)
  for (long i = 1; i < n - 1; i++) {
    double *restrict row = p + i * n;
    const double *restrict c = old + i * n, *restrict bi = b + i * n;
    double *restrict copy = new ? new + i *n : NULL;
#define RELAX(store)                                                                                         \
  for (long j = 1; j < n - 1; j++) {                                                                         \
    double across = (c[j + 1] + c[j - 1]) * weight, along = (c[j + n] + c[j - n]) * weight;                  \
    double mean = (across + along) * part, pushed = bi[j] * push;                                            \
    double value = mean - pushed;                                                                            \
    row[j] = value;                                                                                          \
    store;                                                                                                   \
  }
    if (copy) {
      RELAX(copy[j] = value)
    } else {
      RELAX((void)0)
    }
    row[n - 1] = row[n - 2];
    row[0] = row[1];
    size_t bytes = (size_t)n * sizeof *p;
    if (copy) {
      copy[n - 1] = row[n - 1];
      copy[0] = row[0];
    }
    long edge = i == 1 ? -n : 0;
    for (int k = 0; k < 2; k++, edge = i == n - 2 ? n : 0)
      if (edge) {
        memcpy(row + edge, row, bytes);
        if (copy)
          memcpy(copy + edge, row, bytes);
      }
  }
}

static void walls_cavity(long n, double *u, double *v) {
  for (long i = 0; i < n; i++)
    u[i] = v[i] = 0;
  for (long i = 0; i < n; i++) {
    u[i * n] = u[i * n + n - 1] = v[i * n] = v[i * n + n - 1] = 0;
  }
  for (long i = 0; i < n; i++) {
    u[(n - 1) * n + i] = 1.0;
    v[(n - 1) * n + i] = 0;
  }
}

// The new value of q at k, from the old q, u, v and the push of the pressure.
static inline double moved(const double *q, const double *u, const double *v, long k, long n, double carry,
                           double spread, double push) {
  double x = u[k] * (q[k + 1] - q[k - 1]), y = v[k] * (q[k + n] - q[k - n]);
  x = x * carry;
  y = y * carry;
  double carried = x + y, twice = q[k] * 2.0;
  double rest = (q[k] - carried) - push;
  double dx = (q[k + 1] - twice) + q[k - 1], dy = (q[k + n] - twice) + q[k - n];
  dx = dx * spread;
  dy = dy * spread;
  double diffused = (dx + dy) * viscosity;
  return rest + diffused;
}

// New u and v with their walls, and the copies that the next step reads.
static void momentum(const struct flow *f, double *restrict u, double *restrict v,
                     const double *restrict old_u, const double *restrict old_v, const double *restrict p,
                     double *restrict new_u, double *restrict new_v) {
  const double h = f->h, dt = f->dt, slope = 0.5 / h, force = dt / density, carry = 0.5 * dt / h;
  const double spread = dt / (h * h);
  long n = f->n;
  bool smooth = f->smooth;
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++) {
    double *restrict un = u + i * n, *restrict vn = v + i * n;
    double *restrict uc = new_u + i * n, *restrict vc = new_v + i * n;
    // A border row is that of its neighbour or constant; the thread that has the neighbour makes it.
    if (i == 0 || i == n - 1)
      continue;
    long at = i * n;
    for (long j = 1; j < n - 1; j++) {
      long k = at + j;
      double px = (p[k + 1] - p[k - 1]) * slope, py = (p[k + n] - p[k - n]) * slope;
      px = px * force;
      py = py * force;
      double a = moved(old_u, old_u, old_v, k, n, carry, spread, px);
      double b = moved(old_v, old_u, old_v, k, n, carry, spread, py);
      un[j] = a;
      uc[j] = a;
      vn[j] = b;
      vc[j] = b;
    }
    un[0] = uc[0] = un[n - 1] = uc[n - 1] = 0;
    vn[0] = vc[0] = smooth ? vn[1] : 0;
    vn[n - 1] = vc[n - 1] = smooth ? vn[n - 2] : 0;
    long edge = i == 1 ? -n : 0;
    for (int k = 0; k < 2; k++, edge = i == n - 2 ? n : 0)
      if (edge) {
        double lid = edge > 0 ? 1.0 : 0.0;
        for (long j = 0; j < n; j++) {
          un[edge + j] = uc[edge + j] = smooth ? un[j] : lid;
          vn[edge + j] = vc[edge + j] = 0;
        }
      }
  }
}

static void step(struct flow *f) {
  source(f, f->b, f->old_u, f->old_v, f->p, f->old_p);
  for (long k = 1; k <= f->relaxations; k++) {
    relax(f, f->p, f->b, f->old_p, k < f->relaxations ? f->new_p : NULL);
    swap(&f->old_p, &f->new_p);
  }
  momentum(f, f->u, f->v, f->old_u, f->old_v, f->p, f->new_u, f->new_v);
  swap(&f->old_u, &f->new_u);
  swap(&f->old_v, &f->new_v);
}

// The copies of u and v that the first step reads.
static void begin(struct flow *f) {
  long n = f->n;
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++) {
    memcpy(f->old_u + i * n, f->u + i * n, (size_t)n * sizeof(double));
    memcpy(f->old_v + i * n, f->v + i * n, (size_t)n * sizeof(double));
  }
}

static struct flow flow_new(long n, long relaxations, bool smooth) {
  struct flow f = {.n = n, .relaxations = relaxations, .h = 1.0 / (double)(n - 1), .smooth = smooth};
  f.dt = fmin(0.01, 0.1 * f.h * f.h / viscosity);
  f.u = hand_zeros(n, n);
  f.v = hand_zeros(n, n);
  f.p = hand_zeros(n, n);
  f.b = hand_zeros(n, n);
  double **copies[] = {&f.old_u, &f.old_v, &f.new_u, &f.new_v, &f.old_p, &f.new_p};
  for (size_t k = 0; k < sizeof copies / sizeof *copies; k++)
    *copies[k] = hand_new(n * n);
  return f;
}

static void flow_free(struct flow *f) {
  double *all[] = {f->u, f->v, f->p, f->b, f->old_u, f->old_v, f->new_u, f->new_v, f->old_p, f->new_p};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    free(all[k]);
}

static double middle(const double *u, long n, double y) {
  double at = y * (double)(n - 1);
  long k = (long)at < n - 2 ? (long)at : n - 2;
  double low = u[k * n + n / 2], high = u[(k + 1) * n + n / 2];
  return low + (at - (double)k) * (high - low);
}

static double table_error(const double *u, long n) {
  static const double ghia[][2] = {{0.1719, -0.10150}, {0.2813, -0.15662}, {0.4531, -0.21090},
                                   {0.5, -0.20581},    {0.6172, -0.13641}, {0.7344, 0.00332},
                                   {0.8516, 0.23151},  {0.9531, 0.68717}};
  double worst = 0;
  for (size_t k = 0; k < sizeof ghia / sizeof *ghia; k++)
    worst = fmax(worst, fabs(middle(u, n, ghia[k][0]) - ghia[k][1]));
  return worst;
}

static double vortex_error(long n, long steps, long relaxations) {
  const double pi = 3.14159265358979323846;
  struct flow f = flow_new(n, relaxations, true);
  double *u = f.u, *v = f.v, *p = f.p, a = pi * f.h;
  HAND_FOR(n * n)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double x = a * (double)j, y = a * (double)i;
      u[i * n + j] = sin(x) * cos(y);
      v[i * n + j] = -cos(x) * sin(y);
      p[i * n + j] = 0.25 * (cos(2 * x) + cos(2 * y));
    }
  begin(&f);
  for (long it = 0; it < steps; it++)
    step(&f);
  double decay = exp(-2.0 * pi * pi * viscosity * f.dt * (double)steps), worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double x = a * (double)j, y = a * (double)i;
      double du = u[i * n + j] - sin(x) * cos(y) * decay, dv = v[i * n + j] + cos(x) * sin(y) * decay;
      worst = fmax(worst, fmax(fabs(du), fabs(dv)));
    }
  printf("vortex decays to %.6g, ", decay);
  flow_free(&f);
  return worst;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 33, 5, 20000);
  long steps = example_arg(argc, argv, 2, 1400, 0, 100000000);
  long relaxations = example_arg(argc, argv, 3, 20, 1, 100000);
  long vortex_steps = example_arg(argc, argv, 4, 10, 0, 100000);

  struct flow f = flow_new(n, relaxations, false);
  walls_cavity(n, f.u, f.v);
  double start = example_seconds();
  begin(&f);
  for (long it = 0; it < steps; it++)
    step(&f);
  double seconds = example_seconds() - start, time = f.dt * (double)steps;

  double vortex = vortex_error(n, vortex_steps, relaxations);
  printf("error %.17g\n", vortex);
  bool steady = time >= 12.0, good = vortex < 10.0 * f.h * f.h;
  printf("steps %ld\nat time %.6g\n", steps, time);
  if (steady) {
    double table = table_error(f.u, n);
    printf("steady: difference from the table %.17g\n", table);
    good = good && table < 50.0 * f.h * f.h;
  }
  printf("checks %s\n", good ? "passed" : "FAILED");
  uint64_t hash = 0;
  const double *result[] = {f.u, f.v, f.p};
  for (int k = 0; k < 3; k++)
    hash = example_hash(hash, result[k], (size_t)(n * n));
  printf("hash 0x%016llx\n", (unsigned long long)hash);
  printf("time %.6f s\n", seconds);
  flow_free(&f);
  return good ? 0 : 1;
}
