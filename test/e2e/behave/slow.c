/* Loops that cannot run in parallel; argument: how many elements and times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void chain(long n, double *to, const double *from) {
#pragma cofuse forall
  for (long i = 0; i < n; i++)
    to[i] = sin(from[i]) + 1;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1000, times = argc > 2 ? atol(argv[2]) : 1;
  double *a = calloc((size_t)n + 1, sizeof *a), *b = calloc((size_t)n, sizeof *b);
#pragma cofuse store(a[0 : n + 1])
  for (long t = 0; t < times; t++) {
    chain(n, a + 1, a);
#pragma cofuse forall if (t < 0)
    for (long i = 0; i < n; i++)
      b[i] = t;
#pragma cofuse forall name(replica)
    for (long i = 0; i < n; i++)
      b[i] = cos(a[i]) + t;
  }
  printf("%g %g\n", a[n], b[n - 1]);
  free(a);
  free(b);
  return 0;
}
