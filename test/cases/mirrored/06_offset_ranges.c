// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 06: ranges 0..N-2 and 1..N-1: the last element is not written by the first loop.
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
  enum { N = 17 };
  int a[N], b[N];
#pragma cofuse store(a[0 : N], b[0 : N])
  for (int i = 0; i < N; i++) {
    a[i] = 100;
    b[i] = 0;
  }
#pragma cofuse forall
  for (int i = N - 2; i >= 0; i--)
    a[i] = i;
#pragma cofuse forall
  for (int j = N - 1; j > 0; j--)
    b[j] = 2 * a[j];
  OK(b[0] == 0);
  for (int j = 1; j < N - 1; j++)
    OK(b[j] == 2 * j);
  OK(b[N - 1] == 200);
  puts("ok");
  return 0;
}
