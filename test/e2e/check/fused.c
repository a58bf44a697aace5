// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_VERIFY: groups of every kind: temporaries, reductions into a variable and into a store, replicated
// tasks, structs, columns, values that are NaN.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct particle {
  double x, v;
  int kind;
} particle;

int main(void) {
  int n = 60, m = 50;
  double(*u)[m] = malloc(sizeof(double[n][m])), (*w)[m] = malloc(sizeof(double[n][m])), sum = 0, norm = 0;
  particle *p = calloc(n, sizeof *p);
#pragma cofuse store(u[0 : n][0 : m], w[0 : n][0 : m], p[0 : n], norm)
  for (int step = 0; step < 4; step++) {
#pragma cofuse forall collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        u[i][j] = i == 3 ? NAN : i * 0.25 + j + step;
#pragma cofuse forall
    for (int i = 0; i < n; i++) {
      p[i].x += 0.5 * p[i].v;
      p[i].v = i - step;
    }
    double *t = malloc(n * m * sizeof *t);
#pragma cofuse store(t[0 : n][0 : m])
#pragma cofuse forall collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        t[i * m + j] = 3 * u[i][j];
#pragma cofuse forall collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        w[i][j] = t[i * m + j] + u[i][j];
    free(t);
#pragma cofuse forall
    for (int j = 0; j < m; j++)
      w[0][j] = 0;
#pragma cofuse task
    norm = 1;
#pragma cofuse forall reduction(+ : norm)
    for (int i = 0; i < n; i++)
      norm += p[i].x;
#pragma cofuse forall reduction(max : sum)
    for (int i = 0; i < n; i++)
      if (p[i].v > sum)
        sum = p[i].v;
  }
  printf("%.17g %.17g %.17g %.17g\n", sum, norm, w[5][7], p[9].x);
  free(u);
  free(w);
  free(p);
  return 0;
}
