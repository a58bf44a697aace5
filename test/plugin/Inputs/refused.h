// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that cannot be part of a task.
static inline double from_header(double x) {
  static int calls;
  return x + calls++;
}
