//===- ReducePick.cpp - a sum of which at most one element is not zero -----===//
//
//   sum(where(arange(0, 16) == i, x, 0))     row i of x, as programs read it
//
// One lane has it, all others zeros: everyone asks that one, in place of a butterfly for each bit
// of the lanes that share the axis. Where `i` is no index of the axis, whoever is asked has zero.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/lowering/ReduceLowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

namespace {
/// The only index of an axis at which a mask may hold: a number, if there is one, and `offset`.
struct OnlyIndex {
  Value number;
  int64_t offset;
};
} // namespace

/// `v`, counted one by one along its only axis: where it starts.
static std::optional<int64_t> startOfRange(Value v) {
  Operation *op = v.getDefiningOp();
  while (op && isa<arith::ExtSIOp, cta::ConvertLayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto range = dyn_cast_or_null<MakeRangeOp>(op);
  return range ? std::optional<int64_t>(range.getStart()) : std::nullopt;
}

static std::optional<OnlyIndex> onlyIndex(Value mask, unsigned axis) {
  Operation *op = mask.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::AndIOp>(op)) {
    std::optional<OnlyIndex> left = onlyIndex(op->getOperand(0), axis);
    return left ? left : onlyIndex(op->getOperand(1), axis);
  }
  if (isa<cta::ConvertLayoutOp>(op))
    return onlyIndex(op->getOperand(0), axis);
  if (isa<BroadcastOp>(op)) {
    bool isRepeated = cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(axis) == 1;
    return isRepeated ? std::nullopt : onlyIndex(op->getOperand(0), axis);
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    unsigned added = unsigned(expand.getAxis());
    return added == axis ? std::nullopt : onlyIndex(expand.getSrc(), axis - (added < axis));
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      cast<RankedTensorType>(mask.getType()).getRank() != 1)
    return std::nullopt;
  for (auto [range, other] : {std::pair(compare.getLhs(), compare.getRhs()),
                              std::pair(compare.getRhs(), compare.getLhs())})
    if (std::optional<int64_t> start = startOfRange(range)) {
      APInt constant;
      if (matchPattern(other, m_ConstantInt(&constant)))
        return OnlyIndex{{}, constant.getSExtValue() - *start};
      if (auto splat = other.getDefiningOp<SplatOp>())
        return OnlyIndex{splat.getSrc(), -*start};
    }
  return std::nullopt;
}

/// Whether each lane bit of `mask` is a bit of the index along `axis`, and nothing else has a part
/// in these.
static bool areBitsOfIndex(const LinearLayout &layout, unsigned mask, unsigned axis) {
  int32_t bits = 0;
  for (int32_t bit = 0; bit < layout.inSizeLog2(Dim::lane()); ++bit)
    if (mask >> bit & 1) {
      int32_t index = layout.basis(Dim::lane(), bit)[axis];
      if (!llvm::isPowerOf2_32(uint32_t(index)) || (bits & index))
        return false;
      bits |= index;
    }
  for (Dim in : {Dim::reg(), Dim::lane(), Dim::warp()})
    for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit)
      if (!(in == Dim::lane() && (mask >> bit & 1)) && (layout.basis(in, bit)[axis] & bits))
        return false;
  return true;
}

FailureOr<bool> ReduceLowering::pickLane(unsigned mask) {
  if (llvm::popcount(mask) < 2 || op.getSrcs().size() != 1 || !isOneCommutativeOperation() ||
      !isa<arith::AddFOp, arith::AddIOp>(op.getCombineBlock().front()))
    return false;
  auto chosen = op.getSrcs()[0].getDefiningOp<arith::SelectOp>();
  bool isZeroElse = chosen && (matchPattern(chosen.getFalseValue(), m_PosZeroFloat()) ||
                               matchPattern(chosen.getFalseValue(), m_Zero()));
  if (!isZeroElse || !isa<RankedTensorType>(chosen.getCondition().getType()))
    return false;
  std::optional<OnlyIndex> only = onlyIndex(chosen.getCondition(), axis);
  if (!only || !areBitsOfIndex(layout, mask, axis))
    return false;
  // 1. The lane that has it, of those that differ in the bits of the mask only.
  Location loc = core.in.getLoc();
  Value index = core.in.i32(int32_t(only->offset));
  if (Value number = only->number ? core.getScalar(only->number) : Value()) {
    unsigned bits = bitWidth(number.getType());
    if (bits > 32)
      number = LLVM::TruncOp::create(core.b, loc, core.b.getI32Type(), number);
    else if (bits < 32)
      number = LLVM::SExtOp::create(core.b, loc, core.b.getI32Type(), number);
    index = only->offset ? LLVM::AddOp::create(core.b, loc, number, index).getResult() : number;
  }
  Value source = LLVM::AndOp::create(core.b, loc, core.lane(), core.in.i32(int32_t(31 & ~mask)));
  for (unsigned bit = 0; bit < 5; ++bit) {
    if (!(mask >> bit & 1))
      continue;
    unsigned from = llvm::Log2_32(uint32_t(layout.basis(Dim::lane(), int32_t(bit))[axis]));
    Value part = LLVM::LShrOp::create(core.b, loc, index, core.in.i32(int32_t(from)));
    part = LLVM::AndOp::create(core.b, loc, part, core.in.i32(1));
    part = LLVM::ShlOp::create(core.b, loc, part, core.in.i32(int32_t(bit)));
    source = LLVM::OrOp::create(core.b, loc, source, part);
  }
  // 2. What it has. A sum is no negative zero, though what it is of may be one.
  for (auto [group, a] : llvm::zip_equal(groups, acc)) {
    Value picked = core.in.shuffleIdx(a[0], source);
    if (group.size() == 1) {
      Type type = picked.getType();
      Value zero = core.in.constant(type, core.b.getZeroAttr(type));
      FailureOr<Registers> sum = core.apply(op.getCombineBlock(), {picked, zero}, Value());
      if (failed(sum))
        return failure();
      picked = sum->front();
    }
    a[0] = picked;
  }
  return true;
}
