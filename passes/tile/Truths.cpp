//===- Truths.cpp - truths that are computed with as numbers --------------===//
//
// Contract and example: TruthsPass in passes/tile/Passes.td.
//
// A truth lives in a predicate, for nothing; as a number it takes a register and a comparison that
// makes a predicate of it again. What compares it mostly combines it with another number that is 0
// or 1, which only intervals know.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/Reach.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_TRUTHSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-truths"
ALWAYS_ENABLED_STATISTIC(truthsKept, "comparisons that combine truths as such");

/// The truth that `v` is as a number; null: none.
static Value widened(Value v) {
  auto cast = v.getDefiningOp<arith::ExtUIOp>();
  return cast && bitsOf(cast.getIn()) == 1 ? cast.getIn() : Value();
}

/// Whether `v` is 0 or 1 as one of at most `depth` differences of such numbers; `hasTruth` if one
/// of them is a truth.
static bool isTruth(Value v, unsigned depth, Intervals &intervals, bool &hasTruth) {
  if (widened(v))
    return hasTruth = true;
  if (auto either = v.getDefiningOp<arith::XOrIOp>(); either && depth > 0)
    return isTruth(either.getLhs(), depth - 1, intervals, hasTruth) &&
           isTruth(either.getRhs(), depth - 1, intervals, hasTruth);
  Interval interval = intervals.of(v);
  return bitsOf(v) > 1 && interval.low >= 0 && interval.high <= 1;
}

/// `v`, of which `isTruth` holds, as a truth; made with `b`.
static Value asTruth(Value v, unsigned depth, OpBuilder &b) {
  Location loc = v.getLoc();
  if (Value truth = widened(v))
    return truth;
  if (auto either = v.getDefiningOp<arith::XOrIOp>(); either && depth > 0)
    return arith::XOrIOp::create(b, loc, asTruth(either.getLhs(), depth - 1, b),
                                 asTruth(either.getRhs(), depth - 1, b));
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(v.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, none);
}

/// Of truths that are said to differ, or to be the same.
static void keepTruths(arith::CmpIOp compare, Intervals &intervals) {
  bool asksForDifference = compare.getPredicate() == arith::CmpIPredicate::ne;
  if (!asksForDifference && compare.getPredicate() != arith::CmpIPredicate::eq)
    return;
  constexpr unsigned depth = reach::kOperands;
  bool hasTruth = false;
  for (Value operand : compare->getOperands())
    if (!isTruth(operand, depth, intervals, hasTruth))
      return;
  bool isSimple = matchPattern(compare.getRhs(), m_Constant()) && widened(compare.getLhs());
  if (!hasTruth || isSimple) // which folds by itself
    return;
  OpBuilder b(compare);
  Value truth = asTruth(compare.getLhs(), depth, b);
  if (!matchPattern(compare.getRhs(), m_Zero()))
    truth = arith::XOrIOp::create(b, compare.getLoc(), truth, asTruth(compare.getRhs(), depth, b));
  if (!asksForDifference) {
    Attribute yes = IntegerAttr::get(b.getI1Type(), 1);
    auto block = dyn_cast<RankedTensorType>(truth.getType());
    TypedAttr all = block ? TypedAttr(DenseElementsAttr::get(block, yes)) : cast<TypedAttr>(yes);
    truth = arith::XOrIOp::create(b, compare.getLoc(), truth,
                                  arith::ConstantOp::create(b, compare.getLoc(), all));
  }
  LDBG() << compare << " is " << truth;
  compare.getResult().replaceAllUsesWith(truth);
  compare.erase();
  ++truthsKept;
}

namespace {
struct TruthsPass : tile::impl::TruthsPassBase<TruthsPass> {
  void runOnOperation() override {
    SmallVector<arith::CmpIOp> compares;
    getOperation().walk([&](arith::CmpIOp op) { compares.push_back(op); });
    Intervals intervals;
    for (arith::CmpIOp compare : compares)
      keepTruths(compare, intervals);
  }
};
} // namespace
