// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects into this process, through LLJIT.
#include "codegen/jit_impl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Error.h>

static cf_status check(LLVMErrorRef e, const char *what, char **error) {
  if (!e)
    return CF_OK;
  char *text = LLVMGetErrorMessage(e);
  cf_jit_fail(error, "%s: %s", what, text);
  LLVMDisposeErrorMessage(text);
  return CF_EJIT;
}

/* The error a look-up returns says which kernel failed; why (a missing symbol) is only reported here. */
static void take_report(void *jit, LLVMErrorRef e) {
  char *text = LLVMGetErrorMessage(e);
  cf_jit_note(jit, text, strlen(text));
  cf_jit_note(jit, "\n", 1);
  LLVMDisposeErrorMessage(text);
}

static cf_status open_lljit(cf_jit *jit, char **error) {
  if (jit->lljit)
    return CF_OK;
  /* Kernels call libm; a program that does not may have loaded it in a local scope only, or not at all. */
  dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  LLVMOrcLLJITRef lljit;
  CF_TRY(check(LLVMOrcCreateLLJIT(&lljit, NULL), "cannot create LLVM's JIT", error));
  LLVMOrcDefinitionGeneratorRef process;
  cf_status st = check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                           &process, LLVMOrcLLJITGetGlobalPrefix(lljit), NULL, NULL),
                       "cannot search the process for symbols", error);
  if (st != CF_OK) {
    LLVMConsumeError(LLVMOrcDisposeLLJIT(lljit));
    return st;
  }
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(lljit), process);
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(lljit), take_report, jit);
  jit->lljit = lljit;
  return CF_OK;
}

cf_status cf_jit_load(cf_jit *jit, const void *object, size_t size, const char *id, uint32_t nnests,
                      cf_kernel_fn *fn, char **error) {
  *error = NULL;
  free(jit->diagnostics);
  jit->diagnostics = NULL;
  CF_TRY(open_lljit(jit, error));
  LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, size, id);
  CF_TRY(check(LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), buf),
               "cannot add the kernel's object", error));
  for (uint32_t k = 0; k < nnests; k++) {
    char name[80];
    LLVMOrcExecutorAddress a = 0;
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, id);
    LLVMErrorRef e = LLVMOrcLLJITLookup(jit->lljit, &a, name);
    if (e && jit->diagnostics) {
      LLVMConsumeError(e);
      return cf_jit_fail(error, "cannot link the kernel: %s", jit->diagnostics);
    }
    CF_TRY(check(e, "cannot link the kernel", error));
    fn[k] = (cf_kernel_fn)(uintptr_t)a;
  }
  return CF_OK;
}
