// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 05: an array is read back to front and then overwritten by a loop that counts down.
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
  enum { N = 50 };
  double q[N], y[N];
#pragma cofuse store(q[0 : N], y[0 : N])
  for (int i = 0; i < N; i++) {
    q[i] = i + 1;
    y[i] = 0;
  }
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    y[N - 1 - i] = q[i];
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    q[i] = 0;
  for (int i = 0; i < N; i++) {
    OK(y[i] == N - i);
    OK(q[i] == 0);
  }
  puts("ok");
  return 0;
}
