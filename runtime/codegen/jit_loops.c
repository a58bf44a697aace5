// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a kernel, which LLVM's C interface does not show, and hints on them.
#include "codegen/jit_impl.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

static unsigned index_of(const LLVMBasicBlockRef *blocks, unsigned n, LLVMBasicBlockRef b) {
  unsigned i = 0;
  while (i < n && blocks[i] != b)
    i++;
  return i;
}

static bool inside(const cf_jit_loop *in, const cf_jit_loop *out) {
  return in != out && in->head >= out->head && in->last >= in->head && in->last <= out->last;
}

unsigned cf_jit_loops(LLVMValueRef f, cf_jit_loop **out) {
  unsigned n = LLVMCountBasicBlocks(f), nloops = 0;
  LLVMBasicBlockRef *blocks = malloc((n + 1) * sizeof(LLVMBasicBlockRef));
  cf_jit_loop *loops = malloc((n + 1) * sizeof *loops);
  *out = loops;
  if (blocks && loops) {
    LLVMGetBasicBlocks(f, blocks);
    for (unsigned i = 0; i < n; i++) {
      LLVMValueRef t = LLVMGetBasicBlockTerminator(blocks[i]);
      for (unsigned s = 0; t && s < LLVMGetNumSuccessors(t); s++) {
        unsigned to = index_of(blocks, n, LLVMGetSuccessor(t, s));
        if (to <= i && nloops < n)
          loops[nloops++] = (cf_jit_loop){.branch = t, .head = to, .last = i};
      }
    }
  }
  for (unsigned i = 0; i < nloops; i++)
    for (unsigned k = 0; k < nloops; k++) {
      loops[i].around += inside(&loops[i], &loops[k]);
      loops[i].within += inside(&loops[k], &loops[i]);
    }
  free(blocks);
  return nloops;
}

unsigned cf_jit_attribute(LLVMValueRef f, const char *name) {
  LLVMAttributeRef a =
      LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
  if (!a || LLVMIsDeclaration(f))
    return 0;
  unsigned len;
  const char *own = LLVMGetStringAttributeValue(a, &len);
  return len == 1 ? (unsigned)(own[0] - '0') : 0;
}

void cf_jit_loop_hint(LLVMContextRef c, const cf_jit_loop *l, const char *name, LLVMValueRef value) {
  LLVMMetadataRef pair[2] = {LLVMMDStringInContext2(c, name, strlen(name)),
                             value ? LLVMValueAsMetadata(value) : NULL};
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef parts[2] = {self, LLVMMDNodeInContext2(c, pair, value ? 2 : 1)};
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2); /* a loop's metadata names itself first */
  LLVMMetadataReplaceAllUsesWith(self, id);
  LLVMSetMetadata(l->branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}
