// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a statement, together with the functions it calls, writes; and which variables of a function
// have their address taken. Plain walks, each done once.
#ifndef COFUSE_PLUGIN_SCAN_H
#define COFUSE_PLUGIN_SCAN_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <vector>

namespace cofuse {

struct WriteSet {
  llvm::DenseSet<const clang::VarDecl *> Variables; ///< assigned by name (whole, member, element of array)
  llvm::DenseSet<const clang::Type *> Types;        ///< canonical types stored through pointers and arrays
  bool contains(const clang::VarDecl *V) const { return Variables.count(V->getCanonicalDecl()); }
  bool mayWrite(clang::QualType T) const;
};

/// Variable whose storage holds the lvalue E without any pointer in between, or null.
const clang::VarDecl *rootVariable(const clang::Expr *E);

class FunctionScan {
public:
  WriteSet writes(const clang::Stmt *S);
  bool addressTaken(const clang::VarDecl *V, const clang::FunctionDecl *In);
  /// Nothing but subscripts ever reaches the array V (or the variable that holds it): no pointer to it
  /// exists, no directive names it.
  bool neverExposed(const clang::VarDecl *V, const clang::FunctionDecl *In);
  /// Initializer of a variable that is never changed after it, in a way the optimizer sees: a local of
  /// In, or a static variable of this translation unit. Null if there is none.
  const clang::Expr *lastingInit(const clang::VarDecl *V, const clang::FunctionDecl *In);
  std::vector<const clang::FunctionDecl *> AllFunctions; ///< with bodies, in this translation unit
  std::vector<const clang::Expr *> GlobalInits;          ///< initializers at file scope
  /// Variables that some store directive names as a scalar.
  llvm::DenseSet<const clang::VarDecl *> ScalarStores;
  llvm::DenseSet<const clang::FunctionDecl *> WithDirective;

private:
  llvm::DenseMap<const clang::FunctionDecl *, WriteSet> OfFunction;
  llvm::DenseSet<const clang::FunctionDecl *> Scanned;
  llvm::DenseSet<const clang::VarDecl *> Taken;
  void collect(const clang::Stmt *S, WriteSet &W, llvm::DenseSet<const clang::FunctionDecl *> &Seen);
  void collectTaken(const clang::Stmt *S);
  llvm::DenseMap<const clang::FunctionDecl *, llvm::DenseSet<const clang::VarDecl *>> Exposed;
  void collectExposed(const clang::Stmt *S, llvm::DenseSet<const clang::VarDecl *> &Set, bool Subscripted);
};

} // namespace cofuse
#endif
