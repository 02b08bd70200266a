//===- Registration.cpp - every pass by its command-line name -------------===//
#include "passes/Registration.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/graph/GraphPasses.h"

void tile::registerAllPasses() {
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerInlinerPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerSCCPPass();
  mlir::registerSymbolDCEPass();

  registerTilePasses();
  graph::registerGraphPasses();

  mlir::PassPipelineRegistration<>("graph-to-kernels", "simplify a function and group it",
                                   [](mlir::OpPassManager &pm) { graph::buildFusePipeline(pm); });
  mlir::PassPipelineRegistration<>("tile-simplify", "simplify what the front end produced",
                                   buildSimplifyPipeline);
  mlir::PassPipelineRegistration<>("tile-to-cta", "assign layouts, scratch memory and barriers",
                                   buildCtaPipeline);
  mlir::PassPipelineRegistration<>("tile-to-llvm", "lower a laid-out kernel to the LLVM dialect",
                                   buildLoweringPipeline);
}
