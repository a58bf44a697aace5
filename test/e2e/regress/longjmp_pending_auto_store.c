// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// longjmp leaves the scope of an automatic store while tasks on it are pending.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf env;
static double x[50];
static void thrower(int depth) {
  double t[20];
#pragma cofuse store(t)
#pragma cofuse forall
  for (int i = 0; i < 20; i++)
    t[i] = depth * i;
#pragma cofuse forall
  for (int i = 0; i < 20; i++)
    x[i] += t[i];
  if (depth == 0)
    longjmp(env, 5);
  thrower(depth - 1);
}
int main(void) {
  volatile int tries = 0;
  for (int i = 0; i < 50; i++)
    x[i] = i;
#pragma cofuse store(x)
  int code = setjmp(env);
  printf("%d\n", code);
  if (tries++ < 3)
    thrower(3);
#pragma cofuse forall
  for (int i = 0; i < 50; i++)
    x[i] = x[i] * 2 + i;
  for (int i = 0; i < 50; i += 9)
    printf("%g\n", x[i]);
}
