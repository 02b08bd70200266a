//===- GroupLoads.cpp - loads before what waits for other loads ------------===//
//
// Contract and example: GroupLoadsPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/LoadsBeforeProducts.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_GROUPLOADSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-group-loads"
ALWAYS_ENABLED_STATISTIC(loadsMoved, "loads that start before what waits for others");

LoadOp tile::plainLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && !load.getIsVolatile() && cta::hasLayout(load.getType()) ? load : LoadOp();
}

/// Whether a load may start before `op`: it writes nothing, and is no branch or loop.
static bool mayBePassed(Operation *op) {
  if (isa<RegionBranchOpInterface>(op))
    return false;
  return plainLoad(op) || isa<cta::ReadOp>(op) || isMemoryEffectFree(op);
}

/// Registers of blocks of floats that a thread holds, place by place of a block of operations; of
/// integers, which are indices most often and computed anew, only those that are loaded, if at all.
namespace {
class Pressure {
public:
  Pressure(Block &block, ArrayRef<Operation *> ops, bool countsIntegers)
      : held(ops.size(), 0), countsIntegers(countsIntegers) {
    // What is there throughout: what a loop carries, and what is held around it.
    int64_t throughout = registersAcross(block.getParentOp());
    for (Value carried : block.getArguments())
      throughout += registersOfFloats(carried.getType());
    llvm::fill(held, throughout);
    DenseMap<Operation *, unsigned> places;
    for (auto [i, op] : llvm::enumerate(ops))
      places[op] = i;
    for (auto [i, op] : llvm::enumerate(ops))
      for (Value v : op->getResults()) {
        unsigned last = i;
        for (Operation *user : v.getUsers())
          if (Operation *use = block.findAncestorOpInBlock(*user))
            last = std::max(last, places.lookup(use));
        hold(registersOf(v, op), i, last);
      }
  }
  int64_t most() const { return held.empty() ? 0 : *llvm::max_element(held); }
  int64_t most(unsigned from, unsigned to) const {
    return *std::max_element(held.begin() + from, held.begin() + to);
  }
  /// From where it is computed to where it is needed last.
  void hold(int64_t registers, unsigned from, unsigned to) {
    for (unsigned i = from; registers && i <= to; ++i)
      held[i] += registers;
  }
  int64_t registersOf(Value v, Operation *op) const {
    return countsIntegers && plainLoad(op) ? packedRegistersOf(v.getType())
                                           : registersOfFloats(v.getType());
  }
  static int64_t registersOfFloats(Type type) {
    auto block = dyn_cast<RankedTensorType>(type);
    return block && isa<FloatType>(block.getElementType()) ? packedRegistersOf(type) : 0;
  }

private:
  SmallVector<int64_t> held;
  bool countsIntegers;
};

struct GroupLoadsPass : tile::impl::GroupLoadsPassBase<GroupLoadsPass> {
  using GroupLoadsPassBase::GroupLoadsPassBase;
  void runOnOperation() override;
};
} // namespace

std::optional<SmallVector<Operation *>> tile::computedFrom(LoadOp load, Operation *first,
                                                           const DenseSet<Operation *> &waiting) {
  llvm::SmallSetVector<Operation *, 16> found;
  SmallVector<Operation *> left{load};
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (!found.insert(op))
      continue;
    if (op != load && (waiting.contains(op) || op->getNumRegions() > 0 || !isPure(op)))
      return std::nullopt;
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp();
          def && def->getBlock() == first->getBlock() && !def->isBeforeInBlock(first))
        left.push_back(def);
  }
  SmallVector<Operation *> sorted(found.begin(), found.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

/// Lets loads of `block` start earlier, as long as a thread never holds more registers than `most`,
/// or what the block takes where it takes most, and no more than there are: `limit`. With `most` of
/// products, which leave room for packed weights, integers do not count.
static unsigned groupLoads(Block &block, int64_t most, int64_t limit) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  Pressure pressure(block, ops, /*countsIntegers=*/most == 0);
  most = std::min(std::max(most, pressure.most()), limit);
  unsigned moved = 0;
  // Of the operations since the last one that no load may pass: those that wait, the first of
  // them, and where it stands.
  DenseSet<Operation *> waiting;
  Operation *first = nullptr;
  unsigned place = 0;
  for (auto [i, op] : llvm::enumerate(ops)) {
    if (!mayBePassed(op)) {
      waiting.clear();
      first = nullptr;
      continue;
    }
    if (LoadOp load = plainLoad(op); load && first) {
      auto with = computedFrom(load, first, waiting);
      int64_t registers = pressure.registersOf(load.getResult(), load);
      if (with && pressure.most(place, i) + registers <= most) {
        for (Operation *o : *with)
          o->moveBefore(first);
        pressure.hold(registers, place, i - 1);
        LDBG() << "starts before " << *first << ": " << load;
        ++moved;
      }
    }
    bool waits = llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *def = v.getDefiningOp();
      return def && (plainLoad(def) || waiting.contains(def));
    });
    if (!waits && !(lowering::scratchBytes(op) > 0))
      continue;
    waiting.insert(op);
    if (!first) {
      first = op;
      place = i;
    }
  }
  return moved;
}

void GroupLoadsPass::runOnOperation() {
  ModuleOp module = getOperation();
  const Target &target = targetOf(module);
  int64_t limit = mostRegistersOfThread(target, cta::threadsOf(module)) -
                  kRegistersBesideAccumulator - tuningOf(target).registersOfAddresses;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    if (kernel.walk([](cta::WarpgroupDotOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
      loadsMoved += loadBeforeProducts(kernel);
      continue;
    }
    int64_t most = registersDuringDots(kernel);
    SmallVector<Block *> blocks;
    kernel.walk([&](Block *block) {
      if (llvm::any_of(*block, [](Operation &op) { return bool(plainLoad(&op)); }))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      loadsMoved += groupLoads(*block, most, limit);
  }
}
