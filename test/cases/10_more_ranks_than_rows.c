// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two elements on up to seven ranks: most own nothing and must not contribute to reductions.
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
  enum { N = 2 };
  double a[N] = {3, 5};
  double s = 0, m = INFINITY;
#pragma cofuse store(a[0 : N])
#pragma cofuse forall reduction(+ : s) reduction(min : m)
  for (int i = 0; i < N; i++) {
    s += a[i];
    m = a[i] < m ? a[i] : m;
  }
  OK(s == 8);
  OK(m == 3);
  puts("ok");
  return 0;
}
