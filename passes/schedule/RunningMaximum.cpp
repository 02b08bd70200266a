//===- RunningMaximum.cpp - sums relative to a maximum that grows ---------===//
//
// Whether another number would do in the place of a running maximum is read off the loop: each
// value is classified by how it follows the maximum (Follows), in the order of the operations, and
// a use that no rule knows refuses.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/RunningMaximum.h"
#include "ir/Attributes.h"
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/ProductFacts.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// With less than this room above the maximum, sums would be scaled in most turns anyway.
static constexpr double kLeastAbove = 1;

namespace {

/// How a value follows the maximum m that exponentials are relative to.
enum class Follows {
  Not,    ///< is the same whatever m is
  Before, ///< is m of the turn before
  Now,    ///< is m, or a number in its place where m is -inf
  Near,   ///< is Now and a constant, for exponentials only
  Test,   ///< tells whether m is -inf
  Growth, ///< is Before - Now
  Below,  ///< is something - Now, or - Near
  Scale,  ///< is exp(Before - Now)
  Sum     ///< is linear in exp(-Now)
};

class Finder : RunningMaximum {
public:
  explicit Finder(scf::ForOp loop) {
    this->loop = loop;
    mostAbove = tuningOf(loop).mostAboveMaximum;
  }
  std::optional<RunningMaximum> find();

private:
  bool findBetween(Value operand);
  bool findMaximum();
  bool classify();
  Follows follows(Value v) const { return kinds.lookup(v); }
  std::optional<Follows> classify(Operation *op);
  std::optional<Follows> classifyShift(Operation *op);
  std::optional<Follows> classifyExponential(Operation *op);
  std::optional<Follows> classifyScaling(Operation *op);
  std::optional<Follows> classifySelect(arith::SelectOp op) const;
  std::optional<Follows> classifyDot(Operation *op);
  bool isSumWhereSumsAre();
  bool findScales();

  DenseMap<Value, Follows> kinds;
  double shift = 0; ///< by how much the largest exponent is above 0
};

} // namespace

/// A number that all elements of `v` are; null if it is not known to be one.
Value tile::numberOf(Value v) {
  if (auto splat = v.getDefiningOp<SplatOp>())
    return splat.getSrc();
  DenseElementsAttr constant;
  return matchPattern(v, m_Constant(&constant)) && constant.isSplat() ? v : Value();
}

/// Finds the reduction that `operand` of the maximum comes from. What is between them grows with
/// the reduction's result, unless it is scaled by a negative number.
bool Finder::findBetween(Value operand) {
  between.clear();
  factor = Value();
  auto isNumber = [&](Value v) { return numberOf(v) && loop.isDefinedOutsideOfLoop(v); };
  for (unsigned uses = 1;;) {
    Operation *op = operand.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !operand.hasNUses(uses))
      return false;
    uses = 1;
    if ((reduce = dyn_cast<ReduceOp>(op)))
      break;
    if (auto scaled = dyn_cast<arith::MulFOp>(op); scaled && !factor) {
      unsigned side = isNumber(scaled.getRhs()) ? 1 : 0;
      if (!isNumber(scaled->getOperand(side)))
        return false;
      factor = numberOf(scaled->getOperand(side));
      operand = scaled->getOperand(1 - side);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      auto test = select.getCondition().getDefiningOp<arith::CmpFOp>();
      operand = select.getFalseValue();
      if (!test || !test->hasOneUse() || test->getBlock() != loop.getBody() ||
          test.getLhs() != operand || test.getPredicate() != arith::CmpFPredicate::OEQ ||
          !matchPattern(test.getRhs(), m_NegInfFloat()) || !isNumber(select.getTrueValue()))
        return false;
      between.push_back(op);
      op = test;
      uses = 2;
    } else {
      return false;
    }
    between.push_back(op);
  }
  std::reverse(between.begin(), between.end());
  return true;
}

bool Finder::findMaximum() {
  for (BlockArgument variable : loop.getRegionIterArgs()) {
    auto type = dyn_cast<RankedTensorType>(variable.getType());
    if (!type || !isa<FloatType>(type.getElementType()))
      continue;
    number = variable.getArgNumber() - 1;
    maximum = loop.getBody()->getTerminator()->getOperand(number).getDefiningOp();
    if (!isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>(maximum) ||
        maximum->getBlock() != loop.getBody() ||
        !llvm::is_contained(maximum->getOperands(), variable))
      continue;
    bool isOperand = findBetween(maximum->getOperand(maximum->getOperand(0) == variable ? 1 : 0));
    if (!isOperand || reduce.getResult(0).getType() != type)
      continue;
    Operation *combiner = soleCombiner(reduce.getCombineBlock());
    if (!combiner || combiner->getName() != maximum->getName())
      continue;
    partial = PartialReduction::of(reduce);
    if (partial && !partial->isSpreadOverWarps())
      return true;
  }
  return false;
}

/// The maximum and a constant: exponentials relative to that are larger or smaller by a factor.
std::optional<Follows> Finder::classifyShift(Operation *op) {
  DenseElementsAttr constant;
  if (follows(op->getOperand(0)) != Follows::Now ||
      !matchPattern(op->getOperand(1), m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  double by = constant.getSplatValue<APFloat>().convertToDouble();
  if (!std::isfinite(by))
    return std::nullopt;
  shift = std::max(shift, isa<arith::SubFOp>(op) ? by : -by);
  return Follows::Near;
}

/// `exp` of a difference to the maximum.
std::optional<Follows> Finder::classifyExponential(Operation *op) {
  Follows kind = follows(op->getOperand(0));
  if (kind != Follows::Growth && kind != Follows::Below)
    return std::nullopt;
  if (!exponential.empty() && exponential != op->getName().getStringRef())
    return std::nullopt;
  exponential = op->getName().getStringRef();
  if (kind == Follows::Below)
    return Follows::Sum;
  if (scale || op->getResult(0).getType() != loop.getResult(number).getType())
    return std::nullopt;
  scale = op;
  return Follows::Scale;
}

/// A product of two: of a variable that follows the maximum and how that has grown, or of a sum.
std::optional<Follows> Finder::classifyScaling(Operation *op) {
  for (unsigned side : {0, 1}) {
    Value v = op->getOperand(side), other = op->getOperand(1 - side);
    if (follows(v) == Follows::Sum && follows(other) == Follows::Not)
      return Follows::Sum;
    auto variable = dyn_cast<BlockArgument>(v);
    if (variable && variable.getOwner() == loop.getBody() && variable.getArgNumber() > 0 &&
        follows(other) == Follows::Scale && variable.hasOneUse()) {
      sums[variable.getArgNumber() - 1] = cast<arith::MulFOp>(op);
      return Follows::Sum;
    }
  }
  return std::nullopt;
}

std::optional<Follows> Finder::classifySelect(arith::SelectOp op) const {
  Follows condition = follows(op.getCondition()), yes = follows(op.getTrueValue()),
          no = follows(op.getFalseValue());
  auto isZeroOrSum = [&](Value v) {
    return follows(v) == Follows::Sum || matchPattern(v, m_AnyZeroFloat());
  };
  if (condition == Follows::Test &&
      ((yes == Follows::Now && no == Follows::Not) || (yes == Follows::Not && no == Follows::Now)))
    return Follows::Now;
  if ((condition == Follows::Not || condition == Follows::Test) && isZeroOrSum(op.getTrueValue()) &&
      isZeroOrSum(op.getFalseValue()))
    return Follows::Sum;
  return std::nullopt;
}

/// A product with sums on one side, added to sums.
std::optional<Follows> Finder::classifyDot(Operation *op) {
  bool left = follows(op->getOperand(0)) == Follows::Sum;
  bool right = follows(op->getOperand(1)) == Follows::Sum;
  Value acc = op->getOperand(2);
  bool isPlain = left != right &&
                 (follows(acc) == Follows::Sum || matchPattern(acc, m_AnyZeroFloat())) &&
                 llvm::all_of(op->getOperands().drop_front(3),
                              [&](Value v) { return follows(v) == Follows::Not; });
  return isPlain ? std::optional(Follows::Sum) : std::nullopt;
}

/// How the result of `op` follows the maximum, where an operand does; nothing if no rule tells.
std::optional<Follows> Finder::classify(Operation *op) {
  Follows first = follows(op->getOperand(0));
  Follows second = op->getNumOperands() > 1 ? follows(op->getOperand(1)) : Follows::Not;
  if (isa<ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, cta::ConvertLayoutOp>(op))
    return first;
  if (isa<arith::SubFOp>(op) && second == Follows::Now) {
    if (first == Follows::Before)
      return Follows::Growth;
    if (first == Follows::Not)
      return Follows::Below;
  }
  if (isa<arith::SubFOp>(op) && second == Follows::Near && first == Follows::Not)
    return Follows::Below;
  if (isa<arith::SubFOp, arith::AddFOp>(op) && first == Follows::Now)
    return classifyShift(op);
  if (isa<math::ExpOp, math::Exp2Op>(op))
    return classifyExponential(op);
  if (isa<arith::MulFOp>(op))
    return classifyScaling(op);
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    bool isTest = first == Follows::Now && matchPattern(compare.getRhs(), m_NegInfFloat()) &&
                  llvm::is_contained({arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UEQ,
                                      arith::CmpFPredicate::ONE, arith::CmpFPredicate::UNE},
                                     compare.getPredicate());
    return isTest ? std::optional(Follows::Test) : std::nullopt;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return classifySelect(select);
  if (isa<DotOp, cta::WarpgroupDotOp>(op))
    return classifyDot(op);
  if (first != Follows::Sum)
    return std::nullopt;
  if (isa<arith::TruncFOp, FpCastOp>(op)) {
    // What would be 1 at most grows to 2^threshold.
    auto type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    int exponent = ilogb(APFloat::getLargest(type.getFloatSemantics()));
    mostAbove = std::min<double>(mostAbove, exponent - 1);
    return first;
  }
  if (isa<arith::ExtFOp, arith::NegFOp, cta::StageOp, cta::PinOp>(op))
    return first;
  if (isa<arith::DivFOp>(op) && second == Follows::Not)
    return first;
  if (isa<arith::AddFOp, arith::SubFOp>(op) && second == Follows::Sum)
    return first;
  if (auto sum = dyn_cast<ReduceOp>(op); sum && isSum(sum.getCombineBlock()))
    return first;
  return std::nullopt;
}

bool Finder::classify() {
  kinds[loop.getRegionIterArg(number)] = Follows::Before;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == maximum) {
      kinds[op.getResult(0)] = Follows::Now;
      continue;
    }
    bool concerns = false;
    op.walk([&](Operation *inner) {
      concerns |=
          llvm::any_of(inner->getOperands(), [&](Value v) { return follows(v) != Follows::Not; });
    });
    if (!concerns)
      continue;
    if (op.getNumResults() != 1)
      return false;
    std::optional<Follows> kind = classify(&op);
    if (!kind)
      return false;
    kinds[op.getResult(0)] = *kind;
  }
  return scale && isSumWhereSumsAre();
}

/// The loop goes on with sums in the place of sums, and one of them is large.
bool Finder::isSumWhereSumsAre() {
  bool gains = false;
  for (OpOperand &next : loop.getBody()->getTerminator()->getOpOperands()) {
    unsigned i = next.getOperandNumber();
    Follows kind = follows(next.get());
    bool isSum = sums.contains(i);
    if (i == number ? next.get() != maximum->getResult(0)
                    : kind != (isSum ? Follows::Sum : Follows::Not))
      return false;
    gains |= isSum && isLarge(next.get());
  }
  return gains;
}

/// From `scale` to the operand of what scales `sum`: only repeated, if the sum is a block of
/// accumulators, so that warps that scale it hold the rows that they decide about.
static bool isOnlyRepeated(Value v, Operation *scale) {
  while (Operation *op = v.getDefiningOp()) {
    if (op == scale)
      return true;
    if (!isa<ExpandDimsOp, BroadcastOp>(op))
      return false;
    v = op->getOperand(0);
  }
  return false;
}

/// What `scale` is computed from, which a branch without exchanges between warps can do.
bool Finder::findScales() {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op != maximum && op->getBlock() == loop.getBody() &&
           llvm::any_of(op->getResults(), [&](Value v) { return follows(v) != Follows::Not; });
  };
  if (failed(getBackwardSlice(scale, &growth, options)))
    return false;
  for (Operation *op : growth)
    for (Value v : op->getOperands()) {
      bool isThere = follows(v) != Follows::Not || loop.isDefinedOutsideOfLoop(v);
      if (!isElementByElement(op) || !isThere)
        return false;
    }
  for (auto &[i, scaling] : sums) {
    if (!isOnlyRepeated(scaleOf(i), scale))
      return false;
  }
  return true;
}

std::optional<RunningMaximum> Finder::find() {
  if (!findMaximum() || !classify() || !findScales())
    return std::nullopt;
  mostAbove -= exponential == math::ExpOp::getOperationName() ? shift / M_LN2 : shift;
  if (mostAbove < kLeastAbove)
    return std::nullopt;
  return std::move(static_cast<RunningMaximum &>(*this));
}

std::optional<RunningMaximum> tile::findRunningMaximum(scf::ForOp loop) {
  // There exponentials are functions of which nothing is known.
  if (loop->getParentOfType<ModuleOp>()->hasAttr(kAlgebraicAttr))
    return std::nullopt;
  return Finder(loop).find();
}
