// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Diag.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace cofuse {

namespace {
struct DiagText {
  int Code;
  bool IsError;
  const char *Text;
};
const DiagText Table[] = {
#define CF_ERROR(Code, Name, Text) {Code, true, Text},
#define CF_REFUSE(Code, Name, Text) {Code, false, Text},
#define CF_WARN(Code, Name, Text) {Code, false, Text},
#include "Diag.def"
};
} // namespace

Place placeOf(const SourceManager &SM, SourceLocation Loc) {
  Place P;
  if (Loc.isInvalid())
    return P;
  auto D = SM.getDecomposedExpansionLoc(Loc);
  P.File = SM.getFileEntryForID(D.first);
  P.Offset = D.second;
  if (Loc.isMacroID()) {
    const SrcMgr::ExpansionInfo &E = SM.getSLocEntry(SM.getFileID(Loc)).getExpansion();
    MacroPlace M;
    M.Spelling = placeOf(SM, SM.getImmediateSpellingLoc(Loc));
    M.Begin = placeOf(SM, E.getExpansionLocStart());
    M.End = placeOf(SM, E.getExpansionLocEnd());
    M.Argument = E.isMacroArgExpansion();
    if (M.Spelling.File) // not a pasted token
      P.Macro = std::make_shared<MacroPlace>(std::move(M));
  }
  return P;
}

bool isErrorDiag(DiagId Id) { return Table[static_cast<int>(Id)].IsError; }

std::string formatDiag(DiagId Id, StringRef A0, StringRef A1) {
  const DiagText &D = Table[static_cast<int>(Id)];
  std::string R;
  for (const char *P = D.Text; *P; ++P) {
    if (P[0] == '%' && (P[1] == '0' || P[1] == '1')) {
      R += P[1] == '0' ? A0 : A1;
      ++P;
    } else {
      R += *P;
    }
  }
  char Code[24];
  snprintf(Code, sizeof Code, " [cofuse-%03d]", D.Code);
  return R + Code;
}

Finding makeFinding(const SourceManager &SM, const LangOptions &LO, DiagId Id, SourceLocation Loc,
                    SourceRange Range, StringRef A0, StringRef A1) {
  Finding F;
  F.IsError = isErrorDiag(Id);
  F.At = placeOf(SM, Loc);
  F.Text = formatDiag(Id, A0, A1);
  if (Range.isValid() && !Range.getBegin().isMacroID() && !Range.getEnd().isMacroID()) {
    Place B = placeOf(SM, Range.getBegin());
    Place E = placeOf(SM, Lexer::getLocForEndOfToken(Range.getEnd(), 0, SM, LO));
    if (B.File == F.At.File && E.File == F.At.File) {
      F.RangeBegin = B.Offset;
      F.RangeEnd = E.Offset;
    }
  }
  return F;
}

} // namespace cofuse
