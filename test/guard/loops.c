/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops, to provoke wrong ranges, wrong modes and guards hoisted too far. */
#include "oracle.h"
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100 };
typedef struct pair {
  double a[16], b[16]; /* two stores side by side */
} pair;
typedef struct context {
  double *u;
  double in[8];
  int n;
} context;
typedef struct point {
  double p, q, r;
} point;

static double *x, *y, *z;
static int *idx;
static pair *ab;
static context *ctx;
static point *pts;
static double grid[10][12];
static double arena[3 * N]; /* three stores without a gap */
static jmp_buf escape;

static double total(const double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i] * (i % 7 + 1);
  return s;
}

static double t_triad(void) {
  for (int i = 0; i < N; i++)
    z[i] = x[i] + y[i];
  return z[3] + z[N - 1];
}
static double t_while(void) {
  int i = 0;
  while (x[i] < 20)
    i++;
  do
    i++;
  while (y[i] < 200 && i < N - 1);
  return i;
}
static double t_header_reads(void) {
  int i;
  double s = 0;
  for (i = (int)x[0]; x[i] < 50 && i < N; i += (int)y[0] > 0 ? 2 : 1)
    s += i;
  return s;
}
static double t_pointer_walk(void) {
  double s = 0;
  const double *p = x, *e = x + N;
  while (p != e)
    s += *p++;
  return s;
}
static double t_backwards(void) {
  double s = 0;
  for (int i = N - 1; i >= 0; i--) {
    s += x[i] * i;
    y[i] = s;
  }
  return s + y[0] + y[N - 1];
}
static double t_stride(void) {
  for (int i = 1; i < N; i += 3)
    x[i] = -1;
  return total(x, N);
}
static double t_symbolic_stride(int n, int step) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i * step];
  for (int i = 0; i < n; i++)
    if (i % 2)
      y[i * step] = s;
  return s + total(y, N);
}
static double t_negative_stride(int from, int n, int step) {
  for (int i = 0; i < n; i++)
    z[from + i * step] = i;
  return total(z, N);
}
static double t_gather(void) {
  double s = 0;
  for (int i = 0; i < N; i++)
    s += x[idx[i]];
  for (int i = 0; i < N; i++)
    y[idx[i]] += i;
  return s + total(y, N);
}
static double t_csr(void) {
  double s = 0;
  for (int r = 0; r < 10; r++) {
    double q = 0;
    for (int k = idx[r]; k < idx[r] + 3; k++)
      q += x[k % N];
    y[r] = q;
    s += q;
  }
  return s + y[9];
}
static double t_shift_left(void) {
  for (int i = 0; i < N - 1; i++)
    x[i] = x[i + 1];
  return total(x, N);
}
static double t_shift_right(void) {
  for (int i = 1; i < N; i++)
    x[i] = x[i - 1] + 1;
  return total(x, N);
}
static double t_self_gather(void) {
  for (int i = 0; i < N; i++)
    x[i] = x[idx[i]] + 1;
  return total(x, N);
}
static double t_write_then_read_later(void) {
  for (int i = 0; i < N - 8; i++) {
    z[i] = i;
    if (i % 5 == 0)
      z[i] += z[i + 8]; /* still the old value */
  }
  return total(z, N);
}
static double t_conditional_write(void) {
  for (int i = 0; i < N; i++)
    if (y[i] > 100)
      x[i] = 0;
  return total(x, N);
}
static double t_condition_shifts_start(void) {
  double s = 0;
  for (int i = 0; i <= N; i++) {
    if (i > 0)
      s += x[i - 1];
    if (i < N)
      y[i] = s;
  }
  return s + y[N - 1];
}
static double t_break(void) {
  int i;
  for (i = 0; i < N; i++) {
    y[i] = i;
    if (x[i] > 30)
      break;
  }
  return i + total(y, N);
}
static double t_continue(void) {
  for (int i = 0; i < N; i++) {
    if (i % 3 == 1)
      continue;
    y[i] = x[i];
  }
  return total(y, N);
}
static double t_stencil(int n, int m, double a[n][m], double b[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
  return total(&b[0][0], n * m);
}
static double t_transpose(int n, double a[n][n], double b[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[j][i] = a[i][j];
  return total(&b[0][0], n * n);
}
static double t_triangle(void) {
  double s = 0;
  for (int i = 0; i < 10; i++)
    for (int j = 0; j <= i; j++) {
      s += grid[i][j];
      if (j < i)
        grid[i][j] = s;
    }
  for (int i = 0; i < 10; i++)
    for (int j = i; j < 12; j++)
      grid[i][j] = -1;
  return s + total(grid[0], 120);
}
static double t_column(int n, int m, double a[n][m], int j) {
  for (int i = 0; i < n; i++)
    a[i][j] = i;
  return total(&a[0][0], n * m);
}
static double t_member_arrays(context *c) {
  double s = 0;
  for (int i = 0; i < c->n; i++)
    s += c->in[i];
  c->in[c->n - 1] = s;
  for (int i = 0; i < c->n; i++)
    c->u[i] = s + i;
  return c->in[c->n - 1] + c->u[1];
}
static double t_null_in_loop(context *c, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    if (c && c->u && c->u[i] > 3)
      s += c->u[i];
  return s;
}
static double t_zero_trips(double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}
static double t_unsigned(unsigned n) {
  double s = 0;
  for (unsigned i = 0; i < n; i++)
    s += x[i];
  for (unsigned i = n; i-- > 0;)
    s -= x[i] / 2;
  for (unsigned char c = 0; c < 100; c++)
    s += y[c];
  for (unsigned i = 0; i < n; i++)
    s += z[(i + UINT_MAX - 3) % N]; /* wraps */
  for (uint8_t c = 250; c != 5; c++)
    s += y[c % 90];
  return s;
}
static double t_pointer_before(double *p) {
  double s = 0;
  p--;
  for (int i = 1; i <= N; i++)
    s += p[i];
  return s;
}
static double t_restrict(double *restrict a, const double *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1;
  return a[n - 1];
}
static double t_pointer_table(double **rows) {
  double s = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < N; j++)
      s += rows[i][j];
  *rows[1] = s;
  return s + *rows[1];
}
static double t_overwrite_each_round(void) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < N; i++)
      z[i] = k;
    for (int i = 0; i < N; i++)
      x[i] += z[i];
  }
  return x[7];
}
static double t_task_in_loop(void) {
  double s = 0;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < N; j++)
      s += x[j];
    y[i] = s;
    cofuse_t_add(x, N, 1);
  }
  x[0] = 1;
  cofuse_t_add(x, N, 1);
  return s + x[0] + y[2];
}
static double t_saturating_bound(void) {
  long i = 0;
  double s = 0;
  while (i < LONG_MAX && x[i] < 60)
    s += x[i++];
  for (size_t k = 0; k < SIZE_MAX / 8; k++) {
    if (y[k] > 100)
      break;
    y[k] = 1;
  }
  return s + total(y, N);
}
static double t_long_jump_out(void) {
  if (setjmp(escape) == 0) {
    for (int i = 0; i < N; i++) {
      z[i] = -i;
      if (i == 40)
        longjmp(escape, 1);
    }
  }
  return total(z, N);
}
static NOINLINE void maybe_leave(int i) {
  if (i == 30)
    longjmp(escape, 1);
}
static double t_callee_leaves(void) {
  if (setjmp(escape) == 0)
    for (int i = 0; i < N; i++) {
      z[i] = -i;
      maybe_leave(i);
    }
  return total(z, N);
}
static NOINLINE double old_value(int i) { return z[i]; }
static double t_callee_reads(void) {
  for (int i = 0; i < N - 1; i++)
    z[i] = old_value(i + 1) + 1;
  return total(z, N);
}
static NOINLINE double only_arithmetic(double v) { return v * v + 1; }
static double t_callee_quiet(void) {
  for (int i = 0; i < N; i++)
    z[i] = only_arithmetic(x[i]);
  return total(z, N);
}
/* Two fixed elements, nothing in between: no joint blind write. */
static double t_two_elements(int n) {
  for (int k = 0; k < n; k++) {
    z[2] = k;
    z[20] = -k;
  }
  return total(z, N);
}
static double t_interleaved(void) {
  for (int i = 0; i < N / 4; i++) {
    z[4 * i] = i;
    z[4 * i + 2] = -i;
  }
  for (int i = 0; i < 16; i++) {
    pts[i].p = i;
    pts[i].r = -i;
  }
  double s = 0;
  for (int i = 0; i < 16; i++)
    s += pts[i].p + 2 * pts[i].q + 3 * pts[i].r;
  return s + total(z, N);
}
static double t_unrolled(void) {
  for (int i = 0; i < N; i += 4) {
    z[i] = 1;
    z[i + 1] = 2;
    z[i + 2] = 3;
    z[i + 3] = 4;
  }
  return total(z, N);
}
static double t_adjacent_members(pair *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    if (i > 0)
      s += p->b[i - 1]; /* the range starts in the other store */
    if (i < n - 1)
      s += p->a[i + 1]; /* and this one ends in it */
    if (x[i] > 3)
      p->b[i] = s;
  }
  return s + total(p->b, 16) + total(p->a, 16);
}
static double t_adjacent_blocks(int n) {
  double s = 0, *p = arena + N;
  for (int i = 0; i < n; i++) {
    if (i > 2)
      s += p[i - 3];
    if (i < n - 3)
      p[i + 3] += 1;
  }
  return s + total(arena, 3 * N);
}
static double t_down_from_end(double *begin, double *end) {
  double s = 0;
  while (end != begin)
    s = s * 0.5 + *--end;
  return s;
}
static double t_down_conditional(double *begin, double *end, int key) {
  double s = 0;
  for (double *p = end; p > begin;) {
    --p;
    if ((p - begin) % key == 0)
      s += *p;
    else if (s > 10)
      *p = s;
  }
  return s + total(begin, N);
}
static double t_up_conditional(double *p, double *e, int key) {
  double s = 0;
  for (int i = 0; p < e; p++, i++)
    if (i % key == 0)
      s += *p++;
  return s;
}
static double t_select_base(int c) {
  double s = 0, *p = c ? x : y, *q = c > 1 ? p + 5 : p;
  for (int i = 0; i < N / 2; i++)
    if (idx[i] % 2)
      s += p[i] + q[i];
  return s;
}
static double t_alternating(int n) {
  double *from = x, *to = y;
  for (int k = 0; k < n; k++) {
    for (int i = 1; i < N - 1; i++)
      to[i] = 0.5 * (from[i - 1] + from[i + 1]);
    double *t = from;
    from = to;
    to = t;
  }
  return total(x, N) + total(y, N);
}
static double t_linear_search(double v) {
  for (int i = 0; i < N; i++)
    if (x[i] == v)
      return i;
  return -1;
}
static double t_block_copy(int rows, int cols) {
  for (int i = 0; i < rows; i++)
    memcpy(&z[i * cols], &x[i * cols], cols * sizeof *z);
  for (int i = 0; i < rows; i++)
    memset(&y[i * cols], 0, (cols - 1) * sizeof *y);
  return total(z, N) + total(y, N);
}
static double t_nested_bounds(void) {
  double s = 0;
  for (int i = 0; i < 8; i++)
    for (int j = i; j < 2 * i + 1; j++)
      for (int k = j; k >= i; k--)
        s += x[i + j + k];
  return s;
}
static double t_goto_loop(int n) {
  int i = 0;
top:
  if (i < n) {
    z[i] = x[i];
    i++;
    if (i == 7)
      goto odd;
    goto top;
  }
  return total(z, N);
odd:
  i += 2;
  goto top;
}
static double t_swap_macro(void) {
#define SWAP(a, b)                                                                                           \
  do {                                                                                                       \
    double t_ = (a);                                                                                         \
    (a) = (b);                                                                                               \
    (b) = t_;                                                                                                \
  } while (0)
  for (int i = 0; i < N / 2; i++)
    SWAP(x[i], x[N - 1 - i]);
  return total(x, N);
}
static double t_sum_into_element(void) {
  z[5] = 0;
  for (int i = 0; i < N; i++)
    z[5] += x[i]; /* one element, kept in a register by LICM */
  return total(z, N);
}
static double t_prefix(void) {
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < i; j++)
      z[j] = i; /* same low end, growing high end */
  return total(z, N);
}

static void fill(void) {
  cofuse_t_sync();
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = 3 * i + 1;
    z[i] = i * i;
    idx[i] = (i * 37) % N;
  }
  for (int i = 0; i < 3 * N; i++)
    arena[i] = i;
  for (int i = 0; i < 120; i++)
    grid[i / 12][i % 12] = i;
  for (int i = 0; i < 16; i++) {
    ab->a[i] = i;
    ab->b[i] = 100 + i;
    pts[i] = (point){i, 2 * i, 3 * i};
  }
  *ctx = (context){y, {1, 2, 3, 4, 5, 6, 7, 8}, 8};
}

/* All contents, from the truth: what the host wrote without saying so is missing. */
static double contents(void) {
  cofuse_t_sync();
  double s = total(x, N) + 2 * total(y, N) + 3 * total(z, N) + total(arena, 3 * N) + total(grid[0], 120) +
             total(ab->a, 16) + total(ab->b, 16) + total(ctx->in, 8);
  for (int i = 0; i < 16; i++)
    s += (pts[i].p + 2 * pts[i].q + 3 * pts[i].r) * (i + 1);
  return s;
}

#define T(e)                                                                                                 \
  do {                                                                                                       \
    fill();                                                                                                  \
    cofuse_t_add(x, N, 1);                                                                                   \
    cofuse_t_add(y, N, 2);                                                                                   \
    show(#e, e);                                                                                             \
    show("", contents());                                                                                    \
  } while (0)
#define MAKE(p, n)                                                                                           \
  do {                                                                                                       \
    p = calloc(n, sizeof *p);                                                                                \
    cofuse_t_store(p, (n) * sizeof *p);                                                                      \
  } while (0)

int main(void) {
  MAKE(x, N);
  MAKE(y, N);
  MAKE(z, N);
  MAKE(idx, N);
  MAKE(pts, 16);
  MAKE(ctx, 1);
  ab = calloc(1, sizeof *ab);
  cofuse_t_store(ab->a, sizeof ab->a);
  cofuse_t_store(ab->b, sizeof ab->b);
  for (int i = 0; i < 3; i++)
    cofuse_t_store(arena + i * N, N * sizeof *arena);
  cofuse_t_store(grid, sizeof grid);
  T(t_triad());
  T(t_while());
  T(t_header_reads());
  T(t_pointer_walk());
  T(t_backwards());
  T(t_stride());
  T(t_symbolic_stride(10, 9));
  T(t_negative_stride(90, 10, -7));
  T(t_gather());
  T(t_csr());
  T(t_shift_left());
  T(t_shift_right());
  T(t_self_gather());
  T(t_write_then_read_later());
  T(t_conditional_write());
  T(t_condition_shifts_start());
  T(t_break());
  T(t_continue());
  T(t_stencil(10, 10, (double(*)[10])x, (double(*)[10])z));
  T(t_stencil(10, 10, (double(*)[10])x, (double(*)[10])x));
  T(t_transpose(10, (double(*)[10])x, (double(*)[10])z));
  T(t_transpose(10, (double(*)[10])x, (double(*)[10])x));
  T(t_triangle());
  T(t_column(10, 10, (double(*)[10])z, 3));
  T(t_member_arrays(ctx));
  T(t_null_in_loop(ctx, 9));
  T(t_null_in_loop(NULL, 9));
  T(t_zero_trips(NULL, 0));
  T(t_zero_trips(x, 7));
  T(t_zero_trips(x, -7));
  T(t_unsigned(40));
  T(t_pointer_before(x));
  T(t_restrict(x, y, 50));
  double *rows[3] = {x, y, z};
  T(t_pointer_table(rows));
  T(t_overwrite_each_round());
  T(t_task_in_loop());
  T(t_saturating_bound());
  T(t_long_jump_out());
  T(t_callee_leaves());
  T(t_callee_reads());
  T(t_callee_quiet());
  T(t_two_elements(3));
  T(t_two_elements(0));
  T(t_interleaved());
  T(t_unrolled());
  T(t_adjacent_members(ab, 16));
  T(t_adjacent_blocks(N));
  T(t_down_from_end(x, x + N));
  T(t_down_from_end(arena + N, arena + 2 * N));
  T(t_down_conditional(arena + N, arena + 2 * N, 3));
  T(t_up_conditional(arena + N, arena + 2 * N - 1, 3));
  T(t_select_base(0));
  T(t_select_base(2));
  T(t_alternating(3));
  T(t_linear_search(50));
  T(t_linear_search(-50));
  T(t_block_copy(5, 20));
  T(t_nested_bounds());
  T(t_goto_loop(30));
  T(t_swap_macro());
  T(t_sum_into_element());
  T(t_prefix());
  fill();
  show("contents", total(x, N) + total(y, N) + total(z, N) + total(arena, 3 * N));
  return 0;
}
