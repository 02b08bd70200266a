//===- LayoutInference.cpp - a layout for every block ---------------------===//
#include "passes/layouts/LayoutInference.h"
#include "ir/layout/Hopper.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

static RankedTensorType blockType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         blockType(op->getResult(0));
}

LinearLayout tile::operandLayoutFor(Operation *op, const LinearLayout &result) {
  RankedTensorType src = blockType(op->getOperand(0)); // null: a scalar condition
  ArrayRef<int64_t> shape = src ? src.getShape() : ArrayRef<int64_t>();
  return llvm::TypeSwitch<Operation *, LinearLayout>(op)
      .Case([&](BroadcastOp) { return layout::broadcastOperand(result, shape); })
      .Case([&](ExpandDimsOp e) { return layout::sliceAxis(result, e.getAxis()); })
      .Case([&](ReshapeOp) { return layout::reshape(result, shape); })
      .Case([&](TransOp trans) {
        SmallVector<int32_t> inverse(trans.getOrder().size());
        for (auto [i, from] : llvm::enumerate(trans.getOrder()))
          inverse[from] = int32_t(i);
        return layout::transpose(result, inverse);
      })
      .Default([&](Operation *) { return result; });
}

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

cta::LayoutAttr LayoutInference::get(const LinearLayout &l) {
  return cta::LayoutAttr::get(context, l);
}

void LayoutInference::setHome(Value value, cta::LayoutAttr layout) {
  if (layout)
    homes[value] = layout;
  else
    homes.erase(value);
}

/// True if matrix products are computed in the loop that `op` stands in.
static bool isAmongProducts(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && llvm::any_of(loop.getLoopRegions(), [](Region *region) {
           return llvm::any_of(region->getOps(),
                               [](Operation &o) { return isa<DotOp, cta::WarpgroupDotOp>(o); });
         });
}

/// Whether all that becomes of `value`, element by element, is stored by TMA, which takes it from
/// any layout.
static bool isStoredByTma(Value value, unsigned depth, unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0)
      return false;
    --budget;
    if (isa<cta::TmaStoreOp>(user))
      continue;
    if (depth == 0 || !isElementwise(user) || !isStoredByTma(user->getResult(0), depth - 1, budget))
      return false;
  }
  return !value.use_empty();
}

static bool isStoredByTma(Value value) {
  unsigned budget = reach::kUsersSeen;
  return isStoredByTma(value, reach::kUsers, budget);
}

/// The first operand's home; but one that is the home of the shape's accesses
/// comes before others, since results tend to be stored. In a loop over
/// products an accumulator stays where it is, and the other operand moves; so it
/// does where the result is stored by TMA.
cta::LayoutAttr LayoutInference::firstHome(ValueRange values, Operation *user) const {
  auto staysInPlace = [&] {
    return isAmongProducts(user) || (isElementwise(user) && isStoredByTma(user->getResult(0)));
  };
  if (!accumulators.empty() && staysInPlace())
    for (Value value : values)
      if (cta::LayoutAttr home = natural(value); home && accumulators.contains(home))
        return home;
  cta::LayoutAttr first;
  for (Value value : values) {
    RankedTensorType type = blockType(value);
    cta::LayoutAttr home = type ? natural(value) : cta::LayoutAttr();
    if (!home)
      continue;
    if (home == coalescing.shapeLayout(type.getShape()))
      return home;
    if (!first)
      first = home;
  }
  return first;
}

cta::LayoutAttr LayoutInference::homeOr(Value value) {
  cta::LayoutAttr home = natural(value);
  return home ? home : coalescing.shapeLayout(blockType(value).getShape());
}

/// What is repeated to the shape of a product most often scales it or is added to
/// it. A conversion would cost two barriers of all warps, also behind the loop: they
/// keep one warpgroup from going on to its next products while another stores.
cta::LayoutAttr LayoutInference::layoutOfProduct(ArrayRef<int64_t> shape) const {
  for (auto &[known, acc] : products)
    if (known == shape)
      return acc;
  return {};
}

/// Where an elementwise operation will be computed, as far as what goes into it has a home
/// already; `depth` more of the operations before it are looked through.
cta::LayoutAttr LayoutInference::expectedHome(Operation *op, unsigned depth) const {
  if (cta::LayoutAttr home = firstHome(op->getOperands(), op))
    return home;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); depth > 0 && def && isElementwise(def))
      if (cta::LayoutAttr home = expectedHome(def, depth - 1))
        return home;
  return {};
}

/// Where sums of products live that `value` is combined with, element by element, `depth`
/// operations from here at most: what has no home yet comes to them. Elsewhere they would be
/// moved before they are rounded, and back for the next product.
cta::LayoutAttr LayoutInference::homeOfSums(Value value, unsigned depth, unsigned &budget) const {
  for (Operation *user : value.getUsers()) {
    if (budget == 0)
      return {};
    --budget;
    if (!isElementwise(user))
      continue;
    for (Value operand : user->getOperands())
      if (cta::LayoutAttr home = natural(operand); home && accumulators.contains(home))
        return home;
    if (depth > 0)
      if (cta::LayoutAttr home = homeOfSums(user->getResult(0), depth - 1, budget))
        return home;
  }
  return {};
}

/// Where what it is worked with lives.
cta::LayoutAttr LayoutInference::layoutOfRepeated(BroadcastOp op) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (cta::LayoutAttr acc = layoutOfProduct(shape))
    return acc;
  cta::LayoutAttr home = homeOfUsers(op.getResult());
  return home ? home : coalescing.shapeLayout(shape);
}

/// Where what an elementwise operation takes beside `value` lives; null if that is not known yet.
cta::LayoutAttr LayoutInference::homeOfUsers(Value value) const {
  for (Operation *user : value.getUsers())
    if (isElementwise(user))
      if (cta::LayoutAttr home = expectedHome(user, reach::kOperands))
        return home;
  return {};
}

/// Looks through elementwise operations and repetitions. `accesses`: memory
/// accesses count too, not only repetitions to a larger block.
cta::LayoutAttr LayoutInference::wantedByUsers(Value value, bool accesses) {
  return wantedByUsers(value, accesses, reach::kUsers);
}

cta::LayoutAttr LayoutInference::wantedByUsers(Value value, bool accesses, unsigned depth) {
  unsigned budget = reach::kUsersSeen;
  return wantedByUsers(value, accesses, depth, budget);
}

cta::LayoutAttr LayoutInference::wantedByUsers(Value value, bool accesses, unsigned depth,
                                               unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0 || depth == 0)
      return {};
    --budget;
    cta::LayoutAttr wanted;
    if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
      cta::LayoutAttr large = layoutOfRepeated(broadcast);
      wanted = get(operandLayoutFor(user, large.getLayout()));
    } else if (isa<ExpandDimsOp, TransOp>(user) || (accesses && isa<ReshapeOp>(user))) {
      if (auto result = wantedByUsers(user->getResult(0), accesses, depth - 1, budget))
        wanted = get(operandLayoutFor(user, result.getLayout()));
    } else if (isa<JoinOp>(user) && accesses) {
      if (auto result = wantedByUsers(user->getResult(0), accesses, depth - 1, budget))
        if (auto parts = layout::split(result.getLayout()))
          wanted = get(parts->half);
    } else if (isElementwise(user)) {
      wanted = wantedByUsers(user->getResult(0), accesses, depth - 1, budget);
    } else if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
               loop && isa<scf::YieldOp>(user)) { // loaded for the next iteration
      unsigned index = llvm::find(user->getOperands(), value) - user->operand_begin();
      wanted = wantedByUsers(loop.getRegionIterArg(index), accesses, depth - 1, budget);
    } else if (auto loop = dyn_cast<scf::ForOp>(user); loop && blockType(value)) { // for the first
      unsigned index = llvm::find(loop.getInitArgs(), value) - loop.getInitArgs().begin();
      wanted = wantedByUsers(loop.getRegionIterArg(index), accesses, depth - 1, budget);
    } else if (accesses && isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(user)) {
      if (auto load = dyn_cast<LoadOp>(user); load && load.getPtr() == value)
        wanted = layoutWhereRepeated(load, budget);
      if (!wanted)
        wanted = coalescing.anchor(user);
    }
    if (wanted)
      return wanted;
  }
  return {};
}

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

/// What computing `op` again costs, in simple instructions; nothing for what
/// should never be computed twice.
static std::optional<unsigned> costOf(Operation *op) {
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
  if (cta::LayoutAttr home = firstHome(op->getOperands(), op))
    return setHome(result, home);
  if (std::optional<unsigned> cost = costOf(op)) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && blockType(operand))
        *cost += deferred.lookup(def);
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
  LinearLayout l = isa<TransOp>(op)
                       ? layout::transpose(home.getLayout(), cast<TransOp>(op).getOrder())
                       : layout::reshape(home.getLayout(), blockType(result).getShape());
  setHome(result, get(l));
}

/// Loads of a thread, beyond which a row that is repeated over a larger block is exchanged.
/// In a loop each address of a gather takes two registers from turn to turn, and two additions.
unsigned LayoutInference::mostRepeatedLoads(Operation *load) const {
  const Tuning &tuning = tuningOf(load);
  if (coalescing.isContiguous(load) || !load->getParentOfType<LoopLikeOpInterface>())
    return tuning.repeatMostLoads;
  constexpr double kAdditions = 2;
  double cheap = tuning.exchangeCycles / (kAdditions * coalescing.numWarps());
  return std::min(tuning.repeatMostLoads, unsigned(cheap));
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
  return homeOfSums(load.getResult(), reach::kOperands, budget);
}

/// A row that is repeated over a larger block is loaded where it is needed.
cta::LayoutAttr LayoutInference::layoutWhereRepeated(LoadOp load, unsigned &budget) {
  RankedTensorType type = blockType(load.getPtr());
  if (!type)
    return {};
  cta::LayoutAttr layout =
      wantedByUsers(load.getResult(), /*accesses=*/false, reach::kUsers, budget);
  if (!layout && coalescing.isRepeated(load))
    layout = layoutOfProduct(type.getShape());
  unsigned most =
      std::max(mostRepeatedLoads(load), coalescing.numAccesses(load, coalescing.anchor(load)));
  return layout && coalescing.numAccesses(load, layout) <= most ? layout : cta::LayoutAttr();
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
    if (layout && isa<StoreOp>(op) && !coalescing.isGoodEnough(op, layout))
      layout = {};
  }
  if (!layout)
    layout = coalescing.anchor(op);
  works[op] = layout;
  for (Value result : op->getResults())
    setHome(result, layout);
}

/// Operations that take all their blocks in one layout, and give elementwise
/// results there.
void LayoutInference::inferTogether(Operation *op) {
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

void LayoutInference::inferDot(DotOp op) {
  // An accumulator that suits the instruction stays in place.
  std::optional<DotLayouts> inPlace;
  if (cta::LayoutAttr home = natural(op.getAcc()); home && accumulators.contains(home))
    inPlace = dotLayoutsFor(op, home.getLayout());
  DotLayouts layouts = inPlace ? *inPlace : chooseDotLayouts(op, coalescing.numWarps());
  // Another product's result is multiplied in pairs, as it lies, if that moves less.
  if (cta::LayoutAttr home = natural(op.getA()); home && accumulators.contains(home))
    if (auto paired = dotLayoutsFor(op, layouts.acc, /*inPairs=*/true);
        paired && costOfOperands(op, *paired) < costOfOperands(op, layouts))
      layouts = *paired;
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
      if (blockType(arg))
        setHome(arg, homeOr(passed));
    inferBlock(*op.getAfterBody());
    return op.getYieldOp()->getOperands();
  });
  for (auto [result, arg] : llvm::zip_equal(op.getResults(), op.getAfterArguments()))
    if (blockType(result))
      setHome(result, natural(arg));
}
