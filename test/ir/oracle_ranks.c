// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Ranks of one process: a coroutine each, with its own context of the runtime and its own copy of the arrays
 * at other addresses. Messages are matched as MPI would. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 512 << 10 };

typedef enum state { READY, EXCHANGE, COLLECTIVE, DONE, FAILED } state;
typedef enum kind { BCAST, ALLGATHERV, GATHER0, BARRIER } kind;

typedef struct message {
  struct message *next;
  size_t bytes;
  uint64_t stamp;
  char data[];
} message;

typedef struct rank {
  ucontext_t at;
  state state;
  cf_comm comm;
  cf_context ctx;
  uintptr_t lo, hi; /* cf_hull */
  or_world world;
  or_site site[OR_OPS];
  size_t seen; /* bytes of the log of host reads compared */
  /* the call it waits in */
  kind kind;
  void *buf, *all;
  size_t bytes;
  const size_t *off, *len;
  int root, nrecvs;
  const cf_msg *recvs;
  uint64_t stamp;
} rank;

static rank ranks[OR_RANKS];
static char *stacks[OR_RANKS];
static message *queue[OR_RANKS][OR_RANKS]; /* from, to */
static ucontext_t scheduler;
static int now, nranks;
static const or_program *prog;
static char error[1024];
static cf_buf expected; /* host reads of the sequential run, in order */
uint64_t or_serial_loops, or_issued_loops;

int or_rank(void) { return now; }

static void pause_rank(void) {
  rank *r = &ranks[now];
  swapcontext(&r->at, &scheduler);
}

_Noreturn void or_fail(const char *fmt, ...) {
  if (!error[0]) {
    va_list ap;
    int n = snprintf(error, sizeof error, "rank %d of %d: ", now, nranks);
    va_start(ap, fmt);
    vsnprintf(error + n, sizeof error - (size_t)n, fmt, ap);
    va_end(ap);
  }
  ranks[now].state = FAILED;
  for (;;)
    pause_rank();
}

/* ---- comm */

static cf_status sim_exchange(cf_comm *c, const cf_msg *sends, int nsends, const cf_msg *recvs, int nrecvs,
                              uint64_t stamp) {
  rank *r = &ranks[c->rank];
  for (int i = 0; i < nsends; i++) {
    message *m = malloc(sizeof *m + sends[i].bytes), **end = &queue[c->rank][sends[i].peer];
    if (sends[i].bytes == 0 || sends[i].peer == c->rank)
      or_fail("a message to rank %d of %zu bytes", sends[i].peer, sends[i].bytes);
    *m = (message){NULL, sends[i].bytes, stamp};
    memcpy(m->data, sends[i].buf, m->bytes);
    while (*end)
      end = &(*end)->next;
    *end = m;
  }
  r->state = EXCHANGE;
  r->recvs = recvs;
  r->nrecvs = nrecvs;
  r->stamp = stamp;
  pause_rank();
  return CF_OK;
}

static cf_status collective(cf_comm *c, kind k, void *buf, size_t bytes, int root, uint64_t stamp) {
  rank *r = &ranks[c->rank];
  r->state = COLLECTIVE;
  r->kind = k;
  r->buf = buf;
  r->bytes = bytes;
  r->root = root;
  r->stamp = stamp;
  pause_rank();
  return CF_OK;
}
static cf_status sim_bcast(cf_comm *c, void *buf, size_t bytes, int root, uint64_t stamp) {
  return collective(c, BCAST, buf, bytes, root, stamp);
}
static cf_status sim_allgatherv(cf_comm *c, void *buf, const size_t *off, const size_t *len, uint64_t stamp) {
  ranks[c->rank].off = off;
  ranks[c->rank].len = len;
  return collective(c, ALLGATHERV, buf, 0, 0, stamp);
}
static cf_status sim_gather0(cf_comm *c, const void *mine, size_t bytes, void *all, uint64_t stamp) {
  ranks[c->rank].all = all;
  return collective(c, GATHER0, (void *)(uintptr_t)mine, bytes, 0, stamp);
}
static cf_status sim_barrier(cf_comm *c, uint64_t stamp) { return collective(c, BARRIER, NULL, 0, 0, stamp); }
static void sim_finalize(cf_comm *c) { (void)c; }
static void sim_abort(cf_comm *c, int code) {
  (void)c;
  or_fail("abort %d", code);
}
static const cf_comm_ops sim_ops = {.exchange = sim_exchange,
                                    .bcast = sim_bcast,
                                    .allgatherv = sim_allgatherv,
                                    .gather0 = sim_gather0,
                                    .barrier = sim_barrier,
                                    .finalize = sim_finalize,
                                    .abort = sim_abort};

/* Delivers if everything that rank q waits for was sent. */
static bool deliver(int q) {
  rank *r = &ranks[q];
  message *next[OR_RANKS];
  for (int p = 0; p < nranks; p++)
    next[p] = queue[p][q];
  for (int i = 0; i < r->nrecvs; i++) {
    message **m = &next[r->recvs[i].peer];
    if (!*m)
      return false;
    *m = (*m)->next;
  }
  for (int i = 0; i < r->nrecvs; i++) {
    const cf_msg *w = &r->recvs[i];
    message *m = queue[w->peer][q];
    if (m->stamp != r->stamp || m->bytes != w->bytes) {
      snprintf(error, sizeof error,
               "rank %d expects %zu bytes (stamp %llx) from rank %d, which sent %zu (stamp %llx)", q,
               w->bytes, (unsigned long long)r->stamp, w->peer, m->bytes, (unsigned long long)m->stamp);
      return false;
    }
    memcpy(w->buf, m->data, m->bytes);
    queue[w->peer][q] = m->next;
    free(m);
  }
  return true;
}

static void serve(void) {
  rank *a = &ranks[0];
  for (int q = 1; q < nranks; q++) {
    rank *b = &ranks[q];
    if (a->kind != b->kind || a->stamp != b->stamp || a->bytes != b->bytes || a->root != b->root) {
      snprintf(error, sizeof error,
               "ranks 0 and %d are in different collective calls: kind %d/%d bytes %zu/%zu root %d/%d", q,
               (int)a->kind, (int)b->kind, a->bytes, b->bytes, a->root, b->root);
      return;
    }
  }
  for (int q = 0; q < nranks; q++) {
    rank *r = &ranks[q];
    if (a->kind == BCAST && q != a->root)
      memcpy(r->buf, ranks[a->root].buf, a->bytes);
    if (a->kind == GATHER0)
      memcpy((char *)a->all + (size_t)q * a->bytes, r->buf, a->bytes);
    for (int p = 0; a->kind == ALLGATHERV && p < nranks; p++)
      if (p != q)
        memcpy((char *)r->buf + r->off[p], (char *)ranks[p].buf + r->off[p], r->len[p]);
  }
}

/* ---- a rank's life */

static void start_context(rank *r) {
  cf_ctx = (cf_context){.ready = true};
  cf_ctx.opt.order = prog->order;
  cf_ctx.opt.defer_bytes = prog->defer;
  cf_ctx.exec.opt = &cf_ctx.opt;
  cf_ctx.exec.comm = &r->comm;
  cf_ctx.exec.threads = 1;
  cf_ctx.window = prog->window;
  cf_ctx.window_max = prog->window_max;
}

static void end_context(void) {
  cf_pool_destroy(cf_ctx.exec.pool);
  cf_memo_free(&cf_ctx.memo, cf_exec_drop_bound);
  cf_again_free();
  while (cf_ctx.spare) {
    cf_task *t = cf_ctx.spare;
    cf_ctx.spare = t->next_free;
    free(t);
  }
  while (cf_ctx.sites) {
    cf_site *s = cf_ctx.sites;
    cf_ctx.sites = s->next;
    free(s);
  }
  for (uint32_t i = 0; i < cf_ctx.nstores; i++)
    free(cf_ctx.stores[i]);
  free(cf_ctx.stores);
  free(cf_ctx.win);
  cf_buf *b[] = {&cf_ctx.exec.bases,    &cf_ctx.exec.ints, &cf_ctx.exec.scalars,
                 &cf_ctx.exec.partials, &cf_ctx.exec.msgs, &cf_ctx.exec.pack};
  for (size_t i = 0; i < sizeof b / sizeof *b; i++)
    cf_buf_free(b[i]);
}

static void guard(const or_world *w, int a, int64_t lo, int64_t hi, int mode) {
  if (lo < hi)
    cofuse_guard(w->mem[a], w->mem[a] + lo, w->mem[a] + hi, mode, "host");
}

/* Guards of a loop that was not issued, hoisted in front of it as the plugin does. */
static void guard_loop(const or_op *o, const or_world *w, const or_site *s) {
  for (int k = 0; k < s->desc.naccess; k++) {
    const or_access *a = &o->acc[k];
    int64_t lo = a->at, hi = a->at + (int64_t)cf_type_bytes(s->acc[k].type),
            bytes = o->prog->array[a->array].bytes;
    for (int l = 0; l < s->desc.ndims + s->acc[k].ninner; l++) {
      int64_t n = l < s->desc.ndims ? o->trip[l] : a->itrip[l - s->desc.ndims],
              d = a->stride[l] * (n > 0 ? n - 1 : 0);
      *(d < 0 ? &lo : &hi) += d;
    }
    if (s->acc[k].flags & COFUSE_ACC_INDIRECT) {
      lo = 0;
      hi = bytes;
    }
    guard(w, a->array, lo < 0 ? 0 : lo, hi > bytes ? bytes : hi, s->acc[k].mode);
  }
  for (int r = 0; r < s->desc.nreds; r++)
    if (o->red_array[r] >= 0)
      guard(w, o->red_array[r], o->red_at[r], o->red_at[r] + 8, COFUSE_R | COFUSE_W);
}

static void issue(const or_op *o, uint64_t pass, rank *me) {
  or_site *s = &me->site[o->site];
  or_world *w = &me->world;
  int64_t ints[3 * OR_DIMS + OR_ACC * (2 + OR_LOOPS + OR_INNER)], *q = ints;
  for (int l = 0; l < s->desc.ndims; l++) {
    *q++ = o->first[l];
    *q++ = o->trip[l];
    *q++ = o->step[l];
  }
  for (int k = 0; k < s->desc.naccess; k++) {
    const or_access *a = &o->acc[k];
    *q++ = (int64_t)(uintptr_t)w->mem[a->array] + a->at;
    *q++ = (int64_t)(uintptr_t)w->mem[a->array] + a->base;
    for (int l = 0; l < s->desc.ndims + s->acc[k].ninner; l++)
      *q++ = a->stride[l];
    for (int l = 0; l < s->acc[k].ninner; l++)
      *q++ = a->itrip[l];
  }
  void *targets[OR_REDS];
  for (int r = 0; r < s->desc.nreds; r++)
    targets[r] =
        o->red_array[r] < 0 ? (void *)&w->slot[o->red_slot[r]] : w->mem[o->red_array[r]] + o->red_at[r];
  uint64_t op = (uint64_t)(uintptr_t)o;
  const void *scalars[2] = {&op, &pass};
  if (cofuse_run(&s->desc, ints, scalars, targets)) {
    or_issued_loops++;
    return;
  }
  or_serial_loops++;
  if (getenv("ORACLE_WHY"))
    fprintf(stderr, "plain: %s\n", cf_site_of(&s->desc)->why);
  guard_loop(o, w, s);
  or_plain_loop(o, pass, w);
}

/* Sequential run: notes what the host reads. A rank: compares. */
static void host_sees(rank *me, const char *p, size_t n, const char *what, int op, uint64_t pass) {
  if (!me) {
    cf_buf_put(&expected, p, n);
    return;
  }
  const char *e = expected.data + me->seen;
  me->seen += n;
  for (size_t i = 0; i < n; i++)
    if (p[i] != e[i])
      or_fail("op %d, pass %llu: %s: byte %zu of the %zu the host reads is wrong", op,
              (unsigned long long)pass, what, i, n);
}

static void describe(const or_array *a, cofuse_object *obj, int64_t *ext) {
  *obj = (cofuse_object){.abi = COFUSE_ABI,
                         .type = a->type,
                         .rank = (uint8_t)a->rank,
                         .flags = a->automatic ? COFUSE_OBJ_AUTO : 0,
                         .elem_bytes = a->elem,
                         .line = 1,
                         .file = "oracle.c",
                         .text = "array"};
  for (int k = 0; k < a->rank; k++) {
    ext[2 * k] = 0;
    ext[2 * k + 1] = a->ext[k];
  }
}

/* Two blocks never abut, whatever the allocator (the sanitizers' ones have no headers): stores that do are
 * taken for parts of one object. */
static size_t block_bytes(int a) {
  enum { GAP = 16 };
  size_t n = (size_t)prog->array[a].bytes + GAP;
  if (a + 1 < prog->narrays && prog->array[a + 1].host == a)
    n += (size_t)prog->array[a + 1].bytes;
  return n;
}

/* Sets where the array lies and what lies behind it in the same block. */
static void place(or_world *w, int a, char *p) {
  w->mem[a] = p;
  if (a + 1 < prog->narrays && prog->array[a + 1].host == a)
    w->mem[a + 1] = p + prog->array[a].bytes;
}

/* New memory, written by the host. */
static void renew(or_world *w, int array, bool rank, uint64_t salt) {
  for (int a = array; a < prog->narrays && (a == array || prog->array[a].host == array); a++) {
    if (rank)
      cofuse_guard(w->mem[a], w->mem[a], w->mem[a] + prog->array[a].bytes, COFUSE_W, "host");
    or_fill(prog, w->mem[a], a, 0, prog->array[a].bytes, salt);
  }
}

/* me == NULL: the sequential run. */
static void run_op(const or_op *o, uint64_t pass, or_world *w, rank *me) {
  const or_array *a = &prog->array[o->array];
  const or_site *s = &prog->site[o->site];
  cofuse_object obj;
  int64_t ext[2 * CF_RANK];
  uint64_t salt = or_mix((uint64_t)o->id + 1000, pass);
  describe(a, &obj, ext);
  switch (o->kind) {
  case OR_RUN:
    if (me)
      issue(o, pass, me);
    else
      or_plain_loop(o, pass, w);
    for (int r = 0; r < s->desc.nreds; r++)
      if (o->red_array[r] < 0)
        host_sees(me, (char *)&w->slot[o->red_slot[r]], 8, "reduction", o->id, pass);
    break;
  case OR_STORE:
    if (me)
      cofuse_store_(&obj, w->mem[o->array], ext);
    break;
  case OR_RELEASE:
    if (me)
      cofuse_release_(&obj, w->mem[o->array]);
    if (o->with_run) {
      if (me)
        issue(o, pass, me);
      else
        or_plain_loop(o, pass, w);
      break;
    }
    if (me)
      guard(w, o->array, 0, a->bytes, COFUSE_W);
    or_fill(prog, w->mem[o->array], o->array, 0, a->bytes, salt);
    break;
  case OR_FREE:
    if (!me) {
      renew(w, o->array, false, salt);
      break;
    }
    if (a->automatic) {
      void *slot = w->mem[o->array];
      cofuse_scope_exit(&slot);
      memset(slot, 0xee, (size_t)a->bytes);
      free(slot);
    } else {
      cofuse_hook_free(w->mem[o->array]);
    }
    place(w, o->array, malloc(block_bytes(o->array)));
    renew(w, o->array, true, salt);
    break;
  case OR_REALLOC:
    if (me)
      place(w, o->array, cofuse_hook_realloc(w->mem[o->array], block_bytes(o->array) + (size_t)(salt % 512)));
    break;
  case OR_READ:
    if (me && o->whole)
      cofuse_guard(w->mem[o->array], w->mem[o->array] + o->lo, (void *)UINTPTR_MAX, COFUSE_R | COFUSE_MAY,
                   "host");
    else if (me)
      guard(w, o->array, o->lo, o->hi, COFUSE_R);
    host_sees(me, w->mem[o->array] + o->lo, (size_t)(o->hi - o->lo), "host read", o->id, pass);
    break;
  case OR_UPDATE:
    if (me)
      cofuse_update_(&obj, w->mem[o->array], ext);
    host_sees(me, w->mem[o->array], (size_t)a->bytes, "update", o->id, pass);
    break;
  case OR_WRITE:
    if (me)
      guard(w, o->array, o->lo, o->hi, COFUSE_W);
    or_fill(prog, w->mem[o->array], o->array, o->lo, o->hi, salt);
    break;
  case OR_FLUSH:
    if (me)
      cofuse_flush_("oracle.c", 1);
    break;
  }
}

static void run_program(or_world *w, rank *me) {
  for (int a = 0; a < prog->narrays; a++)
    or_fill(prog, w->mem[a], a, 0, prog->array[a].bytes, (uint64_t)a);
  for (int pass = 0; pass < prog->passes; pass++)
    for (int i = 0; i < prog->nops; i++)
      run_op(&prog->op[i], (uint64_t)pass, w, me);
  for (int a = 0; a < prog->narrays; a++) {
    if (me)
      guard(w, a, 0, prog->array[a].bytes, COFUSE_R);
    host_sees(me, w->mem[a], (size_t)prog->array[a].bytes, "at the end", a, (uint64_t)prog->passes);
  }
}

static void rank_main(void) {
  rank *r = &ranks[now];
  start_context(r);
  run_program(&r->world, r);
  cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_EXIT, NULL));
  for (uint32_t i = 0; i < cf_ctx.nstores; i++)
    if (cf_ctx.stores[i]->pending || !cf_ctx.stores[i]->live)
      or_fail("a store is left behind at exit");
  if (cf_ctx.deferred || cf_ctx.nwin)
    or_fail("%zu bytes of freed memory and %u tasks are left behind at exit", cf_ctx.deferred, cf_ctx.nwin);
  end_context();
  r->state = DONE;
  for (;;)
    pause_rank();
}

/* Addresses are in another order on each rank. */
static void allocate(or_world *w, int r) {
  *w = (or_world){.slot = {7, 8, 9}};
  for (int i = 0; i < prog->narrays; i++) {
    int a = r % 2 ? prog->narrays - 1 - i : (i + r / 2) % prog->narrays;
    if (prog->array[a].host < 0)
      place(w, a, malloc(block_bytes(a)));
  }
}

static void release(or_world *w) {
  for (int a = 0; a < prog->narrays; a++)
    if (prog->array[a].host < 0)
      free(w->mem[a]);
}

static void run_ranks(void) {
  for (;;) {
    bool progress = false;
    int done = 0, waiting = 0;
    for (int q = 0; q < nranks && !error[0]; q++) {
      rank *r = &ranks[q];
      if (r->state == EXCHANGE && deliver(q))
        r->state = READY;
      if (r->state == READY) {
        progress = true;
        now = q;
        cf_ctx = r->ctx;
        cf_hull.lo = r->lo;
        cf_hull.hi = r->hi;
        swapcontext(&scheduler, &r->at);
        r->ctx = cf_ctx;
        r->lo = cf_hull.lo;
        r->hi = cf_hull.hi;
      }
      done += r->state == DONE;
      waiting += r->state == COLLECTIVE;
    }
    if (error[0] || done == nranks)
      return;
    if (waiting == nranks) {
      serve();
      progress = true;
      for (int q = 0; q < nranks; q++)
        ranks[q].state = READY;
    }
    if (!progress) {
      int n = snprintf(error, sizeof error, "ranks wait for each other:");
      for (int q = 0; q < nranks; q++)
        n += snprintf(error + n, sizeof error - (size_t)n, " %d: %s", q,
                      ranks[q].state == DONE       ? "at the end"
                      : ranks[q].state == EXCHANGE ? "exchange"
                                                   : "collective");
      return;
    }
  }
}

const char *or_simulate(const or_program *p, int size) {
  prog = p;
  nranks = size;
  cf_on_control = true;
  error[0] = 0;
  cf_buf_clear(&expected);
  or_world sequential;
  now = 0;
  allocate(&sequential, 0);
  run_program(&sequential, NULL);
  release(&sequential);
  for (int q = 0; q < size; q++) {
    rank *r = &ranks[q];
    if (!stacks[q])
      stacks[q] = malloc(STACK);
    getcontext(&r->at);
    r->at.uc_stack.ss_sp = stacks[q];
    r->at.uc_stack.ss_size = STACK;
    makecontext(&r->at, rank_main, 0);
    r->state = READY;
    r->seen = 0;
    r->lo = UINTPTR_MAX;
    r->hi = 0;
    r->comm = (cf_comm){.ops = &sim_ops, .rank = q, .size = size};
    memcpy(r->site, p->site, sizeof r->site);
    for (int s = 0; s < p->nsites; s++) {
      r->site[s].desc.access = r->site[s].acc;
      r->site[s].desc.reds = r->site[s].red;
      r->site[s].desc.state = NULL;
    }
    allocate(&r->world, q);
  }
  run_ranks();
  for (int a = 0; a < size && !error[0]; a++)
    for (int b = 0; b < size; b++)
      if (queue[a][b])
        snprintf(error, sizeof error, "rank %d sent to rank %d what it never received", a, b);
  for (int a = 0; a < size; a++)
    for (int b = 0; b < size; b++)
      while (queue[a][b]) {
        message *m = queue[a][b];
        queue[a][b] = m->next;
        free(m);
      }
  if (!error[0]) /* what a failed run leaves is lost: it ends the program soon */
    for (int q = 0; q < size; q++)
      release(&ranks[q].world);
  or_kernels_free();
  return error[0] ? error : NULL;
}
