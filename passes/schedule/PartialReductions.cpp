//===- PartialReductions.cpp - what each thread combines by itself --------===//
#include "passes/schedule/PartialReductions.h"
#include "ir/layout/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/facts/Combiners.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

namespace {
enum class Holder { None, Register, Lane, Warp };
} // namespace

/// Who holds the positions of `axis`, one entry for each bit of a position; empty if a bit of
/// register, lane or warp moves an element along more than that bit.
static SmallVector<Holder> holdersOf(const LinearLayout &layout, unsigned axis) {
  SmallVector<Holder> holders(layout.outSizeLog2(Dim::dim(axis)), Holder::None);
  std::pair<Dim, Holder> kinds[] = {
      {Dim::reg(), Holder::Register}, {Dim::lane(), Holder::Lane}, {Dim::warp(), Holder::Warp}};
  for (auto [in, holder] : kinds)
    for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit) {
      layout::Basis basis = layout.basis(in, bit);
      int32_t step = basis[axis];
      if (step == 0)
        continue;
      basis[axis] = 0;
      bool isPlain = llvm::isPowerOf2_32(step) && llvm::all_of(basis, [](int32_t i) { return !i; });
      if (!isPlain || holders[llvm::Log2_32(step)] != Holder::None)
        return {};
      holders[llvm::Log2_32(step)] = holder;
    }
  return llvm::is_contained(holders, Holder::None) ? SmallVector<Holder>() : holders;
}

static RankedTensorType reshaped(RankedTensorType type, ArrayRef<int64_t> shape) {
  auto to = RankedTensorType::get(shape, type.getElementType());
  return cta::withLayout(to, layout::reshape(cta::getLayout(type), shape));
}

static RankedTensorType without(RankedTensorType type, unsigned axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  auto to = RankedTensorType::get(shape, type.getElementType());
  return cta::withLayout(to, layout::sliceAxis(cta::getLayout(type), axis));
}

std::optional<PartialReduction> PartialReduction::of(ReduceOp op) {
  if (op.getNumInputs() != 1 || needsOrder(op))
    return std::nullopt;
  PartialReduction partial(op);
  RankedTensorType type = op.getInputType();
  unsigned axis = op.getAxis();
  SmallVector<Holder> holders = holdersOf(cta::getLayout(type), axis);
  partial.overWarps = llvm::is_contained(holders, Holder::Warp);
  if (!partial.overWarps && !llvm::is_contained(holders, Holder::Lane))
    return std::nullopt;
  // An axis for each run, the highest positions first.
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  int64_t threads = 1;
  for (size_t end = holders.size(); end > 0;) {
    bool isOwn = holders[end - 1] == Holder::Register;
    size_t begin = end;
    while (begin > 0 && (holders[begin - 1] == Holder::Register) == isOwn)
      --begin;
    if (isOwn)
      partial.ownAxes.insert(partial.ownAxes.begin(), unsigned(shape.size()));
    else
      threads <<= end - begin;
    shape.push_back(int64_t(1) << (end - begin));
    end = begin;
  }
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  partial.splitType = reshaped(type, shape);
  RankedTensorType last = partial.splitType;
  for (unsigned own : partial.ownAxes)
    last = without(last, own);
  SmallVector<int64_t> merged(type.getShape());
  merged[axis] = threads;
  partial.partialType = reshaped(last, merged);
  return partial;
}

/// The reduction along `axis` of `block`, by the combiner of `op`; null: where the rest lives.
Value PartialReduction::combine(OpBuilder &b, Value block, unsigned axis, Type result) const {
  auto type = cast<RankedTensorType>(block.getType());
  if (!result)
    result = type.getRank() == 1 ? type.getElementType() : Type(without(type, axis));
  auto reduce = ReduceOp::create(b, op.getLoc(), TypeRange(result), ValueRange(block), axis);
  IRMapping map;
  op.getCombine().cloneInto(&reduce.getCombine(), map);
  return reduce.getResult(0);
}

Value PartialReduction::begin(OpBuilder &b, Value block) const {
  if (splitType != block.getType())
    block = ReshapeOp::create(b, op.getLoc(), splitType, block);
  for (unsigned own : ownAxes)
    block = combine(b, block, own);
  if (block.getType() != partialType)
    block = ReshapeOp::create(b, op.getLoc(), partialType, block);
  return block;
}

Value PartialReduction::finish(OpBuilder &b, Value partial) const {
  Type wanted = op.getResult(0).getType();
  Value result = combine(b, partial, op.getAxis(), overWarps ? wanted : Type());
  if (result.getType() != wanted)
    result = cta::ConvertLayoutOp::create(b, op.getLoc(), wanted, result);
  return result;
}

Value PartialReduction::repeat(OpBuilder &b, Value result) const {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  auto parts = RankedTensorType::get(partialType.getShape(), getElementTypeOrSelf(result.getType()),
                                     partialType.getEncoding());
  if (!type)
    return SplatOp::create(b, op.getLoc(), parts, result);
  if (DenseElementsAttr same; matchPattern(result, m_Constant(&same)) && same.isSplat())
    return arith::ConstantOp::create(
        b, op.getLoc(), DenseElementsAttr::get(parts, same.getSplatValue<Attribute>()));
  SmallVector<int64_t> shape(partialType.getShape());
  shape[axis()] = 1;
  auto row = cta::withLayout(RankedTensorType::get(shape, type.getElementType()),
                             layout::broadcastOperand(cta::getLayout(parts), shape));
  // Sums of what warps multiply in parts do not live where the parts do.
  if (RankedTensorType there = without(row, axis()); result.getType() != there)
    result = cta::ConvertLayoutOp::create(b, op.getLoc(), there, result);
  result = ExpandDimsOp::create(b, op.getLoc(), row, result, axis());
  return BroadcastOp::create(b, op.getLoc(), parts, result);
}
