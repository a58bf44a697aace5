// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of the micro-kernels: micro.c has them as annotated loops, micro_hand.c as a programmer would
// write them. usage: micro KERNEL ELEMENTS REPETITIONS
#ifndef MICRO_H
#define MICRO_H

#include "../examples/example.h"

#include <math.h>

// Arrays of `elements` numbers, seen as a vector, a square of side x side, or a cube.
struct data {
  long elements, side;
  double *a, *b, *c;
  int *at; // places near the own one
};

struct kernel {
  const char *name;
  int dims;
  double (*run)(const struct data *d); // a sum, or nothing of interest
};

// Defined by both programs.
static double *micro_vector(long n, long seed);
static int *micro_places(long n);
static const struct kernel micro_kernels[];

static inline double micro_value(long i, long seed) { return (double)((i * 7919 + seed) % 1009) / 1009.0; }
static inline int micro_place(long i, long n) {
  long p = i + i * 7919 % 1009 - 504;
  return (int)(p < 0 ? 0 : p < n ? p : n - 1);
}

static int micro_main(int argc, char **argv, int count) {
  const struct kernel *k = micro_kernels, *end = micro_kernels + count;
  while (k < end && (argc < 2 || strcmp(argv[1], k->name) != 0))
    k++;
  if (k == end) {
    fprintf(stderr, "usage: %s KERNEL ELEMENTS REPETITIONS; kernels:", argv[0]);
    for (k = micro_kernels; k < end; k++)
      fprintf(stderr, " %s", k->name);
    fputs("\n", stderr);
    return 2;
  }
  long n = example_arg(argc, argv, 2, 100000, 1, 1000000000);
  long repetitions = example_arg(argc, argv, 3, 100, 1, 1000000000);
  struct data d = {.side = n};
  if (k->dims > 1)
    d.side = lround(k->dims == 2 ? sqrt((double)n) : cbrt((double)n));
  d.elements = k->dims == 1 ? n : k->dims == 2 ? d.side * d.side : d.side * d.side * d.side;
  d.a = micro_vector(d.elements, 1);
  d.b = micro_vector(d.elements, 2);
  d.c = micro_vector(d.elements, 3);
  d.at = micro_places(d.elements);

  double sum = k->run(&d), start = example_seconds();
  for (long r = 1; r < repetitions; r++)
    sum += k->run(&d);
  double seconds = example_seconds() - start;
  printf("sum %.10g\n", sum);
  printf("hash 0x%016llx\n", (unsigned long long)example_hash(0, d.a, (size_t)d.elements));
  printf("time %.6f s\n", seconds);
  free(d.a);
  free(d.b);
  free(d.c);
  free(d.at);
  return 0;
}

#endif
