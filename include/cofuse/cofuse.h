// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* cofuse for C programs: optional. A program needs none of this to be parallel; the pragmas suffice.
 *
 * With the plugin (__COFUSE__ is defined) these are functions of libcofuse. Without it they are trivial
 * inline versions that behave as on one rank, so the same source builds with any C11 compiler and no library.
 *
 * Functions that return int give 0, or a negative code of enum cofuse_code; cofuse_last_error() then says
 * what happened. All of them are collective: every rank makes the same calls in the same order. They may be
 * called before the first directive; they start the runtime. They are for the main thread; cofuse_rank,
 * _size, _alloc, _free and the error texts for any. */
#ifndef COFUSE_COFUSE_H
#define COFUSE_COFUSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cofuse_code {
  COFUSE_OK = 0,
  COFUSE_ENOMEM = -1,
  COFUSE_EINVAL = -2,
  COFUSE_EBOUNDS = -3,
  COFUSE_EIO = -4,
  COFUSE_ECOMM = -5,
  COFUSE_EJIT = -6,
  COFUSE_EABI = -7,
  COFUSE_EINTERNAL = -8,
};

/* This rank's counters so far (COFUSE_STATS gives totals over ranks). All zero without the plugin. */
struct cofuse_stats {
  uint64_t tasks, groups, temporaries_eliminated, windows, memo_hits;
  uint64_t kernels_compiled, cache_hits_memory, cache_hits_disk;
  uint64_t analysis_ns, messages, bytes_sent, flushes, serial_loops, peak_rss_bytes;
  double compile_ms;
};

#ifdef __COFUSE__

/* The communicator to use instead of MPI_COMM_WORLD; it is duplicated. Before any other use of cofuse.
 * Argument: an MPI_Comm; the caller includes mpi.h. */
#define cofuse_init_comm(comm) cofuse_init_comm_(&(MPI_Comm){comm})
int cofuse_init_comm_(const void *comm);

int cofuse_rank(void);
int cofuse_size(void);

/* Zeroed memory of which a rank uses only the pages it touches, so that an array may exceed the memory of one
 * rank. NULL if the address space cannot be had. At least 64-byte aligned. bytes may be 0. */
void *cofuse_alloc(size_t bytes);
/* Ends the stores in it, once their pending tasks have run. NULL does nothing; only pointers of cofuse_alloc.
 */
void cofuse_free(void *p);

/* Runs everything that is buffered and waits. */
int cofuse_flush(void);

/* The part of a store that this rank owns, per dimension lo <= index < hi (empty: hi == lo); p: any address
 * in the store. Returns the number of dimensions. Negative if p is in no store, as always without the plugin:
 * then lo and hi are left alone, so set them to the whole array first. */
int cofuse_local_box(const void *p, int64_t lo[], int64_t hi[]);

/* Array files that numpy.load reads. dtype as in NumPy: "f8", "f4", "i4", "u1", "c16", ... in the byte order
 * of this machine. shape: rank extents, row-major; p need not be a store. load checks dtype and shape against
 * the file and fills p. */
int cofuse_save_npy(const char *path, const void *p, const char *dtype, int rank, const int64_t *shape);
int cofuse_load_npy(const char *path, void *p, const char *dtype, int rank, const int64_t *shape);

int cofuse_stats(struct cofuse_stats *out);

const char *cofuse_strerror(int code);
const char *cofuse_last_error(void); /* of this thread; "" if there was none */

#else /* without the plugin: one rank, nothing to wait for */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __GNUC__ || defined __clang__
#define COFUSE_INLINE_ static inline __attribute__((unused))
#else
#define COFUSE_INLINE_ static inline
#endif

#define cofuse_init_comm(comm) ((void)(comm), 0)

COFUSE_INLINE_ int cofuse_rank(void) { return 0; }
COFUSE_INLINE_ int cofuse_size(void) { return 1; }
COFUSE_INLINE_ void *cofuse_alloc(size_t bytes) { return calloc(bytes ? bytes : 1, 1); }
COFUSE_INLINE_ void cofuse_free(void *p) { free(p); }
COFUSE_INLINE_ int cofuse_flush(void) { return 0; }

COFUSE_INLINE_ char *cofuse_error_text_(void) {
  static char text[256];
  return text;
}
COFUSE_INLINE_ const char *cofuse_last_error(void) { return cofuse_error_text_(); }
COFUSE_INLINE_ int cofuse_fail_(int code, const char *path, const char *what) {
  snprintf(cofuse_error_text_(), 256, "%s: %s", path, what);
  return code;
}

COFUSE_INLINE_ const char *cofuse_strerror(int code) {
  static const char *const text[] = {"success",
                                     "out of memory",
                                     "the program or its environment is wrong",
                                     "access outside a store",
                                     "input or output failed",
                                     "communication between ranks failed",
                                     "a kernel could not be compiled",
                                     "object code and runtime do not fit each other",
                                     "internal error of cofuse"};
  return code <= 0 && code >= -8 ? text[-code] : "unknown status";
}

COFUSE_INLINE_ int cofuse_local_box(const void *p, int64_t lo[], int64_t hi[]) {
  (void)p, (void)lo, (void)hi;
  return cofuse_fail_(COFUSE_EINVAL, "cofuse_local_box", "not a store: built without the cofuse plugin");
}

COFUSE_INLINE_ int cofuse_stats(struct cofuse_stats *out) {
  memset(out, 0, sizeof *out);
  return 0;
}

/* NumPy format 1.0: magic, length, a Python dictionary padded so that the data is 64-byte aligned. Returns
 * the bytes of one element, 0 if dtype or shape are wrong; header holds 1024 bytes. */
COFUSE_INLINE_ size_t cofuse_npy_header_(char *header, size_t *length, const char *dtype, int rank,
                                         const int64_t *shape) {
  const union {
    unsigned short s;
    unsigned char c[2];
  } one = {1};
  if (*dtype == '<' || *dtype == '>' || *dtype == '=' || *dtype == '|') /* the machine's order in any case */
    dtype++;
  char *end;
  long bytes = strlen(dtype) > 1 ? strtol(dtype + 1, &end, 10) : 0;
  if (bytes < 1 || bytes > 4096 || *end || !strchr("biufcV", *dtype) || rank < 0 || rank > 32)
    return 0;
  int n = 10;
  n += snprintf(header + n, 1024 - (size_t)n, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                bytes == 1 || *dtype == 'V' ? '|'
                : one.c[0]                  ? '<'
                                            : '>',
                dtype);
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 0)
      return 0;
    n += snprintf(header + n, 1024 - (size_t)n,
                  d == 0          ? "%lld,"
                  : d == rank - 1 ? " %lld"
                                  : " %lld,",
                  (long long)shape[d]);
  }
  n += snprintf(header + n, 1024 - (size_t)n, "), }");
  while ((n + 1) % 64)
    header[n++] = ' ';
  header[n++] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((n - 10) & 255);
  header[9] = (char)((n - 10) >> 8);
  *length = (size_t)n;
  return (size_t)bytes;
}

COFUSE_INLINE_ size_t cofuse_npy_count_(int rank, const int64_t *shape) {
  size_t n = 1;
  for (int d = 0; d < rank; d++)
    n *= (size_t)shape[d];
  return n;
}

COFUSE_INLINE_ int cofuse_save_npy(const char *path, const void *p, const char *dtype, int rank,
                                   const int64_t *shape) {
  char header[1024];
  size_t length, bytes = cofuse_npy_header_(header, &length, dtype, rank, shape);
  if (!bytes)
    return cofuse_fail_(COFUSE_EINVAL, path, "the element type or the shape is not valid");
  FILE *f = fopen(path, "wb");
  if (!f)
    return cofuse_fail_(COFUSE_EIO, path, "cannot be written");
  size_t n = cofuse_npy_count_(rank, shape);
  int ok = fwrite(header, 1, length, f) == length && fwrite(p, bytes, n, f) == n;
  ok &= fclose(f) == 0;
  return ok ? 0 : cofuse_fail_(COFUSE_EIO, path, "writing failed");
}

/* Finds the value of 'key': in a NumPy header; NULL if it is not there. */
COFUSE_INLINE_ const char *cofuse_npy_key_(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at)
    return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':' || *at == '(')
    at++;
  return at;
}

COFUSE_INLINE_ int cofuse_load_npy(const char *path, void *p, const char *dtype, int rank,
                                   const int64_t *shape) {
  char want[1024] = "", have[65536 + 1];
  size_t length, bytes = cofuse_npy_header_(want, &length, dtype, rank, shape);
  if (!bytes)
    return cofuse_fail_(COFUSE_EINVAL, path, "the element type or the shape is not valid");
  want[length] = 0;
  FILE *f = fopen(path, "rb");
  if (!f)
    return cofuse_fail_(COFUSE_EIO, path, "cannot be read");
  unsigned char start[12];
  int code = 0;
  size_t n = 0;
  if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) {
    code = cofuse_fail_(COFUSE_EIO, path, "is not a NumPy file");
  } else {
    n = start[8] + 256u * start[9];
    if (start[6] > 1) { /* versions 2 and 3 have four bytes of length */
      if (fread(start + 10, 1, 2, f) != 2 || start[10] || start[11])
        code = cofuse_fail_(COFUSE_EIO, path, "has a header of a size nobody writes");
    }
  }
  if (!code && fread(have, 1, n, f) != n)
    code = cofuse_fail_(COFUSE_EIO, path, "ends within its header");
  if (!code) {
    have[n] = 0;
    const char *type = cofuse_npy_key_(have, "'descr'"), *wanted = cofuse_npy_key_(want + 10, "'descr'");
    const char *order = cofuse_npy_key_(have, "'fortran_order'"), *extents = cofuse_npy_key_(have, "'shape'");
    if (!type || strncmp(type, wanted, (size_t)(strchr(wanted + 1, '\'') - wanted) + 1) != 0)
      code = cofuse_fail_(COFUSE_EINVAL, path, "holds elements of another type");
    else if (!order || (strncmp(order, "False", 5) != 0 && rank > 1))
      code = cofuse_fail_(COFUSE_EINVAL, path, "is in column-major order");
    for (int d = 0; !code && d < rank; d++) {
      char *next = NULL;
      if (!extents || strtoll(extents, &next, 10) != shape[d] || next == extents)
        code = cofuse_fail_(COFUSE_EINVAL, path, "has another shape");
      for (extents = next; extents && (*extents == ',' || *extents == ' '); extents++)
        ;
    }
    if (!code && (!extents || *extents != ')'))
      code = cofuse_fail_(COFUSE_EINVAL, path, "has another number of dimensions");
  }
  n = cofuse_npy_count_(rank, shape);
  if (!code && fread(p, bytes, n, f) != n)
    code = cofuse_fail_(COFUSE_EIO, path, "ends too early");
  fclose(f);
  return code;
}

#endif /* __COFUSE__ */

#ifdef __cplusplus
}
#endif
#endif
