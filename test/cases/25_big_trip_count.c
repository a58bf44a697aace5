// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 65536 x 65536 iterations: a product of trip counts in 32 bits is zero.
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
  const int n = 65536;
  size_t T = (size_t)n * n;
  unsigned char *a = calloc(T, 1);
  if (!a) {
    puts("skip: memory");
    return 0;
  }
#pragma cofuse store(a[0 : T])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[(size_t)i * n + j] += 1;
  OK(a[0] == 1);
  OK(a[1] == 1);
  OK(a[T / 2] == 1);
  OK(a[T - 1] == 1);
  size_t s = 0;
  for (size_t i = 0; i < T; i++)
    s += a[i];
  OK(s == T);
  puts("ok");
  free(a);
  return 0;
}
