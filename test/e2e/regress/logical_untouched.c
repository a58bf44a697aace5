// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction by && or || that no iteration updates made 1 of a prior value of 5.
#include <stdio.h>

int main(void) {
  enum { N = 100 };
  int a[N], all = 5, any = 7, touched = 9, lone = 6;
  double d = 2.5;
#pragma cofuse store(a, lone)
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma cofuse forall reduction(&& : all, touched, lone) reduction(|| : any) reduction(|| : d)
  for (int i = 0; i < N; i++) {
    if (a[i] > N) {
      all = all && a[i];
      any = any || a[i];
      lone = lone && a[i];
      d = d || a[i];
    }
    touched = touched && a[i] < N;
  }
  printf("%d %d %d %d %g\n", all, any, touched, lone, d);
  return 0;
}
