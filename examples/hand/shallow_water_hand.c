// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../shallow_water.c fused by hand: five loops a step. Across rows (dimension 0) the differences, their
// slopes and the fluxes are read by neighbours, so each is an array; along a row (dimension 1) they are rows
// that stay in the cache. The last loop waits for the time step.
#include "hand.h"

#include <math.h>
#include <stdbool.h>

static const double gravity = 9.81, courant = 0.25, theta = 1.3;
enum { GHOSTS = 2, SURFACE = 0, FIELDS = 3, LANES = 16 };

struct sea {
  long n, m;
  double dx, time;
  double *field[FIELDS]; // (n + 4) x (m + 4)
  double *bed, *face_bed[2], *rise[2];
  double *depth;           // n x m
  double *d[FIELDS];       // (n + 3) x m: differences across rows
  double *half[FIELDS];    // (n + 2) x m: half the slope
  double *flux[2][FIELDS]; // (n + 1) x m and n x (m + 1)
};

static void walls(struct sea *s) {
  long w = s->m + 2 * GHOSTS, last_row = s->n + 2 * GHOSTS - 1, last = w - 1;
  for (int f = 0; f < FIELDS; f++) {
    double *a = s->field[f];
    for (long k = 0; k < GHOSTS; k++) {
      long from = 2 * GHOSTS - 1 - k;
      for (long j = 0; j < w; j++) {
        a[k * w + j] = f == 1 ? -a[from * w + j] : a[from * w + j];
        a[(last_row - k) * w + j] = f == 1 ? -a[(last_row - from) * w + j] : a[(last_row - from) * w + j];
      }
    }
    for (long i = 0; i <= last_row; i++)
      for (long k = 0; k < GHOSTS; k++) {
        long from = 2 * GHOSTS - 1 - k;
        a[i * w + k] = f == 2 ? -a[i * w + from] : a[i * w + from];
        a[i * w + last - k] = f == 2 ? -a[i * w + last - from] : a[i * w + last - from];
      }
  }
}

static inline double least(double x, double y) { return y < x ? y : x; }
static inline double most(double x, double y) { return y > x ? y : x; }
static inline double at_least(double x, double bound) { return x < bound ? bound : x; }
static inline double at_most(double x, double bound) { return x > bound ? bound : x; }

// Half the limited slope between two differences.
static inline double half_slope(double before, double after) {
  double a = before * theta, b = after * theta, c = before + after;
  c = c * 0.5;
  double up = at_least(least(least(a, b), c), 0.0), down = at_most(most(most(a, b), c), 0.0);
  double slope = up + down;
  return slope * 0.5;
}

// Speed and fluxes on one side of a face: momentum along and across the direction of the flux.
struct side {
  double depth, u, speed, along, other;
};

static inline struct side side_of(double surface, double along, double other, double bed) {
  struct side s;
  s.depth = at_least(surface - bed, 1e-9);
  s.u = along / s.depth;
  double pressure = s.depth * s.depth, carried = along * s.u, wave = s.depth * gravity;
  pressure = pressure * (0.5 * gravity);
  s.along = carried + pressure;
  s.other = other * s.u;
  wave = sqrt(wave);
  s.speed = fabs(s.u) + wave;
  return s;
}

static inline double mix(double low_flux, double high_flux, double speed, double low, double high) {
  double mean = low_flux + high_flux, jump = high - low;
  jump = speed * jump;
  return (mean - jump) * 0.5;
}

// Fluxes through count faces; q0, q1, q2: surface and momenta along and across, on both sides of them.
static inline void face_fluxes(long count, const double *restrict bed, const double *const low[FIELDS],
                               const double *const low_half[FIELDS], const double *const high[FIELDS],
                               const double *const high_half[FIELDS], double *const flux[FIELDS]) {
  const double *restrict l0 = low[0], *restrict l1 = low[1], *restrict l2 = low[2];
  const double *restrict k0 = low_half[0], *restrict k1 = low_half[1], *restrict k2 = low_half[2];
  const double *restrict h0 = high[0], *restrict h1 = high[1], *restrict h2 = high[2];
  const double *restrict g0 = high_half[0], *restrict g1 = high_half[1], *restrict g2 = high_half[2];
  double *restrict f0 = flux[0], *restrict f1 = flux[1], *restrict f2 = flux[2];
  for (long j = 0; j < count; j++) {
    double a0 = l0[j] + k0[j], a1 = l1[j] + k1[j], a2 = l2[j] + k2[j];
    double b0 = h0[j] - g0[j], b1 = h1[j] - g1[j], b2 = h2[j] - g2[j];
    struct side a = side_of(a0, a1, a2, bed[j]), b = side_of(b0, b1, b2, bed[j]);
    double speed = most(a.speed, b.speed);
    f0[j] = mix(a1, b1, speed, a0, b0);
    f1[j] = mix(a.along, b.along, speed, a1, b1);
    f2[j] = mix(a.other, b.other, speed, a2, b2);
  }
}

static inline double wave_speed(double depth, double along, double across) {
  double wave = sqrt(depth * gravity), u = fabs(along / depth), v = fabs(across / depth);
  return most(u + wave, v + wave);
}

// Depth, differences across rows, and the largest speed of a wave.
static double start_step(struct sea *s) {
  long n = s->n, m = s->m, w = m + 2 * GHOSTS;
  double fastest = -INFINITY;
#pragma omp parallel for schedule(static) reduction(max : fastest) if (8 * n * m > HAND_SERIAL)
  for (long i = 0; i < n + 3; i++) {
    for (int f = 0; f < FIELDS; f++) {
      const double *restrict q = s->field[f] + i * w + GHOSTS;
      double *restrict d = s->d[f] + i * m;
      for (long j = 0; j < m; j++)
        d[j] = q[w + j] - q[j];
    }
    if (i >= n)
      continue;
    const double *restrict surface = s->field[0] + (i + GHOSTS) * w + GHOSTS, *restrict bed = s->bed + i * m;
    const double *restrict pu = s->field[1] + (i + GHOSTS) * w + GHOSTS;
    const double *restrict pv = s->field[2] + (i + GHOSTS) * w + GHOSTS;
    double *restrict depth = s->depth + i * m;
    double lane[LANES];
    for (int k = 0; k < LANES; k++)
      lane[k] = -INFINITY;
    long j = 0;
    for (; j + LANES <= m; j += LANES)
      for (int k = 0; k < LANES; k++) {
        double speed = wave_speed(surface[j + k] - bed[j + k], pu[j + k], pv[j + k]);
        depth[j + k] = surface[j + k] - bed[j + k];
        lane[k] = most(lane[k], speed);
      }
    for (; j < m; j++) {
      depth[j] = surface[j] - bed[j];
      lane[0] = most(lane[0], wave_speed(depth[j], pu[j], pv[j]));
    }
    for (int k = 0; k < LANES; k++)
      fastest = most(fastest, lane[k]);
  }
  return fastest;
}

static void slopes(struct sea *s) {
  long n = s->n, m = s->m;
  HAND_FOR(8 * n * m)
  for (long i = 0; i < n + 2; i++)
    for (int f = 0; f < FIELDS; f++) {
      const double *restrict d = s->d[f] + i * m;
      double *restrict half = s->half[f] + i * m;
      for (long j = 0; j < m; j++)
        half[j] = half_slope(d[j], d[j + m]);
    }
}

// Fluxes through the faces of a row of cells: across it, and along it with its slopes in `half`, rows of m
// + 2.
static void fluxes(struct sea *s, long i, double *restrict half) {
  long n = s->n, m = s->m, w = m + 2 * GHOSTS;
  const double *low[FIELDS], *high[FIELDS], *low_half[FIELDS], *high_half[FIELDS];
  double *flux[FIELDS];
  for (int f = 0; f < FIELDS; f++) {
    low[f] = s->field[f] + (i + 1) * w + GHOSTS;
    high[f] = low[f] + w;
    low_half[f] = s->half[f] + i * m;
    high_half[f] = low_half[f] + m;
    flux[f] = s->flux[0][f] + i * m;
  }
  face_fluxes(m, s->face_bed[0] + i * m, low, low_half, high, high_half, flux);
  if (i == n)
    return;
  for (int k = 0; k < FIELDS; k++) {
    int f = k == 0 ? 0 : 3 - k; // the momentum along the row is field 2
    const double *restrict q = s->field[f] + (i + GHOSTS) * w;
    double *restrict out = half + k * (m + 2);
    for (long j = 0; j < m + 2; j++) {
      double before = q[j + 1] - q[j], after = q[j + 2] - q[j + 1];
      out[j] = half_slope(before, after);
    }
    low[k] = q + 1;
    high[k] = q + 2;
    low_half[k] = out;
    high_half[k] = out + 1;
    flux[k] = s->flux[1][f] + i * (m + 1);
  }
  face_fluxes(m + 1, s->face_bed[1] + i * (m + 1), low, low_half, high, high_half, flux);
}

static void all_fluxes(struct sea *s) {
#pragma omp parallel if (8 * s->n * s->m > HAND_SERIAL)
  {
    double *half = hand_new(FIELDS * (s->m + 2));
#pragma omp for schedule(static)
    for (long i = 0; i <= s->n; i++)
      fluxes(s, i, half);
    free(half);
  }
}

static void update(struct sea *s, double dt) {
  long n = s->n, m = s->m, w = m + 2 * GHOSTS;
  HAND_FOR(8 * n * m)
  for (long i = 0; i < n; i++)
    for (int f = 0; f < FIELDS; f++) {
      const double *restrict a = s->flux[0][f] + i * m, *restrict b = s->flux[1][f] + i * (m + 1);
      const double *restrict depth = s->depth + i * m, *restrict rise = s->rise[f ? f - 1 : 0] + i * m;
      double *restrict q = s->field[f] + (i + GHOSTS) * w + GHOSTS;
      if (f == SURFACE)
        for (long j = 0; j < m; j++) {
          double gain = (a[j] - a[j + m]) + (b[j] - b[j + 1]);
          gain = gain * dt;
          q[j] += gain;
        }
      else
        for (long j = 0; j < m; j++) {
          double gain = (a[j] - a[j + m]) + (b[j] - b[j + 1]), slope = depth[j] * rise[j];
          slope = slope * gravity;
          gain = gain - slope;
          gain = gain * dt;
          q[j] += gain;
        }
    }
}

static void step(struct sea *s) {
  walls(s);
  double dt = courant / start_step(s);
  slopes(s);
  all_fluxes(s);
  update(s, dt);
  double advance = dt * s->dx;
  s->time = s->time + advance;
}

static struct sea sea_new(long n, long m, double hills) {
  struct sea s = {.n = n, .m = m, .dx = 1.0 / (double)n};
  double dx = s.dx;
  for (int f = 0; f < FIELDS; f++) {
    s.field[f] = hand_zeros(n + 2 * GHOSTS, m + 2 * GHOSTS);
    s.d[f] = hand_new((n + 3) * m);
    s.half[f] = hand_new((n + 2) * m);
    s.flux[0][f] = hand_new((n + 1) * m);
    s.flux[1][f] = hand_new(n * (m + 1));
  }
  s.depth = hand_new(n * m);
  s.bed = hand_new(n * m);
  s.face_bed[0] = hand_new((n + 1) * m);
  s.face_bed[1] = hand_new(n * (m + 1));
  s.rise[0] = hand_new(n * m);
  s.rise[1] = hand_new(n * m);
  double *restrict c = hand_new((n + 1) * (m + 1));
  double *restrict across = s.face_bed[0], *restrict along = s.face_bed[1], *restrict bed = s.bed;
  HAND_FOR(n * m)
  for (long i = 0; i <= n; i++)
    for (long j = 0; j <= m; j++)
      c[i * (m + 1) + j] = hills * sin(7.0 * dx * (double)i) * cos(5.0 * dx * (double)j);
  HAND_FOR(n * m)
  for (long i = 0; i <= n; i++) {
    const double *at = c + i * (m + 1);
    for (long j = 0; j < m; j++)
      across[i * m + j] = (at[j + 1] + at[j]) * 0.5;
    for (long j = 0; j <= m && i < n; j++)
      along[i * (m + 1) + j] = (at[j + m + 1] + at[j]) * 0.5;
  }
  HAND_FOR(n * m)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) {
      long k = i * m + j, l = i * (m + 1) + j;
      s.rise[0][k] = across[k + m] - across[k];
      s.rise[1][k] = along[l + 1] - along[l];
      bed[k] = (across[k] + across[k + m]) * 0.5;
    }
  free(c);
  return s;
}

static void sea_free(struct sea *s) {
  for (int f = 0; f < FIELDS; f++) {
    free(s->field[f]);
    free(s->d[f]);
    free(s->half[f]);
    free(s->flux[0][f]);
    free(s->flux[1][f]);
  }
  for (int dim = 0; dim < 2; dim++) {
    free(s->face_bed[dim]);
    free(s->rise[dim]);
  }
  free(s->bed);
  free(s->depth);
}

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

static double *cell(const struct sea *s, int f, long i) {
  return s->field[f] + (i + GHOSTS) * (s->m + 2 * GHOSTS) + GHOSTS;
}

static double mass_of(const struct sea *s) {
  double sum = 0;
  for (long i = 0; i < s->n; i++)
    for (long j = 0; j < s->m; j++)
      sum += cell(s, SURFACE, i)[j];
  return sum;
}

static void fill(struct sea *s, long from, long to, double level) {
  for (long i = from; i < to; i++)
    for (long j = 0; j < s->m; j++)
      cell(s, SURFACE, i)[j] = level;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 200, 20, 100000);
  long m = example_arg(argc, argv, 2, 100, 2, 100000);
  long steps = example_arg(argc, argv, 3, n, 0, 100000000);
  long lake_steps = example_arg(argc, argv, 4, 5, 0, 100000);
  const double deep = 1.0, shallow = 0.4;

  struct sea sea = sea_new(n, m, 0.0);
  fill(&sea, 0, n / 2, deep);
  fill(&sea, n / 2, n, shallow);
  double mass = mass_of(&sea);
  double start = example_seconds();
  for (long it = 0; it < steps; it++)
    step(&sea);
  double seconds = example_seconds() - start;

  double change = fabs(mass_of(&sea) / mass - 1.0), time = sea.time, error = 0.0;
  for (long i = 0; i < n; i++) {
    double x = ((double)(i - n / 2) + 0.5) * sea.dx;
    error += fabs(cell(&sea, SURFACE, i)[m / 2] - stoker(x, time, deep, shallow)) / (double)n;
  }
  bool valid = time * sqrt(gravity * deep) < 0.5;
  bool good = change < 1e-12 && (!valid || error < 0.6 * sea.dx);
  printf("steps %ld\nat time %.17g\n", steps, time);
  printf("mass %s\n", change < 1e-12 ? "kept" : "LOST");
  printf("error %.17g%s\n", error, valid ? "" : " (waves are back from the walls)");
  uint64_t hash = 0;
  for (int f = 0; f < FIELDS; f++)
    hash = example_hash(hash, sea.field[f], (size_t)((n + 2 * GHOSTS) * (m + 2 * GHOSTS)));
  sea_free(&sea);

  struct sea lake = sea_new(n, m, 0.2);
  fill(&lake, 0, n, deep);
  for (long it = 0; it < lake_steps; it++)
    step(&lake);
  double motion = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      motion = fmax(motion, fabs(cell(&lake, 1, i)[j]) + fabs(cell(&lake, 2, i)[j]));
  printf("lake %s\n", motion < 1e-13 ? "at rest" : "MOVES");
  printf("hash 0x%016llx\n", (unsigned long long)hash);
  printf("time %.6f s\n", seconds);
  sea_free(&lake);
  return good && motion < 1e-13 ? 0 : 1;
}
