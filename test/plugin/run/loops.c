// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: runtime
// RUN: %compare -O0
// RUN: %compare -O2
// RUN: %compare -O2 -march=native
// RUN: %compare -O1 -ffp-contract=off -fwrapv
// Trip counts, counter types and final counter values follow C exactly.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 64 };
static int a[N * N];
static void show(const char *what, long last) {
  unsigned long h = 14695981039346656037UL;
  for (int i = 0; i < N * N; i++)
    h = (h ^ (unsigned)a[i]) * 1099511628211UL;
  printf("%-12s %016lx %ld\n", what, h, last);
  memset(a, 0, sizeof a);
}
struct world {
  int n, step;
  unsigned u;
  size_t z;
};

int main(void) {
  struct world w = {50, 3, 40, 33}, *p = &w;
  int lo = 3, hi = 47, s = 7, down = -5;
  unsigned ulo = 5, uhi = 60;
  size_t zn = 20;
#pragma cofuse store(a)
  {
    int i, j;
#pragma cofuse forall
    for (i = 0; i < p->n; i++)
      a[i] = i;
    show("lt", i);
#pragma cofuse forall
    for (i = lo; i <= hi; i += s)
      a[i] += i + 1;
    show("le step", i);
#pragma cofuse forall
    for (i = hi; i > lo; i--)
      a[i] = 2 * i;
    show("gt", i);
#pragma cofuse forall
    for (i = hi; i >= 0; i += down)
      a[i] = 3 * i;
    show("ge down", i);
#pragma cofuse forall
    for (i = 1; i != 10; ++i)
      a[i] = i;
    show("ne", i);
#pragma cofuse forall
    for (i = 20; i != 2; i -= 3)
      a[i] = i;
    show("ne step", i);
#pragma cofuse forall
    for (i = 10; i < lo; i++)
      a[i] = 1;
    show("empty", i);
#pragma cofuse forall
    for (i = 0; hi > i; i = i + p->step)
      a[i] = i;
    show("swapped", i);
#pragma cofuse forall
    for (i = -1; i < zn; i++)
      a[i + 1] = 9;
    show("wraps", i);
#pragma cofuse forall collapse(2)
    for (i = 0; i < lo; i++)
      for (j = hi; j > 0; j -= 4)
        a[i * N + j] = i - j;
    show("collapse", 1000L * i + j);
    j = -7;
#pragma cofuse forall collapse(2)
    for (i = 0; i < 0; i++)
      for (j = 0; j < 4; j++)
        a[i * N + j] = i - j;
    show("outer empty", 1000L * i + j);
#pragma cofuse forall collapse(2)
    for (i = 0; i < 5; i++)
      for (j = 0; j < 0; j++)
        a[i * N + j] = i - j;
    show("inner empty", 1000L * i + j);
  }
  {
    unsigned u;
    unsigned char c;
    short h;
    int64_t q;
    size_t z;
#pragma cofuse forall
    for (u = ulo; u < uhi; u += 2)
      a[u - 5] = u;
    show("unsigned", u);
#pragma cofuse forall
    for (u = 1; u < p->u; u++)
      a[u] = u - 2u > 10u;
    show("unsigned2", u);
#pragma cofuse forall
    for (c = 250; c > 3; c -= 11)
      a[c] = c;
    show("uchar", c);
#pragma cofuse forall
    for (h = -20; h <= 20; h += 3)
      a[h + 20] = h;
    show("short", h);
#pragma cofuse forall
    for (q = 40; q >= 0; q -= 2)
      a[q] = (int)q;
    show("int64", q);
#pragma cofuse forall
    for (z = 0; z < p->z; z++)
      a[z * 2] = (int)z;
    show("size_t", z);
#pragma cofuse forall
    for (z = zn; z > 0; z--)
      a[z - 1] = (int)z;
    show("size_t down", z);
  }
#pragma cofuse forall if (zn > 100)
  for (int i = 0; i < 10; i++)
    a[i] = i;
  show("if false", 0);
#pragma cofuse forall if (zn > 10) name(named) nowait
  for (int i = 0; i < 10; i++)
    a[i] = i;
  show("if true", 0);
  for (int k = 0; k < 3; k++) {
    if (k == 1)
#pragma cofuse forall
      for (int i = 0; i < 10; i++)
        a[i] = k;
    else
      a[k] = -1;
  }
  show("dangling", 0);
  int i = 5; // shadowed by the counter
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] += i;
  show("shadow", i);
  return 0;
}
