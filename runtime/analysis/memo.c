// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Memoisation (paper, 5.2): a window seen before, up to renaming of stores, is not analysed again.
 * The key holds everything the analysis reads; the map compares it in full. What it says of a task apart from
 * its stores has a number, so that tasks issued again (api/again.c) come into it by that alone. */
#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#define PUT(b, x) cf_buf_add(b, &(x), sizeof(x))

static uint64_t turn; /* of the key that is made */

static void put_partition(cf_buf *b, const cf_partition *p) {
  int64_t v[7] = {p->kind | p->dim << 8, p->count, p->grain, p->origin, p->num, p->den, p->off};
  cf_buf_add(b, v, sizeof v);
}

/* What the key says of an access but for its store. */
static void put_access(cf_buf *b, const cf_task *t, const cf_access *a) {
  const cf_store *s = a->store;
  uint32_t head[4] = {s ? 0 : UINT32_MAX,
                      (uint32_t)(a->priv | a->redop << 8 | a->must << 16 | a->whole << 17), a->field,
                      a->field_bytes};
  cf_buf_add(b, head, sizeof head);
  cf_buf_add(b, a->itrip, a->ninner * sizeof *a->itrip);
  if (a->desc && a->desc->flags & COFUSE_ACC_RANGED)
    cf_buf_add(b, a->cut, (size_t)(t->ndims + a->ninner) * sizeof *a->cut);
  if (s && a->desc && a->desc->flags & COFUSE_ACC_COND) /* the map starts from another address, the base */
    cf_buf_add(b, a->map.off, s->rank * sizeof *a->map.off);
  cf_buf_add(b, a->bstride, (size_t)(t->ndims + a->ninner) * sizeof *a->bstride);
  if (s)
    PUT(b, a->at);
}

/* What the key says of a task but for its stores. */
static void put_task(cf_buf *b, const cf_task *t, uint64_t site) {
  PUT(b, site);
  cf_buf_add(b, t->loop_at, t->desc->ndims);
  PUT(b, t->ndims);
  cf_buf_add(b, t->trip, t->ndims * sizeof *t->trip);
  for (int d = 0; d < t->ndims; d++) {
    int8_t one = t->step[d] == 1 ? 1 : t->step[d] == -1 ? -1 : 0;
    PUT(b, one);
  }
  for (int r = 0; r < t->nreds; r++)
    PUT(b, t->deferred[r]);
  for (uint32_t k = 0; k < t->naccess; k++)
    put_access(b, t, &t->access[k]);
}

/* The stores of a task, numbered through by first occurrence in the window; of each new one, what it is. */
static void put_stores(cf_buf *b, const cf_task *t, uint32_t *ns) {
  for (uint32_t k = 0; k < t->naccess; k++) {
    cf_store *s = t->access[k].store;
    if (!s)
      continue;
    bool fresh = s->keyed != turn;
    if (fresh) {
      s->keyed = turn;
      s->mark = (*ns)++;
    }
    PUT(b, s->mark);
    if (!fresh)
      continue;
    uint32_t sh[4] = {s->type | s->rank << 8 | s->live << 16, s->elem_bytes, s->pending, s->flags};
    cf_buf_add(b, sh, sizeof sh);
    cf_buf_add(b, s->ext, s->rank * sizeof *s->ext);
    put_partition(b, &s->home);
  }
}

static uint32_t begin(cf_buf *b, uint32_t n, bool fuse) {
  cf_buf_clear(b);
  PUT(b, n);
  PUT(b, fuse);
  turn++;
  return 0;
}

void cf_memo_key(cf_buf *b, cf_task *const *tasks, uint32_t n, bool fuse, const uint64_t *sites) {
  uint32_t ns = begin(b, n, fuse);
  for (uint32_t i = 0; i < n; i++) {
    put_task(b, tasks[i], sites[i]);
    put_stores(b, tasks[i], &ns);
  }
}

/* The number that stands for what put_task says of the task. */
static cf_status number(cf_memo *m, cf_task *t) {
  cf_buf_clear(&m->part);
  put_task(&m->part, t, (uint64_t)(uintptr_t)t->desc);
  if (m->part.failed)
    return cf_fail(CF_ENOMEM, "out of memory for the key of a task");
  t->number = (uint32_t)(uintptr_t)cf_map_get(&m->numbers, m->part.data, m->part.len);
  if (t->number)
    return CF_OK;
  t->number = (uint32_t)m->numbers.count + 1;
  return cf_map_put(&m->numbers, m->part.data, m->part.len, (void *)(uintptr_t)t->number);
}

cf_status cf_memo_plan(cf_memo *m, cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse,
                       cf_plan **out) {
  uint32_t ns = begin(&m->key, n, fuse);
  for (uint32_t i = 0; i < n; i++) {
    if (!tasks[i]->number)
      CF_TRY(number(m, tasks[i]));
    PUT(&m->key, tasks[i]->number);
    put_stores(&m->key, tasks[i], &ns);
  }
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
  cf_map_free(&m->numbers);
  cf_buf_free(&m->part);
  cf_buf_free(&m->key);
}
