// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Status codes and the message that goes with the last failure.
#include "base/base.h"

#include <stdio.h>
#include <time.h>

static _Thread_local char last_error[2048];

cf_status cf_fail(cf_status st, const char *fmt, ...) {
  // Formatted aside first: the arguments may contain the previous message.
  char text[sizeof last_error];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  snprintf(last_error, sizeof last_error, "%s", text);
  return st;
}

const char *cf_last_error(void) { return last_error; }

const char *cf_strerror(cf_status st) {
  switch (st) {
  case CF_OK:
    return "success";
  case CF_ENOMEM:
    return "out of memory";
  case CF_EINVAL:
    return "the program or its environment is wrong";
  case CF_EBOUNDS:
    return "access outside a store";
  case CF_EIO:
    return "input or output failed";
  case CF_ECOMM:
    return "communication between ranks failed";
  case CF_EJIT:
    return "a kernel could not be compiled";
  case CF_EABI:
    return "object code and runtime do not fit each other";
  case CF_EINTERNAL:
    return "internal error of cofuse";
  }
  return "unknown status";
}

double cf_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
