// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls may do: launch tasks, not return, touch stores under guards of their own.
#include "Internal.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cofuse {

const SystemFunction *Effects::lookup(const Function &F) const {
  auto It = Sys.Functions.find(F.getName());
  return It == Sys.Functions.end() ? nullptr : &It->second;
}

bool Effects::isSystem(const Function &F) {
  auto [It, New] = System.try_emplace(&F, false);
  if (!New)
    return It->second;
  bool Result = false;
  if (F.isDeclaration()) {
    StringRef Name = F.getName();
    LibFunc Lib;
    // Names with two underscores that the source never declares are calls the compiler made up
    // (__muldc3, __atomic_load); they live in its run-time library.
    Result = Sys.Functions.count(Name) || Name.ends_with("_chk") ||
             (Name.starts_with("__") && !Sys.Declared.count(Name)) ||
             FAM.getResult<TargetLibraryAnalysis>(const_cast<Function &>(F)).getLibFunc(F, Lib);
  }
  return System[&F] = Result;
}

bool Effects::callsBack(const Function &F) {
  if (const SystemFunction *Entry = lookup(F))
    if (Entry->TakesCallback)
      return true;
  StringRef Name = F.getName();
  // User-defined reduction operators and attribute functions run inside MPI calls.
  return Name == "qsort" || Name == "bsearch" || Name.starts_with("MPI_") || Name.starts_with("PMPI_");
}

bool Effects::returnsTwice(const CallBase &Call) {
  if (Call.hasFnAttr(Attribute::ReturnsTwice))
    return true;
  // With -fno-builtin clang does not know them.
  const Function *F = Call.getCalledFunction();
  return F && F->isDeclaration() &&
         StringSwitch<bool>(F->getName())
             .Cases("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext", true)
             .Default(false);
}

Effects::Summary Effects::classify(const CallBase &Call) {
  Summary S;
  S.Leaves = Call.doesNotReturn();
  if (isa<IntrinsicInst>(Call) || Call.isInlineAsm() || anchorOperand(&Call)) {
    S.Launches = S.Touches = false;
    return S;
  }
  const Function *F = Call.getCalledFunction();
  if (!F) {
    S.Leaves = true;
    return S;
  }
  StringRef Name = F->getName();
  if (Name.starts_with("cofuse_")) {
    S.Leaves = S.Touches = false;
    S.Launches = !(Name == "cofuse_guard" || Name == "cofuse_unwound" || Name == "cofuse_hook_fopen" ||
                   Name == "cofuse_ran");
    // Directives hand stores over and take them back: what they do to memory is not a host access,
    // but a public function such as cofuse_save_npy reads its array.
    S.Touches = S.Launches;
    return S;
  }
  if (isSystem(*F)) {
    S.Launches = S.Touches = callsBack(*F) || returnsTwice(Call);
    StringRef Lib = F->getName();
    S.Leaves |= S.Launches || Lib.ends_with("longjmp") || Lib == "exit" || Lib == "abort";
    return S;
  }
  auto It = Local.find(F);
  if (It != Local.end()) {
    bool Leaves = S.Leaves;
    S = It->second;
    S.Leaves |= Leaves;
  } else {
    S.Leaves = true;
  }
  // Declared pure or const by the programmer: cannot launch, still may read stores under its own guards.
  if (Call.onlyReadsMemory())
    S.Launches = S.Leaves = false;
  if (Call.doesNotAccessMemory())
    S.Touches = false;
  return S;
}

bool Effects::mayLaunch(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && classify(*Call).Launches;
}

bool Effects::mayLeave(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && classify(*Call).Leaves;
}

bool Effects::mayTouch(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && classify(*Call).Touches;
}

void Effects::summarize(Module &M, const DenseMap<Function *, AccessList> &Accesses) {
  // Functions start as "does everything" and each property is cleared once it is proved, so recursion
  // stays pessimistic and the loop ends.
  for (Function &F : M)
    if (!F.isDeclaration() && F.isDefinitionExact())
      Local[&F] = Summary();
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function &F : M) {
      auto It = Local.find(&F);
      if (It == Local.end())
        continue;
      Summary Now{false, false, false};
      auto Own = Accesses.find(&F);
      Now.Touches = Own != Accesses.end() && !Own->second.empty();
      for (Instruction &I : instructions(F)) {
        const auto *Call = dyn_cast<CallBase>(&I);
        if (!Call)
          continue;
        Summary S = classify(*Call);
        Now.Launches |= S.Launches;
        Now.Leaves |= S.Leaves;
        Now.Touches |= S.Touches;
      }
      Summary &Old = It->second;
      if (Now.Launches != Old.Launches || Now.Leaves != Old.Leaves || Now.Touches != Old.Touches) {
        Old = Now;
        Changed = true;
      }
    }
  }
}

} // namespace cofuse
