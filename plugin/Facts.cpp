// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a condition says about loop counters: under 'if (j > 0)' the access u[i][j - 1] is made for j from 1
// on, so it stays inside its row. Each access keeps the facts that hold wherever it is made; they are
// evaluated when the task is issued, and the runtime leaves the other iterations out of the access's box.
#include "Compile.h"

using namespace clang;

namespace cofuse {

/// Facts from 'L Op R'.
void Compiler::comparisonFacts(BinaryOperatorKind Op, const Expr *L, const Expr *R, std::vector<Fact> &Out) {
  QualType T = L->getType();
  bool Unsigned = T->isUnsignedIntegerOrEnumerationType(), Wide = C.getTypeSize(T) == 64;
  if (Wide && !Unsigned && C.getLangOpts().getSignedOverflowBehavior() == LangOptions::SOB_Defined)
    return; // may have wrapped
  size_t OldChecks = Checks.size(), OldWatch = Watch.size(), OldFindings = D.Findings.size();
  bool OldRefused = D.Refused;
  auto PL = poly(L), PR = PL ? poly(R) : std::nullopt;
  Fact F;
  F.Needs.assign(Checks.begin() + OldChecks, Checks.end()); // for the fact, not for the loop
  Checks.resize(OldChecks);
  if (bad()) { // what cannot be evaluated at issue is just no fact
    Failed = false;
    D.Findings.resize(OldFindings);
    D.Refused = OldRefused;
    PR.reset();
  }
  if (!PL || !PR) {
    Watch.resize(OldWatch);
    return;
  }
  Poly Rest;
  std::map<unsigned, Poly> Coef;
  int64_t K;
  for (const Poly &P : {*PL, *PR}) { // polynomials are signed, and wrap; differences of these do not
    constexpr int64_t Max = int64_t(1) << 61;
    int64_t Min = Unsigned ? 0 : -Max;
    if (P.isConstant(K) && (K < Min || K > Max))
      return;
    if (Wide && !P.isConstant(K))
      F.Needs.push_back({P, Min, Max});
  }
  if (!Poly(*PL).add(*PR, -1).split(Symbols, Rest, Coef) || Coef.size() != 1 ||
      !Coef.begin()->second.isConstant(K) || (K != 1 && K != -1))
    return;
  for (const RangeCheck &X : F.Needs) { // over all iterations, so their number must be known
    Poly Fixed;
    std::map<unsigned, Poly> Moves;
    if (!X.Value.split(Symbols, Fixed, Moves))
      return;
    for (auto &M : Moves)
      if (Symbols[M.first].K == Symbol::Inner && Inners[Symbols[M.first].Index].Trip.empty())
        return;
  }
  F.Id = Coef.begin()->first;
  F.Bound = Rest.scaled(-K); // counter Op Bound
  if (K < 0)
    Op = Op == BO_EQ || Op == BO_NE ? Op : BinaryOperator::reverseComparisonOp(Op);
  auto Add = [&](Fact::Kind Kind, int64_t Shift) {
    Fact X = F;
    X.K = Kind;
    X.Bound.add(Poly::constant(Shift));
    Out.push_back(X);
  };
  switch (Op) {
  case BO_LT:
    return Add(Fact::AtMost, -1);
  case BO_LE:
    return Add(Fact::AtMost, 0);
  case BO_GT:
    return Add(Fact::AtLeast, 1);
  case BO_GE:
    return Add(Fact::AtLeast, 0);
  case BO_EQ:
    Add(Fact::AtLeast, 0);
    return Add(Fact::AtMost, 0);
  default:
    return Add(Fact::Differs, 0);
  }
}

/// Adds what holds if E is true, or false.
void Compiler::addFacts(const Expr *E, bool Truth, std::vector<Fact> &Out) {
  E = E->IgnoreParens();
  if (auto *U = dyn_cast<UnaryOperator>(E))
    if (U->getOpcode() == UO_LNot)
      return addFacts(U->getSubExpr(), !Truth, Out);
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->getOpcode() == (Truth ? BO_LAnd : BO_LOr)) {
      addFacts(B->getLHS(), Truth, Out);
      return addFacts(B->getRHS(), Truth, Out);
    }
    if (B->isComparisonOp() && B->getLHS()->getType()->isIntegralOrEnumerationType() &&
        B->getRHS()->getType()->isIntegralOrEnumerationType()) {
      auto Op = B->getOpcode();
      return comparisonFacts(Truth ? Op : BinaryOperator::negateComparisonOp(Op), B->getLHS(), B->getRHS(),
                             Out);
    }
  }
  if (!E->getType()->isIntegralOrEnumerationType() || E->getType()->isBooleanType())
    return;
  auto *Zero =
      IntegerLiteral::Create(C, llvm::APInt(C.getIntWidth(E->getType()), 0), E->getType(), E->getExprLoc());
  comparisonFacts(Truth ? BO_NE : BO_EQ, E, Zero, Out);
}

std::vector<Fact> Compiler::factsOf(const Expr *Cond, bool Truth) {
  std::vector<Fact> Out;
  if (Cond && !bad())
    addFacts(Cond, Truth, Out);
  return Out;
}

/// The access is made here: only facts that hold here remain.
void Compiler::keepFacts(AccessInfo &A) {
  std::vector<Fact> Here;
  for (const Region &R : Regions)
    for (const Fact &F : R.Facts)
      if (!llvm::is_contained(Here, F) && (!A.Made || llvm::is_contained(A.Facts, F)))
        Here.push_back(F);
  A.Facts = std::move(Here);
  A.Made = true;
}

/// Some iterations of the loops of its subscript are known to leave the access out.
bool Compiler::ranged(const AccessInfo &A) const {
  return !A.Indirect && conditional(A) && llvm::any_of(A.Facts, [&](const Fact &F) {
    const Symbol &S = Symbols[F.Id];
    return S.K == Symbol::Counter || llvm::is_contained(A.Inner, S.Index);
  });
}

bool Compiler::conditional(const AccessInfo &A) const {
  return A.Written ? !A.MustWrite || A.Indirect : !A.AnyUncond;
}

/// Declares Name + "l" and Name + "h": the values of symbol Id for which the access may be made.
std::string Compiler::rangeText(const AccessInfo &A, unsigned Id, const std::string &Name) {
  auto Text = [&](const Poly &P) {
    return "(long)(" + P.text([&](unsigned X) { return symbolText(X); }) + ")";
  };
  const std::string Lo = Name + "l", Hi = Name + "h";
  std::string R = "long " + Lo + " = -9223372036854775807L - 1L, " + Hi + " = 9223372036854775807L; ";
  for (const Fact &F : A.Facts) {
    const Symbol &S = Symbols[F.Id];
    bool Counter = S.K == Symbol::Counter;
    if (F.Id != Id || (F.K == Fact::Differs && !Counter && Inners[S.Index].Trip.empty()))
      continue;
    R += "{ int cofuse_k = 1; ";
    for (const RangeCheck &X : F.Needs)
      R += "{ " + extremesText(X.Value, "cofuse_lo", "cofuse_hi") + "if (cofuse_lo < " +
           std::to_string(X.Min + (X.Min == INT64_MIN)) + "L || cofuse_hi > " + std::to_string(X.Max) +
           "L) cofuse_k = 0; } ";
    R += "const long cofuse_x = " + Text(F.Bound) + "; ";
    if (F.K == Fact::AtLeast) {
      R += "if (cofuse_k && cofuse_x > " + Lo + ") " + Lo + " = cofuse_x; } ";
    } else if (F.K == Fact::AtMost) {
      R += "if (cofuse_k && cofuse_x < " + Hi + ") " + Hi + " = cofuse_x; } ";
    } else { // it tells something at the ends only
      std::string N = std::to_string(S.Index), First = "0L", Last;
      if (Counter) {
        First = "(long)cofuse_a" + N;
        Last = "(" + First + " + (cofuse_t" + N + " - 1L) * cofuse_s" + N + ")";
      } else {
        Last = "(" + Inners[S.Index].Trip + " - 1L)";
      }
      R +=
          "const long cofuse_y = " + First + ", cofuse_z = " + Last +
          "; const long cofuse_m = cofuse_y < cofuse_z ? cofuse_y : cofuse_z, cofuse_w = cofuse_y < cofuse_z "
          "? cofuse_z : cofuse_y; if (cofuse_k && cofuse_x == cofuse_m && " +
          Lo + " <= cofuse_m) " + Lo + " = cofuse_m + 1L; if (cofuse_k && cofuse_x == cofuse_w && " + Hi +
          " >= cofuse_w) " + Hi + " = cofuse_w - 1L; } ";
    }
  }
  return R;
}

} // namespace cofuse
