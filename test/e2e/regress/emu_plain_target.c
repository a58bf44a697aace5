// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction into an element of an array, in a group that writes other elements of that row on the device.
#include <stdio.h>
int main(void) {
  static double a[64][64], b[64];
#pragma cofuse store(a, b)
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    b[i] = i;
  a[0][5] = 0.5;
#pragma cofuse forall
  for (int j = 10; j < 20; j++)
    a[0][j] = j;
#pragma cofuse forall reduction(+ : a[0][5])
  for (int i = 0; i < 64; i++)
    a[0][5] += b[i];
  printf("%g %g %g\n", a[0][5], a[0][12], a[0][3]);
#pragma cofuse forall
  for (int j = 0; j < 64; j++)
    a[0][j] += 1;
  printf("%g %g\n", a[0][5], a[0][3]);
}
