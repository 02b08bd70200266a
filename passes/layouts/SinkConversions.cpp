//===- SinkConversions.cpp - all loads first, then what moves between threads ===//
//
// A part of tile-assign-layouts. A conversion right behind its load waits for it, and all
// warps for each other; what is loaded behind the conversion starts that much later. So
// conversions go down past loads, to where their results are needed first.
//
//===----------------------------------------------------------------------===//
#include "passes/layouts/SinkConversions.h"
#include "ir/CtaDialect.h"

using namespace mlir;
using namespace tile;

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
    op.moveBefore(before);
  }
}

void tile::sinkConversions(func::FuncOp func) {
  func.walk([](Block *block) { sinkIn(*block); });
}
