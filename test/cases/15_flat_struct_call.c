// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Array of structs reached through a pointer in a struct, flat subscript, and a call of a visible function.
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
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) {
      double t = 0.0;
      if (w->p[i * C + j].skip != 1)
        t = f(w->p[i * C + j].v);
      o[i * C + j] = t;
    }
  for (int i = 0; i < R * C; i++)
    OK(o[i] == (i % 3 == 0 ? 0 : (double)i * i));
  puts("ok");
  return 0;
}
