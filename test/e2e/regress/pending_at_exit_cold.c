// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that are still pending when main returns need a kernel that is not compiled yet.
#include <stdio.h>
#include <stdlib.h>
static double x[99], y[99];
static float z[99];
int main(void) {
#pragma cofuse store(x, y, z)
#pragma cofuse forall
  for (int i = 0; i < 99; i++)
    x[i] = 3 * i;
  printf("%g\n", x[4]);
#pragma cofuse forall
  for (int i = 1; i < 98; i++)
    y[i] = (x[i - 1] + x[i + 1]) / 3, z[i] = y[i] > 4 ? y[i] : (int)x[i] % 7;
  return 0;
}
