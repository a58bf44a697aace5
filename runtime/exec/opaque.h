// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of layer exec: tasks whose kernel is a C function. */
#ifndef CF_OPAQUE_H
#define CF_OPAQUE_H

#include "exec/exec.h"

/* What a descriptor without a body is the first member of. */
typedef struct cf_opaque {
  cofuse_forall desc;
  cofuse_function function;
  bool split; /* blocks of a rank's points may be calls of their own */
} cf_opaque;

static inline bool cf_task_is_opaque(const cf_task *t) { return !t->desc->body; }
/* Calls the function on points [lo, hi). partials: of the task's first result, `slot` bytes each. */
void cf_opaque_call(const cf_task *t, const int64_t lo[], const int64_t hi[], char *partials, size_t slot);

#endif
