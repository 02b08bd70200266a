//===- AffineArithmetic.cpp - sums and multiples of base + constant -------===//
//
// Arithmetic of integers that are known to be others and a constant (core/Affine.cpp): sums and
// constant multiples of them share one emitted base.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Comparisons.h"
#include "passes/lowering/Elementwise.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// A wider position: its base is widened, once for all registers.
Value Elementwise::tryWider(Operation *op, Value v) {
  Affine x = core.affine(v);
  if (!isa<arith::ExtSIOp>(op) || !x.base || x.offset < 0 || bitWidth(v.getType()) != 32 ||
      !isPosition(op->getOperand(0)))
    return {};
  Type type = b.getI64Type();
  Value &wide = core.shared(x.base, Value(), INT64_MIN);
  if (!wide)
    wide = LLVM::SExtOp::create(b, in.getLoc(), type, x.base);
  return core.materialize({wide, x.offset}, type);
}

/// add, sub, mul by a constant and shl by a constant of values that are
/// base + constant. Null if nothing is gained.
Value Elementwise::tryAffine(Operation *op, ValueRange operands) {
  if (operands.size() == 1)
    return tryWider(op, operands[0]);
  if (operands.size() != 2 || !isa<IntegerType>(operands[0].getType()))
    return {};
  Type type = operands[0].getType();
  unsigned bits = bitWidth(type);
  if (bits != 32 && bits != 64)
    return {};
  Affine x = core.affine(operands[0]), y = core.affine(operands[1]);
  // Sums of bases are shared by all that add a constant to them.
  if (!x.offset && !y.offset && x.base && y.base && !isa<arith::AddIOp>(op))
    return {};
  auto wrap = [&](int64_t v) { return bits == 32 ? int64_t(int32_t(v)) : v; };
  auto once = [&](Value p, Value q, int64_t how, auto build) {
    Value &slot = core.shared(p, q, how);
    if (!slot)
      slot = build();
    return slot;
  };
  Location loc = in.getLoc();
  if (isa<arith::AddIOp>(op)) {
    Value base = x.base && y.base
                     ? once(x.base, y.base, INT64_MIN,
                            [&]() -> Value { return LLVM::AddOp::create(b, loc, x.base, y.base); })
                     : (x.base ? x.base : y.base);
    return core.materialize({base, wrap(int64_t(uint64_t(x.offset) + uint64_t(y.offset)))}, type);
  }
  if (isa<arith::SubIOp>(op)) {
    if (!y.base)
      return core.materialize({x.base, wrap(int64_t(uint64_t(x.offset) - uint64_t(y.offset)))},
                              type);
    return {};
  }
  // Products: (base + c) * k = base * k + c * k.
  int64_t factor;
  if (isa<arith::MulIOp>(op)) {
    if (!y.base)
      factor = y.offset;
    else if (!x.base) {
      factor = x.offset;
      std::swap(x, y);
    } else
      return {};
  } else if (isa<arith::ShLIOp>(op) && !y.base && y.offset >= 0 && y.offset < int64_t(bits))
    factor = int64_t(uint64_t(1) << y.offset);
  else
    return {};
  if (!x.base)
    return core.materialize({Value(), wrap(int64_t(uint64_t(x.offset) * uint64_t(factor)))}, type);
  if (!x.offset || factor == INT64_MIN) // which is the tag of sums
    return {};
  Value base = once(x.base, x.base, factor, [&]() -> Value {
    Value k = in.constant(type, b.getIntegerAttr(type, APInt(bits, factor, true, true)));
    return LLVM::MulOp::create(b, loc, x.base, k);
  });
  return core.materialize({base, wrap(int64_t(uint64_t(x.offset) * uint64_t(factor)))}, type);
}
