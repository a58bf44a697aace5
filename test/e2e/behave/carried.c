// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dependence between iterations that only addresses show: reported once, then the plain loop.
#include <stdio.h>
static void shift(int n, const int *from, int *to) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    to[i] = from[i] + 1; // line 7
}
int main(void) {
  int a[12] = {0};
#pragma cofuse store(a[0 : 12])
  shift(11, a, a + 1);
  shift(11, a, a + 1);
  for (int i = 0; i < 12; i++)
    printf("%d ", a[i]);
  puts("");
  return 0;
}
