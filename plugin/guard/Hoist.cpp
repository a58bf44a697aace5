// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves guards in front of loops: level by level, as long as the address is invariant or affine in the
// loop and nothing inside can launch a task.
//
// Two properties are tracked while a range grows. Exact: every execution of the loop really touches both
// ends (otherwise the guard gets COFUSE_MAY and an anchor). Covering: the pieces leave no holes. A write
// that is not both must read as well, since bytes it does not overwrite keep their value.
#include "Internal.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace cofuse {
namespace {

/// Bounds of a loop that may end early are symbolic maxima (`while (i < LONG_MAX && p[i])`). Offsets stop
/// here so that they cannot wrap; no object is larger.
constexpr uint64_t LargestOffset = 1ull << 46;

/// Ranges that start further apart (as a signed number of so many bits) keep their own guards.
constexpr unsigned LargestMergeBits = 17;

class Hoister {
public:
  Hoister(Function &F, FunctionAnalysisManager &FAM, Effects &E, AccessList &List)
      : E(E), List(List), DL(F.getDataLayout()), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)),
        Expander(SE, DL, "cofuse") {}

  std::vector<Access *> run() {
    std::vector<Access *> Moved;
    if (LI.empty())
      return Moved;
    summarizeLoops();
    for (Access &A : List)
      if (A.bounded() && hoist(A))
        Moved.push_back(&A);
    // Making one write a read as well may forbid another to go without its fetch.
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (Access *A : Moved)
        if (A->writes() && !A->reads() && !mayOverwriteBlindly(*A)) {
          A->Mode |= ModeRead;
          Changed = true;
        }
    }
    for (Access *A : Moved) {
      if (!A->Exact)
        A->Mode |= ModeMay;
      A->Anchor = A->Exact ? A->Lo : anchor(*A);
    }
    merge(Moved);
    llvm::erase_if(Moved, [](Access *A) { return A->Drop; });
    // Reads go first: what a blind write takes over must not be needed by them any more.
    std::vector<Access *> Ordered;
    for (bool Reads : {true, false})
      for (Access *A : Moved)
        if (A->reads() == Reads)
          Ordered.push_back(A);
    return Ordered;
  }

private:
  struct LoopFacts {
    bool Launches = false, Leaves = false, Touches = false;
  };

  void summarizeLoops() {
    for (Loop *L : LI.getLoopsInPreorder()) {
      LoopFacts &Facts = LoopsFacts[L];
      for (BasicBlock *B : L->blocks())
        for (Instruction &I : *B) {
          Facts.Launches |= E.mayLaunch(I);
          Facts.Leaves |= E.mayLeave(I);
          Facts.Touches |= E.mayTouch(I);
        }
    }
  }

  const SCEV *length(const Access &A, Type *Ty) {
    if (!A.Len)
      return SE.getConstant(Ty, A.Size);
    const SCEV *Length = SE.getTruncateOrZeroExtend(SE.getSCEV(A.Len), Ty);
    if (A.Scale)
      Length = SE.getMulExpr(Length, SE.getTruncateOrZeroExtend(SE.getSCEV(A.Scale), Ty));
    return Length;
  }

  bool hoist(Access &A) {
    BasicBlock *Block = A.At->getParent();
    Loop *L = LI.getLoopFor(Block);
    if (!L)
      return false;
    Type *Ty = SE.getEffectiveSCEVType(A.Ptr->getType());
    A.Lo = SE.getSCEV(A.Ptr);
    A.Hi = SE.getAddExpr(A.Lo, length(A, Ty));
    // A range that the call itself need not use fully stays inexact.
    A.Exact = !(A.Mode & ModeMay);
    for (; L; L = L->getParentLoop()) {
      const LoopFacts &Facts = LoopsFacts[L];
      BasicBlock *Preheader = L->getLoopPreheader();
      if (Facts.Launches || !Preheader)
        break;
      bool Rotated = L->isRotatedForm();
      // In a loop that tests before its first iteration, the preheader runs even if the body never does.
      // Without a trip count such a "loop" may be `for (f = cofuse_run(..); !f; f = 1)`, whose body must
      // not have its data fetched when the task was launched.
      if (!Rotated && isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(L)))
        break;
      bool Exact = A.Exact && Rotated && !Facts.Leaves && L->getExitingBlock() == L->getLoopLatch() &&
                   DT.dominates(Block, L->getLoopLatch());
      bool Covering = A.Covering && (SE.isLoopInvariant(A.Lo, L) || isContiguous(A, L));
      bool Varies = !SE.isLoopInvariant(A.Lo, L) || !SE.isLoopInvariant(A.Hi, L);
      const SCEV *Lo = A.Lo, *Hi = A.Hi;
      if (Varies && !widen(L, Lo, Hi, Exact))
        break;
      Instruction *At = Preheader->getTerminator();
      if (!Expander.isSafeToExpandAt(Lo, At) || !Expander.isSafeToExpandAt(Hi, At))
        break;
      A.Lo = Lo;
      A.Hi = Hi;
      A.Exact = Exact;
      A.Covering = Covering;
      A.Widened |= Varies;
      A.Out = L;
      Block = Preheader;
    }
    return A.Out != nullptr;
  }

  /// Does each iteration continue exactly where the previous one stopped, upwards or downwards?
  bool isContiguous(const Access &A, const Loop *L) {
    const auto *Rec = dyn_cast<SCEVAddRecExpr>(A.Lo);
    if (!Rec || !Rec->isAffine() || Rec->getLoop() != L)
      return false;
    const SCEV *Bytes = SE.getMinusSCEV(A.Hi, A.Lo), *Step = Rec->getStepRecurrence(SE);
    return Step == Bytes || Step == SE.getNegativeSCEV(Bytes);
  }

  /// Widens [Lo, Hi) to all iterations of L. False if that cannot be said in front of the loop.
  bool widen(Loop *L, const SCEV *&Lo, const SCEV *&Hi, bool &Exact) {
    const SCEV *Trips = SE.getBackedgeTakenCount(L);
    bool Saturate = isa<SCEVCouldNotCompute>(Trips);
    if (Saturate) {
      Trips = SE.getSymbolicMaxBackedgeTakenCount(L);
      if (isa<SCEVCouldNotCompute>(Trips))
        return false;
      Exact = false;
    }
    if (SE.getTypeSizeInBits(Trips->getType()) > 64)
      return false;
    const SCEV *NewLo = extreme(L, Lo, Trips, Saturate, /*Upper=*/false);
    const SCEV *NewHi = extreme(L, Hi, Trips, Saturate, /*Upper=*/true);
    if (!NewLo || !NewHi)
      return false;
    Lo = NewLo;
    Hi = NewHi;
    return true;
  }

  /// Smallest or largest value of X over the iterations 0 .. Trips of L; null if X is not affine in L.
  const SCEV *extreme(Loop *L, const SCEV *X, const SCEV *Trips, bool Saturate, bool Upper) {
    if (SE.isLoopInvariant(X, L))
      return X;
    const auto *Rec = dyn_cast<SCEVAddRecExpr>(X);
    if (!Rec || Rec->getLoop() != L || !Rec->isAffine())
      return nullptr;
    Type *Ty = SE.getEffectiveSCEVType(X->getType());
    const SCEV *Step = SE.getNoopOrSignExtend(Rec->getStepRecurrence(SE), Ty);
    const SCEV *Count = SE.getTruncateOrZeroExtend(Trips, Ty);
    if (Saturate) {
      const auto *K = dyn_cast<SCEVConstant>(Step);
      if (!K || K->getValue()->isZero())
        return nullptr;
      uint64_t Bytes = K->getAPInt().abs().getZExtValue();
      Count = SE.getUMinExpr(Count, SE.getConstant(Ty, LargestOffset / Bytes));
    }
    const SCEV *Start = Rec->getStart(), *Offset = SE.getMulExpr(Step, Count);
    const SCEV *End = SE.getAddExpr(Start, Offset);
    if (SE.isKnownNonNegative(Step))
      return Upper ? End : Start;
    if (SE.isKnownNonPositive(Step))
      return Upper ? Start : End;
    const SCEV *Zero = SE.getZero(Ty);
    return SE.getAddExpr(Start, Upper ? SE.getSMaxExpr(Zero, Offset) : SE.getSMinExpr(Zero, Offset));
  }

  /// May the write be announced for its whole range before the loop, without fetching? Only if it fills
  /// the range and no read of the loop happens after the announcement, neither one whose guard stays
  /// further inside nor one in a function that is called.
  bool mayOverwriteBlindly(const Access &A) {
    if (!A.Exact || !A.Covering || LoopsFacts[A.Out].Touches)
      return false;
    for (const Access &B : List)
      if (B.reads() && A.Out->contains(B.At) && !(B.Out && B.Out->contains(A.Out)))
        return false;
    return true;
  }

  /// For an inexact range: a pointer into the object that the accesses are derived from, so that the
  /// runtime can clip the range to it. That is a marked pointer, or else the root of the address computation
  /// plus the constant offset in front of the first variable index (w->in[i]: the member, not the struct). A
  /// pointer that walks down may start one past its object; then the highest byte of the range.
  const SCEV *anchor(const Access &A) {
    const SCEV *Fallback = A.Lo;
    SmallVector<const GEPOperator *, 8> Chain;
    Value *P = A.Ptr;
    for (unsigned Steps = 0; Steps < 64; ++Steps) {
      if (auto *GEP = dyn_cast<GEPOperator>(P)) {
        Chain.push_back(GEP);
        P = GEP->getPointerOperand();
        continue;
      }
      auto *Phi = dyn_cast<PHINode>(P);
      Loop *L = Phi ? LI.getLoopFor(Phi->getParent()) : nullptr;
      if (!L || L->getHeader() != Phi->getParent() || !A.Out->contains(L) || !L->getLoopPreheader())
        break;
      const auto *Rec = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Phi));
      if (!Rec || !SE.isKnownNonNegative(Rec->getStepRecurrence(SE)))
        return SE.getAddExpr(A.Hi, SE.getMinusOne(SE.getEffectiveSCEVType(A.Hi->getType())));
      Chain.clear(); // what follows is relative to a moving pointer
      P = Phi->getIncomingValueForBlock(L->getLoopPreheader());
    }
    if (const Value *Marked = anchorOperand(P)) {
      P = const_cast<Value *>(Marked);
      Chain.clear();
    }
    const SCEV *Anchor = SE.getSCEV(P);
    Type *Ty = SE.getEffectiveSCEVType(Anchor->getType());
    for (const GEPOperator *GEP : reverse(Chain)) {
      int64_t Offset = 0;
      bool Complete = constantPrefix(*GEP, Offset);
      if (Offset > 0)
        Anchor = SE.getAddExpr(Anchor, SE.getConstant(Ty, Offset));
      if (!Complete || Offset < 0)
        break;
    }
    bool Usable = SE.isLoopInvariant(Anchor, A.Out) &&
                  Expander.isSafeToExpandAt(Anchor, A.Out->getLoopPreheader()->getTerminator());
    return Usable ? Anchor : Fallback;
  }

  /// Bytes of the leading constant indices. False if a variable index follows.
  bool constantPrefix(const GEPOperator &GEP, int64_t &Offset) {
    for (auto It = gep_type_begin(GEP), End = gep_type_end(GEP); It != End; ++It) {
      const auto *Index = dyn_cast<ConstantInt>(It.getOperand());
      if (!Index || Index->getValue().getSignificantBits() > 64)
        return false;
      if (StructType *Struct = It.getStructTypeOrNull())
        Offset += DL.getStructLayout(Struct)->getElementOffset(Index->getZExtValue());
      else if (It.getSequentialElementStride(DL).isScalable())
        return false;
      else
        Offset += Index->getSExtValue() * int64_t(It.getSequentialElementStride(DL).getFixedValue());
    }
    return true;
  }

  /// Joins guards at one place whose ranges keep a constant distance (u[i-1], u[i], u[i+1]). A join can make
  /// two others touch, hence the repetition.
  void merge(std::vector<Access *> &Moved) {
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (size_t I = 0; I < Moved.size(); ++I)
        for (size_t J = 0; J < I && !Moved[I]->Drop; ++J)
          if (!Moved[J]->Drop && tryMerge(*Moved[J], *Moved[I]))
            Moved[I]->Drop = Changed = true;
    }
  }

  bool tryMerge(Access &A, const Access &B) {
    // A pure write beside a read keeps its own guard: it needs no fetch.
    if (A.Out != B.Out || A.reads() != B.reads() || A.Exact != B.Exact || A.Len || B.Len ||
        SE.getPointerBase(A.Lo) != SE.getPointerBase(B.Lo))
      return false;
    const auto *DLo = dyn_cast<SCEVConstant>(SE.getMinusSCEV(B.Lo, A.Lo));
    const auto *DHi = dyn_cast<SCEVConstant>(SE.getMinusSCEV(B.Hi, A.Hi));
    if (!DLo || !DHi || DLo->getAPInt().getSignificantBits() > LargestMergeBits)
      return false;
    int64_t Distance = DLo->getAPInt().getSExtValue();
    // A joint range must claim no byte in between that nobody touches, except that inexact ranges of one
    // object (same anchor) may: they are clipped to it.
    bool Touch = Distance >= 0 ? leastBytes(A) >= uint64_t(Distance) : leastBytes(B) >= uint64_t(-Distance);
    if (A.Exact ? !Touch : A.Anchor != B.Anchor || (!Touch && A.writes() != B.writes()))
      return false;
    // Size stays a lower bound of the bytes from Lo on, for the next join.
    if (Touch)
      A.Size = Distance >= 0 ? std::max(A.Size, Distance + B.Size) : std::max(B.Size, A.Size - Distance);
    else if (Distance < 0)
      A.Size = B.Size;
    if (Distance < 0)
      A.Lo = B.Lo;
    if (DHi->getAPInt().isStrictlyPositive())
      A.Hi = B.Hi;
    A.Mode |= B.Mode;
    A.Widened |= B.Widened;
    if (A.Exact)
      A.Anchor = A.Lo;
    return true;
  }

  /// Lower bound of the length of A's range: constant if it is known, else what one access covers.
  uint64_t leastBytes(const Access &A) {
    const auto *K = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A.Hi, A.Lo));
    return K ? K->getAPInt().getLimitedValue() : A.Size;
  }

  Effects &E;
  AccessList &List;
  const DataLayout &DL;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  SCEVExpander Expander;
  DenseMap<const Loop *, LoopFacts> LoopsFacts;
};

} // namespace

std::vector<Access *> hoistAccesses(Function &F, FunctionAnalysisManager &FAM, Effects &E, AccessList &List) {
  return Hoister(F, FAM, E, List).run();
}

} // namespace cofuse
