// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Internal to the parser of windows (parse.c, parse_task.c). */
#ifndef CF_IR_PARSE_H
#define CF_IR_PARSE_H

#include "ir/text.h"

/* Numbers of a text stay far enough below 2^63 that no formula of the analysis overflows. */
#define CF_TEXT_EXTENT ((int64_t)1 << 50)
#define CF_TEXT_GRAIN ((int64_t)1 << 38)
#define CF_TEXT_BYTES ((int64_t)1 << 60)

typedef enum cf_token_kind {
  CF_TOK_END,
  CF_TOK_LINE,
  CF_TOK_WORD,
  CF_TOK_NUMBER,
  CF_TOK_STRING,
  CF_TOK_OPEN_STRING,
  CF_TOK_MARK,
} cf_token_kind;

typedef struct cf_token {
  cf_token_kind kind;
  const char *at;
  size_t len;
  uint32_t line, column;
} cf_token;

typedef struct cf_parser {
  const char *file, *next, *end, *line_start;
  uint32_t line;
  cf_token tok; /* the one to look at */
  cf_ir_window out;
  cf_map names, ids; /* stores */
  cf_map sites;      /* content of a descriptor -> cofuse_forall */
  cf_buf stores, tasks, key;
  cf_buf access, descs, reds; /* of the task at hand */
  cf_buf terms;               /* of the access at hand */
} cf_parser;

typedef struct cf_place {
  const char *text;
  uint32_t line, column;
} cf_place;

void cf_parse_next(cf_parser *p);
/* "expected X, found <this token>" */
cf_status cf_parse_fail(cf_parser *p, const char *expected);
cf_status cf_parse_bad(const cf_parser *p, const cf_token *at, const char *what);
bool cf_parse_is(const cf_parser *p, const char *word);
bool cf_parse_accept(cf_parser *p, const char *word);
cf_status cf_parse_expect(cf_parser *p, const char *word);
cf_status cf_parse_int(cf_parser *p, int64_t lo, int64_t hi, const char *what, int64_t *out);
cf_status cf_parse_word(cf_parser *p, const char *what, const char **out);
cf_status cf_parse_string(cf_parser *p, const char *what, const char **out);
/* "text":line:column; line and column may be missing. */
cf_status cf_parse_place(cf_parser *p, const char *what, cf_place *out);
cf_status cf_parse_choice(cf_parser *p, const char *const *words, int n, const char *what, int *out);
cf_status cf_parse_eol(cf_parser *p, const char *what);
/* *(void **)out = n zeroed bytes that live as long as the window. */
cf_status cf_parse_alloc(cf_parser *p, size_t n, void *out);

cf_status cf_parse_task(cf_parser *p);

#endif
