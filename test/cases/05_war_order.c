// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array is read and then overwritten: tasks reordered or merged carelessly read the new values.
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
  enum { N = 50 };
  double q[N], y[N];
#pragma cofuse store(q[0 : N], y[0 : N])
  for (int i = 0; i < N; i++) {
    q[i] = i + 1;
    y[i] = 0;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    y[i] = q[i];
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    q[i] = 0;
  for (int i = 0; i < N; i++) {
    OK(y[i] == i + 1);
    OK(q[i] == 0);
  }
  puts("ok");
  return 0;
}
