//===- main.cpp - tile-opt: MLIR in, MLIR out, one pass at a time ---------===//
//
// The workbench for every dialect and pass of the compiler: parses a module,
// runs the passes named on the command line, prints the result. The tests of
// passes and dialects run it; `tilec compile --emit tile|cta` makes its input.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Registration.h"
#include "passes/facts/VerifyProtocol.h"
#include "tools/Dialects.h"
#include "tools/tile-opt/PrintLayouts.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::opt<bool> counts("counts", cl::desc("print what the passes have done, counted"));
static cl::list<std::string> traced("trace", cl::CommaSeparated, cl::value_desc("pass"),
                                    cl::desc("say what these passes look at and decide"));

/// Turns on what the passes say of themselves.
static bool listen() {
  if (counts)
    llvm::EnableStatistics(/*DoPrintOnExit=*/false);
  if (traced.empty())
    return true;
#ifdef NDEBUG
  llvm::errs() << "tile-opt: `--trace` needs a build with assertions (`tools/build dev`)\n";
  return false;
#else
  llvm::SmallVector<const char *> names;
  for (const std::string &name : traced)
    names.push_back(name.c_str());
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(names.data(), unsigned(names.size()));
  return true;
#endif
}

/// What MLIR's own driver does with files, but that it shuts LLVM down, and what was counted with
/// it. The protocol of rings is verified behind each pass, as operations are.
static llvm::LogicalResult run(llvm::StringRef input, llvm::StringRef output,
                               mlir::DialectRegistry &registry) {
  std::string error;
  auto file = mlir::openInputFile(input, &error);
  auto result = file ? mlir::openOutputFile(output, &error) : nullptr;
  if (!result) {
    llvm::errs() << error << '\n';
    return mlir::failure();
  }
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  config.setPassPipelineSetupFn([passes = config](mlir::PassManager &pm) {
    tile::verifyProtocolBehindPasses(pm);
    return passes.setupPassPipeline(pm);
  });
  if (failed(mlir::MlirOptMain(result->os(), std::move(file), registry, config)))
    return mlir::failure();
  result->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  tile::registerAllPasses();
  tile::registerPrintLayouts();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "tile-opt: runs passes over tile and cta modules\n", registry);
  if (!listen())
    return EXIT_FAILURE;
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  llvm::LogicalResult result = run(input, output, registry);
  if (counts)
    llvm::PrintStatistics(llvm::errs());
  return mlir::asMainReturnCode(result);
}
