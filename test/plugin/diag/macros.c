// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caret of a refusal is on its cause, also in a macro and in a header.
// RUN: %clang_cofuse -fsyntax-only -I %S/../Inputs %s 2>&1 | FileCheck -strict-whitespace %s
#include "refused.h"
int ext(int);
#define CALL(x) ext(x)
#define LOOP(n, stmt) \
  _Pragma("cofuse forall") for (int i = 0; i < n; i++) stmt;
#define FILL(a, n) LOOP(n, a[i] = CALL(i))
#define NEXT i = i + 1

void f(int n, double *a) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = 2 * CALL(i);
  // CHECK: macros.c:15:16: warning: call of 'ext', whose body is not visible and which is no known pure function [cofuse-116]
  // CHECK-NEXT:{{^}}   15 |     a[i] = 2 * CALL(i);
  // CHECK-NEXT:{{^}}      |                ^{{$}}
  // CHECK-NEXT: macros.c:6:17: note: expanded from macro 'CALL'
  // CHECK-NEXT:{{^}}    6 | #define CALL(x) ext(x)
  // CHECK-NEXT:{{^}}      |                 ^{{$}}
  // CHECK-NEXT: macros.c:13:1: note: requested by this directive
  LOOP(n, a[i] = ext(i))
  // CHECK: macros.c:23:18: warning: call of 'ext'
  // CHECK-NEXT:{{^}}   23 |   LOOP(n, a[i] = ext(i))
  // CHECK-NEXT:{{^}}      |                  ^{{$}}
  // CHECK-NEXT: macros.c:23:3: note: requested by this directive
  // CHECK: macros.c:8:3: note: expanded from macro 'LOOP'
  FILL(a, n)
  // CHECK: macros.c:29:3: warning: call of 'ext'
  // CHECK: macros.c:9:35: note: expanded from macro 'FILL'
  // CHECK: macros.c:6:17: note: expanded from macro 'CALL'
  // CHECK: note: requested by this directive
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    a[i] = from_header(i);
    // CHECK: refused.h:4:14: warning: static local 'calls' cannot be used in a task [cofuse-115]
    // CHECK: macros.c:34:1: note: requested by this directive
  }
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    NEXT;
  // CHECK: macros.c:42:5: warning: loop counter 'i' is modified in the loop body [cofuse-105]
  // CHECK: macros.c:10:16: note: expanded from macro 'NEXT'
}
// CHECK-NOT: warning:
