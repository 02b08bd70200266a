//===- Pipelines.cpp - the order of passes, and why -----------------------===//
#include "passes/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tile;

/// One round of greedy simplification is nearly always the fixpoint on what
/// the front end builds; compile time matters more than the last fold.
static std::unique_ptr<Pass> quickCanonicalizer() {
  GreedyRewriteConfig config;
  config.setMaxIterations(2);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

void tile::buildSimplifyPipeline(OpPassManager &pm) {
  pm.addPass(quickCanonicalizer());
  // Constants through control flow, which the folds above do not see.
  pm.addPass(createSCCPPass());
  pm.addPass(createCSEPass());
  // Hoisting before layouts: an invariant block is laid out once, outside.
  pm.addPass(createLoopInvariantCodeMotionPass());
}

void tile::buildCtaPipeline(OpPassManager &pm) { pm.addPass(createFitSharedMemoryPass()); }

/// Steps on whole blocks, before it is known who holds what of them.
static void addBlockSteps(OpPassManager &pm) {
  // First: positions are taken apart in one way for all that follows.
  pm.addPass(createRemaindersPass());
  // Early: each loop is one for all that follows.
  pm.addPass(createRollProductsPass());
  pm.addPass(createNestLoopsPass());
  // Before the rest: whatever looks for loops and strides finds more of them.
  pm.addPass(createCountLoopsPass());
  // Before blocks are padded: of a maximum it is known with what.
  pm.addPass(createExtremaPass());
  // Before anything looks at reductions: of these few are left.
  pm.addPass(createPartnersPass());
  // Before layouts: of truths that are numbers there would be copies.
  pm.addPass(createTruthsPass());
  // Likewise: of what is widened there would be copies.
  pm.addPass(createNarrowBitsPass());
  pm.addPass(createNarrowFloatsPass());
  // Before dimensions grow: a product's columns need not, if it falls into parts.
  pm.addPass(createSplitColumnsPass());
  // Everything that follows counts on powers of two.
  pm.addPass(createPadShapesPass());
  // Before anything is scheduled: what is in one turn is decided here.
  pm.addPass(createUnrollLoopsPass());
  // Behind it: a loop that is asked for in parts stays one.
  pm.addPass(createKeepRowsPass());
  // Behind it: loops that load the same are better unrolled.
  pm.addPass(createJoinLoopsPass());
  // Before layouts and loads ahead: what no thread can hold is a loop for both.
  pm.addPass(createCutBlocksPass());
  // Before operands are changed: what is loaded for them is what the author wrote.
  pm.addPass(createLoadOncePass());
  // Before layouts, which then have what lies beside each other in one thread.
  pm.addPass(createAdjacentAccessesPass());
  // Behind it: places with gaps are no windows. What places of a window share is loaded once.
  pm.addPass(createWindowAccessesPass());
  pm.addPass(createCSEPass());
  // Before products are taken apart: these need not be.
  pm.addPass(createNarrowDotsPass());
  // Before layouts: operands that are widened or split move while they are narrow.
  pm.addPass(createDecomposeDotsPass());
  // Before layouts: what the tensor cores read has its own place.
  pm.addPass(createWarpgroupDotsPass());
  // Layouts start from pointers: descriptors that no hardware serves become some.
  pm.addPass(createExpandDescriptorsPass());
  // Behind TMA, which knows tiles by their masks; before layouts and copies, which go by what a
  // turn loads.
  pm.addPass(createLoadBeforeBranchesPass());
  // Before programs are run one after the other: those that share a ring run at once.
  pm.addPass(createShareRingsPass());
  pm.addPass(createPersistProgramsPass());
  pm.addPass(createClusterProgramsPass());
  // Behind all that gives blocks programs of the grid, before loops are copied ahead.
  pm.addPass(createLongestFirstPass());
  // Before layouts: it decides how many warps share a block.
  pm.addPass(createAlternateTilesPass());
  // Before layouts: which masks imply which is plain while values have no copies.
  pm.addPass(createMaskedArithmeticPass());
  // Before layouts, which make nothing of what it adds; behind all that reads products' operands.
  pm.addPass(createOrderOperandsPass());
}

void tile::buildCtaSteps(OpPassManager &pm) {
  addBlockSteps(pm);
  // Before layouts, for which a part is a batch; behind all that reads products' operands.
  pm.addPass(createShareInnerPass());
  pm.addPass(createAssignLayoutsPass());
  // Rematerialised index arithmetic repeats itself: merge it before lowering.
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  // What several loops want of one block, an operand in shared memory say, is made once.
  pm.addPass(createCSEPass());
  pm.addPass(createSpecializeWarpsPass());
  // After sharing and hoisting: each program goes on with what is computed here.
  pm.addPass(createHoistStoreStartsPass());
  // After roles: what TMA cannot copy is copied by the warps that compute.
  pm.addPass(createPipelineLoadsPass());
  // What is left to load behind reductions; loops have their own copies by now.
  pm.addPass(createEarlyCopiesPass());
  // Behind the copies, which start in the order of turns and count on it.
  pm.addPass(createReverseLoopsPass());
  // Behind the copies: what is left to load is loaded by the warps that wait for it.
  pm.addPass(createSinkConversionsPass());
  // Behind hoisting, which would take it back, and the copies, which know what is read of them.
  pm.addPass(createComputeBehindProductsPass());
  // Behind the copies: the program's own come first. Rings see to themselves.
  pm.addPass(createPrefetchProgramsPass());
  // Behind the copies, which waits of threads for each other would not be hidden by; before
  // products are moved, with what is done to their sums.
  pm.addPass(createDeferReductionsPass());
  // Behind it: what loops take up is one reduction already. Before loads are put together, of which
  // those stand apart that other threads are waited for between.
  pm.addPass(createJoinReductionsPass());
  pm.addPass(createOverlapDotsPass());
  // After sharing: what this pass computes twice must stay twice.
  pm.addPass(createNarrowLiveRangesPass());
  // Behind it: what is computed again is not loaded again.
  pm.addPass(createGroupLoadsPass());
  // What still does not fit goes to shared memory.
  pm.addPass(createKeepOperandsSharedPass());
  // Scratch needs final layouts; barriers need final scratch offsets.
  pm.addPass(createAllocateScratchPass());
  pm.addPass(createInsertBarriersPass());
}

void tile::buildLoweringPipeline(OpPassManager &pm) {
  pm.addPass(createLowerToLLVMPass());
  // Last: what has been lowered is what is tested.
  pm.addPass(createAlgebraicImagePass());
}
