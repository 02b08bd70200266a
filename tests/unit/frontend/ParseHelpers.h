//===- ParseHelpers.h - parsing short texts in tests ----------------------===//
#ifndef TILE_TESTS_UNIT_FRONTEND_PARSEHELPERS_H
#define TILE_TESTS_UNIT_FRONTEND_PARSEHELPERS_H

#include "frontend/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace tile::frontend {

/// A text, its tree and what was reported about it.
struct Parsed {
  explicit Parsed(std::string text) : file("t.tile", std::move(text)) {
    module = parse(file, diagnostics);
  }
  std::string tree() const {
    std::string out;
    llvm::raw_string_ostream os(out);
    ast::print(module, os);
    return out;
  }
  std::string textOf(SourceRange range) const {
    return file.text().slice(range.begin, range.end).str();
  }
  /// The expression of the first statement.
  const ast::Expr &expr() const { return *llvm::cast<ast::ExprStmt>(*module.body.at(0)).value; }
  template <typename Node> const Node &expr() const { return llvm::cast<Node>(expr()); }
  template <typename Node> const Node &stmt() const { return llvm::cast<Node>(*module.body.at(0)); }

  SourceFile file;
  DiagnosticEngine diagnostics;
  ast::Module module;
};

/// "line:column: message" of every error, one a line.
inline std::string errorsOf(const std::string &text) {
  Parsed parsed(text);
  std::string out;
  for (const Diagnostic &d : parsed.diagnostics.all()) {
    SourceFile::LineColumn at = parsed.file.locate(d.range.begin);
    out += std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + d.message + "\n";
  }
  return out;
}

} // namespace tile::frontend

#endif // TILE_TESTS_UNIT_FRONTEND_PARSEHELPERS_H
