// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Private to libcofuse-jit.so. */
#ifndef CF_CODEGEN_JIT_IMPL_H
#define CF_CODEGEN_JIT_IMPL_H

#include "codegen/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/IR.h>

struct cf_jit {
  bool verify;
  MlirContext mlir;
  LLVMTargetMachineRef tm;
  char *triple, *cpu, *features;
  bool wide;             /* the CPU has 512-bit vectors */
  LLVMOrcLLJITRef lljit; /* created with the first load */
  char *diagnostics;     /* text of MLIR's and LLVM's errors during the current job */
};

/* Sets *error to malloc'ed text and returns CF_EJIT. Later calls for one error are ignored. */
cf_status cf_jit_fail(char **error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cf_jit_note(cf_jit *jit, const char *text, size_t len); /* appends to diagnostics */

/* jit_lower.c: text -> LLVM IR in lc; the caller disposes *out. */
cf_status cf_jit_open_mlir(cf_jit *jit, char **error);
cf_status cf_jit_lower(cf_jit *jit, const cf_jit_job *job, LLVMContextRef lc, LLVMModuleRef *out,
                       char **error);

/* jit_emit.c: LLVM IR -> optimised object. */
cf_status cf_jit_open_target(cf_jit *jit, char **error);
cf_status cf_jit_prepare(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, char **error);
/* CF_OK without an error, else CF_EJIT with LLVM's text for it. */
cf_status cf_jit_ran(LLVMErrorRef e, char **error);
void cf_jit_set_target(LLVMModuleRef m, const char *triple, LLVMTargetMachineRef tm);
void cf_jit_add_attribute(LLVMContextRef c, LLVMValueRef f, const char *name);
/* Callees named for the way they are called (descriptor.h) get the names of the library. */
void cf_jit_rename_calls(LLVMModuleRef m);
cf_status cf_jit_rename_kernels(const cf_jit_job *job, LLVMModuleRef m, char **error);
/* Writes <dump>/<id>.<suffix>, with a first line that names the kernel. Dumps are best effort. */
void cf_jit_dump(const cf_jit_job *job, const char *suffix, const char *comment, const char *data,
                 size_t len);
cf_status cf_jit_optimise(cf_jit *jit, LLVMModuleRef m, char **error);
cf_status cf_jit_emit(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object, size_t *size,
                      char **error);

/* jit_device.c: the same for a device, from what cf_jit_lower made. */
cf_status cf_jit_device_compile(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object,
                                size_t *size, char **error);
/* jit_nvptx.c: LLVM IR of a device -> PTX. Library functions already have the device's names. */
cf_status cf_jit_nvptx(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object, size_t *size,
                       char **error);

/* jit_loops.c: the loops of a function as MLIR lays them out, one inside the other. */
typedef struct cf_jit_loop {
  LLVMValueRef branch;     /* back to the head */
  unsigned head, last;     /* blocks, in the order of the function */
  unsigned around, within; /* loops that it is in, loops in it */
} cf_jit_loop;
/* Returns their number; *out: to be freed, NULL if there was no memory (and the number 0). */
unsigned cf_jit_loops(LLVMValueRef f, cf_jit_loop **out);
/* Gives the loop this hint and takes away all others. value: NULL or a constant. */
void cf_jit_loop_hint(LLVMContextRef c, const cf_jit_loop *l, const char *name, LLVMValueRef value);
/* The number in a function's attribute; 0: it has none, or no body. */
unsigned cf_jit_attribute(LLVMValueRef f, const char *name);

/* jit_jam.c, jit_lanes.c: what of the optimiser runs before its usual pipeline, on loops that were chosen
 * while they still lay as MLIR had laid them out. wants: is it a loop for this, in a function with such an
 * attribute? leave: not a loop to be vectorised yet. Errors: NULL is none. */
bool cf_jit_jam_wants(const cf_jit_loop *l, unsigned own);
void cf_jit_jam_mark(LLVMContextRef c, const cf_jit_loop *l);
LLVMErrorRef cf_jit_jam(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po);
bool cf_jit_lanes_wants(const cf_jit_loop *l, unsigned own);
void cf_jit_lanes_leave(LLVMContextRef c, const cf_jit_loop *l);
LLVMErrorRef cf_jit_lanes(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po);

/* jit_load.c: object -> code of this process. */
cf_status cf_jit_load(cf_jit *jit, const void *object, size_t size, const char *id, uint32_t nnests,
                      cf_kernel_fn *fn, char **error);

#endif
