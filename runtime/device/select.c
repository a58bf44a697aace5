// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Devices by name. */
#include "device/device.h"

#include <string.h>

cf_status cf_device_open(const char *name, const cf_device_options *o, cf_device **out) {
  if (strcmp(name, "emu") == 0)
    return cf_emu_open(o, out);
  if (strcmp(name, "cuda") == 0)
    return cf_cuda_open(o, out);
  return cf_fail(CF_EINVAL, "COFUSE_DEVICE=%s: this version has no such device; use cpu", name);
}
