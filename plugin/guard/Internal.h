// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of the guard pass. Order of work, per module (GuardPass.cpp):
//   hooks      free, realloc, fopen -> the runtime's versions
//   Anchor     (before the others, with optimisation) keeps the pointers that subscripts start from
//   Collect    every memory access that may hit a store, per function
//   Effects    per function: may it launch tasks, not return, touch stores?
//   Hoist      widen accesses over loops by scalar evolution
//   Emit       drop what is available on all paths, insert the calls, remarks
#ifndef COFUSE_PLUGIN_GUARD_INTERNAL_H
#define COFUSE_PLUGIN_GUARD_INTERNAL_H

#include "cofuse/descriptor.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

#include <memory>
#include <vector>

namespace clang {
class CompilerInstance;
}
namespace llvm {
class Loop;
class PassBuilder;
class SCEV;
} // namespace llvm

namespace cofuse {

enum : int { ModeRead = COFUSE_R, ModeWrite = COFUSE_W, ModeMay = COFUSE_MAY };

/// How a function that system headers declare uses its pointers.
struct SystemFunction {
  std::vector<int> ParamModes; ///< per parameter: 0 (not a pointer to data), ModeRead or ModeRead|ModeWrite
  int VariadicMode = ModeRead | ModeWrite;
  bool TakesCallback = false; ///< some parameter is a function: user code may run inside
};

/// Facts of the AST that the pass needs; filled while the translation unit ends, before code generation.
struct SystemTable {
  llvm::StringMap<SystemFunction> Functions;
  llvm::StringSet<> Variables; ///< extern variables of system headers: never stores
  llvm::StringSet<> Declared;  ///< every function name the source declares at file scope

  /// Alive until the end of the compile; used to spell array names in remarks.
  clang::CompilerInstance *CI = nullptr;

  /// How the source names the array accessed at File:Line:Column (`u`, `w->u`); "" if unknown.
  std::string nameAt(llvm::StringRef File, unsigned Line, unsigned Column) const;
};

/// One access, or one argument of a system call, that may hit a store.
struct Access {
  llvm::Instruction *At = nullptr; ///< the guard must have run when this executes
  llvm::Value *Ptr = nullptr;
  uint64_t Size = 0;            ///< bytes, when Len is null; 0: unknown, up to the end of the store
  llvm::Value *Len = nullptr;   ///< bytes at run time ...
  llvm::Value *Scale = nullptr; ///< ... times this, if set (fread: size times count)
  int Mode = 0;                 ///< ModeRead | ModeWrite | ModeMay

  // Filled by Hoist.
  llvm::Loop *Out = nullptr; ///< outermost loop the guard was moved in front of; null: stays at `At`
  const llvm::SCEV *Lo = nullptr, *Hi = nullptr, *Anchor = nullptr;
  bool Exact = true;    ///< every byte of [Lo, Hi) is touched, in every execution of Out
  bool Covering = true; ///< no holes inside [Lo, Hi): a pure write may skip the fetch
  bool Widened = false; ///< the range covers more than one iteration
  bool Drop = false;    ///< merged into another guard, or redundant

  bool bounded() const { return Len || Size; }
  bool reads() const { return Mode & ModeRead; }
  bool writes() const { return Mode & ModeWrite; }
};
using AccessList = std::vector<Access>;

/// What instructions and functions do as far as guards care.
class Effects {
public:
  Effects(const SystemTable &Sys, llvm::FunctionAnalysisManager &FAM) : Sys(Sys), FAM(FAM) {}

  /// A function the C library or another foreign object defines: it does not guard itself.
  bool isSystem(const llvm::Function &F);
  /// System function that may call back into the program.
  bool callsBack(const llvm::Function &F);
  const SystemFunction *lookup(const llvm::Function &F) const;

  /// setjmp and its kin.
  static bool returnsTwice(const llvm::CallBase &Call);

  /// May executing I launch a task or change which memory is a store? Guards before it do not hold after.
  bool mayLaunch(const llvm::Instruction &I);
  /// May I not come back (exit, longjmp) although the next instruction follows in the block?
  bool mayLeave(const llvm::Instruction &I);
  /// Is I a call into code that guards its own accesses, so that it may read what we are about to write?
  bool mayTouch(const llvm::Instruction &I);

  /// Summarises the functions of M bottom up by a pessimistic fix point.
  void summarize(llvm::Module &M, const llvm::DenseMap<llvm::Function *, AccessList> &Accesses);

private:
  struct Summary {
    bool Launches = true, Leaves = true, Touches = true;
  };
  Summary classify(const llvm::CallBase &Call);

  const SystemTable &Sys;
  llvm::FunctionAnalysisManager &FAM;
  llvm::DenseMap<const llvm::Function *, bool> System;
  llvm::DenseMap<const llvm::Function *, Summary> Local;
};

/// Wraps pointers that subscripts start from in marker calls (Anchor.cpp); before InstCombine.
void markAnchors(llvm::Function &F);
/// The pointer inside a marker call; null if V is none.
const llvm::Value *anchorOperand(const llvm::Value *V);
/// As llvm::getUnderlyingObject, through markers.
const llvm::Value *underlyingObject(const llvm::Value *Ptr);
void removeAnchors(llvm::Module &M);

/// Calls of free, realloc, fopen become calls of cofuse_hook_*.
void replaceHooks(llvm::Module &M, Effects &E);

/// Appends every access of F that may hit a store. Reads of an instruction come before its writes.
void collectAccesses(llvm::Function &F, const SystemTable &Sys, Effects &E, AccessList &List);

/// Moves guards out of loops. Sets Out, Lo, Hi, Anchor, Exact, Drop, Mode of the accesses it moved.
/// Returns those, reads first, in the order in which they must be emitted.
std::vector<Access *> hoistAccesses(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, Effects &E,
                                    AccessList &List);

/// Marks accesses that stay in place and are covered by an equal or stronger guard on all paths.
void dropAvailable(llvm::Function &F, Effects &E, AccessList &List);

/// Inserts the guard calls of one module.
class Emitter {
public:
  Emitter(llvm::Module &M, const SystemTable &Sys);
  void emit(llvm::Function &F, llvm::FunctionAnalysisManager &FAM, AccessList &List,
            const std::vector<Access *> &Hoisted);

private:
  void call(llvm::Instruction *Before, llvm::Value *Base, llvm::Value *Lo, llvm::Value *Hi, int Mode,
            const llvm::Instruction &Site);
  llvm::Value *siteString(llvm::IRBuilder<> &B, const llvm::Instruction &Site);

  llvm::Module &M;
  const SystemTable &Sys;
  llvm::FunctionCallee Guard;
  llvm::StringMap<llvm::Constant *> Sites;
};

void registerGuardPass(llvm::PassBuilder &PB, std::shared_ptr<SystemTable> Sys);

} // namespace cofuse

#endif
