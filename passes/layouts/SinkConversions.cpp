//===- SinkConversions.cpp - all loads first, then what moves between threads ===//
//
// Contract and example: SinkConversionsPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "passes/Passes.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SINKCONVERSIONSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-sink-conversions"
ALWAYS_ENABLED_STATISTIC(conversionsSunk, "conversions behind loads");

/// Where in its block the result is needed first; null if nowhere.
static Operation *firstUse(Operation *convert) {
  Operation *first = nullptr;
  for (Operation *user : convert->getUsers()) {
    Operation *here = convert->getBlock()->findAncestorOpInBlock(*user);
    if (here && (!first || here->isBeforeInBlock(first)))
      first = here;
  }
  return first;
}

static bool isLoadBetween(Operation *from, Operation *to) {
  return llvm::any_of(llvm::make_range(from->getIterator(), to->getIterator()),
                      [](Operation &op) { return isa<LoadOp>(op); });
}

static void sinkIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isa<cta::ConvertLayoutOp>(op))
      continue;
    Operation *before = firstUse(&op);
    if (!before || !isLoadBetween(&op, before))
      continue;
    // Those that stand there already were behind this one.
    while (isa<cta::ConvertLayoutOp>(before->getPrevNode()))
      before = before->getPrevNode();
    LDBG() << "behind loads, before " << *before << ": " << op;
    op.moveBefore(before);
    ++conversionsSunk;
  }
}

namespace {
struct SinkConversionsPass : tile::impl::SinkConversionsPassBase<SinkConversionsPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) { sinkIn(*block); });
  }
};
} // namespace
