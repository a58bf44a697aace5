// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One '#pragma cofuse' line as the nested parse sees it, and what the outer compilation needs of it.
#ifndef COFUSE_PLUGIN_DIRECTIVE_H
#define COFUSE_PLUGIN_DIRECTIVE_H

#include "Diag.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MemoryBuffer.h"

namespace cofuse {

enum class DirectiveKind { Invalid, Store, Release, Forall, Task, Update, Host, Flush };
const char *directiveName(DirectiveKind K);
inline bool takesStatement(DirectiveKind K) {
  return K == DirectiveKind::Forall || K == DirectiveKind::Task || K == DirectiveKind::Host;
}

/// One expression of a clause. Its expressions are consecutive arguments of the marker call.
struct ListItem {
  unsigned Arg = 0;   ///< marker argument of the object
  unsigned Rank = 0;  ///< sections; lower and length follow the object, in pairs
  bool Reads = false; ///< host: in reads(...)
  std::string Op;     ///< reduction operator
};

struct Directive {
  DirectiveKind Kind = DirectiveKind::Invalid;
  bool Valid = false;     ///< syntax and names are right so far
  bool HasList = false;   ///< host with at least one clause
  bool Undefined = false; ///< store(...) undefined
  unsigned Collapse = 1;
  int IfArg = -1; ///< marker argument of if(...)
  std::string Name;
  std::vector<ListItem> Items, Reductions, Privates, FirstPrivates;

  Place At; ///< of the pragma
  clang::OptionalFileEntryRef FileRef;
  unsigned EndOffset = 0; ///< behind the pragma, if Textual
  bool Textual = false;   ///< written in a file, not by a macro
  unsigned Line = 0, Column = 0;
  std::string FileName;               ///< presumed
  llvm::DenseSet<unsigned> TokenLocs; ///< raw locations of the marker tokens (nested compilation)

  std::vector<Finding> Findings;
  std::string Code;              ///< to inject, empty if nothing
  std::vector<Finding> Analysis; ///< for -Rpass-analysis=cofuse
  std::string Remark;            ///< what became of the directive, for -Rpass=cofuse
  bool Refused = false;
};

/// All the plugin knows of one translation unit.
struct Session {
  bool Ran = false;
  unsigned UserErrors = 0; ///< errors of the nested parse that are not about a directive
  Finding FirstUserError;
  std::vector<Directive> Directives;
  std::unique_ptr<llvm::MemoryBuffer> PipeBuffer; ///< main file, if it can be read only once
};

} // namespace cofuse
#endif
