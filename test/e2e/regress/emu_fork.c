// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child of fork reads what the parent's device had, runs loops of its own, and ends by exit.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int born(void) {
  int status = 0;
  fflush(stdout);
  pid_t p = fork();
  if (p == 0)
    return -1;
  waitpid(p, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
int main(void) {
  static double a[100], b[100];
#pragma cofuse store(a)
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    a[i] = 3 * i;
#pragma cofuse update(a)
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    a[i] += 1;
#pragma cofuse update(a)
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    a[i] += a[99 - i];
#pragma cofuse flush
#pragma cofuse update(a)
  int code = born();
  if (code < 0) {
    double sum = 0;
    int right = a[7] == 3 * 7 + 3 * 92 + 2;
#pragma cofuse store(b)
#pragma cofuse forall
    for (int i = 0; i < 100; i++)
      b[i] = 2 * a[i] + i;
#pragma cofuse forall reduction(+ : sum)
    for (int i = 0; i < 100; i++)
      sum += b[i];
#pragma cofuse forall
    for (int i = 0; i < 100; i++)
      a[i] = b[99 - i] - a[i];
#pragma cofuse update(a)
    exit(right && a[9] == 299 + 90 && sum == 2 * 100 * 299 + 4950 ? 5 : 6);
  }
  printf("%d %g\n", code, a[8]);
#pragma cofuse forall
  for (int i = 0; i < 100; i++)
    a[i] -= i;
  printf("%g %g\n", a[0], a[99]);
}
