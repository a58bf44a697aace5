// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop runs one element past the declared extents (the memory is there, the store is not).
#include <stdlib.h>
int main(void) {
  int n = 10;
  double *a = calloc(n + 1, sizeof *a);
#pragma cofuse store(a[0 : n])
#pragma cofuse forall
  for (int i = 0; i <= n; i++)
    a[i] = 1; // line 10
  free(a);
  return 0;
}
