// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 200 temporaries allocated, used and freed in a loop: pending tasks outlive the free, addresses come back.
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
  size_t n = 1 << 16;
  int S = 200;
  double *r = calloc(n, 8);
#pragma cofuse store(r[0 : n])
  for (int k = 0; k < S; k++) {
    double *t = malloc(n * 8);
#pragma cofuse store(t[0 : n])
#pragma cofuse forall
    for (size_t i = 0; i < n; i++)
      t[i] = k;
#pragma cofuse forall
    for (size_t i = 0; i < n; i++)
      r[i] += t[i];
    free(t);
  }
  for (size_t i = 0; i < n; i++)
    OK(r[i] == 19900.0);
  free(r);
  puts("ok");
  return 0;
}
