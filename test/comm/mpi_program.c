// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that uses MPI itself: cofuse works on a duplicate of its communicator, finishes inside
// MPI_Finalize and finalises nothing. Argument "world" or "split".
#include "comm/comm.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ran;

// Pending work needs messages; they must still be possible.
static void last_work(void *arg) {
  cf_comm *c = arg;
  int mine = c->rank, *all = calloc((size_t)c->size, sizeof *all);
  if (c->ops->gather0(c, &mine, sizeof mine, c->rank ? NULL : all, 1) != CF_OK)
    c->ops->abort(c, 1);
  for (int r = 0; c->rank == 0 && r < c->size; r++)
    if (all[r] != r)
      c->ops->abort(c, 2);
  free(all);
  ran = 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int world_rank, world_size;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm part = MPI_COMM_WORLD;
  bool split = argc > 1 && !strcmp(argv[1], "split");
  if (split)
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
  cf_options o;
  cf_comm *c = NULL;
  if (cf_options_read(&o) != CF_OK || cf_comm_create(&o, split ? &part : NULL, &c) != CF_OK) {
    fprintf(stderr, "%s\n", cf_last_error());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  int size;
  MPI_Comm_size(part, &size);
  if (world_size > 1 && c->size != size)
    MPI_Abort(MPI_COMM_WORLD, 4);
  c->on_finalize = last_work;
  c->on_finalize_arg = c;
  if (split)
    MPI_Comm_free(&part); // cofuse holds its own
  MPI_Finalize();
  if (world_size > 1 && !ran)
    return 5;
  if (world_size > 1 && c->ops->barrier(c, 9) != CF_ECOMM)
    return 6;
  c->ops->finalize(c);
  if (world_rank == 0)
    puts("finalize ok");
  return 0;
}
