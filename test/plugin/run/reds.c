// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Reductions. Values are chosen so that every order of combination gives the same bits.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { N = 100 };
static double a[N], b[N];
static int k[N];
static unsigned q[N];
static long total = 5;
struct acc {
  double sum;
  int n;
};

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = i * 3 % 17 - 8;
    b[i] = i % 7 == 3 ? NAN : i * 5 % 11;
    k[i] = i * 7 % 13;
    q[i] = ~(1u << (i % 30));
  }
  double s = 1, p = 2, mx = -1e30, mn = 1e30, fx = -1, fn = 50;
  int cnt = 0, land = 1, lor = 0, imax = -100, imin = 100;
  unsigned ba = ~0u, bo = 0, bx = 0;
  bool any = false;
  struct acc A = {0, 0}, *pa = &A;
  double out[2] = {10, 20};
#pragma cofuse store(a, b, k, q)
#pragma cofuse forall reduction(+ : s, cnt, total) reduction(max : mx, fx) reduction(min : mn, fn)
  for (int i = 0; i < N; i++) {
    s += a[i] * 2;
    if (a[i] > 3)
      cnt++;
    total = total - k[i];
    if (b[i] > mx)
      mx = b[i];
    mn = mn > b[i] ? b[i] : mn;
    fx = fmax(fx, b[i]);
    fn = fmin(b[i], fn);
  }
  printf("%g %d %ld %g %g %g %g\n", s, cnt, total, mx, mn, fx, fn);
#pragma cofuse forall reduction(* : p) reduction(& : ba) reduction(| : bo) reduction(^ : bx)
  for (int i = 0; i < N; i++) {
    p *= a[i] > 0 ? 1 : -1;
    ba &= q[i];
    bo = bo | (q[i] >> 3);
    bx = q[i] ^ bx;
  }
  printf("%g %x %x %x\n", p, ba, bo, bx);
#pragma cofuse forall reduction(&& : land) reduction(|| : lor, any) reduction(max : imax) reduction(min : imin)
  for (int i = 0; i < N; i++) {
    land = land && a[i] > -8;
    lor = k[i] == 12 || lor;
    any = any || k[i] > 100;
    imax = imax > k[i] ? imax : k[i];
    if (imin >= k[i]) {
      imin = k[i];
    }
  }
  printf("%d %d %d %d %d\n", land, lor, any, imax, imin);
#pragma cofuse forall reduction(+ : pa->sum, A.n, out[1])
  for (int i = 0; i < N; i++) {
    pa->sum += a[i];
    A.n += k[i] & 1;
    for (int j = 0; j < 3; j++)
      out[1] += j;
  }
  printf("%g %d %g\n", A.sum, A.n, out[1]);
  return 0;
}
