// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of C as MLIR operations, with contraction decided as clang's code generator does.
#include "Compile.h"

using namespace clang;

namespace cofuse {

void Compiler::line(const llvm::Twine &T) {
  Body.append(Indent * 2, ' ');
  Body += T.str();
  Body += '\n';
}

std::string Compiler::fresh() { return "%v" + std::to_string(NextValue++); }

Value Compiler::op(const llvm::Twine &Rhs, const std::string &Type) {
  Value V;
  V.Name = fresh();
  V.Type = Type;
  line(V.Name + " = " + Rhs);
  return V;
}

std::string Compiler::local(int Type, int64_t Count) {
  std::string N = fresh();
  line(N + " = cf.local " + memoryType(Type) + (Count > 1 ? " x " + std::to_string(Count) : ""));
  return N;
}

static bool isFloat(const Value &V) { return V.Type[0] == 'f'; }
static unsigned bits(const Value &V) { return std::stoul(V.Type.substr(1)); }

Value Compiler::integer(const llvm::APInt &I, const std::string &Type) {
  Value V;
  if (Type == "i1") {
    V = op(I.isZero() ? "arith.constant false" : "arith.constant true", Type);
  } else {
    SmallString<32> S;
    I.toStringSigned(S);
    V = op("arith.constant " + S + " : " + Type, Type);
  }
  V.Constant = true;
  return V;
}

Value Compiler::integer(int64_t I, const std::string &Type) {
  return integer(llvm::APInt(64, I, true), Type);
}

Value Compiler::floating(const llvm::APFloat &F, const std::string &Type) {
  SmallString<32> S;
  F.bitcastToAPInt().toString(S, 16, false, false);
  std::string H(S.str());
  H.insert(0, (Type == "f64" ? 16 : 8) - H.size(), '0');
  Value V = op("arith.constant 0x" + H + " : " + Type, Type);
  V.Constant = true;
  return V;
}

/// " fastmath<...>" of an expression; contract only for -ffp-contract=fast, since 'on' is decided here.
std::string Compiler::fastMath(const Expr *E) {
  FPOptions O = E->getFPFeaturesInEffect(C.getLangOpts());
  if (O.isFPConstrained())
    fail(DiagId::FpEnv, E);
  std::string S;
  auto Add = [&](bool On, const char *N) {
    if (On)
      S += (S.empty() ? "" : ",") + std::string(N);
  };
  Add(O.getAllowFPReassociate(), "reassoc");
  // A partial result starts from an identity, which for minima and maxima is no number or none that is
  // finite.
  bool Partial = usesReduction(E);
  Add(O.getNoHonorNaNs() && !Partial, "nnan");
  Add(O.getNoHonorInfs() && !Partial, "ninf");
  Add(O.getNoSignedZero(), "nsz");
  Add(O.getAllowReciprocal(), "arcp");
  Add(O.allowFPContractAcrossStatement(), "contract");
  Add(O.getAllowApproxFunc(), "afn");
  return S.empty() ? "" : " fastmath<" + S + ">";
}

Value Compiler::toI64(Value V, bool Unsigned) {
  if (bad() || V.Type == "i64")
    return V;
  Value R = op(std::string("arith.") + (Unsigned || V.Type == "i1" ? "extui " : "extsi ") + V.Name + " : " +
                   V.Type + " to i64",
               "i64");
  R.Constant = V.Constant;
  return R;
}

Value Compiler::nonZero(Value V) {
  if (bad() || V.Type == "i1")
    return V;
  if (isFloat(V)) {
    Value Z = op("arith.constant 0.0 : " + V.Type, V.Type);
    return op("arith.cmpf une, " + V.Name + ", " + Z.Name + " : " + V.Type, "i1");
  }
  Value Z = integer(0, V.Type);
  return op("arith.cmpi ne, " + V.Name + ", " + Z.Name + " : " + V.Type, "i1");
}

Value Compiler::widen(Value Bit) {
  if (bad())
    return Bit;
  return op("arith.extui " + Bit.Name + " : i1 to i32", "i32");
}

Value Compiler::compare(BinaryOperatorKind Op, Value L, Value R, bool Unsigned) {
  if (bad())
    return L;
  bool F = isFloat(L);
  const char *P = "";
  switch (Op) {
  case BO_LT:
    P = F ? "olt" : Unsigned ? "ult" : "slt";
    break;
  case BO_LE:
    P = F ? "ole" : Unsigned ? "ule" : "sle";
    break;
  case BO_GT:
    P = F ? "ogt" : Unsigned ? "ugt" : "sgt";
    break;
  case BO_GE:
    P = F ? "oge" : Unsigned ? "uge" : "sge";
    break;
  case BO_EQ:
    P = F ? "oeq" : "eq";
    break;
  default:
    P = F ? "une" : "ne";
    break;
  }
  return op(std::string(F ? "arith.cmpf " : "arith.cmpi ") + P + ", " + L.Name + ", " + R.Name + " : " +
                L.Type,
            "i1");
}

Value Compiler::convert(Value V, QualType From, QualType To, const Expr *E) {
  int Code = typeCode(C, To);
  if (bad())
    return V;
  if (Code < 0)
    return failValue(DiagId::TypeKind, E, To.getAsString());
  std::string T = valueType(Code);
  if (Code == COFUSE_BOOL)
    return nonZero(V);
  if (V.Type == T)
    return V;
  bool FromU = From->isUnsignedIntegerOrEnumerationType() || From->isBooleanType();
  bool FloatTo = T[0] == 'f';
  const char *O;
  if (isFloat(V) && FloatTo)
    O = T == "f64" ? "extf" : "truncf";
  else if (isFloat(V))
    O = To->isUnsignedIntegerOrEnumerationType() ? "fptoui" : "fptosi";
  else if (FloatTo)
    O = FromU ? "uitofp" : "sitofp";
  else
    O = std::stoul(T.substr(1)) < bits(V) ? "trunci" : FromU ? "extui" : "extsi";
  Value R = op(std::string("arith.") + O + " " + V.Name + " : " + V.Type + " to " + T, T);
  R.Constant = V.Constant;
  return R;
}

Value Compiler::negate(Value V, const std::string &Flags) {
  Value R = op("arith.negf " + V.Name + Flags + " : " + V.Type, V.Type);
  R.Constant = V.Constant;
  return R;
}

/// Mirrors tryEmitFMulAdd of clang 19: the left operand first; a product counts only if nothing else
/// uses it; a negation of a product is looked through.
std::optional<Value> Compiler::contract(Value L, Value R, bool Subtract, const std::string &Flags) {
  bool NegateProduct, NegateAddend = false;
  Value Product, Addend;
  if (L.Product >= 0) {
    Product = L;
    Addend = R;
    NegateProduct = L.Negated;
    NegateAddend = Subtract;
  } else if (R.Product >= 0) {
    Product = R;
    Addend = L;
    NegateProduct = Subtract != R.Negated;
  } else {
    return std::nullopt;
  }
  ProductInfo P = Products[Product.Product];
  if (!HasFma && !NegateProduct && !NegateAddend && !Product.Negated) // the product is there already
    return op("arith.addf " + Product.Name + ", " + Addend.Name + Flags + " : " + Product.Type, Product.Type);
  if (NegateProduct)
    P.L = negate(P.L, Flags);
  if (NegateAddend)
    Addend = negate(Addend, Flags);
  // From -O1 on clang's optimizer may still undo a fmuladd of constants: so may the kernel's.
  if (HasFma && CG.OptimizationLevel > 0) {
    std::string Attr =
        Flags.empty() ? "" : " {fastmathFlags = #llvm.fastmath" + Flags.substr(Flags.find('<')) + "}";
    std::string T = P.L.Type;
    return op("llvm.intr.fmuladd(" + P.L.Name + ", " + P.R.Name + ", " + Addend.Name + ")" + Attr + " : (" +
                  T + ", " + T + ", " + T + ") -> " + T,
              T);
  }
  if (HasFma)
    return op("math.fma " + P.L.Name + ", " + P.R.Name + ", " + Addend.Name + Flags + " : " + P.L.Type,
              P.L.Type);
  Value M = op("arith.mulf " + P.L.Name + ", " + P.R.Name + P.Flags + " : " + P.L.Type, P.L.Type);
  return op("arith.addf " + M.Name + ", " + Addend.Name + Flags + " : " + M.Type, M.Type);
}

Value Compiler::floatArith(BinaryOperatorKind Op, Value L, Value R, const Expr *E) {
  std::string Flags = fastMath(E);
  bool Contract = E->getFPFeaturesInEffect(C.getLangOpts()).allowFPContractWithinStatement();
  if (bad())
    return L;
  const char *N = nullptr;
  switch (Op) {
  case BO_Add:
  case BO_Sub:
    if (Contract)
      if (auto V = contract(L, R, Op == BO_Sub, Flags))
        return *V;
    N = Op == BO_Add ? "addf " : "subf ";
    break;
  case BO_Mul:
    N = "mulf ";
    break;
  case BO_Div:
    N = "divf ";
    break;
  default:
    return failValue(DiagId::ExprKind, E, "operator");
  }
  Value V = op(std::string("arith.") + N + L.Name + ", " + R.Name + Flags + " : " + L.Type, L.Type);
  V.Constant = L.Constant && R.Constant;
  if (Op == BO_Mul && !V.Constant) {
    V.Product = Products.size();
    Products.push_back({L, R, Flags});
  }
  return V;
}

Value Compiler::arith(BinaryOperatorKind Op, Value L, Value R, QualType T, const Expr *E) {
  if (bad())
    return L;
  if (isFloat(L))
    return floatArith(Op, L, R, E);
  bool U = T->isUnsignedIntegerOrEnumerationType();
  bool Nsw = false;
  const char *N = nullptr;
  switch (Op) {
  case BO_Add:
    N = "addi ";
    Nsw = !U;
    break;
  case BO_Sub:
    N = "subi ";
    Nsw = !U;
    break;
  case BO_Mul:
    N = "muli ";
    Nsw = !U;
    break;
  case BO_Div:
    N = U ? "divui " : "divsi ";
    break;
  case BO_Rem:
    N = U ? "remui " : "remsi ";
    break;
  case BO_And:
    N = "andi ";
    break;
  case BO_Or:
    N = "ori ";
    break;
  case BO_Xor:
    N = "xori ";
    break;
  case BO_Shl:
    N = "shli ";
    break;
  case BO_Shr:
    N = U ? "shrui " : "shrsi ";
    break;
  default:
    return failValue(DiagId::ExprKind, E, "operator");
  }
  if (C.getLangOpts().getSignedOverflowBehavior() != LangOptions::SOB_Undefined)
    Nsw = false;
  if ((Op == BO_Shl || Op == BO_Shr) && R.Type != L.Type)
    R = op(std::string(bits(R) < bits(L) ? "arith.extui " : "arith.trunci ") + R.Name + " : " + R.Type +
               " to " + L.Type,
           L.Type);
  Value V =
      op(std::string("arith.") + N + L.Name + ", " + R.Name + (Nsw ? " overflow<nsw>" : "") + " : " + L.Type,
         L.Type);
  V.Constant = L.Constant && R.Constant;
  return V;
}

} // namespace cofuse
