// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Windows as text. Every line says what a reader wants to know first; what follows from it is left out, and
 * what does not is added behind. */
#include "ir/text.h"
#include "ir/math.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cf_type_words[COFUSE_TYPE_COUNT] = {"i8",  "u8",   "i16", "u16", "i32",    "u32", "i64",
                                                      "u64", "bool", "f32", "f64", "opaque", "c32", "c64"};
const uint8_t cf_type_sizes[COFUSE_TYPE_COUNT] = {
#define COFUSE_TYPE(name, bytes, mlir, is_signed, is_float) bytes,
#include "cofuse/descriptor.def"
#undef COFUSE_TYPE
};
const char *const cf_redop_words[CF_REDOPS] = {"add", "mul", "and", "or",   "xor", "land",
                                               "lor", "min", "max", "fmin", "fmax"};

static const char parallel_names[] = "ijklmn", inner_names[] = "pqrs";

/* ---- names */

static bool is_word(const char *s) {
  if (!s || !(isalpha((unsigned char)*s) || *s == '_'))
    return false;
  while (isalnum((unsigned char)*s) || *s == '_')
    s++;
  return !*s;
}

static const char *spell(cf_names *n, const cf_store *s, bool with_id) {
  const char *t = s->text ? s->text : "store";
  size_t len = strcspn(t, "["); /* sections make no good names */
  char *name = cf_arena_alloc(&n->arena, len + 32);
  if (!name)
    return NULL;
  size_t k = 0;
  for (size_t i = 0; i < len; i++)
    if (isalnum((unsigned char)t[i]) || t[i] == '_')
      name[k++] = t[i];
    else if (k && name[k - 1] != '_' && i + 1 < len)
      name[k++] = '_';
  name[k] = 0;
  bool keyword = !strcmp(name, "whole") || !strcmp(name, "empty") || !strcmp(name, "captured");
  if (!is_word(name)) {
    memmove(name + 1, name, k + 1);
    name[0] = 's';
    k++;
  }
  if (with_id || keyword)
    sprintf(name + k, "_%u", s->id);
  return name;
}

void cf_names_free(cf_names *n) {
  cf_map_free(&n->by_store);
  cf_arena_free(&n->arena);
  free(n->stores);
  *n = (cf_names){0};
}

const char *cf_names_of(const cf_names *n, const cf_store *s) {
  const char *name = cf_map_get(&n->by_store, &s, sizeof s);
  return name ? name : "?";
}

static cf_status name_stores(cf_names *n) {
  cf_map taken = {0}; /* name -> store, or the map itself if several would have it */
  cf_status st = CF_OK;
  for (int round = 0; round < 2 && st == CF_OK; round++)
    for (uint32_t i = 0; i < n->nstores && st == CF_OK; i++) {
      cf_store *s = n->stores[i];
      const char *plain = spell(n, s, false);
      if (!plain) {
        st = CF_ENOMEM;
        break;
      }
      void *who = cf_map_get(&taken, plain, strlen(plain));
      if (round == 0) {
        st = cf_map_put(&taken, plain, strlen(plain), who && who != s ? (void *)&taken : (void *)s);
        continue;
      }
      const char *name = plain;
      if (who != s && !(name = spell(n, s, true)))
        st = CF_ENOMEM;
      while (st == CF_OK && who != s && cf_map_get(&taken, name, strlen(name))) {
        char *longer = cf_arena_alloc(&n->arena, strlen(name) + 2);
        if (!longer) {
          st = CF_ENOMEM;
          break;
        }
        strcat(strcpy(longer, name), "_");
        name = longer;
      }
      if (st == CF_OK)
        st = cf_map_put(&taken, name, strlen(name), s);
      if (st == CF_OK)
        st = cf_map_put(&n->by_store, &s, sizeof s, (void *)(uintptr_t)name);
    }
  cf_map_free(&taken);
  return st;
}

cf_status cf_names_make(cf_task *const *tasks, uint32_t n, cf_names *out) {
  cf_names v = {0};
  uint32_t total = 0;
  for (uint32_t i = 0; i < n; i++)
    total += tasks[i]->naccess;
  v.stores = calloc(total + 1, sizeof *v.stores);
  cf_status st = v.stores ? CF_OK : CF_ENOMEM;
  cf_map seen = {0};
  for (uint32_t i = 0; i < n && st == CF_OK; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess && st == CF_OK; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (!s || cf_map_get(&seen, &s, sizeof s))
        continue;
      v.stores[v.nstores++] = s;
      st = cf_map_put(&seen, &s, sizeof s, s);
    }
  cf_map_free(&seen);
  if (st == CF_OK)
    st = name_stores(&v);
  if (st != CF_OK) {
    cf_names_free(&v);
    return cf_fail(st, "out of memory for the text of a window");
  }
  *out = v;
  return CF_OK;
}

/* ---- pieces */

static void put_quoted(cf_buf *b, const char *s) {
  cf_buf_str(b, "\"");
  for (; s && *s; s++) {
    if (*s == '"' || *s == '\\')
      cf_buf_put(b, "\\", 1);
    if ((unsigned char)*s < ' ')
      cf_buf_printf(b, "\\x%02x", *s);
    else
      cf_buf_put(b, s, 1);
  }
  cf_buf_str(b, "\"");
}

static void put_place(cf_buf *b, const char *text, uint32_t line, uint32_t column) {
  put_quoted(b, text);
  cf_buf_printf(b, ":%u", line);
  if (column)
    cf_buf_printf(b, ":%u", column);
}

static void put_home(cf_buf *b, const cf_partition *h) {
  if (h->kind == CF_PART_NONE) {
    cf_buf_str(b, " home none");
  } else if (h->kind == CF_PART_TILING) {
    cf_buf_printf(b, " home tiling(dim %d, %lld x %lld @ %lld)", h->dim, (long long)h->count,
                  (long long)h->grain, (long long)h->origin);
  }
}

bool cf_text_implied(const cf_access *a, bool empty, uint8_t ndims, const int64_t *trip, cf_implied *out) {
  *out = (cf_implied){0};
  const cf_store *s = a->store;
  if (!s)
    return true;
  if (a->whole || empty) {
    for (int d = 0; d < s->rank; d++) {
      out->hi[d] = a->whole ? s->ext[d] : 0;
      out->step[d] = 1;
    }
    return true;
  }
  enum { MOST = 58 };
  __int128 at = a->field, limit = (__int128)1 << MOST, es = s->elem_bytes;
  int nl = ndims + a->ninner;
  __int128 stride[CF_LOOPS] = {0};
  for (int d = s->rank - 1; d >= 0; d--) {
    __int128 lo = a->map.off[d], hi = lo;
    int64_t g = 0;
    at += lo * es;
    for (int l = 0; l < nl; l++) {
      int64_t t = l < ndims ? trip[l] : a->itrip[l - ndims], c = a->map.coef[d][l];
      if (c == 0 || t <= 1)
        continue;
      g = cf_gcd(g, c);
      __int128 x = (__int128)c * a->cut[l][0], y = (__int128)c * (t - 1 - a->cut[l][1]);
      lo += x < y ? x : y;
      hi += x < y ? y : x;
      stride[l] += c * es;
    }
    if (lo < -limit || hi > limit)
      return false;
    out->lo[d] = (int64_t)lo;
    out->hi[d] = (int64_t)hi + 1;
    out->step[d] = a->wrap ? 1 : g;
    out->phase[d] = g && !a->wrap ? cf_mod(a->map.off[d], g) : 0;
    es *= s->ext[d];
  }
  if (at < -limit || at > limit)
    return false;
  out->at = (int64_t)at;
  for (int l = 0; l < nl; l++) {
    if (stride[l] < -limit || stride[l] > limit)
      return false;
    out->bstride[l] = (int64_t)stride[l];
  }
  return true;
}

/* 2*i-p+1 */
static void put_index(cf_buf *b, const cf_access *a, int d, uint8_t ndims) {
  bool any = false;
  for (int l = 0; l < ndims + a->ninner; l++) {
    int64_t c = a->map.coef[d][l];
    if (c == 0)
      continue;
    cf_buf_str(b, c < 0 ? "-" : any ? "+" : "");
    if (c != 1 && c != -1)
      cf_buf_printf(b, "%lld*", (long long)cf_abs(c));
    cf_buf_printf(b, "%c", l < ndims ? parallel_names[l] : inner_names[l - ndims]);
    any = true;
  }
  if (!any)
    cf_buf_printf(b, "%lld", (long long)a->map.off[d]);
  else if (a->map.off[d])
    cf_buf_printf(b, "%+lld", (long long)a->map.off[d]);
}

void cf_text_ref(const cf_names *names, const cf_task *t, uint32_t k, cf_buf *b) {
  const cf_access *a = &t->access[k];
  if (!a->store) {
    cf_buf_printf(b, "captured %lld", (long long)a->hi[0]);
    return;
  }
  bool empty = cf_text_is_empty(a);
  if (!(a->priv & CF_REDUCE) && (a->whole || empty))
    cf_buf_str(b, empty ? "empty " : "whole ");
  cf_buf_str(b, cf_names_of(names, a->store));
  if (a->whole || empty)
    return;
  for (int d = 0; d < a->store->rank; d++) {
    cf_buf_str(b, "[");
    put_index(b, a, d, t->ndims);
    cf_buf_str(b, "]");
  }
}

/* What an access declares on top of its map. */
static void put_desc(cf_buf *b, const cf_access *a) {
  static const char *flag[] = {" cond", " indirect", " unbounded", " object", " ranged"};
  const cofuse_access *d = a->desc;
  bool plain = a->store && a->store->type == d->type;
  if (!plain)
    cf_buf_printf(b, " type %s", cf_type_words[d->type]);
  for (int f = 0; f < 5; f++)
    if (d->flags >> f & 1)
      cf_buf_str(b, flag[f]);
  int mode = (a->priv & CF_READ ? COFUSE_R : 0) | (a->priv & CF_WRITE ? COFUSE_W : 0);
  if (mode != d->mode)
    cf_buf_printf(b, " mode %d", d->mode);
}

static void put_rest(cf_buf *b, const cf_task *t, const cf_access *a) {
  cf_implied w;
  int nl = t->ndims + a->ninner;
  bool known = cf_text_implied(a, cf_text_is_empty(a), t->ndims, t->trip, &w);
  if (a->ninner)
    for (int l = 0; l < a->ninner; l++)
      cf_buf_printf(b, "%s%c < %lld", l ? ", " : " for ", inner_names[l], (long long)a->itrip[l]);
  if (a->store && (a->field || a->field_bytes != a->store->elem_bytes))
    cf_buf_printf(b, " bytes %u..%u", a->field, a->field + a->field_bytes);
  if (a->desc)
    put_desc(b, a);
  bool cut = false;
  for (int l = 0; l < nl; l++)
    cut |= a->cut[l][0] || a->cut[l][1];
  for (int l = 0; l < nl && cut; l++)
    cf_buf_printf(b, "%s%lld + %lld", l ? ", " : " cut ", (long long)a->cut[l][0], (long long)a->cut[l][1]);
  if (a->wrap)
    cf_buf_printf(b, " wrap %lld, %lld", (long long)a->carry[0], (long long)a->carry[1]);
  int rank = a->store ? a->store->rank : 0;
  if (!known || memcmp(w.lo, a->lo, (size_t)rank * sizeof *w.lo) != 0 ||
      memcmp(w.hi, a->hi, (size_t)rank * sizeof *w.hi) != 0) {
    cf_buf_str(b, " box ");
    for (int d = 0; d < rank; d++)
      cf_buf_printf(b, "[%lld:%lld]", (long long)a->lo[d], (long long)a->hi[d]);
  }
  if (!known || w.at != a->at)
    cf_buf_printf(b, " at %lld", (long long)a->at);
  if (!known || memcmp(w.bstride, a->bstride, (size_t)nl * sizeof *w.bstride) != 0)
    for (int l = 0; l < nl; l++)
      cf_buf_printf(b, "%s%lld", l ? ", " : " strides ", (long long)a->bstride[l]);
}

void cf_text_access(const cf_names *names, const cf_task *t, uint32_t k, cf_buf *b) {
  const cf_access *a = &t->access[k];
  static const char *priv[] = {"?", "R", "W", "RW"};
  cf_buf_printf(b, "%s%s ", priv[a->priv & 3], a->must ? "!" : "");
  cf_text_ref(names, t, k, b);
  put_rest(b, t, a);
  if (a->desc && a->desc->text) {
    cf_buf_str(b, " as ");
    put_place(b, a->desc->text, a->desc->line, a->desc->column);
  }
}

void cf_text_task(const cf_names *names, const cf_task *t, cf_buf *b) {
  const cofuse_forall *d = t->desc;
  cf_buf_str(b, d->kind == COFUSE_KIND_TASK ? "task " : "forall ");
  if (is_word(d->name))
    cf_buf_str(b, d->name);
  else
    put_quoted(b, d->name);
  cf_buf_str(b, " ");
  put_place(b, d->file, d->line, d->column);
  if (d->flags & COFUSE_TU_OPT)
    cf_buf_str(b, " opt");
  if (d->flags & COFUSE_TU_FAST)
    cf_buf_str(b, " fast");
  if (!d->body)
    cf_buf_str(b, " call");
  for (int l = 0; l < t->ndims; l++) {
    cf_buf_printf(b, "%s%c < %lld", l ? ", " : " for ", parallel_names[l], (long long)t->trip[l]);
    if (t->first[l])
      cf_buf_printf(b, " from %lld", (long long)t->first[l]);
    if (t->step[l] != 1)
      cf_buf_printf(b, " step %lld", (long long)t->step[l]);
  }
  cf_buf_str(b, "\n");
  uint32_t k = 0;
  for (; k < t->naccess && !(t->access[k].priv & CF_REDUCE); k++) {
    cf_buf_str(b, "  ");
    cf_text_access(names, t, k, b);
    cf_buf_str(b, "\n");
  }
  for (int r = 0; r < t->nreds; r++) {
    const cofuse_red *red = &d->reds[r];
    cf_buf_printf(b, "  reduce(%s) %s ", cf_redop_words[red->op], cf_type_words[red->type]);
    if (t->deferred[r] && k < t->naccess) {
      cf_buf_str(b, "into ");
      cf_text_ref(names, t, k, b);
      put_rest(b, t, &t->access[k++]);
    } else {
      cf_buf_str(b, "now");
      if (t->red_count[r])
        cf_buf_printf(b, " section %lld", (long long)t->red_count[r]);
    }
    if (red->text) {
      cf_buf_str(b, " as ");
      put_place(b, red->text, red->line, red->column);
    }
    cf_buf_str(b, "\n");
  }
}

static void put_store(const cf_names *names, const cf_store *s, uint32_t uses, uint32_t writes, cf_buf *b) {
  const char *name = cf_names_of(names, s);
  cf_buf_printf(b, "store %s: %s", name, cf_type_words[s->type]);
  if (s->type == COFUSE_OPAQUE)
    cf_buf_printf(b, "(%u)", s->elem_bytes);
  for (int d = 0; d < s->rank; d++)
    cf_buf_printf(b, "[%lld]", (long long)s->ext[d]);
  cf_buf_printf(b, " id %u", s->id);
  put_home(b, &s->home);
  if (!s->live)
    cf_buf_str(b, " released");
  if (s->flags & COFUSE_OBJ_UNDEFINED)
    cf_buf_str(b, " undefined");
  if (s->flags & COFUSE_OBJ_AUTO)
    cf_buf_str(b, " auto");
  if (s->pending != uses)
    cf_buf_printf(b, " pending %u", s->pending);
  if (s->writers != writes)
    cf_buf_printf(b, " writers %u", s->writers);
  if (s->all_valid)
    cf_buf_str(b, " valid all");
  else if (s->halo_lo || s->halo_hi)
    cf_buf_printf(b, " valid %lld, %lld", (long long)s->halo_lo, (long long)s->halo_hi);
  if (s->host_lo || s->host_hi)
    cf_buf_printf(b, " host %lld..%lld", (long long)s->host_lo, (long long)s->host_hi);
  if (s->text && strcmp(s->text, name) != 0) {
    cf_buf_str(b, " text ");
    put_quoted(b, s->text);
  }
  if (s->file) {
    cf_buf_str(b, " from ");
    put_place(b, s->file, s->line, 0);
  }
  cf_buf_str(b, "\n");
}

void cf_text_stores(const cf_names *names, cf_task *const *tasks, uint32_t n, cf_buf *b) {
  cf_buf_str(b, "cofuse-ir 1\n\n");
  for (uint32_t i = 0; i < names->nstores; i++) {
    const cf_store *s = names->stores[i];
    uint32_t uses = 0, writes = 0;
    for (uint32_t j = 0; j < n; j++)
      for (uint32_t k = 0; k < tasks[j]->naccess; k++)
        if (tasks[j]->access[k].store == s) {
          uses++;
          writes += (tasks[j]->access[k].priv & (CF_WRITE | CF_REDUCE)) != 0;
        }
    put_store(names, s, uses, writes, b);
  }
}

cf_status cf_text_window(cf_task *const *tasks, uint32_t n, cf_buf *b) {
  cf_names names;
  CF_TRY(cf_names_make(tasks, n, &names));
  cf_text_stores(&names, tasks, n, b);
  for (uint32_t i = 0; i < n; i++) {
    cf_buf_str(b, "\n");
    cf_text_task(&names, tasks[i], b);
  }
  cf_names_free(&names);
  return b->failed ? cf_fail(CF_ENOMEM, "out of memory for the text of a window") : CF_OK;
}
