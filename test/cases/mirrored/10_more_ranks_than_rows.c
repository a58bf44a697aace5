// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 10: two elements, counted down, maximum and product.
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
  enum { N = 2 };
  double a[N] = {-3, -5};
  double p = 1, m = -INFINITY;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall reduction(* : p) reduction(max : m)
  for (int i = N - 1; i >= 0; i--) {
    p *= a[i];
    m = a[i] > m ? a[i] : m;
  }
  OK(p == 15);
  OK(m == -3);
  puts("ok");
  return 0;
}
