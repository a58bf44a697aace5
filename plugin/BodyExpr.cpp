// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C expressions to MLIR text. Promotions are explicit in clang's tree, so this is one case per node.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

void Compiler::openIf(const Value &Cond, std::vector<Fact> Facts) {
  line("scf.if " + Cond.Name + " {");
  ++Indent;
  Regions.push_back({-1, std::move(Facts)});
}

void Compiler::closeIf() {
  Regions.pop_back();
  --Indent;
  line("}");
}

/// Variables whose value the compiler knows. Clang's code generator folds const ones; the optimizer
/// sees through variables that keep their initializer, and then rounds a product of two constants
/// even where contraction was allowed, so the kernel must be given the constant as well.
std::optional<Value> Compiler::emitFolded(const Expr *E) {
  QualType T = E->getType();
  if (T.isVolatileQualified())
    return std::nullopt;
  int Code = typeCode(C, T);
  Expr::EvalResult R;
  if (Code < 0)
    return std::nullopt;
  bool Folded = T.isConstQualified() && E->EvaluateAsRValue(R, C) && !R.HasSideEffects;
  if (!Folded) {
    auto *V = dyn_cast<VarDecl>(cast<DeclRefExpr>(E)->getDecl());
    if (!V || CG.OptimizationLevel == 0 || Bindings.count(V) || Declared.count(V) || reductionOf(E) >= 0)
      return std::nullopt;
    const Expr *Init = Scan.lastingInit(V, Function);
    if (!Init || !Init->EvaluateAsRValue(R, C) || R.HasSideEffects)
      return std::nullopt;
  }
  Value V;
  if (R.Val.isInt())
    V = integer(R.Val.getInt(), valueType(Code));
  else if (R.Val.isFloat())
    V = floating(R.Val.getFloat(), valueType(Code));
  else
    return std::nullopt;
  V.Constant = Folded;
  return V;
}

Value Compiler::emitCast(const CastExpr *E) {
  const Expr *Sub = E->getSubExpr();
  switch (E->getCastKind()) {
  case CK_LValueToRValue: {
    if (isa<DeclRefExpr>(Sub->IgnoreParens()))
      if (auto V = emitFolded(Sub->IgnoreParens()))
        return *V;
    Location P;
    if (!place(Sub, P))
      return Value();
    return load(P);
  }
  case CK_NoOp:
    return emit(Sub);
  case CK_ToVoid:
    emit(Sub);
    return Value();
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean:
    return condition(Sub);
  case CK_PointerToBoolean:
    if (invariant(Sub) && !bad())
      return captured(COFUSE_BOOL, "(" + exprText(C, Sub) + ") != 0");
    return failValue(DiagId::ExprKind, E, "pointer");
  case CK_IntegralCast:
  case CK_IntegralToFloating:
  case CK_FloatingToIntegral:
  case CK_FloatingCast:
  case CK_BooleanToSignedIntegral:
    return convert(emit(Sub), Sub->getType(), E->getType(), E);
  default:
    return failValue(DiagId::ExprKind, E, E->getCastKindName());
  }
}

Value Compiler::condition(const Expr *E) {
  const Expr *P = E->IgnoreParens();
  if (auto *B = dyn_cast<BinaryOperator>(P)) {
    if (B->isComparisonOp()) {
      if (B->getLHS()->getType()->isPointerType()) {
        if (invariant(B) && !bad())
          return captured(COFUSE_BOOL, exprText(C, B));
        return failValue(DiagId::ExprKind, E, "pointer comparison");
      }
      if (B->getLHS()->getType()->isAnyComplexType() || B->getRHS()->getType()->isAnyComplexType()) {
        ComplexValue L = emitComplex(B->getLHS()), R = emitComplex(B->getRHS());
        fastMath(B);
        return compareComplex(B->getOpcode(), L, R);
      }
      Value L = emit(B->getLHS()), R = emit(B->getRHS());
      fastMath(B);
      return compare(B->getOpcode(), L, R, B->getLHS()->getType()->isUnsignedIntegerOrEnumerationType());
    }
    if (B->isLogicalOp())
      return logical(B);
  }
  if (auto *U = dyn_cast<UnaryOperator>(P))
    if (U->getOpcode() == UO_LNot) {
      Value V = condition(U->getSubExpr());
      if (bad())
        return V;
      Value One = integer(1, "i1");
      return op("arith.xori " + V.Name + ", " + One.Name + " : i1", "i1");
    }
  if (auto *K = dyn_cast<ImplicitCastExpr>(P))
    if (K->getCastKind() == CK_IntegralToBoolean || K->getCastKind() == CK_FloatingToBoolean)
      return condition(K->getSubExpr());
  if (P->getType()->isPointerType()) {
    if (invariant(P) && !bad())
      return captured(COFUSE_BOOL, "(" + exprText(C, P) + ") != 0");
    return failValue(DiagId::ExprKind, E, "pointer");
  }
  if (P->getType()->isAnyComplexType())
    return complexNonZero(emitComplex(P));
  return nonZero(emit(E));
}

/// && and ||: the right side is evaluated only if it decides.
Value Compiler::logical(const BinaryOperator *E) {
  Value L = condition(E->getLHS());
  if (bad())
    return L;
  bool And = E->getOpcode() == BO_LAnd;
  std::string N = fresh();
  line(N + " = scf.if " + L.Name + " -> (i1) {");
  ++Indent;
  Regions.push_back({-1, factsOf(E->getLHS(), And)});
  auto Before = Written;
  auto Right = [&] {
    Value R = condition(E->getRHS());
    line("scf.yield " + R.Name + " : i1");
  };
  auto Fixed = [&](bool B) {
    Value R = integer(B, "i1");
    line("scf.yield " + R.Name + " : i1");
  };
  if (And)
    Right();
  else
    Fixed(true);
  --Indent;
  line("} else {");
  ++Indent;
  if (And)
    Fixed(false);
  else
    Right();
  --Indent;
  line("}");
  Regions.pop_back();
  Written = Before;
  Value V;
  V.Name = N;
  V.Type = "i1";
  return V;
}

Value Compiler::emitConditional(const AbstractConditionalOperator *E) {
  if (isa<BinaryConditionalOperator>(E))
    return failValue(DiagId::ExprKind, E, "?: without middle operand");
  auto *Q = cast<ConditionalOperator>(E);
  bool Known;
  if (Q->getCond()->EvaluateAsBooleanCondition(Known, C) && !Q->getCond()->HasSideEffects(C))
    return emit(Known ? Q->getTrueExpr() : Q->getFalseExpr()); // clang emits the live arm only
  bool Void = Q->getType()->isVoidType();
  int Code = Void ? -1 : typeCode(C, Q->getType());
  if (Code < 0 && !Void)
    return failValue(DiagId::TypeKind, E, Q->getType().getAsString());
  std::string T = Void ? "" : valueType(Code);
  Value Cond = condition(Q->getCond());
  if (bad())
    return Cond;
  Value V;
  if (Void) {
    line("scf.if " + Cond.Name + " {");
  } else {
    V.Name = fresh();
    V.Type = T;
    line(V.Name + " = scf.if " + Cond.Name + " -> (" + T + ") {");
  }
  auto Before = Written;
  Regions.push_back({-1, factsOf(Q->getCond(), true)});
  ++Indent;
  Value A = emit(Q->getTrueExpr());
  if (!Void)
    line("scf.yield " + A.Name + " : " + T);
  auto AfterTrue = Written;
  Written = Before;
  --Indent;
  line("} else {");
  ++Indent;
  Regions.back().Facts = factsOf(Q->getCond(), false);
  Value B = emit(Q->getFalseExpr());
  if (!Void)
    line("scf.yield " + B.Name + " : " + T);
  --Indent;
  line("}");
  Regions.pop_back();
  std::set<int> Both;
  std::set_intersection(AfterTrue.begin(), AfterTrue.end(), Written.begin(), Written.end(),
                        std::inserter(Both, Both.end()));
  Written = Both;
  return V;
}

Value Compiler::emitUnary(const UnaryOperator *E) {
  const Expr *Sub = E->getSubExpr();
  switch (E->getOpcode()) {
  case UO_Plus:
  case UO_Extension:
    return emit(Sub);
  case UO_Minus: {
    Value V = emit(Sub);
    if (bad())
      return V;
    if (V.Type[0] != 'f')
      return arith(BO_Sub, integer(0, V.Type), V, E->getType(), E);
    Value N = negate(V, fastMath(E));
    if (V.Product >= 0 && !V.Negated) { // -(a*b) + c is still contracted
      N.Product = V.Product;
      N.Negated = true;
    }
    return N;
  }
  case UO_Not: {
    Value V = emit(Sub);
    if (bad())
      return V;
    Value Ones = integer(-1, V.Type);
    Value R = op("arith.xori " + V.Name + ", " + Ones.Name + " : " + V.Type, V.Type);
    R.Constant = V.Constant;
    return R;
  }
  case UO_LNot:
    return widen(condition(E));
  case UO_PreInc:
  case UO_PostInc:
  case UO_PreDec:
  case UO_PostDec: {
    if (Sub->getType()->isPointerType())
      return failValue(DiagId::ExprKind, E, "pointer increment");
    Location P;
    if (!place(Sub, P))
      return Value();
    if (P.K == Location::Counter || P.K == Location::Ssa || P.K == Location::Captured)
      return failValue(DiagId::SharedWrite, E, exprText(C, Sub));
    Value Old = load(P);
    if (bad())
      return Old;
    Value New;
    if (Old.Type[0] == 'f') {
      llvm::APFloat One(Old.Type == "f64" ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle(), "1.0");
      New = arith(BO_Add, Old, floating(E->isIncrementOp() ? One : -One, Old.Type), Sub->getType(), E);
    } else if (P.Type == COFUSE_BOOL) {
      // b++ is b = 1; b-- is b = b - 1 != 0
      New = E->isIncrementOp() ? integer(1, "i1")
                               : op("arith.xori " + Old.Name + ", " + integer(1, "i1").Name + " : i1", "i1");
    } else {
      // Narrow types are promoted: the addition cannot overflow before it is truncated.
      bool Narrow = typeBytes(P.Type) < 4;
      std::string N = E->isIncrementOp() ? "arith.addi " : "arith.subi ";
      bool Nsw = !Narrow && !Sub->getType()->isUnsignedIntegerOrEnumerationType() &&
                 C.getLangOpts().getSignedOverflowBehavior() == LangOptions::SOB_Undefined;
      New = op(N + Old.Name + ", " + integer(1, Old.Type).Name + (Nsw ? " overflow<nsw>" : "") + " : " +
                   Old.Type,
               Old.Type);
    }
    store(P, New);
    Value R = E->isPrefix() ? New : Old;
    R.Product = -1;
    return R;
  }
  case UO_Deref: // as a value only under LValueToRValue
  default:
    return failValue(DiagId::ExprKind, E, "unary operator");
  }
}

Value Compiler::emitBinary(const BinaryOperator *E) {
  auto Target = [&](const Expr *L, Location &P) {
    if (L->getType()->isPointerType())
      return fail(DiagId::PointerWrite, L, exprText(C, L));
    if (auto *M = dyn_cast<MemberExpr>(L->IgnoreParens()))
      if (auto *F = dyn_cast<FieldDecl>(M->getMemberDecl()))
        if (F->isBitField())
          return fail(DiagId::BitField, L, F->getName());
    if (!place(L, P))
      return false;
    if (P.K == Location::Counter || P.K == Location::Ssa)
      return fail(DiagId::CounterWrite, L, exprText(C, L));
    if (P.K == Location::Captured)
      return fail(DiagId::SharedWrite, L, exprText(C, L));
    return true;
  };
  if (auto *A = dyn_cast<CompoundAssignOperator>(E)) { // clang evaluates the right side first
    Value R = emit(A->getRHS());
    Location P;
    if (bad() || !Target(A->getLHS(), P))
      return Value();
    Value L = convert(load(P), A->getLHS()->getType(), A->getComputationLHSType(), E);
    Value V = arith(BinaryOperator::getOpForCompoundAssignment(A->getOpcode()), L, R,
                    A->getComputationResultType(), E);
    V = convert(V, A->getComputationResultType(), E->getType(), E);
    store(P, V);
    V.Product = -1;
    return V;
  }
  if (E->isComparisonOp() || E->isLogicalOp())
    return widen(condition(E));
  if (E->getOpcode() == BO_Assign) {
    if (E->getLHS()->getType()->isPointerType())
      return failValue(DiagId::PointerWrite, E, exprText(C, E->getLHS()));
    if (typeCode(C, E->getLHS()->getType()) < 0)
      return failValue(DiagId::TypeKind, E->getLHS(), E->getLHS()->getType().getAsString());
    Value V = emit(E->getRHS());
    Location P;
    if (bad() || !Target(E->getLHS(), P))
      return Value();
    store(P, V);
    V.Product = -1; // stored: the product has another use
    return V;
  }
  if (E->getOpcode() == BO_Comma) {
    emit(E->getLHS());
    return emit(E->getRHS());
  }
  if (E->getLHS()->getType()->isPointerType() || E->getRHS()->getType()->isPointerType())
    return failValue(DiagId::ExprKind, E, "pointer arithmetic");
  Value L = emit(E->getLHS());
  Value R = emit(E->getRHS());
  return arith(E->getOpcode(), L, R, E->getType(), E);
}

Value Compiler::emit(const Expr *E) {
  if (bad())
    return Value();
  E = E->IgnoreParens();
  QualType T = E->getType();
  if (T->isAnyComplexType()) { // for its effects only
    emitComplex(E);
    return Value();
  }
  bool Complex = false;
  Value Part = emitComplexPart(E, Complex);
  if (Complex)
    return Part;
  if (auto *K = dyn_cast<ConstantExpr>(E))
    return emit(K->getSubExpr());
  if (auto *K = dyn_cast<CastExpr>(E))
    return emitCast(K);
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return emitBinary(B);
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return emitUnary(U);
  if (auto *Q = dyn_cast<AbstractConditionalOperator>(E))
    return emitConditional(Q);
  if (auto *Call = dyn_cast<CallExpr>(E))
    return emitCall(Call);
  if (auto *G = dyn_cast<GenericSelectionExpr>(E))
    return emit(G->getResultExpr());
  if (auto *Choose = dyn_cast<ChooseExpr>(E))
    return emit(Choose->getChosenSubExpr());
  if (auto *Block = dyn_cast<StmtExpr>(E)) { // ({ ...; value; })
    const CompoundStmt *List = Block->getSubStmt();
    auto *Last = List->body_empty() ? nullptr : dyn_cast<Expr>(List->body_back());
    if (!Last || jumps(List))
      return failValue(DiagId::ExprKind, E, "statement expression");
    std::vector<const Stmt *> Before(List->body_begin(), List->body_end() - 1);
    if (!sequence(Before))
      return Value();
    Value V = emit(Last);
    V.Product = -1; // clang stores it
    return V;
  }
  int Code = T->isVoidType() ? -1 : typeCode(C, T);
  if (Code < 0)
    return failValue(DiagId::TypeKind, E, T.getAsString());
  if (auto *L = dyn_cast<IntegerLiteral>(E))
    return integer(L->getValue(), valueType(Code));
  if (auto *L = dyn_cast<CharacterLiteral>(E))
    return integer(llvm::APInt(32, L->getValue()), valueType(Code));
  if (auto *L = dyn_cast<FloatingLiteral>(E))
    return floating(L->getValue(), valueType(Code));
  Expr::EvalResult R; // enumerators, sizeof, offsetof, true, ...
  if (E->EvaluateAsInt(R, C) && !R.HasSideEffects)
    return integer(R.Val.getInt(), valueType(Code));
  if (auto *S = dyn_cast<UnaryExprOrTypeTraitExpr>(E))
    if (S->getKind() == UETT_SizeOf)
      if (auto P = sizeOf(S->getTypeOfArgument(), S->isArgumentType() ? nullptr : S->getArgumentExpr())) {
        Value V;
        V.Name = emitPoly(*P);
        V.Type = "i64";
        return V;
      }
  return failValue(DiagId::ExprKind, E, E->getStmtClassName());
}

} // namespace cofuse
