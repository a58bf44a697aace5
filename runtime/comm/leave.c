// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a child of fork has left of a communicator: its number, and no one to talk to.
#include "comm/comm.h"

#include <stdlib.h>

static cf_status gone(void) {
  return cf_fail(CF_ECOMM, "a forked child cannot talk to the other ranks: put `#pragma cofuse flush` and "
                           "`update` of what it uses before fork");
}

static cf_status no_exchange(cf_comm *c, const cf_msg *sends, int nsends, const cf_msg *recvs, int nrecvs,
                             uint64_t stamp) {
  (void)c, (void)sends, (void)nsends, (void)recvs, (void)nrecvs, (void)stamp;
  return gone();
}

static cf_status no_bcast(cf_comm *c, void *buf, size_t bytes, int root, uint64_t stamp) {
  (void)c, (void)buf, (void)bytes, (void)root, (void)stamp;
  return gone();
}

static cf_status no_allgatherv(cf_comm *c, void *buf, const size_t *off, const size_t *len, uint64_t stamp) {
  (void)c, (void)buf, (void)off, (void)len, (void)stamp;
  return gone();
}

static cf_status no_gather0(cf_comm *c, const void *mine, size_t bytes, void *all, uint64_t stamp) {
  (void)c, (void)mine, (void)bytes, (void)all, (void)stamp;
  return gone();
}

static cf_status no_barrier(cf_comm *c, uint64_t stamp) {
  (void)c, (void)stamp;
  return gone();
}

static void no_finalize(cf_comm *c) { (void)c; }

static void no_abort(cf_comm *c, int code) { // the job is the parent's
  (void)c;
  _Exit(code);
}

static const cf_comm_ops ops = {
    .exchange = no_exchange,
    .bcast = no_bcast,
    .allgatherv = no_allgatherv,
    .gather0 = no_gather0,
    .barrier = no_barrier,
    .finalize = no_finalize,
    .abort = no_abort,
};

void cf_comm_leave(cf_comm *c) {
  if (c->size > 1)
    c->ops = &ops;
}
