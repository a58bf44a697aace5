// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions in the text of a kernel.
 *
 * A reduction into a variable lives in a slot of the stack (%r) that starts from the identity and goes to
 * partials in the end. A reduction into an array section works on memory that the caller prepared: its slot
 * of partials holds, instead of a value, the address of an array of elements and the last offset at which
 * one fits. The pointer is loaded, so it can alias no base: all of them are noalias and escape nowhere. */
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
    CF_TRY(cf_asm_slot(o, name, t, 1, bytes));
    cf_red_identity(op, type, &raw);
    if (t[0] == 'f')
      snprintf(init, sizeof init, "0x%0*" PRIX64, (int)(2 * bytes), raw);
    else
      snprintf(init, sizeof init, "%" PRId64, (int64_t)(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    cf_buf_printf(&o->entry,
                  "    %si = llvm.mlir.constant(%s : %s) : %s\n"
                  "    llvm.store %si, %s {alignment = %zu : i64} : %s, !llvm.ptr\n",
                  name, init, t, t, name, name, bytes, t);
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
    snprintf(address, sizeof address, "%s", name);
  }
  if (l->kind == CF_TPL_RED)
    cf_asm_load(o, l->result, address, l->type, bytes);
  else
    cf_asm_store(o, l->value, address, l->type, bytes);
  return CF_OK;
}
