// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module pass, and where it stands in clang's pipeline.
#include "Internal.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cofuse {
namespace {

/// Before user constructors (65535), after the implementation's own (up to 100).
constexpr int CheckPriority = 101;

class GuardPass : public PassInfoMixin<GuardPass> {
public:
  GuardPass(std::shared_ptr<SystemTable> Sys, bool Optimize) : Sys(std::move(Sys)), Optimize(Optimize) {}
  static bool isRequired() { return true; } // correctness: also at -O0 and for optnone functions

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    std::vector<Function *> Functions = selectFunctions(M);
    Effects E(*Sys, FAM);
    replaceHooks(M, E);

    DenseMap<Function *, AccessList> Accesses;
    for (Function *F : Functions) {
      AccessList &List = Accesses[F];
      collectAccesses(*F, *Sys, E, List);
    }
    E.summarize(M, Accesses);

    Emitter Emit(M, *Sys);
    for (Function *F : Functions) {
      AccessList &List = Accesses[F];
      markJumps(*F);
      markHidden(*F);
      markUnwinding(*F);
      if (List.empty())
        continue;
      // __attribute__((pure)) and friends: guards write memory. Callers may go on believing it, since what
      // a guard changes is not visible to the program.
      F->removeFnAttr(Attribute::Memory);
      std::vector<Access *> Hoisted;
      if (Optimize && !F->hasOptNone()) {
        Hoisted = hoistAccesses(*F, FAM, E, List);
        dropAvailable(*F, E, List);
      }
      Emit.emit(*F, FAM, List, Hoisted);
    }
    removeAnchors(M);
    if (!Functions.empty())
      addAbiCheck(M);
    return PreservedAnalyses::none();
  }

private:
  static std::vector<Function *> selectFunctions(Module &M) {
    // Resolvers run before relocation: no call can leave them.
    DenseSet<const Function *> Resolvers;
    for (GlobalIFunc &I : M.ifuncs())
      Resolvers.insert(I.getResolverFunction());
    std::vector<Function *> Result;
    // C99 inline bodies (available_externally) count: they are what gets inlined.
    for (Function &F : M)
      if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) && !Resolvers.count(&F))
        Result.push_back(&F);
    return Result;
  }

  /// After setjmp returned, a second time perhaps, automatic stores below the stack pointer are gone
  /// although their scope exit never ran.
  static void markUnwinding(Function &F) {
    SmallVector<CallInst *, 2> Calls;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (Effects::returnsTwice(*Call))
          Calls.push_back(Call);
    for (CallInst *Call : Calls) {
      IRBuilder<> B(Call->getNextNode());
      B.SetCurrentDebugLocation(Call->getDebugLoc());
      Value *StackPointer = B.CreateStackSave();
      B.CreateCall(F.getParent()->getOrInsertFunction("cofuse_unwound", B.getVoidTy(), B.getPtrTy()),
                   {StackPointer});
    }
  }

  /// Before a longjmp the arrays of the frames that it leaves still exist, and pending work may run on them.
  static void markJumps(Function &F) {
    SmallVector<CallInst *, 2> Calls;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (const Function *Callee = Call->getCalledFunction())
          if (Callee->isDeclaration() && Callee->getName().contains("longjmp"))
            Calls.push_back(Call);
    for (CallInst *Call : Calls) {
      IRBuilder<> B(Call);
      B.CreateCall(F.getParent()->getOrInsertFunction("cofuse_before_jump", B.getVoidTy()));
    }
  }

  /// Functions that reach arrays through pointers inside structs: all that they may touch is brought up to
  /// date.
  static void markHidden(Function &F) {
    static const StringSet<> Names = {
        "readv",        "writev",           "preadv",           "pwritev",    "preadv2",     "pwritev2",
        "preadv64",     "pwritev64",        "sendmsg",          "recvmsg",    "sendmmsg",    "recvmmsg",
        "vmsplice",     "aio_read",         "aio_write",        "aio_read64", "aio_write64", "lio_listio",
        "lio_listio64", "process_vm_readv", "process_vm_writev"};
    SmallVector<CallInst *, 2> Calls;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (const Function *Callee = Call->getCalledFunction())
          if (Callee->isDeclaration() && Names.contains(Callee->getName()))
            Calls.push_back(Call);
    for (CallInst *Call : Calls) {
      IRBuilder<> B(Call);
      DebugLoc Loc = Call->getDebugLoc();
      StringRef File = Loc ? Loc->getFilename() : StringRef(F.getParent()->getSourceFileName());
      FunctionCallee All =
          F.getParent()->getOrInsertFunction("cofuse_host_all_", B.getVoidTy(), B.getPtrTy(), B.getInt32Ty());
      B.CreateCall(All, {B.CreateGlobalString(File, "cofuse.file"), B.getInt32(Loc ? Loc.getLine() : 0)});
    }
  }

  /// A constructor per unit: a unit compiled for another runtime is refused before main.
  static void addAbiCheck(Module &M) {
    LLVMContext &C = M.getContext();
    Function *Init = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                                      GlobalValue::InternalLinkage, "cofuse.unit.init", M);
    Init->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> B(BasicBlock::Create(C, "entry", Init));
    FunctionCallee Check =
        M.getOrInsertFunction("cofuse_abi_check", B.getVoidTy(), B.getInt32Ty(), B.getPtrTy());
    B.CreateCall(Check, {B.getInt32(COFUSE_ABI), B.CreateGlobalString(M.getSourceFileName(), "cofuse.unit")});
    B.CreateRetVoid();
    appendToGlobalCtors(M, Init, CheckPriority);
  }

  std::shared_ptr<SystemTable> Sys;
  bool Optimize;
};

class AnchorPass : public PassInfoMixin<AnchorPass> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    markAnchors(F);
    return PreservedAnalyses::none();
  }
};

/// Brings loops into the form scalar evolution understands. Nothing here may move an access out of its
/// condition: `if (it % 25 == 0 && rr <= tol)` must not read rr in the other iterations.
void addPreparation(ModulePassManager &MPM) {
  SimplifyCFGOptions Cautious;
  Cautious.speculateBlocks(false).bonusInstThreshold(0);
  FunctionPassManager F;
  F.addPass(SROAPass(SROAOptions::ModifyCFG));
  F.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  F.addPass(SimplifyCFGPass(Cautious));
  F.addPass(AnchorPass());
  F.addPass(InstCombinePass());
  F.addPass(LoopSimplifyPass());
  F.addPass(LCSSAPass());
  LoopPassManager Rotate;
  Rotate.addPass(LoopRotatePass(/*EnableHeaderDuplication=*/true));
  Rotate.addPass(LICMPass(/*LicmMssaOptCap=*/100, /*LicmMssaNoAccForPromotionCap=*/250,
                          /*AllowSpeculation=*/false));
  F.addPass(createFunctionToLoopPassAdaptor(std::move(Rotate), /*UseMemorySSA=*/true));
  F.addPass(SimplifyCFGPass(Cautious));
  F.addPass(InstCombinePass());
  LoopPassManager Induction;
  Induction.addPass(IndVarSimplifyPass(/*WidenIndVars=*/false));
  F.addPass(createFunctionToLoopPassAdaptor(std::move(Induction)));
  F.addPass(LoopSimplifyPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(F)));
}

} // namespace

void registerGuardPass(PassBuilder &PB, std::shared_ptr<SystemTable> Sys) {
  PB.registerPipelineStartEPCallback([Sys](ModulePassManager &MPM, OptimizationLevel Level) {
    bool Optimize = Level != OptimizationLevel::O0;
    if (Optimize)
      addPreparation(MPM);
    MPM.addPass(GuardPass(Sys, Optimize));
  });
}

} // namespace cofuse
