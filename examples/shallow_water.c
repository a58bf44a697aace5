// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shallow water over a sea bed, in library calls: finite volumes with the central-upwind scheme of Kurganov
// and Levy (2002) and limited linear reconstruction; the time step follows from the fastest wave and stays a
// scalar of the library. Walls all around.
//
// Checks: a dam breaks, and the water must stand as Stoker's exact solution says and keep its mass; then a
// lake with an uneven bed must stay at rest.
//
// usage: shallow_water [n [m [steps [lake]]]]     lake: steps of the second check
#include "../lib/dense/dense.h"
#include "example.h"

#include <math.h>

static const double gravity = 9.81, courant = 0.25, theta = 1.3;
enum { GHOSTS = 2, SURFACE = 0, FIELDS = 3 }; // momentum along dimension d is field 1 + d

struct sea {
  long n, m;
  double dx;
  dense field[FIELDS]; // surface and momenta, with GHOSTS layers around
  dense bed;           // in the cells
  dense face_bed[2];   // on the faces across each dimension
  dense rise[2];       // face_bed behind a cell - face_bed before it
  scalar time;
};

// a without its first and last layers along a dimension.
static dense trim(dense a, int dim, long first, long last) {
  return dim == 0 ? dense_view(a, first, 0, a.rows - first - last, a.cols)
                  : dense_view(a, 0, first, a.rows, a.cols - first - last);
}
static dense layer(dense a, int dim, long k) { return dim == 0 ? dense_row(a, k) : dense_column(a, k); }
static dense inside(dense a) { return trim(trim(a, 0, GHOSTS, GHOSTS), 1, GHOSTS, GHOSTS); }

// Walls: the layers behind a wall mirror those before it; the momentum across the wall changes its sign.
static void walls(struct sea *s) {
  for (int f = 0; f < FIELDS; f++)
    for (int dim = 0; dim < 2; dim++) {
      dense a = s->field[f];
      long last = (dim == 0 ? a.rows : a.cols) - 1;
      for (long k = 0; k < GHOSTS; k++) {
        dense low = layer(a, dim, 2 * GHOSTS - 1 - k), high = layer(a, dim, last - (2 * GHOSTS - 1 - k));
        bool across = f == 1 + dim;
        dense_set(layer(a, dim, k), across ? dense_neg(low) : low);
        dense_set(layer(a, dim, last - k), across ? dense_neg(high) : high);
      }
    }
}

// Generalised minmod of the differences to both sides.
static dense slope(dense q, int dim) {
  dense d = dense_keep(dense_sub(trim(q, dim, 1, 0), trim(q, dim, 0, 1)));
  dense before = trim(d, dim, 0, 1), after = trim(d, dim, 1, 0);
  dense a = dense_keep(dense_scale(before, theta)), b = dense_keep(dense_scale(after, theta));
  dense c = dense_keep(dense_scale(dense_add(before, after), 0.5));
  dense up = dense_at_least(dense_min(dense_min(a, b), c), 0.0);
  dense down = dense_at_most(dense_max(dense_max(a, b), c), 0.0);
  dense_free(d);
  dense_free(a);
  dense_free(b);
  dense_free(c);
  return dense_add(up, down);
}

// What is known on one side of the faces across a dimension.
struct side {
  dense q[FIELDS], flux[FIELDS], speed;
};

static void side_fluxes(struct side *s, dense bed, int dim) {
  int along = 1 + dim, other = 2 - dim;
  dense depth = dense_keep(dense_at_least(dense_sub(s->q[SURFACE], bed), 1e-9));
  dense u = dense_keep(dense_div(s->q[along], depth));
  dense pressure = dense_scale(dense_square(depth), 0.5 * gravity);
  s->flux[SURFACE] = s->q[along];
  s->flux[along] = dense_keep(dense_add(dense_mul(s->q[along], u), pressure));
  s->flux[other] = dense_keep(dense_mul(s->q[other], u));
  s->speed = dense_keep(dense_add(dense_abs(u), dense_sqrt(dense_scale(depth, gravity))));
  dense_free(depth);
  dense_free(u);
}

static void side_free(struct side *s, int dim) {
  for (int f = 0; f < FIELDS; f++)
    dense_free(s->q[f]);
  dense_free(s->flux[1 + dim]);
  dense_free(s->flux[2 - dim]);
  dense_free(s->speed);
}

// Fluxes through the faces across a dimension.
static void fluxes(const struct sea *s, int dim, dense *flux) {
  struct side low, high;
  for (int f = 0; f < FIELDS; f++) {
    dense q = trim(s->field[f], 1 - dim, GHOSTS, GHOSTS);
    dense half = dense_keep(dense_scale(slope(q, dim), 0.5));
    low.q[f] = dense_keep(dense_add(trim(q, dim, 1, 2), trim(half, dim, 0, 1)));
    high.q[f] = dense_keep(dense_sub(trim(q, dim, 2, 1), trim(half, dim, 1, 0)));
    dense_free(half);
  }
  side_fluxes(&low, s->face_bed[dim], dim);
  side_fluxes(&high, s->face_bed[dim], dim);
  dense speed = dense_keep(dense_max(low.speed, high.speed));
  for (int f = 0; f < FIELDS; f++) {
    dense mean = dense_add(low.flux[f], high.flux[f]);
    dense jump = dense_mul(speed, dense_sub(high.q[f], low.q[f]));
    flux[f] = dense_keep(dense_scale(dense_sub(mean, jump), 0.5));
  }
  dense_free(speed);
  side_free(&low, dim);
  side_free(&high, dim);
}

// dt / dx for the fastest wave.
static scalar ratio(const struct sea *s, dense depth) {
  dense wave = dense_keep(dense_sqrt(dense_scale(depth, gravity)));
  dense u = dense_abs(dense_div(inside(s->field[1]), depth)),
        v = dense_abs(dense_div(inside(s->field[2]), depth));
  scalar fastest = dense_largest(dense_max(dense_add(u, wave), dense_add(v, wave)));
  dense_free(wave);
  return scalar_keep(scalar_div(scalar_of(courant), fastest));
}

static void step(struct sea *s) {
  walls(s);
  dense depth = dense_keep(dense_sub(inside(s->field[SURFACE]), s->bed));
  scalar dt = ratio(s, depth);
  dense flux[2][FIELDS];
  fluxes(s, 0, flux[0]);
  fluxes(s, 1, flux[1]);
  for (int f = 0; f < FIELDS; f++) {
    dense gain = dense_add(dense_sub(trim(flux[0][f], 0, 0, 1), trim(flux[0][f], 0, 1, 0)),
                           dense_sub(trim(flux[1][f], 1, 0, 1), trim(flux[1][f], 1, 1, 0)));
    if (f != SURFACE)
      gain = dense_sub(gain, dense_scale(dense_mul(depth, s->rise[f - 1]), gravity));
    dense_add_to(inside(s->field[f]), dense_times(gain, dt));
    dense_free(flux[0][f]);
    dense_free(flux[1][f]);
  }
  scalar time = scalar_keep(scalar_add(s->time, scalar_mul(dt, scalar_of(s->dx))));
  scalar_free(s->time);
  s->time = time;
  scalar_free(dt);
  dense_free(depth);
}

// A bed of hills of a height, or none; its values on the faces are means of those at the corners, and its
// values in the cells are means of both.
static struct sea sea_new(long n, long m, double hills) {
  struct sea s = {.n = n, .m = m, .dx = 1.0 / (double)n, .time = scalar_keep(scalar_of(0.0))};
  for (int f = 0; f < FIELDS; f++)
    s.field[f] = dense_zeros(n + 2 * GHOSTS, m + 2 * GHOSTS);
  dense corners = dense_new(n + 1, m + 1);
  double *c = corners.p, dx = s.dx;
#pragma cofuse forall collapse(2)
  for (long i = 0; i <= n; i++)
    for (long j = 0; j <= m; j++)
      c[i * (m + 1) + j] = hills * sin(7.0 * dx * (double)i) * cos(5.0 * dx * (double)j);
  s.bed = dense_zeros(n, m);
  for (int dim = 0; dim < 2; dim++) {
    dense sum = dense_add(trim(corners, 1 - dim, 1, 0), trim(corners, 1 - dim, 0, 1));
    s.face_bed[dim] = dense_keep(dense_scale(sum, 0.5));
    dense before = trim(s.face_bed[dim], dim, 0, 1), behind = trim(s.face_bed[dim], dim, 1, 0);
    s.rise[dim] = dense_keep(dense_sub(behind, before));
    if (dim == 0)
      dense_set(s.bed, dense_scale(dense_add(before, behind), 0.5));
  }
  dense_free(corners);
  return s;
}

static void sea_free(struct sea *s) {
  for (int f = 0; f < FIELDS; f++)
    dense_free(s->field[f]);
  dense_free(s->bed);
  for (int dim = 0; dim < 2; dim++) {
    dense_free(s->face_bed[dim]);
    dense_free(s->rise[dim]);
  }
  scalar_free(s->time);
}

// Stoker's solution of the dam break over a dry-free flat bed: depth at distance x behind the dam, time t.
static double stoker(double x, double t, double deep, double shallow) {
  double lo = shallow, hi = deep, c = sqrt(gravity * deep);
  for (int k = 0; k < 100; k++) {
    double mid = 0.5 * (lo + hi);
    double wave = 2.0 * (c - sqrt(gravity * mid));
    double shock = (mid - shallow) * sqrt(0.5 * gravity * (mid + shallow) / (mid * shallow));
    if (wave > shock)
      lo = mid;
    else
      hi = mid;
  }
  double u = 2.0 * (c - sqrt(gravity * lo)), speed = lo * u / (lo - shallow);
  if (x <= -c * t)
    return deep;
  if (x <= (u - sqrt(gravity * lo)) * t)
    return (2.0 * c - x / t) * (2.0 * c - x / t) / (9.0 * gravity);
  return x < speed * t ? lo : shallow;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 200, 20, 100000);
  long m = example_arg(argc, argv, 2, 100, 2, 100000);
  long steps = example_arg(argc, argv, 3, n, 0, 100000000);
  long lake_steps = example_arg(argc, argv, 4, 5, 0, 100000);
  const double deep = 1.0, shallow = 0.4;

  struct sea sea = sea_new(n, m, 0.0);
  dense water = inside(sea.field[SURFACE]);
  dense_fill(dense_view(water, 0, 0, n / 2, m), deep);
  dense_fill(dense_view(water, n / 2, 0, n - n / 2, m), shallow);
  double mass = scalar_get(dense_sum(water));
#pragma cofuse flush
  double start = example_seconds();
  for (long it = 0; it < steps; it++)
    step(&sea);
#pragma cofuse flush
  double seconds = example_seconds() - start;

  double change = fabs(scalar_get(dense_sum(water)) / mass - 1.0), time = scalar_get(sea.time), error = 0.0;
  for (long i = 0; i < n; i++) {
    double x = ((double)(i - n / 2) + 0.5) * sea.dx;
    error += fabs(dense_get(water, i, m / 2) - stoker(x, time, deep, shallow)) / (double)n;
  }
  bool valid = time * sqrt(gravity * deep) < 0.5; // later the waves have met the walls
  bool good = change < 1e-12 && (!valid || error < 0.6 * sea.dx);
  printf("steps %ld\nat time %.17g\n", steps, time);
  printf("mass %s\n", change < 1e-12 ? "kept" : "LOST");
  printf("error %.17g%s\n", error, valid ? "" : " (waves are back from the walls)");
  uint64_t hash = 0;
  for (int f = 0; f < FIELDS; f++)
    hash = example_hash(hash, sea.field[f].p, (size_t)(sea.field[f].rows * sea.field[f].cols));
  sea_free(&sea);

  struct sea lake = sea_new(n, m, 0.2);
  dense_fill(inside(lake.field[SURFACE]), deep);
  for (long it = 0; it < lake_steps; it++)
    step(&lake);
  double motion = scalar_get(
      dense_norm_max(dense_add(dense_abs(inside(lake.field[1])), dense_abs(inside(lake.field[2])))));
  printf("lake %s\n", motion < 1e-13 ? "at rest" : "MOVES");
  printf("hash 0x%016llx\n", (unsigned long long)hash);
  printf("time %.6f s\n", seconds);
  sea_free(&lake);
  if (!good || !(motion < 1e-13))
    fprintf(stderr, "shallow_water: error %.3g, mass changed by %.3g, lake moves at %.3g\n", error, change,
            motion);
  return good && motion < 1e-13 ? 0 : 1;
}
