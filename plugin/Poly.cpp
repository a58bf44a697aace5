// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions as polynomials over loop counters and invariant values; addresses of lvalues.
#include "Compile.h"
#include "clang/AST/Decl.h"
#include "clang/AST/RecordLayout.h"

using namespace clang;

namespace cofuse {

bool Compiler::insideNest(const VarDecl *V) const {
  return Declared.count(V) || (V->hasLocalStorage() && V->getParentFunctionOrMethod() != Function);
}

/// A name from an inlined function must mean the same at the directive.
bool Compiler::visible(const VarDecl *V, const Expr *E) {
  if (CallFrames.empty())
    return true;
  if (V->isStaticLocal())
    return fail(DiagId::StaticLocal, E, V->getName());
  if (!V->hasGlobalStorage())
    return true;
  for (const Decl *X : Function->decls())
    if (auto *N = dyn_cast<NamedDecl>(X))
      if (N->getDeclName() == V->getDeclName())
        return fail(DiagId::HiddenName, E, V->getName());
  auto &SM = C.getSourceManager();
  for (const VarDecl *R : V->redecls())
    if (R->getLexicalDeclContext()->isFileContext() &&
        SM.isBeforeInTranslationUnit(R->getLocation(), Marker->getBeginLoc()))
      return true;
  return fail(DiagId::HiddenName, E, V->getName());
}

bool Compiler::invariant(const Expr *E) {
  E = E->IgnoreParens();
  if (E->getType().isVolatileQualified())
    return false;
  if (isa<IntegerLiteral>(E) || isa<CharacterLiteral>(E) || isa<FloatingLiteral>(E))
    return true;
  if (auto *K = dyn_cast<CastExpr>(E)) {
    if (K->getCastKind() == CK_LValueToRValue) {
      const Expr *Sub = K->getSubExpr()->IgnoreParens();
      if (!rootVariable(Sub) && Writes.mayWrite(Sub->getType())) {
        if (IsTask || !invariant(Sub))
          return false;
        watch(Sub);
      }
    }
    return invariant(K->getSubExpr());
  }
  if (auto *R = dyn_cast<DeclRefExpr>(E)) {
    if (isa<EnumConstantDecl>(R->getDecl()))
      return true;
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V || Bindings.count(V) || insideNest(V) || reductionOf(E) >= 0)
      return false;
    if (V->getType()->isArrayType())
      return visible(V, E);
    if (Writes.contains(V) || !visible(V, E))
      return false;
    bool Reachable = !V->hasLocalStorage() || Scan.addressTaken(V, Function);
    if (Reachable && Writes.mayWrite(V->getType())) {
      if (IsTask)
        return false;
      watch(E);
    }
    return true;
  }
  if (auto *M = dyn_cast<MemberExpr>(E)) {
    if (M->getMemberDecl()->getType().isVolatileQualified())
      return false;
    return invariant(M->getBase());
  }
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
    if (const VarDecl *V = rootVariable(E))
      if (Writes.contains(V) && !E->getType()->isArrayType())
        return false;
    return invariant(S->getBase()) && invariant(S->getIdx());
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    switch (U->getOpcode()) {
    case UO_Plus:
    case UO_Minus:
    case UO_Not:
    case UO_LNot:
    case UO_Deref:
    case UO_AddrOf:
      return invariant(U->getSubExpr());
    default:
      return false;
    }
  }
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return !B->isAssignmentOp() && !B->isCommaOp() && invariant(B->getLHS()) && invariant(B->getRHS());
  if (auto *Q = dyn_cast<ConditionalOperator>(E))
    return invariant(Q->getCond()) && invariant(Q->getTrueExpr()) && invariant(Q->getFalseExpr());
  if (auto *T = dyn_cast<UnaryExprOrTypeTraitExpr>(E)) {
    Expr::EvalResult R;
    return T->EvaluateAsInt(R, C) || (!T->isArgumentType() && invariant(T->getArgumentExpr()));
  }
  return false;
}

/// Text of an invariant expression that yields Null instead of following a null pointer, so that
/// evaluating it early, where the program might not have, is safe.
std::string Compiler::guardedText(const Expr *E, StringRef Null, StringRef Prefix) {
  std::string Text = Prefix.str() + "(" + exprText(C, E) + ")";
  std::vector<std::string> Pointers;
  std::function<void(const Stmt *)> Walk = [&](const Stmt *S) {
    if (!S)
      return;
    for (const Stmt *X : S->children())
      Walk(X);
    auto Add = [&](const Expr *P) {
      P = P->IgnoreParenImpCasts();
      if (P->getType()->isPointerType())
        Pointers.push_back(exprText(C, P));
    };
    if (auto *M = dyn_cast<MemberExpr>(S)) {
      if (M->isArrow())
        Add(M->getBase());
    } else if (auto *U = dyn_cast<UnaryOperator>(S)) {
      if (U->getOpcode() == UO_Deref)
        Add(U->getSubExpr());
    } else if (auto *A = dyn_cast<ArraySubscriptExpr>(S)) {
      Add(A->getBase());
    }
  };
  Walk(E);
  if (Pointers.empty() || Regions.empty())
    return Prefix.empty() ? Text : "(" + Text + ")";
  std::string G;
  for (const std::string &P : Pointers)
    G += (G.empty() ? "(" : " && (") + P + ")";
  return "(" + G + " ? " + Text + " : " + Null.str() + ")";
}

/// E is read when the task is issued although the body writes memory of its type: the addresses must
/// turn out to differ. (That they do is what the loop's independence promises; it is checked.)
void Compiler::watch(const Expr *E) {
  Watched W{guardedText(E, "0L", "(long)&"), uint64_t(C.getTypeSizeInChars(E->getType()).getQuantity()),
            complexCode(C, E->getType()) < 0 ? typeCode(C, E->getType())
                                             : halfType(complexCode(C, E->getType()))};
  for (const Watched &X : Watch)
    if (X.Address == W.Address)
      return;
  Watch.push_back(W);
}

/// P if the C expression E, computed in E's type, cannot have wrapped; with narrow wrapping types a
/// check at issue time is noted.
std::optional<Poly> Compiler::fits(std::optional<Poly> P, const Expr *E) {
  if (!P)
    return P;
  QualType T = E->getType();
  unsigned Bits = C.getTypeSize(T);
  bool Wraps = T->isUnsignedIntegerOrEnumerationType() ||
               C.getLangOpts().getSignedOverflowBehavior() == LangOptions::SOB_Defined;
  if (Bits >= 64 || !Wraps)
    return P;
  RangeCheck R;
  R.Value = *P;
  bool U = T->isUnsignedIntegerOrEnumerationType();
  R.Min = U ? 0 : -(int64_t(1) << (Bits - 1));
  R.Max = U ? (int64_t(1) << Bits) - 1 : (int64_t(1) << (Bits - 1)) - 1;
  int64_t K;
  if (P->isConstant(K))
    return K >= R.Min && K <= R.Max ? P : std::nullopt;
  Poly Rest;
  std::map<unsigned, Poly> Coef;
  if (!P->split(Symbols, Rest, Coef))
    return std::nullopt;
  for (auto &T : Coef)
    if (Symbols[T.first].K == Symbol::Inner && Inners[Symbols[T.first].Index].Trip.empty())
      return std::nullopt;
  for (const RangeCheck &X : Checks)
    if (X.Value == R.Value && X.Min == R.Min && X.Max == R.Max)
      return P;
  Checks.push_back(R);
  return P;
}

std::optional<Poly> Compiler::variablePoly(const DeclRefExpr *E) {
  auto *V = dyn_cast<VarDecl>(E->getDecl());
  if (!V)
    return std::nullopt;
  auto It = Bindings.find(V);
  if (It != Bindings.end())
    return It->second.Value;
  return std::nullopt;
}

std::optional<Poly> Compiler::poly(const Expr *E) {
  E = E->IgnoreParens();
  QualType T = E->getType();
  if (!T->isIntegralOrEnumerationType() || T->isBitIntType() || C.getTypeSize(T) > 64)
    return std::nullopt;
  Expr::EvalResult R;
  if (E->EvaluateAsInt(R, C))
    return Poly::constant(R.Val.getInt().getExtValue());
  if (auto *K = dyn_cast<CastExpr>(E)) {
    const Expr *Sub = K->getSubExpr();
    switch (K->getCastKind()) {
    case CK_LValueToRValue: {
      if (auto *Ref = dyn_cast<DeclRefExpr>(Sub->IgnoreParens())) {
        if (auto P = variablePoly(Ref))
          return P;
      }
      if (!invariant(K) || bad())
        return std::nullopt;
      return Poly::symbol(Symbols.intern(Symbol::Invariant, 0, guardedText(Sub, "0")));
    }
    case CK_NoOp:
      return poly(Sub);
    case CK_IntegralCast: {
      QualType S = Sub->getType();
      auto P = poly(Sub);
      if (!P)
        return P;
      bool SU = S->isUnsignedIntegerOrEnumerationType() || S->isBooleanType();
      bool TU = T->isUnsignedIntegerOrEnumerationType();
      unsigned SB = C.getIntWidth(S), TB = C.getIntWidth(T);
      // To 64 bits everything is exact modulo 2^64; to more bits of a signed type as well.
      if (TB == 64 || (TB > SB && !(TU && !SU)) || (TB == SB && TU == SU))
        return P;
      return fits(P, E);
    }
    default:
      return std::nullopt;
    }
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Plus)
      return poly(U->getSubExpr());
    if (U->getOpcode() == UO_Minus)
      if (auto P = poly(U->getSubExpr()))
        return fits(P->scaled(-1), E);
    return std::nullopt;
  }
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isAdditiveOp() || B->getOpcode() == BO_Mul) {
      if (!B->getLHS()->getType()->isIntegerType() || !B->getRHS()->getType()->isIntegerType())
        return std::nullopt;
      auto L = poly(B->getLHS());
      auto R2 = L ? poly(B->getRHS()) : std::nullopt;
      if (!R2)
        return std::nullopt;
      if (B->getOpcode() == BO_Mul)
        return fits(L->times(*R2), E);
      return fits(Poly(*L).add(*R2, B->getOpcode() == BO_Add ? 1 : -1), E);
    }
    if (B->getOpcode() == BO_Shl) {
      Expr::EvalResult S;
      if (B->getRHS()->EvaluateAsInt(S, C))
        if (auto L = poly(B->getLHS())) {
          int64_t N = S.Val.getInt().getExtValue();
          if (N >= 0 && N < 62)
            return fits(L->scaled(int64_t(1) << N), E);
        }
      return std::nullopt;
    }
    // n / 2, n % 2, ...: one symbol. A divisor that is not a constant might trap early.
    bool Divides = B->getOpcode() == BO_Div || B->getOpcode() == BO_Rem;
    Expr::EvalResult Divisor;
    if (Divides && (!B->getRHS()->EvaluateAsInt(Divisor, C) || Divisor.Val.getInt() == 0))
      return std::nullopt;
    if (invariant(B) && !bad())
      return Poly::symbol(Symbols.intern(Symbol::Invariant, 0, guardedText(B, "0")));
  }
  return std::nullopt;
}

std::string Compiler::symbolText(unsigned Id) const {
  const Symbol &S = Symbols[Id];
  switch (S.K) {
  case Symbol::Invariant:
    return "(unsigned long)" + S.Text;
  case Symbol::Counter:
    return "(unsigned long)cofuse_a" + std::to_string(S.Index);
  case Symbol::Inner:
    break;
  }
  return "0UL";
}

// ---- addresses

int Compiler::baseSymbol(const Expr *E) {
  std::string Text = guardedText(E, "0");
  return Symbols.intern(Symbol::Invariant, 1, Text);
}

/// Size in bytes of T. Object, if it is visible at the directive, is an lvalue of type T: the size
/// of a VLA is taken from it, because its length expression may have changed since.
std::optional<Poly> Compiler::sizeOf(QualType T, const Expr *Object) {
  if (!T->isVariableArrayType()) {
    if (T->isIncompleteType() || T->isFunctionType())
      return std::nullopt;
    return Poly::constant(C.getTypeSizeInChars(T).getQuantity());
  }
  if (Object && invariant(Object) && !bad())
    return Poly::symbol(Symbols.intern(Symbol::Invariant, 0, "sizeof" + guardedText(Object, "0")));
  auto *V = C.getAsVariableArrayType(T);
  auto Element = sizeOf(V->getElementType(), nullptr);
  auto Count = V->getSizeExpr() ? poly(V->getSizeExpr()) : std::nullopt;
  if (!Element || !Count)
    return std::nullopt;
  return Element->times(*Count);
}

/// A += Index * Scale, as a polynomial if possible, else as an SSA value.
bool Compiler::addIndex(Address &A, const Expr *Index, const Poly &Scale, bool Subtract) {
  size_t OldChecks = Checks.size();
  auto P = poly(Index);
  if (bad())
    return false;
  if (P) {
    A.Offset.add(P->times(Scale), Subtract ? -1 : 1);
    return true;
  }
  Checks.resize(OldChecks);
  Value V = toI64(emit(Index), Index->getType()->isUnsignedIntegerOrEnumerationType());
  if (bad())
    return false;
  int64_t K;
  std::string Factor;
  if (Scale.isConstant(K))
    Factor = integer(K, "i64").Name;
  else
    Factor = emitPoly(Scale);
  V = op("arith.muli " + V.Name + ", " + Factor + " : i64", "i64");
  if (Subtract)
    V = op("arith.subi " + integer(0, "i64").Name + ", " + V.Name + " : i64", "i64");
  A.Extra.push_back(V.Name);
  return true;
}

/// Value of a pointer expression.
bool Compiler::pointerValue(const Expr *E, Address &A) {
  E = E->IgnoreParens();
  if (bad())
    return false;
  if (auto *K = dyn_cast<CastExpr>(E)) {
    const Expr *Sub = K->getSubExpr();
    switch (K->getCastKind()) {
    case CK_ArrayToPointerDecay:
      return address(Sub, A);
    case CK_NoOp:
    case CK_BitCast:
      return pointerValue(Sub, A);
    case CK_LValueToRValue: {
      if (auto *Ref = dyn_cast<DeclRefExpr>(Sub->IgnoreParens()))
        if (auto *V = dyn_cast<VarDecl>(Ref->getDecl())) {
          auto It = Bindings.find(V);
          if (It != Bindings.end()) {
            if (It->second.K != Binding::Pointer)
              return fail(DiagId::PointerWrite, E, V->getName());
            A = It->second.Target;
            return true;
          }
          if (Writes.contains(V))
            return fail(DiagId::PointerWrite, E, V->getName());
        }
      if (!invariant(K)) {
        if (bad())
          return false;
        bool Row = isa<ArraySubscriptExpr, MemberExpr, UnaryOperator>(Sub->IgnoreParens());
        return fail(Row ? DiagId::RowPointer : DiagId::BaseVaries, E, exprText(C, Sub));
      }
      A.Base = baseSymbol(Sub);
      return true;
    }
    default:
      return fail(DiagId::BaseVaries, E);
    }
  }
  if (auto *U = dyn_cast<UnaryOperator>(E))
    if (U->getOpcode() == UO_AddrOf)
      return address(U->getSubExpr(), A);
  if (auto *B = dyn_cast<BinaryOperator>(E))
    if (B->isAdditiveOp() && E->getType()->isPointerType()) {
      const Expr *P = B->getLHS(), *I = B->getRHS();
      if (!P->getType()->isPointerType())
        std::swap(P, I);
      if (!pointerValue(P, A))
        return false;
      auto Size = sizeOf(P->getType()->getPointeeType(), nullptr);
      if (!Size)
        return fail(DiagId::BaseVaries, E);
      return addIndex(A, I, *Size, B->getOpcode() == BO_Sub);
    }
  return fail(DiagId::BaseVaries, E);
}

/// Members of members of a variable, or of what a pointer variable points to: no subscripts.
static bool memberChain(const Expr *E) {
  for (;;) {
    E = E->IgnoreParenImpCasts();
    auto *M = dyn_cast<MemberExpr>(E);
    if (!M)
      return isa<DeclRefExpr>(E);
    E = M->getBase();
  }
}

/// Address of an lvalue in memory (not of a scalar local, which has none until asked for).
bool Compiler::address(const Expr *E, Address &A) {
  E = E->IgnoreParens();
  if (bad())
    return false;
  if (E->getType().isVolatileQualified() || E->getType()->isAtomicType())
    return fail(DiagId::Volatile, E);
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
    if (!pointerValue(S->getBase(), A))
      return false;
    QualType T = E->getType();
    const Expr *Object = nullptr;
    std::optional<Poly> Size;
    if (T->isVariableArrayType()) {
      // sizeof((base)[0]) is the row size for every index.
      const Expr *Base = S->getBase()->IgnoreParenImpCasts();
      if (invariant(Base) && !bad())
        Size = Poly::symbol(Symbols.intern(Symbol::Invariant, 0, "sizeof((" + exprText(C, Base) + ")[0])"));
      else if (auto *Outer = dyn_cast<ArraySubscriptExpr>(Base)) {
        std::string Zeros = "[0]";
        const Expr *X = Outer;
        while (auto *Next = dyn_cast<ArraySubscriptExpr>(X)) {
          Zeros += "[0]";
          X = Next->getBase()->IgnoreParenImpCasts();
        }
        if (invariant(X) && !bad())
          Size = Poly::symbol(
              Symbols.intern(Symbol::Invariant, 0, "sizeof((" + exprText(C, X) + ")" + Zeros + ")"));
      }
    }
    if (bad())
      return false;
    if (!Size)
      Size = sizeOf(T, Object);
    if (!Size)
      return fail(DiagId::BaseVaries, E);
    return addIndex(A, S->getIdx(), *Size);
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref)
      return pointerValue(U->getSubExpr(), A);
    if (U->getOpcode() == UO_Extension)
      return address(U->getSubExpr(), A);
    if (U->getOpcode() == UO_Real || U->getOpcode() == UO_Imag) {
      if (!address(U->getSubExpr(), A))
        return false;
      if (U->getOpcode() == UO_Imag)
        A.Offset.add(Poly::constant(C.getTypeSizeInChars(E->getType()).getQuantity()));
      return true;
    }
  }
  if (auto *M = dyn_cast<MemberExpr>(E)) {
    auto *F = dyn_cast<FieldDecl>(M->getMemberDecl());
    if (!F)
      return fail(DiagId::ExprKind, E, "member");
    if (F->isBitField())
      return fail(DiagId::BitField, E, F->getName());
    if (F->getParent()->isUnion())
      return fail(DiagId::UnionMember, E, F->getName());
    if (!(M->isArrow() ? pointerValue(M->getBase(), A) : address(M->getBase(), A)))
      return false;
    const ASTRecordLayout &Layout = C.getASTRecordLayout(F->getParent());
    if (F->getType()->isConstantArrayType() && A.Base >= 0 && A.Extra.empty() && memberChain(E) &&
        invariant(E) && !bad()) { // the member array is the object, not what it is part of
      const VarDecl *Root = rootVariable(E);
      if (Root && Bindings.count(Root))
        Root = nullptr;
      A = Address();
      A.Base = Symbols.intern(Symbol::Invariant, 1, guardedText(E, "0"));
      if (Root)
        ObjectBytes[A.Base] = C.getTypeSizeInChars(F->getType()).getQuantity();
      ArrayObjects[A.Base] = {Root, std::to_string(C.getTypeSizeInChars(F->getType()).getQuantity())};
      return true;
    }
    if (bad())
      return false;
    A.Offset.add(Poly::constant(Layout.getFieldOffset(F->getFieldIndex()) / 8));
    return true;
  }
  if (auto *R = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(R->getDecl())) {
      auto It = Bindings.find(V);
      if (It != Bindings.end()) {
        if (It->second.K != Binding::Local)
          return fail(DiagId::ExprKind, E, "address of a variable");
        It->second.Value.reset(); // may be written through the address
        A.Slot = It->second.Slot;
        return true;
      }
      if (insideNest(V) || !visible(V, E))
        return fail(DiagId::LocalKind, E, V->getName());
      std::string Text = V->getName().str();
      A.Base = Symbols.intern(Symbol::Invariant, 1,
                              V->getType()->isArrayType() ? "(" + Text + ")" : "(&" + Text + ")");
      if (!V->getType()->isIncompleteType() && V->getType()->isConstantSizeType())
        ObjectBytes[A.Base] = C.getTypeSizeInChars(V->getType()).getQuantity();
      if (V->getType()->isArrayType() && !V->getType()->isIncompleteType())
        ArrayObjects[A.Base] = {V, "sizeof(" + Text + ")"};
      return true;
    }
  if (auto *L = dyn_cast<CompoundLiteralExpr>(E))
    return fail(DiagId::ExprKind, L, "compound literal");
  return fail(DiagId::ExprKind, E, E->getStmtClassName());
}

} // namespace cofuse
