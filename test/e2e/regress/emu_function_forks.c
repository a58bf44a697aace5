// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A task that is a C function forks, in a process with several threads, while a device is in use.
#include <cofuse/ir.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *idle(void *arg) {
  for (;;)
    pause();
  return arg;
}
static void forks(const cofuse_call *c) {
  double *x = c->arg[0].data;
  pid_t p = fork();
  if (p == 0)
    _exit(7);
  int status = 0;
  waitpid(p, &status, 0);
  for (int64_t i = 0; i < c->hi[0] - c->lo[0]; i++)
    x[i] += WEXITSTATUS(status);
}
int main(void) {
  enum { N = 50 };
  pthread_t t;
  pthread_create(&t, NULL, idle, NULL);
  double *x = malloc(N * sizeof *x);
  cofuse_kernel *k;
  cofuse_partition part = {COFUSE_PART_TILING, {{0, 1, 0, 1}}};
  cofuse_store_create("x", x, COFUSE_F64, 1, (int64_t[]){N});
  cofuse_kernel_create(&(cofuse_kernel_info){.name = "forks",
                                             .ndims = 1,
                                             .nargs = 1,
                                             .arg = {{COFUSE_F64, COFUSE_READ_WRITE, 0}},
                                             .function = forks},
                       &k);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = i;
  int rc = cofuse_launch(k, (int64_t[]){N}, &(cofuse_arg){x, part}, NULL, NULL);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] *= 2;
  printf("%d %g %g\n", rc, x[3], x[49]);
  cofuse_store_release(x);
  free(x);
  exit(0);
}
