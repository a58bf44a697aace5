// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GNU's exp10 and exp10f, which are no builtins of clang: were refused, and now are the C library's.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
int main(void) {
  static double x[1000];
  static float y[1000];
#pragma cofuse store(x, y)
#pragma cofuse forall
  for (int i = 0; i < 1000; i++) {
    x[i] = exp10(0.3 * i - 150);
    y[i] = exp10f(0.07f * (float)i - 35);
  }
  unsigned long long h = 0;
  for (int i = 0; i < 1000; i++) {
    union {
      double d;
      unsigned long long u;
    } v = {x[i]}, w = {y[i]};
    h = h * 31 + v.u + 7 * w.u;
  }
  printf("%016llx %g %g\n", h, x[999], y[999]);
}
