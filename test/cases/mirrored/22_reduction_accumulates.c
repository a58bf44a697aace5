// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 22: prior values of a minimum and of an exclusive or, counted down.
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
  enum { N = 8 };
  int x[N], y[N];
  int s = 5;
  unsigned bits = 1;
  int seen[3];
#pragma cofuse store(x[0 : N], y[0 : N])
  for (int i = 0; i < N; i++) {
    x[i] = 10 - i;
    y[i] = 1 << i;
  }
  for (int t = 0; t < 3; t++) {
#pragma cofuse forall reduction(min : s) reduction(^ : bits)
    for (int i = N - 1; i >= 0; i--) {
      if (x[i] - t < s)
        s = x[i] - t;
      bits ^= (unsigned)y[i];
    }
    seen[t] = s;
  }
  OK(seen[0] == 3 && seen[1] == 2 && seen[2] == 1);
  OK(bits == (1u ^ 255u));
  puts("ok");
  return 0;
}
