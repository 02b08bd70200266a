//===- KernelList.h - the kernels of a file -------------------------------===//
#ifndef TILE_TOOLS_TILEC_KERNELLIST_H
#define TILE_TOOLS_TILEC_KERNELLIST_H

#include "frontend/AST.h"
#include "frontend/Source.h"
#include <string>
#include <vector>

namespace tilec {

/// The `@triton.jit` functions of a module that say the type of every
/// parameter, in order: those that compile with no signature. The others are
/// helpers of these, or need to be told.
std::vector<const tile::ast::FunctionDef *> listTypedKernels(const tile::ast::Module &module);

/// The first function that is marked as a test, empty if there is none.
std::string firstTest(const tile::ast::Module &module);

/// A kernel, and what has to be said before it can be compiled.
struct KernelEntry {
  std::string name;
  const tile::ast::FunctionDef *def = nullptr;
  std::vector<std::string> untyped;   ///< parameters without a type
  std::vector<std::string> constants; ///< tl.constexpr parameters without a default
  bool isComplete() const { return untyped.empty() && constants.empty(); }
  /// "needs the types of `x` and `n` (--signature)"; empty if nothing is missing.
  std::string missing() const;
};
/// The kernels of a module, also those in classes, branches and functions, with the way to each
/// as its name; but for those that only others call.
std::vector<KernelEntry> listKernels(const tile::ast::Module &module,
                                     const tile::frontend::SourceFile &source);

/// "`x`, `y` and `n`".
std::string enumerate(llvm::ArrayRef<std::string> names);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_KERNELLIST_H
