// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inner bound depends on the outer counter (not rectangular): refused for collapse, run serially, never
// wrong.
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
  enum { N = 10 };
  int a[N][N] = {{0}};
  int cnt = 0;
#pragma cofuse store(a[0 : N][0 : N])
#pragma cofuse forall collapse(2) reduction(+ : cnt)
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      a[i][j] += 1;
      cnt += 1;
    }
  OK(cnt == 55);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      OK(a[i][j] == (j >= i));
  puts("ok");
  return 0;
}
