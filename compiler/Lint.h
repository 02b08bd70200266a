//===- Lint.h - remarks about a kernel's source ----------------------------===//
#ifndef TILE_COMPILER_LINT_H
#define TILE_COMPILER_LINT_H

#include "compiler/Compiler.h"

namespace tile {

/// Specialises one kernel and adds a warning for each remark (passes/Lint.h).
/// False if the kernel does not compile: the errors are in `diagnostics`.
/// `stridesKnown`: as there.
bool lintKernel(const frontend::SourceFile &file, const CompileOptions &options, bool stridesKnown,
                frontend::DiagnosticEngine &diagnostics);

/// A signature from the names of the parameters of a kernel, for a file that
/// says no types, and values for constexprs without default. Rough.
struct GuessedTypes {
  std::string kernel, signature;
  std::vector<std::pair<std::string, std::string>> constexprs;
  bool annotated = false; ///< the source says all types: nothing was guessed
};
std::vector<GuessedTypes> guessTypes(const frontend::SourceFile &file,
                                     const std::vector<std::string> &includePaths,
                                     frontend::DiagnosticEngine &diagnostics);

} // namespace tile

#endif // TILE_COMPILER_LINT_H
