// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that use plain memory between the stores, read updated ones and free old ones, while the main
// thread declares, runs and frees others: the table of stores was changed under their guards.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, ROUNDS = 60, THREADS = 3 };
static double *shared;
static atomic_int stop;

typedef struct work {
  double *plain, *old; /* old: a store that the thread frees */
  double sum;
  long rounds;
} work;

static void *worker(void *arg) {
  work *w = arg;
  double own[8] = {0};
  for (long r = 0; r < 10 || !atomic_load(&stop); r++) {
    for (int i = 0; i < N; i++)
      w->plain[i] += 1;
    w->sum = 0;
    for (int i = 0; i < N; i++)
      w->sum += shared[i];
    double *x = realloc(malloc(N * sizeof *x), 2 * N * sizeof *x);
#pragma cofuse forall
    for (int i = 0; i < 8; i++)
      own[i] += 1;
    x[N] = own[3];
    free(x);
    w->rounds++;
  }
  w->old[0] = w->old[N - 1] + own[7];
  w->old = realloc(w->old, (N + 1) * sizeof *w->old);
  w->sum += w->old[0] - w->old[N - 1];
  free(w->old);
  return NULL;
}

int main(void) {
  shared = malloc(N * sizeof *shared);
  double *a = malloc(N * sizeof *a), total = 0;
#pragma cofuse store(shared[0 : N], a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    shared[i] = i % 7, a[i] = 0;
  work w[THREADS];
  for (int t = 0; t < THREADS; t++) {
    w[t] = (work){.plain = calloc(N, sizeof(double)), .old = malloc(N * sizeof(double))};
    double *old = w[t].old;
#pragma cofuse store(old[0 : N])
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      old[i] = i + t;
#pragma cofuse update(old[0 : N])
  }
#pragma cofuse update(shared[0 : N])
#pragma cofuse flush
  pthread_t thread[THREADS];
  for (int t = 0; t < THREADS; t++)
    pthread_create(&thread[t], NULL, worker, &w[t]);
  for (int r = 0; r < ROUNDS; r++) {
    double *b = malloc((N + r) * sizeof *b), c[64];
#pragma cofuse store(b[0 : N + r], c[0 : 64])
#pragma cofuse forall
    for (int i = 0; i < N + r; i++)
      b[i] = i + r;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      a[i] += b[i] + shared[i];
#pragma cofuse forall
    for (int i = 0; i < 64; i++)
      c[i] = b[2 * i];
    if (r % 4 == 0)
      total += c[r];
    free(b);
  }
  atomic_store(&stop, 1);
  for (int t = 0; t < THREADS; t++) {
    pthread_join(thread[t], NULL);
    printf("%g %d\n", w[t].sum - (double)w[t].rounds, w[t].plain[N / 2] == (double)w[t].rounds);
    free(w[t].plain);
  }
  printf("%g %g %g\n", total, a[5], a[N - 1]);
  free(a), free(shared);
}
