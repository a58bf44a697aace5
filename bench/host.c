// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Host loops over a store: compiled plain and with the plugin, seconds of each loop; bench/host.py compares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
  double *a = malloc(n * sizeof *a), s = 0;
#pragma cofuse store(a[0 : n])
#pragma cofuse forall
  for (size_t i = 0; i < n; i++)
    a[i] = (double)(i % 1000);
#pragma cofuse flush
  double t0 = now();
  for (size_t i = 0; i < n; i++)
    s += a[i];
  double t1 = now();
  for (size_t i = 0; i < n; i++)
    a[i] = 0.5 * a[i] + 1;
  double t2 = now();
  for (size_t i = 1; i + 1 < n; i++)
    if (a[i] > a[i - 1])
      s += a[i + 1];
  double t3 = now();
  printf("%.6f %.6f %.6f %g\n", t1 - t0, t2 - t1, t3 - t2, s);
  free(a);
  return 0;
}
