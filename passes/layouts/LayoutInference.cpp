//===- LayoutInference.cpp - a layout for every block ---------------------===//
#include "passes/layouts/LayoutInference.h"
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Stages.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "target/Tuning.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LayoutInference::LayoutInference(func::FuncOp func, Coalescing &coalescing)
    : coalescing(coalescing), context(func.getContext()) {
  func.walk([&](cta::WarpgroupDotOp dot) {
    ArrayRef<int64_t> shape = dot.getType().getShape();
    products.push_back(
        {shape, get(layout::warpgroupAccumulator(shape[0], shape[1], coalescing.numWarps()))});
  });
  inferAll(func);
  if (findSumsAhead(func))
    inferAll(func);
  if (coalescing.mayPart())
    partAccesses(func);
}

void LayoutInference::inferAll(func::FuncOp func) {
  for (Block &block : func.getBody())
    inferBlock(block);
}

void LayoutInference::inferBlock(Block &block) {
  for (Operation &op : block)
    infer(&op);
}

void LayoutInference::infer(Operation *op) {
  deferred.erase(op); // a loop body may be walked again
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) { inferFor(loop); })
      .Case([&](scf::IfOp branch) { inferIf(branch); })
      .Case([&](scf::WhileOp loop) { inferWhile(loop); })
      .Case<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>([&](auto) { inferMemory(op); })
      .Case([&](ReduceOp reduce) { inferReduce(reduce); })
      .Case([&](ScanOp scan) { inferScan(scan); })
      .Case<MakeRangeOp, SplatOp, cta::ReadOp>([&](auto) { deferred[op] = 1; })
      .Case<BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp>([&](auto) { inferShape(op); })
      .Case([&](JoinOp join) { inferJoin(join); })
      .Case([&](SplitOp split) { inferSplit(split); })
      .Case([&](DotOp dot) { inferDot(dot); })
      .Case([&](cta::WarpgroupDotOp dot) { inferDot(dot); })
      .Case([&](cta::StageOp stage) { inferStage(stage); })
      .Case<InlineAsmOp, MapElementwiseOp, ExternElementwiseOp, HistogramOp>(
          [&](auto) { inferTogether(op); })
      .Case([&](GatherOp gather) { setHome(gather.getResult(), homeOr(gather.getIndex())); })
      .Case([&](arith::ConstantOp) {
        if (blockType(op->getResult(0)))
          deferred[op] = 1;
      })
      .Default([&](Operation *) {
        if (isElementwise(op))
          return inferElementwise(op);
        for (Value result : op->getResults())
          if (RankedTensorType type = blockType(result))
            setHome(result, coalescing.shapeLayout(type.getShape()));
      });
}

std::optional<unsigned> tile::costOfRecomputing(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return 8;
  if (isa<arith::DivFOp, arith::RemFOp>(op))
    return std::nullopt;
  bool isSimple = isa<arith::ArithDialect>(op->getDialect()) ||
                  isa<AddPtrOp, PtrCastOp, PtrToIntOp, IntToPtrOp, UMulHiOp>(op);
  return isSimple ? std::optional<unsigned>(1) : std::nullopt;
}

void LayoutInference::inferElementwise(Operation *op) {
  Value result = op->getResult(0);
  if (cta::LayoutAttr home = firstHome(op->getOperands(), op)) {
    if (cta::LayoutAttr runs = layoutWithReshaped(op, home))
      home = runs;
    if (cta::LayoutAttr once = layoutWithoutCopies(op, home))
      return setHome(result, once);
    cta::LayoutAttr there = layoutOfChanged(op, home);
    if (!there)
      there = layoutOfWidened(op);
    if (!there)
      there = layoutBeforeWidening(op);
    return setHome(result, there ? there : home);
  }
  if (std::optional<unsigned> cost = costOfRecomputing(op)) {
    // What a loop does not change it has once, wherever that is.
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && blockType(operand))
        *cost += loop && loop.isDefinedOutsideOfLoop(operand) ? unsigned(deferred.contains(def))
                                                              : deferred.lookup(def);
    if (*cost <= tuningOf(op).recomputeMostOperations) {
      deferred[op] = *cost;
      return setHome(result, {});
    }
  }
  unsigned budget = reach::kUsersSeen;
  cta::LayoutAttr wanted = homeOfSums(result, reach::kOperands, budget);
  if (!wanted)
    wanted = homeOfUsers(result);
  if (!wanted)
    wanted = layoutOfMultiplied(result);
  if (!wanted)
    wanted = wantedByUsers(result, /*accesses=*/true);
  setHome(result, wanted ? wanted : coalescing.shapeLayout(blockType(result).getShape()));
}

void LayoutInference::inferShape(Operation *op) {
  Value src = op->getOperand(0), result = op->getResult(0);
  cta::LayoutAttr home = natural(src);
  Operation *def = src.getDefiningOp();
  if (isa<BroadcastOp, ExpandDimsOp>(op) || !home) {
    deferred[op] = 1 + (def ? deferred.lookup(def) : 0);
    auto expand = dyn_cast<ExpandDimsOp>(op);
    return setHome(result, home && expand
                               ? get(layout::expandDims(home.getLayout(), expand.getAxis()))
                               : cta::LayoutAttr());
  }
  if (auto trans = dyn_cast<TransOp>(op))
    if (cta::LayoutAttr moved = layoutToTurn(trans, home))
      works[op] = home = moved;
  if (isa<ReshapeOp>(op) && ownLayouts.contains(home))
    if (cta::LayoutAttr runs = coalescing.layoutOfRuns(blockType(src).getShape()))
      works[op] = home = runs;
  LinearLayout l = isa<TransOp>(op)
                       ? layout::transpose(home.getLayout(), cast<TransOp>(op).getOrder())
                       : layout::reshape(home.getLayout(), blockType(result).getShape());
  setHome(result, get(l));
}

/// A block that is combined with sums of products, whose results TMA stores, is loaded where the
/// sums are, if a thread then has whole words of rows: an exchange would take the place of a ring's
/// slots.
cta::LayoutAttr LayoutInference::layoutBesideSums(LoadOp load) const {
  RankedTensorType type = blockType(load.getResult());
  if (accumulators.empty() || getElementBytes(type.getElementType()) < 2 || isAmongProducts(load) ||
      !isStoredByTma(load.getResult()))
    return {};
  unsigned budget = reach::kUsersSeen;
  cta::LayoutAttr sums = homeOfSums(load.getResult(), reach::kJoined, budget);
  // Words that a mask may cut are taken apart, element by element.
  bool areCut = sums && coalescing.maskRunFor(load, coalescing.vectorFor(load, sums.getLayout()));
  return areCut ? cta::LayoutAttr() : sums;
}

/// What is widened among products, changed and then combined with their sums, or what they start
/// from, moves to them while it is narrow: a bias that is scaled. So does what is combined with
/// sums behind a loop, if TMA stores the results: a gate that is put through a function.
cta::LayoutAttr LayoutInference::layoutOfWidened(Operation *widening) const {
  Value value = widening->getResult(0), narrow = widening->getOperand(0);
  if (!accumulators.empty() && isWidened(value) && !isAmongProducts(widening) &&
      isStoredByTma(value)) {
    unsigned budget = reach::kUsersSeen;
    return homeOfSums(value, reach::kJoined, budget);
  }
  if (!isWidened(value) || !isAmongProducts(widening) || !narrow.hasOneUse())
    return {};
  for (unsigned step = 0; step < reach::kChanges && value.hasOneUse(); ++step) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<cta::WarpgroupDotOp>(user); dot && use.getOperandNumber() == kDotAcc)
      return layoutOfProduct(dot.getType().getShape());
    if (auto found = dotsAhead.find(user);
        found != dotsAhead.end() && use.getOperandNumber() == kDotAcc)
      return found->second[kDotAcc];
    if (!isElementwise(user))
      return {};
    for (Value other : user->getOperands()) {
      cta::LayoutAttr home =
          other != value && blockType(other) ? natural(other) : cta::LayoutAttr();
      if (home)
        return accumulators.contains(home) ? home : cta::LayoutAttr();
    }
    value = user->getResult(0);
  }
  return {};
}

/// What changes such a block while it is narrow, a mask that clears a part of a bias say, moves
/// with it: what is loaded is changed where the sums are.
cta::LayoutAttr LayoutInference::layoutBeforeWidening(Operation *op) const {
  Value value = op->getResult(0);
  if (products.empty() || !isAmongProducts(op) || isWidened(value))
    return {};
  unsigned held =
      llvm::count_if(op->getOperands(), [&](Value v) { return blockType(v) && natural(v); });
  bool isOfLoad = llvm::any_of(op->getOperands(), [&](Value v) {
    return v.getDefiningOp<LoadOp>() && v.hasOneUse() && natural(v);
  });
  if (held != 1 || !isOfLoad)
    return {};
  bool hasWidened = false;
  for (unsigned step = 0; step < reach::kChanges && value.hasOneUse(); ++step) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    bool isStart = isa<cta::WarpgroupDotOp>(user) && use.getOperandNumber() == kDotAcc;
    bool meetsSums = llvm::any_of(user->getOperands(), [&](Value other) {
      return other != value && other.getDefiningOp<cta::WarpgroupDotOp>();
    });
    if (hasWidened && (isStart || (isElementwise(user) && meetsSums)))
      return layoutOfProduct(blockType(value).getShape());
    if (!isElementwise(user))
      return {};
    value = user->getResult(0);
    hasWidened |= isWidened(value);
  }
  return {};
}

bool tile::willComeFromRing(LoadOp load, Coalescing &coalescing) {
  constexpr unsigned kLeastCopied = 4;
  RankedTensorType type = blockType(load.getResult());
  bool isRow = llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; }) < 2;
  if (isRow || !isAmongProducts(load) || !isAskedToCopyAhead(load))
    return false;
  unsigned vector = coalescing.vectorFor(load, coalescing.anchor(load).getLayout());
  return vector * getElementBytes(type.getElementType()) >= kLeastCopied;
}

/// What is gathered among products for their sums, or to start them from, such as a bias by
/// distance, is gathered where the sums are, if it takes no more there: the addresses are computed
/// anywhere.
cta::LayoutAttr LayoutInference::layoutOfGathered(LoadOp load) const {
  if (accumulators.empty() && sumsAhead.empty() && dotsAhead.empty())
    return {};
  if (!isAmongProducts(load))
    return {};
  Value result = load.getResult();
  cta::LayoutAttr sums;
  if (result.hasOneUse() && isa<DotOp, cta::WarpgroupDotOp>(*result.user_begin()) &&
      result.use_begin()->getOperandNumber() == kDotAcc)
    sums = layoutOfProduct(blockType(result).getShape());
  unsigned budget = reach::kUsersSeen;
  if (!sums)
    sums = homeOfSums(result, reach::kJoined, budget);
  if (!sums)
    return {};
  double there = costOfAccess(load, sums, sums);
  return there <= costOfAccess(load, coalescing.anchor(load), sums) ? sums : cta::LayoutAttr();
}

void LayoutInference::inferMemory(Operation *op) {
  Value ptr = op->getOperand(0);
  RankedTensorType type = blockType(ptr);
  if (!type)
    return;
  cta::LayoutAttr layout;
  if (isa<LoadOp>(op)) {
    unsigned budget = reach::kUsersSeen;
    layout = layoutWhereRepeated(cast<LoadOp>(op), budget);
    if (!layout && !coalescing.isContiguous(op))
      layout = natural(ptr); // a gather, from wherever the addresses are
    if (!layout && !coalescing.isContiguous(op))
      layout = layoutOfGathered(cast<LoadOp>(op));
    if (!layout)
      layout = layoutBesideSums(cast<LoadOp>(op));
    if (!layout)
      layout = layoutToStage(cast<LoadOp>(op));
    if (!layout)
      layout = layoutToStore(cast<LoadOp>(op));
    if (!layout)
      layout = layoutBesideHalves(cast<LoadOp>(op));
  } else {
    layout = firstHome(op->getOperands().drop_front(), op);
    if (layout && !isa<AtomicCasOp>(op) && !coalescing.isGoodEnough(op, layout))
      layout = {};
  }
  if (!layout)
    layout = coalescing.anchor(op);
  if (cta::LayoutAttr own = layoutOfItsOwn(op, layout); own != layout) {
    ownLayouts.insert(own);
    layout = own;
  }
  works[op] = layout;
  for (Value result : op->getResults())
    setHome(result, layout);
}

/// Operations that take all their blocks in one layout, and give elementwise
/// results there.
void LayoutInference::inferTogether(Operation *op) {
  if (isElementwise(op)) {
    inferElementwise(op);
    works[op] = natural(op->getResult(0));
    return;
  }
  cta::LayoutAttr layout = firstHome(op->getOperands(), op);
  for (Value operand : op->getOperands())
    if (RankedTensorType type = blockType(operand); type && !layout)
      layout = coalescing.shapeLayout(type.getShape());
  works[op] = layout;
  for (Value result : op->getResults())
    if (RankedTensorType type = blockType(result))
      setHome(result, isa<HistogramOp>(op) ? coalescing.shapeLayout(type.getShape()) : layout);
}

void LayoutInference::inferJoin(JoinOp op) {
  cta::LayoutAttr half = firstHome(op->getOperands(), op);
  if (!half)
    half = coalescing.shapeLayout(blockType(op.getLhs()).getShape());
  works[op] = half;
  setHome(op.getResult(), get(layout::join(half.getLayout())));
}

void LayoutInference::inferSplit(SplitOp op) {
  cta::LayoutAttr whole = natural(op.getSrc()), half;
  if (whole)
    if (auto parts = layout::split(whole.getLayout()))
      half = get(parts->half);
  if (!half) {
    half = coalescing.shapeLayout(blockType(op.getLhs()).getShape());
    whole = get(layout::join(half.getLayout()));
  }
  works[op] = whole;
  setHome(op.getLhs(), half);
  setHome(op.getRhs(), half);
}

/// Operations for each element of an operand where a product takes it: 1 to read it, and those
/// that have no home.
unsigned LayoutInference::workOf(Value operand) const {
  unsigned work = 1, budget = reach::kUsersSeen;
  SmallVector<Value> left{operand};
  while (!left.empty() && budget-- > 0) {
    Operation *def = left.pop_back_val().getDefiningOp();
    if (!def || !isDeferred(def) || isa<BroadcastOp>(def)) // of fewer elements
      continue;
    work += isElementwise(def) && def->getNumOperands() > 0;
    llvm::append_range(left, def->getOperands());
  }
  return work;
}

void LayoutInference::inferDot(DotOp op) {
  // An accumulator that suits the instruction stays in place.
  std::optional<DotLayouts> inPlace;
  if (cta::LayoutAttr home = natural(op.getAcc()); home && accumulators.contains(home))
    inPlace = dotLayoutsFor(op, home.getLayout());
  OperandWork work{workOf(op.getA()), workOf(op.getB())};
  DotLayouts layouts = inPlace ? *inPlace : chooseDotLayouts(op, coalescing.numWarps(), work);
  // Another product's result is multiplied in pairs, as it lies, and narrow elements in runs of
  // what is read of them at once, if that moves less, or as little: what is read at once is widened
  // at once.
  cta::LayoutAttr home = natural(op.getA());
  bool isChained = home && accumulators.contains(home);
  unsigned bytes = getElementBytes(op.getA().getType().getElementType());
  unsigned longest = isChained && bytes >= 4 ? 1 : longestRun(op);
  double cost = costOfOperands(op, layouts);
  bool hasRuns = isChained;
  for (unsigned run = 1; run <= longest; ++run)
    if (auto inRuns = dotLayoutsFor(op, layouts.acc, run))
      if (double other = costOfOperands(op, *inRuns); hasRuns ? other < cost : other <= cost) {
        layouts = *inRuns;
        cost = other;
        hasRuns = true;
      }
  cta::LayoutAttr acc = get(layouts.acc), a = get(layouts.a), b = get(layouts.b);
  if (wantsStaging(op, layouts)) { // from wherever they are
    a = homeOr(op.getA());
    b = homeOr(op.getB());
  }
  dots[op] = {a, b, acc};
  accumulators.insert(acc);
  setHome(op.getResult(), acc);
}

void LayoutInference::inferDot(cta::WarpgroupDotOp op) {
  int64_t m = op.getType().getDimSize(0), n = op.getType().getDimSize(1);
  unsigned warps = coalescing.numWarps();
  cta::LayoutAttr acc = get(layout::warpgroupAccumulator(m, n, warps)), a;
  if (auto left = dyn_cast<RankedTensorType>(op.getA().getType()))
    a = get(layout::warpgroupOperandA(m, left.getDimSize(1), n,
                                      getElementBytes(left.getElementType()), warps));
  dots[op] = {a, cta::LayoutAttr(), acc};
  accumulators.insert(acc);
  setHome(op.getResult(), acc);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// A block carried around a loop starts where its initial value lives, or
/// nowhere if that is deferred. What the body passes back decides otherwise
/// once; after that the body converts. Blocks that come out of the body still
/// without a home (pointers that advance, say) go where their users want them.
void LayoutInference::settle(ValueRange args, ValueRange inits,
                             llvm::function_ref<ValueRange()> body) {
  for (auto [arg, init] : llvm::zip_equal(args, inits))
    if (blockType(arg))
      setHome(arg, natural(init));
  for (unsigned round = 0; round < 3; ++round) {
    ValueRange passed = body();
    bool changed = false;
    for (auto [arg, value] : llvm::zip_equal(args, passed)) {
      cta::LayoutAttr home = natural(arg), next = natural(value);
      if (!blockType(arg) || !next || next == home || (home && round > 0))
        continue;
      setHome(arg, next);
      changed = true;
    }
    if (changed)
      continue;
    for (Value arg : args)
      if (RankedTensorType type = blockType(arg); type && !natural(arg)) {
        cta::LayoutAttr wanted = wantedByUsers(arg, /*accesses=*/true);
        setHome(arg, wanted ? wanted : coalescing.shapeLayout(type.getShape()));
        changed = true;
      }
    if (!changed)
      return;
  }
  for (Value arg : args)
    if (blockType(arg))
      setHome(arg, homeOr(arg));
  body();
}

void LayoutInference::inferFor(scf::ForOp op) {
  settle(op.getRegionIterArgs(), op.getInitArgs(), [&]() -> ValueRange {
    inferBlock(*op.getBody());
    return op.getYieldedValues();
  });
  for (auto [result, arg] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs()))
    if (blockType(result))
      setHome(result, natural(arg));
}

void LayoutInference::inferIf(scf::IfOp op) {
  inferBlock(*op.thenBlock());
  if (op.elseBlock())
    inferBlock(*op.elseBlock());
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    RankedTensorType type = blockType(result);
    if (!type)
      continue;
    cta::LayoutAttr home =
        firstHome({op.thenYield().getOperand(i), op.elseYield().getOperand(i)}, op);
    if (!home)
      home = wantedByUsers(result, /*accesses=*/true);
    setHome(result, home ? home : coalescing.shapeLayout(type.getShape()));
  }
}

void LayoutInference::inferWhile(scf::WhileOp op) {
  settle(op.getBeforeArguments(), op.getInits(), [&]() -> ValueRange {
    inferBlock(*op.getBeforeBody());
    for (auto [arg, passed] :
         llvm::zip_equal(op.getAfterArguments(), op.getConditionOp().getArgs()))
      if (blockType(arg)) // what is only handed on may have its home from the body
        setHome(arg, isa<BlockArgument>(passed) ? natural(passed) : homeOr(passed));
    inferBlock(*op.getAfterBody());
    return op.getYieldOp()->getOperands();
  });
  for (auto [result, arg] : llvm::zip_equal(op.getResults(), op.getAfterArguments()))
    if (blockType(result))
      setHome(result, natural(arg));
}
