// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Malformed directives are errors, at the token that is wrong.
// RUN: %clang_cofuse -fsyntax-only -ferror-limit=0 -Xclang -verify %s
#pragma cofuse flush // expected-error {{'#pragma cofuse flush' is not allowed here}}

void f(int n, double *a, double *b) {
  double s = 0, t[10];
#pragma cofuse // expected-error {{unknown '#pragma cofuse' directive '' [cofuse-001]}}
#pragma cofuse stroe(a[0:n]) // expected-error {{unknown '#pragma cofuse' directive 'stroe' [cofuse-001]}}
#pragma cofuse store(a[0:m]) // expected-error {{use of undeclared identifier 'm'}}
#pragma cofuse store(a) // expected-error {{'a' is a pointer: give its extents, as in 'a[0:n]' [cofuse-011]}}
#pragma cofuse store(a[0:n] // expected-error {{expected ',' or ')' in '#pragma cofuse store' [cofuse-003]}}
#pragma cofuse store(a[0:]) // expected-error {{expected the length of the array section}}
#pragma cofuse store(t[0:10][0:2]) // expected-error {{has only 1 dimensions that can take a section [cofuse-017]}}
#pragma cofuse store(a[0:s]) // expected-error {{expected integers as bounds of the section}}
#pragma cofuse store(n + 1) // expected-error {{is not an array, a pointer with extents or a scalar variable}}
#pragma cofuse store(a[0:1][0:1][0:1][0:1][0:1][0:1][0:1]) // expected-error {{a store has at most 6 extents}}
#pragma cofuse store(t) undefined fast // expected-error {{unknown clause 'fast' on '#pragma cofuse store' [cofuse-002]}}
#pragma cofuse flush now // expected-error {{extra tokens at end of '#pragma cofuse flush' [cofuse-004]}}
#pragma cofuse forall
  a[0] = 1; // expected-error {{expected a for loop after '#pragma cofuse forall' [cofuse-006]}}
#pragma cofuse forall collapse(0) // expected-error {{'collapse' needs a positive integer constant [cofuse-005]}}
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma cofuse forall collapse(n) // expected-error {{'collapse' needs a positive integer constant [cofuse-005]}}
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma cofuse forall reduction(/ : s) // expected-error {{unknown reduction operator '/' [cofuse-013]}}
  for (int i = 0; i < n; i++) s += a[i];
#pragma cofuse forall reduction(+ s) // expected-error {{expected ':' after the operator}}
  for (int i = 0; i < n; i++) s += a[i];
#pragma cofuse forall reduction(+: q) // expected-error {{use of undeclared identifier 'q'}}
  for (int i = 0; i < n; i++) s += a[i];
#pragma cofuse forall private(a) // expected-error {{'a' must be a variable of arithmetic type in clause 'private' [cofuse-014]}}
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma cofuse forall if(n) if(n) // expected-error {{clause 'if' is given twice [cofuse-015]}}
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma cofuse forall schedule(static) // expected-error {{unknown clause 'schedule' on '#pragma cofuse forall' [cofuse-002]}}
  for (int i = 0; i < n; i++) a[i] = 0;
  if (n)
#pragma cofuse flush // expected-error {{'#pragma cofuse flush' is not allowed here}}
    b[0] = 1;
}

double g(int n) {
  if (n == 3)
    goto late;
  double t[10];
#pragma cofuse store(t) // expected-error {{a jump enters the scope of automatic array 't' past this directive}}
  t[0] = n;
  return t[0];
late:
  return 1;
}

double h(int n) {
  switch (n) {
  case 1:;
    double t[10];
    t[0] = 1;
#pragma cofuse store(t) // expected-error {{a jump enters the scope of automatic array 't' past this directive}}
    return t[0];
  default:
    return 2;
  }
}
