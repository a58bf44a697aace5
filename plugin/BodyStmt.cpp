// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements of the body. Jumps become flags: after a statement that may continue, break or return,
// the rest of the block runs under a test of the flags.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

unsigned jumps(const Stmt *S, bool InLoop, bool InSwitch) {
  if (!S || isa<Expr>(S))
    return 0;
  if (isa<ContinueStmt>(S))
    return InLoop ? 0 : JumpSkips;
  if (isa<BreakStmt>(S))
    return InLoop || InSwitch ? 0 : JumpSkips | JumpBreaks;
  if (isa<ReturnStmt>(S))
    return JumpReturns;
  bool Loop = isa<ForStmt>(S) || isa<WhileStmt>(S) || isa<DoStmt>(S);
  unsigned R = 0;
  for (const Stmt *X : S->children())
    R |= jumps(X, InLoop || Loop, InSwitch || isa<SwitchStmt>(S));
  return R;
}

void Compiler::setFlag(const std::string &Slot, bool On) {
  line("llvm.store " + integer(On, "i8").Name + ", " + Slot + " : i8, !llvm.ptr");
}

Value Compiler::flagClear(const std::string &Slot) {
  Value V = op("llvm.load " + Slot + " : !llvm.ptr -> i8", "i8");
  Value Z = integer(0, "i8");
  return op("arith.cmpi eq, " + V.Name + ", " + Z.Name + " : i8", "i1");
}

/// S always ends in continue, break or return.
static bool alwaysSkips(const Stmt *S) {
  auto *Block = dyn_cast<CompoundStmt>(S);
  if (Block)
    return !Block->body_empty() && alwaysSkips(Block->body_back());
  return isa<ContinueStmt>(S) || isa<BreakStmt>(S) || isa<ReturnStmt>(S);
}

bool Compiler::sequence(ArrayRef<const Stmt *> List) {
  for (size_t I = 0; I < List.size(); ++I) {
    unsigned J = jumps(List[I]);
    if (!stmt(List[I]))
      return false;
    if (!J || I + 1 == List.size())
      continue;
    Value Live;
    bool Any = false;
    auto And = [&](const std::string &Slot) {
      if (Slot.empty())
        return;
      Value F = flagClear(Slot);
      Live = Any ? op("arith.andi " + Live.Name + ", " + F.Name + " : i1", "i1") : F;
      Any = true;
    };
    if (J & JumpSkips)
      And(LoopFrames.back().Skip);
    if ((J & JumpReturns) && !CallFrames.empty())
      And(CallFrames.back().Done);
    if (!Any)
      continue;
    auto Before = Written;
    // Behind 'if (j == 0) continue;' the condition is false.
    auto *If = dyn_cast<IfStmt>(List[I]);
    openIf(Live, If && !If->getElse() && alwaysSkips(If->getThen()) ? factsOf(If->getCond(), false)
                                                                    : std::vector<Fact>());
    bool Ok = sequence(List.drop_front(I + 1));
    closeIf();
    Written = Before;
    return Ok;
  }
  return !bad();
}

bool Compiler::initialise(const Address &A, QualType T, const Expr *Init) {
  if (auto *Arr = C.getAsConstantArrayType(T)) {
    auto *List = dyn_cast<InitListExpr>(Init->IgnoreParens());
    if (!List)
      return fail(DiagId::LocalKind, Init, "array");
    int64_t Size = C.getTypeSizeInChars(Arr->getElementType()).getQuantity();
    uint64_t N = Arr->getSize().getZExtValue();
    for (uint64_t I = 0; I < N; ++I) {
      Address E = A;
      E.Offset.add(Poly::constant(Size * I));
      const Expr *X = I < List->getNumInits() ? List->getInit(I) : List->getArrayFiller();
      if (!X || !initialise(E, Arr->getElementType(), X))
        return X ? false : fail(DiagId::LocalKind, Init, "array");
    }
    return true;
  }
  if (T->isAnyComplexType()) {
    ComplexValue V = emitComplex(Init);
    Location P[2];
    Address Im = A;
    if (bad())
      return false;
    int Half = halfType(complexCode(C, T));
    Im.Offset.add(Poly::constant(typeBytes(Half)));
    if (!memoryPlace(Init, A, Half, P[0]) || !memoryPlace(Init, Im, Half, P[1]))
      return false;
    storeComplex(P, V);
    return !bad();
  }
  Value V;
  int Type = typeCode(C, T);
  if (Type < 0)
    return fail(DiagId::TypeKind, Init, T.getAsString());
  if (isa<ImplicitValueInitExpr>(Init)) {
    std::string VT = valueType(Type);
    V = VT[0] == 'f' ? op("arith.constant 0.0 : " + VT, VT) : integer(0, VT);
  } else {
    if (auto *List = dyn_cast<InitListExpr>(Init)) {
      if (List->getNumInits() != 1)
        return fail(DiagId::LocalKind, Init, "scalar");
      Init = List->getInit(0);
    }
    V = emit(Init);
  }
  Location P;
  if (bad() || !memoryPlace(Init, A, Type, P))
    return false;
  store(P, V);
  return !bad();
}

bool Compiler::localVariable(const VarDecl *V) {
  QualType T = V->getType();
  if (V->isStaticLocal())
    return failAt(DiagId::StaticLocal, V->getLocation(), {}, V->getName());
  if (!V->hasLocalStorage())
    return true; // extern declaration
  if (T.isVolatileQualified() || T->isAtomicType())
    return failAt(DiagId::Volatile, V->getLocation(), {});
  Binding B;
  if (T->isPointerType()) {
    if (Writes.contains(V) || !V->getInit())
      return failAt(DiagId::PointerWrite, V->getLocation(), {}, V->getName());
    B.K = Binding::Pointer;
    if (!pointerValue(V->getInit(), B.Target))
      return false;
    Bindings[V] = B;
    return true;
  }
  QualType Elem = T;
  int64_t Count = 1;
  while (auto *A = C.getAsConstantArrayType(Elem)) {
    Count *= A->getSize().getZExtValue();
    Elem = A->getElementType();
  }
  B.K = Binding::Local;
  B.Type = typeCode(C, Elem);
  bool Complex = Elem->isAnyComplexType();
  if (Complex)
    B.Type = complexCode(C, Elem);
  if (B.Type < 0 || Count < 1 || Count > (1 << 16))
    return failAt(DiagId::LocalKind, V->getLocation(), {}, V->getName());
  B.Slot = Complex ? localComplex(B.Type, Count) : local(B.Type, Count);
  B.Target.Slot = B.Slot;
  const Expr *Init = V->getInit();
  if (Init && T->isArrayType()) {
    Bindings[V] = B;
    return initialise(B.Target, T, Init);
  }
  if (Init) {
    size_t Old = Checks.size();
    if (T->isIntegerType() && !Writes.contains(V))
      B.Value = poly(Init);
    if (!B.Value)
      Checks.resize(Old);
    if (bad() || !initialise(B.Target, T, Init))
      return false;
  }
  Bindings[V] = B;
  return true;
}

bool Compiler::declaration(const DeclStmt *S) {
  for (const Decl *X : S->decls())
    if (auto *V = dyn_cast<VarDecl>(X))
      if (!localVariable(V))
        return false;
  return true;
}

bool Compiler::ifStmt(const IfStmt *S) {
  bool Known;
  if (S->getCond()->EvaluateAsBooleanCondition(Known, C) && !S->getCond()->HasSideEffects(C)) {
    const Stmt *Live = Known ? S->getThen() : S->getElse();
    return !Live || stmt(Live);
  }
  Value Cond = condition(S->getCond());
  if (bad())
    return false;
  auto Before = Written;
  openIf(Cond, factsOf(S->getCond(), true));
  bool Ok = stmt(S->getThen());
  auto AfterThen = Written;
  Written = Before;
  if (Ok && S->getElse()) {
    --Indent;
    line("} else {");
    ++Indent;
    Regions.back().Facts = factsOf(S->getCond(), false);
    Ok = stmt(S->getElse());
  }
  closeIf();
  std::set<int> Both;
  std::set_intersection(AfterThen.begin(), AfterThen.end(), Written.begin(), Written.end(),
                        std::inserter(Both, Both.end()));
  Written = Both;
  return Ok && !bad();
}

bool Compiler::returnStmt(const ReturnStmt *S) {
  if (CallFrames.empty())
    return fail(DiagId::LeavesNest, S, "return");
  const CallFrame F = CallFrames.back(); // a copy: calls in the value push frames
  if (F.Type == COFUSE_C32 || F.Type == COFUSE_C64) {
    if (!S->getRetValue())
      return fail(DiagId::StmtKind, S, "return");
    ComplexValue V = emitComplex(S->getRetValue());
    Location P[2];
    slotPlaces(F.Value, F.Type, P);
    storeComplex(P, V);
  } else if (S->getRetValue()) {
    Value V = emit(S->getRetValue());
    if (bad())
      return false;
    if (F.Type >= 0)
      store({Location::Local, -1, "", F.Value, F.Type}, V);
  }
  if (!F.Done.empty())
    setFlag(F.Done, true);
  return !bad();
}

bool Compiler::jumpStmt(const Stmt *S) {
  bool Continue = isa<ContinueStmt>(S);
  size_t First = CallFrames.empty() ? 0 : CallFrames.back().LoopDepth; // frames of the current function
  size_t I = LoopFrames.size();
  while (I > First && Continue && LoopFrames[I - 1].Switch)
    --I;
  bool Outermost = CallFrames.empty() && I == 1; // the construct itself
  if (I <= First || (Outermost && (!Continue || IsTask)))
    return fail(DiagId::LeavesNest, S, Continue ? "continue" : "break");
  for (size_t K = I; K <= LoopFrames.size(); ++K) // a continue leaves the switches around it as well
    if (!LoopFrames[K - 1].Skip.empty())
      setFlag(LoopFrames[K - 1].Skip, true);
  if (!Continue && !LoopFrames[I - 1].Break.empty())
    setFlag(LoopFrames[I - 1].Break, true);
  return true;
}

/// A switch runs its labelled segments in order, each if a label at or before it matched and nothing
/// has left the switch.
bool Compiler::switchStmt(const SwitchStmt *S) {
  auto *Block = dyn_cast<CompoundStmt>(S->getBody());
  if (!Block || S->getInit() || S->getConditionVariable())
    return fail(DiagId::StmtKind, S, "switch");
  struct Segment {
    std::vector<const SwitchCase *> Labels;
    std::vector<const Stmt *> List;
  };
  std::vector<Segment> Segments;
  size_t Labels = 0, All = 0;
  for (const Stmt *X : Block->body()) {
    if (isa<SwitchCase>(X)) {
      if (!Segments.empty())
        for (const Stmt *Y : Segments.back().List)
          if (isa<DeclStmt>(Y)) // its scope would reach into the next segment
            return fail(DiagId::StmtKind, Y, "declaration before a case label");
      Segments.emplace_back();
      while (auto *Label = dyn_cast<SwitchCase>(X)) {
        Segments.back().Labels.push_back(Label);
        ++Labels;
        X = Label->getSubStmt();
      }
    } else if (Segments.empty()) {
      return fail(DiagId::StmtKind, X, "statement before the first case");
    }
    Segments.back().List.push_back(X);
  }
  for (const SwitchCase *X = S->getSwitchCaseList(); X; X = X->getNextSwitchCase())
    ++All;
  if (All != Labels)
    return fail(DiagId::StmtKind, S, "switch with a label inside a statement");

  Value V = emit(S->getCond());
  if (bad())
    return false;
  bool U = S->getCond()->getType()->isUnsignedIntegerOrEnumerationType();
  Value None = integer(1, "i1");
  std::map<const SwitchCase *, Value> Match;
  for (const Segment &G : Segments)
    for (const SwitchCase *X : G.Labels) {
      auto *Case = dyn_cast<CaseStmt>(X);
      if (!Case)
        continue;
      Value M = compare(BO_EQ, V, integer(Case->getLHS()->EvaluateKnownConstInt(C), V.Type), U);
      if (Case->getRHS()) { // GNU range
        Value Lo = compare(BO_GE, V, integer(Case->getLHS()->EvaluateKnownConstInt(C), V.Type), U);
        Value Hi = compare(BO_LE, V, integer(Case->getRHS()->EvaluateKnownConstInt(C), V.Type), U);
        M = op("arith.andi " + Lo.Name + ", " + Hi.Name + " : i1", "i1");
      }
      Match[X] = M;
      Value Not = op("arith.xori " + M.Name + ", " + integer(1, "i1").Name + " : i1", "i1");
      None = op("arith.andi " + None.Name + ", " + Not.Name + " : i1", "i1");
    }
  LoopFrame Frame;
  Frame.Switch = true;
  Frame.Skip = local(COFUSE_U8);
  setFlag(Frame.Skip, false);
  LoopFrames.push_back(Frame);
  auto Before = Written;
  Value On = integer(0, "i1");
  bool Ok = true;
  for (const Segment &G : Segments) {
    for (const SwitchCase *X : G.Labels)
      On = op("arith.ori " + On.Name + ", " + (isa<CaseStmt>(X) ? Match[X].Name : None.Name) + " : i1", "i1");
    Value Go = op("arith.andi " + On.Name + ", " + flagClear(Frame.Skip).Name + " : i1", "i1");
    if (!CallFrames.empty() && !CallFrames.back().Done.empty())
      Go = op("arith.andi " + Go.Name + ", " + flagClear(CallFrames.back().Done).Name + " : i1", "i1");
    openIf(Go);
    Ok = sequence(G.List);
    closeIf();
    Written = Before;
    if (!Ok)
      break;
  }
  LoopFrames.pop_back();
  return Ok && !bad();
}

bool Compiler::stmt(const Stmt *S) {
  if (bad())
    return false;
  if (auto *E = dyn_cast<Expr>(S)) {
    emit(E);
    return !bad();
  }
  if (auto *Block = dyn_cast<CompoundStmt>(S)) {
    std::vector<const Stmt *> List(Block->body_begin(), Block->body_end());
    return sequence(List);
  }
  if (isa<NullStmt>(S))
    return true;
  if (auto *A = dyn_cast<AttributedStmt>(S))
    return stmt(A->getSubStmt());
  if (auto *DS = dyn_cast<DeclStmt>(S))
    return declaration(DS);
  if (auto *I = dyn_cast<IfStmt>(S)) {
    if (I->getInit() || I->getConditionVariable())
      return fail(DiagId::StmtKind, S, "if with declaration");
    return ifStmt(I);
  }
  if (auto *F = dyn_cast<ForStmt>(S))
    return forStmt(F);
  if (auto *W = dyn_cast<WhileStmt>(S))
    return generalLoop(nullptr, W->getCond(), nullptr, W->getBody(), true);
  if (auto *W = dyn_cast<DoStmt>(S))
    return generalLoop(nullptr, W->getCond(), nullptr, W->getBody(), false);
  if (isa<ContinueStmt>(S) || isa<BreakStmt>(S))
    return jumpStmt(S);
  if (auto *Sw = dyn_cast<SwitchStmt>(S))
    return switchStmt(Sw);
  if (auto *R = dyn_cast<ReturnStmt>(S))
    return returnStmt(R);
  if (isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S))
    return fail(DiagId::LeavesNest, S, "goto");
  return fail(DiagId::StmtKind, S, S->getStmtClassName());
}

} // namespace cofuse
