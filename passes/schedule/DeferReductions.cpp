//===- DeferReductions.cpp - threads meet behind loops, not in them -------===//
//
// Contract and example: DeferReductionsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/schedule/CarriedSums.h"
#include "passes/schedule/RareRescaling.h"
#include "passes/schedule/ReductionTerms.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_DEFERREDUCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-defer-reductions"
ALWAYS_ENABLED_STATISTIC(reductionsDeferred, "reductions that are finished behind a loop");
ALWAYS_ENABLED_STATISTIC(sumsNarrowed, "blocks of sums that a loop carries reduced by thread");
ALWAYS_ENABLED_STATISTIC(loopsRescaledRarely,
                         "loops that scale their sums only when a maximum grows");

/// What leaves the other operand of `op` as it is; null if that is not known.
static TypedAttr identityOf(Operation *op, Type element) {
  auto real = [&](bool isNegative, bool isInfinite) -> TypedAttr {
    const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
    return FloatAttr::get(element, isInfinite ? APFloat::getInf(semantics, isNegative)
                                              : APFloat::getZero(semantics, isNegative));
  };
  auto integer = [&](APInt value) -> TypedAttr { return IntegerAttr::get(element, value); };
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      .Case<arith::AddFOp>([&](auto) { return real(true, false); })
      .Case<arith::MaxNumFOp, arith::MaximumFOp>([&](auto) { return real(true, true); })
      .Case<arith::MinNumFOp, arith::MinimumFOp>([&](auto) { return real(false, true); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(APInt::getZero(bits)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return integer(APInt::getAllOnes(bits)); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(APInt::getSignedMinValue(bits)); })
      .Case<arith::MinSIOp>([&](auto) { return integer(APInt::getSignedMaxValue(bits)); })
      .Default([](Operation *) { return TypedAttr(); });
}

namespace {

/// A variable of a loop that only takes up the results of reductions.
class RunningResult {
public:
  RunningResult(scf::ForOp loop, unsigned number) : loop(loop), number(number) {}
  bool match();
  void rewrite();

private:
  /// What a turn does with the variable: takes up a reduction's result, or scales a sum.
  struct Step {
    Operation *op = nullptr;
    Value factor;       ///< null: takes up
    ReductionTerm term; ///< what it takes up
  };
  bool findTerm(Step &step, Value value) const;
  /// Whether what the variable starts with is of the type of results of reductions.
  bool startsWithInit() const { return first.term.behind.empty(); }
  Value start(OpBuilder &b);

  scf::ForOp loop;
  unsigned number;
  SmallVector<Step> steps; ///< from the loop's variable to what it is next
  bool isScaled = false;
  Step first; ///< of those that take up
  std::optional<PartialReduction> partial;
};

} // namespace

/// The reduction that `value`, which `step` takes up, comes from.
bool RunningResult::findTerm(Step &step, Value value) const {
  std::optional<ReductionTerm> term = ReductionTerm::of(value, step.op);
  if (!term || !identityOf(step.op, getElementTypeOrSelf(value.getType())))
    return false;
  step.term = std::move(*term);
  return !first.op || (first.op->getName() == step.op->getName() && first.term.isLike(step.term));
}

bool RunningResult::match() {
  Value value = loop.getRegionIterArg(number);
  Operation *yield = loop.getBody()->getTerminator();
  for (;;) {
    if (!value.hasOneUse())
      return false;
    OpOperand &use = *value.use_begin();
    Step step;
    step.op = use.getOwner();
    if (step.op == yield) {
      if (use.getOperandNumber() != number)
        return false;
      break;
    }
    if (step.op->getBlock() != loop.getBody() || step.op->getNumOperands() != 2 ||
        step.op->getNumResults() != 1)
      return false;
    Value other = step.op->getOperand(1 - use.getOperandNumber());
    if (isa<arith::MulFOp>(step.op))
      step.factor = other;
    else if (!findTerm(step, other))
      return false;
    else if (!first.op)
      first = step;
    isScaled |= bool(step.factor);
    steps.push_back(std::move(step));
    value = steps.back().op->getResult(0);
  }
  if (!first.op || (isScaled && (!isa<arith::AddFOp>(first.op) || !startsWithInit())))
    return false;
  // Each thread holds its part of every result: as a rule no more than of the results themselves.
  partial = first.term.parts(loop.getRegionIterArg(number).getType());
  return partial.has_value();
}

/// Truth values of the type of parts: whether a thread is the first of those that share a row.
static Value isFirstOfRow(OpBuilder &b, Location loc, const PartialReduction &partial) {
  auto as = [&](RankedTensorType type, Type element) {
    return RankedTensorType::get(type.getShape(), element, type.getEncoding());
  };
  RankedTensorType mask = as(partial.type(), b.getI1Type());
  unsigned axis = partial.axis(), rank = unsigned(mask.getRank());
  SmallVector<RankedTensorType> types{mask}; // of the row's numbers, with fewer dimensions each
  for (unsigned other = rank; other-- > 0;)
    if (other != axis) {
      SmallVector<int64_t> shape(types.back().getShape());
      shape.erase(shape.begin() + other);
      types.push_back(cta::withLayout(RankedTensorType::get(shape, b.getI1Type()),
                                      layout::sliceAxis(cta::getLayout(types.back()), other)));
    }
  RankedTensorType line = as(types.back(), b.getI32Type());
  Value number = MakeRangeOp::create(b, loc, line, 0, uint32_t(line.getDimSize(0)));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(line));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, zero);
  for (unsigned other = 0; other < rank; ++other)
    if (other != axis) {
      auto here = cast<RankedTensorType>(isFirst.getType());
      SmallVector<int64_t> shape(here.getShape());
      shape.insert(shape.begin() + other, 1);
      auto wider = cta::withLayout(RankedTensorType::get(shape, b.getI1Type()),
                                   layout::expandDims(cta::getLayout(here), other));
      isFirst = ExpandDimsOp::create(b, loc, wider, isFirst, other);
    }
  return isFirst.getType() == mask ? isFirst : BroadcastOp::create(b, loc, mask, isFirst);
}

/// What threads start with. What the variable starts with is among it, if it can be: it need not
/// be kept then, and is scaled with the rest.
Value RunningResult::start(OpBuilder &b) {
  Location loc = first.op->getLoc();
  RankedTensorType type = partial->type();
  Value init = loop.getInitArgs()[number];
  TypedAttr identity = identityOf(first.op, type.getElementType());
  auto none = [&] {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, identity));
  };
  if (!startsWithInit())
    return none();
  if (isa<arith::AddFOp, arith::AddIOp, arith::XOrIOp>(first.op)) {
    if (matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat()))
      return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    return arith::SelectOp::create(b, loc, isFirstOfRow(b, loc, *partial), partial->repeat(b, init),
                                   none());
  }
  return partial->repeat(b, init); // twice the same is the same
}

void RunningResult::rewrite() {
  OpBuilder b(loop);
  Location loc = first.op->getLoc();
  RankedTensorType type = partial->type();
  StringAttr name = first.op->getName().getIdentifier();
  Value init = loop.getInitArgs()[number];
  loop.getInitArgsMutable()[number].assign(start(b));
  loop.getRegionIterArg(number).setType(type);
  Value value = loop.getRegionIterArg(number);
  for (Step &step : steps) {
    b.setInsertionPoint(step.op);
    Value other = step.factor ? partial->repeat(b, step.factor)
                              : partial->begin(b, step.term.reduce.getSrcs().front());
    value = b.create(step.op->getLoc(), step.op->getName().getIdentifier(), {value, other}, {type},
                     step.op->getAttrs())
                ->getResult(0);
  }
  loop.getBody()->getTerminator()->setOperand(number, value);

  Value parts = loop.getResult(number);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : parts.getUses())
    uses.push_back(&use);
  parts.setType(type);
  b.setInsertionPointAfter(loop);
  Value whole = first.term.makeBehind(b, partial->finish(b, parts));
  if (!startsWithInit())
    whole =
        b.create(loc, name, {init, whole}, {init.getType()}, first.op->getAttrs())->getResult(0);
  for (OpOperand *use : uses)
    use->set(whole);
  for (Step &step : llvm::reverse(steps)) {
    step.op->erase();
    if (step.term.reduce)
      step.term.erase();
  }
}

namespace {
struct DeferReductionsPass : tile::impl::DeferReductionsPassBase<DeferReductionsPass> {
  using DeferReductionsPassBase::DeferReductionsPassBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops first: what is left behind them may be the term of an outer one.
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (scf::ForOp rare = maxima ? rescaleRarely(loop) : nullptr) {
        loop = rare;
        LDBG() << "scaled rarely: the loop at " << loop.getLoc();
        ++loopsRescaledRarely;
      }
      if (results)
        deferResults(loop);
    }
  }

private:
  void deferResults(scf::ForOp loop) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      RunningResult result(loop, i);
      if (!result.match()) {
        if (narrowCarriedSum(loop, i)) {
          LDBG() << "narrowed: result " << i << " of the loop at " << loop.getLoc();
          ++sumsNarrowed;
        }
        continue;
      }
      LDBG() << "deferred: result " << i << " of the loop at " << loop.getLoc();
      result.rewrite();
      ++reductionsDeferred;
    }
  }
};
} // namespace
