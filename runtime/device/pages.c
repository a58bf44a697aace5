// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages of large arrays. A program in library style allocates a new array for each result, and the kernel of
// the system clears each of its pages on first touch: four times the cost of the write itself. Arrays that
// were freed keep their pages here for a short time; one that is about to be written whole gets them moved in
// place (mremap), or at least large ones.
//
// Old contents come along, so this is for ranges whose every byte is written before it is read. Moves go
// through libc, and are followed by madvise, since MPI libraries watch both to forget registered memory.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // mremap
#endif
#include "device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 32, AGE = 4 };
static const uintptr_t LARGE_PAGE = (uintptr_t)2 << 20;

// A freed block: pages in [lo, hi) are still there.
typedef struct kept {
  void *block;
  size_t bytes;
  void (*release)(void *, size_t);
  uintptr_t lo, hi;
  int age; // windows since
} kept;

struct cf_pages {
  kept list[KEPT]; // oldest first
  int n;
  size_t total;
  bool cannot_move;
  uint64_t moved;
};

static uintptr_t up(uintptr_t x, uintptr_t to) { return (x + to - 1) & ~(to - 1); }
static uintptr_t down(uintptr_t x, uintptr_t to) { return x & ~(to - 1); }
static uintptr_t page(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

cf_pages *cf_pages_create(void) { return calloc(1, sizeof(cf_pages)); }

static void let_go(cf_pages *p, int i) {
  kept k = p->list[i];
  for (int j = i + 1; j < p->n; j++)
    p->list[j - 1] = p->list[j];
  p->n--;
  p->total -= k.bytes;
  if (k.release)
    k.release(k.block, k.bytes);
}

static bool add(cf_pages *p, kept k) {
  if (p->cannot_move || k.lo >= k.hi || k.hi - k.lo < CF_PAGES_LEAST / 2)
    return false;
  for (int i = 0; p->n == KEPT && i < p->n; i++) // lent ones may be forgotten, they are not ours
    if (!p->list[i].release || i == p->n - 1)
      let_go(p, p->list[i].release ? 0 : i);
  p->list[p->n++] = k;
  p->total += k.bytes;
  return true;
}

bool cf_pages_keep(cf_pages *p, void *block, size_t bytes, void (*release)(void *, size_t), size_t limit) {
  uintptr_t lo = up((uintptr_t)block, page()), hi = down((uintptr_t)block + bytes, page());
  if (bytes > limit)
    return false;
  while (p->n > 0 && p->total + bytes > limit)
    let_go(p, 0);
  return add(p, (kept){block, bytes, release, lo, hi, 0});
}

void cf_pages_lend(cf_pages *p, void *base, size_t bytes) {
  add(p, (kept){NULL, 0, NULL, up((uintptr_t)base, page()), down((uintptr_t)base + bytes, page()), 0});
}

void cf_pages_keep_lent(cf_pages *p, void *block, size_t bytes, void (*release)(void *, size_t)) {
  uintptr_t lo = (uintptr_t)block, hi = lo + bytes;
  bool kept_one = false;
  for (int i = p->n - 1; i >= 0; i--) {
    kept *k = &p->list[i];
    if (k->release || k->lo < lo || k->hi > hi)
      continue;
    if (kept_one) { // of another array of the block: nothing may be left of it when the block goes
      let_go(p, i);
      continue;
    }
    k->block = block;
    k->bytes = bytes;
    k->release = release;
    p->total += bytes;
    kept_one = true;
  }
  if (!kept_one)
    release(block, bytes);
}

void cf_pages_window(cf_pages *p) {
  for (int i = p->n - 1; i >= 0; i--)
    if (++p->list[i].age > AGE)
      let_go(p, i);
}

void cf_pages_destroy(cf_pages *p) {
  while (p && p->n)
    let_go(p, p->n - 1);
  free(p);
}

uint64_t cf_pages_moved(const cf_pages *p) { return p->moved; }

// [lo, hi) is memory of this process alone with no file behind it: what replaces its pages is seen by nobody.
static bool is_private(uintptr_t lo, uintptr_t hi) {
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f)
    return false;
  char line[512], mode[8];
  uintptr_t a, b;
  unsigned long inode;
  while (lo < hi && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu", &a, &b, mode, &inode) != 4 || b <= lo)
      continue;
    if (a > lo || mode[0] != 'r' || mode[1] != 'w' || mode[3] != 'p' || inode != 0)
      break;
    lo = b;
  }
  fclose(f);
  return lo >= hi;
}

static bool move(cf_pages *p, uintptr_t from, uintptr_t to, size_t n) {
#ifdef MREMAP_DONTUNMAP // the freed block stays mapped, for the allocator that gets it back
  madvise((void *)to, n, MADV_DONTNEED);
  void *got = mremap((void *)from, n, n, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (void *)to);
  if (got == (void *)to) {
    madvise((void *)from, n, MADV_DONTNEED);
    p->moved += n;
    return true;
  }
#else
  (void)from, (void)to, (void)n;
#endif
  p->cannot_move = true; // an old system
  return false;
}

void cf_pages_fill(cf_pages *p, void *base, size_t bytes) {
  uintptr_t lo = up((uintptr_t)base, page()), hi = down((uintptr_t)base + bytes, page());
  if (lo >= hi || hi - lo < CF_PAGES_LEAST || !is_private(lo, hi))
    return;
  for (int i = p->n - 1; i >= 0 && hi - lo >= LARGE_PAGE && !p->cannot_move; i--) {
    kept *k = &p->list[i];
    // Large pages move as such only to an address that lies alike.
    uintptr_t from = k->lo + (lo - k->lo) % LARGE_PAGE;
    if (from + LARGE_PAGE > k->hi)
      continue;
    uintptr_t n = k->hi - from < hi - lo ? k->hi - from : hi - lo;
    if (!move(p, from, lo, n))
      break;
    lo += n;
    k->lo = from + n;
    if (k->hi - k->lo < LARGE_PAGE)
      let_go(p, i);
  }
  lo = up(lo, LARGE_PAGE);
  hi = down(hi, LARGE_PAGE);
  if (lo < hi)
    madvise((void *)lo, hi - lo, MADV_HUGEPAGE);
}
