// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy followed by a shifted read of it: an element from the neighbouring rank, or from the next block,
// is needed.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(c)                                                                                                \
  do {                                                                                                       \
    if (!(c)) {                                                                                              \
      printf("FAIL line %d\n", __LINE__);                                                                    \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (0)

int main(void) {
  enum { N = 64 };
  double q[N], q0[N];
#pragma cofuse store(q[0 : N], q0[0 : N])
  for (int i = 0; i < N; i++) {
    q[i] = i;
    q0[i] = -1;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    q0[i] = q[i];
#pragma cofuse forall
  for (int i = 1; i < N; i++)
    q[i] = q0[i - 1];
  OK(q[0] == 0);
  for (int i = 1; i < N; i++)
    OK(q[i] == i - 1);
  puts("ok");
  return 0;
}
