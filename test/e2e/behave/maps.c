// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints whether LLVM or MLIR is in this process after fused work has run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  enum { N = 300 };
  double a[N], b[N];
#pragma cofuse store(a[0 : N], b[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] = 0.25 * i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    b[i] = a[i] * a[i];
  double s = b[N - 1];
  char line[4096];
  int found = 0;
  FILE *f = fopen("/proc/self/maps", "r");
  while (f && fgets(line, sizeof line, f))
    found |= strstr(line, "libLLVM") || strstr(line, "libMLIR");
  if (f)
    fclose(f);
  printf("%g %s\n", s, found ? "llvm" : "clean");
  return 0;
}
