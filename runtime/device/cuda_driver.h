// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The part of NVIDIA's driver API that cuda.c uses, with declarations of its own: no toolkit is needed to
 * build, and no driver to start. Names and numbers are those of the "CUDA Driver API" manual. */
#ifndef CF_DEVICE_CUDA_DRIVER_H
#define CF_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_node;
typedef struct CUgraphExec_st *cu_graph_exec;
typedef unsigned long long cu_address;

enum {
  CU_SUCCESS = 0,
  CU_ERROR_OUT_OF_MEMORY = 2,
  CU_ERROR_NO_DEVICE = 100,
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_DISABLE_TIMING = 2,
  CU_ATTRIBUTE_PROCESSORS = 16,
  CU_ATTRIBUTE_MAJOR = 75,
  CU_ATTRIBUTE_MINOR = 76,
  CU_ATTRIBUTE_POOLS = 115,
  CU_POOL_RELEASE_THRESHOLD = 4,
  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_BYTES = 6,
};

/* CUDA_MEMCPY2D of the manual. */
typedef struct cu_copy_2d {
  size_t from_x, from_y;
  int from_kind;
  const void *from_host;
  cu_address from_device;
  void *from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_kind;
  void *to_host;
  cu_address to_device;
  void *to_array;
  size_t to_pitch;
  size_t width, height;
} cu_copy_2d;

/* CUDA_KERNEL_NODE_PARAMS of the manual, as cuGraphAddKernelNode takes it, the function of that name without
 * a version: what it is given is copied when the node is made. */
typedef struct cu_kernel_node {
  cu_function fn;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
} cu_kernel_node;

enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE = 2 };

/* name in this project, symbol, parameters */
#define CU_FUNCTIONS(X)                                                                                      \
  X(init, cuInit, (unsigned flags))                                                                          \
  X(driver_version, cuDriverGetVersion, (int *version))                                                      \
  X(error_name, cuGetErrorName, (cu_result r, const char **name))                                            \
  X(error_string, cuGetErrorString, (cu_result r, const char **text))                                        \
  X(device_count, cuDeviceGetCount, (int *n))                                                                \
  X(device_get, cuDeviceGet, (cu_device * d, int ordinal))                                                   \
  X(device_name, cuDeviceGetName, (char *name, int n, cu_device d))                                          \
  X(device_uuid, cuDeviceGetUuid, (unsigned char id[16], cu_device d))                                       \
  X(device_attribute, cuDeviceGetAttribute, (int *v, int attribute, cu_device d))                            \
  X(device_pool, cuDeviceGetDefaultMemPool, (cu_pool * p, cu_device d))                                      \
  X(pool_set, cuMemPoolSetAttribute, (cu_pool p, int attribute, void *value))                                \
  X(pool_trim, cuMemPoolTrimTo, (cu_pool p, size_t keep))                                                    \
  X(context_retain, cuDevicePrimaryCtxRetain, (cu_context * c, cu_device d))                                 \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (cu_device d))                                            \
  X(context_push, cuCtxPushCurrent_v2, (cu_context c))                                                       \
  X(context_pop, cuCtxPopCurrent_v2, (cu_context * c))                                                       \
  X(memory_info, cuMemGetInfo_v2, (size_t *some, size_t *all))                                               \
  X(alloc, cuMemAlloc_v2, (cu_address * p, size_t n))                                                        \
  X(release, cuMemFree_v2, (cu_address p))                                                                   \
  X(alloc_async, cuMemAllocAsync, (cu_address * p, size_t n, cu_stream s))                                   \
  X(release_async, cuMemFreeAsync, (cu_address p, cu_stream s))                                              \
  X(host_alloc, cuMemAllocHost_v2, (void **p, size_t n))                                                     \
  X(host_release, cuMemFreeHost, (void *p))                                                                  \
  X(write_async, cuMemcpyHtoDAsync_v2, (cu_address to, const void *from, size_t n, cu_stream s))             \
  X(read_async, cuMemcpyDtoHAsync_v2, (void *to, cu_address from, size_t n, cu_stream s))                    \
  X(copy_async, cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t n, cu_stream s))               \
  X(copy_2d_async, cuMemcpy2DAsync_v2, (const cu_copy_2d *c, cu_stream s))                                   \
  X(fill_async, cuMemsetD8Async, (cu_address p, unsigned char byte, size_t n, cu_stream s))                  \
  X(stream_create, cuStreamCreate, (cu_stream * s, unsigned flags))                                          \
  X(stream_destroy, cuStreamDestroy_v2, (cu_stream s))                                                       \
  X(stream_synchronize, cuStreamSynchronize, (cu_stream s))                                                  \
  X(event_create, cuEventCreate, (cu_event * e, unsigned flags))                                             \
  X(event_destroy, cuEventDestroy_v2, (cu_event e))                                                          \
  X(event_record, cuEventRecord, (cu_event e, cu_stream s))                                                  \
  X(event_synchronize, cuEventSynchronize, (cu_event e))                                                     \
  X(module_load, cuModuleLoadDataEx,                                                                         \
    (cu_module * m, const void *image, unsigned n, const int *options, void **values))                       \
  X(module_unload, cuModuleUnload, (cu_module m))                                                            \
  X(module_function, cuModuleGetFunction, (cu_function * f, cu_module m, const char *name))                  \
  X(launch, cuLaunchKernel,                                                                                  \
    (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,            \
     unsigned shared, cu_stream s, void **params, void **extra))                                             \
  X(graph_create, cuGraphCreate, (cu_graph * g, unsigned flags))                                             \
  X(graph_kernel, cuGraphAddKernelNode,                                                                      \
    (cu_node * node, cu_graph g, const cu_node *after, size_t nafter, const cu_kernel_node *kernel))         \
  X(graph_instantiate, cuGraphInstantiateWithFlags,                                                          \
    (cu_graph_exec * exec, cu_graph g, unsigned long long flags))                                            \
  X(graph_launch, cuGraphLaunch, (cu_graph_exec exec, cu_stream s))                                          \
  X(graph_exec_destroy, cuGraphExecDestroy, (cu_graph_exec exec))                                            \
  X(graph_destroy, cuGraphDestroy, (cu_graph g))

typedef struct cu_driver {
#define X(name, symbol, parameters) cu_result(*name) parameters;
  CU_FUNCTIONS(X)
#undef X
} cu_driver;

#endif
