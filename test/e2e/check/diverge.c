// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COFUSE_CHECK: ranks that do not run the same program. What differs is the argument: the process id steers a
// branch, a loop count, an early exit, or only the value of a scalar. "none": nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One of the processes of a job, whatever the launcher.
static int odd_one_out(void) {
  const char *r = getenv("OMPI_COMM_WORLD_RANK");
  if (!r)
    r = getenv("PMI_RANK");
  return r && atoi(r) == 1;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "none";
  int n = 100, other = odd_one_out();
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), scale = 2;
#pragma cofuse store(a[0 : n], b[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = i;
  int steps = 5;
  if (strcmp(what, "count") == 0 && other)
    steps++;
  if (strcmp(what, "scalar") == 0)
    scale = (double)getpid();
  if (strcmp(what, "time") == 0) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    scale = t.tv_nsec;
  }
  for (int k = 0; k < steps; k++) {
    if (strcmp(what, "branch") == 0 && other && k == 3) {
#pragma cofuse forall
      for (int i = 0; i < n; i++)
        b[i] = a[n - 1 - i];
    } else {
#pragma cofuse forall
      for (int i = 0; i < n; i++)
        b[i] = scale * a[n - 1 - i];
    }
    if (strcmp(what, "exit") == 0 && other && k == 2)
      exit(0);
    if (strcmp(what, "read") == 0 && other && k == 2)
      printf("%g\n", b[3]);
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      a[i] = b[i] + 1;
  }
  printf("%g %g\n", a[0], a[n - 1]);
  free(a);
  free(b);
  return 0;
}
