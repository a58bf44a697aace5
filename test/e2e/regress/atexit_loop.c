// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exit handler runs loops itself.
#include <stdio.h>
#include <stdlib.h>
static double x[99];
static void bye(void) {
#pragma cofuse forall
  for (int i = 0; i < 99; i++)
    x[i] = 3 * i + x[98 - i] * 0;
  printf("%g %g %g\n", x[1], x[50], x[98]);
}
int main(void) {
  atexit(bye);
#pragma cofuse store(x)
#pragma cofuse forall
  for (int i = 0; i < 99; i++)
    x[i] = 3 * i;
  x[5] += x[80];
#pragma cofuse forall
  for (int i = 0; i < 99; i++)
    x[i] += 1;
  return 0;
}
