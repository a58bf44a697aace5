// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file that cannot be loaded leaves an array as a pending task makes it, also if that is what opens a
// device.
#include <cofuse/cofuse.h>
#include <stdio.h>
int main(void) {
  enum { N = 500 };
  static double u[N];
#pragma cofuse store(u)
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    u[i] = 3 * i;
  int failed = cofuse_load_npy("there-is-no-such-file.npy", u, "<f8", 1, (int64_t[]){N}) != 0;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    u[i] += 1;
  printf("%d %g %g\n", failed, u[1], u[N - 1]);
}
