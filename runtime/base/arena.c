// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bump allocator: a list of blocks, newest first.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_FIRST = 4096 };
#define ARENA_LARGEST ((size_t)1 << 20) // growth stops here; single larger requests get their own size

struct cf_arena_block {
  struct cf_arena_block *next;
  size_t size, used; // of data
  _Alignas(ARENA_ALIGN) unsigned char data[];
};

void *cf_arena_alloc(cf_arena *a, size_t n) {
  if (n > SIZE_MAX / 2)
    return NULL;
  n = n ? (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1) : ARENA_ALIGN;
  struct cf_arena_block *b = a->head;
  if (!b || b->size - b->used < n) {
    size_t size = ARENA_FIRST;
    if (b)
      size = b->size < ARENA_LARGEST / 2 ? 2 * b->size : ARENA_LARGEST;
    if (size < n)
      size = n;
    b = malloc(sizeof *b + size);
    if (!b)
      return NULL;
    b->next = a->head;
    b->size = size;
    b->used = 0;
    a->head = b;
  }
  void *p = b->data + b->used;
  b->used += n;
  return memset(p, 0, n);
}

// Keeps the largest block, so that a steady workload soon allocates nothing.
void cf_arena_reset(cf_arena *a) {
  struct cf_arena_block *keep = a->head;
  for (struct cf_arena_block *b = a->head; b; b = b->next)
    if (b->size > keep->size)
      keep = b;
  for (struct cf_arena_block *b = a->head, *next; b; b = next) {
    next = b->next;
    if (b != keep)
      free(b);
  }
  if (keep) {
    keep->next = NULL;
    keep->used = 0;
  }
  a->head = keep;
}

void cf_arena_free(cf_arena *a) {
  for (struct cf_arena_block *b = a->head, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  a->head = NULL;
}

size_t cf_arena_bytes(const cf_arena *a) {
  size_t n = 0;
  for (const struct cf_arena_block *b = a->head; b; b = b->next)
    n += sizeof *b + b->size;
  return n;
}
