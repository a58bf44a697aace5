// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* LLVM IR to an object for this machine's CPU.
 *
 * Floating point is strict: MLIR emits no fast-math flags of its own, and the target machine's default
 * (FPOpFusion::Standard) forms an FMA only from an operation that already asks for one. test/codegen checks
 * it on a host with FMA. */
#include "codegen/jit_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* A runtime built with a sanitizer has its kernels checked, too: attribute of their functions, passes to run
 * last. */
#if defined CF_ASAN
static const char *const sanitizer[] = {"sanitize_address", "asan"};
#elif defined CF_TSAN
static const char *const sanitizer[] = {"sanitize_thread", "tsan-module,function(tsan)"};
#else
static const char *const sanitizer[] = {NULL, NULL};
#endif

/* Callees that stand for a library function called in a way of its own (descriptor.h): the attribute of such
 * calls. memory(none) is 0: what clang gives calls that need not set errno. */
static const struct {
  const char *prefix, *attribute;
} call_kinds[] = {{"cofuse.nb.", "nobuiltin"}, {"cofuse.ne.", "memory"}};

/* LLVM 19's SLP vectoriser narrows integers to 8 bits on the way to a float where that changes them (found by
 * the fuzzer in the plain compiler's output). The pipelines by name set the builder's option for it anew, so
 * only the option of the pass itself keeps it off; it is one of the whole library, and may be set once. */
static void without_slp(void) {
  static bool done;
  static const char *const arguments[] = {"cofuse", "-vectorize-slp=false"};
  if (!done)
    LLVMParseCommandLineOptions(2, arguments, NULL);
  done = true;
}

cf_status cf_jit_open_target(cf_jit *jit, char **error) {
  without_slp();
  if (LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter())
    return cf_jit_fail(error, "LLVM has no code generator for this machine");
  jit->triple = LLVMGetDefaultTargetTriple();
  jit->cpu = LLVMGetHostCPUName();
  jit->features = LLVMGetHostCPUFeatures();
  jit->wide = strstr(jit->features, "+avx512f") != NULL;
  LLVMTargetRef target;
  char *text = NULL;
  if (LLVMGetTargetFromTriple(jit->triple, &target, &text)) {
    cf_jit_fail(error, "%s", text);
    LLVMDisposeMessage(text);
    return CF_EJIT;
  }
  /* Small and PIC rather than the JIT default, which is the large model on x86-64: the object is also
   * linked into shared objects, and constants should be addressed relative to the code. */
  jit->tm = LLVMCreateTargetMachine(target, jit->triple, jit->cpu, jit->features, LLVMCodeGenLevelAggressive,
                                    LLVMRelocPIC, LLVMCodeModelSmall);
  return jit->tm ? CF_OK : cf_jit_fail(error, "LLVM cannot create a target machine for %s", jit->cpu);
}

cf_status cf_jit_ran(LLVMErrorRef e, char **error) {
  if (!e)
    return CF_OK;
  char *text = LLVMGetErrorMessage(e);
  cf_jit_fail(error, "LLVM's optimiser failed: %s", text);
  LLVMDisposeErrorMessage(text);
  return CF_EJIT;
}

void cf_jit_set_target(LLVMModuleRef m, const char *triple, LLVMTargetMachineRef tm) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
  LLVMSetTarget(m, triple);
  LLVMSetModuleDataLayout(m, layout);
  LLVMDisposeTargetData(layout);
}

void cf_jit_add_attribute(LLVMContextRef c, LLVMValueRef f, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c, kind, 0));
}

static void mark_calls(LLVMContextRef c, LLVMValueRef f, const char *attribute) {
  unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
  for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef call = LLVMGetUser(u);
    if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == f)
      LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c, kind, 0));
  }
}

static void rename_prefix(LLVMModuleRef m, const char *prefix, const char *attribute) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  size_t skip = strlen(prefix);
  for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (n <= skip || memcmp(name, prefix, skip) != 0 || !LLVMIsDeclaration(f))
      continue;
    mark_calls(c, f, attribute);
    LLVMValueRef plain = LLVMGetNamedFunction(m, name + skip);
    if (plain) {
      LLVMReplaceAllUsesWith(f, plain);
      LLVMDeleteFunction(f);
    } else {
      char *copy = strdup(name + skip);
      if (copy)
        LLVMSetValueName2(f, copy, strlen(copy));
      free(copy);
    }
  }
}

void cf_jit_rename_calls(LLVMModuleRef m) {
  for (size_t k = 0; k < sizeof call_kinds / sizeof *call_kinds; k++)
    rename_prefix(m, call_kinds[k].prefix, call_kinds[k].attribute);
}

static const char *const in_line[] = {"no-builtin-memcpy", "no-builtin-memmove", "no-builtin-memset"};

cf_status cf_jit_rename_kernels(const cf_jit_job *job, LLVMModuleRef m, char **error) {
  for (uint32_t k = 0; k < job->nnests; k++) {
    char name[80];
    snprintf(name, sizeof name, "cofuse_k%u", k);
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (!f || LLVMIsDeclaration(f))
      return cf_jit_fail(error, "the module has no function %s", name);
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, job->id);
    LLVMSetValueName2(f, name, strlen(name));
  }
  return CF_OK;
}

/* Target, attributes and the names that let many kernels live in one process. */
cf_status cf_jit_prepare(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, char **error) {
  cf_jit_set_target(m, jit->triple, jit->tm);
  cf_jit_rename_calls(m);
  LLVMContextRef c = LLVMGetModuleContext(m);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    cf_jit_add_attribute(c, f, "nounwind");
    if (sanitizer[0])
      cf_jit_add_attribute(c, f, sanitizer[0]);
    /* Rows are short more often than not, and a copy in line needs no call for each. */
    for (size_t k = 0; k < sizeof in_line / sizeof *in_line; k++)
      LLVMAddTargetDependentFunctionAttr(f, in_line[k], "");
    LLVMAddTargetDependentFunctionAttr(f, "target-cpu", jit->cpu);
    LLVMAddTargetDependentFunctionAttr(f, "target-features", jit->features);
    /* What sums up is bound by its loads, and wide ones that are not aligned take two lines of the cache. */
    if (jit->wide)
      LLVMAddTargetDependentFunctionAttr(f, "prefer-vector-width",
                                         cf_jit_attribute(f, "cofuse-lanes") ? "256" : "512");
  }
  return cf_jit_rename_kernels(job, m, error);
}

/* In a nest with lanes: the loop over what is left over, which holds the bodies once more (assemble_nest.c).
 * It is the last of the loops at its depth that has loops in it; NULL: there is none in it. */
static const cf_jit_loop *left_over(const cf_jit_loop *loops, unsigned n, unsigned own) {
  const cf_jit_loop *last = NULL;
  for (unsigned i = 0; i < n; i++)
    if (loops[i].around + 1 == own && loops[i].within > 0 && (!last || loops[i].head > last->head))
      last = &loops[i];
  return last;
}

/* Loops for the first passes. */
static void choose(LLVMModuleRef m, bool *jam, bool *lanes) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    cf_jit_loop *loops;
    unsigned n = cf_jit_loops(f, &loops);
    unsigned own_jam = cf_jit_attribute(f, "cofuse-jam"), own_lanes = cf_jit_attribute(f, "cofuse-lanes");
    unsigned own = cf_jit_attribute(f, "cofuse-loops");
    const cf_jit_loop *left = own_lanes && own_jam ? left_over(loops, n, own) : NULL;
    for (unsigned i = 0; i < n; i++) {
      bool once_more = left && loops[i].head > left->head && loops[i].last <= left->last;
      if (!once_more && cf_jit_jam_wants(&loops[i], own_jam)) {
        cf_jit_jam_mark(c, &loops[i]);
        *jam = true;
      } else if (!once_more && cf_jit_lanes_wants(&loops[i], own_lanes)) {
        *lanes = true;
      } else {
        cf_jit_lanes_leave(c, &loops[i]);
      }
    }
    free(loops);
  }
}

/* What is worth unrolling has been, or is vectorised. A loop over the few entries of a sparse row pays more
 * for the way into an unrolled body, and out of it, than it gains. Loops of a known number of trips still
 * unroll. Whatever hints there were go, or the optimiser would warn of those that it has not followed. */
static void keep_rolled(LLVMModuleRef m) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  unsigned kind = LLVMGetMDKindIDInContext(c, "llvm.loop", 9);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      LLVMValueRef t = LLVMGetBasicBlockTerminator(b);
      if (t && LLVMGetMetadata(t, kind))
        LLVMSetMetadata(t, kind, NULL);
    }
    cf_jit_loop *loops;
    unsigned n = cf_jit_loops(f, &loops);
    for (unsigned i = 0; i < n; i++)
      cf_jit_loop_hint(c, &loops[i], "llvm.loop.unroll.runtime.disable", NULL);
    free(loops);
  }
}

cf_status cf_jit_optimise(cf_jit *jit, LLVMModuleRef m, char **error) {
  LLVMPassBuilderOptionsRef po = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(po, 1);
  LLVMPassBuilderOptionsSetLoopInterleaving(po, 1);
  LLVMPassBuilderOptionsSetLoopUnrolling(po, 1);
  bool jam = false, lanes = false;
  choose(m, &jam, &lanes);
  LLVMErrorRef e = jam ? cf_jit_jam(jit, m, po) : NULL;
  if (!e && lanes)
    e = cf_jit_lanes(jit, m, po);
  if (!e)
    keep_rolled(m);
  if (!e)
    e = LLVMRunPasses(m, "default<O3>", jit->tm, po);
  if (!e && sanitizer[1])
    e = LLVMRunPasses(m, sanitizer[1], jit->tm, po);
  LLVMDisposePassBuilderOptions(po);
  return cf_jit_ran(e, error);
}

/* Writes <dump>/<id>.<suffix>, with a first line that names the kernel. Dumps are best effort. */
void cf_jit_dump(const cf_jit_job *job, const char *suffix, const char *comment, const char *data,
                 size_t len) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", job->dump, job->id, suffix) >= sizeof path)
    return;
  FILE *f = fopen(path, "w");
  if (!f)
    return;
  fprintf(f, "%s %s\n", comment, job->name ? job->name : "");
  fwrite(data, 1, len, f);
  fclose(f);
}

static void dump(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m) {
  char *ir = LLVMPrintModuleToString(m);
  cf_jit_dump(job, "ll", ";", ir, strlen(ir));
  LLVMDisposeMessage(ir);
  LLVMModuleRef copy = LLVMCloneModule(m); /* emission changes the module */
  LLVMMemoryBufferRef assembly;
  char *text = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(jit->tm, copy, LLVMAssemblyFile, &text, &assembly)) {
    cf_jit_dump(job, "s", "#", LLVMGetBufferStart(assembly), LLVMGetBufferSize(assembly));
    LLVMDisposeMemoryBuffer(assembly);
  } else {
    LLVMDisposeMessage(text);
  }
  LLVMDisposeModule(copy);
}

cf_status cf_jit_emit(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object, size_t *size,
                      char **error) {
  if (job->dump)
    dump(jit, job, m);
  LLVMMemoryBufferRef buf;
  char *text = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(jit->tm, m, LLVMObjectFile, &text, &buf)) {
    cf_jit_fail(error, "LLVM cannot emit the kernel: %s", text);
    LLVMDisposeMessage(text);
    return CF_EJIT;
  }
  size_t n = LLVMGetBufferSize(buf);
  void *copy = malloc(n ? n : 1);
  if (copy) {
    memcpy(copy, LLVMGetBufferStart(buf), n);
    *object = copy;
    *size = n;
  }
  LLVMDisposeMemoryBuffer(buf);
  return copy ? CF_OK : cf_jit_fail(error, "out of memory");
}
