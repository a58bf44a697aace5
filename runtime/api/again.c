// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Calls that differ from an earlier one only in which stores they name are not looked at again.
 *
 * What launch.c finds out about a call depends on its numbers other than addresses, on where in its stores
 * the addresses lie, on what these stores look like, and on which of them are the same. If all that is as it
 * was, a task that has run once is issued a second time with other stores in it. Only calls all of whose data
 * lies in stores are kept for that; everything else is built anew each time. */
#include "api/context.h"

#include <stdlib.h>
#include <string.h>

enum {
  SETS = 128,  /* of calls with the same loops, most often: */
  WAYS = 16,   /* a function of a library is called for arrays that lie in their stores in many ways */
  SEEN = 4096, /* calls whose hash is kept */
  IDLE = 1024, /* most tasks that wait to be issued again */
};

/* A store of the call, seen from one access or reduction target. */
typedef struct place {
  int64_t at, base; /* bytes from the store to the first iteration's address and to the pointer */
  uint32_t like;    /* first place with the same store */
  uint32_t elem_bytes;
  uint8_t type, rank;
  int64_t ext[CF_RANK];
} place;

typedef struct call_set {
  cf_call *call[WAYS];
  uint8_t then[WAYS]; /* the one that came next after each: most programs do the same again and again */
  uint8_t last;
  uint8_t hand; /* the one that makes room for the next */
} call_set;

struct cf_calls {
  call_set set[SETS];
  uint32_t idle; /* tasks of all of them together */
  /* Hashes of whole calls. Only one that came before is worth keeping: some never come twice. */
  uint64_t seen[SEEN];
};

struct cf_call {
  uint64_t hash;
  const cofuse_forall *desc;
  cf_task *idle;
  uint32_t out; /* tasks of it in the window or on their way there */
  bool gone;    /* its place in the table was wanted for another */
  uint32_t nplaces, nwords;
  int64_t *words; /* numbers of the call but for addresses */
  place places[];
};

/* Numbers of an access behind its two addresses. */
static inline int words_of(const cofuse_forall *d, const cofuse_access *a) {
  int loops = d->ndims + a->ninner;
  return loops + a->ninner + (a->flags & COFUSE_ACC_RANGED ? 2 * loops : 0);
}

/* Of what differs most: the loops. */
static inline uint64_t hash_of(const cofuse_forall *d, const int64_t *ints) {
  uint64_t h = (uint64_t)(uintptr_t)d;
  for (int i = 0; i < 3 * d->ndims; i++)
    h = (h ^ (uint64_t)ints[i]) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

static inline bool same(const int64_t *a, const int64_t *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

static bool same_words(const cf_call *c, const int64_t *ints) {
  const cofuse_forall *d = c->desc;
  const int64_t *w = c->words;
  if (!same(w, ints, 3 * d->ndims))
    return false;
  ints += 3 * d->ndims;
  w += 3 * d->ndims;
  for (int k = 0; k < d->naccess; k++) {
    int n = words_of(d, &d->access[k]);
    if (!same(w, ints + 2, n))
      return false;
    ints += 2 + n;
    w += n;
  }
  return true;
}

static inline bool looks_like(const cf_store *s, const place *p) {
  return s->live && s->elem_bytes == p->elem_bytes && s->type == p->type && s->rank == p->rank &&
         same(s->ext, p->ext, p->rank);
}

/* The store that place k of the call means, if it is as it was; NULL. t: with the stores of the places
 * before.
 */
static cf_store *take_place(const cf_call *c, uint32_t k, const cf_task *t, const char *at,
                            const char *base) {
  const place *p = &c->places[k];
  const char *start = at - p->at;
  if (base - start != p->base)
    return NULL;
  if (p->like != k) {
    cf_store *s = t->access[p->like].store;
    return s->base == start ? s : NULL;
  }
  cf_store *s = cf_registry_at(start);
  if (!s || !looks_like(s, p))
    return NULL;
  for (uint32_t i = 0; i < k; i++)
    if (t->access[i].store == s)
      return NULL;
  return s;
}

/* Puts the stores of the call into the task. */
static bool take_places(const cf_call *c, cf_task *t, const int64_t *ints, void *const *targets) {
  const cofuse_forall *d = c->desc;
  ints += 3 * d->ndims;
  for (uint32_t k = 0; k < c->nplaces; k++) {
    cf_store *s;
    if (k < d->naccess) {
      s = take_place(c, k, t, (const char *)(uintptr_t)ints[0], (const char *)(uintptr_t)ints[1]);
      ints += 2 + words_of(d, &d->access[k]);
    } else {
      s = take_place(c, k, t, targets[k - d->naccess], targets[k - d->naccess]);
    }
    if (!s)
      return false;
    t->access[k].store = s;
  }
  return true;
}

cf_task *cf_again_find(const cofuse_forall *d, const int64_t *ints, void *const *targets, uint64_t *hash) {
  *hash = hash_of(d, ints);
  if (!cf_ctx.calls)
    return NULL;
  call_set *set = &cf_ctx.calls->set[*hash % SETS];
  uint8_t first = set->then[set->last];
  for (int i = 0; i < WAYS; i++) {
    uint8_t w = (uint8_t)(i == 0 ? first : i <= first ? i - 1 : i);
    cf_call *c = set->call[w];
    if (!c || c->hash != *hash || c->desc != d || !c->idle || c->nplaces != (uint32_t)d->naccess + d->nreds ||
        !same_words(c, ints))
      continue;
    cf_task *t = c->idle;
    if (!take_places(c, t, ints, targets))
      continue;
    set->last = set->then[set->last] = w;
    c->idle = t->next_free;
    c->out++;
    cf_ctx.issued_again++;
    cf_ctx.calls->idle--;
    t->naccess = (uint16_t)c->nplaces;
    for (int r = 0; r < d->nreds; r++)
      t->targets[r] = targets[r];
    return t;
  }
  return NULL;
}

static void free_call(cf_call *c) {
  free(c->words);
  free(c);
}

static void to_spare(cf_call *c) {
  while (c->idle) {
    cf_task *t = c->idle;
    c->idle = t->next_free;
    cf_ctx.calls->idle--;
    t->call = NULL;
    t->next_free = cf_ctx.spare;
    cf_ctx.spare = t;
  }
}

static void let_go(cf_call *c) {
  to_spare(c);
  c->gone = true;
  if (!c->out)
    free_call(c);
}

static void each(void (*f)(cf_call *)) {
  for (int i = 0; i < SETS; i++)
    for (int w = 0; w < WAYS; w++)
      if (cf_ctx.calls->set[i].call[w])
        f(cf_ctx.calls->set[i].call[w]);
}

static bool fits(const cofuse_forall *d, const cf_task *t) {
  for (int r = 0; r < d->nreds; r++)
    if (!t->deferred[r])
      return false;
  for (uint32_t k = 0; k < t->naccess; k++)
    if (!t->access[k].store)
      return false;
  return t->naccess == d->naccess + d->nreds;
}

static void note_places(cf_call *c, const cf_task *t, const int64_t *ints) {
  const cofuse_forall *d = c->desc;
  int64_t *w = c->words;
  memcpy(w, ints, 3u * d->ndims * sizeof *w);
  w += 3 * d->ndims;
  ints += 3 * d->ndims;
  for (uint32_t k = 0; k < c->nplaces; k++) {
    const cf_store *s = t->access[k].store;
    place *p = &c->places[k];
    p->like = k; /* one by one: what lies between members stays zero */
    p->elem_bytes = s->elem_bytes;
    p->type = s->type;
    p->rank = s->rank;
    memcpy(p->ext, s->ext, sizeof p->ext);
    for (uint32_t i = 0; i < k && p->like == k; i++)
      if (t->access[i].store == s)
        p->like = i;
    if (k >= d->naccess)
      continue;
    int n = words_of(d, &d->access[k]);
    p->at = (const char *)(uintptr_t)ints[0] - s->base;
    p->base = (const char *)(uintptr_t)ints[1] - s->base;
    memcpy(w, ints + 2, (size_t)n * sizeof *w);
    w += n;
    ints += 2 + n;
  }
}

/* The call with these numbers and places that is known already, NULL. */
static cf_call *known(cf_call **set, const cf_call *like) {
  for (int w = 0; w < WAYS; w++) {
    cf_call *c = set[w];
    if (c && c->hash == like->hash && c->desc == like->desc && c->nwords == like->nwords &&
        memcmp(c->words, like->words, like->nwords * sizeof *like->words) == 0 &&
        memcmp(c->places, like->places, like->nplaces * sizeof *like->places) == 0)
      return c;
  }
  return NULL;
}

static uint64_t hash_all(const cf_task *t, const int64_t *ints, uint64_t h) {
  const cofuse_forall *d = t->desc;
  ints += 3 * d->ndims;
  for (int k = 0; k < d->naccess; k++) {
    const cf_store *s = t->access[k].store;
    int n = words_of(d, &d->access[k]);
    h = cf_hash64(ints + 2, (size_t)n * sizeof *ints,
                  h ^ (uint64_t)((const char *)(uintptr_t)ints[0] - s->base));
    h = cf_hash64(s->ext, s->rank * sizeof *s->ext, h);
    ints += 2 + n;
  }
  return h;
}

void cf_again_note(cf_task *t, const int64_t *ints, uint64_t hash) {
  cofuse_forall *d = t->desc;
  if (!fits(d, t))
    return;
  if (!cf_ctx.calls && !(cf_ctx.calls = calloc(1, sizeof *cf_ctx.calls)))
    return; /* it is only slower without */
  uint64_t all = hash_all(t, ints, hash), *seen = &cf_ctx.calls->seen[all % SEEN];
  if (*seen != all) {
    *seen = all;
    return;
  }
  uint32_t nwords = 3u * d->ndims;
  for (int k = 0; k < d->naccess; k++)
    nwords += (uint32_t)words_of(d, &d->access[k]);
  cf_call *c = calloc(1, sizeof *c + t->naccess * sizeof *c->places);
  int64_t *words = malloc((nwords + 1) * sizeof *words);
  if (!c || !words) {
    free(c);
    free(words);
    return;
  }
  c->hash = hash;
  c->desc = d;
  c->nplaces = t->naccess;
  c->nwords = nwords;
  c->words = words;
  note_places(c, t, ints);
  call_set *into = &cf_ctx.calls->set[hash % SETS];
  cf_call **set = into->call, *old = known(set, c);
  if (old) {
    free_call(c);
    c = old;
  } else {
    int way = 0;
    while (way < WAYS && set[way])
      way++;
    if (way == WAYS) {
      way = into->hand;
      into->hand = (uint8_t)((way + 1) % WAYS);
      let_go(set[way]);
    }
    set[way] = c;
  }
  t->call = c;
  c->out++;
}

bool cf_again_keep(cf_task *t) {
  cf_call *c = t->call;
  if (!c)
    return false;
  c->out--;
  if (c->gone) {
    if (!c->out)
      free_call(c);
    return false;
  }
  if (cf_ctx.calls->idle == IDLE) /* of calls that may not come again */
    each(to_spare);
  t->next_free = c->idle;
  c->idle = t;
  cf_ctx.calls->idle++;
  return true;
}

void cf_again_free(void) {
  if (cf_ctx.calls)
    each(let_go);
  free(cf_ctx.calls);
  cf_ctx.calls = NULL;
}
