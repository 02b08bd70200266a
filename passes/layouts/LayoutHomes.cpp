//===- LayoutHomes.cpp - where blocks live, and where they are wanted -----===//
//
// A value's home is the layout in which it is computed. What has none yet is given the one that is
// nearest: of what goes into it, of the sums of products beside it, or of those who use it.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

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

cta::LayoutAttr LayoutInference::get(const LinearLayout &l) {
  return cta::LayoutAttr::get(context, l);
}

void LayoutInference::setHome(Value value, cta::LayoutAttr layout) {
  if (layout)
    homes[value] = layout;
  else
    homes.erase(value);
}

/// Whether all that is combined with sums of products has fewer bytes to move than they have.
bool LayoutInference::isBesideWidened(ValueRange values) const {
  return llvm::all_of(values, [&](Value value) {
    cta::LayoutAttr home = blockType(value) ? natural(value) : cta::LayoutAttr();
    return !home || accumulators.contains(home) || isWidened(value);
  });
}

/// Whether `user` changes a block in memory by sums of products: what it takes from there and what
/// it gives back would both move, in place of the sums.
bool LayoutInference::isUpdate(ValueRange values, Operation *user) const {
  return isElementwise(user) && isOnlyStored(user->getResult(0)) &&
         llvm::any_of(values, [&](Value value) {
           return value.getDefiningOp<LoadOp>() && blockType(value) &&
                  natural(value) == coalescing.shapeLayout(blockType(value).getShape());
         });
}

/// The first operand's home; but one that is the home of the shape's accesses
/// comes before others, since results tend to be stored. In a loop over
/// products an accumulator stays where it is, and the other operand moves, unless a block in memory
/// is changed; so it does where the result is stored by TMA, or where the other operand was
/// narrower, unless the result moves as well. What a later product multiplies stays, too, outside
/// of loops: it would move twice.
cta::LayoutAttr LayoutInference::firstHome(ValueRange values, Operation *user) const {
  auto staysInPlace = [&] {
    return ((isAmongProducts(user) || isBeforeProduct(user)) && !isUpdate(values, user)) ||
           (isElementwise(user) &&
            (isStoredByTma(user->getResult(0)) ||
             (isBesideWidened(values) && !isOnlyStored(user->getResult(0)))));
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

cta::LayoutAttr LayoutInference::layoutWithReshaped(Operation *op, cta::LayoutAttr home) {
  bool isReshaped =
      ownLayouts.contains(home) && llvm::any_of(op->getOperands(), [&](Value v) {
        return natural(v) == home && llvm::any_of(v.getUsers(), llvm::IsaPred<ReshapeOp>);
      });
  return isReshaped ? coalescing.layoutOfRuns(blockType(op->getResult(0)).getShape())
                    : cta::LayoutAttr();
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
  if (cta::LayoutAttr home = firstHome(op->getOperands(), op)) {
    cta::LayoutAttr there = layoutOfChanged(op, home);
    return there ? there : home;
  }
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); depth > 0 && def && isElementwise(def))
      if (cta::LayoutAttr home = expectedHome(def, depth - 1))
        return home;
  return {};
}

bool LayoutInference::findSumsAhead(func::FuncOp func) {
  llvm::SmallPtrSet<Attribute, 4> ofWarps;
  func.walk([&](DotOp dot) { ofWarps.insert(dotLayout(dot, kDotAcc)); });
  if (ofWarps.empty())
    return false;
  for (auto [value, home] : homes)
    if (home && ofWarps.contains(home))
      sumsAhead[value] = home;
  dotsAhead = std::move(dots);
  forget();
  return true;
}

void LayoutInference::forget() {
  homes.clear();
  works.clear();
  dots.clear();
  accumulators.clear();
  ownLayouts.clear();
  deferred.clear();
}

/// Null: none, or not known where.
cta::LayoutAttr LayoutInference::homeOfSum(Value value) const {
  cta::LayoutAttr home = natural(value);
  if (!home)
    return sumsAhead.lookup(value);
  return accumulators.contains(home) ? home : cta::LayoutAttr();
}

/// Where sums will live that are scaled further on, and have no home yet.
cta::LayoutAttr LayoutInference::homeOfScaledSum(Value operand) const {
  Operation *def = operand.getDefiningOp();
  if (!def || !isElementwise(def) || natural(operand))
    return {};
  for (Value own : def->getOperands())
    if (cta::LayoutAttr home = homeOfSum(own))
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
    for (Value operand : user->getOperands()) {
      if (cta::LayoutAttr home = homeOfSum(operand))
        return home;
      if (cta::LayoutAttr home = operand == value ? cta::LayoutAttr() : homeOfScaledSum(operand))
        return home;
    }
    if (depth > 0)
      if (cta::LayoutAttr home = homeOfSums(user->getResult(0), depth - 1, budget))
        return home;
  }
  return {};
}

/// Where what it is worked with lives.
cta::LayoutAttr LayoutInference::layoutOfRepeated(BroadcastOp op, unsigned &budget) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  unsigned seen = reach::kUsersSeen;
  cta::LayoutAttr acc = layoutOfProduct(shape);
  if (acc && !becomesOperands(op.getResult(), reach::kUsers, seen))
    return acc;
  if (cta::LayoutAttr home = homeOfUsers(op.getResult()))
    return home;
  if (cta::LayoutAttr home = homeOfSums(op.getResult(), reach::kOperands, seen))
    return home;
  if (cta::LayoutAttr home = layoutBesideMade(op))
    return home;
  cta::LayoutAttr wanted = layoutForReduced(op.getResult(), reach::kOperands, budget);
  return wanted ? wanted : coalescing.shapeLayout(shape);
}

/// What becomes of a result that loops add up: behind all of those that it is carried out of. The
/// value itself if it is not added up.
static Value behindLoops(Value value) {
  Value behind = value;
  for (unsigned depth = 0; value.hasOneUse() && depth < reach::kChanges; ++depth) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()); loop && isa<scf::YieldOp>(user)) {
      behind = value = loop.getResult(use.getOperandNumber());
      depth = 0;
    } else if (isElementwise(user)) {
      value = user->getResult(0);
    } else {
      break;
    }
  }
  return behind;
}

cta::LayoutAttr LayoutInference::layoutForResults(ReduceOp op, unsigned &budget) {
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  if (shape.size() == 1 || coalescing.isAccessed(shape))
    return {};
  cta::LayoutAttr result =
      wantedByUsers(behindLoops(op->getResult(0)), /*accesses=*/true, reach::kUsers, budget);
  if (!result)
    return {};
  LinearLayout flat = layout::expandDims(result.getLayout(), op.getAxis());
  cta::LayoutAttr wanted = get(layout::broadcastResult(flat, shape));
  return registersOf(wanted) <= registersOf(coalescing.shapeLayout(shape)) ? wanted
                                                                           : cta::LayoutAttr();
}

/// Whether `op` of elements, or what it takes beside `value`, is never computed twice, `depth`
/// operations from here at most: it has a home of its own, wherever its results are wanted.
static bool hasOwnHome(Operation *op, Value value, unsigned depth) {
  if (!costOfRecomputing(op))
    return true;
  return depth > 0 && llvm::any_of(op->getOperands(), [&](Value other) {
           Operation *def = other.getDefiningOp();
           return other != value && def && blockType(other) && isElementwise(def) &&
                  hasOwnHome(def, Value(), depth - 1);
         });
}

/// The same for what is reduced after `depth` operations on its elements, at most.
cta::LayoutAttr LayoutInference::layoutForReduced(Value value, unsigned depth, unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0)
      return {};
    --budget;
    cta::LayoutAttr wanted;
    if (auto reduce = dyn_cast<ReduceOp>(user))
      wanted = layoutForResults(reduce, budget);
    else if (depth > 0 && isElementwise(user) && !hasOwnHome(user, value, reach::kOperands))
      wanted = layoutForReduced(user->getResult(0), depth - 1, budget);
    if (wanted)
      return wanted;
  }
  return {};
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

static bool isAnotherName(ReshapeOp op) {
  return areAlikeInRows(op.getSrc().getType().getShape(), op.getType().getShape());
}

cta::LayoutAttr LayoutInference::wantedBy(Operation *user, Value value, bool accesses,
                                          unsigned depth, unsigned &budget) {
  --budget;
  cta::LayoutAttr wanted;
  if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
    cta::LayoutAttr large = layoutOfRepeated(broadcast, budget);
    wanted = get(operandLayoutFor(user, large.getLayout()));
  } else if (isa<ExpandDimsOp, TransOp>(user) ||
             (isa<ReshapeOp>(user) && (accesses || isAnotherName(cast<ReshapeOp>(user))))) {
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
  } else if (auto known = works.find(user); accesses && known != works.end() &&
                                            user->getOperand(0) == value &&
                                            isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(user)) {
    wanted = known->second; // pointers that a loop moves on: its body was looked at
  } else if (accesses && isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(user)) {
    if (auto load = dyn_cast<LoadOp>(user); load && load.getPtr() == value)
      wanted = layoutWhereRepeated(load, budget);
    // Places that are dear to compute are computed where neighbours that are stored share sectors:
    // what moves there are elements, not pointers. What is loaded stays where it is wanted.
    if (isa<StoreOp>(user) && user->getOperand(0) == value && !coalescing.isContiguous(user))
      wanted = coalescing.ownLayout(user);
    if (!wanted)
      wanted = coalescing.anchor(user);
  }
  return wanted;
}

cta::LayoutAttr LayoutInference::wantedByUsers(Value value, bool accesses, unsigned depth,
                                               unsigned &budget) {
  for (Operation *user : value.getUsers()) {
    if (budget == 0 || depth == 0)
      return {};
    if (cta::LayoutAttr wanted = wantedBy(user, value, accesses, depth, budget))
      return wanted;
  }
  return {};
}
