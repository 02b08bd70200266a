//===- KnownComparisons.cpp - comparisons that loops decide ---------------===//
//
// Loops whose bounds are constants, as generators of kernels write them for each size anew: the
// masks of their blocks are true in each turn, and costly all the same, since what a turn carries
// to the next is selected by them. A first turn that begins what others go on with is taken before
// the loop, which then has one way through it.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/KnownComparisons.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/Reach.h"

using namespace mlir;
using namespace tile;

static std::optional<int64_t> constantOf(Value v) {
  constexpr int64_t kFar = int64_t(1) << 60; // differences of numbers below are none that wrap
  APInt n;
  if (!matchPattern(v, m_ConstantInt(&n)) || n.getSignificantBits() > 64)
    return std::nullopt;
  int64_t number = n.getSExtValue();
  return -kFar < number && number < kFar ? std::optional(number) : std::nullopt;
}

/// Of a loop that turns at least once: its counter's first and last value.
static std::optional<Interval> counterOf(scf::ForOp loop) {
  std::optional<int64_t> from = constantOf(loop.getLowerBound()),
                         to = constantOf(loop.getUpperBound()), step = constantOf(loop.getStep());
  if (loop.getUnsignedCmp() || !from || !to || !step || *step <= 0 || *from >= *to)
    return std::nullopt;
  return Interval{*from, *from + (*to - *from - 1) / *step * *step};
}

/// Whether the loop does something in its first turn only.
static bool asksForFirstTurn(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<scf::IfOp>(), [&](scf::IfOp branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
           compare.getLhs() == loop.getInductionVar() &&
           constantOf(compare.getRhs()) == constantOf(loop.getLowerBound());
  });
}

/// Takes the first turn before the loop; true if that was done.
static bool takeFirstTurn(scf::ForOp loop) {
  std::optional<Interval> counter = counterOf(loop);
  if (!counter || counter->low == counter->high || !loop->getDiscardableAttrs().empty() ||
      !asksForFirstTurn(loop))
    return false;
  unsigned count = 0;
  loop.getBody()->walk([&](Operation *) { ++count; });
  if (count > reach::kRepeated)
    return false;
  OpBuilder b(loop);
  IRMapping values;
  values.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [arg, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    values.map(arg, init);
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, values);
  Value second = arith::AddIOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getStep());
  loop.setLowerBound(second);
  for (auto [init, yielded] : llvm::zip_equal(loop.getInitArgsMutable(), loop.getYieldedValues()))
    init.assign(values.lookupOrDefault(yielded));
  return true;
}

/// Folds what became constant, and nothing else than the canonicaliser would.
static void fold(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(kernel, std::move(patterns), config);
}

static Intervals countersOf(func::FuncOp kernel) {
  Intervals intervals;
  kernel.walk([&](scf::ForOp loop) {
    if (std::optional<Interval> counter = counterOf(loop))
      intervals.assume(loop.getInductionVar(), *counter);
  });
  return intervals;
}

static bool isTrue(Value mask) { return mask && matchPattern(mask, m_One()); }

void tile::settleComparisons(func::FuncOp kernel) {
  bool changed = false;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    changed |= takeFirstTurn(loop);
  if (changed)
    fold(kernel);

  Intervals intervals = countersOf(kernel);
  bool settled = false;
  kernel.walk([&](arith::CmpIOp compare) {
    Truth truth = intervals.comparison(compare);
    if (!truth)
      return;
    OpBuilder b(compare);
    TypedAttr value = b.getBoolAttr(*truth);
    if (auto block = dyn_cast<RankedTensorType>(compare.getType()))
      value = DenseElementsAttr::get(block, *truth);
    compare.getResult().replaceAllUsesWith(arith::ConstantOp::create(b, compare.getLoc(), value));
    settled = true;
  });
  if (!settled)
    return;
  fold(kernel);
  kernel.walk([](LoadOp load) {
    if (isTrue(load.getMask())) {
      load.getMaskMutable().clear();
      load.getOtherMutable().clear();
    }
  });
  kernel.walk([](StoreOp store) {
    if (isTrue(store.getMask()))
      store.getMaskMutable().clear();
  });
}

void tile::settleBranches(func::FuncOp kernel) {
  Intervals intervals = countersOf(kernel);
  bool settled = false;
  kernel.walk([&](scf::IfOp branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    Truth truth = compare ? intervals.comparison(compare) : std::nullopt;
    if (!truth)
      return;
    OpBuilder b(branch);
    branch.getConditionMutable().assign(
        arith::ConstantOp::create(b, branch.getLoc(), b.getBoolAttr(*truth)));
    settled = true;
  });
  if (settled)
    fold(kernel);
}
