// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Element types and reductions on values in memory. The generated code and these functions must
 * agree: the JIT initialises with cf_red_identity's bytes, the runtime combines with cf_red_combine. */
#include "codegen/codegen.h"

#include <math.h>
#include <string.h>

static const struct {
  uint8_t bytes, is_signed, is_float;
  const char *mlir;
} types[COFUSE_TYPE_COUNT] = {
#define COFUSE_TYPE(name, bytes, mlir, is_signed, is_float)                                                  \
  [COFUSE_##name] = {bytes, is_signed, is_float, mlir},
#include "cofuse/descriptor.def"
#undef COFUSE_TYPE
};

static bool valid(int type) { return type >= 0 && type < COFUSE_TYPE_COUNT; }

size_t cf_type_bytes(int type) { return valid(type) ? types[type].bytes : 0; }
const char *cf_type_mlir(int type) { return valid(type) ? types[type].mlir : "i8"; }

static int64_t load_signed(int type, const void *p) {
  int64_t v = 0;
  size_t n = types[type].bytes;
  memcpy(&v, p, n);
  unsigned shift = (unsigned)(64 - 8 * n);
  return (int64_t)((uint64_t)v << shift) >> shift;
}

static uint64_t load_unsigned(int type, const void *p) {
  uint64_t v = 0;
  memcpy(&v, p, types[type].bytes);
  return v;
}

static void put(int type, void *p, uint64_t v) { memcpy(p, &v, types[type].bytes); }

static void put_float(int type, void *p, double v) {
  if (type == COFUSE_F32) {
    float f = (float)v;
    memcpy(p, &f, sizeof f);
  } else {
    memcpy(p, &v, sizeof v);
  }
}

/* FMIN and FMAX start from NaN, the only value fmin and fmax give way to on either side. */
static void float_identity(int op, int type, void *out) {
  switch (op) {
  case COFUSE_RED_ADD:
    put_float(type, out, -0.0);
    break;
  case COFUSE_RED_MUL:
  case COFUSE_RED_LAND:
    put_float(type, out, 1.0);
    break;
  case COFUSE_RED_MIN:
    put_float(type, out, (double)INFINITY);
    break;
  case COFUSE_RED_MAX:
    put_float(type, out, -(double)INFINITY);
    break;
  case COFUSE_RED_FMIN:
  case COFUSE_RED_FMAX:
    put_float(type, out, (double)NAN);
    break;
  default:
    put_float(type, out, 0.0);
  }
}

void cf_red_identity(int op, int type, void *out) {
  if (!valid(type) || !types[type].bytes)
    return;
  if (types[type].is_float) {
    float_identity(op, type, out);
    return;
  }
  bool is_signed = types[type].is_signed, is_bool = type == COFUSE_BOOL;
  uint64_t all = is_bool ? 1 : UINT64_MAX >> (64 - 8 * types[type].bytes);
  uint64_t v = 0;
  switch (op) {
  case COFUSE_RED_MUL:
  case COFUSE_RED_LAND:
    v = 1;
    break;
  case COFUSE_RED_AND:
    v = all;
    break;
  case COFUSE_RED_MIN:
  case COFUSE_RED_FMIN:
    v = is_signed ? all >> 1 : all;
    break;
  case COFUSE_RED_MAX:
  case COFUSE_RED_FMAX:
    v = is_signed ? (all >> 1) + 1 : 0;
    break;
  default:
    break;
  }
  put(type, out, v);
}

#define COMBINE_FLOAT(T, fmin_, fmax_)                                                                       \
  static void combine_##T(int op, void *acc, const void *x) {                                                \
    T a, b;                                                                                                  \
    memcpy(&a, acc, sizeof a);                                                                               \
    memcpy(&b, x, sizeof b);                                                                                 \
    switch (op) {                                                                                            \
    case COFUSE_RED_ADD:                                                                                     \
      a += b;                                                                                                \
      break;                                                                                                 \
    case COFUSE_RED_MUL:                                                                                     \
      a *= b;                                                                                                \
      break;                                                                                                 \
    case COFUSE_RED_LAND:                                                                                    \
      a = (T)(a != 0 && b != 0);                                                                             \
      break;                                                                                                 \
    case COFUSE_RED_LOR:                                                                                     \
      a = (T)(a != 0 || b != 0);                                                                             \
      break;                                                                                                 \
    case COFUSE_RED_MIN:                                                                                     \
      if (b < a)                                                                                             \
        a = b;                                                                                               \
      break;                                                                                                 \
    case COFUSE_RED_MAX:                                                                                     \
      if (b > a)                                                                                             \
        a = b;                                                                                               \
      break;                                                                                                 \
    case COFUSE_RED_FMIN:                                                                                    \
      a = fmin_(a, b);                                                                                       \
      break;                                                                                                 \
    case COFUSE_RED_FMAX:                                                                                    \
      a = fmax_(a, b);                                                                                       \
      break;                                                                                                 \
    default:                                                                                                 \
      break;                                                                                                 \
    }                                                                                                        \
    memcpy(acc, &a, sizeof a);                                                                               \
  }
COMBINE_FLOAT(float, fminf, fmaxf)
COMBINE_FLOAT(double, fmin, fmax)
#undef COMBINE_FLOAT

static bool int_less(int type, const void *a, const void *b) {
  return types[type].is_signed ? load_signed(type, a) < load_signed(type, b)
                               : load_unsigned(type, a) < load_unsigned(type, b);
}

void cf_red_combine(int op, int type, void *acc, const void *x) {
  if (!valid(type) || !types[type].bytes)
    return;
  if (type == COFUSE_F32) {
    combine_float(op, acc, x);
    return;
  }
  if (type == COFUSE_F64) {
    combine_double(op, acc, x);
    return;
  }
  uint64_t a = load_unsigned(type, acc), b = load_unsigned(type, x);
  switch (op) {
  case COFUSE_RED_ADD:
    a = type == COFUSE_BOOL ? (a | b) : a + b; /* C converts the sum to _Bool: 1 + 1 is 1 */
    break;
  case COFUSE_RED_MUL:
    a *= b;
    break;
  case COFUSE_RED_AND:
    a &= b;
    break;
  case COFUSE_RED_OR:
    a |= b;
    break;
  case COFUSE_RED_XOR:
    a ^= b;
    break;
  case COFUSE_RED_LAND:
    a = a && b;
    break;
  case COFUSE_RED_LOR:
    a = a || b;
    break;
  case COFUSE_RED_MIN:
  case COFUSE_RED_FMIN:
    if (int_less(type, x, acc))
      a = b;
    break;
  case COFUSE_RED_MAX:
  case COFUSE_RED_FMAX:
    if (int_less(type, acc, x))
      a = b;
    break;
  default:
    break;
  }
  put(type, acc, a);
}

bool cf_red_placed(int op, int type) {
  return (op == COFUSE_RED_MIN || op == COFUSE_RED_MAX) && (type == COFUSE_F32 || type == COFUSE_F64);
}

static double as_double(int type, const void *p) {
  float f;
  double d;
  if (type == COFUSE_F32) {
    memcpy(&f, p, sizeof f);
    return (double)f;
  }
  memcpy(&d, p, sizeof d);
  return d;
}

void cf_red_combine_placed(int op, int type, void *acc, int64_t *place, const void *x, int64_t at) {
  double a = as_double(type, acc), b = as_double(type, x);
  if ((op == COFUSE_RED_MIN ? b < a : b > a) || (a == b && at < *place)) {
    memcpy(acc, x, cf_type_bytes(type));
    *place = at;
  }
}

void cf_red_fill(int op, int type, void *out, size_t n) {
  char one[8];
  size_t w = cf_type_bytes(type), bytes = n * w;
  if (!bytes)
    return;
  cf_red_identity(op, type, one);
  memcpy(out, one, w);
  for (size_t done = w; done < bytes; done *= 2) /* doubling: memcpy is faster than a loop over elements */
    memcpy((char *)out + done, out, done < bytes - done ? done : bytes - done);
}

/* The common case in a form that the compiler vectorises. */
#define ADD_ALL(T)                                                                                           \
  static void add_##T(T *restrict acc, const T *restrict x, size_t n) {                                      \
    for (size_t i = 0; i < n; i++)                                                                           \
      acc[i] += x[i];                                                                                        \
  }
ADD_ALL(double)
ADD_ALL(float)
ADD_ALL(uint64_t)
ADD_ALL(uint32_t)
#undef ADD_ALL

void cf_red_combine_all(int op, int type, void *acc, const void *x, size_t n) {
  size_t w = cf_type_bytes(type);
  if (op == COFUSE_RED_ADD && type == COFUSE_F64) {
    add_double(acc, x, n);
  } else if (op == COFUSE_RED_ADD && type == COFUSE_F32) {
    add_float(acc, x, n);
  } else if (op == COFUSE_RED_ADD && (type == COFUSE_I64 || type == COFUSE_U64)) {
    add_uint64_t(acc, x, n);
  } else if (op == COFUSE_RED_ADD && (type == COFUSE_I32 || type == COFUSE_U32)) {
    add_uint32_t(acc, x, n);
  } else {
    for (size_t i = 0; i < n; i++)
      cf_red_combine(op, type, (char *)acc + i * w, (const char *)x + i * w);
  }
}
