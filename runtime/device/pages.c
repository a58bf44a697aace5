// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages of large arrays. A program in library style allocates a new array for each result, and the kernel of
// the system clears each of its pages on first touch: four times the cost of the write itself. Arrays that
// were freed keep their pages here for a short time; one that is about to be written whole gets them moved in
// place (mremap), or at least large ones.
//
// Old contents come along, so this is for ranges whose every byte is written before it is read. Only private
// memory without a file behind it takes part, on both sides. Moves go through libc, and are followed by
// madvise, since MPI libraries watch both to forget registered memory; each is of one mapping of the system,
// since older systems move no more at once.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // mremap
#endif
#include "device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 32, AGE = 4, MAPPINGS = 64 };
static const uintptr_t LARGE_PAGE = (uintptr_t)2 << 20;

// Pages in [lo, hi) are still there. Lent, not freed: no release.
typedef struct kept {
  cf_freed freed;
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

// Private memory of this process, readable and writable, with no file behind it, as mappings of the system.
typedef struct mapped {
  uintptr_t end[MAPPINGS]; // the first begins at or before the range, each other where the one before ends
  int n;
} mapped;

static uintptr_t up(uintptr_t x, uintptr_t to) { return (x + to - 1) & ~(to - 1); }
static uintptr_t down(uintptr_t x, uintptr_t to) { return x & ~(to - 1); }
static uintptr_t page(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

cf_pages *cf_pages_create(void) { return calloc(1, sizeof(cf_pages)); }

static void let_go(cf_pages *p, int i) {
  kept k = p->list[i];
  for (int j = i + 1; j < p->n; j++)
    p->list[j - 1] = p->list[j];
  p->n--;
  p->total -= k.freed.bytes;
  if (k.freed.release)
    k.freed.release(k.freed.base, k.freed.whole);
}

static bool add(cf_pages *p, kept k) {
  if (p->cannot_move || k.lo >= k.hi || k.hi - k.lo < CF_PAGES_LEAST / 2)
    return false;
  int lent = 0; // these go first, they are not ours
  while (lent < p->n && p->list[lent].freed.release)
    lent++;
  if (p->n == KEPT)
    let_go(p, lent < p->n ? lent : 0);
  p->list[p->n++] = k;
  p->total += k.freed.bytes;
  return true;
}

void cf_pages_limit(cf_pages *p, size_t limit) {
  for (int i = 0; i < p->n && p->total > limit;)
    if (p->list[i].freed.release)
      let_go(p, i);
    else
      i++;
}

bool cf_pages_keep(cf_pages *p, const cf_freed *f, size_t limit) {
  uintptr_t lo = up((uintptr_t)f->base, page()), hi = down((uintptr_t)f->base + f->bytes, page());
  if (f->bytes > limit)
    return false;
  cf_pages_limit(p, limit - f->bytes);
  return add(p, (kept){*f, lo, hi, 0});
}

void cf_pages_lend(cf_pages *p, void *base, size_t bytes) {
  add(p, (kept){.lo = up((uintptr_t)base, page()), .hi = down((uintptr_t)base + bytes, page())});
}

void cf_pages_keep_lent(cf_pages *p, const cf_freed *f) {
  uintptr_t lo = (uintptr_t)f->base, hi = lo + f->bytes;
  bool kept_one = false;
  for (int i = p->n - 1; i >= 0; i--) {
    kept *k = &p->list[i];
    if (k->freed.release || k->lo < lo || k->hi > hi)
      continue;
    if (kept_one) { // of another array of the block: nothing may be left of it when the block goes
      let_go(p, i);
      continue;
    }
    k->freed = *f;
    p->total += f->bytes;
    kept_one = true;
  }
  if (!kept_one)
    f->release(f->base, f->whole);
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

// The mappings of [lo, hi). False: some of it is of another kind, or there are too many.
static bool find_mappings(uintptr_t lo, uintptr_t hi, mapped *m) {
  m->n = 0;
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f)
    return false;
  char line[512], mode[8];
  uintptr_t a, b;
  unsigned long inode;
  while (lo < hi && m->n < MAPPINGS && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu", &a, &b, mode, &inode) != 4 || b <= lo)
      continue;
    if (a > lo || mode[0] != 'r' || mode[1] != 'w' || mode[3] != 'p' || inode != 0)
      break;
    m->end[m->n++] = lo = b;
  }
  fclose(f);
  return lo >= hi;
}

// Pages of one mapping. The freed block stays mapped, for the allocator that gets it back.
static bool move_one(cf_pages *p, uintptr_t from, uintptr_t to, size_t n) {
#ifdef MREMAP_DONTUNMAP
  madvise((void *)to, n, MADV_DONTNEED);
  void *got = mremap((void *)from, n, n, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (void *)to);
  if (got == (void *)to) {
    madvise((void *)from, n, MADV_DONTNEED);
    p->moved += n;
    return true;
  }
  // It may have unmapped the target before it failed.
  mmap((void *)to, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#else
  (void)from, (void)to, (void)n;
#endif
  p->cannot_move = true;
  return false;
}

static bool move(cf_pages *p, uintptr_t from, uintptr_t to, size_t n) {
  mapped m;
  if (!find_mappings(from, from + n, &m))
    return false;
  for (int i = 0; i < m.n && n > 0; i++) {
    size_t part = m.end[i] - from < n ? m.end[i] - from : n;
    if (!move_one(p, from, to, part))
      return false;
    from += part;
    to += part;
    n -= part;
  }
  return true;
}

void cf_pages_fill(cf_pages *p, void *base, size_t bytes) {
  uintptr_t lo = up((uintptr_t)base, page()), hi = down((uintptr_t)base + bytes, page());
  mapped target;
  if (lo >= hi || hi - lo < CF_PAGES_LEAST || !find_mappings(lo, hi, &target))
    return;
  for (int i = p->n - 1; i >= 0 && hi - lo >= LARGE_PAGE && !p->cannot_move; i--) {
    kept *k = &p->list[i];
    // Large pages move as such only to an address that lies alike.
    uintptr_t from = k->lo + (lo - k->lo) % LARGE_PAGE;
    if (from + LARGE_PAGE > k->hi)
      continue;
    uintptr_t n = k->hi - from < hi - lo ? k->hi - from : hi - lo;
    if (move(p, from, lo, n)) {
      lo += n;
      k->lo = from + n;
    } else { // memory of another kind, or a system that cannot
      k->lo = k->hi;
    }
    if (k->hi - k->lo < LARGE_PAGE)
      let_go(p, i);
  }
  lo = up(lo, LARGE_PAGE);
  hi = down(hi, LARGE_PAGE);
  if (lo < hi)
    madvise((void *)lo, hi - lo, MADV_HUGEPAGE);
}
