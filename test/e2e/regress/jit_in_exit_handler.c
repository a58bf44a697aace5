// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels compiled by an exit handler, when thread-local caches of the main thread are gone.
#include <stdio.h>
#include <stdlib.h>
static double x[100], y[100], z[100];
static void bye(void) {
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    y[i] = x[i] * 2 + 1, z[i] = y[i] * x[i];
#pragma cofuse forall
  for (int i = 1; i < 99; i++)
    x[i] = y[i - 1] * 2 + z[i + 1];
  printf("%g\n", x[7]);
}
int main(void) {
  atexit(bye);
#pragma cofuse store(x, y, z)
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    x[i] = 3 * i;
  printf("%g\n", x[7]);
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    x[i] += y[i] * 2 + 1, z[i] = y[i] * x[i];
#pragma cofuse forall
  for (int i = 1; i < 99; i++)
    y[i] -= x[i - 1] * 2 + z[i + 1];
  printf("%g\n", y[7]);
  return 3;
}
