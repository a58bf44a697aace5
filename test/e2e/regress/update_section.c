// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After update of a section, rank-dependent code may read it without any communication.
#include <cofuse/cofuse.h>
#include <stdio.h>
int main(void) {
  int a[33];
#pragma cofuse store(a)
#pragma cofuse forall
  for (int i = 0; i < 33; i++)
    a[i] = i;
#pragma cofuse update(a[30 : 3])
  if (cofuse_rank() == 0)
    printf("%d\n", a[32]);
}
