//===- GatheredPairs.cpp - gathers of what lies a power of two apart ------===//
//
// A part of tile-partners. Rotations of positions pick, of each element, the one half a row further
// on or back: a gather, whose indices are constants, by which elements change places with others
// whose places differ in some bits. Those are partners: registers or lanes of one warp hold most of
// them, and nothing goes through shared memory.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Reach.h"
#include "passes/tile/Pairs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

namespace {
/// Integers along one dimension.
using Row = SmallVector<APInt>;

/// Finds out what integers are along a dimension, if they are the same along all others.
class Rows {
public:
  /// Of `v`, a block, along `axis`, `size` elements; nothing if that is not known.
  std::optional<Row> along(Value v, unsigned axis, int64_t size);

private:
  std::optional<Row> ofElements(Operation *op, unsigned axis, int64_t size);
  unsigned budget = reach::kUsersSeen;
};
} // namespace

/// `op` of integers `x` and, if it has two operands, `y`; nothing if it is not one of these or has
/// no result for them.
static std::optional<APInt> resultOf(Operation *op, const APInt &x, const APInt &y) {
  unsigned bits = 0;
  if (auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())))
    bits = type.getWidth();
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  bool isDivision = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
  if (bits == 0 || (isShift && y.uge(bits)) ||
      (isDivision && (y.isZero() || (x.isMinSignedValue() && y.isAllOnes()))))
    return std::nullopt;
  using Result = std::optional<APInt>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return x + y; })
      .Case([&](arith::SubIOp) { return x - y; })
      .Case([&](arith::MulIOp) { return x * y; })
      .Case([&](arith::AndIOp) { return x & y; })
      .Case([&](arith::OrIOp) { return x | y; })
      .Case([&](arith::XOrIOp) { return x ^ y; })
      .Case([&](arith::ShLIOp) { return x.shl(y); })
      .Case([&](arith::ShRSIOp) { return x.ashr(y); })
      .Case([&](arith::ShRUIOp) { return x.lshr(y); })
      .Case([&](arith::DivSIOp) { return x.sdiv(y); })
      .Case([&](arith::DivUIOp) { return x.udiv(y); })
      .Case([&](arith::RemSIOp) { return x.srem(y); })
      .Case([&](arith::RemUIOp) { return x.urem(y); })
      .Case([&](arith::MinSIOp) { return x.slt(y) ? x : y; })
      .Case([&](arith::MaxSIOp) { return x.sgt(y) ? x : y; })
      .Case([&](arith::ExtSIOp) { return x.sext(bits); })
      .Case([&](arith::ExtUIOp) { return x.zext(bits); })
      .Case([&](arith::TruncIOp) { return x.trunc(bits); })
      .Case([&](arith::CmpIOp cmp) {
        return APInt(1, arith::applyCmpPredicate(cmp.getPredicate(), x, y));
      })
      .Default(Result());
}

std::optional<Row> Rows::ofElements(Operation *op, unsigned axis, int64_t size) {
  SmallVector<Row> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Row> row = along(operand, axis, size);
    if (!row)
      return std::nullopt;
    operands.push_back(std::move(*row));
  }
  Row result;
  for (int64_t i = 0; i < size; ++i) {
    if (isa<arith::SelectOp>(op)) {
      result.push_back(operands[operands[0][i].isZero() ? 2 : 1][i]);
      continue;
    }
    std::optional<APInt> one = resultOf(op, operands.front()[i], operands.back()[i]);
    if (!one)
      return std::nullopt;
    result.push_back(*one);
  }
  return result;
}

std::optional<Row> Rows::along(Value v, unsigned axis, int64_t size) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return Row(size, constant);
  Operation *op = v.getDefiningOp();
  if (!op || budget == 0)
    return std::nullopt;
  --budget;
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    Row row;
    for (int64_t i = 0; i < size; ++i)
      row.push_back(APInt(32, uint64_t(range.getStart()) + i, /*isSigned=*/true,
                          /*implicitTrunc=*/true));
    return row;
  }
  if (auto splat = dyn_cast<SplatOp>(op))
    return along(splat.getSrc(), axis, size);
  if (auto repeated = dyn_cast<BroadcastOp>(op)) {
    // What is repeated along the axis is one number only if it has no other dimension.
    RankedTensorType from = repeated.getSrc().getType();
    return from.getDimSize(axis) == size ? along(repeated.getSrc(), axis, size) : std::nullopt;
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return expand.getAxis() == axis
               ? std::nullopt
               : along(expand.getSrc(), axis - (expand.getAxis() < axis), size);
  bool isOfElements = op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                      (isa<arith::SelectOp>(op) || op->getNumOperands() <= 2) &&
                      op->getNumOperands() > 0 && isa<arith::ArithDialect>(op->getDialect());
  return isOfElements ? ofElements(op, axis, size) : std::nullopt;
}

/// The elements of `v`, each with the one whose place along `axis` differs in `bits`.
static Value partnersAlong(OpBuilder &b, Location loc, Value v, unsigned axis, int64_t bits) {
  auto type = cast<RankedTensorType>(v.getType());
  Type integer = b.getIntegerType(type.getElementTypeBitWidth());
  bool isFloat = isa<FloatType>(type.getElementType());
  int64_t outer = 1, inner = 1, size = type.getDimSize(axis);
  for (int64_t length : type.getShape().take_front(axis))
    outer *= length;
  for (int64_t length : type.getShape().drop_front(axis + 1))
    inner *= length;
  Value elements = v;
  if (isFloat)
    elements = arith::BitcastOp::create(b, loc, type.clone(integer), v);
  for (int64_t distance = 1; distance < size; distance *= 2) {
    if (!(bits & distance))
      continue;
    auto pairs =
        RankedTensorType::get({outer * size / (2 * distance), 2, distance * inner}, integer);
    Value inPairs = ReshapeOp::create(b, loc, pairs, elements);
    elements = otherOfPair(b, loc, inPairs, 1);
  }
  elements = ReshapeOp::create(b, loc, type.clone(integer), elements);
  return isFloat ? arith::BitcastOp::create(b, loc, type, elements).getResult() : elements;
}

/// Puts partners in place of `op`, if it takes each element from where its place differs in the
/// same bits, or from its own place; false if not.
static bool takePartners(GatherOp op) {
  RankedTensorType type = op.getType();
  auto from = cast<RankedTensorType>(op.getSrc().getType());
  Type element = type.getElementType();
  unsigned axis = op.getAxis();
  int64_t size = type.getDimSize(axis);
  bool hasBits = element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
  bool isEven = llvm::all_of(type.getShape(), llvm::isPowerOf2_64);
  if (from != type || !hasBits || !isEven)
    return false;
  std::optional<Row> indices = Rows().along(op.getIndex(), axis, size);
  if (!indices)
    return false;
  int64_t bits = 0;
  bool isAll = true;
  for (auto [i, index] : llvm::enumerate(*indices)) {
    if (index.isNegative() || index.uge(size))
      return false;
    int64_t differing = int64_t(index.getZExtValue()) ^ int64_t(i);
    isAll &= differing != 0;
    if (differing && bits && differing != bits)
      return false;
    bits |= differing;
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value result = bits ? partnersAlong(b, loc, op.getSrc(), axis, bits) : op.getSrc();
  if (bits && !isAll) {
    auto places = RankedTensorType::get({size}, b.getI32Type());
    Value own = MakeRangeOp::create(b, loc, places, 0, size);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (dim == axis)
        continue;
      SmallVector<int64_t> shape(cast<RankedTensorType>(own.getType()).getShape());
      shape.insert(shape.begin() + dim, 1);
      own = ExpandDimsOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), own, dim);
    }
    // Indices of any width are numbers of elements here.
    auto indexType = cast<RankedTensorType>(op.getIndex().getType());
    own = BroadcastOp::create(b, loc, indexType.clone(b.getI32Type()), own);
    Value index = op.getIndex();
    unsigned width = indexType.getElementTypeBitWidth();
    if (width > 32)
      index = arith::TruncIOp::create(b, loc, own.getType(), index);
    else if (width < 32)
      index = arith::ExtUIOp::create(b, loc, own.getType(), index);
    Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, own);
    result = arith::SelectOp::create(b, loc, isOwn, op.getSrc(), result);
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return true;
}

unsigned tile::gathersOfPartners(ModuleOp module) {
  unsigned found = 0;
  module.walk([&](GatherOp op) { found += takePartners(op); });
  return found;
}
