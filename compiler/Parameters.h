//===- Parameters.h - what a kernel's parameters are made of --------------===//
#ifndef TILE_COMPILER_PARAMETERS_H
#define TILE_COMPILER_PARAMETERS_H

#include "compiler/Compiler.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Adds to `metadata` where the launcher finds what it passes for each parameter: entries
/// of the signature, tensor maps made from them, numbers of programs.
void describeParameters(mlir::func::FuncOp kernel, KernelMetadata &metadata);

} // namespace tile

#endif // TILE_COMPILER_PARAMETERS_H
