// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs after all exit handlers finds, in this rank's part, what the last tasks wrote.
#include <stdio.h>
#include <stdlib.h>
static double a[4];
__attribute__((constructor(101))) static void before(void) { setvbuf(stdout, NULL, _IONBF, 0); }
__attribute__((destructor(101))) static void done(void) { printf("%g\n", a[0]); }
int main(void) {
#pragma cofuse store(a)
#pragma cofuse forall
  for (int i = 0; i < 4; i++)
    a[i] = 3 + i;
  return 0;
}
