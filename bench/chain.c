// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Overhead: a chain of additions on small vectors, a new vector for each sum, as an array library does it;
// or, with `tasks`, additions in place, so that nothing but the tasks is measured.
//
// usage: chain [elements [repetitions [links [tasks]]]]
#include "../examples/example.h"

static double *vector(long n) {
  double *v = example_alloc((size_t)n, sizeof *v);
#pragma cofuse store(v[0 : n]) undefined
  return v;
}

static double *add(long n, const double *a, const double *b) {
  double *sum = vector(n);
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    sum[i] = a[i] + b[i];
  return sum;
}

static void add_to(long n, double *a, const double *b) {
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    a[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1024, 1, 1000000000);
  long repetitions = example_arg(argc, argv, 2, 1000, 0, 1000000000);
  long links = example_arg(argc, argv, 3, 16, 1, 1000000);
  long tasks = example_arg(argc, argv, 4, 0, 0, 1);
  double *a = vector(n), *b = vector(n);
#pragma cofuse forall
  for (long i = 0; i < n; i++) {
    a[i] = (double)(i % 17) / 17.0;
    b[i] = 1.0 / 1024.0;
  }
  // The first half fills caches and lets the window grow; the second is timed.
  double start = 0;
  for (long r = 0; r < 2 * repetitions; r++) {
    if (r == repetitions) {
#pragma cofuse flush
      start = example_seconds();
    }
    for (long k = 0; k < links; k++)
      if (tasks) {
        add_to(n, a, b);
      } else {
        double *sum = add(n, a, b);
        free(a);
        a = sum;
      }
  }
#pragma cofuse flush
  double seconds = example_seconds() - start;
  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, a, (size_t)n));
  printf("time %.6f s\n", seconds);
  free(a);
  free(b);
  return 0;
}
