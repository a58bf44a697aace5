/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls: library functions that touch stores, the hooks, call-backs, longjmp, inlining, other units. */
#define _GNU_SOURCE
#include "oracle.h"
#include "other.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 100 };
static double *x, *y, *z;
static int *idx;
static char *str;

static double total(const double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i] * (i % 7 + 1);
  return s;
}

static double t_memory(void) {
  memcpy(x, y, 10 * sizeof *x);
  memmove(x + 1, x, 20 * sizeof *x);
  memset(y + 3, 0, 2 * sizeof *y);
  return total(x, N) + total(y, N) + (memcmp(x, x + 1, 8) == 0) + (memchr(str, 'w', 11) == str + 6);
}
static double t_memory_variable(size_t n, size_t at) {
  memcpy(x + at, y, n);
  memmove(x, x + 1, n);
  memset(z + at, 0, n);
  double *end = mempcpy(z, x, n);
  return total(x, N) + total(z, N) + (end - z);
}
static double t_strings(void) {
  int n = 0;
  for (char *p = str; *p; p++)
    n += *p == 'l';
  char *dup = strdup(str);
  strcat(str, dup);
  str[0] = 'H';
  double r = n + strlen(str) + (strchr(str, 'w') - str) + strcmp(dup, str) / 32;
  free(dup);
  return r;
}
static double t_files(void) {
  char b[64];
  FILE *f = tmpfile();
  fwrite(x, sizeof *x, 10, f);
  rewind(f);
  size_t n = fread(y, sizeof *y, 200, f); /* fewer than asked for */
  fclose(f);
  snprintf(b, sizeof b, "%g %s", x[2], str);
  sscanf("4.5 word", "%lf %s", &z[9], str);
  return y[5] + n + strlen(b) + z[9] + strlen(str) + total(y, N);
}
static double t_pipe(void) {
  int fd[2];
  if (pipe(fd) || write(fd[1], x, 5 * sizeof *x) < 0 || read(fd[0], z + 2, 80) != 40)
    return -1;
  close(fd[0]);
  close(fd[1]);
  return total(z, N);
}
static double t_open_by_name(void) {
  char path[] = "/tmp/cofuse-guard-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fopen(path, "w");
  fprintf(f, "%g %d\n", x[3], idx[3]);
  fclose(f);
  f = fopen(path, "r");
  int got = fscanf(f, "%lf %d", &y[4], &idx[4]);
  fclose(f);
  close(fd);
  unlink(path);
  return got + y[4] + idx[4];
}
static double t_math(void) {
  double r = modf(x[3] + 0.5, &y[3]);
  z[0] = frexp(x[7], &idx[5]);
  sincos(x[1], &z[1], &z[2]);
  return r + y[3] + z[0] + idx[5] + z[1] + z[2];
}
static int descending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p < q) - (p > q);
}
static double t_sort(void) {
  qsort(x, N, sizeof *x, descending);
  double key = 7, *hit = bsearch(&key, x, N, sizeof *x, descending);
  return x[0] * 3 + x[N - 1] + (hit ? *hit : -1);
}
static int comparing(const void *a, const void *b) {
  cofuse_t_sync(); /* a call-back may launch tasks */
  return *(const int *)a - *(const int *)b;
}
static double t_sort_launching(void) {
  double before = x[5];
  int keys[4] = {4, 3, 2, 1};
  qsort(keys, 4, sizeof *keys, comparing);
  return before + x[5] * 2 + keys[0];
}
static double t_other_unit(void) {
  other_set(&x[6], 42);
  struct triple t = other_make(x[2]);
  return other_sum(x, N) + x[6] + other_use(t);
}
static double (*volatile indirect)(const double *, int) = other_sum;
static double t_indirect_call(void) { return indirect(x, 10) + c99_get(x, 3); }
__attribute__((pure, noinline)) static double pure_get(const double *p, int i) { return p[i]; }
static double t_pure(void) {
  double a = pure_get(x, 5);
  cofuse_t_add(x, N, 1);
  double b = pure_get(x, 5);
  x[5] = 2;
  return a + 10 * b + 100 * pure_get(x, 5);
}
static double t_heap(void) {
  double *t = malloc(8 * sizeof *t);
  for (int i = 0; i < 8; i++)
    t[i] = i;
  cofuse_t_store(t, 8 * sizeof *t);
  cofuse_t_add(t, 8, 1);
  double s = t[2];
  free(t);
  t = malloc(8 * sizeof *t); /* the same address, no store any more */
  for (int i = 0; i < 8; i++)
    t[i] = 7;
  cofuse_t_sync();
  s += t[2];
  free(t);
  return s;
}
static double t_realloc(void) {
  double *t = realloc(NULL, 8 * sizeof *t);
  for (int i = 0; i < 8; i++)
    t[i] = i;
  cofuse_t_store(t, 8 * sizeof *t);
  cofuse_t_add(t, 8, 1);
  t = realloc(t, 4000 * sizeof *t);
  t[8] = 1;
  double s = total(t, 9);
  t = reallocarray(t, 5000, sizeof *t);
  s += total(t, 9);
#if !__has_feature(address_sanitizer) /* which ends the program instead of returning NULL */
  if (reallocarray(t, (size_t)1 << 62, 64))
    s = -1;
#endif
  free(t);
  return s;
}
static void (*volatile free_by_pointer)(void *) = free;
static double t_free_by_pointer(void) {
  double *t = malloc(64);
  t[1] = x[1];
  double r = t[1];
  free_by_pointer(t);
  return r;
}
static int store_in_callback(const void *a, const void *b, void *arg) {
  if (cofuse_t_active())
    cofuse_t_add(arg, 1, 1);
  else
    *(double *)arg += 1;
  return *(const int *)a - *(const int *)b;
}
static double t_callback_argument_store(double *p) {
  double local = 3; /* its address reaches user code through a system function */
  int keys[2] = {2, 1};
  cofuse_t_store_auto(&local, sizeof local);
  qsort_r(keys, 2, sizeof *keys, store_in_callback, &local);
  double r = local + p[1];
  cofuse_t_release(&local);
  return r;
}
static void *thread_body(void *arg) {
  *(double *)arg = 5; /* local memory of the creator: no store, no guard needed */
  return arg;
}
static double t_thread(void) {
  double local = 1;
  pthread_t t;
  if (pthread_create(&t, NULL, thread_body, &local))
    return -1;
  pthread_join(t, NULL);
  return local;
}
static jmp_buf back;
static NOINLINE void deep(void) {
  double a[8];
  for (int i = 0; i < 8; i++)
    a[i] = i;
  cofuse_t_store_auto(a, sizeof a);
  longjmp(back, 1);
}
static NOINLINE double reuse_stack(void) {
  volatile double b[64];
  for (int i = 0; i < 64; i++)
    b[i] = i;
  cofuse_t_sync();
  double s = 0;
  for (int i = 0; i < 64; i++)
    s += b[i];
  return s;
}
static double t_longjmp(void) {
  int before = cofuse_t_live();
  if (!setjmp(back))
    deep();
  double s = reuse_stack();
  return s + (cofuse_t_live() - before);
}
static double t_setjmp_local(void) {
  jmp_buf jb;
  volatile int k = 0;
  if (setjmp(jb) == 0) {
    k = (int)x[1];
    longjmp(jb, 1);
  }
  return k + x[2];
}
__attribute__((always_inline)) static inline void inlined_set(double *p, double v) { *p = v; }
static double t_inlined(void) {
  for (int i = 0; i < N; i++)
    inlined_set(&z[i], i < 50 ? x[i] : i);
  return total(z, N);
}
__attribute__((optnone, noinline)) static double optnone_sum(const double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}
static int resolved(void) { return 7; }
static int (*choose(void))(void) { return resolved; } /* runs before relocation */
int by_ifunc(void) __attribute__((ifunc("choose")));

static void fill(void) {
  cofuse_t_sync();
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = 3 * i + 1;
    z[i] = i * i;
    idx[i] = (i * 37) % N;
  }
  strcpy(str, "hello world");
}
/* All contents, from the truth: what the host wrote without saying so is missing. */
static double contents(void) {
  cofuse_t_sync();
  double s = total(x, N) + 2 * total(y, N) + 3 * total(z, N);
  for (int i = 0; i < N; i++)
    s += idx[i] * (i + 1);
  for (char *p = str; *p; p++)
    s += *p * (p - str + 1);
  return s;
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

int main(int argc, char **argv) {
  MAKE(x, N);
  MAKE(y, N);
  MAKE(z, N);
  MAKE(idx, N);
  MAKE(str, 64);
  T(t_memory());
  T(t_memory_variable(96, 3));
  T(t_strings());
  T(t_files());
  T(t_pipe());
  T(t_open_by_name());
  T(t_math());
  T(t_sort());
  T(t_sort_launching());
  T(t_other_unit());
  T(t_indirect_call());
  T(t_pure());
  T(t_heap());
  T(t_realloc());
  T(t_free_by_pointer());
  T(t_callback_argument_store(x));
  T(t_thread());
  T(t_longjmp());
  T(t_setjmp_local());
  T(t_inlined());
  T(optnone_sum(x, N));
  T(by_ifunc());
  T(argc + argv[0][0] * 0);
  return 0;
}
