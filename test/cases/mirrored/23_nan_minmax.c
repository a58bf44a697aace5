// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 23: NaN at the first and last place of loops that count down; fmin, and the form that keeps a
// NaN.
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
  enum { N = 6 };
  double a[N] = {NAN, 2, INFINITY, 3, 1, NAN}, b[N];
  double m = INFINITY, q = INFINITY, f = 9, s = 0;
#pragma cofuse store(a[0 : N], b[0 : N])
  for (int i = 0; i < N; i++)
    b[i] = NAN;
#pragma cofuse forall reduction(min : m) reduction(+ : s)
  for (int i = N - 1; i >= 0; i--) {
    m = fmin(m, a[i]);
    s += a[i];
  }
#pragma cofuse forall reduction(min : q)
  for (int i = N - 1; i >= 0; i--)
    q = fmin(q, b[i]);
#pragma cofuse forall reduction(min : f)
  for (int i = N - 1; i >= 0; i--)
    f = a[i] < f ? a[i] : f;
  OK(m == 1);
  OK(isnan(s));
  OK(q == INFINITY);
  OK(f == 1);
  puts("ok");
  return 0;
}
