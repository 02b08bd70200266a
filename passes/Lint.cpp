//===- Lint.cpp - what a careful reader would remark about a kernel -------===//
//
// Four questions, each answered by one walk. Truth of masks comes from intervals
// of integers, which are rough on purpose: a program id may be anything, so what
// depends on it is never said to hold.
//
//===----------------------------------------------------------------------===//
#include "passes/Lint.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/PointerRoots.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

namespace {

/// Values a signed integer may have.
struct Interval {
  int64_t low, high;
  bool within(unsigned bits) const {
    int64_t limit = bits >= 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
    return low >= -limit - 1 && high <= limit;
  }
};

/// True, false or not known.
using Truth = std::optional<bool>;

class Intervals {
public:
  Interval of(Value value);
  Truth truth(Value mask);

private:
  Interval compute(Value value, unsigned bits);
  Interval arithmetic(Operation *op, unsigned bits);
  Truth comparison(arith::CmpIOp op);
  llvm::DenseMap<Value, Interval> known;
};

} // namespace

static unsigned bitsOf(Value value) {
  auto type = dyn_cast<IntegerType>(getElementType(value.getType()));
  return type ? type.getWidth() : 0;
}
static Interval everything(unsigned bits) {
  int64_t limit = bits >= 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  return {-limit - 1, limit};
}

/// Operations that only rename or repeat elements.
static bool isMovement(Operation *op) {
  return isa<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, HintOp, UnsplatOp>(op);
}

Interval Intervals::of(Value value) {
  unsigned bits = bitsOf(value);
  if (!bits || bits > 64)
    return everything(64);
  auto [it, inserted] = known.try_emplace(value, everything(bits));
  if (!inserted)
    return it->second;
  Interval result = compute(value, bits);
  if (!result.within(bits))
    result = everything(bits);
  return known[value] = result;
}

Interval Intervals::compute(Value value, unsigned bits) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return everything(bits);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), constant.getSExtValue()};
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return {int32_t(range.getStart()), int64_t(int32_t(range.getEnd())) - 1};
  if (isa<ProgramIdOp>(op))
    return {0, INT32_MAX - 1};
  if (isa<NumProgramsOp>(op))
    return {1, INT32_MAX};
  if (isMovement(op) || isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return of(op->getOperand(0));
  if (isa<arith::ExtUIOp>(op)) {
    Interval from = of(op->getOperand(0));
    return from.low >= 0 ? from : everything(bits);
  }
  return arithmetic(op, bits);
}

Interval Intervals::arithmetic(Operation *op, unsigned bits) {
  if (op->getNumOperands() != 2 || !isa<arith::ArithDialect>(op->getDialect()))
    return everything(bits);
  Interval a = of(op->getOperand(0)), b = of(op->getOperand(1));
  // Wide enough for all that is computed; what does not fit is cut to nothing known.
  auto make = [&](__int128 low, __int128 high) {
    Interval all = everything(bits);
    return low < all.low || high > all.high ? all : Interval{int64_t(low), int64_t(high)};
  };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<arith::AddIOp>(
          [&](auto) { return make(__int128(a.low) + b.low, __int128(a.high) + b.high); })
      .Case<arith::SubIOp>(
          [&](auto) { return make(__int128(a.low) - b.high, __int128(a.high) - b.low); })
      .Case<arith::MulIOp>([&](auto) {
        __int128 p[] = {__int128(a.low) * b.low, __int128(a.low) * b.high, __int128(a.high) * b.low,
                        __int128(a.high) * b.high};
        return make(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
      })
      .Case<arith::MinSIOp>(
          [&](auto) { return make(std::min(a.low, b.low), std::min(a.high, b.high)); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return make(std::max(a.low, b.low), std::max(a.high, b.high)); })
      .Case<arith::AndIOp>([&](auto) {
        return b.low >= 0 ? make(0, b.high) : a.low >= 0 ? make(0, a.high) : everything(bits);
      })
      .Case<arith::RemSIOp>([&](auto) {
        if (b.low <= 0)
          return everything(bits);
        return make(a.low < 0 ? -(b.high - 1) : 0,
                    std::min(b.high - 1, std::max<int64_t>(a.high, 0)));
      })
      .Case<arith::DivSIOp>([&](auto) {
        return a.low >= 0 && b.low > 0 ? make(a.low / b.high, a.high / b.low) : everything(bits);
      })
      .Default([&](Operation *) { return everything(bits); });
}

Truth Intervals::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  Interval a = of(op.getLhs()), b = of(op.getRhs());
  bool isUnsigned = op.getPredicate() >= P::ult;
  if (isUnsigned && (a.low < 0 || b.low < 0))
    return std::nullopt;
  auto decide = [](bool yes, bool no) { return yes ? Truth(true) : no ? Truth(false) : Truth(); };
  switch (op.getPredicate()) {
  case P::slt:
  case P::ult:
    return decide(a.high < b.low, a.low >= b.high);
  case P::sle:
  case P::ule:
    return decide(a.high <= b.low, a.low > b.high);
  case P::sgt:
  case P::ugt:
    return decide(a.low > b.high, a.high <= b.low);
  case P::sge:
  case P::uge:
    return decide(a.low >= b.high, a.high < b.low);
  default:
    return std::nullopt;
  }
}

Truth Intervals::truth(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (matchPattern(mask, m_One()))
    return true;
  if (matchPattern(mask, m_Zero()))
    return false;
  if (isMovement(op))
    return truth(op->getOperand(0));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return comparison(compare);
  if (!isa<arith::AndIOp>(op))
    return std::nullopt;
  Truth a = truth(op->getOperand(0)), b = truth(op->getOperand(1));
  if ((a && !*a) || (b && !*b))
    return false;
  return a && b ? Truth(true) : Truth();
}

//===----------------------------------------------------------------------===//
// The questions
//===----------------------------------------------------------------------===//

namespace {
class Linter {
public:
  Linter(func::FuncOp kernel, bool stridesKnown, LintReporter report)
      : kernel(kernel), stridesKnown(stridesKnown), report(report), axes(kernel) {}
  void run();

private:
  void findLive();
  void checkMask(Operation *op, Value mask);
  void checkNeighbours(Operation *op, Value pointer);
  void checkProducts(Value pointer, Value offset, unsigned depth = 0);
  void noteProduct(arith::MulIOp product, Value pointer);
  void reportProducts();
  bool dependsOn(Value value, llvm::function_ref<bool(Value)> what, unsigned depth = 0);

  func::FuncOp kernel;
  bool stridesKnown;
  LintReporter report;
  AxisInfoAnalysis axes;
  Intervals intervals;
  llvm::SmallPtrSet<Operation *, 32> live;
  arith::MulIOp firstProduct;             ///< of 32 bits, in an address
  llvm::SetVector<StringRef> largeArrays; ///< whose offsets are such products
};
} // namespace

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
  Operation *op = value.getDefiningOp();
  if (!op || depth > 40 || op->getNumRegions())
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
         "neighbouring elements are apart in memory, so each lane touches a line of its own: let "
         "one dimension have stride 1" +
             std::string(hasStride ? " (a stride that is 1 is `i32:1` in the signature)" : ""));
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
    names += (i == 0 ? "`" : i + 1 == largeArrays.size() ? " and `" : ", `") + name.str() + "`";
  report(firstProduct.getLoc(),
         "offsets into " + names +
             " are products of 32-bit numbers, which wrap in arrays of more than 2^31 elements: "
             "widen one factor with `.to(tl.int64)`");
}

/// Products of two run-time values, neither of them with a small bound.
void Linter::checkProducts(Value pointer, Value offset, unsigned depth) {
  Operation *op = offset.getDefiningOp();
  if (!op || depth > 40)
    return;
  if (auto product = dyn_cast<arith::MulIOp>(op); product && bitsOf(offset) == 32) {
    Interval a = intervals.of(product.getLhs()), b = intervals.of(product.getRhs());
    constexpr int64_t small = 1 << 16;
    auto isSmall = [&](Interval i) { return i.low > -small && i.high < small; };
    if (!isSmall(a) && !isSmall(b) && a.low != a.high && b.low != b.high)
      return noteProduct(product, pointer);
  }
  if (isMovement(op) ||
      isa<arith::AddIOp, arith::SubIOp, arith::ExtSIOp, arith::ShLIOp, arith::MulIOp>(op))
    for (Value operand : op->getOperands())
      checkProducts(pointer, operand, depth + 1);
}

void Linter::run() {
  findLive();
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (!live.contains(op) && !load.getIsVolatile())
        return report(op->getLoc(), "what is loaded here is never used");
      checkMask(op, load.getMask());
      checkNeighbours(op, load.getPtr());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      checkMask(op, store.getMask());
      checkNeighbours(op, store.getPtr());
    } else if (auto rmw = dyn_cast<AtomicRmwOp>(op)) {
      checkMask(op, rmw.getMask());
    } else if (auto add = dyn_cast<AddPtrOp>(op)) {
      checkProducts(add.getPtr(), add.getOffset());
    }
  });
  reportProducts();
}

void tile::lint(func::FuncOp kernel, bool stridesKnown, LintReporter report) {
  Linter(kernel, stridesKnown, report).run();
}
