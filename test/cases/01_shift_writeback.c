// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbours read by one loop and written back by the next: fused without looking at the shift, values of
// the wrong step are read.
#include <math.h>
#include <stdint.h>
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
  int ns[3] = {8, 10000, 20000};
  for (int q = 0; q < 3; q++) {
    int n = ns[q];
    double *a = malloc(n * sizeof *a), *t = malloc(n * sizeof *t);
#pragma cofuse store(a[0 : n], t[0 : n])
    for (int i = 0; i < n; i++) {
      a[i] = i;
      t[i] = 0;
    }
#pragma cofuse forall
    for (int i = 1; i < n; i++)
      t[i] = a[i] + a[i - 1];
#pragma cofuse forall
    for (int i = 1; i < n; i++)
      a[i] = 0.5 * t[i];
    OK(a[0] == 0);
    for (int i = 1; i < n; i++)
      OK(a[i] == i - 0.5);
    free(a);
    free(t);
  }
  puts("ok");
  return 0;
}
