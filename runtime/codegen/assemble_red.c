// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions in the text of a kernel.
 *
 * A reduction into a variable lives in a slot of the stack (%r) that starts from the identity and goes to
 * partials in the end. In a nest with lanes (assemble_nest.c) it has a slot for each lane and one for what is
 * left over, and they are combined in the end, always in the same order. A reduction into an
 * array section works on memory that the caller prepared: its slot of partials holds, instead of a value, the
 * address of an array of elements and the last offset at which one fits. The pointer is loaded, so it can
 * alias no base: all of them are noalias and escape nowhere. */
#include "codegen/assemble.h"

#include <inttypes.h>
#include <stdio.h>

static void red_name(const cf_asm *o, uint32_t r, char name[CF_ASM_NAME]) {
  snprintf(name, CF_ASM_NAME, "%%r%u_%u", o->t, r);
}

/* Byte of partials where reduction r has its slot. */
static uint64_t slot_of(const cf_asm *o, uint32_t r) {
  return (uint64_t)CF_RED_SLOT * ((uint64_t)o->task->red_off + r);
}

static cf_status begin_section(cf_asm *o, uint32_t r) {
  char name[CF_ASM_NAME];
  red_name(o, r, name);
  cf_buf_printf(&o->entry,
                "    %sp = llvm.getelementptr inbounds %%partials[%" PRIu64
                "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                "    %s = llvm.load %sp {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr\n",
                name, slot_of(o, r), name, name);
  if (o->task->check)
    cf_buf_printf(&o->entry,
                  "    %sq = llvm.getelementptr inbounds %sp[8] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    %sn = llvm.load %sq {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %sl = llvm.getelementptr inbounds %s[-16] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    %sh = llvm.getelementptr inbounds %s[-8] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                  name, name, name, name, name, name, name, name);
  return CF_OK;
}

/* How two partial results become one; NULL: not in lanes. Integers vectorise without, and a partial sum of
 * signed ones could overflow where the plain loop does not. */
static const char *combiner(int op, int type) {
  if (type != COFUSE_F32 && type != COFUSE_F64)
    return NULL;
  switch (op) {
  case COFUSE_RED_ADD:
    return "arith.addf";
  case COFUSE_RED_MUL:
    return "arith.mulf";
  case COFUSE_RED_MIN:
    return "olt";
  case COFUSE_RED_MAX:
    return "ogt";
  case COFUSE_RED_FMIN:
    return "arith.minnumf";
  case COFUSE_RED_FMAX:
    return "arith.maxnumf";
  default:
    return NULL;
  }
}

bool cf_asm_red_lanes(const cofuse_forall *desc, uint32_t r) {
  return !(desc->reds[r].flags & COFUSE_RED_SECTION) && combiner(desc->reds[r].op, desc->reds[r].type);
}

/* Threads of a device share the work on any reduction. */
bool cf_asm_in_lanes(const cf_asm *o, const cofuse_forall *desc, uint32_t r) {
  return o->lanes &&
         (o->unit->device ? !(desc->reds[r].flags & COFUSE_RED_SECTION) : cf_asm_red_lanes(desc, r));
}

/* if (x > m) m = x keeps the first of -0 and +0, so its lanes also keep where they found their value. */
bool cf_asm_red_placed(const cofuse_forall *desc, uint32_t r) {
  return !(desc->reds[r].flags & COFUSE_RED_SECTION) && cf_red_placed(desc->reds[r].op, desc->reds[r].type);
}

void cf_asm_red_addresses(const cf_asm *o, const char *lane, cf_buf *text) {
  const char *by = lane[0] == '%' ? ", i64" : "";
  for (uint32_t t = 0; t < o->in->ntasks; t++) {
    const cofuse_forall *d = o->in->tasks[t].desc;
    for (uint32_t r = 0; r < d->nreds; r++) {
      if (cf_asm_in_lanes(o, d, r))
        cf_buf_printf(
            text,
            "    %%r%u_%ua = llvm.getelementptr inbounds %%r%u_%u[%s] : (!llvm.ptr%s) -> !llvm.ptr, "
            "%s\n",
            t, r, t, r, lane, by, cf_type_mlir(d->reds[r].type));
      if (cf_asm_red_placed(d, r))
        cf_buf_printf(
            text,
            "    %%r%u_%ub = llvm.getelementptr inbounds %%r%u_%uz[%s] : (!llvm.ptr%s) -> !llvm.ptr, "
            "i64\n",
            t, r, t, r, lane, by);
    }
  }
}

/* A loop over lanes that stores `value` into each slot of `array`. */
static cf_status fill_lanes(cf_asm *o, const char *array, const char *value, const char *t, size_t bytes) {
  char zero[CF_ASM_NAME], one[CF_ASM_NAME], end[CF_ASM_NAME];
  CF_TRY(cf_asm_int(o, cf_asm_literal(0), zero));
  CF_TRY(cf_asm_int(o, cf_asm_literal(1), one));
  CF_TRY(cf_asm_int(o, cf_asm_literal(CF_ASM_LANES + 1), end));
  cf_buf_printf(&o->entry,
                "    scf.for %%x = %s to %s step %s : i64 {\n"
                "    %%y = llvm.getelementptr inbounds %s[%%x] : (!llvm.ptr, i64) -> !llvm.ptr, %s\n"
                "    llvm.store %s, %%y {alignment = %zu : i64} : %s, !llvm.ptr\n    }\n",
                zero, end, one, array, t, value, bytes, t);
  return CF_OK;
}

static cf_status begin_lanes(cf_asm *o, const char *name, uint32_t r) {
  const cofuse_forall *desc = o->task->desc;
  int type = desc->reds[r].type;
  char value[CF_ASM_NAME], never[CF_ASM_NAME], places[CF_ASM_NAME];
  snprintf(value, sizeof value, "%si", name);
  CF_TRY(fill_lanes(o, name, value, cf_type_mlir(type), cf_type_bytes(type)));
  if (!cf_asm_red_placed(desc, r))
    return CF_OK;
  snprintf(places, sizeof places, "%sz", name);
  CF_TRY(cf_asm_slot(o, places, "i64", CF_ASM_LANES + 1, 64));
  CF_TRY(cf_asm_int(o, cf_asm_literal(INT64_MAX), never));
  return fill_lanes(o, places, never, "i64", 8);
}

/* Lanes [0, n) take in the lanes `apart` behind them. */
static cf_status fold_lanes(cf_asm *o, const char *name, uint32_t r, int n, int apart) {
  const cofuse_forall *desc = o->task->desc;
  int type = desc->reds[r].type;
  const char *t = cf_type_mlir(type), *how = combiner(desc->reds[r].op, type);
  size_t bytes = cf_type_bytes(type);
  char zero[CF_ASM_NAME], one[CF_ASM_NAME], end[CF_ASM_NAME], by[CF_ASM_NAME];
  CF_TRY(cf_asm_int(o, cf_asm_literal(0), zero));
  CF_TRY(cf_asm_int(o, cf_asm_literal(1), one));
  CF_TRY(cf_asm_int(o, cf_asm_literal(n), end));
  CF_TRY(cf_asm_int(o, cf_asm_literal(apart), by));
  cf_buf_printf(&o->exit,
                "    scf.for %%x = %s to %s step %s : i64 {\n"
                "    %%y = arith.addi %%x, %s : i64\n"
                "    %%p = llvm.getelementptr inbounds %s[%%x] : (!llvm.ptr, i64) -> !llvm.ptr, %s\n"
                "    %%q = llvm.getelementptr inbounds %s[%%y] : (!llvm.ptr, i64) -> !llvm.ptr, %s\n"
                "    %%u = llvm.load %%p {alignment = %zu : i64} : !llvm.ptr -> %s\n"
                "    %%w = llvm.load %%q {alignment = %zu : i64} : !llvm.ptr -> %s\n",
                zero, end, one, by, name, t, name, t, bytes, t, bytes, t);
  if (cf_asm_red_placed(desc, r))
    cf_buf_printf(&o->exit,
                  "    %%pp = llvm.getelementptr inbounds %sz[%%x] : (!llvm.ptr, i64) -> !llvm.ptr, i64\n"
                  "    %%qq = llvm.getelementptr inbounds %sz[%%y] : (!llvm.ptr, i64) -> !llvm.ptr, i64\n"
                  "    %%uu = llvm.load %%pp {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %%ww = llvm.load %%qq {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %%better = arith.cmpf %s, %%w, %%u : %s\n"
                  "    %%equal = arith.cmpf oeq, %%w, %%u : %s\n"
                  "    %%sooner = arith.cmpi slt, %%ww, %%uu : i64\n"
                  "    %%even = arith.andi %%equal, %%sooner : i1\n"
                  "    %%use = arith.ori %%better, %%even : i1\n"
                  "    %%v = arith.select %%use, %%w, %%u : %s\n"
                  "    %%vv = arith.select %%use, %%ww, %%uu : i64\n"
                  "    llvm.store %%vv, %%pp {alignment = 8 : i64} : i64, !llvm.ptr\n",
                  name, name, how, t, t, t);
  else
    cf_buf_printf(&o->exit, "    %%v = %s %%u, %%w : %s\n", how, t);
  cf_buf_printf(&o->exit, "    llvm.store %%v, %%p {alignment = %zu : i64} : %s, !llvm.ptr\n    }\n", bytes,
                t);
  return CF_OK;
}

/* Until one lane is left, which takes what was left over. */
static cf_status end_lanes(cf_asm *o, const char *name, uint32_t r) {
  for (int n = CF_ASM_LANES / 2; n > 0; n /= 2)
    CF_TRY(fold_lanes(o, name, r, n, n));
  return fold_lanes(o, name, r, 1, CF_ASM_LANES);
}

/* Also of a reduction that the body never touches: its partial is read. */
cf_status cf_asm_begin_reds(cf_asm *o) {
  const cofuse_forall *desc = o->task->desc;
  for (uint32_t r = 0; r < desc->nreds; r++) {
    int op = desc->reds[r].op, type = desc->reds[r].type;
    size_t bytes = cf_type_bytes(type);
    const char *t = cf_type_mlir(type);
    bool bits = op == COFUSE_RED_AND || op == COFUSE_RED_OR || op == COFUSE_RED_XOR;
    if (!bytes || op > COFUSE_RED_FMAX || (bits && t[0] == 'f'))
      return cf_fail(CF_EINVAL, "%s:%u: reduction %u has no meaning for its type",
                     desc->file ? desc->file : "?", desc->line, r);
    if (desc->reds[r].flags & COFUSE_RED_SECTION) {
      CF_TRY(begin_section(o, r));
      continue;
    }
    char name[CF_ASM_NAME], init[24];
    uint64_t raw = 0;
    red_name(o, r, name);
    bool lanes = cf_asm_in_lanes(o, desc, r), device = o->unit->device;
    CF_TRY(cf_asm_slot(o, name, t,
                       !lanes   ? 1
                       : device ? 2
                                : CF_ASM_LANES + 1,
                       lanes && !device ? 64 : bytes));
    cf_red_identity(op, type, &raw);
    if (t[0] == 'f')
      snprintf(init, sizeof init, "0x%0*" PRIX64, (int)(2 * bytes), raw);
    else
      snprintf(init, sizeof init, "%" PRId64, (int64_t)(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    cf_buf_printf(&o->entry, "    %si = llvm.mlir.constant(%s : %s) : %s\n", name, init, t, t);
    if (lanes && device) {
      CF_TRY(cf_asm_device_red(o, name, r, t, bytes));
      continue;
    }
    if (lanes) {
      CF_TRY(begin_lanes(o, name, r));
      CF_TRY(end_lanes(o, name, r));
    } else {
      cf_buf_printf(&o->entry, "    llvm.store %si, %s {alignment = %zu : i64} : %s, !llvm.ptr\n", name, name,
                    bytes, t);
    }
    if (lanes && cf_asm_red_placed(desc, r))
      cf_buf_printf(&o->exit,
                    "    %sw = llvm.load %sz {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                    "    %sx = llvm.getelementptr inbounds %%partials[%" PRIu64
                    "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                    "    llvm.store %sw, %sx {alignment = 8 : i64} : i64, !llvm.ptr\n",
                    name, name, name, slot_of(o, r) + 8, name, name);
    cf_buf_printf(&o->exit,
                  "    %so = llvm.load %s {alignment = %zu : i64} : !llvm.ptr -> %s\n"
                  "    %sp = llvm.getelementptr inbounds %%partials[%" PRIu64
                  "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    llvm.store %so, %sp {alignment = %zu : i64} : %s, !llvm.ptr\n",
                  name, name, bytes, t, name, slot_of(o, r), name, name, bytes, t);
  }
  return CF_OK;
}

/* An element of the array of a section, with a look at its offset first: a bad one touches nothing, loads 0
 * and goes into the two int64 in front of the array (lowest, highest), which no other block shares. */
static void checked_element(cf_asm *o, const cf_tpl_line *l, const char *name, const char *address,
                            size_t bytes) {
  bool load = l->kind == CF_TPL_RED;
  uint32_t q = o->naddr++;
  int tn = (int)l->type.n;
  const char *t = l->type.p;
  cf_buf_printf(&o->body, "    %%q%uc = arith.cmpi ule, ", q);
  cf_tpl_rename(&o->body, l->off, o->prefix);
  cf_buf_printf(&o->body, ", %sn : i64\n", name);
  if (load)
    cf_asm_result(o, l->result);
  cf_buf_printf(&o->body, "scf.if %%q%uc ", q);
  if (load) {
    cf_buf_printf(&o->body,
                  "-> (%.*s) {\n    %%q%uv = llvm.load %s {alignment = %zu : i64} : !llvm.ptr -> %.*s\n"
                  "    scf.yield %%q%uv : %.*s\n",
                  tn, t, q, address, bytes, tn, t, q, tn, t);
  } else {
    cf_buf_str(&o->body, "{\n");
    cf_asm_store(o, l->value, address, l->type, bytes);
  }
  cf_buf_str(&o->body, "    } else {\n");
  for (int high = 0; high < 2; high++) {
    char c = high ? 'h' : 'l';
    cf_buf_printf(&o->body,
                  "    %%q%uo%c = llvm.load %s%c {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %%q%um%c = arith.%ssi %%q%uo%c, ",
                  q, c, name, c, q, c, high ? "max" : "min", q, c);
    cf_tpl_rename(&o->body, l->off, o->prefix);
    cf_buf_printf(&o->body, " : i64\n    llvm.store %%q%um%c, %s%c {alignment = 8 : i64} : i64, !llvm.ptr\n",
                  q, c, name, c);
  }
  if (load)
    cf_buf_printf(&o->body,
                  "    %%q%uz = llvm.mlir.constant(0%s : %.*s) : %.*s\n    scf.yield %%q%uz : %.*s\n", q,
                  t[0] == 'f' ? ".0" : "", tn, t, tn, t, q, tn, t);
  cf_buf_str(&o->body, "    }\n");
}

/* Where the value about to be stored was found, if it is another one. */
static void put_place(cf_asm *o, const cf_tpl_line *l, const char *name) {
  uint32_t q = o->naddr++;
  int type = o->task->desc->reds[l->index].type;
  const char *t = cf_type_mlir(type);
  cf_buf_printf(&o->body,
                "    %%q%uv = llvm.load %sa {alignment = %zu : i64} : !llvm.ptr -> %s\n"
                "    %%q%up = llvm.load %sb {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                "    %%q%uc = arith.cmpf %s, ",
                q, name, cf_type_bytes(type), t, q, name, q,
                combiner(o->task->desc->reds[l->index].op, type));
  cf_tpl_rename(&o->body, l->value, o->prefix);
  cf_buf_printf(&o->body,
                ", %%q%uv : %s\n"
                "    %%q%un = arith.select %%q%uc, %%place, %%q%up : i64\n"
                "    llvm.store %%q%un, %sb {alignment = 8 : i64} : i64, !llvm.ptr\n",
                q, t, q, q, q, q, name);
}

cf_status cf_asm_red(cf_asm *o, const cf_tpl_line *l) {
  const cofuse_forall *desc = o->task->desc;
  if (l->index >= desc->nreds)
    return cf_asm_malformed(o, l, "no such reduction");
  int type = desc->reds[l->index].type;
  size_t bytes = cf_type_bytes(type);
  if (!cf_slice_is(l->type, cf_type_mlir(type)))
    return cf_asm_malformed(o, l, "type differs from the reduction's");
  bool section = desc->reds[l->index].flags & COFUSE_RED_SECTION;
  if (section != l->has_off)
    return cf_asm_malformed(o, l, section ? "section without 'at'" : "'at' on a reduction into a variable");
  char name[CF_ASM_NAME], address[CF_ASM_NAME];
  red_name(o, l->index, name);
  if (section) {
    snprintf(address, sizeof address, "%%a%u", o->naddr++);
    cf_buf_printf(&o->body, "    %s = llvm.getelementptr %s%s[", address, o->task->check ? "" : "inbounds ",
                  name);
    cf_tpl_rename(&o->body, l->off, o->prefix);
    cf_buf_str(&o->body, "] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
    if (o->task->check) {
      checked_element(o, l, name, address, bytes);
      return CF_OK;
    }
  } else {
    snprintf(address, sizeof address, "%s%s", name, cf_asm_in_lanes(o, desc, l->index) ? "a" : "");
  }
  if (l->kind == CF_TPL_RED) {
    cf_asm_load(o, l->result, address, l->type, bytes);
    return CF_OK;
  }
  if (o->lanes && cf_asm_red_placed(desc, l->index))
    put_place(o, l, name);
  cf_asm_store(o, l->value, address, l->type, bytes);
  return CF_OK;
}
