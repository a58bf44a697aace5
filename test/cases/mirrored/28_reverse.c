// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 28: the reversal is on the written side, and the result is reversed into its own source.
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
  enum { N = 33 };
  double a[N], b[N];
#pragma cofuse store(a[0 : N], b[0 : N])
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--) {
    a[i] = i;
    b[i] = 0;
  }
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    b[N - 1 - i] = a[i] + 1;
#pragma cofuse forall
  for (int i = N - 1; i >= 0; i--)
    a[N - 1 - i] = 2 * b[i];
  for (int i = 0; i < N; i++) {
    OK(b[i] == N - i);
    OK(a[i] == 2 * (i + 1));
  }
  puts("ok");
  return 0;
}
