// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What a device that runs grids of threads can run. */
#include "codegen/codegen.h"
#include "codegen/template.h"

#include <stdlib.h>
#include <string.h>

enum { STACK = 4096 }; /* bytes of a body's own arrays: every thread has them */

/* Library functions that devices have. Sorted. The list without the f of floats; codegen/jit_device.c says
 * what they are called there. */
static const char *const functions[] = {
    "acos",      "acosh",  "asin",      "asinh",  "atan",  "atan2", "atanh", "cbrt", "cos",   "cosh",
    "erf",       "erfc",   "exp",       "exp10",  "exp2",  "expm1", "fdim",  "fmod", "hypot", "ilogb",
    "ldexp",     "llrint", "llround",   "log",    "log10", "log1p", "log2",  "logb", "lrint", "lround",
    "nextafter", "pow",    "remainder", "scalbn", "sin",   "sinh",  "tan",   "tanh", "tgamma"};

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool known(const char *name) {
  return bsearch(&name, functions, sizeof functions / sizeof *functions, sizeof *functions, by_name) != NULL;
}

static bool has_function(const char *name, size_t n) {
  char plain[24];
  if (n >= sizeof plain)
    return false;
  memcpy(plain, name, n);
  plain[n] = 0;
  if (known(plain))
    return true;
  if (n && plain[n - 1] == 'f')
    plain[n - 1] = 0;
  return known(plain);
}

/* The name in "llvm.func @name(...", without the prefix that says how it is called. */
static cf_slice callee(cf_slice line) {
  const char *at = memchr(line.p, '@', line.n), *end = line.p + line.n;
  const char *paren = at ? memchr(at, '(', (size_t)(end - at)) : NULL;
  if (!paren)
    return (cf_slice){line.p, 0};
  cf_slice s = {at + 1, (size_t)(paren - at - 1)};
  if (s.n > 10 && (memcmp(s.p, "cofuse.nb.", 10) == 0 || memcmp(s.p, "cofuse.ne.", 10) == 0)) {
    s.p += 10;
    s.n -= 10;
  }
  return s;
}

bool cf_cg_device_runs(const cofuse_forall *desc, const char **why) {
  for (int r = 0; r < desc->nreds; r++)
    if (desc->reds[r].flags & COFUSE_RED_SECTION) {
      *why = "it reduces into an array section";
      return false;
    }
  cf_tpl t;
  cf_tpl_line l;
  bool more = true;
  cf_tpl_begin(&t, desc, desc->decls);
  while (cf_tpl_next(&t, &l, &more) == CF_OK && more) {
    cf_slice name = callee(l.text);
    if (!has_function(name.p, name.n)) {
      *why = "it calls a library function that devices do not have";
      return false;
    }
  }
  uint64_t stack = 0;
  cf_tpl_begin(&t, desc, desc->body);
  while (cf_tpl_next(&t, &l, &more) == CF_OK && more)
    if (l.kind == CF_TPL_LOCAL)
      stack += 8 * l.count;
  if (stack > STACK) {
    *why = "its own arrays are large";
    return false;
  }
  return true;
}
