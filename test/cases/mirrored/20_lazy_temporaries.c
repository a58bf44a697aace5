// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 20: the temporaries are filled counting down and read back to front.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(c)                                                                                                \
  do {                                                                                                       \
    if (!(c)) {                                                                                              \
      printf("FAIL line %d\n", __LINE__);                                                                    \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (0)

int main(void) {
  long n = 1 << 14;
  int S = 60;
  double *r = calloc(n, 8);
#pragma cofuse store(r[0 : n])
  for (int k = 0; k < S; k++) {
    double *t = malloc(n * 8);
#pragma cofuse store(t[0 : n])
#pragma cofuse forall
    for (long i = n - 1; i >= 0; i--)
      t[i] = k + (double)i;
#pragma cofuse forall
    for (long i = n - 1; i >= 0; i--)
      r[i] += t[n - 1 - i];
    free(t);
  }
  for (long i = 0; i < n; i++)
    OK(r[i] == 1770.0 + 60.0 * (double)(n - 1 - i));
  free(r);
  puts("ok");
  return 0;
}
