//===- BuildMistakes.h - what `tilec build` was probably to build ---------===//
#ifndef TILE_TOOLS_TILEC_BUILDMISTAKES_H
#define TILE_TOOLS_TILEC_BUILDMISTAKES_H

#include "frontend/eval/ModuleEnv.h"

namespace tilec {

using Functions = llvm::ArrayRef<std::shared_ptr<tile::eval::FunctionObject>>;

/// Why nothing is built without being named: what each kernel would need.
std::string describeUntyped(const tile::frontend::SourceFile &source,
                            const tile::ast::Module &module,
                            const std::vector<std::string> &includePaths, Functions functions);
/// Why a kernel that was named is not there: what it may be called.
std::string describeMissing(llvm::StringRef wanted, const tile::frontend::SourceFile &source,
                            const tile::ast::Module &module, Functions functions);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDMISTAKES_H
