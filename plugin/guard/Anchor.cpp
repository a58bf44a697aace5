// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers which pointer an array access was written with.
//
// For a guard whose range may reach past its object, the runtime must know the object. C says it: in
// `p[i - 3]` every address is in the array that p points into, and in `w->in[i]` in that member. IR forgets
// it as soon as InstCombine folds the constants of p, w->in and the subscript together. So the pointer is
// wrapped in a call of an unknown, pure function until the guards stand.
#include "Internal.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace cofuse {
namespace {

constexpr const char *MarkerName = "cofuse.anchor";

FunctionCallee getMarker(Module &M) {
  Type *Ptr = PointerType::getUnqual(M.getContext());
  FunctionCallee Marker = M.getOrInsertFunction(MarkerName, Ptr, Ptr);
  auto *F = cast<Function>(Marker.getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::WillReturn);
  F->addFnAttr(Attribute::NoSync);
  F->addFnAttr(Attribute::Speculatable);
  return Marker;
}

/// Base is a constant distance from another pointer, so that a further constant could be folded into it.
bool isOffset(const Value *Base) {
  const auto *GEP = dyn_cast<GEPOperator>(Base);
  return GEP && GEP->hasAllConstantIndices() && !GEP->hasAllZeroIndices();
}

} // namespace

void markAnchors(Function &F) {
  MapVector<Value *, SmallVector<GetElementPtrInst *, 4>> Bases;
  for (Instruction &I : instructions(F))
    if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
      if (!GEP->getType()->isVectorTy() && GEP->getPointerAddressSpace() == 0 &&
          !GEP->hasAllConstantIndices() && isOffset(GEP->getPointerOperand()))
        Bases[GEP->getPointerOperand()].push_back(GEP);
  if (Bases.empty())
    return;
  FunctionCallee Marker = getMarker(*F.getParent());
  for (auto &[Base, Users] : Bases) {
    Instruction *At = &*F.getEntryBlock().getFirstInsertionPt();
    if (auto *Def = dyn_cast<Instruction>(Base))
      At = Def->getNextNode();
    CallInst *Call = CallInst::Create(Marker, {Base}, "", At->getIterator());
    for (GetElementPtrInst *GEP : Users)
      GEP->setOperand(GEP->getPointerOperandIndex(), Call);
  }
}

const Value *anchorOperand(const Value *V) {
  const auto *Call = dyn_cast<CallInst>(V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName() == MarkerName ? Call->getArgOperand(0) : nullptr;
}

const Value *underlyingObject(const Value *Ptr) {
  for (;;) {
    Ptr = getUnderlyingObject(Ptr, 0);
    const Value *Marked = anchorOperand(Ptr);
    if (!Marked)
      return Ptr;
    Ptr = Marked;
  }
}

void removeAnchors(Module &M) {
  Function *Marker = M.getFunction(MarkerName);
  if (!Marker)
    return;
  for (User *U : make_early_inc_range(Marker->users())) {
    auto *Call = cast<CallInst>(U);
    Call->replaceAllUsesWith(Call->getArgOperand(0));
    Call->eraseFromParent();
  }
  Marker->eraseFromParent();
}

} // namespace cofuse
