// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "oracle.h"

#include <stdio.h>

static void print_run(const or_program *p, const or_op *o) {
  const or_site *s = &p->site[o->site];
  printf("run site %d (", o->site);
  for (int l = 0; l < s->desc.ndims; l++)
    printf("%s%lld", l ? " x " : "", (long long)o->trip[l]);
  printf(")");
  for (int k = 0; k < s->desc.naccess; k++) {
    const cofuse_access *d = &s->acc[k];
    printf("\n      %s%s A%d at %lld", d->mode & 1 ? "R" : "", d->mode & 2 ? "W" : "", o->acc[k].array,
           (long long)o->acc[k].at);
    for (int l = 0; l < s->desc.ndims + d->ninner; l++) {
      printf(" %+lld*n%d", (long long)o->acc[k].stride[l], l);
      if (l >= s->desc.ndims)
        printf("(<%lld)", (long long)o->acc[k].itrip[l - s->desc.ndims]);
    }
    printf("%s%s%s base %lld", d->flags & COFUSE_ACC_COND ? " cond" : "",
           d->flags & COFUSE_ACC_INDIRECT ? " indirect" : "", d->type == COFUSE_U32 ? " u32" : "",
           (long long)o->acc[k].base);
  }
  for (int r = 0; r < s->desc.nreds; r++)
    if (o->red_array[r] < 0)
      printf("\n      reduce op %d into variable", s->red[r].op);
    else
      printf("\n      reduce op %d into A%d at %lld", s->red[r].op, o->red_array[r], (long long)o->red_at[r]);
}

void or_print(const or_program *p) {
  static const char *kinds[] = {"run",   "store",  "release", "free",   "read",
                                "write", "update", "flush",   "realloc"};
  printf("seed %llu: %d ranks, window %u up to %u, order %d, defer %zu, %d passes of:\n",
         (unsigned long long)p->seed, p->ranks, p->window, p->window_max, p->order, p->defer, p->passes);
  for (int a = 0; a < p->narrays; a++) {
    printf("  A%d %s of %u bytes", a, p->array[a].automatic ? "automatic," : "", p->array[a].elem);
    for (int d = 0; d < p->array[a].rank; d++)
      printf("[%lld]", (long long)p->array[a].ext[d]);
    if (p->array[a].host >= 0)
      printf(" behind A%d", p->array[a].host);
    printf(" type %d\n", p->array[a].type);
  }
  for (int i = 0; i < p->nops; i++) {
    const or_op *o = &p->op[i];
    printf("  %2d ", o->id);
    if (o->kind == OR_RUN) {
      print_run(p, o);
    } else {
      printf("%s A%d", kinds[o->kind], o->array);
      if (o->kind == OR_READ || o->kind == OR_WRITE)
        printf(" bytes [%lld, %lld)", (long long)o->lo, (long long)o->hi);
      if (o->with_run) {
        printf(", then ");
        print_run(p, o);
      }
    }
    printf("\n");
  }
}
