// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front-end half: collects the functions and variables of system headers, sets up code generation.
#include "Guard.h"
#include "Internal.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/Passes/PassBuilder.h"

using namespace clang;

namespace cofuse {
namespace {

constexpr size_t LongestName = 60; // in a remark

/// Libraries that are never compiled with the plugin but whose headers often come by -I.
bool hasForeignPrefix(llvm::StringRef Name) {
  for (llvm::StringRef Prefix : {"MPI_", "PMPI_", "cblas_", "LAPACKE_", "fftw_", "fftwf_", "fftwl_", "H5"})
    if (Name.starts_with(Prefix))
      return true;
  return false;
}

/// Access mode that a parameter of type T grants, 0 if no store can be behind it.
int paramMode(QualType T) {
  const auto *P = T->getAs<PointerType>();
  if (!P)
    return 0;
  QualType Pointee = P->getPointeeType();
  if (Pointee->isFunctionType())
    return 0;
  // Handles (MPI_Comm, DIR *) and streams: the program cannot look inside, so it holds no array.
  if (const auto *Record = Pointee->getAs<RecordType>())
    if (Record->isIncompleteType() || Record->getDecl()->getName() == "_IO_FILE")
      return 0;
  return Pointee.isConstQualified() ? ModeRead : ModeRead | ModeWrite;
}

bool isFunctionPointer(QualType T) {
  const auto *P = T->getAs<PointerType>();
  return P && P->getPointeeType()->isFunctionType();
}

std::string linkName(const FunctionDecl &F) {
  if (const auto *Label = F.getAttr<AsmLabelAttr>()) {
    llvm::StringRef Name = Label->getLabel();
    Name.consume_front("\01");
    return Name.str();
  }
  return F.getName().str();
}

bool isNameChar(char C) { return isAlphanumeric(C) || C == '_' || C == '.'; }

/// A path of names, `.` and `->`; empty for keywords and numbers, which say nothing about an array.
llvm::StringRef plausibleName(llvm::StringRef Name) {
  bool Bad = Name.empty() || isDigit(Name.front()) || Name == "for" || Name == "while" || Name == "return";
  return Bad ? llvm::StringRef() : Name;
}

llvm::StringRef nameFrom(llvm::StringRef Text) {
  size_t N = 0;
  while (N < Text.size() && N < LongestName)
    if (isNameChar(Text[N]))
      ++N;
    else if (N && Text.substr(N).starts_with("->"))
      N += 2;
    else
      break;
  return plausibleName(Text.take_front(N));
}

llvm::StringRef nameBefore(llvm::StringRef Text) {
  Text = Text.rtrim(" \t+-*/%&|^<>");
  while (Text.ends_with("]")) {
    int Depth = 0;
    do {
      Depth += (Text.back() == ']') - (Text.back() == '[');
      Text = Text.drop_back();
    } while (Depth && !Text.empty());
    Text = Text.rtrim(" \t");
  }
  size_t N = 0;
  while (N < Text.size() && N < LongestName)
    if (isNameChar(Text[Text.size() - 1 - N]))
      ++N;
    else if (N && Text.drop_back(N).ends_with("->"))
      N += 2;
    else
      break;
  return plausibleName(Text.take_back(N));
}

class TableConsumer : public ASTConsumer {
public:
  TableConsumer(CompilerInstance &CI, std::shared_ptr<SystemTable> Table) : CI(CI), Table(std::move(Table)) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    const SourceManager &SM = CI.getSourceManager();
    for (const Decl *D : Context.getTranslationUnitDecl()->decls()) {
      bool InSystem = SM.isInSystemHeader(D->getLocation());
      if (const auto *F = dyn_cast<FunctionDecl>(D)) {
        if (!F->getIdentifier())
          continue;
        Table->Declared.insert(linkName(*F));
        if (InSystem || F->getBuiltinID() || hasForeignPrefix(F->getName()))
          addFunction(*F);
      } else if (const auto *V = dyn_cast<VarDecl>(D)) {
        if (InSystem && V->hasExternalStorage())
          Table->Variables.insert(V->getName());
      }
    }
  }

private:
  void addFunction(const FunctionDecl &F) {
    SystemFunction Entry;
    for (const ParmVarDecl *P : F.parameters()) {
      Entry.ParamModes.push_back(paramMode(P->getType()));
      Entry.TakesCallback |= isFunctionPointer(P->getType());
    }
    if (const auto *Format = F.getAttr<FormatAttr>())
      if (Format->getType()->getName() == "printf")
        Entry.VariadicMode = ModeRead;
    Table->Functions[linkName(F)] = std::move(Entry);
  }

  CompilerInstance &CI;
  std::shared_ptr<SystemTable> Table;
};

} // namespace

std::string SystemTable::nameAt(llvm::StringRef File, unsigned Line, unsigned Column) const {
  if (!CI || !Line || !Column || !CI->hasSourceManager() || !CI->hasFileManager())
    return "";
  SourceManager &SM = CI->getSourceManager();
  auto Ref = CI->getFileManager().getOptionalFileRef(File);
  if (!Ref)
    return "";
  FileID ID = SM.translateFile(*Ref);
  if (ID.isInvalid())
    return "";
  SourceLocation Loc = SM.translateLineCol(ID, Line, Column);
  if (Loc.isInvalid())
    return "";
  bool NoBuffer = false;
  llvm::StringRef Text = SM.getBufferData(ID, &NoBuffer);
  size_t At = SM.getFileOffset(Loc);
  if (NoBuffer || At >= Text.size())
    return "";
  llvm::StringRef Name = nameFrom(Text.substr(At));
  // A store is located at its operator: the name is in front, perhaps behind subscripts.
  return Name.empty() ? nameBefore(Text.take_front(At)).str() : Name.str();
}

std::unique_ptr<ASTConsumer> registerGuards(CompilerInstance &CI) {
  auto Table = std::make_shared<SystemTable>();
  Table->CI = &CI;
  CodeGenOptions &Options = CI.getCodeGenOpts();
  // Guards name file:line of the access, so IR needs locations; this mode emits no debug sections.
  if (Options.getDebugInfo() == llvm::codegenoptions::NoDebugInfo)
    Options.setDebugInfo(llvm::codegenoptions::LocTrackingOnly);
  // -save-temps compiles in two steps and runs passes only in the second, which starts from bitcode and
  // never asks plugins. The guards have to go in while there is an AST.
  Options.DisableLLVMPasses = false;
  Options.PassBuilderCallbacks.push_back([Table](llvm::PassBuilder &PB) { registerGuardPass(PB, Table); });
  return std::make_unique<TableConsumer>(CI, Table);
}

} // namespace cofuse
