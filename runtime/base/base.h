// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer base: status and errors, log, growable buffers, arena, byte-keyed map, hashing, options.
 * Errors: a function that can fail returns cf_status; whoever finds the fault records the message
 * once with cf_fail and everyone above only passes the code on. No abort or exit below runtime/api. */
#ifndef CF_BASE_H
#define CF_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Builds with a sanitizer. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CF_ASAN 1
#elif __has_feature(thread_sanitizer)
#define CF_TSAN 1
#endif
#endif

typedef enum cf_status {
  CF_OK = 0,
  CF_ENOMEM = -1,
  CF_EINVAL = -2,  /* the program or its environment is wrong */
  CF_EBOUNDS = -3, /* access outside a store */
  CF_EIO = -4,
  CF_ECOMM = -5,
  CF_EJIT = -6,
  CF_EABI = -7,
  CF_EINTERNAL = -8,
} cf_status;

/* Records the message (thread-local, last one wins) and returns st. */
cf_status cf_fail(cf_status st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *cf_last_error(void);
const char *cf_strerror(cf_status st);

#define CF_TRY(e)                                                                                            \
  do {                                                                                                       \
    cf_status cf_try_ = (e);                                                                                 \
    if (cf_try_ != CF_OK)                                                                                    \
      return cf_try_;                                                                                        \
  } while (0)

/* ---- log: stderr, "cofuse[rank]: level: text" */
enum { CF_LOG_OFF, CF_LOG_ERROR, CF_LOG_WARN, CF_LOG_INFO, CF_LOG_DEBUG };
extern int cf_log_level;
extern int cf_log_rank; /* printed in front when >= 0 */
void cf_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- growable byte buffer; always NUL-terminated behind len. Growth failure is recorded in
 * `failed` and checked once at the end, so that writers need no error path. */
typedef struct cf_buf {
  char *data;
  size_t len, cap;
  bool failed;
} cf_buf;
void cf_buf_free(cf_buf *b);
void cf_buf_clear(cf_buf *b); /* keeps the memory */
void cf_buf_put(cf_buf *b, const void *p, size_t n);
void cf_buf_str(cf_buf *b, const char *s);
/* The same in line, for contents of many small parts that are no text: no NUL follows them. */
static inline void cf_buf_add(cf_buf *b, const void *p, size_t n) {
  if (b->cap - b->len < n || !b->data) {
    cf_buf_put(b, p, n);
    return;
  }
  memcpy(b->data + b->len, p, n);
  b->len += n;
}
void cf_buf_printf(cf_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- arena: everything allocated dies together; 16-byte aligned; NULL when out of memory */
typedef struct cf_arena {
  struct cf_arena_block *head;
} cf_arena;
void *cf_arena_alloc(cf_arena *a, size_t n); /* zeroed */
void cf_arena_reset(cf_arena *a);            /* keeps one block for reuse */
void cf_arena_free(cf_arena *a);
size_t cf_arena_bytes(const cf_arena *a); /* memory it holds */

/* ---- map from byte strings to pointers (open addressing, xxhash, full compare) */
typedef struct cf_map {
  struct cf_map_entry *tab;
  size_t cap, count;
} cf_map;
void *cf_map_get(const cf_map *m, const void *key, size_t n);          /* NULL if absent */
cf_status cf_map_put(cf_map *m, const void *key, size_t n, void *val); /* copies the key; replaces */
void cf_map_each(const cf_map *m, void (*fn)(void *val, void *arg), void *arg);
void cf_map_free(cf_map *m); /* not the values */

uint64_t cf_hash64(const void *p, size_t n, uint64_t seed);
void cf_hash128_hex(const void *p, size_t n, char out[33]);

double cf_now(void); /* seconds, monotonic */

/* ---- timeline (COFUSE_TRACE); control thread only */
typedef enum cf_trace_row {
  CF_TRACE_WINDOWS,
  CF_TRACE_GROUPS,
  CF_TRACE_KERNELS,
  CF_TRACE_MESSAGES,
  CF_TRACE_COMPILER
} cf_trace_row;
extern bool cf_trace_on; /* callers look before they take the time */
void cf_trace_start(int rank);
/* from, to: of cf_now. fmt: more text, or NULL. */
void cf_trace_span(cf_trace_row row, double from, double to, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Events as JSON objects separated by commas; the caller frees the buffer. */
cf_buf *cf_trace_stop(void);

/* ---- options: one table of every environment variable */
typedef struct cf_options {
  int window;                 /* COFUSE_WINDOW: 0 = automatic, else largest window, 1 = never fuse */
  bool disable;               /* COFUSE_DISABLE */
  int threads;                /* COFUSE_THREADS: 0 = automatic */
  const char *device;         /* COFUSE_DEVICE: "auto", "cpu", "cuda", "emu" */
  int device_least;           /* COFUSE_DEVICE_LEAST: -1 = not given */
  const char *target;         /* COFUSE_TARGET: "none", "sm_80", ... */
  bool direct, test_direct;   /* COFUSE_DIRECT, COFUSE_TEST_DIRECT */
  bool test_driver;           /* COFUSE_TEST_DRIVER */
  const char *libdevice;      /* COFUSE_LIBDEVICE: NULL = look for it */
  const char *stats;          /* COFUSE_STATS: NULL, "1" or a path */
  bool explain;               /* COFUSE_EXPLAIN */
  const char *trace;          /* COFUSE_TRACE: NULL or a path */
  const char *dump;           /* COFUSE_DUMP: folder or NULL */
  const char *cache_dir;      /* COFUSE_CACHE_DIR: NULL = default folder, "off" = none */
  int log;                    /* COFUSE_LOG */
  bool stdout_all, files_all; /* COFUSE_STDOUT, COFUSE_FILES = all */
  int timeout_s;              /* COFUSE_TIMEOUT: seconds without progress before a job is ended; 0 = never */
  bool check;                 /* COFUSE_CHECK */
  bool verify;                /* COFUSE_VERIFY */
  int fault;                  /* COFUSE_TEST_FAULT (tests only): 1 = change one result of every fused group */
  int order;          /* COFUSE_TEST_ORDER (tests only): blocks ascending 0, descending 1, shuffled 2 */
  bool pages;         /* COFUSE_PAGES: pages of freed arrays are used again */
  size_t defer_bytes; /* COFUSE_DEFER_MB: most bytes of freed arrays kept for pending tasks */
  size_t emu_memory;  /* COFUSE_TEST_DEVICE_MEMORY (tests only): bytes of `emu`; 0 = no limit */
  size_t max_message; /* COFUSE_TEST_MAX_MESSAGE (tests only): most bytes in one message; 0 = no limit set */
} cf_options;
/* Reads the environment and sets cf_log_level. A value that does not parse is CF_EINVAL with a
 * message that names the variable, the value and what is accepted. Unknown COFUSE_* variables are
 * warned of, unless cf_log_rank says that another rank does it. Strings live as long as the process. */
cf_status cf_options_read(cf_options *o);
/* Prints every variable, its value now and its default (the `cofuse-env` command). */
void cf_options_print(const cf_options *o, void *file);

#endif
