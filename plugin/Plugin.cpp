// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry point: -fplugin=cofuse-plugin.so. Adds a pragma handler to the compilation and the host
// guards to its code generation. Without a directive the analysis never runs.
#include "Inject.h"
#include "Nested.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/raw_ostream.h"
#if __has_include("guard/Guard.h")
#include "guard/Guard.h"
#define COFUSE_HAS_GUARD 1
#endif

using namespace clang;

namespace cofuse {
namespace {

class EndConsumer : public ASTConsumer {
public:
  void Initialize(ASTContext &) override { // after a PCH has been read
    Preprocessor &PP = CI.getPreprocessor();
    PP.setPredefines("#define __COFUSE__ 1\n" + PP.getPredefines());
  }

  EndConsumer(CompilerInstance &CI, std::shared_ptr<Session> S) : CI(CI), S(std::move(S)) {}
  void HandleTranslationUnit(ASTContext &) override {
    DiagnosticsEngine &DE = CI.getDiagnostics();
    if (S->UserErrors == 0 || DE.hasErrorOccurred())
      return;
    // Only the markers made the nested parse fail, for instance a task on a declaration.
    SourceManager &SM = CI.getSourceManager();
    SourceLocation L;
    if (S->FirstUserError.At.File == SM.getFileEntryForID(SM.getMainFileID()))
      L = SM.getLocForStartOfFile(SM.getMainFileID()).getLocWithOffset(S->FirstUserError.At.Offset);
    DE.Report(
        L, DE.getCustomDiagID(DiagnosticsEngine::Error, "a '#pragma cofuse' directive does not fit here: %0"))
        << S->FirstUserError.Text;
  }

private:
  CompilerInstance &CI;
  std::shared_ptr<Session> S;
};

class Action : public PluginASTAction {
public:
  bool ParseArgs(const CompilerInstance &CI, const std::vector<std::string> &Args) override {
    if (insideNested() || CI.getLangOpts().CPlusPlus || CI.getLangOpts().ObjC)
      return false;
    for (StringRef A : Args) {
      if (A.consume_front("emit-source=")) {
        EmitSource = A.str();
        continue;
      }
      DiagnosticsEngine &D = CI.getDiagnostics();
      D.Report(D.getCustomDiagID(DiagnosticsEngine::Error, "unknown cofuse plugin argument '%0'")) << A;
      return false;
    }
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI, StringRef) override {
    auto S = std::make_shared<Session>();
    CI.getPreprocessor().AddPragmaHandler(new InjectHandler(CI, S));
    if (!EmitSource.empty())
      writeSource(CI, *S);
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(std::make_unique<EndConsumer>(CI, S));
#ifdef COFUSE_HAS_GUARD
    if (auto Guards = registerGuards(CI))
      Consumers.push_back(std::move(Guards));
#endif
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

private:
  std::string EmitSource;

  void writeSource(CompilerInstance &CI, Session &S) {
    runNested(CI, S);
    std::error_code Error;
    llvm::raw_fd_ostream Out(EmitSource, Error);
    if (Error) {
      DiagnosticsEngine &D = CI.getDiagnostics();
      D.Report(D.getCustomDiagID(DiagnosticsEngine::Error, "cannot write '%0': %1"))
          << EmitSource << Error.message();
      return;
    }
    Out << rewrittenSource(CI.getSourceManager(), S);
  }
};

} // namespace
} // namespace cofuse

static clang::FrontendPluginRegistry::Add<cofuse::Action> Registration("cofuse",
                                                                       "tasks from '#pragma cofuse' loops");
