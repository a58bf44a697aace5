// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* LLVM IR to PTX for NVIDIA devices.
 *
 * Floating point is strict here, too: the default of LLVM's NVPTX target forms an FMA only from an operation
 * that asks for one, divides and takes roots as IEEE 754 says, and keeps subnormal numbers (test/codegen
 * looks at the instructions). Library functions are NVIDIA's libdevice, of which the module gets what it
 * calls. */
#include "codegen/jit_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>

static const char triple[] = "nvptx64-nvidia-cuda", features[] = "+ptx78";
enum { PTX_KERNEL = 71 }; /* calling convention of kernels */

static bool is_library(LLVMValueRef f) {
  size_t n;
  const char *name = LLVMGetValueName2(f, &n);
  return LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && n > 5 && memcmp(name, "__nv_", 5) == 0;
}

static LLVMValueRef library_call(LLVMModuleRef m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (is_library(f))
      return f;
  return NULL;
}

/* ---- libdevice */

static bool readable(char *path, size_t cap, const char *folder, const char *rest) {
  return folder && *folder && (size_t)snprintf(path, cap, "%s%s", folder, rest) < cap &&
         access(path, R_OK) == 0;
}

static bool find_libdevice(const char *given, char *path, size_t cap) {
  static const char in[] = "/nvvm/libdevice/libdevice.10.bc";
  static const char *const folders[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                        "/usr/lib/nvidia-cuda-toolkit"};
  if (given)
    return readable(path, cap, given, "");
  if (readable(path, cap, getenv("CUDA_HOME"), in) || readable(path, cap, getenv("CUDA_PATH"), in))
    return true;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
    if (readable(path, cap, folders[k], in) || readable(path, cap, folders[k], "/libdevice/libdevice.10.bc"))
      return true;
  return false;
}

/* The functions of libdevice that m calls, with what they call, become m's own. */
static cf_status link_libdevice(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, LLVMTargetMachineRef tm,
                                char **error) {
  LLVMValueRef called = library_call(m);
  if (!called)
    return CF_OK;
  size_t n;
  const char *name = LLVMGetValueName2(called, &n);
  char path[4096], *text = NULL;
  if (!find_libdevice(job->libdevice, path, sizeof path))
    return cf_jit_fail(
        error,
        "it calls %.*s of NVIDIA's libdevice, which is not here: set COFUSE_LIBDEVICE to the path of "
        "libdevice.10.bc, or CUDA_HOME to the folder of a CUDA toolkit",
        (int)n, name);
  LLVMMemoryBufferRef file;
  LLVMModuleRef lib;
  if (LLVMCreateMemoryBufferWithContentsOfFile(path, &file, &text)) {
    cf_jit_fail(error, "%s: %s", path, text);
    LLVMDisposeMessage(text);
    return CF_EJIT;
  }
  bool bad = LLVMParseBitcodeInContext2(LLVMGetModuleContext(m), file, &lib);
  LLVMDisposeMemoryBuffer(file);
  if (bad)
    return cf_jit_fail(error, "%s: not bitcode that this LLVM can read", path);
  for (LLVMValueRef f = LLVMGetFirstFunction(lib); f; f = LLVMGetNextFunction(f)) {
    name = LLVMGetValueName2(f, &n);
    LLVMValueRef wanted = LLVMIsDeclaration(f) ? NULL : LLVMGetNamedFunction(m, name);
    if (!LLVMIsDeclaration(f) && (!wanted || !is_library(wanted)))
      LLVMSetLinkage(f, LLVMInternalLinkage);
  }
  LLVMPassBuilderOptionsRef po = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(lib, "globaldce", NULL, po);
  LLVMDisposePassBuilderOptions(po);
  if (e) {
    LLVMConsumeError(e);
    LLVMDisposeModule(lib);
    return cf_jit_fail(error, "%s cannot be cut down", path);
  }
  cf_jit_set_target(lib, triple, tm);
  if (LLVMLinkModules2(m, lib)) /* takes lib */
    return cf_jit_fail(error, "%s cannot be linked: %s", path, jit->diagnostics ? jit->diagnostics : "");
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    name = LLVMGetValueName2(f, &n);
    if (!LLVMIsDeclaration(f) && n > 5 && memcmp(name, "__nv_", 5) == 0)
      LLVMSetLinkage(f, LLVMInternalLinkage);
  }
  called = library_call(m);
  if (called) {
    name = LLVMGetValueName2(called, &n);
    return cf_jit_fail(error, "%s has no function %.*s", path, (int)n, name);
  }
  return CF_OK;
}

/* ---- kernels */

static void annotate(LLVMModuleRef m, LLVMValueRef f, const char *what, unsigned value) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMMetadataRef v[] = {LLVMValueAsMetadata(f), LLVMMDStringInContext2(c, what, strlen(what)),
                         LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(c), value, false))};
  LLVMAddNamedMetadataOperand(m, "nvvm.annotations", LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, v, 3)));
}

static cf_status mark_kernels(const cf_jit_job *job, LLVMModuleRef m, char **error) {
  CF_TRY(cf_jit_rename_kernels(job, m, error));
  for (uint32_t k = 0; k < job->nnests; k++) {
    char name[80];
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, job->id);
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    LLVMSetFunctionCallConv(f, PTX_KERNEL);
    annotate(m, f, "kernel", 1);
    annotate(m, f, "maxntidx", CF_DEVICE_THREADS);
  }
  return CF_OK;
}

/* Pointers that kernels load are bases of stores, in the device's memory. Said only now, since the optimiser
 * takes such casts for idle ones. */
static void tell_address_spaces(LLVMModuleRef m) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMTypeRef generic = LLVMPointerTypeInContext(c, 0), global = LLVMPointerTypeInContext(c, 1);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || LLVMGetFunctionCallConv(f) != PTX_KERNEL)
      continue;
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
      for (LLVMValueRef i = LLVMGetFirstInstruction(k), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsALoadInst(i) || LLVMTypeOf(i) != generic || !next)
          continue;
        LLVMPositionBuilderBefore(b, next);
        LLVMValueRef there = LLVMBuildAddrSpaceCast(b, i, global, "");
        LLVMValueRef back = LLVMBuildAddrSpaceCast(b, there, generic, "");
        LLVMReplaceAllUsesWith(i, back);
        LLVMSetOperand(there, 0, i); /* it was a use as well */
      }
  }
  LLVMDisposeBuilder(b);
}

static LLVMTargetMachineRef machine(const char *target, char **error) {
  static bool ready;
  if (!ready) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    ready = true;
  }
  LLVMTargetRef t;
  char *text = NULL;
  if (LLVMGetTargetFromTriple(triple, &t, &text)) {
    cf_jit_fail(error, "this LLVM generates no code for NVIDIA devices: %s", text);
    LLVMDisposeMessage(text);
    return NULL;
  }
  LLVMTargetMachineRef tm = LLVMCreateTargetMachine(t, triple, target, features, LLVMCodeGenLevelAggressive,
                                                    LLVMRelocDefault, LLVMCodeModelDefault);
  if (!tm)
    cf_jit_fail(error, "LLVM cannot generate code for %s", target);
  return tm;
}

static cf_status generate(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, LLVMTargetMachineRef tm,
                          void **object, size_t *size, char **error) {
  cf_jit_set_target(m, triple, tm);
  CF_TRY(mark_kernels(job, m, error));
  CF_TRY(link_libdevice(jit, job, m, tm, error));
  LLVMPassBuilderOptionsRef po = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(m, "default<O3>", tm, po);
  if (!e) {
    tell_address_spaces(m);
    e = LLVMRunPasses(m, "function(infer-address-spaces)", tm, po);
  }
  LLVMDisposePassBuilderOptions(po);
  CF_TRY(cf_jit_ran(e, error));
  char *text = NULL;
  LLVMMemoryBufferRef out;
  if (LLVMTargetMachineEmitToMemoryBuffer(tm, m, LLVMAssemblyFile, &text, &out)) {
    cf_jit_fail(error, "LLVM cannot emit the kernel: %s", text);
    LLVMDisposeMessage(text);
    return CF_EJIT;
  }
  size_t n = LLVMGetBufferSize(out);
  char *copy = malloc(n + 1);
  if (copy) {
    memcpy(copy, LLVMGetBufferStart(out), n);
    copy[n] = 0;
    *object = copy;
    *size = n;
    if (job->dump)
      cf_jit_dump(job, "ptx", "//", copy, n);
  }
  LLVMDisposeMemoryBuffer(out);
  return copy ? CF_OK : cf_jit_fail(error, "out of memory");
}

cf_status cf_jit_nvptx(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object, size_t *size,
                       char **error) {
  LLVMTargetMachineRef tm = machine(job->target, error);
  if (!tm)
    return CF_EJIT;
  cf_status st = generate(jit, job, m, tm, object, size, error);
  LLVMDisposeTargetMachine(tm);
  return st;
}
