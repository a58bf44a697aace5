// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* From module text to callable code: the table of kernels in memory, the cache on disk, the JIT component
 * (loaded on first need), and one compilation per job. */
#define _GNU_SOURCE
#include "codegen/cache.h"
#include "codegen/compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct kernel {
  cf_kernel pub;
  void *handle;        /* dlopen's, if it came as a shared object */
  char target[16];     /* of a device, or empty */
  struct kernel *next; /* all kernels of the owner */
} kernel;

struct cf_codegen {
  char *dump, *jit_path, *libdevice;
  int rank, size;
  cf_share_fn share;
  void *share_arg;
  cf_map table; /* text -> kernel */
  kernel *all;
  cf_cache *cache;
  cf_compiler *jit;
  void (*on_jit)(void);
  cf_codegen_stats stats;
};

/* ---- the JIT component */

/* libcofuse-jit.so beside the library (or program) that holds this function; NULL if unknown. */
static char *find_jit(void) {
  static const char file[] = "libcofuse-jit.so";
  Dl_info info;
  void *self;
  cf_status (*fn)(cf_codegen *, const char *, size_t, uint32_t, const char *, const cf_kernel **) =
      cf_kernel_get;
  memcpy(&self, &fn, sizeof self);
  if (!dladdr(self, &info) || !info.dli_fname)
    return NULL;
  const char *slash = strrchr(info.dli_fname, '/');
  size_t n = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
  char *path = malloc(n + sizeof file);
  if (!path)
    return NULL;
  memcpy(path, info.dli_fname, n);
  memcpy(path + n, file, sizeof file);
  struct stat sb;
  if (stat(path, &sb) == 0)
    return path;
  free(path);
  return strdup(file); /* the loader's search path */
}

static cf_status need_jit(cf_codegen *cg) {
  if (cg->jit)
    return CF_OK;
  CF_TRY(cf_compiler_open(cg->jit_path ? cg->jit_path : "libcofuse-jit.so", cf_log_level >= CF_LOG_DEBUG,
                          &cg->jit));
  return CF_OK;
}

/* ---- one kernel */

static cf_status load(cf_codegen *cg, const cf_code *code, kernel *k) {
  if (code->kind == CF_CODE_IMAGE) {
    void *copy = malloc(code->size + 1);
    if (!copy)
      return cf_fail(CF_ENOMEM, "out of memory for a kernel");
    memcpy(copy, code->data, code->size);
    ((char *)copy)[code->size] = 0;
    free((void *)(uintptr_t)k->pub.image);
    k->pub.image = copy;
    k->pub.image_size = code->size;
    return CF_OK;
  }
  if (code->kind == CF_CODE_SHARED)
    return cf_shared_load(code->data, code->size, k->pub.id, k->pub.nnests, k->pub.fn, &k->handle);
  CF_TRY(need_jit(cg));
  cf_status st = cf_compiler_load(cg->jit, code->data, code->size, k->pub.id, k->pub.nnests, k->pub.fn);
  if (cg->on_jit)
    cg->on_jit();
  return st;
}

static void dump_text(const cf_codegen *cg, const kernel *k, const char *text, size_t len, const char *name) {
  cf_buf path = {0};
  cf_buf_printf(&path, "%s/%s.mlir", cg->dump, k->pub.id);
  if (mkdir(cg->dump, 0777) != 0 && errno != EEXIST)
    cf_log(CF_LOG_WARN, "cannot create the dump folder %s: %s", cg->dump, strerror(errno));
  FILE *f = path.failed ? NULL : fopen(path.data, "w");
  if (f) {
    fprintf(f, "// %s\n", name ? name : "");
    fwrite(text, 1, len, f);
    fclose(f);
  } else {
    cf_log(CF_LOG_WARN, "cannot write to the dump folder %s: %s", cg->dump, strerror(errno));
  }
  cf_buf_free(&path);
}

static cf_status compile(cf_codegen *cg, const char *text, size_t len, const char *name, const kernel *k,
                         cf_code *code) {
  double t0 = cf_now();
  CF_TRY(need_jit(cg));
  cf_jit_job job = {.text = text,
                    .len = len,
                    .nnests = k->pub.nnests,
                    .id = k->pub.id,
                    .name = name,
                    .dump = cg->dump,
                    .target = k->target[0] ? k->target : NULL,
                    .libdevice = cg->libdevice};
  cf_status st = cf_compiler_compile(cg->jit, &job, &code->data, &code->size);
  if (st != CF_OK) {
    char *why = strdup(cf_last_error());
    cf_fail(st, "kernel %s (%s): %s", k->pub.id, name ? name : "unnamed", why ? why : "out of memory");
    free(why);
    return st;
  }
  code->kind = strncmp(k->target, "sm_", 3) == 0 ? CF_CODE_IMAGE : CF_CODE_OBJECT;
  cg->stats.compiled++;
  double t1 = cf_now();
  cg->stats.compile_ms += 1e3 * (t1 - t0);
  cf_trace_span(CF_TRACE_COMPILER, t0, t1, name ? name : k->pub.id, "kernel %s", k->pub.id);
  if (cg->on_jit)
    cg->on_jit();
  return CF_OK;
}

/* Finds or makes the code and loads it. Whoever asks for dumps wants to see files: no look-up on disk. */
static cf_status obtain(cf_codegen *cg, const char *text, size_t len, const char *name, kernel *k,
                        cf_code *code) {
  if (cg->dump)
    dump_text(cg, k, text, len, name);
  if (cg->cache && !cg->dump && cf_cache_get(cg->cache, text, len, code)) {
    if (load(cg, code, k) == CF_OK) {
      cg->stats.hits_disk++;
      return CF_OK;
    }
    cf_log(CF_LOG_WARN, "a kernel from the cache does not load and is compiled again: %s", cf_last_error());
    free(code->data);
    *code = (cf_code){0};
  }
  CF_TRY(compile(cg, text, len, name, k, code));
  CF_TRY(load(cg, code, k));
  if (cg->cache)
    cf_cache_put(cg->cache, text, len, code);
  return CF_OK;
}

/* ---- sharing: what rank 0 sends. Failure: status, then the message. Success: the code. */
typedef struct message {
  int32_t status;
  int32_t kind;
  uint64_t cpu; /* rank 0's */
  uint64_t size;
} message;

static cf_status send_code(cf_codegen *cg, cf_status st, const cf_code *code) {
  const void *payload = st == CF_OK ? code->data : cf_last_error();
  size_t n = st == CF_OK ? code->size : strlen(cf_last_error());
  message head = {st, st == CF_OK ? code->kind : CF_CODE_NONE, cf_cpu_identity(), n};
  size_t len = sizeof head + n;
  char *buf = malloc(len);
  if (!buf) { /* the others wait: tell them at least that */
    head = (message){CF_ENOMEM, CF_CODE_NONE, 0, 0};
    void *p = &head;
    len = sizeof head;
    cg->share(cg->share_arg, &p, &len);
    return cf_fail(CF_ENOMEM, "out of memory for a kernel of %zu bytes", n);
  }
  memcpy(buf, &head, sizeof head);
  memcpy(buf + sizeof head, payload, n);
  void *p = buf;
  cf_status sent = cg->share(cg->share_arg, &p, &len);
  free(buf);
  return st == CF_OK ? sent : st;
}

/* A rank on another model of CPU cannot run rank 0's code and compiles for itself, to the same results. */
static cf_status receive_code(cf_codegen *cg, const char *text, size_t len, const char *name, kernel *k,
                              cf_code *code) {
  void *buf = NULL;
  size_t n = 0;
  CF_TRY(cg->share(cg->share_arg, &buf, &n));
  message head;
  if (n < sizeof head) {
    free(buf);
    return cf_fail(CF_ECOMM, "rank 0 sent a kernel of %zu bytes", n);
  }
  memcpy(&head, buf, sizeof head);
  const char *payload = (const char *)buf + sizeof head;
  cf_status st = CF_OK;
  if (head.size != n - sizeof head) {
    st = cf_fail(CF_ECOMM, "rank 0 sent %zu bytes of a kernel of %llu", n - sizeof head,
                 (unsigned long long)head.size);
  } else if (head.status != CF_OK) {
    st = cf_fail((cf_status)head.status, "on rank 0: %.*s", (int)head.size, payload);
  } else if (head.kind != CF_CODE_IMAGE && head.cpu != cf_cpu_identity()) {
    cf_codegen_stats keep = cg->stats;
    st = compile(cg, text, len, name, k, code);
    cg->stats = keep;
    if (st == CF_OK)
      st = load(cg, code, k);
  } else {
    cf_code got = {head.kind, (void *)(uintptr_t)payload, head.size};
    st = load(cg, &got, k);
  }
  free(buf);
  return st;
}

static void kernel_free(kernel *k) {
  if (k->handle)
    dlclose(k->handle);
  free(k->pub.fn);
  free((void *)(uintptr_t)k->pub.image);
  free(k);
}

/* The target that the first line of the text names. */
static void take_target(kernel *k, const char *text, size_t len) {
  size_t skip = sizeof CF_CG_TARGET - 1;
  if (len <= skip || memcmp(text, CF_CG_TARGET, skip) != 0)
    return;
  for (size_t i = 0; i + 1 < sizeof k->target && skip + i < len && text[skip + i] != '\n'; i++)
    k->target[i] = text[skip + i];
}

cf_status cf_kernel_get(cf_codegen *cg, const char *text, size_t len, uint32_t nnests, const char *name,
                        const cf_kernel **out) {
  kernel *k = cf_map_get(&cg->table, text, len);
  if (k) {
    if (k->pub.nnests != nnests)
      return cf_fail(CF_EINTERNAL, "kernel %s has %u nests, not %u", k->pub.id, k->pub.nnests, nnests);
    if (cg->rank == 0)
      cg->stats.hits_memory++;
    *out = &k->pub;
    return CF_OK;
  }
  k = calloc(1, sizeof *k);
  if (k)
    k->pub.fn = calloc(nnests ? nnests : 1, sizeof *k->pub.fn);
  if (!k || !k->pub.fn) {
    free(k);
    return cf_fail(CF_ENOMEM, "out of memory for a kernel");
  }
  k->pub.nnests = nnests;
  cf_hash128_hex(text, len, k->pub.id);
  take_target(k, text, len);
  cf_code code = {0};
  cf_status st;
  if (cg->rank != 0) {
    st = receive_code(cg, text, len, name, k, &code);
  } else {
    st = obtain(cg, text, len, name, k, &code);
    if (cg->size > 1)
      st = send_code(cg, st, &code);
  }
  free(code.data);
  if (st == CF_OK)
    st = cf_map_put(&cg->table, text, len, k);
  if (st != CF_OK) {
    kernel_free(k);
    return st;
  }
  k->next = cg->all;
  cg->all = k;
  *out = &k->pub;
  return CF_OK;
}

cf_status cf_kernel_precompile(cf_codegen *cg, const char *text, size_t len, uint32_t nnests,
                               const char *name) {
  if (cg->rank != 0)
    return CF_OK;
  if (!cg->cache && !cg->dump)
    return cf_fail(CF_EINVAL,
                   "COFUSE_TARGET fills the kernel cache, but there is none: set COFUSE_CACHE_DIR to a "
                   "folder that can be written to");
  kernel k = {.pub.nnests = nnests};
  cf_hash128_hex(text, len, k.pub.id);
  take_target(&k, text, len);
  cf_code code = {0};
  if (cg->dump)
    dump_text(cg, &k, text, len, name);
  cf_status st = CF_OK;
  if (!cg->cache || cg->dump || !cf_cache_get(cg->cache, text, len, &code)) {
    st = compile(cg, text, len, name, &k, &code);
    if (st == CF_OK && cg->cache)
      cf_cache_put(cg->cache, text, len, &code);
  }
  free(code.data);
  return st;
}

/* ---- life time */

cf_status cf_codegen_create(const cf_options *opt, int rank, int size, cf_share_fn share, void *share_arg,
                            cf_codegen **out) {
  if (size > 1 && !share)
    return cf_fail(CF_EINTERNAL, "code generation on %d ranks without a way to share", size);
  cf_codegen *cg = calloc(1, sizeof *cg);
  if (!cg)
    return cf_fail(CF_ENOMEM, "out of memory");
  cg->rank = rank;
  cg->size = size;
  cg->share = share;
  cg->share_arg = share_arg;
  cg->jit_path = find_jit();
  cf_status st = CF_OK;
  if (opt->libdevice && *opt->libdevice && !(cg->libdevice = strdup(opt->libdevice)))
    st = cf_fail(CF_ENOMEM, "out of memory");
  if (st == CF_OK && rank == 0) { /* the other ranks are given their code */
    if (opt->dump && *opt->dump && !(cg->dump = strdup(opt->dump)))
      st = cf_fail(CF_ENOMEM, "out of memory");
    if (st == CF_OK)
      st = cf_cache_open(opt->cache_dir, cg->jit_path, &cg->cache);
  }
  if (st == CF_OK)
    *out = cg;
  else
    cf_codegen_destroy(cg);
  return st;
}

void cf_codegen_close(cf_codegen *cg) {
  for (kernel *k = cg->all, *next; k; k = next) {
    next = k->next;
    kernel_free(k);
  }
  cg->all = NULL;
  cf_map_free(&cg->table);
  cg->table = (cf_map){0};
  cf_compiler_close(cg->jit);
  cg->jit = NULL;
  cf_cache_close(cg->cache);
  cg->cache = NULL;
}

void cf_codegen_destroy(cf_codegen *cg) {
  if (!cg)
    return;
  cf_codegen_close(cg);
  free(cg->dump);
  free(cg->jit_path);
  free(cg->libdevice);
  free(cg);
}

void cf_codegen_on_jit(cf_codegen *cg, void (*fn)(void)) { cg->on_jit = fn; }

const cf_codegen_stats *cf_codegen_get_stats(const cf_codegen *cg) { return &cg->stats; }
