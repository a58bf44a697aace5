// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outer compilation's side: diagnostics found by the nested parse, and injection of tokens.
#ifndef COFUSE_PLUGIN_INJECT_H
#define COFUSE_PLUGIN_INJECT_H

#include "Directive.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Pragma.h"

namespace cofuse {

class InjectHandler : public clang::PragmaHandler {
public:
  InjectHandler(clang::CompilerInstance &CI, std::shared_ptr<Session> S)
      : PragmaHandler("cofuse"), CI(CI), S(std::move(S)) {}
  void HandlePragma(clang::Preprocessor &PP, clang::PragmaIntroducer Introducer,
                    clang::Token &First) override;

private:
  clang::CompilerInstance &CI;
  std::shared_ptr<Session> S;
  unsigned Next = 0;
  void report(const Directive &D, clang::SourceLocation Pragma);
  void remark(const Directive &D, clang::SourceLocation Pragma);
};

/// The main file with every directive replaced by what would be injected.
std::string rewrittenSource(clang::SourceManager &SM, const Session &S);

} // namespace cofuse
#endif
