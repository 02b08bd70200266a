//===- UnrollLoops.cpp - loops whose author asks for several turns at once ===//
//
// Contract and example: UnrollLoopsPass in passes/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/Rounds.h"

namespace tile {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// A loop's body may grow to so many operations: inside each other, loops multiply.
static constexpr int64_t kMostOperations = 1 << 15;

static LogicalResult checkLength(scf::ForOp loop, int64_t factor) {
  int64_t operations = 0;
  loop.getBody()->walk([&](Operation *) { ++operations; });
  if (operations <= kMostOperations / factor)
    return success();
  return loop.emitError() << "unrolled by its `loop_unroll_factor` of " << factor
                          << ", this loop has " << operations * factor << " operations, more than "
                          << kMostOperations << ": unroll it, or the loops inside it, less";
}

static LogicalResult unroll(scf::ForOp loop) {
  auto factor = cast<IntegerAttr>(loop->removeDiscardableAttr(kUnrollAttr));
  if (factor.getInt() <= 1)
    return success();
  if (failed(checkLength(loop, factor.getInt())))
    return failure();
  FailureOr<UnrolledLoopInfo> unrolled = unrollIntoRounds(loop, factor.getInt());
  if (failed(unrolled) || !unrolled->epilogueLoopOp)
    return success(); // it runs as it is; or there is nothing left over
  scf::ForOp rest = *unrolled->epilogueLoopOp;
  rest->setDiscardableAttr(kNumStagesAttr, IntegerAttr::get(factor.getType(), 1));
  return success();
}

namespace {
struct UnrollLoopsPass : tile::impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(kUnrollAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(unroll(loop)))
        return signalPassFailure();
  }
};
} // namespace
