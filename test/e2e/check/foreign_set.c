// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled without the plugin.
void foreign_set(double *p, int i, double v);
void foreign_set(double *p, int i, double v) { p[i] = v; }
