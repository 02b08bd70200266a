//===- AdjacentAccesses.cpp - elements beside each other, accessed at once -===//
//
// Contract and example: AdjacentAccessesPass in passes/tile/Passes.td.
//
// Kernels take pairs, coordinates and channels apart by loading each of them for itself, with gaps,
// and put them together by storing each for itself. A thread that has one element of each can have
// all of them by one instruction.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/facts/AccessWidth.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/Reach.h"
#include "passes/facts/StridedAccess.h"
#include "passes/tile/PartsOfBlocks.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_ADJACENTACCESSESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::parts;

#define DEBUG_TYPE "tile-adjacent-accesses"
ALWAYS_ENABLED_STATISTIC(accessesJoined, "loads and stores that are one with their neighbours");

/// Stores that fill memory without gaps, but not by vectors, at most: each thread exchanges as many
/// registers.
static constexpr int64_t kMostExchanged = 16;

/// Bytes of a vector with gaps behind it, at least: a thread that has the elements of one has them
/// of places that others would have, and must exchange what else it computes with.
static constexpr int64_t kLeastVector = 8;

namespace {

/// One load or store of a block, and where it lies.
struct Access {
  Operation *op;
  Value pointers;
  int64_t from = 0; ///< elements behind what the accesses of a run have in common
};

/// Accesses of one block of places, shifted by numbers.
struct Run {
  Value base, offsets; ///< of places that are not known as strides: what they are added up from
  std::optional<StridedPointers> strided;
  bool asksApart = false; ///< each mask asks for its own place, in place of one mask for all
  SmallVector<Access> accesses;
};

class Joiner {
public:
  explicit Joiner(func::FuncOp kernel) : axes(kernel) {}
  /// Only now: what is known of values is kept by where they lie.
  ~Joiner();
  void visit(Block &block);

private:
  void note(Operation *op, Value pointers);
  void joinAll();
  void join(Run &run);
  int64_t longest(ArrayRef<Access> accesses);
  int64_t alignedTo(Value pointers);
  Value pointersOf(OpBuilder &b, Operation *at, ArrayRef<Access> accesses, int64_t count,
                   bool &isOne);
  void joinLoads(ArrayRef<Access> accesses);
  void joinStores(ArrayRef<Access> accesses);
  void keepTogether(ArrayRef<Access> accesses);

  AxisInfoAnalysis axes;
  StridedAnalysis strides;
  SmallVector<Run, 0> runs;
  SmallVector<Operation *> dead;
};

} // namespace

static int64_t bytesOfElement(Value pointers) {
  return getElementBytes(cast<PtrType>(blockOf(pointers).getElementType()).getPointee());
}

static Value maskOf(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load ? load.getMask() : cast<StoreOp>(op).getMask();
}

/// A place that a mask compares with something, and a number behind it.
static std::pair<Value, int64_t> comparedBy(arith::CmpIOp mask) {
  Value place = mask.getLhs();
  int64_t number = 0;
  while (auto sum = place.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> own = numberOf(sum.getRhs());
    if (!own)
      break;
    number += *own;
    place = sum.getLhs();
  }
  return {place, number};
}

/// Whether the mask of an access so many elements behind another one asks what that one's asks, as
/// many behind: `i < n` and `i + 1 < n`.
static bool asksBehind(Value mask, Value other, int64_t behind) {
  if (mask == other)
    return true;
  auto first = mask ? mask.getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto second = other ? other.getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!first || !second || first.getPredicate() != second.getPredicate() ||
      first.getRhs() != second.getRhs())
    return false;
  auto [place, number] = comparedBy(first);
  auto [otherPlace, otherNumber] = comparedBy(second);
  if (!isa<RankedTensorType>(place.getType()) ||
      blockOf(place).getElementType().getIntOrFloatBitWidth() < 32)
    return false;
  return place == otherPlace && otherNumber - number == behind;
}

/// Whether two accesses differ in nothing but where they are, what their masks ask, and what is
/// stored.
static bool areAlike(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getAttrs() != b->getAttrs())
    return false;
  auto load = dyn_cast<LoadOp>(a);
  return !load || load.getOther() == cast<LoadOp>(b).getOther();
}

/// Places as what they are added up from, and a number.
static int64_t takeApart(Value pointers, Value &base, Value &offsets) {
  int64_t from = 0;
  base = pointers;
  while (auto add = base.getDefiningOp<AddPtrOp>()) {
    Value by = add.getOffset();
    std::optional<int64_t> number = numberOf(by);
    if (!number) {
      if (offsets)
        break;
      offsets = by;
    } else {
      from += *number;
    }
    base = add.getPtr();
  }
  while (auto sum = offsets ? offsets.getDefiningOp<arith::AddIOp>() : arith::AddIOp()) {
    std::optional<int64_t> number = numberOf(sum.getRhs());
    if (!number)
      break;
    from += *number;
    offsets = sum.getLhs();
  }
  return from;
}

static bool areSame(ArrayRef<StridedBlock::Wrap> a, ArrayRef<StridedBlock::Wrap> b) {
  return llvm::equal(a, b, [](const StridedBlock::Wrap &x, const StridedBlock::Wrap &y) {
    return x.dim == y.dim && x.index == y.index && x.modulus == y.modulus;
  });
}

/// How far the places of one lie behind those of the other, if that is a number.
static std::optional<int64_t> distance(const StridedPointers &from, const StridedPointers &to) {
  if (from.base != to.base || !areSame(from.offset.wraps, to.offset.wraps) ||
      !llvm::equal(from.offset.strides, to.offset.strides))
    return std::nullopt;
  return (to.offset.start - from.offset.start).asConstant();
}

void Joiner::note(Operation *op, Value pointers) {
  std::optional<StridedPointers> strided = strides.pointers(pointers);
  Value base, offsets;
  int64_t from = strided ? 0 : takeApart(pointers, base, offsets);
  for (Run &run : runs) {
    Operation *other = run.accesses.front().op;
    if (!areAlike(op, other) || run.strided.has_value() != strided.has_value() ||
        pointers.getType() != run.accesses.front().pointers.getType())
      continue;
    if (strided) {
      std::optional<int64_t> behind = distance(*run.strided, *strided);
      if (!behind)
        continue;
      from = *behind;
    } else if (base != run.base || offsets != run.offsets) {
      continue;
    }
    if (!asksBehind(maskOf(other), maskOf(op), from - run.accesses.front().from))
      continue;
    bool asksApart = maskOf(other) != maskOf(op);
    if (run.accesses.size() > 1 && asksApart != run.asksApart)
      continue;
    run.asksApart = asksApart;
    run.accesses.push_back({op, pointers, from});
    return;
  }
  runs.push_back({base, offsets, std::move(strided), false, {{op, pointers, from}}});
}

/// The bytes that all places of a block are a multiple of; one where some lie beside each other.
int64_t Joiner::alignedTo(Value pointers) {
  const AxisInfo info = axes.get(pointers);
  int64_t bytes = int64_t(kVectorBytes);
  for (auto [axis, size] : llvm::enumerate(blockOf(pointers).getShape())) {
    if (size == 1)
      continue;
    if (info.contiguity(axis) > 1)
      return 1;
    bytes = std::min(bytes, info.divisibility(axis));
  }
  return bytes;
}

/// How much an element is above the one before it along the last dimension, if that is a number.
static std::optional<int64_t> stepAlongLast(Value v, unsigned &left) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  Operation *op = v.getDefiningOp();
  if (!type || type.getShape().back() == 1 || isa_and_nonnull<SplatOp>(op) || numberOf(v))
    return 0;
  if (isa_and_nonnull<MakeRangeOp>(op))
    return 1;
  if (!op || left == 0)
    return std::nullopt;
  --left;
  if (isa<ExpandDimsOp, BroadcastOp, HintOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return stepAlongLast(op->getOperand(0), left);
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> x = stepAlongLast(op->getOperand(0), left),
                         y = stepAlongLast(op->getOperand(1), left),
                         by = numberOf(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp, AddPtrOp>(op))
    return *x + *y;
  if (isa<arith::MulIOp>(op) && by)
    return *x * *by;
  return *x == 0 && *y == 0 ? std::optional(0) : std::nullopt;
}

/// A block of the first element along the last dimension alone; null if it cannot be computed
/// without the others.
static Value firstAlongLast(OpBuilder &b, Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || type.getShape().back() == 1)
    return v;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 1;
  auto own = RankedTensorType::get(shape, type.getElementType());
  Operation *op = v.getDefiningOp();
  DenseElementsAttr number;
  if (matchPattern(v, m_Constant(&number)) && number.isSplat())
    return arith::ConstantOp::create(b, v.getLoc(), number.resizeSplat(own));
  if (auto range = dyn_cast_or_null<MakeRangeOp>(op)) {
    auto start = b.getIntegerAttr(type.getElementType(), range.getStart());
    return arith::ConstantOp::create(b, v.getLoc(), DenseElementsAttr::get(own, start));
  }
  bool isKnown = op && (isa<SplatOp, ExpandDimsOp, BroadcastOp>(op) ||
                        (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op)));
  if (!isKnown || op->getNumResults() != 1 || op->getNumRegions() > 0)
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!operands.emplace_back(firstAlongLast(b, operand)))
      return {};
  Operation *made = b.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(own);
  return made->getResult(0);
}

/// Whether so many elements reach from one place to the next along the last dimension.
static bool isWithoutGaps(Value pointers, int64_t count) {
  unsigned left = reach::kPointers;
  return blockOf(pointers).getShape().back() > 1 && stepAlongLast(pointers, left) == count;
}

/// How many of the first accesses, which lie one behind the other, one access can be.
int64_t Joiner::longest(ArrayRef<Access> accesses) {
  Value pointers = accesses.front().pointers;
  int64_t bytes = bytesOfElement(pointers);
  auto most = int64_t(accesses.size());
  int64_t vector = alignedTo(pointers) / bytes;
  bool isStored = isa<StoreOp>(accesses.front().op);
  if (isStored && most > vector && most <= kMostExchanged && isWithoutGaps(pointers, most))
    return most;
  auto count = int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(std::min(most, vector), 1))));
  return isWithoutGaps(pointers, count) || count * bytes >= kLeastVector ? count : 1;
}

/// The block with `count` elements of each in a last dimension.
static Value spreadLast(OpBuilder &b, Location loc, Value block, int64_t count) {
  SmallVector<int64_t> shape(blockOf(block).getShape());
  Type element = blockOf(block).getElementType();
  shape.push_back(1);
  Value grown = ExpandDimsOp::create(b, loc, RankedTensorType::get(shape, element), block,
                                     uint32_t(shape.size() - 1));
  shape.back() = count;
  return BroadcastOp::create(b, loc, RankedTensorType::get(shape, element), grown);
}

/// The numbers from 0 on along the last dimension of a block like `like` with one more.
static Value countLast(OpBuilder &b, Location loc, Value like, int64_t count) {
  Type i32 = b.getI32Type();
  Value line =
      MakeRangeOp::create(b, loc, RankedTensorType::get({count}, i32), 0u, uint32_t(count));
  SmallVector<int64_t> shape = {count};
  for (int64_t axis = 0; axis < blockOf(like).getRank(); ++axis) {
    shape.insert(shape.begin(), 1);
    line = ExpandDimsOp::create(b, loc, RankedTensorType::get(shape, i32), line, 0u);
  }
  llvm::copy(blockOf(like).getShape(), shape.begin());
  return BroadcastOp::create(b, loc, RankedTensorType::get(shape, i32), line);
}

/// Pointers to `count` elements from each of these on.
static Value pointersFrom(OpBuilder &b, Location loc, Value first, int64_t count) {
  Value many = spreadLast(b, loc, first, count);
  return AddPtrOp::create(b, loc, many.getType(), many, countLast(b, loc, first, count));
}

/// Elements one behind the other from the first of each row on, `size` in a row.
static Value pointersInRows(OpBuilder &b, Location loc, Value first, int64_t size) {
  Type i32 = b.getI32Type();
  SmallVector<int64_t> shape(blockOf(first).getShape());
  shape.back() = size;
  Value starts = BroadcastOp::create(
      b, loc, RankedTensorType::get(shape, blockOf(first).getElementType()), first);
  Value line = MakeRangeOp::create(b, loc, RankedTensorType::get({size}, i32), 0u, uint32_t(size));
  for (SmallVector<int64_t> own = {size}; own.size() < shape.size();) {
    own.insert(own.begin(), 1);
    line = ExpandDimsOp::create(b, loc, RankedTensorType::get(own, i32), line, 0u);
  }
  line = BroadcastOp::create(b, loc, RankedTensorType::get(shape, i32), line);
  return AddPtrOp::create(b, loc, starts.getType(), starts, line);
}

/// Moves what computes a value in front of `before`, where that has no effects.
static bool moveInFront(Value value, Operation *before, unsigned &left) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != before->getBlock() || op->isBeforeInBlock(before))
    return true;
  if (left == 0 || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  --left;
  for (Value operand : op->getOperands())
    if (!moveInFront(operand, before, left))
      return false;
  op->moveBefore(before);
  return true;
}

/// Pointers to all of them at `at`: of one row of vectors behind each other along the last
/// dimension (`isOne`), or with a vector each in a dimension of its own.
Value Joiner::pointersOf(OpBuilder &b, Operation *at, ArrayRef<Access> accesses, int64_t count,
                         bool &isOne) {
  Value first = accesses[0].pointers;
  bool isWhole = count == int64_t(accesses.size()) && isWithoutGaps(first, count);
  Value starts = isWhole ? firstAlongLast(b, first) : Value();
  isOne = bool(starts);
  return isOne ? pointersInRows(b, at->getLoc(), starts, blockOf(first).getShape().back() * count)
               : pointersFrom(b, at->getLoc(), first, count);
}

/// The mask of all of them, in the form of the pointers: where each asks for its own place, that of
/// the first one at each of these.
static Value maskOfAll(OpBuilder &b, Location loc, ArrayRef<Access> accesses, int64_t count,
                       bool isOne) {
  Value mask = maskOf(accesses[0].op);
  if (!mask || !isa<RankedTensorType>(mask.getType()))
    return mask;
  if (llvm::all_of(accesses, [&](const Access &access) { return maskOf(access.op) == mask; })) {
    mask = spreadLast(b, loc, mask, count);
    return isOne ? asOne(b, loc, mask) : mask;
  }
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  Value place = compare.getLhs(), end = compare.getRhs();
  auto placed = [&](Value counted) { // of the type that places have
    Type wanted = blockOf(place).getElementType();
    if (blockOf(counted).getElementType() == wanted)
      return counted;
    auto type = RankedTensorType::get(blockOf(counted).getShape(), wanted);
    return arith::ExtSIOp::create(b, loc, type, counted).getResult();
  };
  // Where the places themselves are without gaps, as the elements are.
  unsigned left = reach::kPointers, ofEnd = reach::kPointers;
  bool isRow = isOne && stepAlongLast(place, left) == count && stepAlongLast(end, ofEnd) == 0;
  Value first = isRow ? firstAlongLast(b, place) : Value();
  Value firstEnd = isRow ? firstAlongLast(b, end) : Value();
  if (first && firstEnd) { // as places of a row, of which is known that they follow each other
    SmallVector<int64_t> shape(blockOf(first).getShape());
    shape.back() = blockOf(place).getShape().back() * count;
    auto grown = [&](Value v) {
      auto type = RankedTensorType::get(shape, blockOf(v).getElementType());
      return BroadcastOp::create(b, loc, type, v).getResult();
    };
    Value line = MakeRangeOp::create(b, loc, RankedTensorType::get({shape.back()}, b.getI32Type()),
                                     0u, uint32_t(shape.back()));
    for (SmallVector<int64_t> own = {shape.back()}; own.size() < shape.size();) {
      own.insert(own.begin(), 1);
      line = ExpandDimsOp::create(b, loc, RankedTensorType::get(own, b.getI32Type()), line, 0u);
    }
    line = placed(BroadcastOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), line));
    Value places = arith::AddIOp::create(b, loc, grown(first), line);
    return arith::CmpIOp::create(b, loc, compare.getPredicate(), places, grown(firstEnd));
  }
  Value places = arith::AddIOp::create(b, loc, spreadLast(b, loc, place, count),
                                       placed(countLast(b, loc, place, count)));
  mask =
      arith::CmpIOp::create(b, loc, compare.getPredicate(), places, spreadLast(b, loc, end, count));
  return isOne ? asOne(b, loc, mask) : mask;
}

/// Behind the first of them: nothing is written before the last one.
void Joiner::joinLoads(ArrayRef<Access> accesses) {
  Operation *first = accesses[0].op;
  for (const Access &access : accesses)
    if (access.op->isBeforeInBlock(first))
      first = access.op;
  unsigned left = reach::kPointers;
  Value mask = maskOf(accesses[0].op);
  if (!moveInFront(accesses[0].pointers, first, left) || (mask && !moveInFront(mask, first, left)))
    return;
  auto like = cast<LoadOp>(first);
  OpBuilder b(first);
  Location loc = first->getLoc();
  auto count = int64_t(accesses.size());
  bool isOne;
  Value pointers = pointersOf(b, first, accesses, count, isOne);
  auto spread = [&](Value v) {
    if (!v || !isa<RankedTensorType>(v.getType()))
      return v;
    v = spreadLast(b, loc, v, count);
    return isOne ? asOne(b, loc, v) : v;
  };
  auto load = LoadOp::create(b, loc, pointers, maskOfAll(b, loc, accesses, count, isOne),
                             spread(like.getOther()), like.getCache(), like.getEvict());
  load->setAttr(kJoinedAttr, b.getUnitAttr());
  Value whole = load;
  if (isOne) {
    SmallVector<int64_t> shape(blockOf(accesses[0].pointers).getShape());
    shape.push_back(count);
    whole = ReshapeOp::create(b, loc, RankedTensorType::get(shape, blockOf(whole).getElementType()),
                              whole, false);
  }
  SmallVector<Value> parts(accesses.size());
  takeHalves(b, loc, whole, parts, 0, 1);
  for (auto [access, part] : llvm::zip_equal(accesses, parts)) {
    access.op->getResult(0).replaceAllUsesWith(part);
    dead.push_back(access.op);
  }
  accessesJoined += accesses.size();
}

/// Where the last of them is: all is computed there.
void Joiner::joinStores(ArrayRef<Access> accesses) {
  Operation *last = accesses[0].op;
  for (const Access &access : accesses)
    if (last->isBeforeInBlock(access.op))
      last = access.op;
  auto like = cast<StoreOp>(last);
  OpBuilder b(last);
  Location loc = last->getLoc();
  SmallVector<Value> parts;
  for (const Access &access : accesses)
    parts.push_back(cast<StoreOp>(access.op).getValue());
  auto count = int64_t(llvm::bit_ceil(parts.size()));
  bool isOdd = count != int64_t(parts.size());
  while (int64_t(parts.size()) < count)
    parts.push_back(parts.back());
  bool isOne;
  Value first = accesses[0].pointers, pointers = pointersOf(b, last, accesses, count, isOne);
  Value mask = maskOfAll(b, loc, accesses, count, isOdd ? false : isOne);
  if (isOdd) {
    Value index = countLast(b, loc, first, count);
    Value number = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int(accesses.size())));
    Value end = SplatOp::create(b, loc, index.getType(), number);
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, end);
    mask = mask ? arith::AndIOp::create(b, loc, mask, isThere).getResult() : isThere;
  }
  Value whole = putTogether(b, loc, parts);
  if (isOne)
    whole = asOne(b, loc, whole);
  if (isOne && isOdd)
    mask = asOne(b, loc, mask);
  auto store = StoreOp::create(b, loc, pointers, whole, mask, like.getCache(), like.getEvict());
  store->setAttr(kJoinedAttr, b.getUnitAttr());
  for (const Access &access : accesses)
    dead.push_back(access.op);
  accessesJoined += accesses.size();
}

/// What is stored to parts of the same sectors is stored one after the other, where the last of it
/// is: each by itself, as soon as it is computed, leaves parts of sectors behind.
void Joiner::keepTogether(ArrayRef<Access> accesses) {
  SmallVector<Operation *> ops;
  for (const Access &access : accesses)
    ops.push_back(access.op);
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ArrayRef(ops).drop_back())
    op->moveBefore(ops.back());
  ops.front()->setAttr(kInStepAttr, UnitAttr::get(ops.front()->getContext()));
}

void Joiner::join(Run &run) {
  LDBG() << run.accesses.size() << " accesses under one mask, some numbers apart, from "
         << run.accesses.front().op->getLoc();
  llvm::sort(run.accesses, [](const Access &a, const Access &b) { return a.from < b.from; });
  for (size_t i = 1; i < run.accesses.size(); ++i)
    if (run.accesses[i - 1].from == run.accesses[i].from)
      return; // of two stores to one place the last one counts
  for (ArrayRef<Access> left = run.accesses; left.size() > 1;) {
    size_t behind = 1;
    while (behind < left.size() && left[behind].from == left[0].from + int64_t(behind))
      ++behind;
    auto count = size_t(longest(left.take_front(behind)));
    bool isStored = isa<StoreOp>(left[0].op), isPart = behind > 1 && count == 1 && isStored;
    if (isPart) {
      keepTogether(left.take_front(behind));
      count = behind;
    } else if (count > 1 && !isStored)
      joinLoads(left.take_front(count));
    else if (count > 1)
      joinStores(left.take_front(count));
    left = left.drop_front(count);
  }
}

void Joiner::joinAll() {
  for (Run &run : runs)
    join(run);
  runs.clear();
}

/// Loads between which nothing is written, and stores between which nothing has effects.
void Joiner::visit(Block &block) {
  for (Operation &op : block) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if (isMemoryEffectFree(&op))
      continue;
    bool isLoad = load && isa<RankedTensorType>(load.getPtr().getType()) && !load.getIsVolatile();
    bool isStore = store && isa<RankedTensorType>(store.getPtr().getType());
    if (!isLoad && !isStore) {
      joinAll();
      continue;
    }
    Value pointers = isLoad ? load.getPtr() : store.getPtr();
    if (!runs.empty() && runs.front().accesses.front().op->getName() != op.getName())
      joinAll();
    note(&op, pointers);
    if (isStore && runs.size() > 1) { // another array's, or it may lie over what is stored before
      Run own = runs.pop_back_val();
      joinAll();
      runs.push_back(std::move(own));
    }
  }
  joinAll();
}

Joiner::~Joiner() {
  for (Operation *op : dead)
    op->erase();
}

namespace {
struct AdjacentAccessesPass : public tile::impl::AdjacentAccessesPassBase<AdjacentAccessesPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Block *> blocks;
      kernel.walk([&](Block *block) { blocks.push_back(block); });
      Joiner joiner(kernel);
      for (Block *block : blocks)
        joiner.visit(*block);
    }
  }
};
} // namespace
