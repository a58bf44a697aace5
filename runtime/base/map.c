// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashing, and the map from byte strings to pointers: linear probing, at most three quarters full.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct cf_map_entry {
  unsigned char *key; // NULL: free slot
  size_t n;
  uint64_t hash;
  void *val;
};

uint64_t cf_hash64(const void *p, size_t n, uint64_t seed) { return XXH3_64bits_withSeed(p, n, seed); }

void cf_hash128_hex(const void *p, size_t n, char out[33]) {
  static const char digits[] = "0123456789abcdef";
  XXH128_canonical_t c;
  XXH128_canonicalFromHash(&c, XXH3_128bits(p, n));
  for (int i = 0; i < 16; i++) {
    out[2 * i] = digits[c.digest[i] >> 4];
    out[2 * i + 1] = digits[c.digest[i] & 15];
  }
  out[32] = '\0';
}

// Slot that holds the key or the free slot where it belongs. cap is a power of two, never full.
static struct cf_map_entry *cf_map_find(const cf_map *m, const void *key, size_t n, uint64_t hash) {
  for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
    struct cf_map_entry *e = &m->tab[i];
    if (!e->key || (e->hash == hash && e->n == n && !memcmp(e->key, key, n)))
      return e;
  }
}

static bool cf_map_rehash(cf_map *m) {
  cf_map bigger = {.cap = m->cap ? 2 * m->cap : 16, .count = m->count};
  bigger.tab = calloc(bigger.cap, sizeof *bigger.tab);
  if (!bigger.tab)
    return false;
  for (size_t i = 0; i < m->cap; i++)
    if (m->tab[i].key)
      *cf_map_find(&bigger, m->tab[i].key, m->tab[i].n, m->tab[i].hash) = m->tab[i];
  free(m->tab);
  *m = bigger;
  return true;
}

void *cf_map_get(const cf_map *m, const void *key, size_t n) {
  if (!m->count)
    return NULL;
  return cf_map_find(m, n ? key : "", n, cf_hash64(n ? key : "", n, 0))->val;
}

cf_status cf_map_put(cf_map *m, const void *key, size_t n, void *val) {
  if (4 * (m->count + 1) > 3 * m->cap && !cf_map_rehash(m))
    return cf_fail(CF_ENOMEM, "out of memory in a map of %zu entries", m->count);
  if (!n)
    key = "";
  uint64_t hash = cf_hash64(key, n, 0);
  struct cf_map_entry *e = cf_map_find(m, key, n, hash);
  if (!e->key) {
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy)
      return cf_fail(CF_ENOMEM, "out of memory for a map key of %zu bytes", n);
    memcpy(copy, key, n);
    *e = (struct cf_map_entry){copy, n, hash, NULL};
    m->count++;
  }
  e->val = val;
  return CF_OK;
}

void cf_map_each(const cf_map *m, void (*fn)(void *val, void *arg), void *arg) {
  for (size_t i = 0; i < m->cap; i++)
    if (m->tab[i].key)
      fn(m->tab[i].val, arg);
}

void cf_map_free(cf_map *m) {
  for (size_t i = 0; i < m->cap; i++)
    free(m->tab[i].key);
  free(m->tab);
  *m = (cf_map){0};
}
