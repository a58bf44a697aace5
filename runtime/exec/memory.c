// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Pages of large arrays, nest by nest: what a nest overwrites for the first time takes the pages of what
 * nothing will read again. So the temporaries of a group need no more memory than those that live at one
 * time, and little of it is cleared by the system first (device/pages.c).
 *
 * Which accesses these are follows from the plan and is noted when the group is bound; what is checked at
 * each run is where the store's memory comes from. */
#include "exec/exec.h"
#include "exec/opaque.h"

/* The access writes all of its store on the ranks that run it, and its task reads nothing of it. */
static bool overwrites(const cf_task *t, const cf_access *w) {
  const cf_store *s = w->store;
  if (w->priv != CF_WRITE || !w->must || w->whole || cf_task_is_opaque(t) ||
      w->field_bytes != s->elem_bytes || t->empty || t->domain == CF_SINGLE || !cf_fills_box(w))
    return false;
  for (int d = 0; d < s->rank; d++)
    if (w->lo[d] != 0 || w->hi[d] != s->ext[d])
      return false;
  for (uint32_t k = 0; k < t->naccess; k++)
    if (t->access[k].store == s && t->access[k].priv != CF_WRITE)
      return false;
  return true;
}

void cf_memory_plan(const cf_plan *p, const cf_group *g, cf_task *const *window, cf_bound *b) {
  uint32_t *count = cf_arena_alloc(&b->arena, ((size_t)p->nstores + 1) * sizeof *count);
  uint32_t *seen = cf_arena_alloc(&b->arena, ((size_t)p->nstores + 1) * sizeof *seen);
  if (!count || !seen) /* without a note nothing is moved */
    return;
  for (int turn = 0; turn < 2; turn++) /* count the uses, then write down the first and the last */
    for (uint32_t n = 0; n < g->nnests; n++)
      for (uint32_t j = 0; j < g->nests[n].ntasks; j++) {
        uint32_t i = g->nests[n].tasks[j];
        for (uint32_t k = 0; k < window[i]->naccess; k++) {
          const cf_access *a = &window[i]->access[k];
          if (!a->store || a->store->bytes < CF_PAGES_LEAST || p->locals[i][k] >= 0)
            continue;
          uint32_t s = p->store_at[i][k];
          if (turn == 0) {
            count[s]++;
            continue;
          }
          bool first = seen[s]++ == 0;
          bool last = seen[s] == count[s] && !a->store->live && count[s] == a->store->pending;
          if (first || last) {
            b->uses[b->nuses].task = i - g->first;
            b->uses[b->nuses].access = k;
            b->uses[b->nuses].nest = n;
            b->uses[b->nuses].first = first;
            b->uses[b->nuses].fills = first && overwrites(window[i], a);
            b->uses[b->nuses++].last = last;
          }
        }
      }
}

void cf_memory_before(cf_exec *x, const cf_bound *b, uint32_t n, cf_task *const *tasks) {
  for (uint32_t i = 0; i < b->nuses && x->pages; i++) {
    if (b->uses[i].nest != n || !b->uses[i].first)
      continue;
    const cf_task *t = tasks[b->uses[i].task];
    cf_store *s = t->access[b->uses[i].access].store;
    if (s->touched)
      continue;
    cf_slab own = t->domain == CF_REPLICATED ? cf_slab_of(s, -1, 0, 0) : cf_slab_own(x, s);
    if (b->uses[i].fills && own.runs == 1)
      cf_pages_fill(x->pages, s->base + own.first, own.run_bytes);
    s->touched = true;
  }
}

/* Only memory that waits to be freed is lent: it comes back through the registry, which knows. */
void cf_memory_after(cf_exec *x, const cf_bound *b, uint32_t n, cf_task *const *tasks) {
  for (uint32_t i = 0; i < b->nuses && x->pages; i++) {
    if (b->uses[i].nest != n || !b->uses[i].last)
      continue;
    cf_store *s = tasks[b->uses[i].task]->access[b->uses[i].access].store;
    if (!s->block || s->lent || !s->touched)
      continue;
    s->lent = true;
    cf_pages_lend(x->pages, s->base, s->bytes);
  }
}
