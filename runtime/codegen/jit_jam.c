// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Unroll and jam: a loop of a nest whose body sums up along an inner loop, as in a product of a matrix with a
 * vector, runs several of its iterations side by side. Each sum keeps its order, so the bits stay; but the
 * sums no longer wait for each other's additions.
 *
 * LLVM's pass does it and decides whether it is sound. Its own heuristic is off on most targets, so the loops
 * get the count as metadata; what it does not take loses that again, or the optimiser would warn of it. */
#include "codegen/jit_impl.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { SIDE_BY_SIDE = 8 };

/* Canonical loops, the test of empty inner loops outside, then the pass itself. By its name alone,
 * instcombine ends the process if one turn was not enough. */
static const char passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-simplify,lcssa,"
    "loop(loop-rotate),"
    "loop-mssa(licm,simple-loop-unswitch<nontrivial>),simplifycfg,loop-simplify,lcssa,loop(indvars),"
    "loop-simplify,lcssa,loop(loop-unroll-and-jam))";

bool cf_jit_jam_wants(const cf_jit_loop *l, unsigned own) {
  return own > 0 && l->around + 1 == own && l->within > 0;
}

void cf_jit_jam_mark(LLVMContextRef c, const cf_jit_loop *l) {
  LLVMValueRef count = LLVMConstInt(LLVMInt32TypeInContext(c), SIDE_BY_SIDE, false);
  cf_jit_loop_hint(c, l, "llvm.loop.unroll_and_jam.count", count);
}

LLVMErrorRef cf_jit_jam(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po) {
  return LLVMRunPasses(m, passes, jit->tm, po);
}
