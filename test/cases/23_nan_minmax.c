// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NaN, infinities and fmax: comparing backwards loses the NaN behaviour of the program's own form.
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
  enum { N = 6 };
  double a[N] = {1, NAN, 3, NAN, -INFINITY, 2}, b[N];
  double m = -INFINITY, q = -INFINITY, s = 0;
#pragma cofuse store(a[0 : N], b[0 : N])
  for (int i = 0; i < N; i++)
    b[i] = NAN;
#pragma cofuse forall reduction(max : m) reduction(+ : s)
  for (int i = 0; i < N; i++) {
    m = fmax(m, a[i]);
    s += a[i];
  }
#pragma cofuse forall reduction(max : q)
  for (int i = 0; i < N; i++)
    q = fmax(q, b[i]);
  OK(m == 3);
  OK(isnan(s));
  OK(q == -INFINITY);
  puts("ok");
  return 0;
}
