// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page behind an array of cofuse_alloc went with the array's own pages into another one.
#include <cofuse/cofuse.h>

#include <stdio.h>
#include <stdlib.h>
int main(void) {
  long m = 1 << 20, k = 3 << 20;
  double *c = cofuse_alloc(m * sizeof *c); /* lies above b on Linux */
  double *b = cofuse_alloc(m * sizeof *b);
  double *d = cofuse_alloc(k * sizeof *d);
  for (long i = 0; i < m; i++)
    c[i] = 1.0;
#pragma cofuse store(b[0 : m])
#pragma cofuse forall
  for (long i = 0; i < m; i++)
    b[i] = 7.0;
  double s = b[5];
  cofuse_free(b);
#pragma cofuse store(d[0 : k])
#pragma cofuse forall
  for (long i = 0; i < k; i++)
    d[i] = 2.0;
  double z = d[7], y = 0;
  for (long i = 0; i < m; i++)
    y += c[i];
  printf("%g %g %g\n", s, z, y);
  fflush(stdout);
  cofuse_free(d);
  cofuse_free(c);
  puts("end");
  return 0;
}
