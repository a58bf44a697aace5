// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Kernels on disk. One file per entry, so that a reader sees all of it or nothing:
 *
 *   code (ELF, at offset 0: loaders and linkers ignore what follows) | key text | trailer
 *
 * The key text is everything the code depends on: formats, LLVM, the JIT component, the CPU, the module.
 * The file name is its hash; the text itself is compared, the hash of the whole file checked. A file
 * becomes visible by rename only. <key>.o is written at once, <key>.so replaces it when linked. */
#include "codegen/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CACHE_FORMAT = 1, MAX_ENTRY = 1 << 28 };
static const char magic[8] = "cofuseK";

typedef struct trailer {
  char hash[32]; /* of the whole file with this field zero */
  uint64_t code_size, key_size;
  uint32_t kind, format;
  char magic[8];
} trailer;

struct cf_cache {
  char *dir, *prefix; /* prefix: the part of the key text before the module */
  char *image_prefix; /* the same for images of devices, which any CPU may use, with or without a compiler */
  bool read_only, warned;
  cf_linker *linker;
  unsigned serial;
};

/* What a link in progress needs to become an entry. */
typedef struct pending {
  cf_cache *cache;
  char *key; /* key text */
  size_t key_len;
  char id[33]; /* its hash */
} pending;

/* ---- the CPU */

static void hash_cpuinfo_line(const char *line, uint64_t *h) {
  static const char *const names[] = {"model name",      "flags",    "Features",
                                      "CPU implementer", "CPU part", "CPU architecture",
                                      "CPU variant",     "isa"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    size_t n = strlen(names[k]);
    if (strncmp(line, names[k], n) == 0 && (line[n] == '\t' || line[n] == ' ' || line[n] == ':'))
      *h = cf_hash64(line, strlen(line), *h);
  }
}

uint64_t cf_cpu_identity(void) {
  static uint64_t known;
  uint64_t h = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (h)
    return h;
  FILE *f = fopen("/proc/cpuinfo", "re");
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  while (f && (n = getline(&line, &cap, f)) > 0 && line[0] != '\n') /* the first processor's block */
    hash_cpuinfo_line(line, &h);
  free(line);
  if (f)
    fclose(f);
  __atomic_store_n(&known, h, __ATOMIC_RELAXED);
  return h;
}

/* ---- folder */

static void warn_folder(cf_cache *c, const char *what, int error) {
  if (c->warned)
    return;
  c->warned = true;
  cf_log(
      CF_LOG_WARN,
      "%s the kernel cache folder %s: %s. Kernels are compiled again in every run; give this user access to "
      "it, or set COFUSE_CACHE_DIR to another folder or to \"off\"",
      what, c->dir, strerror(error));
}

static int make_folders(char *path) {
  for (char *p = path + 1;; p++) {
    if (*p && *p != '/')
      continue;
    char old = *p;
    *p = 0;
    int e = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
    *p = old;
    if (!old)
      return e;
  }
}

/* The default folder into b; false if the environment names none. */
static bool default_folder(cf_buf *b) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (xdg && *xdg == '/')
    cf_buf_printf(b, "%s/cofuse", xdg);
  else if (home && *home == '/')
    cf_buf_printf(b, "%s/.cache/cofuse", home);
  else
    return false;
  return true;
}

static void put_prefix(cf_buf *b, const char *jit_path) {
  struct stat sb;
  cf_buf_printf(b, "cofuse kernel\nformat %d\nabi %u\nllvm %s\ncpu %016" PRIx64 "\n", CACHE_FORMAT,
                COFUSE_ABI, COFUSE_LLVM_VERSION, cf_cpu_identity());
  if (jit_path && stat(jit_path, &sb) == 0)
    cf_buf_printf(b, "jit %lld %lld.%09ld\n", (long long)sb.st_size, (long long)sb.st_mtim.tv_sec,
                  sb.st_mtim.tv_nsec);
  cf_buf_str(b, "\n");
}

cf_status cf_cache_open(const char *dir, const char *jit_path, cf_cache **out) {
  *out = NULL;
  if (dir && strcmp(dir, "off") == 0)
    return CF_OK;
  cf_buf path = {0}, prefix = {0}, image = {0};
  if (dir && *dir) {
    cf_buf_str(&path, dir);
  } else if (!default_folder(&path)) {
    cf_log(CF_LOG_INFO, "neither XDG_CACHE_HOME nor HOME is set: no kernel cache");
    return CF_OK;
  }
  put_prefix(&prefix, jit_path);
  cf_buf_printf(&image, "cofuse image\nformat %d\nabi %u\nllvm %s\ncode %s\n\n", CACHE_FORMAT, COFUSE_ABI,
                COFUSE_LLVM_VERSION, COFUSE_CODE_VERSION);
  cf_cache *c = calloc(1, sizeof *c);
  if (!c || path.failed || prefix.failed || image.failed) {
    free(c);
    cf_buf_free(&image);
    cf_buf_free(&path);
    cf_buf_free(&prefix);
    return cf_fail(CF_ENOMEM, "out of memory");
  }
  c->dir = path.data;
  c->prefix = prefix.data;
  c->image_prefix = image.data;
  int e = make_folders(c->dir);
  if (e == 0 && access(c->dir, R_OK | X_OK) != 0)
    e = errno;
  if (e != 0) {
    warn_folder(c, "cannot use", e);
    cf_cache_close(c);
    return CF_OK;
  }
  if (access(c->dir, W_OK) != 0) {
    warn_folder(c, "cannot write to", errno);
    c->read_only = true;
  }
  *out = c;
  return CF_OK;
}

/* Temporary files of runs that were killed. Done by runs that compiled something only: they are slow anyhow.
 */
static void sweep(const cf_cache *c) {
  enum { OLD = 3600 };
  DIR *d = opendir(c->dir);
  if (!d)
    return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (struct dirent *e; (e = readdir(d));) {
    struct stat sb;
    size_t n = strlen(e->d_name);
    if (n > 4 && strcmp(e->d_name + n - 4, ".tmp") == 0 &&
        fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && now.tv_sec - sb.st_mtime > OLD)
      unlinkat(dirfd(d), e->d_name, 0);
  }
  closedir(d);
}

void cf_cache_close(cf_cache *c) {
  if (!c)
    return;
  cf_linker_close(c->linker);
  if (c->linker)
    sweep(c);
  free(c->dir);
  free(c->prefix);
  free(c->image_prefix);
  free(c);
}

/* ---- reading */

static cf_status read_all(int fd, char *p, size_t n) {
  while (n) {
    ssize_t k = read(fd, p, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return CF_EIO;
    p += k;
    n -= (size_t)k;
  }
  return CF_OK;
}

static void file_hash(const void *whole, size_t n, char out[32]) {
  char hex[33];
  cf_hash128_hex(whole, n, hex);
  memcpy(out, hex, 32);
}

/* NULL if the bytes are an entry for the key, else why not. buf is changed. */
static const char *check_entry(char *buf, size_t n, const cf_buf *key, int kind, trailer *t) {
  if (n < sizeof *t)
    return "it is too short";
  memcpy(t, buf + n - sizeof *t, sizeof *t);
  if (memcmp(t->magic, magic, sizeof magic) != 0 || t->format != CACHE_FORMAT || t->kind != (uint32_t)kind)
    return "it is not a complete entry";
  size_t body = n - sizeof *t;
  if (t->key_size != key->len || t->code_size > body || t->key_size != body - t->code_size)
    return "its sizes do not fit";
  char hash[32];
  memset(buf + body, 0, sizeof t->hash);
  file_hash(buf, n, hash);
  if (memcmp(hash, t->hash, sizeof hash) != 0)
    return "its contents are damaged";
  if (memcmp(buf + t->code_size, key->data, key->len) != 0)
    return "it belongs to another kernel";
  return NULL;
}

/* Reads one file. Whoever can write it can run code in this process, hence the owner and mode checks. */
static const char *read_entry(int fd, const cf_buf *key, int kind, cf_code *out) {
  struct stat sb;
  if (fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode))
    return "it is not a file";
  if (sb.st_uid != geteuid() && sb.st_uid != 0)
    return "it belongs to another user";
  if (sb.st_mode & (S_IWGRP | S_IWOTH))
    return "others may write to it";
  if (sb.st_size <= 0 || sb.st_size > MAX_ENTRY)
    return "its size is wrong";
  size_t n = (size_t)sb.st_size;
  char *buf = malloc(n);
  if (!buf)
    return "there is no memory to read it";
  trailer t;
  const char *bad = read_all(fd, buf, n) == CF_OK ? check_entry(buf, n, key, kind, &t) : "it cannot be read";
  if (bad) {
    free(buf);
    return bad;
  }
  *out = (cf_code){kind, buf, (size_t)t.code_size};
  return NULL;
}

static const char *suffix(int kind) {
  return kind == CF_CODE_SHARED ? "so" : kind == CF_CODE_IMAGE ? "image" : "o";
}

/* Reads the entry. A bad one is removed: without a linker nothing would ever replace a bad <id>.so. */
static bool get_file(cf_cache *c, const cf_buf *key, const char *id, int kind, cf_code *out) {
  cf_buf path = {0};
  cf_buf_printf(&path, "%s/%s.%s", c->dir, id, suffix(kind));
  const char *bad = NULL;
  int fd = path.failed ? -1 : open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0) {
    bad = read_entry(fd, key, kind, out);
    close(fd);
  } else if (!path.failed && errno != ENOENT) {
    bad = strerror(errno);
  }
  if (bad) {
    cf_log(CF_LOG_WARN, "ignoring the cached kernel %s: %s", path.data, bad);
    if (!c->read_only)
      unlink(path.data);
  }
  cf_buf_free(&path);
  return fd >= 0 && !bad;
}

static bool make_key(const cf_cache *c, const char *text, size_t len, cf_buf *key, char id[33]) {
  static const char image[] = CF_CG_TARGET "sm_";
  bool is_image = len > sizeof image && memcmp(text, image, sizeof image - 1) == 0;
  cf_buf_str(key, is_image ? c->image_prefix : c->prefix);
  cf_buf_put(key, text, len);
  if (key->failed)
    return false;
  cf_hash128_hex(key->data, key->len, id);
  return true;
}

/* ---- writing */

static bool write_all(int fd, const void *p, size_t n) {
  const char *q = p;
  while (n) {
    ssize_t k = write(fd, q, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return false;
    q += k;
    n -= (size_t)k;
  }
  return true;
}

static void temporary_path(cf_cache *c, const char *id, const char *what, cf_buf *path) {
  cf_buf_printf(path, "%s/%s.%ld.%u.%s", c->dir, id, (long)getpid(), c->serial++, what);
}

/* Makes the entry visible. Returns 0 or errno. */
static int write_entry(cf_cache *c, const char *id, const char *key, size_t key_len, int kind,
                       const void *code, size_t size) {
  trailer t = {.code_size = size, .key_size = key_len, .kind = (uint32_t)kind, .format = CACHE_FORMAT};
  memcpy(t.magic, magic, sizeof magic);
  cf_buf all = {0}, from = {0}, to = {0};
  cf_buf_put(&all, code, size);
  cf_buf_put(&all, key, key_len);
  cf_buf_put(&all, &t, sizeof t);
  temporary_path(c, id, "tmp", &from);
  cf_buf_printf(&to, "%s/%s.%s", c->dir, id, suffix(kind));
  int e = all.failed || from.failed || to.failed ? ENOMEM : 0;
  if (e == 0) {
    file_hash(all.data, all.len, t.hash);
    memcpy(all.data + all.len - sizeof t, t.hash, sizeof t.hash);
    int fd = open(from.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
      e = errno;
    } else {
      errno = 0;
      if (!write_all(fd, all.data, all.len))
        e = errno ? errno : EIO;
      if (close(fd) != 0 && e == 0)
        e = errno;
      if (e == 0 && rename(from.data, to.data) != 0)
        e = errno;
      if (e != 0)
        unlink(from.data);
    }
  }
  cf_buf_free(&all);
  cf_buf_free(&from);
  cf_buf_free(&to);
  return e;
}

static void write_failed(cf_cache *c, int e) {
  c->read_only = true;
  warn_folder(c, "cannot write to", e);
}

/* Whole file into memory; NULL on any failure. */
static char *slurp(const char *path, size_t *n) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat sb;
  char *buf = NULL;
  if (fd >= 0 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size > 0 && sb.st_size <= MAX_ENTRY) {
    *n = (size_t)sb.st_size;
    buf = malloc(*n);
    if (buf && read_all(fd, buf, *n) != CF_OK) {
      free(buf);
      buf = NULL;
    }
  }
  if (fd >= 0)
    close(fd);
  return buf;
}

/* The linker is done with a kernel: its output becomes the entry, the object's entry goes. */
static void linked(void *arg, const char *out, bool ok) {
  pending *p = arg;
  size_t n = 0;
  char *code = ok ? slurp(out, &n) : NULL;
  unlink(out);
  if (code && n > 4 && memcmp(code, "\177ELF", 4) == 0) {
    int e = write_entry(p->cache, p->id, p->key, p->key_len, CF_CODE_SHARED, code, n);
    cf_buf object = {0};
    cf_buf_printf(&object, "%s/%s.o", p->cache->dir, p->id);
    if (e == 0 && !object.failed)
      unlink(object.data);
    else if (e != 0)
      write_failed(p->cache, e);
    cf_buf_free(&object);
  } else {
    cf_log(CF_LOG_INFO, "kernel %s could not be linked; the cache keeps its object", p->id);
  }
  free(code);
  free(p->key);
  free(p);
}

/* Starts to link the entry <id>.o. */
static void link_object(cf_cache *c, const cf_buf *key, const char *id) {
  if (c->read_only || (!c->linker && !(c->linker = cf_linker_open())))
    return;
  pending *p = calloc(1, sizeof *p);
  cf_buf in = {0}, out = {0};
  cf_buf_printf(&in, "%s/%s.o", c->dir, id);
  temporary_path(c, id, "so.tmp", &out);
  if (p && (p->key = malloc(key->len)) && !in.failed && !out.failed) {
    p->cache = c;
    memcpy(p->key, key->data, key->len);
    p->key_len = key->len;
    memcpy(p->id, id, sizeof p->id);
    cf_linker_add(c->linker, in.data, out.data, linked, p);
  } else if (p) {
    free(p->key);
    free(p);
  }
  cf_buf_free(&in);
  cf_buf_free(&out);
}

bool cf_cache_get(cf_cache *c, const char *text, size_t len, cf_code *out) {
  cf_buf key = {0};
  char id[33];
  bool found = false;
  if (c->linker)
    cf_linker_poll(c->linker);
  if (make_key(c, text, len, &key, id)) {
    found = get_file(c, &key, id, CF_CODE_SHARED, out);
    if (!found && get_file(c, &key, id, CF_CODE_OBJECT, out)) {
      found = true;
      link_object(c, &key, id);
    }
    if (!found)
      found = get_file(c, &key, id, CF_CODE_IMAGE, out);
  }
  cf_buf_free(&key);
  return found;
}

void cf_cache_put(cf_cache *c, const char *text, size_t len, const cf_code *code) {
  cf_buf key = {0};
  char id[33];
  if (c->linker)
    cf_linker_poll(c->linker);
  if (!c->read_only && make_key(c, text, len, &key, id)) {
    int e = write_entry(c, id, key.data, key.len, code->kind, code->data, code->size);
    if (e != 0)
      write_failed(c, e);
    else if (code->kind == CF_CODE_OBJECT)
      link_object(c, &key, id);
  }
  cf_buf_free(&key);
}
