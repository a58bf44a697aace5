// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What device_test.c and the fake driver know of each other. */
#ifndef TEST_FAKE_CUDA_H
#define TEST_FAKE_CUDA_H

#include "device/device.h"

#define FAKE_MAGIC "FAKECUDA"

typedef void (*fake_kernel)(const void *args, const cf_device_box *box, void *partials);
typedef struct fake_image {
  char magic[8];
  char name[80]; /* of the one kernel */
  fake_kernel fn;
} fake_image;

#endif
