// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Greedy longest fusible prefixes (paper, section 4.2) under the constraints of architecture.md section 2. */
#include "analysis/analysis.h"
#include "ir/math.h"

#include <stdlib.h>
#include <string.h>

/* Largest group: beyond it a kernel costs more to compile than its fusion can save. */
enum { GROUP_MAX = 256 };

const char *cf_rule_text(cf_rule r) {
  switch (r) {
  case CF_CUT_END:
    return "end of window";
  case CF_CUT_RAW:
    return "true dependence: read through another partition than it was written through";
  case CF_CUT_WAR:
    return "anti dependence: overwritten through another partition than it is read through";
  case CF_CUT_WAW:
    return "output dependence: written through two partitions";
  case CF_CUT_REDUCTION:
    return "reduction dependence: uses a result the group still reduces";
  case CF_CUT_DOMAIN:
    return "launch domains: a local or replicated task needs distributed results";
  case CF_CUT_LIMIT:
    return "largest group";
  }
  return "?";
}

static bool tiled(const cf_partition *p) { return p->kind == CF_PART_TILING; }

static int64_t single_owner(const cf_task *t, int64_t ranks) {
  return cf_partition_owner(&t->itile.home, t->itile.ext, t->itile.row, ranks);
}

/* Rows of the box of a CF_SINGLE task's access all belong to the tile that owns its row. */
static bool box_in_tile(const cf_task *t, const cf_access *a, const cf_partition *home, int64_t ranks) {
  int64_t ext = a->store->ext[home->dim];
  int64_t p = single_owner(t, ranks);
  return a->lo[home->dim] < a->hi[home->dim] && cf_partition_owner(home, ext, a->lo[home->dim], ranks) == p &&
         cf_partition_owner(home, ext, a->hi[home->dim] - 1, ranks) == p;
}

cf_rule cf_fusible(const cf_task *ti, const cf_access *a, const cf_task *tj, const cf_access *b,
                   const cf_partition *homes, int64_t ranks) {
  if (a->store != b->store || !a->store || !cf_access_intersects(a, b))
    return CF_CUT_END;
  bool aw = a->priv & CF_WRITE, bw = b->priv & CF_WRITE, ard = a->priv & CF_REDUCE, brd = b->priv & CF_REDUCE;
  if (!aw && !bw && !ard && !brd)
    return CF_CUT_END;
  if (ard)
    return brd && a->redop == b->redop ? CF_CUT_END : CF_CUT_REDUCTION;
  const cf_partition *home = &homes[a->store->mark];
  if (brd) /* the result is stored when the group ends, so earlier reads see the old value, and a value that
              every rank wrote becomes the initial one, combined once */
    return aw && ti->domain != CF_REPLICATED ? CF_CUT_REDUCTION : CF_CUT_END;

  cf_rule rule = aw && b->priv & CF_READ ? CF_CUT_RAW : aw ? CF_CUT_WAW : CF_CUT_WAR;
  if (ti->domain == CF_REPLICATED)
    return CF_CUT_END;             /* every rank did all of it in program order */
  if (tj->domain == CF_REPLICATED) /* every rank would need what one tile wrote */
    return aw && b->priv & CF_READ ? CF_CUT_DOMAIN : CF_CUT_END;
  if (ti->domain == CF_SINGLE && tj->domain == CF_SINGLE)
    return single_owner(ti, ranks) == single_owner(tj, ranks) ? CF_CUT_END : CF_CUT_DOMAIN;
  if (ti->domain == CF_SINGLE || tj->domain == CF_SINGLE) {
    const cf_access *s = ti->domain == CF_SINGLE ? a : b, *g = ti->domain == CF_SINGLE ? b : a;
    const cf_task *st = ti->domain == CF_SINGLE ? ti : tj;
    return tiled(home) && cf_partition_equal(&g->part, home) && box_in_tile(st, s, home, ranks)
               ? CF_CUT_END
               : CF_CUT_DOMAIN;
  }
  return tiled(&a->part) && cf_partition_equal(&a->part, &b->part) ? CF_CUT_END : rule;
}

/* Accesses of the group so far, per store. */
typedef struct seen {
  uint32_t task, acc, next;
} seen;

typedef struct touched {
  uint32_t *head; /* per store: 1 + index into list, 0: none */
  seen *list;
  uint32_t used;
} touched;

typedef struct fuser {
  cf_task **tasks;
  uint32_t n, ns;
  int64_t ranks;
  const cf_partition *homes;
  touched group, waiting; /* waiting: tasks that a later one may be moved past */
  uint8_t *mark;          /* per task: scratch of move_ahead */
  uint32_t *order;        /* position before, per task; follows the moves in tasks */
  bool moved;
} fuser;

/* A task may only move past another if their order does not show. */
static bool commute(const cf_access *a, const cf_access *b) {
  return a->store != b->store || !((a->priv | b->priv) & (CF_WRITE | CF_REDUCE)) ||
         !cf_access_intersects(a, b);
}

static bool same_touch(const cf_task *ti, const cf_access *a, const cf_task *tj, const cf_access *b) {
  return a->priv == b->priv && a->redop == b->redop && ti->domain == tj->domain && a->at == b->at &&
         a->field_bytes == b->field_bytes && a->whole == b->whole && cf_partition_equal(&a->part, &b->part) &&
         memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0 &&
         memcmp(a->step, b->step, sizeof a->step) == 0 &&
         (ti->domain != CF_SINGLE || cf_itile_equal(&ti->itile, &tj->itile, CF_SINGLE, CF_SINGLE));
}

static bool may_join(const fuser *f, uint32_t j, cf_cut *cut) {
  const cf_task *t = f->tasks[j];
  for (uint32_t b = 0; b < t->naccess; b++) {
    const cf_access *x = &t->access[b];
    if (!x->store)
      continue;
    for (uint32_t k = f->group.head[x->store->mark]; k; k = f->group.list[k - 1].next) {
      const seen *s = &f->group.list[k - 1];
      const cf_task *ti = f->tasks[s->task];
      cf_rule r = cf_fusible(ti, &ti->access[s->acc], t, x, f->homes, f->ranks);
      if (r != CF_CUT_END) {
        *cut = (cf_cut){r, s->task, s->acc, j, b};
        return false;
      }
    }
  }
  return true;
}

static void note(const fuser *f, touched *in, uint32_t j) {
  const cf_task *t = f->tasks[j];
  for (uint32_t b = 0; b < t->naccess; b++) {
    const cf_access *x = &t->access[b];
    if (!x->store)
      continue;
    bool known = false;
    for (uint32_t k = in->head[x->store->mark]; k && !known; k = in->list[k - 1].next) {
      const cf_task *ti = f->tasks[in->list[k - 1].task];
      known = same_touch(ti, &ti->access[in->list[k - 1].acc], t, x);
    }
    if (known)
      continue;
    in->list[in->used] = (seen){j, b, in->head[x->store->mark]};
    in->head[x->store->mark] = ++in->used;
  }
}

static void clear(const fuser *f, touched *t) {
  memset(t->head, 0, (f->ns + 1) * sizeof *t->head);
  t->used = 0;
}

static bool passes_waiting(const fuser *f, uint32_t j, bool *shares) {
  const cf_task *t = f->tasks[j];
  *shares = false;
  for (uint32_t b = 0; b < t->naccess; b++) {
    const cf_access *x = &t->access[b];
    if (!x->store)
      continue;
    *shares |= f->group.head[x->store->mark] != 0;
    for (uint32_t k = f->waiting.head[x->store->mark]; k; k = f->waiting.list[k - 1].next)
      if (!commute(&f->tasks[f->waiting.list[k - 1].task]->access[f->waiting.list[k - 1].acc], x))
        return false;
  }
  return true;
}

/* A store that the program has given up and that j writes: would a use of it stay behind, so that it could no
 * longer be a value? */
static bool splits_temporary(const fuser *f, uint32_t first, uint32_t group_end, uint32_t end, uint32_t j) {
  const cf_task *t = f->tasks[j];
  for (uint32_t b = 0; b < t->naccess; b++) {
    const cf_store *s = t->access[b].store;
    if (!s || s->live || !(t->access[b].priv & CF_WRITE))
      continue;
    for (uint32_t i = first; i < f->n; i++) {
      bool inside = i < group_end || (i < end && f->mark[i] == 1);
      for (uint32_t m = 0; m < f->tasks[i]->naccess && !inside; m++)
        if (f->tasks[i]->access[m].store == s)
          return true;
    }
  }
  return false;
}

/* Tasks behind the blocker at `at` that may run before it and join the group [first, at): moves them ahead
 * and returns their number. Looks a bounded way ahead, so that a window costs what its length says. */
static uint32_t move_ahead(fuser *f, uint32_t first, uint32_t at, uint32_t limit) {
  enum { AHEAD = 64 };
  uint32_t end = at + 1 + AHEAD < f->n ? at + 1 + AHEAD : f->n, before = f->group.used, moved = 0;
  memset(f->mark + at, 0, end - at); /* 1: goes ahead; 2: must not */
  for (bool again = true; again;) {
    again = false;
    moved = 0;
    clear(f, &f->waiting);
    note(f, &f->waiting, at);
    for (uint32_t j = at + 1; j < end; j++) {
      cf_cut cut;
      bool shares;
      f->mark[j] = f->mark[j] == 2                                                                    ? 2
                   : moved < limit && passes_waiting(f, j, &shares) && shares && may_join(f, j, &cut) ? 1
                                                                                                      : 0;
      if (f->mark[j] == 1) {
        note(f, &f->group, j);
        moved++;
      } else {
        note(f, &f->waiting, j);
      }
    }
    for (uint32_t j = at + 1; j < end; j++)
      if (f->mark[j] == 1 && splits_temporary(f, first, at, end, j)) {
        f->mark[j] = 2;
        again = true;
      }
    if (again || moved == 0) { /* forget what was noted of them */
      while (f->group.used > before) {
        const seen *s = &f->group.list[--f->group.used];
        f->group.head[f->tasks[s->task]->access[s->acc].store->mark] = s->next;
      }
    }
  }
  if (moved == 0)
    return 0;
  /* Entries of the group's list name tasks by position, which changes now. */
  uint32_t to = at;
  for (uint32_t j = at + 1; j < end; j++)
    if (f->mark[j] == 1) {
      cf_task *t = f->tasks[j];
      uint32_t o = f->order[j];
      memmove(f->tasks + to + 1, f->tasks + to, (j - to) * sizeof *f->tasks);
      memmove(f->order + to + 1, f->order + to, (j - to) * sizeof *f->order);
      f->tasks[to] = t;
      f->order[to] = o;
      for (uint32_t k = before; k < f->group.used; k++)
        if (f->group.list[k].task == j)
          f->group.list[k].task = to;
      to++;
    }
  f->moved = true;
  return moved;
}

/* By name: in a window that was read as text each task has a descriptor of its own. */
static bool same_site(const cf_task *x, const cf_task *y) {
  return x->desc == y->desc || (x->desc->name && y->desc->name && strcmp(x->desc->name, y->desc->name) == 0);
}

/* Where a group without any cut, as of a time loop, should end: behind the last whole turn of the loop, for
 * then the next group is the same again. A turn is the shortest part that all of the group repeats. */
static uint32_t whole_turns(const fuser *f, uint32_t first, uint32_t most) {
  cf_task *const *t = f->tasks + first;
  for (uint32_t turn = 1; turn <= most / 2; turn++) {
    uint32_t same = 0;
    while (same < most - turn && same_site(t[same], t[same + turn]))
      same++;
    if (same == most - turn)
      return most - most % turn;
  }
  return most;
}

/* Groups of the window in f->tasks. ahead: look for tasks that may be moved past a blocker. */
static uint32_t form_groups(fuser *f, cf_group *groups, bool fuse, bool ahead) {
  uint32_t ng = 0, most = fuse ? GROUP_MAX : 1;
  for (uint32_t i = 0; i < f->n;) {
    cf_group *g = &groups[ng++];
    *g = (cf_group){.first = i};
    clear(f, &f->group);
    uint32_t j = i;
    for (; j < f->n; j++) {
      if (j - i == most) {
        g->cut.rule = CF_CUT_LIMIT;
        j = i + (most > 1 ? whole_turns(f, i, most) : most);
        break;
      }
      if (!may_join(f, j, &g->cut))
        break;
      note(f, &f->group, j);
    }
    if (ahead && j < f->n && j - i < most && g->cut.rule != CF_CUT_LIMIT) {
      uint32_t moved = move_ahead(f, i, j, most - (j - i));
      j += moved;
      g->reordered = moved;
      g->cut.task_j += moved;
    }
    g->ntasks = j - i;
    i = j;
  }
  return ng;
}

static void *dup_of(cf_arena *a, const void *p, size_t n) {
  void *q = cf_arena_alloc(a, n ? n : 1);
  if (q && n)
    memcpy(q, p, n);
  return q;
}

void cf_plan_order(const cf_plan *p, cf_task *const *before, cf_task **after) {
  for (uint32_t i = 0; i < p->ntasks; i++)
    after[i] = before[p->order ? p->order[i] : i];
}

uint32_t cf_plan_last(const cf_plan *p, uint32_t last) {
  if (!p->order || last >= p->ntasks)
    return last;
  uint32_t at = 0;
  for (uint32_t i = 0; i < p->ntasks; i++)
    if (p->order[i] <= last)
      at = i;
  return at;
}

/* Numbers the stores of the window by first occurrence. */
static uint32_t mark_stores(cf_task *const *tasks, uint32_t n, cf_store **stores) {
  uint32_t ns = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++)
      if (tasks[i]->access[k].store)
        tasks[i]->access[k].store->mark = UINT32_MAX;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (s && s->mark == UINT32_MAX) {
        s->mark = ns;
        stores[ns++] = s;
      }
    }
  return ns;
}

static void begin(fuser *f, cf_task *const *tasks) {
  memcpy(f->tasks, tasks, f->n * sizeof *f->tasks);
  for (uint32_t i = 0; i < f->n; i++)
    f->order[i] = i;
  f->moved = false;
}

cf_status cf_analyse(cf_task *const *tasks, uint32_t n, int64_t ranks, bool fuse, cf_plan **out) {
  uint32_t total = 0, ns = 0;
  for (uint32_t i = 0; i < n; i++)
    total += tasks[i]->naccess;
  cf_plan *p = calloc(1, sizeof *p);
  cf_store **stores = calloc(total + 1, sizeof *stores);
  cf_partition *homes = calloc(total + 1, sizeof *homes);
  fuser f = {.n = n,
             .ranks = ranks,
             .homes = homes,
             .tasks = malloc((n + 1) * sizeof *f.tasks),
             .order = malloc((n + 1) * sizeof *f.order),
             .mark = malloc(n + 1)};
  for (int k = 0; k < 2; k++) {
    touched *t = k ? &f.waiting : &f.group;
    t->head = malloc((total + 1) * sizeof *t->head);
    t->list = malloc((total + 1) * sizeof *t->list);
  }
  cf_group *groups = calloc(n + 1, sizeof *groups);
  cf_status st = CF_ENOMEM;
  if (!p || !stores || !homes || !f.tasks || !f.order || !f.mark || !f.group.head || !f.group.list ||
      !f.waiting.head || !f.waiting.list || !groups)
    goto done;
  ns = mark_stores(tasks, n, stores);
  f.ns = ns;
  cf_align(tasks, n, stores, ns, homes);
  for (uint32_t i = 0; i < n; i++)
    cf_domain_decide(tasks[i], homes, ranks);

  begin(&f, tasks);
  uint32_t ng = form_groups(&f, groups, fuse, false);
  if (fuse && ng > 1) { /* is there an order with fewer groups? */
    uint32_t fewer = form_groups(&f, groups, fuse, true);
    if (fewer >= ng) {
      begin(&f, tasks);
      fewer = form_groups(&f, groups, fuse, false);
    }
    ng = fewer;
  }
  if (f.moved) {
    p->order = dup_of(&p->arena, f.order, n * sizeof *f.order);
    if (!p->order)
      goto done;
  }
  tasks = f.tasks;
  p->ntasks = n;
  p->nstores = ns;
  p->ngroups = ng;
  p->groups = dup_of(&p->arena, groups, ng * sizeof *groups);
  p->homes = dup_of(&p->arena, homes, ns * sizeof *homes);
  p->domains = cf_arena_alloc(&p->arena, n * sizeof *p->domains);
  p->itiles = cf_arena_alloc(&p->arena, n * sizeof *p->itiles);
  p->locals = cf_arena_alloc(&p->arena, n * sizeof *p->locals);
  p->parts = cf_arena_alloc(&p->arena, n * sizeof *p->parts);
  p->store_at = cf_arena_alloc(&p->arena, n * sizeof *p->store_at);
  if (!p->parts || !p->store_at || !p->groups || !p->homes || !p->domains || !p->itiles || !p->locals)
    goto done;
  for (uint32_t i = 0; i < n; i++) {
    p->domains[i] = tasks[i]->domain;
    p->itiles[i] = tasks[i]->itile;
    p->locals[i] = cf_arena_alloc(&p->arena, (tasks[i]->naccess + 1u) * sizeof **p->locals);
    p->parts[i] = cf_arena_alloc(&p->arena, (tasks[i]->naccess + 1u) * sizeof **p->parts);
    p->store_at[i] = cf_arena_alloc(&p->arena, (tasks[i]->naccess + 1u) * sizeof **p->store_at);
    if (!p->locals[i] || !p->parts[i] || !p->store_at[i])
      goto done;
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      p->locals[i][k] = -1;
      p->parts[i][k] = tasks[i]->access[k].part;
      p->store_at[i][k] = tasks[i]->access[k].store ? tasks[i]->access[k].store->mark : 0;
    }
  }
  st = CF_OK;
  for (uint32_t g = 0; g < ng && st == CF_OK; g++)
    st = cf_build_nests(p, &p->groups[g], tasks);
done:
  free(stores);
  free(homes);
  free(f.tasks);
  free(f.order);
  free(f.mark);
  free(f.group.head);
  free(f.group.list);
  free(f.waiting.head);
  free(f.waiting.list);
  free(groups);
  if (st != CF_OK) {
    if (p)
      cf_plan_free(p);
    return st == CF_ENOMEM ? cf_fail(st, "out of memory while analysing a window of %u tasks", n) : st;
  }
  *out = p;
  return CF_OK;
}

void cf_plan_free(cf_plan *p) {
  if (!p)
    return;
  cf_arena_free(&p->arena);
  free(p);
}

void cf_plan_apply(const cf_plan *p, cf_task *const *tasks, uint32_t first, uint32_t ntasks) {
  for (uint32_t i = first; i < first + ntasks; i++) {
    tasks[i]->domain = p->domains[i];
    tasks[i]->itile = p->itiles[i];
    for (uint32_t k = 0; k < tasks[i]->naccess; k++) {
      cf_store *s = tasks[i]->access[k].store;
      if (!s)
        continue;
      tasks[i]->access[k].part = p->parts[i][k];
      if (s->home.kind == CF_PART_UNSET)
        s->home = p->homes[p->store_at[i][k]];
    }
  }
}
