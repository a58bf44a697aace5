// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host reads one element of an array again and again: that costs one copy of the element, not one of the
// array.
#include <stdio.h>
static double x[20000];
int main(int argc, char **argv) {
  (void)argv;
  int at = argc - 1; // not known to the compiler
  double s = 0;
#pragma cofuse store(x)
  for (int t = 0; t < 20; t++) {
#pragma cofuse forall
    for (int i = 0; i < 20000; i++)
      x[i] += i + t;
    for (int k = 0; k < 9; k++) {
      s += x[at] * k;
      at = (at + 20001 - (int)(s < -1)) % 20001; // itself
    }
  }
  printf("%g\n", s);
}
