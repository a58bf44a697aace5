// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Private to codegen: a loop nest whose text is being assembled, and what the parts of the assembler share.
 */
#ifndef CF_CODEGEN_ASSEMBLE_H
#define CF_CODEGEN_ASSEMBLE_H

#include "codegen/codegen.h"
#include "codegen/template.h"

enum {
  CF_ASM_NAME = 40,  /* bytes of an SSA name */
  CF_ASM_PART = 256, /* iterations of one part of a nest that takes turns with others */
  CF_ASM_LANES = 16  /* partial sums side by side: two vectors of the widest registers */
};

/* Text that belongs to the function's entry, to the head of loop d or to the innermost body is collected
 * apart, since a line of the body may add to all of them. */
typedef struct cf_asm {
  const cf_cg_unit *unit;
  const cf_cg_nest *in;
  cf_buf entry, head[COFUSE_MAX_DIMS], body, exit;
  cf_buf start; /* of a device: at the start of each block of a nest with reductions; exit is at its end */
  cf_map seen;  /* what was already emitted: kind + key -> name, in names */
  cf_arena names;
  uint8_t *base_used;
  uint32_t naddr, nlocals;
  /* the task being expanded */
  const cf_cg_task *task;
  uint32_t t;
  char prefix[16];
  cf_tpl tpl;
  uint32_t *cuts; /* where parts of the body begin that take turns */
  uint32_t ncuts;
  bool parted; /* there are such parts */
  bool lanes;  /* the innermost loop runs in strips of CF_ASM_LANES, see assemble_nest.c */
  bool loose;  /* the address under construction may lie outside its base's memory */
} cf_asm;

cf_status cf_asm_malformed(const cf_asm *o, const cf_tpl_line *l, const char *what);
/* The SSA name of an i64, loaded or defined in the entry at first use. */
cf_status cf_asm_int(cf_asm *o, cf_cg_int v, char name[CF_ASM_NAME]);
static inline cf_cg_int cf_asm_literal(int64_t x) { return (cf_cg_int){.index = -1, .lit = x}; }
/* Storage on the stack of the kernel, in the entry (elsewhere it would grow), once per name. */
cf_status cf_asm_slot(cf_asm *o, const char *name, const char *type, uint64_t count, size_t align);
void cf_asm_result(cf_asm *o, cf_slice result); /* "    %t3_x = " */
void cf_asm_append(cf_buf *to, const cf_buf *from);
void cf_asm_load(cf_asm *o, cf_slice result, const char *address, cf_slice type, size_t align);
void cf_asm_store(cf_asm *o, cf_slice value, const char *address, cf_slice type, size_t align);

/* The addresses of the slots of locals in a nest in parts, for iteration `within` of the part. */
void cf_asm_local_addresses(const cf_asm *o, const char *within, cf_buf *text);

/* ---- assemble_red.c */
/* Slot, start and end of every reduction of the task. */
cf_status cf_asm_begin_reds(cf_asm *o);
/* cf.red and cf.setred. */
cf_status cf_asm_red(cf_asm *o, const cf_tpl_line *l);
/* Does reduction r of the task have a partial result for each lane? Only in a nest with lanes. */
bool cf_asm_red_lanes(const cofuse_forall *desc, uint32_t r);
/* And a place for each of these? */
bool cf_asm_red_placed(const cofuse_forall *desc, uint32_t r);
/* The address of each such reduction's partial result, for an iteration in lane `lane` (an SSA name or a
 * number). */
void cf_asm_red_addresses(const cf_asm *o, const char *lane, cf_buf *text);

/* Does it have one in the function being assembled? */
bool cf_asm_in_lanes(const cf_asm *o, const cofuse_forall *desc, uint32_t r);

/* ---- assemble_device.c */
/* %thread0 to %thread2 and %width0 to %width2: this thread along each axis, and how many there are. */
void cf_asm_device_threads(cf_buf *text);
/* %<name><d>: a word of the box. */
void cf_asm_device_word(cf_buf *text, const char *name, uint32_t d, int word);
/* What the box says of the blocks of a nest; and, inside a loop over %block, %lo, %hi and %count of that one.
 */
void cf_asm_device_bounds(cf_buf *text, uint32_t nd);
void cf_asm_device_block(cf_buf *text, uint32_t nd);
/* Start and end of reduction r of the task, whose slots are called name, in a nest with lanes. */
cf_status cf_asm_device_red(cf_asm *o, const char *name, uint32_t r, const char *t, size_t bytes);
cf_status cf_asm_finish_device(cf_asm *o, uint32_t k, cf_buf *text);

/* ---- assemble_fold.c: the functions behind those of the nests */
void cf_asm_folds(const cf_cg_unit *u, cf_buf *text);

/* ---- assemble_nest.c */
bool cf_asm_has_places(const cf_asm *o);
bool cf_asm_wants_lanes(const cf_cg_nest *n);
bool cf_asm_has_loops(const cofuse_forall *desc); /* in its body */
/* The two functions of nest k, whose parts have been collected. */
cf_status cf_asm_finish_nest(cf_asm *o, uint32_t k, cf_buf *text);

#endif
