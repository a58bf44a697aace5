// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an MPI library says of itself and GPUs: Open MPI and MPICH have a function each; others say nothing.
#include "comm/mpi_impl.h"

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

bool cf_mpi_takes_device(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int yes = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &yes) == MPI_SUCCESS && yes;
#else
  return false;
#endif
}
