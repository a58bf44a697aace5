// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the hand-fused twins share beyond ../example.h: arrays on cache lines, and a loop over rows or
// elements on all threads with the same static blocks everywhere, so that a thread finds what it touched
// first.
//
// The twins are the yardstick of ./dev bench. Rules: only loops that program order lets meet are fused,
// nothing is renamed or computed twice, intermediate values stay in registers, memory comes from malloc as in
// the example, and arrays that the example creates inside the timed part are touched first inside it here,
// too.
#ifndef HAND_H
#define HAND_H

#include "../example.h"

// Work below this many elements is not worth waking threads for.
enum { HAND_SERIAL = 20000 };

#define HAND_TEXT(text) _Pragma(#text)
#define HAND_FOR(work) HAND_TEXT(omp parallel for schedule(static) if ((work) > HAND_SERIAL))
#define HAND_SUM(work, s) HAND_TEXT(omp parallel for simd schedule(static) if (parallel : (work) > HAND_SERIAL) reduction(+ : s))

static inline double *hand_new(long n) {
  return example_alloc_lines((size_t)(n > 0 ? n : 1), sizeof(double));
}

static inline double *hand_zeros(long rows, long cols) {
  double *p = hand_new(rows * cols);
  HAND_FOR(rows * cols)
  for (long i = 0; i < rows; i++)
    memset(p + i * cols, 0, (size_t)cols * sizeof *p);
  return p;
}

#endif
