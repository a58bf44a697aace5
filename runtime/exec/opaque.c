// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Tasks whose kernel is a C function (<cofuse/ir.h>): called on a box of points with the pieces that belong
 * to it. */
#include "exec/opaque.h"
#include "ir/math.h"

#include <string.h>

static void piece_of(const cf_task *t, const cf_access *a, const int64_t lo[], const int64_t hi[],
                     cofuse_piece *out) {
  const cf_store *s = a->store;
  int64_t stride = 1, at = 0;
  out->rank = s->rank;
  for (int d = s->rank - 1; d >= 0; d--) {
    int64_t l = a->map.off[d], h = l;
    for (int k = 0; k < a->map.nloops; k++) {
      int64_t c = a->map.coef[d][k], first = k < t->ndims ? lo[k] : 0,
              last = k < t->ndims ? hi[k] - 1 : a->itrip[k - t->ndims] - 1;
      l += cf_min(c * first, c * last);
      h += cf_max(c * first, c * last);
    }
    out->lo[d] = a->whole ? 0 : l;
    out->hi[d] = a->whole ? s->ext[d] : h + 1;
    out->stride[d] = stride;
    at += out->lo[d] * stride;
    stride *= s->ext[d];
  }
  out->data = s->base + at * s->elem_bytes;
}

void cf_opaque_call(const cf_task *t, const int64_t lo[], const int64_t hi[], char *partials, size_t slot) {
  const cf_opaque *k = (const cf_opaque *)t->desc;
  cofuse_piece piece[COFUSE_MAX_ARGS];
  const void *scalar[COFUSE_MAX_ARGS];
  void *result[COFUSE_MAX_RESULTS];
  for (int i = 0; i < t->desc->naccess; i++)
    piece_of(t, &t->access[i], lo, hi, &piece[i]);
  for (int i = 0; i < t->desc->nscalars; i++)
    scalar[i] = (const char *)t->scalars + 8 * i;
  for (int r = 0; r < t->nreds; r++) {
    result[r] = partials + (size_t)r * slot;
    cf_red_identity(t->desc->reds[r].op, t->desc->reds[r].type, result[r]);
  }
  int64_t from[COFUSE_MAX_DIMS], to[COFUSE_MAX_DIMS]; /* of the loops that the caller gave */
  for (int l = 0; l < t->desc->ndims; l++) {
    int at = t->loop_at[l];
    from[l] = at < t->ndims ? lo[at] : 0;
    to[l] = at < t->ndims ? hi[at] : 1;
  }
  cofuse_call call = {t->desc->ndims, t->desc->naccess, from, to, piece, scalar, result};
  k->function(&call);
}
