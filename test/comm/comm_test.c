// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run on any number of ranks. Without argument: every operation, checked. With one: a fault that must end
// the job with a message.
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cf_comm *c;

#define CHECK(cond)                                                                                          \
  do {                                                                                                       \
    if (!(cond)) {                                                                                           \
      fprintf(stderr, "rank %d: line %d: %s; last error: %s\n", c ? c->rank : -1, __LINE__, #cond,           \
              cf_last_error());                                                                              \
      if (c)                                                                                                 \
        c->ops->abort(c, 1);                                                                                 \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

static unsigned char pattern(int from, int to, int k, size_t i) {
  return (unsigned char)(7 * from + 13 * to + 31 * k + (int)(i * 2654435761u >> 7));
}

static size_t size_of(int from, int to, int k) { return 1 + (size_t)((from * 5 + to * 3 + k * 1009) % 4001); }

// Every rank to every rank, itself included, several messages of different sizes per pair.
static void test_exchange(int per_pair) {
  int n = c->size * per_pair;
  cf_msg *s = calloc((size_t)n, sizeof *s), *r = calloc((size_t)n, sizeof *r);
  uint64_t messages = c->messages, bytes = c->bytes_sent, total = 0;
  for (int p = 0; p < c->size; p++)
    for (int k = 0; k < per_pair; k++) {
      int j = p * per_pair + k;
      s[j] = (cf_msg){p, NULL, size_of(c->rank, p, k)};
      r[j] = (cf_msg){p, NULL, size_of(p, c->rank, k)};
      unsigned char *out = s[j].buf = malloc(s[j].bytes);
      r[j].buf = calloc(r[j].bytes, 1);
      total += s[j].bytes;
      for (size_t i = 0; i < s[j].bytes; i++)
        out[i] = pattern(c->rank, p, k, i);
    }
  CHECK(c->ops->exchange(c, s, n, r, n, 0x1234567890abcdefu + (uint64_t)per_pair) == CF_OK);
  for (int j = 0; j < n; j++) {
    const unsigned char *in = r[j].buf;
    for (size_t i = 0; i < r[j].bytes; i++)
      CHECK(in[i] == pattern(r[j].peer, c->rank, j % per_pair, i));
    free(s[j].buf);
    free(r[j].buf);
  }
  CHECK(c->messages == messages + (uint64_t)n);
  CHECK(c->bytes_sent == bytes + total);
  CHECK(c->ops->exchange(c, NULL, 0, NULL, 0, 5) == CF_OK);
  free(s);
  free(r);
}

static void test_bcast(void) {
  enum { N = 5003 };
  unsigned char buf[N];
  for (int root = 0; root < c->size; root++) {
    for (size_t i = 0; i < N; i++)
      buf[i] = c->rank == root ? pattern(root, 0, 1, i) : 0;
    CHECK(c->ops->bcast(c, buf, N, root, 100) == CF_OK); // one stamp for several calls: matched in order
    for (size_t i = 0; i < N; i++)
      CHECK(buf[i] == pattern(root, 0, 1, i));
  }
  CHECK(c->ops->bcast(c, NULL, 0, 0, 7) == CF_OK);
}

static void test_allgatherv(void) {
  size_t *off = calloc((size_t)c->size, sizeof *off), *len = calloc((size_t)c->size, sizeof *len), total = 0;
  for (int r = c->size - 1; r >= 0; r--) { // parts in descending order, with gaps; every third is empty
    off[r] = total + 3;
    len[r] = r % 3 == 2 ? 0 : 100 + 900 * (size_t)r;
    total = off[r] + len[r];
  }
  unsigned char *buf = calloc(total + 1, 1);
  for (size_t i = 0; i < len[c->rank]; i++)
    buf[off[c->rank] + i] = pattern(c->rank, 0, 2, i);
  CHECK(c->ops->allgatherv(c, buf, off, len, 200) == CF_OK);
  for (int r = 0; r < c->size; r++) {
    for (size_t i = 0; i < len[r]; i++)
      CHECK(buf[off[r] + i] == pattern(r, 0, 2, i));
    CHECK(buf[off[r] - 1] == 0);
  }
  free(buf);
  free(off);
  free(len);
}

static void test_gather0(size_t bytes) {
  unsigned char *mine = malloc(bytes), *all = c->rank ? NULL : malloc(bytes * (size_t)c->size);
  for (size_t i = 0; i < bytes; i++)
    mine[i] = pattern(c->rank, 9, 3, i);
  CHECK(c->ops->gather0(c, mine, bytes, all, 300 + bytes) == CF_OK);
  for (int r = 0; all && r < c->size; r++)
    for (size_t i = 0; i < bytes; i++)
      CHECK(all[(size_t)r * bytes + i] == pattern(r, 9, 3, i));
  free(mine);
  free(all);
}

static void test_all(void) {
  CHECK(c->local_size == c->size); // the test runs on one machine and its ranks are not bound
  CHECK(c->local_rank >= 0 && c->local_rank < c->local_size);
  for (int round = 0; round < 3; round++) {
    test_exchange(1);
    test_exchange(3);
    test_bcast();
    test_allgatherv();
    test_gather0(1);
    test_gather0(1000);
    CHECK(c->ops->barrier(c, 400) == CF_OK);
  }
  cf_msg bad = {c->size, &c, 1};
  CHECK(c->ops->exchange(c, &bad, 1, NULL, 0, 1) == CF_EINTERNAL);
  CHECK(c->ops->bcast(c, &bad, 1, c->size, 1) == CF_EINTERNAL);
  CHECK(c->ops->barrier(c, 401) == CF_OK);
  if (c->rank == 0)
    printf("comm %d ok\n", c->size);
}

// Faults: two ranks are enough to see them.
static void test_fault(const char *what) {
  char a[64] = {0}, b[64] = {0};
  int other = 1 - c->rank;
  CHECK(c->size == 2);
  if (!strcmp(what, "diverge")) {
    cf_msg s = {other, a, 64}, r = {other, b, 64};
    if (c->rank == 0)
      CHECK(c->ops->exchange(c, &s, 1, &r, 1, 0xaaaa) == CF_OK);
    else
      CHECK(c->ops->bcast(c, a, 8, 0, 0xbbbb) == CF_OK);
  } else if (!strcmp(what, "stamp")) {
    CHECK(c->ops->barrier(c, 0x1000 + (uint64_t)c->rank) == CF_OK);
  } else if (!strcmp(what, "size")) {
    cf_msg s = {other, a, 64 - (size_t)c->rank}, r = {other, b, 64};
    CHECK(c->ops->exchange(c, &s, 1, &r, 1, 0xcccc) == CF_OK);
  } else if (!strcmp(what, "long")) {
    cf_msg s = {other, a, 64}, r = {other, b, 64 - (size_t)c->rank};
    CHECK(c->ops->exchange(c, &s, 1, &r, 1, 0xcccc) == CF_OK);
  } else if (!strcmp(what, "absent")) {
    if (c->rank == 1)
      for (;;)
        pause();
    CHECK(c->ops->barrier(c, 0xdddd) == CF_OK);
  } else if (!strcmp(what, "early-exit")) {
    if (c->rank == 0)
      CHECK(c->ops->barrier(c, 0xeeee) == CF_OK);
  }
}

int main(int argc, char **argv) {
  cf_options o;
  CHECK(cf_options_read(&o) == CF_OK);
  int rank, size;
  cf_comm_guess(&rank, &size);
  cf_log_rank = rank;
  CHECK(cf_comm_create(&o, NULL, &c) == CF_OK);
  CHECK(rank == c->rank && size == c->size);
  if (argc > 1)
    test_fault(argv[1]);
  else
    test_all();
  c->ops->finalize(c);
  return 0;
}
