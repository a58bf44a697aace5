// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix Market files, coordinate format (https://math.nist.gov/MatrixMarket/formats.html).
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
  const char *path;
  FILE *file;
  long number; // of the line
  char line[1100];
} input;

_Noreturn static void fault(const input *in, const char *what) {
  sparse_fail("%s:%ld: %s", in->path, in->number, what);
}

static bool next_line(input *in) {
  if (!fgets(in->line, sizeof in->line, in->file))
    return false;
  in->number++;
  if (!strchr(in->line, '\n') && !feof(in->file))
    fault(in, "the line is too long");
  return true;
}

// The next line that holds data.
static void data_line(input *in) {
  do {
    if (!next_line(in)) {
      in->number++;
      fault(in, "the file ends too early");
    }
  } while (in->line[0] == '%' || in->line[strspn(in->line, " \t\r\n")] == 0);
}

static long whole(const input *in, char **at, long lo, long hi) {
  char *end;
  errno = 0;
  long v = strtol(*at, &end, 10);
  if (end == *at || errno || v < lo || v > hi)
    fault(in, "a whole number is missing or out of range");
  *at = end;
  return v;
}

csr sparse_read(const char *path) {
  input in = {.path = path, .file = fopen(path, "r")};
  if (!in.file)
    sparse_fail("%s: %s", path, strerror(errno));
  char object[32], format[32], field[32], symmetry[32];
  if (!next_line(&in))
    fault(&in, "the file is empty");
  for (char *c = in.line; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  if (sscanf(in.line, "%%%%matrixmarket %31s %31s %31s %31s", object, format, field, symmetry) != 4)
    fault(&in, "not a Matrix Market file");
  if (strcmp(object, "matrix") != 0 || strcmp(format, "coordinate") != 0)
    fault(&in, "only matrices in coordinate format can be read");
  bool pattern = strcmp(field, "pattern") == 0, skew = strcmp(symmetry, "skew-symmetric") == 0;
  bool both = skew || strcmp(symmetry, "symmetric") == 0;
  if (!pattern && strcmp(field, "real") != 0 && strcmp(field, "integer") != 0)
    fault(&in, "only real, integer and pattern matrices can be read");
  if (!both && strcmp(symmetry, "general") != 0)
    fault(&in, "only general, symmetric and skew-symmetric matrices can be read");

  data_line(&in);
  char *at = in.line;
  long rows = whole(&in, &at, 0, INT_MAX), cols = whole(&in, &at, 0, INT_MAX);
  long lines = whole(&in, &at, 0, LONG_MAX / 4);
  if (both && rows != cols)
    fault(&in, "a symmetric matrix must be square");
  long most = both ? 2 * lines : lines, n = 0;
  int *row = sparse_alloc(most, sizeof *row), *column = sparse_alloc(most, sizeof *column);
  double *value = sparse_alloc(most, sizeof *value);
  for (long k = 0; k < lines; k++) {
    data_line(&in);
    at = in.line;
    row[n] = (int)whole(&in, &at, 1, rows) - 1;
    column[n] = (int)whole(&in, &at, 1, cols) - 1;
    char *end = at;
    value[n] = pattern ? 1.0 : strtod(at, &end);
    if (!pattern && (end == at || !isfinite(value[n])))
      fault(&in, "the value is missing or no finite number");
    if (end[strspn(end, " \t\r\n")])
      fault(&in, "more on the line than an entry");
    n++;
    if (both && row[n - 1] != column[n - 1]) { // the file has one triangle
      row[n] = column[n - 1];
      column[n] = row[n - 1];
      value[n] = skew ? -value[n - 1] : value[n - 1];
      n++;
    }
  }
  fclose(in.file);
  csr a = sparse_from_triplets(rows, cols, n, row, column, value);
  free(row);
  free(column);
  free(value);
  return a;
}
