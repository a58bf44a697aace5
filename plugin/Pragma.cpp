// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pragma.h"
#include "cofuse/descriptor.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace cofuse {

const char *const MarkerName = "__cofuse_mark";

const char *directiveName(DirectiveKind K) {
  switch (K) {
  case DirectiveKind::Store:
    return "store";
  case DirectiveKind::Release:
    return "release";
  case DirectiveKind::Forall:
    return "forall";
  case DirectiveKind::Task:
    return "task";
  case DirectiveKind::Update:
    return "update";
  case DirectiveKind::Host:
    return "host";
  case DirectiveKind::Flush:
    return "flush";
  case DirectiveKind::Invalid:
    break;
  }
  return "";
}

namespace {

using Tokens = SmallVector<Token, 8>;

/// Recursive descent over the tokens of one directive.
class Parser {
public:
  Parser(Preprocessor &PP, Directive &D, ArrayRef<Token> T) : PP(PP), D(D), T(T) {}

  Tokens Args; ///< arguments of the marker call behind the number
  unsigned NumArgs = 1;

  bool parse() {
    std::string Word = T[0].is(tok::eod) ? "" : PP.getSpelling(T[0]);
    D.Kind = llvm::StringSwitch<DirectiveKind>(Word)
                 .Case("store", DirectiveKind::Store)
                 .Case("release", DirectiveKind::Release)
                 .Case("forall", DirectiveKind::Forall)
                 .Case("task", DirectiveKind::Task)
                 .Case("update", DirectiveKind::Update)
                 .Case("host", DirectiveKind::Host)
                 .Case("flush", DirectiveKind::Flush)
                 .Default(DirectiveKind::Invalid);
    if (D.Kind == DirectiveKind::Invalid)
      return fail(DiagId::UnknownDirective, Word);
    Kind = directiveName(D.Kind);
    ++P;
    switch (D.Kind) {
    case DirectiveKind::Store:
    case DirectiveKind::Release:
    case DirectiveKind::Update:
      if (!list(D.Items, "", /*Sections=*/true))
        return false;
      break;
    default:
      break;
    }
    while (T[P].isNot(tok::eod))
      if (!clause())
        return false;
    return true;
  }

private:
  Preprocessor &PP;
  Directive &D;
  ArrayRef<Token> T;
  size_t P = 0;
  std::string Kind;

  bool fail(DiagId Id, StringRef A0 = {}, StringRef A1 = {}) {
    auto &SM = PP.getSourceManager();
    D.Findings.push_back(makeFinding(SM, PP.getLangOpts(), Id, T[P].getLocation(), {}, A0, A1));
    return false;
  }
  bool expect(tok::TokenKind K, const char *What) {
    if (T[P].isNot(K))
      return fail(DiagId::Expected, What, Kind);
    ++P;
    return true;
  }
  /// Balanced tokens up to one of the kinds at depth 0; not consumed.
  Tokens run(std::initializer_list<tok::TokenKind> Stop) {
    Tokens R;
    for (int Depth = 0; T[P].isNot(tok::eod); ++P) {
      if (Depth == 0 && llvm::any_of(Stop, [&](tok::TokenKind K) { return T[P].is(K); }))
        break;
      if (T[P].isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
        ++Depth;
      if (T[P].isOneOf(tok::r_paren, tok::r_square, tok::r_brace))
        --Depth;
      R.push_back(T[P]);
    }
    return R;
  }
  static Token punct(tok::TokenKind K, SourceLocation L) {
    Token X;
    X.startToken();
    X.setKind(K);
    X.setLocation(L);
    X.setLength(1);
    return X;
  }
  unsigned addArg(const Tokens &E) {
    SourceLocation L = E.front().getLocation();
    Args.push_back(punct(tok::comma, L));
    Args.push_back(punct(tok::l_paren, L));
    Args.append(E.begin(), E.end());
    Args.push_back(punct(tok::r_paren, L));
    return NumArgs++;
  }
  Token number(unsigned V, SourceLocation L) {
    Token X;
    X.startToken();
    X.setKind(tok::numeric_constant);
    PP.CreateString(std::to_string(V), X, L, L);
    return X;
  }

  bool section(ListItem &Item) {
    ++P; // [
    SourceLocation Open = T[P].getLocation();
    Tokens Lower = run({tok::colon, tok::r_square});
    if (T[P].isNot(tok::colon))
      return fail(DiagId::Expected, "'lower:length' in the array section", Kind);
    ++P;
    Tokens Length = run({tok::r_square});
    if (Length.empty())
      return fail(DiagId::Expected, "the length of the array section", Kind);
    if (Lower.empty())
      Lower.push_back(number(0, Open));
    addArg(Lower);
    addArg(Length);
    if (++Item.Rank > COFUSE_MAX_RANK)
      return fail(DiagId::TooManyExtents, std::to_string(int(COFUSE_MAX_RANK)));
    return expect(tok::r_square, "']'");
  }

  /// '(' item {',' item} ')'. An item is an expression whose trailing [..:..] are its sections.
  bool list(std::vector<ListItem> &Into, StringRef Op, bool Sections, bool Reads = false) {
    if (!expect(tok::l_paren, "'('"))
      return false;
    for (;;) {
      ListItem Item;
      Item.Op = Op.str();
      Item.Reads = Reads;
      Tokens E;
      while (T[P].isNot(tok::eod)) { // a [ ] without ':' still belongs to the expression
        Tokens Part = run({tok::l_square, tok::comma, tok::r_paren});
        E.append(Part.begin(), Part.end());
        if (T[P].isNot(tok::l_square))
          break;
        size_t Here = P++;
        run({tok::colon, tok::r_square});
        bool IsSection = T[P].is(tok::colon);
        P = Here;
        if (IsSection)
          break;
        E.push_back(T[P++]);
        Part = run({tok::r_square});
        E.append(Part.begin(), Part.end());
        if (T[P].is(tok::r_square))
          E.push_back(T[P++]);
      }
      if (E.empty())
        return fail(DiagId::Expected, "an expression", Kind);
      Item.Arg = addArg(E);
      while (T[P].is(tok::l_square)) {
        if (!Sections && Op.empty())
          return fail(DiagId::Expected, "a variable without a section", Kind);
        if (!section(Item))
          return false;
      }
      Into.push_back(Item);
      if (T[P].is(tok::comma)) {
        ++P;
        continue;
      }
      return expect(tok::r_paren, "',' or ')'");
    }
  }

  bool reduction() {
    if (!expect(tok::l_paren, "'('"))
      return false;
    std::string Op = T[P].is(tok::eod) ? "" : PP.getSpelling(T[P]);
    static const char *const Known[] = {"+", "-", "*", "min", "max", "&", "|", "^", "&&", "||"};
    if (llvm::none_of(Known, [&](const char *K) { return Op == K; }))
      return fail(DiagId::BadReductionOp, Op);
    ++P;
    if (T[P].isNot(tok::colon))
      return fail(DiagId::Expected, "':' after the operator", Kind);
    // list() wants an opening parenthesis: let it see the colon as one.
    SmallVector<Token, 16> Rest(T.begin(), T.end());
    Rest[P].setKind(tok::l_paren);
    Parser Sub(PP, D, Rest);
    Sub.P = P;
    Sub.Kind = Kind;
    Sub.NumArgs = NumArgs;
    bool Ok = Sub.list(D.Reductions, Op, /*Sections=*/false);
    Args.append(Sub.Args.begin(), Sub.Args.end());
    NumArgs = Sub.NumArgs;
    P = Sub.P;
    return Ok;
  }

  bool clause() {
    if (!T[P].isAnyIdentifier() && !tok::getKeywordSpelling(T[P].getKind())) {
      if (T[P].is(tok::comma) && takesStatement(D.Kind)) { // OpenMP allows commas between clauses
        ++P;
        return true;
      }
      return fail(DiagId::ExtraTokens, Kind);
    }
    std::string Word = PP.getSpelling(T[P]);
    bool Forall = D.Kind == DirectiveKind::Forall, Task = D.Kind == DirectiveKind::Task;
    if (Forall && Word == "collapse")
      return ++P, collapse();
    if (Forall && Word == "reduction")
      return ++P, reduction();
    if (Forall && Word == "private")
      return ++P, list(D.Privates, "", false);
    if (Forall && Word == "firstprivate")
      return ++P, list(D.FirstPrivates, "", false);
    if (Forall && Word == "nowait")
      return ++P, true;
    if ((Forall || Task) && Word == "if") {
      if (D.IfArg >= 0)
        return fail(DiagId::DuplicateClause, "if");
      ++P;
      if (!expect(tok::l_paren, "'('"))
        return false;
      Tokens E = run({tok::r_paren});
      if (E.empty())
        return fail(DiagId::Expected, "an expression", Kind);
      D.IfArg = addArg(E);
      return expect(tok::r_paren, "')'");
    }
    if ((Forall || Task) && Word == "name") {
      ++P;
      if (!expect(tok::l_paren, "'('"))
        return false;
      if (!T[P].isAnyIdentifier() && !tok::getKeywordSpelling(T[P].getKind()))
        return fail(DiagId::Expected, "an identifier", Kind);
      D.Name = PP.getSpelling(T[P++]);
      return expect(tok::r_paren, "')'");
    }
    if (D.Kind == DirectiveKind::Store && Word == "undefined") {
      D.Undefined = true;
      return ++P, true;
    }
    if (D.Kind == DirectiveKind::Host && (Word == "reads" || Word == "writes")) {
      ++P;
      D.HasList = true;
      return list(D.Items, "", true, Word == "reads");
    }
    if (D.Kind == DirectiveKind::Flush)
      return fail(DiagId::ExtraTokens, Kind);
    return fail(DiagId::UnknownClause, Word, Kind);
  }

  bool collapse() {
    if (!expect(tok::l_paren, "'('"))
      return false;
    unsigned V = 0;
    if (T[P].isNot(tok::numeric_constant) || StringRef(PP.getSpelling(T[P])).getAsInteger(0, V) || V == 0)
      return fail(DiagId::BadCollapse);
    D.Collapse = V;
    ++P;
    return expect(tok::r_paren, "')'");
  }
};

/// Offset behind a _Pragma("...") that starts at D.At.
unsigned endOfOperator(Preprocessor &PP, SourceLocation At, unsigned Offset) {
  auto &SM = PP.getSourceManager();
  FileID F = SM.getFileID(At);
  Lexer L(F, SM.getBufferOrFake(F), SM, PP.getLangOpts());
  L.seek(Offset, true);
  Token X;
  int Depth = 0;
  do {
    L.LexFromRawLexer(X);
    Depth += X.is(tok::l_paren);
    Depth -= X.is(tok::r_paren);
  } while (X.isNot(tok::eof) && !(X.is(tok::r_paren) && Depth == 0));
  return SM.getFileOffset(X.getLocation()) + 1;
}

} // namespace

void MarkerHandler::HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer, Token &) {
  auto &SM = PP.getSourceManager();
  unsigned Number = S.Directives.size();
  S.Directives.emplace_back();
  Directive &D = S.Directives.back();
  SmallVector<Token, 32> T;
  Token Tok;
  do { // macros in clauses are expanded
    PP.Lex(Tok);
    T.push_back(Tok);
  } while (Tok.isNot(tok::eod));
  SourceLocation At = Introducer.Loc;
  D.At = placeOf(SM, At);
  D.FileRef = SM.getFileEntryRefForID(SM.getFileID(SM.getExpansionLoc(At)));
  PresumedLoc PL = SM.getPresumedLoc(SM.getExpansionLoc(At));
  if (PL.isValid()) {
    D.Line = PL.getLine();
    D.Column = PL.getColumn();
    D.FileName = PL.getFilename();
  }
  D.Textual = !At.isMacroID() && D.FileRef;
  if (D.Textual)
    D.EndOffset = Introducer.Kind == PIK_HashPragma ? SM.getFileOffset(T.back().getLocation())
                                                    : endOfOperator(PP, At, D.At.Offset);

  Parser P(PP, D, T);
  if (!P.parse())
    return;
  D.Valid = true;

  SmallVector<Token, 32> Out;
  auto Punct = [&](tok::TokenKind K) {
    Token X;
    X.startToken();
    X.setKind(K);
    X.setLocation(At);
    X.setLength(1);
    Out.push_back(X);
  };
  auto Word = [&](const char *W) {
    Token X;
    X.startToken();
    X.setLocation(At);
    X.setLength(1);
    X.setIdentifierInfo(PP.getIdentifierInfo(W));
    X.setKind(X.getIdentifierInfo()->getTokenID());
    Out.push_back(X);
  };
  bool OnStatement = takesStatement(D.Kind);
  if (OnStatement) {
    Word("if");
    Punct(tok::l_paren);
  }
  Word(MarkerName);
  Punct(tok::l_paren);
  Token N;
  N.startToken();
  N.setKind(tok::numeric_constant);
  PP.CreateString(std::to_string(Number), N, At, At);
  Out.push_back(N);
  Out.append(P.Args.begin(), P.Args.end());
  Punct(tok::r_paren);
  if (OnStatement) {
    Punct(tok::r_paren);
    Punct(tok::semi);
    Word("else");
  } else {
    Punct(tok::semi);
  }
  if (D.Kind == DirectiveKind::Forall)
    Pending = Number;
  for (const Token &X : Out)
    D.TokenLocs.insert(X.getLocation().getRawEncoding());
  auto Stream = std::make_unique<Token[]>(Out.size());
  std::copy(Out.begin(), Out.end(), Stream.get());
  PP.EnterTokenStream(std::move(Stream), Out.size(), /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
}

} // namespace cofuse
