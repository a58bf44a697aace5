// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Valid C that does not become a task: a warning at the cause, and the plain loop.
// RUN: %clang_cofuse -fsyntax-only -Xclang -verify %s
// RUN: %clang_cofuse -fsyntax-only -Wno-pass-failed -Werror %s
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#define D _Pragma("cofuse forall")
int ext(int);
struct s {
  int n : 4;
  double *u;
  volatile double vol;
};
static int rec(int x) { return x ? rec(x - 1) : 0; }
static double hidden;
static double uses_hidden(double x) { return x + hidden; }
static void nested(int n, double *a) {
#pragma cofuse forall
  for (int i = 0; i < n; i++) a[i] = 0;
}
static double shared;
static double peek(void) { return shared; }

void f(int n, double *a, double *b, double **pp, struct s *q, long double *l, _Complex long double *z) {
  int t = 0, j;
  double m = 0;
#pragma cofuse forall // expected-note {{requested by this directive}}
  for (int i = 0; i < n; i++) a[i] = ext(i); // expected-warning {{call of 'ext', whose body is not visible and which is no known pure function [cofuse-116]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) printf("%d", i); // expected-warning {{call of 'printf'}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { a[i] = t; t = i; } // expected-warning {{'t' is declared outside the loop and written in it; make it private, a reduction or a local [cofuse-104]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++)
    for (j = 0; j < 3; j++) a[i] += j; // expected-warning {{'j' is declared outside the loop}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 1; i < n; i *= 2) a[i] = 0; // expected-warning {{the loop must change its counter by a loop-invariant amount towards the bound [cofuse-103]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i--) a[i] = 0; // expected-warning {{[cofuse-103]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (double *p = a; p < a + n; p++) *p = 0; // expected-warning {{[cofuse-101]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; a[i] > 0; i++) a[i] = 0; // expected-warning {{[cofuse-102]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < ext(n); i++) a[i] = 0; // expected-warning {{loop bounds must be free of side effects and calls [cofuse-126]}}
#pragma cofuse forall collapse(2) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { a[i] = 0; for (int j = 0; j < n; j++) b[j] = 0; } // expected-warning {{collapse(2) needs perfectly nested loops [cofuse-108]}}
#pragma cofuse forall collapse(2) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) b[j] = 0; // expected-warning {{collapsed loop bounds depend on an outer counter [cofuse-107]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { if (a[i] < 0) break; } // expected-warning {{'break' leaves the parallel construct [cofuse-110]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { if (a[i] < 0) return; } // expected-warning {{'return' leaves}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { if (a[i] < 0) goto out; } // expected-warning {{'goto' leaves}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { i += 2; a[i] = 0; } // expected-warning {{loop counter 'i' is modified in the loop body [cofuse-105]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { n--; a[i] = 0; } // expected-warning {{[cofuse-106]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) a[i] = (i ? a : b)[0]; // expected-warning {{the base of this access is not a loop-invariant pointer or array [cofuse-120]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) q->vol = i; // expected-warning {{volatile and atomic objects cannot be used in a task [cofuse-114]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) a[i] = q->n; // expected-warning {{bit-field 'n' cannot be used in a task [cofuse-119]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) l[i] = 1; // expected-warning {{type 'long double' is not supported in a task [cofuse-113]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) z[i] *= 2; // expected-warning {{type '_Complex long double' is not supported in a task [cofuse-113]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { static int c; a[i] = c++; } // expected-warning {{static local 'c' cannot be used in a task [cofuse-115]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { a[i] = 0; __asm__(""); } // expected-warning {{this kind of statement (GCCAsmStmt) cannot be part of a task [cofuse-111]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) a[i] = rec(i); // expected-warning@15 {{recursive call of 'rec' [cofuse-117]}}
  {
    int hidden = 2;
#pragma cofuse forall // expected-note {{requested by}}
    for (int i = 0; i < hidden; i++) a[i] = uses_hidden(i); // expected-warning@17 {{'hidden', used by a called function, is not visible at the directive [cofuse-124]}}
  }
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) nested(n, a); // expected-warning {{'nested' contains cofuse directives itself [cofuse-118]}}
#pragma cofuse forall reduction(+ : m) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) m *= a[i]; // expected-warning {{reduction variable 'm' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : m) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) a[i] = m += a[i]; // expected-warning {{[cofuse-201]}}
#pragma cofuse forall reduction(max : m) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) m = m > a[i] ? m : a[i]; // expected-warning {{[cofuse-202]}}
#pragma cofuse forall reduction(max : m) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) if (a[i] < m) m = a[i]; // expected-warning {{[cofuse-201]}}
#pragma cofuse forall reduction(+ : b[0:2][0:n]) // expected-warning {{reduction target 'b' must be a scalar variable, an element with invariant subscript or a section of an array that the loop does not change [cofuse-203]}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[i % 3] += a[i];
#pragma cofuse forall reduction(+ : b[0:n], b[1]) // expected-warning {{reduction target 'b[1]' must be}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[i % 3] += a[i];
#pragma cofuse forall reduction(+ : b[0:n]) // expected-warning {{reduction target 'b' must be}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) { b[i % 3] += a[i]; b++; }
#pragma cofuse forall reduction(+ : m[0:n]) // expected-warning {{reduction target 'm' must be}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) m += a[i];
#pragma cofuse forall reduction(& : b[0:n]) // expected-warning {{reduction operator '&' does not apply to type 'double' [cofuse-204]}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[i % 3] += a[i];
#pragma cofuse forall reduction(+ : q[0:n]) // expected-warning {{reduction operator '+' does not apply to type}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) q[i % 3].n += a[i];
#pragma cofuse forall reduction(+ : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[i % 3] *= a[i]; // expected-warning {{reduction variable 'b' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { b[i % 3] += 1; a[i] = b[0]; } // expected-warning {{reduction variable 'b' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[i % 3] = b[(i + 1) % 3] + 1; // expected-warning {{reduction variable 'b' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) b[(int)b[0]] += 1; // expected-warning {{reduction variable 'b' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(max : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) if (a[i] > b[i % 3]) b[i % 2] = a[i]; // expected-warning {{reduction variable 'b' may only be updated with operator 'max' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : b[0:n]) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { double *p = b; p[i % 3] += 1; } // expected-warning {{reduction variable 'b' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall reduction(+ : shared) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) { shared += a[i]; b[i] = peek(); } // expected-warning@23 {{reduction variable 'shared' may only be updated with operator '+' here [cofuse-201]}}
#pragma cofuse forall collapse(7) // expected-note {{requested by}}
  for (int i = 0; i < n; i++) // expected-warning {{more than 6 collapsed loops [cofuse-109]}}
    for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) for (int l = 0; l < n; l++)
      for (int o = 0; o < n; o++) for (int p = 0; p < n; p++) for (int r = 0; r < n; r++) a[r] = 0;
#pragma cofuse forall reduction(& : m) // expected-warning {{reduction operator '&' does not apply to type 'double' [cofuse-204]}} expected-note {{requested by}}
  for (int i = 0; i < n; i++) m += a[i];
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1; // expected-warning {{iterations are not independent: 'a[i]' is written and 'a[i - 1]' is the same element in another iteration [cofuse-301]}} expected-note {{the other access is here}}
  D for (int i = 0; i < n; i++) a[i] = ext(i); // expected-warning {{[cofuse-116]}} expected-note {{requested by}}
#pragma cofuse task // expected-note {{requested by}}
  a[0] = ext(1); // expected-warning {{[cofuse-116]}}
  {
#pragma STDC FENV_ACCESS ON
#pragma cofuse forall // expected-note {{requested by}}
    for (int i = 0; i < n; i++) a[i] = a[i] + 1; // expected-warning {{[cofuse-122]}}
  }
out:
  return;
}
