// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 03: a copy, then a read of it shifted the other way, counting down.
#include <math.h>
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
  for (int i = N - 1; i >= 0; i--)
    q0[i] = q[i];
#pragma cofuse forall
  for (int i = N - 2; i >= 0; i--)
    q[i] = q0[i + 1];
  OK(q[N - 1] == N - 1);
  for (int i = 0; i < N - 1; i++)
    OK(q[i] == i + 1);
  puts("ok");
  return 0;
}
