// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compile.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/TargetInfo.h"

using namespace clang;

namespace cofuse {

// ---- types

static const struct {
  const char *Memory;
  unsigned Bytes;
} TypeTable[] = {
#define COFUSE_TYPE(name, bytes, mlir, is_signed, is_float) {mlir, bytes},
#include "cofuse/descriptor.def"
#undef COFUSE_TYPE
};

int typeCode(ASTContext &C, QualType T) {
  T = T.getCanonicalType().getUnqualifiedType();
  if (auto *ET = T->getAs<EnumType>())
    T = ET->getDecl()->getIntegerType().getCanonicalType().getUnqualifiedType();
  if (T.isNull() || T->isAtomicType() || T->isBitIntType())
    return -1;
  if (T->isBooleanType())
    return COFUSE_BOOL;
  if (T->isSpecificBuiltinType(BuiltinType::Float))
    return COFUSE_F32;
  if (T->isSpecificBuiltinType(BuiltinType::Double))
    return COFUSE_F64;
  if (!T->isIntegerType())
    return -1;
  bool U = T->isUnsignedIntegerType();
  switch (C.getTypeSize(T)) {
  case 8:
    return U ? COFUSE_U8 : COFUSE_I8;
  case 16:
    return U ? COFUSE_U16 : COFUSE_I16;
  case 32:
    return U ? COFUSE_U32 : COFUSE_I32;
  case 64:
    return U ? COFUSE_U64 : COFUSE_I64;
  }
  return -1;
}

const char *memoryType(int Code) { return TypeTable[Code].Memory; }
std::string valueType(int Code) { return Code == COFUSE_BOOL ? "i1" : TypeTable[Code].Memory; }
unsigned typeBytes(int Code) { return TypeTable[Code].Bytes; }

const char *cType(int Code) {
  static const char *const Names[] = {"signed char", "unsigned char", "short", "unsigned short",
                                      "int",         "unsigned int",  "long",  "unsigned long",
                                      "_Bool",       "float",         "double"};
  return Names[Code];
}

// ---- faults

Compiler::Compiler(ASTContext &C, const CodeGenOptions &CG, FunctionScan &Scan, const FunctionDecl *Function,
                   Directive &D, const CallExpr *Marker, unsigned Number)
    : C(C), CG(CG), Scan(Scan), Function(Function), D(D), Marker(Marker), Number(Number) {}

bool Compiler::failAt(DiagId Id, SourceLocation L, SourceRange R, StringRef A0, StringRef A1) {
  if (!Failed)
    D.Findings.push_back(makeFinding(C.getSourceManager(), C.getLangOpts(), Id, L, R, A0, A1));
  Failed = true;
  if (!isErrorDiag(Id))
    D.Refused = true;
  return false;
}

bool Compiler::fail(DiagId Id, const Stmt *S, StringRef A0, StringRef A1) {
  auto *E = dyn_cast<Expr>(S);
  return failAt(Id, E ? E->getExprLoc() : S->getBeginLoc(), E ? S->getSourceRange() : SourceRange(), A0, A1);
}

Value Compiler::failValue(DiagId Id, const Stmt *S, StringRef A0, StringRef A1) {
  fail(Id, S, A0, A1);
  return Value();
}

// ---- the construct

void Compiler::collectDeclared(const Stmt *S) {
  if (!S)
    return;
  if (auto *DS = dyn_cast<DeclStmt>(S))
    for (const Decl *X : DS->decls())
      if (auto *V = dyn_cast<VarDecl>(X))
        Declared.insert(V);
  for (const Stmt *Child : S->children())
    collectDeclared(Child);
}

void Compiler::setFunctionTarget(const FunctionDecl *FD) {
  if (C.getTargetInfo().getTriple().isAArch64()) {
    HasFma = true;
    return;
  }
  llvm::StringMap<bool> Features;
  if (FD)
    C.getFunctionFeatureMap(Features, FD);
  HasFma = Features.lookup("fma") || Features.lookup("fma4");
}

bool Compiler::begin(const Stmt *S) {
  Nest = S;
  Writes = Scan.writes(S);
  collectDeclared(S);
  setFunctionTarget(Function);
  if (C.getLangOpts().getSignedOverflowBehavior() == LangOptions::SOB_Trapping)
    return fail(DiagId::Trapping, S);
  return true;
}

bool Compiler::invariantBound(const Expr *E) {
  if (E->HasSideEffects(C))
    return fail(DiagId::SideEffectBound, E);
  if (invariant(E))
    return true;
  struct Walk {
    const std::vector<CanonicalLoop> &Loops;
    bool find(const Stmt *S) {
      if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
        for (auto &L : Loops)
          if (R->getDecl() == L.Counter)
            return true;
      for (const Stmt *X : S->children())
        if (X && find(X))
          return true;
      return false;
    }
  } W{Loops};
  return fail(W.find(E) ? DiagId::NonRectangular : DiagId::BoundVaries, E);
}

/// The first expression in S that changes V by name.
static const Expr *findWrite(const Stmt *S, const VarDecl *V) {
  if (!S)
    return nullptr;
  const Expr *Target = nullptr;
  if (auto *B = dyn_cast<BinaryOperator>(S))
    Target = B->isAssignmentOp() ? B->getLHS() : nullptr;
  else if (auto *U = dyn_cast<UnaryOperator>(S))
    Target = U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf ? U->getSubExpr() : nullptr;
  auto *Ref = Target ? dyn_cast<DeclRefExpr>(Target->IgnoreParens()) : nullptr;
  if (Ref && Ref->getDecl() == V)
    return cast<Expr>(S);
  for (const Stmt *X : S->children())
    if (const Expr *E = findWrite(X, V))
      return E;
  return nullptr;
}

bool Compiler::bindLoops(const ForStmt *F) {
  if (D.Collapse > COFUSE_MAX_DIMS)
    return fail(DiagId::TooManyLoops, F, std::to_string(int(COFUSE_MAX_DIMS)));
  for (unsigned K = 0; K < D.Collapse; ++K) {
    CanonicalLoop L;
    LoopFault Fault{};
    if (!parseCanonical(C, F, L, Fault))
      return fail(Fault.Id, Fault.Where);
    Loops.push_back(L);
    if (K + 1 == D.Collapse)
      break;
    const Stmt *Inside = F->getBody();
    while (auto *Block = dyn_cast<CompoundStmt>(Inside)) {
      const Stmt *Only = nullptr;
      unsigned Count = 0;
      for (const Stmt *X : Block->body())
        if (!isa<NullStmt>(X)) {
          Only = X;
          ++Count;
        }
      if (Count != 1)
        break;
      Inside = Only;
    }
    F = dyn_cast<ForStmt>(Inside);
    if (!F)
      return fail(DiagId::NotPerfect, Inside, std::to_string(D.Collapse));
  }
  for (unsigned K = 0; K < Loops.size(); ++K) {
    const CanonicalLoop &L = Loops[K];
    // Writes of the loop's own control do not count: look at the innermost body and the other loops.
    const Stmt *Innermost = Loops.back().For->getBody();
    if (const Expr *Write = findWrite(Innermost, L.Counter))
      return fail(DiagId::CounterWrite, Write, L.Counter->getName());
    if (Scan.writes(Innermost).contains(L.Counter))
      return failAt(DiagId::CounterWrite, L.For->getForLoc(), {}, L.Counter->getName());
    for (unsigned J = 0; J < K; ++J)
      if (Loops[J].Counter == L.Counter)
        return fail(DiagId::LoopInit, L.For);
    CounterTypes.push_back(typeCode(C, L.Counter->getType()));
    Binding B;
    B.K = Binding::Counter;
    B.Index = K;
    B.Type = CounterTypes.back();
    B.Value = Poly::symbol(Symbols.intern(Symbol::Counter, K, ""));
    Bindings[L.Counter] = B;
  }
  for (const CanonicalLoop &L : Loops)
    if (!invariantBound(L.First) || !invariantBound(L.Bound) || (L.Step && !invariantBound(L.Step)))
      return false;
  return true;
}

bool Compiler::bindClauses() {
  auto Bind = [&](const ListItem &Item, bool First) {
    const Expr *E = Marker->getArg(Item.Arg)->IgnoreParenImpCasts();
    auto *Ref = dyn_cast<DeclRefExpr>(E);
    auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const char *Clause = First ? "firstprivate" : "private";
    if (!V)
      return fail(DiagId::BadListItem, E, exprText(C, E), Clause);
    if (Bindings.count(V) && Bindings[V].K == Binding::Counter)
      return true; // the counter is private anyway
    QualType T = V->getType();
    int64_t Count = 1;
    while (auto *A = C.getAsConstantArrayType(T)) {
      Count *= A->getSize().getZExtValue();
      T = A->getElementType();
    }
    bool Complex = T->isAnyComplexType();
    int Type = Complex ? complexCode(C, T) : typeCode(C, T);
    if (Type < 0 || (First && Count != 1))
      return fail(DiagId::BadListItem, E, exprText(C, E), Clause);
    Binding B;
    B.K = Binding::Local;
    B.Type = Type;
    if (Complex) {
      std::string Name = V->getName().str();
      ComplexValue Old;
      if (First) {
        Old.Re = captured(halfType(Type), "__real__ " + Name);
        Old.Im = captured(halfType(Type), "__imag__ " + Name);
      }
      B.Slot = B.Target.Slot = localComplex(Type, Count);
      Location P[2];
      if (First) {
        slotPlaces(B.Slot, Type, P);
        storeComplex(P, Old);
      }
      Bindings[V] = B;
      return true;
    }
    if (First) { // read before the name is bound to the private copy
      Value Old = captured(Type, V->getName().str());
      B.Slot = local(Type);
      Location P{Location::Local, -1, "", B.Slot, Type};
      store(P, Old);
    } else {
      B.Slot = local(Type, Count);
    }
    B.Target.Slot = B.Slot;
    Bindings[V] = B;
    return true;
  };
  for (const ListItem &I : D.Privates)
    if (!Bind(I, false))
      return false;
  for (const ListItem &I : D.FirstPrivates)
    if (!Bind(I, true))
      return false;
  return true;
}

void Compiler::compileForall(const ForStmt *F) {
  if (!begin(F))
    return;
  if (!bindLoops(F))
    return;
  const Stmt *BodyStmt = Loops.back().For->getBody();
  // From here on only the innermost body counts: the loops write their counters themselves.
  Writes = Scan.writes(BodyStmt);
  if (!bindReductions() || !bindClauses() || !checkReductionUses(BodyStmt) || !checkPrivates(BodyStmt))
    return;
  finish(BodyStmt);
  if (!bad())
    warnPrivatesAfter(F);
}

void Compiler::compileTask(const Stmt *S) {
  IsTask = true;
  if (!begin(S))
    return;
  finish(S);
}

void Compiler::finish(const Stmt *BodyStmt) {
  LoopFrames.push_back({});
  if (jumps(BodyStmt) & JumpSkips) {
    LoopFrames.back().Skip = local(COFUSE_U8);
    setFlag(LoopFrames.back().Skip, false);
  }
  if (!stmt(BodyStmt) || bad())
    return;
  if (Accesses.size() > 65535 || Scalars.size() > 255 || Reductions.size() > 255) {
    fail(DiagId::TooMany, BodyStmt, Scalars.size() > 255 ? "scalars" : "accesses");
    return;
  }
  if (!checkCarried())
    return;
  emitPrefix();
  if (!bad())
    analyse();
}

/// Refuses 'a[i] = a[i-1]': two accesses of one base whose addresses differ by a small multiple of
/// what one iteration of a single loop moves. Only accesses that every iteration performs prove it.
bool Compiler::checkCarried() {
  for (const AccessInfo &W : Accesses) {
    if (!W.MustWrite || W.Indirect || !W.Inner.empty())
      continue;
    for (const AccessInfo &X : Accesses) {
      if (&X == &W || !X.AnyUncond || X.Indirect || !X.Inner.empty() || X.Base != W.Base)
        continue;
      Poly RW, RX;
      std::map<unsigned, Poly> CW, CX;
      if (!W.Offset.split(Symbols, RW, CW) || !X.Offset.split(Symbols, RX, CX) || CW != CX)
        continue;
      Poly Distance = RX;
      Distance.add(RW, -1);
      if (Distance.isZero())
        continue;
      for (auto &Term : CW) {
        const CanonicalLoop &L = Loops[Symbols[Term.first].Index];
        if (!L.StepConst)
          continue;
        int64_t Reach = 8;
        Expr::EvalResult A, B;
        if (L.First->EvaluateAsInt(A, C) && L.Bound->EvaluateAsInt(B, C)) {
          int64_t Span = B.Val.getInt().getExtValue() - A.Val.getInt().getExtValue();
          Reach = (Span < 0 ? -Span : Span) / (L.StepConst < 0 ? -L.StepConst : L.StepConst) - 1;
          Reach = std::min<int64_t>(Reach, 64);
        }
        for (int64_t K = 1; K <= Reach; ++K)
          if (Distance == Term.second.scaled(K * L.StepConst) ||
              Distance == Term.second.scaled(-K * L.StepConst)) {
            failAt(DiagId::Carried, W.Loc, W.Range, W.Text, X.Text);
            Finding Other;
            Other.At = placeOf(C.getSourceManager(), X.Loc);
            Other.Text = "the other access is here";
            D.Findings.back().Notes.push_back(Other);
            return false;
          }
      }
    }
  }
  return true;
}

} // namespace cofuse
