// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fork while tasks are pending: parent and child both see their results, and go on by themselves.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  enum { N = 3000 };
  double *x = malloc(N * sizeof *x);
#pragma cofuse store(x[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] = x[i] * x[i];
  const char *ranks = getenv("OMPI_COMM_WORLD_SIZE"); /* with several, flush and update are the user's */
  if (ranks && atoi(ranks) > 1) {
#pragma cofuse flush
#pragma cofuse update(x)
  }
  fflush(stdout);
  pid_t p = fork();
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    x[i] += p == 0 ? 1 : 2;
  if (p == 0)
    exit(x[50] == 2501 && x[N - 1] == (double)(N - 1) * (N - 1) + 1 ? 3 : 4);
  int status = 0;
  waitpid(p, &status, 0);
  printf("%d %g %g\n", WEXITSTATUS(status), x[50], x[N - 1]);
  free(x);
}
