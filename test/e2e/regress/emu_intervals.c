// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks of one group write more separate parts of an array than a device keeps account of.
#include <stdio.h>
int main(void) {
  static double x[200], y[200], z[40][40];
#pragma cofuse store(x, y, z)
  for (int i = 0; i < 200; i++)
    x[i] = -1;
  for (int b = 0; b < 9; b++) {
#pragma cofuse forall
    for (int i = 20 * b; i < 20 * b + 10; i++)
      x[i] = 3 * i + b;
  }
  printf("%g %g %g %g\n", x[3], x[12], x[85], x[169]);
#pragma cofuse forall
  for (int i = 0; i < 200; i++)
    y[i] = x[199 - i];
  for (int b = 0; b < 12; b++) {
#pragma cofuse forall
    for (int i = 15 * b + 2; i < 15 * b + 9; i++)
      y[i] = 0.5 * x[i] + y[i];
#pragma cofuse forall
    for (int j = 3; j < 40; j++)
      z[3 * b][j] = b + j;
  }
  for (int i = 0; i < 200; i += 3)
    y[i] += 1;
  double s = 0;
  for (int i = 0; i < 200; i++)
    s += y[i] * (i % 7);
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      s += z[i][j] * (i + 2 * j);
  printf("%.17g\n", s);
}
