// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The functions of a nest for a device that runs grids of threads (codegen.h says how it is called).
 *
 * The bodies are those of the CPU's kernels. Without reductions a thread starts at its own point and goes on
 * in steps of the grid: x along the innermost loop, so that neighbours touch neighbouring addresses, y and z
 * along the two around it; loops further out are run by every thread. With reductions a block of the CPU is
 * the work of 16 threads, one for each of its lanes (assemble_nest.c), so that the same additions happen in
 * the same order. No thread waits for another: combining lanes and blocks is another step. */
#include "codegen/assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AXES = 3 };

bool cf_cg_folds(const cf_cg_nest *n) {
  for (uint32_t t = 0; n->ndims > 0 && t < n->ntasks; t++)
    if (n->tasks[t].desc->nreds)
      return true;
  return false;
}

/* Bytes between the partial results of two lanes. */
static int64_t lane_bytes(const cf_asm *o) { return (int64_t)CF_RED_SLOT * (int64_t)o->unit->nreds; }

cf_status cf_asm_device_red(cf_asm *o, const char *name, uint32_t r, const char *t, size_t bytes) {
  const cofuse_forall *desc = o->task->desc;
  bool placed = cf_asm_red_placed(desc, r);
  uint64_t at = (uint64_t)CF_RED_SLOT * ((uint64_t)o->task->red_off + r);
  char never[CF_ASM_NAME], places[CF_ASM_NAME];
  snprintf(places, sizeof places, "%sz", name);
  if (placed) {
    CF_TRY(cf_asm_slot(o, places, "i64", 2, 8));
    CF_TRY(cf_asm_int(o, cf_asm_literal(INT64_MAX), never));
  }
  for (int s = 0; s < 2; s++) { /* 0: the lane, 1: what is left of rows, on one lane alone */
    cf_buf_printf(&o->start,
                  "    %s_s%d = llvm.getelementptr inbounds %s[%d] : (!llvm.ptr) -> !llvm.ptr, %s\n"
                  "    llvm.store %si, %s_s%d {alignment = %zu : i64} : %s, !llvm.ptr\n",
                  name, s, name, s, t, name, name, s, bytes, t);
    if (placed)
      cf_buf_printf(&o->start,
                    "    %s_z%d = llvm.getelementptr inbounds %s[%d] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                    "    llvm.store %s, %s_z%d {alignment = 8 : i64} : i64, !llvm.ptr\n",
                    name, s, places, s, never, name, s);
    if (s)
      cf_buf_str(&o->exit, "    scf.if %first {\n");
    cf_buf_printf(&o->exit,
                  "    %s_v%d = llvm.load %s_s%d {alignment = %zu : i64} : !llvm.ptr -> %s\n"
                  "    %s_o%d = llvm.getelementptr inbounds %%out%d[%" PRIu64
                  "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    llvm.store %s_v%d, %s_o%d {alignment = %zu : i64} : %s, !llvm.ptr\n",
                  name, s, name, s, bytes, t, name, s, s, at, name, s, name, s, bytes, t);
    if (placed)
      cf_buf_printf(&o->exit,
                    "    %s_w%d = llvm.load %s_z%d {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                    "    %s_p%d = llvm.getelementptr inbounds %%out%d[%" PRIu64
                    "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                    "    llvm.store %s_w%d, %s_p%d {alignment = 8 : i64} : i64, !llvm.ptr\n",
                    name, s, name, s, name, s, s, at + 8, name, s, name, s);
    if (s)
      cf_buf_str(&o->exit, "    }\n");
  }
  return CF_OK;
}

void cf_asm_device_word(cf_buf *text, const char *name, uint32_t d, int word) {
  cf_buf_printf(text,
                "    %%%s%up = llvm.getelementptr inbounds %%box[%d] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                "    %%%s%u = llvm.load %%%s%up {alignment = 8 : i64} : !llvm.ptr -> i64\n",
                name, d, word, name, d, name, d);
}

void cf_asm_device_bounds(cf_buf *text, uint32_t nd) {
  for (uint32_t d = 0; d < nd; d++) {
    cf_asm_device_word(text, "alllo", d, CF_DEVICE_BOX_LO + (int)d);
    cf_asm_device_word(text, "allhi", d, CF_DEVICE_BOX_HI + (int)d);
    cf_asm_device_word(text, "per", d, CF_DEVICE_BOX_PER + (int)d);
    cf_asm_device_word(text, "span", d, CF_DEVICE_BOX_SPAN + (int)d);
  }
}

void cf_asm_device_block(cf_buf *text, uint32_t nd) {
  for (uint32_t d = 0; d < nd; d++)
    cf_buf_printf(text,
                  "    %%by%u = arith.muli %%block, %%per%u : i64\n"
                  "    %%lo%u = arith.addi %%alllo%u, %%by%u : i64\n"
                  "    %%end%u = arith.addi %%lo%u, %%span%u : i64\n"
                  "    %%hi%u = arith.minsi %%end%u, %%allhi%u : i64\n"
                  "    %%count%u = arith.subi %%hi%u, %%lo%u : i64\n",
                  d, d, d, d, d, d, d, d, d, d, d, d, d, d);
}

/* Every thread its points, in steps of the grid. */
static void put_points(const cf_asm *o, cf_buf *text) {
  uint32_t nd = o->in->ndims;
  for (uint32_t d = 0; d < nd; d++) {
    cf_asm_device_word(text, "lo", d, CF_DEVICE_BOX_LO + (int)d);
    cf_asm_device_word(text, "hi", d, CF_DEVICE_BOX_HI + (int)d);
  }
  for (uint32_t d = 0; d < nd; d++) {
    uint32_t axis = nd - 1 - d;
    if (axis < AXES)
      cf_buf_printf(text, "    %%from%u = arith.addi %%lo%u, %%thread%u : i64\n", d, d, axis);
  }
  for (uint32_t d = 0; d < nd; d++) {
    uint32_t axis = nd - 1 - d;
    if (axis < AXES)
      cf_buf_printf(text, "    scf.for %%n%u = %%from%u to %%hi%u step %%width%u : i64 {\n", d, d, d, axis);
    else
      cf_buf_printf(text, "    scf.for %%n%u = %%lo%u to %%hi%u step %%c1 : i64 {\n", d, d, d);
    cf_asm_append(text, &o->head[d]);
  }
  cf_asm_append(text, &o->body);
  for (uint32_t d = 0; d < nd; d++)
    cf_buf_str(text, "    }\n");
}

/* The innermost loop, for one slot of every reduction. The place of an iteration is its number in the block.
 */
static void put_innermost(const cf_asm *o, const char *from, const char *to, const char *step,
                          const char *slot, cf_buf *text) {
  uint32_t last = o->in->ndims - 1;
  cf_buf_printf(text, "    scf.for %%n%u = %s to %s step %s : i64 {\n", last, from, to, step);
  if (cf_asm_has_places(o)) {
    cf_buf_str(text, "    %at0 = arith.subi %n0, %lo0 : i64\n");
    for (uint32_t d = 1; d <= last; d++)
      cf_buf_printf(text,
                    "    %%at%ur = arith.muli %%at%u, %%count%u : i64\n"
                    "    %%at%un = arith.subi %%n%u, %%lo%u : i64\n"
                    "    %%at%u = arith.addi %%at%ur, %%at%un : i64\n",
                    d, d - 1, d, d, d, d, d, d, d);
    cf_buf_printf(text, "    %%place = arith.addi %%at%u, %%c0 : i64\n", last);
  }
  cf_asm_red_addresses(o, slot, text);
  cf_asm_append(text, &o->head[last]);
  cf_asm_append(text, &o->body);
  cf_buf_str(text, "    }\n");
}

/* Block by block: 16 threads in a row share one, and take every 16th iteration of its rows each. */
static void put_blocks(const cf_asm *o, cf_buf *text) {
  uint32_t nd = o->in->ndims, last = nd - 1;
  cf_asm_device_bounds(text, nd);
  cf_asm_device_word(text, "blocks", 0, CF_DEVICE_BOX_BLOCKS);
  cf_buf_printf(text,
                "    %%lane = arith.remui %%thread0, %%c%d : i64\n"
                "    %%first = arith.cmpi eq, %%lane, %%c0 : i64\n"
                "    %%group = arith.divui %%thread0, %%c%d : i64\n"
                "    %%groups = arith.divui %%width0, %%c%d : i64\n"
                "    scf.for %%block = %%group to %%blocks0 step %%groups : i64 {\n",
                CF_DEVICE_LANES, CF_DEVICE_LANES, CF_DEVICE_LANES);
  cf_asm_device_block(text, nd);
  cf_buf_printf(text,
                "    %%whole = arith.andi %%count%u, %%cm%d : i64\n"
                "    %%mid = arith.addi %%lo%u, %%whole : i64\n"
                "    %%mine = arith.addi %%lo%u, %%lane : i64\n"
                "    %%left = arith.select %%first, %%mid, %%hi%u : i64\n",
                last, CF_DEVICE_LANES, last, last, last);
  cf_asm_append(text, &o->start);
  for (uint32_t d = 0; d < last; d++) {
    cf_buf_printf(text, "    scf.for %%n%u = %%lo%u to %%hi%u step %%c1 : i64 {\n", d, d, d);
    cf_asm_append(text, &o->head[d]);
  }
  char hi[CF_ASM_NAME], lanes[CF_ASM_NAME];
  snprintf(hi, sizeof hi, "%%hi%u", last);
  snprintf(lanes, sizeof lanes, "%%c%d", CF_DEVICE_LANES);
  put_innermost(o, "%mine", "%mid", lanes, "0", text);
  put_innermost(o, "%left", hi, "%c1", "1", text);
  for (uint32_t d = 0; d < last; d++)
    cf_buf_str(text, "    }\n");
  cf_buf_printf(text,
                "    %%line = arith.muli %%block, %%c%d : i64\n"
                "    %%row0 = arith.addi %%line, %%lane : i64\n"
                "    %%row1 = arith.addi %%line, %%c%d : i64\n",
                CF_DEVICE_LANES + 1, CF_DEVICE_LANES);
  for (int s = 0; s < 2; s++)
    cf_buf_printf(text,
                  "    %%off%d = arith.muli %%row%d, %%c%" PRId64 " : i64\n"
                  "    %%out%d = llvm.getelementptr inbounds %%partials[%%off%d] : (!llvm.ptr, i64) -> "
                  "!llvm.ptr, i8\n",
                  s, s, lane_bytes(o), s, s);
  cf_asm_append(text, &o->exit);
  cf_buf_str(text, "    }\n");
}

void cf_asm_device_threads(cf_buf *text) {
  for (int a = 0; a < AXES; a++) {
    char c = (char)('x' + a);
    cf_buf_printf(text,
                  "    %%tid%d = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.tid.%c\"() : () -> i32\n"
                  "    %%ntid%d = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.ntid.%c\"() : () -> i32\n"
                  "    %%ctaid%d = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.ctaid.%c\"() : () -> i32\n"
                  "    %%nctaid%d = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.nctaid.%c\"() : () -> i32\n"
                  "    %%t%d = arith.extui %%tid%d : i32 to i64\n"
                  "    %%s%d = arith.extui %%ntid%d : i32 to i64\n"
                  "    %%u%d = arith.extui %%ctaid%d : i32 to i64\n"
                  "    %%w%d = arith.extui %%nctaid%d : i32 to i64\n"
                  "    %%f%d = arith.muli %%u%d, %%s%d : i64\n"
                  "    %%thread%d = arith.addi %%f%d, %%t%d : i64\n"
                  "    %%width%d = arith.muli %%w%d, %%s%d : i64\n",
                  a, c, a, c, a, c, a, c, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a);
  }
}

cf_status cf_asm_finish_device(cf_asm *o, uint32_t k, cf_buf *text) {
  uint32_t nb = o->unit->nbases;
  const int64_t used[] = {0, 1, CF_DEVICE_LANES, -CF_DEVICE_LANES, CF_DEVICE_LANES + 1, lane_bytes(o)};
  char name[CF_ASM_NAME];
  for (size_t i = 0; o->lanes && i < sizeof used / sizeof *used; i++)
    CF_TRY(cf_asm_int(o, cf_asm_literal(used[i]), name));
  cf_buf_printf(text, "  llvm.func internal @cofuse_n%u(", k);
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(text, "%%b%u: !llvm.ptr {llvm.noalias}, ", b);
  cf_buf_str(text, "%ints: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%scalars: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%box: !llvm.ptr {llvm.noalias, llvm.readonly}, %partials: !llvm.ptr {llvm.noalias}");
  for (int a = 0; a < AXES; a++)
    cf_buf_printf(text, ", %%thread%d: i64, %%width%d: i64", a, a);
  cf_buf_printf(text, ") attributes {passthrough = [\"alwaysinline\"%s]} {\n",
                o->lanes ? ", [\"cofuse-lanes\", \"1\"]" : "");
  cf_asm_append(text, &o->entry);
  if (o->lanes) {
    put_blocks(o, text);
  } else {
    put_points(o, text);
    cf_asm_append(text, &o->exit);
  }
  cf_buf_str(text, "    llvm.return\n  }\n");

  cf_buf_printf(text,
                "  llvm.func @cofuse_k%u(%%args: !llvm.ptr, %%box: !llvm.ptr {llvm.byval = !llvm.array<%d x "
                "i64>}, %%partials: !llvm.ptr) {\n",
                k, CF_DEVICE_BOX_WORDS);
  cf_asm_device_threads(text);
  cf_asm_device_word(text, "intsat", 0, CF_DEVICE_BOX_INTS);
  cf_asm_device_word(text, "scalarsat", 0, CF_DEVICE_BOX_SCALARS);
  cf_buf_str(text,
             "    %ints = llvm.getelementptr inbounds %args[%intsat0] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n"
             "    %scalars = llvm.getelementptr inbounds %args[%scalarsat0] : (!llvm.ptr, i64) -> "
             "!llvm.ptr, i8\n");
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(
          text,
          "    %%p%u = llvm.getelementptr inbounds %%args[%u] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
          "    %%b%u = llvm.load %%p%u {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr\n",
          b, b, b, b);
  cf_buf_printf(text, "    llvm.call @cofuse_n%u(", k);
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(text, "%%b%u, ", b);
  cf_buf_str(
      text, "%ints, %scalars, %box, %partials, %thread0, %width0, %thread1, %width1, %thread2, %width2) : (");
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_str(text, "!llvm.ptr, ");
  cf_buf_str(text, "!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64) -> ()\n"
                   "    llvm.return\n  }\n");
  return CF_OK;
}
