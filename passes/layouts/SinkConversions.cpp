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
ALWAYS_ENABLED_STATISTIC(stagesRaised, "operands that are written before the next one is loaded");

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

/// Registers of a thread for what `load` gives and its addresses: less than a word takes a
/// register, and each access of single elements has an address of its own.
static int64_t registersWithAddresses(LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  int64_t elements = cta::getLayout(type).inSize(layout::Dim::reg());
  int64_t vector = std::max<int64_t>(load.getVector(), 1);
  constexpr int64_t kPointer = 2;
  int64_t accesses = elements / vector;
  return std::max(accesses, packedRegistersOf(type)) + (vector == 1 ? kPointer * accesses : 0);
}

/// Writes what was loaded for a product to shared memory before the next operand is loaded, where a
/// thread has no registers for both beside its sums: neither is copied there by itself.
static void raiseStagesIn(Block &block) {
  int64_t sums = 0, loaded = 0;
  SmallVector<std::pair<cta::StageOp, LoadOp>> stages;
  for (Operation &op : block) {
    if (auto product = dyn_cast<cta::WarpgroupDotOp>(op))
      sums = std::max(sums, registersOf(product.getType()));
    auto stage = dyn_cast<cta::StageOp>(op);
    auto load = stage ? stage.getSrc().getDefiningOp<LoadOp>() : LoadOp();
    if (!load || load->getBlock() != &block)
      continue;
    stages.push_back({stage, load});
    loaded += registersWithAddresses(load);
  }
  if (stages.size() < 2 || sums == 0)
    return;
  Operation *first = stages.front().first;
  int64_t most =
      mostRegistersOfThread(targetOf(first), cta::threadsOf(first->getParentOfType<ModuleOp>()));
  if (sums + loaded + kRegistersBesideAccumulator <= most)
    return;
  for (auto [stage, load] : stages) {
    auto between = llvm::make_range(std::next(load->getIterator()), stage->getIterator());
    bool isLoadBehind = llvm::any_of(between, llvm::IsaPred<LoadOp>);
    bool mayPass = llvm::all_of(between, [](Operation &op) {
      return op.getNumRegions() == 0 && (isa<LoadOp>(op) || isMemoryEffectFree(&op));
    });
    if (!isLoadBehind || !mayPass)
      continue;
    LDBG() << "before the next operand is loaded: " << stage;
    stage->moveAfter(load);
    ++stagesRaised;
  }
}

namespace {
struct SinkConversionsPass : tile::impl::SinkConversionsPassBase<SinkConversionsPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      sinkIn(*block);
      raiseIn(*block);
      raiseStagesIn(*block);
    });
  }
};
} // namespace
