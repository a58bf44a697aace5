// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// float _Complex and double _Complex: a value is a pair of SSA values, memory is two accesses.
#include "Compile.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/TargetInfo.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace cofuse {

int complexCode(ASTContext &C, QualType T) {
  auto *X = T->getAs<ComplexType>();
  int Half = X && !T->isAtomicType() ? typeCode(C, X->getElementType()) : -1;
  return Half == COFUSE_F32 ? COFUSE_C32 : Half == COFUSE_F64 ? COFUSE_C64 : -1;
}

int halfType(int Code) { return Code == COFUSE_C32 ? COFUSE_F32 : COFUSE_F64; }

static Value used(Value V) { // has another use: no longer contracted
  V.Product = -1;
  return V;
}

// ---- memory

/// Only: just that part.
bool Compiler::placeComplex(const Expr *E, Location P[2], int Only) {
  E = E->IgnoreParens();
  if (bad())
    return false;
  QualType T = E->getType();
  if (T.isVolatileQualified() || T->isAtomicType())
    return fail(DiagId::Volatile, E);
  int Code = complexCode(C, T);
  if (Code < 0)
    return fail(DiagId::TypeKind, E, T.getAsString());
  int Half = halfType(Code);
  int64_t Bytes = typeBytes(Half);
  P[0].Type = P[1].Type = Half;
  int R = reductionOf(E);
  if (R >= 0 && Reductions[R].Section) { // one reduction of halves
    std::string Off = sectionOffset(E, R);
    if (bad())
      return false;
    for (int K = 0; K < 2; ++K) {
      P[K].K = Location::Reduction;
      P[K].Index = R;
      P[K].Suffix = " at " + Off;
      if (!K)
        Off = op("arith.addi " + Off + ", " + integer(Bytes, "i64").Name + " : i64", "i64").Name;
    }
    return true;
  }
  if (R >= 0) {
    for (int K = 0; K < 2; ++K) {
      P[K].K = Location::Reduction;
      P[K].Index = R + K;
    }
    return true;
  }
  if (auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(Ref->getDecl())) {
      auto It = Bindings.find(V);
      if (It != Bindings.end() && It->second.K == Binding::Inner) {
        P[0].K = P[1].K = Location::Ssa;
        P[0].Slot = It->second.Slot;
        P[1].Slot = It->second.Slot2;
        return true;
      }
      if (It == Bindings.end() && Writes.contains(V) && !IsTask)
        return fail(DiagId::SharedWrite, E, V->getName());
    }
  if (capturable(E)) {
    std::string Text = exprText(C, E);
    for (int K = 0; K < 2; ++K) {
      P[K].K = Location::Captured;
      P[K].Slot = captured(Half, (K ? "__imag__ (" : "__real__ (") + Text + ")").Name;
    }
    return !bad();
  }
  if (bad())
    return false;
  Address A;
  if (!address(E, A))
    return false;
  Address B = A;
  B.Offset.add(Poly::constant(Bytes));
  return (Only == 1 || memoryPlace(E, A, Half, P[0])) && (Only == 0 || memoryPlace(E, B, Half, P[1]));
}

ComplexValue Compiler::loadComplex(const Location P[2]) {
  ComplexValue V;
  V.Re = load(P[0]);
  V.Im = load(P[1]);
  return V;
}

void Compiler::storeComplex(const Location P[2], ComplexValue V) {
  if (bad())
    return;
  if (V.Real)
    V.Im = zero(V.Re.Type);
  store(P[0], V.Re);
  store(P[1], V.Im);
}

/// Storage for Count values; its halves lie at Slot and behind it.
std::string Compiler::localComplex(int Code, int64_t Count) { return local(halfType(Code), 2 * Count); }

void Compiler::slotPlaces(const std::string &Slot, int Code, Location P[2]) {
  int Half = halfType(Code);
  P[0] = {Location::Local, -1, "", Slot, Half};
  std::string Off = integer(typeBytes(Half), "i64").Name;
  P[1] = {Location::Local, -1, "",
          op("llvm.getelementptr " + Slot + "[" + Off + "] : (!llvm.ptr, i64) -> !llvm.ptr, i8", "!llvm.ptr")
              .Name,
          Half};
}

ComplexValue Compiler::convertComplex(ComplexValue V, QualType To, const Expr *E) {
  int Code = complexCode(C, To);
  if (bad())
    return V;
  if (Code < 0) {
    fail(DiagId::TypeKind, E, To.getAsString());
    return V;
  }
  std::string T = memoryType(halfType(Code));
  auto Part = [&](Value &P) {
    if (P.Type != T)
      P = op(std::string("arith.") + (T == "f64" ? "extf " : "truncf ") + P.Name + " : " + P.Type + " to " +
                 T,
             T);
  };
  Part(V.Re);
  if (!V.Real)
    Part(V.Im);
  return V;
}

Value Compiler::compareComplex(BinaryOperatorKind Op, ComplexValue L, ComplexValue R) {
  if (bad())
    return Value();
  if (L.Real)
    L.Im = zero(L.Re.Type);
  if (R.Real)
    R.Im = zero(R.Re.Type);
  Value A = compare(Op, L.Re, R.Re, false), B = compare(Op, L.Im, R.Im, false);
  return op(std::string(Op == BO_EQ ? "arith.andi " : "arith.ori ") + A.Name + ", " + B.Name + " : i1", "i1");
}

Value Compiler::complexNonZero(ComplexValue V) {
  if (bad())
    return Value();
  Value A = nonZero(V.Re), B = nonZero(V.Im);
  return op("arith.ori " + A.Name + ", " + B.Name + " : i1", "i1");
}

// ---- expressions

/// Functions of <complex.h> without effects other than errno.
static bool isPureComplex(StringRef Name) {
  static const llvm::StringSet<> Set{"cabs",  "carg",   "cexp",   "clog",   "csqrt", "cpow",  "csin",
                                     "ccos",  "ctan",   "casin",  "cacos",  "catan", "csinh", "ccosh",
                                     "ctanh", "casinh", "cacosh", "catanh", "cproj"};
  return Set.contains(Name) || (Name.ends_with("f") && Set.contains(Name.drop_back()));
}

/// creal, cimag, conj and calls of the mathematics library with complex arguments. V.Real for real results.
bool Compiler::complexCall(const CallExpr *E, ComplexValue &V) {
  const FunctionDecl *FD = E->getDirectCallee();
  if (!FD || !FD->getIdentifier() || !FD->getBuiltinID() || FD->hasBody() || E->getNumArgs() == 0)
    return false;
  StringRef Name = FD->getName();
  Name.consume_front("__builtin_");
  if (Name == "complex" && E->getNumArgs() == 2) {
    V.Re = emit(E->getArg(0));
    V.Im = emit(E->getArg(1));
    return true;
  }
  if (!E->getArg(0)->getType()->isAnyComplexType())
    return false;
  bool Re = Name == "creal" || Name == "crealf", Im = Name == "cimag" || Name == "cimagf";
  if (Re || Im || Name == "conj" || Name == "conjf") {
    V = emitComplex(E->getArg(0));
    if (Im)
      V.Re = V.Im;
    V.Real = Re || Im;
    if (!V.Real && !bad())
      V.Im = negate(V.Im, fastMath(E));
    return true;
  }
  if (!isPureComplex(Name) || C.getTargetInfo().getTriple().getArch() != llvm::Triple::x86_64) {
    fail(DiagId::UnknownCall, E, FD->getName());
    return true;
  }
  std::string Args, Types, T;
  auto Add = [&](const Value &X) {
    Args += (Args.empty() ? "" : ", ") + X.Name;
    Types += (Types.empty() ? "" : ", ") + X.Type;
  };
  for (const Expr *A : E->arguments()) {
    ComplexValue X = emitComplex(A);
    if (bad())
      return true;
    T = X.Re.Type;
    if (T == "f64") {
      Add(X.Re);
      Add(X.Im);
      continue;
    }
    Value P = op("llvm.mlir.undef : vector<2xf32>", "vector<2xf32>");
    for (int K = 0; K < 2; ++K) {
      Value I = op("llvm.mlir.constant(" + std::to_string(K) + " : i32) : i32", "i32");
      P = op("llvm.insertelement " + (K ? X.Im : X.Re).Name + ", " + P.Name + "[" + I.Name +
                 " : i32] : vector<2xf32>",
             "vector<2xf32>");
    }
    Add(P);
  }
  V.Real = !E->getType()->isAnyComplexType();
  std::string Callee = libraryName(Name), Flags = fastMath(E), Attr;
  std::string Result = V.Real ? T : T == "f32" ? "vector<2xf32>" : "!llvm.struct<(f64, f64)>";
  Externals["@" + Callee] = "llvm.func @" + Callee + "(" + Types + ") -> " + Result;
  if (V.Real && !Flags.empty())
    Attr = " {fastmathFlags = #llvm.fastmath" + Flags.substr(Flags.find('<')) + "}";
  std::string Call = "llvm.call @" + Callee + "(" + Args + ")" + Attr + " : (" + Types + ") -> ";
  if (V.Real)
    V.Re = op(Call + T, T);
  else
    V = complexResult(Call, T);
  return true;
}

ComplexValue Compiler::complexAssign(const BinaryOperator *E) {
  const Expr *Lhs = E->getLHS();
  ComplexValue V;
  Location P[2];
  bool Complex = Lhs->getType()->isAnyComplexType();
  auto Target = [&] {
    if (Complex ? !placeComplex(Lhs, P) : !place(Lhs, P[0]))
      return false;
    if (P[0].K == Location::Captured || P[0].K == Location::Ssa)
      return fail(DiagId::SharedWrite, Lhs, exprText(C, Lhs));
    return true;
  };
  if (auto *A = dyn_cast<CompoundAssignOperator>(E)) { // the right side first
    QualType T = A->getComputationResultType();
    ComplexValue R = emitComplex(A->getRHS());
    if (bad() || !Target())
      return V;
    ComplexValue L;
    if (Complex) {
      L = convertComplex(loadComplex(P), T, E);
    } else {
      QualType Part = T->castAs<ComplexType>()->getElementType();
      L.Re = convert(load(P[0]), Lhs->getType(), Part, E);
      L.Real = Lhs->getType()->isRealFloatingType();
      if (!L.Real && !bad())
        L.Im = zero(L.Re.Type);
      L.Real = Lhs->getType()->isRealFloatingType();
    }
    V = complexArith(BinaryOperator::getOpForCompoundAssignment(A->getOpcode()), L, R, E);
    if (bad())
      return V;
    if (Complex) {
      V = convertComplex(V, Lhs->getType(), E);
      storeComplex(P, V);
    } else {
      V.Re = convert(V.Re, T->castAs<ComplexType>()->getElementType(), Lhs->getType(), E);
      store(P[0], V.Re);
      V.Real = true;
    }
  } else {
    V = emitComplex(E->getRHS());
    if (bad() || !Target())
      return V;
    storeComplex(P, V);
  }
  V.Re = used(V.Re);
  V.Im = used(V.Im);
  return V;
}

ComplexValue Compiler::complexConditional(const ConditionalOperator *Q) {
  bool Known;
  if (Q->getCond()->EvaluateAsBooleanCondition(Known, C) && !Q->getCond()->HasSideEffects(C))
    return emitComplex(Known ? Q->getTrueExpr() : Q->getFalseExpr());
  ComplexValue V;
  Value Cond = condition(Q->getCond());
  if (bad())
    return V;
  int Code = complexCode(C, Q->getType());
  if (Code < 0) {
    fail(DiagId::TypeKind, Q, Q->getType().getAsString());
    return V;
  }
  std::string T = memoryType(halfType(Code)), N = fresh();
  line(N + ":2 = scf.if " + Cond.Name + " -> (" + T + ", " + T + ") {");
  Regions.push_back({-1, {}});
  auto Before = Written;
  std::set<int> After[2];
  for (int K = 0; K < 2; ++K) {
    Written = Before;
    Regions.back().Facts = factsOf(Q->getCond(), !K);
    ++Indent;
    ComplexValue X = emitComplex(K ? Q->getFalseExpr() : Q->getTrueExpr());
    if (X.Real && !bad())
      X.Im = zero(X.Re.Type);
    line("scf.yield " + X.Re.Name + ", " + X.Im.Name + " : " + T + ", " + T);
    --Indent;
    line(K ? "}" : "} else {");
    After[K] = Written;
  }
  Regions.pop_back();
  Written.clear();
  std::set_intersection(After[0].begin(), After[0].end(), After[1].begin(), After[1].end(),
                        std::inserter(Written, Written.end()));
  V.Re.Type = V.Im.Type = T;
  V.Re.Name = N + "#0";
  V.Im.Name = N + "#1";
  return V;
}

/// E of complex type, or a real operand of a complex operation.
ComplexValue Compiler::emitComplex(const Expr *E) {
  ComplexValue V;
  if (bad())
    return V;
  E = E->IgnoreParens();
  if (!E->getType()->isAnyComplexType()) {
    V.Re = emit(E);
    V.Real = true;
    return V;
  }
  if (complexCode(C, E->getType()) < 0) {
    fail(DiagId::TypeKind, E, E->getType().getAsString());
    return V;
  }
  if (auto *K = dyn_cast<ConstantExpr>(E))
    return emitComplex(K->getSubExpr());
  if (auto *K = dyn_cast<CastExpr>(E)) {
    const Expr *Sub = K->getSubExpr();
    switch (K->getCastKind()) {
    case CK_LValueToRValue: {
      if (auto *L = dyn_cast<CompoundLiteralExpr>(Sub->IgnoreParens())) {
        V = emitComplex(L->getInitializer());
        V.Re = used(V.Re);
        V.Im = used(V.Im);
        return V;
      }
      Location P[2];
      return placeComplex(Sub, P) ? loadComplex(P) : V;
    }
    case CK_NoOp:
      return emitComplex(Sub);
    case CK_FloatingRealToComplex:
      V.Re = convert(emit(Sub), Sub->getType(), E->getType()->castAs<ComplexType>()->getElementType(), E);
      if (!bad())
        V.Im = zero(V.Re.Type);
      return V;
    case CK_FloatingComplexCast:
      return convertComplex(emitComplex(Sub), E->getType(), E);
    default:
      fail(DiagId::ExprKind, E, K->getCastKindName());
      return V;
    }
  }
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isAssignmentOp())
      return complexAssign(B);
    if (B->getOpcode() == BO_Comma) {
      emit(B->getLHS());
      return emitComplex(B->getRHS());
    }
    ComplexValue L = emitComplex(B->getLHS()), R = emitComplex(B->getRHS());
    return complexArith(B->getOpcode(), L, R, B);
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    UnaryOperatorKind Op = U->getOpcode();
    if (Op == UO_Plus || Op == UO_Extension || Op == UO_Minus || Op == UO_Not) {
      V = emitComplex(U->getSubExpr());
      if (bad() || Op == UO_Plus || Op == UO_Extension)
        return V;
      std::string F = fastMath(E);
      if (Op == UO_Minus)
        V.Re = negate(V.Re, F);
      V.Im = negate(V.Im, F);
      return V;
    }
  }
  if (auto *Q = dyn_cast<ConditionalOperator>(E))
    return complexConditional(Q);
  if (auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *FD = Call->getDirectCallee(), *Def = nullptr;
    if (complexCall(Call, V))
      return V;
    if (!FD || !FD->hasBody(Def)) {
      fail(DiagId::UnknownCall, E, FD && FD->getIdentifier() ? FD->getName() : "a function pointer");
      return V;
    }
    std::string Slot;
    inlineCall(Call, Def, &Slot);
    if (bad())
      return V;
    Location P[2];
    slotPlaces(Slot, complexCode(C, E->getType()), P);
    return loadComplex(P);
  }
  if (auto *G = dyn_cast<GenericSelectionExpr>(E))
    return emitComplex(G->getResultExpr());
  if (auto *Choose = dyn_cast<ChooseExpr>(E))
    return emitComplex(Choose->getChosenSubExpr());
  std::string T = memoryType(halfType(complexCode(C, E->getType())));
  if (auto *L = dyn_cast<ImaginaryLiteral>(E)) {
    V.Re = zero(T);
    V.Im = emit(L->getSubExpr());
    return V;
  }
  if (isa<ImplicitValueInitExpr>(E)) {
    V.Re = V.Im = zero(T);
    return V;
  }
  if (auto *List = dyn_cast<InitListExpr>(E)) {
    if (List->getNumInits() == 1)
      return emitComplex(List->getInit(0));
    if (List->getNumInits() == 2) {
      V.Re = emit(List->getInit(0));
      V.Im = emit(List->getInit(1));
      return V;
    }
    V.Re = V.Im = zero(T);
    return V;
  }
  fail(DiagId::ExprKind, E, E->getStmtClassName());
  return V;
}

/// Real-valued expressions with complex operands. Known stays false for anything else.
Value Compiler::emitComplexPart(const Expr *E, bool &Known) {
  Known = true;
  if (auto *K = dyn_cast<CastExpr>(E)) {
    if (K->getCastKind() == CK_FloatingComplexToReal)
      return emitComplex(K->getSubExpr()).Re;
    if (K->getCastKind() == CK_FloatingComplexToBoolean)
      return complexNonZero(emitComplex(K->getSubExpr()));
  } else if (auto *U = dyn_cast<UnaryOperator>(E)) {
    bool Re = U->getOpcode() == UO_Real, Im = U->getOpcode() == UO_Imag;
    if (Re || Im) {
      if (!U->getSubExpr()->getType()->isAnyComplexType()) {
        Value X = emit(U->getSubExpr());
        return Re || bad() ? X : X.Type[0] == 'f' ? zero(X.Type) : integer(0, X.Type);
      }
      ComplexValue V = emitComplex(U->getSubExpr());
      return Re ? V.Re : V.Im;
    }
  } else if (auto *Call = dyn_cast<CallExpr>(E)) {
    ComplexValue V;
    if (complexCall(Call, V))
      return V.Re;
  } else if (auto *A = dyn_cast<CompoundAssignOperator>(E)) {
    if (A->getComputationResultType()->isAnyComplexType())
      return complexAssign(A).Re;
  }
  Known = false;
  return Value();
}

} // namespace cofuse
