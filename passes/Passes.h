//===- Passes.h - the project's passes ------------------------------------===//
#ifndef TILE_PASSES_PASSES_H
#define TILE_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tile {

/// Loops that count, and what they leave behind (CountLoops.cpp).
std::unique_ptr<mlir::Pass> createCountLoopsPass();
/// Dimensions become powers of two (PadShapes.cpp).
std::unique_ptr<mlir::Pass> createPadShapesPass();
/// Several turns of a loop at once (UnrollLoops.cpp).
std::unique_ptr<mlir::Pass> createUnrollLoopsPass();
/// Products in terms of what the hardware multiplies (DecomposeDots.cpp).
std::unique_ptr<mlir::Pass> createDecomposeDotsPass();
/// Matrix products by warpgroup instructions on TMA copies (WarpgroupDots.cpp).
std::unique_ptr<mlir::Pass> createWarpgroupDotsPass();
/// Coordinates of stores before the products (HoistStoreStarts.cpp).
std::unique_ptr<mlir::Pass> createHoistStoreStartsPass();
/// Several programs of the grid in one thread block (PersistPrograms.cpp).
std::unique_ptr<mlir::Pass> createPersistProgramsPass();
/// Neighbouring programs share what they load (ClusterPrograms.cpp).
std::unique_ptr<mlir::Pass> createClusterProgramsPass();
/// Tiles of a persistent loop by turns of two groups of warps (AlternateTiles.cpp).
std::unique_ptr<mlir::Pass> createAlternateTilesPass();
/// Producer and consumer warps for kernels with TMA loads (SpecializeWarps.cpp).
std::unique_ptr<mlir::Pass> createSpecializeWarpsPass();
/// Loads of products by asynchronous copies, iterations ahead (PipelineLoads.cpp).
std::unique_ptr<mlir::Pass> createPipelineLoadsPass();
/// What all programs read and use late, copied before the rest is loaded (EarlyCopies.cpp).
std::unique_ptr<mlir::Pass> createEarlyCopiesPass();
/// Rows of programs that start later, brought to the L2 cache (PrefetchPrograms.cpp).
std::unique_ptr<mlir::Pass> createPrefetchProgramsPass();
/// Accesses through descriptors by pointers and masks (ExpandDescriptors.cpp).
std::unique_ptr<mlir::Pass> createExpandDescriptorsPass();
/// Products in flight across iterations (OverlapDots.cpp).
std::unique_ptr<mlir::Pass> createOverlapDotsPass();
/// Applies masks to what is the same for many elements (MaskedArithmetic.cpp).
std::unique_ptr<mlir::Pass> createMaskedArithmeticPass();
/// Gives every block a layout (AssignLayouts.cpp).
std::unique_ptr<mlir::Pass> createAssignLayoutsPass();
/// Keeps 16-bit blocks packed across reductions (NarrowLiveRanges.cpp).
std::unique_ptr<mlir::Pass> createNarrowLiveRangesPass();
/// Places exchange buffers in shared memory (AllocateScratch.cpp).
std::unique_ptr<mlir::Pass> createAllocateScratchPass();
/// Separates uses of overlapping shared memory (InsertBarriers.cpp).
std::unique_ptr<mlir::Pass> createInsertBarriersPass();
/// To the LLVM dialect, one value per register (lowering/LowerToLLVM.cpp).
std::unique_ptr<mlir::Pass> createLowerToLLVMPass();
/// Numbers of a ring for floats, in the algebraic mode (lowering/AlgebraicImage.cpp).
std::unique_ptr<mlir::Pass> createAlgebraicImagePass();

/// Remarks what the axis analysis finds, for its tests (TestAxisInfo.cpp).
std::unique_ptr<mlir::Pass> createTestAxisInfoPass();

} // namespace tile

#endif // TILE_PASSES_PASSES_H
