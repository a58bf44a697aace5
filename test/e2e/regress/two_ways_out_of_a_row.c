// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two reads that leave their rows, one for the row before and one for the row behind, were taken for one.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { H = 5, W = 31 };
  double *p = calloc(H * W, sizeof *p), *q = calloc(H * W, sizeof *q);
#pragma cofuse store(p[0 : H][0 : W], q[0 : H][0 : W])
#pragma cofuse forall
  for (int i = 0; i < H * W; i++)
    p[i] = i % 17;
  for (int turn = 0; turn < 4; turn++) {
#pragma cofuse forall collapse(2)
    for (int i = 0; i < H; i++)
      for (int j = 0; j < W; j++) {
        double v = 0.25 * p[i * W + j];
        if (i > 0)
          v += 0.25 * p[i * W + j - 2];
        if (i < H - 1)
          v += 0.25 * p[i * W + j + 2];
        q[i * W + j] = v;
      }
    double *o = p;
    p = q, q = o;
  }
  for (int i = 0; i < H * W; i++)
    printf("%.17g\n", p[i]);
  free(p), free(q);
  return 0;
}
