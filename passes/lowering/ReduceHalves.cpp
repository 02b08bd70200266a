//===- ReduceHalves.cpp - results that lanes of a warp share out ----------===//
//
// Where lanes hold parts of several results, a butterfly for each of them moves each part to a lane
// that has one of the same result already. Two lanes can as well give each other half of theirs and
// go on with the other half, which takes half as many shuffles in the first step, a quarter in the
// second, and combines the same elements in the same order. In the end each lane has results of
// its own. What warps leave in shared memory may lie there in any lane; for other users lanes hand
// the results around on the way back, doubling what they have.
//
// Sixteen results of 32 lanes take 31 shuffles in place of 80, and two selections for each, but
// eight steps in place of five; two of four lanes, as products leave them, are better off with
// butterflies, which wait less often.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/lowering/core/Coordinates.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;

Cost lowering::costOfLanes(ReduceOp op, double results, unsigned lanes, unsigned halvings) {
  constexpr double kSelects = 2; // what is kept, and what is given
  const double cycles = tuningOf(op).shuffleCycles, values = op.getSrcs().size();
  const double combining = costOfCombining(op);
  Cost cost;
  for (unsigned step = 0; step < lanes; ++step) {
    bool isHalved = step < halvings;
    results /= isHalved ? 2 : 1;
    cost +=
        {results * (combining + values * (isHalved ? 1 + kSelects : 1)), results * values, cycles};
  }
  for (unsigned step = 0; step < std::min(halvings, lanes); ++step, results *= 2)
    cost += {results * values * (1 + kSelects), results * values, cycles};
  return cost;
}

unsigned lowering::halvingsOf(ReduceOp op, unsigned results, unsigned lanes, unsigned warps) {
  unsigned best = 0, most = std::min<unsigned>(lanes, llvm::countr_zero(std::max(results, 1u)));
  auto cycles = [&](unsigned halvings) {
    return costOfLanes(op, results, lanes, halvings).total(warps);
  };
  for (unsigned halvings = 1; halvings <= most; ++halvings)
    if (cycles(halvings) < cycles(best))
      best = halvings;
  return best;
}

SmallVector<unsigned> ReduceLowering::orderByBits() {
  SmallVector<unsigned> ordered{0};
  for (int32_t bit = 0; bit < layout.inSizeLog2(Dim::reg()); ++bit) {
    SmallVector<unsigned> others;
    for (unsigned g : ordered) {
      SmallVector<int32_t> key = registerCoordinates(layout, groups[g].front() ^ (1 << bit));
      key.erase(key.begin() + axis);
      auto *it = llvm::find(keys, key);
      if (it == keys.end() || llvm::is_contained(ordered, it - keys.begin()))
        break;
      others.push_back(it - keys.begin());
    }
    if (others.size() == ordered.size())
      ordered.append(others);
  }
  return ordered.size() == groups.size() ? ordered : SmallVector<unsigned>();
}

LogicalResult ReduceLowering::byHalves(unsigned mask, unsigned most) {
  SmallVector<unsigned> order = orderByBits();
  for (int bit = 4; bit >= 0 && order.size() > 1 && most > 0; --bit) {
    if (!(mask >> bit & 1))
      continue;
    Location loc = core.in.getLoc();
    size_t half = order.size() / 2;
    Value isSecond = isSecondOf(1u << bit);
    for (size_t i = 0; i < half; ++i) {
      Registers &first = acc[order[i]], kept, given;
      for (auto [x, y] : llvm::zip_equal(first, acc[order[i + half]])) {
        kept.push_back(LLVM::SelectOp::create(core.b, loc, isSecond, y, x));
        given.push_back(
            core.in.shuffleXor(LLVM::SelectOp::create(core.b, loc, isSecond, x, y), 1u << bit));
      }
      FailureOr<Registers> c = combine(kept, given);
      if (failed(c))
        return failure();
      first = std::move(*c);
    }
    int64_t distance = indexOf(keys[order[0]]) ^ indexOf(keys[order[half]]);
    Value by = LLVM::SelectOp::create(core.b, loc, isSecond, core.in.i32(int32_t(distance)),
                                      core.in.i32(0));
    halvedBy = halvedBy ? LLVM::XOrOp::create(core.b, loc, halvedBy, by).getResult() : by;
    halvedLanes |= 1u << bit;
    halvedDistances[bit] = distance;
    order.truncate(half);
    --most;
  }
  if (halvedLanes)
    keepOnly(order);
  return success();
}

void ReduceLowering::keepOnly(ArrayRef<unsigned> kept) {
  SmallVector<SmallVector<unsigned>> fewer;
  SmallVector<SmallVector<int32_t>> fewerKeys;
  SmallVector<Registers> fewerParts;
  for (unsigned g : kept) {
    fewer.push_back(groups[g]);
    fewerKeys.push_back(keys[g]);
    fewerParts.push_back(acc[g]);
  }
  groups = std::move(fewer), keys = std::move(fewerKeys), acc = std::move(fewerParts);
}

LogicalResult ReduceLowering::sharedOut(unsigned mask) {
  SmallVector<unsigned> order = orderByBits();
  unsigned lanes = llvm::popcount(mask);
  // Elements that share a register, or that a warp reduces at once, are better off, and a combiner
  // that speaks does so once.
  bool isApart =
      !isHeard && sumsOfWord() == 1 && !kindOfWarp(mask) && isCommutative(op.getCombineBlock());
  unsigned halvings = isApart ? halvingsOf(op, order.size(), lanes, numThreads / kLanes) : 0;
  if (halvings == 0)
    return overLanes(mask);
  auto allGroups = groups;
  auto allKeys = keys;
  if (failed(byHalves(mask, halvings)) || failed(overLanes(mask & ~halvedLanes)))
    return failure();
  handAround();
  SmallVector<Registers> inOrder(acc.size());
  for (auto [g, result] : llvm::zip_equal(order, acc))
    inOrder[g] = std::move(result);
  acc = std::move(inOrder), groups = std::move(allGroups), keys = std::move(allKeys);
  return success();
}

void ReduceLowering::handAround() {
  Location loc = core.in.getLoc();
  for (unsigned bit = 1; bit < kLanes; bit <<= 1) {
    if (!(halvedLanes & bit))
      continue;
    Value isSecond = isSecondOf(bit);
    SmallVector<Registers> seconds;
    for (Registers &own : acc) {
      Registers second;
      for (Value &v : own) {
        Value other = core.in.shuffleXor(v, bit);
        second.push_back(LLVM::SelectOp::create(core.b, loc, isSecond, v, other));
        v = LLVM::SelectOp::create(core.b, loc, isSecond, other, v);
      }
      seconds.push_back(std::move(second));
    }
    llvm::append_range(acc, seconds);
  }
  halvedLanes = 0, halvedBy = {};
  llvm::fill(halvedDistances, 0);
}
