//===- main.cpp - tile-opt: MLIR in, MLIR out, one pass at a time ---------===//
//
// The workbench for every dialect and pass of the compiler: parses a module,
// runs the passes named on the command line, prints the result. The tests of
// passes and dialects run it; `tilec compile --emit tile|cta` makes its input.
//
//===----------------------------------------------------------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Registration.h"
#include "tools/Dialects.h"
#include "tools/tile-opt/PrintLayouts.h"

int main(int argc, char **argv) {
  tile::registerAllPasses();
  tile::registerPrintLayouts();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tile-opt: runs passes over tile and cta modules\n", registry));
}
