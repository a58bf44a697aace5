// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* COFUSE_VERIFY: every group of several tasks is run a second time task by task, from the same data, and the
 * two results are compared bit by bit.
 *
 * Both runs see the same homes, so the same elements live here; what the group may write on this rank is
 * saved before the first run and put back before the second. The plan of the second run is analysed afresh:
 * it shares neither the memo nor the grouping with the first. Every rank takes both runs, so their messages
 * match. */
#include "exec/exec.h"
#include "exec/instance.h"
#include "ir/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs of bytes */

cf_slab cf_slab_of(const cf_store *s, int dim, int64_t lo, int64_t hi) {
  if (dim < 0)
    return (cf_slab){1, s->bytes, s->bytes, 0};
  size_t row = s->elem_bytes, outer = 1;
  for (int d = 0; d < dim; d++)
    outer *= (size_t)s->ext[d];
  for (int d = dim + 1; d < s->rank; d++)
    row *= (size_t)s->ext[d];
  if (lo >= hi)
    return (cf_slab){0, 0, 0, 0};
  return (cf_slab){outer, row * (size_t)(hi - lo), row * (size_t)s->ext[dim], row * (size_t)lo};
}

cf_slab cf_slab_own(const cf_exec *x, const cf_store *s) {
  if (s->home.kind != CF_PART_TILING || x->comm->size == 1)
    return cf_slab_of(s, -1, 0, 0);
  int64_t lo, hi;
  cf_partition_home_tile(&s->home, s->ext[s->home.dim], x->comm->rank, x->comm->size, &lo, &hi);
  return cf_slab_of(s, s->home.dim, lo, hi);
}

/* ---- words for messages */

void cf_element_print(const cf_store *s, int64_t element, cf_buf *out) {
  int64_t at[CF_RANK];
  for (int d = s->rank - 1; d >= 0; d--) {
    at[d] = element % s->ext[d];
    element /= s->ext[d];
  }
  for (int d = 0; d < s->rank; d++)
    cf_buf_printf(out, "[%lld]", (long long)at[d]);
}

/* The element lies in the box of the access. */
static bool in_box(const cf_access *a, int64_t element) {
  const cf_store *s = a->store;
  for (int d = s->rank - 1; d >= 0; d--) {
    int64_t i = element % s->ext[d];
    element /= s->ext[d];
    if (i < a->lo[d] || i >= a->hi[d] || (a->step[d] > 1 && cf_mod(i - a->phase[d], a->step[d])))
      return false;
  }
  return true;
}

bool cf_verify_writer(cf_task *const *tasks, uint32_t n, const cf_store *s, int64_t element,
                      const cf_task **task, const cf_access **access) {
  for (uint32_t i = n; i-- > 0;)
    for (uint32_t k = tasks[i]->naccess; k-- > 0;) {
      const cf_access *a = &tasks[i]->access[k];
      if (a->store != s || !(a->priv & (CF_WRITE | CF_REDUCE)) || !in_box(a, element))
        continue;
      *task = tasks[i];
      *access = a;
      return true;
    }
  return false;
}

static void print_value(int type, const void *p, size_t bytes, cf_buf *out) {
  double d[2];
  float f[2];
  switch (type) {
  case COFUSE_F64:
    memcpy(d, p, 8);
    cf_buf_printf(out, "%.17g", d[0]);
    return;
  case COFUSE_F32:
    memcpy(f, p, 4);
    cf_buf_printf(out, "%.9g", (double)f[0]);
    return;
  case COFUSE_C64:
    memcpy(d, p, 16);
    cf_buf_printf(out, "%.17g%+.17gi", d[0], d[1]);
    return;
  case COFUSE_C32:
    memcpy(f, p, 8);
    cf_buf_printf(out, "%.9g%+.9gi", (double)f[0], (double)f[1]);
    return;
  default:
    break;
  }
  if (type != COFUSE_OPAQUE && bytes <= 8) {
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    int up = 64 - 8 * (int)bytes;
    bool is_signed = type == COFUSE_I8 || type == COFUSE_I16 || type == COFUSE_I32 || type == COFUSE_I64;
    if (is_signed)
      cf_buf_printf(out, "%lld", (long long)((int64_t)(v << up) >> up));
    else
      cf_buf_printf(out, "%llu", (unsigned long long)v);
    return;
  }
  cf_buf_str(out, "0x");
  for (size_t i = 0; i < bytes && i < 32; i++)
    cf_buf_printf(out, "%02x", ((const unsigned char *)p)[i]);
}

static bool both_nan(int type, const char *a, const char *b) {
  if (type == COFUSE_F64) {
    double x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return isnan(x) && isnan(y);
  }
  float x, y;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  return isnan(x) && isnan(y);
}

/* Equal bits, or a NaN in the place of another NaN. */
static bool same_value(int type, const char *a, const char *b, size_t bytes) {
  if (memcmp(a, b, bytes) == 0)
    return true;
  int part = type == COFUSE_C64 ? COFUSE_F64 : type == COFUSE_C32 ? COFUSE_F32 : type;
  if (part != COFUSE_F64 && part != COFUSE_F32)
    return false;
  size_t w = cf_type_bytes(part);
  for (size_t i = 0; i < bytes; i += w)
    if (memcmp(a + i, b + i, w) != 0 && !both_nan(part, a + i, b + i))
      return false;
  return true;
}

/* ---- what is saved */

typedef struct saved {
  cf_store *store;
  bool written, demoted, all_valid;
  int64_t halo_lo, halo_hi;
  uint32_t misses;
  cf_slab slab;
  char *before, *fused;
} saved;

typedef struct verify {
  cf_exec *x;
  const cf_group *g;
  cf_task *const *tasks;
  saved *v;
  uint32_t n, nreds;
  char *(*reds)[2]; /* targets of reductions: before, fused */
} verify;

static void slab_copy(const saved *s, char *packed, bool restore) {
  char *at = s->store->base + s->slab.first;
  for (size_t r = 0; r < s->slab.runs; r++, at += s->slab.pitch, packed += s->slab.run_bytes) {
    if (restore)
      memcpy(at, packed, s->slab.run_bytes);
    else
      memcpy(packed, at, s->slab.run_bytes);
  }
}

static saved *entry_of(verify *c, cf_store *s) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->v[i].store == s)
      return &c->v[i];
  saved *e = &c->v[c->n++];
  *e = (saved){s, false, false, s->all_valid, s->halo_lo, s->halo_hi, s->misses, {0}, NULL, NULL};
  return e;
}

/* Every store of the group, and of those that it writes the part that may change here: the own tile, or, with
 * a task that runs on every rank, also the rows of its box. */
static cf_status collect(verify *c, const cf_plan *p) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < c->g->ntasks; i++) {
    total += c->tasks[i]->naccess;
    c->nreds += c->tasks[i]->nreds;
  }
  c->v = calloc(total + 1, sizeof *c->v);
  c->reds = calloc(c->nreds + 1, sizeof *c->reds);
  if (!c->v || !c->reds)
    return CF_ENOMEM;
  uint32_t target = 0;
  for (uint32_t i = 0; i < c->g->ntasks; i++)
    for (int r = 0; r < c->tasks[i]->nreds; r++, target++)
      for (int k = 0; k < 2; k++)
        if (!(c->reds[target][k] = malloc(cf_target_bytes(c->tasks[i], r))))
          return CF_ENOMEM;
  for (uint32_t i = 0; i < c->g->ntasks; i++)
    for (uint32_t k = 0; k < c->tasks[i]->naccess; k++) {
      const cf_access *a = &c->tasks[i]->access[k];
      if (!a->store)
        continue;
      saved *e = entry_of(c, a->store);
      e->written |= (a->priv & (CF_WRITE | CF_REDUCE)) != 0;
      e->demoted |= p->locals[c->g->first + i][k] >= 0;
    }
  for (uint32_t e = 0; e < c->n && c->x->device; e++)
    CF_TRY(cf_instance_home(c->x, c->v[e].store));
  for (uint32_t e = 0; e < c->n; e++) {
    saved *s = &c->v[e];
    if (!s->written || s->demoted)
      continue;
    int dim = -1;
    int64_t lo = 0, hi = 0;
    if (s->store->home.kind == CF_PART_TILING && c->x->comm->size > 1) {
      dim = s->store->home.dim;
      cf_partition_home_tile(&s->store->home, s->store->ext[dim], c->x->comm->rank, c->x->comm->size, &lo,
                             &hi);
      for (uint32_t i = 0; i < c->g->ntasks; i++)
        for (uint32_t k = 0; k < c->tasks[i]->naccess; k++) {
          const cf_access *a = &c->tasks[i]->access[k];
          if (a->store != s->store || c->tasks[i]->domain != CF_REPLICATED || !(a->priv & CF_WRITE))
            continue;
          bool none = lo >= hi;
          lo = none ? a->lo[dim] : cf_min(lo, a->lo[dim]);
          hi = none ? a->hi[dim] : cf_max(hi, a->hi[dim]);
        }
    }
    s->slab = cf_slab_of(s->store, dim, lo, hi);
    size_t bytes = s->slab.runs * s->slab.run_bytes;
    s->before = malloc(bytes + 1);
    s->fused = malloc(bytes + 1);
    if (!s->before || !s->fused)
      return CF_ENOMEM;
    slab_copy(s, s->before, false);
  }
  return CF_OK;
}

static void targets_copy(const verify *c, int which, bool restore) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->g->ntasks; i++)
    for (int r = 0; r < c->tasks[i]->nreds; r++, at++) {
      size_t w = cf_target_bytes(c->tasks[i], r);
      if (restore)
        memcpy(c->tasks[i]->targets[r], c->reds[at][which], w);
      else
        memcpy(c->reds[at][which], c->tasks[i]->targets[r], w);
    }
}

/* Both runs begin, and are looked at, in the host's memory. */
static cf_status come_home(const verify *c) {
  for (uint32_t i = 0; i < c->n && c->x->device; i++)
    CF_TRY(cf_instance_home(c->x, c->v[i].store));
  return CF_OK;
}

/* ---- comparison */

static cf_status differ(const verify *c, const cf_store *s, int64_t element, const cf_task *t,
                        const cf_access *a, int type, const char *fused, const char *alone, size_t bytes) {
  cf_buf b = {0};
  cf_buf_printf(&b, "COFUSE_VERIFY: %s:%u: store(%s) of %s:%u: ", t ? t->desc->file : s->file,
                t ? (a->desc ? a->desc->line : t->desc->line) : s->line, s->text, s->file, s->line);
  if (s->rank)
    cf_buf_str(&b, "element ");
  cf_element_print(s, element, &b);
  cf_buf_str(&b, s->rank ? " is " : "it is ");
  print_value(type, fused, bytes, &b);
  cf_buf_printf(&b, " after %u fused tasks, but ", c->g->ntasks);
  print_value(type, alone, bytes, &b);
  cf_buf_str(&b, " after the same tasks one by one");
  if (t)
    cf_buf_printf(&b, "; task %s (%s:%u) wrote it last", t->desc->name, t->desc->file, t->desc->line);
  cf_buf_str(&b, "; this is a fault of cofuse: please report it, and run with COFUSE_WINDOW=1 meanwhile");
  cf_status st = cf_fail(CF_EINTERNAL, "%s", b.failed ? "COFUSE_VERIFY: results differ" : b.data);
  cf_buf_free(&b);
  return st;
}

/* One element of which some byte differs. */
static cf_status compare_element(const verify *c, const saved *e, int64_t element, const char *fused,
                                 const char *alone) {
  const cf_store *s = e->store;
  const cf_task *t = NULL;
  const cf_access *a = NULL;
  cf_verify_writer(c->tasks, c->g->ntasks, s, element, &t, &a);
  if (s->type != COFUSE_OPAQUE) {
    if (same_value(s->type, fused, alone, s->elem_bytes))
      return CF_OK;
    return differ(c, s, element, t, a, s->type, fused, alone, s->elem_bytes);
  }
  /* A struct: NaNs are known by the accesses to its members. */
  for (uint32_t at = 0; at < s->elem_bytes; at++) {
    if (fused[at] == alone[at])
      continue;
    int type = COFUSE_OPAQUE;
    uint32_t from = at, bytes = 1;
    for (uint32_t i = 0; i < c->g->ntasks; i++)
      for (uint32_t k = 0; k < c->tasks[i]->naccess; k++) {
        const cf_access *m = &c->tasks[i]->access[k];
        if (m->store == s && m->desc && m->priv & CF_WRITE && m->field <= at &&
            at < m->field + m->field_bytes && in_box(m, element)) {
          t = c->tasks[i];
          a = m;
          type = m->desc->type;
          from = m->field;
          bytes = m->field_bytes;
        }
      }
    if (!same_value(type, fused + from, alone + from, bytes))
      return differ(c, s, element, t, a, type, fused + from, alone + from, bytes);
    at = from + bytes - 1;
  }
  return CF_OK;
}

/* Elements that are valid here afterwards: the own tile, or everything that was saved. */
static cf_status compare_store(const verify *c, const saved *e) {
  const cf_store *s = e->store;
  cf_slab own = s->all_valid ? e->slab : cf_slab_own(c->x, s);
  size_t w = s->elem_bytes;
  for (size_t r = 0; r < own.runs; r++) {
    size_t at = own.first + r * own.pitch;
    const char *alone = s->base + at;
    const char *fused = e->fused + r * e->slab.run_bytes + (own.first - e->slab.first);
    if (memcmp(alone, fused, own.run_bytes) == 0)
      continue;
    for (size_t b = 0; b < own.run_bytes; b += w)
      if (memcmp(alone + b, fused + b, w) != 0)
        CF_TRY(compare_element(c, e, (int64_t)((at + b) / w), fused + b, alone + b));
  }
  return CF_OK;
}

static cf_status compare(const verify *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->v[i].fused)
      CF_TRY(compare_store(c, &c->v[i]));
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->g->ntasks; i++)
    for (int r = 0; r < c->tasks[i]->nreds; r++, at++) {
      const cofuse_forall *d = c->tasks[i]->desc;
      int type = d->reds[r].type;
      size_t w = cf_type_bytes(type), n = cf_target_bytes(c->tasks[i], r) / w;
      const char *alone = c->tasks[i]->targets[r], *fused = c->reds[at][1];
      while (n && same_value(type, fused, alone, w)) {
        n--;
        fused += w;
        alone += w;
      }
      if (!n)
        continue;
      cf_buf b = {0};
      print_value(type, fused, w, &b);
      cf_buf_printf(&b, " after %u fused tasks, but ", c->g->ntasks);
      print_value(type, alone, w, &b);
      cf_status st = cf_fail(CF_EINTERNAL,
                             "COFUSE_VERIFY: %s:%u: reduction into %s is %s after the same tasks one by one; "
                             "this is a fault of cofuse: please report it, and run with COFUSE_WINDOW=1 "
                             "meanwhile",
                             d->file, d->reds[r].line, d->reds[r].text, b.failed ? "different" : b.data);
      cf_buf_free(&b);
      return st;
    }
  return CF_OK;
}

static cf_status run_alone(verify *c, cf_verify_each each) {
  cf_plan *p = NULL;
  CF_TRY(cf_analyse(c->tasks, c->g->ntasks, c->x->comm->size, false, &p));
  cf_exec_stats keep = c->x->stats; /* counters tell what the program did */
  cf_status st = CF_OK;
  for (uint32_t i = 0; i < p->ngroups && st == CF_OK; i++) {
    cf_plan_apply(p, c->tasks, p->groups[i].first, p->groups[i].ntasks);
    st = cf_exec_group(c->x, p, &p->groups[i], c->tasks);
    if (st == CF_OK && each)
      st = each(p, &p->groups[i], c->tasks);
  }
  c->x->stats = keep;
  for (uint32_t i = 0; i < p->ngroups; i++)
    cf_exec_drop_bound(p->groups[i].exec);
  cf_plan_free(p);
  return st;
}

cf_status cf_verify_group(cf_exec *x, cf_plan *p, cf_group *g, cf_task *const *window, cf_verify_each each) {
  verify c = {.x = x, .g = g, .tasks = window + g->first};
  cf_status st = collect(&c, p);
  if (st == CF_OK) {
    targets_copy(&c, 0, false);
    st = cf_exec_group(x, p, g, window);
  }
  if (st == CF_OK)
    st = come_home(&c);
  if (st == CF_OK) {
    targets_copy(&c, 1, false);
    for (uint32_t i = 0; i < c.n; i++) {
      saved *s = &c.v[i];
      if (s->fused) {
        slab_copy(s, s->fused, false);
        slab_copy(s, s->before, true);
      }
      s->store->all_valid = s->all_valid;
      s->store->halo_lo = s->halo_lo;
      s->store->halo_hi = s->halo_hi;
      s->store->misses = s->misses;
    }
    targets_copy(&c, 0, true);
    st = run_alone(&c, each);
  }
  if (st == CF_OK)
    st = come_home(&c);
  if (st == CF_OK)
    st = compare(&c);
  if (st == CF_OK)
    x->stats.verified++;
  for (uint32_t i = 0; i < c.n; i++) {
    free(c.v[i].before);
    free(c.v[i].fused);
  }
  free(c.v);
  for (uint32_t i = 0; c.reds && i < c.nreds; i++) {
    free(c.reds[i][0]);
    free(c.reds[i][1]);
  }
  free(c.reds);
  return st == CF_ENOMEM ? cf_fail(st, "out of memory for COFUSE_VERIFY: it needs what a group writes twice")
                         : st;
}

cf_status cf_verify_inject(cf_exec *x, const cf_plan *p, const cf_group *g, cf_task *const *window) {
  if (x->comm->rank != x->comm->size - 1)
    return CF_OK;
  const cf_access *w = NULL;
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < window[i]->naccess; k++) {
      const cf_access *a = &window[i]->access[k];
      if (a->store && a->priv & CF_WRITE && p->locals[i][k] < 0 && (!w || a->store->bytes > w->store->bytes))
        w = a;
    }
  if (!w)
    return CF_OK;
  CF_TRY(cf_instance_home(x, w->store));
  cf_slab own = cf_slab_own(x, w->store);
  for (size_t r = 0; r < own.runs; r++)
    for (size_t b = 0; b < own.run_bytes; b += w->store->elem_bytes) {
      size_t at = own.first + r * own.pitch + b;
      if (in_box(w, (int64_t)(at / w->store->elem_bytes))) {
        w->store->base[at + w->field] ^= 1; /* the last bit of its value */
        return CF_OK;
      }
    }
  return CF_OK;
}
