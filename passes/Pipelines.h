//===- Pipelines.h - the order of passes, as library functions ------------===//
#ifndef TILE_PASSES_PIPELINES_H
#define TILE_PASSES_PIPELINES_H

namespace mlir {
class OpPassManager;
}

namespace tile {

/// Language level: simplify what the front end produced (tile -> tile).
void buildSimplifyPipeline(mlir::OpPassManager &pm);
/// From blocks to laid-out blocks, ready to lower (tile -> tile + cta).
void buildCtaPipeline(mlir::OpPassManager &pm);
/// Its steps, for one form of the kernel (FitSharedMemory.cpp runs them).
void buildCtaSteps(mlir::OpPassManager &pm);
/// To the LLVM dialect.
void buildLoweringPipeline(mlir::OpPassManager &pm);

} // namespace tile

#endif // TILE_PASSES_PIPELINES_H
