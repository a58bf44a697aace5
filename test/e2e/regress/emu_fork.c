// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child of fork reads what the parent's device had, and goes on with it.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  static double a[100];
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
  fflush(stdout);
  pid_t p = fork();
  if (p == 0) {
    int right = a[7] == 3 * 7 + 3 * 92 + 2;
#pragma cofuse forall
    for (int i = 0; i < 100; i++)
      a[i] = 2 * a[i] + i;
    _exit(right && a[9] == 2 * (3 * 99 + 2) + 9 ? 5 : 6);
  }
  int status = 0;
  waitpid(p, &status, 0);
  printf("%d %g\n", WEXITSTATUS(status), a[8]);
}
