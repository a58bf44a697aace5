// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction into an element of the array that the loop reads depends on the order of iterations.
#include <stdio.h>
static void sum(double *x, int n, double *s) {
#pragma cofuse forall reduction(+ : *s)
  for (int i = 0; i < n; i++)
    *s += x[i];
}
int main(void) {
  double x[50];
  for (int i = 0; i < 50; i++)
    x[i] = i;
#pragma cofuse store(x)
  sum(x, 50, &x[3]);
  printf("%g\n", x[3]);
}
