// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Unroll and jam: a loop of a nest whose body sums up along an inner loop, as in a product of a matrix with a
 * vector, runs several of its iterations side by side. Each sum keeps its order, so the bits stay; but the
 * sums no longer wait for each other's additions.
 *
 * LLVM's pass does it and decides whether it is sound. Its own heuristic is off on most targets, so the loops
 * get the count as metadata; what it does not take loses that again, or the optimiser would warn of it. */
#include "codegen/jit_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { SIDE_BY_SIDE = 8 };
static const char attribute[] = "cofuse-jam"; /* of a nest's function: how many loops the nest has */

/* Canonical loops, the test of empty inner loops outside, then the pass itself. By its name alone,
 * instcombine ends the process if one turn was not enough. */
static const char passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-simplify,lcssa,"
    "loop(loop-rotate),"
    "loop-mssa(licm,simple-loop-unswitch<nontrivial>),simplifycfg,loop-simplify,lcssa,loop(indvars),"
    "loop-simplify,lcssa,loop(loop-unroll-and-jam))";

typedef struct loop {
  unsigned head, latch; /* blocks, in the order of the function: MLIR lays loops out one inside the other */
} loop;

static unsigned index_of(const LLVMBasicBlockRef *blocks, unsigned n, LLVMBasicBlockRef b) {
  unsigned i = 0;
  while (i < n && blocks[i] != b)
    i++;
  return i;
}

static bool inside(const loop *in, const loop *out) {
  return in != out && in->head >= out->head && in->latch <= out->latch;
}

static LLVMMetadataRef text(LLVMContextRef c, const char *s) {
  return LLVMMDStringInContext2(c, s, strlen(s));
}

static void mark(LLVMContextRef c, LLVMValueRef branch) {
  LLVMMetadataRef count[2] = {
      text(c, "llvm.loop.unroll_and_jam.count"),
      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(c), SIDE_BY_SIDE, false))};
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef parts[2] = {self, LLVMMDNodeInContext2(c, count, 2)};
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2); /* a loop's metadata names itself first */
  LLVMMetadataReplaceAllUsesWith(self, id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

/* Marks the innermost of the nest's own loops, where its body has loops. */
static bool mark_function(LLVMContextRef c, LLVMValueRef f, unsigned own) {
  unsigned n = LLVMCountBasicBlocks(f), nloops = 0;
  LLVMBasicBlockRef *blocks = malloc(n * sizeof(LLVMBasicBlockRef));
  loop *loops = malloc(n * sizeof *loops);
  bool any = false;
  if (blocks && loops) {
    LLVMGetBasicBlocks(f, blocks);
    for (unsigned i = 0; i < n; i++) {
      LLVMValueRef t = LLVMGetBasicBlockTerminator(blocks[i]);
      for (unsigned s = 0; t && s < LLVMGetNumSuccessors(t); s++) {
        unsigned to = index_of(blocks, n, LLVMGetSuccessor(t, s));
        if (to <= i && nloops < n)
          loops[nloops++] = (loop){to, i};
      }
    }
  }
  for (unsigned i = 0; i < nloops; i++) {
    unsigned around = 0, within = 0;
    for (unsigned k = 0; k < nloops; k++) {
      around += inside(&loops[i], &loops[k]);
      within += inside(&loops[k], &loops[i]);
    }
    if (around + 1 != own || within == 0)
      continue;
    mark(c, LLVMGetBasicBlockTerminator(blocks[loops[i].latch]));
    any = true;
  }
  free(blocks);
  free(loops);
  return any;
}

static void unmark(LLVMModuleRef m) {
  unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), "llvm.loop", 9);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      LLVMValueRef t = LLVMGetBasicBlockTerminator(b);
      if (t && LLVMGetMetadata(t, kind))
        LLVMSetMetadata(t, kind, NULL);
    }
}

LLVMErrorRef cf_jit_jam(cf_jit *jit, LLVMModuleRef m, LLVMPassBuilderOptionsRef po) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    LLVMAttributeRef a =
        LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute, sizeof attribute - 1);
    if (!a || LLVMIsDeclaration(f))
      continue;
    unsigned len;
    const char *own = LLVMGetStringAttributeValue(a, &len);
    any |= mark_function(c, f, len == 1 ? (unsigned)(own[0] - '0') : 0);
  }
  if (!any)
    return NULL;
  LLVMErrorRef e = LLVMRunPasses(m, passes, jit->tm, po);
  unmark(m);
  return e;
}
