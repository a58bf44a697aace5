// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages between devices: halos of which the host has written a part, halos that grow, parts from far away.
#include <stdio.h>
#include <stdlib.h>
static void show(const char *name, const double *a, int n) {
  unsigned long long h = 1469598103934665603u;
  for (int i = 0; i < n; i++) {
    union {
      double d;
      unsigned long long u;
    } v = {a[i]};
    h = (h ^ v.u) * 1099511628211u;
  }
  printf("%s %016llx %g\n", name, h, a[n / 2]);
}

/* The host writes rows at both sides of every border between two and between four ranks. */
static void borders(int n) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = b[i] = i % 17;
  for (int t = 0; t < 8; t++) {
#pragma cofuse forall
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.5 * a[i - 1] + 0.25 * a[i] + a[i + 1];
#pragma cofuse forall
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.5 * b[i - 1] + 0.25 * b[i] - b[i + 1];
    for (int q = 1; q < 4; q++) {
      a[q * n / 4] = t;
      a[q * n / 4 - 1 - t % 3] += q;
    }
  }
  show("borders", a, n);
#pragma cofuse release(a, b)
  free(a), free(b);
}

/* From step to step elements come from further away. */
static void wider(int n) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = b[i] = i * i % 31;
#define STEP(w)                                                                                              \
  _Pragma("cofuse forall") for (int i = w; i < n - w; i++) b[i] += a[i - w] - 2 * a[i + w];                  \
  _Pragma("cofuse forall") for (int i = w; i < n - w; i++) a[i] -= b[i - w] + b[i + w];
  STEP(1) STEP(1) STEP(2) STEP(5) STEP(3) STEP(17) STEP(1) show("wider", a, n);
#pragma cofuse release(a, b)
  free(a), free(b);
}

/* Many separate pieces of one array at once, in both directions, some of them written by the host before. */
static void pieces(int n) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = b[i] = i % 23 - 7;
  int m = n / 8;
  for (int t = 0; t < 5; t++) {
#pragma cofuse forall
    for (int i = 0; i < m; i++)
      b[i] = a[i + m] + 2 * a[i + 3 * m] - a[i + 5 * m] + 0.5 * a[i + 7 * m];
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      a[i] += b[n - 1 - i];
#pragma cofuse forall
    for (int i = 0; i < n / 2; i++)
      b[n / 2 + i] -= a[2 * i];
    for (int k = 1; k < 8; k += 2)
      a[k * m + t] = k;
  }
  show("pieces", a, n);
  show("pieces", b, n);
#pragma cofuse release(a, b)
  free(a), free(b);
}

/* The host writes the ends of every rank's part of four, so that what comes makes more parts
 * than are told apart. */
static void parts(int n) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  int m = n / 4, far = 3;
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = b[i] = i % 19;
  for (int t = 0; t < 4; t++) {
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      a[i] = 0.5 * b[i] + t;
#pragma cofuse flush
#define ENDS(q) a[q * m] = q, a[q * m + m - 1] = 2 * t
    ENDS(0), ENDS(1), ENDS(2), ENDS(3); /* one by one: a loop's guard would fetch all that lies between */
#pragma cofuse forall
    for (int i = far; i < n - far; i++)
      b[i] += a[i - far] - 2 * a[i + far];
  }
  show("parts", b, n);
#pragma cofuse release(a, b)
  free(a), free(b);
}

/* Every rank wants all of x, of which the host has written some. */
static void whole(int n) {
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  int *col = malloc(n * sizeof *col);
#pragma cofuse store(x[0 : n], y[0 : n], col[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++) {
    x[i] = i % 13;
    y[i] = 0;
    col[i] = (int)((long)i * 7919 % n);
  }
  for (int t = 0; t < 6; t++) {
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      y[i] += x[col[i]];
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      x[i] = 0.5 * x[i] + y[i];
    if (t % 2)
      for (int q = 0; q < 4; q++)
        x[q * n / 4 + t] = -t;
  }
  show("whole", x, n);
#pragma cofuse release(x, y, col)
  free(x), free(y), free(col);
}

/* More arrays than a device with little memory holds, each with halos. */
static void many(int n) {
  enum { ARRAYS = 12 };
  double *a[ARRAYS];
  for (int k = 0; k < ARRAYS; k++) {
    double *p = a[k] = malloc(n * sizeof *p);
#pragma cofuse store(p[0 : n])
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      p[i] = (i + k) % 11;
#pragma cofuse flush
  }
  for (int t = 0; t < 3; t++)
    for (int k = 0; k < ARRAYS; k++) {
      double *p = a[k], *q = a[(k + 5) % ARRAYS], *r = a[(k + 7) % ARRAYS];
#pragma cofuse forall
      for (int i = 2; i < n - 2; i++)
        p[i] += q[i - 2] - r[i + 2] + q[i + 1];
#pragma cofuse flush
    }
  for (int k = 0; k < ARRAYS; k++) {
    double *p = a[k];
    show("many", p, n);
#pragma cofuse release(p)
    free(p);
  }
}

int main(void) {
  borders(400);
  wider(400);
  pieces(400);
  parts(400);
  whole(400);
  many(1500);
}
