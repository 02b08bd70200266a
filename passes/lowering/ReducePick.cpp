//===- ReducePick.cpp - a sum of which at most one element is not zero -----===//
//
//   sum(where(arange(0, 16) == i, x, 0))     row i of x, as programs read it
//
// One lane has it, all others zeros: everyone asks that one, in place of a butterfly for each bit
// of the lanes that share the axis. Where `i` is no index of the axis, whoever is asked has zero.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/PickedElement.h"
#include "passes/lowering/ReduceLowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

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
  if (llvm::popcount(mask) < 2 || !isOneCommutativeOperation())
    return false;
  std::optional<OnlyIndex> only = pickedIndex(op);
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
