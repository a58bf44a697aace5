/* The binary interface between code rewritten by the plugin and the runtime.
 *
 * The plugin cannot rely on the user including this header: it spells structs of the same
 * layout inline. test/plugin/abi.c keeps the two in step. Everything a kernel does not need
 * to know before run time (addresses, strides, trip counts) is passed as data, so one
 * descriptor serves every size.
 *
 * Layout rules: LP64 only; every struct starts with `abi` where it is checked alone. */
#ifndef COFUSE_DESCRIPTOR_H
#define COFUSE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COFUSE_ABI 1u /* raised on every incompatible change of this file */

enum { COFUSE_MAX_DIMS = 6 };  /* collapsed parallel loops of one forall */
enum { COFUSE_MAX_INNER = 4 }; /* sequential inner loops in one affine subscript */
enum { COFUSE_MAX_RANK = 6 };  /* extents of one store */

enum cofuse_type {
#define COFUSE_TYPE(name, bytes, mlir, is_signed, is_float) COFUSE_##name,
#include "descriptor.def"
#undef COFUSE_TYPE
  COFUSE_TYPE_COUNT
};

/* Access modes, also the mode of a host guard. */
enum {
  COFUSE_R = 1,   /* may see a value from before this iteration */
  COFUSE_W = 2,   /* may write */
  COFUSE_MAY = 4, /* guards only: the range is an over-approximation */
};

enum {                      /* cofuse_access.flags */
       COFUSE_ACC_COND = 1, /* not executed in every iteration (of the parallel loops and its inner loops) */
       COFUSE_ACC_INDIRECT =
           2, /* subscript depends on data: offset computed in the body, `at` is the array's base */
       COFUSE_ACC_UNBOUNDED = 4, /* some inner loop of the subscript has no loop-invariant trip count */
       COFUSE_ACC_OBJECT = 8,  /* the address names a variable that exists (&x, x.m, fixed element of an array
                                  object): safe to read even if the access is conditional */
       COFUSE_ACC_RANGED = 16, /* conditional, and made only while counters lie in ranges that are given */
};

/* COFUSE_ACC_INDIRECT | COFUSE_ACC_OBJECT: `at` is the address of a whole array object (of a variable, or a
 * member of fixed size), ninner is 1, the inner stride 1 and the inner trip count the object's size in bytes,
 * so that one that is no store can be copied. */

/* One distinct address expression of a loop body (same polynomial, same type, same inner loops).
 * mode has COFUSE_R only if some read may precede a must-write of the same access in an iteration.
 * Without COFUSE_ACC_COND a COFUSE_W access is a must-write over its box. */
typedef struct cofuse_access {
  uint8_t type; /* enum cofuse_type of the element loaded or stored */
  uint8_t mode; /* COFUSE_R | COFUSE_W */
  uint8_t flags;
  uint8_t ninner; /* inner counters of the subscript, <= COFUSE_MAX_INNER */
  uint32_t line, column;
  const char *text; /* as the user wrote it: "u[i-1][j]" */
} cofuse_access;

enum cofuse_redop {
  COFUSE_RED_ADD,
  COFUSE_RED_MUL,
  COFUSE_RED_AND,
  COFUSE_RED_OR,
  COFUSE_RED_XOR,
  COFUSE_RED_LAND,
  COFUSE_RED_LOR,
  COFUSE_RED_MIN,  /* if (x < m) m = x: a NaN element is ignored */
  COFUSE_RED_MAX,  /* if (x > m) m = x */
  COFUSE_RED_FMIN, /* m = fmin(m, x): a NaN on either side is ignored */
  COFUSE_RED_FMAX,
};

enum {                         /* cofuse_red.flags */
       COFUSE_RED_SECTION = 1, /* the target is the first of several elements, not one variable */
};

typedef struct cofuse_red {
  uint8_t op;   /* enum cofuse_redop */
  uint8_t type; /* enum cofuse_type of the variable, or of one element */
  uint16_t flags;
  uint32_t line, column;
  const char *text;
} cofuse_red;

enum {                     /* cofuse_forall.flags */
       COFUSE_TU_OPT = 1,  /* unit compiled at -O1 or above: library-call simplification allowed */
       COFUSE_TU_FAST = 2, /* unit compiled with -ffast-math or -fveclib: vector math allowed */
};
enum { COFUSE_KIND_FORALL = 0, COFUSE_KIND_TASK = 1 };

/* A forall loop nest or a task statement. Static storage in the user's object; `state` is the
 * runtime's, zero at start.
 *
 * body: lines of MLIR (arith, math, scf, llvm dialects; structured control flow only, no blocks),
 * SSA names local to the body, plus these pseudo operations, one a line, which the runtime
 * expands (T is an MLIR scalar type, A an access number, S a scalar, D a loop, R a reduction):
 *   %x = cf.load A : T              %x = cf.load A(%k0, %k1) : T      %x = cf.load A at %off : T
 *   cf.store %v, A : T              cf.store %v, A(%k0) : T           cf.store %v, A at %off : T
 *   %x = cf.scalar S : T            %x = cf.iv D : T
 *   %x = cf.red R : T               cf.setred %v, R : T
 *   %x = cf.red R at %off : T       cf.setred %v, R at %off : T      (COFUSE_RED_SECTION)
 *   %p = cf.local T                 %p = cf.local T x N      (pointer to storage for a C local)
 * %k: i64 numbers 0,1,2,.. of the current iteration of the inner loops; %off: i64 bytes from `at`, or
 * from the target; %p: !llvm.ptr, used with llvm.load / llvm.store. A _Bool is i8 in memory and in T.
 * decls: one `llvm.func` declaration a line, for the functions the body calls. A callee whose name
 * starts with `cofuse.nb.` stands for the function without that prefix, not to be simplified (-O0); with
 * `cofuse.ne.` for one that need not set errno (-fno-math-errno). */
typedef struct cofuse_forall {
  uint32_t abi;
  uint8_t kind, ndims, nscalars, nreds;
  uint16_t naccess;
  uint16_t flags;
  uint32_t line, column;
  const char *file, *function, *name;
  const uint8_t *iv_types;     /* enum cofuse_type per parallel loop, outermost first */
  const cofuse_access *access; /* naccess */
  const uint8_t *scalar_types; /* nscalars */
  const cofuse_red *reds;      /* nreds */
  const char *body, *decls;
  void *state;
} cofuse_forall;

/* Issue one forall or task. ints holds, in this order and all as int64:
 *   per loop, outermost first:  value of the counter in the first iteration, trip count, step;
 *   per access:  at    address touched in the first iteration of every loop (indirect: array base),
 *                base  the pointer value the access is based on (used if the access is conditional),
 *                ndims strides in bytes per iteration, ninner strides, ninner trip counts;
 *                COFUSE_ACC_RANGED: per loop, then per inner loop, the lowest and the highest value of its
 * counter (inner: number of its iteration) for which the access may be made; per COFUSE_RED_SECTION:  number
 * of elements. scalars: addresses of nscalars values, copied before return. targets: addresses of nreds
 * variables. Returns 1 if the work is issued (skip the loop), 0 if the caller must run the plain loop. */
int cofuse_run(cofuse_forall *desc, const int64_t *ints, const void *const *scalars, void *const *targets);
/* The plain loop of the directive of this line ended (not called where it was left by a jump). For the report
 * of time at exit. */
void cofuse_ran(uint32_t line);

enum {                           /* cofuse_object.flags */
       COFUSE_OBJ_UNDEFINED = 1, /* clause `undefined`: contents need not be kept */
       COFUSE_OBJ_AUTO = 2,      /* automatic array: lives in a stack frame */
};

/* One item of a store, release or update directive. */
typedef struct cofuse_object {
  uint32_t abi;
  uint8_t type; /* enum cofuse_type */
  uint8_t rank; /* number of extents; 0 for a scalar variable */
  uint8_t flags, reserved;
  uint32_t elem_bytes;
  uint32_t line, column;
  const char *file, *text;
} cofuse_object;

/* ext: rank pairs (lower, length) in elements, outermost first. `base` is the array's address;
 * the object starts at base + lower. */
void cofuse_store_(cofuse_object *desc, void *base, const int64_t *ext);
void cofuse_release_(cofuse_object *desc, void *base);
void cofuse_update_(cofuse_object *desc, void *base, const int64_t *ext);
void cofuse_scope_exit(void *slot); /* slot: address of a void * that holds an automatic store's base */
/* The same for a directive in an inner block: the array lives on, so its contents are brought up to date on
 * every rank before it stops being a store. */
void cofuse_scope_leave(void *slot);
void cofuse_flush_(const char *file, uint32_t line);
/* `host`: everything that touches the listed objects is run and fetched (reads) or handed over
 * (writes) before the statement; with no list at all, every store is. ext as for update. */
void cofuse_host_(cofuse_object *desc, void *base, const int64_t *ext, int mode);
void cofuse_host_all_(const char *file, uint32_t line);

/* Inserted by the guard pass. base: the pointer the range is based on. [lo, hi): bytes. site: "f.c:l:c". */
void cofuse_guard(const void *base, const void *lo, const void *hi, int mode, const char *site);
void cofuse_unwound(const void *stack_pointer); /* after setjmp returned: automatic stores below are gone */
void cofuse_before_jump(void);                  /* before longjmp and siglongjmp */
void cofuse_hook_free(void *p);                 /* replaces free in compiled units */
void *cofuse_hook_realloc(void *p, size_t n);
void *cofuse_hook_fopen(const char *path,
                        const char *mode); /* FILE *: /dev/null on ranks other than 0 when writing */
void cofuse_abi_check(uint32_t abi, const char *file); /* constructor of every compiled unit */

#ifdef __cplusplus
}
#endif
#endif
