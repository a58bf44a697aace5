// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry of libcofuse-jit.so: creation, the sequence of one compilation, errors.
#define _GNU_SOURCE
#include "codegen/jit_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>

cf_status cf_jit_fail(char **error, const char *fmt, ...) {
  if (*error)
    return CF_EJIT;
  va_list ap;
  va_start(ap, fmt);
  if (vasprintf(error, fmt, ap) < 0)
    *error = NULL;
  va_end(ap);
  return CF_EJIT;
}

void cf_jit_note(cf_jit *jit, const char *text, size_t len) {
  size_t old = jit->diagnostics ? strlen(jit->diagnostics) : 0;
  char *p = realloc(jit->diagnostics, old + len + 1);
  if (!p)
    return;
  memcpy(p + old, text, len);
  p[old + len] = 0;
  jit->diagnostics = p;
}

static void jit_destroy(cf_jit *jit) {
  if (!jit)
    return;
  if (jit->lljit) {
    LLVMErrorRef e = LLVMOrcDisposeLLJIT(jit->lljit);
    if (e)
      LLVMConsumeError(e);
  }
  if (!mlirContextIsNull(jit->mlir))
    mlirContextDestroy(jit->mlir);
  if (jit->tm)
    LLVMDisposeTargetMachine(jit->tm);
  LLVMDisposeMessage(jit->triple);
  LLVMDisposeMessage(jit->cpu);
  LLVMDisposeMessage(jit->features);
  free(jit->diagnostics);
  free(jit);
}

static cf_status jit_create(bool verify, cf_jit **out, char **error) {
  *error = NULL;
  cf_jit *jit = calloc(1, sizeof *jit);
  if (!jit)
    return cf_jit_fail(error, "out of memory");
  jit->verify = verify;
  cf_status st = cf_jit_open_target(jit, error);
  if (st == CF_OK)
    st = cf_jit_open_mlir(jit, error);
  if (st == CF_OK)
    *out = jit;
  else
    jit_destroy(jit);
  return st;
}

/* Errors LLVM would otherwise print before it calls exit. */
static void take_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *arg) {
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
    return;
  char *text = LLVMGetDiagInfoDescription(info);
  cf_jit_note(arg, text, strlen(text));
  cf_jit_note(arg, "\n", 1);
  LLVMDisposeMessage(text);
}

static cf_status verify(cf_jit *jit, LLVMModuleRef m, const char *when, char **error) {
  if (!jit->verify)
    return CF_OK;
  char *text = NULL;
  cf_status st = CF_OK;
  if (LLVMVerifyModule(m, LLVMReturnStatusAction, &text))
    st = cf_jit_fail(error, "invalid LLVM IR %s: %s", when, text);
  LLVMDisposeMessage(text);
  return st;
}

static cf_status compile_in(cf_jit *jit, const cf_jit_job *job, LLVMContextRef lc, LLVMModuleRef *m,
                            void **object, size_t *size, char **error) {
  cf_status st = cf_jit_lower(jit, job, lc, m, error);
  if (st == CF_OK && job->target)
    return cf_jit_device_compile(jit, job, *m, object, size, error);
  if (st == CF_OK)
    st = cf_jit_prepare(jit, job, *m, error);
  if (st == CF_OK)
    st = verify(jit, *m, "after lowering", error);
  if (st == CF_OK)
    st = cf_jit_optimise(jit, *m, error);
  if (st == CF_OK)
    st = verify(jit, *m, "after optimisation", error);
  if (st == CF_OK)
    st = cf_jit_emit(jit, job, *m, object, size, error);
  return st;
}

static cf_status jit_compile(cf_jit *jit, const cf_jit_job *job, void **object, size_t *size, char **error) {
  *error = NULL;
  free(jit->diagnostics);
  jit->diagnostics = NULL;
  LLVMContextRef lc = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(lc, take_llvm_diagnostic, jit);
  LLVMModuleRef m = NULL;
  cf_status st = compile_in(jit, job, lc, &m, object, size, error);
  if (m)
    LLVMDisposeModule(m);
  LLVMContextDispose(lc);
  if (st == CF_OK && jit->diagnostics) { /* an error that only went to the handler */
    free(*object);
    st = cf_jit_fail(error, "%s", jit->diagnostics);
  }
  return st;
}

__attribute__((visibility("default"))) const cf_jit_ops *cf_jit_entry(void);
const cf_jit_ops *cf_jit_entry(void) {
  static const cf_jit_ops ops = {
      .version = CF_JIT_VERSION,
      .create = jit_create,
      .destroy = jit_destroy,
      .compile = jit_compile,
      .load = cf_jit_load,
  };
  return &ops;
}
