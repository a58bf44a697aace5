// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scalar that changes in every iteration must be an argument, not a reason to compile 1000 kernels.
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
  enum { N = 16, S = 1000 };
  double a[N], b[N], cc[N];
#pragma cofuse store(a[0 : N], b[0 : N], cc[0 : N])
  for (int i = 0; i < N; i++) {
    a[i] = i;
    b[i] = 0;
    cc[i] = 0;
  }
  for (int k = 0; k < S; k++) {
    double h = k;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      b[i] += h;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      cc[i] = b[i] + a[i];
  }
  for (int i = 0; i < N; i++) {
    OK(b[i] == 499500.0);
    OK(cc[i] == 499500.0 + i);
  }
  puts("ok");
  return 0;
}
