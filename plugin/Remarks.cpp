// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user should know about a loop that becomes a task: private variables whose values the plain program
// passes on, and accesses that make the task slow.
#include "Compile.h"
#include "Pragma.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

namespace {

/// Follows the program from some point to the first mention of a variable. Only a read that no write can
/// come before is reported, so that there are no false alarms.
class FirstUse {
public:
  explicit FirstUse(const VarDecl *V) : V(V) {}
  enum Use { None, Read, Stop }; ///< Stop: written, perhaps, or out of sight
  const Expr *Where = nullptr;   ///< of the read

  Use of(const Stmt *S) {
    if (!S || isa<UnaryExprOrTypeTraitExpr>(S))
      return None;
    if (auto *R = dyn_cast<DeclRefExpr>(S)) {
      if (R->getDecl() != V)
        return None;
      Where = R;
      return Read;
    }
    if (auto *B = dyn_cast<BinaryOperator>(S)) {
      if (B->getOpcode() == BO_Assign) {
        Use U = of(B->getRHS());
        const Expr *L = B->getLHS()->IgnoreParens();
        bool Element = false;
        while (auto *A = dyn_cast<ArraySubscriptExpr>(L)) {
          if (U == None)
            U = of(A->getIdx());
          L = A->getBase()->IgnoreParenImpCasts();
          Element = true;
        }
        auto *R = dyn_cast<DeclRefExpr>(L);
        if (R && R->getDecl() == V)
          return U == None ? Stop : U;
        return U != None || Element ? U : of(L);
      }
      if (B->isCompoundAssignmentOp())
        return sequence({B->getRHS(), B->getLHS()});
    }
    if (auto *U = dyn_cast<UnaryOperator>(S))
      if (U->getOpcode() == UO_AddrOf && mentions(U))
        return Stop;
    if (auto *K = dyn_cast<CastExpr>(S)) // an array handed to a function may be written there
      if (K->getCastKind() == CK_ArrayToPointerDecay && isa<DeclRefExpr>(K->getSubExpr()->IgnoreParens()) &&
          mentions(K) && !InSubscript)
        return Stop;
    if (auto *Call = dyn_cast<CallExpr>(S))
      if (isMarker(Call))
        return None;
    if (auto *I = dyn_cast<IfStmt>(S)) {
      auto *Call = dyn_cast<CallExpr>(I->getCond()->IgnoreParenImpCasts());
      if (Call && isMarker(Call) && mentions(Call)) // another directive with a clause about it
        return None;
      Use U = of(I->getCond());
      if (U != None)
        return U;
      Use A = of(I->getThen()), B = of(I->getElse());
      return A == Read || B == Read ? Read : A == Stop || B == Stop ? Stop : None;
    }
    if (auto *F = dyn_cast<ForStmt>(S))
      return sequence({F->getInit(), F->getCond(), F->getBody(), F->getInc()});
    if (isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S))
      return Stop;
    bool Old = InSubscript;
    InSubscript = isa<ArraySubscriptExpr>(S);
    Use U = None;
    for (const Stmt *X : S->children())
      if (U == None)
        U = of(X);
    InSubscript = Old;
    return U;
  }

  /// What happens to V after Target, which lies in S.
  Use after(const Stmt *S, const Stmt *Target) {
    if (S == Target)
      return None;
    const Stmt *Child = nullptr;
    for (const Stmt *X : S->children())
      if (X && contains(X, Target))
        Child = X;
    if (!Child)
      return Stop;
    Use U = after(Child, Target);
    if (U != None)
      return U;
    if (auto *Block = dyn_cast<CompoundStmt>(S)) {
      bool Behind = false;
      for (const Stmt *X : Block->body()) {
        if (Behind && U == None)
          U = of(X);
        Behind |= X == Child;
      }
      return U;
    }
    // Around again; whatever that finds, the way out is looked at as well.
    if (auto *F = dyn_cast<ForStmt>(S))
      U = sequence({F->getInc(), F->getCond(), F->getBody()});
    else if (auto *W = dyn_cast<WhileStmt>(S))
      U = sequence({W->getCond(), W->getBody()});
    else if (auto *D = dyn_cast<DoStmt>(S))
      U = sequence({D->getCond(), D->getBody()});
    return U == Read ? Read : None;
  }

private:
  const VarDecl *V;
  bool InSubscript = false;

  Use sequence(std::initializer_list<const Stmt *> List) {
    for (const Stmt *S : List) {
      Use U = of(S);
      if (U != None)
        return U;
    }
    return None;
  }
  static bool isMarker(const CallExpr *E) {
    const FunctionDecl *FD = E->getDirectCallee();
    return FD && FD->getIdentifier() && FD->getIdentifier()->isStr(MarkerName);
  }
  bool mentions(const Stmt *S) const {
    if (!S)
      return false;
    if (auto *R = dyn_cast<DeclRefExpr>(S))
      return R->getDecl() == V;
    return llvm::any_of(S->children(), [&](const Stmt *X) { return mentions(X); });
  }
  static bool contains(const Stmt *S, const Stmt *Target) {
    if (S == Target)
      return true;
    return llvm::any_of(S->children(), [&](const Stmt *X) { return X && contains(X, Target); });
  }
};

} // namespace

static const VarDecl *variableOf(const CallExpr *Marker, const ListItem &Item) {
  auto *Ref = dyn_cast<DeclRefExpr>(Marker->getArg(Item.Arg)->IgnoreParenImpCasts());
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

/// Refuses a private variable that one iteration of the plain program hands to the next.
bool Compiler::checkPrivates(const Stmt *BodyStmt) {
  auto Check = [&](const ListItem &Item, bool First) {
    const VarDecl *V = variableOf(Marker, Item);
    if (!V || V->getType()->isArrayType() || (First && !Writes.contains(V)))
      return true;
    for (const CanonicalLoop &L : Loops)
      if (L.Counter == V)
        return true;
    FirstUse U(V);
    if (U.of(BodyStmt) == FirstUse::Read)
      return fail(DiagId::PrivateCarried, U.Where, V->getName());
    return true;
  };
  for (const ListItem &I : D.Privates)
    if (!Check(I, false))
      return false;
  for (const ListItem &I : D.FirstPrivates)
    if (!Check(I, true))
      return false;
  return true;
}

void Compiler::warnPrivatesAfter(const ForStmt *F) {
  auto Check = [&](const ListItem &Item) {
    const VarDecl *V = variableOf(Marker, Item);
    if (!V || !V->hasLocalStorage() || !Writes.contains(V))
      return;
    for (const CanonicalLoop &L : Loops)
      if (L.Counter == V)
        return;
    FirstUse U(V);
    if (U.after(Function->getBody(), F) == FirstUse::Read)
      D.Findings.push_back(makeFinding(C.getSourceManager(), C.getLangOpts(), DiagId::PrivateAfter,
                                       U.Where->getExprLoc(), U.Where->getSourceRange(), V->getName()));
  };
  for (const ListItem &I : D.Privates)
    Check(I);
  for (const ListItem &I : D.FirstPrivates)
    Check(I);
}

/// Remarks for -Rpass-analysis=cofuse: what costs time and can be seen without running the program.
void Compiler::analyse() {
  auto Add = [&](SourceLocation L, const std::string &Text) {
    Finding F;
    F.At = placeOf(C.getSourceManager(), L);
    F.Text = Text;
    D.Analysis.push_back(F);
  };
  for (const AccessInfo &A : Accesses) {
    std::string Name = "'" + A.Text + "'";
    auto It = ArrayObjects.find(A.Base);
    const VarDecl *Root = It == ArrayObjects.end() ? nullptr : It->second.Root;
    bool Plain = Root && Scan.neverExposed(Root, Function);
    if (A.Written && Plain)
      Add(A.Loc, Name + " is written and is no store: every rank runs the whole loop");
    else if (A.Written && A.Indirect)
      Add(A.Loc, Name + " is written through a subscript that depends on data: the loop runs serially");
    else if (A.Written && A.Unbounded)
      Add(A.Loc, Name + " is written in an inner loop whose bounds depend on data: the loop runs serially");
    else if (!Plain && (A.Indirect || A.Unbounded))
      Add(A.Loc,
          Name + (A.Indirect ? " has a subscript that depends on data: every rank needs the whole array"
                             : " is read in an inner loop whose bounds depend on data: every rank needs "
                               "the whole array"));
  }
  for (const ReductionInfo &R : Reductions)
    if (R.Section)
      Add(R.Target->getExprLoc(),
          "the result in '" + R.Label + "' is needed right after the loop: tasks that wait are run");
    else if (R.Var && R.Var->hasLocalStorage() && !*R.Part &&
             !Scan.ScalarStores.count(R.Var->getCanonicalDecl()))
      Add(R.Target->getExprLoc(),
          "the result in '" + R.Text +
              "', which is no store, is needed right after the loop: tasks that wait are run");
}

} // namespace cofuse
