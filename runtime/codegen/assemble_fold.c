// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Reductions on a device, behind the kernels of their nests (codegen.h): lanes become the partial result of
 * their block, blocks the result of the nest, in their order; results go into the elements of stores that are
 * their targets, in the order of the tasks. So nobody has to wait for the device. The operations are those of
 * codegen/reduce.c, which puts together what ranks have. */
#include "codegen/assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 48 };

static const char *comparison(int op) { return op == COFUSE_RED_MIN ? "olt" : "ogt"; }

static bool is_float(int type) { return type == COFUSE_F32 || type == COFUSE_F64; }

static bool is_signed(int type) {
  return type == COFUSE_I8 || type == COFUSE_I16 || type == COFUSE_I32 || type == COFUSE_I64;
}

/* One operation of MLIR; NULL: put_logical. */
static const char *operation(int op, int type) {
  bool f = is_float(type), s = is_signed(type);
  switch (op) {
  case COFUSE_RED_ADD: /* 1 + 1 is 1 in a _Bool */
    return f ? "arith.addf" : type == COFUSE_BOOL ? "arith.ori" : "arith.addi";
  case COFUSE_RED_MUL:
    return f ? "arith.mulf" : "arith.muli";
  case COFUSE_RED_AND:
    return "arith.andi";
  case COFUSE_RED_OR:
    return "arith.ori";
  case COFUSE_RED_XOR:
    return "arith.xori";
  case COFUSE_RED_MIN:
  case COFUSE_RED_FMIN:
    return f ? "arith.minnumf" : s ? "arith.minsi" : "arith.minui";
  case COFUSE_RED_MAX:
  case COFUSE_RED_FMAX:
    return f ? "arith.maxnumf" : s ? "arith.maxsi" : "arith.maxui";
  default:
    return NULL;
  }
}

/* && and ||. */
static void put_logical(cf_buf *text, int op, int type, const char *out, const char *a, const char *b) {
  const char *t = cf_type_mlir(type), *how = is_float(type) ? "cmpf une" : "cmpi ne";
  cf_buf_printf(text,
                "    %s_z = llvm.mlir.constant(0%s : %s) : %s\n"
                "    %s_a = arith.%s, %s, %s_z : %s\n"
                "    %s_b = arith.%s, %s, %s_z : %s\n"
                "    %s_c = arith.%s %s_a, %s_b : i1\n"
                "    %s = arith.%s %s_c : i1 to %s\n",
                out, is_float(type) ? ".0" : "", t, t, out, how, a, out, t, out, how, b, out, t, out,
                op == COFUSE_RED_LAND ? "andi" : "ori", out, out, out, is_float(type) ? "uitofp" : "extui",
                out, t);
}

/* %out = %a op %b; of a placed one with %out_p from %a_p and %b_p. */
static void put_combine(cf_buf *text, int op, int type, const char *out, const char *a, const char *b) {
  const char *t = cf_type_mlir(type);
  if (cf_red_placed(op, type)) /* as in assemble_red.c: of equal ones the sooner */
    cf_buf_printf(text,
                  "    %s_l = arith.cmpf %s, %s, %s : %s\n"
                  "    %s_e = arith.cmpf oeq, %s, %s : %s\n"
                  "    %s_s = arith.cmpi slt, %s_p, %s_p : i64\n"
                  "    %s_v = arith.andi %s_e, %s_s : i1\n"
                  "    %s_u = arith.ori %s_l, %s_v : i1\n"
                  "    %s = arith.select %s_u, %s, %s : %s\n"
                  "    %s_p = arith.select %s_u, %s_p, %s_p : i64\n",
                  out, comparison(op), b, a, t, out, b, a, t, out, b, a, out, out, out, out, out, out, out,
                  out, b, a, t, out, out, b, a);
  else if (!operation(op, type))
    put_logical(text, op, type, out, a, b);
  else
    cf_buf_printf(text, "    %s = %s %s, %s : %s\n", out, operation(op, type), a, b, t);
}

static void put_constant(cf_buf *text, const char *name, int64_t v) {
  cf_buf_printf(text, "    %s = llvm.mlir.constant(%" PRId64 " : i64) : i64\n", name, v);
}

/* Value, and place, of a slot at byte `at` (a number) from pointer p. */
static void put_load(cf_buf *text, const char *name, const char *p, int64_t at, int op, int type) {
  const char *t = cf_type_mlir(type);
  cf_buf_printf(text,
                "    %s_q = llvm.getelementptr inbounds %s[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                "    %s = llvm.load %s_q {alignment = %zu : i64} : !llvm.ptr -> %s\n",
                name, p, at, name, name, cf_type_bytes(type), t);
  if (cf_red_placed(op, type))
    cf_buf_printf(text,
                  "    %s_r = llvm.getelementptr inbounds %s[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    %s_p = llvm.load %s_r {alignment = 8 : i64} : !llvm.ptr -> i64\n",
                  name, p, at + 8, name, name);
}

static void put_store(cf_buf *text, const char *name, const char *p, int64_t at, int op, int type) {
  const char *t = cf_type_mlir(type);
  cf_buf_printf(text,
                "    %s_to = llvm.getelementptr inbounds %s[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                "    llvm.store %s, %s_to {alignment = %zu : i64} : %s, !llvm.ptr\n",
                name, p, at, name, name, cf_type_bytes(type), t);
  if (cf_red_placed(op, type))
    cf_buf_printf(text,
                  "    %s_tp = llvm.getelementptr inbounds %s[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
                  "    llvm.store %s_p, %s_tp {alignment = 8 : i64} : i64, !llvm.ptr\n",
                  name, p, at + 8, name, name);
}

static void put_head(cf_buf *text, uint32_t k) {
  cf_buf_printf(
      text,
      "  llvm.func @cofuse_k%u(%%args: !llvm.ptr, %%box: !llvm.ptr {llvm.byval = !llvm.array<%d x i64>}, "
      "%%partials: !llvm.ptr) {\n",
      k, CF_DEVICE_BOX_WORDS);
  cf_asm_device_threads(text);
  cf_asm_device_word(text, "blocks", 0, CF_DEVICE_BOX_BLOCKS);
  cf_asm_device_word(text, "foldat", 0, CF_DEVICE_BOX_FOLD);
  cf_asm_device_word(text, "resultat", 0, CF_DEVICE_BOX_RESULT);
  put_constant(text, "%c0", 0);
  put_constant(text, "%c1", 1);
  cf_buf_str(text,
             "    %folded = llvm.getelementptr %partials[%foldat0] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n"
             "    %results = llvm.getelementptr %partials[%resultat0] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
}

static int64_t slot_of(const cf_cg_task *t, uint32_t r) {
  return (int64_t)CF_RED_SLOT * (int64_t)(t->red_off + r);
}

/* The number of the iteration %<name>_p of a block, among all of the task's: digits of the block's box, the
 * last loop first. */
static void put_place(const cf_cg_unit *u, const cf_cg_nest *n, const cf_cg_task *t, const char *name,
                      cf_buf *text) {
  (void)u;
  cf_buf_printf(text,
                "    %s_w%u = arith.addi %s_p, %%c0 : i64\n    %s_n%u = arith.addi %%c0, %%c0 : i64\n"
                "    %s_f%u = arith.addi %%c1, %%c0 : i64\n",
                name, n->ndims, name, name, n->ndims, name, n->ndims);
  for (uint32_t d = n->ndims; d-- > 0;) {
    cf_buf_printf(text,
                  "    %s_d%u = arith.remui %s_w%u, %%count%u : i64\n"
                  "    %s_w%u = arith.divui %s_w%u, %%count%u : i64\n"
                  "    %s_i%u = arith.addi %s_d%u, %%lo%u : i64\n"
                  "    %s_m%u = arith.muli %s_i%u, %s_f%u : i64\n"
                  "    %s_n%u = arith.addi %s_n%u, %s_m%u : i64\n",
                  name, d, name, d + 1, d, name, d, name, d + 1, d, name, d, name, d, d, name, d, name, d,
                  name, d + 1, name, d, name, d + 1, name, d);
    cf_buf_printf(text,
                  "    %s_tq%u = llvm.getelementptr inbounds %%ints[%d] : (!llvm.ptr) -> !llvm.ptr, i64\n"
                  "    %s_t%u = llvm.load %s_tq%u {alignment = 8 : i64} : !llvm.ptr -> i64\n"
                  "    %s_f%u = arith.muli %s_f%u, %s_t%u : i64\n",
                  name, d, t->trip[d].index, name, d, name, d, name, d, name, d + 1, name, d);
  }
  /* A lane without a value has the place "never". */
  cf_buf_printf(text,
                "    %s_never = llvm.mlir.constant(%" PRId64 " : i64) : i64\n"
                "    %s_has = arith.cmpi ne, %s_p, %s_never : i64\n"
                "    %s_g_p = arith.select %s_has, %s_n0, %s_never : i64\n",
                name, INT64_MAX, name, name, name, name, name, name, name);
}

/* Thread b folds the lanes of block b. */
static void put_lanes(const cf_cg_unit *u, const cf_cg_nest *n, uint32_t k, cf_buf *text) {
  int64_t row = (int64_t)CF_RED_SLOT * (int64_t)u->nreds;
  bool placed = false;
  for (uint32_t t = 0; t < n->ntasks; t++)
    for (uint32_t r = 0; r < n->tasks[t].desc->nreds; r++)
      placed |= cf_asm_red_placed(n->tasks[t].desc, r);
  put_head(text, k);
  put_constant(text, "%line", (CF_DEVICE_LANES + 1) * row);
  put_constant(text, "%row", row);
  if (placed) {
    cf_asm_device_word(text, "intsat", 0, CF_DEVICE_BOX_INTS);
    cf_buf_str(
        text,
        "    %ints = llvm.getelementptr inbounds %args[%intsat0] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
  }
  cf_asm_device_bounds(text, n->ndims);
  cf_buf_str(text, "    scf.for %block = %thread0 to %blocks0 step %width0 : i64 {\n");
  cf_asm_device_block(text, n->ndims);
  cf_buf_str(text,
             "    %lineat = arith.muli %block, %line : i64\n"
             "    %in = llvm.getelementptr inbounds %partials[%lineat] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n"
             "    %rowat = arith.muli %block, %row : i64\n"
             "    %out = llvm.getelementptr inbounds %folded[%rowat] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
  for (uint32_t t = 0; t < n->ntasks; t++)
    for (uint32_t r = 0; r < n->tasks[t].desc->nreds; r++) {
      const cofuse_red *red = &n->tasks[t].desc->reds[r];
      int64_t at = slot_of(&n->tasks[t], r);
      char now[CF_DEVICE_LANES + 1][NAME], next[NAME];
      for (int l = 0; l <= CF_DEVICE_LANES; l++) {
        snprintf(now[l], NAME, "%%x%u_%u_%d", t, r, l);
        put_load(text, now[l], "%in", l * row + at, red->op, red->type);
      }
      for (int w = CF_DEVICE_LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++) {
          snprintf(next, NAME, "%%y%u_%u_%d_%d", t, r, w, l);
          put_combine(text, red->op, red->type, next, now[l], now[l + w]);
          memcpy(now[l], next, NAME);
        }
      snprintf(next, NAME, "%%z%u_%u", t, r);
      put_combine(text, red->op, red->type, next, now[0], now[CF_DEVICE_LANES]);
      if (cf_red_placed(red->op, red->type)) {
        char whole[NAME + 2];
        put_place(u, n, &n->tasks[t], next, text);
        snprintf(whole, sizeof whole, "%s_g", next);
        cf_buf_printf(text, "    %s = llvm.bitcast %s : %s to %s\n", whole, next, cf_type_mlir(red->type),
                      cf_type_mlir(red->type));
        put_store(text, whole, "%out", at, red->op, red->type);
      } else {
        put_store(text, next, "%out", at, red->op, red->type);
      }
    }
  cf_buf_str(text, "    }\n    llvm.return\n  }\n");
}

/* Thread i folds the blocks of reduction i of the nest. */
static void put_blocks(const cf_cg_unit *u, const cf_cg_nest *n, uint32_t k, cf_buf *text) {
  put_head(text, k);
  put_constant(text, "%row", (int64_t)CF_RED_SLOT * (int64_t)u->nreds);
  int64_t i = 0;
  for (uint32_t t = 0; t < n->ntasks; t++)
    for (uint32_t r = 0; r < n->tasks[t].desc->nreds; r++, i++) {
      const cofuse_red *red = &n->tasks[t].desc->reds[r];
      bool placed = cf_red_placed(red->op, red->type);
      int64_t at = slot_of(&n->tasks[t], r);
      const char *type = cf_type_mlir(red->type);
      char id[24];
      snprintf(id, sizeof id, "%%i%" PRId64, i);
      put_constant(text, id, i);
      cf_buf_printf(text,
                    "    %%mine%" PRId64 " = arith.cmpi eq, %%thread0, %s : i64\n    scf.if %%mine%" PRId64
                    " {\n",
                    i, id, i);
      put_load(text, "%x0", "%folded", at, red->op, red->type);
      if (placed)
        cf_buf_printf(text,
                      "    %%end:2 = scf.for %%b = %%c1 to %%blocks0 step %%c1 iter_args(%%acc = %%x0, "
                      "%%acc_p = %%x0_p) "
                      "-> (%s, i64) : i64 {\n",
                      type);
      else
        cf_buf_printf(
            text,
            "    %%end = scf.for %%b = %%c1 to %%blocks0 step %%c1 iter_args(%%acc = %%x0) -> (%s) : i64 {\n",
            type);
      cf_buf_str(text,
                 "    %at = arith.muli %b, %row : i64\n"
                 "    %in = llvm.getelementptr inbounds %folded[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
      put_load(text, "%x1", "%in", at, red->op, red->type);
      put_combine(text, red->op, red->type, "%next", "%acc", "%x1");
      cf_buf_printf(text,
                    placed ? "    scf.yield %%next, %%next_p : %s, i64\n    }\n"
                           : "    scf.yield %%next : %s\n    }\n",
                    type);
      cf_buf_printf(text, "    %%res = llvm.bitcast %%end%s : %s to %s\n", placed ? "#0" : "", type, type);
      if (placed)
        cf_buf_str(text, "    %res_p = llvm.bitcast %end#1 : i64 to i64\n");
      put_store(text, "%res", "%results", at, red->op, red->type);
      cf_buf_str(text, "    }\n");
    }
  cf_buf_str(text, "    llvm.return\n  }\n");
}

/* One thread puts the results of the group into the stores that are their targets, those of the mask. */
static void put_targets(const cf_cg_unit *u, uint32_t k, cf_buf *text) {
  put_head(text, k);
  cf_asm_device_word(text, "mask", 0, CF_DEVICE_BOX_MASK);
  for (uint32_t i = 0; i < u->ntargets; i++) {
    const cf_cg_target *g = &u->targets[i];
    bool placed = cf_red_placed(g->op, g->type);
    char bit[24];
    snprintf(bit, sizeof bit, "%%bit%u", i);
    put_constant(text, bit, (int64_t)((uint64_t)1 << i));
    cf_buf_printf(
        text,
        "    %%and%u = arith.andi %%mask0, %s : i64\n"
        "    %%do%u = arith.cmpi ne, %%and%u, %%c0 : i64\n"
        "    scf.if %%do%u {\n"
        "    %%base = llvm.getelementptr inbounds %%args[%u] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
        "    %%target = llvm.load %%base {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr\n"
        "    %%old = llvm.load %%target {alignment = %zu : i64} : !llvm.ptr -> %s\n",
        i, bit, i, i, i, g->base, cf_type_bytes(g->type), cf_type_mlir(g->type));
    put_load(text, "%x", "%results", (int64_t)CF_RED_SLOT * (int64_t)g->slot, COFUSE_RED_ADD, g->type);
    if (placed) { /* what was there is from before any iteration */
      put_constant(text, "%old_p", -1);
      put_constant(text, "%x_p", 0);
    }
    put_combine(text, g->op, g->type, "%new", "%old", "%x");
    cf_buf_printf(text, "    llvm.store %%new, %%target {alignment = %zu : i64} : %s, !llvm.ptr\n    }\n",
                  cf_type_bytes(g->type), cf_type_mlir(g->type));
  }
  cf_buf_str(text, "    llvm.return\n  }\n");
}

uint32_t cf_cg_functions(const cf_cg_unit *u) {
  uint32_t n = u->nnests;
  for (uint32_t k = 0; u->device && k < u->nnests; k++)
    n += 2 * (uint32_t)cf_cg_folds(&u->nests[k]);
  return n + (u->device && u->ntargets > 0);
}

void cf_asm_folds(const cf_cg_unit *u, cf_buf *text) {
  uint32_t fn = u->nnests;
  for (uint32_t k = 0; k < u->nnests; k++)
    if (cf_cg_folds(&u->nests[k])) {
      put_lanes(u, &u->nests[k], fn++, text);
      put_blocks(u, &u->nests[k], fn++, text);
    }
  if (u->ntargets)
    put_targets(u, fn, text);
}
