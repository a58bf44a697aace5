// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that counts down, reading the mirrored element.
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
  enum { N = 33 };
  double a[N], b[N];
#pragma cofuse store(a[0 : N], b[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++) {
    a[i] = i;
    b[i] = 0;
  }
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    b[i] = a[N - 1 - i];
  for (int i = 0; i < N; i++)
    OK(b[i] == N - 1 - i);
  puts("ok");
  return 0;
}
