// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the example programs share: arguments, time, and a hash that makes equal results visible.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Argument k as a whole number from lo to hi, or the given value if there is no such argument.
static inline long example_arg(int argc, char **argv, int k, long value, long lo, long hi) {
  if (k >= argc)
    return value;
  char *end;
  value = strtol(argv[k], &end, 10);
  if (end == argv[k] || *end || value < lo || value > hi) {
    fprintf(stderr, "%s: argument %d is '%s': expected a whole number from %ld to %ld\n", argv[0], k, argv[k],
            lo, hi);
    exit(2);
  }
  return value;
}

static inline double example_seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Hash of the bits of n numbers, continued from h. Ordinary host code: it reads the array as it would
// without cofuse.
static inline uint64_t example_hash(uint64_t h, const double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &a[i], sizeof bits);
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

// On lines of the cache: for programs in which where malloc puts an array is not what is compared.
static inline void *example_alloc_lines(size_t count, size_t bytes) {
  void *p =
      bytes && count > (SIZE_MAX - 63) / bytes ? NULL : aligned_alloc(64, (count * bytes + 63) / 64 * 64);
  if (!p) {
    fprintf(stderr, "out of memory: %zu elements of %zu bytes\n", count, bytes);
    exit(1);
  }
  return p;
}

static inline void *example_alloc(size_t count, size_t bytes) {
  void *p = bytes && count > SIZE_MAX / bytes ? NULL : malloc(count * bytes);
  if (!p) {
    fprintf(stderr, "out of memory: %zu elements of %zu bytes\n", count, bytes);
    exit(1);
  }
  return p;
}

#endif
