//===- VerifyProtocol.cpp - rings and groups of copies, checked -----------===//
//
// Contract: VerifyProtocolPass in passes/facts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/VerifyProtocol.h"
#include "ir/CtaDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "text/FormatLlvm.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Threading.h"

namespace tile {
#define GEN_PASS_DEF_VERIFYPROTOCOLPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-verify-protocol"

namespace {
struct VerifyProtocolPass : tile::impl::VerifyProtocolPassBase<VerifyProtocolPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    bool isKept = succeeded(cta::verifyProtocol(getOperation()));
    LDBG() << (isKept ? "kept" : "broken");
    if (!isKept)
      signalPassFailure();
  }
};

#ifndef NDEBUG
/// Names the pass that breaks what MLIR's verifier does not see. Parts of kernels, as tests have
/// them, may break it before.
class ProtocolVerifier : public PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *op) override {
    // Other functions are worked on meanwhile: what their passes say is not to be lost.
    ScopedDiagnosticHandler quiet(op->getContext(), [here = llvm::get_threadid()](Diagnostic &) {
      return success(llvm::get_threadid() == here);
    });
    if (failed(cta::verifyProtocol(op)))
      broken.insert({pass, op});
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!broken.erase({pass, op}) && failed(cta::verifyProtocol(op)))
      llvm::report_fatal_error(
          llvm::Twine(formatted("`{}` breaks the protocol of rings", pass->getName())));
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override { broken.erase({pass, op}); }

  llvm::DenseSet<std::pair<Pass *, Operation *>> broken; ///< before they run
};
#endif
} // namespace

void tile::verifyProtocolBehindPasses([[maybe_unused]] PassManager &pm) {
#ifndef NDEBUG
  pm.addInstrumentation(std::make_unique<ProtocolVerifier>());
#endif
}
