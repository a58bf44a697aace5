// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -fno-math-errno clang folds pow(x, 0.5) to a square root.
#include <math.h>
#include <stdio.h>
int main(void) {
  double x[1000], r[1000];
  for (int i = 0; i < 1000; i++)
    x[i] = 0.01 + 0.37 * i;
#pragma cofuse store(x, r)
#pragma cofuse forall
  for (int i = 0; i < 1000; i++)
    r[i] = pow(x[i], 0.5);
  int bad = 0;
  for (int i = 0; i < 1000; i++)
    bad += r[i] != sqrt(x[i]);
  printf("%d\n", bad);
}
