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

/* Which point of the nest touched a granule: -1 none, -2 several. */
typedef struct touched {
  const cf_task *t;
  const cf_access *a;
  const int64_t *at; /* iteration of the task at point 0 of the nest */
  int64_t *by;
  bool compare, crosses;
} touched;

static void touch(const int64_t *n, void *arg) {
  touched *c = arg;
  int64_t id = 0, e;
  for (int l = 0; l < c->t->ndims; l++)
    id = id * 4096 + n[l] - c->at[l] + 2048;
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

/* Two accesses meet in different points. */
static bool crosses(const cf_task *ti, const cf_access *a, const int64_t *ai, const cf_task *tj,
                    const cf_access *b, const int64_t *aj) {
  int64_t by[4096];
  if (a->whole || b->whole)
    return true;
  for (int64_t g = 0; g < granules(a->store) && g < 4096; g++)
    by[g] = -1;
  touched c = {.t = ti, .a = a, .at = ai, .by = by};
  if (!cf_text_is_empty(a))
    pt_iterate(ti, a, -1, 0, 0, touch, &c);
  c = (touched){.t = tj, .a = b, .at = aj, .by = by, .compare = true};
  if (!cf_text_is_empty(b))
    pt_iterate(tj, b, -1, 0, 0, touch, &c);
  return c.crosses;
}

static bool may_conflict(const cf_access *a, const cf_access *b) {
  return a->store && a->store == b->store && ((a->priv | b->priv) & (CF_WRITE | CF_REDUCE)) &&
         !(a->priv & b->priv & CF_REDUCE);
}

/* What rank p runs of a task, in its own iterations. */
static void own_range(const cf_task *t, int64_t p, int64_t ranks, int64_t *lo, int64_t *hi) {
  for (int d = 0; d < t->ndims; d++) {
    lo[d] = 0;
    hi[d] = t->trip[d];
  }
  if (t->domain == CF_GRID)
    cf_itile_range(&t->itile, p, ranks, &lo[t->itile.loop], &hi[t->itile.loop]);
  bool idle =
      t->domain == CF_SINGLE && cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, ranks) != p;
  for (int d = 0; d < t->ndims; d++)
    idle |= lo[d] >= hi[d];
  for (int d = 0; d < t->ndims && idle; d++)
    lo[d] = hi[d] = 0;
}

static const int64_t origin[CF_DIMS];

static const int64_t *at_of(const cf_nest *n, uint32_t i) { return n->at ? n->at[i] : origin; }

/* How often the nest and task i's edges run point n. */
static int times_run(const cf_nest *n, uint32_t i, cf_task *const *tasks, int64_t p, int64_t ranks,
                     const int64_t *point) {
  int nd = tasks[n->tasks[i]]->ndims, times = 0;
  int64_t clo[CF_DIMS] = {0}, chi[CF_DIMS] = {0}, lo[CF_DIMS] = {0}, hi[CF_DIMS] = {0}, a[CF_DIMS],
          b[CF_DIMS];
  bool any = cf_nest_range(n, 0, n->ntasks, tasks, p, ranks, clo, chi), in = any;
  for (int d = 0; d < nd; d++)
    in &= point[d] >= clo[d] && point[d] < chi[d];
  times += in;
  for (uint32_t e = 0; e < n->nedges; e++) {
    if (i < n->edges[e].first || i >= n->edges[e].first + n->edges[e].ntasks ||
        !cf_nest_range(n, n->edges[e].first, n->edges[e].ntasks, tasks, p, ranks, lo, hi))
      continue;
    for (int k = 0; cf_nest_strip(nd, lo, hi, any ? clo : origin, any ? chi : origin, k, a, b); k++) {
      in = true;
      for (int d = 0; d < nd; d++)
        in &= point[d] >= a[d] && point[d] < b[d];
      times += in;
    }
  }
  return times;
}

/* Every rank runs each point of each task once, and nothing beside. */
static bool runs_all(const cf_nest *n, cf_task *const *tasks, int64_t ranks) {
  for (uint32_t i = 0; i < n->ntasks; i++) {
    const cf_task *t = tasks[n->tasks[i]];
    if (t->ndims == 0 || !t->desc->body)
      continue;
    for (int64_t p = 0; p < ranks; p++) {
      int64_t lo[CF_DIMS], hi[CF_DIMS], m[CF_DIMS] = {0};
      own_range(t, p, ranks, lo, hi);
      for (int d = 0; d < t->ndims; d++)
        m[d] = -2; /* some way around what the task has */
      for (int d = 0; d >= 0;) {
        bool own = true;
        int64_t point[CF_DIMS];
        for (d = 0; d < t->ndims; d++) {
          own &= m[d] >= lo[d] && m[d] < hi[d];
          point[d] = m[d] - at_of(n, i)[d];
        }
        if (times_run(n, i, tasks, p, ranks, point) != own)
          return false;
        for (d = t->ndims - 1; d >= 0 && ++m[d] == t->trip[d] + 2; d--)
          m[d] = -2;
      }
    }
  }
  return true;
}

/* A task's place: the nest, and which of its tasks it is. */
typedef struct place {
  const cf_nest *nest;
  uint32_t nth;
} place;

static const int64_t *place_at(const place *p) { return at_of(p->nest, p->nth); }

static const char *check_nests(const pt_sets *s, const cf_plan *p, uint32_t *nest_of, place *places) {
  uint32_t first = 0;
  for (uint32_t g = 0; g < p->ngroups; g++) {
    for (uint32_t n = 0; n < p->groups[g].nnests; n++)
      for (uint32_t k = 0; k < p->groups[g].nests[n].ntasks; k++) {
        nest_of[p->groups[g].nests[n].tasks[k]] = first + n;
        places[p->groups[g].nests[n].tasks[k]] = (place){&p->groups[g].nests[n], k};
      }
    first += p->groups[g].nnests;
  }
  for (uint32_t g = 0; g < p->ngroups; g++)
    for (uint32_t n = 0; n < p->groups[g].nnests; n++)
      if (!runs_all(&p->groups[g].nests[n], s->w->tasks, s->ranks))
        return wrong("nest %u of group %u does not run what its tasks have to", n, g);
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
          if (nest_of[i] == nest_of[j] && ((x->priv | y->priv) & CF_REDUCE ||
                                           crosses(ti, x, place_at(&places[i]), tj, y, place_at(&places[j]))))
            return wrong("tasks %u and %u share a nest, but %u.%u and %u.%u meet in different iterations", i,
                         j, i, a, j, b);
        }
  return NULL;
}

/* ---- temporaries */

typedef struct twin {
  const cf_task *t, *from;
  const place *here, *there; /* of t, which reads, and of from, which writes */
  cf_task *const *tasks;
  const cf_access *read, *write;
  bool differ;
} twin;

/* The edge of a task that the point is on: the function that runs it there. NULL: all tasks of the nest do.
 */
static const cf_edge *edge_at(const place *p, cf_task *const *tasks, const int64_t *point) {
  bool common = true;
  for (uint32_t i = 0; i < p->nest->ntasks; i++)
    for (int d = 0; d < tasks[p->nest->tasks[i]]->ndims; d++) {
      int64_t n = point[d] + at_of(p->nest, i)[d];
      common &= n >= 0 && n < tasks[p->nest->tasks[i]]->trip[d];
    }
  for (uint32_t e = 0; e < p->nest->nedges && !common; e++)
    if (p->nth >= p->nest->edges[e].first && p->nth < p->nest->edges[e].first + p->nest->edges[e].ntasks)
      return &p->nest->edges[e];
  return NULL;
}

static void compare(const int64_t *n, void *arg) {
  twin *c = arg;
  int64_t r = 0, w = 0, point[CF_DIMS], m[CF_LOOPS] = {0};
  if (!pt_element(c->read, n, c->t->ndims, &r))
    return;
  for (int d = 0; d < c->t->ndims; d++) {
    point[d] = n[d] - place_at(c->here)[d];
    m[d] = point[d] + place_at(c->there)[d];
    c->differ |= m[d] < 0 || m[d] >= c->from->trip[d];
  }
  c->differ |= edge_at(c->here, c->tasks, point) != edge_at(c->there, c->tasks, point);
  c->differ |= !pt_element(c->write, m, c->from->ndims, &w) || r != w;
}

static bool behind_write(const pt_sets *s, const cf_plan *p, const place *places, uint32_t j, uint32_t b) {
  const cf_access *r = &s->w->tasks[j]->access[b];
  for (uint32_t i = 0; i < j; i++)
    for (uint32_t a = 0; a < s->w->tasks[i]->naccess; a++) {
      const cf_access *w = &s->w->tasks[i]->access[a];
      if (w->store != r->store || !w->must || w->desc->type != r->desc->type || w->field != r->field ||
          w->field_bytes != r->field_bytes || p->locals[i][a] != p->locals[j][b])
        continue;
      twin c = {.t = s->w->tasks[j],
                .from = s->w->tasks[i],
                .here = &places[j],
                .there = &places[i],
                .tasks = s->w->tasks,
                .read = r,
                .write = w};
      pt_iterate(s->w->tasks[j], NULL, -1, 0, 0, compare, &c);
      if (!c.differ)
        return true;
    }
  return false;
}

static const char *check_temporaries(const pt_sets *s, const cf_plan *p, const uint32_t *nest_of,
                                     const place *places) {
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
      if (a->priv & CF_READ && !behind_write(s, p, places, i, k))
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
  place *places = calloc(s->w->ntasks + 1u, sizeof *places);
  if (!nest_of || !places)
    abort();
  const char *e = check_groups(s, p);
  if (!e)
    e = check_boxes(s);
  if (!e)
    e = check_places(s);
  if (!e)
    e = check_nests(s, p, nest_of, places);
  if (!e)
    e = check_temporaries(s, p, nest_of, places);
  if (!e)
    e = check_moves(s, p);
  free(nest_of);
  free(places);
  return e;
}
