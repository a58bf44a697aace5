// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one annotated statement to a task: the loop nest, the accesses with their address
// polynomials, and the body as MLIR text in the template language of cofuse/descriptor.h.
//
// One object compiles one directive. The first refusal ends it: every function checks bad() before
// it relies on what it was handed.
#ifndef COFUSE_PLUGIN_COMPILE_H
#define COFUSE_PLUGIN_COMPILE_H

#include "Affine.h"
#include "Directive.h"
#include "Loop.h"
#include "Scan.h"
#include "cofuse/descriptor.h"
#include "clang/Basic/CodeGenOptions.h"
#include <map>
#include <optional>
#include <set>

namespace cofuse {

/// enum cofuse_type of an arithmetic C type, -1 if tasks do not compute with it.
int typeCode(clang::ASTContext &C, clang::QualType T);
const char *memoryType(int Code); ///< MLIR type in memory
std::string valueType(int Code);  ///< MLIR type of a value: memoryType, but i1 for _Bool
unsigned typeBytes(int Code);
int complexCode(clang::ASTContext &C, clang::QualType T); ///< COFUSE_C32, COFUSE_C64 or -1
int halfType(int Code);                                   ///< of such a code: type of a part
const char *cType(int Code);                              ///< a C type with this representation

enum JumpKind : unsigned { JumpSkips = 1, JumpReturns = 2, JumpBreaks = 4 };
/// Which jumps S may make out of itself. Loops inside absorb break and continue.
unsigned jumps(const clang::Stmt *S, bool InLoop = false, bool InSwitch = false);

std::string cString(llvm::StringRef S); ///< a C string literal

/// An SSA value. Product and Negated mirror what clang's contraction looks at.
struct Value {
  std::string Name = "%bad", Type = "i32";
  bool Constant = false; ///< clang's IR builder would have folded it
  int Product = -1;      ///< index into Compiler::Products, as long as nothing else uses the value
  bool Negated = false;  ///< the value is the negation of the product
};

/// A complex value, or a real operand of a complex operation (no Im).
struct ComplexValue {
  Value Re, Im;
  bool Real = false;
};

/// Where an lvalue lies: base + offset. The offset is a polynomial plus SSA values (i64, bytes).
struct Address {
  int Base = -1;    ///< symbol number of the base pointer; -1: Slot or nothing
  std::string Slot; ///< !llvm.ptr of a C local
  Poly Offset;
  std::vector<std::string> Extra;
  bool valid() const { return Base >= 0 || !Slot.empty(); }
};

/// Must hold over the whole iteration space.
struct RangeCheck {
  Poly Value;
  int64_t Min, Max;
  bool operator==(const RangeCheck &B) const { return Value == B.Value && Min == B.Min && Max == B.Max; }
};

/// A condition around an access: the symbol of a loop, compared with an invariant bound. True only if Needs
/// hold.
struct Fact {
  enum Kind { AtLeast, AtMost, Differs } K = Differs;
  unsigned Id = 0; ///< symbol: value of a counter, or iteration number of an inner loop
  Poly Bound;
  std::vector<RangeCheck> Needs;
  bool operator==(const Fact &B) const {
    return K == B.K && Id == B.Id && Bound == B.Bound && Needs == B.Needs;
  }
};

struct AccessInfo {
  int Base;
  Poly Offset;
  int Type;
  std::vector<unsigned> Inner; ///< inner loops of the subscript, outermost first
  bool Indirect = false, Unbounded = false;
  std::string Whole;                  ///< indirect access to an array object: C text of its size
  bool Read = false, Written = false; ///< Read: may see a value from before the iteration
  bool AnyUncond = false, MustWrite = false;
  bool Made = false;       ///< loaded or stored somewhere
  std::vector<Fact> Facts; ///< that hold wherever it is
  unsigned Line = 0, Column = 0;
  std::string Text;
  clang::SourceLocation Loc;
  clang::SourceRange Range;
};

struct ReductionInfo {
  const clang::Expr *Target;
  const clang::VarDecl *Var; ///< null if the target is an element
  int Op, Type;
  std::string Text, Clause;
  const char *Part = ""; ///< a complex target is two reductions: __real__ and __imag__
  // An array section; Target is what it is taken of, Type for complex elements that of a part.
  bool Section = false;
  clang::QualType Element;
  Poly Lower;                      ///< bytes from the target to the start
  std::string Start, Count, Label; ///< C text: address, number of elements; 'h[0:n]'
};

struct ScalarInfo {
  int Type;
  std::string Text;
};

struct InnerLoop {
  std::string Trip;      ///< C text of the trip count; empty if not loop-invariant
  bool Positive = false; ///< provably at least one iteration
  bool Hull = false;     ///< bounds move with outer counters: Trip covers all of them, few run each time
  std::string Count;     ///< SSA value: number of the current iteration, i64
};

/// A lvalue ready to be loaded or stored: its address is computed exactly once.
struct Location {
  enum Kind { None, Memory, Local, Reduction, Counter, Captured, Ssa } K = None;
  int Index = -1;     ///< access, reduction, counter or scalar number
  std::string Suffix; ///< "(%k)" or " at %off"
  std::string Slot;   ///< Local: pointer to it; Ssa: the value
  int Type = -1;
};

struct Binding {
  enum Kind { Counter, Inner, Local, Pointer, Reduction } K;
  unsigned Index = 0;
  int Type = -1;
  std::string Slot;  ///< Local: pointer; Inner: SSA value
  std::string Slot2; ///< Inner, complex: the imaginary part
  std::optional<Poly> Value;
  Address Target; ///< Pointer, and Local arrays
};

class Compiler {
public:
  Compiler(clang::ASTContext &C, const clang::CodeGenOptions &CG, FunctionScan &Scan,
           const clang::FunctionDecl *Function, Directive &D, const clang::CallExpr *Marker, unsigned Number);
  /// Fills D.Code and D.Remark, or D.Findings.
  void compileForall(const clang::ForStmt *F);
  void compileTask(const clang::Stmt *S);

private:
  clang::ASTContext &C;
  const clang::CodeGenOptions &CG;
  FunctionScan &Scan;
  const clang::FunctionDecl *Function;
  Directive &D;
  const clang::CallExpr *Marker;
  unsigned Number;
  bool Failed = false;
  bool IsTask = false;

  const clang::Stmt *Nest = nullptr;               ///< what is repeated
  WriteSet Writes;                                 ///< of Nest and of everything it calls
  llvm::DenseSet<const clang::VarDecl *> Declared; ///< in Nest
  std::vector<CanonicalLoop> Loops;
  std::vector<int> CounterTypes;
  SymbolTable Symbols;
  std::map<int, int64_t> ObjectBytes; ///< bases that are variables: their size
  struct ArrayObject {
    const clang::VarDecl *Root; ///< null if it is reached through a pointer
    std::string Size;           ///< C text
  };
  std::map<int, ArrayObject> ArrayObjects; ///< bases that are whole arrays
  std::map<const clang::VarDecl *, Binding> Bindings;
  std::vector<AccessInfo> Accesses;
  std::vector<ReductionInfo> Reductions;
  std::vector<ScalarInfo> Scalars;
  std::vector<InnerLoop> Inners;
  std::map<std::string, std::string> Externals; ///< callee -> declaration
  std::vector<RangeCheck> Checks;               ///< else plain loop
  std::vector<std::string> Hulls;               ///< C declarations of the extents of loops with Hull
  struct Watched {
    std::string Address; ///< C text, long
    uint64_t Bytes;
    int Type; ///< -1: a pointer
  };
  std::vector<Watched> Watch; ///< evaluated at issue: no access of the task may write it, else plain loop

  // ---- text of the body
  std::string Body;
  int Indent = 1, NextValue = 0;
  struct ProductInfo {
    Value L, R;
    std::string Flags;
  };
  std::vector<ProductInfo> Products;
  bool HasFma = false;

  // ---- control context
  struct Region {
    int Loop;                ///< inner loop number, or -1 for a condition
    std::vector<Fact> Facts; ///< what the condition says about counters
  };
  std::vector<Region> Regions;
  std::set<int> Written; ///< accesses written for sure so far in this iteration
  struct LoopFrame {
    std::string Skip, Break; ///< i8 slots; empty if not needed
    bool Switch = false;     ///< a switch: catches break but not continue
  };
  struct CallFrame {
    const clang::FunctionDecl *Function;
    std::string Value, Done; ///< slots of the return value and of "has returned"
    int Type;
    size_t LoopDepth;
  };
  std::vector<LoopFrame> LoopFrames;
  std::vector<CallFrame> CallFrames;

  // ---- Compile.cpp
  bool fail(DiagId Id, const clang::Stmt *S, llvm::StringRef A0 = {}, llvm::StringRef A1 = {});
  bool failAt(DiagId Id, clang::SourceLocation L, clang::SourceRange R, llvm::StringRef A0 = {},
              llvm::StringRef A1 = {});
  Value failValue(DiagId Id, const clang::Stmt *S, llvm::StringRef A0 = {}, llvm::StringRef A1 = {});
  bool bad() const { return Failed; }
  bool bindClauses();
  bool bindLoops(const clang::ForStmt *F);
  bool invariantBound(const clang::Expr *E);
  bool checkCarried();

  // ---- Remarks.cpp
  bool checkPrivates(const clang::Stmt *BodyStmt);
  void warnPrivatesAfter(const clang::ForStmt *F);
  void analyse();
  void collectDeclared(const clang::Stmt *S);
  bool begin(const clang::Stmt *S);
  void finish(const clang::Stmt *BodyStmt);
  void setFunctionTarget(const clang::FunctionDecl *FD);

  // ---- Reduce.cpp
  bool bindReductions();
  bool checkReductionUses(const clang::Stmt *S);
  bool checkUpdate(const clang::Stmt *S);
  int reductionOf(const clang::Expr *E) const;
  bool usesReduction(const clang::Stmt *S) const;
  bool fixedAddress(const clang::Expr *E);
  bool isExtremum(const clang::Expr *Cond, const clang::Expr *Target, const clang::Expr *NewValue, int R,
                  bool Negate);
  bool sameExpr(const clang::Expr *A, const clang::Expr *B) const;
  bool sameTarget(const clang::Expr *E, const clang::Expr *Target, int R) const;

  // ---- Section.cpp
  bool bindSection(const ListItem &Item, ReductionInfo &R);
  bool checkSections();
  bool namesTarget(const clang::Expr *E, const ReductionInfo &R) const;
  bool inSection(const clang::Expr *E, const ReductionInfo &R) const;
  bool freeSubscripts(const clang::Expr *E, int R) const;
  std::optional<Poly> sectionSize(const ReductionInfo &R, unsigned Depth, clang::QualType T);
  bool addSectionOffset(const clang::Expr *E, const ReductionInfo &R, Address &A, unsigned &Depth);
  std::string sectionOffset(const clang::Expr *E, int R);

  // ---- Poly.cpp: integer expressions as polynomials, addresses
  std::optional<Poly> poly(const clang::Expr *E);
  std::optional<Poly> fits(std::optional<Poly> P, const clang::Expr *E);
  std::optional<Poly> variablePoly(const clang::DeclRefExpr *E);
  /// True if E can be evaluated when the task is issued and has then the value it has in the body.
  bool invariant(const clang::Expr *E);
  bool visible(const clang::VarDecl *V, const clang::Expr *E);
  bool insideNest(const clang::VarDecl *V) const;
  std::string guardedText(const clang::Expr *E, llvm::StringRef Null, llvm::StringRef Prefix = "");
  void watch(const clang::Expr *E);
  int baseSymbol(const clang::Expr *E);
  bool address(const clang::Expr *LV, Address &A);
  bool pointerValue(const clang::Expr *E, Address &A);
  bool addIndex(Address &A, const clang::Expr *Index, const Poly &Scale, bool Subtract = false);
  std::optional<Poly> sizeOf(clang::QualType T, const clang::Expr *Object);
  std::string emitPoly(const Poly &P);
  std::string emitSymbol(unsigned Id);
  std::string symbolText(unsigned Id) const;

  // ---- Access.cpp
  bool place(const clang::Expr *E, Location &P);
  bool capturable(const clang::Expr *E);
  bool wholeObject(AccessInfo &Key) const;
  bool memoryPlace(const clang::Expr *E, const Address &A, int Type, Location &P);
  int accessFor(const AccessInfo &Key, const clang::Expr *E);
  bool conditionalFor(const AccessInfo &A) const;
  Value load(const Location &P);
  void store(const Location &P, Value V);
  Value captured(int Type, const std::string &Text);
  std::string emitOffset(const Address &A, bool WithPoly);

  // ---- BodyExpr.cpp, BodyArith.cpp
  void line(const llvm::Twine &T);
  std::string fresh();
  Value op(const llvm::Twine &Rhs, const std::string &Type);
  std::string local(int Type, int64_t Count = 1);
  Value emit(const clang::Expr *E);
  Value emitCast(const clang::CastExpr *E);
  Value emitUnary(const clang::UnaryOperator *E);
  Value emitBinary(const clang::BinaryOperator *E);
  Value emitConditional(const clang::AbstractConditionalOperator *E);
  std::optional<Value> emitFolded(const clang::Expr *E);
  Value condition(const clang::Expr *E);
  Value nonZero(Value V);
  Value compare(clang::BinaryOperatorKind Op, Value L, Value R, bool Unsigned);
  Value logical(const clang::BinaryOperator *E);
  Value widen(Value Bit); ///< i1 -> int
  Value integer(const llvm::APInt &I, const std::string &Type);
  Value integer(int64_t I, const std::string &Type);
  Value floating(const llvm::APFloat &F, const std::string &Type);
  Value convert(Value V, clang::QualType From, clang::QualType To, const clang::Expr *E);
  Value arith(clang::BinaryOperatorKind Op, Value L, Value R, clang::QualType T, const clang::Expr *E);
  Value floatArith(clang::BinaryOperatorKind Op, Value L, Value R, const clang::Expr *E);
  std::optional<Value> contract(Value L, Value R, bool Subtract, const std::string &Flags);
  Value negate(Value V, const std::string &Flags);
  std::string fastMath(const clang::Expr *E);
  Value toI64(Value V, bool Unsigned);

  // ---- BodyCall.cpp
  Value emitCall(const clang::CallExpr *E);
  Value emitMath(const clang::CallExpr *E, llvm::StringRef Name, bool &Known);
  std::string libraryName(llvm::StringRef Name) const;
  Value inlineCall(const clang::CallExpr *E, const clang::FunctionDecl *FD, std::string *Result = nullptr);

  // ---- BodyComplex.cpp
  ComplexValue emitComplex(const clang::Expr *E);
  Value emitComplexPart(const clang::Expr *E, bool &Known);
  bool complexCall(const clang::CallExpr *E, ComplexValue &V);
  ComplexValue complexAssign(const clang::BinaryOperator *E);
  ComplexValue complexConditional(const clang::ConditionalOperator *Q);
  bool placeComplex(const clang::Expr *E, Location P[2], int Only = -1);
  void slotPlaces(const std::string &Slot, int Code, Location P[2]);
  std::string localComplex(int Code, int64_t Count = 1);
  ComplexValue loadComplex(const Location P[2]);
  void storeComplex(const Location P[2], ComplexValue V);
  ComplexValue convertComplex(ComplexValue V, clang::QualType To, const clang::Expr *E);
  Value compareComplex(clang::BinaryOperatorKind Op, ComplexValue L, ComplexValue R);
  Value complexNonZero(ComplexValue V);

  // ---- ComplexArith.cpp
  Value zero(const std::string &Type);
  Value floatOp(const char *Op, const Value &L, const Value &R, const std::string &Flags);
  Value openProduct(const Value &L, const Value &R, const std::string &Flags);
  ComplexValue complexArith(clang::BinaryOperatorKind Op, const ComplexValue &L, const ComplexValue &R,
                            const clang::Expr *E);
  ComplexValue multiply(const ComplexValue &L, const ComplexValue &R, const std::string &Flags, bool Full);
  ComplexValue recoverInfinities(const Value In[4], const Value Parts[4], const ComplexValue &NaNs);
  ComplexValue divide(ComplexValue L, const ComplexValue &R, const std::string &Flags, const clang::Expr *E);
  ComplexValue divideScaled(const ComplexValue &L, const ComplexValue &R, const std::string &Flags);
  ComplexValue complexResult(const std::string &Call, const std::string &T);

  // ---- BodyStmt.cpp, BodyLoop.cpp
  bool stmt(const clang::Stmt *S);
  bool sequence(llvm::ArrayRef<const clang::Stmt *> List);
  bool declaration(const clang::DeclStmt *S);
  bool localVariable(const clang::VarDecl *V);
  bool initialise(const Address &A, clang::QualType T, const clang::Expr *Init);
  bool ifStmt(const clang::IfStmt *S);
  bool forStmt(const clang::ForStmt *S);
  bool countedLoop(const CanonicalLoop &L);
  std::string hull(const CanonicalLoop &L, const Poly &First, const Poly &Bound, InnerLoop &Info);
  bool generalLoop(const clang::Stmt *Init, const clang::Expr *Cond, const clang::Expr *Inc,
                   const clang::Stmt *LoopBody, bool TestFirst);
  bool returnStmt(const clang::ReturnStmt *S);
  bool jumpStmt(const clang::Stmt *S);
  bool switchStmt(const clang::SwitchStmt *S);
  bool stableIn(const clang::Expr *E, const clang::Stmt *Loop);
  void setFlag(const std::string &Slot, bool On);
  Value flagClear(const std::string &Slot);
  void openIf(const Value &Cond, std::vector<Fact> Facts = {});
  void closeIf();

  // ---- Facts.cpp
  void comparisonFacts(clang::BinaryOperatorKind Op, const clang::Expr *L, const clang::Expr *R,
                       std::vector<Fact> &Out);
  void addFacts(const clang::Expr *E, bool Truth, std::vector<Fact> &Out);
  std::vector<Fact> factsOf(const clang::Expr *Cond, bool Truth);
  void keepFacts(AccessInfo &A);
  bool ranged(const AccessInfo &A) const;
  bool conditional(const AccessInfo &A) const;
  std::string rangeText(const AccessInfo &A, unsigned Id, const std::string &Name);

  // ---- Emit.cpp
  void emitPrefix();
  std::string issueText();
  bool insideObject(const AccessInfo &A) const;
  std::string watchText();
  std::string extremesText(const Poly &P, const std::string &Lo, const std::string &Hi);
};

} // namespace cofuse
#endif
