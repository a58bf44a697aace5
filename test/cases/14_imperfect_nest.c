// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A statement between two collapsed loops: not a perfect nest.
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
  enum { N = 8 };
  int a[N][2 * N] = {{0}};
  int cnt = 0;
#pragma cofuse store(a[0 : N][0 : 2 * N])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < N; i++) {
    int lo = 2 * i;
    for (int j = lo; j < 2 * N; j++)
      a[i][j] = 1;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 2 * N; j++)
      cnt += a[i][j];
  OK(cnt == 72);
  puts("ok");
  return 0;
}
