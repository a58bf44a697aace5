// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flow in a cavity whose lid moves (Reynolds number 100), in library calls: the Navier-Stokes equations with
// an equation of Poisson's kind for the pressure, relaxed 20 times in every step. After "12 steps to
// Navier-Stokes" by L. Barba and G. Forsyth, step 11, with central differences for what the flow carries
// along.
//
// Checks: a vortex between walls without friction decays as it must (Taylor 1923); when the flow in the
// cavity is steady, its velocities are those of Ghia, Ghia and Shin (1982).
//
// usage: cfd [n [steps [relaxations [vortex]]]]
// n x n points; vortex: steps of the first check, which takes place on as many points
#include "../lib/dense/dense.h"
#include "example.h"

#include <math.h>

static const double viscosity = 0.01, density = 1.0;

// Views of the interior of a field and of its neighbours there.
static dense center(dense a) { return dense_view(a, 1, 1, a.rows - 2, a.cols - 2); }
static dense north(dense a) { return dense_view(a, 2, 1, a.rows - 2, a.cols - 2); }
static dense south(dense a) { return dense_view(a, 0, 1, a.rows - 2, a.cols - 2); }
static dense east(dense a) { return dense_view(a, 1, 2, a.rows - 2, a.cols - 2); }
static dense west(dense a) { return dense_view(a, 1, 0, a.rows - 2, a.cols - 2); }

static dense along_x(dense a, double h) { return dense_scale(dense_sub(east(a), west(a)), 0.5 / h); }
static dense along_y(dense a, double h) { return dense_scale(dense_sub(north(a), south(a)), 0.5 / h); }

// Right-hand side of the equation of the pressure.
static void source(dense b, dense u, dense v, double h, double dt) {
  dense divergence = dense_scale(dense_add(along_x(u, h), along_y(v, h)), 1.0 / dt);
  dense shear = dense_scale(dense_mul(along_y(u, h), along_x(v, h)), 2.0);
  dense sum = dense_sub(dense_sub(divergence, dense_square(along_x(u, h))), shear);
  dense_set(center(b), dense_scale(dense_sub(sum, dense_square(along_y(v, h))), density));
}

static void relax(dense p, dense b, double h) {
  dense old = dense_keep(dense_copy(p));
  dense horizontal = dense_scale(dense_add(east(old), west(old)), h * h);
  dense vertical = dense_scale(dense_add(north(old), south(old)), h * h);
  dense mean = dense_scale(dense_add(horizontal, vertical), 1.0 / (4.0 * h * h));
  dense_set(center(p), dense_sub(mean, dense_scale(center(b), 0.25 * h * h)));
  dense_free(old);
  dense_set(dense_column(p, p.cols - 1), dense_column(p, p.cols - 2));
  dense_set(dense_row(p, 0), dense_row(p, 1));
  dense_set(dense_column(p, 0), dense_column(p, 1));
  dense_set(dense_row(p, p.rows - 1), dense_row(p, p.rows - 2));
}

static dense carried(dense q, dense u, dense v, double h, double dt) {
  dense x = dense_scale(dense_mul(center(u), dense_sub(east(q), west(q))), 0.5 * dt / h);
  dense y = dense_scale(dense_mul(center(v), dense_sub(north(q), south(q))), 0.5 * dt / h);
  return dense_add(x, y);
}

static dense diffused(dense q, double h, double dt) {
  dense x = dense_add(dense_sub(east(q), dense_scale(center(q), 2.0)), west(q));
  dense y = dense_add(dense_sub(north(q), dense_scale(center(q), 2.0)), south(q));
  dense sum = dense_add(dense_scale(x, dt / (h * h)), dense_scale(y, dt / (h * h)));
  return dense_scale(sum, viscosity);
}

static void momentum(dense new, dense q, dense u, dense v, dense push, double h, double dt) {
  dense rest = dense_sub(dense_sub(center(q), carried(q, u, v, h, dt)), push);
  dense_set(center(new), dense_add(rest, diffused(q, h, dt)));
}

// The lid is the last row.
static void cavity_walls(dense u, dense v) {
  const dense a[] = {u, v};
  for (int k = 0; k < 2; k++) {
    dense_fill(dense_row(a[k], 0), 0.0);
    dense_fill(dense_column(a[k], 0), 0.0);
    dense_fill(dense_column(a[k], a[k].cols - 1), 0.0);
    dense_fill(dense_row(a[k], a[k].rows - 1), k == 0 ? 1.0 : 0.0);
  }
}

// Nothing flows through these walls, and they do not hold the flow along them.
static void smooth_walls(dense u, dense v) {
  dense_set(dense_row(u, 0), dense_row(u, 1));
  dense_set(dense_row(u, u.rows - 1), dense_row(u, u.rows - 2));
  dense_fill(dense_column(u, 0), 0.0);
  dense_fill(dense_column(u, u.cols - 1), 0.0);
  dense_set(dense_column(v, 0), dense_column(v, 1));
  dense_set(dense_column(v, v.cols - 1), dense_column(v, v.cols - 2));
  dense_fill(dense_row(v, 0), 0.0);
  dense_fill(dense_row(v, v.rows - 1), 0.0);
}

struct flow {
  dense u, v, p, b;
  double h, dt;
  long relaxations;
  void (*walls)(dense u, dense v);
};

static void step(const struct flow *f) {
  dense u = dense_keep(dense_copy(f->u)), v = dense_keep(dense_copy(f->v));
  source(f->b, u, v, f->h, f->dt);
  for (long k = 0; k < f->relaxations; k++)
    relax(f->p, f->b, f->h);
  momentum(f->u, u, u, v, dense_scale(along_x(f->p, f->h), f->dt / density), f->h, f->dt);
  momentum(f->v, v, u, v, dense_scale(along_y(f->p, f->h), f->dt / density), f->h, f->dt);
  f->walls(f->u, f->v);
  dense_free(u);
  dense_free(v);
}

static struct flow flow_new(long n, long relaxations, void (*walls)(dense u, dense v)) {
  struct flow f = {.h = 1.0 / (double)(n - 1), .relaxations = relaxations, .walls = walls};
  f.dt = fmin(0.01, 0.1 * f.h * f.h / viscosity);
  f.u = dense_zeros(n, n);
  f.v = dense_zeros(n, n);
  f.p = dense_zeros(n, n);
  f.b = dense_zeros(n, n);
  return f;
}

static void flow_free(struct flow *f) {
  dense_free(f->u);
  dense_free(f->v);
  dense_free(f->p);
  dense_free(f->b);
}

// Velocity u on the vertical middle line, at height y.
static double middle(dense u, double y) {
  double at = y * (double)(u.rows - 1);
  long k = (long)at < u.rows - 2 ? (long)at : u.rows - 2;
  double low = dense_get(u, k, u.cols / 2), high = dense_get(u, k + 1, u.cols / 2);
  return low + (at - (double)k) * (high - low);
}

// Largest difference from the table of Ghia, Ghia and Shin for Reynolds number 100.
static double table_error(dense u) {
  static const double ghia[][2] = {{0.1719, -0.10150}, {0.2813, -0.15662}, {0.4531, -0.21090},
                                   {0.5, -0.20581},    {0.6172, -0.13641}, {0.7344, 0.00332},
                                   {0.8516, 0.23151},  {0.9531, 0.68717}};
  double worst = 0;
  for (size_t k = 0; k < sizeof ghia / sizeof *ghia; k++)
    worst = fmax(worst, fabs(middle(u, ghia[k][0]) - ghia[k][1]));
  return worst;
}

// u = sin(pi x) cos(pi y) decay, v = -cos(pi x) sin(pi y) decay, p = (cos(2 pi x) + cos(2 pi y)) decay^2 / 4
static double vortex_error(long n, long steps, long relaxations) {
  const double pi = 3.14159265358979323846;
  struct flow f = flow_new(n, relaxations, smooth_walls);
  double *u = f.u.p, *v = f.v.p, *p = f.p.p, a = pi * f.h;
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double x = a * (double)j, y = a * (double)i;
      u[i * n + j] = sin(x) * cos(y);
      v[i * n + j] = -cos(x) * sin(y);
      p[i * n + j] = 0.25 * (cos(2 * x) + cos(2 * y));
    }
  for (long it = 0; it < steps; it++)
    step(&f);
  double decay = exp(-2.0 * pi * pi * viscosity * f.dt * (double)steps), worst = 0;
#pragma cofuse forall collapse(2) reduction(max : worst)
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

  struct flow f = flow_new(n, relaxations, cavity_walls);
  f.walls(f.u, f.v);
#pragma cofuse flush
  double start = example_seconds();
  for (long it = 0; it < steps; it++)
    step(&f);
#pragma cofuse flush
  double seconds = example_seconds() - start, time = f.dt * (double)steps;

  // The scheme is of second order; the factors are what it has on grids of 17 to 129 points, rounded up.
  double vortex = vortex_error(n, vortex_steps, relaxations);
  printf("error %.17g\n", vortex);
  bool steady = time >= 12.0, good = vortex < 10.0 * f.h * f.h;
  printf("steps %ld\nat time %.6g\n", steps, time);
  if (steady) {
    double table = table_error(f.u);
    printf("steady: difference from the table %.17g\n", table);
    good = good && table < 50.0 * f.h * f.h;
  }
  printf("checks %s\n", good ? "passed" : "FAILED");
  uint64_t hash = 0;
  const dense result[] = {f.u, f.v, f.p};
  for (int k = 0; k < 3; k++)
    hash = example_hash(hash, result[k].p, (size_t)(n * n));
  printf("hash 0x%016llx\n", (unsigned long long)hash);
  printf("time %.6f s\n", seconds);
  flow_free(&f);
  return good ? 0 : 1;
}
