// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways to compile: dialects with every warning an error, PCH, pipes, preprocessed input, headers, sanitizers.
// RUN: %clang_cofuse -std=gnu99 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only %s
// RUN: %clang_cofuse -std=c99 -Weverything -Wno-unsafe-buffer-usage -Wno-declaration-after-statement -Wno-missing-prototypes -Wno-vla -Wno-sign-conversion -Wno-padded -Wno-unused-macros -Werror -fsyntax-only %s
// RUN: %clang_cofuse -std=c17 -Wall -Wextra -Wpedantic -Werror -O2 -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clang_cofuse -std=c23 -Wall -Wextra -Wpedantic -Werror -g -fsanitize=address,undefined -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clang_cofuse -S -emit-llvm -o - -xc - < %s | FileCheck %s
// RUN: cat %s | %clang_cofuse -S -emit-llvm -o - -xc /dev/stdin | FileCheck %s
// RUN: %clang_cofuse -E -o %t.i %s
// RUN: grep -c '#pragma cofuse' %t.i
// RUN: %clang_cofuse -S -emit-llvm -o - %t.i | FileCheck %s
// RUN: %clang_cofuse -save-temps=obj -c -o %t.o %s
// RUN: %clang_cofuse -x c-header -DHEADER -o %t.pch %s
// RUN: echo 'int main(void) { double x[3]; scale(3, x, 2); return 0; }' > %t.use.c
// RUN: %clang_cofuse -include-pch %t.pch -S -emit-llvm -o - %t.use.c | FileCheck --check-prefix=PCH %s
// RUN: %clang_cofuse --analyze -Xclang -analyzer-output=text %s
// RUN: %clang_cofuse -MD -MF %t.d -flto -c -o %t.o %s
// RUN: grep modes.c %t.d
// RUN: not %clang_cofuse -fplugin-arg-cofuse-nonsense -fsyntax-only %s 2>&1 | FileCheck --check-prefix=ARG %s
// RUN: %clang_cofuse -xc++ -fsyntax-only -w /dev/null
// PCH: define {{.*}}@scale(
// PCH: @cofuse_run
// ARG: unknown cofuse plugin argument 'nonsense'
// CHECK: define {{.*}}@heat(
// CHECK: call void @cofuse_store_(
// CHECK: call i32 @cofuse_run(
// CHECK: define {{.*}}@loops(
// CHECK: call i32 @cofuse_run(
#ifndef MODES_H
#define MODES_H
#define FORALL(v, n) _Pragma("cofuse forall") for (int v = 0; v < (n); v++)
static inline void scale(int n, double *x, double s) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] *= s;
}
#endif
#ifndef HEADER
extern void heat(int n, int m, double u[n][m], double v[n][m]);
void heat(int n, int m, double u[n][m], double v[n][m]) {
  double row[16];
#pragma cofuse store(u[0:n][0:m], v[0:n][0:m], row)
#pragma cofuse forall collapse(2) \
    name(stencil)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  FORALL(i, 16) row[i] = i;
  for (int i = 0; i < n; i++)
    u[0][i % m] = row[i % 16];
}
extern double loops(int n, double *a, const char *name);
double loops(int n, double *a, const char *name) {
  double s = 0;
  switch (n) {
  case 1:
#pragma cofuse store(a[0:n])
    break;
  default:
#pragma cofuse forall reduction(+ : s)
    for (int i = 0; i < n; i++)
      s += a[i];
    break;
  }
  if (n > 1)
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      a[i] = 0;
  else
    s = 1;
#pragma cofuse host reads(a[0:n])
  if (n > 2)
    return name[0];
#pragma cofuse flush
  scale(n, a, s);
  return s;
}
#endif
