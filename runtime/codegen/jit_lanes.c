// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Vectorises the strips of nests with lanes (assemble_nest.c), before anything else unrolls them: a strip
 * becomes a few vector operations, and the lanes' partial sums become vector registers of the loop around it.
 * What LLVM does not vectorise stays a loop and is left to the optimiser like any other. */
#include "codegen/jit_impl.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

static const char passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-simplify,lcssa,"
    "loop(loop-rotate),loop-mssa(licm),simplifycfg,loop-simplify,lcssa,loop(indvars),loop-simplify,lcssa,"
    "loop-vectorize,loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound>,sroa)";

bool cf_jit_lanes_wants(const cf_jit_loop *l, unsigned own) {
  return own > 0 && l->around + 1 == own && l->within == 0;
}

void cf_jit_lanes_leave(LLVMContextRef c, const cf_jit_loop *l) {
  cf_jit_loop_hint(c, l, "llvm.loop.vectorize.enable", LLVMConstInt(LLVMInt1TypeInContext(c), 0, false));
}

LLVMErrorRef cf_jit_lanes(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po) {
  return LLVMRunPasses(m, passes, jit->tm, po);
}
