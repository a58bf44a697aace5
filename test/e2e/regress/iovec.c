// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// writev and readv reach stores through pointers inside a struct.
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void) {
  double *x = malloc(800), y[100];
  int fd[2];
  if (pipe(fd))
    return 1;
  for (int i = 0; i < 100; i++)
    x[i] = 0;
#pragma cofuse store(x[0 : 100])
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    x[i] = i;
  struct iovec v = {x, 800};
  if (writev(fd[1], &v, 1) != 800 || read(fd[0], y, 800) != 800)
    return 2;
  printf("%g %g\n", y[50], y[99]);
}
