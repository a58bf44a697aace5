// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of this folder print: one line `case name hash`, so that a difference names its case.
#ifndef SHOW_H
#define SHOW_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *case_name;

static inline uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

/* Plain host reads of what may be a store. */
static inline uint64_t hash_bytes(const void *p, size_t n) {
  const unsigned char *b = p;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < n; i++)
    h = mix(h, b[i]);
  return h;
}

/* The bits of a NaN are not part of the promise: every NaN hashes alike. */
static inline uint64_t hash_f64(const double *p, size_t n) {
  uint64_t h = 7;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    double v = p[i];
    memcpy(&bits, &v, 8);
    h = mix(h, v != v ? 1 : bits);
  }
  return h;
}
static inline uint64_t hash_f32(const float *p, size_t n) {
  uint64_t h = 9;
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    float v = p[i];
    memcpy(&bits, &v, 4);
    h = mix(h, v != v ? 1 : bits);
  }
  return h;
}

static inline void show(const char *what, const void *p, size_t n) {
  printf("%s %s %016llx\n", case_name, what, (unsigned long long)hash_bytes(p, n));
}
static inline void show_f64(const char *what, const double *p, size_t n) {
  printf("%s %s %016llx\n", case_name, what, (unsigned long long)hash_f64(p, n));
}
static inline void show_f32(const char *what, const float *p, size_t n) {
  printf("%s %s %016llx\n", case_name, what, (unsigned long long)hash_f32(p, n));
}
static inline void show_num(const char *what, double v) { printf("%s %s %.17g\n", case_name, what, v); }

/* Runs every case, or with an argument only the cases whose name contains it. */
#define CASE(f)                                                                                              \
  do {                                                                                                       \
    if (argc < 2 || strstr(#f, argv[1])) {                                                                   \
      case_name = #f;                                                                                        \
      f();                                                                                                   \
      fflush(stdout);                                                                                        \
    }                                                                                                        \
  } while (0)
#define UNUSED_ARGS ((void)argc, (void)argv)

/* A repeatable sequence. */
static inline uint64_t draw(uint64_t *s) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return *s >> 17 ^ *s << 11;
}
#endif
