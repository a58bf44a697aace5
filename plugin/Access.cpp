// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lvalues of the body: which of the task's accesses, captured scalars, locals or reductions they are.
#include "Compile.h"
#include "clang/AST/Decl.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace cofuse {

/// Source text as the user wrote it, or printed if a macro made it.
static std::string sourceText(ASTContext &C, const Expr *E) {
  SourceRange R = E->getSourceRange();
  if (R.isValid() && !R.getBegin().isMacroID() && !R.getEnd().isMacroID()) {
    bool Invalid = false;
    StringRef T = Lexer::getSourceText(CharSourceRange::getTokenRange(R), C.getSourceManager(),
                                       C.getLangOpts(), &Invalid);
    if (!Invalid && !T.empty() && T.size() < 120 && !T.contains('\n'))
      return T.str();
  }
  return exprText(C, E);
}

/// An access is conditional if a region around it may be left out and its subscript does not tell.
bool Compiler::conditionalFor(const AccessInfo &A) const {
  for (const Region &R : Regions) {
    if (R.Loop < 0)
      return true;
    const InnerLoop &L = Inners[R.Loop];
    if (L.Positive)
      continue;
    if (L.Trip.empty() || L.Hull || !llvm::is_contained(A.Inner, unsigned(R.Loop)))
      return true;
  }
  return false;
}

int Compiler::accessFor(const AccessInfo &Key, const Expr *E) {
  for (size_t I = 0; I < Accesses.size(); ++I) {
    const AccessInfo &A = Accesses[I];
    if (A.Base == Key.Base && A.Type == Key.Type && A.Indirect == Key.Indirect && A.Offset == Key.Offset &&
        A.Inner == Key.Inner && A.Whole == Key.Whole && (!A.Indirect || A.Text == Key.Text))
      return I;
  }
  Accesses.push_back(Key);
  AccessInfo &A = Accesses.back();
  PresumedLoc P = C.getSourceManager().getPresumedLoc(C.getSourceManager().getExpansionLoc(E->getExprLoc()));
  if (P.isValid()) {
    A.Line = P.getLine();
    A.Column = P.getColumn();
  }
  A.Loc = E->getExprLoc();
  A.Range = E->getSourceRange();
  return Accesses.size() - 1;
}

std::string Compiler::emitSymbol(unsigned Id) {
  const Symbol &S = Symbols[Id];
  switch (S.K) {
  case Symbol::Invariant:
    return captured(COFUSE_I64, "(long)" + S.Text).Name;
  case Symbol::Counter: {
    int T = CounterTypes[S.Index];
    Value V = op("cf.iv " + llvm::Twine(S.Index) + " : " + memoryType(T), valueType(T));
    return toI64(V, T == COFUSE_U8 || T == COFUSE_U16 || T == COFUSE_U32 || T == COFUSE_U64).Name;
  }
  case Symbol::Inner:
    return Inners[S.Index].Count;
  }
  return "%bad";
}

/// Value of a polynomial, i64.
std::string Compiler::emitPoly(const Poly &P) {
  std::string Sum;
  for (auto &T : P.Terms) {
    std::string M;
    if (T.second != 1 || T.first.empty())
      M = integer(T.second, "i64").Name;
    for (unsigned Id : T.first) {
      std::string F = emitSymbol(Id);
      M = M.empty() ? F : op("arith.muli " + M + ", " + F + " : i64", "i64").Name;
    }
    Sum = Sum.empty() ? M : op("arith.addi " + Sum + ", " + M + " : i64", "i64").Name;
  }
  return Sum.empty() ? integer(0, "i64").Name : Sum;
}

std::string Compiler::emitOffset(const Address &A, bool WithPoly) {
  std::string Sum;
  if (WithPoly && !A.Offset.isZero())
    Sum = emitPoly(A.Offset);
  for (const std::string &X : A.Extra)
    Sum = Sum.empty() ? X : op("arith.addi " + Sum + ", " + X + " : i64", "i64").Name;
  return Sum.empty() ? integer(0, "i64").Name : Sum;
}

/// Where an affine subscript tells less than the extents of the array it goes into: the runtime could not
/// copy an array that is no store, because some of the addresses may lie outside of it.
bool Compiler::wholeObject(AccessInfo &Key) const {
  auto It = ArrayObjects.find(Key.Base);
  if (It == ArrayObjects.end() || !It->second.Root || insideObject(Key))
    return false;
  const VarDecl *Root = It->second.Root;
  if (Writes.contains(Root))
    return false;
  return Key.Unbounded || (conditionalFor(Key) && Scan.neverExposed(Root, Function));
}

bool Compiler::memoryPlace(const Expr *E, const Address &A, int Type, Location &P) {
  P.Type = Type;
  if (!A.Slot.empty()) {
    P.K = Location::Local;
    P.Slot = A.Slot;
    if (!A.Offset.isZero() || !A.Extra.empty()) {
      std::string Off = emitOffset(A, true);
      P.Slot = op("llvm.getelementptr " + A.Slot + "[" + Off + "] : (!llvm.ptr, i64) -> !llvm.ptr, i8",
                  "!llvm.ptr")
                   .Name;
    }
    return !bad();
  }
  if (A.Base < 0)
    return fail(DiagId::BaseVaries, E);
  AccessInfo Key{};
  Key.Base = A.Base;
  Key.Type = Type;
  Key.Text = sourceText(C, E);
  Poly Rest;
  std::map<unsigned, Poly> Coef;
  bool Affine = A.Extra.empty() && A.Offset.split(Symbols, Rest, Coef);
  if (Affine) {
    for (auto &T : Coef)
      if (Symbols[T.first].K == Symbol::Inner)
        Key.Inner.push_back(Symbols[T.first].Index);
    llvm::sort(Key.Inner);
    Affine = Key.Inner.size() <= COFUSE_MAX_INNER;
  }
  P.K = Location::Memory;
  if (Affine) {
    Key.Offset = A.Offset;
    for (unsigned L : Key.Inner)
      Key.Unbounded |= Inners[L].Trip.empty();
    Affine = !wholeObject(Key);
  }
  if (Affine) {
    for (unsigned L : Key.Inner)
      P.Suffix += (P.Suffix.empty() ? "(" : ", ") + Inners[L].Count;
    if (!P.Suffix.empty())
      P.Suffix += ")";
  } else {
    Key.Inner.clear();
    Key.Offset = Poly();
    Key.Unbounded = false;
    Key.Indirect = true;
    auto It = ArrayObjects.find(A.Base);
    if (It != ArrayObjects.end() && (It->second.Root || !conditionalFor(Key)))
      Key.Whole = It->second.Size;
    P.Suffix = " at " + emitOffset(A, true);
  }
  P.Index = accessFor(Key, E);
  return !bad();
}

/// A variable that nothing but this function can name is captured; anything else may be a store.
bool Compiler::capturable(const Expr *E) {
  const VarDecl *Root = rootVariable(E);
  bool Whole = isa<DeclRefExpr>(E) || isa<MemberExpr>(E);
  return Root && Whole && !Bindings.count(Root) && Root->hasLocalStorage() && !insideNest(Root) &&
         !Writes.contains(Root) && !Scan.addressTaken(Root, Function) &&
         !Scan.ScalarStores.count(Root->getCanonicalDecl()) && invariant(E);
}

bool Compiler::place(const Expr *E, Location &P) {
  E = E->IgnoreParens();
  if (bad())
    return false;
  QualType T = E->getType();
  if (T.isVolatileQualified() || T->isAtomicType())
    return fail(DiagId::Volatile, E);
  int Type = typeCode(C, T);
  if (Type < 0)
    return fail(DiagId::TypeKind, E, T.getAsString());
  if (auto *U = dyn_cast<UnaryOperator>(E))
    if ((U->getOpcode() == UO_Real || U->getOpcode() == UO_Imag) &&
        U->getSubExpr()->getType()->isAnyComplexType()) {
      int Half = U->getOpcode() == UO_Imag;
      Location Halves[2];
      if (!placeComplex(U->getSubExpr(), Halves, Half))
        return false;
      P = Halves[Half];
      return true;
    }
  P.Type = Type;
  int R = reductionOf(E);
  if (R >= 0) {
    P.K = Location::Reduction;
    P.Index = R;
    if (Reductions[R].Section)
      P.Suffix = " at " + sectionOffset(E, R);
    return !bad();
  }
  if (auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V)
      return fail(DiagId::ExprKind, E, "name");
    auto It = Bindings.find(V);
    if (It != Bindings.end()) {
      const Binding &B = It->second;
      switch (B.K) {
      case Binding::Counter:
        P.K = Location::Counter;
        P.Index = B.Index;
        return true;
      case Binding::Inner:
        P.K = Location::Ssa;
        P.Slot = B.Slot;
        return true;
      case Binding::Local:
        P.K = Location::Local;
        P.Slot = B.Slot;
        return true;
      default:
        return fail(DiagId::ExprKind, E, "pointer");
      }
    }
    if (V->isStaticLocal() && (insideNest(V) || Declared.count(V)))
      return fail(DiagId::StaticLocal, E, V->getName());
    if (Writes.contains(V) && !IsTask)
      return fail(DiagId::SharedWrite, E, V->getName());
  }
  if (capturable(E)) {
    for (auto *M = dyn_cast<MemberExpr>(E); M; M = dyn_cast<MemberExpr>(M->getBase()->IgnoreParens()))
      if (auto *F = dyn_cast<FieldDecl>(M->getMemberDecl())) {
        if (F->isBitField())
          return fail(DiagId::BitField, E, F->getName());
        if (F->getParent()->isUnion())
          return fail(DiagId::UnionMember, E, F->getName());
      }
    Value V = captured(Type, exprText(C, E));
    P.K = Location::Captured;
    P.Slot = V.Name;
    return !bad();
  }
  Address A;
  if (!address(E, A))
    return false;
  return memoryPlace(E, A, Type, P);
}

Value Compiler::captured(int Type, const std::string &Text) {
  size_t I = 0;
  while (I < Scalars.size() && (Scalars[I].Type != Type || Scalars[I].Text != Text))
    ++I;
  if (I == Scalars.size())
    Scalars.push_back({Type, Text});
  Value V = op("cf.scalar " + llvm::Twine(I) + " : " + memoryType(Type), memoryType(Type));
  return Type == COFUSE_BOOL ? op("arith.trunci " + V.Name + " : i8 to i1", "i1") : V;
}

Value Compiler::load(const Location &P) {
  if (bad())
    return Value();
  std::string M = memoryType(P.Type);
  Value V;
  switch (P.K) {
  case Location::Memory: {
    AccessInfo &A = Accesses[P.Index];
    if (A.Indirect || !Written.count(P.Index))
      A.Read = true;
    keepFacts(A);
    if (!conditionalFor(A))
      A.AnyUncond = true;
    V = op("cf.load " + llvm::Twine(P.Index) + P.Suffix + " : " + M, M);
    break;
  }
  case Location::Local:
    V = op("llvm.load " + P.Slot + " : !llvm.ptr -> " + M, M);
    break;
  case Location::Reduction:
    V = op("cf.red " + llvm::Twine(P.Index) + P.Suffix + " : " + M, M);
    break;
  case Location::Counter:
    V = op("cf.iv " + llvm::Twine(P.Index) + " : " + M, M);
    break;
  case Location::Captured:
  case Location::Ssa: // already a value
    V.Name = P.Slot;
    V.Type = valueType(P.Type);
    return V;
  case Location::None:
    return Value();
  }
  return P.Type == COFUSE_BOOL ? op("arith.trunci " + V.Name + " : i8 to i1", "i1") : V;
}

void Compiler::store(const Location &P, Value V) {
  if (bad())
    return;
  std::string M = memoryType(P.Type);
  if (P.Type == COFUSE_BOOL)
    V = op("arith.extui " + V.Name + " : i1 to i8", "i8");
  switch (P.K) {
  case Location::Memory: {
    AccessInfo &A = Accesses[P.Index];
    A.Written = true;
    keepFacts(A);
    if (!A.Indirect) {
      if (!conditionalFor(A))
        A.AnyUncond = A.MustWrite = true;
      Written.insert(P.Index);
    }
    line("cf.store " + V.Name + ", " + llvm::Twine(P.Index) + P.Suffix + " : " + M);
    return;
  }
  case Location::Local:
    line("llvm.store " + V.Name + ", " + P.Slot + " : " + M + ", !llvm.ptr");
    return;
  case Location::Reduction:
    line("cf.setred " + V.Name + ", " + llvm::Twine(P.Index) + P.Suffix + " : " + M);
    return;
  default:
    failAt(DiagId::SharedWrite, Nest->getBeginLoc(), {}, "a value");
  }
}

} // namespace cofuse
