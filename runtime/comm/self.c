// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rank alone: everything it is told it told itself.
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

static cf_status self_exchange(cf_comm *c, const cf_msg *sends, int nsends, const cf_msg *recvs, int nrecvs,
                               uint64_t stamp) {
  if (nsends != nrecvs)
    return cf_fail(CF_EINTERNAL, "exchange 0x%016llx on one rank: %d sends but %d receives",
                   (unsigned long long)stamp, nsends, nrecvs);
  for (int i = 0; i < nsends; i++) {
    if (sends[i].peer != 0 || recvs[i].peer != 0 || sends[i].bytes != recvs[i].bytes)
      return cf_fail(CF_EINTERNAL, "exchange 0x%016llx on one rank: message %d does not match its receive",
                     (unsigned long long)stamp, i);
    memmove(recvs[i].buf, sends[i].buf, sends[i].bytes);
    c->messages++;
    c->bytes_sent += sends[i].bytes;
  }
  return CF_OK;
}

static cf_status self_bcast(cf_comm *c, void *buf, size_t bytes, int root, uint64_t stamp) {
  (void)buf, (void)bytes, (void)stamp;
  if (root != 0)
    return cf_fail(CF_EINTERNAL, "broadcast from rank %d on one rank", root);
  c->collectives++;
  return CF_OK;
}

static cf_status self_allgatherv(cf_comm *c, void *buf, const size_t *off, const size_t *len,
                                 uint64_t stamp) {
  (void)buf, (void)off, (void)len, (void)stamp;
  c->collectives++;
  return CF_OK;
}

static cf_status self_gather0(cf_comm *c, const void *mine, size_t bytes, void *all, uint64_t stamp) {
  (void)stamp;
  if (bytes && all != mine)
    memmove(all, mine, bytes);
  c->collectives++;
  return CF_OK;
}

static cf_status self_barrier(cf_comm *c, uint64_t stamp) {
  (void)stamp;
  c->collectives++;
  return CF_OK;
}

static void self_finalize(cf_comm *c) { free(c); }

static void self_abort(cf_comm *c, int code) {
  (void)c;
  _Exit(code);
}

static const cf_comm_ops self_ops = {
    .exchange = self_exchange,
    .bcast = self_bcast,
    .allgatherv = self_allgatherv,
    .gather0 = self_gather0,
    .barrier = self_barrier,
    .finalize = self_finalize,
    .abort = self_abort,
};

cf_status cf_comm_self(cf_comm **out) {
  cf_comm *c = calloc(1, sizeof *c);
  if (!c)
    return cf_fail(CF_ENOMEM, "out of memory for the communicator");
  c->ops = &self_ops;
  c->size = c->local_size = 1;
  *out = c;
  return CF_OK;
}
