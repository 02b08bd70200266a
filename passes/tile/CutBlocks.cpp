//===- CutBlocks.cpp - blocks that no thread can hold, part by part --------===//
//
// Contract and example: CutBlocksPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_CUTBLOCKSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-cut-blocks"
ALWAYS_ENABLED_STATISTIC(blocksCut, "blocks that are loaded, changed and stored part by part");

static RankedTensorType blockOf(Value v) { return dyn_cast<RankedTensorType>(v.getType()); }

namespace {
/// What stands in front of the stores of one block of operations, and becomes a loop.
class Cutter {
public:
  Cutter(func::FuncOp kernel, Block &block, int64_t threads, int64_t registersOfPart)
      : kernel(kernel), block(block), threads(threads), registersOfPart(registersOfPart) {}
  bool run();

private:
  bool findStores();
  bool chooseParts();
  bool canCut(Value v, unsigned axis);
  bool canCutAll(Operation *op, unsigned axis);
  bool isNeededElsewhere(Operation *load) const;
  bool isInOrder();
  bool mayMeet(StoreOp store, Operation *access) const;
  Value startOf(int64_t part, Location loc);
  Value cut(Value v, unsigned axis);
  Value cutResult(Operation *op, unsigned axis);
  void cutAccess(Operation *op);

  func::FuncOp kernel;
  Block &block;
  int64_t threads, registersOfPart;
  SmallVector<StoreOp> stores;
  int64_t count = 1; ///< of the parts
  /// Of each store, the dimension that is cut.
  DenseMap<Operation *, unsigned> dimensions;
  /// What has parts, by the axis that is cut.
  llvm::SetVector<std::pair<Value, unsigned>> parted;
  llvm::SmallPtrSet<Operation *, 32> operations;
  DenseMap<std::pair<Value, unsigned>, Value> known;
  OpBuilder b{block.getParentOp()->getContext()};
  Value running; ///< number of the part that is made
};
} // namespace

/// 1. Stores of blocks, of one of which a thread's share is more than it has registers.
bool Cutter::findStores() {
  int64_t most = 0;
  for (auto store : block.getOps<StoreOp>()) {
    RankedTensorType type = blockOf(store.getValue());
    if (!type)
      return false;
    most = std::max(most, packedRegistersOfShare(type, threads));
    stores.push_back(store);
  }
  return most > kMaxRegisters;
}

/// 2. Each along its slowest dimension that has so many elements: lines stay whole.
bool Cutter::chooseParts() {
  for (StoreOp store : stores) {
    int64_t all = packedRegistersOfShare(blockOf(store.getValue()), threads);
    count = std::max<int64_t>(count, llvm::PowerOf2Ceil(llvm::divideCeil(all, registersOfPart)));
  }
  for (StoreOp store : stores) {
    ArrayRef<int64_t> shape = blockOf(store.getValue()).getShape();
    const int64_t *found = llvm::find_if(shape, [&](int64_t n) { return n % count == 0; });
    if (found == shape.end())
      return false;
    dimensions[store] = unsigned(found - shape.begin());
  }
  return true;
}

/// The dimension of a reshape's operand whose parts, as many as `count`, hold the elements of
/// those of the result's `axis`: the one in front of which as many elements are.
static std::optional<unsigned> axisBefore(ReshapeOp op, unsigned axis, int64_t count) {
  auto before = [](RankedTensorType type, unsigned axis) {
    return ShapedType::getNumElements(type.getShape().take_front(axis));
  };
  RankedTensorType from = blockOf(op.getSrc());
  if (op.getAllowReorder())
    return std::nullopt;
  for (unsigned i = 0; i < from.getRank(); ++i)
    if (before(from, i) == before(blockOf(op), axis) && from.getDimSize(i) % count == 0)
      return i;
  return std::nullopt;
}

/// The dimension of the blocks that `op` is made of whose parts give the parts of its result's.
static std::optional<unsigned> axisOfOperands(Operation *op, unsigned axis, int64_t count) {
  using Axis = std::optional<unsigned>;
  return llvm::TypeSwitch<Operation *, Axis>(op)
      .Case([&](ExpandDimsOp o) { return axis - (axis > o.getAxis()); })
      .Case([&](TransOp o) { return unsigned(o.getOrder()[axis]); })
      .Case([&](ReduceOp o) { return axis + (axis >= o.getAxis()); })
      .Case([&](JoinOp o) { return axis + 1 < blockOf(o).getRank() ? Axis(axis) : std::nullopt; })
      .Case([&](ReshapeOp o) { return axisBefore(o, axis, count); })
      .Default([&](Operation *) { return axis; });
}

bool Cutter::canCutAll(Operation *op, unsigned axis) {
  return llvm::all_of(op->getOperands(), [&](Value v) { return !blockOf(v) || canCut(v, axis); });
}

/// 3. Whether parts of `v` can be made from parts of what it is made of; what is the same all
/// along the axis stays whole.
bool Cutter::canCut(Value v, unsigned axis) {
  if (blockOf(v).getDimSize(axis) == 1 || parted.contains({v, axis}))
    return true;
  Operation *op = v.getDefiningOp();
  if (!op || op->getNumResults() != 1 || blockOf(v).getDimSize(axis) % count)
    return false;
  auto from = axisOfOperands(op, axis, count);
  bool can =
      from && llvm::TypeSwitch<Operation *, bool>(op)
                  .Case<MakeRangeOp, SplatOp>([](auto) { return true; })
                  .Case([&](arith::ConstantOp c) { return isa<SplatElementsAttr>(c.getValue()); })
                  .Case<BroadcastOp, ExpandDimsOp, TransOp, ReshapeOp, JoinOp, ReduceOp>(
                      [&](auto) { return canCutAll(op, *from); })
                  .Case([&](LoadOp o) {
                    return !o.getIsVolatile() && o->getBlock() == &block && canCutAll(op, axis);
                  })
                  .Default([&](Operation *) {
                    return op->hasTrait<OpTrait::Elementwise>() && !op->getNumRegions() &&
                           isMemoryEffectFree(op) && canCutAll(op, axis);
                  });
  if (can) {
    parted.insert({v, axis});
    operations.insert(op);
  }
  return can;
}

/// Whether what is loaded is needed as a whole, too: by anything but what has parts.
bool Cutter::isNeededElsewhere(Operation *load) const {
  SetVector<Operation *> needed;
  needed.insert(load);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Operation *user : needed[i]->getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      if (store ? !llvm::is_contained(stores, store) : !operations.contains(user))
        return true;
      if (!store)
        needed.insert(user);
    }
  return false;
}

/// Whether the element that one of them changes may be another of the other's. Through one block
/// of pointers, all different, they are the same elements.
bool Cutter::mayMeet(StoreOp store, Operation *access) const {
  Value ptr = access->getOperand(0);
  DenseSet<Value> roots;
  collectRoots(store.getPtr(), roots);
  if (!comesFrom(ptr, roots))
    return false;
  RankedTensorType type = blockOf(ptr);
  return ptr != store.getPtr() || type.getRank() != 1 ||
         AxisInfoAnalysis(kernel).get(ptr).contiguity(0) < type.getDimSize(0);
}

/// 4. Whether it makes no difference that a part is stored before the next is loaded, and that
/// all are where the last store is.
bool Cutter::isInOrder() {
  bool isCut = false;
  for (Operation &op : llvm::make_range(block.begin(), std::next(Block::iterator(stores.back())))) {
    isCut |= isa<StoreOp>(op) || (isa<LoadOp>(op) && operations.contains(&op));
    if (!isCut || isMemoryEffectFree(&op))
      continue;
    if (!isa<LoadOp, StoreOp>(op))
      return false;
    for (StoreOp store : stores)
      if (store != &op && mayMeet(store, &op))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The first element of the running part along a dimension of whose elements each has `part`.
Value Cutter::startOf(int64_t part, Location loc) {
  Value parts = arith::ConstantIntOp::create(b, loc, b.getI32Type(), part);
  return arith::MulIOp::create(b, loc, running, parts);
}

Value Cutter::cutResult(Operation *op, unsigned axis) {
  RankedTensorType whole = blockOf(op->getResult(0));
  SmallVector<int64_t> shape(whole.getShape());
  int64_t part = shape[axis] /= count;
  auto type = RankedTensorType::get(shape, whole.getElementType());
  Location loc = op->getLoc();
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    int32_t start = int32_t(range.getStart());
    Value numbers = MakeRangeOp::create(b, loc, type, start, start + int32_t(part));
    return arith::AddIOp::create(b, loc, SplatOp::create(b, loc, type, startOf(part, loc)),
                                 numbers);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b, loc, cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  unsigned from = *axisOfOperands(op, axis, count);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(blockOf(operand) ? cut(operand, from) : operand);
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

Value Cutter::cut(Value v, unsigned axis) {
  if (blockOf(v).getDimSize(axis) == 1)
    return v;
  if (Value made = known.lookup({v, axis}))
    return made;
  Value made = cutResult(v.getDefiningOp(), axis);
  known[{v, axis}] = made;
  return made;
}

/// Loads and stores come in their order; what they need is made in front of them.
void Cutter::cutAccess(Operation *op) {
  if (isa<LoadOp>(op)) {
    for (auto [v, axis] : parted)
      if (v.getDefiningOp() == op)
        cut(v, axis);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(blockOf(operand) ? cut(operand, dimensions.at(op)) : operand);
  b.clone(*op)->setOperands(operands);
}

bool Cutter::run() {
  if (!findStores() || !chooseParts())
    return false;
  for (StoreOp store : stores)
    if (!canCutAll(store, dimensions.at(store)))
      return false;
  SmallVector<Operation *> accesses;
  for (Operation &op : block)
    if (isa<StoreOp>(op) || (isa<LoadOp>(op) && operations.contains(&op))) {
      if (isa<LoadOp>(op) && isNeededElsewhere(&op))
        return false;
      accesses.push_back(&op);
    }
  if (!isInOrder())
    return false;
  LDBG() << "in " << count << " parts: " << stores.front();
  b.setInsertionPointAfter(stores.back());
  Location loc = stores.back().getLoc();
  auto number = [&](int64_t n) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), n).getResult();
  };
  auto loop = scf::ForOp::create(b, loc, number(0), number(count), number(1));
  running = loop.getInductionVar();
  b.setInsertionPointToStart(loop.getBody());
  for (Operation *access : accesses)
    cutAccess(access);
  for (StoreOp store : stores)
    store.erase();
  ++blocksCut;
  return true;
}

namespace {
struct CutBlocksPass : tile::impl::CutBlocksPassBase<CutBlocksPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t threads = int64_t(kernelOf(module).getWarps()) * kLanes;
    for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
      SmallVector<Block *> blocks;
      kernel.walk([&](StoreOp store) {
        if (!llvm::is_contained(blocks, store->getBlock()))
          blocks.push_back(store->getBlock());
      });
      bool changed = false;
      for (Block *block : blocks)
        changed |= Cutter(kernel, *block, threads, tuningOf(module).registersOfPart).run();
      if (changed)
        eraseDeadValues(kernel.getBody().front());
    }
  }
};
} // namespace
