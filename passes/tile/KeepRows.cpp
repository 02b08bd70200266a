//===- KeepRows.cpp - what is loaded again stays in registers --------------===//
//
// Contract and example: KeepRowsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Registers.h"
#include "passes/tile/ForwardStores.h"
#include "passes/tile/HoistLoads.h"
#include "passes/tile/Written.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_KEEPROWSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-keep-rows"
ALWAYS_ENABLED_STATISTIC(loopsUnrolled, "loops unrolled because a later one loads the same");
ALWAYS_ENABLED_STATISTIC(loadsShared, "loads that an earlier load has made");
ALWAYS_ENABLED_STATISTIC(loadsHoisted, "loads in front of a loop that loads the same in each turn");

namespace {

/// A loop whose turns are known, over `first`, `first + step`, ...
struct Turns {
  scf::ForOp loop;
  int64_t first, step, count;
};

/// Whether values of two loops' bodies are the same where both are at the same turn.
class SameTurn {
public:
  SameTurn(scf::ForOp early, scf::ForOp late) : early(early), late(late) {}

  bool operator()(Value a, Value b) {
    if (a == b)
      return true;
    if (!a || !b || a.getType() != b.getType())
      return false;
    if (a == early.getInductionVar())
      return b == late.getInductionVar();
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (!x || !y || x->getName() != y->getName() || x->getNumRegions() || x->getNumResults() != 1 ||
        !isMemoryEffectFree(x) || x->getNumOperands() != y->getNumOperands() ||
        x->getAttrDictionary() != y->getAttrDictionary() ||
        x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute())
      return false;
    auto [known, isNew] = asked.try_emplace({a, b}, false);
    if (!isNew)
      return known->second;
    bool same = llvm::all_of_zip(x->getOperands(), y->getOperands(),
                                 [&](Value o, Value p) { return (*this)(o, p); });
    return asked[{a, b}] = same;
  }

private:
  scf::ForOp early, late;
  DenseMap<std::pair<Value, Value>, bool> asked;
};

} // namespace

static bool canBeShared(LoadOp load) {
  return !load.getIsVolatile() && load.getCache() == CacheModifier::none;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// What a thread can keep, if enough threads for others to compute meanwhile are to fit a
/// multiprocessor.
static int64_t registersFree(ModuleOp module, int64_t threads) {
  const Tuning &tuning = tuningOf(module);
  int64_t all = targetOf(module).multiprocessor.registers / tuning.keepPrograms / threads;
  return std::min<int64_t>(all, kMaxRegisters) - tuning.keepRegistersBeside;
}

//===----------------------------------------------------------------------===//
// Loops that load the same
//===----------------------------------------------------------------------===//

static std::optional<Turns> turnsOf(scf::ForOp loop, int64_t most) {
  APInt first, last, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&last)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || loop.getUnsignedCmp() ||
      !step.isStrictlyPositive() || !first.slt(last))
    return std::nullopt;
  auto hasLoop = [](Operation *op) {
    return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (loop.getBody()->walk(hasLoop).wasInterrupted())
    return std::nullopt;
  // Of at most 64 bits, and no more turns than fit: their difference is small or wraps to none.
  Turns turns{loop, first.getSExtValue(), step.getSExtValue(), 0};
  uint64_t count = (uint64_t(last.getSExtValue()) - uint64_t(turns.first) - 1) / turns.step + 1;
  if (count > uint64_t(most))
    return std::nullopt;
  turns.count = int64_t(count);
  return turns;
}

/// The operations of a loop's body, in all its turns.
static int64_t operationsOf(Turns turns) {
  int64_t operations = 0;
  turns.loop.getBody()->walk([&](Operation *) { ++operations; });
  return operations * turns.count;
}

/// The registers that keep what `late` loads as `early` has; 0 if that is nothing.
static int64_t registersOfSame(Turns early, Turns late, int64_t threads) {
  if (early.step != late.step || (early.first - late.first) % early.step != 0)
    return 0;
  int64_t begin = std::max(early.first, late.first);
  int64_t end =
      std::min(early.first + early.step * early.count, late.first + late.step * late.count);
  if (begin >= end)
    return 0;
  Written written;
  for (Operation *op = early.loop; op != late.loop; op = op->getNextNode())
    written.add(op);
  written.add(late.loop);
  SameTurn same(early.loop, late.loop);
  int64_t registers = 0;
  for (auto again : late.loop.getBody()->getOps<LoadOp>()) {
    if (!canBeShared(again) || written.reaches(again.getPtr()))
      continue;
    for (auto load : early.loop.getBody()->getOps<LoadOp>())
      if (canBeShared(load) && same(load.getPtr(), again.getPtr()) &&
          same(load.getMask(), again.getMask()) && same(load.getOther(), again.getOther())) {
        registers += packedRegistersOfShare(load.getType(), threads) * ((end - begin) / early.step);
        break;
      }
  }
  return registers;
}

/// One turn after the other, with what is constant folded.
static void unrollAll(const Turns &turns) {
  scf::ForOp loop = turns.loop;
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t turn = 0; turn < turns.count; ++turn) {
    IRMapping map;
    Value i = arith::ConstantOp::create(
        b, loop.getLoc(),
        b.getIntegerAttr(loop.getInductionVar().getType(), turns.first + turn * turns.step));
    map.map(loop.getInductionVar(), i);
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = b.clone(op, map);
      SmallVector<Value> folded;
      if (failed(b.tryFold(copy, folded)) || folded.empty())
        continue;
      map.map(op.getResults(), folded);
      copy->erase();
    }
    carried.clear();
    for (Value v : loop.getYieldedValues())
      carried.push_back(map.lookupOrDefault(v));
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
  ++loopsUnrolled;
}

/// Unrolls the loops of `block` that load what an earlier one has loaded, and that one.
static void unrollSame(Block &block, int64_t &left, int64_t mostTurns, int64_t mostOperations) {
  SmallVector<Turns> loops;
  for (auto loop : block.getOps<scf::ForOp>())
    if (std::optional<Turns> turns = turnsOf(loop, mostTurns);
        turns && operationsOf(*turns) <= mostOperations)
      loops.push_back(*turns);
  llvm::SmallSetVector<size_t, 4> chosen;
  int64_t threads = cta::threadsOf(block.getParentOp());
  for (size_t late = 1; late < loops.size(); ++late)
    for (size_t early = late; early-- > 0;) {
      int64_t registers = registersOfSame(loops[early], loops[late], threads);
      if (!registers)
        continue;
      LDBG() << registers << " registers keep what a loop loads again, of " << left;
      if (registers > left)
        continue;
      left -= registers;
      chosen.insert(early);
      chosen.insert(late);
      break;
    }
  for (size_t loop : chosen)
    unrollAll(loops[loop]);
}

//===----------------------------------------------------------------------===//
// Loads of one block
//===----------------------------------------------------------------------===//

/// Uses what an earlier load of the same has brought, as long as nothing was written there.
static void shareLoads(Block &block, int64_t &left) {
  SmallVector<LoadOp> kept;
  int64_t threads = cta::threadsOf(block.getParentOp());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load) {
      if (isMemoryEffectFree(&op) || isa<BarrierOp>(op))
        continue;
      Written written;
      written.add(&op);
      llvm::erase_if(kept, [&](LoadOp earlier) { return written.reaches(earlier.getPtr()); });
      continue;
    }
    if (!canBeShared(load))
      continue;
    auto same = llvm::find_if(kept, [&](LoadOp earlier) {
      return earlier.getPtr() == load.getPtr() && earlier.getMask() == load.getMask() &&
             earlier.getOther() == load.getOther();
    });
    if (same == kept.end()) {
      kept.push_back(load);
      continue;
    }
    int64_t registers = packedRegistersOfShare(load.getType(), threads);
    if (registers > left)
      continue;
    left -= registers;
    same->setEvict(load.getEvict()); // nobody reads it again from the cache
    load.replaceAllUsesWith(same->getResult());
    load.erase();
    ++loadsShared;
  }
}

namespace {
struct KeepRowsPass : tile::impl::KeepRowsPassBase<KeepRowsPass> {
  using KeepRowsPassBase::KeepRowsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto isProduct = [](Operation *op) {
      return isa<DotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (module.walk(isProduct).wasInterrupted()) {
      SmallVector<scf::ForOp> loops; // inner ones first: what leaves one may leave the next
      module.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp loop : loops)
        loadsHoisted += hoistLoads(loop);
      return;
    }
    int64_t free = registersFree(module, cta::threadsOf(module));
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (kernel.isExternal())
        continue;
      int64_t left = free;
      SmallVector<Block *> blocks; // that have loops: none is in a loop that is unrolled
      kernel.walk([&](Block *block) {
        if (!block->getOps<scf::ForOp>().empty())
          blocks.push_back(block);
      });
      for (Block *block : blocks)
        unrollSame(*block, left, mostTurns, mostOperations);
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(kernel);
      eliminateCommonSubExpressions(rewriter, dominance, kernel);
      left = free;
      Forwarded forwarded = forwardStores(kernel, left);
      LDBG() << forwarded.loads << " loads and " << forwarded.stores
             << " stores of single numbers less";
      kernel.walk([&](Block *block) { shareLoads(*block, left); });
    }
  }
};
} // namespace
