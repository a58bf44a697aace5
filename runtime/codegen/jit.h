// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What libcofuse asks of libcofuse-jit.so, the only part that links LLVM and MLIR. It is loaded with
 * dlopen on first need and calls nothing of libcofuse back, so errors come as malloc'ed text. */
#ifndef CF_CODEGEN_JIT_H
#define CF_CODEGEN_JIT_H

#include "codegen/codegen.h"

#define CF_JIT_SYMBOL "cf_jit_entry"
enum { CF_JIT_VERSION = 2 };

typedef struct cf_jit cf_jit;

typedef struct cf_jit_job {
  const char *text; /* MLIR module, NUL-terminated behind len */
  size_t len;
  uint32_t nnests;
  const char *id;        /* kernel id: function k is called cofuse_k<k>_<id> in the object */
  const char *name;      /* for dumps */
  const char *dump;      /* folder or NULL */
  const char *target;    /* NULL: this machine's CPU; "emu": a device's kernel for it; "sm_90": PTX */
  const char *libdevice; /* NVIDIA's library functions as bitcode; NULL: look for it */
} cf_jit_job;

typedef struct cf_jit_ops {
  uint32_t version;
  /* verify: check the IR between steps (slow). On failure *error is malloc'ed text, *out untouched. */
  cf_status (*create)(bool verify, cf_jit **out, char **error);
  void (*destroy)(cf_jit *jit); /* frees the code of everything it loaded */
  /* *object: malloc'ed relocatable ELF object for this machine's CPU, or PTX with a NUL behind it. */
  cf_status (*compile)(cf_jit *jit, const cf_jit_job *job, void **object, size_t *size, char **error);
  /* Links an object into the process and looks its functions up. */
  cf_status (*load)(cf_jit *jit, const void *object, size_t size, const char *id, uint32_t nnests,
                    cf_kernel_fn *fn, char **error);
} cf_jit_ops;

/* Type of CF_JIT_SYMBOL. */
typedef const cf_jit_ops *(*cf_jit_entry_fn)(void);

#endif
