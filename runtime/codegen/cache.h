// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Private to codegen: compiled kernels on disk, and shared objects into the process. No LLVM here. */
#ifndef CF_CODEGEN_CACHE_H
#define CF_CODEGEN_CACHE_H

#include "codegen/codegen.h"

enum cf_code_kind {
  CF_CODE_NONE,
  CF_CODE_SHARED,
  CF_CODE_OBJECT,
  CF_CODE_IMAGE, /* of a device, for its driver: not linked */
};

typedef struct cf_code {
  int kind;   /* enum cf_code_kind */
  void *data; /* malloc'ed, owned by the holder */
  size_t size;
} cf_code;

typedef struct cf_cache cf_cache;

/* dir: NULL = default folder, "off" = none. jit_path: the JIT component (its size and date are part of
 * every key, so that an installation with another code generator does not see old code) or NULL.
 * *out is NULL when there is no cache, which is no error: a folder that cannot be used gives one warning. */
cf_status cf_cache_open(const char *dir, const char *jit_path, cf_cache **out);
/* Looks a module text up. false: no entry, or one that must not be trusted (one warning). `id` names the
 * functions inside, see jit.h. An entry that holds an object is handed to the linker again. */
bool cf_cache_get(cf_cache *c, const char *text, size_t len, cf_code *out);
/* Stores the object of a text and starts to link it in the background; or an image. Failures only warn. */
void cf_cache_put(cf_cache *c, const char *text, size_t len, const cf_code *code);
void cf_cache_close(cf_cache *c); /* waits for the linker; NULL is fine */

/* Identity of this machine's CPU: model and features, without asking LLVM. 0 = unknown. */
uint64_t cf_cpu_identity(void);

/* ---- link.c: one external linker run per object, a few at a time, in the background */
typedef struct cf_linker cf_linker;
/* ok: out holds the shared object. Called from cf_linker_add, _poll or _close, on the caller's thread. */
typedef void (*cf_link_done_fn)(void *arg, const char *out, bool ok);
/* NULL if no linker is installed or memory is short: the cache then keeps objects. */
cf_linker *cf_linker_open(void);
/* Copies the paths. Owns arg until done is called with it. */
void cf_linker_add(cf_linker *l, const char *in, const char *out, cf_link_done_fn done, void *arg);
void cf_linker_poll(cf_linker *l);  /* collects what has ended, starts what waits */
void cf_linker_close(cf_linker *l); /* waits for all; NULL is fine */

/* ---- load.c: a shared object in memory becomes code; *handle for dlclose */
cf_status cf_shared_load(const void *data, size_t size, const char *id, uint32_t nnests, cf_kernel_fn *fn,
                         void **handle);

#endif
