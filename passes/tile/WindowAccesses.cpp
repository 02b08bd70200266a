//===- WindowAccesses.cpp - what windows read, loaded by whole vectors -----===//
//
// Contract and example: WindowAccessesPass in passes/tile/Passes.td.
//
// A window reads `x[i - 1]`, `x[i]` and `x[i + 1]`, of which at most one starts where vectors do:
// the others are loaded element by element. What a thread needs of them is in two vectors, and
// mostly in those that another place of the window needs as well.
//
// The addresses and the mask of a vector are the formulas of those of the load, at a place some
// elements on: for the elements that the load has they give what they gave, and for the others of
// the vector what they give a neighbour.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/facts/AccessWidth.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/Reach.h"
#include "passes/tile/PartsOfBlocks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_WINDOWACCESSESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::parts;

#define DEBUG_TYPE "tile-window-accesses"
ALWAYS_ENABLED_STATISTIC(loadsShifted, "loads of what lies beside vectors, made of vectors");

/// Bytes of a vector, at least.
static constexpr int64_t kLeastVector = 8;
/// Loads made of vectors, more than so many for each access that is not.
static constexpr int64_t kShiftedForOne = 2;
/// Elements of so many bytes are loaded by few instructions one by one: vectors pay where several
/// places of a window share them.
static constexpr int64_t kWideBytes = 4;

namespace {

/// What a mask says of places that change with the last dimension.
struct Bounds {
  bool below = false, above = false; ///< none is too small; too large
};

/// What is counted along the last dimension, and a number behind it.
using Place = std::pair<Value, int64_t>;

/// Formulas at places some elements on along the last dimension.
class Shifter {
public:
  Shifter(OpBuilder &b, AxisInfoAnalysis &axes, int64_t group) : b(b), axes(axes), group(group) {}
  /// `v` so many elements on; null if that cannot be computed. What is the same for all of a group
  /// of elements may stay as it is: elements and those that need them are of one group.
  Value at(Value v, int64_t by);
  /// What is known, since it is asked for, of the places that `mask` has `by` elements on.
  /// `places`: only what is asked of these counts, if there are any.
  Bounds boundsOf(Value mask, int64_t by, ArrayRef<Place> places);
  /// Whether places end where others begin: they are chosen, or a remainder.
  bool wraps(Value v, int64_t by, unsigned &left);

private:
  bool isSame(Value v);
  /// Whether each element is one more than the one before it.
  bool isCounted(Value v);
  Value plus(Value v, int64_t number);
  Value plusInScalar(Value same, int64_t number);
  Value minus(Value same, int64_t number);
  Value compare(arith::CmpIOp op, int64_t by);
  Value atOf(Operation *op, int64_t by);

  OpBuilder &b;
  AxisInfoAnalysis &axes;
  int64_t group;
  DenseMap<std::pair<Value, int64_t>, Value> known;
};

/// A load, and the vectors that it may be.
struct Candidate {
  LoadOp load;
  int64_t group = 0, by = 0; ///< elements of a vector, and where in one the load begins
  LoadOp low, high;
};

class Windows {
public:
  explicit Windows(func::FuncOp kernel) : kernel(kernel) {}
  void run();

private:
  void findCandidates();
  void tryVectors(LoadOp load, int64_t group, int64_t number);
  bool areVectors(const Candidate &candidate, AxisInfoAnalysis &axes);
  bool pays(ArrayRef<Candidate> chosen, const Candidate &one);
  void keepWhole(const Candidate &candidate, AxisInfoAnalysis &all);
  void replace(Candidate &candidate);

  func::FuncOp kernel;
  std::unique_ptr<AxisInfoAnalysis> axes;
  SmallVector<Candidate> candidates;
};

} // namespace

static unsigned lastAxis(Value v) { return unsigned(blockOf(v).getRank()) - 1; }

bool Shifter::isSame(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || type.getShape().back() == 1 || v.getDefiningOp<SplatOp>() || numberOf(v))
    return true;
  int64_t run = axes.get(v).constancy(lastAxis(v));
  return run >= type.getShape().back() || (type.getElementType().isInteger(1) && run >= group);
}

bool Shifter::isCounted(Value v) {
  if (isSame(v) || v.getDefiningOp<MakeRangeOp>())
    return !isSame(v);
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, ExpandDimsOp>(op))
    return isCounted(op->getOperand(0));
  if (!isa_and_nonnull<arith::AddIOp>(op))
    return false;
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (isSame(x) && isCounted(y)) || (isCounted(x) && isSame(y));
}

/// What a number is added to, and the number: of `n + 1`, of `1 - n` (then `isSubtracted`), and of
/// what is widened behind that.
namespace {
struct NumberBeside {
  Value of;
  int64_t number = 0;
  bool isSubtracted = false;
};
} // namespace

static std::optional<NumberBeside> numberBeside(Value scalar) {
  auto sum = scalar.getDefiningOp<arith::AddIOp>();
  auto difference = scalar.getDefiningOp<arith::SubIOp>();
  if (sum)
    if (std::optional<int64_t> number = numberOf(sum.getRhs()))
      return NumberBeside{sum.getLhs(), *number, false};
  if (difference)
    if (std::optional<int64_t> number = numberOf(difference.getLhs()))
      return NumberBeside{difference.getRhs(), *number, true};
  return std::nullopt;
}

/// A block of one number for all, and another added; null if that is no shorter than a sum.
Value Shifter::plusInScalar(Value same, int64_t number) {
  auto splat = same.getDefiningOp<SplatOp>();
  std::optional<NumberBeside> beside = splat ? numberBeside(splat.getSrc()) : std::nullopt;
  if (!beside)
    return {};
  Location loc = same.getLoc();
  number += beside->number;
  Value scalar = beside->of;
  Value by = arith::ConstantOp::create(b, loc, b.getIntegerAttr(scalar.getType(), number));
  if (beside->isSubtracted)
    scalar = arith::SubIOp::create(b, loc, by, scalar);
  else if (number != 0)
    scalar = arith::AddIOp::create(b, loc, scalar, by);
  return SplatOp::create(b, loc, same.getType(), scalar);
}

/// A sum with a number, as one sum.
Value Shifter::plus(Value v, int64_t number) {
  Value base = v;
  if (auto sum = v.getDefiningOp<arith::AddIOp>())
    for (unsigned i : {0u, 1u})
      if (Value scalar = plusInScalar(sum->getOperand(i), number))
        return arith::AddIOp::create(b, v.getLoc(), sum->getOperand(1 - i), scalar);
  if (auto sum = v.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> own = numberOf(sum.getRhs())) {
      base = sum.getLhs();
      number += *own;
    }
  if (number == 0)
    return base;
  auto element = cast<IntegerType>(blockOf(base).getElementType());
  if (!llvm::isIntN(element.getWidth(), number))
    return {};
  Value by = arith::ConstantOp::create(
      b, v.getLoc(),
      DenseElementsAttr::get(blockOf(base), b.getIntegerAttr(element, number).getValue()));
  return arith::AddIOp::create(b, v.getLoc(), base, by);
}

/// What is added to what is counted in `v`, up to the start of a group; none if that is not seen.
static int64_t behindStart(Value v, int64_t group) {
  while (isa_and_nonnull<BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto sum = v.getDefiningOp<arith::AddIOp>();
  int64_t number = sum ? numberOf(sum.getRhs()).value_or(0) : 0;
  return ((number % group) + group) % group;
}

/// The same number, less another, for all elements; no more than there is below the least.
Value Shifter::minus(Value same, int64_t number) {
  auto type = blockOf(same);
  auto element = cast<IntegerType>(type.getElementType());
  Location loc = same.getLoc();
  // Far enough from it for all that is subtracted, and a multiple of every vector.
  int64_t least = llvm::minIntN(element.getWidth()) + 4 * int64_t(kVectorBytes);
  if (std::optional<int64_t> known = numberOf(same))
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            type, b.getIntegerAttr(element, std::max(*known, least) - number).getValue()));
  auto splat = same.getDefiningOp<SplatOp>();
  if (!splat)
    return {};
  Value scalar = splat.getSrc();
  auto wide = scalar.getDefiningOp<arith::ExtSIOp>();
  std::optional<NumberBeside> beside = numberBeside(wide ? wide.getIn() : scalar);
  if (beside && !beside->isSubtracted && std::abs(beside->number) < int64_t(kVectorBytes)) {
    scalar = beside->of;
    if (wide)
      scalar = arith::ExtSIOp::create(b, loc, wide.getType(), scalar);
    number -= beside->number;
  }
  auto make = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, value));
  };
  scalar = arith::MaxSIOp::create(b, loc, scalar, make(least));
  if (number != 0)
    scalar = arith::SubIOp::create(b, loc, scalar, make(number));
  return SplatOp::create(b, loc, type, scalar);
}

/// What is added to the start of a group changes sides: `x + 1 < n` is `x < n - 1`, of which is
/// seen that it changes once at most in a group.
Value Shifter::compare(arith::CmpIOp op, int64_t by) {
  using Predicate = arith::CmpIPredicate;
  Value counted = op.getLhs();
  while (isa_and_nonnull<BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(counted.getDefiningOp()))
    counted = counted.getDefiningOp()->getOperand(0);
  if (!isCounted(counted))
    return {};
  bool isSigned = llvm::is_contained(
      {Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge}, op.getPredicate());
  Value left = at(op.getLhs(), by);
  int64_t behind = left ? behindStart(left, group) : 0;
  if (!isSigned || behind == 0 || !isSame(op.getRhs()))
    return {};
  Value start = at(op.getLhs(), by - behind), right = minus(op.getRhs(), behind);
  if (!start || !right)
    return {};
  return arith::CmpIOp::create(b, op.getLoc(), op.getPredicate(), start, right);
}

Value Shifter::at(Value v, int64_t by) {
  if (isSame(v))
    return v;
  auto [place, isNew] = known.try_emplace({v, by});
  if (!isNew)
    return place->second;
  Value made = v.getDefiningOp() ? atOf(v.getDefiningOp(), by) : Value();
  known[{v, by}] = made;
  return made;
}

Value Shifter::atOf(Operation *op, int64_t by) {
  if (isa<MakeRangeOp, arith::AddIOp>(op) && isCounted(op->getResult(0)))
    return plus(op->getResult(0), by);
  if (auto sum = dyn_cast<arith::AddIOp>(op))
    if (std::optional<int64_t> number = numberOf(sum.getRhs())) {
      Value base = at(sum.getLhs(), by);
      return base ? plus(base, *number) : Value();
    }
  if (auto sum = dyn_cast<AddPtrOp>(op))
    if (std::optional<int64_t> number = numberOf(sum.getOffset())) {
      // Where vectors start is seen of what is added up in one place.
      auto inner = sum.getPtr().getDefiningOp<AddPtrOp>();
      Value offset = inner ? at(inner.getOffset(), by) : Value();
      if (!offset || isSame(inner.getOffset()) || !isSame(inner.getPtr()))
        return {};
      offset = plus(offset, *number);
      return offset ? AddPtrOp::create(b, op->getLoc(), sum.getType(), inner.getPtr(), offset)
                    : Value();
    }
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    if (Value made = compare(comparison, by))
      return made;
  bool isPlain = isa<BroadcastOp, ExpandDimsOp>(op) || op->hasTrait<OpTrait::Elementwise>();
  if (!isPlain || op->getNumResults() != 1 || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!operands.emplace_back(at(operand, by)))
      return {};
  if (llvm::equal(operands, op->getOperands()))
    return op->getResult(0);
  Operation *made = b.clone(*op);
  made->setOperands(operands);
  return made->getResult(0);
}

/// A value as what it is without shapes, wider types and what is added.
static Place placeOf(Value v) {
  int64_t number = 0;
  for (Operation *op = v.getDefiningOp(); op; op = v.getDefiningOp()) {
    if (auto sum = dyn_cast<arith::AddIOp>(op)) {
      std::optional<int64_t> own = numberOf(sum.getRhs());
      if (!own)
        break;
      number += *own;
    } else if (!isa<BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(op)) {
      break;
    }
    v = op->getOperand(0);
  }
  return {v, number};
}

/// The places in an array that pointers are of: each of what is added up, with all numbers.
static SmallVector<Place> placesOf(Value pointers) {
  SmallVector<Place> found;
  int64_t number = 0;
  for (Operation *op = pointers.getDefiningOp(); op; op = pointers.getDefiningOp()) {
    if (auto sum = dyn_cast<AddPtrOp>(op)) {
      if (std::optional<int64_t> own = numberOf(sum.getOffset()))
        number += *own;
      else
        found.push_back(placeOf(sum.getOffset()));
    } else if (!isa<BroadcastOp, ExpandDimsOp>(op)) {
      break;
    }
    pointers = op->getOperand(0);
  }
  for (Place &place : found)
    place.second += number;
  return found;
}

Bounds Shifter::boundsOf(Value mask, int64_t by, ArrayRef<Place> places) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (!op || isSame(mask) || at(mask, by) == mask)
    return {};
  if (isa<arith::AndIOp>(op)) {
    Bounds x = boundsOf(op->getOperand(0), by, places), y = boundsOf(op->getOperand(1), by, places);
    return {x.below || y.below, x.above || y.above};
  }
  if (isa<BroadcastOp, ExpandDimsOp>(op))
    return boundsOf(op->getOperand(0), by, places);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return {};
  bool isLeft = isSame(compare.getRhs()), isRight = isSame(compare.getLhs());
  Place asked = placeOf(isLeft ? compare.getLhs() : compare.getRhs());
  if (!places.empty() && !llvm::is_contained(places, asked))
    return {};
  using Predicate = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case Predicate::eq:
    return {true, true};
  case Predicate::ult:
  case Predicate::ule:
    return {isLeft, isLeft};
  case Predicate::ugt:
  case Predicate::uge:
    return {isRight, isRight};
  case Predicate::slt:
  case Predicate::sle:
    return {isRight, isLeft};
  case Predicate::sgt:
  case Predicate::sge:
    return {isLeft, isRight};
  default:
    return {};
  }
}

bool Shifter::wraps(Value v, int64_t by, unsigned &left) {
  Operation *op = v.getDefiningOp();
  if (!op || left == 0 || isSame(v) || at(v, by) == v)
    return false;
  --left;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return isSame(op->getOperand(1));
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return at(choice.getCondition(), by) != choice.getCondition() || isSame(choice.getCondition());
  return isa<AddPtrOp, arith::AddIOp, arith::ExtSIOp, BroadcastOp, ExpandDimsOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return wraps(operand, by, left); });
}

/// The numbers that are added where places change with the last dimension.
static void collectNumbers(Value v, llvm::SmallSetVector<int64_t, 4> &numbers, unsigned &left) {
  Operation *op = v.getDefiningOp();
  if (!op || left == 0)
    return;
  --left;
  if (isa<arith::AddIOp, AddPtrOp>(op)) {
    if (std::optional<int64_t> number = numberOf(op->getOperand(1)))
      numbers.insert(*number);
    else
      collectNumbers(op->getOperand(1), numbers, left);
    collectNumbers(op->getOperand(0), numbers, left);
  } else if (isa<BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(op)) {
    collectNumbers(op->getOperand(0), numbers, left);
  } else if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    collectNumbers(choice.getTrueValue(), numbers, left);
    collectNumbers(choice.getFalseValue(), numbers, left);
  }
}

static int64_t bytesOfElement(LoadOp load) {
  return getElementBytes(cast<PtrType>(blockOf(load.getPtr()).getElementType()).getPointee());
}

void Windows::tryVectors(LoadOp load, int64_t group, int64_t number) {
  int64_t by = ((number % group) + group) % group;
  if (by == 0)
    return;
  OpBuilder b(load);
  Shifter shifter(b, *axes, group);
  auto made = [&](int64_t to) -> LoadOp {
    Value ptr = shifter.at(load.getPtr(), to);
    Value mask = load.getMask() ? shifter.at(load.getMask(), to) : Value();
    if (!ptr || ptr == load.getPtr() || (load.getMask() && !mask))
      return {};
    // Programs of a function go through all that their masks let them. Of others it has to be the
    // place itself that is asked for: what else is may be so far behind the last block.
    bool isWhole = kernel->getParentOfType<ModuleOp>()->hasAttr(kWholeRowsAttr);
    SmallVector<Place> places;
    if (!isWhole)
      places = placesOf(load.getPtr());
    Bounds bounds;
    if (isWhole || !places.empty())
      bounds = shifter.boundsOf(load.getMask(), to, places);
    unsigned left = reach::kPointers;
    if (isWhole && shifter.wraps(load.getPtr(), to, left))
      bounds = {true, true};
    // In front of what is loaded a vector has elements that the load has elsewhere, unless they lie
    // in front of the array; behind it they may lie behind the array.
    if (to < 0 ? number < 0 && !bounds.below : !bounds.above)
      return {};
    return LoadOp::create(b, load.getLoc(), ptr, mask, load.getOther(), load.getCache(),
                          load.getEvict());
  };
  Candidate candidate{load, group, by, made(-by), {}};
  if (candidate.low)
    candidate.high = made(group - by);
  if (candidate.high)
    candidates.push_back(candidate);
  else if (candidate.low)
    candidate.low->erase();
}

/// Not in loops of products: what is loaded there is copied, or comes by a ring.
static bool isBesideProducts(Operation *op) {
  bool found = false;
  for (Operation *loop = op->getParentOp(); loop && !found; loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop))
      found = loop->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return found;
}

void Windows::findCandidates() {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) {
    if (isa<RankedTensorType>(load.getPtr().getType()) && !load.getIsVolatile() &&
        blockOf(load.getPtr()).getShape().back() > 1 && !isBesideProducts(load) &&
        (!load.getOther() || numberOf(load.getOther()) ||
         load.getOther().getDefiningOp<arith::ConstantOp>()))
      loads.push_back(load);
  });
  for (LoadOp load : loads) {
    int64_t bytes = bytesOfElement(load), most = int64_t(kVectorBytes) / bytes;
    unsigned axis = lastAxis(load.getPtr()), left = reach::kPointers;
    if (blockOf(load.getPtr()).getShape().back() < most)
      continue;
    llvm::SmallSetVector<int64_t, 4> numbers;
    collectNumbers(load.getPtr(), numbers, left);
    int64_t width = neighboursAtOnce(load, axis, *axes);
    for (int64_t group = most; group > width && group * bytes >= kLeastVector; group /= 2)
      for (int64_t number : numbers)
        tryVectors(load, group, number);
  }
}

bool Windows::areVectors(const Candidate &candidate, AxisInfoAnalysis &all) {
  return llvm::all_of(ArrayRef{candidate.low, candidate.high}, [&](LoadOp load) {
    return neighboursAtOnce(load, lastAxis(load.getPtr()), all) >= candidate.group;
  });
}

/// All loads of the block that may be of such vectors, or equal ones would differ.
void Windows::keepWhole(const Candidate &candidate, AxisInfoAnalysis &all) {
  ArrayRef<int64_t> shape = blockOf(LoadOp(candidate.load).getPtr()).getShape();
  kernel.walk([&](LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
    if (type && type.getShape() == shape &&
        neighboursAtOnce(load, lastAxis(load.getPtr()), all) >= candidate.group)
      load->setAttr(kWholeVectorsAttr,
                    Builder(load.getContext()).getI32IntegerAttr(int32_t(candidate.group)));
  });
}

void Windows::replace(Candidate &candidate) {
  LoadOp load = candidate.load;
  OpBuilder b(load);
  Location loc = load.getLoc();
  auto count = size_t(candidate.group), by = size_t(candidate.by);
  SmallVector<Value> low(count), high(count), own;
  takeHalves(b, loc, inGroups(b, loc, candidate.low, candidate.group), low);
  takeHalves(b, loc, inGroups(b, loc, candidate.high, candidate.group), high);
  llvm::append_range(own, ArrayRef(low).drop_front(by));
  llvm::append_range(own, ArrayRef(high).take_front(by));
  load.getResult().replaceAllUsesWith(asOne(b, loc, putTogether(b, loc, own)));
  load->erase();
  ++loadsShifted;
}

/// Whether loads of vectors, for which threads have neighbours of the whole block, take less than
/// others lose by it, which go element by element then with gaps between lanes.
bool Windows::pays(ArrayRef<Candidate> chosen, const Candidate &one) {
  ArrayRef<int64_t> shape = blockOf(LoadOp(one.load).getPtr()).getShape();
  int64_t threads =
      int64_t(kernelOf(kernel->getParentOfType<ModuleOp>()).getWarps()) * int64_t(kLanes);
  if (llvm::product_of(shape) < threads * one.group)
    return false;
  auto isOfShape = [&](Value pointers) {
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    return type && type.getShape() == shape;
  };
  auto shifted = llvm::count_if(
      chosen, [&](const Candidate &c) { return isOfShape(LoadOp(c.load).getPtr()); });
  if (shifted == 1 && bytesOfElement(one.load) >= kWideBytes)
    return false;
  int64_t narrow = 0;
  kernel.walk([&](Operation *op) {
    Accessed access = Accessed::by(op);
    bool isShifted = llvm::any_of(candidates, [&](const Candidate &c) {
      return llvm::is_contained({c.load, c.low, c.high}, op);
    });
    narrow += !isShifted && access.ptr && isOfShape(access.ptr) &&
              neighboursAtOnce(op, lastAxis(access.ptr), *axes) < one.group;
  });
  return shifted > narrow * kShiftedForOne;
}

void Windows::run() {
  axes = std::make_unique<AxisInfoAnalysis>(kernel);
  findCandidates();
  if (candidates.empty())
    return;
  AxisInfoAnalysis all(kernel);
  // Of several ways for a load the first one, which has the largest vectors.
  SmallVector<Candidate> chosen;
  for (const Candidate &candidate : candidates) {
    bool isNew = chosen.empty() || chosen.back().load != candidate.load;
    if (isNew && areVectors(candidate, all))
      chosen.push_back(candidate);
  }
  llvm::erase_if(chosen, [&, taken = SmallVector<Candidate>(chosen)](const Candidate &candidate) {
    return !pays(taken, candidate);
  });
  for (const Candidate &candidate : chosen)
    keepWhole(candidate, all);
  for (Candidate &candidate : chosen) {
    LDBG() << "from the element " << candidate.by << " of vectors of " << candidate.group
           << " on: " << candidate.load;
    replace(candidate);
  }
  for (const Candidate &candidate : candidates)
    for (LoadOp load : {candidate.low, candidate.high})
      if (load->use_empty())
        load->erase();
}

namespace {
struct WindowAccessesPass : public tile::impl::WindowAccessesPassBase<WindowAccessesPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (!kernel.isDeclaration())
        Windows(kernel).run();
  }
};
} // namespace
