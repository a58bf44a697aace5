// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of zeros of both signs the first stays the extremum, also where ranks do not follow each other in the order
// of the loop: a tiled inner loop, subscripts that fall. Ranks were combined in theirs.
#include <stdio.h>
#include <stdlib.h>

enum { H = 2, W = 64 };

static void inner(void) {
  double(*u)[W] = malloc(sizeof(double[H][W])), most = -99, least = 99;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      u[i][j] = -1;
  u[0][40] = -0.0;
  u[1][3] = 0.0;
#pragma cofuse store(u[0 : H][0 : W])
#pragma cofuse forall collapse(2)
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      u[i][j] *= 1;
#pragma cofuse forall collapse(2) reduction(max : most)
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      if (u[i][j] > most)
        most = u[i][j];
#pragma cofuse forall collapse(2) reduction(min : least)
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      if (-u[i][j] < least)
        least = -u[i][j];
  printf("%g %g\n", most, least);
  free(u);
}

static void falling(void) {
  float *x = malloc(W * sizeof *x), least = 99;
  for (int i = 0; i < W; i++)
    x[i] = 5;
  x[50] = 0;
  x[10] = -0.0f;
#pragma cofuse store(x[0 : W])
#pragma cofuse forall
  for (int i = 0; i < W; i++)
    x[i] *= 1;
#pragma cofuse forall reduction(min : least)
  for (int i = 0; i < W; i++)
    if (x[W - 1 - i] < least)
      least = x[W - 1 - i];
  printf("%g\n", (double)least);
  free(x);
}

int main(void) {
  inner();
  falling();
  return 0;
}
