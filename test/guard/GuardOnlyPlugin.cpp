// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin that is nothing but the guard pass, so that its tests do not depend on the pragma front end.
#include "Guard.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

namespace {

class GuardOnlyAction : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &CI,
                                                        llvm::StringRef) override {
    return cofuse::registerGuards(CI);
  }
  bool ParseArgs(const clang::CompilerInstance &, const std::vector<std::string> &) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

} // namespace

static clang::FrontendPluginRegistry::Add<GuardOnlyAction> Register("guardonly", "cofuse host guards only");
