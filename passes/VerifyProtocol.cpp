//===- VerifyProtocol.cpp - rings and groups of copies, checked -----------===//
//
// Needs:      nothing.
// Guarantees: fails where rings or asynchronous copies are not used as the
//             constraints of `cta.ring` and `cta.async_copy` say.
// Never:      changes anything.
//
// For tests, and between the passes of a compiler with assertions: what one operation
// can check by itself, MLIR's own verifier does.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tile;

namespace {
struct VerifyProtocolPass : PassWrapper<VerifyProtocolPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyProtocolPass)
  StringRef getArgument() const override { return "tile-verify-protocol"; }
  StringRef getDescription() const override {
    return "check the order of ring operations and asynchronous copies";
  }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(cta::verifyProtocol(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> tile::createVerifyProtocolPass() {
  return std::make_unique<VerifyProtocolPass>();
}
