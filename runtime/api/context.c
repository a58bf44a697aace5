// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Start and end of the library in a process. */
#include "api/context.h"
#include "api/files.h"

#include <fcntl.h>
#include <fenv.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<sys/single_threaded.h>) /* glibc 2.32 */
#include <sys/single_threaded.h>
#define CF_SINGLE
#endif
#include <time.h>
#include <unistd.h>

extern void __asan_init(void) __attribute__((weak));

cf_context cf_ctx;
_Thread_local bool cf_on_control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local bool locked; /* while there is one thread alone, nobody needs it */

void cf_context_lock(void) {
#ifdef CF_SINGLE
  if (__libc_single_threaded)
    return;
#endif
  pthread_mutex_lock(&lock);
  locked = true;
}

void cf_context_unlock(void) {
  if (!locked)
    return;
  locked = false;
  pthread_mutex_unlock(&lock);
}

cf_status cf_context_wait(void) {
  cf_device *d = cf_ctx.exec.device;
  return d ? d->ops->sync(d) : CF_OK;
}

static bool dying;   /* exit handlers leave everything alone */
static bool opening; /* MPI or a driver is being started, which may run programs of its own by fork */

/* A child has no part in its parent's device, and what is pending runs before it is born. Other ranks need
 * not come here at the same time, so with several that is left to the program. */
static void before_fork(void) {
  if (opening && cf_on_control)
    return;
  if (cf_on_control && cf_ctx.ready && !cf_ctx.finished && cf_ctx.exec.comm->size == 1 && !cf_ctx.running)
    cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_HOST, "fork"));
  cf_context_lock();
  cf_exec_home(&cf_ctx.exec);
}

/* The compiler's thread, the pool's, the device and the place among the ranks are the parent's: loops of the
 * child are plain loops, and its end is nobody's affair. */
static void parent_of_fork(void) {
  if (!(opening && cf_on_control))
    cf_context_unlock();
}

static void child_of_fork(void) {
  cf_exec_abandon_device(&cf_ctx.exec);
  cf_ctx.exec.device_later = false;
  if (cf_ctx.exec.comm)
    cf_comm_leave(cf_ctx.exec.comm);
  cf_ctx.child = cf_ctx.settled = dying = true;
  parent_of_fork();
}

_Noreturn void cf_fatal(cf_status st) {
  dying = true;
  fflush(stdout);
  const char *m = cf_last_error();
  /* Control is replicated, so most errors strike every rank alike: let rank 0 speak first and end the job. */
  if (cf_log_rank > 0)
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL); /* machines may be busy */
  if (cf_log_rank >= 0)
    fprintf(stderr, "cofuse: error: %s (rank %d)\n", m && *m ? m : cf_strerror(st), cf_log_rank);
  else
    fprintf(stderr, "cofuse: error: %s\n", m && *m ? m : cf_strerror(st));
  fflush(stderr);
  cf_ctx.finished = true;
  if (cf_ctx.exec.comm && cf_ctx.exec.comm->size > 1)
    cf_ctx.exec.comm->ops->abort(cf_ctx.exec.comm, 1);
  _exit(1);
}

static cf_status share(void *arg, void **buf, size_t *len) {
  cf_exec *x = arg;
  uint64_t n = *len;
  CF_TRY(x->comm->ops->bcast(x->comm, &n, sizeof n, 0, cf_exec_stamp(x)));
  if (x->comm->rank != 0) {
    *len = n;
    *buf = malloc(n ? n : 1);
    if (!*buf)
      return cf_fail(CF_ENOMEM, "out of memory for a kernel of %llu bytes", (unsigned long long)n);
  }
  if (n)
    CF_TRY(x->comm->ops->bcast(x->comm, *buf, n, 0, cf_exec_stamp(x)));
  return CF_OK;
}

/* Runs what is pending; no task is issued from here on, but guards still fetch. */
static void settle(void) {
  if (!cf_ctx.ready || cf_ctx.settled || cf_ctx.finished)
    return;
  cf_must(cf_window_flush(UINT32_MAX, CF_FLUSH_EXIT, NULL));
  cf_ctx.settled = true;
}

static void report(void) {
  if (!cf_ctx.ready || cf_ctx.finished)
    return;
  settle();
  if (cf_ctx.opt.check && !cf_ctx.disabled)
    cf_must(cf_check_meet());
  if (cf_ctx.opt.verify && cf_ctx.exec.comm->rank == 0)
    cf_log(CF_LOG_INFO, "COFUSE_VERIFY: %llu groups of several tasks gave the same task by task",
           (unsigned long long)cf_ctx.exec.stats.verified);
  cf_context_print_stats();
  cf_slow_report();
  cf_profile_write_trace();
  cf_ctx.finished = true;
}

static void on_finalize(void *arg) { /* the program calls MPI_Finalize itself */
  (void)arg;
  report();
}

/* Exit handlers run in reverse order. This one goes before the destructors of what LLVM made while it
 * compiled, and of a device's driver; handlers of the program that were registered earlier still come, and
 * read stores. */
static void exit_early(void) {
  if (dying)
    return;
  cf_on_control = true; /* exit may be called on any thread */
  settle();
  if (!cf_ctx.ready)
    return;
  cf_context_lock();
  cf_exec_close_device(&cf_ctx.exec);
  cf_context_unlock();
  cf_codegen_close(cf_ctx.exec.cg);
}

static void after_jit(void) { atexit(exit_early); }

static void free_context(void) {
  cf_again_free();
  while (cf_ctx.spare) {
    cf_task *t = cf_ctx.spare;
    cf_ctx.spare = t->next_free;
    free(t);
  }
  while (cf_ctx.sites) {
    cf_site *s = cf_ctx.sites;
    cf_ctx.sites = s->next;
    ((cofuse_forall *)(uintptr_t)s->desc)->state = NULL;
    free(s);
  }
  free(cf_ctx.win);
  cf_map_free(&cf_ctx.flush_map);
  cf_profile_free();
  while (cf_ctx.flush_sites) {
    cf_flush_site *f = cf_ctx.flush_sites;
    cf_ctx.flush_sites = f->next;
    free(f);
  }
  cf_buf *b[] = {&cf_ctx.exec.bases,    &cf_ctx.exec.ints, &cf_ctx.exec.scalars,
                 &cf_ctx.exec.partials, &cf_ctx.exec.msgs, &cf_ctx.exec.pack};
  for (size_t i = 0; i < sizeof b / sizeof *b; i++)
    cf_buf_free(b[i]);
}

/* The last handler of all if the program was compiled with the plugin, whose constructors register it. */
static void exit_late(void) {
  if (dying)
    return;
  cf_on_control = true;
  report();
  if (!cf_ctx.ready)
    return;
  cf_check_end();
  cf_exec_close_device(&cf_ctx.exec);
  cf_codegen_destroy(cf_ctx.exec.cg);
  cf_pool_destroy(cf_ctx.exec.pool);
  cf_pages_destroy(cf_ctx.exec.pages);
  cf_ctx.exec.pages = NULL; /* what is freed from here on, as in MPI_Finalize, goes back at once */
  cf_ctx.exec.comm->ops->finalize(cf_ctx.exec.comm);
  cf_memo_free(&cf_ctx.memo, cf_exec_drop_bound);
  cf_context_lock(); /* other threads may still come to guards */
  cf_registry_close();
  free_context();
  cf_ctx = (cf_context){.ready = false, .finished = true};
  cf_context_unlock();
}

static void register_exit(void) {
  static bool done;
  if (!done)
    atexit(exit_late);
  done = true;
}

/* Somewhat more than the largest group (fuse.c): tasks of a longer window would be out of the caches by the
 * time they run, and what ends in mid-turn waits for the next window anyway. */
enum { WINDOW_MAX = 272 };

const void *cf_user_comm; /* address of the MPI_Comm given to cofuse_init_comm */

/* Programs in library style allocate and free all the time. By default glibc gives what is free at the end of
 * the heap back to the system, to take it again page by page; what is mapped of its own is large enough for
 * device/pages.c. The environment of the user comes first. */
static void tune_malloc(void) {
#ifdef __GLIBC__
  const char *tunables = getenv("GLIBC_TUNABLES");
  if (getenv("MALLOC_TRIM_THRESHOLD_") || getenv("MALLOC_MMAP_THRESHOLD_") || getenv("MALLOC_TOP_PAD_") ||
      getenv("MALLOC_MMAP_MAX_") || (tunables && strstr(tunables, "glibc.malloc.")))
    return;
  mallopt(M_MMAP_THRESHOLD, CF_PAGES_LEAST);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

static cf_status open_device(cf_exec *x, const char *name, cf_device **out) {
  const cf_options *o = &cf_ctx.opt;
  bool messages = x->comm->size > 1 && x->comm->takes_device && o->direct;
  cf_device_options with = {.local_rank = x->comm->local_rank,
                            .no_module = o->test_driver,
                            .messages = messages,
                            .memory = o->emu_memory,
                            .order = o->order};
  with.messages |= o->test_direct && strcmp(name, "emu") == 0;
  bool was = opening;
  opening = true;
  cf_status st = cf_device_open(name, &with, out);
  opening = was;
  return st;
}

static void use_device(cf_exec *x, cf_device *d) {
  x->device = d;
  x->had_device = true;
  x->direct = x->comm->size > 1 && d->messages;
  atexit(exit_early);
}

/* What ranks agree about: the oldest target, how many of them share a device at most, and the memory that
 * each may count on. */
typedef struct agreement {
  char target[sizeof((cf_device *)0)->target]; /* "": there is no device */
  uint8_t id[sizeof((cf_device *)0)->id];
  uint64_t memory, sharers;
} agreement;

static agreement mine_of(const cf_device *d) {
  agreement a = {.sharers = 1};
  size_t some = 0, all = 0;
  if (d && d->ops->memory((cf_device *)(uintptr_t)d, &some, &all) == CF_OK) {
    memcpy(a.target, d->target, sizeof a.target);
    memcpy(a.id, d->id, sizeof a.id);
    a.memory = some;
  }
  return a;
}

static void combine(const agreement *all, size_t size, agreement *out) {
  for (size_t r = 0; r < size; r++) {
    uint64_t n = 0;
    for (size_t q = 0; q < size; q++)
      n += memcmp(all[q].id, all[r].id, sizeof all[r].id) == 0;
    out->sharers = n > out->sharers ? n : out->sharers;
    if (strcmp(all[r].target, out->target) < 0)
      memcpy(out->target, all[r].target, sizeof out->target);
    out->memory = all[r].memory < out->memory ? all[r].memory : out->memory;
  }
}

static cf_status agree(cf_exec *x, agreement *mine) {
  size_t size = (size_t)x->comm->size;
  if (size > 1) {
    agreement *all = x->comm->rank == 0 ? malloc(size * sizeof *all) : NULL;
    if (x->comm->rank == 0 && !all)
      cf_fatal(cf_fail(CF_ENOMEM, "out of memory"));
    cf_status st = x->comm->ops->gather0(x->comm, mine, sizeof *mine, all, cf_exec_stamp(x));
    if (all)
      combine(all, size, mine);
    free(all);
    CF_TRY(st);
    CF_TRY(x->comm->ops->bcast(x->comm, mine, sizeof *mine, 0, cf_exec_stamp(x)));
  }
  mine->memory = mine->memory / mine->sharers / 10 * 9; /* some is left for arguments and results */
  return CF_OK;
}

/* On another thread guards look for a device under the lock. */
cf_status cf_context_find_device(void) {
  cf_exec *x = &cf_ctx.exec;
  x->device_later = false;
  cf_device *d = NULL;
  double from = cf_now();
  cf_status st = fegetround() == FE_TONEAREST
                     ? open_device(x, "cuda", &d)
                     : cf_fail(CF_EINVAL, "the program has changed the rounding of floating-point numbers");
  if (st != CF_OK)
    cf_log(CF_LOG_INFO, "no GPU: %s", cf_last_error());
  else if ((st = cf_device_check(d)) != CF_OK)
    cf_log(CF_LOG_WARN, "kernels run on the CPU: %s", cf_last_error());
  agreement mine = mine_of(st == CF_OK ? d : NULL);
  CF_TRY(agree(x, &mine));
  if (st == CF_OK && mine.target[0]) {
    cf_log(CF_LOG_INFO, "kernels run on %s, found in %.0f ms", d->describe, 1e3 * (cf_now() - from));
    memcpy(d->target, mine.target, sizeof mine.target);
    d->sharers = (uint32_t)mine.sharers;
    x->device_most = mine.memory;
    cf_context_lock();
    use_device(x, d);
    cf_context_unlock();
    return CF_OK;
  }
  if (st == CF_OK)
    cf_log(CF_LOG_WARN, "kernels run on the CPU: some ranks have no GPU");
  if (d)
    d->ops->close(d);
  return CF_OK;
}

static void choose_device(cf_exec *x) {
  const cf_options *o = &cf_ctx.opt;
  bool find = strcmp(o->device, "auto") == 0;
  enum { LEAST = 32768 }; /* about as long on one core as a launch and its arguments take */
  /* What COFUSE_VERIFY runs task by task runs where the group did. */
  x->device_least = o->device_least >= 0 ? o->device_least : find && !o->verify ? LEAST : 0;
  x->device_most = UINT64_MAX;
  if (cf_ctx.disabled || strcmp(o->device, "cpu") == 0 || (find && o->check))
    return;
  if (o->check) {
    cf_log(CF_LOG_WARN, "COFUSE_CHECK=1: kernels run on the CPU, not on COFUSE_DEVICE=%s", o->device);
    return;
  }
  x->fall_back = x->device_later = find;
  if (find)
    return;
  cf_device *d;
  cf_must(open_device(x, o->device, &d));
  use_device(x, d);
  agreement mine = mine_of(d);
  cf_must(agree(x, &mine));
  memcpy(d->target, mine.target, sizeof mine.target);
  d->sharers = (uint32_t)mine.sharers;
}

static void start(void) {
  int rank, size;
  cf_comm_guess(&rank, &size);
  if (size > 1)
    cf_log_rank = rank; /* warnings about the environment are printed once, by rank 0 */
  cf_must(cf_options_read(&cf_ctx.opt));
  cf_ctx.started = cf_now();
  if (!cf_ctx.opt.disable)
    tune_malloc();
  cf_ctx.disabled = cf_ctx.opt.disable;
  cf_ctx.ready = true;
  cf_exec *x = &cf_ctx.exec;
  x->opt = &cf_ctx.opt;
  x->in_function = cf_registry_suspend;
  if (cf_ctx.disabled)
    cf_must(cf_comm_self(&x->comm));
  else
    cf_must(cf_comm_create(&cf_ctx.opt, cf_user_comm, &x->comm));
  if (x->comm->size > 1)
    cf_log_rank = x->comm->rank;
  if (cf_ctx.opt.trace && !cf_ctx.disabled)
    cf_trace_start(x->comm->rank);
  x->comm->timeout_s = cf_ctx.opt.timeout_s;
  x->comm->on_finalize = on_finalize;
  x->threads = cf_ctx.opt.threads;
  /* A sanitizer of addresses wants freed memory back at once, to tell who still uses it; what checks results
   * looks at arrays that nothing else will read. */
  if (cf_ctx.opt.pages && !__asan_init && !cf_ctx.opt.check && !cf_ctx.opt.verify)
    x->pages = cf_pages_create();
  if (x->threads == 0)
    x->threads = cf_pool_default_threads(x->comm->local_rank, x->comm->local_size);
  cf_must(cf_codegen_create(&cf_ctx.opt, x->comm->rank, x->comm->size, x->comm->size > 1 ? share : NULL, x,
                            &x->cg));
  cf_codegen_on_jit(x->cg, after_jit);
  choose_device(x);
  x->epoch = 1; /* no store has said anything yet */
  cf_ctx.window_max = cf_ctx.opt.window ? (uint32_t)cf_ctx.opt.window : WINDOW_MAX;
  cf_ctx.window = cf_ctx.window_max < 16 ? cf_ctx.window_max : 16;
  register_exit();
}

/* Of several threads that come first at the same time, one becomes the control thread. */
static bool start_here(void) {
  static bool begun;
  cf_context_lock();
  if (!begun && !cf_ctx.finished) {
    begun = cf_on_control = true;
    pthread_atfork(before_fork, parent_of_fork, child_of_fork); /* no child with a lock held */
    opening = true;
    start();
    opening = false;
  }
  cf_context_unlock();
  return cf_on_control;
}

bool cf_context_start(void) {
  if (!cf_on_control && !start_here())
    return false;
  if (atomic_load_explicit(&cf_registry_left, memory_order_relaxed))
    cf_registry_collect();
  return !cf_ctx.disabled && !cf_ctx.finished;
}

bool cf_context_used(void) {
  cf_context_lock();
  bool used = cf_ctx.ready;
  cf_context_unlock();
  return used;
}

bool cf_context_on(void) {
  if (cf_context_start())
    return true;
  if (cf_on_control)
    return false;
  cf_context_lock();
  bool on = cf_ctx.ready && !cf_ctx.disabled && !cf_ctx.finished;
  cf_context_unlock();
  return on;
}

cf_site *cf_site_of(cofuse_forall *d) {
  if (d->state)
    return d->state;
  cf_site *s = calloc(1, sizeof *s);
  if (!s)
    cf_fatal(cf_fail(CF_ENOMEM, "out of memory"));
  s->desc = d;
  s->hash = cf_hash64(d->file, strlen(d->file), d->line);
  s->next = cf_ctx.sites;
  cf_ctx.sites = s;
  d->state = s;
  return s;
}

void cofuse_abi_check(uint32_t abi, const char *file) {
  if (abi != COFUSE_ABI) {
    fprintf(
        stderr,
        "cofuse: error: %s was compiled by a cofuse plugin of ABI version %u, but libcofuse has version %u: "
        "recompile it with the plugin that belongs to this library\n",
        file, abi, COFUSE_ABI);
    exit(1);
  }
  /* Control is replicated: what the other ranks print is a copy (language.md section 4). */
  static bool done;
  if (done)
    return;
  done = true;
  register_exit();
  int rank, size;
  cf_comm_guess(&rank, &size);
  if (size > 1)
    cf_files_share_stdin();
  const char *all = getenv("COFUSE_STDOUT");
  if (rank > 0 && !(all && strcmp(all, "all") == 0)) {
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
      dup2(fd, STDOUT_FILENO);
      close(fd);
    }
  }
}
