// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Every arithmetic type and operator, with C's promotions and conversions, and contraction.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300 };
enum color { RED, GREEN = 5, BLUE = -2 };
static int8_t i8[N];
static uint8_t u8[N];
static int16_t i16[N];
static uint16_t u16[N];
static int32_t i32[N], o32[N];
static uint32_t u32[N], q32[N];
static int64_t i64[N], o64[N];
static uint64_t u64[N], q64[N];
static bool b8[N], ob[N];
static float f32[N], of[N];
static double f64[N], od[N];

static unsigned long rnd(void) {
  static unsigned long s = 88172645463325252UL;
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return s;
}
static unsigned long sum(const void *p, size_t n) {
  unsigned long h = 14695981039346656037UL;
  for (size_t i = 0; i < n; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211UL;
  return h;
}
static void show(int line) {
  printf("%d %016lx %016lx %016lx %016lx %016lx %016lx %016lx\n", line, sum(o32, sizeof o32), sum(q32, sizeof q32),
         sum(o64, sizeof o64), sum(q64, sizeof q64), sum(ob, sizeof ob), sum(of, sizeof of), sum(od, sizeof od));
}

int main(void) {
  for (int i = 0; i < N; i++) {
    i8[i] = (int8_t)rnd();
    u8[i] = (uint8_t)rnd();
    i16[i] = (int16_t)rnd();
    u16[i] = (uint16_t)rnd();
    i32[i] = (int32_t)rnd() >> (rnd() % 31);
    u32[i] = (uint32_t)rnd() >> (rnd() % 31);
    i64[i] = (int64_t)rnd() >> (rnd() % 63);
    u64[i] = rnd() >> (rnd() % 63);
    b8[i] = rnd() & 1;
    f32[i] = (float)((int)(rnd() % 20001) - 10000) / 37;
    f64[i] = (double)((int)(rnd() % 20001) - 10000) / 7.3;
  }
  const double third = 1.0 / 3.0;
  const int seven = 7;
  double alpha = 0.7, beta = 1.1;
  enum color paint = BLUE;
  long big = 1L << 40;
#pragma cofuse store(i8, u8, i16, u16, i32, u32, i64, u64, b8, f32, f64, o32, q32, o64, q64, ob, of, od)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    o32[i] = i8[i] * u8[i] - (i16[i] ^ u16[i]) + (i32[i] & 0xff) + paint;
    q32[i] = u32[i] * 2654435761u + i8[i] - u16[i] / (u8[i] + 1u);
    o64[i] = (int64_t)i32[i] * i16[i] - i64[i] % (u8[i] + 1) + big;
    q64[i] = u64[i] * 6364136223846793005UL + u32[i] + (uint64_t)i8[i];
    ob[i] = i8[i] > u8[i] - 100;
    of[i] = f32[i] * (float)alpha + i16[i];
    od[i] = f64[i] * alpha + f32[i] * beta;
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    o32[i] = (i32[i] / (i8[i] | 1)) + i32[i] % (i16[i] | 1) + (i32[i] >> (u8[i] & 31)) + ((i8[i] & 63) << 5);
    q32[i] = (u32[i] >> (u8[i] & 31)) ^ (u32[i] << (i16[i] & 15)) ^ ~u32[i];
    o64[i] = (i64[i] >> (u8[i] & 63)) - (i32[i] < u32[i]) + (i8[i] < 0 || b8[i]) * 3 - !i16[i];
    q64[i] = (u64[i] / (u8[i] + 1)) | (u64[i] % 1000u) | (uint64_t)(i64[i] < (int64_t)(u64[i] >> 1));
    ob[i] = f32[i];
    of[i] = (float)f64[i] / (f32[i] + 1000.5f) - (b8[i] ? u16[i] : i8[i]);
    od[i] = (int)f32[i] + (double)u64[i] - (uint8_t)u32[i] + (int8_t)i64[i] + seven * third;
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < N; i++) { // contraction: left first, negation, chains, constants, assignment
    double x = f64[i], y = f32[i], z = i16[i], t;
    od[i] = x * y + z * x - y * y;
    od[i] += x * y;
    od[i] -= y * z;
    od[i] = od[i] + (-(x * z) - y) * 2.0 * third - -(y * y);
    od[i] += 2.0 * third + x;
    od[i] += (t = x * y) + z;
    od[i] += t * (x - y * z) + (x + y * z) / 3;
    od[i] = z - (x * y) + (b8[i] ? x * z : y * z) + (x, y * 1.5) - (double)(x * x);
    of[i] = f32[i] * f32[i] + f32[i];
    of[i] = of[i] * 0.3f - f32[i] * 3 + (float)(f64[i] * f64[i]);
    {
#pragma STDC FP_CONTRACT OFF
      od[i] = od[i] * x + y * z;
    }
  }
  show(__LINE__);
#pragma cofuse forall
  for (int i = 0; i < N; i++) { // compound assignment, increments, narrow stores
    int8_t c = i8[i];
    uint16_t w = u16[i];
    unsigned v = u32[i];
    bool flag = b8[i];
    float g = f32[i];
    c += 200;
    c++;
    w *= w;
    --w;
    v <<= 3;
    v /= 7;
    v -= c;
    flag |= c > 3;
    flag++;
    g++;
    g *= third;
    o32[i] += c + w++ + (c, ++w) - v % 5;
    q32[i] ^= v;
    o64[i] <<= 1;
    o64[i] |= c;
    q64[i] -= w;
    q64[i] >>= 2;
    ob[i] = flag;
    of[i] /= g;
    od[i] = g, od[i]++;
    u8[i] += i16[i];
    i16[i] = i32[i] + w;
  }
  show(__LINE__);
  printf("%016lx %016lx\n", sum(u8, sizeof u8), sum(i16, sizeof i16));
  return 0;
}
