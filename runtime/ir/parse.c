// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Windows from text: words of lines; parse_task.c and this file share what is in parse.h. */
#include "ir/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words */

cf_status cf_parse_fail(cf_parser *p, const char *expected) {
  char found[48];
  cf_token *t = &p->tok;
  if (t->kind == CF_TOK_END)
    strcpy(found, "the end of the text");
  else if (t->kind == CF_TOK_LINE)
    strcpy(found, "the end of the line");
  else {
    size_t n = t->len < 40 ? t->len : 40;
    found[0] = '\'';
    memcpy(found + 1, t->at, n);
    strcpy(found + 1 + n, "'");
  }
  return cf_fail(CF_EINVAL, "%s:%u:%u: expected %s, found %s", p->file, t->line, t->column, expected, found);
}

cf_status cf_parse_bad(const cf_parser *p, const cf_token *at, const char *what) {
  return cf_fail(CF_EINVAL, "%s:%u:%u: %s", p->file, at->line, at->column, what);
}

void cf_parse_next(cf_parser *p) {
  const char *s = p->next, *end = p->end;
  while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
    s++;
  if (s < end && *s == '#')
    while (s < end && *s != '\n')
      s++;
  cf_token t = {CF_TOK_END, s, 0, p->line, (uint32_t)(s - p->line_start) + 1};
  if (s >= end) {
    p->tok = t;
    p->next = s;
    return;
  }
  const char *e = s + 1;
  if (*s == '\n') {
    t.kind = CF_TOK_LINE;
    p->line++;
    p->line_start = e;
  } else if (isalpha((unsigned char)*s) || *s == '_') {
    t.kind = CF_TOK_WORD;
    while (e < end && (isalnum((unsigned char)*e) || *e == '_'))
      e++;
  } else if (isdigit((unsigned char)*s)) {
    t.kind = CF_TOK_NUMBER;
    while (e < end && isdigit((unsigned char)*e))
      e++;
  } else if (*s == '"') {
    t.kind = CF_TOK_STRING;
    while (e < end && *e != '"' && *e != '\n')
      e += *e == '\\' && e + 1 < end && e[1] != '\n' ? 2 : 1;
    if (e < end && *e == '"')
      e++;
    else
      t.kind = CF_TOK_OPEN_STRING;
  } else {
    t.kind = CF_TOK_MARK;
    if (*s == '.' && e < end && *e == '.')
      e++;
  }
  t.len = (size_t)(e - s);
  p->tok = t;
  p->next = e;
}

bool cf_parse_is(const cf_parser *p, const char *word) {
  size_t n = strlen(word);
  return (p->tok.kind == CF_TOK_WORD || p->tok.kind == CF_TOK_MARK) && p->tok.len == n &&
         memcmp(p->tok.at, word, n) == 0;
}

bool cf_parse_accept(cf_parser *p, const char *word) {
  if (!cf_parse_is(p, word))
    return false;
  cf_parse_next(p);
  return true;
}

cf_status cf_parse_expect(cf_parser *p, const char *word) {
  if (cf_parse_accept(p, word))
    return CF_OK;
  char text[32] = "'";
  strcat(strncat(text, word, 20), "'");
  return cf_parse_fail(p, text);
}

cf_status cf_parse_int(cf_parser *p, int64_t lo, int64_t hi, const char *what, int64_t *out) {
  cf_token at = p->tok;
  bool neg = lo < 0 && cf_parse_accept(p, "-");
  if (!neg && lo < 0)
    cf_parse_accept(p, "+");
  if (p->tok.kind != CF_TOK_NUMBER)
    return cf_parse_fail(p, what);
  int64_t v = 0;
  bool big = false;
  for (size_t i = 0; i < p->tok.len; i++)
    big |= __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, p->tok.at[i] - '0', &v);
  if (neg)
    v = -v;
  if (big || v < lo || v > hi)
    return cf_fail(CF_EINVAL, "%s:%u:%u: %s must lie between %lld and %lld", p->file, at.line, at.column,
                   what, (long long)lo, (long long)hi);
  cf_parse_next(p);
  *out = v;
  return CF_OK;
}

static cf_status nomem(void) { return cf_fail(CF_ENOMEM, "out of memory for a window read from text"); }

cf_status cf_parse_alloc(cf_parser *p, size_t n, void *out) {
  void *q = cf_arena_alloc(&p->out.arena, n);
  if (!q)
    return nomem();
  memcpy(out, &q, sizeof q);
  return CF_OK;
}

cf_status cf_parse_word(cf_parser *p, const char *what, const char **out) {
  if (p->tok.kind != CF_TOK_WORD)
    return cf_parse_fail(p, what);
  char *s;
  CF_TRY(cf_parse_alloc(p, p->tok.len + 1, &s));
  memcpy(s, p->tok.at, p->tok.len);
  *out = s;
  cf_parse_next(p);
  return CF_OK;
}

static int hex(char c) { return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10; }

cf_status cf_parse_string(cf_parser *p, const char *what, const char **out) {
  if (p->tok.kind == CF_TOK_OPEN_STRING)
    return cf_parse_bad(p, &p->tok, "the string has no end");
  if (p->tok.kind != CF_TOK_STRING)
    return cf_parse_fail(p, what);
  char *s, *w;
  CF_TRY(cf_parse_alloc(p, p->tok.len + 1, &s));
  w = s;
  const char *r = p->tok.at + 1, *e = p->tok.at + p->tok.len - 1;
  while (r < e) {
    if (*r == '\\' && e - r > 3 && r[1] == 'x' && isxdigit((unsigned char)r[2]) &&
        isxdigit((unsigned char)r[3])) {
      *w++ = (char)(hex(r[2]) * 16 + hex(r[3]));
      r += 4;
      continue;
    }
    if (*r == '\\' && r + 1 < e)
      r++;
    *w++ = *r++;
  }
  *out = s;
  cf_parse_next(p);
  return CF_OK;
}

cf_status cf_parse_place(cf_parser *p, const char *what, cf_place *out) {
  int64_t line = 0, column = 0;
  CF_TRY(cf_parse_string(p, what, &out->text));
  if (cf_parse_accept(p, ":")) {
    CF_TRY(cf_parse_int(p, 0, INT32_MAX, "a line number", &line));
    if (cf_parse_accept(p, ":"))
      CF_TRY(cf_parse_int(p, 0, INT32_MAX, "a column number", &column));
  }
  out->line = (uint32_t)line;
  out->column = (uint32_t)column;
  return CF_OK;
}

cf_status cf_parse_choice(cf_parser *p, const char *const *words, int n, const char *what, int *out) {
  for (int i = 0; i < n; i++)
    if (p->tok.kind == CF_TOK_WORD && cf_parse_is(p, words[i])) {
      cf_parse_next(p);
      *out = i;
      return CF_OK;
    }
  return cf_parse_fail(p, what);
}

cf_status cf_parse_eol(cf_parser *p, const char *what) {
  if (p->tok.kind == CF_TOK_END)
    return CF_OK;
  if (p->tok.kind != CF_TOK_LINE)
    return cf_parse_fail(p, what);
  cf_parse_next(p);
  return CF_OK;
}

/* ---- stores */

/* tiling(dim D, COUNT x GRAIN @ ORIGIN), or none. */
static cf_status parse_home(cf_parser *p, cf_store *s) {
  s->home = (cf_partition){.kind = CF_PART_NONE, .num = 1, .den = 1};
  if (cf_parse_accept(p, "none"))
    return CF_OK;
  if (!cf_parse_accept(p, "tiling"))
    return cf_parse_fail(p, "'none' or 'tiling'");
  if (s->rank == 0)
    return cf_parse_bad(p, &p->tok, "a store without dimensions cannot be tiled");
  int64_t dim;
  s->home.kind = CF_PART_TILING;
  CF_TRY(cf_parse_expect(p, "("));
  CF_TRY(cf_parse_expect(p, "dim"));
  CF_TRY(cf_parse_int(p, 0, s->rank - 1, "a dimension of the store", &dim));
  s->home.dim = (uint8_t)dim;
  CF_TRY(cf_parse_expect(p, ","));
  CF_TRY(cf_parse_int(p, 1, CF_TEXT_EXTENT, "the number of grains", &s->home.count));
  CF_TRY(cf_parse_expect(p, "x"));
  CF_TRY(cf_parse_int(p, 1, CF_TEXT_GRAIN, "the size of a grain", &s->home.grain));
  CF_TRY(cf_parse_expect(p, "@"));
  CF_TRY(cf_parse_int(p, -CF_TEXT_EXTENT, CF_TEXT_EXTENT, "the origin", &s->home.origin));
  return cf_parse_expect(p, ")");
}

static cf_status parse_valid(cf_parser *p, cf_store *s) {
  if (cf_parse_accept(p, "all")) {
    s->all_valid = true;
    return CF_OK;
  }
  if (p->tok.kind != CF_TOK_NUMBER)
    return cf_parse_fail(p, "'all' or the width of a halo");
  CF_TRY(cf_parse_int(p, 0, CF_TEXT_EXTENT, "the width of a halo", &s->halo_lo));
  CF_TRY(cf_parse_expect(p, ","));
  return cf_parse_int(p, 0, CF_TEXT_EXTENT, "the width of a halo", &s->halo_hi);
}

static cf_status store_option(cf_parser *p, cf_store *s) {
  int64_t v;
  if (cf_parse_accept(p, "id")) {
    CF_TRY(cf_parse_int(p, 0, UINT32_MAX, "a store's number", &v));
    s->id = (uint32_t)v;
  } else if (cf_parse_accept(p, "home")) {
    return parse_home(p, s);
  } else if (cf_parse_accept(p, "released")) {
    s->live = false;
  } else if (cf_parse_accept(p, "undefined")) {
    s->flags |= COFUSE_OBJ_UNDEFINED;
  } else if (cf_parse_accept(p, "auto")) {
    s->flags |= COFUSE_OBJ_AUTO;
  } else if (cf_parse_accept(p, "pending")) {
    CF_TRY(cf_parse_int(p, 0, UINT32_MAX - 1, "the number of pending accesses", &v));
    s->pending = (uint32_t)v;
  } else if (cf_parse_accept(p, "writers")) {
    CF_TRY(cf_parse_int(p, 0, UINT32_MAX - 1, "the number of pending writes", &v));
    s->writers = (uint32_t)v;
  } else if (cf_parse_accept(p, "valid")) {
    return parse_valid(p, s);
  } else if (cf_parse_accept(p, "host")) {
    CF_TRY(cf_parse_int(p, 0, INT64_MAX, "a byte offset", &s->host_lo));
    CF_TRY(cf_parse_expect(p, ".."));
    return cf_parse_int(p, s->host_lo, INT64_MAX, "a byte offset", &s->host_hi);
  } else if (cf_parse_accept(p, "text")) {
    return cf_parse_string(p, "the store's text in quotes", &s->text);
  } else if (cf_parse_accept(p, "from")) {
    cf_place at;
    CF_TRY(cf_parse_place(p, "a file name in quotes", &at));
    s->file = at.text;
    s->line = at.line;
  } else {
    return cf_parse_fail(p,
                         "id, home, released, undefined, auto, pending, writers, valid, host, text, from or "
                         "the end of the line");
  }
  return CF_OK;
}

static cf_status parse_shape(cf_parser *p, cf_store *s) {
  int type;
  int64_t bytes = 0;
  CF_TRY(cf_parse_choice(p, cf_type_words, COFUSE_TYPE_COUNT, "an element type", &type));
  s->type = (uint8_t)type;
  bytes = cf_type_sizes[type];
  if (type == COFUSE_OPAQUE) {
    CF_TRY(cf_parse_expect(p, "("));
    CF_TRY(cf_parse_int(p, 1, INT32_MAX, "the size of an element in bytes", &bytes));
    CF_TRY(cf_parse_expect(p, ")"));
  }
  s->elem_bytes = (uint32_t)bytes;
  while (cf_parse_accept(p, "[")) {
    cf_token at = p->tok;
    if (s->rank == CF_RANK)
      return cf_parse_bad(p, &at, "a store has at most 6 dimensions");
    CF_TRY(cf_parse_int(p, 1, CF_TEXT_EXTENT, "an extent", &s->ext[s->rank]));
    if (__builtin_mul_overflow(bytes, s->ext[s->rank++], &bytes) || bytes > CF_TEXT_BYTES)
      return cf_parse_bad(p, &at, "the store is too large to compute with");
    CF_TRY(cf_parse_expect(p, "]"));
  }
  s->bytes = (size_t)bytes;
  return CF_OK;
}

static cf_status parse_store(cf_parser *p) {
  cf_store *s, *other;
  const char *name;
  CF_TRY(cf_parse_alloc(p, sizeof *s, &s));
  cf_token at = p->tok;
  CF_TRY(cf_parse_word(p, "a store's name", &name));
  if (cf_map_get(&p->names, name, strlen(name)))
    return cf_parse_bad(p, &at, "there is a store of this name already");
  *s = (cf_store){
      .id = p->out.nstores, .live = true, .text = name, .pending = UINT32_MAX, .writers = UINT32_MAX};
  CF_TRY(cf_parse_expect(p, ":"));
  CF_TRY(parse_shape(p, s));
  while (p->tok.kind != CF_TOK_LINE && p->tok.kind != CF_TOK_END)
    CF_TRY(store_option(p, s));
  other = cf_map_get(&p->ids, &s->id, sizeof s->id);
  if (other)
    return cf_parse_bad(p, &at, "there is a store of this number already");
  CF_TRY(cf_map_put(&p->names, name, strlen(name), s));
  CF_TRY(cf_map_put(&p->ids, &s->id, sizeof s->id, s));
  cf_buf_put(&p->stores, &s, sizeof s);
  p->out.nstores++;
  return cf_parse_eol(p, "the end of the line");
}

/* Counters that the text does not give follow from the tasks. */
static void count_uses(cf_parser *p) {
  cf_ir_window *w = &p->out;
  for (uint32_t i = 0; i < w->nstores; i++) {
    w->stores[i]->mark = 0;
    if (w->stores[i]->pending == UINT32_MAX) {
      w->stores[i]->pending = 0;
      w->stores[i]->mark |= 1;
    }
    if (w->stores[i]->writers == UINT32_MAX) {
      w->stores[i]->writers = 0;
      w->stores[i]->mark |= 2;
    }
  }
  for (uint32_t i = 0; i < w->ntasks; i++)
    for (uint32_t k = 0; k < w->tasks[i]->naccess; k++) {
      const cf_access *a = &w->tasks[i]->access[k];
      if (!a->store)
        continue;
      a->store->pending += a->store->mark & 1;
      a->store->writers += a->store->mark & 2 && a->priv & (CF_WRITE | CF_REDUCE);
    }
}

static cf_status parse_all(cf_parser *p) {
  int64_t version;
  cf_parse_next(p);
  while (p->tok.kind == CF_TOK_LINE)
    cf_parse_next(p);
  static const char first[] = "'cofuse-ir 1' as the first line";
  if (!cf_parse_accept(p, "cofuse") || !cf_parse_accept(p, "-") || !cf_parse_accept(p, "ir"))
    return cf_parse_fail(p, first);
  CF_TRY(cf_parse_int(p, 1, 1, "the version of the format", &version));
  CF_TRY(cf_parse_eol(p, "the end of the line"));
  while (p->tok.kind != CF_TOK_END) {
    if (p->tok.kind == CF_TOK_LINE)
      cf_parse_next(p);
    else if (cf_parse_accept(p, "store"))
      CF_TRY(parse_store(p));
    else if (cf_parse_is(p, "forall") || cf_parse_is(p, "task"))
      CF_TRY(cf_parse_task(p));
    else
      return cf_parse_fail(p, "store, forall or task");
  }
  if (p->stores.failed || p->tasks.failed)
    return nomem();
  p->out.stores = (cf_store **)(void *)cf_arena_alloc(&p->out.arena, p->stores.len + 1);
  p->out.tasks = (cf_task **)(void *)cf_arena_alloc(&p->out.arena, p->tasks.len + 1);
  if (!p->out.stores || !p->out.tasks)
    return nomem();
  if (p->stores.len)
    memcpy(p->out.stores, p->stores.data, p->stores.len);
  if (p->tasks.len)
    memcpy(p->out.tasks, p->tasks.data, p->tasks.len);
  count_uses(p);
  return CF_OK;
}

cf_status cf_parse_window(const char *text, size_t len, const char *file, cf_ir_window *out) {
  cf_parser p = {.file = file, .next = text, .end = text + len, .line = 1, .line_start = text};
  cf_status st = parse_all(&p);
  cf_map_free(&p.names);
  cf_map_free(&p.ids);
  cf_map_free(&p.sites);
  cf_buf_free(&p.stores);
  cf_buf_free(&p.tasks);
  cf_buf_free(&p.key);
  cf_buf_free(&p.access);
  cf_buf_free(&p.descs);
  cf_buf_free(&p.reds);
  cf_buf_free(&p.terms);
  if (st != CF_OK) {
    cf_arena_free(&p.out.arena);
    return st;
  }
  *out = p.out;
  return CF_OK;
}

void cf_ir_window_free(cf_ir_window *w) {
  cf_arena_free(&w->arena);
  *w = (cf_ir_window){0};
}
