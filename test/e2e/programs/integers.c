// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer types: promotions, conversions, division, remainder, shifts, comparisons, _Bool and enum.
#include "show.h"

enum { N = 203 };

/* Every operator on one pair of types; `b` is made a safe divisor and `s` a safe shift count. */
#define PAIR(name, TA, TB)                                                                                   \
  static void name(void) {                                                                                   \
    TA *a = malloc(N * sizeof *a), *c = malloc(N * sizeof *c);                                               \
    TB *b = malloc(N * sizeof *b), *d = malloc(N * sizeof *d);                                               \
    long *r = malloc(N * 8 * sizeof *r);                                                                     \
    uint64_t s = 42;                                                                                         \
    for (int i = 0; i < N; i++) {                                                                            \
      a[i] = (TA)(draw(&s) >> (i % 40));                                                                     \
      b[i] = (TB)(draw(&s) >> (i % 40));                                                                     \
      if (i % 5 == 0)                                                                                        \
        b[i] = (TB)(i % 2 ? -1 : 3), a[i] = (TA) - i;                                                        \
      c[i] = 0, d[i] = 0;                                                                                    \
    }                                                                                                        \
    _Pragma("cofuse store(a[0:N], b[0:N], c[0:N], d[0:N], r[0:N][0:8])")                                     \
        _Pragma("cofuse forall") for (int i = 0; i < N; i++) {                                               \
      TB q = b[i] == 0 || b[i] == (TB) - 1 ? (TB)7 : b[i];                                                   \
      c[i] = (TA)(a[i] / q / 4 + a[i] % q / 4);                                                              \
      d[i] = (TB)(a[i] / 8 - b[i] / 16 * (TB)3);                                                             \
      r[i * 8] = a[i] < b[i];                                                                                \
      r[i * 8 + 1] = (a[i] == b[i]) + 2 * (a[i] >= b[i]) + 4 * (a[i] != 0 && b[i]);                          \
      r[i * 8 + 2] = (long)(a[i] / q);                                                                       \
      r[i * 8 + 3] = (long)(a[i] % q);                                                                       \
      r[i * 8 + 4] = (long)(a[i] >> (i % 7));                                                                \
      r[i * 8 + 5] = (long)((TA)(a[i] & 15) << (i % 3));                                                     \
      r[i * 8 + 6] = (long)(~a[i] ^ (b[i] | 5));                                                             \
      r[i * 8 + 7] = (long)(!a[i] + (b[i] ? 10 : 20));                                                       \
    }                                                                                                        \
    _Pragma("cofuse forall") for (int i = 0; i < N; i++) {                                                   \
      c[i] += b[i] / 4;                                                                                      \
      c[i]++;                                                                                                \
      --d[i];                                                                                                \
      d[i] ^= (TB)c[i];                                                                                      \
      a[i] &= 63, a[i] <<= 1, a[i] -= 9, a[i] >>= 1;                                                         \
      r[i * 8] += -a[i];                                                                                     \
      r[i * 8 + 1] -= (long)+b[i];                                                                           \
    }                                                                                                        \
    show("a", a, N * sizeof *a), show("c", c, N * sizeof *c), show("d", d, N * sizeof *d);                   \
    show("r", r, N * 8 * sizeof *r);                                                                         \
    free(a), free(b), free(c), free(d), free(r);                                                             \
  }
PAIR(u8_u8, unsigned char, unsigned char)
PAIR(u8_i16, unsigned char, short)
PAIR(i16_u16, short, unsigned short)
PAIR(u16_i32, unsigned short, int)
PAIR(i8_u32, signed char, unsigned)
PAIR(u32_i64, unsigned, long)
PAIR(i64_u64, long, unsigned long)
PAIR(u64_i8, unsigned long long, signed char)
PAIR(char_u8, char, uint8_t)
PAIR(u64_u64, uint64_t, uint64_t)

static void bools(void) {
  _Bool b[N], c[N];
  double x[N];
  signed char k[N];
  for (int i = 0; i < N; i++)
    b[i] = i % 3, c[i] = 0, x[i] = i % 4 ? 0.25 * i : -0.0, k[i] = (signed char)(i * 37);
#pragma cofuse store(b, c, x, k)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    c[i] = x[i];
    b[i] += k[i];
    k[i] = b[i] + c[i];
    if (!c[i])
      b[i] = 256;
    c[i] ^= 1;
    c[i] |= k[i] > 1;
    b[i] = b[i] && !c[i];
    x[i] = c[i] + b[i] * 2;
  }
  show("b", b, sizeof b), show("c", c, sizeof c), show("k", k, sizeof k), show_f64("x", x, N);
}

enum colour { RED = -2, GREEN, BLUE = 70000 };
static void enums(void) {
  enum colour *e = malloc(N * sizeof *e);
  enum small { P, Q, R } *f = malloc(N * sizeof *f);
  for (int i = 0; i < N; i++)
    e[i] = i % 2 ? RED : BLUE, f[i] = i % 3;
#pragma cofuse store(e[0 : N], f[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    if (e[i] == RED)
      e[i] = GREEN;
    else
      e[i] = f[i] == Q ? RED : e[i];
    f[i] = f[i] - 1 < 0 ? R : P;
  }
  show("e", e, N * sizeof *e), show("f", f, N * sizeof *f);
  free(e), free(f);
}

static void conversions(void) {
  double *x = malloc(N * sizeof *x);
  float *g = malloc(N * sizeof *g);
  long *l = malloc(N * sizeof *l);
  unsigned long *u = malloc(N * sizeof *u);
  short *h = malloc(N * sizeof *h);
  unsigned char *c = malloc(N);
  for (int i = 0; i < N; i++)
    x[i] = (i - 100) * 1.37, g[i] = (float)i * 1.9f, l[i] = (1L << 53) + i, u[i] = ~0ul - (unsigned)i * 1000,
    h[i] = 0, c[i] = (unsigned char)i;
#pragma cofuse store(x[0 : N], g[0 : N], l[0 : N], u[0 : N], h[0 : N], c[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    h[i] = (short)x[i];
    h[i] += (signed char)c[i];
    x[i] = l[i];
    g[i] = (float)u[i] + (float)l[i];
    l[i] = (long)(x[i] / 3.0f);
    u[i] = (unsigned long)(g[i] * 0.25f);
    c[i] = c[i] * 300;
    c[i] += 1.9;
    c[i] -= 0.5f;
    x[i] += 'a' + c[i];
    l[i] *= 1.5;
    h[i] /= 2.5f;
  }
  show("h", h, N * sizeof *h), show_f64("x", x, N), show_f32("g", g, N), show("l", l, N * sizeof *l);
  show("u", u, N * sizeof *u), show("c", c, N);
  free(x), free(g), free(l), free(u), free(h), free(c);
}

/* Values of assignments, of increments, of commas; nested and chained. */
static void values(void) {
  int a[N], b[N];
  unsigned char c[N];
  unsigned u[N];
  for (int i = 0; i < N; i++)
    a[i] = i * 7 - 300, b[i] = i, c[i] = (unsigned char)(250 + i), u[i] = (unsigned)i * 0x10001u;
#pragma cofuse store(a, b, c, u)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    int t = a[i]++ + --b[i];
    b[i] = c[i] = t + 1000;
    a[i] = (t++, t * 2) + (c[i]++ == 255);
    u[i] = (u[i] << 5 | u[i] >> 27) ^ (unsigned)-a[i];
    u[i] += sizeof(double) + sizeof a[i] + _Alignof(short);
    a[i] += (int)(u[i] % 10u) - 5;
    a[i] = a[i] < 0 ? -a[i] : a[i] > 500 ? 500 : +a[i];
    b[i] ^= a[i] * 4 & 0xff0 | 0x1;
    b[i] %= 1000, b[i] *= -1;
  }
  show("a", a, sizeof a), show("b", b, sizeof b), show("c", c, sizeof c), show("u", u, sizeof u);
}

static void builtins(void) {
  int a[N];
  unsigned u[N];
  unsigned long l[N];
  for (int i = 0; i < N; i++)
    a[i] = i - 100, u[i] = (unsigned)i * 2654435761u + 1, l[i] = (unsigned long)u[i] << 9;
#pragma cofuse store(a, u, l)
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    a[i] = abs(a[i]);
    a[i] += (int)labs(-(long)i);
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    a[i] += __builtin_popcount(u[i]) + __builtin_ctzl(l[i]) + __builtin_clz(u[i]);
    if (__builtin_expect(a[i] > 50, 1))
      l[i] = 3;
  }
  show("a", a, sizeof a), show("l", l, sizeof l);
}

int main(int argc, char **argv) {
  CASE(u8_u8);
  CASE(u8_i16);
  CASE(i16_u16);
  CASE(u16_i32);
  CASE(i8_u32);
  CASE(u32_i64);
  CASE(i64_u64);
  CASE(u64_i8);
  CASE(char_u8);
  CASE(u64_u64);
  CASE(bools);
  CASE(enums);
  CASE(conversions);
  CASE(values);
  CASE(builtins);
  return 0;
}
