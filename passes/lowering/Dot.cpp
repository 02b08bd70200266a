//===- Dot.cpp - matrix products ------------------------------------------===//
//
// Without a matrix unit for its types, a product is one multiply-add for each
// accumulator register and each step of the inner dimension, on operands in
// the thread's own registers.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// The type in which sums of products are kept while they grow.
static Type sumType(OpBuilder &b, Type acc) { return acc.isF16() ? b.getF32Type() : acc; }

/// An operand's element in the type of the sum. `from`: its type in the IR.
Value Lowering::widenOperand(Value x, Type from, Type to) {
  Location loc = in.getLoc();
  if (isa<IntegerType>(from))
    return LLVM::SExtOp::create(b, loc, to, x);
  if (from.getIntOrFloatBitWidth() != 8)
    return emitFpCast(x, to, Rounding::rtne);
  return emitFpCast(widenFp8(x, isa<Float8E4M3FNType>(from)), to, Rounding::rtne);
}

namespace {
/// Which register of this thread holds an element: by coordinates at lane 0,
/// warp 0, since the thread parts of all operands agree.
class RegisterMap {
public:
  explicit RegisterMap(const LinearLayout &layout) {
    for (int32_t r = layout.inSize(Dim::reg()); r-- > 0;)
      byCoordinates[key(registerCoordinates(layout, r))] = r;
  }
  std::optional<unsigned> find(ArrayRef<int32_t> coordinates) const {
    auto it = byCoordinates.find(key(coordinates));
    return it == byCoordinates.end() ? std::nullopt : std::optional(it->second);
  }

private:
  static uint64_t key(ArrayRef<int32_t> coordinates) {
    uint64_t packed = 0; // a block has at most 2^20 elements
    for (int32_t c : coordinates)
      packed = packed << 21 | uint64_t(c);
    return packed;
  }
  llvm::DenseMap<uint64_t, unsigned> byCoordinates;
};
} // namespace

LogicalResult Lowering::multiplyAdd(DotOp op) {
  Location loc = in.getLoc();
  Type type = getElementType(op.getType()), sum = sumType(b, type);
  const LinearLayout &layout = cta::getLayout(op.getType());
  unsigned rank = layout.outs().size();
  auto widened = [&](Value operand) {
    Registers regs;
    for (Value v : get(operand))
      regs.push_back(widenOperand(v, getElementType(operand.getType()), sum));
    return regs;
  };
  Registers a = widened(op.getA()), x = widened(op.getB());
  RegisterMap inA(cta::getLayout(op.getA().getType())), inB(cta::getLayout(op.getB().getType()));
  bool cut = op.getInputPrecision() == InputPrecision::tf32;
  for (Registers *regs : {&a, &x})
    for (Value &v : *regs)
      v = cut ? in.cutToTf32(v) : v;

  Registers result;
  for (Value v : get(op.getAcc()))
    result.push_back(type == sum ? v : emitFpCast(v, sum, Rounding::rtne));
  int64_t depth = op.getA().getType().getShape().back();
  for (int32_t k = 0; k < depth; ++k)
    for (auto [r, acc] : llvm::enumerate(result)) {
      SmallVector<int32_t> row = registerCoordinates(layout, r), column = row;
      row[rank - 1] = column[rank - 2] = k;
      auto i = inA.find(row), j = inB.find(column);
      if (!i || !j)
        return op.emitOpError("has operands in layouts that do not follow from its result's");
      if (isa<IntegerType>(sum))
        acc = LLVM::AddOp::create(b, loc, LLVM::MulOp::create(b, loc, a[*i], x[*j]), acc);
      else
        acc = LLVM::FMAOp::create(b, loc, a[*i], x[*j], acc);
    }
  for (Value &v : result)
    v = type == sum ? v : emitFpCast(v, type, Rounding::rtne);
  set(op.getResult(), std::move(result));
  return success();
}

LogicalResult Lowering::lowerDot(DotOp op) { return multiplyAdd(op); }
