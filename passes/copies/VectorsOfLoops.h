//===- VectorsOfLoops.h - what loops load beside operands of products -----===//
#ifndef TILE_PASSES_COPIES_VECTORSOFLOOPS_H
#define TILE_PASSES_COPIES_VECTORSOFLOOPS_H

#include "passes/facts/StridedAccess.h"

namespace tile {

/// Floating-point numbers that loops of `kernel` load beside operands that TMA brings,
/// as far as it can bring them too and they do not come through pointers of `written`.
void copyBesideOperands(mlir::func::FuncOp kernel, StridedAnalysis &analysis,
                        const llvm::DenseSet<mlir::Value> &written);

} // namespace tile

#endif // TILE_PASSES_COPIES_VECTORSOFLOOPS_H
