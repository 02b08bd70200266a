//===- Lint.cpp - what a careful reader would remark about a kernel -------===//
//
// Questions of style, and faults that show without running anything, each answered by one walk.
//
//===----------------------------------------------------------------------===//
#include "passes/Lint.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/LintKernel.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Reach.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::linting;

/// Marks what an effect, or a value that leaves a block, depends on.
void Linter::findLive() {
  SmallVector<Operation *> work;
  kernel.walk([&](Operation *op) {
    bool isRoot = op->hasTrait<OpTrait::IsTerminator>();
    if (!isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(op) && op->getNumRegions() == 0)
      isRoot |= !isMemoryEffectFree(op);
    if (isRoot || isa<scf::WhileOp>(op))
      work.push_back(op);
  });
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!live.insert(op).second)
      continue;
    for (Value operand : op->getOperands()) {
      if (Operation *def = operand.getDefiningOp())
        work.push_back(def);
    }
    if (Operation *parent = op->getParentOp(); parent != kernel.getOperation())
      work.push_back(parent);
  }
}

void Linter::checkMask(Operation *op, Value mask) {
  if (!mask)
    return;
  if (Truth truth = intervals.truth(mask))
    report(op->getLoc(), *truth ? "the mask is always true here: leave it out"
                                : "the mask is never true here: nothing is accessed");
}

/// Follows how a value was computed.
bool Linter::dependsOn(Value value, llvm::function_ref<bool(Value)> what, unsigned depth) {
  if (what(value))
    return true;
  if (depth > reach::kLints)
    return false;
  // What a loop carries comes from before it.
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      if (OpOperand *init = loop.getTiedLoopInit(argument))
        return dependsOn(init->get(), what, depth + 1);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions())
    return false;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return dependsOn(operand, what, depth + 1); });
}

void Linter::checkNeighbours(Operation *op, Value pointer) {
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  if (!type || type.getNumElements() < 32)
    return;
  const AxisInfo &info = axes.get(pointer);
  for (auto [d, facts] : llvm::enumerate(info.axes))
    if (facts.contiguity > 0 || (type.getDimSize(d) > 1 && facts.constancy > 0))
      return;
  // Addresses that come from memory are meant to be scattered.
  if (dependsOn(pointer, [](Value v) { return v.getDefiningOp<LoadOp>() != nullptr; }))
    return;
  // Neighbours of a remainder are neighbours, but for one.
  if (dependsOn(pointer, [](Value v) {
        return isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(v.getDefiningOp()) &&
               isa<RankedTensorType>(v.getType());
      }))
    return;
  // A parameter that multiplies an index is a stride, which may well be 1.
  bool hasStride = dependsOn(pointer, [&](Value v) {
    auto product = v.getDefiningOp<arith::MulIOp>();
    return product && llvm::any_of(product->getOperands(), [&](Value operand) {
             while (Operation *def = operand.getDefiningOp()) {
               if (!isMovement(def) && !isa<arith::ExtSIOp>(def))
                 break;
               operand = def->getOperand(0);
             }
             auto argument = dyn_cast<BlockArgument>(operand);
             return argument && argument.getOwner() == &kernel.getBody().front();
           });
  });
  if (hasStride && !stridesKnown)
    return;
  report(op->getLoc(),
         formatted("neighbouring elements are apart in memory, so each lane touches a line of its "
                   "own: let one dimension have stride 1{}",
                   hasStride ? " (a stride that is 1 is `i32:1` in the signature)" : ""));
}

/// The kernel's parameter that all of the pointers come from; null if there are several.
static BlockArgument arrayOf(Value pointer, func::FuncOp kernel) {
  llvm::DenseSet<Value> roots;
  collectRoots(pointer, roots);
  if (roots.size() != 1)
    return {};
  auto argument = dyn_cast<BlockArgument>(*roots.begin());
  return argument && argument.getOwner() == &kernel.getBody().front() ? argument : BlockArgument();
}

/// What is remarked once a kernel: the author looks at all offsets once it is known
/// that arrays may be so large.
void Linter::noteProduct(arith::MulIOp product, Value pointer) {
  if (!firstProduct)
    firstProduct = product;
  BlockArgument array = arrayOf(pointer, kernel);
  auto named = array ? dyn_cast<NameLoc>(array.getLoc()) : NameLoc();
  if (named)
    largeArrays.insert(named.getName().getValue());
}

void Linter::reportProducts() {
  if (!firstProduct)
    return;
  std::string names = largeArrays.empty() ? "an array" : "";
  for (auto [i, name] : llvm::enumerate(largeArrays))
    names += formatted("{}{}`",
                       i == 0                        ? "`"
                       : i + 1 == largeArrays.size() ? " and `"
                                                     : ", `",
                       name);
  report(firstProduct.getLoc(),
         formatted("offsets into {} are products of 32-bit numbers, which wrap in arrays of more "
                   "than 2^31 elements: widen one factor with `.to(tl.int64)`",
                   names));
}

/// Products of two run-time values, neither of them with a small bound.
void Linter::checkProducts(Value pointer, Value offset, unsigned depth) {
  Operation *op = offset.getDefiningOp();
  if (!op || depth > reach::kLints)
    return;
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    Interval a = intervals.of(product.getLhs()), b = intervals.of(product.getRhs());
    constexpr int64_t small = 1 << 16;
    auto isSmall = [&](Interval i) { return i.low > -small && i.high < small; };
    bool isLarge = !isSmall(a) && !isSmall(b) && a.low != a.high && b.low != b.high;
    if (isLarge && bitsOf(offset) == 32)
      return noteProduct(product, pointer);
    // A factor of 64 bits is enough: what it multiplies numbers rows, heads, and is no offset yet.
    if (isLarge)
      return;
  }
  if (isMovement(op) ||
      isa<arith::AddIOp, arith::SubIOp, arith::ExtSIOp, arith::ShLIOp, arith::MulIOp>(op))
    for (Value operand : op->getOperands())
      checkProducts(pointer, operand, depth + 1);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void Linter::checkShift(Operation *op) {
  unsigned bits = bitsOf(op->getResult(0));
  Interval amount = intervals.of(op->getOperand(1));
  if (bits && (amount.low >= int64_t(bits) || amount.high < 0))
    report(op->getLoc(),
           formatted("numbers of {} bits are shifted by {}: keep the amount between 0 and {}", bits,
                     amount.low == amount.high ? std::to_string(amount.low) : "more than they have",
                     bits - 1));
}

void Linter::checkDivision(Operation *op) {
  Interval divisor = intervals.of(op->getOperand(1));
  if (divisor.low == 0 && divisor.high == 0)
    report(op->getLoc(), "this divides by zero");
}

void Linter::checkIndex(Operation *op, Value index, int64_t size, StringRef what) {
  Interval range = intervals.of(index);
  bool some = Intervals::isExact(index) && (range.low < 0 || range.high >= size);
  if (some || range.high < 0 || range.low >= size)
    report(op->getLoc(), formatted("{} from {} to {}, where there are 0 to {}", what, range.low,
                                   range.high, size - 1));
}

/// Whether a value comes from parameters and constants alone.
static bool isSameForAll(Value value, func::FuncOp kernel, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return cast<BlockArgument>(value).getOwner() == &kernel.getBody().front();
  return op->getNumRegions() == 0 && isPure(op) && !isa<ProgramIdOp, LoadOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isSameForAll(operand, kernel, seen); });
}

/// A store that every program comes to, of a number that depends on which it is.
void Linter::checkSamePlace(StoreOp store) {
  if (store->getParentOp() != kernel.getOperation())
    return;
  llvm::DenseSet<Value> seen;
  if (!isSameForAll(store.getPtr(), kernel, seen) ||
      (store.getMask() && !isSameForAll(store.getMask(), kernel, seen)))
    return;
  if (dependsOn(store.getValue(),
                [](Value v) { return v.getDefiningOp<ProgramIdOp>() != nullptr; }))
    report(store.getLoc(), "every program writes here, each another value, and which one stays is "
                           "left to chance: let the address depend on `tl.program_id`, or use an "
                           "atomic operation");
}

void Linter::run() {
  findLive();
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (!live.contains(op) && !load.getIsVolatile())
        return report(op->getLoc(), "what is loaded here is never used");
      checkMask(op, load.getMask());
      checkNeighbours(op, load.getPtr());
      noteMasked(op, load.getPtr(), load.getMask());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      checkMask(op, store.getMask());
      checkNeighbours(op, store.getPtr());
      checkSamePlace(store);
      noteMasked(op, store.getPtr(), store.getMask());
    } else if (auto rmw = dyn_cast<AtomicRmwOp>(op)) {
      checkMask(op, rmw.getMask());
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      checkSum(reduce);
    } else if (auto histogram = dyn_cast<HistogramOp>(op)) {
      if (!histogram.getMask())
        checkIndex(op, histogram.getSrc(), histogram.getType().getDimSize(0),
                   "values of this histogram are");
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      checkIndex(op, gather.getIndex(),
                 cast<RankedTensorType>(gather.getSrc().getType()).getDimSize(gather.getAxis()),
                 "indices of this gather are");
    } else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
      checkShift(op);
    } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      checkDivision(op);
    } else if (auto add = dyn_cast<AddPtrOp>(op)) {
      checkProducts(add.getPtr(), add.getOffset());
    }
  });
  reportProducts();
  reportUnmasked();
  reportUnusedBounds();
  reportUnendedRows();
}

void tile::lint(func::FuncOp kernel, bool stridesKnown, LintReporter report) {
  Linter(kernel, stridesKnown, report).run();
}
