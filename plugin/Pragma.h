// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses a directive in the nested compilation and turns it into marker tokens: ordinary C that
// keeps the user's token locations, so that Sema resolves the names of clauses where they stand.
#ifndef COFUSE_PLUGIN_PRAGMA_H
#define COFUSE_PLUGIN_PRAGMA_H

#include "Directive.h"
#include "clang/Lex/Pragma.h"

namespace cofuse {

extern const char *const MarkerName;

class MarkerHandler : public clang::PragmaHandler {
public:
  /// Pending receives the index of a forall whose next token must be 'for'.
  MarkerHandler(Session &S, int &Pending) : PragmaHandler("cofuse"), S(S), Pending(Pending) {}
  void HandlePragma(clang::Preprocessor &PP, clang::PragmaIntroducer Introducer,
                    clang::Token &First) override;

private:
  Session &S;
  int &Pending;
};

} // namespace cofuse
#endif
