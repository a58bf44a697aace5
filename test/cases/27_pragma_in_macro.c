// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The directive comes from _Pragma in a macro; a clause has a macro name; the loop header is a macro.
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

#define FORALL2 _Pragma("cofuse forall collapse(2)")
#define DEPTH 2
#define LOOP(i, n) for (int i = 0; i < (n); i++)
int main(void) {
  enum { N = 6 };
  int a[N][N];
#pragma cofuse store(a[0 : N][0 : N])
  FORALL2 LOOP(i, N) LOOP(j, N) a[i][j] = i - j;
#pragma cofuse forall collapse(DEPTH)
  LOOP(i, N) LOOP(j, N) a[i][j] += j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      OK(a[i][j] == i);
  puts("ok");
  return 0;
}
