// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 01: the neighbour is above, and both loops count down.
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
    for (int i = n - 2; i >= 0; i--)
      t[i] = a[i] + a[i + 1];
#pragma cofuse forall
    for (int i = n - 2; i >= 0; i--)
      a[i] = 0.5 * t[i];
    OK(a[n - 1] == n - 1);
    for (int i = 0; i < n - 1; i++)
      OK(a[i] == i + 0.5);
    free(a);
    free(t);
  }
  puts("ok");
  return 0;
}
