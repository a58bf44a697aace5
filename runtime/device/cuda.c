// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Device `cuda`: an NVIDIA GPU through the driver's API, which is loaded when the device is opened.
 *
 * One stream takes everything, so the order of calls is the order of what happens, and nothing waits for the
 * device but a read. Data of the host goes through a few pinned buffers: a write is done for the caller as
 * soon as it lies in one, and rows that are no run are packed there, to cross the bus together. */
#include "device/cuda_impl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  STAGE = 4 << 20, /* bytes of a pinned buffer */
  BLOCK = 256,     /* threads of a block */
  PER_PROCESSOR = 32,
};

cf_status cf_cuda_check(const cuda *d, cu_result r, const char *what) {
  if (r == CU_SUCCESS)
    return CF_OK;
  const char *name = NULL, *text = NULL;
  if (d->cu.error_name(r, &name) != CU_SUCCESS)
    name = NULL;
  if (d->cu.error_string(r, &text) != CU_SUCCESS)
    text = NULL;
  return cf_fail(CF_EINTERNAL, "device cuda: %s: %s (%s)", what, text ? text : "unknown error",
                 name ? name : "?");
}

cf_status cf_cuda_enter(const cuda *d) {
  return cf_cuda_check(d, d->cu.context_push(d->context), "cuCtxPushCurrent");
}

void cf_cuda_leave(const cuda *d) {
  cu_context was;
  d->cu.context_pop(&was);
}

bool cf_cuda_trim(cuda *d) {
  return d->cu.stream_synchronize(d->stream) == CU_SUCCESS && d->pool &&
         d->cu.pool_trim(d->pool, 0) == CU_SUCCESS;
}

static cu_address address(const void *p) { return (cu_address)(uintptr_t)p; }

static cf_status in_alloc(cf_device *dev, size_t bytes, void **out) {
  cuda *d = (cuda *)dev;
  cu_address p = 0;
  bytes = bytes ? bytes : 1;
  if (d->pool && !d->pool_keeps &&
      d->pub.sharers) { /* what is freed stays with this process, if it is alone there */
    uint64_t keep = d->pub.sharers > 1 ? 0 : UINT64_MAX;
    CF_TRY(cf_cuda_check(d, d->cu.pool_set(d->pool, CU_POOL_RELEASE_THRESHOLD, &keep), "memory pool"));
    d->pool_keeps = true;
  }
  cu_result r = d->pool ? d->cu.alloc_async(&p, bytes, d->stream) : d->cu.alloc(&p, bytes);
  if (r == CU_ERROR_OUT_OF_MEMORY && cf_cuda_trim(d)) /* what was given back was still in use, or in pieces */
    r = d->cu.alloc_async(&p, bytes, d->stream);
  if (r == CU_ERROR_OUT_OF_MEMORY)
    return CF_ENOMEM;
  CF_TRY(cf_cuda_check(d, r, "allocation"));
  *out = (void *)(uintptr_t)p;
  return CF_OK;
}

static void cuda_release(cf_device *dev, void *p) {
  cuda *d = (cuda *)dev;
  if (cf_cuda_enter(d) != CF_OK)
    return;
  if (d->pool)
    d->cu.release_async(address(p), d->stream);
  else
    d->cu.release(address(p)); /* waits for the device */
  cf_cuda_leave(d);
}

/* Room in a pinned buffer: behind what is on its way, or in the next one, when the device is done with that.
 */
static cf_status take_room(cuda *d, size_t bytes, stage **out, char **at) {
  stage *s = &d->stages[d->now];
  if (s->used + bytes > STAGE || s->busy) {
    if (!s->busy && s->used)
      CF_TRY(cf_cuda_check(d, d->cu.event_record(s->done, d->stream), "event"));
    s->busy = s->used > 0;
    d->now = (d->now + 1) % CF_CUDA_STAGES;
    s = &d->stages[d->now];
    if (s->busy)
      CF_TRY(cf_cuda_check(d, d->cu.event_synchronize(s->done), "waiting for a copy"));
    s->busy = false;
    s->used = 0;
  }
  if (!s->mem) {
    void *mem;
    CF_TRY(cf_cuda_check(d, d->cu.host_alloc(&mem, STAGE), "pinned memory"));
    s->mem = mem;
    CF_TRY(cf_cuda_check(d, d->cu.event_create(&s->done, CU_EVENT_DISABLE_TIMING), "event"));
  }
  *at = s->mem + s->used;
  s->used += (bytes + 63) / 64 * 64;
  *out = s;
  return CF_OK;
}

/* A part of a copy that fits into a pinned buffer: some rows, or a piece of one. */
typedef struct part {
  size_t run, runs, from, bytes;
} part;

static bool next_part(const cf_device_copy *c, part *p) {
  if (p->runs == 0) { /* the first */
    *p = (part){0};
  } else if (p->from + p->bytes < c->bytes) {
    p->from += p->bytes;
  } else {
    p->run += p->runs;
    p->from = 0;
  }
  if (p->run >= c->runs || c->bytes == 0)
    return false;
  p->bytes = c->bytes - p->from < STAGE ? c->bytes - p->from : STAGE;
  p->runs = 1;
  if (p->bytes == c->bytes && c->bytes < STAGE) {
    p->runs = STAGE / c->bytes;
    p->runs = p->runs < c->runs - p->run ? p->runs : c->runs - p->run;
  }
  return true;
}

enum { LARGE_PITCH = 1 << 30 }; /* above it the driver may take no two-dimensional copy */

/* Between a pinned buffer, where the rows of a part are packed, and the device, where they have a pitch. */
static cf_status move_part(cuda *d, const part *p, char *packed, cu_address there, size_t pitch, bool write) {
  const char *what = write ? "copy to the device" : "copy from the device";
  there += p->run * pitch + p->from;
  if (p->runs > 1 && pitch != p->bytes && pitch < LARGE_PITCH) {
    cu_copy_2d c = {.width = p->bytes, .height = p->runs};
    c.from_kind = write ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
    c.to_kind = write ? CU_MEMORY_DEVICE : CU_MEMORY_HOST;
    c.from_host = write ? packed : NULL;
    c.from_device = write ? 0 : there;
    c.from_pitch = write ? p->bytes : pitch;
    c.to_host = write ? NULL : packed;
    c.to_device = write ? there : 0;
    c.to_pitch = write ? pitch : p->bytes;
    return cf_cuda_check(d, d->cu.copy_2d_async(&c, d->stream), what);
  }
  bool run = pitch == p->bytes; /* on the device they follow each other */
  for (size_t r = 0; r < (run ? 1 : p->runs); r++) {
    size_t n = run ? p->runs * p->bytes : p->bytes;
    CF_TRY(cf_cuda_check(d,
                         write ? d->cu.write_async(there + r * pitch, packed + r * p->bytes, n, d->stream)
                               : d->cu.read_async(packed + r * p->bytes, there + r * pitch, n, d->stream),
                         what));
  }
  return CF_OK;
}

static cf_status in_write(cf_device *dev, void *to, const void *from, const cf_device_copy *c) {
  cuda *d = (cuda *)dev;
  stage *s;
  char *packed;
  for (part p = {0}; next_part(c, &p);) {
    CF_TRY(take_room(d, p.runs * p.bytes, &s, &packed));
    for (size_t r = 0; r < p.runs; r++)
      memcpy(packed + r * p.bytes, (const char *)from + (p.run + r) * c->from_pitch + p.from, p.bytes);
    CF_TRY(move_part(d, &p, packed, address(to), c->to_pitch, true));
  }
  return CF_OK;
}

/* What a part has brought goes where it belongs. */
static cf_status finish_read(cuda *d, stage *s, const char *packed, const part *p, char *to,
                             const cf_device_copy *c) {
  CF_TRY(cf_cuda_check(d, d->cu.event_synchronize(s->done), "copy from the device"));
  for (size_t r = 0; r < p->runs; r++)
    memcpy(to + (p->run + r) * c->to_pitch + p->from, packed + r * p->bytes, p->bytes);
  return CF_OK;
}

/* One part is under way while the one before is copied on. */
static cf_status in_read(cf_device *dev, void *to, const void *from, const cf_device_copy *c) {
  cuda *d = (cuda *)dev;
  stage *s, *before = NULL;
  char *packed, *packed_before = NULL;
  part was = {0};
  for (part p = {0}; next_part(c, &p);) {
    CF_TRY(take_room(d, p.runs * p.bytes, &s, &packed));
    CF_TRY(move_part(d, &p, packed, address(from), c->from_pitch, false));
    CF_TRY(cf_cuda_check(d, d->cu.event_record(s->done, d->stream), "event"));
    s->busy = true; /* what comes next goes to another one, whose own event it is */
    if (before)
      CF_TRY(finish_read(d, before, packed_before, &was, to, c));
    before = s;
    packed_before = packed;
    was = p;
  }
  return before ? finish_read(d, before, packed_before, &was, to, c) : CF_OK;
}

static cf_status in_copy(cf_device *dev, void *to, const void *from, size_t bytes) {
  cuda *d = (cuda *)dev;
  if (!bytes)
    return CF_OK;
  return cf_cuda_check(d, d->cu.copy_async(address(to), address(from), bytes, d->stream),
                       "copy on the device");
}

static cf_status in_fill(cf_device *dev, void *to, int byte, size_t bytes) {
  cuda *d = (cuda *)dev;
  if (!bytes)
    return CF_OK;
  return cf_cuda_check(d, d->cu.fill_async(address(to), (unsigned char)byte, bytes, d->stream), "fill");
}

static cf_status in_load(cf_device *dev, const void *image, size_t size, void (*const *entry)(void),
                         const char *id, uint32_t n, cf_device_code **out) {
  cuda *d = (cuda *)dev;
  (void)size;
  (void)entry;
  cf_device_code *c = calloc(1, sizeof *c + n * sizeof *c->fn);
  if (!c)
    return cf_fail(CF_ENOMEM, "out of memory for a kernel");
  static char log[4096];
  log[0] = 0;
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  cf_status st =
      cf_cuda_check(d, d->cu.module_load(&c->module, image, 2, options, values), "loading a kernel");
  if (st != CF_OK) {
    char first[1024];
    snprintf(first, sizeof first, "%s", cf_last_error());
    free(c);
    return cf_fail(st, "%s: kernel %s%s%s", first, id, log[0] ? ": " : "", log);
  }
  c->n = n;
  for (uint32_t k = 0; k < n && st == CF_OK; k++) {
    char name[80];
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, id);
    st = cf_cuda_check(d, d->cu.module_function(&c->fn[k], c->module, name), name);
  }
  if (st != CF_OK) {
    d->cu.module_unload(c->module);
    free(c);
    return st;
  }
  *out = c;
  return CF_OK;
}

static void cuda_unload(cf_device *dev, cf_device_code *c) {
  cuda *d = (cuda *)dev;
  if (cf_cuda_enter(d) == CF_OK) {
    cf_cuda_drop_graphs(d);
    d->cu.module_unload(c->module);
    cf_cuda_leave(d);
  }
  free(c);
}

static cf_status in_sync(cf_device *dev) {
  cuda *d = (cuda *)dev;
  return cf_cuda_check(d, d->cu.stream_synchronize(d->stream), "waiting for the device");
}

static cf_status in_memory(cf_device *dev, size_t *free_bytes, size_t *all_bytes) {
  cuda *d = (cuda *)dev;
  return cf_cuda_check(d, d->cu.memory_info(free_bytes, all_bytes), "cuMemGetInfo");
}

/* ---- the table: each function with the context current */

#define IN(name, parameters, arguments)                                                                      \
  static cf_status cuda_##name parameters {                                                                  \
    const cuda *c_ = (const cuda *)d;                                                                        \
    CF_TRY(cf_cuda_enter(c_));                                                                               \
    cf_status st = in_##name arguments;                                                                      \
    cf_cuda_leave(c_);                                                                                       \
    return st;                                                                                               \
  }
IN(alloc, (cf_device * d, size_t bytes, void **out), (d, bytes, out))
IN(write, (cf_device * d, void *to, const void *from, const cf_device_copy *c), (d, to, from, c))
IN(read, (cf_device * d, void *to, const void *from, const cf_device_copy *c), (d, to, from, c))
IN(copy, (cf_device * d, void *to, const void *from, size_t bytes), (d, to, from, bytes))
IN(fill, (cf_device * d, void *to, int byte, size_t bytes), (d, to, byte, bytes))
IN(load,
   (cf_device * d, const void *image, size_t size, void (*const *entry)(void), const char *id, uint32_t n,
    cf_device_code **out),
   (d, image, size, entry, id, n, out))
IN(sync, (cf_device * d), (d))
IN(memory, (cf_device * d, size_t *free_bytes, size_t *all_bytes), (d, free_bytes, all_bytes))
#undef IN

static cf_status cuda_hold(cf_device *d, bool on) {
  if (on)
    return cf_cuda_enter((const cuda *)d);
  cf_cuda_leave((const cuda *)d);
  return CF_OK;
}

static void cuda_close(cf_device *dev) {
  cuda *d = (cuda *)dev;
  if (d->context && cf_cuda_enter(d) == CF_OK) {
    if (d->stream)
      d->cu.stream_synchronize(d->stream);
    while (d->replays)
      cf_cuda_forget(dev, d->replays);
    for (int s = 0; s < CF_CUDA_STAGES; s++) {
      if (d->stages[s].done)
        d->cu.event_destroy(d->stages[s].done);
      if (d->stages[s].mem)
        d->cu.host_release(d->stages[s].mem);
    }
    if (d->stream)
      d->cu.stream_destroy(d->stream);
    cf_cuda_leave(d);
    d->cu.context_release(d->device);
  }
  if (d->library)
    dlclose(d->library);
  free(d);
}

static const cf_device_ops ops = {
    .alloc = cuda_alloc,
    .release = cuda_release,
    .write = cuda_write,
    .read = cuda_read,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .load = cuda_load,
    .unload = cuda_unload,
    .run = cf_cuda_run,
    .forget = cf_cuda_forget,
    .sync = cuda_sync,
    .hold = cuda_hold,
    .memory = cuda_memory,
    .close = cuda_close,
};

static cf_status load_driver(cuda *d) {
  d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); /* it has threads */
  if (!d->library)
    return cf_fail(
        CF_EINVAL,
        "COFUSE_DEVICE=cuda: NVIDIA's driver (libcuda.so.1) is not here: install it, run on a machine "
        "that has it, or use COFUSE_DEVICE=cpu (%s)",
        dlerror());
  const char *missing = NULL;
#define X(name, symbol, parameters)                                                                          \
  *(void **)(void *)&d->cu.name = dlsym(d->library, #symbol);                                                \
  if (!d->cu.name)                                                                                           \
    missing = #symbol;
  CU_FUNCTIONS(X)
#undef X
  if (missing)
    return cf_fail(CF_EINVAL,
                   "COFUSE_DEVICE=cuda: NVIDIA's driver here has no %s: that of CUDA 11.8 or later is needed",
                   missing);
  return CF_OK;
}

/* Without its kernel module the driver's library would try to load that, by a program of its own. */
static bool has_module(void) {
  static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvgpu"};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
    if (access(nodes[i], F_OK) == 0)
      return true;
  return false;
}

static cf_status choose(cuda *d, const cf_device_options *o) {
  if (!o->no_module && !has_module())
    return cf_fail(CF_EINVAL,
                   "COFUSE_DEVICE=cuda: NVIDIA's driver is here, but no device (/dev/nvidiactl): load its "
                   "kernel module, give the container a device, or use COFUSE_DEVICE=cpu");
  cu_result r = d->cu.init(0);
  int n = 0;
  if (r == CU_SUCCESS)
    r = d->cu.device_count(&n);
  if (r == CU_ERROR_NO_DEVICE || (r == CU_SUCCESS && n == 0))
    return cf_fail(CF_EINVAL,
                   "COFUSE_DEVICE=cuda: the driver sees no device: look at CUDA_VISIBLE_DEVICES and "
                   "nvidia-smi, or use COFUSE_DEVICE=cpu");
  CF_TRY(cf_cuda_check(d, r, "cuInit"));
  enum { LEAST = 11080 }; /* the first that takes PTX 7.8 (codegen/jit_nvptx.c) */
  int processors = 0, major = 0, minor = 0, version = 0;
  char name[64] = "";
  CF_TRY(cf_cuda_check(d, d->cu.device_get(&d->device, (o->local_rank < 0 ? 0 : o->local_rank) % n),
                       "cuDeviceGet"));
  d->cu.device_name(name, sizeof name - 1, d->device);
  CF_TRY(cf_cuda_check(d, d->cu.device_uuid(d->pub.id, d->device), "cuDeviceGetUuid"));
  CF_TRY(
      cf_cuda_check(d, d->cu.device_attribute(&processors, CU_ATTRIBUTE_PROCESSORS, d->device), "attribute"));
  CF_TRY(cf_cuda_check(d, d->cu.device_attribute(&major, CU_ATTRIBUTE_MAJOR, d->device), "attribute"));
  CF_TRY(cf_cuda_check(d, d->cu.device_attribute(&minor, CU_ATTRIBUTE_MINOR, d->device), "attribute"));
  CF_TRY(cf_cuda_check(d, d->cu.driver_version(&version), "cuDriverGetVersion"));
  if (version < LEAST)
    return cf_fail(CF_EINVAL, "COFUSE_DEVICE=cuda: the driver is one of CUDA %d.%d: 11.8 or later is needed",
                   version / 1000, version % 1000 / 10);
  if (major < 8)
    return cf_fail(CF_EINVAL, "COFUSE_DEVICE=cuda: %s has compute capability %d.%d: 8.0 or later is needed",
                   name, major, minor);
  /* Newer ones run the code of these. */
  snprintf(d->pub.target, sizeof d->pub.target, "%s", major >= 9 ? "sm_90" : "sm_80");
  snprintf(d->pub.describe, sizeof d->pub.describe, "%s, device %d of %d", name,
           (o->local_rank < 0 ? 0 : o->local_rank) % n, n);
  d->pub.most_blocks = (uint32_t)(processors > 0 ? processors : 1) * PER_PROCESSOR;
  return CF_OK;
}

/* Libraries of MPI that take addresses of a device may not take those of a pool. */
static cf_status start(cuda *d) {
  CF_TRY(cf_cuda_check(d, d->cu.stream_create(&d->stream, CU_STREAM_NON_BLOCKING), "stream"));
  int pools = 0;
  if (!d->pub.messages && d->cu.device_attribute(&pools, CU_ATTRIBUTE_POOLS, d->device) == CU_SUCCESS &&
      pools) {
    CF_TRY(cf_cuda_check(d, d->cu.device_pool(&d->pool, d->device), "memory pool"));
  }
  return CF_OK;
}

cf_status cf_cuda_open(const cf_device_options *o, cf_device **out) {
  cuda *d = calloc(1, sizeof *d);
  if (!d)
    return cf_fail(CF_ENOMEM, "out of memory");
  d->pub.ops = &ops;
  d->pub.name = "cuda";
  d->pub.block_threads = BLOCK;
  cf_status st = load_driver(d);
  if (st == CF_OK)
    st = choose(d, o);
  d->pub.messages = o->messages;
  if (st == CF_OK)
    st = cf_cuda_check(d, d->cu.context_retain(&d->context, d->device), "context");
  if (st == CF_OK && (st = cf_cuda_enter(d)) == CF_OK) {
    st = start(d);
    cf_cuda_leave(d);
  }
  if (st == CF_OK)
    *out = &d->pub;
  else
    cuda_close(&d->pub);
  return st;
}
