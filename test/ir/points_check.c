// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Every decision of a plan against the points. */
#include "ir/math.h"
#include "points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[512];

__attribute__((format(printf, 1, 2))) static const char *wrong(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(error, sizeof error, fmt, ap);
  va_end(ap);
  return error;
}

static bool meets(const uint64_t *x, const uint64_t *y, uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (x[w] & y[w])
      return true;
  return false;
}

/* ---- groups */

static const char *check_groups(const pt_sets *s, const cf_plan *p) {
  for (uint32_t g = 0; g < p->ngroups; g++)
    for (uint32_t j = p->groups[g].first; j < p->groups[g].first + p->groups[g].ntasks; j++)
      for (uint32_t i = p->groups[g].first; i < j; i++) {
        uint32_t a, b;
        cf_rule r = pt_pair(s, i, j, false, &a, &b);
        if (r != CF_CUT_END)
          return wrong("tasks %u and %u share a group, but between access %u.%u and %u.%u: %s", i, j, i, a, j,
                       b, cf_rule_text(r));
      }
  return NULL;
}

/* ---- boxes, slabs, owners */

static const char *check_boxes(const pt_sets *s) {
  for (uint32_t i = 0; i < s->w->ntasks; i++)
    for (uint32_t j = i; j < s->w->ntasks; j++)
      for (uint32_t a = 0; a < s->w->tasks[i]->naccess; a++)
        for (uint32_t b = 0; b < s->w->tasks[j]->naccess; b++) {
          const cf_access *x = &s->w->tasks[i]->access[a], *y = &s->w->tasks[j]->access[b];
          if (!x->store || x->store != y->store || cf_access_intersects(x, y))
            continue;
          for (int64_t p = 0; p < s->ranks; p++)
            for (int64_t q = 0; q < s->ranks; q++)
              if (meets(pt_set_of(s, i, a, p), pt_set_of(s, j, b, q), s->words[x->store->mark]))
                return wrong("the boxes of %u.%u and %u.%u are said to be disjoint", i, a, j, b);
        }
  return NULL;
}

/* Index in dimension d of the element that holds granule g. */
static int64_t index_of(const cf_store *s, int64_t g, int dim) {
  int64_t e = g * 4 / s->elem_bytes;
  for (int d = s->rank - 1; d > dim; d--)
    e /= s->ext[d];
  return e % s->ext[dim];
}

static bool has(const uint64_t *set, int64_t g) { return set[g / 64] >> (g % 64) & 1; }
static int64_t granules(const cf_store *s) { return ((int64_t)s->bytes + 3) / 4; }

static const char *check_places(const pt_sets *s) {
  for (uint32_t i = 0; i < s->w->ntasks; i++)
    for (uint32_t k = 0; k < s->w->tasks[i]->naccess; k++) {
      const cf_task *t = s->w->tasks[i];
      const cf_access *a = &t->access[k];
      for (int64_t p = 0; a->store && p < s->ranks; p++) {
        const uint64_t *set = pt_set_of(s, i, k, p);
        for (int64_t g = 0; g < granules(a->store); g++) {
          if (!has(set, g))
            continue;
          for (int d = 0; d < a->store->rank; d++) {
            int64_t lo, hi, x = index_of(a->store, g, d);
            cf_access_slab(t, a, d, p, s->ranks, &lo, &hi);
            if (x < lo || x >= hi)
              return wrong("%u.%u on rank %lld of %lld touches %lld of dim %d outside of its slab %lld..%lld",
                           i, k, (long long)p, (long long)s->ranks, (long long)x, d, (long long)lo,
                           (long long)hi);
          }
          const cf_partition *h = &a->store->home;
          if (!(a->priv & CF_WRITE) || t->domain == CF_REPLICATED)
            continue;
          if (h->kind != CF_PART_TILING ||
              cf_partition_owner(h, a->store->ext[h->dim], index_of(a->store, g, h->dim), s->ranks) != p)
            return wrong("%u.%u on rank %lld of %lld writes what another rank owns", i, k, (long long)p,
                         (long long)s->ranks);
        }
      }
    }
  return NULL;
}

/* ---- nests */

/* Which iteration of the parallel loops touched a granule: -1 none, -2 several. */
typedef struct touched {
  const cf_task *t;
  const cf_access *a;
  int64_t *by;
  bool compare, crosses;
} touched;

static void touch(const int64_t *n, void *arg) {
  touched *c = arg;
  int64_t id = 0, e;
  for (int l = 0; l < c->t->ndims; l++)
    id = id * c->t->trip[l] + n[l];
  if (!pt_element(c->a, n, c->t->ndims + c->a->ninner, &e))
    return;
  int64_t at = e * c->a->store->elem_bytes + c->a->field;
  for (int64_t g = at / 4; g * 4 < at + c->a->field_bytes; g++) {
    if (c->compare)
      c->crosses |= c->by[g] != -1 && c->by[g] != id;
    else
      c->by[g] = c->by[g] == -1 || c->by[g] == id ? id : -2;
  }
}

/* Two accesses meet in different iterations. */
static bool crosses(const cf_task *ti, const cf_access *a, const cf_task *tj, const cf_access *b) {
  int64_t by[4096];
  if (a->whole || b->whole)
    return true;
  for (int64_t g = 0; g < granules(a->store) && g < 4096; g++)
    by[g] = -1;
  touched c = {.t = ti, .a = a, .by = by};
  if (!cf_text_is_empty(a))
    pt_iterate(ti, a, -1, 0, 0, touch, &c);
  c = (touched){.t = tj, .a = b, .by = by, .compare = true};
  if (!cf_text_is_empty(b))
    pt_iterate(tj, b, -1, 0, 0, touch, &c);
  return c.crosses;
}

static bool may_conflict(const cf_access *a, const cf_access *b) {
  return a->store && a->store == b->store && ((a->priv | b->priv) & (CF_WRITE | CF_REDUCE)) &&
         !(a->priv & b->priv & CF_REDUCE);
}

/* Both run the same iterations on every rank. */
static bool same_iterations(const cf_task *x, const cf_task *y, int64_t ranks) {
  if (x->ndims != y->ndims || x->domain != y->domain || memcmp(x->trip, y->trip, sizeof x->trip) != 0)
    return false;
  for (int64_t p = 0; p < ranks; p++) {
    int64_t a = 0, b = 0, c = 0, d = 0;
    if (x->domain == CF_GRID) {
      cf_itile_range(&x->itile, p, ranks, &a, &b);
      cf_itile_range(&y->itile, p, ranks, &c, &d);
      if (x->itile.loop != y->itile.loop || ((a < b || c < d) && (a != c || b != d)))
        return false;
    } else if (x->domain == CF_SINGLE) {
      a = cf_partition_owner(&x->itile.home, x->itile.ext, x->itile.row, ranks);
      c = cf_partition_owner(&y->itile.home, y->itile.ext, y->itile.row, ranks);
      if (a != c)
        return false;
    }
  }
  return true;
}

static const char *check_nests(const pt_sets *s, const cf_plan *p, uint32_t *nest_of) {
  uint32_t first = 0;
  for (uint32_t g = 0; g < p->ngroups; g++) {
    for (uint32_t n = 0; n < p->groups[g].nnests; n++)
      for (uint32_t k = 0; k < p->groups[g].nests[n].ntasks; k++)
        nest_of[p->groups[g].nests[n].tasks[k]] = first + n;
    first += p->groups[g].nnests;
  }
  for (uint32_t j = 0; j < s->w->ntasks; j++)
    for (uint32_t i = 0; i < j; i++)
      if (nest_of[i] == nest_of[j] && !same_iterations(s->w->tasks[i], s->w->tasks[j], s->ranks))
        return wrong("tasks %u and %u share a nest, but not their iterations", i, j);
  for (uint32_t j = 0; j < s->w->ntasks; j++)
    for (uint32_t i = 0; i < j; i++)
      for (uint32_t a = 0; a < s->w->tasks[i]->naccess; a++)
        for (uint32_t b = 0; b < s->w->tasks[j]->naccess; b++) {
          const cf_task *ti = s->w->tasks[i], *tj = s->w->tasks[j];
          const cf_access *x = &ti->access[a], *y = &tj->access[b];
          if (!may_conflict(x, y))
            continue;
          bool meet = false;
          for (int64_t q = 0; q < s->ranks; q++)
            meet |= meets(pt_set_of(s, i, a, q), pt_set_of(s, j, b, q), s->words[x->store->mark]);
          if (!meet)
            continue;
          if (nest_of[i] > nest_of[j])
            return wrong("task %u runs after task %u, which depends on it", i, j);
          if (nest_of[i] == nest_of[j] && ((x->priv | y->priv) & CF_REDUCE || crosses(ti, x, tj, y)))
            return wrong("tasks %u and %u share a nest, but %u.%u and %u.%u meet in different iterations", i,
                         j, i, a, j, b);
        }
  return NULL;
}

/* ---- temporaries */

typedef struct twin {
  const cf_task *t;
  const cf_access *read, *write;
  bool differ;
} twin;

static void compare(const int64_t *n, void *arg) {
  twin *c = arg;
  int64_t r = 0, w = 0;
  bool in = pt_element(c->read, n, c->t->ndims, &r);
  c->differ |= in && (!pt_element(c->write, n, c->t->ndims, &w) || r != w);
}

static bool behind_write(const pt_sets *s, const cf_plan *p, uint32_t j, uint32_t b) {
  const cf_access *r = &s->w->tasks[j]->access[b];
  for (uint32_t i = 0; i < j; i++)
    for (uint32_t a = 0; a < s->w->tasks[i]->naccess; a++) {
      const cf_access *w = &s->w->tasks[i]->access[a];
      if (w->store != r->store || !w->must || w->desc->type != r->desc->type || w->field != r->field ||
          w->field_bytes != r->field_bytes || p->locals[i][a] != p->locals[j][b])
        continue;
      twin c = {s->w->tasks[j], r, w, false};
      pt_iterate(s->w->tasks[j], NULL, -1, 0, 0, compare, &c);
      if (!c.differ)
        return true;
    }
  return false;
}

static const char *check_temporaries(const pt_sets *s, const cf_plan *p, const uint32_t *nest_of) {
  for (uint32_t i = 0; i < s->w->ntasks; i++)
    for (uint32_t k = 0; k < s->w->tasks[i]->naccess; k++) {
      const cf_access *a = &s->w->tasks[i]->access[k];
      if (p->locals[i][k] < 0)
        continue;
      uint32_t uses = 0;
      for (uint32_t j = 0; j < s->w->ntasks; j++)
        for (uint32_t m = 0; m < s->w->tasks[j]->naccess; m++) {
          const cf_access *b = &s->w->tasks[j]->access[m];
          if (b->store != a->store)
            continue;
          uses++;
          if (p->locals[j][m] < 0 || nest_of[j] != nest_of[i])
            return wrong("%u.%u is a value, but %u.%u uses its memory", i, k, j, m);
        }
      if (a->store->live || a->store->pending != uses)
        return wrong("%u.%u is a value, but the program can still read its store", i, k);
      if (a->whole || a->ninner || a->priv & CF_REDUCE)
        return wrong("%u.%u is a value, but touches several elements", i, k);
      if (a->priv & CF_READ && !behind_write(s, p, i, k))
        return wrong("%u.%u reads a value that no earlier task must have written", i, k);
    }
  return NULL;
}

/* ---- what is moved */

/* Element x of the tiled dimension is there on rank p before the group's messages. */
static bool valid(const cf_store *s, int64_t x, int64_t p, int64_t ranks) {
  const cf_partition *h = &s->home;
  int64_t ext = s->ext[h->dim], t = cf_ceil_div(h->count, ranks) * h->grain;
  if (s->all_valid || cf_partition_owner(h, ext, x, ranks) == p)
    return true;
  int64_t a = p == 0 ? 0 : p * t + h->origin, b = p == ranks - 1 ? ext : (p + 1) * t + h->origin;
  return x >= a - s->halo_lo && x < b + s->halo_hi;
}

static bool arrives(const cf_needs *n, const cf_store *s, int64_t x) {
  for (uint32_t i = 0; i < n->npieces; i++)
    if (!n->piece[i].send && n->piece[i].store == s && x >= n->piece[i].lo && x < n->piece[i].hi)
      return true;
  for (uint32_t i = 0; i < n->nall; i++)
    if (n->all[i].store == s && x >= n->all[i].lo && x < n->all[i].hi)
      return true;
  return false;
}

static bool written(const pt_sets *s, const cf_group *g, uint32_t before, const cf_store *st, int64_t x,
                    int64_t p) {
  for (uint32_t i = g->first; i < before; i++)
    for (uint32_t k = 0; k < s->w->tasks[i]->naccess; k++) {
      const cf_access *a = &s->w->tasks[i]->access[k];
      if (a->store == st && a->must && has(pt_set_of(s, i, k, p), x))
        return true;
    }
  return false;
}

static const char *check_reads(const pt_sets *s, const cf_plan *p, const cf_group *g, const cf_needs *n,
                               int64_t q) {
  for (uint32_t i = g->first; i < g->first + g->ntasks; i++)
    for (uint32_t k = 0; k < s->w->tasks[i]->naccess; k++) {
      const cf_access *a = &s->w->tasks[i]->access[k];
      if (!a->store || !(a->priv & CF_READ) || a->store->home.kind != CF_PART_TILING || p->locals[i][k] >= 0)
        continue;
      for (int64_t x = 0; x < granules(a->store); x++) {
        int64_t row = index_of(a->store, x, a->store->home.dim);
        if (has(pt_set_of(s, i, k, q), x) && !valid(a->store, row, q, s->ranks) &&
            !arrives(n, a->store, row) && !written(s, g, i, a->store, x, q))
          return wrong("%u.%u on rank %lld of %lld reads row %lld of store %u, which does not arrive", i, k,
                       (long long)q, (long long)s->ranks, (long long)row, a->store->id);
      }
    }
  return NULL;
}

static bool same_piece(const cf_need_piece *a, const cf_need_piece *b) {
  return a->store == b->store && a->lo == b->lo && a->hi == b->hi;
}

/* Message k from a to b is the same on both sides. */
static const char *check_messages(const cf_needs *n, int64_t ranks) {
  for (int64_t a = 0; a < ranks; a++)
    for (int64_t b = 0; b < ranks; b++) {
      uint32_t i = 0, j = 0;
      for (;; i++, j++) {
        while (i < n[a].npieces && !(n[a].piece[i].send && n[a].piece[i].peer == b))
          i++;
        while (j < n[b].npieces && !(!n[b].piece[j].send && n[b].piece[j].peer == a))
          j++;
        if (i == n[a].npieces || j == n[b].npieces)
          break;
        if (!same_piece(&n[a].piece[i], &n[b].piece[j]))
          return wrong("rank %lld sends rank %lld of %lld something else than that expects", (long long)a,
                       (long long)b, (long long)ranks);
      }
      if (i < n[a].npieces || j < n[b].npieces)
        return wrong("rank %lld of %lld %s rank %lld", (long long)a, (long long)ranks,
                     i < n[a].npieces ? "sends what is not expected to"
                                      : "does not send all that is expected to",
                     (long long)b);
    }
  return NULL;
}

static const char *check_moves(const pt_sets *s, const cf_plan *p) {
  for (uint32_t g = 0; g < p->ngroups; g++) {
    cf_needs n[PT_RANKS];
    const char *e = NULL;
    for (int64_t q = 0; q < s->ranks; q++) {
      if (cf_needs_of(p, &p->groups[g], s->w->tasks, q, s->ranks, &n[q]) != CF_OK)
        return wrong("%s", cf_last_error());
      if (!e && s->ranks > 1)
        e = check_reads(s, p, &p->groups[g], &n[q], q);
    }
    if (!e)
      e = check_messages(n, s->ranks);
    cf_needs_arrived(&n[0]);
    cf_needs_written(&p->groups[g], s->w->tasks, s->ranks);
    for (int64_t q = 0; q < s->ranks; q++)
      cf_needs_free(&n[q]);
    if (e)
      return e;
  }
  return NULL;
}

const char *pt_check(const pt_sets *s, const cf_plan *p) {
  uint32_t *nest_of = calloc(s->w->ntasks + 1u, sizeof *nest_of);
  if (!nest_of)
    abort();
  const char *e = check_groups(s, p);
  if (!e)
    e = check_boxes(s);
  if (!e)
    e = check_places(s);
  if (!e)
    e = check_nests(s, p, nest_of);
  if (!e)
    e = check_temporaries(s, p, nest_of);
  if (!e)
    e = check_moves(s, p);
  free(nest_of);
  return e;
}
