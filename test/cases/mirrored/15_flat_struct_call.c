// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mirror of 15: the flat array of structs is walked and read from its end.
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

struct part {
  int skip;
  double v;
};
struct world {
  struct part *p;
  int n;
};
static double f(double x) { return x * x; }
int main(void) {
  enum { R = 6, C = 5 };
  struct world W;
  struct world *w = &W;
  W.n = R * C;
  W.p = malloc(R * C * sizeof(struct part));
  double *o = calloc(R * C, sizeof(double));
  for (int i = 0; i < R * C; i++) {
    W.p[i].skip = i % 3 == 0;
    W.p[i].v = i;
  }
#pragma cofuse store(w->p[0 : w->n], o[0 : w->n])
#pragma cofuse forall collapse(2)
  for (int i = R - 1; i >= 0; i--)
    for (int j = C - 1; j >= 0; j--) {
      double t = 0.0;
      if (w->p[w->n - 1 - (i * C + j)].skip != 1)
        t = f(w->p[w->n - 1 - (i * C + j)].v);
      o[i * C + j] = t;
    }
  for (int i = 0; i < R * C; i++) {
    int k = R * C - 1 - i;
    OK(o[i] == (k % 3 == 0 ? 0 : (double)k * k));
  }
  free(o);
  free(W.p);
  puts("ok");
  return 0;
}
