// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nested, syntax-only compilation that analyses the directives of a translation unit.
#ifndef COFUSE_PLUGIN_NESTED_H
#define COFUSE_PLUGIN_NESTED_H

#include "Directive.h"
#include "clang/Frontend/CompilerInstance.h"

namespace cofuse {

/// True while a nested compilation runs: the plugin must not load itself into it.
bool insideNested();

/// Parses the input of CI once more and fills S. No diagnostics are shown.
void runNested(clang::CompilerInstance &CI, Session &S);

} // namespace cofuse
#endif
