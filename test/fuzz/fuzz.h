// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What the random programs of test/fuzz use: output, canary bands, and a pool of small array functions in
 * another translation unit. Everything compares bit for bit, but for the payload of NaNs. */
#ifndef FUZZ_H
#define FUZZ_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAND = 64 };

struct duo {
  double x, y;
};

struct cell {
  double x;
  float y;
  int32_t k;
  uint8_t t;
};

extern int prog;        /* number of the program that prints */
extern int none;        /* 0, which the compiler of a program does not know */
double given(double x); /* x, which it does not know either */

/* ---- pool.c: output, one line each. Plain host reads of what may be a store. */
void show_bytes(const char *what, const void *p, size_t n);
void show_double(const char *what, const double *p, size_t n);
void show_float(const char *what, const float *p, size_t n);
void show_cells(const char *what, const struct cell *p, size_t n);
void show_value(const char *what, double v);
/* A block that holds n bytes behind a band, and a band behind them, all of it a pattern. */
char *block_new(size_t n);
/* Bytes [lo, hi) of a block still hold the pattern. */
void band(const char *what, const char *p, size_t lo, size_t hi);

/* ---- pool.c: array functions */
#define POOL(T)                                                                                              \
  void T##_copy(long n, T *d, const T *a);                                                                   \
  void T##_mix(long n, T *d, const T *a, const T *b);                                                        \
  void T##_axpy(long n, T *d, const T *a, T s);                                                              \
  void T##_three(long n, T *d, const T *a);                                                                  \
  void T##_fill(int n, int m, int ld, T *d, T s);                                                            \
  void T##_five(int n, int m, int ld, T *d, const T *a);                                                     \
  void T##_trans(int n, int m, T *d, const T *a);                                                            \
  void T##_by(long n, T *d, const T *s);                                                                     \
  void T##_ramp(long n, long step, long ld, T *d);                                                           \
  void T##_scan(int n, int m, T *d);                                                                         \
  void T##_gather(long n, int m, T *d, const T *a);                                                          \
  void T##_last(int n, int m, T *d, const T *a);                                                             \
  T T##_min(long n, const T *a, T m);                                                                        \
  T T##_max(long n, const T *a, T m);                                                                        \
  void T##_maxto(long n, const T *a, T *m);                                                                  \
  T T##_get(const T *a);                                                                                     \
  void T##_set(T *a, T v);
POOL(double)
POOL(float)
POOL(uint32_t)
POOL(int16_t)
#undef POOL
#endif
