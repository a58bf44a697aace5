// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Vectorises the strips of nests with lanes (assemble_nest.c), before anything else unrolls them: a strip
 * becomes a few vector operations, and the lanes' partial sums become vector registers of the loop around it.
 * What LLVM does not vectorise stays a loop and is left to the optimiser like any other. */
#include "codegen/jit_impl.h"

#include <stdlib.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

static const char passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-simplify,lcssa,"
    "loop(loop-rotate),loop-mssa(licm),simplifycfg,loop-simplify,lcssa,loop(indvars),loop-simplify,lcssa,"
    "loop-vectorize,loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound>,sroa)";

/* Marks all loops that are no strips as not to be touched. Is there a strip? */
static bool mark(LLVMContextRef c, LLVMValueRef f, unsigned own) {
  cf_jit_loop *loops;
  unsigned n = cf_jit_loops(f, &loops);
  bool any = false;
  LLVMValueRef no = LLVMConstInt(LLVMInt1TypeInContext(c), 0, false);
  for (unsigned i = 0; i < n; i++) {
    bool strip = own > 0 && loops[i].around + 1 == own && loops[i].within == 0;
    if (!strip)
      cf_jit_loop_hint(c, &loops[i], "llvm.loop.vectorize.enable", no);
    any |= strip;
  }
  free(loops);
  return any;
}

LLVMErrorRef cf_jit_lanes(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    any |= mark(c, f, cf_jit_attribute(f, "cofuse-lanes"));
  LLVMErrorRef e = any ? LLVMRunPasses(m, passes, jit->tm, po) : NULL;
  cf_jit_loops_unmark(m);
  return e;
}
