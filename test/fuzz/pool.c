// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Output and array functions that the random programs share; of the latter sizes, offsets, strides and
 * aliases are known at run time only. Called with overlapping arrays they mean what the loop means. */
#include "fuzz.h"

int none;
double given(double x) { return x; }
int prog;

static inline uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

void show_bytes(const char *what, const void *p, size_t n) {
  const unsigned char *b = p;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < n; i++)
    h = mix(h, b[i]);
  printf("%d %s %016llx\n", prog, what, (unsigned long long)h);
}

void show_double(const char *what, const double *p, size_t n) {
  uint64_t h = 7;
  for (size_t i = 0; i < n; i++) {
    double v = p[i];
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    h = mix(h, v != v ? 1 : bits);
  }
  printf("%d %s %016llx\n", prog, what, (unsigned long long)h);
}

void show_float(const char *what, const float *p, size_t n) {
  uint64_t h = 9;
  for (size_t i = 0; i < n; i++) {
    float v = p[i];
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    h = mix(h, v != v ? 1 : bits);
  }
  printf("%d %s %016llx\n", prog, what, (unsigned long long)h);
}

void show_cells(const char *what, const struct cell *p, size_t n) {
  uint64_t h = 11;
  for (size_t i = 0; i < n; i++) {
    double x = p[i].x;
    uint64_t a;
    uint32_t b;
    float y = p[i].y;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    h = mix(mix(mix(mix(h, x != x ? 1 : a), y != y ? 1 : b), (uint32_t)p[i].k), p[i].t);
  }
  printf("%d %s %016llx\n", prog, what, (unsigned long long)h);
}

void show_value(const char *what, double v) {
  if (v != v)
    printf("%d %s nan\n", prog, what);
  else
    printf("%d %s %a\n", prog, what, v);
}

char *block_new(size_t n) {
  char *p = malloc(n + 2 * BAND);
  if (!p)
    exit(9);
  for (size_t i = 0; i < n + 2 * BAND; i++)
    p[i] = (char)(i * 7 + 3);
  return p;
}

void band(const char *what, const char *p, size_t lo, size_t hi) {
  for (size_t i = lo; i < hi; i++)
    if (p[i] != (char)(i * 7 + 3)) {
      printf("%d band %s destroyed at %ld\n", prog, what, (long)i);
      return;
    }
}

#define PRAGMA(x) _Pragma(#x)

#define COMMON(T)                                                                                            \
  void T##_copy(long n, T *d, const T *a) {                                                                  \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i++)                                                                             \
      d[i] = a[i];                                                                                           \
  }                                                                                                          \
  void T##_fill(int n, int m, int ld, T *d, T s) {                                                           \
    PRAGMA(cofuse forall collapse(2))                                                                        \
    for (int i = 0; i < n; i++)                                                                              \
      for (int j = 0; j < m; j++)                                                                            \
        d[i * ld + j] = s;                                                                                   \
  }                                                                                                          \
  void T##_trans(int n, int m, T *d, const T *a) {                                                           \
    PRAGMA(cofuse forall)                                                                                    \
    for (int i = 0; i < n; i++)                                                                              \
      for (int j = 0; j < m; j++)                                                                            \
        d[i * m + j] = a[j * n + i];                                                                         \
  }                                                                                                          \
  void T##_ramp(long n, long step, long ld, T *d) {                                                          \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i += step)                                                                       \
      d[i * ld] = (T)(i & 31);                                                                               \
  }                                                                                                          \
  void T##_scan(int n, int m, T *d) {                                                                        \
    PRAGMA(cofuse forall)                                                                                    \
    for (int i = 0; i < n; i++)                                                                              \
      for (int j = 1; j < m; j++)                                                                            \
        d[i * m + j] = (T)(d[i * m + j] / 2 + d[i * m + j - 1] / 2);                                         \
  }                                                                                                          \
  void T##_gather(long n, int m, T *d, const T *a) {                                                         \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i++) {                                                                           \
      T s = 0;                                                                                               \
      for (int j = 0; j < m; j++)                                                                            \
        s = (T)(s / 2 + a[i + j] / 2);                                                                       \
      d[i] = s;                                                                                              \
    }                                                                                                        \
  }                                                                                                          \
  void T##_last(int n, int m, T *d, const T *a) {                                                            \
    PRAGMA(cofuse forall collapse(2))                                                                        \
    for (int i = 0; i < n; i++)                                                                              \
      for (int j = 0; j < m; j++)                                                                            \
        d[j] = a[i];                                                                                         \
  }                                                                                                          \
  T T##_min(long n, const T *a, T m) {                                                                       \
    PRAGMA(cofuse forall reduction(min : m))                                                                 \
    for (long i = 0; i < n; i++)                                                                             \
      if (a[i] < m)                                                                                          \
        m = a[i];                                                                                            \
    return m;                                                                                                \
  }                                                                                                          \
  T T##_max(long n, const T *a, T m) {                                                                       \
    PRAGMA(cofuse forall reduction(max : m))                                                                 \
    for (long i = n - 1; i >= 0; i--)                                                                        \
      m = a[i] > m ? a[i] : m;                                                                               \
    return m;                                                                                                \
  }                                                                                                          \
  void T##_maxto(long n, const T *a, T *m) {                                                                 \
    PRAGMA(cofuse forall reduction(max : *m))                                                                \
    for (long i = 0; i < n; i++)                                                                             \
      if (a[i] > *m)                                                                                         \
        *m = a[i];                                                                                           \
  }                                                                                                          \
  T T##_get(const T *a) { return *a; }                                                                       \
  void T##_set(T *a, T v) { *a = v; }

#define ARITH(T, MIX, AXPY, THREE, FIVE, BY)                                                                 \
  void T##_mix(long n, T *d, const T *a, const T *b) {                                                       \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i++)                                                                             \
      d[i] = (T)(MIX(a[i], b[i]));                                                                           \
  }                                                                                                          \
  void T##_axpy(long n, T *d, const T *a, T s) {                                                             \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i++)                                                                             \
      d[i] = (T)(AXPY(d[i], a[i], s));                                                                       \
  }                                                                                                          \
  void T##_three(long n, T *d, const T *a) {                                                                 \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 1; i < n - 1; i++)                                                                         \
      d[i] = (T)(THREE(a[i - 1], a[i], a[i + 1]));                                                           \
  }                                                                                                          \
  void T##_five(int n, int m, int ld, T *d, const T *a) {                                                    \
    PRAGMA(cofuse forall collapse(2))                                                                        \
    for (int i = 1; i < n - 1; i++)                                                                          \
      for (int j = 1; j < m - 1; j++)                                                                        \
        d[i * ld + j] = (T)(FIVE(a[i * ld + j], a[(i - 1) * ld + j], a[(i + 1) * ld + j], a[i * ld + j - 1], \
                                 a[i * ld + j + 1]));                                                        \
  }                                                                                                          \
  void T##_by(long n, T *d, const T *s) {                                                                    \
    PRAGMA(cofuse forall)                                                                                    \
    for (long i = 0; i < n; i++)                                                                             \
      d[i] = (T)(BY(d[i], *s));                                                                              \
  }

#define FMIX(a, b) (0.75f * (a) - 0.25f * (b))
#define FAXPY(d, a, s) (0.5f * (d) + (a) * (s) / (1 + fabs(s)))
#define FTHREE(a, b, c) (0.25f * (a) + 0.5f * (b) + 0.25f * (c))
#define FFIVE(a, b, c, d, e) (0.2f * (a) + 0.2f * ((b) + (c)) + 0.2f * ((d) + (e)))
#define FBY(d, s) ((d) > (s) ? 0.5f * (s) : (d) + 0.125f * (s))
#define IMIX(a, b) ((uint32_t)(a) * 3u - (uint32_t)(b))
#define IAXPY(d, a, s) ((uint32_t)(d) ^ ((uint32_t)(a) + (uint32_t)(s)))
#define ITHREE(a, b, c) ((uint32_t)(a) + 2u * (uint32_t)(b) - (uint32_t)(c))
#define IFIVE(a, b, c, d, e) ((uint32_t)(a) ^ (uint32_t)(b) ^ ((uint32_t)(c) + (uint32_t)(d)) ^ (uint32_t)(e))
#define IBY(d, s) ((d) > (s) ? (uint32_t)(d) >> 1 : (uint32_t)(d) + (uint32_t)(s))

COMMON(double)
ARITH(double, FMIX, FAXPY, FTHREE, FFIVE, FBY)
COMMON(float)
ARITH(float, FMIX, FAXPY, FTHREE, FFIVE, FBY)
COMMON(uint32_t)
ARITH(uint32_t, IMIX, IAXPY, ITHREE, IFIVE, IBY)
COMMON(int16_t)
ARITH(int16_t, IMIX, IAXPY, ITHREE, IFIVE, IBY)
