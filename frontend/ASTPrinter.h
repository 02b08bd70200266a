//===- ASTPrinter.h - syntax trees as indented text -----------------------===//
//
// One node a line: what the node is to its parent, its kind, its own data.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_ASTPRINTER_H
#define TILE_FRONTEND_ASTPRINTER_H

#include "frontend/AST.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::ast {

/// Prints a tree, node by node, from one level below the left margin on.
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  void body(llvm::StringRef label, const Body &statements) {
    if (statements.empty())
      return;
    line(label, "");
    ++depth;
    for (const StmtPtr &statement : statements)
      stmt(*statement);
    --depth;
  }

  void stmt(const Stmt &s);

private:
  /// Writes one line; what is printed while the result lives is below it.
  void line(llvm::StringRef label, const llvm::Twine &text) {
    os.indent(2 * depth) << label;
    std::string rest = text.str();
    os << (label.empty() || rest.empty() ? "" : ": ") << rest << '\n';
  }
  void child(llvm::StringRef label, const ExprPtr &e) {
    if (e)
      expr(label, *e);
  }
  void children(llvm::StringRef label, const std::vector<ExprPtr> &list) {
    for (const ExprPtr &e : list)
      child(label, e);
  }
  template <typename F> void below(F f) {
    ++depth;
    f();
    --depth;
  }

  // Expressions (ASTPrintExpressions.cpp).
  void expr(llvm::StringRef label, const Expr &e);
  void operators(llvm::StringRef label, const Expr &e);
  void access(llvm::StringRef label, const Expr &e);
  void constant(llvm::StringRef label, const Constant &c);
  void fstring(llvm::StringRef label, const FString &f);
  void comprehension(llvm::StringRef label, const Comprehension &c);
  void keywords(const std::vector<Keyword> &list);
  void parameters(const std::vector<Parameter> &params);

  // Statements (ASTPrinter.cpp).
  void function(const FunctionDef &f);
  void classDef(const ClassDef &c);
  void simple(const Stmt &s);
  void import(const Stmt &s);
  void control(const Stmt &s);
  void tryOrWith(const Stmt &s);

  llvm::raw_ostream &os;
  unsigned depth = 1;
};

} // namespace tile::ast

#endif // TILE_FRONTEND_ASTPRINTER_H
