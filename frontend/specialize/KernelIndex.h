//===- KernelIndex.h - the kernels of a file, by name ---------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_KERNELINDEX_H
#define TILE_FRONTEND_SPECIALIZE_KERNELINDEX_H

#include "frontend/Source.h"
#include "frontend/eval/ModuleEnv.h"
#include "target/CompileOptions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace tile::specialize {

using FunctionPtr = std::shared_ptr<eval::FunctionObject>;
/// The definitions in `body` by the classes and functions around them: `Class.` for a
/// kernel in a class.
using Surroundings = llvm::DenseMap<const ast::FunctionDef *, std::string>;

/// The kernels of a file, by name.
class KernelIndex {
public:
  KernelIndex(std::vector<FunctionPtr> kernels, const ast::Module &tree)
      : kernels(std::move(kernels)), tree(tree) {
    for (const FunctionPtr &kernel : this->kernels) {
      byName[kernel->name()].push_back(kernel);
      if (kernel->def && kernel->def->name != kernel->name())
        byName[kernel->def->name].push_back(kernel);
    }
  }
  std::vector<FunctionPtr> named(llvm::StringRef name);
  /// `Class.kernel` for a kernel in a class, `function.kernel` in a function.
  std::string qualifiedName(const eval::FunctionObject &kernel);
  const std::vector<FunctionPtr> kernels;

private:
  const ast::Module &tree;
  llvm::StringMap<std::vector<FunctionPtr>> byName; ///< the last part of it, and of `def`
  std::optional<Surroundings> surroundings;         ///< once somebody asks
};

/// The one that the options ask for; null after saying why there is none.
FunctionPtr chooseKernel(eval::ModuleEnv &module, KernelIndex &index, const CompileOptions &options,
                         frontend::DiagnosticEngine &diagnostics);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_KERNELINDEX_H
