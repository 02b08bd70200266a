//===- LayoutCosts.cpp - layouts that are chosen by what they cost ---------===//
//
// A part of LayoutInference: scans, results of reductions, and loads of what products read from
// shared memory or of what is joined and stored.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/Combiners.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Stages.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/ScanLayouts.h"
#include "passes/layouts/StagingLayouts.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

static constexpr unsigned kWordBytes = 4;

void LayoutInference::inferScan(ScanOp op) {
  cta::LayoutAttr first = firstHome(op->getOperands(), op);
  if (!first)
    first = coalescing.shapeLayout(op.getInputType().getShape());
  SmallVector<PlacedBlock> operands, results;
  for (Value src : op.getSrcs())
    if (cta::LayoutAttr home = natural(src))
      operands.push_back({home.getLayout(), getElementType(src.getType())});
  for (Value result : op->getResults())
    if (cta::LayoutAttr wanted = wantedByUsers(result, /*accesses=*/true))
      results.push_back({wanted.getLayout(), getElementType(result.getType())});
  cta::LayoutAttr layout =
      get(cheapestForScan(op, first.getLayout(), operands, results, coalescing.numWarps()));
  works[op] = layout;
  for (Value result : op->getResults())
    setHome(result, layout);
}

/// Where the results of a reduction live. If warps share the axis, they come from shared memory,
/// and can come to any thread; then those that are only stored do not come to all threads that
/// had a part of them, each of which would read what every warp left. Nor do sums of products in
/// batches: what they become is given to all, if all need it.
LinearLayout LayoutInference::layoutOfResults(ReduceOp op, const LinearLayout &layout) {
  unsigned axis = op.getAxis();
  LinearLayout slice = layout::sliceAxis(layout, axis);
  if (!lowering::axisBits(layout, Dim::warp(), axis))
    return slice;
  if (axis == 0 && layout.outs().size() == 3 && accumulators.contains(get(layout)))
    slice = layout::withoutCopiesOfWarps(slice);
  if (!llvm::all_of(op->getResults(), [](Value v) { return v.use_empty() || isOnlyStored(v); }))
    return slice;
  for (Value result : op->getResults())
    if (cta::LayoutAttr wanted = wantedByUsers(result, /*accesses=*/true))
      if (wanted.getLayout().inSize(Dim::reg()) < slice.inSize(Dim::reg()))
        return wanted.getLayout();
  return slice;
}

void LayoutInference::inferReduce(ReduceOp op) {
  cta::LayoutAttr layout = firstHome(op->getOperands(), op);
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  unsigned axis = op.getAxis();
  unsigned budget = reach::kUsersSeen;
  if (!layout)
    layout = layoutForResults(op, budget);
  if (!layout)
    layout = coalescing.shapeLayout(shape);
  if (needsOrder(op) && !lowering::isScannable(layout.getLayout(), axis))
    layout = get(layout::defaultLayout(shape, coalescing.numWarps()));
  works[op] = layout;
  if (shape.size() == 1)
    return;
  cta::LayoutAttr home = get(layoutOfResults(op, layout.getLayout()));
  for (Value result : op->getResults())
    setHome(result, home);
}

/// The operand that `v`, perhaps changed element by element, becomes, or one of several that are
/// alike; null if it is needed for anything else.
static cta::StageOp stageOf(Value v, unsigned depth, unsigned &budget) {
  cta::StageOp stage;
  for (Operation *user : v.getUsers()) {
    if (budget == 0 || depth == 0)
      return {};
    --budget;
    auto own = dyn_cast<cta::StageOp>(user);
    if (!own && user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1)
      own = stageOf(user->getResult(0), depth - 1, budget);
    if (!own || (stage && own.getType() != stage.getType()))
      return {};
    stage = own;
  }
  return stage;
}

/// Where what is loaded may live on its way to `stage`: as it is loaded best, in smaller
/// vectors (what is widened takes more than one store of a large one), or, if it has to be
/// turned, in squares in each thread, which are nearly as well loaded, and written by vectors.
static SmallVector<cta::LayoutAttr> candidates(LoadOp load, cta::StageOp stage,
                                               Coalescing &coalescing) {
  unsigned bytes = getElementBytes(stage.getType().getElementType());
  cta::LayoutAttr best = coalescing.anchor(load);
  SmallVector<cta::LayoutAttr> all{best};
  unsigned loaded = getElementBytes(getElementType(load.getType()));
  for (unsigned vector = coalescing.vectorFor(load, best.getLayout()) / 2;
       vector * loaded >= kWordBytes; vector /= 2)
    all.push_back(coalescing.anchorWith(load, vector));
  if (bytes == 2)
    return all;
  unsigned fast = 1 - *layout::minorOfSwizzledTile(stage.getType().getLinearLayout(), bytes);
  for (const LinearLayout &turned :
       turningLayouts(stage.getType().getShape(), fast, bytes, coalescing.numWarps()))
    if (auto attr = cta::LayoutAttr::get(load.getContext(), turned);
        coalescing.isGoodEnough(load, attr))
      all.push_back(attr);
  return all;
}

/// Of writing `stage` from `holders`: as it is, or, if it may lie either way, as is best.
static lowering::Cost costOfStaging(cta::StageOp stage, const LinearLayout &holders) {
  cta::BufferType type = stage.getType();
  const Target &target = targetOf(stage);
  Type element = type.getElementType();
  return lowering::stageCost(holders, cheapestImage(holders, type, target), element, target);
}

lowering::Cost tile::costOfLoading(LoadOp load, cta::LayoutAttr layout, Coalescing &coalescing) {
  double accesses = willComeFromRing(load, coalescing) ? coalescing.numCopies(load, layout)
                                                       : coalescing.numAccesses(load, layout);
  double bytes = kLanes * coalescing.vectorFor(load, layout.getLayout()) *
                 getElementBytes(getElementType(load.getType()));
  return {accesses, accesses * std::max(bytes / kLineBytes, 1.0), 0};
}

/// Whether the block will be copied to shared memory as it lies, and made the operand there
/// (tile-pipeline-loads): then only its copies count.
static bool willBeCopied(LoadOp load, cta::StageOp stage) {
  return stage.getSrc() == load.getResult() && isAskedToCopyAhead(load);
}

cta::LayoutAttr LayoutInference::layoutToStage(LoadOp load) {
  unsigned budget = reach::kUsersSeen;
  cta::StageOp stage = stageOf(load.getResult(), reach::kJoined, budget);
  if (!stage || willBeCopied(load, stage) ||
      getElementBytes(stage.getType().getElementType()) > 4 || !coalescing.isContiguous(load))
    return {};
  cta::LayoutAttr best;
  double least = 0;
  for (cta::LayoutAttr layout : candidates(load, stage, coalescing)) {
    lowering::Cost cost = costOfStaging(stage, layout.getLayout());
    cost += costOfLoading(load, layout, coalescing);
    double total = cost.total(coalescing.numWarps());
    if (best && total >= least)
      continue;
    best = layout;
    least = total;
  }
  return best;
}

/// What moves where `v` is wanted elsewhere: it is widened there.
static Value beforeWidening(Value v) {
  for (Value at = v; Operation *def = at.getDefiningOp(); at = def->getOperand(0)) {
    if (isWidened(at))
      return def->getOperand(0);
    if (!isa<TransOp, ReshapeOp>(def))
      break;
  }
  return v;
}

/// Products take operands of 8 and 32 bits in one direction only. Written from where they lie along
/// the other one, many threads meet in a bank: squares in each thread may be worth an exchange.
/// That takes shared memory and registers, too: it has to save a part of the cycles.
void LayoutInference::inferStage(cta::StageOp op) {
  cta::BufferType type = op.getType();
  unsigned bytes = getElementBytes(type.getElementType());
  cta::LayoutAttr home = natural(op.getSrc());
  auto load = op.getSrc().getDefiningOp<LoadOp>();
  if (Operation *def = op.getSrc().getDefiningOp();
      !home && def && isDeferred(def) && type.getShape().size() == 2)
    works[op] = get(cheapestWriting(type, coalescing.numWarps(), targetOf(op)));
  if (!home || bytes == 2 || bytes > 4 || type.getShape().size() != 2 ||
      (load && willBeCopied(load, op)))
    return;
  const Target &target = targetOf(op);
  unsigned warps = coalescing.numWarps();
  std::optional<unsigned> minor = layout::minorOfSwizzledTile(type.getLinearLayout(), bytes);
  if (!minor)
    return;
  double least = tuningOf(op).worthExchange * costOfStaging(op, home.getLayout()).total(warps);
  Type moved = getElementType(beforeWidening(op.getSrc()).getType());
  for (const LinearLayout &turned : turningLayouts(type.getShape(), 1 - *minor, bytes, warps)) {
    lowering::Cost cost = lowering::convertCost(home.getLayout(), turned, moved, target);
    cost += costOfStaging(op, turned);
    if (double total = cost.total(warps); total < least) {
      least = total;
      works[op] = get(turned);
    }
  }
}

/// What is moved to where a product takes it: what `operand` is widened from.
static Value narrowOf(Value operand) {
  for (unsigned step = 0; step < reach::kChanges; ++step) {
    Operation *def = operand.getDefiningOp();
    if (!def || !isElementwise(def) || def->getNumOperands() != 1 || !blockType(def->getOperand(0)))
      break;
    operand = def->getOperand(0);
  }
  return operand;
}

unsigned LayoutInference::longestRun(DotOp op) const {
  unsigned longest = 0;
  for (Value operand : {op.getA(), op.getB()}) {
    unsigned wide = getElementBytes(getElementType(operand.getType()));
    unsigned narrow = getElementBytes(getElementType(narrowOf(operand).getType()));
    if (wide == 2 && narrow < wide)
      longest = llvm::Log2_32(kVectorBytes / narrow);
  }
  return longest;
}

double LayoutInference::costOfOperands(DotOp op, const DotLayouts &layouts) const {
  lowering::Cost cost;
  auto add = [&](Value operand, const LinearLayout &to) {
    Value moved = narrowOf(operand);
    if (getElementBytes(getElementType(moved.getType())) >=
        getElementBytes(getElementType(operand.getType())))
      moved = operand;
    if (cta::LayoutAttr home = natural(moved); home && home.getLayout() != to)
      cost += lowering::convertCost(home.getLayout(), to, getElementType(moved.getType()),
                                    targetOf(op));
  };
  add(op.getA(), layouts.a);
  add(op.getB(), layouts.b);
  return cost.total(coalescing.numWarps());
}

/// Whether blocks are made of `v`, perhaps changed element by element, in which its elements
/// lie further apart.
static bool isJoined(Value v, unsigned depth = 0) {
  return depth < reach::kChanges &&
         llvm::any_of(
             v.getUsers(),
             [&](Operation *user) {
               bool isElementwise =
                   user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1;
               return isa<JoinOp>(user) ||
                      (isElementwise && isJoined(user->getResult(0), depth + 1));
             });
}

/// Where each half of what is split lives, if what it is made of has a home.
cta::LayoutAttr LayoutInference::homeOfHalves(SplitOp split) const {
  auto between = split.getSrc().getDefiningOp<ReshapeOp>();
  cta::LayoutAttr home = natural(between ? between.getSrc() : split.getSrc());
  if (!home)
    return {};
  LinearLayout whole = layout::reshape(home.getLayout(),
                                       cast<RankedTensorType>(split.getSrc().getType()).getShape());
  std::optional<layout::SplitLayout> parts = layout::split(whole);
  return parts ? cta::LayoutAttr::get(context, parts->half) : cta::LayoutAttr();
}

/// Where halves of split blocks live that `v`, perhaps changed element by element, is worked with,
/// such as the pairs that are turned by angles.
cta::LayoutAttr LayoutInference::homeBesideHalves(Value v, unsigned depth, unsigned &budget) const {
  for (Operation *user : v.getUsers()) {
    if (budget == 0)
      return {};
    --budget;
    if (!user->hasTrait<OpTrait::Elementwise>() && !isa<InlineAsmOp, ExternElementwiseOp>(user))
      continue;
    for (Value operand : user->getOperands())
      if (auto split = operand.getDefiningOp<SplitOp>())
        if (cta::LayoutAttr home = homeOfHalves(split))
          return home;
    for (Value result : user->getResults())
      if (depth > 0)
        if (cta::LayoutAttr home = homeBesideHalves(result, depth - 1, budget))
          return home;
  }
  return {};
}

cta::LayoutAttr LayoutInference::layoutBesideHalves(LoadOp load) const {
  if (!coalescing.isContiguous(load))
    return {};
  unsigned budget = reach::kUsersSeen;
  cta::LayoutAttr best = coalescing.anchor(load);
  cta::LayoutAttr wanted = homeBesideHalves(load.getResult(), reach::kChanges, budget);
  return wanted && isBetterThere(load, best, wanted) ? wanted : cta::LayoutAttr();
}

/// Whether to load in `wanted` costs less than to load as is best, and to move what was loaded.
bool LayoutInference::isBetterThere(LoadOp load, cta::LayoutAttr best,
                                    cta::LayoutAttr wanted) const {
  if (wanted == best || !coalescing.isGoodEnough(load, wanted))
    return false;
  lowering::Cost moved = costOfLoading(load, best, coalescing);
  moved += lowering::convertCost(best.getLayout(), wanted.getLayout(),
                                 getElementType(load.getType()), targetOf(load));
  unsigned warps = coalescing.numWarps();
  return costOfLoading(load, wanted, coalescing).total(warps) < moved.total(warps);
}

cta::LayoutAttr LayoutInference::layoutToStore(LoadOp load) {
  if (!coalescing.isContiguous(load) || !isJoined(load.getResult()))
    return {};
  cta::LayoutAttr best = coalescing.anchor(load);
  cta::LayoutAttr wanted = wantedByUsers(load.getResult(), /*accesses=*/true, reach::kJoined);
  // What is joined is more than what is loaded: moving it costs no less than that.
  return wanted && isBetterThere(load, best, wanted) ? wanted : cta::LayoutAttr();
}

/// Cycles of an access that works in one layout, and of moving what it takes there; what it gives
/// is needed in `result`.
double LayoutInference::costOfAccess(Operation *op, cta::LayoutAttr works,
                                     cta::LayoutAttr result) const {
  const Target &target = targetOf(op);
  lowering::Cost cost = coalescing.cost(op, works.getLayout());
  auto move = [&](Value v, cta::LayoutAttr from, cta::LayoutAttr to) {
    Type moved = getElementType(beforeWidening(v).getType());
    if (from && from != to)
      cost += lowering::convertCost(from.getLayout(), to.getLayout(), moved, target);
  };
  for (Value operand : op->getOperands())
    if (blockType(operand))
      move(operand, natural(operand), works);
  for (Value value : op->getResults())
    if (!value.use_empty())
      move(value, works, result);
  return cost.total(coalescing.numWarps());
}

/// Of elements that lie a few bytes apart, a thread that has some side by side accesses each by
/// itself, lanes far from each other. They are worth an exchange with others that have them
/// side by side if that saves a part of the cycles, and more than it takes until it is done.
cta::LayoutAttr LayoutInference::layoutOfItsOwn(Operation *op, cta::LayoutAttr given) {
  cta::LayoutAttr own = coalescing.ownLayout(op);
  if (!own || own == given || isa<AtomicCasOp>(op))
    return given;
  const Tuning &tuning = tuningOf(op);
  double there = costOfAccess(op, own, given), here = costOfAccess(op, given, given);
  return std::max(there / tuning.worthExchange, there + tuning.exchangeCycles) < here ? own : given;
}

/// Whether a loop does nothing with the result but take it up in what it carries: threads then meet
/// behind the loop (tile-defer-reductions).
static bool isOnlyTakenUp(ReduceOp op) {
  Operation *combiner = soleCombiner(op.getCombineBlock());
  if (!combiner || op->getNumResults() != 1 || !op->hasOneUse())
    return false;
  Operation *taker = *op->user_begin();
  auto loop = dyn_cast<scf::ForOp>(taker->getParentOp());
  if (!loop || taker->getName() != combiner->getName() || !taker->hasOneUse())
    return false;
  OpOperand &use = *taker->use_begin();
  return use.getOwner() == loop.getBody()->getTerminator() &&
         llvm::is_contained(taker->getOperands(),
                            Value(loop.getRegionIterArg(use.getOperandNumber())));
}

/// Cycles of reducing and storing what becomes of `v`, element by element, in layout `l`.
double LayoutInference::costOfUses(Value v, const LinearLayout &l, unsigned depth, unsigned &budget,
                                   bool &isReduced) const {
  double cycles = 0;
  unsigned warps = coalescing.numWarps();
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (budget == 0)
      break;
    --budget;
    if (auto reduce = dyn_cast<ReduceOp>(user)) {
      isReduced = true;
      double own = double(l.inSize(Dim::reg()));
      lowering::Cost cost =
          isOnlyTakenUp(reduce) ? lowering::Cost{own, 0, 0} : costOfReducing(reduce, l);
      cycles += cost.total(warps);
    } else if (isa<StoreOp>(user) && use.getOperandNumber() > 0) {
      cta::LayoutAttr best = coalescing.anchor(user);
      if (!coalescing.isGoodEnough(user, cta::LayoutAttr::get(context, l)))
        cycles +=
            lowering::convertCost(l, best.getLayout(), getElementType(v.getType()), targetOf(user))
                .total(warps);
    } else if (depth > 0 && isElementwise(user)) {
      cycles += costOfUses(user->getResult(0), l, depth - 1, budget, isReduced);
    } else if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && depth > 0) {
      LinearLayout shaped = layout::reshape(l, blockType(reshape.getResult()).getShape());
      cycles += costOfUses(reshape.getResult(), shaped, depth - 1, budget, isReduced);
    }
  }
  return cycles;
}

/// Rows that were columns lie across warps: what is turned, reduced along them and stored is moved
/// before, if that costs less than to reduce it where it is, and to move what is stored.
cta::LayoutAttr LayoutInference::layoutToTurn(TransOp op, cta::LayoutAttr home) const {
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (!coalescing.isAccessed(shape))
    return {};
  bool isReduced = false;
  unsigned budget = reach::kUsersSeen, left = budget;
  LinearLayout turned = layout::transpose(home.getLayout(), op.getOrder());
  double here = costOfUses(op.getResult(), turned, reach::kUsers, budget, isReduced);
  if (!isReduced)
    return {};
  LinearLayout wanted = coalescing.shapeLayout(shape).getLayout();
  LinearLayout from = operandLayoutFor(op, wanted);
  Type moved = getElementType(beforeWidening(op.getSrc()).getType());
  double there = costOfUses(op.getResult(), wanted, reach::kUsers, left, isReduced);
  there += lowering::convertCost(home.getLayout(), from, moved, targetOf(op))
               .total(coalescing.numWarps());
  return there < tuningOf(op).worthExchange * here ? cta::LayoutAttr::get(context, from)
                                                   : cta::LayoutAttr();
}
