// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Layer api: the one context of a process, the calls that rewritten code makes, and the public C API. */
#ifndef CF_CONTEXT_H
#define CF_CONTEXT_H

#include "exec/exec.h"

#include <pthread.h>
#include <stdatomic.h>

/* Memory whose release waits for the stores in it. */
typedef struct cf_block {
  cf_freed freed;
  uint32_t stores;
  bool touched;  /* some store in it was used */
  bool lent;     /* pages of some store in it were */
  size_t weight; /* what it counts towards the limit of deferred bytes */
} cf_block;

typedef enum cf_cause {
  CF_FLUSH_GUARD_READ,
  CF_FLUSH_GUARD_WRITE,
  CF_FLUSH_REDUCTION,
  CF_FLUSH_UPDATE,
  CF_FLUSH_HOST,
  CF_FLUSH_DIRECTIVE,
  CF_FLUSH_CAPTURE, /* a task reads a large array that is no store */
  CF_FLUSH_SCOPE,   /* an automatic store goes out of scope */
  CF_FLUSH_MEMORY,  /* too many bytes wait to be freed */
  CF_FLUSH_STORE,   /* a store directive ends an older store */
  CF_FLUSH_EXIT,
  CF_FLUSH_CAUSES
} cf_cause;
const char *cf_cause_name(cf_cause c);

/* What the runtime remembers about one directive (cofuse_forall.state). */
typedef struct cf_site {
  struct cf_site *next;
  const cofuse_forall *desc;
  uint64_t hash;                 /* of its place in the source, alike on all ranks */
  uint64_t serial;               /* times the plain loop had to run */
  uint64_t replicated;           /* times every rank ran all of it */
  double serial_s, replicated_s; /* seconds of this rank */
  const char *why;               /* why it last ran serially */
  bool told;
  bool told_nan; /* COFUSE_CHECK */
} cf_site;

/* What a look-up of the guards found: an interval of addresses and the store that it belongs to, or none. For
 * the control thread alone; void when the registry has changed. */
typedef struct cf_span {
  uintptr_t lo, hi;
  cf_store *store;
} cf_span;
enum { CF_SPANS = 256 };
enum { CF_AT_BITS = 9 }; /* of a number of a store by its first address */

/* How often one source line caused a flush (COFUSE_EXPLAIN). */
typedef struct cf_flush_site {
  struct cf_flush_site *next;
  uint64_t count;
  char text[]; /* "flush by guard_read at f.c:3:4" */
} cf_flush_site;

/* Groups of one name (COFUSE_STATS). */
typedef struct cf_profile {
  struct cf_profile *next;
  uint64_t calls, tasks, bytes;
  double seconds; /* of this rank, messages included */
  char name[];
} cf_profile;

typedef struct cf_call cf_call;
typedef struct cf_calls cf_calls;

typedef struct cf_context {
  bool ready, disabled, settled, finished; /* settled: no more tasks are issued */
  bool running;                            /* tasks of the window */
  bool child;                              /* of fork: nothing runs here but what a guard wants and finds */
  bool in_function; /* a kernel that is a C function runs: it touches its pieces and is guarded by nothing */
  cf_options opt;
  cf_exec exec;
  cf_memo memo;
  double started; /* cf_now at the start */

  cf_store **stores; /* sorted by address, disjoint */
  uintptr_t *ends;   /* of each, for the search: stores lie anywhere in memory */
  uint32_t nstores, cap_stores;
  uint32_t next_store;
  cf_store *recent, *at[1 << CF_AT_BITS]; /* looked up last; by first address */
  uint32_t generation;                    /* counts changes of the table */
  cf_span spans[CF_SPANS];
  uint32_t spans_generation;
  size_t deferred, largest; /* bytes waiting to be freed; of the largest store so far */

  cf_task **win;
  uint32_t nwin, cap_win, window, window_max;
  cf_task *spare;
  cf_calls *calls; /* NULL until one comes a second time */
  uint64_t issued_again;
  uint64_t seq;

  cf_site *sites;
  uint64_t windows, flushes, flush_by[CF_FLUSH_CAUSES], analysis_ns;
  cf_map flush_map; /* text -> cf_flush_site */
  cf_flush_site *flush_sites;
  cf_map profiles; /* name -> cf_profile */
  cf_profile *profile_list;
} cf_context;

extern cf_context cf_ctx;
/* Addresses of all stores, the guard's first test on any thread. Apart, since it outlives the context. */
extern struct cf_hull {
  _Atomic uintptr_t lo, hi;
} cf_hull;
/* No byte of [lo, hi) belongs to a store. */
static inline bool cf_hull_misses(uintptr_t lo, uintptr_t hi) {
  return lo >= atomic_load_explicit(&cf_hull.hi, memory_order_relaxed) ||
         hi <= atomic_load_explicit(&cf_hull.lo, memory_order_relaxed);
}

/* This is the control thread: the one that reached the first directive. */
extern _Thread_local bool cf_on_control __attribute__((tls_model("initial-exec")));

/* Starts the context on first use; the caller is the control thread from then on. False if the library is off
 * (COFUSE_DISABLE) or already shut down, and on every other thread: there, loops are plain loops. */
bool cf_context_start(void);
/* Some thread has started it. */
bool cf_context_used(void);
/* The library is in use and on; starts it like cf_context_start. */
bool cf_context_on(void);
/* The control thread alone changes the table of stores, under this lock, and reads it without; other threads
 * read it under the lock. While the process has one thread, nothing is locked. */
cf_status
cf_context_wait(void); /* until the device has done what it was given: who takes the time relies on it */
void cf_context_lock(void);
void cf_context_unlock(void);
/* Prints the recorded error behind "cofuse: error: " and ends the whole job. Never returns. */
_Noreturn void cf_fatal(cf_status st);
/* Records nothing new: fatal unless CF_OK. */
static inline void cf_must(cf_status st) {
  if (st != CF_OK)
    cf_fatal(st);
}
cf_site *cf_site_of(cofuse_forall *d);
/* The plain loop of this directive starts now; cofuse_ran ends it. */
void cf_slow_begin(cf_site *s);
/* One line per loop that ran serially or on every rank, the slowest first, if it is worth a line. */
void cf_slow_report(void);
void cf_context_print_stats(void);

/* Guards off and on again, around a kernel that is a C function. */
void cf_registry_suspend(bool on);

/* ---- where the time goes */
/* compile: seconds of [from, to] that went into compiling. */
void cf_profile_group(const cf_plan *p, cf_group *g, cf_task *const *tasks, double from, double to,
                      double compile);
void cf_profile_print(void);
void cf_profile_write_trace(void); /* every rank calls it */
void cf_profile_free(void);

/* ---- registry: stores by address */
cf_store *cf_registry_find(const void *p); /* store that holds byte p */
cf_store *cf_registry_at(const void *p);   /* store that begins there; for the control thread */
/* First store with an end above p, index into cf_ctx.stores; nstores if none. */
uint32_t cf_registry_lower(const void *p);
cf_status cf_registry_add(const cofuse_object *d, char *base, const int64_t *ext, cf_store **out);
/* The program gives the store up. It goes now, or when its last pending task has run. */
void cf_registry_drop(cf_store *s);
/* pending became 0: forget it if the program has given it up; frees its block when it was the last in it. */
void cf_registry_settle(cf_store *s);
/* The program frees [p, p + n): every store inside is given up, and release(p, bytes) runs when the last
 * pending task on them has run: at once if there is none. Any thread may call this. */
void cf_registry_free(void *p, size_t n, size_t bytes, void (*release)(void *, size_t));
/* Another thread gives up the stores in [p, p + n): the control thread does it when it comes by next, and
 * then calls release, if there is one. */
void cf_registry_leave(void *p, size_t n, size_t bytes, void (*release)(void *, size_t));
/* There is something of that kind; do it. */
extern _Atomic bool cf_registry_left;
void cf_registry_collect(void);
/* The context ends; under the lock. */
void cf_registry_close(void);

/* COFUSE_DEVICE=auto: opens one, if all ranks have one. */
cf_status cf_context_find_device(void);

/* ---- window */
cf_status cf_window_push(cf_task *t);
/* Runs pending tasks up to index `last` (and what is in a group with it); UINT32_MAX: all. */
cf_status cf_window_flush(uint32_t last, cf_cause cause, const char *site);
/* Index of the last pending task that conflicts with bytes [lo, hi) of s: for reads those that write it. -1:
 * none. */
int64_t cf_window_conflict(const cf_store *s, int64_t lo, int64_t hi, bool write);
/* Bytes of the store that an access may touch: the hull of its box. */
void cf_window_bytes(const cf_access *a, int64_t *lo, int64_t *hi);
cf_task *cf_task_new(uint32_t naccess, uint32_t scalar_bytes);
void cf_task_recycle(cf_task *t);

/* ---- calls like earlier ones (again.c) */
/* A task, but for its scalars, of an earlier call that differs from this one in nothing but which stores it
 * names; NULL: none waits. hash: of the call, for cf_again_note. */
cf_task *cf_again_find(const cofuse_forall *d, const int64_t *ints, void *const *targets, uint64_t *hash);
/* A task that was built for this call may be issued again once it has run. */
void cf_again_note(cf_task *t, const int64_t *ints, uint64_t hash);
bool cf_again_keep(cf_task *t); /* a task has run: true if it is kept for the next call */
void cf_again_free(void);

/* ---- guard */
/* Makes bytes [lo, hi) of s ready for the host. mode: COFUSE_R | COFUSE_W. */
void cf_guard_store(cf_store *s, int64_t lo, int64_t hi, int mode, cf_cause cause, const char *site);

/* ---- check (COFUSE_CHECK); called only if it is on */
void cf_check_push(const cf_task *t);  /* a task is issued */
void cf_check_guard(const char *site); /* the host comes to a guard */
/* The host may write bytes [lo, hi) of s until the next task on s is issued. */
void cf_check_open(const cf_store *s, int64_t lo, int64_t hi);
cf_status cf_check_before(const cf_group *g, cf_task *const *window);
cf_status cf_check_after(const cf_plan *p, const cf_group *g, cf_task *const *window);
/* All ranks compare where they are. */
cf_status cf_check_meet(void);
void cf_check_end(void);

/* ---- explain */
void cf_explain_window(const cf_plan *p, cf_task *const *tasks, uint32_t ngroups, const char *why);
void cf_explain_summary(void);
void cf_dump_window(const cf_plan *p, cf_task *const *tasks, uint32_t ngroups, const char *why);

#endif
