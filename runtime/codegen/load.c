// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Shared objects are loaded from memory that was verified, never by their path: the file may be replaced
 * between check and load, the folder may be mounted noexec, and ranks that received the bytes have no
 * file at all. */
#define _GNU_SOURCE
#include "codegen/cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static cf_status write_all(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return cf_fail(CF_EIO, "cannot write %zu bytes of kernel code to memory: %s", n, strerror(errno));
    p += k;
    n -= (size_t)k;
  }
  return CF_OK;
}

/* dlopen takes a path it has seen for the same library without looking at it, and descriptors are
 * reused, so each load spells the path in its own way: one "/" or "/./" per bit of a counter. */
static void unique_path(int fd, char *path, size_t cap) {
  static unsigned loads;
  unsigned serial = __atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED);
  size_t n = (size_t)snprintf(path, cap, "/proc/self");
  for (unsigned bit = 0; bit < 32; bit++)
    n += (size_t)snprintf(path + n, cap - n, "%s", serial >> bit & 1 ? "/." : "/");
  snprintf(path + n, cap - n, "/fd/%d", fd);
}

static cf_status look_up(void *h, const char *id, uint32_t nnests, cf_kernel_fn *fn) {
  for (uint32_t k = 0; k < nnests; k++) {
    char name[80];
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, id);
    void *p = dlsym(h, name);
    if (!p)
      return cf_fail(CF_EJIT, "a compiled kernel lacks its function %s", name);
    memcpy(&fn[k], &p, sizeof p);
  }
  return CF_OK;
}

cf_status cf_shared_load(const void *data, size_t size, const char *id, uint32_t nnests, cf_kernel_fn *fn,
                         void **handle) {
  char name[48], path[160];
  snprintf(name, sizeof name, "cofuse-%s", id);
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0)
    return cf_fail(CF_EIO, "cannot create memory for kernel code: %s", strerror(errno));
  cf_status st = write_all(fd, data, size);
  void *h = NULL;
  if (st == CF_OK) {
    /* Kernels call libm; a program that does not may have loaded it in a local scope only, or not at all. */
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
    unique_path(fd, path, sizeof path);
    h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h)
      st = cf_fail(CF_EJIT, "cannot load a compiled kernel: %s", dlerror());
  }
  close(fd);
  if (st == CF_OK)
    st = look_up(h, id, nnests, fn);
  if (st == CF_OK)
    *handle = h;
  else if (h)
    dlclose(h);
  return st;
}
