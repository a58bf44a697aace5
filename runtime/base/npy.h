// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Headers of NumPy's .npy files (format 1.0 written, 1 to 3 read). */
#ifndef CF_NPY_H
#define CF_NPY_H

#include "base/base.h"

enum { CF_NPY_MAX_RANK = 32 };

typedef struct cf_npy {
  char descr[16];    /* with byte order: "<f8" */
  size_t elem_bytes; /* of one element */
  int rank;
  int64_t shape[CF_NPY_MAX_RANK];
  size_t data_offset; /* where the elements start in the file, in bytes */
} cf_npy;

/* Fills out from a user's dtype ("f8"; a byte order in front is ignored: always the machine's) and shape,
 * except data_offset. CF_EINVAL on anything else; path is for the message. */
cf_status cf_npy_describe(const char *path, const char *dtype, int rank, const int64_t *shape, cf_npy *out);

/* Appends the file's header, whose length is a multiple of 64, and sets h->data_offset. */
cf_status cf_npy_write_header(cf_npy *h, cf_buf *to);

/* Reads the header from the first n bytes of a file (64 KiB hold any). Row-major order only. CF_EIO if it is
 * no such file or cut off, CF_EINVAL if it is one that cofuse cannot use. */
cf_status cf_npy_read_header(const char *path, const char *data, size_t n, cf_npy *out);

/* CF_EINVAL, with a message that shows both, unless type and shape agree. */
cf_status cf_npy_match(const char *path, const cf_npy *want, const cf_npy *have);

#endif
