// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduction clauses: targets, and proof that the body uses them only to combine.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

static int opCode(StringRef Op) {
  if (Op == "+" || Op == "-")
    return COFUSE_RED_ADD;
  if (Op == "*")
    return COFUSE_RED_MUL;
  if (Op == "&")
    return COFUSE_RED_AND;
  if (Op == "|")
    return COFUSE_RED_OR;
  if (Op == "^")
    return COFUSE_RED_XOR;
  if (Op == "&&")
    return COFUSE_RED_LAND;
  if (Op == "||")
    return COFUSE_RED_LOR;
  return Op == "min" ? COFUSE_RED_MIN : COFUSE_RED_MAX;
}

/// Same expression: equal text over the same variables, no side effects.
bool Compiler::sameExpr(const Expr *A, const Expr *B) const {
  A = A->IgnoreParenImpCasts();
  B = B->IgnoreParenImpCasts();
  llvm::FoldingSetNodeID X, Y;
  A->Profile(X, C, true);
  B->Profile(Y, C, true);
  return X == Y && !A->HasSideEffects(C);
}

int Compiler::reductionOf(const Expr *E) const {
  E = E->IgnoreParenImpCasts();
  for (size_t I = 0; I < Reductions.size(); ++I) {
    const ReductionInfo &R = Reductions[I];
    auto *Ref = dyn_cast<DeclRefExpr>(E);
    if (R.Section ? inSection(E, R)
        : R.Var   ? (Ref && Ref->getDecl() == R.Var)
                  : (!Ref && sameExpr(E, R.Target)))
      return I;
  }
  return -1;
}

bool Compiler::usesReduction(const Stmt *S) const {
  if (!S)
    return false;
  if (auto *E = dyn_cast<Expr>(S))
    if (reductionOf(E) >= 0 ||
        llvm::any_of(Reductions, [&](const ReductionInfo &R) { return R.Section && namesTarget(E, R); }))
      return true;
  for (const Stmt *X : S->children())
    if (usesReduction(X))
      return true;
  return false;
}

/// The lvalue E does not move while the loop runs: everything but what it holds is invariant.
bool Compiler::fixedAddress(const Expr *E) {
  E = E->IgnoreParens();
  auto Pointer = [&](const Expr *P) { // an array in place, or the value of a pointer
    auto *K = dyn_cast<ImplicitCastExpr>(P->IgnoreParens());
    return K && K->getCastKind() == CK_ArrayToPointerDecay ? fixedAddress(K->getSubExpr()) : invariant(P);
  };
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E))
    return Pointer(S->getBase()) && invariant(S->getIdx());
  if (auto *M = dyn_cast<MemberExpr>(E))
    return M->isArrow() ? Pointer(M->getBase()) : fixedAddress(M->getBase());
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return U->getOpcode() == UO_Deref && Pointer(U->getSubExpr());
  auto *Ref = dyn_cast<DeclRefExpr>(E);
  auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && !Bindings.count(V) && !insideNest(V);
}

/// E is the same reduction variable, or the same element of a section, as the target of an update.
bool Compiler::sameTarget(const Expr *E, const Expr *Target, int R) const {
  return reductionOf(E) == R && (!Reductions[R].Section || sameExpr(Target, E));
}

bool Compiler::bindReductions() {
  for (const ListItem &Item : D.Reductions) {
    const Expr *E = Marker->getArg(Item.Arg)->IgnoreParenImpCasts();
    ReductionInfo R;
    R.Target = E;
    R.Text = exprText(C, E);
    R.Clause = Item.Op;
    R.Op = opCode(Item.Op);
    auto *Ref = dyn_cast<DeclRefExpr>(E);
    R.Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    QualType T = E->getType();
    bool Bits = Item.Op == "&" || Item.Op == "|" || Item.Op == "^";
    if (Item.Rank) {
      if ((Ref && !R.Var) || !bindSection(Item, R))
        return bad() ? false : fail(DiagId::RedTarget, E, R.Text);
      if (Bits && R.Element->isFloatingType())
        return fail(DiagId::RedType, E, Item.Op, R.Element.getAsString());
      Reductions.push_back(R);
      continue;
    }
    R.Type = T->isAnyComplexType() && R.Op == COFUSE_RED_ADD && complexCode(C, T) >= 0
                 ? halfType(complexCode(C, T))
                 : typeCode(C, T);
    if ((Ref && !R.Var) || T->isArrayType() || T->isPointerType() || T.isVolatileQualified())
      return fail(DiagId::RedTarget, E, R.Text);
    if (R.Type < 0)
      return fail(DiagId::RedType, E, Item.Op, T.getAsString());
    if (Bits && T->isFloatingType())
      return fail(DiagId::RedType, E, Item.Op, T.getAsString());
    if (!R.Var) {
      const Expr *X = E->IgnoreParens();
      auto *U = dyn_cast<UnaryOperator>(X);
      bool Shape = isa<ArraySubscriptExpr>(X) || isa<MemberExpr>(X) || (U && U->getOpcode() == UO_Deref);
      bool Fixed = Shape && fixedAddress(X);
      if (bad())
        return false;
      if (!Shape || !Fixed)
        return fail(DiagId::RedTarget, E, R.Text);
    } else if (Bindings.count(R.Var)) {
      return fail(DiagId::RedTarget, E, R.Text);
    }
    Reductions.push_back(R);
    if (T->isAnyComplexType()) {
      Reductions.back().Part = "__real__ ";
      Reductions.push_back(R);
      Reductions.back().Part = "__imag__ ";
    }
  }
  return checkSections();
}

/// 'Cond ? NewValue : m' (or if (Cond) m = NewValue) computes a minimum or maximum of m.
bool Compiler::isExtremum(const Expr *Cond, const Expr *Target, const Expr *NewValue, int Index,
                          bool Negate) {
  const ReductionInfo &R = Reductions[Index];
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (!B || !B->isRelationalOp())
    return fail(DiagId::RedUse, Cond, R.Text, R.Clause);
  auto Op = B->getOpcode();
  const Expr *L = B->getLHS(), *X = B->getRHS(); // want: m on the right
  if (sameTarget(L, Target, Index)) {
    std::swap(L, X);
    Op = BinaryOperator::reverseComparisonOp(Op);
  }
  if (!sameTarget(X, Target, Index) || usesReduction(L) || !sameExpr(L, NewValue) ||
      !freeSubscripts(Target, Index))
    return fail(DiagId::RedUse, Cond, R.Text, R.Clause);
  bool Greater = Op == BO_GT || Op == BO_GE, Strict = Op == BO_GT || Op == BO_LT;
  if (Negate) {
    Greater = !Greater;
    Strict = !Strict;
  }
  if (Greater != (R.Op == COFUSE_RED_MAX || R.Op == COFUSE_RED_FMAX))
    return fail(DiagId::RedUse, Cond, R.Text, R.Clause);
  if (R.Type == COFUSE_F32 || R.Type == COFUSE_F64) {
    // Which of several equal values stays shows in the sign of a zero.
    FPOptions O = B->getFPFeaturesInEffect(C.getLangOpts());
    if ((Negate || !Strict) && !(O.getNoHonorNaNs() && O.getNoSignedZero()))
      return fail(DiagId::RedNaN, Cond);
  }
  if (R.Op == COFUSE_RED_FMAX || R.Op == COFUSE_RED_FMIN)
    return fail(DiagId::RedUse, Cond, R.Text, R.Clause);
  return true;
}

/// Checks one full expression that mentions reduction variables.
bool Compiler::checkUpdate(const Stmt *S) {
  auto *E = dyn_cast<Expr>(S);
  if (!E || !usesReduction(E))
    return true;
  E = E->IgnoreParenImpCasts();
  if (auto *K = dyn_cast<CStyleCastExpr>(E)) // (void)(s += x)
    if (K->getCastKind() == CK_ToVoid)
      return checkUpdate(K->getSubExpr());
  auto Wrong = [&](const Expr *At) {
    int R = -1;
    std::function<void(const Stmt *)> Find = [&](const Stmt *X) {
      if (auto *XE = dyn_cast_or_null<Expr>(X)) {
        if (R < 0)
          R = reductionOf(XE);
        for (size_t K = 0; R < 0 && K < Reductions.size(); ++K)
          if (Reductions[K].Section && namesTarget(XE, Reductions[K]))
            R = K;
      }
      if (X)
        for (const Stmt *Y : X->children())
          Find(Y);
    };
    Find(At);
    return fail(DiagId::RedUse, At, R < 0 ? "" : Reductions[R].Text, R < 0 ? "" : Reductions[R].Clause);
  };
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    int R = U->isIncrementDecrementOp() ? reductionOf(U->getSubExpr()) : -1;
    bool Adds = R >= 0 && Reductions[R].Op == COFUSE_RED_ADD && freeSubscripts(U->getSubExpr(), R);
    return Adds ? true : Wrong(E);
  }
  auto *B = dyn_cast<BinaryOperator>(E);
  if (B && B->getOpcode() == BO_Comma)
    return checkUpdate(B->getLHS()) && checkUpdate(B->getRHS());
  int R = B && B->isAssignmentOp() ? reductionOf(B->getLHS()) : -1;
  if (R < 0 || !freeSubscripts(B->getLHS(), R))
    return Wrong(E);
  ReductionInfo &Red = Reductions[R];
  auto Matches = [&](BinaryOperatorKind Op) {
    switch (Red.Op) {
    case COFUSE_RED_ADD:
      return Op == BO_Add || Op == BO_Sub;
    case COFUSE_RED_MUL:
      return Op == BO_Mul;
    case COFUSE_RED_AND:
      return Op == BO_And;
    case COFUSE_RED_OR:
      return Op == BO_Or;
    case COFUSE_RED_XOR:
      return Op == BO_Xor;
    case COFUSE_RED_LAND:
      return Op == BO_LAnd;
    case COFUSE_RED_LOR:
      return Op == BO_LOr;
    }
    return false;
  };
  if (B->isCompoundAssignmentOp()) {
    if (!Matches(BinaryOperator::getOpForCompoundAssignment(B->getOpcode())) || usesReduction(B->getRHS()))
      return Wrong(E);
    return true;
  }
  const Expr *Rhs = B->getRHS()->IgnoreParenImpCasts();
  if (auto *Q = dyn_cast<ConditionalOperator>(Rhs)) {
    bool Keep = sameTarget(Q->getFalseExpr(), B->getLHS(), R); // cond ? x : m
    bool KeepFirst = sameTarget(Q->getTrueExpr(), B->getLHS(), R);
    if ((Red.Clause != "min" && Red.Clause != "max") || Keep == KeepFirst)
      return Wrong(E);
    const Expr *New = Keep ? Q->getTrueExpr() : Q->getFalseExpr();
    return usesReduction(New) ? Wrong(E) : isExtremum(Q->getCond(), B->getLHS(), New, R, KeepFirst);
  }
  if (auto *Call = dyn_cast<CallExpr>(Rhs)) {
    const FunctionDecl *FD = Call->getDirectCallee();
    StringRef Name = FD && FD->getIdentifier() && FD->getBuiltinID() ? FD->getName() : "";
    Name.consume_front("__builtin_");
    bool Max = Name == "fmax" || Name == "fmaxf", Min = Name == "fmin" || Name == "fminf";
    if (!(Max && Red.Clause == "max") && !(Min && Red.Clause == "min"))
      return Wrong(E);
    bool First = sameTarget(Call->getArg(0), B->getLHS(), R),
         Second = sameTarget(Call->getArg(1), B->getLHS(), R);
    if (First == Second || usesReduction(Call->getArg(First ? 1 : 0)))
      return Wrong(E);
    if (Red.Type != COFUSE_F32 && Red.Type != COFUSE_F64)
      return true;
    int New = Max ? COFUSE_RED_FMAX : COFUSE_RED_FMIN;
    Red.Op = New;
    return true;
  }
  // s = s op e, s = e op s; a chain s = s + a + b keeps s at its left end.
  auto *O = dyn_cast<BinaryOperator>(Rhs);
  bool Good = false;
  while (O && Matches(O->getOpcode())) {
    bool L = usesReduction(O->getLHS()), Rr = usesReduction(O->getRHS());
    if (L == Rr || (Rr && O->getOpcode() == BO_Sub))
      break;
    const Expr *Next = L ? O->getLHS() : O->getRHS();
    if (sameTarget(Next, B->getLHS(), R)) {
      Good = true;
      break;
    }
    O = dyn_cast<BinaryOperator>(Next->IgnoreParenImpCasts());
  }
  return Good ? true : Wrong(E);
}

bool Compiler::checkReductionUses(const Stmt *S) {
  if (!S || Reductions.empty())
    return true;
  if (bad())
    return false;
  if (isa<Expr>(S))
    return checkUpdate(S);
  if (auto *I = dyn_cast<IfStmt>(S)) {
    if (usesReduction(I->getCond())) { // if (x > m) m = x;
      const Stmt *Then = I->getThen();
      while (auto *Block = dyn_cast<CompoundStmt>(Then))
        if (Block->size() == 1)
          Then = Block->body_front();
        else
          break;
      auto *B = dyn_cast<BinaryOperator>(Then);
      int R = B && B->getOpcode() == BO_Assign ? reductionOf(B->getLHS()) : -1;
      if (R < 0 || I->getElse() || (Reductions[R].Clause != "min" && Reductions[R].Clause != "max") ||
          usesReduction(B->getRHS())) {
        std::string Name;
        for (const ReductionInfo &X : Reductions)
          Name = Name.empty() ? X.Text : Name;
        return fail(DiagId::RedUse, I->getCond(), Name, Reductions[0].Clause);
      }
      return isExtremum(I->getCond(), B->getLHS(), B->getRHS(), R, false);
    }
    return checkReductionUses(I->getThen()) && checkReductionUses(I->getElse());
  }
  if (auto *DS = dyn_cast<DeclStmt>(S)) {
    for (const Decl *X : DS->decls())
      if (auto *V = dyn_cast<VarDecl>(X))
        if (V->getInit() && !checkUpdate(V->getInit()))
          return false;
    return true;
  }
  for (const Stmt *X : S->children())
    if (!checkReductionUses(X))
      return false;
  return true;
}

} // namespace cofuse
