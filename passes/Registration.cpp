//===- Registration.cpp - every pass by its command-line name -------------===//
#include "passes/Registration.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/SplitColumns.h"

void tile::registerAllPasses() {
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerInlinerPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerSCCPPass();
  mlir::registerSymbolDCEPass();

  mlir::registerPass(createSplitColumnsPass);
  mlir::registerPass(createCountLoopsPass);
  mlir::registerPass(createPadShapesPass);
  mlir::registerPass(createUnrollLoopsPass);
  mlir::registerPass(createDecomposeDotsPass);
  mlir::registerPass(createWarpgroupDotsPass);
  mlir::registerPass(createExpandDescriptorsPass);
  mlir::registerPass(createMaskedArithmeticPass);
  mlir::registerPass(createAssignLayoutsPass);
  mlir::registerPass(createPersistProgramsPass);
  mlir::registerPass(createHoistStoreStartsPass);
  mlir::registerPass(createClusterProgramsPass);
  mlir::registerPass(createAlternateTilesPass);
  mlir::registerPass(createSpecializeWarpsPass);
  mlir::registerPass(createPipelineLoadsPass);
  mlir::registerPass(createEarlyCopiesPass);
  mlir::registerPass(createPrefetchProgramsPass);
  mlir::registerPass(createOverlapDotsPass);
  mlir::registerPass(createNarrowLiveRangesPass);
  mlir::registerPass(createAllocateScratchPass);
  mlir::registerPass(createInsertBarriersPass);
  mlir::registerPass(createLowerToLLVMPass);
  mlir::registerPass(createAlgebraicImagePass);
  mlir::registerPass(createTestAxisInfoPass);

  mlir::PassPipelineRegistration<>("tile-simplify", "simplify what the front end produced",
                                   buildSimplifyPipeline);
  mlir::PassPipelineRegistration<>("tile-to-cta", "assign layouts, scratch memory and barriers",
                                   buildCtaPipeline);
  mlir::PassPipelineRegistration<>("tile-to-llvm", "lower a laid-out kernel to the LLVM dialect",
                                   buildLoweringPipeline);
}
