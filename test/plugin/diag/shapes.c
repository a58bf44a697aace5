// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of pointers and unions: refused with a reason where they vary, accepted where they do not.
// RUN: %clang_cofuse -fsyntax-only -Xclang -verify %s
// RUN: %clang_cofuse -w -fsyntax-only -Rpass=cofuse %s 2>&1 | FileCheck %s
// CHECK-COUNT-3: 1-dimensional index task
// CHECK-NOT: index task
union number {
  double d;
  long l;
  double *p;
};
struct tagged {
  int kind;
  union {
    double d;
    long l;
  };
};
struct grid {
  double **rows, *layer[4];
};
void f(int n, double **rows, double *a, union number *u, struct tagged *t, struct grid *g, int k) {
  union number here = {1};
#pragma cofuse forall collapse(2) // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      rows[i][j] = 1; // expected-warning {{'rows[i]' is a pointer that varies in the loop: every row would have to be a store of its own; use one array with several extents [cofuse-130]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    for (int r = 0; r < 4; r++)
      a[i] += g->layer[r][i]; // expected-warning {{'g->layer[r]' is a pointer that varies}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    a[i] = *(*(g->rows + i) + 1); // expected-warning {{is a pointer that varies in the loop}}
#pragma cofuse forall
  for (int j = 0; j < n; j++)
    rows[0][j] = rows[k][j] + g->layer[k + 1][j] + g->rows[1][j];
#pragma cofuse forall
  for (int j = 0; j < n; j++)
    a[j] = u->p[j] + (*rows)[j];
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    u[i].d = i; // expected-warning {{member 'd' of a union cannot be used in a task [cofuse-131]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    a[i] = t[i].l; // expected-warning {{member 'l' of a union cannot be used in a task [cofuse-131]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    a[i] = here.l; // expected-warning {{member 'l' of a union cannot be used in a task [cofuse-131]}}
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    t[i].kind = i;
}
