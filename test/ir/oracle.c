// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* test-ir-oracle [seed [count]], or ORACLE_SEED and ORACLE_COUNT. ORACLE_KEEP_GOING=n: stops after n
 * failures; a failing program is shrunk and printed. ORACLE_WHY=1: says why loops are not issued. */
#include "oracle.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static or_program program;
static volatile uint64_t running;

static void died(int sig) {
  char text[128];
  int n = snprintf(text, sizeof text, "seed %llu: signal %d\n", (unsigned long long)running, sig);
  if (write(2, text, (size_t)n) < 0)
    _exit(3);
  _exit(2);
}

static uint64_t number(int argc, char **argv, int i, const char *env, uint64_t def) {
  const char *s = argc > i ? argv[i] : getenv(env);
  return s && *s ? strtoull(s, NULL, 0) : def;
}

/* Leaves out what the failure does not need. */
static void shrink(or_program *p) {
  bool again = true;
  while (again) {
    again = false;
    for (int i = p->nops - 1; i >= 0; i--) {
      or_program q = *p;
      alarm(20);
      memmove(&q.op[i], &q.op[i + 1], (size_t)(q.nops - i - 1) * sizeof *q.op);
      q.nops--;
      for (int k = 0; k < q.nops; k++)
        q.op[k].prog = &q;
      if (or_simulate(&q, q.ranks)) {
        *p = q;
        again = true;
      }
    }
    for (int r = 1; r < p->ranks; r++)
      if (or_simulate(p, r)) {
        p->ranks = r;
        again = true;
      }
    while (p->passes > 1) {
      p->passes--;
      if (!or_simulate(p, p->ranks)) {
        p->passes++;
        break;
      }
    }
    for (int k = 0; k < p->nops; k++)
      p->op[k].prog = p;
  }
}

int main(int argc, char **argv) {
  uint64_t seed = number(argc, argv, 1, "ORACLE_SEED", 1),
           count = number(argc, argv, 2, "ORACLE_COUNT", 20000);
  uint64_t bad = 0, most = number(0, argv, 9, "ORACLE_KEEP_GOING", 1), single = 0;
  or_trace sum = {0};
  signal(SIGSEGV, died);
  signal(SIGABRT, died);
  signal(SIGALRM, died);
  cf_log_level = CF_LOG_OFF;
  double start = cf_now();
  for (uint64_t i = 0; i < count && bad < most; i++) {
    running = seed + i;
    alarm(20);
    or_generate(&program, seed + i);
    or_point_order = program.order;
    or_check_memo = i % 2;
    or_traced = (or_trace){0};
    const char *e = or_simulate(&program, program.ranks);
    or_trace t = or_traced;
    sum.plans += t.plans;
    sum.hits += t.hits;
    sum.groups += t.groups;
    sum.tasks += t.tasks;
    sum.temporaries += t.temporaries;
    sum.replicated += t.replicated;
    sum.single += t.single;
    if (e) {
      bad++;
      printf("FAILED %s\n", e);
      shrink(&program);
      e = or_simulate(&program, program.ranks);
      printf("shrunk: %s\n", e ? e : "?");
      or_print(&program);
      printf("\n");
      fflush(stdout);
      continue;
    }
    if (i % 4 == 0) { /* grouping does not depend on the number of ranks */
      int other = 1 + (program.ranks + (int)(i / 4)) % OR_RANKS;
      or_traced = (or_trace){0};
      e = or_simulate(&program, other);
      single++;
      if (!e && !t.any_single && !or_traced.any_single && t.hash != or_traced.hash)
        e = "grouping depends on the number of ranks";
      if (e) {
        bad++;
        printf("FAILED on %d ranks: %s\n", other, e);
        or_print(&program);
      }
    }
  }
  printf("%llu programs from seed %llu: %llu failed; %.1f s\n", (unsigned long long)count,
         (unsigned long long)seed, (unsigned long long)bad, cf_now() - start);
  printf("windows %llu (memo hits %llu), groups %llu, tasks %llu (replicated %llu, single %llu), temporaries "
         "%llu; loops "
         "issued %llu, plain %llu; compared groupings %llu\n",
         (unsigned long long)sum.plans, (unsigned long long)sum.hits, (unsigned long long)sum.groups,
         (unsigned long long)sum.tasks, (unsigned long long)sum.replicated, (unsigned long long)sum.single,
         (unsigned long long)sum.temporaries, (unsigned long long)or_issued_loops,
         (unsigned long long)or_serial_loops, (unsigned long long)single);
  return bad != 0;
}
