// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An automatic array is a store for an inner block only, and released there while tasks are pending.
#include <stdio.h>
int main(void) {
  double work[100], x[100] = {0};
#pragma cofuse store(x)
  for (int k = 0; k < 3; k++) {
#pragma cofuse store(work)
#pragma cofuse forall
    for (int i = 0; i < 100; i++)
      work[i] = x[i] + k;
#pragma cofuse forall
    for (int i = 0; i < 100; i++)
      x[i] = work[i];
#pragma cofuse release(work)
  }
  printf("%g\n", x[99]);
}
