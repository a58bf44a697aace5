// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_TRACE: spans of time, kept as text in the JSON form of Chrome's trace viewer and Perfetto (Trace
 * Event Format: complete events, times in microseconds). Control thread only. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LARGEST = 256 << 20 }; /* bytes of events; what comes later is only counted */

bool cf_trace_on;
static cf_buf events;
static double epoch; /* of the wall clock, so that ranks agree, minus that of cf_now */
static uint64_t lost;
static int process;

/* Rows of the timeline, from the top. */
static const char *const rows[] = {"windows", "groups", "kernels", "messages", "compiler"};
enum { ROWS = sizeof rows / sizeof *rows };

void cf_trace_start(int rank) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  epoch = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - cf_now();
  process = rank;
  cf_trace_on = true;
  cf_buf_printf(&events,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}", rank,
                rank);
  for (int r = 0; r < ROWS; r++)
    cf_buf_printf(
        &events,
        ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", rank,
        r, rows[r]);
}

static void put_escaped(const char *s) {
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      cf_buf_printf(&events, "\\%c", c);
    else if (c < 0x20)
      cf_buf_printf(&events, "\\u%04x", c);
    else
      cf_buf_put(&events, s, 1);
  }
}

void cf_trace_span(cf_trace_row row, double from, double to, const char *name, const char *fmt, ...) {
  if (!cf_trace_on)
    return;
  if (events.len > LARGEST) {
    lost++;
    return;
  }
  cf_buf_str(&events, ",\n{\"ph\":\"X\",\"name\":\"");
  put_escaped(name);
  cf_buf_printf(&events, "\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f", rows[row],
                process, row, 1e6 * (from + epoch), 1e6 * (to - from));
  if (fmt) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cf_buf_str(&events, ",\"args\":{\"what\":\"");
    put_escaped(text);
    cf_buf_str(&events, "\"}");
  }
  cf_buf_str(&events, "}");
}

cf_buf *cf_trace_stop(void) {
  cf_trace_on = false;
  if (lost)
    cf_log(CF_LOG_WARN, "COFUSE_TRACE: %llu events did not fit into %d MiB and were dropped",
           (unsigned long long)lost, LARGEST >> 20);
  return &events;
}
