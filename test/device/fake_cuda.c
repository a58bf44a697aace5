// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* A libcuda.so.1 without a GPU, for test/device: what runtime/device/cuda.c asks of a driver, done as late as
 * a driver may do it. Work waits in a queue until somebody synchronises, so whoever uses a buffer again too
 * soon sends wrong data; and the host cannot touch the memory of the device, which has no access rights but
 * while the queue runs. A module's image is a struct fake_image: the kernel is a C function; or it is PTX, if
 * FAKE_CUDA_PTX names test/gpu/ptx_to_c.py: that makes a shared object of it, in the folder FAKE_CUDA_CACHE.
 * Such kernels may touch what was allocated on the device, and nothing else. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda_driver.h"
#include "device/device.h"

enum { OUT_OF_MEMORY = 2, INVALID = 1, NOT_FOUND = 500 };

typedef struct block {
  struct block *next;
  char *mem;
  size_t bytes, whole;
} block;

/* What ptx_to_c.py writes. */
typedef struct ptx_kernel {
  const char *name;
  void (*fn)(const uint32_t *ids, char *result, char *const *params);
  int n, bytes[4];
} ptx_kernel;
typedef struct ptx_data {
  const unsigned char *at;
  size_t bytes;
} ptx_data;

struct CUmod_st {
  const fake_image *image; /* or: */
  void *handle;
  const ptx_kernel *kernels;
  const ptx_data *data;
  struct CUmod_st *next;
};

typedef struct work {
  struct work *next;
  enum { COPY, FILL, LAUNCH, RELEASE, MARK } what;
  void *to;
  const void *from;
  size_t n;
  int byte;
  fake_kernel fn;
  const ptx_kernel *ptx;
  char *params[4]; /* of ptx */
  cf_device_box box;
  unsigned grid[6];
} work;

struct CUevent_st {
  work *mark; /* the last record; NULL: has happened */
};

static block *blocks;
static work *first, **last = &first;
static size_t used, limit = 64 << 20;
static int contexts, pending;
static _Thread_local int current; /* contexts on this thread's stack */
static cu_module modules;
static const char *running; /* kernel */

/* Memory of the device that a kernel touches. */
static void *touch(uint64_t at, uint64_t bytes) {
  if (at % bytes) {
    fprintf(stderr, "fake cuda: kernel %s touches %llu bytes at %#llx, which is not aligned\n", running,
            (unsigned long long)bytes, (unsigned long long)at);
    abort();
  }
  for (const block *b = blocks; b; b = b->next)
    if (at - (uintptr_t)b->mem < b->bytes && at - (uintptr_t)b->mem + bytes <= b->bytes)
      return (void *)(uintptr_t)at;
  for (cu_module m = modules; m; m = m->next)
    for (const ptx_data *d = m->data; d && d->at; d++)
      if (at - (uintptr_t)d->at < d->bytes && at - (uintptr_t)d->at + bytes <= d->bytes)
        return (void *)(uintptr_t)at;
  fprintf(stderr, "fake cuda: kernel %s touches %llu bytes at %#llx, where the device has no memory\n",
          running, (unsigned long long)bytes, (unsigned long long)at);
  abort();
}

static void rights(int prot) {
  for (block *b = blocks; b; b = b->next)
    mprotect(b->mem, b->whole, prot);
}

static void drop(void *p) {
  for (block **at = &blocks; *at; at = &(*at)->next)
    if ((*at)->mem == p) {
      block *b = *at;
      *at = b->next;
      used -= b->bytes;
      munmap(b->mem, b->whole);
      free(b);
      return;
    }
  fprintf(stderr, "fake cuda: release of what is no memory\n");
  abort();
}

static void launch_ptx(work *w) {
  running = w->ptx->name;
  const unsigned *g = w->grid;
  uint32_t ids[12] = {[3] = g[3], g[4], g[5], [9] = g[0], g[1], g[2]};
  for (ids[8] = 0; ids[8] < g[2]; ids[8]++)
    for (ids[7] = 0; ids[7] < g[1]; ids[7]++)
      for (ids[6] = 0; ids[6] < g[0]; ids[6]++)
        for (ids[2] = 0; ids[2] < g[5]; ids[2]++)
          for (ids[1] = 0; ids[1] < g[4]; ids[1]++)
            for (ids[0] = 0; ids[0] < g[3]; ids[0]++)
              w->ptx->fn(ids, NULL, w->params);
  for (int p = 0; p < w->ptx->n; p++)
    free(w->params[p]);
}

static void launch(work *w) {
  if (w->ptx) {
    launch_ptx(w);
    return;
  }
  cf_device_box b = w->box;
  for (int a = 0; a < 3; a++) {
    b.ids[3 + a] = (int32_t)w->grid[3 + a];
    b.ids[9 + a] = (int32_t)w->grid[a];
  }
  for (unsigned c = 0; c < w->grid[0] * w->grid[1] * w->grid[2]; c++)
    for (unsigned t = 0; t < w->grid[3] * w->grid[4] * w->grid[5]; t++) {
      b.ids[0] = (int32_t)(t % w->grid[3]);
      b.ids[1] = (int32_t)(t / w->grid[3] % w->grid[4]);
      b.ids[2] = (int32_t)(t / w->grid[3] / w->grid[4]);
      b.ids[6] = (int32_t)(c % w->grid[0]);
      b.ids[7] = (int32_t)(c / w->grid[0] % w->grid[1]);
      b.ids[8] = (int32_t)(c / w->grid[0] / w->grid[1]);
      w->fn(w->from, &b, w->to);
    }
}

/* Everything, or everything up to a mark. */
static void drain(const work *until) {
  rights(PROT_READ | PROT_WRITE);
  while (first) {
    work *w = first;
    first = w->next;
    if (!first)
      last = &first;
    pending--;
    bool done = w == until;
    switch (w->what) {
    case COPY:
      memmove(w->to, w->from, w->n);
      break;
    case FILL:
      memset(w->to, w->byte, w->n);
      break;
    case LAUNCH:
      launch(w);
      break;
    case RELEASE:
      drop(w->to);
      break;
    case MARK:
      ((cu_event)w->to)->mark = NULL;
      break;
    }
    free(w);
    if (done)
      break;
  }
  rights(PROT_NONE);
}

struct CUgraphNode_st {
  work launch;
  cu_node next; /* the one added before */
  int level;    /* above all that it depends on */
};
struct CUgraph_st {
  cu_node first; /* added last */
  int levels;
};

static work *push(work w) {
  work *p = malloc(sizeof *p);
  *p = w;
  p->next = NULL;
  *last = p;
  last = &p->next;
  pending++;
  return p;
}

/* ---- the API */

#define API __attribute__((visibility("default")))
#define NEED(x)                                                                                              \
  if (!(x))                                                                                                  \
  return INVALID

#define X(name, symbol, parameters) API cu_result symbol parameters;
CU_FUNCTIONS(X)
#undef X

cu_result cuInit(unsigned flags) {
  const char *most = getenv("FAKE_CUDA_MEGABYTES");
  if (most)
    limit = (size_t)atoi(most) << 20;
  if (getenv("FAKE_CUDA_BYTES"))
    limit = (size_t)atoi(getenv("FAKE_CUDA_BYTES"));
  if (getenv("FAKE_CUDA_FORKS")) {
    pid_t p = fork();
    if (p == 0)
      _exit(0);
    waitpid(p, NULL, 0);
  }
  return flags ? INVALID : CU_SUCCESS;
}
cu_result cuDriverGetVersion(int *version) {
  const char *old = getenv("FAKE_CUDA_VERSION");
  return *version = old ? atoi(old) : 12000, CU_SUCCESS;
}
cu_result cuGetErrorName(cu_result r, const char **name) {
  return *name = r == OUT_OF_MEMORY ? "OUT_OF_MEMORY" : "SOME_ERROR", CU_SUCCESS;
}
cu_result cuGetErrorString(cu_result r, const char **text) {
  return *text = r == NOT_FOUND ? "not found" : "a fake error", CU_SUCCESS;
}
cu_result cuDeviceGetCount(int *n) { return *n = getenv("FAKE_CUDA_NONE") ? 0 : 2, CU_SUCCESS; }
cu_result cuDeviceGet(cu_device *d, int ordinal) {
  NEED(ordinal >= 0 && ordinal < 2);
  return *d = ordinal, CU_SUCCESS;
}
cu_result cuDeviceGetName(char *name, int n, cu_device d) {
  return snprintf(name, (size_t)n, "fake %d", d), CU_SUCCESS;
}
cu_result cuDeviceGetUuid(unsigned char id[16], cu_device d) {
  memset(id, 1 + d, 16);
  return CU_SUCCESS;
}
cu_result cuDeviceGetAttribute(int *v, int attribute, cu_device d) {
  (void)d;
  const char *old = getenv("FAKE_CUDA_MAJOR"), *pools = getenv("FAKE_CUDA_POOLS");
  *v = attribute == CU_ATTRIBUTE_PROCESSORS ? 2
       : attribute == CU_ATTRIBUTE_MAJOR    ? (old ? atoi(old) : 9)
       : attribute == CU_ATTRIBUTE_POOLS    ? (pools ? atoi(pools) : 1)
                                            : 0;
  return CU_SUCCESS;
}
cu_result cuDeviceGetDefaultMemPool(cu_pool *p, cu_device d) {
  (void)d;
  return *p = (cu_pool)(uintptr_t)16, CU_SUCCESS;
}
cu_result cuMemPoolSetAttribute(cu_pool p, int attribute, void *value) {
  (void)value;
  NEED(p && attribute == CU_POOL_RELEASE_THRESHOLD);
  return CU_SUCCESS;
}
cu_result cuMemPoolTrimTo(cu_pool p, size_t keep) {
  NEED(p && !keep);
  return CU_SUCCESS;
}
cu_result cuDevicePrimaryCtxRetain(cu_context *c, cu_device d) {
  contexts++;
  return *c = (cu_context)(uintptr_t)(64 + d), CU_SUCCESS;
}
cu_result cuDevicePrimaryCtxRelease_v2(cu_device d) {
  (void)d;
  NEED(contexts-- > 0 && !pending && !blocks);
  return CU_SUCCESS;
}
cu_result cuCtxPushCurrent_v2(cu_context c) {
  NEED(c);
  return current++, CU_SUCCESS;
}
cu_result cuCtxPopCurrent_v2(cu_context *c) {
  NEED(current > 0);
  return *c = (cu_context)(uintptr_t)64, current--, CU_SUCCESS;
}
cu_result cuMemGetInfo_v2(size_t *some, size_t *all) {
  *all = limit;
  *some = limit - used;
  return CU_SUCCESS;
}

static cu_result allocate(cu_address *p, size_t n) {
  NEED(current && n);
  if (used + n > limit)
    return OUT_OF_MEMORY;
  block *b = malloc(sizeof *b);
  size_t whole = (n + 4095) / 4096 * 4096;
  *b = (block){blocks, mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), n, whole};
  blocks = b;
  used += n;
  *p = (cu_address)(uintptr_t)b->mem;
  return CU_SUCCESS;
}
cu_result cuMemAlloc_v2(cu_address *p, size_t n) { return allocate(p, n); }
cu_result cuMemFree_v2(cu_address p) {
  drain(NULL);
  drop((void *)(uintptr_t)p);
  return CU_SUCCESS;
}
cu_result cuMemAllocAsync(cu_address *p, size_t n, cu_stream s) {
  NEED(s);
  return allocate(p, n); /* what is still to be released counts */
}
cu_result cuMemFreeAsync(cu_address p, cu_stream s) {
  NEED(current && s);
  push((work){.what = RELEASE, .to = (void *)(uintptr_t)p});
  return CU_SUCCESS;
}
cu_result cuMemAllocHost_v2(void **p, size_t n) {
  NEED(current);
  return (*p = malloc(n)) ? CU_SUCCESS : OUT_OF_MEMORY;
}
cu_result cuMemFreeHost(void *p) {
  NEED(!pending);
  free(p);
  return CU_SUCCESS;
}
static cu_result copy(void *to, const void *from, size_t n, cu_stream s) {
  NEED(current && s && n);
  push((work){.what = COPY, .to = to, .from = from, .n = n});
  return CU_SUCCESS;
}
cu_result cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t n, cu_stream s) {
  return copy((void *)(uintptr_t)to, from, n, s);
}
cu_result cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t n, cu_stream s) {
  return copy(to, (const void *)(uintptr_t)from, n, s);
}
cu_result cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t n, cu_stream s) {
  return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n, s);
}
cu_result cuMemcpy2DAsync_v2(const cu_copy_2d *c, cu_stream s) {
  NEED(s && c->width && c->height && c->from_kind != c->to_kind && c->from_pitch >= c->width &&
       c->to_pitch >= c->width);
  NEED(!c->from_x && !c->from_y && !c->to_x && !c->to_y && !c->from_array && !c->to_array);
  char *to = c->to_kind == CU_MEMORY_HOST ? c->to_host : (char *)(uintptr_t)c->to_device;
  const char *from = c->from_kind == CU_MEMORY_HOST ? c->from_host : (const char *)(uintptr_t)c->from_device;
  NEED(to && from);
  for (size_t r = 0; r < c->height; r++)
    push((work){.what = COPY, .to = to + r * c->to_pitch, .from = from + r * c->from_pitch, .n = c->width});
  return CU_SUCCESS;
}
cu_result cuMemsetD8Async(cu_address p, unsigned char byte, size_t n, cu_stream s) {
  NEED(s && n);
  push((work){.what = FILL, .to = (void *)(uintptr_t)p, .byte = byte, .n = n});
  return CU_SUCCESS;
}
cu_result cuStreamCreate(cu_stream *s, unsigned flags) {
  NEED(flags == CU_STREAM_NON_BLOCKING);
  return *s = (cu_stream)(uintptr_t)32, CU_SUCCESS;
}
cu_result cuStreamDestroy_v2(cu_stream s) {
  NEED(s);
  return CU_SUCCESS;
}
cu_result cuStreamSynchronize(cu_stream s) {
  NEED(current && s);
  drain(NULL);
  return CU_SUCCESS;
}
cu_result cuEventCreate(cu_event *e, unsigned flags) {
  (void)flags;
  *e = calloc(1, sizeof **e);
  return CU_SUCCESS;
}
cu_result cuEventDestroy_v2(cu_event e) { return free(e), CU_SUCCESS; }
cu_result cuEventRecord(cu_event e, cu_stream s) {
  NEED(current && s);
  e->mark = push((work){.what = MARK, .to = e});
  return CU_SUCCESS;
}
cu_result cuEventSynchronize(cu_event e) {
  if (e->mark)
    drain(e->mark);
  return CU_SUCCESS;
}
/* Errors: NULL; what the tool says of them goes to standard error. */
static void *translate(const char *text) {
  const char *tool = getenv("FAKE_CUDA_PTX"), *folder = getenv("FAKE_CUDA_CACHE");
  if (!tool || !folder || !strstr(text, ".version"))
    return NULL;
  uint64_t h = 14695981039346656037u;
  for (const char *c = text; *c; c++)
    h = (h ^ (unsigned char)*c) * 1099511628211u;
  char so[4096], command[3 * 4096 + 100], own[4096];
  snprintf(so, sizeof so, "%s/%016llx.so", folder, (unsigned long long)h);
  if (access(so, R_OK) != 0) {
    snprintf(own, sizeof own, "%s/%d", folder, (int)getpid());
    snprintf(command, sizeof command, "%s.ptx", own);
    FILE *f = fopen(command, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
      return NULL;
    snprintf(command, sizeof command, "'%s' '%s.ptx' '%s.so' && mv '%s.so' '%s'", tool, own, own, own, so);
    if (system(command) != 0)
      return NULL;
  }
  return dlopen(so, RTLD_NOW | RTLD_LOCAL);
}

cu_result cuModuleLoadDataEx(cu_module *m, const void *image, unsigned n, const int *options, void **values) {
  const fake_image *i = image;
  cu_module made = calloc(1, sizeof *made);
  if (strncmp(image, FAKE_MAGIC, sizeof i->magic) == 0) { /* PTX may be shorter */
    made->image = i;
  } else if ((made->handle = translate(image))) {
    made->kernels = dlsym(made->handle, "fake_cuda_kernels");
    made->data = dlsym(made->handle, "fake_cuda_data");
    *(void *(**)(uint64_t, uint64_t))dlsym(made->handle, "fake_cuda_memory") = touch;
  } else {
    for (unsigned k = 0; k < n; k++)
      if (options[k] == CU_JIT_ERROR_LOG)
        strcpy(values[k], "line 1: no fake kernel");
    free(made);
    return INVALID;
  }
  made->next = modules;
  modules = made;
  return *m = made, CU_SUCCESS;
}
cu_result cuModuleUnload(cu_module m) {
  NEED(m);
  drain(NULL);
  for (cu_module *at = &modules; *at; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  if (m->handle)
    dlclose(m->handle);
  free(m);
  return CU_SUCCESS;
}
cu_result cuModuleGetFunction(cu_function *f, cu_module m, const char *name) {
  if (m->image && strcmp(name, m->image->name) == 0)
    return *f = (cu_function)(uintptr_t)m->image, CU_SUCCESS;
  for (const ptx_kernel *k = m->kernels; k && k->name; k++)
    if (strcmp(name, k->name) == 0)
      return *f = (cu_function)(uintptr_t)k, CU_SUCCESS;
  return NOT_FOUND;
}
static work work_of(cu_function f, const unsigned *grid, void **params) {
  const fake_image *i = (const void *)f;
  work w = {.what = LAUNCH, .grid = {grid[0], grid[1], grid[2], grid[3], grid[4], grid[5]}};
  bool image = false;
  for (cu_module m = modules; m; m = m->next)
    image |= m->image == i;
  if (image) {
    w.fn = i->fn;
    w.from = (const void *)(uintptr_t)*(cu_address *)params[0];
    memcpy(&w.box, params[1], sizeof w.box);
    w.to = (void *)(uintptr_t)*(cu_address *)params[2];
  } else {
    w.ptx = (const void *)f;
    for (int p = 0; p < w.ptx->n; p++) {
      w.params[p] = malloc((size_t)w.ptx->bytes[p]);
      memcpy(w.params[p], params[p], (size_t)w.ptx->bytes[p]);
    }
  }
  return w;
}

static bool fits(const unsigned *g) {
  return g[3] * g[4] * g[5] <= 1024 && g[5] <= 64 && g[1] <= 65535 && g[2] <= 65535 && g[0] && g[1] && g[2];
}

cu_result cuLaunchKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned shared, cu_stream s, void **params, void **extra) {
  const unsigned grid[] = {gx, gy, gz, bx, by, bz};
  NEED(current && s && !shared && !extra && fits(grid));
  push(work_of(f, grid, params));
  return CU_SUCCESS;
}

/* ---- graphs: what does not depend on one another runs in the reverse order of its making */
cu_result cuGraphCreate(cu_graph *g, unsigned flags) {
  NEED(!flags);
  return *g = calloc(1, sizeof **g), CU_SUCCESS;
}
static cu_node add_node(cu_graph g, work w, int level) {
  cu_node n = calloc(1, sizeof *n);
  *n = (struct CUgraphNode_st){w, g->first, level};
  g->levels = level < g->levels ? g->levels : level + 1;
  return g->first = n;
}
cu_result cuGraphAddKernelNode(cu_node *node, cu_graph g, const cu_node *after, size_t nafter,
                               const cu_kernel_node *k) {
  const unsigned grid[] = {k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]};
  NEED(k->fn && !k->shared && !k->extra && fits(grid));
  int level = 0;
  for (size_t i = 0; i < nafter; i++) {
    cu_node n = g->first;
    while (n && n != after[i])
      n = n->next;
    NEED(n);
    level = n->level < level ? level : n->level + 1;
  }
  return *node = add_node(g, work_of(k->fn, grid, k->params), level), CU_SUCCESS;
}
static work copy_of(const work *w) {
  work c = *w;
  for (int p = 0; c.ptx && p < c.ptx->n; p++) {
    c.params[p] = malloc((size_t)c.ptx->bytes[p]);
    memcpy(c.params[p], w->params[p], (size_t)c.ptx->bytes[p]);
  }
  return c;
}
cu_result cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph g, unsigned long long flags) {
  const char *graphs = getenv("FAKE_CUDA_GRAPHS");
  NEED(!flags && g->first && !(graphs && !atoi(graphs)));
  cu_graph copy = calloc(1, sizeof *copy);
  cu_node *end = &copy->first;
  for (int level = 0; level < g->levels; level++)
    for (cu_node n = g->first; n; n = n->next)
      if (n->level == level) {
        *end = calloc(1, sizeof **end);
        (*end)->launch = copy_of(&n->launch);
        end = &(*end)->next;
      }
  return *exec = (cu_graph_exec)(void *)copy, CU_SUCCESS;
}
cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream s) {
  NEED(current && exec && s);
  for (cu_node n = ((cu_graph)(void *)exec)->first; n; n = n->next)
    push(copy_of(&n->launch));
  return CU_SUCCESS;
}
cu_result cuGraphDestroy(cu_graph g) {
  NEED(g);
  while (g->first) {
    cu_node n = g->first;
    g->first = n->next;
    for (int p = 0; n->launch.ptx && p < n->launch.ptx->n; p++)
      free(n->launch.params[p]);
    free(n);
  }
  return free(g), CU_SUCCESS;
}
cu_result cuGraphExecDestroy(cu_graph_exec exec) { return cuGraphDestroy((cu_graph)(void *)exec); }
