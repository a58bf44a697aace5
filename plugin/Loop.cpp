// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Loop.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace cofuse {

std::string exprText(ASTContext &C, const Expr *E) {
  std::string S;
  llvm::raw_string_ostream OS(S);
  PrintingPolicy P(C.getLangOpts());
  P.SuppressImplicitBase = true;
  E->printPretty(OS, nullptr, P);
  return S;
}

std::string typeText(ASTContext &C, QualType T) {
  static const char *const Names[4][2] = {{"signed char", "unsigned char"},
                                          {"short", "unsigned short"},
                                          {"int", "unsigned int"},
                                          {"long", "unsigned long"}};
  unsigned Row = C.getTypeSize(T) == 8 ? 0 : C.getTypeSize(T) == 16 ? 1 : C.getTypeSize(T) == 32 ? 2 : 3;
  return Names[Row][T->isUnsignedIntegerOrEnumerationType()];
}

static bool isCounter(const Expr *E, const VarDecl *V) {
  auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return D && D->getDecl() == V;
}

static bool parseStep(ASTContext &C, const Expr *Inc, CanonicalLoop &L) {
  if (!Inc)
    return false;
  Inc = Inc->IgnoreParens();
  if (auto *U = dyn_cast<UnaryOperator>(Inc)) {
    if (!U->isIncrementDecrementOp() || !isCounter(U->getSubExpr(), L.Counter))
      return false;
    L.StepConst = U->isIncrementOp() ? 1 : -1;
    return true;
  }
  auto *B = dyn_cast<BinaryOperator>(Inc);
  if (!B || !isCounter(B->getLHS(), L.Counter))
    return false;
  if (B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign) {
    L.Step = B->getRHS();
    L.StepNegated = B->getOpcode() == BO_SubAssign;
  } else if (B->getOpcode() == BO_Assign) {
    auto *A = dyn_cast<BinaryOperator>(B->getRHS()->IgnoreParenImpCasts());
    if (!A || (A->getOpcode() != BO_Add && A->getOpcode() != BO_Sub))
      return false;
    if (isCounter(A->getLHS(), L.Counter)) {
      L.Step = A->getRHS();
      L.StepNegated = A->getOpcode() == BO_Sub;
    } else if (A->getOpcode() == BO_Add && isCounter(A->getRHS(), L.Counter)) {
      L.Step = A->getLHS();
    }
  }
  if (!L.Step || !L.Step->getType()->isIntegerType())
    return false;
  L.Step = L.Step->IgnoreParenImpCasts();
  Expr::EvalResult R;
  if (L.Step->EvaluateAsInt(R, C)) {
    L.StepConst = R.Val.getInt().getExtValue();
    if (L.StepNegated)
      L.StepConst = -L.StepConst;
    if (L.StepConst == 0)
      return false;
    L.Step = nullptr;
  }
  return true;
}

bool parseCanonical(ASTContext &C, const ForStmt *F, CanonicalLoop &L, LoopFault &Fault) {
  auto Fail = [&](DiagId Id, const Stmt *S) {
    Fault = {Id, S ? S : F};
    return false;
  };
  L.For = F;
  if (auto *DS = dyn_cast_or_null<DeclStmt>(F->getInit())) {
    if (!DS->isSingleDecl())
      return Fail(DiagId::LoopInit, DS);
    L.Counter = dyn_cast<VarDecl>(DS->getSingleDecl());
    L.First = L.Counter ? L.Counter->getInit() : nullptr;
    L.DeclaredInside = true;
  } else if (auto *B = dyn_cast_or_null<BinaryOperator>(F->getInit())) {
    if (B->getOpcode() == BO_Assign)
      if (auto *D = dyn_cast<DeclRefExpr>(B->getLHS()->IgnoreParens())) {
        L.Counter = dyn_cast<VarDecl>(D->getDecl());
        L.First = B->getRHS();
      }
  }
  if (!L.Counter || !L.First || !L.Counter->getType()->isIntegerType() ||
      L.Counter->getType()->isBooleanType() || L.Counter->getType()->isBitIntType() ||
      L.Counter->isStaticLocal() || C.getTypeSize(L.Counter->getType()) > 64)
    return Fail(DiagId::LoopInit, F->getInit());
  if (L.Counter->getType().isVolatileQualified() || L.Counter->getType()->isAtomicType())
    return Fail(DiagId::Volatile, F->getInit());

  auto *Cond = F->getCond() ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParens()) : nullptr;
  if (!Cond || !(Cond->isRelationalOp() || Cond->getOpcode() == BO_NE) ||
      !Cond->getLHS()->getType()->isIntegerType())
    return Fail(DiagId::LoopCond, F->getCond());
  L.Rel = Cond->getOpcode();
  if (isCounter(Cond->getLHS(), L.Counter)) {
    L.Bound = Cond->getRHS();
  } else if (isCounter(Cond->getRHS(), L.Counter)) {
    L.Bound = Cond->getLHS();
    if (L.Rel != BO_NE)
      L.Rel = BinaryOperator::reverseComparisonOp(L.Rel);
  } else {
    return Fail(DiagId::LoopCond, Cond);
  }
  L.Common = Cond->getLHS()->getType();
  // A cast of the counter that can change its value ('(char)i < n') is no plain comparison.
  if (C.getTypeSize(L.Common) < C.getTypeSize(L.Counter->getType()) || L.Common->isBitIntType() ||
      C.getTypeSize(L.Common) > 64)
    return Fail(DiagId::LoopCond, Cond);

  if (!parseStep(C, F->getInc(), L))
    return Fail(DiagId::LoopStep, F->getInc());
  if (L.Rel != BO_NE && L.StepConst && (L.StepConst > 0) != L.increasing())
    return Fail(DiagId::LoopStep, F->getInc());
  return true;
}

static std::string unsignedCommon(ASTContext &C, const CanonicalLoop &L) {
  return C.getTypeSize(L.Common) == 64 ? "unsigned long" : "unsigned int";
}

std::string tripStatements(ASTContext &C, const CanonicalLoop &L, const std::string &N) {
  std::string T = typeText(C, L.Counter->getType()), CT = typeText(C, L.Common), U = unsignedCommon(C, L);
  std::string A = "cofuse_a" + N, B = "cofuse_b" + N, S = "cofuse_s" + N, Trip = "cofuse_t" + N;
  std::string R;
  R += "const " + T + " " + A + " = (" + T + ")(" + exprText(C, L.First) + "); ";
  R += "const " + CT + " " + B + " = (" + CT + ")(" + exprText(C, L.Bound) + "); ";
  R += "const long " + S + " = ";
  if (L.StepConst)
    R += std::to_string(L.StepConst) + "L; ";
  else
    R += std::string(L.StepNegated ? "-" : "") + "(long)(" + exprText(C, L.Step) + "); ";
  std::string FirstC = "(" + CT + ")" + A;
  // Distance to the bound in the direction of travel, exact as an unsigned number.
  std::string Up = "(unsigned long)(" + U + ")((" + U + ")" + B + " - (" + U + ")" + A + ")";
  std::string Down = "(unsigned long)(" + U + ")((" + U + ")" + A + " - (" + U + ")" + B + ")";
  R += "long " + Trip + "; ";
  switch (L.Rel) {
  case BO_LT:
    R += "if (!(" + FirstC + " < " + B + ")) " + Trip + " = 0; else if (" + S + " <= 0) " + Trip +
         " = -1; else " + Trip + " = (long)((" + Up + " - 1UL) / (unsigned long)" + S + " + 1UL); ";
    break;
  case BO_LE:
    R += "if (!(" + FirstC + " <= " + B + ")) " + Trip + " = 0; else if (" + S + " <= 0) " + Trip +
         " = -1; else " + Trip + " = (long)(" + Up + " / (unsigned long)" + S + " + 1UL); ";
    break;
  case BO_GT:
    R += "if (!(" + FirstC + " > " + B + ")) " + Trip + " = 0; else if (" + S + " >= 0) " + Trip +
         " = -1; else " + Trip + " = (long)((" + Down + " - 1UL) / (0UL - (unsigned long)" + S + ") + 1UL); ";
    break;
  case BO_GE:
    R += "if (!(" + FirstC + " >= " + B + ")) " + Trip + " = 0; else if (" + S + " >= 0) " + Trip +
         " = -1; else " + Trip + " = (long)(" + Down + " / (0UL - (unsigned long)" + S + ") + 1UL); ";
    break;
  default: // !=
    R += "if (" + FirstC + " == " + B + ") " + Trip + " = 0; else if (" + S + " > 0 && " + Up +
         " % (unsigned long)" + S + " == 0UL) " + Trip + " = (long)(" + Up + " / (unsigned long)" + S +
         "); else if (" + S + " < 0 && " + Down + " % (0UL - (unsigned long)" + S + ") == 0UL) " + Trip +
         " = (long)(" + Down + " / (0UL - (unsigned long)" + S + ")); else " + Trip + " = -1; ";
    break;
  }
  // The counter must reach its last value without leaving its type.
  if (C.getTypeSize(L.Counter->getType()) < 64)
    R += "if (" + Trip + " > 0 && (long)(" + T + ")((long)" + A + " + " + Trip + " * " + S + ") != (long)" +
         A + " + " + Trip + " * " + S + ") " + Trip + " = -1; ";
  else
    R += "if (" + Trip + " < 0) " + Trip + " = -1; ";
  return R;
}

std::string tripExpression(ASTContext &C, const CanonicalLoop &L, const std::string &First,
                           const std::string &Bound) {
  std::string CT = typeText(C, L.Common), U = unsignedCommon(C, L);
  std::string F = "(" + CT + ")(" + First + ")", B = "(" + CT + ")(" + Bound + ")";
  std::string Up = "(unsigned long)(" + U + ")((" + U + ")" + B + " - (" + U + ")" + F + ")";
  std::string Down = "(unsigned long)(" + U + ")((" + U + ")" + F + " - (" + U + ")" + B + ")";
  uint64_t Abs = L.StepConst < 0 ? 0 - static_cast<uint64_t>(L.StepConst) : L.StepConst;
  std::string S = std::to_string(Abs) + "UL";
  switch (L.Rel) {
  case BO_LT:
    return "(" + F + " < " + B + " ? (long)((" + Up + " - 1UL) / " + S + " + 1UL) : 0L)";
  case BO_LE:
    return "(" + F + " <= " + B + " ? (long)(" + Up + " / " + S + " + 1UL) : 0L)";
  case BO_GT:
    return "(" + F + " > " + B + " ? (long)((" + Down + " - 1UL) / " + S + " + 1UL) : 0L)";
  case BO_GE:
    return "(" + F + " >= " + B + " ? (long)(" + Down + " / " + S + " + 1UL) : 0L)";
  default:
    return "(long)(" + (L.StepConst > 0 ? Up : Down) + " / " + S + ")";
  }
}

} // namespace cofuse
