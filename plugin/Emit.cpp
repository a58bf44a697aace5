// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens injected in front of a loop or statement: evaluate bounds, addresses and scalars, hand
// them to the runtime, and fall through to the user's own code if it says so.
#include "Compile.h"
#include "clang/AST/Decl.h"

using namespace clang;

namespace cofuse {

std::string cString(StringRef S) {
  std::string R = "\"";
  for (unsigned char Ch : S) {
    if (Ch == '\n') {
      R += "\\n";
    } else if (Ch == '"' || Ch == '\\') {
      R += '\\';
      R += Ch;
    } else if (Ch < 32 || Ch > 126 || Ch == '?') { // no trigraphs, no raw bytes
      char Octal[8];
      snprintf(Octal, sizeof Octal, "\\%03o", Ch);
      R += Octal;
    } else {
      R += Ch;
    }
  }
  return R + "\"";
}

static std::string num(uint64_t V) { return std::to_string(V); }

/// Declarations of the descriptor and its tables. The layouts are those of cofuse/descriptor.h.
static const char AccessStruct[] =
    "struct { unsigned char type, mode, flags, ninner; unsigned int line, column; "
    "const char *text; }";
static const char RedStruct[] =
    "struct { unsigned char op, type; unsigned short flags; unsigned int line, column; "
    "const char *text; }";
static const char ForallStruct[] =
    "struct { unsigned int abi; unsigned char kind, ndims, nscalars, nreds; unsigned short naccess, flags; "
    "unsigned int line, column; const char *file, *function, *name; const unsigned char *iv_types; "
    "const void *access; const unsigned char *scalar_types; const void *reds; const char *body, *decls; "
    "void *state; }";

static std::string targetText(const ReductionInfo &X) {
  return X.Section ? X.Start : "(void *)&(" + std::string(X.Part) + "(" + X.Text + "))";
}

/// Clears cofuse_ok if a written access or a reduction covers something that was read at issue.
std::string Compiler::watchText() {
  std::string R;
  auto TestOf = [&](int Type) {
    std::string Test;
    bool Byte = Type == COFUSE_I8 || Type == COFUSE_U8;
    for (const Watched &W : Watch)
      if (Byte || W.Type == Type) // other types cannot alias
        Test += (Test.empty() ? "(" : " || (") + W.Address + " < cofuse_hi && " + W.Address + " + " +
                num(W.Bytes) + "L > cofuse_lo)";
    return Test;
  };
  for (const ReductionInfo &X : Reductions) {
    std::string Test = TestOf(X.Type);
    if (!Test.empty())
      R += "{ long cofuse_lo = (long)" + targetText(X) + ", cofuse_hi = cofuse_lo + " +
           num(typeBytes(X.Type)) + "L * " + (X.Section ? X.Count : "1L") + "; if (" + Test +
           ") cofuse_ok = 0; } ";
  }
  size_t Next = 3 * Loops.size();
  for (const AccessInfo &A : Accesses) {
    size_t At = Next, Strides = Loops.size() + A.Inner.size();
    Next += 2 + Strides + A.Inner.size() + (A.Whole.empty() ? 0 : 2) + (ranged(A) ? 2 * Strides : 0);
    if (!A.Written)
      continue;
    std::string Test = TestOf(A.Type);
    if (Test.empty())
      continue;
    if (A.Indirect || A.Unbounded) {
      R += "cofuse_ok = 0; ";
      continue;
    }
    R += "{ long cofuse_lo = cofuse_n[" + num(At) + "], cofuse_hi = cofuse_lo + " + num(typeBytes(A.Type)) +
         "L, cofuse_e; ";
    for (size_t K = 0; K < Strides; ++K) {
      size_t Trip = K < Loops.size() ? 3 * K + 1 : At + 2 + Strides + (K - Loops.size());
      R += "cofuse_e = cofuse_n[" + num(At + 2 + K) + "] * (cofuse_n[" + num(Trip) +
           "] - 1L); if (cofuse_e < 0L) cofuse_lo += cofuse_e; else cofuse_hi += cofuse_e; ";
    }
    R += "if (" + Test + ") cofuse_ok = 0; } ";
  }
  return R;
}

/// A fixed part of a variable: it may be read at issue even if the body reads it under a condition only.
bool Compiler::insideObject(const AccessInfo &A) const {
  auto It = ObjectBytes.find(A.Base);
  int64_t At;
  return It != ObjectBytes.end() && !A.Indirect && A.Inner.empty() && A.Offset.isConstant(At) && At >= 0 &&
         At + typeBytes(A.Type) <= It->second;
}

/// Declares Lo and Hi: the extreme values of P over all iterations.
std::string Compiler::extremesText(const Poly &P, const std::string &Lo, const std::string &Hi) {
  auto Text = [&](const Poly &X) {
    return "(long)(" + X.text([&](unsigned Id) { return symbolText(Id); }) + ")";
  };
  Poly Rest;
  std::map<unsigned, Poly> Coef;
  P.split(Symbols, Rest, Coef);
  std::string R = "long " + Lo + " = " + Text(Rest) + ", " + Hi + " = " + Lo + "; ";
  for (auto &T : Coef) {
    const Symbol &S = Symbols[T.first];
    std::string A, B;
    if (S.K == Symbol::Counter) {
      A = "(long)cofuse_a" + num(S.Index);
      B = "((long)cofuse_a" + num(S.Index) + " + (cofuse_t" + num(S.Index) + " - 1L) * cofuse_s" +
          num(S.Index) + ")";
    } else {
      A = "0L";
      B = "(" + Inners[S.Index].Trip + " > 0L ? " + Inners[S.Index].Trip + " - 1L : 0L)";
    }
    R += "{ const long cofuse_c = " + Text(T.second) + ", cofuse_x = cofuse_c * " + A +
         ", cofuse_y = cofuse_c * " + B + "; " + Lo + " += cofuse_x < cofuse_y ? cofuse_x : cofuse_y; " + Hi +
         " += cofuse_x < cofuse_y ? cofuse_y : cofuse_x; } ";
  }
  return R;
}

/// The statement expression that issues the task; its value is 1 if it was issued.
std::string Compiler::issueText() {
  std::string R = "({ extern int cofuse_p_run(void *, const long *, const void *const *, void *const *) "
                  "__asm__(\"cofuse_run\"); ";
  const std::string Static = "__attribute__((nodebug)) static ";
  auto Text = [&](const Poly &P) {
    return "(long)(" + P.text([&](unsigned Id) { return symbolText(Id); }) + ")";
  };
  if (!Accesses.empty()) {
    R += Static + "const " + AccessStruct + " cofuse_da[] = { ";
    for (const AccessInfo &A : Accesses) {
      unsigned Mode = ((A.Read || !A.Written) ? COFUSE_R : 0) | (A.Written ? COFUSE_W : 0);
      unsigned Flags = (conditional(A) ? COFUSE_ACC_COND : 0) | (ranged(A) ? COFUSE_ACC_RANGED : 0) |
                       (A.Indirect ? COFUSE_ACC_INDIRECT : 0) | (A.Unbounded ? COFUSE_ACC_UNBOUNDED : 0) |
                       (insideObject(A) || !A.Whole.empty() ? COFUSE_ACC_OBJECT : 0);
      R += "{ " + num(A.Type) + ", " + num(Mode) + ", " + num(Flags) + ", " +
           num(A.Whole.empty() ? A.Inner.size() : 1) + ", " + num(A.Line) + ", " + num(A.Column) + ", " +
           cString(A.Text) + " }, ";
    }
    R += "}; ";
  }
  auto Bytes = [&](const char *Name, auto &List, auto Get) {
    if (List.empty())
      return;
    R += Static + "const unsigned char " + Name + "[] = { ";
    for (auto &X : List)
      R += num(Get(X)) + ", ";
    R += "}; ";
  };
  Bytes("cofuse_di", CounterTypes, [](int T) { return T; });
  Bytes("cofuse_ds", Scalars, [](const ScalarInfo &S) { return S.Type; });
  if (!Reductions.empty()) {
    R += Static + "const " + RedStruct + " cofuse_dr[] = { ";
    auto &SM = C.getSourceManager();
    for (const ReductionInfo &X : Reductions) {
      PresumedLoc P = SM.getPresumedLoc(SM.getExpansionLoc(X.Target->getExprLoc()));
      R += "{ " + num(X.Op) + ", " + num(X.Type) + ", " + num(X.Section ? COFUSE_RED_SECTION : 0) + ", " +
           num(P.isValid() ? P.getLine() : 0) + ", " + num(P.isValid() ? P.getColumn() : 0) + ", " +
           cString(X.Section ? X.Label : X.Part + X.Text) + " }, ";
    }
    R += "}; ";
  }
  std::string Decls;
  for (auto &X : Externals)
    Decls += X.second + "\n";
  unsigned TuFlags = (CG.OptimizationLevel > 0 ? COFUSE_TU_OPT : 0);
  if (C.getLangOpts().FastMath || CG.getVecLib() != llvm::driver::VectorLibrary::NoLibrary)
    TuFlags |= COFUSE_TU_FAST;
  std::string Name = D.Name.empty() ? Function->getNameAsString() + ":" + num(D.Line) : D.Name;
  R += Static + ForallStruct + " cofuse_d = { " + num(COFUSE_ABI) + ", " +
       num(IsTask ? COFUSE_KIND_TASK : COFUSE_KIND_FORALL) + ", " + num(Loops.size()) + ", " +
       num(Scalars.size()) + ", " + num(Reductions.size()) + ", " + num(Accesses.size()) + ", " +
       num(TuFlags) + ", " + num(D.Line) + ", " + num(D.Column) + ", " + cString(D.FileName) + ", " +
       cString(Function->getNameAsString()) + ", " + cString(Name) + ", " +
       (Loops.empty() ? "0" : "cofuse_di") + ", " + (Accesses.empty() ? "0" : "cofuse_da") + ", " +
       (Scalars.empty() ? "0" : "cofuse_ds") + ", " + (Reductions.empty() ? "0" : "cofuse_dr") + ", " +
       cString(Body) + ", " + cString(Decls) + ", 0 }; ";

  R += "int cofuse_r = 0; ";
  std::string Close;
  for (size_t K = 0; K < Loops.size(); ++K) {
    // An empty loop is left to the plain code: nothing is looked up, and inner bounds are evaluated
    // only where the program would.
    R += tripStatements(C, Loops[K], num(K)) + "if (cofuse_t" + num(K) + " > 0) { ";
    Close += "} ";
  }
  for (const std::string &H : Hulls)
    R += H;
  if (!Checks.empty() || !Watch.empty())
    R += "int cofuse_ok = 1; ";
  if (!Checks.empty()) {
    for (const RangeCheck &X : Checks) {
      R += "{ " + extremesText(X.Value, "cofuse_lo", "cofuse_hi");
      R += "if (cofuse_lo < " + std::to_string(X.Min + (X.Min == INT64_MIN)) + "L || cofuse_hi > " +
           std::to_string(X.Max) + "L) cofuse_ok = 0; } ";
    }
    R += "if (cofuse_ok) { ";
    Close += "} ";
  }
  auto Range = [&](const AccessInfo &A, size_t K) { // of loop K, parallel ones first
    unsigned Id = K < Loops.size() ? Symbols.intern(Symbol::Counter, K, "")
                                   : Symbols.intern(Symbol::Inner, A.Inner[K - Loops.size()], "");
    return std::make_pair(Id, "cofuse_r" + num(&A - Accesses.data()) + "_" + num(K));
  };
  for (const AccessInfo &A : Accesses)
    for (size_t K = 0; ranged(A) && K < Loops.size() + A.Inner.size(); ++K)
      R += rangeText(A, Range(A, K).first, Range(A, K).second);
  R += "const long cofuse_n[] = { ";
  for (size_t K = 0; K < Loops.size(); ++K)
    R += "(long)cofuse_a" + num(K) + ", cofuse_t" + num(K) + ", cofuse_s" + num(K) + ", ";
  for (const AccessInfo &A : Accesses) {
    Poly At = A.Indirect ? Poly() : A.Offset;
    At.add(Poly::symbol(A.Base));
    R += Text(At) + ", " + Text(Poly::symbol(A.Base)) + ", ";
    Poly Rest;
    std::map<unsigned, Poly> Coef;
    if (!A.Indirect)
      A.Offset.split(Symbols, Rest, Coef);
    for (size_t K = 0; K < Loops.size(); ++K) {
      auto It = Coef.find(Symbols.intern(Symbol::Counter, K, ""));
      R += It == Coef.end() ? "0L, " : Text(It->second) + " * cofuse_s" + num(K) + ", ";
    }
    for (unsigned L : A.Inner)
      R += Text(Coef[Symbols.intern(Symbol::Inner, L, "")]) + ", ";
    for (unsigned L : A.Inner)
      R += (Inners[L].Trip.empty() ? "-1L" : Inners[L].Trip) + ", ";
    if (!A.Whole.empty())
      R += "1L, (long)" + A.Whole + ", ";
    for (size_t K = 0; ranged(A) && K < Loops.size() + A.Inner.size(); ++K)
      R += Range(A, K).second + "l, " + Range(A, K).second + "h, ";
  }
  for (const ReductionInfo &X : Reductions)
    if (X.Section)
      R += X.Count + ", ";
  R += "0L }; ";
  if (!Watch.empty()) {
    R += watchText() + "if (cofuse_ok) { ";
    Close += "} ";
  }
  R += "const void *const cofuse_v[] = { ";
  for (const ScalarInfo &S : Scalars)
    R += std::string("&(const ") + cType(S.Type) + "){ (" + cType(S.Type) + ")(" + S.Text + ") }, ";
  R += "(const void *)0 }; void *const cofuse_o[] = { ";
  for (const ReductionInfo &X : Reductions)
    R += targetText(X) + ", ";
  R += "(void *)0 }; cofuse_r = cofuse_p_run(&cofuse_d, cofuse_n, cofuse_v, cofuse_o); ";
  std::string Final; // counters that outlive the loop
  for (size_t K = 0; K < Loops.size(); ++K)
    if (!Loops[K].DeclaredInside)
      Final += Loops[K].Counter->getNameAsString() + " = (" + typeText(C, Loops[K].Counter->getType()) +
               ")((unsigned long)cofuse_a" + num(K) + " + (unsigned long)cofuse_t" + num(K) +
               " * (unsigned long)cofuse_s" + num(K) + "); ";
  if (!Final.empty())
    R += "if (cofuse_r) { " + Final + "} ";
  return R + Close + "cofuse_r; })";
}

void Compiler::emitPrefix() {
  std::string F = "cofuse_f" + num(Number), Issue = issueText();
  if (bad())
    return;
  if (D.IfArg >= 0)
    Issue = "((" + exprText(C, Marker->getArg(D.IfArg)->IgnoreParenImpCasts()) + ") ? " + Issue + " : 0)";
  D.Code = "for (__attribute__((nodebug)) int " + F + " = __extension__ " + Issue + "; !" + F +
           "; __extension__ ({ extern void cofuse_p_ran(unsigned) __asm__(\"cofuse_ran\"); cofuse_p_ran(" +
           num(D.Line) + "); }), " + F + " = 1)";
  D.Remark = (IsTask ? std::string("task") : num(Loops.size()) + "-dimensional index task") + " with " +
             num(Accesses.size()) + " accesses, " + num(Scalars.size()) + " scalars, " +
             num(Reductions.size()) + " reductions";
}

} // namespace cofuse
