// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks of an MPI job. Everything, collectives too, is built from non-blocking point-to-point messages
// whose tag is derived from the caller's stamp: ranks that went different ways never match, and since
// every wait is bounded, they end the job with a message that says where each of them stands.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_getaffinity
#endif
#include "comm/mpi_impl.h"

#include <mpi.h>

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum call { CALL_EXCHANGE, CALL_BCAST, CALL_ALLGATHER, CALL_GATHER, CALL_BARRIER, CALL_CREATE };
static const char *const call_names[] = {"exchange", "broadcast", "allgather", "gather", "barrier", "start"};

// What a rank that waits for long tells those it waits for.
struct note {
  uint64_t stamp;
  uint64_t call;
};

enum { NOTE_TAG = 1 };
#define DEFAULT_MAX_MESSAGE ((size_t)1 << 30)

struct mpi_comm {
  cf_comm base; // first: cf_comm * and struct mpi_comm * convert to each other
  MPI_Comm comm, notes;
  size_t max_message; // bytes
  int tag_mask;
  bool ours; // MPI was initialised here
  int keyval;
  bool in_finalize, free_later;
  MPI_Request *req;
  int *index, *msg_of; // msg_of: request -> position in the list of sends, then receives
  MPI_Status *status;
  size_t *want; // bytes of each request
  int cap;
};

static struct mpi_comm *mpi_of(cf_comm *c) { return (struct mpi_comm *)c; }

static cf_status mpi_error(const char *what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int n = 0;
  MPI_Error_string(code, text, &n);
  return cf_fail(CF_ECOMM, "MPI error in %s: %.*s", what, n, text);
}

#define MPI_TRY(what, e)                                                                                     \
  do {                                                                                                       \
    int mpi_code_ = (e);                                                                                     \
    if (mpi_code_ != MPI_SUCCESS)                                                                            \
      return mpi_error(what, mpi_code_);                                                                     \
  } while (0)

static int tag_of(const struct mpi_comm *m, enum call call, uint64_t stamp) {
  uint64_t h = (stamp ^ (uint64_t)call) * 0x9e3779b97f4a7c15u;
  return (int)((h >> 32) & (uint64_t)m->tag_mask);
}

static cf_status grow_requests(struct mpi_comm *m, size_t n) {
  if (n <= (size_t)m->cap)
    return CF_OK;
  if (n > INT_MAX / 2)
    return cf_fail(CF_ECOMM, "%zu messages at once are too many", n);
  size_t cap = 2 * n;
  MPI_Request *req = realloc(m->req, cap * sizeof *req);
  m->req = req ? req : m->req;
  int *index = realloc(m->index, cap * sizeof *index);
  m->index = index ? index : m->index;
  int *msg_of = realloc(m->msg_of, cap * sizeof *msg_of);
  m->msg_of = msg_of ? msg_of : m->msg_of;
  MPI_Status *status = realloc(m->status, cap * sizeof *status);
  m->status = status ? status : m->status;
  size_t *want = realloc(m->want, cap * sizeof *want);
  m->want = want ? want : m->want;
  if (!req || !index || !msg_of || !status || !want)
    return cf_fail(CF_ENOMEM, "out of memory for %zu messages", n);
  m->cap = (int)cap;
  return CF_OK;
}

// One call on its way: n requests in m->req, the first nsend of them sends.
struct flight {
  struct mpi_comm *m;
  enum call call;
  uint64_t stamp;
  const cf_msg *sends, *recvs;
  int nsends, n, nsend_requests, left;
  bool told; // notes were sent
};

static const cf_msg *flight_msg(const struct flight *f, int request) {
  int i = f->m->msg_of[request];
  return request < f->nsend_requests ? &f->sends[i] : &f->recvs[i];
}

static int peer_order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Peers that open requests wait for, each once, in ascending order; *n of them. NULL without memory.
static int *flight_peers(const struct flight *f, int *n) {
  int *peers = malloc(sizeof *peers * (size_t)(f->n + 1));
  *n = 0;
  if (!peers)
    return NULL;
  for (int i = 0; i < f->n; i++)
    if (f->m->req[i] != MPI_REQUEST_NULL)
      peers[(*n)++] = flight_msg(f, i)->peer;
  qsort(peers, (size_t)*n, sizeof *peers, peer_order);
  int kept = 0;
  for (int i = 0; i < *n; i++)
    if (!kept || peers[kept - 1] != peers[i])
      peers[kept++] = peers[i];
  *n = kept;
  return peers;
}

// Tells the awaited ranks where this one stands, so that their message can name both positions.
static void flight_tell(struct flight *f) {
  int n;
  int *peers = flight_peers(f, &n);
  f->told = true;
  for (int i = 0; peers && i < n; i++) {
    // Small and never completed: a rank that gets as far as sending notes is about to end the job, or
    // loses these few bytes. Static, since MPI may still read it.
    static struct note note;
    note = (struct note){f->stamp, f->call};
    MPI_Request r;
    if (peers[i] != f->m->base.rank &&
        MPI_Isend(&note, sizeof note, MPI_BYTE, peers[i], NOTE_TAG, f->m->notes, &r) == MPI_SUCCESS)
      MPI_Request_free(&r);
  }
  free(peers);
}

enum { NOTES_SHOWN = 8 };

// Takes in the notes that have arrived; the last one of each rank counts. Returns how many ranks.
static int notes_receive(struct mpi_comm *m, struct note *notes, int *from) {
  int n = 0;
  for (int flag = 0;;) {
    MPI_Status st;
    struct note note;
    if (MPI_Iprobe(MPI_ANY_SOURCE, NOTE_TAG, m->notes, &flag, &st) != MPI_SUCCESS || !flag ||
        MPI_Recv(&note, sizeof note, MPI_BYTE, st.MPI_SOURCE, NOTE_TAG, m->notes, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
      return n;
    int i = 0;
    while (i < n && from[i] != st.MPI_SOURCE)
      i++;
    if (i == NOTES_SHOWN)
      continue;
    from[i] = st.MPI_SOURCE;
    notes[i] = note;
    n = i == n ? n + 1 : n;
  }
}

// Ends the job: nothing moved for timeout_s seconds.
static void flight_give_up(struct flight *f) {
  struct mpi_comm *m = f->m;
  cf_buf b = {0};
  cf_buf_printf(&b, "no progress for %d s (COFUSE_TIMEOUT) in %s at position 0x%016llx: rank %d waits for",
                m->base.timeout_s, call_names[f->call], (unsigned long long)f->stamp, m->base.rank);
  int n;
  int *peers = flight_peers(f, &n);
  if (peers) {
    for (int i = 0; i < n && i < 8; i++)
      cf_buf_printf(&b, "%s rank %d", i ? "," : "", peers[i]);
    if (n > 8)
      cf_buf_printf(&b, " and %d more", n - 8);
  }
  bool heard = false;
  struct note notes[NOTES_SHOWN];
  int from[NOTES_SHOWN];
  int nnotes = notes_receive(m, notes, from);
  for (int i = 0; i < nnotes; i++) {
    if (notes[i].call > CALL_CREATE || (notes[i].stamp == f->stamp && notes[i].call == (uint64_t)f->call))
      continue;
    cf_buf_printf(&b, "; rank %d waits in %s at position 0x%016llx", from[i], call_names[notes[i].call],
                  (unsigned long long)notes[i].stamp);
    heard = true;
  }
  cf_buf_str(&b, heard ? "; the ranks took different ways through the program"
                       : "; those ranks are busy elsewhere or took another way through the program");
  cf_log(CF_LOG_ERROR, "%s", b.failed ? "no progress; out of memory for the report" : b.data);
  cf_buf_free(&b);
  free(peers);
  MPI_Abort(m->comm, 1);
}

static cf_status check_received(const struct flight *f, int request, const MPI_Status *st) {
  int got = 0;
  MPI_TRY(call_names[f->call], MPI_Get_count(st, MPI_BYTE, &got));
  if ((size_t)got != f->m->want[request])
    return cf_fail(
        CF_ECOMM,
        "%s at position 0x%016llx: rank %d sent %d bytes where rank %d expects %zu: the ranks took "
        "different ways through the program",
        call_names[f->call], (unsigned long long)f->stamp, flight_msg(f, request)->peer, got, f->m->base.rank,
        f->m->want[request]);
  return CF_OK;
}

// After an error: no late message may be written to memory that the caller is about to give up.
static void flight_drop(const struct flight *f) {
  for (int i = f->nsend_requests; i < f->n; i++)
    if (f->m->req[i] != MPI_REQUEST_NULL) {
      MPI_Cancel(&f->m->req[i]);
      MPI_Request_free(&f->m->req[i]);
    }
}

// Waits for all requests. Yields the CPU between polls, since ranks may outnumber cores.
static cf_status flight_wait(struct flight *f) {
  struct mpi_comm *m = f->m;
  double since = 0; // of the last progress; 0: clock not started
  for (uint64_t polls = 0; f->left > 0; polls++) {
    int done = 0;
    int code = MPI_Testsome(f->n, m->req, &done, m->index, m->status);
    if (code == MPI_ERR_IN_STATUS) {
      for (int i = 0; i < done; i++)
        if (m->status[i].MPI_ERROR != MPI_SUCCESS)
          code = m->status[i].MPI_ERROR;
    }
    if (code != MPI_SUCCESS) {
      char text[MPI_MAX_ERROR_STRING] = "";
      int n = 0, class = 0;
      MPI_Error_class(code, &class);
      MPI_Error_string(code, text, &n);
      return cf_fail(CF_ECOMM, "%s at position 0x%016llx on rank %d: %.*s%s", call_names[f->call],
                     (unsigned long long)f->stamp, m->base.rank, n, text,
                     class == MPI_ERR_TRUNCATE ? ": a message is longer than expected; the ranks took "
                                                 "different ways through the program"
                                               : "");
    }
    if (done > 0 && done != MPI_UNDEFINED) {
      for (int i = 0; i < done; i++)
        if (m->index[i] >= f->nsend_requests)
          CF_TRY(check_received(f, m->index[i], &m->status[i]));
      f->left -= done;
      polls = 0;
      since = 0;
      continue;
    }
    if (polls < 20)
      continue;
    sched_yield();
    if (polls % 64 || !m->base.timeout_s)
      continue;
    double now = cf_now();
    if (since == 0) {
      since = now;
      continue;
    }
    if (!f->told && now - since > 0.5 * m->base.timeout_s)
      flight_tell(f);
    if (now - since > m->base.timeout_s)
      flight_give_up(f);
  }
  return CF_OK;
}

// Number of MPI messages that carry `bytes`.
static size_t chunks(const struct mpi_comm *m, size_t bytes) {
  return bytes / m->max_message + (bytes % m->max_message != 0);
}

static cf_status transfer(struct mpi_comm *m, enum call call, const cf_msg *sends, int nsends,
                          const cf_msg *recvs, int nrecvs, uint64_t stamp) {
  if (m->comm == MPI_COMM_NULL)
    return cf_fail(CF_ECOMM, "%s after MPI_Finalize: stores that other ranks own can no longer be reached",
                   call_names[call]);
  size_t total = 0;
  for (int i = 0; i < nsends + nrecvs; i++) {
    const cf_msg *g = i < nsends ? &sends[i] : &recvs[i - nsends];
    if (g->peer < 0 || g->peer >= m->base.size || !g->bytes)
      return cf_fail(CF_EINTERNAL, "%s: message of %zu bytes with rank %d of %d", call_names[call], g->bytes,
                     g->peer, m->base.size);
    total += chunks(m, g->bytes);
  }
  if (!total)
    return CF_OK;
  CF_TRY(grow_requests(m, total));
  struct flight f = {.m = m, .call = call, .stamp = stamp, .sends = sends, .recvs = recvs, .nsends = nsends};
  int tag = tag_of(m, call, stamp);
  for (int i = 0; i < nsends; i++)
    f.nsend_requests += (int)chunks(m, sends[i].bytes);
  // Receives are posted first, so that no message needs to be stored on arrival.
  for (int pass = 0; pass < 2; pass++) {
    const cf_msg *list = pass ? sends : recvs;
    int count = pass ? nsends : nrecvs, r = pass ? 0 : f.nsend_requests;
    for (int i = 0; i < count; i++)
      for (size_t at = 0; at < list[i].bytes; at += m->max_message, r++) {
        size_t n = list[i].bytes - at < m->max_message ? list[i].bytes - at : m->max_message;
        char *p = (char *)list[i].buf + at;
        m->want[r] = n;
        m->msg_of[r] = i;
        MPI_TRY(call_names[call],
                pass ? MPI_Isend(p, (int)n, MPI_BYTE, list[i].peer, tag, m->comm, &m->req[r])
                     : MPI_Irecv(p, (int)n, MPI_BYTE, list[i].peer, tag, m->comm, &m->req[r]));
      }
  }
  f.n = f.left = (int)total;
  cf_status st = flight_wait(&f);
  if (st != CF_OK)
    flight_drop(&f);
  return st;
}

static cf_status mpi_exchange(cf_comm *c, const cf_msg *sends, int nsends, const cf_msg *recvs, int nrecvs,
                              uint64_t stamp) {
  CF_TRY(transfer(mpi_of(c), CALL_EXCHANGE, sends, nsends, recvs, nrecvs, stamp));
  c->messages += (uint64_t)nsends;
  for (int i = 0; i < nsends; i++)
    c->bytes_sent += sends[i].bytes;
  return CF_OK;
}

// Binomial tree over ranks counted from the root.
static cf_status mpi_bcast(cf_comm *c, void *buf, size_t bytes, int root, uint64_t stamp) {
  struct mpi_comm *m = mpi_of(c);
  if (root < 0 || root >= c->size)
    return cf_fail(CF_EINTERNAL, "broadcast from rank %d of %d", root, c->size);
  c->collectives++;
  if (!bytes)
    return CF_OK;
  int me = c->rank >= root ? c->rank - root : c->rank - root + c->size;
  int64_t bit = 1;
  for (; bit < c->size; bit <<= 1)
    if (me & bit) {
      cf_msg r = {(int)((me - bit + root) % c->size), buf, bytes};
      CF_TRY(transfer(m, CALL_BCAST, NULL, 0, &r, 1, stamp));
      break;
    }
  cf_msg sends[32];
  int n = 0;
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (me + bit < c->size)
      sends[n++] = (cf_msg){(int)((me + bit + root) % c->size), buf, bytes};
  return transfer(m, CALL_BCAST, sends, n, NULL, 0, stamp);
}

// Ring: in step k every rank hands on the part it got in step k-1.
static cf_status mpi_allgatherv(cf_comm *c, void *buf, const size_t *off, const size_t *len, uint64_t stamp) {
  c->collectives++;
  int right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size;
  int part = c->rank;
  for (int step = 1; step < c->size; step++) {
    int next = (part + c->size - 1) % c->size;
    cf_msg s = {right, (char *)buf + off[part], len[part]};
    cf_msg r = {left, (char *)buf + off[next], len[next]};
    CF_TRY(transfer(mpi_of(c), CALL_ALLGATHER, &s, len[part] > 0, &r, len[next] > 0, stamp));
    part = next;
  }
  return CF_OK;
}

// Binomial tree: rank r collects the ranks r .. r + 2^k - 1, which are neighbours in `all`.
static cf_status mpi_gather0(cf_comm *c, const void *mine, size_t bytes, void *all, uint64_t stamp) {
  struct mpi_comm *m = mpi_of(c);
  c->collectives++;
  if (!bytes)
    return CF_OK;
  int64_t span = 1; // ranks of this rank's subtree
  while (span < c->size && !(c->rank & span))
    span <<= 1;
  if (c->rank + span > c->size)
    span = c->size - c->rank;
  char *parts = all;
  if (c->rank) {
    parts = malloc((size_t)span * bytes);
    if (!parts)
      return cf_fail(CF_ENOMEM, "out of memory: %zu bytes to gather", (size_t)span * bytes);
  }
  if (parts != mine)
    memmove(parts, mine, bytes);
  cf_status st = CF_OK;
  for (int64_t bit = 1; st == CF_OK && bit < span; bit <<= 1) {
    int64_t count = bit < span - bit ? bit : span - bit;
    cf_msg r = {(int)(c->rank + bit), parts + (size_t)bit * bytes, (size_t)count * bytes};
    st = transfer(m, CALL_GATHER, NULL, 0, &r, 1, stamp);
  }
  if (c->rank) {
    int64_t lowest = c->rank & -c->rank;
    cf_msg s = {(int)(c->rank - lowest), parts, (size_t)span * bytes};
    if (st == CF_OK)
      st = transfer(m, CALL_GATHER, &s, 1, NULL, 0, stamp);
    free(parts);
  }
  return st;
}

// Dissemination: after step k everyone has heard, directly or not, of 2^(k+1) ranks.
static cf_status mpi_barrier(cf_comm *c, uint64_t stamp) {
  c->collectives++;
  for (int64_t d = 1; d < c->size; d <<= 1) {
    char out = 1, in = 0;
    cf_msg s = {(int)((c->rank + d) % c->size), &out, 1};
    cf_msg r = {(int)((c->rank + c->size - d) % c->size), &in, 1};
    CF_TRY(transfer(mpi_of(c), CALL_BARRIER, &s, 1, &r, 1, stamp));
  }
  return CF_OK;
}

static void mpi_abort(cf_comm *c, int code) {
  struct mpi_comm *m = mpi_of(c);
  int over = 0;
  MPI_Finalized(&over);
  if (!over)
    MPI_Abort(m->comm == MPI_COMM_NULL ? MPI_COMM_WORLD : m->comm, code);
  _Exit(code);
}

static void mpi_free(struct mpi_comm *m) {
  free(m->req);
  free(m->index);
  free(m->msg_of);
  free(m->status);
  free(m->want);
  free(m);
}

static void close_comms(struct mpi_comm *m) {
  if (m->notes != MPI_COMM_NULL) {
    struct note notes[NOTES_SHOWN];
    int from[NOTES_SHOWN];
    notes_receive(m, notes, from); // of ranks that got on in the end
    MPI_Comm_free(&m->notes);
  }
  if (m->comm != MPI_COMM_NULL)
    MPI_Comm_free(&m->comm);
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else: the last moment at
// which messages are possible.
static int at_mpi_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)extra;
  struct mpi_comm *m = value;
  m->in_finalize = true;
  if (m->base.on_finalize)
    m->base.on_finalize(m->base.on_finalize_arg);
  close_comms(m);
  if (m->free_later)
    mpi_free(m);
  else
    m->in_finalize = false;
  return MPI_SUCCESS;
}

static void mpi_finalize(cf_comm *c) {
  struct mpi_comm *m = mpi_of(c);
  if (m->in_finalize) { // called by on_finalize
    m->free_later = true;
    return;
  }
  int over = 0;
  MPI_Finalized(&over);
  if (!over && m->comm != MPI_COMM_NULL) {
    // Bounded, unlike MPI_Finalize: ranks that took different ways meet here.
    if (m->ours && mpi_barrier(c, UINT64_MAX) != CF_OK) {
      cf_log(CF_LOG_ERROR, "%s", cf_last_error());
      mpi_abort(c, 1);
    }
    c->on_finalize = NULL;
    if (m->keyval != MPI_KEYVAL_INVALID)
      MPI_Comm_delete_attr(MPI_COMM_SELF, m->keyval); // calls at_mpi_finalize
    close_comms(m);
  }
  if (!over && m->keyval != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&m->keyval);
  if (!over && m->ours)
    MPI_Finalize();
  mpi_free(m);
}

static const cf_comm_ops mpi_ops = {
    .exchange = mpi_exchange,
    .bcast = mpi_bcast,
    .allgatherv = mpi_allgatherv,
    .gather0 = mpi_gather0,
    .barrier = mpi_barrier,
    .finalize = mpi_finalize,
    .abort = mpi_abort,
};

// Duplicates a communicator without risk of waiting for ever.
static cf_status duplicate(struct mpi_comm *m, MPI_Comm from, MPI_Comm *out) {
  MPI_Request r;
  MPI_TRY("MPI_Comm_idup", MPI_Comm_idup(from, out, &r));
  double start = cf_now();
  for (int done = 0;;) {
    MPI_TRY("MPI_Comm_idup", MPI_Test(&r, &done, MPI_STATUS_IGNORE));
    if (done)
      break;
    sched_yield();
    if (m->base.timeout_s && cf_now() - start > m->base.timeout_s) {
      cf_log(CF_LOG_ERROR, "not every rank came to the first cofuse directive within %d s (COFUSE_TIMEOUT)",
             m->base.timeout_s);
      MPI_Abort(from, 1);
    }
  }
  MPI_TRY("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN));
  return CF_OK;
}

static cf_status setup(struct mpi_comm *m, const cf_options *opt, MPI_Comm from) {
  cf_comm *c = &m->base;
  CF_TRY(duplicate(m, from, &m->comm));
  CF_TRY(duplicate(m, from, &m->notes));
  MPI_TRY("MPI_Comm_rank", MPI_Comm_rank(m->comm, &c->rank));
  MPI_TRY("MPI_Comm_size", MPI_Comm_size(m->comm, &c->size));

  // Tags up to 32767 are always there; take all bits that the library offers.
  int *upper = NULL, found = 0;
  MPI_TRY("MPI_Comm_get_attr", MPI_Comm_get_attr(m->comm, MPI_TAG_UB, &upper, &found));
  m->tag_mask = 32767;
  while (found && m->tag_mask < INT_MAX / 2 && 2 * m->tag_mask + 1 <= *upper)
    m->tag_mask = 2 * m->tag_mask + 1;
  m->max_message = opt->max_message ? opt->max_message : DEFAULT_MAX_MESSAGE;

  // All ranks are known to be here, so an ordinary collective is safe.
  CF_TRY(mpi_barrier(c, CALL_CREATE));
  MPI_Comm node, sharers;
  MPI_TRY("MPI_Comm_split_type", MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  int color = (int)(cf_hash64(&cpus, sizeof cpus, 0) & INT_MAX);
  MPI_TRY("MPI_Comm_split", MPI_Comm_split(node, color, c->rank, &sharers));
  MPI_Comm_rank(sharers, &c->local_rank);
  MPI_Comm_size(sharers, &c->local_size);
  MPI_Comm_free(&sharers);
  MPI_Comm_free(&node);

  MPI_TRY("MPI_Comm_create_keyval",
          MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_mpi_finalize, &m->keyval, NULL));
  MPI_TRY("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, m->keyval, m));
  c->takes_device = cf_mpi_takes_device();
  c->collectives = 0;
  return CF_OK;
}

cf_status cf_comm_mpi_create(const cf_options *opt, const void *user_comm, cf_comm **out);
cf_status cf_comm_mpi_create(const cf_options *opt, const void *user_comm, cf_comm **out) {
  int over = 0, begun = 0;
  MPI_Finalized(&over);
  MPI_Initialized(&begun);
  if (over)
    return cf_fail(CF_ECOMM, "the first cofuse directive comes after MPI_Finalize");
  struct mpi_comm *m = calloc(1, sizeof *m);
  if (!m)
    return cf_fail(CF_ENOMEM, "out of memory for the communicator");
  m->base.ops = &mpi_ops;
  m->base.timeout_s = opt->timeout_s;
  m->comm = m->notes = MPI_COMM_NULL;
  m->keyval = MPI_KEYVAL_INVALID;
  if (!begun) {
    int provided;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (code != MPI_SUCCESS) {
      free(m);
      return mpi_error("MPI_Init_thread", code);
    }
    m->ours = true;
  }
  MPI_Comm from = MPI_COMM_WORLD;
  if (user_comm)
    from = *(const MPI_Comm *)user_comm;
  int inter = 0;
  cf_status st = CF_OK;
  if (from == MPI_COMM_NULL)
    st = cf_fail(CF_EINVAL, "the communicator given to cofuse is MPI_COMM_NULL");
  else if (MPI_Comm_test_inter(from, &inter) != MPI_SUCCESS || inter)
    st = cf_fail(CF_EINVAL, "the communicator given to cofuse is not an intracommunicator");
  if (st == CF_OK)
    st = setup(m, opt, from);
  if (st != CF_OK) {
    free(m); // the communicators stay: the caller ends the job
    return st;
  }
  *out = &m->base;
  return CF_OK;
}
