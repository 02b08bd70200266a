//===- ModuleOptions.h - what the passes are told of a compilation -------===//
#ifndef TILE_COMPILER_MODULEOPTIONS_H
#define TILE_COMPILER_MODULEOPTIONS_H

#include "compiler/Compiler.h"
#include "compiler/Targets.h"

namespace tile {

/// Puts on the module what passes ask it for, besides what the specialiser did.
void setModuleOptions(mlir::ModuleOp module, const CompileOptions &options, const Target &target);

} // namespace tile

#endif // TILE_COMPILER_MODULEOPTIONS_H
