// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Tasks from text. */
#include "ir/math.h"
#include "ir/parse.h"

#include <string.h>

/* Loops of the task and of the access at hand, by name. */
typedef struct loops {
  const char *name[CF_LOOPS];
  int n;
} loops;

/* coef * loop in one index; inner loops are declared behind the index. */
typedef struct term {
  cf_token loop;
  int dim;
  int64_t coef;
} term;

static const int64_t LARGEST = CF_TEXT_EXTENT;

static int find_loop(const loops *v, const cf_token *t) {
  for (int l = 0; l < v->n; l++)
    if (strlen(v->name[l]) == t->len && memcmp(v->name[l], t->at, t->len) == 0)
      return l;
  return -1;
}

static cf_status declare(cf_parser *p, loops *v) {
  cf_token at = p->tok;
  const char *name;
  CF_TRY(cf_parse_word(p, "the name of a loop", &name));
  if (find_loop(v, &at) >= 0)
    return cf_parse_bad(p, &at, "there is a loop of this name already");
  v->name[v->n++] = name;
  return cf_parse_expect(p, "<");
}

/* 2*i - p + 1 */
static cf_status parse_index(cf_parser *p, cf_access *a, int dim) {
  static const char what[] = "an index such as 2*i-1";
  bool first = true;
  while (first || cf_parse_is(p, "+") || cf_parse_is(p, "-")) {
    bool neg = cf_parse_is(p, "-");
    if (neg || cf_parse_is(p, "+"))
      cf_parse_next(p);
    first = false;
    int64_t c = 1;
    bool number = p->tok.kind == CF_TOK_NUMBER, product = false;
    if (number) {
      CF_TRY(cf_parse_int(p, 0, LARGEST, "a number of an index", &c));
      product = cf_parse_accept(p, "*");
    }
    if (neg)
      c = -c;
    if (number && !product) {
      a->map.off[dim] += c;
      if (cf_abs(a->map.off[dim]) > LARGEST)
        return cf_parse_fail(p, "a smaller index");
      continue;
    }
    if (p->tok.kind != CF_TOK_WORD)
      return cf_parse_fail(p, product ? "the name of a loop" : what);
    term t = {p->tok, dim, c};
    cf_buf_put(&p->terms, &t, sizeof t);
    cf_parse_next(p);
  }
  return CF_OK;
}

static cf_status parse_store_name(cf_parser *p, cf_store **s) {
  cf_token at = p->tok;
  const char *name;
  CF_TRY(cf_parse_word(p, "the name of a store", &name));
  *s = cf_map_get(&p->names, name, strlen(name));
  return *s ? CF_OK : cf_parse_bad(p, &at, "there is no store of this name above");
}

/* captured N | whole NAME | empty NAME | NAME[index]... */
static cf_status parse_ref(cf_parser *p, cf_access *a, bool reduction, bool *empty) {
  *empty = false;
  cf_buf_clear(&p->terms);
  if (!reduction && cf_parse_accept(p, "captured"))
    return cf_parse_int(p, 0, LARGEST, "the size of captured memory in bytes", &a->hi[0]);
  a->whole = reduction || cf_parse_accept(p, "whole");
  *empty = !a->whole && cf_parse_accept(p, "empty");
  CF_TRY(parse_store_name(p, &a->store));
  a->map.rank = a->store->rank;
  a->field_bytes = a->store->elem_bytes;
  if (a->whole || *empty)
    return CF_OK;
  for (int d = 0; d < a->store->rank; d++) {
    CF_TRY(cf_parse_expect(p, "["));
    CF_TRY(parse_index(p, a, d));
    CF_TRY(cf_parse_expect(p, "]"));
  }
  return CF_OK;
}

typedef struct options {
  bool box, at, strides, type, mode, cond;
  cf_token box_at, strides_at, cut_at;
  int64_t nstrides, ncuts;
} options;

static cf_status parse_box(cf_parser *p, cf_access *a, options *o) {
  o->box = true;
  if (!a->store)
    return cf_parse_bad(p, &o->box_at, "captured memory has no box");
  for (int d = 0; d < a->store->rank; d++) {
    CF_TRY(cf_parse_expect(p, "["));
    CF_TRY(cf_parse_int(p, 0, a->store->ext[d], "the box's low end", &a->lo[d]));
    CF_TRY(cf_parse_expect(p, ":"));
    CF_TRY(cf_parse_int(p, 0, a->store->ext[d], "the box's high end", &a->hi[d]));
    CF_TRY(cf_parse_expect(p, "]"));
  }
  return CF_OK;
}

static cf_status parse_option(cf_parser *p, cf_access *a, cofuse_access *d, loops *v, options *o,
                              cf_place *as) {
  cf_token at = p->tok;
  int64_t n;
  int choice;
  if (cf_parse_accept(p, "for")) {
    if (a->ninner)
      return cf_parse_bad(p, &at, "inner loops are given already");
    do {
      if (a->ninner == CF_INNER)
        return cf_parse_bad(p, &at, "an access has at most 4 inner loops");
      CF_TRY(declare(p, v));
      CF_TRY(cf_parse_int(p, -LARGEST, LARGEST, "a trip count", &a->itrip[a->ninner++]));
    } while (cf_parse_accept(p, ","));
  } else if (a->store && cf_parse_accept(p, "bytes")) {
    CF_TRY(cf_parse_int(p, 0, a->store->elem_bytes - 1, "a byte of the element", &n));
    a->field = (uint32_t)n;
    CF_TRY(cf_parse_expect(p, ".."));
    CF_TRY(cf_parse_int(p, n + 1, a->store->elem_bytes, "a byte of the element", &n));
    a->field_bytes = (uint32_t)n - a->field;
  } else if (cf_parse_accept(p, "box")) {
    o->box_at = at;
    return parse_box(p, a, o);
  } else if (cf_parse_accept(p, "at")) {
    o->at = true;
    return cf_parse_int(p, -CF_TEXT_BYTES, CF_TEXT_BYTES, "a byte offset", &a->at);
  } else if (cf_parse_accept(p, "strides")) {
    o->strides = true;
    o->strides_at = at;
    o->nstrides = 0;
    do {
      if (o->nstrides == CF_LOOPS)
        return cf_parse_bad(p, &at, "more strides than loops");
      CF_TRY(cf_parse_int(p, -CF_TEXT_BYTES, CF_TEXT_BYTES, "a stride", &a->bstride[o->nstrides++]));
    } while (cf_parse_accept(p, ","));
  } else if (d && cf_parse_accept(p, "type")) {
    o->type = true;
    CF_TRY(cf_parse_choice(p, cf_type_words, COFUSE_TYPE_COUNT, "an element type", &choice));
    d->type = (uint8_t)choice;
  } else if (d && cf_parse_accept(p, "cond")) {
    d->flags |= COFUSE_ACC_COND;
    o->cond = true;
  } else if (d && cf_parse_accept(p, "indirect")) {
    d->flags |= COFUSE_ACC_INDIRECT;
  } else if (d && cf_parse_accept(p, "unbounded")) {
    d->flags |= COFUSE_ACC_UNBOUNDED;
  } else if (d && cf_parse_accept(p, "object")) {
    d->flags |= COFUSE_ACC_OBJECT;
  } else if (d && cf_parse_accept(p, "ranged")) {
    d->flags |= COFUSE_ACC_RANGED;
  } else if (d && cf_parse_accept(p, "cut")) {
    o->cut_at = at;
    do {
      if (o->ncuts == CF_LOOPS)
        return cf_parse_bad(p, &at, "more cuts than loops");
      CF_TRY(cf_parse_int(p, 0, LARGEST, "the iterations left out at the start", &a->cut[o->ncuts][0]));
      CF_TRY(cf_parse_expect(p, "+"));
      CF_TRY(cf_parse_int(p, 0, LARGEST, "the iterations left out at the end", &a->cut[o->ncuts++][1]));
    } while (cf_parse_accept(p, ","));
  } else if (d && a->store && cf_parse_accept(p, "wrap")) {
    a->wrap = true;
    CF_TRY(cf_parse_int(p, -LARGEST, 0, "the rows that indices move down", &a->carry[0]));
    CF_TRY(cf_parse_expect(p, ","));
    return cf_parse_int(p, -LARGEST, LARGEST, "the rows that indices move up", &a->carry[1]);
  } else if (d && cf_parse_accept(p, "mode")) {
    o->mode = true;
    CF_TRY(cf_parse_int(p, 0, 3, "a mode of access", &n));
    d->mode = (uint8_t)n;
  } else if (cf_parse_accept(p, "as")) {
    return cf_parse_place(p, "the access as the program has it, in quotes", as);
  } else {
    return cf_parse_fail(p, d ? "for, bytes, box, at, strides, type, cond, indirect, unbounded, object, "
                                "ranged, cut, wrap, mode, as "
                                "or the end of the line"
                              : "box, at, as or the end of the line");
  }
  return CF_OK;
}

/* Map from the terms; box, offset and strides from the map, where the text does not give them. */
static cf_status settle(cf_parser *p, const cf_task *t, cf_access *a, bool empty, const loops *v,
                        const options *o, const cf_token *at) {
  const term *terms = (const term *)(const void *)p->terms.data;
  int nl = t->ndims + a->ninner;
  if (a->store && !a->whole && !empty)
    a->map.nloops = (uint8_t)nl;
  for (size_t i = 0; i < p->terms.len / sizeof *terms; i++) {
    int l = find_loop(v, &terms[i].loop);
    if (l < 0)
      return cf_parse_bad(p, &terms[i].loop, "there is no loop of this name");
    int64_t *c = &a->map.coef[terms[i].dim][l];
    *c += terms[i].coef;
    if (cf_abs(*c) > LARGEST)
      return cf_parse_bad(p, &terms[i].loop, "the coefficient is too large");
  }
  for (int d = 0; d < a->map.rank; d++)
    for (int l = 0; l < nl; l++)
      if ((l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims]) <= 1)
        a->map.coef[d][l] = 0;
  if (o->ncuts && o->ncuts != nl)
    return cf_parse_bad(p, &o->cut_at, "there must be one cut per loop");
  for (int l = 0; l < o->ncuts; l++) {
    int64_t trips = l < t->ndims ? t->trip[l] : a->itrip[l - t->ndims];
    if (a->cut[l][0] + a->cut[l][1] >= cf_max(trips, 1))
      return cf_parse_bad(p, &o->cut_at, "no iteration is left");
  }
  if (a->wrap && (a->whole || empty || a->priv & CF_WRITE || !o->box))
    return cf_parse_bad(p, at, "'wrap' is for reads with a map and a box");
  cf_implied w;
  if (!cf_text_implied(a, empty, t->ndims, t->trip, &w))
    return cf_parse_bad(p, at, "the access is too large to compute with");
  for (int d = 0; a->store && d < a->store->rank; d++) {
    a->step[d] = w.step[d];
    a->phase[d] = w.phase[d];
    if (o->box)
      continue;
    a->lo[d] = empty ? 0 : w.lo[d];
    a->hi[d] = empty ? 0 : w.hi[d];
    if (d == 0 && o->cond) { /* leaves the store where its condition is false */
      a->lo[d] = cf_clamp(w.lo[d], 0, a->store->ext[d]);
      a->hi[d] = cf_clamp(w.hi[d], 0, a->store->ext[d]);
    } else if (!t->empty && !empty && (w.lo[d] < 0 || w.hi[d] > a->store->ext[d]))
      return cf_fail(CF_EINVAL, "%s:%u:%u: index %d leaves the store: %lld to %lld of %lld elements", p->file,
                     at->line, at->column, d, (long long)w.lo[d], (long long)w.hi[d] - 1,
                     (long long)a->store->ext[d]);
  }
  if (!o->at)
    a->at = w.at;
  if (!o->strides)
    memcpy(a->bstride, w.bstride, sizeof a->bstride);
  else if (o->nstrides != nl)
    return cf_parse_bad(p, &o->strides_at, "there must be one stride per loop");
  return CF_OK;
}

static bool at_eol(const cf_parser *p) { return p->tok.kind == CF_TOK_LINE || p->tok.kind == CF_TOK_END; }

static cf_status parse_access(cf_parser *p, const cf_task *t, const loops *outer) {
  cf_token at = p->tok;
  cf_access a = {.priv = 0};
  cofuse_access d = {.flags = 0};
  loops v = *outer;
  options o = {0};
  cf_place as = {0};
  bool empty;
  a.priv = cf_parse_accept(p, "R") ? CF_READ : cf_parse_accept(p, "W") ? CF_WRITE : 0;
  if (!a.priv) {
    CF_TRY(cf_parse_expect(p, "RW"));
    a.priv = CF_READ | CF_WRITE;
  }
  a.must = a.priv & CF_WRITE && cf_parse_accept(p, "!");
  CF_TRY(parse_ref(p, &a, false, &empty));
  if (a.priv & CF_WRITE && !a.store)
    return cf_parse_bad(p, &at, "captured memory can only be read");
  if (a.must && a.whole)
    return cf_parse_bad(p, &at, "what may touch the whole store is no must-write");
  while (!at_eol(p))
    CF_TRY(parse_option(p, &a, &d, &v, &o, &as));
  if (!o.type) {
    if (!a.store || cf_type_sizes[a.store->type] != a.store->elem_bytes)
      return cf_parse_bad(p, &at, "the access needs 'type'");
    d.type = a.store->type;
  }
  if (!a.store)
    a.field_bytes = cf_type_sizes[d.type];
  if (!o.mode)
    d.mode = a.priv;
  d.ninner = a.ninner;
  d.text = as.text;
  d.line = as.line;
  d.column = as.column;
  CF_TRY(settle(p, t, &a, empty, &v, &o, &at));
  cf_buf_put(&p->access, &a, sizeof a);
  cf_buf_put(&p->descs, &d, sizeof d);
  return cf_parse_eol(p, "the end of the line");
}

/* reduce(OP) TYPE now | reduce(OP) TYPE into STORE */
static cf_status parse_reduction(cf_parser *p, cf_task *t, const loops *outer) {
  cf_token at = p->tok;
  int op, type;
  bool empty;
  loops v = *outer;
  options o = {0};
  cf_place as = {0};
  if (t->nreds == CF_MAX_REDS)
    return cf_parse_bad(p, &at, "a task has at most 8 reductions");
  cf_parse_next(p);
  CF_TRY(cf_parse_expect(p, "("));
  CF_TRY(cf_parse_choice(p, cf_redop_words, CF_REDOPS, "an operator such as add or min", &op));
  CF_TRY(cf_parse_expect(p, ")"));
  CF_TRY(cf_parse_choice(p, cf_type_words, COFUSE_TYPE_COUNT, "an element type", &type));
  cf_access a = {.priv = CF_REDUCE, .redop = (uint8_t)op};
  if (cf_parse_accept(p, "into")) {
    CF_TRY(parse_ref(p, &a, true, &empty));
    t->deferred[t->nreds] = true;
  } else if (!cf_parse_accept(p, "now")) {
    return cf_parse_fail(p, "'now' or 'into'");
  }
  int64_t *count = &t->red_count[t->nreds];
  if (!a.store && cf_parse_accept(p, "section"))
    CF_TRY(cf_parse_int(p, 1, LARGEST, "the elements of a section", count));
  while (!at_eol(p))
    CF_TRY(parse_option(p, &a, NULL, &v, &o, &as));
  if (a.store) {
    CF_TRY(settle(p, t, &a, false, &v, &o, &at));
    cf_buf_put(&p->access, &a, sizeof a);
  }
  cofuse_red r = {.flags = *count ? COFUSE_RED_SECTION : 0,
                  .op = (uint8_t)op,
                  .type = (uint8_t)type,
                  .line = as.line,
                  .column = as.column,
                  .text = as.text};
  cf_buf_put(&p->reds, &r, sizeof r);
  t->nreds++;
  return cf_parse_eol(p, "the end of the line");
}

static cf_status parse_loops(cf_parser *p, cf_task *t, loops *v) {
  do {
    if (t->ndims == CF_DIMS)
      return cf_parse_bad(p, &p->tok, "a task has at most 6 loops");
    int l = t->ndims++;
    CF_TRY(declare(p, v));
    CF_TRY(cf_parse_int(p, 0, LARGEST, "a trip count", &t->trip[l]));
    t->empty |= t->trip[l] == 0;
    t->step[l] = 1;
    t->loop_at[l] = (uint8_t)l;
    if (cf_parse_accept(p, "from"))
      CF_TRY(cf_parse_int(p, INT64_MIN + 1, INT64_MAX, "the first value of the counter", &t->first[l]));
    if (cf_parse_accept(p, "step"))
      CF_TRY(cf_parse_int(p, INT64_MIN + 1, INT64_MAX, "the step of the counter", &t->step[l]));
  } while (cf_parse_accept(p, ","));
  return CF_OK;
}

static void put_text(cf_buf *b, const char *s) {
  if (s)
    cf_buf_str(b, s);
  cf_buf_put(b, "", 1);
}

/* One descriptor for all tasks that say the same of themselves: they come from one line of the program. */
static cf_status take_site(cf_parser *p, cofuse_forall *d, cofuse_forall **out) {
  const cofuse_access *acc = (const cofuse_access *)(const void *)p->descs.data;
  const cofuse_red *red = (const cofuse_red *)(const void *)p->reds.data;
  cf_buf *key = &p->key;
  cf_buf_clear(key);
  cf_buf_printf(key, "%d %d %d %d %u:%u %u %u ", !d->body, d->kind, d->ndims, d->flags, d->line, d->column,
                d->naccess, d->nreds);
  put_text(key, d->name);
  put_text(key, d->file);
  for (int i = 0; i < d->naccess; i++) {
    cf_buf_printf(key, "%d %d %d %d %u:%u ", acc[i].type, acc[i].mode, acc[i].flags, acc[i].ninner,
                  acc[i].line, acc[i].column);
    put_text(key, acc[i].text);
  }
  for (int i = 0; i < d->nreds; i++) {
    cf_buf_printf(key, "%d %d %u:%u ", red[i].op, red[i].type, red[i].line, red[i].column);
    put_text(key, red[i].text);
  }
  if (key->failed || p->descs.failed || p->reds.failed)
    return cf_fail(CF_ENOMEM, "out of memory for a window read from text");
  *out = cf_map_get(&p->sites, key->data, key->len);
  if (*out)
    return CF_OK;
  void *copy;
  if (d->naccess) {
    CF_TRY(cf_parse_alloc(p, p->descs.len, &copy));
    d->access = memcpy(copy, acc, p->descs.len);
  }
  if (d->nreds) {
    CF_TRY(cf_parse_alloc(p, p->reds.len, &copy));
    d->reds = memcpy(copy, red, p->reds.len);
  }
  CF_TRY(cf_parse_alloc(p, sizeof *d, out));
  **out = *d;
  return cf_map_put(&p->sites, key->data, key->len, *out);
}

static cf_status parse_head(cf_parser *p, cf_task *t, cofuse_forall *d, loops *v) {
  cf_place at;
  d->kind = cf_parse_is(p, "task") ? COFUSE_KIND_TASK : COFUSE_KIND_FORALL;
  cf_parse_next(p);
  CF_TRY(p->tok.kind == CF_TOK_STRING ? cf_parse_string(p, "a name", &d->name)
                                      : cf_parse_word(p, "the name of the task", &d->name));
  d->file = "";
  if (p->tok.kind == CF_TOK_STRING) {
    CF_TRY(cf_parse_place(p, "a file name in quotes", &at));
    d->file = at.text;
    d->line = at.line;
    d->column = at.column;
  }
  for (;;)
    if (cf_parse_accept(p, "opt"))
      d->flags |= COFUSE_TU_OPT;
    else if (cf_parse_accept(p, "fast"))
      d->flags |= COFUSE_TU_FAST;
    else if (cf_parse_accept(p, "call"))
      d->body = NULL;
    else
      break;
  if (cf_parse_accept(p, "for"))
    CF_TRY(parse_loops(p, t, v));
  d->abi = COFUSE_ABI;
  d->ndims = t->ndims;
  return cf_parse_eol(p, "opt, fast, call, for or the end of the line");
}

cf_status cf_parse_task(cf_parser *p) {
  cf_task *t;
  cofuse_forall d = {.body = "", .decls = "", .function = ""};
  loops v = {.n = 0};
  CF_TRY(cf_parse_alloc(p, sizeof *t, &t));
  cf_buf_clear(&p->access);
  cf_buf_clear(&p->descs);
  cf_buf_clear(&p->reds);
  t->seq = p->out.ntasks;
  CF_TRY(parse_head(p, t, &d, &v));
  for (;;) {
    cf_token at = p->tok;
    if (p->tok.kind == CF_TOK_LINE)
      cf_parse_next(p);
    else if (cf_parse_is(p, "R") || cf_parse_is(p, "W") || cf_parse_is(p, "RW")) {
      if (t->nreds)
        return cf_parse_bad(p, &at, "accesses come before reductions");
      CF_TRY(parse_access(p, t, &v));
    } else if (cf_parse_is(p, "reduce"))
      CF_TRY(parse_reduction(p, t, &v));
    else if (at_eol(p) || cf_parse_is(p, "forall") || cf_parse_is(p, "task") || cf_parse_is(p, "store"))
      break;
    else
      return cf_parse_fail(p, "R, W, RW, reduce, store, forall or task");
    if (p->access.len / sizeof(cf_access) > UINT16_MAX - CF_MAX_REDS)
      return cf_parse_bad(p, &at, "a task has at most 65000 accesses");
  }
  d.naccess = (uint16_t)(p->descs.len / sizeof(cofuse_access));
  d.nreds = t->nreds;
  CF_TRY(take_site(p, &d, &t->desc));
  t->naccess = (uint16_t)(p->access.len / sizeof(cf_access));
  CF_TRY(cf_parse_alloc(p, p->access.len, &t->access));
  if (t->naccess)
    memcpy(t->access, p->access.data, p->access.len);
  for (int k = 0; k < d.naccess; k++)
    t->access[k].desc = &t->desc->access[k];
  cf_buf_put(&p->tasks, &t, sizeof t);
  p->out.ntasks++;
  return p->access.failed ? cf_fail(CF_ENOMEM, "out of memory for a window read from text") : CF_OK;
}
