// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the communicator: alone, or the MPI component next to this library.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr, RTLD_DEFAULT
#endif
#include "comm/comm.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENT "libcofuse-mpi.so"

// Value of an environment variable that is a whole number >= 0, or -1.
static int env_number(const char *name) {
  const char *s = getenv(name);
  if (!s || *s < '0' || *s > '9')
    return -1;
  char *end;
  long v = strtol(s, &end, 10);
  return *end || v > INT_MAX ? -1 : (int)v;
}

// True if a launcher started this process. *size is 0 where it does not tell.
static bool launched(int *rank, int *size) {
  static const char *const pairs[][2] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"PMIX_RANK", "PMI_SIZE"},
      {"PMIX_RANK", "SLURM_NTASKS"},
      {"PMI_RANK", "SLURM_NTASKS"},
      // SLURM_PROCID alone is no sign: a batch script that runs one process has it too.
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    int r = env_number(pairs[i][0]), n = env_number(pairs[i][1]);
    if (r >= 0 && n > r) {
      *rank = r;
      *size = n;
      return true;
    }
  }
  int r = env_number("PMIX_RANK");
  if (r < 0)
    r = env_number("PMI_RANK");
  if (r < 0 && (getenv("PMI_FD") || getenv("PMI_PORT"))) {
    r = env_number("SLURM_PROCID");
    int n = env_number("SLURM_NTASKS");
    if (r >= 0 && n > r) {
      *rank = r;
      *size = n;
      return true;
    }
  }
  *rank = r < 0 ? 0 : r;
  *size = 0;
  return r >= 0;
}

void cf_comm_guess(int *rank, int *size) {
  if (!launched(rank, size))
    *size = 1;
  else if (*size == 0)
    *size = *rank > 0 ? *rank + 1 : 2; // more than one, for all that is known
}

// Asks an MPI library that the program itself is linked to, if there is one. The signature is the same
// in every MPI, so no header is needed.
static bool program_uses_mpi(void) {
  union {
    void *object;
    int (*call)(int *);
  } f = {dlsym(RTLD_DEFAULT, "MPI_Initialized")};
  int yes = 0;
  return f.object && f.call(&yes) == 0 && yes;
}

static void *open_component(void) {
  int flags = RTLD_NOW | RTLD_GLOBAL; // global: MPI libraries load plugins that expect to see them
  Dl_info self;
  if (dladdr((const void *)(uintptr_t)&cf_comm_create, &self) && self.dli_fname) {
    const char *slash = strrchr(self.dli_fname, '/');
    char path[4096];
    int dir = slash ? (int)(slash - self.dli_fname) : 1;
    int n = snprintf(path, sizeof path, "%.*s/%s", dir, slash ? self.dli_fname : ".", COMPONENT);
    void *lib = n < (int)sizeof path ? dlopen(path, flags) : NULL;
    if (lib)
      return lib;
  }
  return dlopen(COMPONENT, flags);
}

cf_status cf_comm_create(const cf_options *opt, const void *user_comm, cf_comm **out) {
  int rank, size;
  bool many = launched(&rank, &size) && size != 1;
  bool program_mpi = !many && size != 1 && program_uses_mpi();
  if (!many && !program_mpi && !user_comm) {
    CF_TRY(cf_comm_self(out));
    (*out)->timeout_s = opt->timeout_s;
    return CF_OK;
  }
  void *lib = open_component();
  if (!lib) {
    const char *why = dlerror();
    char started[80] = "the program uses MPI";
    if (many && size)
      snprintf(started, sizeof started, "started as rank %d of %d", rank, size);
    else if (many)
      snprintf(started, sizeof started, "started as rank %d of an MPI job", rank);
    return cf_fail(CF_ECOMM,
                   "%s, but the MPI component %s cannot be loaded (%s); was cofuse built without MPI?",
                   started, COMPONENT, why ? why : "no reason given");
  }
  union {
    void *object;
    cf_comm_mpi_fn call;
  } create = {dlsym(lib, CF_COMM_MPI_SYMBOL)};
  if (!create.object)
    return cf_fail(CF_EABI, "%s has no function %s: it belongs to another version of cofuse", COMPONENT,
                   CF_COMM_MPI_SYMBOL);
  CF_TRY(create.call(opt, user_comm, out));
  // A launcher of another MPI library starts n processes that each believe to be alone.
  if (!user_comm && many && size > 1 && (*out)->size != size) {
    int got = (*out)->size;
    (*out)->ops->finalize(*out);
    return cf_fail(CF_ECOMM,
                   "the launcher started %d ranks but MPI knows of %d: was the program started with the "
                   "launcher of another MPI library than cofuse was built with?",
                   size, got);
  }
  return CF_OK;
}
