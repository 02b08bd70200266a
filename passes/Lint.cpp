//===- Lint.cpp - what a careful reader would remark about a kernel -------===//
//
// Questions of style, and faults that show without running anything, each answered by one
// walk. Truth of masks comes from intervals
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
  /// Whether both ends of a value's interval are values that it has.
  static bool isExact(Value value);

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

/// One range of lanes, scaled and moved by constants.
bool Intervals::isExact(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<MakeRangeOp>(op) || matchPattern(value, m_Constant()))
    return true;
  if (isMovement(op) || isa<arith::ExtSIOp>(op))
    return isExact(op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  auto isConstant = [](Value v) {
    while (Operation *def = v.getDefiningOp()) {
      if (!isMovement(def))
        return matchPattern(v, m_Constant());
      v = def->getOperand(0);
    }
    return false;
  };
  return (isConstant(op->getOperand(0)) && isExact(op->getOperand(1))) ||
         (isConstant(op->getOperand(1)) && isExact(op->getOperand(0)));
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
  void checkShift(Operation *op);
  void checkDivision(Operation *op);
  void checkIndex(Operation *op, Value index, int64_t size, StringRef what);
  void checkConstant(Operation *op, Value pointer);
  void checkSamePlace(StoreOp store);
  void noteMasked(Operation *op, Value pointer, Value mask);
  void reportUnmasked();

  func::FuncOp kernel;
  bool stridesKnown;
  LintReporter report;
  AxisInfoAnalysis axes;
  Intervals intervals;
  llvm::SmallPtrSet<Operation *, 32> live;
  arith::MulIOp firstProduct;             ///< of 32 bits, in an address
  llvm::SetVector<StringRef> largeArrays; ///< whose offsets are such products
  struct Access {
    Operation *op;
    Value offset, mask;
  };
  SmallVector<Access> accesses; ///< by a block of offsets
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

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void Linter::checkShift(Operation *op) {
  unsigned bits = bitsOf(op->getResult(0));
  Interval amount = intervals.of(op->getOperand(1));
  if (bits && (amount.low >= int64_t(bits) || amount.high < 0))
    report(op->getLoc(),
           "numbers of " + std::to_string(bits) + " bits are shifted by " +
               (amount.low == amount.high ? std::to_string(amount.low) : "more than they have") +
               ": keep the amount between 0 and " + std::to_string(bits - 1));
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
    report(op->getLoc(), (what + " from " + Twine(range.low) + " to " + Twine(range.high) +
                          ", where there are 0 to " + Twine(size - 1))
                             .str());
}

/// What a cast has made of a pointer that the signature says is to constant memory.
void Linter::checkConstant(Operation *op, Value pointer) {
  while (Operation *def = pointer.getDefiningOp()) {
    if (!isMovement(def) && !isa<AddPtrOp, PtrCastOp, PtrToIntOp, IntToPtrOp>(def))
      return;
    pointer = def->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  if (argument.getOwner() != &kernel.getBody().front())
    return;
  auto type = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSourceTypeAttr);
  if (type && type.getValue().starts_with("*k"))
    report(op->getLoc(), "this writes to memory that the signature says is constant (`" +
                             type.getValue().str() + "`)");
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

/// The value without what only repeats or widens it.
static Value strip(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (!isMovement(def) && !isa<arith::ExtSIOp>(def))
      break;
    v = def->getOperand(0);
  }
  return v;
}

/// Whether a mask says that the offset is below something.
static bool bounds(Value mask, Value offset) {
  mask = strip(mask);
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return bounds(both.getLhs(), offset) || bounds(both.getRhs(), offset);
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  using P = arith::CmpIPredicate;
  if (!compare)
    return false;
  P predicate = compare.getPredicate();
  bool less =
      predicate == P::slt || predicate == P::sle || predicate == P::ult || predicate == P::ule;
  bool more =
      predicate == P::sgt || predicate == P::sge || predicate == P::ugt || predicate == P::uge;
  return (less && strip(compare.getLhs()) == offset) || (more && strip(compare.getRhs()) == offset);
}

void Linter::noteMasked(Operation *op, Value pointer, Value mask) {
  if (auto add = pointer.getDefiningOp<AddPtrOp>())
    if (isa<RankedTensorType>(add.getOffset().getType()) &&
        op->getParentOp() == kernel.getOperation())
      accesses.push_back({op, strip(add.getOffset()), mask});
}

/// The same offsets, bounded at one access and not at another.
void Linter::reportUnmasked() {
  for (const Access &open : accesses) {
    if (open.mask || !isa_and_present<RankedTensorType>(open.offset.getType()))
      continue;
    auto bounded = llvm::find_if(accesses, [&](const Access &other) {
      return other.mask && other.offset == open.offset && bounds(other.mask, open.offset);
    });
    if (bounded != accesses.end() &&
        dependsOn(open.offset, [](Value v) { return v.getDefiningOp<ProgramIdOp>() != nullptr; }))
      report(open.op->getLoc(), "nothing masks this access, where another of the same offsets is "
                                "masked: both need the mask, or neither");
  }
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
      checkConstant(op, store.getPtr());
      checkSamePlace(store);
      noteMasked(op, store.getPtr(), store.getMask());
    } else if (auto rmw = dyn_cast<AtomicRmwOp>(op)) {
      checkMask(op, rmw.getMask());
      checkConstant(op, rmw.getPtr());
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
}

void tile::lint(func::FuncOp kernel, bool stridesKnown, LintReporter report) {
  Linter(kernel, stridesKnown, report).run();
}
