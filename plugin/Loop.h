// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical form of a for loop and its trip count, as C text (issue time) or as data.
#ifndef COFUSE_PLUGIN_LOOP_H
#define COFUSE_PLUGIN_LOOP_H

#include "Diag.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace cofuse {

struct CanonicalLoop {
  const clang::ForStmt *For = nullptr;
  const clang::VarDecl *Counter = nullptr;
  bool DeclaredInside = false; ///< counter declared in the for statement
  const clang::Expr *First = nullptr, *Bound = nullptr;
  clang::BinaryOperatorKind Rel = clang::BO_LT; ///< counter Rel bound
  clang::QualType Common;                       ///< type in which they are compared
  const clang::Expr *Step = nullptr;            ///< null: StepConst
  bool StepNegated = false;                     ///< counter -= Step
  int64_t StepConst = 0;                        ///< if the step is constant, with its sign; else 0

  bool increasing() const { return Rel == clang::BO_LT || Rel == clang::BO_LE; }
};

struct LoopFault {
  DiagId Id;
  const clang::Stmt *Where;
};

/// Recognises 'for (v = first; v rel bound; v += step)'. Invariance is the caller's business.
bool parseCanonical(clang::ASTContext &C, const clang::ForStmt *F, CanonicalLoop &L, LoopFault &Fault);

/// C statements that declare, with suffix N: a<N> (first value), s<N> (step, long), t<N> (trip count,
/// long). t<N> is -1 where only the plain loop is right (no progress, wrapping counter).
std::string tripStatements(clang::ASTContext &C, const CanonicalLoop &L, const std::string &N);

/// C expression of type long for a trip count with constant step; First and Bound are C texts.
std::string tripExpression(clang::ASTContext &C, const CanonicalLoop &L, const std::string &First,
                           const std::string &Bound);

std::string exprText(clang::ASTContext &C, const clang::Expr *E);
/// The standard integer type with the size and signedness of T.
std::string typeText(clang::ASTContext &C, clang::QualType T);

} // namespace cofuse
#endif
