// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Private to codegen: reads the body of a descriptor line by line (grammar: include/cofuse/descriptor.h).
 * Nothing here trusts the text: whatever it holds, the reader ends with lines or with CF_EINVAL. */
#ifndef CF_CODEGEN_TEMPLATE_H
#define CF_CODEGEN_TEMPLATE_H

#include "base/base.h"
#include "cofuse/descriptor.h"

typedef struct cf_slice {
  const char *p;
  size_t n;
} cf_slice;

enum cf_tpl_kind {
  CF_TPL_TEXT, /* an ordinary line of MLIR, copied with its SSA names prefixed */
  CF_TPL_LOAD,
  CF_TPL_STORE,
  CF_TPL_SCALAR,
  CF_TPL_IV,
  CF_TPL_RED,
  CF_TPL_SETRED,
  CF_TPL_LOCAL,
};

typedef struct cf_tpl_line {
  int kind;
  cf_slice text;   /* the whole line, without indentation and comment */
  cf_slice result; /* "%x" of LOAD, SCALAR, IV, RED, LOCAL */
  cf_slice value;  /* "%v" of STORE, SETRED */
  cf_slice type;   /* T */
  uint32_t index;  /* A, S, D or R */
  bool has_off;    /* "at %off" of LOAD, STORE, RED, SETRED */
  cf_slice off;
  uint32_t nargs; /* (%k0, %k1) */
  cf_slice args[COFUSE_MAX_INNER];
  uint64_t count; /* N of LOCAL, 1 without */
} cf_tpl_line;

/* Position in one body. file:line name the directive in messages. */
typedef struct cf_tpl {
  const char *pos;
  const cofuse_forall *desc;
  unsigned line; /* of the body, from 1 */
  int depth;     /* open brackets */
} cf_tpl;

void cf_tpl_begin(cf_tpl *t, const cofuse_forall *desc, const char *text);
/* Next non-empty line; *more is false at the end (which also checks that brackets are closed). */
cf_status cf_tpl_next(cf_tpl *t, cf_tpl_line *out, bool *more);
/* Records CF_EINVAL "file:line: malformed loop body, line N: <what>: <text>". */
cf_status cf_tpl_error(const cf_tpl *t, cf_slice text, const char *what);
/* Appends s with "%x" turned into "%<prefix>x" outside string literals. */
void cf_tpl_rename(cf_buf *out, cf_slice s, const char *prefix);

bool cf_slice_is(cf_slice s, const char *text);

#endif
