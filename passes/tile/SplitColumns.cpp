//===- SplitColumns.cpp - products with their columns in parts ------------===//
//
// Contract and example: SplitColumnsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/Refusals.h"
#include "passes/tile/ColumnParts.h"
#include "passes/tile/SumsBeside.h"
#include "target/Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SPLITCOLUMNSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-split-columns"
ALWAYS_ENABLED_STATISTIC(storesSplit, "stores of products in parts");

namespace {
class Splitter {
public:
  Splitter(func::FuncOp kernel, int64_t fewestColumns, bool halves)
      : kernel(kernel), fewestColumns(fewestColumns), halves(halves) {}
  void run();

private:
  bool canSplit(StoreOp store);
  bool canSlice(Value v, unsigned axis);
  bool isOnlyStored(Value v);
  /// A part along an axis of the value that a loop carries in this place.
  using Place = std::tuple<unsigned, unsigned, unsigned>;
  void split(StoreOp store);
  Value slice(Value v, unsigned axis, unsigned part);
  Value sliceOf(Operation *op, unsigned axis, unsigned part);
  void extendLoops();
  scf::ForOp extend(scf::ForOp loop, ArrayRef<Place> added);

  func::FuncOp kernel;
  int64_t fewestColumns;
  bool halves;             ///< whether sums beside products are reason enough
  SmallVector<Part> parts; ///< of the columns of this turn
  int64_t columns = 0;
  llvm::SetVector<StoreOp> stores;
  llvm::DenseSet<std::pair<Value, unsigned>> sliceable;
  DenseSet<Value> onlyStored;
  SmallVector<StoreOp> partStores;
  bool hasProduct = false;
  /// Whether what is promised of the whole is known of parts: other starts and runs than powers of
  /// two say nothing of them.
  bool keepsPromises = false;
  /// Values that loops carry and that are needed in parts: of which axes.
  llvm::MapVector<std::pair<Operation *, unsigned>, llvm::SmallSetVector<unsigned, 2>> carried;
  llvm::DenseMap<std::tuple<Value, unsigned, unsigned>, Value> slices;
  DenseMap<Operation *, unsigned> partOf; ///< of what has been made: which part
};
} // namespace

static RankedTensorType blockOf(Value v) { return dyn_cast<RankedTensorType>(v.getType()); }

/// The dimension of its operand that dimension `axis` of an expand_dims's result is.
static unsigned before(ExpandDimsOp op, unsigned axis) {
  return axis - (unsigned(op.getAxis()) < axis);
}

/// The operands of a product with the dimension in them that becomes `axis` of it.
static std::pair<unsigned, unsigned> operandOf(unsigned axis) {
  return axis == 1 ? std::pair(1u, 1u) : std::pair(0u, 0u);
}

//===----------------------------------------------------------------------===//
// Whether it can be done
//===----------------------------------------------------------------------===//

/// Whether the value can be computed in parts along this axis. What loops carry is
/// taken to be until something says no.
bool Splitter::canSlice(Value v, unsigned axis) {
  if (!sliceable.insert({v, axis}).second)
    return true;
  auto carries = [&](scf::ForOp loop, unsigned index) {
    carried[{loop, index}].insert(axis);
    return canSlice(loop.getInitArgs()[index], axis) &&
           canSlice(loop.getYieldedValues()[index], axis);
  };
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && carries(loop, arg.getArgNumber() - loop.getNumInductionVars());
  }
  Operation *op = v.getDefiningOp();
  auto all = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value o) { return !blockOf(o) || canSlice(o, axis); });
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](arith::ConstantOp o) {
        auto dense = dyn_cast<DenseElementsAttr>(o.getValue());
        return dense && dense.isSplat();
      })
      .Case<MakeRangeOp, SplatOp>([](auto) { return true; })
      .Case([&](ExpandDimsOp o) { return canSlice(o.getSrc(), before(o, axis)); })
      .Case([&](BroadcastOp o) {
        return blockOf(o.getSrc()).getDimSize(axis) == 1 || canSlice(o.getSrc(), axis);
      })
      .Case([&](HintOp o) { return canSlice(o.getSrc(), axis); })
      .Case([&](TransOp o) { return canSlice(o.getSrc(), o.getOrder()[axis]); })
      .Case([&](LoadOp o) { return !o.getIsVolatile() && all(o->getOperands()); })
      .Case([&](DotOp o) {
        hasProduct = true;
        auto [index, dim] = operandOf(axis);
        return o.getType().getRank() == 2 && canSlice(o->getOperand(index), dim) &&
               canSlice(o.getAcc(), axis) && isOnlyStored(o.getResult());
      })
      .Case([&](scf::ForOp o) { return carries(o, cast<OpResult>(v).getResultNumber()); })
      .Default([&](Operation *o) { return givesOneElementwise(o) && all(o->getOperands()); });
}

/// Whether all that comes of a product's result are stores of as many columns.
bool Splitter::isOnlyStored(Value v) {
  if (!onlyStored.insert(v).second)
    return true;
  return llvm::all_of(v.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<StoreOp>(user))
      return use.get() == store.getValue() && stores.contains(store);
    if (auto dot = dyn_cast<DotOp>(user))
      return use.get() == dot.getAcc() && use.get() != dot.getA() && use.get() != dot.getB() &&
             isOnlyStored(dot.getResult());
    auto both = [&](scf::ForOp loop, unsigned index) {
      return isOnlyStored(loop.getRegionIterArgs()[index]) && isOnlyStored(loop.getResult(index));
    };
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return both(loop, use.getOperandNumber() - loop.getNumControlOperands());
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()); loop && isa<scf::YieldOp>(user))
      return both(loop, use.getOperandNumber());
    return givesOneElementwise(user) && isOnlyStored(user->getResult(0));
  });
}

bool Splitter::canSplit(StoreOp store) {
  return llvm::all_of(store->getOperands(), [&](Value v) { return !blockOf(v) || canSlice(v, 1); });
}

//===----------------------------------------------------------------------===//
// Parts of values
//===----------------------------------------------------------------------===//

/// Lets loops carry the parts of what they carry, too. Outer and earlier loops come first:
/// what a loop starts from may be carried by them. What it goes on with may come from any
/// loop, so that is cut up last.
void Splitter::extendLoops() {
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
  SmallVector<std::pair<scf::ForOp, SmallVector<Place>>> longer;
  for (scf::ForOp loop : loops) {
    SmallVector<Place> added;
    for (auto &[place, axes] : carried)
      for (unsigned axis : axes)
        for (unsigned part = 0; place.first == loop && part < parts.size(); ++part)
          added.push_back({place.second, axis, part});
    if (!added.empty())
      longer.push_back({extend(loop, added), added});
  }
  for (auto &[loop, added] : longer)
    for (auto [index, axis, part] : added) {
      Value own = slice(loop.getYieldedValues()[index], axis, part);
      cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResultsMutable().append(own);
    }
}

/// The loop with these parts in addition; what it yields for them is still missing.
scf::ForOp Splitter::extend(scf::ForOp loop, ArrayRef<Place> added) {
  SmallVector<Value> inits(loop.getInitArgs());
  for (auto [index, axis, part] : added)
    inits.push_back(slice(loop.getInitArgs()[index], axis, part));
  OpBuilder b(loop);
  unsigned before = loop.getNumRegionIterArgs();
  auto longer = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep(), inits);
  longer->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  longer.setUnsignedCmp(loop.getUnsignedCmp());
  Block *from = loop.getBody(), *to = longer.getBody();
  if (!to->empty())
    to->getTerminator()->erase();
  to->getOperations().splice(to->end(), from->getOperations());
  for (auto [old, arg] : llvm::zip(from->getArguments(), to->getArguments()))
    old.replaceAllUsesWith(arg);
  for (auto [old, result] : llvm::zip(loop.getResults(), longer.getResults()))
    old.replaceAllUsesWith(result);
  for (auto [i, place] : llvm::enumerate(added)) {
    auto [index, axis, part] = place;
    slices[{longer.getRegionIterArgs()[index], axis, part}] =
        longer.getRegionIterArgs()[before + i];
    slices[{longer.getResult(index), axis, part}] = longer.getResult(before + i);
  }
  loop.erase();
  return longer;
}

Value Splitter::slice(Value v, unsigned axis, unsigned part) {
  if (Value known = slices.lookup({v, axis, part}))
    return known;
  auto hint = v.getDefiningOp<HintOp>();
  Value result = hint && !keepsPromises ? slice(hint.getSrc(), axis, part)
                                        : sliceOf(v.getDefiningOp(), axis, part);
  slices[{v, axis, part}] = result;
  return result;
}

/// The same operation on the parts of its operands.
Value Splitter::sliceOf(Operation *op, unsigned axis, unsigned part) {
  IRMapping map;
  auto sliced = [&](unsigned index, unsigned dim) {
    if (blockOf(op->getOperand(index))) {
      Value own = slice(op->getOperand(index), dim, part);
      map.map(op->getOperand(index), own); // another value, if a loop has been replaced
    }
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, MakeRangeOp, SplatOp>([](auto) {})
      .Case([&](ExpandDimsOp o) { sliced(0, before(o, axis)); })
      .Case([&](BroadcastOp o) {
        if (blockOf(o.getSrc()).getDimSize(axis) != 1)
          sliced(0, axis);
      })
      .Case([&](TransOp o) { sliced(0, o.getOrder()[axis]); })
      .Case([&](DotOp) {
        auto [index, dim] = operandOf(axis);
        sliced(index, dim);
        sliced(2, axis);
      })
      .Default([&](Operation *o) {
        for (unsigned i = 0; i < o->getNumOperands(); ++i)
          sliced(i, axis);
      });
  // Behind the parts before this one.
  Value before = part ? slices.lookup({op->getResult(0), axis, part - 1}) : Value();
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(before ? before.getDefiningOp() : op);
  Operation *copy = b.clone(*op, map);
  partOf[copy] = part;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = parts[part].size;
  auto smaller = type.clone(shape);
  copy->getResult(0).setType(smaller);
  if (auto range = dyn_cast<MakeRangeOp>(copy)) {
    range.setStart(int32_t(range.getStart()) + int32_t(parts[part].first));
    range.setEnd(int32_t(range.getStart()) + int32_t(parts[part].size));
  } else if (auto hint = dyn_cast<HintOp>(copy)) {
    promiseOfPart(hint, axis, parts[part]);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(copy)) {
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(smaller));
  }
  return copy->getResult(0);
}

void Splitter::split(StoreOp store) {
  for (unsigned part = 0; part < parts.size(); ++part) {
    IRMapping map;
    for (unsigned i = 0; i < store->getNumOperands(); ++i)
      if (blockOf(store->getOperand(i))) {
        Value own = slice(store->getOperand(i), 1, part);
        map.map(store->getOperand(i), own);
      }
    partStores.push_back(cast<StoreOp>(OpBuilder(store).clone(*store, map)));
  }
  store.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void Splitter::run() {
  // Stores of as many columns are split together.
  llvm::MapVector<int64_t, SmallVector<StoreOp>> byColumns;
  kernel.walk([&](StoreOp store) {
    if (auto type = blockOf(store.getValue()); type && type.getRank() == 2)
      byColumns[type.getDimSize(1)].push_back(store);
  });
  for (auto &[number, all] : byColumns) {
    columns = number;
    parts = partsOf(number, fewestColumns);
    if (parts.empty() && halves)
      parts = equalParts(number, partsBesideSums(kernel, number));
    keepsPromises = llvm::isPowerOf2_64(uint64_t(number)) && haveEvenRuns(kernel);
    if (parts.size() < 2)
      continue;
    stores.clear();
    stores.insert_range(all);
    sliceable.clear();
    onlyStored.clear();
    carried.clear();
    slices.clear();
    partOf.clear();
    hasProduct = false;
    bool canAll = llvm::all_of(all, [&](StoreOp store) { return canSplit(store); });
    LDBG() << number << " columns: " << (canAll && hasProduct ? "in parts" : "as they are");
    if (!canAll || !hasProduct) {
      if (hasProduct)
        refuse(all.front(), llvm::isPowerOf2_64(uint64_t(number)) ? Reason::SumsUsedOtherwise
                                                                  : Reason::ColumnsUsedOtherwise);
      continue;
    }
    storesSplit += all.size();
    partStores.clear();
    extendLoops();
    for (StoreOp store : all)
      split(store);
    orderByParts(kernel, partOf, parts.size());
    eraseDeadValues(kernel.getBody().front());
    for (unsigned i = 0; i < partStores.size(); ++i)
      if (i % parts.size())
        sinkTo(partStores[i], partStores[i - 1]);
  }
}

namespace {
struct SplitColumnsPass : tile::impl::SplitColumnsPassBase<SplitColumnsPass> {
  using SplitColumnsPassBase::SplitColumnsPassBase;
  void runOnOperation() override {
    int64_t fewest = fewestColumns ? fewestColumns : tuningOf(getOperation()).splitFewestColumns;
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>())
      if (!kernel.isExternal() && llvm::hasSingleElement(kernel.getBody()))
        Splitter(kernel, fewest, sums).run();
  }
};
} // namespace
