//===- PartsOfBlocks.cpp --------------------------------------------------===//
#include "passes/tile/PartsOfBlocks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::parts;

std::optional<int64_t> tile::parts::numberOf(Value v) {
  APInt number;
  if (auto splat = v.getDefiningOp<SplatOp>())
    v = splat.getSrc();
  if (!matchPattern(v, m_ConstantInt(&number)) || number.getSignificantBits() > 63)
    return std::nullopt;
  return number.getSExtValue();
}

Value tile::parts::asOne(OpBuilder &b, Location loc, Value block) {
  SmallVector<int64_t> shape(blockOf(block).getShape());
  int64_t last = shape.pop_back_val();
  shape.back() *= last;
  return ReshapeOp::create(b, loc, RankedTensorType::get(shape, blockOf(block).getElementType()),
                           block, false);
}

Value tile::parts::inGroups(OpBuilder &b, Location loc, Value block, int64_t count) {
  SmallVector<int64_t> shape(blockOf(block).getShape());
  shape.back() /= count;
  shape.push_back(count);
  return ReshapeOp::create(b, loc, RankedTensorType::get(shape, blockOf(block).getElementType()),
                           block, false);
}

// In the order of its bits: those of the lowest bit are the last to be taken apart by halves.
void tile::parts::takeHalves(OpBuilder &b, Location loc, Value block, MutableArrayRef<Value> parts,
                             size_t first, size_t step) {
  int64_t count = blockOf(block).getShape().back();
  if (count == 1) {
    SmallVector<int64_t> shape(blockOf(block).getShape().drop_back());
    parts[first] = ReshapeOp::create(
        b, loc, RankedTensorType::get(shape, blockOf(block).getElementType()), block, false);
    return;
  }
  Type element = blockOf(block).getElementType();
  SmallVector<int64_t> pairs(blockOf(block).getShape());
  pairs.back() = count / 2;
  auto half = RankedTensorType::get(pairs, element);
  if (count == 2) {
    half = RankedTensorType::get(ArrayRef(pairs).drop_back(), element);
  } else {
    pairs.push_back(2);
    block = ReshapeOp::create(b, loc, RankedTensorType::get(pairs, element), block, false);
  }
  auto split = SplitOp::create(b, loc, half, half, block);
  if (count == 2) {
    parts[first] = split.getLhs();
    parts[first + step] = split.getRhs();
    return;
  }
  takeHalves(b, loc, split.getLhs(), parts, first, 2 * step);
  takeHalves(b, loc, split.getRhs(), parts, first + step, 2 * step);
}

Value tile::parts::putTogether(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts[0];
  SmallVector<Value> even, odd;
  for (auto [i, part] : llvm::enumerate(parts))
    (i % 2 ? odd : even).push_back(part);
  Value halves[2] = {putTogether(b, loc, even), putTogether(b, loc, odd)};
  SmallVector<int64_t> shape(blockOf(halves[0]).getShape());
  Type element = blockOf(halves[0]).getElementType();
  shape.push_back(2);
  Value pairs = JoinOp::create(b, loc, RankedTensorType::get(shape, element), halves[0], halves[1]);
  if (parts.size() == 2)
    return pairs;
  shape.pop_back();
  shape.back() *= 2;
  return ReshapeOp::create(b, loc, RankedTensorType::get(shape, element), pairs, false);
}
