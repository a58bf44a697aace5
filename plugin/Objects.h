// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-alone directives and 'host': lists of objects to calls of the runtime.
#ifndef COFUSE_PLUGIN_OBJECTS_H
#define COFUSE_PLUGIN_OBJECTS_H

#include "Directive.h"
#include "Scan.h"

namespace cofuse {

/// Fills D.Code or D.Findings. Block and Position: the compound statement that directly holds the
/// marker of a stand-alone directive, and its index there (for the scope of automatic arrays).
void compileObjects(clang::ASTContext &C, const clang::FunctionDecl *Function, Directive &D,
                    const clang::CallExpr *Marker, unsigned Number, const clang::CompoundStmt *Block,
                    unsigned Position);

} // namespace cofuse
#endif
