// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exit handler registered before cofuse started reads stores whose parts are on other ranks.
#include <stdio.h>
#include <stdlib.h>
static double x[99];
static void bye(void) { printf("%g %g %g\n", x[1], x[50], x[98]); }
int main(void) {
  atexit(bye);
#pragma cofuse store(x)
#pragma cofuse forall
  for (int i = 0; i < 99; i++)
    x[i] = 3 * i;
  return 0;
}
