// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cpu device: threads that wait for work. Groups follow each other closely, and to wake a thread costs
// more than a small group takes: so they look for work for a few milliseconds, at first without a break, then
// giving way to whoever else wants the CPU, and only then sleep.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // CPU_COUNT
#endif
#include "device/device.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 2000 };
static const double YIELD_SECONDS = 0.003;

struct cf_pool {
  int n;       // threads, the caller among them
  int started; // threads created, n - 1 when complete
  bool eager;  // there is a CPU for each thread
  int forks;   // value of fork_count at creation; another value: the threads are not in this process
  struct worker *workers;
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  atomic_uint_fast64_t generation; // raised under lock for each run
  atomic_int pending;              // workers that have not finished this run
  bool stop;
  // The run; written before generation is raised, constant until pending is 0.
  int64_t nblocks;
  int order;
  cf_block_fn fn;
  void *arg;
  fenv_t env;
};

struct worker {
  cf_pool *pool;
  pthread_t thread;
  int index;
};

// fork copies only the calling thread: in the child every pool is without workers.
static atomic_int fork_count;
static void child_after_fork(void) { atomic_fetch_add(&fork_count, 1); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, child_after_fork); }

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

// Step of the fixed shuffle: near the golden section, and without a common divisor so that i * step mod n
// visits every block.
static int64_t shuffle_step(int64_t n) {
  if (n < 3 || n > UINT32_MAX)
    return 1;
  int64_t step = (int64_t)(0.6180339887 * (double)n);
  while (gcd(step, n) != 1)
    step++;
  return step;
}

static void run_range(int64_t nblocks, int order, cf_block_fn fn, void *arg, int thread, int threads) {
  int64_t share = nblocks / threads, rest = nblocks % threads;
  int64_t lo = thread * share + (thread < rest ? thread : rest);
  int64_t hi = lo + share + (thread < rest);
  int64_t step = order == 2 ? shuffle_step(nblocks) : 1;
  for (int64_t i = lo; i < hi; i++) {
    int64_t block = order == 0 ? i : order == 1 ? nblocks - 1 - i : i * step % nblocks;
    fn(arg, block, thread);
  }
}

// Looks for a generation other than `seen`; returns `seen` if it gave up.
static uint_fast64_t look_for_work(cf_pool *p, uint_fast64_t seen) {
  uint_fast64_t now = atomic_load_explicit(&p->generation, memory_order_acquire);
  if (!p->eager) // a spinning thread must not keep one with work off the CPU
    return now;
  for (int i = 0; i < SPINS && now == seen; i++) {
    relax();
    now = atomic_load_explicit(&p->generation, memory_order_acquire);
  }
  for (double start = cf_now(); now == seen && cf_now() - start < YIELD_SECONDS;) {
    sched_yield();
    now = atomic_load_explicit(&p->generation, memory_order_acquire);
  }
  return now;
}

static void *worker_main(void *arg) {
  struct worker *w = arg;
  cf_pool *p = w->pool;
  for (uint_fast64_t seen = 0;;) {
    uint_fast64_t now = look_for_work(p, seen);
    if (now == seen) {
      pthread_mutex_lock(&p->lock);
      while ((now = atomic_load(&p->generation)) == seen)
        pthread_cond_wait(&p->start, &p->lock);
      pthread_mutex_unlock(&p->lock);
    }
    seen = now;
    if (p->stop)
      return NULL;
    fesetenv(&p->env);
    run_range(p->nblocks, p->order, p->fn, p->arg, w->index, p->n);
    if (atomic_fetch_sub(&p->pending, 1) == 1) {
      pthread_mutex_lock(&p->lock);
      pthread_cond_signal(&p->done);
      pthread_mutex_unlock(&p->lock);
    }
  }
}

static void raise_generation(cf_pool *p) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
  pthread_cond_broadcast(&p->start);
  pthread_mutex_unlock(&p->lock);
}

static int cpus_allowed(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  long n = sysconf(_SC_NPROCESSORS_ONLN); // more CPUs than a cpu_set_t holds
  return n > 0 ? (int)n : 1;
}

int cf_pool_default_threads(int local_rank, int local_size) {
  int cpus = cpus_allowed();
  if (local_size < 1)
    local_size = 1;
  int n = cpus / local_size + (local_rank < cpus % local_size);
  return n > 0 ? n : 1;
}

cf_status cf_pool_create(int n, cf_pool **out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (n < 1)
    return cf_fail(CF_EINVAL, "a pool of %d threads", n);
  pthread_once(&once, watch_forks);
  cf_pool *p = calloc(1, sizeof *p);
  struct worker *workers = calloc((size_t)n, sizeof *workers);
  if (!p || !workers) {
    free(p);
    free(workers);
    return cf_fail(CF_ENOMEM, "out of memory for %d threads", n);
  }
  p->n = n;
  p->eager = n <= cpus_allowed();
  p->forks = atomic_load(&fork_count);
  p->workers = workers;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->start, NULL);
  pthread_cond_init(&p->done, NULL);
  // Signals stay with the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int err = 0;
  for (int i = 1; i < n && !err; i++) {
    workers[i] = (struct worker){.pool = p, .index = i};
    err = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
    p->started += !err;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (err) {
    cf_pool_destroy(p);
    return cf_fail(CF_ENOMEM, "cannot start %d threads (COFUSE_THREADS)", n);
  }
  *out = p;
  return CF_OK;
}

int cf_pool_threads(const cf_pool *p) { return p->n; }

void cf_pool_run(cf_pool *p, int64_t nblocks, int order, cf_block_fn fn, void *arg) {
  if (nblocks <= 0)
    return;
  if (p->n == 1 || nblocks == 1 || p->forks != atomic_load_explicit(&fork_count, memory_order_relaxed)) {
    run_range(nblocks, order, fn, arg, 0, 1);
    return;
  }
  p->nblocks = nblocks;
  p->order = order;
  p->fn = fn;
  p->arg = arg;
  fegetenv(&p->env);
  atomic_store(&p->pending, p->n - 1);
  raise_generation(p);
  run_range(nblocks, order, fn, arg, 0, p->n);
  for (int i = 0; i < SPINS && p->eager && atomic_load_explicit(&p->pending, memory_order_acquire) > 0; i++)
    relax();
  for (double start = cf_now(); p->eager && atomic_load_explicit(&p->pending, memory_order_acquire) > 0 &&
                                cf_now() - start < YIELD_SECONDS;)
    sched_yield();
  if (atomic_load_explicit(&p->pending, memory_order_acquire) > 0) {
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->pending) > 0)
      pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
  }
}

void cf_pool_destroy(cf_pool *p) {
  if (!p)
    return;
  if (p->forks == atomic_load(&fork_count)) {
    p->stop = true;
    raise_generation(p);
    for (int i = 1; i <= p->started; i++)
      pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->start);
    pthread_cond_destroy(&p->done);
  }
  free(p->workers);
  free(p);
}
