// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The part of <cofuse/cofuse.h> that needs no communication: memory and error texts. */
#define __COFUSE__ 1 /* the declarations, not the inline versions */
#include "cofuse/cofuse.h"

#include "api/context.h"

#include <sys/mman.h>
#include <unistd.h>

_Static_assert((int)COFUSE_EINTERNAL == (int)CF_EINTERNAL, "public codes mirror cf_status");

/* In front of the memory lies one page of its own that holds the size; so the array is page-aligned and a
 * pointer that never came from here is recognised. */
typedef struct header {
  uint64_t magic;
  size_t mapped; /* bytes, with the header's page */
} header;
enum { MAGIC = 0x636f6675 };

static size_t page_bytes(void) {
  long n = sysconf(_SC_PAGESIZE);
  return n > 0 ? (size_t)n : 4096;
}

void *cofuse_alloc(size_t bytes) {
  size_t page = page_bytes();
  if (bytes > SIZE_MAX - 2 * page) {
    cf_fail(CF_ENOMEM, "cofuse_alloc: %zu bytes are more than an address space holds", bytes);
    return NULL;
  }
  size_t mapped = page + (bytes + page - 1) / page * page;
  /* NORESERVE: the array may be larger than memory, since a rank touches its own part only. */
  header *h = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (h == MAP_FAILED) {
    cf_fail(CF_ENOMEM, "cofuse_alloc: no address space for %zu bytes", bytes);
    return NULL;
  }
  *h = (header){MAGIC, mapped};
  return (char *)h + page;
}

/* bytes: with the page in front of p. */
static void unmap(void *p, size_t bytes) { munmap((char *)p - page_bytes(), bytes); }

void cofuse_free(void *p) {
  if (!p)
    return;
  size_t page = page_bytes();
  header *h = (header *)((char *)p - page);
  if ((uintptr_t)p % page || h->magic != MAGIC)
    cf_fatal(cf_fail(CF_EINVAL, "cofuse_free: %p does not come from cofuse_alloc", p));
  cf_registry_free(p, h->mapped - page, h->mapped, unmap);
}

const char *cofuse_strerror(int code) { return cf_strerror((cf_status)code); }
const char *cofuse_last_error(void) { return cf_last_error(); }
