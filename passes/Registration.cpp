//===- Registration.cpp - every pass by its command-line name -------------===//
#include "passes/Registration.h"
#include "mlir/Transforms/Passes.h"

void tile::registerAllPasses() {
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerInlinerPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerSCCPPass();
  mlir::registerSymbolDCEPass();
}
