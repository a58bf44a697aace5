// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Random programs, and what a loop body computes. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t or_mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void or_fill(const or_program *p, char *mem, int array, int64_t lo, int64_t hi, uint64_t salt) {
  (void)array;
  for (int64_t i = lo; i < hi; i += 4) {
    uint64_t v = or_mix(or_mix(p->seed, salt), (uint64_t)i);
    memcpy(mem + i, &v, 4);
  }
}

/* ---- what an iteration does */

static bool access_point(const or_op *o, const cofuse_access *d, int k, const or_place *pl, const int64_t *n,
                         const int64_t *inner, char **at) {
  const or_access *a = &o->acc[k];
  const or_array *arr = &o->prog->array[a->array];
  int nd = o->prog->site[o->site].desc.ndims, w = (int)cf_type_bytes(d->type);
  uint64_t salt = or_mix((uint64_t)o->id * 16 + (uint64_t)k, 0);
  int64_t rel = a->at, off = 0;
  for (int l = 0; l < nd + d->ninner; l++) {
    int64_t i = l < nd ? n[l] : inner[l - nd];
    rel += a->stride[l] * i;
    off += pl->stride[l] * i;
    salt = or_mix(salt, (uint64_t)i);
  }
  if (d->flags & COFUSE_ACC_INDIRECT) {
    int64_t slots = (arr->bytes - a->at) / w;
    *at = pl->p + (int64_t)(salt % (uint64_t)slots) * w;
    return true;
  }
  *at = pl->p ? pl->p + off : NULL;
  return !(d->flags & COFUSE_ACC_COND) || (rel >= 0 && rel + w <= arr->bytes && salt & 1);
}

/* One pass over the inner loops of an access. */
static bool touch(const or_op *o, const cofuse_access *d, int k, const or_place *pl, const int64_t *n,
                  bool read, bool write, uint64_t *acc) {
  int64_t t0 = d->ninner > 0 ? o->acc[k].itrip[0] : 1, t1 = d->ninner > 1 ? o->acc[k].itrip[1] : 1;
  size_t w = cf_type_bytes(d->type);
  for (int64_t i = 0; i < t0; i++)
    for (int64_t j = 0; j < t1; j++) {
      char *p;
      if (!access_point(o, d, k, pl, n, (int64_t[]){i, j}, &p))
        continue;
      if (read) {
        uint64_t v = 0;
        if (pl->local && !*pl->defined)
          return false;
        memcpy(&v, pl->local ? (char *)pl->local : p, w);
        *acc = or_mix(*acc, v);
      }
      if (write) {
        uint64_t v = or_mix(*acc, (uint64_t)(k * 64 + i * 8 + j));
        memcpy(pl->local ? (char *)pl->local : p, &v, w);
        if (pl->local)
          *pl->defined = true;
      }
    }
  return true;
}

bool or_body(const or_op *o, uint64_t pass, const int64_t *n, const int64_t *iv, const or_place *pl,
             uint64_t *red) {
  const or_site *s = &o->prog->site[o->site];
  uint64_t acc = or_mix((uint64_t)o->id, pass);
  for (int l = 0; l < s->desc.ndims; l++)
    acc = or_mix(acc, (uint64_t)iv[l]);
  for (int k = 0; k < s->desc.naccess; k++) {
    const cofuse_access *d = &s->acc[k];
    if (!touch(o, d, k, &pl[k], n, d->mode & COFUSE_R, d->mode & COFUSE_W, &acc))
      return false;
    if (d->mode == COFUSE_W && o->id % 2 &&
        !touch(o, d, k, &pl[k], n, true, false, &acc)) /* its own value again */
      return false;
  }
  for (int r = 0; r < s->desc.nreds; r++)
    red[r] = or_mix(acc, (uint64_t)r);
  return true;
}

void or_plain_loop(const or_op *o, uint64_t pass, or_world *w) {
  const or_site *s = &o->prog->site[o->site];
  or_place pl[OR_ACC];
  int64_t n[OR_DIMS] = {0}, points = 1;
  for (int k = 0; k < s->desc.naccess; k++) {
    pl[k] = (or_place){.p = w->mem[o->acc[k].array] + o->acc[k].at};
    memcpy(pl[k].stride, o->acc[k].stride, sizeof pl[k].stride);
  }
  for (int l = 0; l < s->desc.ndims; l++)
    points *= o->trip[l];
  for (int64_t i = 0; i < points; i++) {
    uint64_t red[OR_REDS];
    int64_t at = i, iv[OR_DIMS];
    for (int l = s->desc.ndims - 1; l >= 0; l--) {
      n[l] = at % o->trip[l];
      at /= o->trip[l];
      iv[l] = o->first[l] + n[l] * o->step[l];
    }
    or_body(o, pass, n, iv, pl, red);
    for (int r = 0; r < s->desc.nreds; r++)
      cf_red_combine(s->red[r].op, s->red[r].type,
                     o->red_array[r] < 0 ? (char *)&w->slot[o->red_slot[r]]
                                         : w->mem[o->red_array[r]] + o->red_at[r],
                     &red[r]);
  }
}

/* ---- generation */

static uint64_t state;
static uint64_t next(void) { return state = or_mix(state, 1); }
static int below(int n) { return (int)(next() % (uint64_t)n); }
static bool chance(int percent) { return below(100) < percent; }

static void make_arrays(or_program *p) {
  int64_t n = 2 + below(8), m = 2 + below(6), k = 1 + below(3);
  p->narrays = 2 + below(OR_ARRAYS - 1);
  for (int i = 0; i < p->narrays; i++) {
    or_array *a = &p->array[i];
    a->type = COFUSE_U64;
    a->elem = 8;
    if (chance(15)) {
      a->type = COFUSE_OPAQUE;
      a->elem = chance(50) ? 16 : 24;
    } else if (chance(8)) {
      a->type = COFUSE_U32;
      a->elem = 4;
    }
    a->rank = chance(12) ? 0 : chance(40) ? 1 : chance(80) ? 2 : 3;
    int64_t base[3] = {n, m, k};
    for (int d = 0; d < a->rank; d++) {
      a->ext[d] = base[d];
      if (chance(15))
        a->ext[d] = base[below(3)];
      if (chance(25))
        a->ext[d] += below(4) - 1;
      if (a->ext[d] < 1)
        a->ext[d] = 1;
    }
    if (a->rank == 1 && chance(40))
      a->ext[0] = n * m + (chance(20) ? below(3) : 0);
    if (a->rank == 2 && chance(5))
      a->ext[0] = 1;
    a->bytes = a->elem;
    for (int d = 0; d < a->rank; d++)
      a->bytes *= a->ext[d];
    a->host = -1;
    a->automatic = chance(15);
    if (i && !a->automatic && !p->array[i - 1].automatic && p->array[i - 1].host < 0 && chance(25))
      a->host = i - 1;
  }
}

static void make_site(or_program *p, or_site *s, bool full) {
  static const uint8_t iv[OR_DIMS] = {COFUSE_I64, COFUSE_I64, COFUSE_I64}, sc[2] = {COFUSE_U64, COFUSE_U64};
  static const uint8_t ops[] = {COFUSE_RED_ADD, COFUSE_RED_ADD, COFUSE_RED_XOR, COFUSE_RED_MIN,
                                COFUSE_RED_MAX};
  (void)p;
  int nd = chance(10) ? 0 : chance(45) ? 1 : chance(80) ? 2 : 3;
  snprintf(s->name, sizeof s->name, "site%d", (int)(s - p->site));
  s->desc = (cofuse_forall){.abi = COFUSE_ABI,
                            .kind = nd ? COFUSE_KIND_FORALL : COFUSE_KIND_TASK,
                            .ndims = (uint8_t)nd,
                            .nscalars = 2,
                            .line = (uint32_t)(s - p->site) + 1,
                            .file = "oracle.c",
                            .function = "f",
                            .name = s->name,
                            .iv_types = iv,
                            .scalar_types = sc,
                            .body = "",
                            .decls = ""};
  if (!full && chance(18)) {
    s->desc.nreds = (uint8_t)(1 + chance(25));
    for (int r = 0; r < s->desc.nreds; r++)
      s->red[r] = (cofuse_red){.op = ops[below(5)], .type = COFUSE_U64, .text = "r"};
  }
  s->desc.naccess = (uint16_t)(full ? 1 + below(2) : 1 + below(OR_ACC));
  for (int k = 0; k < s->desc.naccess; k++) {
    cofuse_access *a = &s->acc[k];
    snprintf(s->text[k], sizeof s->text[k], "a%d", k);
    *a = (cofuse_access){.type = COFUSE_U64, .line = s->desc.line, .text = s->text[k]};
    if (full) {
      a->mode = k ? COFUSE_R : COFUSE_W;
      continue;
    }
    bool lead = k == 0 && !(s->desc.nreds && chance(60));
    a->mode = lead         ? (chance(80) ? COFUSE_W : COFUSE_R | COFUSE_W)
              : chance(78) ? COFUSE_R
              : chance(60) ? COFUSE_W
                           : COFUSE_R | COFUSE_W;
    if (chance(4))
      a->type = COFUSE_U32;
    if (chance(12))
      a->flags |= COFUSE_ACC_COND;
    if (a->mode == COFUSE_R && chance(6))
      a->flags = COFUSE_ACC_INDIRECT;
    else if (chance(a->mode == COFUSE_R ? 12 : 4))
      a->ninner = (uint8_t)(1 + chance(25));
  }
  if (chance(30)) /* the order of entries is the order in the body */
    for (int k = s->desc.naccess - 1; k > 0 && !full; k--) {
      int j = below(k + 1);
      cofuse_access t = s->acc[k];
      s->acc[k] = s->acc[j];
      s->acc[j] = t;
    }
}

static void strides(const or_array *a, int64_t *es) {
  int64_t x = a->elem;
  for (int d = a->rank - 1; d >= 0; d--) {
    es[d] = x;
    x *= a->ext[d];
  }
}

/* A map that stays inside, for the trip counts of the operation. */
static void make_map(or_op *o, const cofuse_access *d, int nd, or_access *x, const or_array *a) {
  int64_t es[3], lo[3] = {0}, hi[3] = {0}, at = 0;
  int perm[3] = {0, 1, 2};
  bool cond = d->flags & COFUSE_ACC_COND;
  memset(x->stride, 0, sizeof x->stride);
  strides(a, es);
  for (int l = 0; l < d->ninner; l++)
    x->itrip[l] = 1 + below(3) - chance(4);
  if (nd > 1 && chance(12)) {
    int i = below(nd), j = below(nd), t = perm[i];
    perm[i] = perm[j];
    perm[j] = t;
  }
  /* A flat view of one dimension. */
  if (a->rank > 0 && a->rank < nd && chance(75)) {
    int64_t c = 1;
    int dim = a->rank - 1;
    for (int l = nd - 1; l >= 0; l--) {
      if ((c * o->trip[l] > a->ext[dim] && o->trip[l] > 1) || chance(4))
        continue;
      x->stride[l] = c * es[dim];
      hi[dim] += c * (o->trip[l] - 1);
      c *= o->trip[l] < 1 ? 1 : o->trip[l];
      if (chance(10) && hi[dim] + c < a->ext[dim])
        c++;
    }
  } else {
    for (int q = 0; q < a->rank; q++) {
      int at_loop =
          chance(d->mode & COFUSE_W ? 97 : 85) ? q - (a->rank < nd ? 0 : a->rank - nd) : below(nd + 1) - 1;
      int l = at_loop < 0 || at_loop >= nd ? -1 : perm[at_loop];
      if (chance(4))
        l = nd ? below(nd) : -1;
      int64_t c = chance(82) ? 1 : chance(60) ? -1 : chance(70) ? 2 : -2;
      if (l >= 0 && (o->trip[l] - 1) * (c < 0 ? -c : c) >= a->ext[q])
        c = c < 0 ? -1 : 1;
      if (l >= 0 && o->trip[l] <= a->ext[q] && o->trip[l] > 0) {
        x->stride[l] += c * es[q];
        *(c < 0 ? &lo[q] : &hi[q]) += c * (o->trip[l] - 1);
      }
    }
  }
  for (int i = 0; i < d->ninner && a->rank; i++) {
    int q = below(a->rank);
    int64_t c = chance(80) ? 1 : -1, t = x->itrip[i] - 1;
    if (chance(10) || t < 0 || hi[q] - lo[q] + t >= a->ext[q])
      continue;
    x->stride[nd + i] = c * es[q];
    *(c < 0 ? &lo[q] : &hi[q]) += c * t;
  }
  for (int q = 0; q < a->rank; q++) {
    int64_t room = a->ext[q] - (hi[q] - lo[q]), off = room > 0 ? (int64_t)below((int)room) - lo[q] : -lo[q];
    if (room > 1 && chance(50))
      off = -lo[q] + below(2);
    if (cond && chance(60))
      off += below(5) - 2;
    at += off * es[q];
  }
  int w = (int)cf_type_bytes(d->type);
  if ((int)a->elem > w)
    at += (int64_t)below((int)a->elem / w) * w;
  x->at = at;
  /* Sometimes any address that stays inside. */
  if (a->rank && !cond && chance(4)) {
    int l = nd + d->ninner ? below(nd + d->ninner) : -1;
    if (l >= 0)
      x->stride[l] += chance(50) ? 8 : -8;
    if (chance(50))
      x->at += 8;
  }
}

static bool inside(const or_op *o, const cofuse_access *d, int nd, const or_access *x, const or_array *a) {
  int64_t lo = x->at, hi = x->at + (int64_t)cf_type_bytes(d->type);
  for (int l = 0; l < nd + d->ninner; l++) {
    int64_t t = l < nd ? o->trip[l] : x->itrip[l - nd], s = t > 0 ? x->stride[l] * (t - 1) : 0;
    *(s < 0 ? &lo : &hi) += s;
  }
  return lo >= 0 && hi <= a->bytes;
}

static void make_access(or_program *p, or_op *o, const or_site *s, int k) {
  const cofuse_access *d = &s->acc[k];
  or_access *x = &o->acc[k];
  int nd = s->desc.ndims;
  for (int try = 0;; try++) {
    x->array = below(p->narrays);
    const or_array *a = &p->array[x->array];
    if (a->elem < cf_type_bytes(d->type) || (try < 8 && a->type != COFUSE_OPAQUE && a->type != d->type)) {
      if (try > 40) { /* no array of this type: the whole operation becomes empty */
        *x = (or_access){.array = 0};
        for (int l = 0; l < nd; l++)
          o->trip[l] = 0;
        if (!nd)
          o->kind = OR_FLUSH;
        return;
      }
      continue;
    }
    if (try < 30 && d->mode & COFUSE_W && a->rank < nd && (chance(80) || a->ext[0] < 6))
      continue;
    bool taken = false; /* mostly no array that another access of the task writes, or the loop is plain */
    for (int j = 0; j < k; j++)
      taken |= o->acc[j].array == x->array && ((s->acc[j].mode | d->mode) & COFUSE_W);
    if (try < 20 && taken && chance(85))
      continue;
    if (d->flags & COFUSE_ACC_INDIRECT) {
      int64_t n = a->bytes / (int64_t)cf_type_bytes(d->type);
      *x = (or_access){.array = x->array,
                       .at = chance(70) ? 0 : below((int)n) * (int64_t)cf_type_bytes(d->type)};
      x->base = x->at;
      return;
    }
    make_map(o, d, nd, x, a);
    bool moves = true;
    for (int l = 0; l < nd; l++)
      moves &= o->trip[l] <= 1 || x->stride[l] != 0;
    if (try < 50 && d->mode & COFUSE_W && !moves && chance(90))
      continue;
    if (!(d->flags & COFUSE_ACC_COND) && !inside(o, d, nd, x, a)) {
      if (try > 60) {
        memset(x->stride, 0, sizeof x->stride);
        x->at = 0;
        return;
      }
      continue;
    }
    int64_t e = a->bytes / a->elem;
    x->base = chance(60) || x->at < 0 || x->at >= a->bytes ? 0
              : chance(50)                                 ? x->at
                                                           : below((int)e) * (int64_t)a->elem;
    return;
  }
}

static void make_run(or_program *p, or_op *o, int site) {
  const or_site *s = &p->site[site];
  int nd = s->desc.ndims;
  o->site = site;
  /* Trip counts from the array that the first write goes to. */
  const or_array *lead = &p->array[below(p->narrays)];
  for (int try = 0; try < 6 && (lead->rank < nd || lead->ext[0] < 2); try++)
    lead = &p->array[below(p->narrays)];
  for (int l = 0; l < nd; l++) {
    int q = lead->rank >= nd ? l + lead->rank - nd : l;
    int64_t e = q < lead->rank ? lead->ext[q] : 1 + below(3);
    if (lead->rank == 1 && nd == 2)
      e = l == 0 ? p->array[0].rank ? p->array[0].ext[0] : 3 : 1 + below(4);
    if (e > 40)
      e = 40;
    if (chance(10))
      e = e / 2;
    else if (chance(45))
      e -= below(3);
    o->trip[l] = e < 1 ? !chance(20) : e;
    o->step[l] = chance(80) ? 1 : chance(50) ? -1 : 3;
    o->first[l] = below(5);
  }
  for (int k = 0; k < s->desc.naccess; k++)
    make_access(p, o, s, k);
  for (int r = 0; r < s->desc.nreds; r++) {
    o->red_array[r] = -1;
    o->red_slot[r] = r;
    for (int try = 0; try < 8 && chance(85); try++) {
      int a = below(p->narrays);
      bool used = r && o->red_array[0] == a;
      for (int k = 0; k < s->desc.naccess; k++)
        used |= o->acc[k].array == a;
      if (p->array[a].type == COFUSE_U64 && !used && (p->array[a].bytes == 8 || chance(3))) {
        o->red_array[r] = a;
        o->red_at[r] = 8 * below((int)(p->array[a].bytes / 8));
        break;
      }
    }
  }
}

/* An operation like an earlier one: what the memo must tell apart. */
static bool make_variant(or_program *p, or_op *o) {
  const or_op *q = &p->op[below(p->nops)];
  if (q->kind != OR_RUN)
    return false;
  const or_site *s = &p->site[q->site];
  int k = below(s->desc.naccess), what = below(3);
  or_op v = *q;
  or_access *x = &v.acc[k];
  const or_array *a = &p->array[x->array];
  if (what == 0 && a->bytes > 0) {
    for (int j = 0; j < s->desc.naccess; j++)
      if (!(s->acc[j].flags & COFUSE_ACC_INDIRECT)) {
        const or_array *b = &p->array[v.acc[j].array];
        v.acc[j].base = below((int)(b->bytes / b->elem)) * (int64_t)b->elem;
      }
  } else if (what == 1) {
    int64_t by = (below(3) - 1) * (int64_t)a->elem;
    or_access old = *x;
    x->at += by;
    if (s->acc[k].flags & COFUSE_ACC_INDIRECT ||
        (!(s->acc[k].flags & COFUSE_ACC_COND) && !inside(&v, &s->acc[k], s->desc.ndims, x, a)))
      *x = old;
  } else {
    int b = below(p->narrays);
    if (p->array[b].bytes == a->bytes && p->array[b].type == a->type)
      for (int j = 0, from = x->array; j < s->desc.naccess; j++)
        if (v.acc[j].array == from)
          v.acc[j].array = b;
    for (int r = 0; r < s->desc.nreds; r++)
      for (int j = 0; j < s->desc.naccess; j++)
        if (v.red_array[r] == v.acc[j].array)
          return false;
  }
  *o = v;
  return true;
}

/* A loop that writes all of the array and reads others only. */
static bool make_full(or_program *p, or_op *o, int array) {
  const or_array *a = &p->array[array];
  if (a->type != COFUSE_U64 || p->nsites == OR_OPS || a->rank == 0)
    return false;
  or_site *s = &p->site[p->nsites];
  make_site(p, s, true);
  s->desc.ndims = (uint8_t)a->rank;
  s->desc.kind = COFUSE_KIND_FORALL;
  o->site = p->nsites++;
  int64_t es[3];
  strides(a, es);
  o->acc[0] = (or_access){.array = array};
  for (int l = 0; l < a->rank; l++) {
    o->trip[l] = a->ext[l];
    o->step[l] = 1;
    o->acc[0].stride[l] = es[l];
  }
  for (int k = 1; k < s->desc.naccess; k++)
    for (int try = 0; try == 0 || o->acc[k].array == array; try++) {
      if (try == 20)
        return false;
      make_access(p, o, s, k);
    }
  return o->trip[0] > 0;
}

void or_generate(or_program *p, uint64_t seed) {
  memset(p, 0, sizeof *p);
  state = or_mix(seed, 17);
  p->seed = seed;
  p->ranks = 1 + below(OR_RANKS);
  p->passes = 1 + below(3);
  p->order = below(3);
  p->window_max = chance(10) ? 1 : chance(30) ? 2 + (uint32_t)below(6) : 1024;
  p->window = p->window_max < 16 ? p->window_max : chance(50) ? 16 : 2 + (uint32_t)below(5);
  p->defer = chance(80) ? 1u << 20 : (size_t)below(600);
  make_arrays(p);
  for (int a = 0; a < p->narrays; a++)
    if (!chance(5))
      p->op[p->nops++] = (or_op){.kind = OR_STORE, .array = a};
  int total = p->nops + 2 + below(OR_OPS - p->nops - 1);
  while (p->nops < total && p->nops < OR_OPS) {
    or_op *o = &p->op[p->nops];
    int what = below(100);
    *o = (or_op){.array = below(p->narrays)};
    const or_array *a = &p->array[o->array];
    int64_t w = a->elem, n = a->bytes / w;
    o->lo = chance(40) ? 0 : below((int)n) * w;
    o->hi = chance(40) ? a->bytes : o->lo + w * (1 + below((int)(n - o->lo / w)));
    if (what < 72) {
      o->kind = OR_RUN;
      if (chance(20) && p->nops && make_variant(p, o)) {
        p->nops++;
        continue;
      }
      bool again = p->nsites == OR_OPS || (p->nsites && chance(25));
      if (!again)
        make_site(p, &p->site[p->nsites], false);
      make_run(p, o, again ? below(p->nsites) : p->nsites++);
    } else if (what < 82) {
      o->kind = chance(94) ? OR_FREE : OR_REALLOC;
      if (a->automatic && o->kind == OR_REALLOC)
        o->kind = OR_FREE;
      if (a->host >= 0)
        o->array = a->host;
      if (chance(92) && p->nops + 1 < OR_OPS) {
        p->nops++;
        p->op[p->nops] = (or_op){.kind = OR_STORE, .array = o->array};
      }
    } else if (what < 88) {
      o->kind = OR_READ;
      o->whole = chance(20);
    } else if (what < 92) {
      o->kind = OR_WRITE;
    } else if (what < 94) {
      o->kind = OR_RELEASE;
      o->with_run = chance(50) && make_full(p, o, o->array);
      if (chance(60) && p->nops + 1 < OR_OPS) {
        p->nops++;
        p->op[p->nops] = (or_op){.kind = OR_STORE, .array = o->array};
      }
    } else if (what < 96) {
      o->kind = OR_STORE;
    } else if (what < 98) {
      o->kind = OR_UPDATE;
    } else {
      o->kind = OR_FLUSH;
    }
    p->nops++;
  }
  for (int i = 0; i < p->nops; i++) {
    p->op[i].id = i;
    p->op[i].prog = p;
  }
}
