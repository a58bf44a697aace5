// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Objects.h"
#include "Compile.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace cofuse {

namespace {

struct Object {
  int Type = COFUSE_OPAQUE;
  uint64_t Bytes = 0;
  bool Automatic = false;
  const VarDecl *Root = nullptr;
  std::string Base;                                         ///< C text, a pointer
  std::vector<std::pair<std::string, std::string>> Extents; ///< lower, length
  std::string Text;
};

class ObjectCompiler {
public:
  ObjectCompiler(ASTContext &C, const FunctionDecl *Function, Directive &D, const CallExpr *Marker,
                 unsigned Number)
      : C(C), Function(Function), D(D), Marker(Marker), Number(Number) {}

  bool fail(DiagId Id, const Stmt *S, StringRef A0 = {}, StringRef A1 = {}) {
    auto *E = dyn_cast<Expr>(S);
    D.Findings.push_back(makeFinding(C.getSourceManager(), C.getLangOpts(), Id,
                                     E ? E->getExprLoc() : S->getBeginLoc(), S->getSourceRange(), A0, A1));
    D.Valid = false;
    return false;
  }

  bool object(const ListItem &Item, Object &O) {
    const Expr *E = Marker->getArg(Item.Arg)->IgnoreParenImpCasts();
    O.Text = exprText(C, E);
    QualType T = E->getType();
    const Expr *Lv = E;
    bool Array = T->isArrayType(), Pointer = T->isPointerType();
    if (!Array && !Pointer && (Item.Rank || !E->isLValue() || T->isFunctionType() || T->isVoidType()))
      return fail(DiagId::NotAnObject, E, O.Text);
    if (Pointer && !Item.Rank && D.Kind == DirectiveKind::Store)
      return fail(DiagId::NeedExtents, E, O.Text);
    auto Section = [&](unsigned K, unsigned Which) {
      return "(" + exprText(C, Marker->getArg(Item.Arg + 1 + 2 * K + Which)->IgnoreParenImpCasts()) + ")";
    };
    for (unsigned K = 0; K < 2 * Item.Rank; ++K) {
      const Expr *X = Marker->getArg(Item.Arg + 1 + K);
      if (!X->getType()->isIntegralOrEnumerationType())
        return fail(DiagId::Expected, X, "integers as bounds of the section", directiveName(D.Kind));
      O.Text += K % 2 ? ":" : "[";
      O.Text += exprText(C, X->IgnoreParenImpCasts());
      if (K % 2)
        O.Text += "]";
    }
    const VarDecl *Root = O.Root = rootVariable(Lv);
    O.Automatic = Root && Root->hasLocalStorage() && !isa<ParmVarDecl>(Root) && !Pointer;
    if (Array || Pointer) {
      O.Base = "(void *)(" + exprText(C, E) + ")";
    } else {
      O.Base = "(void *)&(" + exprText(C, E) + ")";
    }
    // Sections first, then what the type still holds: a[0:n] of double (*a)[m] has two extents.
    std::string Path = "(" + exprText(C, E) + ")";
    unsigned K = 0;
    bool FlatPointer = false;
    if (Pointer && Item.Rank) {
      O.Extents.push_back({Section(0, 0), Section(0, 1)});
      T = T->getPointeeType();
      Path += "[0]";
      K = 1;
      FlatPointer = !T->isArrayType();
    }
    while (!FlatPointer && T->isArrayType()) {
      const ArrayType *A = C.getAsArrayType(T);
      QualType Elem = A->getElementType();
      if (K < Item.Rank) {
        O.Extents.push_back({Section(K, 0), Section(K, 1)});
      } else if (isa<IncompleteArrayType>(A)) {
        return fail(DiagId::NeedExtents, E, O.Text);
      } else {
        O.Extents.push_back({"0", "sizeof(" + Path + ") / sizeof((" + Path + ")[0])"});
      }
      ++K;
      Path += "[0]";
      T = Elem;
    }
    if (FlatPointer) // double *p with several extents: row-major
      for (; K < Item.Rank; ++K)
        O.Extents.push_back({Section(K, 0), Section(K, 1)});
    if (K < Item.Rank)
      return fail(DiagId::BadSection, E, O.Text, std::to_string(K));
    if (O.Extents.size() > COFUSE_MAX_RANK)
      return fail(DiagId::TooManyExtents, E, std::to_string(int(COFUSE_MAX_RANK)));
    if (Pointer && !Item.Rank)
      T = T->getPointeeType();
    if (T->isVoidType() || T->isFunctionType() || T->isIncompleteType()) {
      if (D.Kind == DirectiveKind::Store || Item.Rank)
        return fail(DiagId::NotAnObject, E, O.Text);
      O.Bytes = 1;
      return true;
    }
    int Code = typeCode(C, T);
    if (Code < 0)
      Code = complexCode(C, T);
    O.Type = Code < 0 ? COFUSE_OPAQUE : Code;
    O.Bytes = T->isVariableArrayType() ? 0 : C.getTypeSizeInChars(T).getQuantity();
    return true;
  }

  std::string call(const Object &O, const char *Function, bool Extents, const std::string &More,
                   unsigned Index) {
    std::string Id = std::to_string(Number) + "_" + std::to_string(Index);
    unsigned Flags = (D.Undefined ? COFUSE_OBJ_UNDEFINED : 0) | (O.Automatic ? COFUSE_OBJ_AUTO : 0);
    std::string R =
        "__attribute__((nodebug)) static struct { unsigned int abi; unsigned char type, rank, flags, "
        "reserved; unsigned int elem_bytes, line, column; const char *file, *text; } cofuse_o" +
        Id + " = { " + std::to_string(COFUSE_ABI) + ", " + std::to_string(O.Type) + ", " +
        std::to_string(O.Extents.size()) + ", " + std::to_string(Flags) + ", 0, " + std::to_string(O.Bytes) +
        ", " + std::to_string(D.Line) + ", " + std::to_string(D.Column) + ", " + cString(D.FileName) + ", " +
        cString(O.Text) + " }; ";
    R += std::string("cofuse_p_") + Function + "(&cofuse_o" + Id + ", " + O.Base;
    if (Extents) {
      R += ", (const long[]){ ";
      for (auto &X : O.Extents)
        R += "(long)(" + X.first + "), (long)(" + X.second + "), ";
      R += "0L }";
    }
    return R + More + "); ";
  }

  static bool declares(const CompoundStmt *Block, const VarDecl *V) {
    for (const Stmt *S : Block->body())
      if (auto *DS = dyn_cast<DeclStmt>(S))
        if (llvm::is_contained(DS->decls(), V))
          return true;
    return false;
  }

  /// A label behind the directive that can be reached without passing it.
  const Stmt *entry(const CompoundStmt *Block, unsigned Position) {
    llvm::SmallPtrSet<const Stmt *, 32> After;
    std::function<void(const Stmt *)> Mark = [&](const Stmt *S) {
      if (!S)
        return;
      After.insert(S);
      for (const Stmt *X : S->children())
        Mark(X);
    };
    for (unsigned I = Position + 1; I < Block->size(); ++I)
      Mark(Block->body_begin()[I]);
    const Stmt *Found = nullptr;
    std::function<void(const Stmt *)> Look = [&](const Stmt *S) {
      if (!S || Found)
        return;
      if (auto *Sw = dyn_cast<SwitchStmt>(S)) {
        if (!After.count(Sw))
          for (const SwitchCase *Case = Sw->getSwitchCaseList(); Case; Case = Case->getNextSwitchCase())
            if (After.count(Case))
              Found = Case;
      } else if (auto *G = dyn_cast<GotoStmt>(S)) {
        if (!After.count(G) && After.count(G->getLabel()->getStmt()))
          Found = G->getLabel()->getStmt();
      } else if (auto *A = dyn_cast<AddrLabelExpr>(S)) {
        if (After.count(A->getLabel()->getStmt()))
          Found = A->getLabel()->getStmt();
      }
      for (const Stmt *X : S->children())
        Look(X);
    };
    Look(Function->getBody());
    return Found;
  }

  void run(const CompoundStmt *Block, unsigned Position) {
    std::vector<Object> Objects(D.Items.size());
    for (size_t I = 0; I < D.Items.size(); ++I)
      if (!object(D.Items[I], Objects[I]))
        return;
    std::string File = cString(D.FileName) + ", " + std::to_string(D.Line) + "U";
    std::string R;
    switch (D.Kind) {
    case DirectiveKind::Flush:
      D.Code = "{ extern void cofuse_p_flush(const char *, unsigned int) __asm__(\"cofuse_flush_\"); "
               "cofuse_p_flush(" +
               File + "); }";
      return;
    case DirectiveKind::Store:
    case DirectiveKind::Update: {
      const char *Name = directiveName(D.Kind);
      R = std::string("{ extern void cofuse_p_") + Name + "(void *, void *, const long *) __asm__(\"cofuse_" +
          Name + "_\"); ";
      for (size_t I = 0; I < Objects.size(); ++I)
        R += call(Objects[I], Name, true, "", I);
      R += "}";
      break;
    }
    case DirectiveKind::Release:
      R = "{ extern void cofuse_p_release(void *, void *) __asm__(\"cofuse_release_\"); ";
      for (size_t I = 0; I < Objects.size(); ++I)
        R += call(Objects[I], "release", false, "", I);
      R += "}";
      break;
    case DirectiveKind::Host:
      R = "if (__extension__ ({ ";
      if (!D.HasList) {
        R += "extern void cofuse_p_hostall(const char *, unsigned int) __asm__(\"cofuse_host_all_\"); "
             "cofuse_p_hostall(" +
             File + "); ";
      } else {
        R += "extern void cofuse_p_host(void *, void *, const long *, int) __asm__(\"cofuse_host_\"); ";
        for (size_t I = 0; I < Objects.size(); ++I)
          R += call(Objects[I], "host", true, D.Items[I].Reads ? ", 1" : ", 2", I);
      }
      R += "0; })) ; else";
      break;
    default:
      return;
    }
    if (D.Kind == DirectiveKind::Store) {
      for (size_t I = 0; I < Objects.size(); ++I) {
        if (!Objects[I].Automatic)
          continue;
        if (Block && entry(Block, Position)) {
          fail(DiagId::JumpIntoScope, Marker->getArg(D.Items[I].Arg), Objects[I].Text);
          return;
        }
        // In an inner block the array outlives the directive's scope: its contents are still wanted.
        const char *Exit = Objects[I].Root && declares(Block, Objects[I].Root) ? "exit" : "leave";
        R += std::string(" __attribute__((nodebug, unused, cleanup(cofuse_p_scope_") + Exit +
             "))) void *cofuse_x" + std::to_string(Number) + "_" + std::to_string(I) + " = " +
             Objects[I].Base + ";";
      }
      for (const char *Exit : {"exit", "leave"})
        if (R.find(std::string("(cofuse_p_scope_") + Exit) != std::string::npos)
          R = std::string("; extern void cofuse_p_scope_") + Exit + "(void *) __asm__(\"cofuse_scope_" +
              Exit + "\"); " + R;
    }
    D.Code = R;
  }

private:
  ASTContext &C;
  const FunctionDecl *Function;
  Directive &D;
  const CallExpr *Marker;
  unsigned Number;
};

} // namespace

void compileObjects(ASTContext &C, const FunctionDecl *Function, Directive &D, const CallExpr *Marker,
                    unsigned Number, const CompoundStmt *Block, unsigned Position) {
  ObjectCompiler(C, Function, D, Marker, Number).run(Block, Position);
}

} // namespace cofuse
