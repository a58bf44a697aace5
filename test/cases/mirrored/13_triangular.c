// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 13: the lower triangle, from the last row up and from the diagonal to the left.
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
  enum { N = 10 };
  int a[N][N] = {{0}};
  int cnt = 0;
#pragma cofuse store(a[0 : N][0 : N])
#pragma cofuse forall reduction(+ : cnt)
  for (int i = N - 1; i >= 0; i--)
    for (int j = i; j >= 0; j--) {
      a[i][j] += 1;
      cnt += 1;
    }
  OK(cnt == 55);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      OK(a[i][j] == (j <= i));
  puts("ok");
  return 0;
}
