// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Scan.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

const VarDecl *rootVariable(const Expr *E) {
  for (;;) {
    E = E->IgnoreParens();
    if (auto *M = dyn_cast<MemberExpr>(E)) {
      if (M->isArrow())
        return nullptr;
      E = M->getBase();
    } else if (auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
      auto *Cast = dyn_cast<ImplicitCastExpr>(S->getBase()->IgnoreParens());
      if (!Cast || Cast->getCastKind() != CK_ArrayToPointerDecay)
        return nullptr;
      E = Cast->getSubExpr();
    } else if (auto *U = dyn_cast<UnaryOperator>(E)) {
      if (U->getOpcode() != UO_Real && U->getOpcode() != UO_Imag)
        return nullptr;
      E = U->getSubExpr();
    } else if (auto *D = dyn_cast<DeclRefExpr>(E)) {
      return dyn_cast<VarDecl>(D->getDecl());
    } else {
      return nullptr;
    }
  }
}

static const Type *plain(QualType T) { return T.getCanonicalType().getUnqualifiedType().getTypePtr(); }

bool WriteSet::mayWrite(QualType T) const {
  for (const Type *W : Types)
    if (W == plain(T) || W->isCharType() || W->isRecordType())
      return true;
  return false;
}

void FunctionScan::collect(const Stmt *S, WriteSet &W, llvm::DenseSet<const FunctionDecl *> &Seen) {
  if (!S)
    return;
  auto Target = [&](const Expr *E) {
    if (const VarDecl *V = rootVariable(E))
      W.Variables.insert(V->getCanonicalDecl());
    E = E->IgnoreParens();
    if (isa<DeclRefExpr>(E))
      return;
    W.Types.insert(plain(E->getType()));
    if (auto *U = dyn_cast<UnaryOperator>(E)) // part of a complex object
      if (U->getOpcode() == UO_Real || U->getOpcode() == UO_Imag)
        W.Types.insert(plain(U->getSubExpr()->getType()));
  };
  if (auto *B = dyn_cast<BinaryOperator>(S)) {
    if (B->isAssignmentOp())
      Target(B->getLHS());
  } else if (auto *U = dyn_cast<UnaryOperator>(S)) {
    if (U->isIncrementDecrementOp())
      Target(U->getSubExpr());
    // A scalar whose address leaves may be written through it.
    if (U->getOpcode() == UO_AddrOf && isa<DeclRefExpr>(U->getSubExpr()->IgnoreParens()))
      Target(U->getSubExpr());
  } else if (auto *Call = dyn_cast<CallExpr>(S)) {
    const FunctionDecl *FD = Call->getDirectCallee(), *Def = nullptr;
    if (FD && FD->hasBody(Def) && Seen.insert(Def).second)
      collect(Def->getBody(), W, Seen);
  } else if (auto *DS = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : DS->decls())
      if (auto *V = dyn_cast<VarDecl>(D))
        if (V->hasInit())
          collect(V->getInit(), W, Seen);
    return;
  }
  for (const Stmt *Child : S->children())
    collect(Child, W, Seen);
}

WriteSet FunctionScan::writes(const Stmt *S) {
  WriteSet W;
  llvm::DenseSet<const FunctionDecl *> Seen;
  collect(S, W, Seen);
  return W;
}

void FunctionScan::collectTaken(const Stmt *S) {
  if (!S)
    return;
  if (auto *U = dyn_cast<UnaryOperator>(S))
    if (U->getOpcode() == UO_AddrOf)
      if (const VarDecl *V = rootVariable(U->getSubExpr()))
        Taken.insert(V->getCanonicalDecl());
  for (const Stmt *Child : S->children())
    collectTaken(Child);
}

/// Subscripted: the parent of S takes an element right away.
void FunctionScan::collectExposed(const Stmt *S, llvm::DenseSet<const VarDecl *> &Set, bool Subscripted) {
  if (!S)
    return;
  const Expr *Reached = nullptr;
  if (auto *K = dyn_cast<CastExpr>(S)) {
    if (K->getCastKind() == CK_ArrayToPointerDecay && !Subscripted)
      Reached = K->getSubExpr();
  } else if (auto *U = dyn_cast<UnaryOperator>(S)) {
    if (U->getOpcode() == UO_AddrOf)
      Reached = U->getSubExpr();
  }
  if (Reached)
    if (const VarDecl *V = rootVariable(Reached))
      Set.insert(V->getCanonicalDecl());
  bool Inside = isa<ArraySubscriptExpr>(S) || (Subscripted && isa<ParenExpr>(S));
  for (const Stmt *Child : S->children())
    collectExposed(Child, Set, Inside);
}

bool FunctionScan::neverExposed(const VarDecl *V, const FunctionDecl *In) {
  auto Exposes = [&](const FunctionDecl *F) {
    auto It = Exposed.find(F);
    if (It == Exposed.end()) {
      llvm::DenseSet<const VarDecl *> Set;
      if (F)
        collectExposed(F->getBody(), Set, false);
      else
        for (const Expr *E : GlobalInits)
          collectExposed(E, Set, false);
      It = Exposed.try_emplace(F, std::move(Set)).first;
    }
    return It->second.count(V->getCanonicalDecl()) != 0;
  };
  if (V->hasLocalStorage())
    return !Exposes(In);
  return !V->isExternallyVisible() && !Exposes(nullptr) && llvm::none_of(AllFunctions, Exposes);
}

const Expr *FunctionScan::lastingInit(const VarDecl *V, const FunctionDecl *In) {
  if (!V->getType()->isArithmeticType() || V->getType().isVolatileQualified() ||
      ScalarStores.count(V->getCanonicalDecl()))
    return nullptr;
  auto Changed = [&](const FunctionDecl *F) {
    auto It = OfFunction.find(F);
    if (It == OfFunction.end())
      It = OfFunction.try_emplace(F, writes(F->getBody())).first;
    return It->second.contains(V) || addressTaken(V, F);
  };
  if (V->hasLocalStorage())
    return isa<ParmVarDecl>(V) || !V->getInit() || Changed(In) ? nullptr : V->getInit();
  if (V->isExternallyVisible() || !V->getAnyInitializer())
    return nullptr;
  return llvm::any_of(AllFunctions, Changed) ? nullptr : V->getAnyInitializer();
}

bool FunctionScan::addressTaken(const VarDecl *V, const FunctionDecl *In) {
  if (In && Scanned.insert(In).second)
    collectTaken(In->getBody());
  return Taken.count(V->getCanonicalDecl());
}

} // namespace cofuse
