// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host access that is harder to see: system calls, unions, atomics, assembly, aggregates, strings, threads.
#define _GNU_SOURCE
#include "show.h"
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { N = 96 };
static double *make(void) {
  double *x = malloc(N * sizeof *x);
  for (int i = 0; i < N; i++)
    x[i] = i;
  return x;
}
static void twice(double *x, int n) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] = x[i] * 2 + i;
}

static void pipes(void) {
  double *x = make(), *y = make();
  int fd[2];
  long n = 0;
#pragma cofuse store(x[0 : N], y[0 : N])
  if (pipe(fd))
    return;
  twice(x, N);
  n += write(fd[1], x, N * sizeof *x);
  twice(y, N);
  n += read(fd[0], y + 1, (N - 1) * sizeof *y);
  n += read(fd[0], y, sizeof *y);
  twice(y, N);
  twice(x, N);
  close(fd[0]), close(fd[1]);
  show_num("n", (double)n), show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

static void results(void) {
  double *x = make();
  int *k = calloc(N, sizeof *k);
  long *l = calloc(N, sizeof *l);
  char *s = calloc(1, 200), *end;
#pragma cofuse store(x[0 : N], k[0 : N], l[0 : N], s[0 : 200])
  twice(x, N);
#pragma cofuse forall
  for (int i = 0; i < 200; i++)
    s[i] = i < 150 ? '0' + i % 10 : 0;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    k[i] = i, l[i] = -i;
  x[3] = frexp(x[9], &k[7]);
  x[4] = modf(x[8] / 3, &x[5]);
  x[6] = remquo(x[7], 3, k + 8);
  l[2] = strtol(s + 141, &end, 10);
  x[10] = strtod(s + 147, NULL);
  k[9] = (int)(end - s);
  k[10] = snprintf(s + 160, 30, "%d %ld %.3f|%s", k[7], l[5], x[3], s + 145);
  k[11] = sscanf(s + 160, "%d %ld", &k[20], &l[21]);
  char *copy = strdup(s + 130), *found = strchr(s, '7'), *token;
  k[12] = (int)(found - s) + (int)strspn(s, "01234") + (int)strlen(copy) + memchr(s, '9', 100) - (void *)s;
  for (token = strtok(s + 160, " "); token; token = strtok(NULL, "|"))
    k[13] += (int)strlen(token);
  k[14] = isdigit((unsigned char)s[3]) + (strcmp(copy, s + 130) == 0) + atoi(s + 145);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    l[i] += k[i];
  lldiv_t q = lldiv(l[7], 4);
  l[8] = q.quot;
  double a, b;
  sincos(x[11], &a, &b);
  sincos(1, x + 12, x + 13);
  memcpy(&x[20], (double[]){a, b}, 16);
  printf("%s %d %s %.*s %-10.3e %ld\n", case_name, k[14], copy, 5, s + 2, x[5], l[8]);
  free(copy);
  show_f64("x", x, N), show("k", k, N * sizeof *k), show("l", l, N * sizeof *l), show("s", s, 200);
  free(x), free(k), free(l), free(s);
}

union both {
  double d[4];
  uint64_t u[4];
  unsigned char c[32];
};
typedef double v4 __attribute__((vector_size(32), aligned(8)));
struct wide {
  double d[40];
};
static struct wide by_value(struct wide w) {
  w.d[3] += w.d[4];
  return w;
}
static void aggregates(void) {
  union both *b = calloc(N, sizeof *b);
  double *x = make();
  struct wide *w = calloc(2, sizeof *w), local;
#pragma cofuse store(x[0 : N], w[0 : 2])
  twice(x, N);
  memcpy(b, x, 32);
  memcpy(b[1].c, x + 4, sizeof *b);
  v4 s = *(v4 *)(x + 8) + *(v4 *)(x + 12);
  *(v4 *)(x + 20) = s * s;
  twice(x, N);
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    w[0].d[i] = x[i], w[1].d[i] = -i;
  local = w[0];
  w[1] = by_value(*w);
  *w = by_value(local);
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    w[1].d[i] += w[0].d[39 - i];
  struct wide *t = &w[1], copy = *t;
  x[2] = copy.d[3] + ((unsigned char *)&x[9])[7];
  show("b", b, 64), show_f64("x", x, N), show_f64("w", w->d, 80);
  free(b), free(x), free(w);
}

static void operations(void) {
  int *k = calloc(N, sizeof *k);
  long *l = calloc(N, sizeof *l);
  _Atomic int total = 0;
#pragma cofuse store(k[0 : N], l[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    k[i] = i, l[i] = i * 3;
  __sync_fetch_and_add(&k[5], 7);
  __atomic_store_n(&k[6], 9, __ATOMIC_SEQ_CST);
  total += __atomic_exchange_n(&l[7], 70, __ATOMIC_RELAXED);
  total += __sync_val_compare_and_swap(k + 8, 8, 80);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    l[i] += k[i];
  atomic_fetch_add((_Atomic long *)&l[9], 5);
  __builtin_prefetch(l);
  __asm__ volatile("addq $1, %0" : "+m"(l[10])::"memory");
  long r;
  __asm__("movq (%1), %0" : "=r"(r) : "r"(l + 11) : "memory");
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    k[i] += (int)l[i];
  volatile int *vk = k;
  vk[12] += 4;
  r += vk[13]++;
  int *restrict rk = k + 20;
  for (int i = 0; i < 10; i++)
    *rk++ = i;
  l[14] += __builtin_add_overflow(k[13], 3, &k[15]);
  total += (int)__builtin_object_size(k, 0) * 0;
  show_num("total", total), show_num("r", (double)r), show("k", k, N * sizeof *k),
      show("l", l, N * sizeof *l);
  free(k), free(l);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static int compare_to(const void *a, const void *b, void *arg) {
  double pivot = *(double *)arg, x = fabs(*(const double *)a - pivot), y = fabs(*(const double *)b - pivot);
  return (x > y) - (x < y);
}
static int calls;
static int compare_pointers(const void *a, const void *b) {
  calls++;
  return compare(*(double *const *)a, *(double *const *)b);
}
static void callbacks(void) {
  double *x = make(), *y = make(), *p[N];
#pragma cofuse store(x[0 : N], y[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = i * 37 % 101, y[i] = -i;
  for (int i = 0; i < N; i++)
    p[i] = &x[i];
  qsort(p, N, sizeof *p, compare_pointers);
  twice(y, N);
  qsort_r(x, N, sizeof *x, compare_to, &y[20]);
  double key = x[40];
  size_t n = N;
  double *hit = lfind(&key, x, &n, sizeof *x, compare);
  show_num("hit", hit ? (double)(hit - x) : -1), show_num("p", *p[5]);
  twice(x, N);
  qsort(x + 10, 50, sizeof *x, compare);
  twice(x, N);
  show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

/* Results of searches are pointers into stores. */
static void derived(void) {
  double *x = make(), *best = x, **hold = malloc(2 * sizeof *hold);
  char *s = calloc(1, 64);
#pragma cofuse store(x[0 : N], s[0 : 64])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = (i * 53) % 97;
  for (int i = 1; i < N; i++)
    if (x[i] > *best)
      best = x + i;
  twice(x, N);
  *best = -1;
  hold[0] = best + 1, hold[1] = x;
  twice(x, N);
  **hold += hold[1][4];
  twice(x, N);
  uintptr_t bits = (uintptr_t)x;
  *(double *)(bits + 8 * 7) = 42;
  double *odd = (double *)((char *)x + 3 * sizeof *x), (*rows)[8] = (void *)x;
  odd[-1] += rows[2][3] + (*rows)[1];
#pragma cofuse forall
  for (int i = 0; i < 63; i++)
    s[i] = 'a' + i % 26;
  char *m = strstr(s, "mno");
  *m = 'M', *strrchr(s, 'z') = 'Z';
#pragma cofuse forall
  for (int i = 0; i < 63; i++)
    s[i] ^= 1;
  char *mem = memchr(s, 'c', 63);
  mem[1] = '!';
  show_f64("x", x, N), show("s", s, 64);
  free(x), free(hold), free(s);
}

static void streams(void) {
  char *s = calloc(1, 256), *got = NULL, *line = NULL;
  size_t n = 0, cap = 0;
#pragma cofuse store(s[0 : 256])
#pragma cofuse forall
  for (int i = 0; i < 255; i++)
    s[i] = i % 20 == 19 ? '\n' : 'a' + i % 20;
  FILE *in = fmemopen(s, 255, "r");
  int lines = 0;
  while (getline(&line, &cap, in) > 0)
    lines += (int)strlen(line);
  fclose(in);
  FILE *out = open_memstream(&got, &n);
  fprintf(out, "%.10s %d", s + 40, lines);
  fputs(s + 200, out);
  fputc(s[7], out);
  fclose(out);
  show("got", got, n);
  free(got), free(line);
  FILE *f = tmpfile();
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    s[i] ^= 32;
  fwrite(s, 10, 20, f), rewind(f);
  if (fgets(s + 3, 30, f))
    s[2] = (char)fgetc(f);
  fclose(f);
  show("s", s, 256);
  free(s);
}

static double *thread_data;
static void *worker(void *arg) {
  double *x = arg, s = 0;
  for (int i = 0; i < N; i++)
    s += x[i] + thread_data[i];
  x = malloc(sizeof *x);
  *x = s;
  return x;
}
static void threads(void) {
  double *x = make();
  thread_data = make();
#pragma cofuse store(x[0 : N], thread_data[0 : N])
  twice(x, N), twice(thread_data, N);
#pragma cofuse update(x[0 : N], thread_data[0 : N])
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, worker, x);
  double s = 0;
  for (int i = 0; i < 2; i++) {
    void *r;
    pthread_join(t[i], &r);
    s += *(double *)r;
    free(r);
  }
  twice(x, N);
  show_num("s", s), show_f64("x", x, N);
  free(x), free(thread_data);
}

/* Allocation in ways other than malloc and free. */
static void allocation(void) {
  double s = 0;
  for (int k = 0; k < 4; k++) {
    double *x = NULL, *y = calloc(N, sizeof *y), *z = aligned_alloc(64, N * sizeof *z),
           *w = alloca(N * sizeof *w);
    if (posix_memalign((void **)&x, 4096, N * sizeof *x))
      return;
    for (int i = 0; i < N; i++)
      x[i] = z[i] = w[i] = i;
#pragma cofuse store(x[0 : N], y[0 : N], z[0 : N], w[0 : N])
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      y[i] = x[i] + z[N - 1 - i] + w[i];
    x = reallocarray(x, 2 * N, sizeof *x);
    x[2 * N - 1] = 5;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      z[i] += y[i];
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      w[i] += z[i];
    s += x[5] + y[6] + z[7] + w[8];
#pragma cofuse release(w)
    free(x), free(y), free(z);
  }
  show_num("s", s);
}

int main(int argc, char **argv) {
  CASE(pipes);
  CASE(results);
  CASE(aggregates);
  CASE(operations);
  CASE(callbacks);
  CASE(derived);
  CASE(streams);
  CASE(threads);
  CASE(allocation);
  return 0;
}
