// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* <cofuse/ir.h>: stores and index tasks issued by calls. A launch is put into the form of a rewritten loop,
 * so that both take the same way from there. */
#define __COFUSE__ 1 /* the declarations, not the inline versions */
#include "cofuse/ir.h"

#include "api/context.h"
#include "exec/opaque.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cofuse_kernel {
  struct cofuse_kernel *next; /* all kernels: they last until the process ends */
  cf_opaque opaque;           /* its descriptor has a body if the caller gave one */
  cofuse_kernel_info info;
  cofuse_access access[COFUSE_MAX_ARGS];
  uint8_t scalar_types[COFUSE_MAX_ARGS], iv_types[COFUSE_MAX_DIMS];
  cofuse_red reds[COFUSE_MAX_RESULTS];
};

static cofuse_kernel *kernels;

/* Extents by base address: also known where there is no registry (COFUSE_DISABLE). */
typedef struct known {
  cofuse_object object; /* outlives the store: messages name it */
  int64_t ext[COFUSE_MAX_RANK];
  bool live; /* not released by a call */
  char name[];
} known;
static cf_map stores; /* base -> known */

static known *store_at(const void *base) {
  known *k = cf_map_get(&stores, &base, sizeof base);
  return k && k->live ? k : NULL;
}

int cofuse_store_create(const char *name, void *base, int type, int rank, const int64_t extents[]) {
  if (rank < 0 || rank > COFUSE_MAX_RANK || !cf_type_bytes(type) || !base)
    return cf_fail(CF_EINVAL, "store %s: %s", name,
                   !base                                ? "no memory"
                   : rank < 0 || rank > COFUSE_MAX_RANK ? "bad number of extents"
                                                        : "unknown type");
  int64_t pairs[2 * COFUSE_MAX_RANK] = {0};
  for (int d = 0; d < rank; d++) {
    if (extents[d] < 0)
      return cf_fail(CF_EINVAL, "store %s: extent %d is %lld", name, d, (long long)extents[d]);
    pairs[2 * d + 1] = extents[d];
  }
  known *k = cf_map_get(&stores, &base, sizeof base);
  if (k && k->object.type == type && k->object.rank == rank &&
      strcmp(k->name, name) == 0) { /* again and again */
    memcpy(k->ext, extents, (size_t)rank * sizeof *extents);
    k->live = true;
    cofuse_store_(&k->object, base, pairs);
    return CF_OK;
  }
  k = calloc(1, sizeof *k + strlen(name) + 1);
  if (!k)
    return cf_fail(CF_ENOMEM, "store %s: out of memory", name);
  k->live = true;
  strcpy(k->name, name);
  memcpy(k->ext, extents, (size_t)rank * sizeof *extents);
  k->object = (cofuse_object){.abi = COFUSE_ABI,
                              .type = (uint8_t)type,
                              .rank = (uint8_t)rank,
                              .elem_bytes = (uint32_t)cf_type_bytes(type),
                              .file = "cofuse_store_create",
                              .text = k->name};
  cf_status st =
      cf_map_put(&stores, &base, sizeof base, k); /* an older entry stays: its name may be in use */
  if (st != CF_OK) {
    free(k);
    return st;
  }
  cofuse_store_(&k->object, base, pairs);
  return CF_OK;
}

int cofuse_store_release(void *base) {
  known *k = store_at(base);
  if (!k)
    return cf_fail(CF_EINVAL, "cofuse_store_release: %p is no store", base);
  k->live = false;
  cofuse_release_(&k->object, base);
  return CF_OK;
}

static cf_status refuse(const cofuse_kernel_info *i, const char *what, int which) {
  return cf_fail(CF_EINVAL, "kernel %s: %s (%d)", i->name ? i->name : "without a name", what, which);
}

int cofuse_kernel_create(const cofuse_kernel_info *i, cofuse_kernel **out) {
  if (!i->name || !i->function)
    return refuse(i, "a name and a function are needed", 0);
  if (i->ndims < 0 || i->ndims > COFUSE_MAX_DIMS)
    return refuse(i, "bad number of loops", i->ndims);
  if (i->nargs < 0 || i->nargs > COFUSE_MAX_ARGS || i->nscalars < 0 || i->nscalars > COFUSE_MAX_ARGS)
    return refuse(i, "bad number of arguments or scalars", i->nargs);
  if (i->nresults < 0 || i->nresults > COFUSE_MAX_RESULTS)
    return refuse(i, "bad number of results", i->nresults);
  for (int k = 0; k < i->nargs; k++)
    if (!cf_type_bytes(i->arg[k].type) || i->arg[k].privilege < COFUSE_READ ||
        i->arg[k].privilege > COFUSE_READ_WRITE || i->arg[k].counters < 0 ||
        i->arg[k].counters > COFUSE_MAX_INNER)
      return refuse(i, "bad type, privilege or number of counters of an argument", k);
  for (int k = 0; k < i->nscalars; k++)
    if (!cf_type_bytes(i->scalar_type[k]) || cf_type_bytes(i->scalar_type[k]) > 8)
      return refuse(i, "bad type of a scalar", k);
  for (int k = 0; k < i->nresults; k++)
    if (!cf_type_bytes(i->result[k].type) || cf_type_bytes(i->result[k].type) > 8 || i->result[k].op < 0 ||
        i->result[k].op > COFUSE_RED_FMAX)
      return refuse(i, "bad type or operator of a result", k);
  cofuse_kernel *k = calloc(1, sizeof *k);
  if (!k)
    return cf_fail(CF_ENOMEM, "kernel %s: out of memory", i->name);
  k->info = *i;
  k->opaque.function = i->function;
  k->opaque.split = i->flags & COFUSE_KERNEL_SPLIT;
  for (int a = 0; a < i->nargs; a++)
    k->access[a] = (cofuse_access){.type = (uint8_t)i->arg[a].type,
                                   .mode = (uint8_t)i->arg[a].privilege,
                                   .ninner = (uint8_t)(i->body ? i->arg[a].counters : COFUSE_MAX_INNER),
                                   .text = i->name};
  for (int s = 0; s < i->nscalars; s++)
    k->scalar_types[s] = (uint8_t)i->scalar_type[s];
  memset(k->iv_types, COFUSE_I64, sizeof k->iv_types);
  for (int r = 0; r < i->nresults; r++)
    k->reds[r] =
        (cofuse_red){.op = (uint8_t)i->result[r].op, .type = (uint8_t)i->result[r].type, .text = i->name};
  k->opaque.desc = (cofuse_forall){.abi = COFUSE_ABI,
                                   .kind = i->ndims ? COFUSE_KIND_FORALL : COFUSE_KIND_TASK,
                                   .ndims = (uint8_t)i->ndims,
                                   .nscalars = (uint8_t)i->nscalars,
                                   .nreds = (uint8_t)i->nresults,
                                   .naccess = (uint16_t)i->nargs,
                                   .flags = COFUSE_TU_OPT,
                                   .file = "cofuse_launch",
                                   .function = i->name,
                                   .name = i->name,
                                   .iv_types = k->iv_types,
                                   .access = k->access,
                                   .scalar_types = k->scalar_types,
                                   .reds = k->reds,
                                   .body = i->body,
                                   .decls = i->decls ? i->decls : ""};
  k->next = kernels;
  kernels = k;
  *out = k;
  return CF_OK;
}

/* One argument as integers of a call (descriptor.h). Returns how many, or a negative code. */
static int put_access(const cofuse_kernel *k, int i, const cofuse_arg *arg, const known *s, int64_t *v) {
  int nd = k->info.ndims, ninner = k->access[i].ninner, used = 0;
  int64_t es = (int64_t)cf_type_bytes(s->object.type), at = (int64_t)(uintptr_t)arg->base;
  int64_t *stride = v + 2, *trip = stride + nd + ninner, total = 1;
  memset(v, 0, (size_t)(2 + nd + 2 * ninner) * sizeof *v);
  for (int q = 0; q < ninner; q++)
    trip[q] = 1;
  int wide = 0;
  for (int d = 0; d < s->object.rank; d++) {
    total *= s->ext[d];
    wide += s->ext[d] > 1;
  }
  if (arg->part.kind == COFUSE_PART_NONE && wide > ninner) { /* one run over all elements */
    if (ninner < 1)
      return refuse(&k->info, "partition None of an argument without counters", i);
    stride[nd] = es;
    trip[0] = total;
  } else {
    int64_t step[COFUSE_MAX_RANK];
    for (int d = s->object.rank - 1; d >= 0; d--) {
      step[d] = es;
      es *= s->ext[d];
    }
    for (int d = 0; d < s->object.rank; d++) {
      cofuse_along a = arg->part.along[d];
      if (arg->part.kind == COFUSE_PART_NONE)
        a = (cofuse_along){-1, 0, 0, s->ext[d]};
      if (a.loop >= nd || a.width < 1)
        return refuse(&k->info, "bad loop or width in the partition of an argument", i);
      at += a.offset * step[d];
      if (a.loop >= 0)
        stride[a.loop] += a.scale * step[d];
      if (a.width == 1)
        continue;
      if (used == ninner)
        return refuse(&k->info, "more dimensions of width > 1 than counters in an argument", i);
      stride[nd + used] = step[d];
      trip[used++] = a.width;
    }
  }
  v[0] = v[1] = at;
  return 2 + nd + 2 * ninner;
}

static bool no_elements(const known *s) {
  for (int d = 0; d < s->object.rank; d++)
    if (s->ext[d] == 0)
      return true;
  return false;
}

/* The task cannot be issued: every rank runs all of it, on current data. */
static cf_status run_here(const cofuse_kernel *k, const int64_t trip[], const cofuse_arg arg[],
                          const void *const scalar[], void *const result[]) {
  int64_t lo[COFUSE_MAX_DIMS] = {0};
  cofuse_piece piece[COFUSE_MAX_ARGS];
  for (int i = 0; i < k->info.nargs; i++) {
    const known *s = store_at(arg[i].base);
    cofuse_piece *p = &piece[i];
    int64_t stride = 1, at = 0, reach = 0, es = (int64_t)cf_type_bytes(s->object.type);
    p->rank = s->object.rank;
    for (int d = p->rank - 1; d >= 0; d--) {
      cofuse_along a = arg[i].part.along[d];
      if (arg[i].part.kind == COFUSE_PART_NONE)
        a = (cofuse_along){-1, 0, 0, s->ext[d]};
      if (a.loop >= k->info.ndims)
        return refuse(&k->info, "bad loop or width in the partition of an argument", i);
      int64_t span = a.loop >= 0 ? a.scale * (trip[a.loop] - 1) : 0;
      p->lo[d] = a.offset + (span < 0 ? span : 0);
      p->hi[d] = a.offset + (span > 0 ? span : 0) + a.width;
      if (p->lo[d] < 0 || p->hi[d] > s->ext[d])
        return cf_fail(CF_EBOUNDS, "kernel %s: argument %d leaves store %s in dimension %d", k->info.name, i,
                       s->name, d);
      p->stride[d] = stride;
      at += p->lo[d] * stride;
      reach += (p->hi[d] - p->lo[d] - 1) * stride;
      stride *= s->ext[d];
    }
    char *first = (char *)arg[i].base + at * es;
    p->data = first;
    if (!no_elements(s))
      cofuse_guard(arg[i].base, first, first + (reach + 1) * es, k->info.arg[i].privilege | COFUSE_R,
                   k->info.name);
  }
  for (int r = 0; r < k->info.nresults; r++)
    cofuse_guard(result[r], result[r], (char *)result[r] + cf_type_bytes(k->info.result[r].type),
                 COFUSE_R | COFUSE_W, k->info.name);
  cofuse_call call = {k->info.ndims, k->info.nargs, lo, trip, piece, scalar, result};
  k->info.function(&call);
  return CF_OK;
}

int cofuse_launch(cofuse_kernel *k, const int64_t trip[], const cofuse_arg arg[], const void *const scalar[],
                  void *const result[]) {
  enum { PER_ACCESS = 2 + COFUSE_MAX_DIMS + 2 * COFUSE_MAX_INNER };
  int64_t ints[3 * COFUSE_MAX_DIMS + COFUSE_MAX_ARGS * PER_ACCESS];
  int n = 0;
  for (int d = 0; d < k->info.ndims; d++) {
    if (trip[d] <= 0)
      return CF_OK;
    ints[n++] = 0;
    ints[n++] = trip[d];
    ints[n++] = 1;
  }
  bool on = cf_context_start(), empty = false;
  for (int i = 0; i < k->info.nargs; i++) {
    const known *s = store_at(arg[i].base);
    const cf_store *live = s && on ? cf_registry_find(arg[i].base) : NULL;
    bool none = s && s->live && no_elements(s); /* the table of stores does not hold it */
    if (!s || (!none && on && (!live || !live->live || live->base != (char *)arg[i].base)))
      return refuse(&k->info, "an argument is no store", i);
    if (s->object.type != k->info.arg[i].type)
      return refuse(&k->info, "the store of an argument has another type", i);
    empty |= none;
    if (none)
      continue;
    int used = put_access(k, i, &arg[i], s, ints + n);
    if (used < 0)
      return used;
    n += used;
  }
  if (empty)
    return run_here(k, trip, arg, scalar, result);
  if (cofuse_run(&k->opaque.desc, ints, scalar, result))
    return CF_OK;
  cf_status st = run_here(k, trip, arg, scalar, result);
  cofuse_ran(k->opaque.desc.line);
  return st;
}
