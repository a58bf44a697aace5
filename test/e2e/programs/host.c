// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain C between the loops: elements, library calls, free and reuse, jumps, callbacks, pointer games.
#include "show.h"
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>

enum { N = 150 };
static double *ramp(int n, double lo, double step) {
  double *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++)
    x[i] = lo + step * i;
  return x;
}
static void twice(double *x, int n) {
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    x[i] = x[i] * 2 + i;
}
static void blur(double *to, const double *from, int n) {
#pragma cofuse forall
  for (int i = 1; i < n - 1; i++)
    to[i] = from[i - 1] + from[i] + from[i + 1];
}

static void elements(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 0, 0), s = 0;
#pragma cofuse store(x[0 : N], y[0 : N])
  for (int it = 0; it < 4; it++) {
    twice(x, N);
    x[it] = x[N - 1 - it];
    blur(y, x, N);
    y[0] = y[N - 2], y[N - 1] = y[1];
    s += y[N / 2];
    if (y[3] > 100)
      y[3]++;
    twice(y, N);
    x[it * 7 + 1] += y[it] > x[it] ? 1 : x[it + 1];
  }
  double *p = x + 5;
  *p++ = 7, *p-- = 8;
  p[-2] -= p[2];
  show_num("s", s), show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

static void loops(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 0, 0), s = 0;
#pragma cofuse store(x[0 : N], y[0 : N])
  twice(x, N);
  for (int i = 0; i < N; i++)
    if (x[i] > 60) {
      s = i;
      break;
    }
  blur(y, x, N);
  for (int i = 1; i < N; i++)
    y[i] += y[i - 1] / 2;
  twice(y, N);
  for (double *p = y, *e = y + N; p < e; p += 3)
    s += *p;
  int i = 0;
  while (x[i] < 50)
    x[i++] = -1;
  twice(x, 70);
  do
    s += x[--i];
  while (i > 4);
  for (int k = N - 1; k >= 0; k -= 5)
    x[k] = y[k];
  twice(x, N);
  for (unsigned k = 0; k < N; k = 2 * k + 1)
    s += x[k];
  blur(x, y, N);
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 15; b++)
      x[a * 15 + b] += y[b * 10 + a];
  show_num("s", s), show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x > y ? -1 : x < y;
}
static void library(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 0, 0), key = 21;
  char *text = malloc(64);
#pragma cofuse store(x[0 : N], y[0 : N], text[0 : 64])
  twice(x, N);
  memcpy(y, x, N * sizeof *y);
  twice(y, N);
  memmove(y + 3, y, 50 * sizeof *y);
  memset(x + 10, 0, 20 * sizeof *x);
  blur(y, x, N);
  qsort(y, N, sizeof *y, by_value);
  twice(x, N);
  double *hit = bsearch(&key, y, N, sizeof *y, by_value);
  printf("%s %d %d\n", case_name, hit ? (int)(hit - y) : -1, memcmp(x, y, N * sizeof *x) > 0);
#pragma cofuse forall
  for (int i = 0; i < 64; i++)
    text[i] = i < 40 ? 'a' + i % 26 : 0;
  printf("%s %zu %s\n", case_name, strlen(text), text);
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    text[i] ^= 32;
  puts(text);
  sprintf(text, "%g %g", x[3], y[4]);
  printf("%s %s %.*s\n", case_name, text, 3, text + 1);
  char other[64];
  strcpy(other, text);
  strncat(text, "!", 3);
  sscanf("17 18.5", "%*d %lf", x + 2);
  twice(x, N);
  printf("%s %g %c\n", case_name, x[2], toupper(text[0] + 'a' - '0'));
  show_f64("x", x, N), show_f64("y", y, N), show("text", text, 64), show("other", other, strlen(other));
  free(x), free(y), free(text);
}

static void files(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 0, 0);
  char name[] = "/tmp/cofuse-host-XXXXXX";
  FILE *f = tmpfile();
  (void)name;
#pragma cofuse store(x[0 : N], y[0 : N])
  twice(x, N);
  size_t n = fwrite(x, sizeof *x, N, f);
  twice(x, N);
  rewind(f);
  n += fread(y + 1, sizeof *y, N - 1, f);
  twice(y, N);
  n += fseek(f, 80, SEEK_SET) == 0;
  n += fread(x, sizeof *x, 7, f);
  fclose(f);
  twice(x, N);
  fwrite(x, 1, 0, stdout);
  show_num("n", (double)n), show_f64("x", x, N), show_f64("y", y, N);
  free(x), free(y);
}

static void reallocs(void) {
  double *x = ramp(N, 0, 1);
#pragma cofuse store(x[0 : N])
  twice(x, N);
  x = realloc(x, 3 * N * sizeof *x);
  for (int i = N; i < 3 * N; i++)
    x[i] = i;
  twice(x, 3 * N); /* no store any more */
#pragma cofuse store(x[0 : 3 * N])
  twice(x, 3 * N);
  x = realloc(x, 40 * sizeof *x);
#pragma cofuse store(x[0 : 40])
  twice(x, 40);
  show_f64("x", x, 40);
  x = realloc(x, 0), x = x ? x : realloc(NULL, 8);
  *x = 4;
#pragma cofuse store(x[0 : 1])
  twice(x, 1);
  show_f64("x1", x, 1);
  free(x);
}

/* The allocator hands out the same address again while tasks are pending. */
static void reuse(void) {
  double *acc = ramp(N, 0, 0);
#pragma cofuse store(acc[0 : N])
  for (int it = 0; it < 12; it++) {
    double *t = malloc(N * sizeof *t);
#pragma cofuse store(t[0 : N])
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      t[i] = i * it;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      acc[i] += t[i];
    free(t);
    int *u = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
      u[i] = -i;
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      acc[i] += u[i];
    if (it % 3 == 0) {
#pragma cofuse store(u[0 : 2 * N])
#pragma cofuse forall
      for (int i = 0; i < 2 * N; i++)
        u[i] = i & 3;
#pragma cofuse forall
      for (int i = 0; i < N; i++)
        acc[i] += u[2 * i];
    }
    memset(u, 0x55, N * sizeof *u);
    free(u);
    free(NULL);
  }
  show_f64("acc", acc, N);
  free(acc);
}

static void swap(void) {
  double *a = ramp(N, 0, 1), *b = ramp(N, 5, 0), *first = a;
#pragma cofuse store(a[0 : N], b[0 : N])
  for (int it = 0; it < 9; it++) {
    blur(b, a, N);
    double *t = a;
    a = b, b = t;
    if (it % 4 == 3)
      a[0] += b[N - 1];
  }
  show("first", &(int){first == b}, sizeof(int)), show_f64("a", a, N), show_f64("b", b, N);
  free(a), free(b);
}

static void tables_of_pointers(void) {
  enum { ROWS = 6 };
  double **rows = malloc(ROWS * sizeof *rows), *stack[3];
  for (int r = 0; r < ROWS; r++) {
    rows[r] = ramp(N, r, 1);
#pragma cofuse store(rows[r][0 : N])
  }
  for (int r = 1; r < ROWS; r++) {
    double *to = rows[r], *from = rows[r - 1];
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      to[i] += from[N - 1 - i];
#pragma cofuse forall
    for (int i = 0; i < N; i++)
      rows[r][i] -= rows[0][i] * 0.5;
  }
  rows[2][7] = rows[3][8];
  for (int r = 0; r < 3; r++)
    stack[r] = rows[ROWS - 1 - r];
  double s = 0;
  for (int r = 0; r < 3; r++) {
    twice(stack[r], N);
    for (int i = 0; i < N; i += 10)
      s += stack[r][i] + (*(rows + r))[i];
  }
  double *save = rows[1];
  rows[1] = NULL;
  twice(save, N);
#pragma cofuse forall
  for (int r = 0; r < ROWS; r += 2)
    for (int i = 0; i < N; i++)
      rows[r][i] += 1; /* the base varies */
  rows[1] = save;
  show_num("s", s);
  for (int r = 0; r < ROWS; r++)
    show_f64("row", rows[r], N), free(rows[r]);
  free(rows);
}

static void apply(double *x, int n, double (*f)(double)) {
  for (int i = 0; i < n; i++)
    x[i] = f(x[i]);
}
static double third(double v) { return v / 3; }
static double sum_of(int count, ...) {
  va_list ap;
  va_start(ap, count);
  double s = 0;
  for (int i = 0; i < count; i++) {
    double *p = va_arg(ap, double *);
    s += p[1] + *p;
  }
  va_end(ap);
  return s;
}
static double recurse(double *x, int n) {
  if (n < 2)
    return x[0];
  twice(x, n / 2);
  return recurse(x, n / 2) + recurse(x + n / 2, n - n / 2) + x[n - 1];
}
static void calls(void) {
  double *x = ramp(N, 0, 1);
#pragma cofuse store(x[0 : N])
  twice(x, N);
  apply(x, N, third);
  twice(x, N);
  double s = sum_of(3, x, x + 50, x + N - 2);
  s += recurse(x, N);
  show_num("s", s), show_f64("x", x, N);
  free(x);
}

static int step(double *x, int state) {
  int spins = 0;
again:
  twice(x, N);
  switch (state) {
  case 0:
    x[0] += 1;
    state = x[1] > 5 ? 3 : 2;
    goto again;
  case 1:
    return (int)x[2];
  case 2:
    x[3] = x[4];
    /* fall through */
  case 3:
    if (spins++ < 2)
      goto again;
    state = 1;
    goto again;
  }
  return -1;
}
static jmp_buf env;
static double jump_data[N];
static void leap(int depth) {
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    jump_data[i] += depth;
  if (depth == 0)
    longjmp(env, 5);
  leap(depth - 1);
}
static void jumps(void) {
  static int tries;
  for (int i = 0; i < N; i++)
    jump_data[i] = i;
#pragma cofuse store(jump_data)
  int got = step(jump_data, 0);
  show("got", &got, sizeof got);
  int code = setjmp(env);
  if (tries++ < 3)
    leap(3);
  twice(jump_data, N);
  show("code", &code, sizeof code);
  show_f64("data", jump_data, N);
}

static double automatic(int n, int k) {
  double a[n], b[40], s = 0;
  for (int i = 0; i < n; i++)
    a[i] = i + k;
#pragma cofuse store(a, b)
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    b[i] = a[i % 8] + i;
  if (k % 5 == 2)
    return b[3];
#pragma cofuse forall
  for (int i = 0; i < 40; i++)
    b[i] *= 2;
  for (int i = 0; i < 3; i++) {
    double c[10];
    if (k == i)
      continue;
#pragma cofuse store(c)
#pragma cofuse forall
    for (int j = 0; j < 10; j++)
      c[j] = b[j + i] + k;
    if (k == 6)
      break;
    s += c[9];
    if (k == 7 && i == 1)
      goto done;
  }
done:
  return s + b[39];
}
static void frames(void) {
  double s = 0;
  for (int k = 0; k < 20; k++) {
    s += automatic(8 + k, k);
    volatile char noise[300];
    memset((void *)noise, k, sizeof noise);
  }
  show_num("s", s);
}

static double table[N];
static void statics(void) {
  static double kept[N];
  static int calls;
#pragma cofuse store(table, kept)
  twice(table, N);
  blur(kept, table, N);
  calls++;
  kept[0] = calls;
  if (calls < 4)
    statics();
  else
    show_f64("table", table, N), show_f64("kept", kept, N);
}

static void directives(void) {
  double *x = ramp(N, 0, 1), *y = ramp(N, 1, 1), s = 0;
#pragma cofuse store(x[0 : N], y[0 : N])
  twice(x, N);
#pragma cofuse flush
  blur(y, x, N);
#pragma cofuse update(x, y[2 : 10])
  s = x[1] + y[5];
  twice(y, N);
#pragma cofuse host reads(x) writes(y)
  {
    y[1] = x[2];
    memcpy(y + 4, x, 3 * sizeof *x);
  }
  twice(y, N);
#pragma cofuse host
  x[7] = y[7];
#pragma cofuse host writes(x[0 : 4])
  for (int i = 0; i < 4; i++)
    x[i] = 1;
  twice(x, N);
#pragma cofuse flush
#pragma cofuse flush
  show_f64("x", x, N), show_f64("y", y, N);
#pragma cofuse release(x)
  memset(x, 0, N * sizeof *x);
  twice(x, N);
#pragma cofuse store(x[0 : N])
#pragma cofuse store(x[0 : N])
  twice(x, N);
#pragma cofuse release(x, y)
  for (int i = 0; i < N; i++)
    x[i] = i;
#pragma cofuse store(x[0 : N / 2]) undefined
#pragma cofuse forall
  for (int i = 0; i < N / 2; i++)
    x[i] = -i;
  show_f64("x", x, N);
#pragma cofuse store(y[0 : N])
  for (int i = 0; i < N; i++)
    y[i] = i;
  twice(y, N);
  show_num("s", s), show_f64("y", y, N);
  free(x), free(y);
}

static void aggregates(void) {
  struct pair {
    double a, b[3];
  } *p = calloc(N, sizeof *p), q;
#pragma cofuse store(p[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    p[i].a = i, p[i].b[1] = -i;
  q = p[5];
  p[7] = q;
  p[8].b[2] = p[9].a;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    p[i].b[0] += p[N - 1 - i].a;
  struct pair *r = &p[20];
  *r = (struct pair){1, {2, 3, 4}};
  double s = r->b[0] + (r - 1)->b[0] + q.a;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    p[i].b[2] += p[i].b[0];
  show_num("s", s), show_f64("p", (double *)p, 4 * N);
  free(p);
}

int main(int argc, char **argv) {
  CASE(elements);
  CASE(loops);
  CASE(library);
  CASE(files);
  CASE(reallocs);
  CASE(reuse);
  CASE(swap);
  CASE(tables_of_pointers);
  CASE(calls);
  CASE(jumps);
  CASE(frames);
  CASE(statics);
  CASE(directives);
  CASE(aggregates);
  return 0;
}
