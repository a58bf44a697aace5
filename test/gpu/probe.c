// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* probe MEGABYTES: opens the device of COFUSE_DEVICE, copies so much of its memory and prints what it is and
 * how fast that went: "copy <GB/s>", each byte counted for its read and its write. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  size_t n = (size_t)(argc > 1 ? atol(argv[1]) : 256) << 20;
  const char *name = getenv("COFUSE_DEVICE");
  cf_device *d;
  void *a, *b;
  double best = 1e30;
  if (cf_device_open(name ? name : "cuda", &(cf_device_options){0}, &d) != CF_OK) {
    fprintf(stderr, "probe: %s\n", cf_last_error());
    return 1;
  }
  if (d->ops->alloc(d, n, &a) != CF_OK || d->ops->alloc(d, n, &b) != CF_OK ||
      d->ops->fill(d, a, 1, n) != CF_OK) {
    fprintf(stderr, "probe: %zu bytes twice are too much for the device\n", n);
    return 1;
  }
  for (int turn = 0; turn < 10; turn++) {
    double t = 0;
    if (d->ops->sync(d) == CF_OK) {
      t = cf_now();
      if (d->ops->copy(d, b, a, n) != CF_OK || d->ops->sync(d) != CF_OK)
        t = 0;
    }
    if (t == 0) {
      fprintf(stderr, "probe: %s\n", cf_last_error());
      return 1;
    }
    t = cf_now() - t;
    best = t < best ? t : best;
  }
  printf("device %s\ncopy %.1f GB/s of 2 x %zu MiB\n", d->describe, 2e-9 * (double)n / best, n >> 20);
  d->ops->release(d, a);
  d->ops->release(d, b);
  d->ops->close(d);
  return 0;
}
