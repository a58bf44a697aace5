/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where guards must not be: checks counts, and says so when one is wrong. Written as the front end writes
 * an annotated loop. */
#include "cofuse/descriptor.h"
#include "oracle.h"
#include <stdlib.h>

enum { N = 100 };
static double *x, *y;
double norm; /* a 0-d store */
int cofuse_t_units(void);

static cofuse_forall desc;

static NOINLINE void flat(double *a, double *b, long n) {
  for (int f = cofuse_run(&desc, (int64_t[]){0, n, 1, (int64_t)a, (int64_t)b}, (const void *[]){&n}, NULL);
       !f; f = 1)
    for (long i = 0; i < n; i++)
      b[i] = a[i] + 1;
}
static NOINLINE void nest(int n, int m, double a[n][m], double *sum) {
  double s = *sum;
  for (int f = cofuse_run(&desc, (int64_t[]){n, m, (int64_t)a}, NULL, (void *[]){&s}); !f; f = 1)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) {
        if (a[i][j] > 3)
          s += a[i][j] + a[0][0];
        a[i][j] = 1;
      }
  *sum = s;
}
static NOINLINE void scalar(double *p) {
  for (int f = cofuse_run(&desc, NULL, NULL, NULL); !f; f = 1)
    *p = *p * 2 + norm;
}
static NOINLINE double iterate(int n) {
  double s = 0;
  for (int it = 0; it < n; it++)
    if (it % 25 == 0 && norm <= 10)
      s += norm;
  return s;
}
/* Here the launches make each test of norm cost a guard: only when it % 25 == 0. */
static NOINLINE double iterate_launching(int n) {
  double s = 0;
  for (int it = 0; it < n; it++) {
    cofuse_run(&desc, NULL, NULL, NULL);
    if (it % 25 == 0 && norm <= 10)
      s += it;
  }
  return s;
}
/* Not a store, though its address goes to cofuse_run. */
static NOINLINE double local_target(int n) {
  double s = 0, scale = 2;
  for (int i = 0; i < n; i++) {
    cofuse_run(&desc, NULL, (const void *[]){&scale}, (void *[]){&s});
    s += scale;
  }
  return s;
}
static NOINLINE double sum(const double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}

static void expect(const char *what, unsigned long got, unsigned long least, unsigned long most) {
  if (cofuse_t_guards() && (got < least || got > most))
    printf("%s: %lu guards, expected %lu to %lu\n", what, got, least, most);
}

int main(void) {
  int launched = getenv("ORACLE_LAUNCH") != NULL;
  x = malloc(N * sizeof *x);
  y = malloc(N * sizeof *y);
  for (int i = 0; i < N; i++)
    x[i] = y[i] = i;
  norm = 1;
  cofuse_t_store(x, N * sizeof *x);
  cofuse_t_store(y, N * sizeof *y);
  cofuse_t_store(&norm, sizeof norm);
/* The checks that UBSan adds leave loops early, so less is hoisted. */
#if defined __OPTIMIZE__ && !__has_feature(undefined_behavior_sanitizer)
  enum { HOISTED = 1 };
#else
  enum { HOISTED = 0 };
#endif
  unsigned long g = cofuse_t_guards(), fetched = cofuse_t_fetched();
#define COUNT(what, call, least, most)                                                                       \
  do {                                                                                                       \
    g = cofuse_t_guards();                                                                                   \
    call;                                                                                                    \
    expect(what, cofuse_t_guards() - g, least, most);                                                        \
  } while (0)
  COUNT("flat", flat(x, y, N), launched ? 0 : 2, launched ? 0 : HOISTED ? 2 : 2 * N);
  double s = 1;
  COUNT("nest", nest(10, 10, (double(*)[10])x, &s), 2, launched ? 2 : HOISTED ? 6 : 400);
  COUNT("scalar", scalar(&x[3]), launched ? 0 : 1, launched ? 0 : 3);
  if (launched && cofuse_t_fetched() != fetched)
    printf("a launched loop fetched %lu bytes\n", cofuse_t_fetched() - fetched);
  double a = 0;
  COUNT("iterate", a = iterate(100), 0, 8);
  show("iterate", a);
  COUNT("iterate_launching", a = iterate_launching(100), 4, 4);
  show("iterate_launching", a);
  COUNT("local_target", a = local_target(3), 0, 0);
  show("local_target", a);
  COUNT("sum", a = sum(x, N), 1, HOISTED ? 1 : N);
  if (!launched)
    show("sum", a + s);
  if (cofuse_t_guards() && cofuse_t_units() < 1)
    printf("no unit was checked\n");
  return 0;
}
