// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// update of a bare pointer means all of the store, also for other threads afterwards.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 96 };
static double *x, *y, sum;
static void *worker(void *arg) {
  double s = 0;
  for (int i = 0; i < N; i++)
    s += x[i] + y[i];
  sum = s;
  return NULL;
}
int main(int argc, char **argv) {
  x = malloc(N * 8);
  y = malloc(N * 8);
  for (int i = 0; i < N; i++)
    x[i] = i, y[i] = -i;
#pragma cofuse store(x[0 : N], y[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = x[i] * 2 + i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[i] = y[i] * 2 + i;
#pragma cofuse update(x, y)
  pthread_t t;
  pthread_create(&t, NULL, worker, x);
  pthread_join(t, NULL);
  printf("%g\n", sum);
}
