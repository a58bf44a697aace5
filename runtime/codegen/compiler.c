// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* One request at a time, handed to the compiler's thread and waited for. */
#include "codegen/compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum request_kind { CREATE, COMPILE, LOAD, DESTROY };

typedef struct request {
  enum request_kind kind;
  const cf_jit_job *job; /* COMPILE */
  void **object;
  size_t *object_size;
  const void *data; /* LOAD */
  size_t size;
  const char *id;
  uint32_t nnests;
  cf_kernel_fn *fn;
  cf_status status;
  char *error; /* malloc'ed */
} request;

struct cf_compiler {
  const cf_jit_ops *ops;
  cf_jit *jit;
  bool verify;
  pid_t owner;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  request *pending;
  bool quit;
};

static void serve(cf_compiler *c, request *r) {
  switch (r->kind) {
  case CREATE:
    r->status = c->ops->create(c->verify, &c->jit, &r->error);
    break;
  case COMPILE:
    r->status = c->ops->compile(c->jit, r->job, r->object, r->object_size, &r->error);
    break;
  case LOAD:
    r->status = c->ops->load(c->jit, r->data, r->size, r->id, r->nnests, r->fn, &r->error);
    break;
  case DESTROY:
    if (c->jit)
      c->ops->destroy(c->jit);
    c->quit = true;
    break;
  }
}

static void *compiler_thread(void *arg) {
  cf_compiler *c = arg;
  pthread_mutex_lock(&c->lock);
  while (!c->quit) {
    if (!c->pending) {
      pthread_cond_wait(&c->changed, &c->lock);
      continue;
    }
    serve(c, c->pending); /* the requester waits, so nobody else needs the lock */
    c->pending = NULL;
    pthread_cond_broadcast(&c->changed);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

static cf_status ask(cf_compiler *c, request *r) {
  if (getpid() != c->owner)
    return cf_fail(CF_EJIT, "a forked child cannot compile kernels: run what is pending before fork");
  pthread_mutex_lock(&c->lock);
  c->pending = r;
  pthread_cond_broadcast(&c->changed);
  while (c->pending == r)
    pthread_cond_wait(&c->changed, &c->lock);
  pthread_mutex_unlock(&c->lock);
  if (r->status != CF_OK)
    cf_fail(r->status, "%s", r->error ? r->error : "out of memory in the kernel compiler");
  free(r->error);
  return r->status;
}

cf_status cf_compiler_open(const char *path, bool verify, cf_compiler **out) {
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* never closed: LLVM does not survive that */
  if (!h)
    return cf_fail(CF_EJIT, "cannot load the kernel compiler %s: %s", path, dlerror());
  void *symbol = dlsym(h, CF_JIT_SYMBOL);
  cf_jit_entry_fn entry;
  memcpy(&entry, &symbol, sizeof entry);
  const cf_jit_ops *ops = symbol ? entry() : NULL;
  if (!ops || ops->version != CF_JIT_VERSION)
    return cf_fail(CF_EABI, "%s belongs to another version of cofuse", path);
  cf_compiler *c = calloc(1, sizeof *c);
  if (!c)
    return cf_fail(CF_ENOMEM, "out of memory for the kernel compiler");
  c->ops = ops;
  c->verify = verify;
  c->owner = getpid();
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->changed, NULL);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, (size_t)32 << 20); /* LLVM recurses over deep expressions */
  int rc = pthread_create(&c->thread, &attr, compiler_thread, c);
  pthread_attr_destroy(&attr);
  if (rc != 0) {
    free(c);
    return cf_fail(CF_EJIT, "cannot start the kernel compiler's thread: %s", strerror(rc));
  }
  request r = {.kind = CREATE};
  cf_status st = ask(c, &r);
  if (st != CF_OK) {
    cf_compiler_close(c);
    return st;
  }
  *out = c;
  return CF_OK;
}

cf_status cf_compiler_compile(cf_compiler *c, const cf_jit_job *job, void **object, size_t *size) {
  request r = {.kind = COMPILE, .job = job, .object = object, .object_size = size};
  return ask(c, &r);
}

cf_status cf_compiler_load(cf_compiler *c, const void *object, size_t size, const char *id, uint32_t nnests,
                           cf_kernel_fn *fn) {
  request r = {.kind = LOAD, .data = object, .size = size, .id = id, .nnests = nnests, .fn = fn};
  return ask(c, &r);
}

void cf_compiler_close(cf_compiler *c) {
  if (!c)
    return;
  if (getpid() == c->owner) { /* a forked child has no such thread */
    request r = {.kind = DESTROY};
    ask(c, &r);
    pthread_join(c->thread, NULL);
  }
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->changed);
  free(c);
}
