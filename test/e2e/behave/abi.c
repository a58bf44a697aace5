// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an object of another plugin version would do at load and at its first loop.
#include "cofuse/descriptor.h"
#include <string.h>
int main(int argc, char **argv) {
  (void)argc;
  if (strcmp(argv[1], "load") == 0)
    cofuse_abi_check(COFUSE_ABI + 1, "other.c");
  static cofuse_forall d = {.abi = COFUSE_ABI + 1, .file = "other.c", .line = 7};
  static cofuse_object o = {.abi = COFUSE_ABI + 1, .file = "other.c", .line = 9, .text = "a"};
  if (strcmp(argv[1], "loop") == 0)
    return cofuse_run(&d, 0, 0, 0);
  if (strcmp(argv[1], "store") == 0)
    cofuse_store_(&o, &o, (int64_t[]){0, 1});
  return 0;
}
