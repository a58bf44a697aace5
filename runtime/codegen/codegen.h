/* Layer codegen: from a group of loop nests to machine code.
 *
 * Two steps. cf_cg_assemble splices loop bodies (templates in include/cofuse/descriptor.h) into the
 * text of one MLIR module; it needs no LLVM and its text, which holds no address and no size, is the
 * kernel's identity. cf_kernel_get returns callable code for a text: from memory, from the cache on
 * disk (a shared object, no LLVM loaded), or from the JIT component, loaded on first need. */
#ifndef CF_CODEGEN_H
#define CF_CODEGEN_H

#include "base/base.h"
#include "cofuse/descriptor.h"

enum { CF_CG_MAX_STRIDES = COFUSE_MAX_DIMS + COFUSE_MAX_INNER };

enum { CF_RED_SLOT = 16 }; /* bytes of one partial result */

/* Slot of a reduction into an array section, filled in by the caller before the kernel runs: elements of the
 * section, each at the identity or at what an earlier block left. With `check`, two int64 in front of the
 * array take the lowest and highest bad offset. */
typedef struct cf_red_section {
  void *array;
  int64_t last; /* largest valid offset */
} cf_red_section;

/* An integer known only at run time (index into ints[]) or a literal of the kernel. */
typedef struct cf_cg_int {
  int32_t index; /* >= 0: ints[index]; -1: lit */
  int64_t lit;
} cf_cg_int;

/* Where one access of one task goes. Memory: bases[base] + off + sum stride[d] * n_d, n_d the
 * iteration number in the nest (then inner counters, in order). Indirect: bases[base] + off + %off.
 * Local (a demoted store): slot `local` of the nest, no memory at all. */
typedef struct cf_cg_access {
  int32_t local; /* >= 0: local slot of the nest; then nothing else is used */
  int32_t base;  /* index into bases[]: one per store instance; two bases never overlap */
  cf_cg_int off;
  cf_cg_int stride[CF_CG_MAX_STRIDES];
  /* Checked access (COFUSE_CHECK): bytes from the base at which the element starts must be 0 to
   * ints[limit - 1]; 0: not checked. Otherwise nothing is touched, a load gives 0, and the offset goes into
   * the pair of int64 (lowest, highest) at bases[report] + 16 * slot, atomically. */
  uint32_t limit, report, slot;
} cf_cg_access;

typedef struct cf_cg_task {
  const cofuse_forall *desc;
  const cf_cg_access *access; /* desc->naccess */
  /* Counter of a loop of the directive: first + n * step, where n is that of the nest's loop loop_at; a place
   * behind the nest's loops: first. */
  uint8_t loop_at[COFUSE_MAX_DIMS];
  cf_cg_int iv_first[COFUSE_MAX_DIMS], iv_step[COFUSE_MAX_DIMS]; /* by place */
  uint32_t scalar_off; /* bytes into scalars[]: scalar s of the task lies at scalar_off + 8 * s */
  uint32_t red_off;    /* partial of reduction r lies at byte CF_RED_SLOT * (red_off + r) of partials */
  bool check;          /* updates of array sections look at their offsets first */
  cf_cg_int trip[COFUSE_MAX_DIMS]; /* device, of tasks with placed reductions: iterations of each loop */
} cf_cg_task;

/* A reduction whose result goes into a store of one element: bases[base] = bases[base] op result `slot`. */
typedef struct cf_cg_target {
  uint8_t op, type;
  uint32_t slot, base;
} cf_cg_target;

/* One loop nest: the bodies of its tasks run one after another for each point. A nest with
 * ndims == 0 runs its tasks once. */
typedef struct cf_cg_nest {
  uint32_t ndims, ntasks;
  const cf_cg_task *tasks;
  uint32_t nlocals;
  const uint8_t *local_types; /* enum cofuse_type per local slot */
} cf_cg_nest;

typedef struct cf_cg_unit {
  uint32_t nnests;
  const cf_cg_nest *nests;
  uint32_t nbases, nints;
  bool device;    /* for a device that runs grids of threads (device/device.h) */
  uint32_t nreds; /* device: partial results of one lane, those of all nests */
  uint32_t ntargets;
  const cf_cg_target *targets; /* device; at most CF_DEVICE_TARGETS, in the order of the tasks */
} cf_cg_unit;
enum { CF_DEVICE_TARGETS = 64 };
/* How many functions the text has: nnests, and those of a device behind them. */
uint32_t cf_cg_functions(const cf_cg_unit *u);

/* Appends the module text. Function of nest k: llvm.func @cofuse_k<k> with the C signature of
 * cf_kernel_fn, or of the kernels of a device. Errors: CF_EINVAL on a malformed body, with the descriptor's
 * file:line. */
cf_status cf_cg_assemble(const cf_cg_unit *u, cf_buf *text);

/* ---- kernels of a device
 *
 * void k(const void *args, cf_device_box box, void *partials): args holds the bases, and at box.ints and
 * box.scalars what the other kernels get under these names. Threads go round the points of the box, the
 * innermost loop along x. A nest with reductions runs in blocks, as on the CPU, each by CF_DEVICE_LANES
 * threads in a row: lane l of block b leaves, at partials + CF_RED_SLOT * (((CF_DEVICE_LANES + 1) * b + l) *
 * nreds + r), partial r with its place; what is left of rows goes to lane CF_DEVICE_LANES. These are the
 * lanes of the CPU's kernels, and combined in the same order they give the same bits. A nest without loops
 * has block 0, lane 0 alone.
 *
 * Behind the functions of the nests, two for each nest with loops and reductions: the first folds the lanes
 * of every block into box.fold bytes behind partials, at CF_RED_SLOT * (b * nreds + r), places being numbers
 * of iterations from here on; the second these into box.result bytes behind partials, at CF_RED_SLOT * r,
 * with a thread for each reduction of the nest. The last function, if there are targets, puts results into
 * them, those whose bit is set in box.mask, by one thread. */
enum {
  CF_DEVICE_LANES = 16,
  CF_DEVICE_THREADS = 256, /* at most so many in a block */
  /* Words of cf_device_box (device/device.h). */
  CF_DEVICE_BOX_LO = 0,
  CF_DEVICE_BOX_HI = 8,
  CF_DEVICE_BOX_PER = 16,
  CF_DEVICE_BOX_SPAN = 24,
  CF_DEVICE_BOX_BLOCKS = 32,
  CF_DEVICE_BOX_INTS = 33,
  CF_DEVICE_BOX_SCALARS = 34,
  CF_DEVICE_BOX_FOLD = 35,
  CF_DEVICE_BOX_RESULT = 36,
  CF_DEVICE_BOX_MASK = 37,
  CF_DEVICE_BOX_IDS = 48, /* 12 of 4 bytes, for `emu` */
  CF_DEVICE_BOX_WORDS = 64,
};
/* The nest has functions of its own that fold its lanes and blocks. */
bool cf_cg_folds(const cf_cg_nest *n);
/* What the first line of a text for a device begins with; the target follows: "emu", "sm_90". */
#define CF_CG_TARGET "// cofuse target "
/* Can this body run on a device? If not: *why, for people. */
bool cf_cg_device_runs(const cofuse_forall *desc, const char **why);

/* Runs a nest over the sub-box lo[d] <= n_d < hi[d]. Reductions start from their identity
 * (cf_red_identity) and are stored, not combined, into partials; placed ones (cf_red_placed) in a nest with
 * loops with the number of the iteration they are from, an int64 at byte 8, counted in the sub-box;
 * INT64_MAX: none. Reentrant. */
typedef void (*cf_kernel_fn)(void *const bases[], const int64_t ints[], const void *scalars,
                             const int64_t lo[], const int64_t hi[], void *partials);
typedef struct cf_kernel {
  uint32_t nnests;
  cf_kernel_fn *fn;  /* nnests; of a device: what its name says, or NULL */
  char id[33];       /* content hash, for logs and dumps */
  const void *image; /* of a device whose code is not this machine's */
  size_t image_size;
} cf_kernel;

typedef struct cf_codegen cf_codegen;
typedef struct cf_codegen_stats {
  uint64_t compiled, hits_memory, hits_disk;
  double compile_ms;
} cf_codegen_stats;

/* How ranks share one compilation: rank 0 decides and sends, see exec. NULL on one rank.
 * share(arg, buf, len): on rank 0 sends *buf, *len to all, elsewhere receives into malloc'ed *buf. */
typedef cf_status (*cf_share_fn)(void *arg, void **buf, size_t *len);

/* opt: cache_dir, dump are used. rank/size/share: as above. */
cf_status cf_codegen_create(const cf_options *opt, int rank, int size, cf_share_fn share, void *share_arg,
                            cf_codegen **out);
/* Waits for background linking, frees all kernels and the JIT; counters stay readable. No kernel may run
 * after. */
void cf_codegen_close(cf_codegen *cg);
void cf_codegen_destroy(cf_codegen *cg); /* waits for background linking */
/* fn is called after each use of the JIT component, which may have registered destructors of its own. */
void cf_codegen_on_jit(cf_codegen *cg, void (*fn)(void));
/* The kernel is owned by cg and lives as long. name: for dumps ("heat:42+heat:47"). A text for a device
 * begins with a line that names its target (CF_CG_TARGET). */
cf_status cf_kernel_get(cf_codegen *cg, const char *text, size_t len, uint32_t nnests, const char *name,
                        const cf_kernel **out);
/* Puts the code of a text for a device into the cache on disk, if it is not there; on rank 0. */
cf_status cf_kernel_precompile(cf_codegen *cg, const char *text, size_t len, uint32_t nnests,
                               const char *name);
const cf_codegen_stats *cf_codegen_get_stats(const cf_codegen *cg);

/* ---- reductions on values in memory (acc, x: one element of `type`), used to combine partials */
void cf_red_identity(int op, int type, void *out);               /* neutral: float + starts at -0.0 */
void cf_red_combine(int op, int type, void *acc, const void *x); /* acc = acc op x, in this order */
/* Extrema that know which iteration they are from: of equal values (zeros of both signs) the sooner one
 * stays. */
bool cf_red_placed(int op, int type);
void cf_red_combine_placed(int op, int type, void *acc, int64_t *place, const void *x, int64_t at);
void cf_red_fill(int op, int type, void *out, size_t n);                       /* n identities */
void cf_red_combine_all(int op, int type, void *acc, const void *x, size_t n); /* element by element */
size_t cf_type_bytes(int type);
const char *cf_type_mlir(int type);

#endif
