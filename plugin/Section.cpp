// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions into array sections, 'reduction(+ : h[0:n])': which elements they are, and which expressions of
// the body name one. An element is known by what is subscripted, so 'h[i]' and '*(h + i)' are elements of
// h and an alias of h is none: the runtime compares the addresses of that with the section.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

/// E is the array or pointer that the section is taken of.
bool Compiler::namesTarget(const Expr *E, const ReductionInfo &R) const {
  E = E->IgnoreParenImpCasts();
  auto *Ref = dyn_cast<DeclRefExpr>(E);
  return R.Var ? Ref && Ref->getDecl() == R.Var : !Ref && sameExpr(E, R.Target);
}

/// What E subscripts, with the subscript, or null.
static const Expr *inner(const Expr *E, const Expr *&Index) {
  Index = nullptr;
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
    Index = S->getIdx();
    return S->getBase();
  }
  auto *U = dyn_cast<UnaryOperator>(E);
  if (U && U->getOpcode() == UO_Deref)
    return U->getSubExpr();
  auto *B = dyn_cast<BinaryOperator>(E);
  if (!B || !B->isAdditiveOp() || !E->getType()->isPointerType())
    return nullptr;
  bool Left = B->getLHS()->getType()->isPointerType();
  Index = Left ? B->getRHS() : B->getLHS();
  return Left ? B->getLHS() : B->getRHS();
}

bool Compiler::inSection(const Expr *E, const ReductionInfo &R) const {
  if (!C.hasSameUnqualifiedType(E->getType(), R.Element))
    return false;
  const Expr *Index;
  for (E = inner(E->IgnoreParenImpCasts(), Index); E; E = inner(E, Index)) {
    E = E->IgnoreParenImpCasts();
    if (namesTarget(E, R))
      return true;
  }
  return false;
}

/// No subscript of the target E of an update depends on a reduction.
bool Compiler::freeSubscripts(const Expr *E, int R) const {
  if (!Reductions[R].Section)
    return true;
  const Expr *Index;
  for (E = inner(E->IgnoreParenImpCasts(), Index); E; E = inner(E, Index)) {
    if (Index && usesReduction(Index))
      return false;
    E = E->IgnoreParenImpCasts();
    if (namesTarget(E, Reductions[R]))
      break;
  }
  return true;
}

/// Size of what Depth subscripts of the target leave.
std::optional<Poly> Compiler::sectionSize(const ReductionInfo &R, unsigned Depth, QualType T) {
  if (!T->isVariableArrayType())
    return sizeOf(T, nullptr);
  std::string Text = "sizeof((" + exprText(C, R.Target) + ")";
  for (unsigned K = 0; K < Depth; ++K)
    Text += "[0]";
  return Poly::symbol(Symbols.intern(Symbol::Invariant, 0, Text + ")"));
}

/// Adds the distance of E, an element or a pointer to one, from the target; Depth: dimensions behind it.
bool Compiler::addSectionOffset(const Expr *E, const ReductionInfo &R, Address &A, unsigned &Depth) {
  E = E->IgnoreParenImpCasts();
  Depth = 0;
  if (namesTarget(E, R))
    return true;
  const Expr *Index, *Base = inner(E, Index);
  if (!Base || !addSectionOffset(Base, R, A, Depth))
    return fail(DiagId::RedUse, E, R.Text, R.Clause);
  bool Pointer = isa<BinaryOperator>(E);
  QualType Step = Pointer ? E->getType()->getPointeeType() : E->getType();
  if (!Pointer)
    ++Depth;
  if (!Index)
    return true;
  auto Size = sectionSize(R, Depth + Pointer, Step);
  if (!Size)
    return fail(DiagId::RedTarget, E, R.Text);
  bool Minus = Pointer && cast<BinaryOperator>(E)->getOpcode() == BO_Sub;
  return addIndex(A, Index, *Size, Minus);
}

/// Offset in bytes of the element E from the section's start, an SSA value; empty if refused.
std::string Compiler::sectionOffset(const Expr *E, int R) {
  Address A;
  unsigned Depth;
  const ReductionInfo &Red = Reductions[R];
  if (!addSectionOffset(E, Red, A, Depth))
    return "";
  A.Offset.add(Red.Lower, -1);
  return emitOffset(A, true);
}

/// Target, element type, start and length of a list item with sections.
bool Compiler::bindSection(const ListItem &Item, ReductionInfo &R) {
  const Expr *Arg = Marker->getArg(Item.Arg), *E = R.Target;
  R.Section = true;
  QualType T = E->getType();
  bool Kind = T->isPointerType() || T->isArrayType();
  if ((R.Var && Bindings.count(R.Var)) || !Kind || T.isVolatileQualified() ||
      !(T->isArrayType() ? fixedAddress(E) : invariant(Arg)))
    return bad() ? false : fail(DiagId::RedTarget, E, R.Text);
  std::string Path = "(" + exprText(C, E) + ")", Positive, Span = "0L";
  R.Start = Path;
  R.Label = R.Text;
  for (unsigned K = 0; K < Item.Rank; ++K) {
    if (K ? !T->isArrayType() : !T->isPointerType() && !T->isArrayType())
      return fail(DiagId::RedTarget, E, R.Text);
    T = T->isPointerType() ? T->getPointeeType() : C.getAsArrayType(T)->getElementType();
    const Expr *Bound[2];
    std::string Text[2];
    for (int Which = 0; Which < 2; ++Which) {
      Bound[Which] = Marker->getArg(Item.Arg + 1 + 2 * K + Which);
      if (!Bound[Which]->getType()->isIntegralOrEnumerationType())
        return fail(DiagId::Expected, Bound[Which], "integers as bounds of the section", "forall");
      if (Bound[Which]->HasSideEffects(C) || !invariant(Bound[Which]))
        return bad() ? false : fail(DiagId::RedTarget, E, R.Text);
      Text[Which] = exprText(C, Bound[Which]->IgnoreParenImpCasts());
    }
    R.Label += "[" + Text[0] + ":" + Text[1] + "]";
    R.Start += "[" + Text[0] + "]";
    Path += "[0]";
    std::string Length = "(long)(" + Text[1] + ")";
    Positive += (K ? " && " : "") + Length + " > 0L";
    Span += " + (" + Length + " - 1L) * (long)sizeof(" + Path + ")";
    auto Size = T->isIncompleteType() || T->isFunctionType() ? std::nullopt : sectionSize(R, K + 1, T);
    if (!Size)
      return fail(DiagId::RedTarget, E, R.Text);
    Expr::EvalResult Zero;
    if (Bound[0]->EvaluateAsInt(Zero, C) && Zero.Val.getInt() == 0)
      continue;
    Poly First = Poly::symbol(Symbols.intern(Symbol::Invariant, 0, "(long)(" + Text[0] + ")"));
    R.Lower.add(First.times(*Size));
  }
  Span += " + (long)sizeof(" + Path + ")"; // what the sections leave is taken whole
  while (T->isArrayType())
    T = C.getAsArrayType(T)->getElementType();
  if (T.isVolatileQualified() || T.isConstQualified())
    return fail(DiagId::RedTarget, E, R.Text);
  R.Element = T.getUnqualifiedType();
  R.Type = R.Op == COFUSE_RED_ADD && complexCode(C, T) >= 0 ? halfType(complexCode(C, T)) : typeCode(C, T);
  if (R.Type < 0)
    return fail(DiagId::RedType, E, R.Clause, T.getAsString());
  // An empty section may be one of a null pointer, which must not be subscripted.
  R.Start = "(" + Positive + " ? (void *)&" + R.Start + " : (void *)0)";
  R.Count = "(" + Positive + " ? (" + Span + ") / " + std::to_string(typeBytes(R.Type)) + "L : 0L)";
  return true;
}

/// What a section is taken of may not be named by another item: 'h[5]' would be an element of both.
bool Compiler::checkSections() {
  for (const ReductionInfo &R : Reductions) {
    std::function<bool(const Stmt *)> Names = [&](const Stmt *S) {
      auto *E = dyn_cast_or_null<Expr>(S);
      if (E && namesTarget(E, R))
        return true;
      return S && llvm::any_of(S->children(), Names);
    };
    for (const ReductionInfo &X : Reductions)
      if (R.Section && &X != &R && Names(X.Target))
        return fail(DiagId::RedTarget, X.Target, X.Text);
  }
  return true;
}

} // namespace cofuse
