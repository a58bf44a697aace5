/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef OTHER_H
#define OTHER_H
struct triple {
  double a, b, c;
};
double other_sum(const double *p, int n);
void other_set(double *p, double v);
struct triple other_make(double v);                            /* returned through memory */
double other_use(struct triple t);                             /* passed in memory */
inline double c99_get(const double *p, int i) { return p[i]; } /* available_externally when optimised */
#endif
