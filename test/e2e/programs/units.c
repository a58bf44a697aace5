// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of two units: stores, loops and host access in different ones; input; a status.
#include "units.h"

double total;
int main(int argc, char **argv) {
  UNUSED_ARGS;
  case_name = "units";
  struct field *f = field_make(77), *g = field_make(50);
#pragma cofuse store(total, shared)
  for (int it = 0; it < 6; it++) {
    field_step(f, 0.25);
    field_scale(g, 0.5);
    f->now[0] = *lookup(g, 3);
    *lookup(g, 4) = f->now[f->n - 1];
    field_scale(f, 1.0);
#pragma cofuse forall
    for (int i = 0; i < 50; i++)
      g->now[i] += f->now[i] * (it + 1);
    if (it == 3) {
      double *t = f->now;
      f->now = f->next, f->next = t;
    }
  }
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    shared[i] += g->now[i % 50];
  show_num("sum", field_sum(f)), show_num("g", field_sum(g)), show_num("total", total);
  show_f64("now", f->now, f->n), show_f64("next", f->next, f->n), show_f64("shared", shared, 64);
  char line[40];
  double v;
  int lines = 0;
  while (fgets(line, sizeof line, stdin) && lines++ < 100) {
    if (sscanf(line, "%lf", &v) == 1)
      g->now[lines % 50] = v;
  }
  show_num("lines", lines), show_num("g", field_sum(g));
  field_drop(g);
  field_step(f, 0.125);
  printf("last %.17g %.17g\n", f->now[1], shared[3]);
  fputs("done\n", stderr);
  exit(argc > 5 ? 0 : 43);
}
