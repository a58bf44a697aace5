// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -Rpass: what became a task; -Rpass-missed: what did not; -Rpass-analysis: what costs time.
// RUN: %clang_cofuse -w -fsyntax-only -Rpass=cofuse -Rpass-missed=cofuse -Rpass-analysis=cofuse -Xclang -verify %s
int ext(int);
double f(int n, double *a, int *at, double *x) {
  double sum = 0, scratch[n], table[7] = {1}, t = 0;
#pragma cofuse store(t)
#pragma cofuse forall // expected-remark {{1-dimensional index task with 2 accesses, 0 scalars, 0 reductions}}
  for (int i = 0; i < n; i++)
    scratch[i] = a[i]; // expected-remark {{'scratch[i]' is written and is no store: every rank runs the whole loop}}
#pragma cofuse forall // expected-remark {{index task with 4 accesses}}
  for (int i = 0; i < n; i++)
    a[i] = table[i % 7] + x[at[i]]; // expected-remark {{'x[at[i]]' has a subscript that depends on data: every rank needs the whole array}}
#pragma cofuse forall // expected-remark {{index task with 2 accesses}}
  for (int i = 0; i < n; i++)
    x[at[i]] = i; // expected-remark {{'x[at[i]]' is written through a subscript that depends on data: the loop runs serially}}
#pragma cofuse forall // expected-remark {{index task with 3 accesses}}
  for (int i = 0; i < n; i++)
    for (int k = 0; k < at[i]; k++)
      a[k] = x[k]; // expected-remark {{'a[k]' is written in an inner loop whose bounds depend on data: the loop runs serially}} expected-remark {{'x[k]' is read in an inner loop whose bounds depend on data: every rank needs the whole array}}
#pragma cofuse forall reduction(+ : sum, t) // expected-remark {{1-dimensional index task with 1 accesses, 0 scalars, 2 reductions}} expected-remark {{the result in 'sum', which is no store, is needed right after the loop: tasks that wait are run}}
  for (int i = 0; i < n; i++) {
    sum += a[i];
    t += a[i];
  }
#pragma cofuse forall // expected-remark {{runs as plain code: call of 'ext', whose body is not visible and which is no known pure function [cofuse-116]}}
  for (int i = 0; i < n; i++)
    a[i] = ext(i);
#pragma cofuse task // expected-remark {{task with 1 accesses, 0 scalars, 0 reductions}}
  t = 2;
  return sum + scratch[0];
}
