// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The functions of a nest, around the text of its bodies.
 *
 * A reduction of floating-point numbers must not be reordered by the optimiser, so it is a chain in which
 * every operation waits for the one before. Such a nest has lanes: its innermost loop runs in strips of
 * CF_ASM_LANES iterations, and each place in a strip has a partial result of its own. The strip is a loop
 * without such a chain, which vectorises (jit_lanes.c). Tasks with loops of their own would be in the way:
 * they take turns with the others, CF_ASM_PART iterations at a time, which is as good an order as point by
 * point, since what conflicts in a nest meets in one iteration; and not strip by strip, since a vector that
 * is read right behind the stores of its elements waits for them (4 % of BiCGSTAB in the cache). Which
 * iteration goes to which lane depends on the block alone, never on what else is in the kernel or on the
 * width of the machine's registers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "codegen/assemble.h"

#include <stdio.h>
#include <string.h>

bool cf_asm_wants_lanes(const cf_cg_nest *n) {
  for (uint32_t t = 0; n->ndims > 0 && t < n->ntasks; t++)
    for (uint32_t r = 0; r < n->tasks[t].desc->nreds; r++)
      if (cf_asm_red_lanes(n->tasks[t].desc, r))
        return true;
  return false;
}

bool cf_asm_has_loops(const cofuse_forall *desc) {
  return strstr(desc->body, "scf.for") || strstr(desc->body, "scf.while");
}

/* Some lanes keep where they found their value. */
bool cf_asm_has_places(const cf_asm *o) {
  for (uint32_t t = 0; t < o->in->ntasks; t++)
    for (uint32_t r = 0; r < o->in->tasks[t].desc->nreds; r++)
      if (cf_asm_red_placed(o->in->tasks[t].desc, r))
        return true;
  return false;
}

/* The loop over the lanes of %strip, with the part of the bodies that begins and ends there. */
static void put_lanes(const cf_asm *o, uint32_t d, bool places, size_t from, size_t to, cf_buf *text) {
  cf_buf_printf(text,
                "    scf.for %%lane = %%c0 to %%c%d step %%c1 : i64 {\n"
                "    %%n%u = arith.addi %%strip, %%lane : i64\n"
                "    %%within = arith.subi %%n%u, %%origin : i64\n",
                CF_ASM_LANES, d, d);
  if (places)
    cf_buf_str(text, "    %place = arith.addi %before, %within : i64\n");
  cf_asm_red_addresses(o, "%lane", text);
  cf_asm_local_addresses(o, "%within", text);
  cf_asm_append(text, &o->head[d]);
  if (!o->body.failed && to > from)
    cf_buf_put(text, o->body.data + from, to - from);
  cf_buf_str(text, "    }\n");
}

/* The innermost loop of a nest with lanes: strips, then what is left over. %place numbers the iterations in
 * the order of the plain loops. */
static void put_strips(const cf_asm *o, uint32_t d, cf_buf *text) {
  static const char now[] = "    %before = llvm.load %places {alignment = 8 : i64} : !llvm.ptr -> i64\n";
  static const char next[] = "    %after = arith.addi %before, %done : i64\n"
                             "    llvm.store %after, %places {alignment = 8 : i64} : i64, !llvm.ptr\n";
  bool places = cf_asm_has_places(o);
  int step = o->parted ? CF_ASM_PART : CF_ASM_LANES;
  cf_buf_printf(text,
                "    scf.for %%origin = %%lo%u to %%mid step %%c%d : i64 {\n"
                "    %%full = arith.addi %%origin, %%c%d : i64\n"
                "    %%end = arith.minsi %%full, %%mid : i64\n"
                "    %%done = arith.subi %%end, %%origin : i64\n",
                d, step, step);
  if (places) {
    cf_buf_str(text, now);
    cf_buf_str(text, next);
  }
  if (!o->parted)
    cf_buf_str(text, "    %strip = arith.addi %origin, %c0 : i64\n");
  for (uint32_t k = 0; k <= o->ncuts; k++) {
    if (o->parted)
      cf_buf_printf(text, "    scf.for %%strip = %%origin to %%end step %%c%d : i64 {\n", CF_ASM_LANES);
    put_lanes(o, d, places, k ? o->cuts[k - 1] : 0, k < o->ncuts ? o->cuts[k] : o->body.len, text);
    if (o->parted)
      cf_buf_str(text, "    }\n");
  }
  cf_buf_printf(text, "    }\n    scf.for %%n%u = %%mid to %%hi%u step %%c1 : i64 {\n", d, d);
  if (places) {
    cf_buf_str(text, now);
    cf_buf_str(text, "    %done = arith.addi %c1, %c0 : i64\n    %place = arith.addi %before, %c0 : i64\n");
    cf_buf_str(text, next);
  }
  char left[8];
  snprintf(left, sizeof left, "%d", CF_ASM_LANES);
  cf_asm_red_addresses(o, left, text);
  snprintf(left, sizeof left, "%d", CF_ASM_PART);
  cf_asm_local_addresses(o, left, text);
  cf_asm_append(text, &o->head[d]);
  cf_asm_append(text, &o->body);
  cf_buf_str(text, "    }\n");
}

static void put_loops(const cf_asm *o, cf_buf *text) {
  uint32_t nd = o->in->ndims, plain = nd - o->lanes;
  for (uint32_t d = 0; d < plain; d++) {
    cf_buf_printf(text, "    scf.for %%n%u = %%lo%u to %%hi%u step %%c1 : i64 {\n", d, d, d);
    cf_asm_append(text, &o->head[d]);
  }
  if (o->lanes)
    put_strips(o, plain, text);
  else
    cf_asm_append(text, &o->body);
  for (uint32_t d = 0; d < plain; d++)
    cf_buf_str(text, "    }\n");
}

static void put_bounds(const cf_asm *o, cf_buf *text) {
  uint32_t nd = o->in->ndims;
  for (uint32_t d = 0; d < nd; d++)
    cf_buf_printf(text,
                  "    %%lp%u = llvm.getelementptr inbounds %%lo[%u] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                  "    %%lo%u = llvm.load %%lp%u {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %%hp%u = llvm.getelementptr inbounds %%hi[%u] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                  "    %%hi%u = llvm.load %%hp%u {alignment = 8 : i64} : !llvm.ptr -> i64\n",
                  d, d, d, d, d, d, d, d);
  if (o->lanes)
    cf_buf_printf(text,
                  "    %%count = arith.subi %%hi%u, %%lo%u : i64\n"
                  "    %%some = arith.maxsi %%count, %%c0 : i64\n"
                  "    %%whole = arith.andi %%some, %%cm%d : i64\n"
                  "    %%mid = arith.addi %%lo%u, %%whole : i64\n",
                  nd - 1, nd - 1, CF_ASM_LANES, nd - 1);
}

/* What the optimiser is told: how many loops the nest has, in which form (jit_jam.c, jit_lanes.c). */
static void put_attributes(const cf_asm *o, cf_buf *text) {
  uint32_t own = o->in->ndims + o->lanes + o->parted;
  cf_buf_str(text, " attributes {passthrough = [\"noinline\"");
  if (o->lanes)
    cf_buf_printf(text, ", [\"cofuse-lanes\", \"%u\"], [\"cofuse-loops\", \"%u\"]", own, o->in->ndims);
  if (own > 0 && o->body.len && memmem(o->body.data, o->body.len, "scf.for", 7))
    cf_buf_printf(text, ", [\"cofuse-jam\", \"%u\"]", own);
  cf_buf_str(text, "]} {\n");
}

cf_status cf_asm_finish_nest(cf_asm *o, uint32_t k, cf_buf *text) {
  uint32_t nb = o->unit->nbases;
  if (o->lanes) { /* the constants of the strips */
    static const int64_t used[] = {0, 1, CF_ASM_LANES, -CF_ASM_LANES, CF_ASM_PART};
    char name[CF_ASM_NAME];
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
      CF_TRY(cf_asm_int(o, cf_asm_literal(used[i]), name));
    if (cf_asm_has_places(o)) {
      CF_TRY(cf_asm_slot(o, "%places", "i64", 1, 8));
      cf_buf_str(&o->entry, "    llvm.store %c0, %places {alignment = 8 : i64} : i64, !llvm.ptr\n");
    }
  }
  cf_buf_printf(text, "  llvm.func internal @cofuse_n%u(", k);
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(text, "%%b%u: !llvm.ptr {llvm.noalias}, ", b);
  cf_buf_str(text, "%ints: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%scalars: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%lo: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%hi: !llvm.ptr {llvm.noalias, llvm.readonly}, "
                   "%partials: !llvm.ptr {llvm.noalias})");
  put_attributes(o, text);
  cf_asm_append(text, &o->entry);
  put_bounds(o, text);
  put_loops(o, text);
  cf_asm_append(text, &o->exit);
  cf_buf_str(text, "    llvm.return\n  }\n");

  cf_buf_printf(text,
                "  llvm.func @cofuse_k%u(%%bases: !llvm.ptr, %%ints: !llvm.ptr, %%scalars: !llvm.ptr, "
                "%%lo: !llvm.ptr, %%hi: !llvm.ptr, %%partials: !llvm.ptr) {\n",
                k);
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(
          text,
          "    %%p%u = llvm.getelementptr inbounds %%bases[%u] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
          "    %%b%u = llvm.load %%p%u {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr\n",
          b, b, b, b);
  cf_buf_printf(text, "    llvm.call @cofuse_n%u(", k);
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_printf(text, "%%b%u, ", b);
  cf_buf_str(text, "%ints, %scalars, %lo, %hi, %partials) : (");
  for (uint32_t b = 0; b < nb; b++)
    if (o->base_used[b])
      cf_buf_str(text, "!llvm.ptr, ");
  cf_buf_str(text, "!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()\n    llvm.return\n  }\n");
  return CF_OK;
}
