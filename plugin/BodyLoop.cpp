// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sequential loops inside the body.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

/// E yields the same value in every iteration of Loop.
bool Compiler::stableIn(const Expr *E, const Stmt *Loop) {
  if (E->HasSideEffects(C))
    return false;
  WriteSet W = Scan.writes(Loop);
  llvm::DenseSet<const VarDecl *> Inside;
  std::function<bool(const Stmt *)> Stable = [&](const Stmt *S) {
    if (!S)
      return true;
    if (isa<CallExpr>(S))
      return false;
    if (auto *R = dyn_cast<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
        if (W.contains(V))
          return false;
    if (auto *K = dyn_cast<CastExpr>(S))
      if (K->getCastKind() == CK_LValueToRValue && !isa<DeclRefExpr>(K->getSubExpr()->IgnoreParens()) &&
          W.mayWrite(K->getSubExpr()->getType()))
        return false;
    for (const Stmt *X : S->children())
      if (!Stable(X))
        return false;
    return true;
  };
  return Stable(E);
}

/// Bounds that are affine in outer counters are extreme at the ends of the ranges of those. Describes the
/// loop by the hull of its iterations over the whole nest; returns the name of the counter's lowest value
/// if that is not the first one: iterations are then numbered from there.
std::string Compiler::hull(const CanonicalLoop &L, const Poly &First, const Poly &Bound, InnerLoop &Info) {
  auto Bounded = [&](const Poly &P) {
    Poly Rest;
    std::map<unsigned, Poly> Coef;
    if (!P.split(Symbols, Rest, Coef))
      return false;
    for (auto &T : Coef)
      if (Symbols[T.first].K == Symbol::Inner && Inners[Symbols[T.first].Index].Trip.empty())
        return false;
    return true;
  };
  if (!Bounded(First) || !Bounded(Bound))
    return "";
  if (L.Common->isUnsignedIntegerOrEnumerationType() && C.getTypeSize(L.Common) == 64) {
    // Polynomials are signed: a bound that has wrapped below zero is left to the plain loop.
    Checks.push_back({First, 0, INT64_MAX});
    Checks.push_back({Bound, 0, INT64_MAX});
  }
  std::string N = std::to_string(Hulls.size());
  bool Up = L.StepConst > 0, Moves = First.uses(Symbols, true, true);
  bool Strict = L.Rel != BO_LE && L.Rel != BO_GE;
  std::string Low = "cofuse_h" + N, Min, Max;
  if (Up) {
    Min = "cofuse_fl" + N;
    Max = "cofuse_gh" + N + (Strict ? " - 1L" : "");
  } else {
    Min = "cofuse_gl" + N + (Strict ? " + 1L" : "");
    Max = "cofuse_fh" + N;
  }
  // The runtime starts from the address of iteration 0: that is the lowest one.
  int64_t Abs = Moves ? 1 : Up ? L.StepConst : -L.StepConst;
  std::string Step = std::to_string(Abs) + "L", Trip = "cofuse_w" + N;
  Hulls.push_back(extremesText(First, "cofuse_fl" + N, "cofuse_fh" + N) +
                  extremesText(Bound, "cofuse_gl" + N, "cofuse_gh" + N) + "const long " + Trip + " = " + Max +
                  " < " + Min + " ? 0L : (" + Max + " - (" + Min + ")) / " + Step + " + 1L, " + Low + " = " +
                  (Up || Moves ? Min : Max + " - (" + Trip + " - 1L) * " + Step) + "; ");
  for (const char *Name : {"cofuse_fl", "cofuse_fh", "cofuse_gl", "cofuse_gh", "cofuse_w", "cofuse_h"})
    Hulls.back() += "(void)" + (Name + N) + "; "; // not every hull needs all of them
  Info.Trip = "cofuse_w" + N;
  Info.Hull = true;
  return Moves || !Up ? Low : "";
}

/// A loop whose trip count is known before it starts.
bool Compiler::countedLoop(const CanonicalLoop &L) {
  int Type = typeCode(C, L.Counter->getType());
  std::string T = valueType(Type), CT = valueType(typeCode(C, L.Common));
  bool CU = L.Common->isUnsignedIntegerOrEnumerationType();
  size_t OldChecks = Checks.size();
  auto FirstPoly = poly(L.First), BoundPoly = poly(L.Bound);
  if (!FirstPoly || !BoundPoly)
    Checks.resize(OldChecks);
  if (bad())
    return false;
  InnerLoop Info;
  std::string Low;
  auto Text = [&](const Poly &P) { return P.text([&](unsigned Id) { return symbolText(Id); }); };
  if (FirstPoly && BoundPoly) {
    if (!FirstPoly->uses(Symbols, true, true) && !BoundPoly->uses(Symbols, true, true)) {
      Info.Trip = tripExpression(
          C, L, "(" + typeText(C, L.Counter->getType()) + ")(" + Text(*FirstPoly) + ")", Text(*BoundPoly));
    } else if (!CU && C.getTypeSize(L.Common) >= C.getTypeSize(L.Counter->getType())) {
      Poly Distance = *BoundPoly; // 'for (k = i; k < i + 5; k++)'
      Distance.add(*FirstPoly, -1);
      if (!Distance.uses(Symbols, true, true))
        Info.Trip = tripExpression(C, L, "0", Text(Distance));
    }
    if (Info.Trip.empty())
      Low = hull(L, *FirstPoly, *BoundPoly, Info);
    int64_t F, B;
    if (FirstPoly->isConstant(F) && BoundPoly->isConstant(B) && (!CU || (F >= 0 && B >= 0)))
      Info.Positive = L.Rel == BO_LT   ? F < B
                      : L.Rel == BO_LE ? F <= B
                      : L.Rel == BO_GT ? F > B
                      : L.Rel == BO_GE ? F >= B
                                       : F != B;
  }
  Value First = convert(emit(L.First), L.First->getType(), L.Counter->getType(), L.First);
  Value FirstC = convert(First, L.Counter->getType(), L.Common, L.First);
  Value Bound = convert(emit(L.Bound), L.Bound->getType(), L.Common, L.Bound);
  if (bad())
    return false;
  bool Up = L.Rel == BO_NE ? L.StepConst > 0 : L.increasing();
  Value Distance = op(
      "arith.subi " + (Up ? Bound.Name + ", " + FirstC.Name : FirstC.Name + ", " + Bound.Name) + " : " + CT,
      CT);
  Distance = toI64(Distance, true);
  int64_t Step = L.StepConst < 0 ? -L.StepConst : L.StepConst;
  Value One = integer(1, "i64"), Zero = integer(0, "i64"), Trip = Distance;
  bool Strict = L.Rel == BO_LT || L.Rel == BO_GT;
  if (Step != 1) {
    if (Strict)
      Trip = op("arith.subi " + Trip.Name + ", " + One.Name + " : i64", "i64");
    Trip = op("arith.divui " + Trip.Name + ", " + integer(Step, "i64").Name + " : i64", "i64");
  }
  if (L.Rel == BO_LE || L.Rel == BO_GE || (Strict && Step != 1))
    Trip = op("arith.addi " + Trip.Name + ", " + One.Name + " : i64", "i64");
  if (L.Rel != BO_NE) {
    Value Runs = compare(L.Rel, FirstC, Bound, CU);
    Trip = op("arith.select " + Runs.Name + ", " + Trip.Name + ", " + Zero.Name + " : i64", "i64");
  }

  unsigned Id = Inners.size();
  Inners.push_back(Info);
  unsigned J = jumps(L.For->getBody());
  bool Leaves = J & (JumpBreaks | JumpReturns);
  LoopFrame Frame;
  if (J & JumpSkips)
    Frame.Skip = local(COFUSE_U8);
  if (J & JumpBreaks) {
    Frame.Break = local(COFUSE_U8);
    setFlag(Frame.Break, false);
  }
  std::string CountSlot, Count = fresh();
  if (Leaves) {
    CountSlot = local(COFUSE_I64);
    line("llvm.store " + Zero.Name + ", " + CountSlot + " : i64, !llvm.ptr");
    line("scf.while : () -> () {");
    ++Indent;
    Value N = op("llvm.load " + CountSlot + " : !llvm.ptr -> i64", "i64");
    Value Go = compare(BO_LT, N, Trip, false);
    for (const std::string &Flag :
         {Frame.Break, (J & JumpReturns) && !CallFrames.empty() ? CallFrames.back().Done : ""})
      if (!Flag.empty())
        Go = op("arith.andi " + Go.Name + ", " + flagClear(Flag).Name + " : i1", "i1");
    line("scf.condition(" + Go.Name + ")");
    --Indent;
    line("} do {");
    ++Indent;
    line(Count + " = llvm.load " + CountSlot + " : !llvm.ptr -> i64");
  } else {
    line("scf.for " + Count + " = " + Zero.Name + " to " + Trip.Name + " step " + One.Name + " : i64 {");
    ++Indent;
  }
  Inners[Id].Count = Count;
  // counter = first + count * step, in the counter's type
  Value N;
  N.Name = Count;
  N.Type = "i64";
  if (T != "i64")
    N = op("arith.trunci " + Count + " : i64 to " + T, T);
  if (L.StepConst != 1)
    N = op("arith.muli " + N.Name + ", " + integer(L.StepConst, T).Name + " : " + T, T);
  Value Counter = op("arith.addi " + First.Name + ", " + N.Name + " : " + T, T);
  auto Old = Bindings.find(L.Counter) == Bindings.end() ? std::optional<Binding>() : Bindings[L.Counter];
  Binding B;
  B.K = Binding::Inner;
  B.Index = Id;
  B.Type = Type;
  B.Slot = Counter.Name;
  if (!Low.empty()) { // iterations are numbered from the lowest value of the counter anywhere
    Poly Lowest = Poly::symbol(Symbols.intern(Symbol::Invariant, 0, Low));
    bool Moves = FirstPoly->uses(Symbols, true, true);
    Value From = N, Minus;
    if (Moves) {
      From = toI64(Counter, L.Counter->getType()->isUnsignedIntegerOrEnumerationType());
      Minus.Name = emitPoly(Lowest);
    } else {
      From = captured(COFUSE_I64, Info.Trip + " - 1L");
      Minus.Name = Count;
    }
    Inners[Id].Count = op("arith.subi " + From.Name + ", " + Minus.Name + " : i64", "i64").Name;
    B.Value = Lowest.add(Poly::symbol(Symbols.intern(Symbol::Inner, Id, "")), Moves ? 1 : Step);
  } else if (FirstPoly)
    B.Value = Poly(*FirstPoly).add(Poly::symbol(Symbols.intern(Symbol::Inner, Id, "")), L.StepConst);
  Bindings[L.Counter] = B;
  if (!Frame.Skip.empty())
    setFlag(Frame.Skip, false);
  Regions.push_back({static_cast<int>(Id), {}});
  if (Leaves)
    Regions.push_back({-1, {}});
  auto Before = Written;
  LoopFrames.push_back(Frame);
  bool Ok = stmt(L.For->getBody());
  LoopFrames.pop_back();
  Written = Before;
  if (Leaves)
    Regions.pop_back();
  Regions.pop_back();
  std::string Final;
  if (Leaves) { // a break leaves the counter where it is
    Value Next = op("arith.addi " + Count + ", " + integer(1, "i64").Name + " : i64", "i64");
    if (!Frame.Break.empty()) {
      Value Go = flagClear(Frame.Break);
      Next = op("arith.select " + Go.Name + ", " + Next.Name + ", " + Count + " : i64", "i64");
    }
    line("llvm.store " + Next.Name + ", " + CountSlot + " : i64, !llvm.ptr");
    line("scf.yield");
  }
  --Indent;
  line("}");
  Bindings.erase(L.Counter);
  if (Old) { // counter declared outside this loop: it keeps its last value
    Bindings[L.Counter] = *Old;
    Value Last = Trip;
    if (Leaves)
      Last = op("llvm.load " + CountSlot + " : !llvm.ptr -> i64", "i64");
    if (T != "i64")
      Last = op("arith.trunci " + Last.Name + " : i64 to " + T, T);
    if (L.StepConst != 1)
      Last = op("arith.muli " + Last.Name + ", " + integer(L.StepConst, T).Name + " : " + T, T);
    Last = op("arith.addi " + First.Name + ", " + Last.Name + " : " + T, T);
    store({Location::Local, -1, "", Old->Slot, Type}, Last);
  }
  return Ok && !bad();
}

bool Compiler::generalLoop(const Stmt *Init, const Expr *Cond, const Expr *Inc, const Stmt *LoopBody,
                           bool TestFirst) {
  if (Init && !stmt(Init))
    return false;
  unsigned J = jumps(LoopBody);
  LoopFrame Frame;
  if (J & JumpSkips)
    Frame.Skip = local(COFUSE_U8);
  if (J & JumpBreaks) {
    Frame.Break = local(COFUSE_U8);
    setFlag(Frame.Break, false);
  }
  std::vector<std::string> Stops;
  if (!Frame.Break.empty())
    Stops.push_back(Frame.Break);
  if ((J & JumpReturns) && !CallFrames.empty())
    Stops.push_back(CallFrames.back().Done);
  auto Before = Written;
  Regions.push_back({-1, {}});
  auto RunBody = [&] {
    if (!Frame.Skip.empty())
      setFlag(Frame.Skip, false);
    LoopFrames.push_back(Frame);
    bool Ok = stmt(LoopBody);
    LoopFrames.pop_back();
    if (!Ok)
      return false;
    if (Inc) {
      for (const std::string &S : Stops)
        openIf(flagClear(S));
      emit(Inc);
      for (size_t I = 0; I < Stops.size(); ++I)
        closeIf();
    }
    return !bad();
  };
  auto Test = [&] { // the condition is evaluated only if no flag stops the loop
    std::string Go = local(COFUSE_U8);
    setFlag(Go, false);
    for (const std::string &S : Stops)
      openIf(flagClear(S));
    Value V = Cond ? condition(Cond) : integer(1, "i1");
    if (bad())
      return;
    Value Wide = op("arith.extui " + V.Name + " : i1 to i8", "i8");
    line("llvm.store " + Wide.Name + ", " + Go + " : i8, !llvm.ptr");
    for (size_t I = 0; I < Stops.size(); ++I)
      closeIf();
    Value R = op("llvm.load " + Go + " : !llvm.ptr -> i8", "i8");
    R = op("arith.trunci " + R.Name + " : i8 to i1", "i1");
    line("scf.condition(" + R.Name + ")");
  };
  line("scf.while : () -> () {");
  ++Indent;
  bool Ok = TestFirst || RunBody();
  if (Ok)
    Test();
  --Indent;
  line("} do {");
  ++Indent;
  if (Ok && TestFirst)
    Ok = RunBody();
  line("scf.yield");
  --Indent;
  line("}");
  Regions.pop_back();
  Written = Before;
  return Ok && !bad();
}

bool Compiler::forStmt(const ForStmt *S) {
  if (S->getConditionVariable())
    return fail(DiagId::StmtKind, S, "condition variable");
  CanonicalLoop L;
  LoopFault Fault{};
  if (parseCanonical(C, S, L, Fault) && L.StepConst &&
      (L.Rel != BO_NE || L.StepConst == 1 || L.StepConst == -1) &&
      !Scan.writes(S->getBody()).contains(L.Counter) && stableIn(L.Bound, S)) {
    if (!L.DeclaredInside) {
      auto It = Bindings.find(L.Counter);
      if (It == Bindings.end() && IsTask)
        return generalLoop(S->getInit(), S->getCond(), S->getInc(), S->getBody(), true);
      if (It == Bindings.end())
        return fail(DiagId::SharedWrite, S->getInit(), L.Counter->getName());
      if (It->second.K != Binding::Local)
        return fail(DiagId::CounterWrite, S->getInit(), L.Counter->getName());
    }
    return countedLoop(L);
  }
  return generalLoop(S->getInit(), S->getCond(), S->getInc(), S->getBody(), true);
}

} // namespace cofuse
