// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Nested.h"
#include "Compile.h"
#include "Objects.h"
#include "Pragma.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"

using namespace clang;

namespace cofuse {

static thread_local unsigned Depth = 0;
bool insideNested() { return Depth > 0; }

namespace {

/// Keeps errors about directives for the outer compilation; it shows the others itself.
class NestedDiagnostics : public DiagnosticConsumer {
public:
  explicit NestedDiagnostics(Session &S) : S(S) {}
  void HandleDiagnostic(DiagnosticsEngine::Level Level, const Diagnostic &Info) override {
    if (Level < DiagnosticsEngine::Error)
      return;
    SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    SourceLocation Loc = Info.getLocation();
    Place At;
    if (Loc.isValid())
      At = placeOf(Info.getSourceManager(), Loc);
    for (Directive &D : S.Directives) {
      bool Here =
          D.TokenLocs.count(Loc.getRawEncoding()) || (D.Textual && At.File && At.File == D.At.File &&
                                                      At.Offset >= D.At.Offset && At.Offset <= D.EndOffset);
      if (!Here)
        continue;
      D.Valid = false;
      if (D.Findings.empty()) {
        bool Synthetic = D.At.File == At.File && D.At.Offset == At.Offset;
        Finding F;
        F.IsError = true;
        F.At = At;
        F.Text = Synthetic ? formatDiag(DiagId::WrongPlace, directiveName(D.Kind))
                           : formatDiag(DiagId::ClauseExpr, Message, directiveName(D.Kind));
        D.Findings.push_back(F);
      }
      return;
    }
    if (S.UserErrors++ == 0) {
      S.FirstUserError.IsError = true;
      S.FirstUserError.At = At;
      S.FirstUserError.Text = std::string(Message);
    }
  }

private:
  Session &S;
};

/// Finds the markers of one translation unit and compiles what they mark.
class Collector {
public:
  Collector(ASTContext &C, const CodeGenOptions &CG, Session &S) : C(C), CG(CG), S(S) {}

  void run() {
    std::vector<const FunctionDecl *> Functions;
    for (Decl *X : C.getTranslationUnitDecl()->noload_decls())
      if (auto *FD = dyn_cast<FunctionDecl>(X))
        if (FD->doesThisDeclarationHaveABody())
          Functions.push_back(FD);
    for (Decl *X : C.getTranslationUnitDecl()->noload_decls())
      if (auto *V = dyn_cast<VarDecl>(X))
        if (V->hasInit())
          Scan.GlobalInits.push_back(V->getInit());
    Scan.AllFunctions = Functions;
    for (const FunctionDecl *FD : Functions) {
      Function = FD;
      FirstPass = true;
      walk(FD->getBody(), nullptr, 0);
    }
    for (const FunctionDecl *FD : Functions) {
      if (!Scan.WithDirective.count(FD))
        continue;
      Function = FD;
      FirstPass = false;
      walk(FD->getBody(), nullptr, 0);
    }
  }

private:
  ASTContext &C;
  const CodeGenOptions &CG;
  Session &S;
  FunctionScan Scan;
  const FunctionDecl *Function = nullptr;
  bool FirstPass = true;

  Directive *marked(const Stmt *St, const CallExpr *&Call, unsigned &Number) {
    auto *E = dyn_cast_or_null<Expr>(St);
    Call = E ? dyn_cast<CallExpr>(E->IgnoreParenImpCasts()) : nullptr;
    const FunctionDecl *FD = Call ? Call->getDirectCallee() : nullptr;
    if (!FD || !FD->getIdentifier() || !FD->getIdentifier()->isStr(MarkerName) || Call->getNumArgs() == 0)
      return nullptr;
    Expr::EvalResult R;
    if (!Call->getArg(0)->EvaluateAsInt(R, C))
      return nullptr;
    Number = R.Val.getInt().getZExtValue();
    return Number < S.Directives.size() ? &S.Directives[Number] : nullptr;
  }

  void error(Directive &D, DiagId Id, SourceLocation L, StringRef A0 = {}) {
    D.Valid = false;
    D.Findings.push_back(makeFinding(C.getSourceManager(), C.getLangOpts(), Id, L, {}, A0));
  }

  /// Notes which functions hold directives and which scalars may be stores.
  void first(const Directive &D, const CallExpr *Call) {
    Scan.WithDirective.insert(Function);
    if (D.Kind != DirectiveKind::Store)
      return;
    for (const ListItem &Item : D.Items)
      if (Item.Rank == 0 && Item.Arg < Call->getNumArgs())
        if (const VarDecl *V = rootVariable(Call->getArg(Item.Arg)->IgnoreParenImpCasts()))
          if (!V->getType()->isArrayType())
            Scan.ScalarStores.insert(V->getCanonicalDecl());
  }

  void onStatement(Directive &D, unsigned Number, const CallExpr *Call, const IfStmt *I) {
    const Stmt *Body = I->getElse();
    while (auto *A = dyn_cast_or_null<AttributedStmt>(Body))
      Body = A->getSubStmt();
    if (!Body)
      return error(D, DiagId::WrongPlace, I->getBeginLoc(), directiveName(D.Kind));
    if (D.Kind == DirectiveKind::Host)
      return compileObjects(C, Function, D, Call, Number, nullptr, 0);
    if (D.Kind == DirectiveKind::Task)
      return Compiler(C, CG, Scan, Function, D, Call, Number).compileTask(Body);
    auto *F = dyn_cast<ForStmt>(Body);
    if (!F)
      return error(D, DiagId::NotALoop, Body->getBeginLoc());
    Compiler(C, CG, Scan, Function, D, Call, Number).compileForall(F);
  }

  bool ready(Directive &D, const CallExpr *Call) {
    if (!D.Valid || Call->containsErrors())
      return false;
    if (C.getTypeSize(C.LongTy) != 64 || C.getTypeSize(C.VoidPtrTy) != 64) {
      error(D, DiagId::NotLP64, Call->getBeginLoc());
      return false;
    }
    return true;
  }

  /// Block, Position: the compound statement that holds St, directly or behind labels; or null.
  void walk(const Stmt *St, const CompoundStmt *Block, unsigned Position) {
    if (!St)
      return;
    const CallExpr *Call;
    unsigned Number = 0;
    if (auto *I = dyn_cast<IfStmt>(St)) {
      if (Directive *D = marked(I->getCond(), Call, Number)) {
        if (FirstPass)
          first(*D, Call);
        else if (ready(*D, Call))
          onStatement(*D, Number, Call, I);
        walk(I->getElse(), nullptr, 0);
        return;
      }
    }
    if (Directive *D = marked(St, Call, Number)) {
      if (FirstPass)
        return first(*D, Call);
      if (!ready(*D, Call))
        return;
      if (!Block)
        return error(*D, DiagId::WrongPlace, Call->getBeginLoc(), directiveName(D->Kind));
      return compileObjects(C, Function, *D, Call, Number, Block, Position);
    }
    if (auto *B = dyn_cast<CompoundStmt>(St)) {
      unsigned P = 0;
      for (const Stmt *X : B->body())
        walk(X, B, P++);
      return;
    }
    bool Label = isa<LabelStmt>(St) || isa<SwitchCase>(St);
    for (const Stmt *X : St->children())
      walk(X, Label ? Block : nullptr, Position);
  }
};

class NestedConsumer : public ASTConsumer {
public:
  NestedConsumer(CompilerInstance &CI, const CodeGenOptions &CG, Session &S) : CI(CI), CG(CG), S(S) {}

  void Initialize(ASTContext &) override { // after a PCH has been read
    Preprocessor &PP = CI.getPreprocessor();
    // In front of any -include.
    PP.setPredefines(std::string("#define __COFUSE__ 1\nint ") + MarkerName + "(int, ...);\n" +
                     PP.getPredefines());
    PP.AddPragmaHandler(new MarkerHandler(S, Pending));
    PP.setTokenWatcher([this](const Token &T) {
      if (Pending < 0)
        return;
      Directive &D = S.Directives[Pending];
      Pending = -1;
      if (T.is(tok::kw_for) || T.isAnnotation())
        return;
      D.Valid = false;
      D.Findings.push_back(
          makeFinding(CI.getSourceManager(), CI.getLangOpts(), DiagId::NotALoop, T.getLocation(), {}));
    });
  }
  void HandleTranslationUnit(ASTContext &C) override {
    if (S.UserErrors == 0)
      Collector(C, CG, S).run();
  }

private:
  CompilerInstance &CI;
  const CodeGenOptions &CG;
  Session &S;
  int Pending = -1;
};

class NestedAction : public ASTFrontendAction {
public:
  NestedAction(const CodeGenOptions &CG, Session &S) : CG(CG), S(S) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI, StringRef) override {
    return std::make_unique<NestedConsumer>(CI, CG, S);
  }

private:
  const CodeGenOptions &CG;
  Session &S;
};

} // namespace

void runNested(CompilerInstance &CI, Session &S) {
  S.Ran = true;
  ++Depth;
  auto Inv = std::make_shared<CompilerInvocation>(CI.getInvocation());
  FrontendOptions &FO = Inv->getFrontendOpts();
  FO.ProgramAction = frontend::ParseSyntaxOnly;
  FO.OutputFile.clear();
  FO.Plugins.clear();
  FO.AddPluginActions.clear();
  FO.ActionName.clear();
  FO.DisableFree = false;
  FO.ShowStats = false;
  FO.StatsFile.clear();
  FO.ARCMTAction = FrontendOptions::ARCMT_None;
  Inv->getDependencyOutputOpts() = DependencyOutputOptions();
  Inv->getHeaderSearchOpts().Verbose = false;
  DiagnosticOptions &DO = Inv->getDiagnosticOpts();
  DO.DiagnosticSerializationFile.clear();
  DO.DiagnosticLogFile.clear();
  DO.VerifyDiagnostics = 0;
  DO.IgnoreWarnings = 1;
  DO.ErrorLimit = 0;
  DO.ShowCarets = 0;
  llvm::erase(DO.Warnings, "fatal-errors"); // it would hide later errors from us
  SourceManager &SM = CI.getSourceManager();
  if (auto FE = SM.getFileEntryRefForID(SM.getMainFileID()))
    if (FE->getFileEntry().isNamedPipe() && !FO.Inputs.empty() && FO.Inputs[0].isFile()) {
      // A pipe can be read only once: hand over what was read.
      Inv->getPreprocessorOpts().RetainRemappedFileBuffers = true;
      S.PipeBuffer =
          llvm::MemoryBuffer::getMemBufferCopy(SM.getBufferData(SM.getMainFileID()), FE->getName());
      Inv->getPreprocessorOpts().addRemappedFile(FE->getName(), S.PipeBuffer.get());
    }
  CompilerInstance Nested(CI.getPCHContainerOperations());
  Nested.setInvocation(Inv);
  NestedDiagnostics Diags(S);
  Nested.createDiagnostics(&Diags, /*ShouldOwnClient=*/false);
  Nested.setFileManager(&CI.getFileManager());
  NestedAction Action(CI.getCodeGenOpts(), S);
  Nested.ExecuteAction(Action);
  --Depth;
}

} // namespace cofuse
