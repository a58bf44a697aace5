// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heat on a plate: explicit steps until the change per step is below a tolerance, which is looked at every
// tenth step only. The result can be written as a NumPy file.
//
// usage: heat [n [m [steps [file.npy]]]]
#include "example.h"

#include <math.h>

// One step: v from u. Borders keep their temperature.
static void step(long n, long m, const double *u, double *v, double rate) {
#pragma cofuse forall collapse(2)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++)
      v[i * m + j] = u[i * m + j] + rate * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] +
                                            u[i * m + j + 1] - 4.0 * u[i * m + j]);
}

static double largest_change(long n, long m, const double *u, const double *v) {
  double change = 0;
#pragma cofuse forall collapse(2) reduction(max : change)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++)
      change = fmax(change, fabs(v[i * m + j] - u[i * m + j]));
  return change;
}

// NumPy's format 1.0: magic, version, length of the header, header padded to a multiple of 64, data.
static int save_npy(const char *path, const double *a, long n, long m) {
  char dict[118];
  int len =
      snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': (%ld, %ld), }", n, m);
  memset(dict + len, ' ', sizeof dict - (size_t)len);
  dict[sizeof dict - 1] = '\n';
  const unsigned char magic[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, sizeof dict, 0};
  FILE *f = fopen(path, "wb");
  if (!f) {
    perror(path);
    return 1;
  }
  size_t count = (size_t)n * (size_t)m;
  int bad = fwrite(magic, sizeof magic, 1, f) != 1 || fwrite(dict, sizeof dict, 1, f) != 1 ||
            fwrite(a, sizeof *a, count, f) != count;
  if (fclose(f) || bad) {
    fprintf(stderr, "%s: cannot write\n", path);
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 300, 3, 1000000);
  long m = example_arg(argc, argv, 2, 400, 3, 1000000);
  long steps = example_arg(argc, argv, 3, 500, 0, 100000000);
  const char *path = argc > 4 ? argv[4] : NULL;
  const double rate = 0.2, tolerance = 1e-3;

  double *u = example_alloc((size_t)n * (size_t)m, sizeof *u);
  double *v = example_alloc((size_t)n * (size_t)m, sizeof *v);
#pragma cofuse store(u[0 : n][0 : m], v[0 : n][0 : m])
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) {
      double hot = i == 0 ? 100.0 : 0.0;
      u[i * m + j] = hot;
      v[i * m + j] = hot;
    }

#pragma cofuse flush
  double start = example_seconds();
  double change = INFINITY;
  long s = 0;
  while (s < steps && change > tolerance) {
    step(n, m, u, v, rate);
    s++;
    if (s % 10 == 0)
      change = largest_change(n, m, u, v);
    double *swap = u;
    u = v;
    v = swap;
  }
#pragma cofuse flush
  double seconds = example_seconds() - start;

  printf("steps %ld\n", s);
  printf("residual %.17g\n", change);
  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, u, (size_t)n * (size_t)m));
  printf("time %.6f s\n", seconds);
  int failed = path ? save_npy(path, u, n, m) : 0;
  free(u);
  free(v);
  return failed;
}
