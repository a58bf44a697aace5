// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled without the plugin.
double foreign_get(const double *p, int i);
double foreign_get(const double *p, int i) { return p[i]; }
