//===- SpecializeHelpers.h - source in, IR or diagnostics out -------------===//
#ifndef TILE_TESTS_SPECIALIZEHELPERS_H
#define TILE_TESTS_SPECIALIZEHELPERS_H

#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

namespace tile::test {

/// One context for all tests of a binary: loading dialects takes longer than
/// any test.
inline mlir::MLIRContext &context() {
  static mlir::MLIRContext *shared = [] {
    auto *c = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    frontend::registerDialects(*c);
    return c;
  }();
  return *shared;
}

struct Outcome {
  std::string ir;       ///< empty after errors
  std::string messages; ///< as a user sees them
  bool unsupported = false;
  explicit operator bool() const { return !ir.empty(); }
};

inline Outcome specialize(const std::string &source, const CompileOptions &options) {
  frontend::SourceFile file("k.tile", source);
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(file, diagnostics);
  Outcome outcome;
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  if (!diagnostics.hasErrors())
    ir = frontend::specialize(context(), file, module, options, diagnostics);
  outcome.messages = diagnostics.str();
  outcome.unsupported = diagnostics.onlyUnsupported();
  EXPECT_EQ(bool(ir), !diagnostics.hasErrors()) << outcome.messages;
  if (ir) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ir->print(os);
    // Runs of spaces are a matter of the printer.
    for (char c : text)
      if (c != ' ' || outcome.ir.empty() || outcome.ir.back() != ' ')
        outcome.ir += c;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*ir))) << outcome.ir;
  }
  return outcome;
}

inline std::string prelude() { return "import triton\nimport triton.language as tl\n\n"; }

/// The body of a kernel with the given parameters.
inline Outcome kernel(const std::string &parameters, const std::string &body,
                      const std::string &helpers = "") {
  std::string text = prelude() + helpers + "@triton.jit\ndef k(" + parameters + "):\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(body).split(lines, '\n');
  for (llvm::StringRef line : lines)
    text += "    " + line.str() + "\n";
  CompileOptions options;
  options.kernel = "k";
  return specialize(text, options);
}

inline testing::AssertionResult contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no `" << part << "` in\n" << text;
}

} // namespace tile::test

#endif // TILE_TESTS_SPECIALIZEHELPERS_H
