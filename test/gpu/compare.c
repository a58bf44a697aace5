// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* compare WANT GOT TOLERANCE: equal texts, but for lines that start with "time " and for numbers, which may
 * differ by the relative tolerance; of a word in hexadecimal ("hash 3f...") that is another one, only with a
 * tolerance. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *next_line(FILE *f, char *line, int n) {
  do
    if (!fgets(line, n, f))
      return NULL;
  while (strncmp(line, "time ", 5) == 0);
  return line;
}

static int is_hash(const char *word, size_t n) {
  int digits = 0;
  for (size_t i = 0; i < n; i++) {
    if (!isxdigit((unsigned char)word[i]))
      return 0;
    digits += !isdigit((unsigned char)word[i]);
  }
  return n >= 12 && digits > 0;
}

static int same(const char *a, const char *b, double tolerance) {
  while (*a && *b) {
    size_t n = strcspn(a, " \n"), m = strcspn(b, " \n");
    char *x, *y;
    double p = strtod(a, &x), q = strtod(b, &y);
    if (n == m && memcmp(a, b, n) == 0)
      ;
    else if (tolerance > 0 && is_hash(a, n) && is_hash(b, m))
      ;
    else if (n && m && x == a + n && y == b + m &&
             fabs(p - q) <= tolerance * fmax(fabs(p), fabs(q)) + tolerance * 1e-6)
      ;
    else
      return 0;
    a += n;
    b += m;
    if (*a != *b)
      return 0;
    if (*a)
      a++, b++;
  }
  return *a == *b;
}

int main(int argc, char **argv) {
  FILE *a = argc == 4 ? fopen(argv[1], "r") : NULL, *b = argc == 4 ? fopen(argv[2], "r") : NULL;
  if (!a || !b) {
    fprintf(stderr, "usage: compare WANT GOT TOLERANCE\n");
    return 2;
  }
  static char x[65536], y[65536];
  for (int line = 1;; line++) {
    char *p = next_line(a, x, sizeof x), *q = next_line(b, y, sizeof y);
    if (!p && !q)
      return 0;
    if (!p || !q || !same(p, q, strtod(argv[3], NULL))) {
      printf("line %d: '%s' instead of '%s'\n", line, q ? strtok(q, "\n") : "nothing",
             p ? strtok(p, "\n") : "nothing");
      return 1;
    }
  }
}
