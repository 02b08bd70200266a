//===- RareRescaling.cpp - sums scaled when a maximum grows ---------------===//
//
// A part of tile-defer-reductions, for loops that add up products with exponentials of what is
// below a running maximum (online softmax). The maximum only keeps exponentials in their range:
// any number near it does, as long as all that has been added up is relative to the same. So the
// warps go on with the one that they have, until some element is far above it. What the maximum
// would be each thread keeps for the elements that it holds.
//
//   for k:                               for k:
//     r = max(s); n = max(m, r)            t = what a thread holds of s: max(t)
//     a = exp(m - n)                =>     if any of the warp's t > m + 8:
//     p = exp(s - n)                         n = max(m, max(t)); a = exp(m - n)
//     l = l * a + sum(p)                   else: n = m; a = 1
//     o = o * a + dot(p, v)                p = exp(s - n); l = l * a + sum(p)
//     m = n                                if (the same): o = o * a
//                                          o = o + dot(p, v); m = n; u = max(u, t)
//                                        n = max(m before, max(u)); a = exp(m - n)
//                                        l = l * a; o = o * a; m = n
//
// Behind the loop everything is what it was, but for rounding. That the change is sound is read
// off the loop: each value is classified by how it follows the maximum (Follows), and a use that
// no rule knows refuses. A scale of unknown sign between s and r is asked when the kernel runs: a
// negative one takes the branch in every turn, and the maximum is the one of the source.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/RareRescaling.h"
#include "ir/Attributes.h"
#include "ir/CtaDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/facts/ProductFacts.h"
#include "passes/schedule/PartialReductions.h"

using namespace mlir;
using namespace tile;

namespace {

/// How a value follows the maximum m that exponentials are relative to.
enum class Follows {
  Not,    ///< is the same whatever m is
  Before, ///< is m of the turn before
  Now,    ///< is m, or a number in its place where m is -inf
  Test,   ///< tells whether m is -inf
  Growth, ///< is Before - Now
  Below,  ///< is something - Now
  Scale,  ///< is exp(Before - Now)
  Sum     ///< is linear in exp(-Now)
};

class Rescaling {
public:
  explicit Rescaling(scf::ForOp loop) : loop(loop) {}
  bool match();
  scf::ForOp rewrite();

private:
  bool findMaximum();
  bool classify();
  Follows follows(Value v) const { return kinds.lookup(v); }
  std::optional<Follows> classify(Operation *op);
  std::optional<Follows> classifyExponential(Operation *op);
  std::optional<Follows> classifyScaling(Operation *op);
  std::optional<Follows> classifySelect(arith::SelectOp op) const;
  std::optional<Follows> classifyDot(Operation *op);
  bool isSumWhereSumsAre();
  bool findScales();
  double threshold() const;

  /// Whether `v` is more than a number for each row.
  bool isLarge(Value v) {
    return cast<RankedTensorType>(v.getType()).getNumElements() >
           cast<RankedTensorType>(loop.getResult(number).getType()).getNumElements();
  }
  /// By what the loop's variable `i` is multiplied.
  Value scaleOf(unsigned i, arith::MulFOp scaling) {
    return scaling->getOperand(scaling.getLhs() == loop.getRegionIterArg(i) ? 1 : 0);
  }
  SmallVector<std::pair<unsigned, SmallVector<Operation *>>> findRepeats();
  Value scaleOfParts(OpBuilder &b) const;
  Value isScaleNegative(OpBuilder &b) const;
  Value anyFarAbove(OpBuilder &b, Value parts);
  scf::IfOp growRarely(Value any, Value parts);
  void eraseReplaced();

  scf::ForOp loop;
  unsigned number = 0; ///< of the loop's variables, the maximum
  Operation *maximum = nullptr;
  ReduceOp reduce;
  arith::MulFOp scaled; ///< between the two; may be null
  Value factor;         ///< of `scaled`, a number
  std::optional<PartialReduction> partial;

  DenseMap<Value, Follows> kinds;
  StringRef exponential; ///< the operation that all exponentials are
  Operation *scale = nullptr;
  /// The loop's variables that are relative to the maximum, and what scales them.
  llvm::MapVector<unsigned, arith::MulFOp> sums;
  SetVector<Operation *> growth; ///< what makes `scale` of the maximum, in order
  double mostNarrowed = 8;       ///< log2 of how far sums may be above 1
};

} // namespace

/// A number that all elements of `v` are; null if it is not known to be one.
static Value numberOf(Value v) {
  if (auto splat = v.getDefiningOp<SplatOp>())
    return splat.getSrc();
  DenseElementsAttr constant;
  return matchPattern(v, m_Constant(&constant)) && constant.isSplat() ? v : Value();
}

bool Rescaling::findMaximum() {
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
    Value other = maximum->getOperand(maximum->getOperand(0) == variable ? 1 : 0);
    scaled = other.getDefiningOp<arith::MulFOp>();
    if (scaled && other.hasOneUse()) {
      unsigned side = numberOf(scaled.getRhs()) ? 1 : 0;
      factor = numberOf(scaled->getOperand(side));
      other = scaled->getOperand(1 - side);
      if (!factor || !loop.isDefinedOutsideOfLoop(scaled->getOperand(side)))
        continue;
    }
    reduce = other.getDefiningOp<ReduceOp>();
    if (!reduce || !other.hasOneUse() || reduce->getBlock() != loop.getBody() ||
        other.getType() != type || reduce.getCombineBlock().front().getName() != maximum->getName())
      continue;
    partial = PartialReduction::of(reduce);
    if (partial && !partial->isSpreadOverWarps())
      return true;
  }
  return false;
}

/// `exp` of a difference to the maximum.
std::optional<Follows> Rescaling::classifyExponential(Operation *op) {
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
std::optional<Follows> Rescaling::classifyScaling(Operation *op) {
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

std::optional<Follows> Rescaling::classifySelect(arith::SelectOp op) const {
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
std::optional<Follows> Rescaling::classifyDot(Operation *op) {
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
std::optional<Follows> Rescaling::classify(Operation *op) {
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
    mostNarrowed = std::min<double>(mostNarrowed, exponent - 1);
    return first;
  }
  if (isa<arith::ExtFOp, arith::NegFOp, cta::StageOp, cta::PinOp>(op))
    return first;
  if (isa<arith::DivFOp>(op) && second == Follows::Not)
    return first;
  if (isa<arith::AddFOp, arith::SubFOp>(op) && second == Follows::Sum)
    return first;
  if (auto sum = dyn_cast<ReduceOp>(op); sum && sum.getNumInputs() == 1 &&
                                         isa<arith::AddFOp>(sum.getCombineBlock().front()) &&
                                         sum.getCombineBlock().getOperations().size() == 2)
    return first;
  return std::nullopt;
}

bool Rescaling::classify() {
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
bool Rescaling::isSumWhereSumsAre() {
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
bool Rescaling::findScales() {
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
    if (!isOnlyRepeated(scaleOf(i, scaling), scale))
      return false;
  }
  return true;
}

bool Rescaling::match() {
  auto module = loop->getParentOfType<ModuleOp>();
  // There exponentials are functions of which nothing is known.
  if (module->hasAttr(kAlgebraicAttr))
    return false;
  return findMaximum() && classify() && findScales();
}

/// How far above what it is relative to an exponent may be.
double Rescaling::threshold() const {
  return exponential == math::ExpOp::getOperationName() ? mostNarrowed * M_LN2 : mostNarrowed;
}

static Value splatOf(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  auto element = cast<FloatType>(type.getElementType());
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, FloatAttr::get(element, value)));
}

/// Whether what goes into the maximum has been multiplied by less than nothing; null if that
/// cannot be. `b` is before the loop.
Value Rescaling::isScaleNegative(OpBuilder &b) const {
  if (!scaled)
    return Value();
  Location loc = maximum->getLoc();
  if (DenseElementsAttr constant; matchPattern(factor, m_Constant(&constant)))
    return constant.getSplatValue<APFloat>().isNegative()
               ? arith::ConstantOp::create(b, loc, b.getBoolAttr(true)).getResult()
               : Value();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(factor.getType()));
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, factor, zero);
}

/// What the maximum's operand is multiplied by, for what threads hold of it.
Value Rescaling::scaleOfParts(OpBuilder &b) const {
  DenseElementsAttr constant;
  if (!matchPattern(factor, m_Constant(&constant)))
    return partial->repeat(b, factor);
  return arith::ConstantOp::create(
      b, maximum->getLoc(),
      DenseElementsAttr::get(partial->type(), constant.getSplatValue<Attribute>()));
}

/// Whether any of `parts` that the warp holds is far above the maximum so far.
Value Rescaling::anyFarAbove(OpBuilder &b, Value parts) {
  Location loc = maximum->getLoc();
  Value so = partial->repeat(b, loop.getRegionIterArg(number));
  Value above = arith::SubFOp::create(b, loc, parts, so);
  Value far = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, above,
                                    splatOf(b, loc, partial->type(), threshold()));
  return cta::AnyInWarpOp::create(b, loc, b.getI1Type(), far);
}

/// The maximum, the scale and the scaling of large sums where `any` says so.
scf::IfOp Rescaling::growRarely(Value any, Value parts) {
  OpBuilder b(reduce);
  Location loc = maximum->getLoc();
  auto type = cast<RankedTensorType>(maximum->getResult(0).getType());
  auto grow = [&](OpBuilder &b, Location) {
    IRMapping map;
    map.map(reduce.getResult(0), partial->finish(b, parts));
    if (scaled)
      b.clone(*scaled, map);
    b.clone(*maximum, map);
    for (Operation *op : growth)
      b.clone(*op, map);
    scf::YieldOp::create(b, loc,
                         {map.lookup(maximum->getResult(0)), map.lookup(scale->getResult(0))});
  };
  auto stay = [&](OpBuilder &b, Location) {
    scf::YieldOp::create(b, loc, {loop.getRegionIterArg(number), splatOf(b, loc, type, 1)});
  };
  auto branch = scf::IfOp::create(b, loc, any, grow, stay);
  for (auto &[i, scaling] : sums) {
    Value sum = loop.getRegionIterArg(i);
    if (!isLarge(sum))
      continue;
    b.setInsertionPoint(scaling);
    auto scaleIt = [&](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, b.clone(*scaling)->getResults());
    };
    auto keep = [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, sum); };
    auto either = scf::IfOp::create(b, scaling.getLoc(), any, scaleIt, keep);
    scaling.replaceAllUsesWith(either.getResult(0));
    scaling.erase();
  }
  maximum->getResult(0).replaceAllUsesWith(branch.getResult(0));
  scale->getResult(0).replaceAllUsesWith(branch.getResult(1));
  return branch;
}

/// What each sum's scale goes through on the way from `scale`, by the loop's variables.
SmallVector<std::pair<unsigned, SmallVector<Operation *>>> Rescaling::findRepeats() {
  SmallVector<std::pair<unsigned, SmallVector<Operation *>>> repeats;
  for (auto &[i, scaling] : sums) {
    repeats.push_back({i, {}});
    for (Operation *op = scaleOf(i, scaling).getDefiningOp(); op != scale;
         op = op->getOperand(0).getDefiningOp())
      repeats.back().second.push_back(op);
    std::reverse(repeats.back().second.begin(), repeats.back().second.end());
  }
  return repeats;
}

scf::ForOp Rescaling::rewrite() {
  IRRewriter b(loop);
  Location loc = maximum->getLoc();
  Value isNegative = isScaleNegative(b);
  Value before = partial->repeat(b, loop.getInitArgs()[number]);
  auto repeats = findRepeats();

  b.setInsertionPoint(reduce);
  Value parts = partial->begin(b, reduce.getSrcs().front());
  Value inMaximum = parts;
  if (scaled)
    inMaximum = arith::MulFOp::create(b, loc, parts, scaleOfParts(b));
  Value any = anyFarAbove(b, inMaximum);
  if (isNegative)
    any = arith::OrIOp::create(b, loc, any, isNegative);
  scf::IfOp branch = growRarely(any, parts);

  StringAttr combine = maximum->getName().getIdentifier();
  auto keepHighest = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>{
        b.create(loc, combine, {added.front(), inMaximum}, {inMaximum.getType()})->getResult(0)};
  };
  b.setInsertionPoint(loop);
  auto wider = loop.replaceWithAdditionalYields(b, {before}, false, keepHighest);
  loop = cast<scf::ForOp>(wider->getOperation());

  // Behind the loop: the sums, relative to the maximum.
  SmallVector<OpOperand *> uses;
  for (OpResult result : loop.getResults())
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
  b.setInsertionPointAfter(loop);
  Value found = loop.getResult(number);
  Value whole = partial->finish(b, loop.getResults().back());
  auto truth = cast<RankedTensorType>(found.getType()).clone(b.getI1Type());
  if (isNegative) {
    Value always = SplatOp::create(b, loc, truth, isNegative);
    whole = arith::SelectOp::create(b, loc, always, found, whole);
  }
  IRMapping map;
  map.map(loop.getRegionIterArg(number), found);
  map.map(branch.getResult(0), whole);
  for (Operation *op : growth)
    b.clone(*op, map);
  // Where nothing is above -inf, the difference to the maximum is no number.
  Value isSame = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, found, whole);
  Value one = splatOf(b, loc, cast<RankedTensorType>(found.getType()), 1);
  Value factorBehind =
      arith::SelectOp::create(b, loc, isSame, one, map.lookup(scale->getResult(0)));
  DenseMap<Value, Value> replaced{{found, whole}};
  for (auto &[i, chain] : repeats) {
    IRMapping repeat;
    repeat.map(branch.getResult(1), factorBehind);
    Value by = factorBehind;
    for (Operation *op : chain)
      by = b.clone(*op, repeat)->getResult(0);
    Value sum = loop.getResult(i);
    replaced[sum] = arith::MulFOp::create(b, loc, sum, by);
  }
  for (OpOperand *use : uses)
    if (Value value = replaced.lookup(use->get()))
      use->set(value);
  eraseReplaced();
  return loop;
}

void Rescaling::eraseReplaced() {
  for (Operation *op : llvm::reverse(growth))
    if (op->use_empty())
      op->erase();
  maximum->erase();
  if (scaled)
    scaled.erase();
  reduce->erase();
}

scf::ForOp tile::rescaleRarely(scf::ForOp loop) {
  Rescaling rescaling(loop);
  return rescaling.match() ? rescaling.rewrite() : nullptr;
}
