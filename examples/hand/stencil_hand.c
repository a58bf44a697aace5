// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ../stencil.c fused by hand: all additions of an iteration in one loop; the copy back overwrites what
// neighbours still read, so it is a second one.
#include "hand.h"

static void iteration(long n, long m, double *restrict grid, double *restrict average) {
  long cols = m - 2;
  HAND_FOR(n * m)
  for (long i = 1; i < n - 1; i++) {
    const double *center = grid + i * m + 1, *north = center - m, *south = center + m;
    double *restrict out = average + (i - 1) * cols;
    for (long j = 0; j < cols; j++)
      out[j] = 0.2 * (center[j] + north[j] + center[j + 1] + center[j - 1] + south[j]);
  }
  HAND_FOR(n * m)
  for (long i = 1; i < n - 1; i++)
    memcpy(grid + i * m + 1, average + (i - 1) * cols, (size_t)cols * sizeof *grid);
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1000, 3, 1000000);
  long m = example_arg(argc, argv, 2, 1000, 3, 1000000);
  long iterations = example_arg(argc, argv, 3, 50, 0, 1000000);

  double *grid = hand_new(n * m), *average = hand_new((n - 2) * (m - 2));
  HAND_FOR(n * m)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      grid[i * m + j] = (double)((31 * i + 17 * j) % 97) / 97.0;

  double start = example_seconds();
  for (long it = 0; it < iterations; it++)
    iteration(n, m, grid, average);
  double seconds = example_seconds() - start;

  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, grid, (size_t)n * (size_t)m));
  printf("time %.6f s\n", seconds);
  free(grid);
  free(average);
  return 0;
}
