// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of every environment variable, and what reads and prints it.
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

// WORD: one of a list, kept as its index; WORD_TEXT: kept as text. A BOOL with words is true for that word
// only.
enum option_kind { INT_RANGE, BYTES_MB, BYTES, BOOL, TEXT, WORD, WORD_TEXT };

struct option {
  const char *name;
  size_t field; // offset in cf_options
  enum option_kind kind;
  long long lo, hi;         // INT_RANGE, BYTES_MB, BYTES; the initial value may lie outside
  long long initial;        // value when the variable is not set
  const char *words;        // WORD: accepted words, separated by commas; their index is the value
  const char *default_text; // as shown to users
  const char *help;
};

#define FIELD(f) offsetof(cf_options, f)
static const struct option options[] = {
    {"COFUSE_WINDOW", FIELD(window), INT_RANGE, 1, 1024, 0, NULL, "auto",
     "largest number of tasks looked at together; 1 = never fuse"},
    {"COFUSE_DISABLE", FIELD(disable), BOOL, 0, 1, 0, NULL, "0", "run the original loops"},
    {"COFUSE_THREADS", FIELD(threads), INT_RANGE, 1, 4096, 0, NULL, "auto",
     "threads per rank; auto = the CPUs this rank may use, shared with its neighbours"},
    {"COFUSE_DEVICE", FIELD(device), WORD_TEXT, 0, 0, 0, "auto,cpu,cuda,emu", "auto",
     "where kernels run; cuda = NVIDIA's GPUs, auto = there if it is possible, emu = one emulated on the "
     "CPU, for tests"},
    {"COFUSE_DEVICE_LEAST", FIELD(device_least), INT_RANGE, 0, 1 << 30, -1, NULL, "auto",
     "groups of fewer iterations run on the CPU while their arrays are there; auto = 32768 with "
     "COFUSE_DEVICE=auto, else 0"},
    {"COFUSE_DIRECT", FIELD(direct), BOOL, 0, 1, 1, NULL, "1",
     "messages go from GPU to GPU if the MPI library says that it can; 0 = always through host memory"},
    {"COFUSE_TARGET", FIELD(target), WORD_TEXT, 0, 0, 0, "none,sm_80,sm_90,sm_100", "none",
     "compile kernels for such a GPU, too, into the kernel cache, for machines without a compiler"},
    {"COFUSE_LIBDEVICE", FIELD(libdevice), TEXT, 0, 0, 0, NULL, "found",
     "path of libdevice.10.bc, NVIDIA's mathematical functions"},
    {"COFUSE_STATS", FIELD(stats), TEXT, 0, 0, 0, NULL, "none",
     "counters at exit: 1 = a table on stderr, else the path of a JSON file"},
    {"COFUSE_EXPLAIN", FIELD(explain), BOOL, 0, 1, 0, NULL, "0",
     "one line per window: what was fused, what cut"},
    {"COFUSE_TRACE", FIELD(trace), TEXT, 0, 0, 0, NULL, "none",
     "path of a timeline of windows, kernels, messages and compiles for Perfetto"},
    {"COFUSE_DUMP", FIELD(dump), TEXT, 0, 0, 0, NULL, "none",
     "folder for the IR of windows and the code of kernels"},
    {"COFUSE_CACHE_DIR", FIELD(cache_dir), TEXT, 0, 0, 0, NULL, "$XDG_CACHE_HOME/cofuse",
     "kernel cache on disk; off = none"},
    {"COFUSE_LOG", FIELD(log), WORD, 0, 0, CF_LOG_WARN, "off,error,warn,info,debug", "warn",
     "least urgent message that is shown"},
    {"COFUSE_STDOUT", FIELD(stdout_all), BOOL, 0, 0, 0, "all", "rank 0",
     "all = keep standard output of every rank"},
    {"COFUSE_FILES", FIELD(files_all), BOOL, 0, 0, 0, "all", "rank 0",
     "all = every rank writes the files that the program writes"},
    {"COFUSE_TIMEOUT", FIELD(timeout_s), INT_RANGE, 0, 1000000, 300, NULL, "300",
     "seconds without progress of communication before the job is ended; 0 = never"},
    {"COFUSE_DEFER_MB", FIELD(defer_bytes), BYTES_MB, 0, 1 << 30, 1024, NULL, "1024",
     "most megabytes of freed arrays kept for pending tasks"},
    {"COFUSE_PAGES", FIELD(pages), BOOL, 0, 1, 1, NULL, "1",
     "move the pages of freed arrays into new ones instead of having them cleared"},
    {"COFUSE_CHECK", FIELD(check), BOOL, 0, 1, 0, NULL, "0",
     "look for accesses out of bounds, unguarded host writes, ranks that diverge, new NaNs"},
    {"COFUSE_VERIFY", FIELD(verify), BOOL, 0, 1, 0, NULL, "0",
     "run every fused group also task by task and compare bit by bit"},
    {"COFUSE_TEST_FAULT", FIELD(fault), WORD, 0, 0, 0, "none,fused-kernel", "none",
     "for tests: change one result of every fused group"},
    {"COFUSE_TEST_ORDER", FIELD(order), WORD, 0, 0, 0, "ascending,descending,shuffled", "ascending",
     "for tests: order of blocks on a thread"},
    {"COFUSE_TEST_DEVICE_MEMORY", FIELD(emu_memory), BYTES, 1, 1LL << 40, 0, NULL, "unlimited",
     "for tests: bytes of memory of COFUSE_DEVICE=emu"},
    {"COFUSE_TEST_DIRECT", FIELD(test_direct), BOOL, 0, 1, 0, NULL, "0",
     "for tests: messages go to and from the memory of COFUSE_DEVICE=emu"},
    {"COFUSE_TEST_DRIVER", FIELD(test_driver), BOOL, 0, 1, 0, NULL, "0",
     "for tests: a driver of NVIDIA's GPUs needs no kernel module"},
    {"COFUSE_TEST_MAX_MESSAGE", FIELD(max_message), BYTES, 1, 1 << 30, 0, NULL, "1073741824",
     "for tests: most bytes in one MPI message"},
};
#undef FIELD
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

// Copies of values: the program may change its environment later. Reachable for the life of the process.
static cf_arena strings;

static void option_store_int(const struct option *op, cf_options *o, long long v) {
  void *field = (char *)o + op->field;
  switch (op->kind) {
  case INT_RANGE:
  case WORD:
    *(int *)field = (int)v;
    break;
  case BOOL:
    *(bool *)field = v != 0;
    break;
  case BYTES_MB:
    *(size_t *)field = (size_t)v << 20;
    break;
  case BYTES:
    *(size_t *)field = (size_t)v;
    break;
  case TEXT:
  case WORD_TEXT:
    break;
  }
}

static cf_status option_store_text(const struct option *op, cf_options *o, const char *s, size_t n) {
  char *copy = cf_arena_alloc(&strings, n + 1);
  if (!copy)
    return cf_fail(CF_ENOMEM, "out of memory for %s", op->name);
  memcpy(copy, s, n);
  *(const char **)((char *)o + op->field) = copy;
  return CF_OK;
}

// Index of s in a comma-separated list, or -1.
static int word_index(const char *words, const char *s) {
  size_t n = strlen(s);
  for (int i = 0; words; i++) {
    const char *comma = strchr(words, ',');
    size_t len = comma ? (size_t)(comma - words) : strlen(words);
    if (len == n && !memcmp(words, s, n))
      return i;
    words = comma ? comma + 1 : NULL;
  }
  return -1;
}

static cf_status option_reject(const struct option *op, const char *value) {
  if (op->kind == INT_RANGE || op->kind == BYTES || op->kind == BYTES_MB)
    return cf_fail(CF_EINVAL, "%s=%s: expected a whole number from %lld to %lld%s", op->name, value, op->lo,
                   op->hi, strcmp(op->default_text, "auto") == 0 ? ", or auto" : "");
  if (op->kind == BOOL && !op->words)
    return cf_fail(CF_EINVAL, "%s=%s: expected 0 or 1", op->name, value);
  return cf_fail(CF_EINVAL, "%s=%s: expected %s%s", op->name, value, strchr(op->words, ',') ? "one of " : "",
                 op->words);
}

static cf_status option_parse(const struct option *op, cf_options *o, const char *s) {
  int w;
  switch (op->kind) {
  case INT_RANGE:
  case BYTES:
  case BYTES_MB: {
    char *end;
    if (strcmp(s, "auto") == 0 && strcmp(op->default_text, "auto") == 0)
      return CF_OK;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    // strtoll skips leading blanks and takes signs; only digits are meant.
    if (s[0] < '0' || s[0] > '9' || *end || errno || v < op->lo || v > op->hi)
      return option_reject(op, s);
    option_store_int(op, o, v);
    return CF_OK;
  }
  case BOOL:
    if (op->words ? strcmp(s, op->words) != 0 : strcmp(s, "0") != 0 && strcmp(s, "1") != 0)
      return option_reject(op, s);
    option_store_int(op, o, op->words || s[0] == '1');
    return CF_OK;
  case WORD:
    w = word_index(op->words, s);
    if (w < 0)
      return option_reject(op, s);
    option_store_int(op, o, w);
    return CF_OK;
  case WORD_TEXT:
    if (word_index(op->words, s) < 0)
      return option_reject(op, s);
    return option_store_text(op, o, s, strlen(s));
  case TEXT:
    return option_store_text(op, o, s, strlen(s));
  }
  return CF_EINTERNAL;
}

// Number of single-character edits between a[0:n] and b; names are short.
static int edit_distance(const char *a, size_t n, const char *b) {
  int row[64];
  size_t m = strlen(b);
  if (m >= sizeof row / sizeof row[0] || n >= sizeof row / sizeof row[0])
    return 99;
  for (size_t j = 0; j <= m; j++)
    row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best)
        best = row[j] + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

static void warn_unknown(const char *var) {
  const char *eq = strchr(var, '=');
  size_t n = eq ? (size_t)(eq - var) : strlen(var);
  const char *near = NULL;
  int least = 4; // more edits than this is another word
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (strlen(options[i].name) == n && !memcmp(options[i].name, var, n))
      return;
    int d = edit_distance(var, n, options[i].name);
    if (d < least) {
      least = d;
      near = options[i].name;
    }
  }
  cf_log(CF_LOG_WARN, "environment variable %.*s is not known to this version and is ignored%s%s%s", (int)n,
         var, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

cf_status cf_options_read(cf_options *out) {
  cf_options o = {0};
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option *op = &options[i];
    if (op->kind == WORD_TEXT) {
      CF_TRY(option_store_text(op, &o, op->default_text, strlen(op->default_text)));
    } else {
      option_store_int(op, &o, op->initial);
    }
    const char *s = getenv(op->name);
    if (s && *s) // set but empty counts as not set
      CF_TRY(option_parse(op, &o, s));
  }
  cf_log_level = o.log;
  if (cf_log_rank <= 0)
    for (char **e = environ; e && *e; e++)
      if (!strncmp(*e, "COFUSE_", 7))
        warn_unknown(*e);
  *out = o;
  return CF_OK;
}

static void option_value_text(const struct option *op, const cf_options *o, char *out, size_t n) {
  const void *field = (const char *)o + op->field;
  long long v = 0;
  switch (op->kind) {
  case TEXT:
  case WORD_TEXT: {
    const char *s = *(const char *const *)field;
    snprintf(out, n, "%s", s ? s : op->default_text);
    return;
  }
  case BOOL:
    v = *(const bool *)field;
    if (op->words) {
      snprintf(out, n, "%s", v ? op->words : op->default_text);
      return;
    }
    break;
  case WORD: {
    const char *w = op->words;
    for (int i = *(const int *)field; i > 0 && strchr(w, ','); i--)
      w = strchr(w, ',') + 1;
    snprintf(out, n, "%.*s", (int)strcspn(w, ","), w);
    return;
  }
  case INT_RANGE:
    v = *(const int *)field;
    break;
  case BYTES:
    v = (long long)*(const size_t *)field;
    break;
  case BYTES_MB:
    v = (long long)(*(const size_t *)field >> 20);
    break;
  }
  if (v == op->initial)
    snprintf(out, n, "%s", op->default_text);
  else
    snprintf(out, n, "%lld", v);
}

void cf_options_print(const cf_options *o, void *file) {
  fprintf(file, "%-24s %-20s %-24s %s\n", "variable", "value", "default", "meaning");
  for (int i = 0; i < OPTION_COUNT; i++) {
    char value[1024];
    option_value_text(&options[i], o, value, sizeof value);
    fprintf(file, "%-24s %-20s %-24s %s\n", options[i].name, value, options[i].default_text, options[i].help);
  }
}
