// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value a reduction variable had before takes part, once and not once per rank.
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
  int x[N] = {0}, y[N];
  int s = 0;
  int seen[3];
#pragma cofuse store(x[0 : N], y[0 : N])
  for (int i = 0; i < N; i++)
    y[i] = i;
  x[1] = 2;
  x[4] = 1;
  for (int t = 0; t < 3; t++) {
#pragma cofuse forall reduction(+ : s)
    for (int i = 0; i < N; i++)
      s += x[i] * y[i];
    seen[t] = s;
  }
  OK(seen[0] == 6 && seen[1] == 12 && seen[2] == 18);
  puts("ok");
  return 0;
}
