// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Five-point stencil in library style: five shifted views of one grid are added one operation at a time,
// each into a new temporary. Six passes over memory per iteration as written; cofuse makes one of them
// and lets the temporaries vanish.
//
// usage: stencil [n [m [iterations]]]
#include "array_ops.h"
#include "example.h"

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1000, 3, 1000000);
  long m = example_arg(argc, argv, 2, 1000, 3, 1000000);
  long iterations = example_arg(argc, argv, 3, 50, 0, 1000000);

  double *grid = array_new(n, m);
#pragma cofuse forall collapse(2)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      grid[i * m + j] = (double)((31 * i + 17 * j) % 97) / 97.0;

  long rows = n - 2, cols = m - 2;
  double *center = grid + m + 1;
  const double *north = center - m, *south = center + m, *west = center - 1, *east = center + 1;

#pragma cofuse flush
  double start = example_seconds();
  for (long it = 0; it < iterations; it++) {
    double *a = array_new(rows, cols);
    array_add(rows, cols, center, m, north, m, a, cols);
    double *b = array_new(rows, cols);
    array_add(rows, cols, a, cols, east, m, b, cols);
    free(a);
    double *c = array_new(rows, cols);
    array_add(rows, cols, b, cols, west, m, c, cols);
    free(b);
    double *d = array_new(rows, cols);
    array_add(rows, cols, c, cols, south, m, d, cols);
    free(c);
    double *average = array_new(rows, cols);
    array_scale(rows, cols, 0.2, d, cols, average, cols);
    free(d);
    array_copy(rows, cols, average, cols, center, m);
    free(average);
  }
#pragma cofuse flush
  double seconds = example_seconds() - start;

  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, grid, (size_t)n * (size_t)m));
  printf("time %.6f s\n", seconds);
  free(grid);
  return 0;
}
