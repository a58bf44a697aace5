// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex arithmetic. Each operation is emitted as clang's complex code generator does it for the flags in
// effect, a real operand staying real.
#include "Compile.h"
#include "clang/Basic/TargetInfo.h"

using namespace clang;

namespace cofuse {

static Value used(Value V) { // has another use: no longer contracted
  V.Product = -1;
  return V;
}

Value Compiler::zero(const std::string &Type) {
  Value V = op("arith.constant 0.0 : " + Type, Type);
  V.Constant = true;
  return V;
}

Value Compiler::floatOp(const char *Op, const Value &L, const Value &R, const std::string &Flags) {
  return op(std::string("arith.") + Op + " " + L.Name + ", " + R.Name + Flags + " : " + L.Type, L.Type);
}

/// A product that a scalar operation may still contract: 'creal(z * 2) + x'.
Value Compiler::openProduct(const Value &L, const Value &R, const std::string &Flags) {
  Value V = floatOp("mulf", L, R, Flags);
  V.Product = Products.size();
  Products.push_back({L, R, Flags});
  return V;
}

/// What __muldc3 does when both parts have become NaN: infinities are recovered as C's Annex G says.
ComplexValue Compiler::recoverInfinities(const Value In[4], const Value Parts[4], const ComplexValue &NaNs) {
  const std::string &T = In[0].Type;
  auto Sel = [&](const Value &If, const Value &A, const Value &B) {
    return op("arith.select " + If.Name + ", " + A.Name + ", " + B.Name + " : " + T, T);
  };
  auto Or = [&](const Value &A, const Value &B) {
    return op("arith.ori " + A.Name + ", " + B.Name + " : i1", "i1");
  };
  auto Cmp = [&](const char *P, const Value &A, const Value &B) {
    return op(std::string("arith.cmpf ") + P + ", " + A.Name + ", " + B.Name + " : " + T, "i1");
  };
  Value Zero = zero(T), One = op("arith.constant 1.0 : " + T, T);
  Value Inf = floating(T == "f64" ? llvm::APFloat::getInf(llvm::APFloat::IEEEdouble())
                                  : llvm::APFloat::getInf(llvm::APFloat::IEEEsingle()),
                       T);
  auto IsInf = [&](const Value &V) { return Cmp("oeq", op("math.absf " + V.Name + " : " + T, T), Inf); };
  auto Copysign = [&](const Value &M, const Value &S) {
    return op("math.copysign " + M.Name + ", " + S.Name + " : " + T, T);
  };
  Value V[4] = {In[0], In[1], In[2], In[3]};
  auto Box = [&](Value &X, const Value &When) { // infinities become 1, others 0, with their signs
    X = Sel(When, Copysign(Sel(IsInf(X), One, Zero), X), X);
  };
  auto NoNaN = [&](Value &X, const Value &When) {
    Value Is = op("arith.andi " + When.Name + ", " + Cmp("uno", X, X).Name + " : i1", "i1");
    X = Sel(Is, Copysign(Zero, X), X);
  };
  Value Left = Or(IsInf(V[0]), IsInf(V[1]));
  Box(V[0], Left);
  Box(V[1], Left);
  NoNaN(V[2], Left);
  NoNaN(V[3], Left);
  Value Right = Or(IsInf(V[2]), IsInf(V[3]));
  Box(V[2], Right);
  Box(V[3], Right);
  NoNaN(V[0], Right);
  NoNaN(V[1], Right);
  Value Either = Or(Left, Right);
  Value Over = Or(Or(IsInf(Parts[0]), IsInf(Parts[1])), Or(IsInf(Parts[2]), IsInf(Parts[3])));
  Value True = integer(1, "i1");
  Over = op("arith.andi " + Over.Name + ", " +
                op("arith.xori " + Either.Name + ", " + True.Name + " : i1", "i1").Name + " : i1",
            "i1");
  for (Value &X : V)
    NoNaN(X, Over);
  Value Again = Or(Either, Over);
  ComplexValue R;
  R.Re = floatOp("mulf", Inf,
                 floatOp("subf", floatOp("mulf", V[0], V[2], ""), floatOp("mulf", V[1], V[3], ""), ""), "");
  R.Im = floatOp("mulf", Inf,
                 floatOp("addf", floatOp("mulf", V[0], V[3], ""), floatOp("mulf", V[1], V[2], ""), ""), "");
  R.Re = Sel(Again, R.Re, NaNs.Re);
  R.Im = Sel(Again, R.Im, NaNs.Im);
  return R;
}

ComplexValue Compiler::multiply(const ComplexValue &L, const ComplexValue &R, const std::string &Flags,
                                bool Full) {
  ComplexValue V;
  if (L.Real || R.Real) {
    V.Re = openProduct(used(L.Re), used(R.Re), Flags);
    V.Im = R.Real ? openProduct(L.Im, R.Re, Flags) : openProduct(L.Re, R.Im, Flags);
    return V;
  }
  Value P[4] = {floatOp("mulf", L.Re, R.Re, Flags), floatOp("mulf", L.Im, R.Im, Flags),
                floatOp("mulf", L.Re, R.Im, Flags), floatOp("mulf", L.Im, R.Re, Flags)};
  V.Re = floatOp("subf", P[0], P[1], Flags);
  V.Im = floatOp("addf", P[2], P[3], Flags);
  if (!Full || bad())
    return V;
  const std::string &T = L.Re.Type;
  Value NaN =
      op("arith.andi " +
             op("arith.cmpf uno, " + V.Re.Name + ", " + V.Re.Name + Flags + " : " + T, "i1").Name + ", " +
             op("arith.cmpf uno, " + V.Im.Name + ", " + V.Im.Name + Flags + " : " + T, "i1").Name + " : i1",
         "i1");
  std::string N = fresh();
  line(N + ":2 = scf.if " + NaN.Name + " -> (" + T + ", " + T + ") {");
  ++Indent;
  Value In[4] = {L.Re, L.Im, R.Re, R.Im};
  ComplexValue Slow = recoverInfinities(In, P, V);
  line("scf.yield " + Slow.Re.Name + ", " + Slow.Im.Name + " : " + T + ", " + T);
  --Indent;
  line("} else {");
  ++Indent;
  line("scf.yield " + V.Re.Name + ", " + V.Im.Name + " : " + T + ", " + T);
  --Indent;
  line("}");
  V.Re.Name = N + "#0";
  V.Im.Name = N + "#1";
  return V;
}

/// Smith's method (-fcx-fortran-rules).
ComplexValue Compiler::divideScaled(const ComplexValue &L, const ComplexValue &R, const std::string &F) {
  const std::string &T = L.Re.Type;
  Value A = op("math.absf " + R.Re.Name + F + " : " + T, T),
        B = op("math.absf " + R.Im.Name + F + " : " + T, T);
  Value Greater = op("arith.cmpf ugt, " + A.Name + ", " + B.Name + F + " : " + T, "i1");
  std::string N = fresh();
  auto Yield = [&](const Value &Re, const Value &Im) {
    line("scf.yield " + Re.Name + ", " + Im.Name + " : " + T + ", " + T);
    --Indent;
  };
  line(N + ":2 = scf.if " + Greater.Name + " -> (" + T + ", " + T + ") {");
  ++Indent;
  Value Q = floatOp("divf", R.Im, R.Re, F);
  Value D = floatOp("addf", R.Re, floatOp("mulf", Q, R.Im, F), F);
  Value X = floatOp("divf", floatOp("addf", L.Re, floatOp("mulf", L.Im, Q, F), F), D, F);
  Value Y = floatOp("divf", floatOp("subf", L.Im, floatOp("mulf", L.Re, Q, F), F), D, F);
  Yield(X, Y);
  line("} else {");
  ++Indent;
  Q = floatOp("divf", R.Re, R.Im, F);
  D = floatOp("addf", R.Im, floatOp("mulf", Q, R.Re, F), F);
  X = floatOp("divf", floatOp("addf", floatOp("mulf", L.Re, Q, F), L.Im, F), D, F);
  Y = floatOp("divf", floatOp("subf", floatOp("mulf", L.Im, Q, F), L.Re, F), D, F);
  Yield(X, Y);
  line("}");
  ComplexValue V;
  V.Re = V.Im = L.Re;
  V.Re.Product = V.Im.Product = -1;
  V.Re.Name = N + "#0";
  V.Im.Name = N + "#1";
  return V;
}

ComplexValue Compiler::divide(ComplexValue L, const ComplexValue &R, const std::string &F, const Expr *E) {
  ComplexValue V;
  if (R.Real) {
    V.Re = floatOp("divf", L.Re, R.Re, F);
    V.Im = floatOp("divf", L.Im, R.Re, F);
    return V;
  }
  if (L.Real)
    L.Im = zero(L.Re.Type);
  auto Range = E->getFPFeaturesInEffect(C.getLangOpts()).getComplexRange();
  if (Range == LangOptions::CX_Improved)
    return divideScaled(L, R, F);
  if (Range == LangOptions::CX_Basic) {
    Value Num = floatOp("addf", floatOp("mulf", L.Re, R.Re, F), floatOp("mulf", L.Im, R.Im, F), F);
    Value Den = floatOp("addf", floatOp("mulf", R.Re, R.Re, F), floatOp("mulf", R.Im, R.Im, F), F);
    Value Im = floatOp("subf", floatOp("mulf", L.Im, R.Re, F), floatOp("mulf", L.Re, R.Im, F), F);
    V.Re = floatOp("divf", Num, Den, F);
    V.Im = floatOp("divf", Im, Den, F);
    return V;
  }
  // The run-time library's routine, whichever the program is linked with: its address is an argument.
  if (C.getTargetInfo().getTriple().getArch() != llvm::Triple::x86_64) {
    fail(DiagId::ComplexOp, E, "division");
    return V;
  }
  bool Single = L.Re.Type == "f32";
  std::string Name = Single ? "__divsc3" : "__divdc3", T = L.Re.Type;
  Value Address =
      captured(COFUSE_I64, "__extension__ ({ extern " + std::string(Single ? "float" : "double") +
                               " _Complex cofuse_p" + Name + "(" +
                               (Single ? "float, float, float, float" : "double, double, double, double") +
                               ") __asm__(\"" + Name + "\"); (long)cofuse_p" + Name + "; })");
  Value P = op("llvm.inttoptr " + Address.Name + " : i64 to !llvm.ptr", "!llvm.ptr");
  return complexResult("llvm.call " + P.Name + "(" + L.Re.Name + ", " + L.Im.Name + ", " + R.Re.Name + ", " +
                           R.Im.Name + ") : !llvm.ptr, (" + T + ", " + T + ", " + T + ", " + T + ") -> ",
                       T);
}

/// The two parts of what a call returns, as the x86-64 ABI returns it.
ComplexValue Compiler::complexResult(const std::string &Call, const std::string &T) {
  ComplexValue V;
  if (T == "f32") {
    Value X = op(Call + "vector<2xf32>", "vector<2xf32>");
    Value I0 = op("llvm.mlir.constant(0 : i32) : i32", "i32"),
          I1 = op("llvm.mlir.constant(1 : i32) : i32", "i32");
    V.Re = op("llvm.extractelement " + X.Name + "[" + I0.Name + " : i32] : vector<2xf32>", T);
    V.Im = op("llvm.extractelement " + X.Name + "[" + I1.Name + " : i32] : vector<2xf32>", T);
    return V;
  }
  Value X = op(Call + "!llvm.struct<(f64, f64)>", "!llvm.struct<(f64, f64)>");
  V.Re = op("llvm.extractvalue " + X.Name + "[0] : !llvm.struct<(f64, f64)>", T);
  V.Im = op("llvm.extractvalue " + X.Name + "[1] : !llvm.struct<(f64, f64)>", T);
  return V;
}

ComplexValue Compiler::complexArith(BinaryOperatorKind Op, const ComplexValue &L, const ComplexValue &R,
                                    const Expr *E) {
  if (bad())
    return L;
  std::string F = fastMath(E);
  auto Range = E->getFPFeaturesInEffect(C.getLangOpts()).getComplexRange();
  ComplexValue V;
  switch (Op) {
  case BO_Add:
    V.Re = floatOp("addf", L.Re, R.Re, F);
    V.Im = L.Real ? R.Im : R.Real ? L.Im : floatOp("addf", L.Im, R.Im, F);
    break;
  case BO_Sub:
    V.Re = floatOp("subf", L.Re, R.Re, F);
    V.Im = R.Real ? L.Im : L.Real ? negate(R.Im, F) : floatOp("subf", L.Im, R.Im, F);
    break;
  case BO_Mul:
  case BO_Div:
    if (Range == LangOptions::CX_Promoted) {
      fail(DiagId::ComplexOp, E, Op == BO_Mul ? "multiplication" : "division");
      return V;
    }
    V = Op == BO_Div ? divide(L, R, F, E)
                     : multiply(L, R, F, Range == LangOptions::CX_Full || Range == LangOptions::CX_None);
    break;
  default:
    fail(DiagId::ExprKind, E, "operator");
  }
  return V;
}

} // namespace cofuse
