// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Splices loop bodies into the text of one MLIR module.
 *
 * Per nest: an outer function with the C signature of cf_kernel_fn, which only fetches base pointers,
 * and an inner one with a noalias pointer parameter per store instance, which is how LLVM learns that
 * instances do not overlap (never two accesses of one instance). The text depends on the unit alone;
 * values are numbered in order of first use. Names of a body are prefixed with "t<task>_", names made
 * here start with another letter, so the two never meet:
 *   %b base pointer, %i run-time integer, %c constant, %n iteration number, %m its product with a stride,
 *   %a address, %q of a checked access, %v loop counter,
 *   %s scalar, %l local of a body, %d slot of a demoted store, %r slot of a reduction;
 * and words in assemble_nest.c and assemble_red.c. */
#include "codegen/assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_LOCAL_BYTES = 1 << 20,
  MAX_TURNS = 8 /* each part repeats the addresses of all tasks */
};

/* Returns the name recorded for a key, NULL if there is none yet. */
static const char *seen_get(const cf_asm *o, const void *key, size_t n) {
  return cf_map_get(&o->seen, key, n);
}

static cf_status seen_put(cf_asm *o, const void *key, size_t n, const char *name) {
  size_t len = strlen(name) + 1;
  char *copy = cf_arena_alloc(&o->names, len);
  if (!copy)
    return cf_fail(CF_ENOMEM, "out of memory while assembling a kernel");
  memcpy(copy, name, len);
  return cf_map_put(&o->seen, key, n, copy);
}

cf_status cf_asm_malformed(const cf_asm *o, const cf_tpl_line *l, const char *what) {
  return cf_tpl_error(&o->tpl, l->text, what);
}

/* The SSA name of an i64, loaded or defined in the entry at first use. */
cf_status cf_asm_int(cf_asm *o, cf_cg_int v, char name[CF_ASM_NAME]) {
  struct {
    char kind[8];
    int64_t v;
  } key = {"int", v.index};
  if (v.index >= 0) {
    if ((uint32_t)v.index >= o->unit->nints)
      return cf_fail(CF_EINTERNAL, "kernel integer %d of %u", v.index, o->unit->nints);
    snprintf(name, CF_ASM_NAME, "%%i%d", v.index);
  } else {
    memcpy(key.kind, "const", 6);
    key.v = v.lit;
    snprintf(name, CF_ASM_NAME, "%%c%s%" PRIu64, v.lit < 0 ? "m" : "",
             v.lit < 0 ? 0 - (uint64_t)v.lit : (uint64_t)v.lit);
  }
  if (seen_get(o, &key, sizeof key))
    return CF_OK;
  if (v.index < 0)
    cf_buf_printf(&o->entry, "    %s = llvm.mlir.constant(%" PRId64 " : i64) : i64\n", name, v.lit);
  else
    cf_buf_printf(&o->entry,
                  "    %%ip%d = llvm.getelementptr inbounds %%ints[%d] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                  "    %s = llvm.load %%ip%d {alignment = 8 : i64} : !llvm.ptr -> i64\n",
                  v.index, v.index, name, v.index);
  return seen_put(o, &key, sizeof key, name);
}

static bool is_literal(cf_cg_int v, int64_t x) { return v.index < 0 && v.lit == x; }

/* n * stride of loop d, once per stride. An address inside the store is never more than half the address
 * space away from another, so the product of an iteration that is reached cannot wrap. */
static cf_status loop_step(cf_asm *o, uint32_t d, cf_cg_int stride, char name[CF_ASM_NAME]) {
  struct {
    char kind[8];
    int64_t d, index, lit;
  } key = {"step", d, stride.index, stride.index < 0 ? stride.lit : 0};
  char s[CF_ASM_NAME];
  CF_TRY(cf_asm_int(o, stride, s));
  snprintf(name, CF_ASM_NAME, "%%m%u_%s", d, s + 1);
  if (seen_get(o, &key, sizeof key))
    return CF_OK;
  cf_buf_printf(&o->head[d], "    %s = arith.muli %%n%u, %s overflow<nsw> : i64\n", name, d, s);
  return seen_put(o, &key, sizeof key, name);
}

static void put_advance(const cf_asm *o, cf_buf *to, const char *out, const char *p, const char *bytes) {
  cf_buf_printf(to, "    %s = llvm.getelementptr %s%s[%s] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n", out,
                o->loose ? "" : "inbounds ", p, bytes);
}

/* The address of an access at the current iteration, without inner loops: each loop adds its share at
 * its own level. Equal addresses are one value. */
static cf_status point_address(cf_asm *o, const cf_cg_access *a, char name[CF_ASM_NAME]) {
  struct {
    char kind[8];
    int64_t v[2 * (COFUSE_MAX_DIMS + 1) + 1];
  } key = {.kind = "addr"};
  key.kind[7] = o->loose;
  uint32_t nd = o->in->ndims, k = 0;
  if (a->base < 0 || (uint32_t)a->base >= o->unit->nbases)
    return cf_fail(CF_EINTERNAL, "kernel base %d of %u", a->base, o->unit->nbases);
  key.v[k++] = a->base;
  for (uint32_t d = 0; d <= nd; d++) {
    cf_cg_int v = d ? a->stride[d - 1] : a->off;
    key.v[k++] = v.index < 0 ? -1 : v.index;
    key.v[k++] = v.index < 0 ? v.lit : 0;
  }
  const char *old = seen_get(o, &key, sizeof key);
  if (old) {
    snprintf(name, CF_ASM_NAME, "%s", old);
    return CF_OK;
  }
  uint32_t id = o->naddr++;
  char next[CF_ASM_NAME], n[CF_ASM_NAME];
  o->base_used[a->base] = 1;
  snprintf(name, CF_ASM_NAME, "%%b%d", a->base);
  if (!is_literal(a->off, 0)) {
    CF_TRY(cf_asm_int(o, a->off, n));
    snprintf(next, CF_ASM_NAME, "%%a%u", id);
    put_advance(o, &o->entry, next, name, n);
    memcpy(name, next, CF_ASM_NAME);
  }
  for (uint32_t d = 0; d < nd; d++) {
    if (is_literal(a->stride[d], 0))
      continue;
    CF_TRY(loop_step(o, d, a->stride[d], n));
    snprintf(next, CF_ASM_NAME, "%%a%u_%u", id, d);
    put_advance(o, &o->head[d], next, name, n);
    memcpy(name, next, CF_ASM_NAME);
  }
  return seen_put(o, &key, sizeof key, name);
}

cf_status cf_asm_slot(cf_asm *o, const char *name, const char *type, uint64_t count, size_t align) {
  if (seen_get(o, name, strlen(name)))
    return CF_OK;
  char n[CF_ASM_NAME];
  CF_TRY(cf_asm_int(o, cf_asm_literal((int64_t)count), n));
  cf_buf_printf(&o->entry, "    %s = llvm.alloca %s x %s {alignment = %zu : i64} : (i64) -> !llvm.ptr\n",
                name, n, type, align);
  return seen_put(o, name, strlen(name), name);
}

/* Checks the access of a cf.load or cf.store and gives its address. */
static cf_status access_address(cf_asm *o, const cf_tpl_line *l, char name[CF_ASM_NAME]) {
  const cofuse_forall *desc = o->task->desc;
  if (l->index >= desc->naccess)
    return cf_asm_malformed(o, l, "no such access");
  const cofuse_access *acc = &desc->access[l->index];
  const cf_cg_access *a = &o->task->access[l->index];
  size_t bytes = cf_type_bytes(acc->type);
  if (!bytes || !cf_slice_is(l->type, cf_type_mlir(acc->type)))
    return cf_asm_malformed(o, l, "type differs from the access's");
  bool indirect = acc->flags & COFUSE_ACC_INDIRECT;
  if (indirect != l->has_off)
    return cf_asm_malformed(o, l, indirect ? "indirect access without 'at'" : "'at' on a direct access");
  if (acc->ninner > COFUSE_MAX_INNER || l->nargs != (indirect ? 0 : acc->ninner))
    return cf_asm_malformed(o, l, "wrong number of inner counters");
  if (a->local >= 0) {
    if ((uint32_t)a->local >= o->in->nlocals || indirect)
      return cf_fail(CF_EINTERNAL, "kernel local slot %d of %u", a->local, o->in->nlocals);
    int type = o->in->local_types[a->local];
    if (strcmp(cf_type_mlir(type), cf_type_mlir(acc->type)) != 0)
      return cf_fail(CF_EINTERNAL, "local slot %d used as %s and %s", a->local, cf_type_mlir(type),
                     cf_type_mlir(acc->type));
    if (o->parted) { /* one for each iteration: its uses may be in several parts */
      snprintf(name, CF_ASM_NAME, "%%d%ds", a->local);
      CF_TRY(cf_asm_slot(o, name, cf_type_mlir(type), CF_ASM_PART + 1, 64));
    }
    snprintf(name, CF_ASM_NAME, "%%d%d", a->local);
    return o->parted ? CF_OK : cf_asm_slot(o, name, cf_type_mlir(type), 1, bytes);
  }
  char base[CF_ASM_NAME], arg[CF_ASM_NAME];
  CF_TRY(point_address(o, a, base));
  uint32_t id = 0;
  if (l->has_off || l->nargs)
    id = o->naddr++;
  if (l->has_off) {
    snprintf(name, CF_ASM_NAME, "%%a%u", id);
    cf_buf_printf(&o->body, "    %s = llvm.getelementptr %s%s[", name, o->loose ? "" : "inbounds ", base);
    cf_tpl_rename(&o->body, l->off, o->prefix);
    cf_buf_str(&o->body, "] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
    return CF_OK;
  }
  for (uint32_t k = 0; k < l->nargs; k++) {
    cf_cg_int stride = a->stride[o->in->ndims + k];
    if (is_literal(stride, 0))
      continue;
    CF_TRY(cf_asm_int(o, stride, arg));
    cf_buf_printf(&o->body, "    %%m%u_k%u = arith.muli ", id, k);
    cf_tpl_rename(&o->body, l->args[k], o->prefix);
    cf_buf_printf(&o->body, ", %s overflow<nsw> : i64\n", arg);
    snprintf(arg, CF_ASM_NAME, "%%m%u_k%u", id, k);
    snprintf(name, CF_ASM_NAME, "%%a%u_k%u", id, k);
    put_advance(o, &o->body, name, base, arg);
    memcpy(base, name, CF_ASM_NAME);
  }
  memcpy(name, base, CF_ASM_NAME);
  return CF_OK;
}

void cf_asm_local_addresses(const cf_asm *o, const char *within, cf_buf *text) {
  char name[CF_ASM_NAME];
  for (uint32_t k = 0; o->parted && k < o->in->nlocals; k++) {
    snprintf(name, CF_ASM_NAME, "%%d%us", k);
    if (seen_get(o, name, strlen(name)))
      cf_buf_printf(text, "    %%d%u = llvm.getelementptr inbounds %s[%s] : (!llvm.ptr%s) -> !llvm.ptr, %s\n",
                    k, name, within, within[0] == '%' ? ", i64" : "", cf_type_mlir(o->in->local_types[k]));
  }
}

void cf_asm_append(cf_buf *to, const cf_buf *from) {
  cf_buf_put(to, from->data, from->len);
  to->failed |= from->failed;
}

void cf_asm_result(cf_asm *o, cf_slice result) {
  cf_buf_str(&o->body, "    ");
  cf_tpl_rename(&o->body, result, o->prefix);
  cf_buf_str(&o->body, " = ");
}

void cf_asm_load(cf_asm *o, cf_slice result, const char *address, cf_slice type, size_t align) {
  cf_asm_result(o, result);
  cf_buf_printf(&o->body, "llvm.load %s {alignment = %zu : i64} : !llvm.ptr -> %.*s\n", address, align,
                (int)type.n, type.p);
}

void cf_asm_store(cf_asm *o, cf_slice value, const char *address, cf_slice type, size_t align) {
  cf_buf_str(&o->body, "    llvm.store ");
  cf_tpl_rename(&o->body, value, o->prefix);
  cf_buf_printf(&o->body, ", %s {alignment = %zu : i64} : %.*s, !llvm.ptr\n", address, align, (int)type.n,
                type.p);
}

/* An access whose address no analysis has bounded: looked at before it is made. */
static cf_status checked_access(cf_asm *o, const cf_tpl_line *l) {
  const cf_cg_access *a = &o->task->access[l->index];
  size_t align = cf_type_bytes(o->task->desc->access[l->index].type);
  char address[CF_ASM_NAME], limit[CF_ASM_NAME];
  int tn = (int)l->type.n;
  const char *t = l->type.p;
  bool load = l->kind == CF_TPL_LOAD;
  if (a->report >= o->unit->nbases)
    return cf_fail(CF_EINTERNAL, "kernel base %u of %u", a->report, o->unit->nbases);
  o->loose = true;
  cf_status st = access_address(o, l, address);
  o->loose = false;
  CF_TRY(st);
  CF_TRY(cf_asm_int(o, (cf_cg_int){.index = (int32_t)a->limit - 1}, limit));
  o->base_used[a->report] = 1;
  uint32_t q = o->naddr++;
  cf_buf_printf(&o->body,
                "    %%q%ua = llvm.ptrtoint %s : !llvm.ptr to i64\n"
                "    %%q%ub = llvm.ptrtoint %%b%d : !llvm.ptr to i64\n"
                "    %%q%uo = arith.subi %%q%ua, %%q%ub : i64\n"
                "    %%q%uc = arith.cmpi ule, %%q%uo, %s : i64\n",
                q, address, q, a->base, q, q, q, q, q, limit);
  if (load)
    cf_asm_result(o, l->result);
  cf_buf_printf(&o->body, "scf.if %%q%uc ", q);
  if (load) {
    cf_buf_printf(&o->body,
                  "-> (%.*s) {\n    %%q%uv = llvm.load %s {alignment = %zu : i64} : !llvm.ptr -> %.*s\n"
                  "    scf.yield %%q%uv : %.*s\n",
                  tn, t, q, address, align, tn, t, q, tn, t);
  } else {
    cf_buf_str(&o->body, "{\n");
    cf_asm_store(o, l->value, address, l->type, align);
  }
  cf_buf_printf(&o->body,
                "    } else {\n"
                "    %%q%ul = llvm.getelementptr inbounds %%b%u[%u] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                "    %%q%uh = llvm.getelementptr inbounds %%b%u[%u] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                "    %%q%ux = llvm.atomicrmw min %%q%ul, %%q%uo monotonic : !llvm.ptr, i64\n"
                "    %%q%uy = llvm.atomicrmw max %%q%uh, %%q%uo monotonic : !llvm.ptr, i64\n",
                q, a->report, 16 * a->slot, q, a->report, 16 * a->slot + 8, q, q, q, q, q, q);
  if (load)
    cf_buf_printf(&o->body,
                  "    %%q%uz = llvm.mlir.constant(0%s : %.*s) : %.*s\n    scf.yield %%q%uz : %.*s\n", q,
                  t[0] == 'f' ? ".0" : "", tn, t, tn, t, q, tn, t);
  cf_buf_str(&o->body, "    }\n");
  return CF_OK;
}

/* Scalars are loaded once, in the entry. A body names its result itself, and MLIR has no renaming: a
 * cast from T to T, which disappears on lowering, gives the second name. */
static cf_status expand_scalar(cf_asm *o, const cf_tpl_line *l) {
  const cofuse_forall *desc = o->task->desc;
  if (l->index >= desc->nscalars)
    return cf_asm_malformed(o, l, "no such scalar");
  int type = desc->scalar_types[l->index];
  size_t bytes = cf_type_bytes(type);
  const char *t = cf_type_mlir(type);
  if (!bytes || !cf_slice_is(l->type, t))
    return cf_asm_malformed(o, l, "type differs from the scalar's");
  char name[CF_ASM_NAME];
  snprintf(name, CF_ASM_NAME, "%%s%u_%u", o->t, l->index);
  if (!seen_get(o, name, strlen(name))) {
    cf_buf_printf(&o->entry,
                  "    %sp = llvm.getelementptr inbounds %%scalars[%u] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    %s = llvm.load %sp {alignment = %zu : i64} : !llvm.ptr -> %s\n",
                  name, o->task->scalar_off + 8 * l->index, name, name, bytes, t);
    CF_TRY(seen_put(o, name, strlen(name), name));
  }
  cf_asm_result(o, l->result);
  cf_buf_printf(&o->body, "llvm.bitcast %s : %s to %s\n", name, t, t);
  return CF_OK;
}

/* counter = first + n * step, in i64 at the level of its loop, narrowed where it is used. */
static cf_status expand_iv(cf_asm *o, const cf_tpl_line *l) {
  const cofuse_forall *desc = o->task->desc;
  if (l->index >= desc->ndims || l->index >= COFUSE_MAX_DIMS)
    return cf_asm_malformed(o, l, "no such loop");
  int type = desc->iv_types[l->index];
  const char *t = cf_type_mlir(type);
  if (!cf_type_bytes(type) || t[0] != 'i' || !cf_slice_is(l->type, t))
    return cf_asm_malformed(o, l, "type differs from the counter's");
  uint32_t d = o->task->loop_at[l->index];
  if (d >= COFUSE_MAX_DIMS)
    return cf_fail(CF_EINTERNAL, "loop %llu is loop %u of a nest", (unsigned long long)l->index, d);
  cf_cg_int first = o->task->iv_first[d], step = o->task->iv_step[d];
  char name[CF_ASM_NAME], at[CF_ASM_NAME], x[CF_ASM_NAME];
  snprintf(name, CF_ASM_NAME, "%%v%u_%u", o->t, d);
  const char *old = seen_get(o, name, strlen(name));
  if (old) {
    snprintf(at, CF_ASM_NAME, "%s", old);
  } else if (d >= o->in->ndims) { /* a loop of one trip that the nest dropped */
    CF_TRY(cf_asm_int(o, first, at));
  } else {
    snprintf(at, CF_ASM_NAME, "%%n%u", d);
    if (!is_literal(step, 1)) {
      CF_TRY(cf_asm_int(o, step, x));
      cf_buf_printf(&o->head[d], "    %sm = arith.muli %s, %s : i64\n", name, at, x);
      snprintf(at, CF_ASM_NAME, "%sm", name);
    }
    if (!is_literal(first, 0)) {
      CF_TRY(cf_asm_int(o, first, x));
      cf_buf_printf(&o->head[d], "    %s = arith.addi %s, %s : i64\n", name, at, x);
      memcpy(at, name, CF_ASM_NAME);
    }
  }
  if (!old)
    CF_TRY(seen_put(o, name, strlen(name), at));
  cf_asm_result(o, l->result);
  if (cf_type_bytes(type) == 8)
    cf_buf_printf(&o->body, "llvm.bitcast %s : i64 to i64\n", at);
  else
    cf_buf_printf(&o->body, "llvm.trunc %s : i64 to %s\n", at, t);
  return CF_OK;
}

static cf_status expand_local(cf_asm *o, const cf_tpl_line *l) {
  int type = 0;
  while (type < COFUSE_OPAQUE && !cf_slice_is(l->type, cf_type_mlir(type)))
    type++;
  size_t bytes = cf_type_bytes(type);
  if (!bytes)
    return cf_asm_malformed(o, l, "unknown type");
  if (l->count > MAX_LOCAL_BYTES / bytes)
    return cf_asm_malformed(o, l, "local array too large");
  char name[CF_ASM_NAME];
  snprintf(name, CF_ASM_NAME, "%%l%u", o->nlocals++);
  CF_TRY(cf_asm_slot(o, name, cf_type_mlir(type), l->count, l->count > 1 ? 64 : bytes));
  cf_asm_result(o, l->result);
  cf_buf_printf(&o->body, "llvm.getelementptr inbounds %s[0] : (!llvm.ptr) -> !llvm.ptr, i8\n", name);
  return CF_OK;
}

static cf_status expand_line(cf_asm *o, const cf_tpl_line *l) {
  char address[CF_ASM_NAME];
  size_t bytes;
  switch (l->kind) {
  case CF_TPL_LOAD:
  case CF_TPL_STORE:
    if (l->index < o->task->desc->naccess && o->task->access[l->index].limit)
      return checked_access(o, l);
    CF_TRY(access_address(o, l, address));
    bytes = cf_type_bytes(o->task->desc->access[l->index].type);
    if (l->kind == CF_TPL_LOAD)
      cf_asm_load(o, l->result, address, l->type, bytes);
    else
      cf_asm_store(o, l->value, address, l->type, bytes);
    return CF_OK;
  case CF_TPL_SCALAR:
    return expand_scalar(o, l);
  case CF_TPL_IV:
    return expand_iv(o, l);
  case CF_TPL_RED:
  case CF_TPL_SETRED:
    return cf_asm_red(o, l);
  case CF_TPL_LOCAL:
    return expand_local(o, l);
  default:
    cf_buf_str(&o->body, "    ");
    cf_tpl_rename(&o->body, l->text, o->prefix);
    cf_buf_str(&o->body, "\n");
    return CF_OK;
  }
}

static cf_status expand_task(cf_asm *o, uint32_t t) {
  o->t = t;
  o->task = &o->in->tasks[t];
  snprintf(o->prefix, sizeof o->prefix, "t%u_", t);
  if (o->parted && t > 0 && cf_asm_has_loops(o->task->desc) != cf_asm_has_loops(o->in->tasks[t - 1].desc))
    o->cuts[o->ncuts++] = (uint32_t)o->body.len;
  cf_tpl_begin(&o->tpl, o->task->desc, o->task->desc->body);
  CF_TRY(cf_asm_begin_reds(o));
  for (;;) {
    cf_tpl_line l;
    bool more;
    CF_TRY(cf_tpl_next(&o->tpl, &l, &more));
    if (!more)
      return CF_OK;
    CF_TRY(expand_line(o, &l));
  }
}

static cf_status assemble_nest(const cf_cg_unit *u, uint32_t k, cf_buf *text) {
  cf_asm o = {.unit = u, .in = &u->nests[k]};
  if (o.in->ndims > COFUSE_MAX_DIMS)
    return cf_fail(CF_EINTERNAL, "kernel nest with %u loops", o.in->ndims);
  o.base_used = calloc(u->nbases + 1, 1);
  o.cuts = malloc((o.in->ntasks + 1) * sizeof *o.cuts);
  cf_status st =
      o.base_used && o.cuts ? CF_OK : cf_fail(CF_ENOMEM, "out of memory while assembling a kernel");
  char one[CF_ASM_NAME];
  if (st == CF_OK)
    st = cf_asm_int(&o, cf_asm_literal(1), one); /* the step of the loops */
  o.lanes = u->device ? cf_cg_folds(o.in) : cf_asm_wants_lanes(o.in);
  uint32_t turns = 0;
  for (uint32_t t = 1; o.lanes && !u->device && t < o.in->ntasks; t++)
    turns += cf_asm_has_loops(o.in->tasks[t].desc) != cf_asm_has_loops(o.in->tasks[t - 1].desc);
  o.parted = turns > 0 && turns <= MAX_TURNS;
  for (uint32_t t = 0; st == CF_OK && t < o.in->ntasks; t++)
    st = expand_task(&o, t);
  if (st == CF_OK)
    st = u->device ? cf_asm_finish_device(&o, k, text) : cf_asm_finish_nest(&o, k, text);
  cf_buf_free(&o.entry);
  cf_buf_free(&o.start);
  for (uint32_t d = 0; d < COFUSE_MAX_DIMS; d++)
    cf_buf_free(&o.head[d]);
  cf_buf_free(&o.body);
  cf_buf_free(&o.exit);
  cf_map_free(&o.seen);
  cf_arena_free(&o.names);
  free(o.base_used);
  free(o.cuts);
  return st;
}

/* Declarations of called functions, each once. seen: function name -> its declaration. */
static cf_status put_decls(const cofuse_forall *desc, cf_map *seen, cf_arena *arena, cf_buf *text) {
  static const char start[] = "llvm.func ";
  cf_tpl t;
  cf_tpl_line l;
  bool more;
  cf_tpl_begin(&t, desc, desc->decls);
  for (;;) {
    CF_TRY(cf_tpl_next(&t, &l, &more));
    if (!more)
      return CF_OK;
    const char *name = memchr(l.text.p, '@', l.text.n), *end = l.text.p + l.text.n;
    const char *paren = name ? memchr(name, '(', (size_t)(end - name)) : NULL;
    size_t n = paren ? (size_t)(paren - name) : 0;
    if (l.text.n < sizeof start || memcmp(l.text.p, start, sizeof start - 1) != 0 || n < 2)
      return cf_tpl_error(&t, l.text, "declaration of a function expected");
    if ((n > 9 && (memcmp(name, "@cofuse_k", 9) == 0 || memcmp(name, "@cofuse_n", 9) == 0)) || t.depth)
      return cf_tpl_error(&t, l.text, "not a declaration a kernel can use");
    const cf_slice *old = cf_map_get(seen, name, n);
    if (old && (old->n != l.text.n || memcmp(old->p, l.text.p, old->n) != 0))
      return cf_tpl_error(&t, l.text, "another loop of the kernel declares this function differently");
    if (old)
      continue;
    cf_slice *copy = cf_arena_alloc(arena, sizeof *copy);
    if (!copy)
      return cf_fail(CF_ENOMEM, "out of memory while assembling a kernel");
    *copy = l.text;
    CF_TRY(cf_map_put(seen, name, n, copy));
    cf_buf_str(text, "  ");
    cf_buf_put(text, l.text.p, l.text.n);
    cf_buf_str(text, "\n");
  }
}

cf_status cf_cg_assemble(const cf_cg_unit *u, cf_buf *text) {
  cf_map seen = {0};
  cf_arena arena = {0};
  cf_status st = CF_OK;
  cf_buf_str(text, "module {\n");
  for (uint32_t k = 0; st == CF_OK && k < u->nnests; k++)
    for (uint32_t t = 0; st == CF_OK && t < u->nests[k].ntasks; t++)
      st = put_decls(u->nests[k].tasks[t].desc, &seen, &arena, text);
  for (uint32_t k = 0; st == CF_OK && k < u->nnests; k++)
    st = assemble_nest(u, k, text);
  if (st == CF_OK && u->device)
    cf_asm_folds(u, text);
  cf_buf_str(text, "}\n");
  cf_map_free(&seen);
  cf_arena_free(&arena);
  if (st == CF_OK && text->failed)
    st = cf_fail(CF_ENOMEM, "out of memory while assembling a kernel");
  return st;
}
