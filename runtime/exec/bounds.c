// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_CHECK: accesses whose addresses depend on data are checked by the kernel itself, which notes the
 * lowest and highest bad offset of each; this is the other half of it. */
#include "exec/exec.h"
#include "ir/math.h"

#include <stdio.h>

bool cf_bounds_open(const cf_access *a) {
  if (!a->desc)
    return false;
  if (a->desc->flags & (COFUSE_ACC_INDIRECT | COFUSE_ACC_UNBOUNDED))
    return true;
  /* Under a condition the box is only what the loop could touch; a copy of plain memory holds all of that. */
  return a->store && a->desc->flags & COFUSE_ACC_COND;
}

int64_t cf_bounds_limit(const cf_access *a) {
  int64_t bytes = a->store ? (int64_t)a->store->bytes : a->hi[0];
  return bytes - (int64_t)cf_type_bytes(a->desc->type);
}

void cf_bounds_reset(const cf_bound *b) {
  for (uint32_t i = 0; i < b->nchecks; i++) {
    b->bad[i][0] = INT64_MAX;
    b->bad[i][1] = INT64_MIN;
  }
}

cf_status cf_bounds_report(const cf_bound *b, cf_task *const *tasks) {
  for (uint32_t i = 0; i < b->nchecks; i++) {
    int64_t lo = b->bad[i][0], hi = b->bad[i][1];
    if (lo > hi)
      continue;
    const cf_task *t = tasks[b->checks[i].task];
    const cf_access *a = &t->access[b->checks[i].access];
    const cofuse_access *d = a->desc;
    const cf_store *s = a->store;
    int64_t w = s ? s->elem_bytes : (int64_t)cf_type_bytes(d->type);
    char range[96], extents[200] = "";
    lo = cf_floor_div(lo, w);
    hi = cf_floor_div(hi, w);
    if (lo == hi)
      snprintf(range, sizeof range, "element %lld", (long long)lo);
    else
      snprintf(range, sizeof range, "elements from %lld to %lld", (long long)lo, (long long)hi);
    if (!s)
      return cf_fail(
          CF_EBOUNDS,
          "%s:%u: COFUSE_CHECK: loop of line %u accesses %s outside its array: %s, but it has %lld",
          t->desc->file, d->line, t->desc->line, d->text, range, (long long)(a->hi[0] / w));
    for (int k = 0, n = 0; k < s->rank; k++)
      n += snprintf(extents + n, sizeof extents - (size_t)n, "[%lld]", (long long)s->ext[k]);
    return cf_fail(CF_EBOUNDS,
                   "%s:%u: COFUSE_CHECK: loop of line %u accesses %s outside store(%s) of %s:%u: %s, but the "
                   "store has %lld (extents %s)",
                   t->desc->file, d->line, t->desc->line, d->text, s->text, s->file, s->line, range,
                   (long long)cf_store_count(s), s->rank ? extents : "none: a scalar");
  }
  return CF_OK;
}
