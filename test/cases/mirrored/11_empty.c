// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 11: loops that count down and have no iteration, one whose bounds are crossed.
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
  double a[N];
  double s = 7;
  int n = 0;
  double *z = malloc(8);
#pragma cofuse store(a[0 : N])
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma cofuse forall
  for (int i = -1; i >= 0; i--)
    a[i] = -1;
#pragma cofuse forall
  for (int i = 2; i > N; i -= 3)
    a[i] = -1;
#pragma cofuse store(z[0 : n])
#pragma cofuse forall reduction(+ : s)
  for (int i = n - 1; i >= 0; i--)
    s += z[i];
  for (int i = 0; i < N; i++)
    OK(a[i] == i);
  OK(s == 7);
  free(z);
  puts("ok");
  return 0;
}
