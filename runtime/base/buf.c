// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Growable byte buffer.
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Makes room for n more bytes and the terminating NUL. False (and `failed`) when there is no memory.
static bool cf_buf_grow(cf_buf *b, size_t n) {
  if (b->failed)
    return false;
  size_t need;
  if (__builtin_add_overflow(b->len, n, &need) || __builtin_add_overflow(need, 1, &need)) {
    b->failed = true;
    return false;
  }
  if (need <= b->cap)
    return true;
  size_t cap = b->cap < SIZE_MAX / 2 ? 2 * b->cap : need;
  if (cap < need)
    cap = need;
  if (cap < 64)
    cap = 64;
  char *data = realloc(b->data, cap);
  if (!data) {
    b->failed = true;
    return false;
  }
  b->data = data;
  b->cap = cap;
  return true;
}

void cf_buf_free(cf_buf *b) {
  free(b->data);
  *b = (cf_buf){0};
}

void cf_buf_clear(cf_buf *b) {
  b->len = 0;
  b->failed = false;
  if (b->data)
    b->data[0] = '\0';
}

void cf_buf_put(cf_buf *b, const void *p, size_t n) {
  if (!cf_buf_grow(b, n))
    return;
  if (n)
    memcpy(b->data + b->len, p, n);
  b->len += n;
  b->data[b->len] = '\0';
}

void cf_buf_str(cf_buf *b, const char *s) { cf_buf_put(b, s, strlen(s)); }

void cf_buf_printf(cf_buf *b, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  size_t room = b->data ? b->cap - b->len : 0;
  int n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, ap);
  va_end(ap);
  if (n < 0) {
    b->failed = true;
  } else if ((size_t)n < room) {
    b->len += b->failed ? 0 : (size_t)n;
  } else if (cf_buf_grow(b, (size_t)n)) {
    vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
    b->len += (size_t)n;
  }
  va_end(again);
  if (b->data)
    b->data[b->len] = '\0';
}
