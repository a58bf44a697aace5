// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What the files of libcofuse-mpi.so share. */
#ifndef CF_COMM_MPI_IMPL_H
#define CF_COMM_MPI_IMPL_H

#include "comm/comm.h"

/* Does the library take addresses of a GPU's memory? After MPI_Init. */
bool cf_mpi_takes_device(void);

#endif
