// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The text form of a window (docs/ir.md): what a program issued, printed and parsed back, so that the
 * analysis can be run, tested and measured without the program. */
#ifndef CF_IR_TEXT_H
#define CF_IR_TEXT_H

#include "ir/ir.h"

/* ---- print */

/* Names of the stores of a window: the program's own where these are distinct. */
typedef struct cf_names {
  cf_arena arena;
  cf_map by_store; /* address of the store -> name */
  cf_store **stores;
  uint32_t nstores; /* in order of first occurrence */
} cf_names;

cf_status cf_names_make(cf_task *const *tasks, uint32_t n, cf_names *out);
const char *cf_names_of(const cf_names *n, const cf_store *s);
void cf_names_free(cf_names *n);

/* First line and stores; then each task. Together they are the text form of the window. `tasks` are all of
 * the window: a store's counters are printed only where they differ from what these add up to. */
void cf_text_stores(const cf_names *names, cf_task *const *tasks, uint32_t n, cf_buf *out);
void cf_text_task(const cf_names *names, const cf_task *t, cf_buf *out);
/* The access as one line without indent and newline, or what it touches alone: "u[i-1][j]". */
void cf_text_access(const cf_names *names, const cf_task *t, uint32_t k, cf_buf *out);
void cf_text_ref(const cf_names *names, const cf_task *t, uint32_t k, cf_buf *out);
/* All of it. */
cf_status cf_text_window(cf_task *const *tasks, uint32_t n, cf_buf *out);

/* ---- parse */

typedef struct cf_ir_window {
  cf_arena arena; /* holds everything below */
  cf_store **stores;
  cf_task **tasks;
  uint32_t nstores, ntasks;
} cf_ir_window;

/* CF_EINVAL: cf_last_error is "file:line:column: expected ..., found ...". */
cf_status cf_parse_window(const char *text, size_t len, const char *file, cf_ir_window *out);
void cf_ir_window_free(cf_ir_window *w);

/* ---- words of the format, shared by both */
extern const char *const cf_type_words[COFUSE_TYPE_COUNT];
extern const uint8_t cf_type_sizes[COFUSE_TYPE_COUNT];
enum { CF_REDOPS = COFUSE_RED_FMAX + 1 };
extern const char *const cf_redop_words[CF_REDOPS];
/* What an access says if nothing else is written down: byte offset, strides and box that follow from its map,
 * which stands for `whole` and empty accesses, too. nl: parallel and inner loops. */
typedef struct cf_implied {
  int64_t at, bstride[CF_LOOPS], lo[CF_RANK], hi[CF_RANK], step[CF_RANK], phase[CF_RANK];
} cf_implied;
/* False if some number leaves the range that the runtime can compute with. */
bool cf_text_implied(const cf_access *a, bool empty, uint8_t ndims, const int64_t *trip, cf_implied *out);
/* Touches nothing: an inner loop without iterations. */
static inline bool cf_text_is_empty(const cf_access *a) {
  return !a->whole && a->store && a->store->rank && a->map.nloops == 0 && a->lo[0] >= a->hi[0];
}
#endif
