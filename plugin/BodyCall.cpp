// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls in the body: library functions known to be pure, and functions whose body is visible.
#include "Compile.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace cofuse {

/// Functions of libm without effects other than errno. (lgamma sets signgam, frexp and modf write.)
static bool isPureLibm(StringRef Name) {
  static const llvm::StringSet<> Set{
      "exp",   "exp2",   "exp10",   "expm1", "log",   "log2",   "log10",   "log1p", "pow",       "sin",
      "cos",   "tan",    "asin",    "acos",  "atan",  "atan2",  "sinh",    "cosh",  "tanh",      "asinh",
      "acosh", "atanh",  "cbrt",    "hypot", "erf",   "erfc",   "tgamma",  "fmod",  "remainder", "fdim",
      "ldexp", "scalbn", "scalbln", "logb",  "ilogb", "lround", "llround", "lrint", "llrint",    "nextafter"};
  return Set.contains(Name) || (Name.ends_with("f") && Name != "erf" && Set.contains(Name.drop_back()));
}

/// Operations that are exact or that clang emits inline. Known stays false for anything else.
Value Compiler::emitMath(const CallExpr *E, StringRef Name, bool &Known) {
  Known = true;
  int Code = typeCode(C, E->getType());
  if (Code < 0)
    return Known = false, Value();
  std::string T = valueType(Code);
  StringRef Base = Name;
  if (T == "f32" && Base.ends_with("f"))
    Base = Base.drop_back();
  const char *Op = llvm::StringSwitch<const char *>(T[0] == 'f' ? Base : "")
                       .Case("sqrt", "math.sqrt")
                       .Case("fabs", "math.absf")
                       .Case("floor", "math.floor")
                       .Case("ceil", "math.ceil")
                       .Case("trunc", "math.trunc")
                       .Case("round", "math.round")
                       .Case("roundeven", "math.roundeven")
                       .Case("copysign", "math.copysign")
                       .Case("fma", "math.fma")
                       .Case("fmin", "arith.minnumf")
                       .Case("fmax", "arith.maxnumf")
                       .Case("rint", "llvm.intr.rint")
                       .Case("nearbyint", "llvm.intr.nearbyint")
                       .Default(nullptr);
  if (Op) {
    std::string Args, Flags = fastMath(E);
    for (const Expr *A : E->arguments())
      Args += (Args.empty() ? "" : ", ") + emit(A).Name;
    if (bad())
      return Value();
    if (StringRef(Op).starts_with("llvm."))
      return op(std::string(Op) + "(" + Args + ") : (" + T + ") -> " + T, T);
    return op(std::string(Op) + " " + Args + Flags + " : " + T, T);
  }
  bool Abs = T[0] == 'i' && (Name == "abs" || Name == "labs" || Name == "llabs");
  if (Abs) {
    Value V = emit(E->getArg(0));
    if (bad())
      return V;
    Value Z = integer(0, V.Type);
    Value Neg = arith(BO_Sub, Z, V, E->getType(), E);
    Value Less = compare(BO_LT, V, Z, false);
    return op("arith.select " + Less.Name + ", " + Neg.Name + ", " + V.Name + " : " + V.Type, V.Type);
  }
  const char *Bits = llvm::StringSwitch<const char *>(Name)
                         .Cases("popcount", "popcountl", "popcountll", "math.ctpop")
                         .Cases("clz", "clzl", "clzll", "math.ctlz")
                         .Cases("ctz", "ctzl", "ctzll", "math.cttz")
                         .Default(nullptr);
  if (Bits) {
    Value V = emit(E->getArg(0));
    if (bad())
      return V;
    V = op(std::string(Bits) + " " + V.Name + " : " + V.Type, V.Type);
    return V.Type == "i32" ? V : op("arith.trunci " + V.Name + " : " + V.Type + " to i32", "i32");
  }
  // Classification and quiet comparison.
  static const llvm::StringSet<> Classes{"isnan", "isinf", "isfinite", "isnormal", "signbit", "isinf_sign"};
  StringRef Class = Name;
  if (Class == "signbitf" || Class == "isnanf" || Class == "isinff" || Class == "finite" ||
      Class == "finitef")
    Class = Class.starts_with("fin") ? "isfinite" : Class.drop_back();
  if (Classes.contains(Class) && E->getNumArgs() == 1) {
    int A = typeCode(C, E->getArg(0)->getType());
    if (A != COFUSE_F32 && A != COFUSE_F64)
      return Known = false, Value();
    Value V = emit(E->getArg(0));
    if (bad())
      return V;
    std::string F = V.Type, I = A == COFUSE_F64 ? "i64" : "i32";
    if (Class == "isnan")
      return widen(op("arith.cmpf uno, " + V.Name + ", " + V.Name + " : " + F, "i1"));
    Value Raw = op("arith.bitcast " + V.Name + " : " + F + " to " + I, I);
    Value Zero = integer(0, I);
    if (Class == "signbit")
      return widen(compare(BO_LT, Raw, Zero, false));
    Value Mag = op("arith.andi " + Raw.Name + ", " +
                       integer(A == COFUSE_F64 ? INT64_MAX : int64_t(INT32_MAX), I).Name + " : " + I,
                   I);
    Value Inf = integer(A == COFUSE_F64 ? 0x7ff0000000000000 : 0x7f800000, I);
    if (Class == "isinf")
      return widen(compare(BO_EQ, Mag, Inf, false));
    if (Class == "isfinite")
      return widen(compare(BO_LT, Mag, Inf, false));
    if (Class == "isinf_sign") {
      Value Is = widen(compare(BO_EQ, Mag, Inf, false)), Neg = compare(BO_LT, Raw, Zero, false);
      Value Minus = op("arith.subi " + integer(0, "i32").Name + ", " + Is.Name + " : i32", "i32");
      return op("arith.select " + Neg.Name + ", " + Minus.Name + ", " + Is.Name + " : i32", "i32");
    }
    Value Small = integer(A == COFUSE_F64 ? 0x0010000000000000 : 0x00800000, I);
    Value Lo = compare(BO_GE, Mag, Small, false), Hi = compare(BO_LT, Mag, Inf, false);
    return widen(op("arith.andi " + Lo.Name + ", " + Hi.Name + " : i1", "i1"));
  }
  const char *Quiet = llvm::StringSwitch<const char *>(Name)
                          .Case("isgreater", "ogt")
                          .Case("isgreaterequal", "oge")
                          .Case("isless", "olt")
                          .Case("islessequal", "ole")
                          .Case("islessgreater", "one")
                          .Case("isunordered", "uno")
                          .Default(nullptr);
  if (Quiet && E->getNumArgs() == 2) {
    Value L = emit(E->getArg(0)), R = emit(E->getArg(1));
    if (bad())
      return L;
    return widen(
        op(std::string("arith.cmpf ") + Quiet + ", " + L.Name + ", " + R.Name + " : " + L.Type, "i1"));
  }
  Known = false;
  return Value();
}

std::string Compiler::libraryName(StringRef Name) const {
  if (CG.OptimizationLevel == 0 || Function->hasAttr<OptimizeNoneAttr>())
    return "cofuse.nb." + Name.str();
  if (!C.getLangOpts().MathErrno) // clang emits intrinsics then, which more simplifications apply to
    return "cofuse.ne." + Name.str();
  return Name.str();
}

Value Compiler::emitCall(const CallExpr *E) {
  const FunctionDecl *FD = E->getDirectCallee();
  if (!FD || !FD->getIdentifier())
    return failValue(DiagId::UnknownCall, E, "a function pointer");
  const FunctionDecl *Def = nullptr;
  if (FD->hasBody(Def))
    return inlineCall(E, Def);
  StringRef Name = FD->getName();
  /* Of GNU's <math.h>, which clang knows under its own name only. */
  bool Gnu =
      (Name == "exp10" || Name == "exp10f") && C.getSourceManager().isInSystemHeader(FD->getLocation());
  if (!FD->getBuiltinID() && !Gnu)
    return failValue(DiagId::UnknownCall, E, Name);
  int Code = E->getType()->isVoidType() ? -1 : typeCode(C, E->getType());
  Expr::EvalResult R;
  if (Code >= 0 && E->EvaluateAsRValue(R, C) && !R.HasSideEffects) { // NAN, INFINITY, ...
    if (R.Val.isFloat())
      return floating(R.Val.getFloat(), valueType(Code));
    if (R.Val.isInt())
      return integer(R.Val.getInt(), valueType(Code));
  }
  StringRef Base = Name;
  Base.consume_front("__builtin_");
  if (Base == "expect" && E->getNumArgs() == 2)
    return emit(E->getArg(0));
  if (Name == "__builtin_assume")
    return Value();
  bool Known = false;
  Value V = emitMath(E, Base, Known);
  if (Known || bad())
    return V;
  if (!isPureLibm(Base) || Code < 0)
    return failValue(DiagId::UnknownCall, E, Name);
  std::string Args, Types;
  for (const Expr *A : E->arguments()) {
    Value X = emit(A);
    if (bad())
      return X;
    Args += (Args.empty() ? "" : ", ") + X.Name;
    Types += (Types.empty() ? "" : ", ") + X.Type;
  }
  std::string Callee = libraryName(Base), T = valueType(Code), Flags = fastMath(E);
  Externals["@" + Callee] = "llvm.func @" + Callee + "(" + Types + ") -> " + T;
  std::string Attr;
  if (!Flags.empty())
    Attr = " {fastmathFlags = #llvm.fastmath" + Flags.substr(Flags.find('<')) + "}";
  return op("llvm.call @" + Callee + "(" + Args + ")" + Attr + " : (" + Types + ") -> " + T, T);
}

/// The call becomes a block: parameters are bound to values or addresses, the result is a local.
/// Result: gets the address of a complex result.
Value Compiler::inlineCall(const CallExpr *E, const FunctionDecl *FD, std::string *Result) {
  StringRef Name = FD->getName();
  if (CallFrames.size() > 15)
    return failValue(DiagId::InlineDepth, E);
  if (FD == Function)
    return failValue(DiagId::Recursive, E, Name);
  for (const CallFrame &F : CallFrames)
    if (F.Function == FD)
      return failValue(DiagId::Recursive, E, Name);
  if (Scan.WithDirective.count(FD))
    return failValue(DiagId::CallHasDirective, E, Name);
  if (FD->isVariadic() || FD->hasAttr<WeakAttr>() || FD->getNumParams() != E->getNumArgs())
    return failValue(DiagId::UnknownCall, E, Name);
  QualType RT = FD->getReturnType();
  CallFrame Frame{FD, "", "", -1, LoopFrames.size()};
  if (!RT->isVoidType()) {
    Frame.Type = RT->isAnyComplexType() ? complexCode(C, RT) : typeCode(C, RT);
    if (Frame.Type < 0)
      return failValue(DiagId::TypeKind, E, RT.getAsString());
  }
  WriteSet CalleeWrites = Scan.writes(FD->getBody());
  std::vector<std::pair<const VarDecl *, Binding>> New;
  for (unsigned I = 0; I < E->getNumArgs(); ++I) {
    const ParmVarDecl *P = FD->getParamDecl(I);
    const Expr *A = E->getArg(I);
    Binding B;
    bool Changed = CalleeWrites.contains(P);
    if (P->getType()->isPointerType()) {
      if (Changed)
        return failValue(DiagId::PointerWrite, E, P->getName());
      B.K = Binding::Pointer;
      if (!pointerValue(A, B.Target))
        return Value();
    } else if (P->getType()->isAnyComplexType()) {
      ComplexValue V = emitComplex(A);
      if (bad())
        return Value();
      B.Type = complexCode(C, P->getType());
      if (Changed) {
        B.K = Binding::Local;
        B.Slot = B.Target.Slot = localComplex(B.Type);
        Location Parts[2];
        slotPlaces(B.Slot, B.Type, Parts);
        storeComplex(Parts, V);
      } else {
        B.K = Binding::Inner;
        B.Slot = V.Re.Name;
        B.Slot2 = V.Im.Name;
      }
    } else {
      B.Type = typeCode(C, P->getType());
      if (B.Type < 0)
        return failValue(DiagId::TypeKind, A, P->getType().getAsString());
      if (!Changed && P->getType()->isIntegerType()) {
        size_t Old = Checks.size();
        B.Value = poly(A);
        if (!B.Value)
          Checks.resize(Old);
      }
      Value V = emit(A);
      if (bad())
        return V;
      if (Changed) {
        B.K = Binding::Local;
        B.Slot = local(B.Type);
        B.Target.Slot = B.Slot;
        store({Location::Local, -1, "", B.Slot, B.Type}, V);
      } else {
        B.K = Binding::Inner;
        B.Slot = V.Name;
      }
    }
    New.push_back({P, B});
  }
  for (auto &P : New)
    Bindings[P.first] = P.second;
  if (Frame.Type >= 0)
    Frame.Value = RT->isAnyComplexType() ? localComplex(Frame.Type) : local(Frame.Type);
  // One return at the very end needs no flag.
  auto *Block = dyn_cast<CompoundStmt>(FD->getBody());
  bool Early = !Block;
  if (Block)
    for (const Stmt *X : Block->body())
      Early |= (jumps(X) & JumpReturns) && !(isa<ReturnStmt>(X) && X == Block->body_back());
  if (Early) {
    Frame.Done = local(COFUSE_U8);
    setFlag(Frame.Done, false);
  }
  if (!checkReductionUses(FD->getBody())) // of variables that the function names itself
    return Value();
  bool OldFma = HasFma;
  setFunctionTarget(FD);
  CallFrames.push_back(Frame);
  bool Ok = stmt(FD->getBody());
  CallFrames.pop_back();
  HasFma = OldFma;
  if (Result)
    *Result = Frame.Value;
  if (!Ok || bad() || Frame.Type < 0 || RT->isAnyComplexType())
    return Value();
  return load({Location::Local, -1, "", Frame.Value, Frame.Type});
}

} // namespace cofuse
