// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Memoisation (paper, 5.2): a window seen before, up to renaming of stores, is not analysed again.
 * The key holds everything the analysis reads; the map compares it in full. */
#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

/* In line, since a key is many small parts. */
static inline void put(cf_buf *b, const void *p, size_t n) {
  if (b->cap - b->len < n || !b->data) {
    cf_buf_put(b, p, n);
    return;
  }
  memcpy(b->data + b->len, p, n);
  b->len += n;
}
#define PUT(b, x) put(b, &(x), sizeof(x))

static uint64_t turn; /* of cf_memo_key */

static void put_partition(cf_buf *b, const cf_partition *p) {
  int64_t v[7] = {p->kind | p->dim << 8, p->count, p->grain, p->origin, p->num, p->den, p->off};
  put(b, v, sizeof v);
}

static void put_access(cf_buf *b, const cf_task *t, const cf_access *a, uint32_t *ns) {
  uint32_t head[4] = {UINT32_MAX, (uint32_t)(a->priv | a->redop << 8 | a->must << 16 | a->whole << 17),
                      a->field, a->field_bytes};
  cf_store *s = a->store;
  bool fresh = false;
  if (s) {
    if (s->keyed != turn) {
      s->keyed = turn;
      s->mark = (*ns)++;
      fresh = true;
    }
    head[0] = s->mark;
  }
  put(b, head, sizeof head);
  put(b, a->itrip, a->ninner * sizeof *a->itrip);
  if (a->desc && a->desc->flags & COFUSE_ACC_RANGED)
    put(b, a->cut, (size_t)(t->ndims + a->ninner) * sizeof *a->cut);
  if (s && a->desc && a->desc->flags & COFUSE_ACC_COND) /* the map starts from another address, the base */
    put(b, a->map.off, s->rank * sizeof *a->map.off);
  put(b, a->bstride, (size_t)(t->ndims + a->ninner) * sizeof *a->bstride);
  if (!s)
    return;
  if (fresh) {
    uint32_t sh[4] = {s->type | s->rank << 8 | s->live << 16, s->elem_bytes, s->pending, s->flags};
    put(b, sh, sizeof sh);
    put(b, s->ext, s->rank * sizeof *s->ext);
    put_partition(b, &s->home);
  }
  PUT(b, a->at);
}

void cf_memo_key(cf_buf *b, cf_task *const *tasks, uint32_t n, bool fuse, const uint64_t *sites) {
  uint32_t ns = 0;
  cf_buf_clear(b);
  PUT(b, n);
  PUT(b, fuse);
  turn++;
  for (uint32_t i = 0; i < n; i++) {
    const cf_task *t = tasks[i];
    uint64_t site = sites ? sites[i] : (uint64_t)(uintptr_t)t->desc;
    PUT(b, site);
    put(b, t->loop_at, t->desc->ndims);
    PUT(b, t->ndims);
    put(b, t->trip, t->ndims * sizeof *t->trip);
    for (int d = 0; d < t->ndims; d++) {
      int8_t one = t->step[d] == 1 ? 1 : t->step[d] == -1 ? -1 : 0;
      PUT(b, one);
    }
    for (int r = 0; r < t->nreds; r++)
      PUT(b, t->deferred[r]);
    for (uint32_t k = 0; k < t->naccess; k++)
      put_access(b, t, &t->access[k], &ns);
  }
}

cf_status cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                       cf_plan **out) {
  cf_memo_key(&m->key, tasks, n, fuse, NULL);
  if (m->key.failed)
    return cf_fail(CF_ENOMEM, "out of memory for the key of a window");
  cf_plan *p = cf_map_get(&m->map, m->key.data, m->key.len);
  if (p) {
    m->hits++;
    *out = p;
    return CF_OK;
  }
  m->misses++;
  CF_TRY(cf_analyse(tasks, n, ranks, fuse, &p));
  cf_status st = cf_map_put(&m->map, m->key.data, m->key.len, p);
  if (st != CF_OK) {
    cf_plan_free(p);
    return st;
  }
  *out = p;
  return CF_OK;
}

static void drop(void *val, void *arg) {
  cf_plan *p = val;
  void (*const *drop_exec)(void *) = arg;
  for (uint32_t g = 0; g < p->ngroups; g++)
    if (p->groups[g].exec && *drop_exec)
      (*drop_exec)(p->groups[g].exec);
  cf_plan_free(p);
}

void cf_memo_free(cf_memo *m, void (*drop_exec)(void *)) {
  cf_map_each(&m->map, drop, &drop_exec);
  cf_map_free(&m->map);
  cf_buf_free(&m->key);
}
