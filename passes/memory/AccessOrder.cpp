//===- AccessOrder.cpp - global memory that several threads use -----------===//
#include "passes/memory/AccessOrder.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Reach.h"
#include "passes/facts/StridedAccess.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

static Attribute withoutLayout(Attribute attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : attr;
}

/// Whether two values are computed alike, but for the layouts that they have. `known` keeps pairs
/// that are: what doubles at each step is compared once a step.
static bool isSame(Value a, Value b, DenseSet<std::pair<Value, Value>> &known, unsigned depth = 0) {
  auto skip = [](Value v) {
    while (auto convert = v.getDefiningOp<cta::ConvertLayoutOp>())
      v = convert.getOperand();
    return v;
  };
  a = skip(a), b = skip(b);
  if (a == b || known.contains({a, b}))
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  auto resultOf = [](Value v) { return cast<OpResult>(v).getResultNumber(); };
  if (!x || !y || depth > reach::kPointers || x->getName() != y->getName() || x->getNumRegions() ||
      resultOf(a) != resultOf(b) || x->getNumOperands() != y->getNumOperands())
    return false;
  for (NamedAttribute attr : x->getAttrs()) {
    Attribute other = y->getAttr(attr.getName());
    if (!other || withoutLayout(attr.getValue()) != withoutLayout(other))
      return false;
  }
  if (!llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair), known, depth + 1);
      }))
    return false;
  known.insert({a, b});
  return true;
}

/// Whether an access stands for several (tile-adjacent-accesses), whose elements it gives to other
/// threads than they would have been given to one by one.
static bool isOfSeveral(Operation &op) { return op.hasAttr(kJoinedAttr); }

static Value pointersOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp, cta::AsyncCopyOp>(
          [](auto access) { return access.getPtr(); })
      .Default([](Operation *) { return Value(); });
}

/// Copies of one element: one thread stores it, and all of them have loaded it.
static bool hasCopies(RankedTensorType block) {
  const layout::LinearLayout &layout = cta::getLayout(block);
  return llvm::is_contained(layout.rows(layout::Dim::warp()), 0) ||
         llvm::is_contained(layout.rows(layout::Dim::lane()), 0);
}

static bool isByTheSame(Value a, Value b) {
  DenseSet<std::pair<Value, Value>> known;
  return isSame(a, b, known);
}

/// Whether both pointers may come from one argument.
static bool shareRoots(Value a, Value b) {
  llvm::DenseSet<Value> roots;
  collectRoots(a, roots);
  return comesFrom(b, roots);
}

/// Whether an element of what `access` loads may be anywhere: it is looked up, or worked out by
/// more than strides (partners whose numbers differ by one bit).
static bool loadsAnywhere(Operation &access) {
  auto load = dyn_cast<LoadOp>(access);
  if (!load)
    return false;
  StridedAnalysis strided;
  std::optional<StridedPointers> pointers = strided.pointers(load.getPtr());
  return !pointers || !pointers->offset.wraps.empty();
}

/// Elements of a block that are neighbours in memory along one of its dimensions; 0: none are.
static int64_t runOf(Value pointers, const StridedPointers &at) {
  auto block = cast<RankedTensorType>(pointers.getType());
  for (auto [size, stride] : llvm::zip_equal(block.getShape(), at.offset.strides))
    if (stride.asConstant() == 1)
      return size;
  return 0;
}

/// Whether the blocks of `a` and `b` are known to be side by side in rows of one array, such as the
/// part of a head that is rotated and the rest of it.
static bool areApart(Value a, Value b) {
  StridedAnalysis strided;
  std::optional<StridedPointers> x = strided.pointers(a), y = strided.pointers(b);
  if (!x || !y || x->base != y->base || !x->offset.wraps.empty() || !y->offset.wraps.empty())
    return false;
  std::optional<int64_t> distance = (y->offset.start - x->offset.start).asConstant();
  int64_t run = runOf(a, *x), other = runOf(b, *y);
  return distance && run && other && (*distance >= run || -*distance >= other);
}

bool tile::meetAcrossThreads(Operation &first, Operation &second) {
  bool areStores = isa<StoreOp>(first) && isa<StoreOp>(second);
  bool isStored = isa<StoreOp>(first) || isa<StoreOp>(second);
  auto isPlain = [](Operation &op) { return isa<LoadOp, StoreOp, cta::AsyncCopyOp>(op); };
  if (!isStored || !isPlain(first) || !isPlain(second))
    return false;
  Value a = pointersOf(first), b = pointersOf(second);
  auto block = dyn_cast<RankedTensorType>(a.getType()),
       other = dyn_cast<RankedTensorType>(b.getType());
  if (!block != !other)
    return false;
  if (block && block.getShape() != other.getShape())
    return (areStores || isOfSeveral(first) || isOfSeveral(second)) && shareRoots(a, b) &&
           !(areStores && areApart(a, b));
  bool areHeldAlike = block && block == other && (areStores || !hasCopies(block));
  if (areStores)
    return !areHeldAlike && block && isByTheSame(a, b);
  if (!shareRoots(a, b))
    return false;
  // By the same threads, element by element; but a turn's partners are others' elements.
  return !areHeldAlike || (!isByTheSame(a, b) && (loadsAnywhere(first) || loadsAnywhere(second)));
}

/// The arguments of the kernel that `pointer` comes from; false if other pointers are among them.
static bool comesFromArguments(Value pointer, llvm::DenseSet<Value> &roots) {
  collectRoots(pointer, roots);
  return llvm::all_of(roots, [](Value root) {
    auto arg = dyn_cast<BlockArgument>(root);
    return arg && isa<func::FuncOp>(arg.getOwner()->getParentOp());
  });
}

static unsigned widthOfPointee(Value pointer) {
  Type pointee = cast<PtrType>(getElementTypeOrSelf(pointer.getType())).getPointee();
  return isa<PtrType>(pointee) ? 64 : pointee.getIntOrFloatBitWidth();
}

bool tile::mayBeInPlace(Operation &first, Operation &second) {
  auto load = dyn_cast<LoadOp>(first);
  auto store = dyn_cast<StoreOp>(second);
  if (!load || !store)
    return false;
  Value a = load.getPtr(), b = store.getPtr();
  auto block = dyn_cast<RankedTensorType>(a.getType()),
       other = dyn_cast<RankedTensorType>(b.getType());
  if (!block != !other || widthOfPointee(a) != widthOfPointee(b))
    return false;
  bool isElsewhere = block && block != other && (isOfSeveral(first) || isOfSeveral(second));
  if (block && !isElsewhere && (block.getShape() != other.getShape() || !hasCopies(block)))
    return false;
  llvm::DenseSet<Value> from, to;
  return comesFromArguments(a, from) && comesFromArguments(b, to);
}

static bool isAtomic(Operation &op) { return isa<AtomicRmwOp, AtomicCasOp>(op); }

bool tile::meetsAtomic(Operation &first, Operation &second) {
  Value a = pointersOf(first), b = pointersOf(second);
  if (!a || !b || isAtomic(first) == isAtomic(second))
    return false;
  auto block = dyn_cast<RankedTensorType>(a.getType());
  bool isLoad = isa<LoadOp, cta::AsyncCopyOp>(first) || isa<LoadOp, cta::AsyncCopyOp>(second);
  bool isByOneThread =
      a.getType() == b.getType() && (block ? !hasCopies(block) && isByTheSame(a, b) : !isLoad);
  return !isByOneThread && shareRoots(a, b);
}

bool tile::releasesForAll(Operation &op) {
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  auto cas = dyn_cast<AtomicCasOp>(op);
  if ((!rmw && !cas) || isa<RankedTensorType>(op.getOperand(0).getType()))
    return false;
  MemSemantic sem = rmw ? rmw.getSem() : cas.getSem();
  return sem == MemSemantic::release || sem == MemSemantic::acq_rel;
}
