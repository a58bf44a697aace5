// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the memory accesses that may hit a store, and replaces the calls that need the runtime's version.
#include "Internal.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cofuse {
namespace {

/// Library functions that say how many bytes are behind a pointer. Without an entry the guard reaches to
/// the end of the store, which is right but may move a whole array.
struct LengthRule {
  const char *Name;
  unsigned Ptr, Len;
  int Scale; ///< argument to multiply with, or -1
  int Mode;
};
constexpr int R = ModeRead, W = ModeWrite, May = ModeMay;
const LengthRule LengthRules[] = {
    {"fwrite", 0, 1, 2, R},
    {"fwrite_unlocked", 0, 1, 2, R},
    {"fread", 0, 1, 2, R | W | May},
    {"fread_unlocked", 0, 1, 2, R | W | May},
    {"write", 1, 2, -1, R},
    {"pwrite", 1, 2, -1, R},
    {"pwrite64", 1, 2, -1, R},
    {"read", 1, 2, -1, R | W | May},
    {"pread", 1, 2, -1, R | W | May},
    {"pread64", 1, 2, -1, R | W | May},
    {"send", 1, 2, -1, R},
    {"recv", 1, 2, -1, R | W | May},
    {"qsort", 0, 1, 2, R | W},
    {"memcmp", 0, 2, -1, R | May},
    {"memcmp", 1, 2, -1, R | May},
    {"bcmp", 0, 2, -1, R | May},
    {"bcmp", 1, 2, -1, R | May},
    {"memchr", 0, 2, -1, R | May},
    {"memcpy", 1, 2, -1, R},
    {"memcpy", 0, 2, -1, W},
    {"memmove", 1, 2, -1, R},
    {"memmove", 0, 2, -1, W},
    {"mempcpy", 1, 2, -1, R},
    {"mempcpy", 0, 2, -1, W},
    {"memset", 0, 2, -1, W},
    {"bzero", 0, 1, -1, W},
    {"__memcpy_chk", 1, 2, -1, R},
    {"__memcpy_chk", 0, 2, -1, W},
    {"__memmove_chk", 1, 2, -1, R},
    {"__memmove_chk", 0, 2, -1, W},
    {"__mempcpy_chk", 1, 2, -1, R},
    {"__mempcpy_chk", 0, 2, -1, W},
    {"__memset_chk", 0, 2, -1, W},
};

/// Does the address of an object reach code that could declare it a store, or that could be handed a task
/// result through it? Narrower than capture: system functions and cofuse_run do neither.
class EscapeTracker : public CaptureTracker {
public:
  EscapeTracker(Effects &E, bool Automatic, unsigned Depth) : E(E), Automatic(Automatic), Depth(Depth) {}
  bool Escaped = false;

  void tooManyUses() override { Escaped = true; }
  bool captured(const Use *U) override {
    if (anchorOperand(U->getUser())) {
      PointerMayBeCaptured(U->getUser(), this, 1000);
      return Escaped;
    }
    if (const auto *Call = dyn_cast<CallBase>(U->getUser()))
      if (const Function *F = Call->getCalledFunction())
        if (Call->isDataOperand(U) && !Call->getType()->isPointerTy() && isHarmless(*F))
          return false;
    if (Automatic && isRunArgument(U))
      return false;
    return Escaped = true;
  }

private:
  bool isHarmless(const Function &F) {
    StringRef Name = F.getName();
    if (F.isIntrinsic())
      return Name.starts_with("llvm.va_");
    return Name == "cofuse_guard" || (Automatic && Name == "cofuse_run") ||
           (E.isSystem(F) && !E.callsBack(F));
  }

  /// The address is stored into an array of arguments that only cofuse_run sees. The runtime runs a task
  /// over stack memory at once, so such an object is never remote. (A static array may be registered until
  /// the task has run: not for those.)
  bool isRunArgument(const Use *U) {
    if (Depth >= 2)
      return false;
    if (const auto *Cast = dyn_cast<PtrToIntInst>(U->getUser())) {
      for (const Use &Next : Cast->uses())
        if (!isa<StoreInst>(Next.getUser()) || !isRunArgument(&Next))
          return false;
      return true;
    }
    const auto *Store = dyn_cast<StoreInst>(U->getUser());
    if (!Store || U->getOperandNo() != 0)
      return false;
    const auto *Array = dyn_cast<AllocaInst>(underlyingObject(Store->getPointerOperand()));
    return Array && onlyForRun(Array);
  }

  bool onlyForRun(const Value *Pointer) {
    for (const User *Next : Pointer->users()) {
      if (isa<GetElementPtrInst>(Next) || anchorOperand(Next)) {
        if (!onlyForRun(Next))
          return false;
      } else if (const auto *Store = dyn_cast<StoreInst>(Next)) {
        if (Store->getValueOperand() == Pointer)
          return false;
      } else if (const auto *Call = dyn_cast<CallBase>(Next)) {
        const Function *F = Call->getCalledFunction();
        if (!F)
          return false;
        bool Fills =
            isa<MemSetInst>(Call) || (isa<MemTransferInst>(Call) && Call->getArgOperand(0) == Pointer);
        bool Lifetime = isa<IntrinsicInst>(Call) && cast<IntrinsicInst>(Call)->isLifetimeStartOrEnd();
        if (!Fills && !Lifetime && F->getName() != "cofuse_run")
          return false;
      } else {
        return false;
      }
    }
    return true;
  }

  Effects &E;
  bool Automatic;
  unsigned Depth;
};

class Collector {
public:
  Collector(Function &F, const SystemTable &Sys, Effects &E, AccessList &List)
      : F(F), Sys(Sys), E(E), List(List), DL(F.getDataLayout()) {}

  void run() {
    for (Instruction &I : instructions(F))
      visit(I);
  }

private:
  bool escapes(const Value *Object) {
    auto [It, New] = Escaped.try_emplace(Object, true);
    if (New) {
      EscapeTracker Tracker(E, isa<AllocaInst>(Object), 0);
      PointerMayBeCaptured(Object, &Tracker, 1000);
      It = Escaped.find(Object);
      It->second = Tracker.Escaped;
    }
    return It->second;
  }

  bool cannotBeStore(const Value *Ptr) {
    const Value *Object = underlyingObject(Ptr);
    if (isa<AllocaInst>(Object))
      return !escapes(Object);
    if (const auto *G = dyn_cast<GlobalVariable>(Object)) {
      if (G->isConstant() || G->isThreadLocal() || Sys.Variables.count(G->getName()))
        return true;
      return G->hasLocalLinkage() && !escapes(G);
    }
    if (const auto *A = dyn_cast<Argument>(Object))
      return F.getName() == "main" && A->getType()->isPointerTy(); // argv, envp
    if (const auto *Call = dyn_cast<CallBase>(Object))
      if (const Function *Callee = Call->getCalledFunction())
        return Callee->getName() == "__errno_location" || Callee->getName().starts_with("__ctype_");
    return isa<ConstantPointerNull>(Object) || isa<Function>(Object) || isa<UndefValue>(Object);
  }

  void add(Instruction &I, Value *Ptr, uint64_t Size, int Mode, Value *Len = nullptr,
           Value *Scale = nullptr) {
    if (Ptr->getType()->getPointerAddressSpace() != 0 || cannotBeStore(Ptr))
      return;
    Access A;
    A.At = &I;
    A.Ptr = Ptr;
    A.Size = Size;
    A.Len = Len;
    A.Scale = Scale;
    A.Mode = Mode;
    if (!A.bounded())
      A.Mode |= ModeMay | (Mode & ModeWrite ? ModeRead : 0);
    List.push_back(A);
  }

  /// Bytes of a value of type T; 0 (unknown) for vectors whose length the machine decides.
  uint64_t bytes(Type *T) {
    TypeSize Size = DL.getTypeStoreSize(T);
    return Size.isScalable() ? 0 : Size.getFixedValue();
  }

  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      add(I, Load->getPointerOperand(), bytes(Load->getType()), R);
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      add(I, Store->getPointerOperand(), bytes(Store->getValueOperand()->getType()), W);
    else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
      add(I, RMW->getPointerOperand(), bytes(RMW->getType()), R | W);
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      add(I, Swap->getPointerOperand(), bytes(Swap->getNewValOperand()->getType()), R | W);
    else if (auto *VaArg = dyn_cast<VAArgInst>(&I))
      add(I, VaArg->getPointerOperand(), 0, R | W);
    else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
      visitIntrinsic(*Intrinsic);
    else if (auto *Call = dyn_cast<CallBase>(&I))
      visitCall(*Call);
  }

  void visitIntrinsic(IntrinsicInst &I) {
    if (auto *Mem = dyn_cast<AnyMemIntrinsic>(&I)) {
      if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Mem))
        add(I, Transfer->getSource(), 0, R, Transfer->getLength());
      add(I, Mem->getDest(), 0, W, Mem->getLength());
      return;
    }
    if (I.isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(I) || I.getIntrinsicID() == Intrinsic::prefetch ||
        I.getCalledFunction()->getName().starts_with("llvm.va_") || !I.mayReadOrWriteMemory())
      return;
    for (Value *Arg : I.args()) // masked, gather-free target intrinsics: extent unknown
      if (Arg->getType()->isPointerTy())
        add(I, Arg, 0, I.onlyReadsMemory() ? R : R | W);
  }

  void visitCall(CallBase &Call) {
    Function *Callee = Call.getCalledFunction();
    // The runtime's own functions look after their arguments.
    if (anchorOperand(&Call) || (Callee && Callee->getName().starts_with("cofuse_")))
      return;
    for (unsigned I = 0; I < Call.arg_size(); ++I)
      if (Call.isByValArgument(I)) // the caller copies the object
        add(Call, Call.getArgOperand(I), bytes(Call.getParamByValType(I)), R);
    if (Call.isInlineAsm()) {
      for (unsigned I = 0; I < Call.arg_size(); ++I)
        if (Call.getArgOperand(I)->getType()->isPointerTy()) {
          Type *Element = Call.getParamElementType(I);
          add(Call, Call.getArgOperand(I), Element ? bytes(Element) : 0, R | W);
        }
      return;
    }
    // Any other callee is compiled with the plugin and guards itself. It writes what it returns by
    // address, too.
    if (Callee && E.isSystem(*Callee))
      visitSystemCall(Call, *Callee);
  }

  void visitSystemCall(CallBase &Call, const Function &Callee) {
    const SystemFunction *Entry = E.lookup(Callee);
    unsigned Hidden = Call.hasStructRetAttr() ? 1 : 0;
    // A struct passed in two registers shifts positions; then the declaration says nothing about argument I.
    bool Matches = Entry && Entry->ParamModes.size() + Hidden == Callee.getFunctionType()->getNumParams();
    struct Use {
      Value *Arg;
      uint64_t Size;
      int Mode;
      Value *Len, *Scale;
    };
    SmallVector<Use, 4> Uses;
    for (unsigned I = 0; I < Call.arg_size(); ++I) {
      Value *Arg = Call.getArgOperand(I);
      if (!Arg->getType()->isPointerTy() || Call.isByValArgument(I) || isa<ConstantPointerNull>(Arg))
        continue;
      if (I < Hidden) {
        Uses.push_back({Arg, bytes(Call.getParamStructRetType(I)), W, nullptr, nullptr});
        continue;
      }
      if (const LengthRule *Rule = findRule(Call, Callee.getName(), I)) {
        Uses.push_back({Arg, 0, Rule->Mode, Call.getArgOperand(Rule->Len),
                        Rule->Scale < 0 ? nullptr : Call.getArgOperand(Rule->Scale)});
        continue;
      }
      int Mode = R | W;
      if (Matches)
        Mode = I - Hidden < Entry->ParamModes.size() ? Entry->ParamModes[I - Hidden] : Entry->VariadicMode;
      if (Mode && Call.onlyReadsMemory(I))
        Mode = R;
      if (Mode)
        Uses.push_back({Arg, 0, Mode, nullptr, nullptr});
    }
    // memmove(d, s, n): s must be fetched before d is declared written.
    for (bool Writes : {false, true})
      for (const Use &U : Uses)
        if (bool(U.Mode & W) == Writes)
          add(Call, U.Arg, U.Size, U.Mode, U.Len, U.Scale);
  }

  static const LengthRule *findRule(const CallBase &Call, StringRef Name, unsigned Ptr) {
    for (const LengthRule &Rule : LengthRules)
      if (Ptr == Rule.Ptr && Name == Rule.Name && isLength(Call, Rule))
        return &Rule;
    return nullptr;
  }

  /// A function of the same name with another prototype must not be believed.
  static bool isLength(const CallBase &Call, const LengthRule &Rule) {
    auto IsSize = [&](unsigned I) {
      return I < Call.arg_size() && Call.getArgOperand(I)->getType()->isIntegerTy(64);
    };
    return IsSize(Rule.Len) && (Rule.Scale < 0 || IsSize(Rule.Scale));
  }

  Function &F;
  const SystemTable &Sys;
  Effects &E;
  AccessList &List;
  const DataLayout &DL;
  DenseMap<const Value *, bool> Escaped;
};

/// Redirects a direct call to the runtime function of the same type.
void redirect(CallInst &Call, StringRef Name) {
  Module &M = *Call.getModule();
  // The old callee's attributes (allocation kind, nocapture, ...) describe the old function.
  AttributeList Attrs;
  Call.setCalledFunction(M.getOrInsertFunction(Name, Call.getFunctionType()));
  Call.setAttributes(Attrs.addFnAttribute(M.getContext(), Attribute::NoUnwind));
  Call.setTailCallKind(CallInst::TCK_None);
}

/// reallocarray(p, n, size) is realloc(p, n * size) that fails on overflow.
void redirectReallocArray(CallInst &Call) {
  IRBuilder<> B(&Call);
  Value *Product =
      B.CreateBinaryIntrinsic(Intrinsic::umul_with_overflow, Call.getArgOperand(1), Call.getArgOperand(2));
  Value *Size = B.CreateSelect(B.CreateExtractValue(Product, 1), B.getInt64(UINT64_MAX),
                               B.CreateExtractValue(Product, 0));
  FunctionType *Type = FunctionType::get(B.getPtrTy(), {B.getPtrTy(), B.getInt64Ty()}, false);
  CallInst *New = B.CreateCall(Call.getModule()->getOrInsertFunction("cofuse_hook_realloc", Type),
                               {Call.getArgOperand(0), Size});
  New->setDebugLoc(Call.getDebugLoc());
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

} // namespace

void replaceHooks(Module &M, Effects &E) {
  // A function that the program itself defines keeps its meaning, and so does one whose address is taken.
  auto Each = [&](StringRef Name, unsigned Args, auto Replace) {
    Function *F = M.getFunction(Name);
    if (!F || !F->isDeclaration() || !E.isSystem(*F) || F->isVarArg() || F->arg_size() != Args)
      return;
    for (User *U : make_early_inc_range(F->users()))
      if (auto *Call = dyn_cast<CallInst>(U))
        if (Call->getCalledOperand() == F && Call->getFunctionType() == F->getFunctionType())
          Replace(*Call);
  };
  Each("free", 1, [](CallInst &Call) { redirect(Call, "cofuse_hook_free"); });
  Each("realloc", 2, [](CallInst &Call) { redirect(Call, "cofuse_hook_realloc"); });
  Each("reallocarray", 3, redirectReallocArray);
  Each("fopen", 2, [](CallInst &Call) { redirect(Call, "cofuse_hook_fopen"); });
  Each("fopen64", 2, [](CallInst &Call) { redirect(Call, "cofuse_hook_fopen"); });
}

void collectAccesses(Function &F, const SystemTable &Sys, Effects &E, AccessList &List) {
  Collector(F, Sys, E, List).run();
}

} // namespace cofuse
