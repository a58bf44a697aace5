// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A task on a declaration is no statement: without the plugin the program is valid, with it this is an error.
// RUN: not %clang_cofuse -fsyntax-only %s 2>&1 | FileCheck %s
// CHECK: unfit.c:[[#@LINE+3]]:{{.*}}error: a '#pragma cofuse' directive does not fit here
double f(double *a) {
#pragma cofuse task
  double x = a[0] / a[1];
  return x;
}
