// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Integer helpers with the mathematician's rounding. Divisors are positive. */
#ifndef CF_IR_MATH_H
#define CF_IR_MATH_H
#include <stdint.h>

static inline int64_t cf_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t cf_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t cf_abs(int64_t a) { return a < 0 ? -a : a; }
static inline int64_t cf_clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }
static inline int64_t cf_floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t cf_ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }
static inline int64_t cf_mod(int64_t a, int64_t b) {
  if (b == 1)
    return 0;
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}
static inline int64_t cf_gcd(int64_t a, int64_t b) {
  a = cf_abs(a);
  b = cf_abs(b);
  if (a == 0 || b == 1) /* nearly always, and a division takes its time */
    return b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}
/* a / b rounded to the nearest integer, halves toward zero. */
static inline int64_t cf_round_div(int64_t a, int64_t b) {
  if (a == 0 || a == b)
    return a != 0;
  int64_t q = a / b, r = a % b;
  if (2 * cf_abs(r) > b)
    q += a < 0 ? -1 : 1;
  return q;
}
#endif
