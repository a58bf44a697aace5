// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages on stderr. Each is one write, so that lines of several ranks do not mix.
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cf_log_level = CF_LOG_WARN;
int cf_log_rank = -1;

void cf_log(int level, const char *fmt, ...) {
  static const char *const names[] = {"off", "error", "warning", "info", "debug"};
  if (level <= CF_LOG_OFF || level > CF_LOG_DEBUG || level > cf_log_level)
    return;
  int saved_errno = errno;
  char line[4096];
  size_t room = sizeof line - 1; // the newline always fits
  int n = cf_log_rank >= 0 ? snprintf(line, room, "cofuse[%d]: %s: ", cf_log_rank, names[level])
                           : snprintf(line, room, "cofuse: %s: ", names[level]);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line + n, room - (size_t)n, fmt, ap);
  va_end(ap);
  size_t len = strlen(line);
  if (line[len - 1] != '\n')
    line[len++] = '\n';
  for (size_t done = 0; done < len;) {
    ssize_t w = write(STDERR_FILENO, line + done, len - done);
    if (w < 0 && errno == EINTR)
      continue;
    if (w <= 0)
      break;
    done += (size_t)w;
  }
  errno = saved_errno;
}
