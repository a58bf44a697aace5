// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Inject.h"
#include "Nested.h"
#include "clang/Frontend/FrontendDiagnostic.h"
#include "clang/Lex/Preprocessor.h"
#include <map>

using namespace clang;

namespace cofuse {

/// Location of a finding in this compilation, or the pragma's. What a macro made has not been expanded here
/// yet: an equal expansion is entered, so that the caret and the notes about the macro are the usual ones.
static SourceLocation locate(SourceManager &SM, const Place &At, unsigned Offset, SourceLocation Pragma) {
  if (!At.File)
    return Pragma;
  if (At.Macro && Offset == At.Offset) {
    const MacroPlace &M = *At.Macro;
    SourceLocation S = locate(SM, M.Spelling, M.Spelling.Offset, SourceLocation());
    SourceLocation B = locate(SM, M.Begin, M.Begin.Offset, SourceLocation());
    SourceLocation E = locate(SM, M.End, M.End.Offset, SourceLocation());
    if (S.isValid() && B.isValid() && E.isValid())
      return M.Argument ? SM.createMacroArgExpansionLoc(S, B, 1) : SM.createExpansionLoc(S, B, E, 1);
  }
  FileID F;
  if (Pragma.isValid())
    F = SM.getFileID(SM.getExpansionLoc(Pragma));
  if (F.isInvalid() || SM.getFileEntryForID(F) != At.File)
    F = SM.translateFile(At.File);
  return F.isValid() ? SM.getLocForStartOfFile(F).getLocWithOffset(Offset) : Pragma;
}

void InjectHandler::report(const Directive &D, SourceLocation Pragma) {
  SourceManager &SM = CI.getSourceManager();
  DiagnosticsEngine &DE = CI.getDiagnostics();
  for (const Finding &F : D.Findings) {
    SourceLocation L = locate(SM, F.At, F.At.Offset, Pragma);
    { // the builder reports when it dies: before the note
      DiagnosticBuilder B = F.IsError ? DE.Report(L, DE.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
                                      : DE.Report(L, diag::warn_fe_backend_optimization_failure);
      B << F.Text;
      if (F.RangeEnd && L != Pragma)
        B << CharSourceRange::getCharRange(locate(SM, F.At, F.RangeBegin, Pragma),
                                           locate(SM, F.At, F.RangeEnd, Pragma));
    }
    for (const Finding &N : F.Notes)
      DE.Report(locate(SM, N.At, N.At.Offset, Pragma), DE.getCustomDiagID(DiagnosticsEngine::Note, "%0"))
          << N.Text;
    if (!F.IsError)
      DE.Report(Pragma, DE.getCustomDiagID(DiagnosticsEngine::Note, "requested by this directive"));
  }
}

void InjectHandler::remark(const Directive &D, SourceLocation Pragma) {
  DiagnosticsEngine &DE = CI.getDiagnostics();
  const CodeGenOptions &CG = CI.getCodeGenOpts();
  if (!D.Remark.empty() && CG.OptimizationRemark.patternMatches("cofuse"))
    DE.Report(Pragma, diag::remark_fe_backend_optimization_remark) << AddFlagValue("cofuse") << D.Remark;
  if (CG.OptimizationRemarkAnalysis.patternMatches("cofuse"))
    for (const Finding &F : D.Analysis)
      DE.Report(locate(CI.getSourceManager(), F.At, F.At.Offset, Pragma),
                diag::remark_fe_backend_optimization_remark_analysis)
          << AddFlagValue("cofuse") << F.Text;
  if (D.Refused && CG.OptimizationRemarkMissed.patternMatches("cofuse"))
    DE.Report(Pragma, diag::remark_fe_backend_optimization_remark_missed)
        << AddFlagValue("cofuse") << "runs as plain code: " + D.Findings.back().Text;
}

void InjectHandler::HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer, Token &) {
  SourceManager &SM = PP.getSourceManager();
  DiagnosticsEngine &DE = CI.getDiagnostics();
  Token T;
  do
    PP.Lex(T);
  while (T.isNot(tok::eod));
  if (!S->Ran)
    runNested(CI, *S);
  unsigned Number = Next++;
  SourceLocation At = Introducer.Loc;
  Place P = placeOf(SM, At);
  if (Number >= S->Directives.size() || S->Directives[Number].At.File != P.File ||
      S->Directives[Number].At.Offset != P.Offset) {
    if (S->UserErrors == 0) // an error may have cut the nested parse short
      DE.Report(At, DE.getCustomDiagID(DiagnosticsEngine::Error,
                                       "cofuse: internal error: analysis and compilation disagree"));
    return;
  }
  const Directive &D = S->Directives[Number];
  report(D, At);
  remark(D, At);
  if (D.Code.empty() || S->UserErrors || !D.Valid)
    return;

  // The tokens are spelled in a system file, so that no warning is about them, and expanded at the
  // pragma, so that errors and debug information point there.
  FileID File = SM.createFileID(llvm::MemoryBuffer::getMemBufferCopy(D.Code, "<cofuse>"), SrcMgr::C_System);
  SourceLocation Spelling = SM.getLocForStartOfFile(File);
  SourceLocation Base = SM.createExpansionLoc(Spelling, At, At, D.Code.size());
  Lexer L(File, SM.getBufferOrFake(File), SM, PP.getLangOpts());
  std::vector<Token> Tokens;
  for (Token X;;) {
    L.LexFromRawLexer(X);
    if (X.is(tok::eof))
      break;
    unsigned Offset = SM.getFileOffset(X.getLocation());
    if (X.is(tok::raw_identifier))
      PP.LookUpIdentifierInfo(X);
    X.setLocation(Base.getLocWithOffset(Offset));
    X.clearFlag(Token::StartOfLine);
    Tokens.push_back(X);
  }
  auto Stream = std::make_unique<Token[]>(Tokens.size());
  std::copy(Tokens.begin(), Tokens.end(), Stream.get());
  PP.EnterTokenStream(std::move(Stream), Tokens.size(), /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
}

std::string rewrittenSource(SourceManager &SM, const Session &S) {
  FileID Main = SM.getMainFileID();
  StringRef Text = SM.getBufferData(Main);
  const FileEntry *File = SM.getFileEntryForID(Main);
  std::map<unsigned, const Directive *> ByOffset;
  for (const Directive &D : S.Directives)
    if (D.At.File == File && D.Textual && D.Valid && !D.Code.empty())
      ByOffset.emplace(D.At.Offset, &D);
  std::string R;
  unsigned Pos = 0;
  for (auto &X : ByOffset) {
    const Directive &D = *X.second;
    R += Text.substr(Pos, D.At.Offset - Pos);
    R += D.Code;
    R.append(Text.substr(D.At.Offset, D.EndOffset - D.At.Offset).count('\n'),
             '\n'); // lines keep their numbers
    Pos = D.EndOffset;
  }
  return R + Text.substr(Pos).str();
}

} // namespace cofuse
