//===- VerifyProtocol.cpp - rings and groups of copies, checked -----------===//
//
// Contract: VerifyProtocolPass in passes/facts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "passes/Passes.h"

namespace tile {
#define GEN_PASS_DEF_VERIFYPROTOCOLPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct VerifyProtocolPass : tile::impl::VerifyProtocolPassBase<VerifyProtocolPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(cta::verifyProtocol(getOperation())))
      signalPassFailure();
  }
};
} // namespace
