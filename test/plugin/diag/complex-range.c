// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex operations that cannot be computed as the plain build computes them are refused.
// RUN: %clang_cofuse -fsyntax-only -fcomplex-arithmetic=promoted -Xclang -verify %s
// RUN: %clang_cofuse -w -fsyntax-only -Rpass=cofuse %s 2>&1 | FileCheck -check-prefix=FULL %s
// RUN: %clang_cofuse -w -fsyntax-only -ffast-math -Rpass=cofuse %s 2>&1 | FileCheck -check-prefix=FULL %s
void f(int n, _Complex double *z) {
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) z[i] *= z[i]; // expected-warning {{complex multiplication in this mode or for this target cannot be computed exactly as the plain build does [cofuse-129]}}
#pragma cofuse forall // expected-note {{requested by}}
  for (int i = 0; i < n; i++) z[i] = 1 / z[i]; // expected-warning {{complex division in this mode}}
#pragma cofuse forall
  for (int i = 0; i < n; i++) z[i] += 1;
}
// FULL-COUNT-3: 1-dimensional index task
