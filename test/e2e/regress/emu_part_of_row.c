// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host reads one element of a row that another rank owns; then every rank's device writes part of that
// row.
#include <stdio.h>
static double a[64][64];
static void rows(void) {
#pragma cofuse forall
  for (int j = 10; j < 20; j++) {
    a[1][j] = j;
    a[40][j] = j;
  }
}
int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      a[i][j] = i + j;
#pragma cofuse store(a)
  rows();
#pragma cofuse forall collapse(2)
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      a[i][j] += 1;
  double x = a[1][5];
  rows();
#pragma cofuse flush
  double y = a[1][5];
  a[40][0] = y;
  int zero = argc - 1; // not known to the compiler, which would print y
  printf("%g %g %g %g\n", x, y, a[40][zero], a[40][12]);
}
