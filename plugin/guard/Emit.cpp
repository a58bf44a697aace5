// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drops guards that are available on all paths, inserts the calls, writes remarks.
#include "Internal.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace cofuse {
namespace {

/// A guard that can be compared by value: an exact one of constant size that stays in place.
bool isComparable(const Access &A) { return !A.Out && !A.Drop && !A.Len && A.Size; }

std::string location(const DILocation &Loc) {
  return (Loc.getFilename() + ":" + Twine(Loc.getLine()) + ":" + Twine(Loc.getColumn())).str();
}

/// Is Block on the path where cofuse_run returned 0, the plain loop behind an annotated one? Those run only
/// when a task could not be issued; remarks about them would hide the ones that matter.
bool isFallback(BasicBlock *Block, const DominatorTree &DT) {
  for (auto *Node = DT.getNode(Block); Node; Node = Node->getIDom()) {
    BasicBlock *B = Node->getBlock();
    auto *Branch = dyn_cast<BranchInst>(B->getTerminator());
    if (B == Block || !Branch || !Branch->isConditional())
      continue;
    auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
    auto *Call = Compare ? dyn_cast<CallInst>(Compare->getOperand(0)) : nullptr;
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->getName() != "cofuse_run")
      continue;
    for (BasicBlock *Next : successors(B))
      if (DT.dominates(BasicBlockEdge(B, Next), Block))
        return true;
  }
  return false;
}

/// Debug information splits the path of a file below the current directory in two.
std::string pathOf(const DILocation &Loc) {
  if (sys::path::is_absolute(Loc.getFilename()) || Loc.getDirectory().empty())
    return Loc.getFilename().str();
  SmallString<256> Path(Loc.getDirectory());
  sys::path::append(Path, Loc.getFilename());
  return std::string(Path);
}

} // namespace

void dropAvailable(Function &F, Effects &E, AccessList &List) {
  // Fact 2k: bytes of key k are valid on the host; 2k + 1: they may be written. A key is a pointer value
  // with a size: a value is defined once on each path, so a fact about it cannot be stale unless something
  // on the path may launch a task.
  DenseMap<std::pair<Value *, uint64_t>, unsigned> Keys;
  DenseMap<const Instruction *, SmallVector<Access *, 2>> ByInstruction;
  for (Access &A : List)
    if (isComparable(A)) {
      Keys.try_emplace({A.Ptr, A.Size}, Keys.size());
      ByInstruction[A.At].push_back(&A);
    }
  if (Keys.empty())
    return;
  unsigned Facts = 2 * Keys.size();
  ReversePostOrderTraversal<Function *> Order(&F);
  DenseMap<const BasicBlock *, BitVector> Out;
  for (BasicBlock *B : Order)
    Out[B] = BitVector(Facts, true); // optimistic; blocks that are never reached do not count

  auto Transfer = [&](BasicBlock *B, bool Mark) {
    BitVector Now(Facts, B != &F.getEntryBlock());
    for (BasicBlock *Pred : predecessors(B)) {
      auto It = Out.find(Pred);
      if (It != Out.end())
        Now &= It->second;
    }
    for (Instruction &I : *B) {
      auto It = ByInstruction.find(&I);
      if (It != ByInstruction.end())
        for (Access *A : It->second) {
          unsigned Valid = 2 * Keys[{A->Ptr, A->Size}], Writable = Valid + 1;
          if (Mark && (!A->reads() || Now[Valid]) && (!A->writes() || Now[Writable]))
            A->Drop = true;
          Now.set(Valid); // a write makes the bytes valid, too
          if (A->writes())
            Now.set(Writable);
        }
      if (E.mayLaunch(I))
        Now.reset();
    }
    bool Changed = Out[B] != Now;
    Out[B] = std::move(Now);
    return Changed;
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock *B : Order)
      Changed |= Transfer(B, false);
  }
  for (BasicBlock *B : Order)
    Transfer(B, true);
}

Emitter::Emitter(Module &M, const SystemTable &Sys) : M(M), Sys(Sys) {
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::getUnqual(C);
  Guard = M.getOrInsertFunction("cofuse_guard", Type::getVoidTy(C), Ptr, Ptr, Ptr, Type::getInt32Ty(C), Ptr);
  if (auto *F = dyn_cast<Function>(Guard.getCallee()))
    F->addFnAttr(Attribute::NoUnwind);
}

Value *Emitter::siteString(IRBuilder<> &B, const Instruction &Site) {
  const DILocation *Loc = Site.getDebugLoc();
  std::string Text = Loc ? location(*Loc) : M.getSourceFileName();
  Constant *&Entry = Sites[Text];
  if (!Entry)
    Entry = B.CreateGlobalString(Text, "cofuse.site", 0, &M);
  return Entry;
}

void Emitter::call(Instruction *Before, Value *Base, Value *Lo, Value *Hi, int Mode,
                   const Instruction &Site) {
  IRBuilder<> B(Before);
  DebugLoc Loc = Site.getDebugLoc();
  if (!Loc)
    if (DISubprogram *SP = Before->getFunction()->getSubprogram())
      Loc = DILocation::get(M.getContext(), 0, 0, SP);
  B.SetCurrentDebugLocation(Loc);
  B.CreateCall(Guard, {Base, Lo, Hi, B.getInt32(Mode), siteString(B, Site)});
}

void Emitter::emit(Function &F, FunctionAnalysisManager &FAM, AccessList &List,
                   const std::vector<Access *> &Hoisted) {
  Type *Ptr = PointerType::getUnqual(M.getContext());
  if (!Hoisted.empty()) {
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    SCEVExpander Expander(SE, M.getDataLayout(), "cofuse");
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    OptimizationRemarkEmitter Remarks(&F);
    for (const Access *A : Hoisted) {
      Instruction *At = A->Out->getLoopPreheader()->getTerminator();
      Value *Lo = Expander.expandCodeFor(A->Lo, Ptr, At), *Hi = Expander.expandCodeFor(A->Hi, Ptr, At);
      Value *Base = A->Anchor == A->Lo ? Lo : Expander.expandCodeFor(A->Anchor, Ptr, At);
      call(At, Base, Lo, Hi, A->Mode, *A->At);
      if (!A->Widened || isFallback(At->getParent(), DT))
        continue;
      Remarks.emit([&] {
        const DILocation *Loc = A->At->getDebugLoc();
        std::string Name = Loc ? Sys.nameAt(pathOf(*Loc), Loc->getLine(), Loc->getColumn()) : std::string();
        const char *Verb = !A->writes() ? "reads" : A->reads() ? "updates" : "writes";
        OptimizationRemarkAnalysis R("cofuse", "HostLoop", A->At->getDebugLoc(), At->getParent());
        R << "host loop " << Verb << " " << (Name.empty() ? "memory" : Name) << ": "
          << (A->reads() ? "moves " : "takes over ");
        if (const auto *Bytes = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A->Hi, A->Lo)))
          R << "up to " << ore::NV("Bytes", Bytes->getAPInt().getLimitedValue()) << " bytes of it";
        else
          R << "its whole range";
        R << " before the loop if it is a store";
        return R;
      });
    }
  }
  for (const Access &A : List) {
    if (A.Out || A.Drop)
      continue;
    IRBuilder<> B(A.At);
    Value *Hi;
    if (A.Len) {
      Value *Len = B.CreateZExtOrTrunc(A.Len, B.getInt64Ty());
      if (A.Scale)
        Len = B.CreateMul(Len, B.CreateZExtOrTrunc(A.Scale, B.getInt64Ty()));
      Hi = B.CreatePtrAdd(A.Ptr, Len);
    } else if (A.Size) {
      Hi = B.CreateConstGEP1_64(B.getInt8Ty(), A.Ptr, A.Size);
    } else {
      Hi = ConstantExpr::getIntToPtr(ConstantInt::getAllOnesValue(B.getInt64Ty()), Ptr);
    }
    call(A.At, A.Ptr, A.Ptr, Hi, A.Mode, *A.At);
  }
}

} // namespace cofuse
