/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every way C has to read or write an object, outside loops or in loops that cannot be hoisted. */
#include "oracle.h"
#include "other.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60 };

typedef struct node {
  double v;
  struct node *next;
  int key;
} node;
typedef struct mixed {
  double *ptr;
  double in[8];
  int n;
  unsigned bits : 5, more : 11;
  signed int neg : 7;
  bool flag : 1;
  char tail[5];
} mixed;
typedef struct small {
  int i;
  double d;
} small;
typedef union either {
  double d;
  unsigned char b[8];
  long l;
} either;

static double *x, *y, *z;
static int *idx;
static node *list;
static mixed *mix;
static struct triple *tri;
static small *sm;
static either *un;
static long double *ld;
static double complex *cx;
static char *str;
static double table[4][6];
double global_scalar;
static double static_scalar;
static short narrow[16];

static double t_element(double *v) {
  v[N - 1] = v[0];
  return v[N - 1] + v[1];
}
static double t_branch(int c) {
  if (c)
    x[1] = 5;
  else
    y[1] = 6;
  return x[2] > 1 ? x[1] + y[1] : y[2];
}
static double t_initializers(int i) {
  double t = x[i], u = t + y[i], q[2] = {z[i], t};
  return t * u + q[0] + q[1];
}
static double t_switch(int k) {
  double r = 0;
  switch ((int)x[k]) {
  case 4:
    r = y[3]; /* fall through */
  case 5:
    r += y[4];
    break;
  case 6 ... 9:
    r = z[2];
    break;
  default:
    r = z[1];
  }
  return r;
}
static double t_statement_expr(int i) {
  return ({
           double q = x[i];
           q += y[i];
           q;
         }) +
         ({ z[i]; });
}
static double t_comma(void) {
  int i = 3;
  double r = (i++, x[i]) + (y[3] = 7, y[3]);
  return r;
}
static double t_null_tests(const mixed *p, int i) {
  if (p && p->ptr && p->ptr[i] > 1)
    return p->ptr[i];
  return -1;
}
static double t_goto(void) {
  int i = 0;
  double s = 0;
again:
  s += x[i];
  if (++i < 5)
    goto again;
  x[0] = s;
  return x[0];
}
static double t_computed_goto(void) {
  static void *const targets[] = {&&low, &&high};
  goto *targets[x[1] > 1e6];
low:
  return x[5];
high:
  return x[6];
}
static double t_duff(int n) {
  double s = 0;
  int i = 0;
  switch (n % 4) {
  case 0:
    do {
      s += x[i++];
    case 3:
      s += x[i++];
    case 2:
      s += x[i++];
    case 1:
      s += x[i++];
    } while (i < n);
  }
  return s;
}
static double t_members(mixed *p) {
  p->in[p->n - 1] = p->in[0] + p->in[1];
  memcpy(p->tail, "abcd", 5);
  return p->in[p->n - 1] + p->tail[2] + *p->ptr;
}
static double t_bitfields(mixed *p) {
  p->bits = 3;
  p->more++;
  p->neg = -5;
  p->flag = !p->flag;
  return p->bits + p->more + p->neg * 100 + p->flag;
}
static double t_structs(void) {
  tri[1] = tri[0];
  tri[2] = other_make(9);
  struct triple local = tri[1], *alias = &tri[4];
  sm[1] = sm[0];
  tri[3] = (struct triple){.b = 4};
  *alias = *(&tri[2]);
  return other_use(tri[2]) + local.a + sm[1].i + sm[1].d + tri[3].b + other_make(alias->c).a;
}
static double t_union(void) {
  un[1] = un[0];
  un[1].b[7] ^= 0x80;
  un[2].l = 0;
  un[2].b[6] = 0xF0;
  un[2].b[7] = 0x3F;
  return un[1].d + un[2].d;
}
static double t_increments(int i) {
  x[i]++;
  --y[i];
  double a = x[i]++ + ++y[i];
  x[i] *= 2;
  x[i] += y[i];
  narrow[3] += 1000;
  narrow[4]--;
  return a + x[i] + y[i] + narrow[3] + narrow[4];
}
static double t_ternary(int c, int i) { return (c ? x : y)[i] + (c ? x[i] : z[i]) + (x[i] ?: y[i]); }
static double t_wide(void) {
  ld[1] = ld[0] * 2;
  cx[1] = cx[0] * (1 + 2 * I);
  cx[2] /= cx[1];
  __real__ cx[0] = 7;
  return (double)ld[1] + creal(cx[1]) + cimag(cx[1]) + creal(cx[0]) + cimag(cx[0]) + creal(cx[2]);
}
static double t_atomics(void) {
  __atomic_fetch_add(&idx[0], 2, __ATOMIC_SEQ_CST);
  int expected = idx[1];
  __atomic_compare_exchange_n(&idx[1], &expected, 4, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  double got, put = 3.5;
  __atomic_load(&x[4], &got, __ATOMIC_ACQUIRE);
  __atomic_store(&x[5], &put, __ATOMIC_RELEASE);
  __sync_fetch_and_or(&idx[2], 64);
  struct triple t;
  __atomic_load(&tri[1], &t, __ATOMIC_RELAXED); /* a library call */
  return __atomic_load_n(&idx[0], __ATOMIC_RELAXED) + idx[1] + got + x[5] + idx[2] + t.c;
}
static double t_asm(void) {
  int in, out;
  __asm__("movl %1, %0" : "=r"(in) : "m"(idx[3]));
  __asm__("movl $77, %0" : "=m"(idx[4]));
  __asm__("addl $1, %0" : "+m"(idx[5]));
  __asm__ volatile("movl (%1), %0" : "=r"(out) : "r"(&idx[6]) : "memory");
  return in + idx[4] + idx[5] + out;
}
static double t_vector(void) {
  typedef double v4 __attribute__((vector_size(32), aligned(8)));
  v4 a = *(v4 *)x;
  a += 1;
  *(v4 *)(x + 4) = a;
  (*(v4 *)(x + 8))[2] = 5;
  return x[4] + x[7] + x[8] + x[10];
}
static double t_volatile(void) {
  volatile double *p = x;
  *p = 4;
  *p += 1;
  return *p + p[1];
}
static double t_list(const node *p) {
  double s = 0;
  for (; p; p = p->next)
    s += p->v * p->key;
  return s;
}
static double t_recursive(const node *p) { return p ? p->v + t_recursive(p->next) : 0; }
static double through_pointer(int i) { return i * 2.0 + x[1]; }
static double t_function_pointer(double (*f)(int), int i) { return f((int)x[i]) + y[i]; }
static double t_chain(void) {
  x[0] = y[0] = z[0] = 3;
  return x[0] + y[0] + z[0] + x[1];
}
static double t_logic(void) {
  int c = x[1] > 0 || y[1] > 0, d = x[1] > 1e9 && y[5] > 0;
  return c + d + !x[3] + (x[2] ? 1 : 2);
}
static double t_unevaluated(void) { return sizeof x[1000000] + sizeof(x[3]++) + (&x[5] - x); }
static double t_compound_literal(void) {
  double *p = (double[]){x[1], y[2]};
  mixed m = *mix, *q = &(mixed){.n = mix->n, .in = {x[3]}};
  return p[0] + p[1] + m.in[2] + q->n + q->in[0];
}
static double t_generic(void) {
  return _Generic(x[0], double: x[1], default: 0) + __builtin_choose_expr(1, x[2], 0) + fabs(x[3]) +
         __builtin_fma(x[4], y[4], z[4]);
}
static double t_multidim(int i, int j) {
  double(*a)[6] = table;
  a[i][j] = x[i];
  return table[i][j] + (*(a + i))[j + 1] + table[0][0] + *(*table + 5);
}
static double t_scalars(void) {
  double local = 3;
  cofuse_t_store_auto(&local, sizeof local);
  cofuse_t_add(&local, 1, 2);
  cofuse_t_add(&global_scalar, 1, 5);
  cofuse_t_add(&static_scalar, 1, 1);
  double r = local + global_scalar + static_scalar;
  local = r;
  cofuse_t_sync();
  r += local * 2;
  cofuse_t_release(&local);
  return r;
}
static double t_automatic(int n) {
  double vla[n], fixed[7] = {0, 1, 2, 3, 4, 5, 6};
  for (int i = 0; i < n; i++)
    vla[i] = i;
  cofuse_t_store_auto(vla, sizeof vla);
  cofuse_t_store_auto(fixed, sizeof fixed);
  cofuse_t_add(vla, n, 2);
  cofuse_t_add(fixed, 7, 1);
  double s = fixed[2] + fixed[3];
  for (int i = 0; i < n; i++)
    s += vla[i];
  vla[1] = s;
  cofuse_t_sync();
  s += vla[1];
  cofuse_t_release(vla);
  cofuse_t_release(fixed);
  return s;
}
static double t_variadic_args(int n, ...) {
  __builtin_va_list ap;
  __builtin_va_start(ap, n);
  double s = 0;
  for (int i = 0; i < n; i++)
    s += *__builtin_va_arg(ap, double *);
  s += __builtin_va_arg(ap, struct triple).c;
  __builtin_va_end(ap);
  return s;
}
static double t_same_pointer_twice(void) {
  double *p = &x[8], s = *p;
  cofuse_t_add(x, N, 10); /* what was read before does not hold after */
  s += *p;
  *p = 1;
  cofuse_t_add(x, N, 10);
  return s + *p;
}
static double t_condition_once(void) {
  if (x[2] > 1e9)
    y[7] = 1;
  return y[7] + y[8]; /* guarded on one path only */
}

static void fill(void) {
  cofuse_t_sync();
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = 3 * i + 1;
    z[i] = i * i;
    idx[i] = (i * 37) % N;
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      table[i][j] = i * 6 + j;
  for (int i = 0; i < 16; i++) {
    list[i] = (node){i, i < 15 ? &list[i + 1] : NULL, i};
    tri[i] = (struct triple){i, i + 1, i + 2};
    sm[i] = (small){i + 4, i};
    un[i].d = i + 0.5;
    ld[i] = i + 1;
    cx[i] = i + 2 * I;
    narrow[i] = 100 * i;
  }
  *mix = (mixed){y, {1, 2, 3, 4, 5, 6, 7, 8}, 8, 1, 2, 3, true, ""};
  strcpy(str, "hello world");
  global_scalar = 1;
  static_scalar = 2;
}

/* All contents, from the truth: what the host wrote without saying so is missing. */
static double contents(void) {
  cofuse_t_sync();
  double s = 0;
  for (int i = 0; i < N; i++)
    s += x[i] * (i + 1) + y[i] * (i + 2) + z[i] * (i + 3) + idx[i] * (i + 4);
  for (int i = 0; i < 24; i++)
    s += (&table[0][0])[i] * (i + 1);
  for (int i = 0; i < 16; i++)
    s += (list[i].v + list[i].key + (tri[i].a + 2 * tri[i].b + 3 * tri[i].c) + sm[i].i + 5 * sm[i].d +
          un[i].d + (double)ld[i] + creal(cx[i]) + 7 * cimag(cx[i]) + narrow[i]) *
         (i + 1);
  for (int i = 0; i < 8; i++)
    s += mix->in[i] * i;
  s += mix->n + mix->bits + mix->more * 3 + mix->neg * 5 + mix->flag + mix->tail[2];
  return s + str[3] + global_scalar + static_scalar * 3;
}

#define T(e)                                                                                                 \
  do {                                                                                                       \
    fill();                                                                                                  \
    cofuse_t_add(x, N, 1);                                                                                   \
    cofuse_t_add(y, N, 2);                                                                                   \
    show(#e, e);                                                                                             \
    show("", contents());                                                                                    \
  } while (0)
#define MAKE(p, n)                                                                                           \
  do {                                                                                                       \
    p = calloc(n, sizeof *p);                                                                                \
    cofuse_t_store(p, (n) * sizeof *p);                                                                      \
  } while (0)

int main(void) {
  MAKE(x, N);
  MAKE(y, N);
  MAKE(z, N);
  MAKE(idx, N);
  MAKE(list, 16);
  MAKE(mix, 1);
  MAKE(tri, 16);
  MAKE(sm, 16);
  MAKE(un, 16);
  MAKE(ld, 16);
  MAKE(cx, 16);
  MAKE(str, 64);
  cofuse_t_store(table, sizeof table);
  cofuse_t_store(narrow, sizeof narrow);
  cofuse_t_store(&global_scalar, sizeof global_scalar);
  cofuse_t_store(&static_scalar, sizeof static_scalar);
  T(t_element(x));
  T(t_branch(1));
  T(t_branch(0));
  T(t_initializers(4));
  T(t_switch(3));
  T(t_switch(4));
  T(t_switch(7));
  T(t_switch(50));
  T(t_statement_expr(3));
  T(t_comma());
  T(t_null_tests(mix, 3));
  T(t_null_tests(NULL, 3));
  T(t_goto());
  T(t_computed_goto());
  T(t_duff(12));
  T(t_duff(11));
  T(t_members(mix));
  T(t_bitfields(mix));
  T(t_structs());
  T(t_union());
  T(t_increments(4));
  T(t_ternary(1, 2));
  T(t_ternary(0, 2));
  T(t_wide());
  T(t_atomics());
  T(t_asm());
  T(t_vector());
  T(t_volatile());
  T(t_list(list));
  T(t_recursive(list));
  T(t_function_pointer(through_pointer, 2));
  T(t_chain());
  T(t_logic());
  T(t_unevaluated());
  T(t_compound_literal());
  T(t_generic());
  T(t_multidim(2, 3));
  T(t_scalars());
  T(t_automatic(9));
  T(t_variadic_args(2, &x[3], &y[4], tri[2]));
  T(t_same_pointer_twice());
  T(t_condition_once());
  T(str[4] + str[10]);
  return 0;
}
