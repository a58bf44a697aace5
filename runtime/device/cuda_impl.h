// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What the files of the device `cuda` share. */
#ifndef CF_DEVICE_CUDA_IMPL_H
#define CF_DEVICE_CUDA_IMPL_H

#include "device/cuda_driver.h"
#include "device/device.h"

enum { CF_CUDA_STAGES = 4 };

typedef struct stage {
  char *mem;
  size_t used;   /* bytes at its start that are on their way to the device */
  cu_event done; /* the device has read or written the buffer */
  bool busy;     /* that was recorded */
} stage;

typedef struct cuda {
  cf_device pub;
  void *library;
  cu_driver cu;
  cu_device device;
  cu_context context;
  cu_stream stream;
  cu_pool pool;    /* memory comes from there, in the order of the stream; NULL: there is none */
  bool pool_keeps; /* it was told what to do with memory that is given back */
  stage stages[CF_CUDA_STAGES];
  int now; /* the stage in use */
  cf_device_replay *replays;
} cuda;

struct cf_device_code {
  cu_module module;
  uint32_t n;
  cu_function fn[];
};

/* what: was being done, for the message. */
cf_status cf_cuda_check(const cuda *d, cu_result r, const char *what);
/* A thread has a current context, which is the program's own business: ours is there between these two. */
cf_status cf_cuda_enter(const cuda *d);
void cf_cuda_leave(const cuda *d);
/* More memory for the device: what was given back. False: there was none to be had. */
bool cf_cuda_trim(cuda *d);

cf_status cf_cuda_run(cf_device *dev, const cf_device_launch *l, uint32_t n, cf_device_replay **replay);
void cf_cuda_forget(cf_device *dev, cf_device_replay *r);
void cf_cuda_drop_graphs(cuda *d); /* some may hold functions of code that goes away */

#endif
