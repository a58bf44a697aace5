// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// Tables that are no stores: variables with a known size, read through subscripts that say little.
#include <stdio.h>
#include <stdlib.h>

enum { N = 40, T = 9 };
static const double weight[T] = {1, 2, 3, 5, 8, 13, 21, 34, 55};
static int perm[N];
double shared[N]; // visible elsewhere: might be a store there
struct model {
  int id;
  double coef[T];
  struct {
    float f[4][3];
  } in;
};
static struct model global;

int main(int argc, char **argv) {
  (void)argv;
  int n = N - 1 + argc;
  double u[N], v[N], *heap = malloc(N * sizeof *heap), vla[n], grid[5][T];
  struct model local = {1, {0}, {{{0}}}}, *far = malloc(sizeof *far);
  for (int i = 0; i < N; i++) {
    perm[i] = (i * 7 + 3) % N;
    u[i] = i * 0.5;
    v[i] = 0;
    heap[i] = vla[i] = shared[i] = 100 - i;
  }
  for (int k = 0; k < T; k++) {
    local.coef[k] = global.coef[k] = far->coef[k] = 1.0 / (k + 2);
    for (int r = 0; r < 5; r++)
      grid[r][k] = r * 10 + k;
    local.in.f[k % 4][k % 3] = k * 1.5f;
  }
#pragma cofuse store(u, v)
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    v[i] += weight[i % T] * u[perm[i]] + vla[perm[i]];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    v[i] += local.coef[i % T] + global.coef[perm[i] % T] * far->coef[(i + 1) % T];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    v[i] += grid[i % 5][perm[i] % T] + local.in.f[i % 4][i % 3];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    if (i < T)
      v[i] -= weight[i] + local.coef[i] * grid[2][i];
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= i; k++)
      if (k < T)
        v[i] += weight[k] * i;
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < i && vla[k] > 70)
      k++;
    for (int j = 0; j < k; j++)
      v[i] += vla[j];
  }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    if (u[i] > 3)
      v[i] += heap[i] + shared[i] + shared[perm[i]] + heap[perm[i]];
  perm[3] = 0; // the tasks saw the old tables
  local.coef[0] = vla[5] = 0;
  for (int i = 0; i < n; i++)
    printf("%.17g\n", v[i]);
  free(heap);
  free(far);
  return 0;
}
