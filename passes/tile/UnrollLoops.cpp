//===- UnrollLoops.cpp - loops whose author asks for several turns at once ===//
//
// Contract and example: UnrollLoopsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/Rounds.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Refusals.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-unroll-loops"
ALWAYS_ENABLED_STATISTIC(loopsUnrolled, "loops that were unrolled");

/// A loop's body may grow to `most` operations: inside each other, loops multiply.
static LogicalResult checkLength(scf::ForOp loop, int64_t factor, int64_t most) {
  int64_t operations = 0;
  loop.getBody()->walk([&](Operation *) { ++operations; });
  if (operations <= most / factor)
    return success();
  return loop.emitError() << formatted(
             "unrolled by its `loop_unroll_factor` of {}, this loop has {} operations, more than "
             "{}: unroll it, or the loops inside it, less",
             factor, operations * factor, most);
}

static LogicalResult unroll(scf::ForOp loop, int64_t most) {
  auto factor = cast<IntegerAttr>(loop->removeDiscardableAttr(kUnrollAttr));
  if (factor.getInt() <= 1)
    return success();
  if (failed(checkLength(loop, factor.getInt(), most)))
    return failure();
  FailureOr<UnrolledLoopInfo> unrolled = unrollIntoRounds(loop, factor.getInt());
  if (failed(unrolled)) { // it runs as it is
    refuse(loop, Reason::UnrollLongSteps);
    return success();
  }
  ++loopsUnrolled;
  LDBG() << "unrolled " << factor.getInt()
         << " times, with a loop for what is left: " << bool(unrolled->epilogueLoopOp);
  if (!unrolled->epilogueLoopOp)
    return success();
  scf::ForOp rest = *unrolled->epilogueLoopOp;
  rest->setDiscardableAttr(kNumStagesAttr, IntegerAttr::get(factor.getType(), 1));
  return success();
}

/// Whether `v` is computed from the counter of `loop`, in its body.
static bool dependsOnCounter(Value v, scf::ForOp loop, llvm::SmallDenseMap<Value, bool> &known) {
  if (v == loop.getInductionVar())
    return true;
  Operation *op = v.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return false;
  auto [it, isNew] = known.try_emplace(v, false);
  if (!isNew)
    return it->second;
  bool depends =
      llvm::any_of(op->getOperands(), [&](Value w) { return dependsOnCounter(w, loop, known); });
  return known[v] = depends;
}

/// A loop over a side of a window, as stencils, pooling and convolutions have: few turns, whose
/// number is known, load neighbours behind masks that ask for the counter. Of one turn most of
/// such a mask is known, or what another turn asks: a loop asks all of it each time.
static bool isSideOfWindow(scf::ForOp loop) {
  std::optional<APInt> turns = loop.getStaticTripCount();
  if (!turns || turns->ult(2) || turns->ugt(reach::kWindow))
    return false;
  int64_t operations = 0;
  bool asksForCounter = false;
  llvm::SmallDenseMap<Value, bool> known;
  for (Operation &op : loop.getBody()->without_terminator()) {
    ++operations;
    if (auto load = dyn_cast<LoadOp>(op)) {
      asksForCounter |=
          load.getMask() && !load.getIsVolatile() && dependsOnCounter(load.getMask(), loop, known);
      continue;
    }
    if (op.getNumRegions() > 0 || !isMemoryEffectFree(&op) || isa<DotOp>(op))
      return false;
  }
  return asksForCounter && operations * turns->getSExtValue() <= reach::kWindowOperations;
}

namespace {
struct UnrollLoopsPass : tile::impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  using UnrollLoopsPassBase::UnrollLoopsPassBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(kUnrollAttr) && isSideOfWindow(loop))
        loop->setAttr(
            kUnrollAttr,
            Builder(&getContext()).getI32IntegerAttr(loop.getStaticTripCount()->getSExtValue()));
      if (loop->hasAttr(kUnrollAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(unroll(loop, mostOperations)))
        return signalPassFailure();
  }
};
} // namespace
