// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: an update outside the section of a reduction. With an argument all updates are inside. The
// sums depend on their order in the last bits, which must be the same for any number of threads and any
// window.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  (void)argv;
  int n = 200000, k = 7000;
  double *x = malloc(n * sizeof *x), h[40] = {0.1}, s[3] = {0};
  float f[40] = {0};
  int *bin = malloc(n * sizeof *bin);
#pragma cofuse store(x[0 : n], bin[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    x[i] = 1.0 / (i % 1999 + 3);
    bin[i] = i * 13 % 32;
  }
  if (argc == 1)
    bin[k] = 1000;
  double *total = calloc(1, sizeof *total);
#pragma cofuse store(total[0 : 1])
#pragma cofuse forall reduction(+ : total[0])
  for (int i = 0; i < n; i++)
    total[0] += x[i] * 0.3;
#pragma cofuse forall reduction(+ : h[4 : 32]) reduction(+ : f[0 : 40])
  for (int i = 0; i < n; i++) {
    h[4 + bin[i]] += x[i];
    f[bin[i]] -= (float)(x[i] * 0.7);
  }
#pragma cofuse forall reduction(+ : s[0 : 3])
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 3; c++)
      s[c] += x[i] / (c + 1);
  for (int c = 0; c < 40; c++)
    printf("%a %a\n", h[c], (double)f[c]);
  printf("%a %a %a %a\n", s[0], s[1], s[2], total[0]);
  free(x), free(bin), free(total);
  return 0;
}
