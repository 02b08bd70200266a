//===- main.cpp - tile-opt: MLIR in, MLIR out, one pass at a time ---------===//
//
// The workbench for every dialect and pass of the compiler: parses a module,
// runs the passes named on the command line, prints the result. The tests of
// passes and dialects run it; `tilec compile --emit tile|cta` makes its input.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "ir/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Registration.h"

int main(int argc, char **argv) {
  tile::registerAllPasses();
  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, tile::cta::CtaDialect, tile::graph::GraphDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  mlir::func::registerInlinerExtension(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tile-opt: runs passes over tile and cta modules\n", registry));
}
