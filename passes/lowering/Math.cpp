//===- Math.cpp - mathematical functions ----------------------------------===//
//
// What the hardware has in one instruction is used where the language accepts
// its accuracy (f32 exp2, sqrt, rsqrt, division); the rest are calls into the
// device library, linked in when the module asks for them.
//
//===----------------------------------------------------------------------===//
#include "devicelib/DeviceLibrary.h"
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Elementwise.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// Whether `v` is a constant of magnitude 1 and more; positive, if that is asked for.
static bool isLarge(Value v, bool positive = false) {
  Attribute value;
  if (!matchPattern(v, m_Constant(&value)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(value);
  if (!number)
    return false;
  double x = number.getValueAsDouble();
  return x >= 1 || (!positive && x <= -1);
}

/// Whether `op` is only added to numbers of magnitude 1 and more: then what its result
/// has beyond the precision of 1 is lost anyway.
static bool isOnlyAddedToLarge(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto add = dyn_cast<arith::AddFOp>(user);
    return add && llvm::any_of(add->getOperands(), [](Value v) { return isLarge(v); });
  });
}

bool tile::lowering::isReciprocalOfLarge(arith::DivFOp op) {
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  if (!sum || !matchPattern(op.getLhs(), m_OneFloat()))
    return false;
  auto isPower = [](Value v) {
    return v.getDefiningOp<math::ExpOp>() || v.getDefiningOp<math::Exp2Op>();
  };
  return (isLarge(sum.getLhs(), true) && isPower(sum.getRhs())) ||
         (isLarge(sum.getRhs(), true) && isPower(sum.getLhs()));
}

Value Elementwise::emitMath(Operation *op, ValueRange v) {
  Location loc = in.getLoc();
  if (!isa<math::MathDialect>(op->getDialect()) || v.empty())
    return {};
  Type type = v[0].getType();
  bool f32 = type.isF32();
  auto library = [&]() -> Value {
    StringRef symbol = deviceFunctionForMath(op->getName().stripDialect(), bitWidth(type));
    return symbol.empty() ? Value() : core.callDevice(symbol, type, v);
  };
  auto same = [&](auto tag) -> Value { return decltype(tag)::create(b, loc, type, v); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::AbsFOp>([&](auto) { return same(LLVM::FAbsOp()); })
      .Case<math::AbsIOp>([&](auto) -> Value {
        if (type.isInteger(16)) // as for `negate`: the assembler takes abs.s16 never to overflow
          return LLVM::SMaxOp::create(b, loc, v[0], in.negate(v[0]));
        return LLVM::AbsOp::create(b, loc, type, v[0], /*is_int_min_poison=*/false);
      })
      .Case<math::CeilOp>([&](auto) { return same(LLVM::FCeilOp()); })
      .Case<math::FloorOp>([&](auto) { return same(LLVM::FFloorOp()); })
      .Case<math::TruncOp>([&](auto) { return same(LLVM::FTruncOp()); })
      .Case<math::RoundEvenOp>([&](auto) { return same(LLVM::RoundEvenOp()); })
      .Case<math::CopySignOp>([&](auto) { return same(LLVM::CopySignOp()); })
      .Case<math::FmaOp>([&](auto) { return same(LLVM::FMAOp()); })
      .Case<math::CtPopOp>([&](auto) { return same(LLVM::CtPopOp()); })
      .Case<math::CountLeadingZerosOp>([&](auto) -> Value {
        return LLVM::CountLeadingZerosOp::create(b, loc, type, v[0], false);
      })
      .Case<math::Exp2Op>([&](auto) -> Value { return f32 ? in.exp2Approx(v[0]) : library(); })
      .Case<math::ExpOp>([&](auto) -> Value {
        if (!f32)
          return library();
        // exp(x) = 2^(x log2 e), as the language's reference computes it.
        Value log2e = in.constant(type, b.getF32FloatAttr(1.44269504088896340736f));
        return in.exp2Approx(LLVM::FMulOp::create(b, loc, v[0], log2e));
      })
      .Case<math::ErfOp>([&](auto) -> Value {
        return f32 && isOnlyAddedToLarge(op) ? core.callDevice("__tile_erf_absolutef", type, v)
                                             : library();
      })
      .Case<math::SqrtOp>(
          [&](auto) -> Value { return f32 ? in.sqrtApprox(v[0]) : in.sqrtRn(v[0]); })
      .Case<math::RsqrtOp>([&](auto) -> Value { return f32 ? in.rsqrtApprox(v[0]) : library(); })
      .Default([&](Operation *) -> Value { return f32 || type.isF64() ? library() : Value(); });
}
