// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/template.h"

#include <string.h>

/* MLIR's parser recurses per region; this bounds its stack whatever the body holds. */
enum { MAX_DEPTH = 256, MAX_SHOWN = 120 };

bool cf_slice_is(cf_slice s, const char *text) { return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '.' || c == '-';
}

void cf_tpl_begin(cf_tpl *t, const cofuse_forall *desc, const char *text) {
  *t = (cf_tpl){.pos = text ? text : "", .desc = desc};
}

cf_status cf_tpl_error(const cf_tpl *t, cf_slice text, const char *what) {
  char shown[MAX_SHOWN + 1];
  size_t n = text.n < MAX_SHOWN ? text.n : MAX_SHOWN;
  for (size_t i = 0; i < n; i++)
    shown[i] = text.p[i] >= ' ' && text.p[i] < 127 ? text.p[i] : '?';
  shown[n] = 0;
  const cofuse_forall *d = t->desc;
  return cf_fail(CF_EINVAL, "%s:%u: malformed loop body, line %u: %s: %s", d->file ? d->file : "?", d->line,
                 t->line, what, shown);
}

/* Checks names, strings, brackets and characters of one line and cuts its comment off. */
static cf_status scan_line(cf_tpl *t, cf_slice *s) {
  for (size_t i = 0; i < s->n; i++) {
    char c = s->p[i];
    if (c == '"') {
      for (i++; i < s->n && s->p[i] != '"'; i++)
        if (s->p[i] == '\\')
          i++;
      if (i >= s->n)
        return cf_tpl_error(t, *s, "string without end");
    } else if (c == '/' && i + 1 < s->n && s->p[i + 1] == '/') {
      s->n = i;
    } else if (c == '%') {
      if (i + 1 >= s->n || !is_name(s->p[i + 1]))
        return cf_tpl_error(t, *s, "'%' without a name");
    } else if (c == '{' || c == '(' || c == '[') {
      if (++t->depth > MAX_DEPTH)
        return cf_tpl_error(t, *s, "nested too deeply");
    } else if (c == '}' || c == ')' || c == ']') {
      if (--t->depth < 0)
        return cf_tpl_error(t, *s, "bracket closed that was not opened");
    } else if ((unsigned char)c >= 127 || ((unsigned char)c < ' ' && !is_blank(c))) {
      return cf_tpl_error(t, *s, "character outside ASCII");
    }
  }
  while (s->n && is_blank(s->p[s->n - 1]))
    s->n--;
  return CF_OK;
}

/* ---- cursor over a pseudo operation: each function eats blanks, then what it names, or leaves all */
typedef struct cursor {
  const char *p, *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->p < c->end && is_blank(*c->p))
    c->p++;
}

static bool eat(cursor *c, const char *word) {
  skip_blanks(c);
  size_t n = strlen(word);
  if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
    return false;
  c->p += n;
  return true;
}

static bool eat_value(cursor *c, cf_slice *out) {
  skip_blanks(c);
  const char *s = c->p, *q = s;
  if (q == c->end || *q != '%')
    return false;
  for (q++; q < c->end && is_name(*q); q++)
    ;
  if (q < c->end && *q == '#') /* one result of several */
    for (q++; q < c->end && is_digit(*q); q++)
      ;
  *out = (cf_slice){s, (size_t)(q - s)};
  c->p = q;
  return q - s > 1;
}

static bool eat_word(cursor *c, cf_slice *out) {
  skip_blanks(c);
  const char *s = c->p;
  while (c->p < c->end && is_name(*c->p))
    c->p++;
  *out = (cf_slice){s, (size_t)(c->p - s)};
  return out->n > 0;
}

static bool eat_number(cursor *c, uint64_t max, uint64_t *out) {
  skip_blanks(c);
  uint64_t v = 0;
  const char *s = c->p;
  for (; c->p < c->end && is_digit(*c->p); c->p++) {
    v = v * 10 + (uint64_t)(*c->p - '0');
    if (v > max)
      return false;
  }
  *out = v;
  return c->p > s;
}

static bool eat_index(cursor *c, uint32_t *out) {
  uint64_t v;
  if (!eat_number(c, UINT16_MAX, &v))
    return false;
  *out = (uint32_t)v;
  return true;
}

/* A | A(%k, ...) | A at %off */
static const char *parse_place(cursor *c, cf_tpl_line *l) {
  if (!eat_index(c, &l->index))
    return "access number expected";
  if (eat(c, "(")) {
    do {
      if (l->nargs == COFUSE_MAX_INNER)
        return "too many inner counters";
      if (!eat_value(c, &l->args[l->nargs++]))
        return "inner counter expected";
    } while (eat(c, ","));
    if (!eat(c, ")"))
      return "')' expected";
  } else if (eat(c, "at ")) {
    l->has_off = true;
    if (!eat_value(c, &l->off))
      return "offset expected after 'at'";
  }
  return NULL;
}

static const char *parse_type(cursor *c, cf_tpl_line *l) {
  if (!eat(c, ":"))
    return "':' expected";
  return eat_word(c, &l->type) ? NULL : "type expected";
}

static const char *parse_local(cursor *c, cf_tpl_line *l) {
  l->count = 1;
  if (!eat_word(c, &l->type))
    return "type expected";
  if (!eat(c, "x "))
    return NULL;
  return eat_number(c, UINT32_MAX, &l->count) && l->count ? NULL : "number of elements expected";
}

/* The operation behind "cf."; NULL if well formed. */
static const char *parse_pseudo(cursor *c, cf_tpl_line *l, bool has_result) {
  static const struct {
    const char *name;
    int kind;
    bool result;
  } ops[] = {
      {"load", CF_TPL_LOAD, true},   {"store", CF_TPL_STORE, false}, {"scalar", CF_TPL_SCALAR, true},
      {"iv", CF_TPL_IV, true},       {"red", CF_TPL_RED, true},      {"setred", CF_TPL_SETRED, false},
      {"local", CF_TPL_LOCAL, true},
  };
  cf_slice name;
  if (!eat_word(c, &name))
    return "name of the operation expected after 'cf.'";
  size_t k = 0, n = sizeof ops / sizeof *ops;
  while (k < n && !cf_slice_is(name, ops[k].name))
    k++;
  if (k == n)
    return "unknown operation";
  if (ops[k].result != has_result)
    return has_result ? "this operation has no result" : "the result needs a name";
  l->kind = ops[k].kind;
  if (!has_result && (!eat_value(c, &l->value) || !eat(c, ",")))
    return "value and ',' expected";
  const char *bad = NULL;
  if (l->kind == CF_TPL_LOCAL)
    bad = parse_local(c, l);
  else if (l->kind == CF_TPL_SCALAR || l->kind == CF_TPL_IV)
    bad = eat_index(c, &l->index) ? NULL : "number expected";
  else
    bad = parse_place(c, l);
  if (!bad && l->nargs && (l->kind == CF_TPL_RED || l->kind == CF_TPL_SETRED))
    bad = "inner counters on a reduction";
  if (!bad && l->kind != CF_TPL_LOCAL)
    bad = parse_type(c, l);
  skip_blanks(c);
  return bad ? bad : c->p < c->end ? "text after the end of the operation" : NULL;
}

static cf_status parse_line(cf_tpl *t, cf_slice s, cf_tpl_line *out) {
  *out = (cf_tpl_line){.kind = CF_TPL_TEXT, .text = s};
  cursor c = {s.p, s.p + s.n};
  bool has_result = eat_value(&c, &out->result);
  if (has_result ? !eat(&c, "=") || !eat(&c, "cf.") : !eat(&c, "cf."))
    return CF_OK;
  const char *bad = parse_pseudo(&c, out, has_result);
  return bad ? cf_tpl_error(t, s, bad) : CF_OK;
}

cf_status cf_tpl_next(cf_tpl *t, cf_tpl_line *out, bool *more) {
  *more = true;
  while (*t->pos) {
    cf_slice s = {t->pos, strcspn(t->pos, "\n")};
    t->pos += s.n + (t->pos[s.n] == '\n');
    t->line++;
    while (s.n && is_blank(*s.p))
      s.p++, s.n--;
    CF_TRY(scan_line(t, &s));
    if (s.n)
      return parse_line(t, s, out);
  }
  *more = false;
  if (t->depth)
    return cf_tpl_error(t, (cf_slice){"", 0}, "bracket not closed at the end");
  return CF_OK;
}

void cf_tpl_rename(cf_buf *out, cf_slice s, const char *prefix) {
  size_t from = 0;
  bool quoted = false;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '\\' && quoted) {
      i++;
    } else if (s.p[i] == '"') {
      quoted = !quoted;
    } else if (s.p[i] == '%' && !quoted) {
      cf_buf_put(out, s.p + from, i + 1 - from);
      cf_buf_str(out, prefix);
      from = i + 1;
    }
  }
  cf_buf_put(out, s.p + from, s.n - from);
}
