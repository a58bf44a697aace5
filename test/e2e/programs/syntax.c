// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where directives may stand and what C may put around them; names and macros that could get in the way.
#include "show.h"
#include <stdbool.h>

enum { N = 60 };
/* Names that generated code could also use. */
#define cofuse_desc 1 / 0
#define body syntax error here
#define state @
static int f = 3, d = 4, k = 5, c = 6, ints = 7, scalars = 8, at = 9, base = 10;
struct cofuse_forall {
  int unlike;
};
typedef double Real;
typedef struct {
  Real *v;
  int n;
} Vec;

static Real *make(int n) {
  Real *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++)
    x[i] = i;
  return x;
}

static void positions(void) {
  Real *x = make(N);
#pragma cofuse store(x[0 : N])
  for (int it = 0; it < 5; it++)
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += it;
  if (f > 2)
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] *= 2;
  else
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] *= 3;
  if (f > 5)
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] *= 7;
  switch (d) {
  case 3:
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] = 0;
    break;
  case 4:
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += d;
  default:
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += k;
  }
  int rounds = 0;
again:
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += 0.5;
  if (rounds++ < 3)
    goto again;
  do
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] -= 0.25;
  while (rounds-- > 0);
  int v = ({
    int t = 2;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += t;
    t + 1;
  });
  while (v-- > 0)
#pragma cofuse task
    x[v] += 100;
  for (;;) {
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      x[i] += v;
    if (x[0] > 50 || v++ > 3)
      break;
  }
  {
#pragma cofuse flush
  }
  show_f64("x", x, N);
#pragma cofuse release(x)
  free(x);
}

static void names(void) {
  Real *x = make(N), r = 0;
  struct cofuse_forall desc = {1};
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += f + d * k - c + ints * scalars - at + base + desc.unlike;
  {
    int f = 100, i64 = 5, llvm = 1, ptr = 2;
    Real *d = x;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      d[i] += f + i64 * llvm - ptr;
    for (int f = 0; f < 2; f++) {
#pragma cofuse forall
      for (int k = 0; k < N; k++) {
        int f = k;
        {
          int k = f * 2;
          d[f] += k;
        }
      }
    }
  }
#pragma cofuse forall reduction(+ : r)
  for (int at = 0; at < N; at++)
    r += x[at] > 10;
  show_num("r", r), show_f64("x", x, N);
  free(x);
}

#define EACH(i, n) for (int i = 0; i < (n); i++)
#define FORALL _Pragma("cofuse forall")
#define MAP(v, n, expr)                                                                                      \
  do {                                                                                                       \
    Real *it = (v);                                                                                          \
    FORALL EACH(i, n) it[i] = (expr);                                                                        \
  } while (0)
#define MAP2(v, w, n)                                                                                        \
  MAP(v, n, it[i] + 1);                                                                                      \
  MAP(w, n, it[i] * 2)
#define FOLD(r, v, n) _Pragma("cofuse forall reduction(+:r)") for (int i_ = 0; i_ < (n); ++i_) r += (v)[i_]
#define LENGTH 12
#define SECTION x [0:N]
static void macros(void) {
  Real *x = make(N), *y = make(N), r = 0;
#pragma cofuse store(SECTION, y[0 : LENGTH * 5])
  MAP2(x, y, N);
  MAP(y, LENGTH, it[i] + x[i] * LENGTH);
  EACH(q, 3) MAP(x, N, it[i] + q);
  FOLD(r, x, N);
  FORALL EACH(i, N) x[i] -= 1;
  FORALL for (int i = 0; i < N; i++) x[i] += y[i];
  FORALL for (int i = 0; i < N; i++) y[i] -= x[i];
#pragma cofuse forall /* a comment */ if (LENGTH > 3) /* another */ // and one more
  EACH(i, N) { x[i]++; }
#if 0
#pragma cofuse nonsense
#endif
#pragma cofuse forall                                                                                        \
                                                                                                             \
name(continued)
  for (int i = 0; i < N; i++)
    y[i] += i;
  show_num("r", r), show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

static int old_style(x, n)
Real *x;
int n;
{
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] += 1;
  return n;
}
static inline __attribute__((always_inline)) void inlined(Vec v, Real by) {
#pragma cofuse forall
  for (int i = 0; i < v.n; i++)
    v.v[i] *= by;
}
static void function(Real (*x)[N], Real (*g)(Real)) {
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    (*x)[i] += 2;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    (*x)[i] = g((*x)[i]); /* not known here */
}
static Real half(Real v) { return v / 2; }
static Real even(int n, Real v);
static Real odd(int n, Real v) { return n == 0 ? -v : even(n - 1, v); }
static Real even(int n, Real v) { return n == 0 ? v : odd(n - 1, v); }
static int calls;
static Real counted(Real v) {
  calls++;
  return v + calls;
}
static Real later(Real v);
static void functions(void) {
  Real x[N];
  for (int i = 0; i < N; i++)
    x[i] = i;
#pragma cofuse store(x)
  old_style(x, N);
  inlined((Vec){x, N}, 1.5);
  inlined((Vec){x + 3, 9}, 0.5);
  function(&x, half);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = half(x[i]) + later(x[i]);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += odd(i % 4, 3);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += counted(1);
  show("calls", &calls, sizeof calls), show_f64("x", x, N);
}
static Real later(Real v) { return v < 20 ? v : 20; }

struct rec {
  int a;
  union {
    double d;
    long l;
  } u;
  unsigned bits : 5;
};
static void expressions(void) {
  Real *x = make(N);
  long *l = calloc(N, sizeof *l);
  struct rec *r = calloc(N, sizeof *r);
#pragma cofuse store(x[0 : N], l[0 : N], r[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    __typeof__(x[i]) t = _Generic(x[i], double: 2, default: 3);
    x[i] += t + (int[]){4, 5, 6}[i % 3] + (i ? i : i + 1) + sizeof(int[i + 1]);
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    r[i].u.d = x[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    l[i] = r[i].u.l >> 40;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    r[i].bits = i, r[i].a = r[i].bits;
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    static int count;
    count++;
    x[i] += 1;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    volatile double v = x[i];
    x[i] = v + 1;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    Real *p = x + i, *q = &x[i];
    *p += p == q ? 1 : 2;
    x[i] += (p - x) + *(i + x) + i[x] * !!p;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    __asm__ volatile("" ::: "memory");
    l[i] += ({
      long z = i * 2;
      z + 1;
    });
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    long h[2] = {i, x[i] > 20};
    l[i] += h[0] + h[1] + (x[i] > 30 ? (long)x[i] : l[i]) + 'x' + 0x10L + 010 + 1e1 + true;
    ;
    {
    }
    if (i == 3)
      ;
    else {
    }
  }
  show_f64("x", x, N), show("l", l, N * sizeof *l);
  for (int i = 0; i < N; i++)
    l[i] = r[i].a * 100 + r[i].bits;
  show("r", l, N * sizeof *l);
  free(x), free(l), free(r);
}

/* Subscripts whose arithmetic wraps. */
static void wrapping(void) {
  int *a = calloc(256, sizeof *a), n = 256;
#pragma cofuse store(a[0 : 256])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[(unsigned char)(i + 100)] += i;
#pragma cofuse forall
  for (unsigned i = 0; i < 200; i++)
    a[(unsigned char)(i * 3u + 250)] += 1 - (i > 255);
#pragma cofuse forall
  for (unsigned i = 0; i < 100; i++) {
    unsigned j = i - 50;
    a[j + 50] += 7;
  }
#pragma cofuse forall
  for (unsigned i = 0; i < 50; i++)
    a[(i * 0x80000001u) & 127] += 5;
#pragma cofuse forall
  for (unsigned i = 100; i > 0; i -= 2)
    a[100u - i] -= 2;
#pragma cofuse forall
  for (signed char i = -100; i < 100; i++)
    a[i + 100] ^= i;
#pragma cofuse forall
  for (short i = 0; i < 16; i++)
    a[(short)(i << 12 >> 8) & 255] += 9;
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    a[i * 4 + 3 - (i << 1) - i] -= 1;
#pragma cofuse forall
  for (long i = 0; i < 64; i++)
    a[(i ^ 0x3f) + (i & 0)] += 3;
  show("a", a, 256 * sizeof *a);
  free(a);
}

#pragma pack(push, 1)
struct packed {
  char tag;
  double v[50];
  short s;
  double w;
};
#pragma pack(pop)
static void unaligned(void) {
  struct packed *p = calloc(N, sizeof *p), one = {0};
#pragma cofuse store(p[0 : N], one.v)
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    p[i].w = i, p[i].s = i, p[i].tag = i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    p[i].w += p[N - 1 - i].s;
#pragma cofuse forall
  for (int i = 0; i < 50; i++)
    one.v[i] = i * 3;
#pragma cofuse forall
  for (int i = 0; i < 50; i++)
    one.v[i] += i;
  double *q = &p[3].v[0];
#pragma cofuse forall
  for (int i = 0; i < 50; i++)
    p[3].v[i] = one.v[49 - i];
  show("p", p, N * sizeof *p), show("one", &one, sizeof one), show_num("q", (double)((char *)q - (char *)p));
  free(p);
}

int main(int argc, char **argv) {
  CASE(positions);
  CASE(names);
  CASE(macros);
  CASE(functions);
  CASE(expressions);
  CASE(wrapping);
  CASE(unaligned);
  return 0;
}
