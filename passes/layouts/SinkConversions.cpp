//===- SinkConversions.cpp - all loads first, then what moves between threads ===//
//
// Contract and example: SinkConversionsPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"
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
ALWAYS_ENABLED_STATISTIC(conversionsRaised, "conversions in front of loads");

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

/// Whether threads would hold more by `convert` than without, while they wait for each other.
static bool growsBeforeExchanges(Operation *convert, Operation *to) {
  int64_t before = packedRegistersOf(convert->getOperand(0).getType());
  int64_t behind = packedRegistersOf(convert->getResult(0).getType());
  if (behind - before < tuningOf(convert).readLateLeastRegisters)
    return false;
  return llvm::any_of(
      llvm::make_range(std::next(convert->getIterator()), to->getIterator()),
      [](Operation &op) { return isa<ReduceOp, ScanOp, cta::ConvertLayoutOp>(op); });
}

static void sinkIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isa<cta::ConvertLayoutOp>(op))
      continue;
    Operation *before = firstUse(&op);
    if (!before || !(isLoadBetween(&op, before) || growsBeforeExchanges(&op, before)))
      continue;
    // Those that stand there already were behind this one.
    while (isa<cta::ConvertLayoutOp>(before->getPrevNode()))
      before = before->getPrevNode();
    LDBG() << "behind loads, before " << *before << ": " << op;
    op.moveBefore(before);
    ++conversionsSunk;
  }
}

/// Of the blocks that are loaded between what `convert` moves and it, those of some size.
static SmallVector<LoadOp> loadsBetween(Operation *convert) {
  SmallVector<LoadOp> loads;
  Operation *moved = convert->getOperand(0).getDefiningOp();
  if (!moved || moved->getBlock() != convert->getBlock())
    return loads;
  int64_t least = tuningOf(convert).readLateLeastRegisters;
  for (Operation &op : llvm::make_range(std::next(moved->getIterator()), convert->getIterator()))
    if (auto load = dyn_cast<LoadOp>(op))
      if (packedRegistersOf(load.getType()) >= least)
        loads.push_back(load);
  return loads;
}

/// Puts conversions in front of loads where a thread has the registers for these beside what is
/// moved only so: it takes them up one by one behind it.
static void raiseIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<LoadOp> loads;
    if (isa<cta::ConvertLayoutOp>(op))
      loads = loadsBetween(&op);
    if (loads.empty())
      continue;
    int64_t result = packedRegistersOf(op.getResult(0).getType()), held = 0;
    if (result > packedRegistersOf(op.getOperand(0).getType()))
      continue;
    for (LoadOp load : loads)
      held += packedRegistersOf(load.getType());
    int64_t needed = registersAcross(&op) + result + tuningOf(&op).registersBesideBlocks;
    int64_t most = mostRegistersOfThread(targetOf(&op), cta::threadsOf(&op));
    if (needed <= most || needed - held > most)
      continue;
    LDBG() << "in front of loads, before " << loads.front() << ": " << op;
    op.moveBefore(loads.front());
    ++conversionsRaised;
  }
}

namespace {
struct SinkConversionsPass : tile::impl::SinkConversionsPassBase<SinkConversionsPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      sinkIn(*block);
      raiseIn(*block);
    });
  }
};
} // namespace
