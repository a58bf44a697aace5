// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* cofuse-env: every environment variable of the runtime, its value now and its default. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc > 1) {
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    fprintf(help ? stdout : stderr, "usage: cofuse-env\nlists the environment variables that cofuse reads\n");
    return help ? 0 : 2;
  }
  cf_options options;
  cf_status st = cf_options_read(&options);
  if (st != CF_OK) {
    fprintf(stderr, "cofuse-env: error: %s\n", cf_last_error());
    return 1;
  }
  cf_options_print(&options, stdout);
  return 0;
}
