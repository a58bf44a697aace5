// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mode (1 read, 2 write), flags (1 conditional, 2 indirect, 4 unbounded, 8 object) and inner counters of accesses.
// RUN: %clang_cofuse -fsyntax-only -fplugin-arg-cofuse-emit-source=%t.c %s
// RUN: grep -o '{ [0-9]*, [0-9]*, [0-9]*, [0-9]*, [0-9]*, [0-9]*, "[^"]*" }' %t.c | FileCheck %s
void f(int n, int m, double *a, double *b, double *c, int *col, double t[n][m]) {
// CHECK: { 10, 3, 0, 0, {{.*}} "a[i]" }
// CHECK-NEXT: { 10, 1, 1, 0, {{.*}} "b[i]" }
// CHECK-NEXT: { 10, 2, 1, 0, {{.*}} "c[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    a[i] += 1;
    if (a[i] > 0)
      c[i] = b[i];
  }
// Written in both arms; read only afterwards: no old value is seen.
// CHECK-NEXT: { 10, 1, 0, 0, {{.*}} "a[i]" }
// CHECK-NEXT: { 10, 2, 1, 0, {{.*}} "b[i]" }
// CHECK-NEXT: { 10, 2, 0, 0, {{.*}} "c[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    if (a[i] > 0)
      b[i] = 1;
    else
      b[i] = 2;
    c[i] = b[i];
  }
// CHECK-NEXT: { 10, 2, 0, 1, {{.*}} "t[i][k]" }
// CHECK-NEXT: { 10, 3, 1, 0, {{.*}} "a[i]" }
// CHECK-NEXT: { 10, 3, 0, 0, {{.*}} "b[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++) {
      t[i][k] = 0;
      a[i] += t[i][k];
    }
    for (int k = 0; k < 3; k++)
      b[i] += k;
  }
// CHECK-NEXT: { 4, 1, 0, 1, {{.*}} "col[k]" }
// CHECK-NEXT: { 10, 1, 3, 0, {{.*}} "a[col[k]]" }
// CHECK-NEXT: { 10, 2, 1, 0, {{.*}} "b[0]" }
// CHECK-NEXT: { 10, 2, 1, 1, {{.*}} "t[i][k]" }
// CHECK-NEXT: { 4, 1, 0, 0, {{.*}} "col[i]" }
// CHECK-NEXT: { 10, 2, 5, 1, {{.*}} "t[i][k]" }
// CHECK-NEXT: { 10, 2, 1, 0, {{.*}} "c[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    for (int k = 2; k < m; k++)
      b[0] = a[col[k]];
    for (int k = i; k < m; k++)
      t[i][k] = 1;
    for (int k = 0; k < col[i]; k++)
      t[i][k] = 2;
    if (n > 3)
      continue;
    c[i] = 1;
  }
// CHECK-NEXT: { 10, 1, 0, 0, {{.*}} "c[0]" }
// CHECK-NEXT: { 4, 1, 0, 0, {{.*}} "col[i]" }
// CHECK-NEXT: { 10, 3, 3, 0, {{.*}} "a[col[i]]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[col[i]] += c[0];
}

// Arrays that are objects are passed whole where their subscripts say too little.
static double table[7], given[9];
struct s {
  int id;
  float list[5];
};
void use(double *);
void g(int n, double *a, struct s *far) {
  struct s near = {0, {1}};
  double local[n], out[8];
  for (int i = 0; i < n; i++)
    local[i] = table[i % 7];
  use(out);
  use(given);
// CHECK-NEXT: { 10, 1, 10, 1, {{.*}} "table[i % 7]" }
// CHECK-NEXT: { 9, 1, 10, 1, {{.*}} "near.list[i % 5]" }
// CHECK-NEXT: { 9, 1, 10, 1, {{.*}} "far->list[i % 5]" }
// CHECK-NEXT: { 10, 1, 11, 1, {{.*}} "local[i]" }
// CHECK-NEXT: { 10, 1, 17, 0, {{.*}} "given[i]" }
// CHECK-NEXT: { 10, 1, 17, 0, {{.*}} "out[i]" }
// CHECK-NEXT: { 9, 1, 3, 0, {{.*}} "far->list[i % 4]" }
// CHECK-NEXT: { 10, 2, 0, 0, {{.*}} "a[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    double v = table[i % 7] + near.list[i % 5] + far->list[i % 5];
    if (i > 3)
      v += local[i] + given[i] + out[i] + far->list[i % 4];
    a[i] = v;
  }
}
