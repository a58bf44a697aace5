// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Standard input reaches every rank; files written are read back.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int n;
  double f;
  char line[100];
  if (scanf("%d %lf", &n, &f) != 2)
    return 2;
  double *a = malloc(n * 8);
#pragma cofuse store(a[0 : n])
#pragma cofuse forall
  for (int i = 0; i < n; i++)
    a[i] = i * f;
  fgets(line, 100, stdin);
  fgets(line, 100, stdin);
  FILE *o = fopen("inout.txt", "w");
  fprintf(o, "%g %s", a[n - 1], line);
  fclose(o);
  FILE *p = fopen("inout.txt", "r");
  double back;
  if (fscanf(p, "%lf", &back) != 1)
    return 3;
  fclose(p);
  FILE *q = fopen("scratch.bin", "w+");
  fwrite(&back, 8, 1, q);
  rewind(q);
  double b2;
  if (fread(&b2, 8, 1, q) != 1)
    return 4;
  fclose(q);
  for (int k = 0; k < (int)b2; k++) {
#pragma cofuse forall
    for (int i = 0; i < n; i++)
      a[i] += 1;
  }
  printf("%g %g %s", a[n - 1], b2, line);
  return 0;
}
