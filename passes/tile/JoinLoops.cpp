//===- JoinLoops.cpp - loops side by side that do not wait for each other --===//
//
// Contract and example: JoinLoopsPass in passes/tile/Passes.td.
//
// A turn that reduces what the turn before has reduced is a chain of waits: for shuffles, or for
// barriers. With few warps nothing else runs meanwhile. Several such chains take turns together, as
// long as all of them have turns left; what is left then are the loops as they were.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_JOINLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-join-loops"
ALWAYS_ENABLED_STATISTIC(loopsJoined, "loops whose turns run with those of an earlier one");

//===----------------------------------------------------------------------===//
// Which loops
//===----------------------------------------------------------------------===//

/// Whether `op` can run earlier or later than others that write nothing either.
static bool onlyReads(Operation &op) {
  auto load = dyn_cast<LoadOp>(op);
  return load ? !load.getIsVolatile() : isMemoryEffectFree(&op);
}

static bool isExchange(Operation *op) { return isa<ReduceOp, ScanOp>(op); }

/// Operations of the loop's body that `values` are computed by.
static DenseSet<Operation *> neededBy(scf::ForOp loop, ArrayRef<Value> values) {
  DenseSet<Operation *> ops;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && ops.insert(op).second)
      work.append(op->operand_begin(), op->operand_end());
  }
  return ops;
}

/// Whether what a turn has reduced is reduced again in the next one.
static bool isChain(scf::ForOp loop) {
  DenseSet<Operation *> carried = neededBy(loop, SmallVector<Value>(loop.getYieldedValues()));
  return llvm::any_of(carried, [&](Operation *op) {
    if (!isExchange(op))
      return false;
    DenseSet<Operation *> before = neededBy(loop, {op->getResult(0)});
    return llvm::any_of(before, [&](Operation *earlier) {
      return llvm::any_of(earlier->getOperands(),
                          [&](Value v) { return llvm::is_contained(loop.getRegionIterArgs(), v); });
    });
  });
}

/// Registers of a thread that the largest block of numbers takes that a turn computes.
static int64_t registersOfTurn(scf::ForOp loop, int64_t threads) {
  int64_t most = 1;
  for (Operation &op : loop.getBody()->without_terminator())
    for (Value v : op.getResults())
      if (auto block = dyn_cast<RankedTensorType>(v.getType());
          block && block.getElementType().isIntOrFloat() && !block.getElementType().isInteger(1))
        most = std::max(most, registersOfShare(block, threads));
  return most;
}

static std::optional<int64_t> firstOf(scf::ForOp loop) {
  APInt first, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isOne() || loop.getUnsignedCmp())
    return std::nullopt;
  return first.getSExtValue();
}

/// Whether the loop is one that others may join. Hints are for the loop as its author wrote it.
static bool canBeJoined(scf::ForOp loop) {
  return firstOf(loop) && loop->getDiscardableAttrs().empty() &&
         llvm::all_of(loop.getBody()->without_terminator(),
                      [](Operation &op) {
                        return onlyReads(op) && (op.getNumRegions() == 0 || isExchange(&op));
                      }) &&
         isChain(loop);
}

/// Whether `late` can take its turns with those of `group`, whose last one stands before it: all of
/// them are moved there.
static bool canJoin(ArrayRef<scf::ForOp> group, scf::ForOp late) {
  if (late.getInductionVar().getType() != scf::ForOp(group[0]).getInductionVar().getType())
    return false;
  for (Operation *op = scf::ForOp(group.back())->getNextNode(); op != late; op = op->getNextNode())
    if (!onlyReads(*op))
      return false;
  return llvm::none_of(group, [&](scf::ForOp early) {
    return llvm::any_of(early->getUsers(), [&](Operation *user) {
      Operation *here = late->getBlock()->findAncestorOpInBlock(*user);
      return !late->isBeforeInBlock(here);
    });
  });
}

//===----------------------------------------------------------------------===//
// One loop of several
//===----------------------------------------------------------------------===//

namespace {
/// Loops that are joined. All count in steps of one; `distances` are how much later each starts
/// than the first.
struct Joiner {
  OpBuilder b;
  Location loc;
  SmallVector<scf::ForOp> loops;
  SmallVector<int64_t> distances;

  explicit Joiner(ArrayRef<scf::ForOp> group)
      : b(scf::ForOp(group.back())), loc(scf::ForOp(group.back()).getLoc()), loops(group) {
    for (scf::ForOp loop : loops)
      distances.push_back(*firstOf(loop) - *firstOf(loops[0]));
  }

  Value number(int64_t value) {
    Type type = loops[0].getInductionVar().getType();
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value later(Value v, int64_t distance) {
    return distance ? b.createOrFold<arith::AddIOp>(loc, v, number(distance)) : v;
  }

  /// Where the first of these loops would end if it had the turns of this one. Not before its
  /// start: what is far below zero has no room for the distance.
  Value endOf(unsigned k) {
    Value end = loops[k].getUpperBound();
    if (!distances[k])
      return end;
    end = b.createOrFold<arith::MaxSIOp>(loc, end, loops[k].getLowerBound());
    return b.createOrFold<arith::SubIOp>(loc, end, number(distances[k]));
  }

  scf::ForOp joined(Value end) {
    SmallVector<Value> carried;
    for (scf::ForOp loop : loops)
      llvm::append_range(carried, loop.getInitArgs());
    auto all =
        scf::ForOp::create(b, loc, loops[0].getLowerBound(), end, loops[0].getStep(), carried);
    OpBuilder inner = OpBuilder::atBlockBegin(all.getBody());
    std::swap(b, inner);
    SmallVector<Value> yielded;
    unsigned next = 0;
    for (auto [loop, distance] : llvm::zip_equal(loops, distances)) {
      IRMapping map;
      map.map(loop.getInductionVar(), later(all.getInductionVar(), distance));
      for (Value arg : loop.getRegionIterArgs())
        map.map(arg, all.getRegionIterArg(next++));
      for (Operation &op : loop.getBody()->without_terminator())
        b.clone(op, map);
      for (Value v : loop.getYieldedValues())
        yielded.push_back(map.lookupOrDefault(v));
    }
    scf::YieldOp::create(b, loc, yielded);
    std::swap(b, inner);
    return all;
  }

  /// The turns that loop `k` has behind those of all.
  ResultRange rest(unsigned k, Value end, ValueRange carried) {
    Value first = b.createOrFold<arith::MaxSIOp>(loc, end, loops[0].getLowerBound());
    Value start = later(first, distances[k]);
    auto copy = cast<scf::ForOp>(b.clone(*loops[k]));
    copy.setLowerBound(start);
    copy.getInitArgsMutable().assign(carried);
    return copy.getResults();
  }

  void run() {
    SmallVector<Value> ends;
    for (unsigned k = 0; k < loops.size(); ++k)
      ends.push_back(endOf(k));
    Value end = ends[0];
    for (Value other : ArrayRef(ends).drop_front())
      if (!isEqualConstantIntOrValue(other, end))
        end = b.createOrFold<arith::MinSIOp>(loc, end, other);
    scf::ForOp all = joined(end);
    b.setInsertionPointAfter(all);
    ValueRange carried = all.getResults();
    for (auto [k, loop] : llvm::enumerate(loops)) {
      ValueRange own = carried.take_front(loop.getNumResults());
      carried = carried.drop_front(own.size());
      loop.replaceAllUsesWith(
          isEqualConstantIntOrValue(ends[k], end) ? own : ValueRange(rest(k, end, own)));
    }
    for (scf::ForOp loop : loops)
      loop.erase();
    loopsJoined += loops.size() - 1;
  }
};

struct JoinLoopsPass : tile::impl::JoinLoopsPassBase<JoinLoopsPass> {
  using JoinLoopsPassBase::JoinLoopsPassBase;

  bool joinLoops(Block &block, int64_t threads) {
    SmallVector<SmallVector<scf::ForOp>> groups;
    int64_t left = 0;
    for (auto loop : block.getOps<scf::ForOp>()) {
      if (!canBeJoined(loop))
        continue;
      int64_t registers = registersOfTurn(loop, threads);
      if (groups.empty() || registers > left || !canJoin(groups.back(), loop)) {
        groups.emplace_back();
        left = (kMaxRegisters + 1) / tuningOf(loop).joinedPartOfRegisters;
      }
      groups.back().push_back(loop);
      left -= registers;
    }
    llvm::erase_if(groups, [](const auto &group) { return group.size() < 2; });
    for (const auto &group : groups) {
      LDBG() << group.size() << " loops side by side run as one";
      Joiner(group).run();
    }
    return !groups.empty();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t threads = cta::threadsOf(module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      SmallVector<Block *> blocks;
      kernel.walk([&](Block *block) { blocks.push_back(block); });
      bool changed = false;
      for (Block *block : blocks)
        changed |= joinLoops(*block, threads);
      if (!changed)
        continue;
      // Loops that count alike compare alike.
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(kernel);
      eliminateCommonSubExpressions(rewriter, dominance, kernel);
    }
  }
};
} // namespace
