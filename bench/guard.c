// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of a guard that has nothing to do: nanoseconds per call, medians of 21 rounds, among 20 stores.
#include "cofuse/descriptor.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STORES = 20, ELEMENTS = 4096, CALLS = 2000000, ROUNDS = 21 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  static double *a[STORES], *plain;
  static const char *at[CALLS];
  cofuse_object d = {.abi = COFUSE_ABI,
                     .type = COFUSE_F64,
                     .rank = 1,
                     .elem_bytes = 8,
                     .line = 1,
                     .file = "guard.c",
                     .text = "a"};
  for (int k = 0; k < STORES; k++) {
    a[k] = calloc(ELEMENTS, 8);
    cofuse_store_(&d, a[k], (int64_t[]){0, ELEMENTS});
  }
  plain = calloc(ELEMENTS, 8);
  unsigned seed = 1;
  static const char *const names[] = {"same store", "one of 20 at random", "no store"};
  for (int what = 0; what < 3; what++) {
    for (int i = 0; i < CALLS; i++) {
      seed = seed * 1103515245u + 12345u;
      int k = what == 1 ? (int)(seed >> 16) % STORES : 7;
      at[i] = (const char *)((what == 2 ? plain : a[k]) + (seed >> 8) % ELEMENTS);
    }
    double t[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
      double t0 = now();
      for (int i = 0; i < CALLS; i++)
        cofuse_guard(at[i], at[i], at[i] + 8, COFUSE_R, "guard.c:1:1");
      t[r] = (now() - t0) / CALLS * 1e9;
    }
    qsort(t, ROUNDS, sizeof *t, compare);
    printf("%-22s %6.2f ns\n", names[what], t[ROUNDS / 2]);
  }
  return 0;
}
