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
// off the loop (RunningMaximum.h). A scale of unknown sign between s and r is asked when the kernel
// runs: a negative one takes the branch in every turn, and the maximum is the one of the source.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/RareRescaling.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/facts/Registers.h"
#include "passes/schedule/RunningMaximum.h"

using namespace mlir;
using namespace tile;

namespace {

class Rescaling : RunningMaximum {
public:
  explicit Rescaling(RunningMaximum of) : RunningMaximum(std::move(of)) {}
  bool fits();
  scf::ForOp rewrite();

private:
  double threshold() const;
  Value isScaleNegative(OpBuilder &b) const;
  Value numberForParts(OpBuilder &b, Value number) const;
  Value throughBetween(OpBuilder &b, Value parts) const;
  Value anyFarAbove(OpBuilder &b, Value parts);
  SmallVector<std::pair<unsigned, SmallVector<Operation *>>> findRepeats();
  scf::IfOp growRarely(Value any, Value parts);
  Value maximumBehind(OpBuilder &b, Value found, Value isNegative);
  void eraseReplaced();
};

} // namespace

/// What the loop carries, the elements of a turn and what is multiplied of them, beside what each
/// thread's maxima take: where that spills anyway, more of it would.
bool Rescaling::fits() {
  int64_t registers = kRegistersBesideAccumulator + registersOf(partial->type()) +
                      packedRegistersOfAll(loop.getResultTypes());
  int64_t elements = registersOf(reduce.getInputType());
  return registers + elements + elements / 2 <= kMaxRegisters;
}

/// How far above what it is relative to an exponent may be.
double Rescaling::threshold() const {
  return exponential == math::ExpOp::getOperationName() ? mostAbove * M_LN2 : mostAbove;
}

static Value splatOf(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  auto element = cast<FloatType>(type.getElementType());
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, FloatAttr::get(element, value)));
}

/// Whether what goes into the maximum has been multiplied by less than nothing; null if that
/// cannot be. `b` is before the loop.
Value Rescaling::isScaleNegative(OpBuilder &b) const {
  if (!factor)
    return Value();
  Location loc = maximum->getLoc();
  if (DenseElementsAttr constant; matchPattern(factor, m_Constant(&constant)))
    return constant.getSplatValue<APFloat>().isNegative()
               ? arith::ConstantOp::create(b, loc, b.getBoolAttr(true)).getResult()
               : Value();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(factor.getType()));
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, factor, zero);
}

/// `number` for each of the parts.
Value Rescaling::numberForParts(OpBuilder &b, Value number) const {
  DenseElementsAttr constant;
  if (!matchPattern(number, m_Constant(&constant)))
    return partial->repeat(b, number);
  return arith::ConstantOp::create(
      b, maximum->getLoc(),
      DenseElementsAttr::get(partial->type(), constant.getSplatValue<Attribute>()));
}

/// What is made of the reduction's result, of parts.
Value Rescaling::throughBetween(OpBuilder &b, Value parts) const {
  Location loc = maximum->getLoc();
  for (Operation *op : between)
    if (isa<arith::MulFOp>(op)) {
      parts = arith::MulFOp::create(b, loc, parts, numberForParts(b, factor));
    } else if (auto test = dyn_cast<arith::CmpFOp>(op)) {
      auto select = cast<arith::SelectOp>(*test->user_begin());
      Value isNone = arith::CmpFOp::create(b, loc, test.getPredicate(), parts,
                                           numberForParts(b, test.getRhs()));
      parts = arith::SelectOp::create(b, loc, isNone,
                                      numberForParts(b, numberOf(select.getTrueValue())), parts);
    }
  return parts;
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
    for (Operation *op : between)
      b.clone(*op, map);
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
    for (Operation *op = scaleOf(i).getDefiningOp(); op != scale;
         op = op->getOperand(0).getDefiningOp())
      repeats.back().second.push_back(op);
    std::reverse(repeats.back().second.begin(), repeats.back().second.end());
  }
  return repeats;
}

/// Behind the loop: the maximum of the source, where the loop ends with `found`.
Value Rescaling::maximumBehind(OpBuilder &b, Value found, Value isNegative) {
  Location loc = maximum->getLoc();
  Value whole = partial->finish(b, loop.getResults().back());
  if (!isNegative)
    return whole;
  auto truth = cast<RankedTensorType>(found.getType()).clone(b.getI1Type());
  Value always = SplatOp::create(b, loc, truth, isNegative);
  return arith::SelectOp::create(b, loc, always, found, whole);
}

scf::ForOp Rescaling::rewrite() {
  IRRewriter b(loop);
  Location loc = maximum->getLoc();
  Value isNegative = isScaleNegative(b);
  Value before = partial->repeat(b, loop.getInitArgs()[number]);
  auto repeats = findRepeats();

  b.setInsertionPoint(reduce);
  Value parts = partial->begin(b, reduce.getSrcs().front());
  Value inMaximum = throughBetween(b, parts);
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
  Value whole = maximumBehind(b, found, isNegative);
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
  for (Operation *op : llvm::reverse(between))
    op->erase();
  reduce->erase();
}

scf::ForOp tile::rescaleRarely(scf::ForOp loop) {
  std::optional<RunningMaximum> found = findRunningMaximum(loop);
  if (!found)
    return nullptr;
  Rescaling rescaling(std::move(*found));
  return rescaling.fits() ? rescaling.rewrite() : nullptr;
}
