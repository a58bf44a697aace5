// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mode (1 read, 2 write), flags (1 conditional, 2 indirect, 4 unbounded) and inner counters of accesses.
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
// CHECK-NEXT: { 10, 2, 5, 1, {{.*}} "t[i][k]" }
// CHECK-NEXT: { 10, 2, 1, 0, {{.*}} "c[i]" }
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    for (int k = 2; k < m; k++)
      b[0] = a[col[k]];
    for (int k = i; k < m; k++)
      t[i][k] = 1;
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
