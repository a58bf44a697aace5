// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagnostics found by the nested parse. They cannot be reported there (its consumer is ours), so
// they are kept as file offsets and reported by the outer compilation at the same place.
#ifndef COFUSE_PLUGIN_DIAG_H
#define COFUSE_PLUGIN_DIAG_H

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include <memory>
#include <string>
#include <vector>

namespace cofuse {

enum class DiagId {
#define CF_ERROR(Code, Name, Text) Name,
#define CF_REFUSE(Code, Name, Text) Name,
#define CF_WARN(Code, Name, Text) Name,
#include "Diag.def"
};

struct MacroPlace;

/// A position that both compilations share: file and offset of the expansion location; for a token that
/// a macro made, also how.
struct Place {
  const clang::FileEntry *File = nullptr;
  unsigned Offset = 0;
  std::shared_ptr<const MacroPlace> Macro;
};
struct MacroPlace {
  Place Spelling, Begin, End; ///< of the token, of the macro's use
  bool Argument = false;
};
Place placeOf(const clang::SourceManager &SM, clang::SourceLocation Loc);

struct Finding {
  bool IsError = false;
  Place At;
  unsigned RangeBegin = 0, RangeEnd = 0; ///< offsets in At.File; no range if RangeEnd is 0
  std::string Text;                      ///< complete, with its code
  std::vector<Finding> Notes;
};

/// Text of a message with its arguments and code filled in.
std::string formatDiag(DiagId Id, llvm::StringRef A0 = {}, llvm::StringRef A1 = {});
bool isErrorDiag(DiagId Id);
Finding makeFinding(const clang::SourceManager &SM, const clang::LangOptions &LO, DiagId Id,
                    clang::SourceLocation Loc, clang::SourceRange Range, llvm::StringRef A0 = {},
                    llvm::StringRef A1 = {});

} // namespace cofuse
#endif
