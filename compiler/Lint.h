//===- Lint.h - remarks about a kernel's source ----------------------------===//
#ifndef TILE_COMPILER_LINT_H
#define TILE_COMPILER_LINT_H

#include "compiler/Compiler.h"

namespace tile {

/// A signature from the names of the parameters of a kernel, for a file that
/// says no types, and values for constexprs without default. Rough.
struct GuessedTypes {
  std::string kernel;
  std::vector<std::string> signatures; ///< the likeliest first
  std::vector<std::pair<std::string, std::string>> constexprs;
  bool annotated = false; ///< the source says all types: nothing was guessed
};

/// Looks at the kernels of one file, which is parsed and evaluated once.
class Linter {
public:
  /// Errors of the file's syntax go to `diagnostics`.
  Linter(const frontend::SourceFile &file, std::vector<std::string> includePaths,
         frontend::DiagnosticEngine &diagnostics);
  ~Linter();

  /// The kernels that no other one calls; none of a file that does not parse.
  std::vector<GuessedTypes> kernels();
  /// Specialises one kernel and adds a warning for each remark (passes/Lint.h).
  /// False if the kernel does not compile: the errors are in `diagnostics`.
  /// `stridesKnown`: as there.
  bool lint(const CompileOptions &options, bool stridesKnown,
            frontend::DiagnosticEngine &diagnostics);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tile

#endif // TILE_COMPILER_LINT_H
