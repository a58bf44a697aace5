/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the guard tests use in place of directives and tasks. Without the plugin, or with ORACLE=off,
 * a store is plain memory and a task runs on it; with the plugin see oracle.c. */
#ifndef ORACLE_H
#define ORACLE_H
#include <stddef.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

void cofuse_t_store(void *p, size_t bytes);
void cofuse_t_store_auto(void *p, size_t bytes); /* in a stack frame: gone when the frame is unwound */
void cofuse_t_release(void *p);
void cofuse_t_sync(void);                         /* nothing is on the host any more */
void cofuse_t_add(double *p, size_t n, double v); /* a task: p[0:n] += v */
int cofuse_t_active(void);                        /* poisoning? */
int cofuse_t_live(void);                          /* stores that exist; 0 if not poisoning */
unsigned long cofuse_t_guards(void);              /* guards executed so far */
unsigned long cofuse_t_fetched(void);             /* bytes brought to the host so far */

static inline void show(const char *name, double v) { printf("%-24s %.17g\n", name, v); }
#endif
