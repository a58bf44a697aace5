// A child of fork reads an array that its parent has a part of only.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  static double a[3000];
#pragma cofuse store(a)
#pragma cofuse forall
  for (int i = 0; i < 3000; i++)
    a[i] = 2 * i;
#pragma cofuse flush
  pid_t p = fork();
  if (p == 0)
    _exit(a[1] == 2 && a[2999] == 5998 ? 0 : 9);
  int status = 0;
  waitpid(p, &status, 0);
  printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
