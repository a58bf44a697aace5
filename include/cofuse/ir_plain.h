// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* <cofuse/ir.h> without the plugin: the function of a kernel runs at once, on all points. Included by ir.h.
 */
#ifndef COFUSE_IR_PLAIN_H
#define COFUSE_IR_PLAIN_H

struct cofuse_kernel {
  cofuse_kernel_info info;
};

/* Extents of the stores, since a partition None means all of one. */
struct cofuse_plain_store_ {
  struct cofuse_plain_store_ *next;
  char *base;
  int type, rank;
  int64_t ext[COFUSE_MAX_RANK];
};
COFUSE_INLINE_ struct cofuse_plain_store_ **cofuse_plain_stores_(void) {
  static struct cofuse_plain_store_ *all;
  return &all;
}

COFUSE_API_ int cofuse_store_release(void *base) {
  struct cofuse_plain_store_ **at = cofuse_plain_stores_();
  while (*at && (*at)->base != (char *)base)
    at = &(*at)->next;
  if (*at) {
    struct cofuse_plain_store_ *s = *at;
    *at = s->next;
    free(s);
  }
  return 0;
}

COFUSE_API_ int cofuse_store_create(const char *name, void *base, int type, int rank,
                                    const int64_t extents[]) {
  if (rank < 0 || rank > COFUSE_MAX_RANK)
    return cofuse_fail_(COFUSE_EINVAL, name, "bad number of extents");
  cofuse_store_release(base);
  struct cofuse_plain_store_ *s = (struct cofuse_plain_store_ *)calloc(1, sizeof *s);
  if (!s)
    return cofuse_fail_(COFUSE_ENOMEM, name, "out of memory");
  s->base = (char *)base;
  s->type = type;
  s->rank = rank;
  memcpy(s->ext, extents, (size_t)rank * sizeof *extents);
  s->next = *cofuse_plain_stores_();
  *cofuse_plain_stores_() = s;
  return 0;
}

COFUSE_API_ int cofuse_kernel_create(const cofuse_kernel_info *info, cofuse_kernel **out) {
  if (!info->function || info->nargs > COFUSE_MAX_ARGS || info->ndims > COFUSE_MAX_DIMS)
    return cofuse_fail_(COFUSE_EINVAL, info->name, "no function, or too many arguments or loops");
  cofuse_kernel *k = (cofuse_kernel *)malloc(sizeof *k);
  if (!k)
    return cofuse_fail_(COFUSE_ENOMEM, info->name, "out of memory");
  k->info = *info;
  *out = k;
  return 0;
}

COFUSE_INLINE_ size_t cofuse_plain_bytes_(int type) {
  static const unsigned char bytes[] = {
#define COFUSE_TYPE(name, bytes, mlir, is_signed, is_float) bytes,
#include "cofuse/descriptor.def"
#undef COFUSE_TYPE
  };
  return type >= 0 && type < COFUSE_TYPE_COUNT ? bytes[type] : 0;
}

COFUSE_API_ int cofuse_launch(cofuse_kernel *kernel, const int64_t trip[], const cofuse_arg arg[],
                              const void *const scalar[], void *const result[]) {
  const cofuse_kernel_info *k = &kernel->info;
  int64_t lo[COFUSE_MAX_DIMS] = {0};
  cofuse_piece piece[COFUSE_MAX_ARGS];
  for (int d = 0; d < k->ndims; d++)
    if (trip[d] <= 0)
      return 0;
  for (int i = 0; i < k->nargs; i++) {
    const struct cofuse_plain_store_ *s = *cofuse_plain_stores_();
    while (s && s->base != (char *)arg[i].base)
      s = s->next;
    if (!s || s->type != k->arg[i].type)
      return cofuse_fail_(COFUSE_EINVAL, k->name, "an argument is no store, or has another type");
    cofuse_piece *p = &piece[i];
    int64_t stride = 1, at = 0;
    p->rank = s->rank;
    for (int d = s->rank - 1; d >= 0; d--) {
      cofuse_along a = arg[i].part.along[d];
      if (arg[i].part.kind == COFUSE_PART_NONE) {
        a.loop = -1;
        a.offset = 0;
        a.width = s->ext[d];
      }
      int64_t reach = a.loop >= 0 ? a.scale * (trip[a.loop] - 1) : 0;
      p->lo[d] = a.offset + (reach < 0 ? reach : 0);
      p->hi[d] = a.offset + (reach > 0 ? reach : 0) + a.width;
      if (p->lo[d] < 0 || p->hi[d] > s->ext[d])
        return cofuse_fail_(COFUSE_EBOUNDS, k->name, "a partition leaves its store");
      p->stride[d] = stride;
      at += p->lo[d] * stride;
      stride *= s->ext[d];
    }
    p->data = s->base + at * (int64_t)cofuse_plain_bytes_(s->type);
  }
  cofuse_call call = {k->ndims, k->nargs, lo, trip, piece, scalar, result};
  k->function(&call);
  return 0;
}

#endif
