// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private variables: what the plain program would pass on is reported.
// RUN: %clang_cofuse -fsyntax-only -Xclang -verify %s
// RUN: %clang_cofuse -w -fsyntax-only -Rpass-missed=cofuse %s 2>&1 | FileCheck %s
// CHECK-COUNT-3: runs as plain code: '{{[tu]}}' is private, but is read here
// CHECK-NOT: runs as plain code
void use(double *);

double after(int n, double *a) {
  double t, u, v[4], w = 2, x, y;
  int j;
#pragma cofuse forall private(t, j, v) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) {
    t = 0;
    for (j = 0; j < 4; j++)
      v[j] = t += j;
    a[i] = t + v[2];
  }
  for (j = 0; j < n; j++) // written before it is read
    a[j] += v[j % 4];     // expected-warning {{the value of 'v', private in a forall, is unspecified after the loop [cofuse-401]}}
  if (n > 5)
    t = 3;
#pragma cofuse forall private(u) firstprivate(w) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) {
    u = i + w;
    a[i] = u;
  }
  a[0] = w + t;
  use(&x);
  for (int k = 0; k < 3; k++) {
    a[1] += k ? u : 0; // expected-warning {{the value of 'u', private in a forall}}
#pragma cofuse forall private(x, y)
    for (int i = 0; i < n; i++) {
      x = y = i;
      a[i] += x + y;
    }
    y = 0;
  }
  use(&x);
  return x + y;
}

double again(int n, double *a) {
  double u;
  for (int k = 0; k < 3; k++) {
    if (k)
      a[0] += u; // expected-warning {{the value of 'u', private in a forall, is unspecified after the loop [cofuse-401]}}
#pragma cofuse forall private(u) // expected-note {{requested by}}
    for (int i = 0; i < n; i++) {
      u = i;
      a[i] = u;
    }
  }
  return 0;
}

void carried(int n, double *a, int c) {
  double t = 0, u = 1;
#pragma cofuse forall private(t) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) {
    a[i] = t; // expected-warning {{'t' is private, but is read here before the iteration has set it; the plain program sees what another iteration left [cofuse-132]}}
    t = i;
  }
#pragma cofuse forall firstprivate(u) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) {
    u += a[i]; // expected-warning {{'u' is private, but is read here}}
    a[i] = u;
  }
#pragma cofuse forall private(t) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) {
    if (c)
      a[i] = t + 1; // expected-warning {{'t' is private, but is read here}}
    else
      t = 2;
  }
#pragma cofuse forall private(t)
  for (int i = 0; i < n; i++) {
    if (c)
      t = i;
    if (c)
      a[i] = t;
  }
}
