// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer comm: what ranks say to each other. Knows neither stores nor tasks.
 *
 * `self` (one rank) is built in; `mpi` is the separately loaded libcofuse-mpi.so, the only place
 * that includes mpi.h. All calls are collective in the sense that every rank issues the same
 * sequence of calls (exchange: with matching messages). Counts may exceed 2^31 bytes. */
#ifndef CF_COMM_H
#define CF_COMM_H

#include "base/base.h"

typedef struct cf_comm cf_comm;

typedef struct cf_msg {
  int peer;
  void *buf;    /* contiguous; not touched by the caller until exchange returns */
  size_t bytes; /* > 0 */
} cf_msg;

typedef struct cf_comm_ops {
  /* Non-blocking sends and receives, then waits for all. stamp: 64-bit hash of the task stream, equal on
   * all ranks; messages of ranks that went different ways are never matched. Messages between one
   * pair are matched in order. */
  cf_status (*exchange)(cf_comm *c, const cf_msg *sends, int nsends, const cf_msg *recvs, int nrecvs,
                        uint64_t stamp);
  cf_status (*bcast)(cf_comm *c, void *buf, size_t bytes, int root, uint64_t stamp);
  /* In place: rank r contributes bytes [off[r], off[r] + len[r]) of buf; afterwards buf is equal everywhere.
   */
  cf_status (*allgatherv)(cf_comm *c, void *buf, const size_t *off, const size_t *len, uint64_t stamp);
  /* Every rank gives `bytes` at mine; rank 0 gets all, in rank order, in `all` (size * bytes). */
  cf_status (*gather0)(cf_comm *c, const void *mine, size_t bytes, void *all, uint64_t stamp);
  cf_status (*barrier)(cf_comm *c, uint64_t stamp);
  void (*finalize)(cf_comm *c);        /* finalises MPI only if this layer initialised it; frees c */
  void (*abort)(cf_comm *c, int code); /* ends the whole job; the message was printed before */
} cf_comm_ops;

struct cf_comm {
  const cf_comm_ops *ops;
  int rank, size;
  int local_rank, local_size; /* among the ranks of this machine with the same affinity mask */
  bool takes_device;          /* messages may lie in the memory of a GPU */
  int timeout_s;              /* no progress for so long ends the job; 0 = wait for ever */
  /* Called from inside MPI_Finalize if the program calls it before exit, so pending work still runs. */
  void (*on_finalize)(void *arg);
  void *on_finalize_arg;
  uint64_t messages, bytes_sent, collectives;
};

/* Chooses: under a launcher (or with MPI already initialised in the process) the MPI component, else self.
 * user_comm: pointer to an MPI_Comm given by the program, or NULL for MPI_COMM_WORLD. */
cf_status cf_comm_create(const cf_options *opt, const void *user_comm, cf_comm **out);
cf_status cf_comm_self(cf_comm **out);
/* In a child of fork: what would need another rank is an error from here on, and ends this process alone. */
void cf_comm_leave(cf_comm *c);
/* What the launcher's environment says, before MPI is initialised: rank and size, or 0 and 1. */
void cf_comm_guess(int *rank, int *size);

/* Entry point of libcofuse-mpi.so. */
typedef cf_status (*cf_comm_mpi_fn)(const cf_options *opt, const void *user_comm, cf_comm **out);
#define CF_COMM_MPI_SYMBOL "cf_comm_mpi_create"

#endif
