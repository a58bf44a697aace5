// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* NumPy files: magic, version, length of the header, then a Python dictionary as text. */
#include "base/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, PREFIX = 10, ALIGN = 64 };

/* Bytes of one element of a type code such as "f8", without byte order; 0 if it is not valid. */
static size_t code_bytes(const char *code) {
  if (!*code || !strchr("biufcV", *code) || code[1] < '1' || code[1] > '9')
    return 0;
  char *end;
  unsigned long n = strtoul(code + 1, &end, 10);
  return *end || n > 4096 ? 0 : n;
}

cf_status cf_npy_describe(const char *path, const char *dtype, int rank, const int64_t *shape, cf_npy *out) {
  const char *code = dtype + (*dtype && strchr("<>=|", *dtype) ? 1 : 0);
  cf_npy h = {.elem_bytes = code_bytes(code), .rank = rank};
  if (!h.elem_bytes)
    return cf_fail(CF_EINVAL, "%s: '%s' is no element type; use for example \"f8\", \"f4\", \"i4\"", path,
                   dtype);
  if (rank < 0 || rank > CF_NPY_MAX_RANK)
    return cf_fail(CF_EINVAL, "%s: %d dimensions; 0 to %d are possible", path, rank, (int)CF_NPY_MAX_RANK);
  size_t total = h.elem_bytes;
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 0 || __builtin_mul_overflow(total, shape[d] ? (size_t)shape[d] : 1, &total))
      return cf_fail(CF_EINVAL, "%s: extent %d is %" PRId64, path, d, shape[d]);
    h.shape[d] = shape[d];
  }
  bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  h.descr[0] = h.elem_bytes == 1 || *code == 'V' ? '|' : little ? '<' : '>';
  memcpy(h.descr + 1, code, strlen(code) + 1);
  *out = h;
  return CF_OK;
}

cf_status cf_npy_write_header(cf_npy *h, cf_buf *to) {
  size_t start = to->len;
  cf_buf_put(to, magic, MAGIC);
  cf_buf_put(to, "\1\0\0\0", 4); /* version 1.0; the length follows below */
  cf_buf_printf(to, "{'descr': '%s', 'fortran_order': False, 'shape': (", h->descr);
  for (int d = 0; d < h->rank; d++)
    cf_buf_printf(to,
                  d == 0             ? "%" PRId64 ","
                  : d == h->rank - 1 ? " %" PRId64
                                     : " %" PRId64 ",",
                  h->shape[d]);
  cf_buf_str(to, "), }");
  while ((to->len - start + 1) % ALIGN && !to->failed)
    cf_buf_str(to, " ");
  cf_buf_str(to, "\n");
  if (to->failed)
    return cf_fail(CF_ENOMEM, "out of memory");
  h->data_offset = to->len - start;
  size_t text = h->data_offset - PREFIX;
  to->data[start + 8] = (char)(text & 255);
  to->data[start + 9] = (char)(text >> 8);
  return CF_OK;
}

/* The text behind 'key': in a header, blanks skipped; NULL if the key is missing. */
static const char *value_of(const char *text, const char *key) {
  const char *p = strstr(text, key);
  if (!p)
    return NULL;
  p += strlen(key);
  while (*p == ' ' || *p == ':')
    p++;
  return p;
}

static cf_status parse_text(const char *path, const char *text, cf_npy *h) {
  const char *descr = value_of(text, "'descr'"), *order = value_of(text, "'fortran_order'");
  const char *shape = value_of(text, "'shape'");
  if (!descr || !order || !shape || *shape != '(')
    return cf_fail(CF_EIO, "%s: the header of this NumPy file is damaged", path);
  const char *end = *descr == '\'' ? strchr(descr + 1, '\'') : NULL;
  if (!end || end - descr - 1 >= (ptrdiff_t)sizeof h->descr || end - descr < 3)
    return cf_fail(CF_EINVAL, "%s: elements of a structured type cannot be read", path);
  memcpy(h->descr, descr + 1, (size_t)(end - descr - 1));
  h->descr[end - descr - 1] = 0;
  h->elem_bytes = code_bytes(h->descr + 1);
  if (!h->elem_bytes)
    return cf_fail(CF_EINVAL, "%s: elements of type '%s' cannot be read", path, h->descr);
  for (const char *p = shape + 1; *p != ')';) {
    char *next;
    long long n = strtoll(p, &next, 10);
    if (next == p || n < 0 || h->rank == CF_NPY_MAX_RANK)
      return cf_fail(CF_EIO, "%s: the shape in this NumPy file cannot be read", path);
    h->shape[h->rank++] = n;
    for (p = next; *p == ',' || *p == ' '; p++)
      ;
  }
  if (strncmp(order, "False", 5) != 0 && h->rank > 1)
    return cf_fail(CF_EINVAL, "%s: is in column-major (Fortran) order; save it with numpy.ascontiguousarray",
                   path);
  return CF_OK;
}

cf_status cf_npy_read_header(const char *path, const char *data, size_t n, cf_npy *out) {
  if (n < PREFIX + 2 || memcmp(data, magic, MAGIC) != 0)
    return cf_fail(CF_EIO, "%s: is not a NumPy file", path);
  const unsigned char *b = (const unsigned char *)data;
  size_t prefix = b[6] > 1 ? PREFIX + 2 : PREFIX; /* later versions have four bytes of length */
  size_t length = b[8] + 256u * b[9] + (b[6] > 1 ? ((size_t)b[10] << 16) + ((size_t)b[11] << 24) : 0);
  if (length > n - prefix)
    return cf_fail(CF_EIO, "%s: ends within its header", path);
  char *text = malloc(length + 1);
  if (!text)
    return cf_fail(CF_ENOMEM, "out of memory");
  memcpy(text, data + prefix, length);
  text[length] = 0;
  cf_npy h = {.data_offset = prefix + length};
  cf_status st = parse_text(path, text, &h);
  free(text);
  if (st == CF_OK)
    *out = h;
  return st;
}

static void print_shape(cf_buf *b, const cf_npy *h) {
  cf_buf_printf(b, "%s (", h->descr);
  for (int d = 0; d < h->rank; d++)
    cf_buf_printf(b, "%s%" PRId64, d ? ", " : "", h->shape[d]);
  cf_buf_str(b, ")");
}

cf_status cf_npy_match(const char *path, const cf_npy *want, const cf_npy *have) {
  if (strcmp(want->descr, have->descr) == 0 && want->rank == have->rank &&
      memcmp(want->shape, have->shape, (size_t)want->rank * sizeof want->shape[0]) == 0)
    return CF_OK;
  cf_buf a = {0}, b = {0};
  print_shape(&a, have);
  print_shape(&b, want);
  cf_status st = cf_fail(CF_EINVAL, "%s: holds %s, but %s is wanted", path, a.data ? a.data : "?",
                         b.data ? b.data : "?");
  cf_buf_free(&a);
  cf_buf_free(&b);
  return st;
}
