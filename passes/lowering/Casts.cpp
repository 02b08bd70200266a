//===- Casts.cpp - conversions between element types ----------------------===//
#include "ir/Algebra.h"
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Value Lowering::emitCast(Operation *op, ValueRange v) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return {};
  Location loc = in.getLoc();
  Type to = llvmType(getElementType(op->getResult(0).getType()));
  auto plain = [&](auto tag) -> Value { return decltype(tag)::create(b, loc, to, v[0]); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::ExtSIOp>([&](auto) { return plain(LLVM::SExtOp()); })
      .Case<arith::ExtUIOp>([&](auto) { return plain(LLVM::ZExtOp()); })
      .Case<arith::TruncIOp>([&](auto) { return plain(LLVM::TruncOp()); })
      .Case<arith::SIToFPOp>([&](auto) { return plain(LLVM::SIToFPOp()); })
      .Case<arith::UIToFPOp>([&](auto) { return plain(LLVM::UIToFPOp()); })
      .Case<arith::FPToSIOp>([&](auto) { return plain(LLVM::FPToSIOp()); })
      .Case<arith::FPToUIOp>([&](auto) { return plain(LLVM::FPToUIOp()); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto o) -> Value {
        return emitFpCast(v[0], getElementType(o.getType()), Rounding::rtne);
      })
      .Case<FpCastOp>([&](FpCastOp o) -> Value {
        Type from = getElementType(o.getSrc().getType());
        Type result = getElementType(o.getType());
        Value x = v[0];
        // The formats differ in what their bytes mean: name it while known.
        if (from.getIntOrFloatBitWidth() == 8)
          x = widenFp8(x, isa<Float8E4M3FNType>(from));
        if (result.getIntOrFloatBitWidth() == 8 && !x.getType().isF32())
          x = emitFpCast(x, b.getF32Type(), Rounding::rtne);
        return emitFpCast(x, result, o.getRounding());
      })
      .Case<arith::BitcastOp>(
          [&](auto) -> Value { return v[0].getType() == to ? v[0] : plain(LLVM::BitcastOp()); })
      .Case<PtrToIntOp>([&](auto) { return plain(LLVM::PtrToIntOp()); })
      .Case<IntToPtrOp>([&](auto) { return plain(LLVM::IntToPtrOp()); })
      .Case<PtrCastOp>([&](auto) { return v[0]; })
      .Default([](Operation *) { return Value(); });
}

/// A byte of fp8 as f16 or f32, whichever is nearer.
Value Lowering::widenFp8(Value x, bool e4m3) {
  if (in.sm() < 89)
    return callDevice(e4m3 ? "__tile_e4m3_to_f32" : "__tile_e5m2_to_f32", b.getF32Type(), x);
  Value wide = LLVM::ZExtOp::create(b, in.getLoc(), b.getI16Type(), x);
  return in.fp8x2ToF16(wide, e4m3).first;
}

Value Lowering::emitFpCast(Value x, Type to, Rounding rounding) {
  Location loc = in.getLoc();
  Type from = x.getType();
  if (from == to)
    return x;
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (toBits == 8) {
    bool e4m3 = isa<Float8E4M3FNType>(to);
    if (!from.isF32())
      x = emitFpCast(x, b.getF32Type(), Rounding::rtne);
    if (rounding == Rounding::rtz && !e4m3 && !module->hasAttr(algebra::kAlgebraicAttr)) {
      // Truncating the f16 pattern to its upper byte rounds toward zero.
      Value half = emitFpCast(x, b.getF16Type(), Rounding::rtz);
      Value bits = LLVM::BitcastOp::create(b, loc, b.getI16Type(), half);
      Value high =
          LLVM::LShrOp::create(b, loc, bits, in.constant(b.getI16Type(), b.getI16IntegerAttr(8)));
      return LLVM::TruncOp::create(b, loc, b.getI8Type(), high);
    }
    if (in.sm() < 89)
      return callDevice(e4m3 ? "__tile_f32_to_e4m3" : "__tile_f32_to_e5m2", b.getI8Type(), x);
    Value packed = in.f32x2ToFp8(x, in.zero(b.getF32Type()), e4m3);
    return LLVM::TruncOp::create(b, loc, b.getI8Type(), packed);
  }
  if (fromBits == toBits) // f16 <-> bf16
    return emitFpCast(emitFpCast(x, b.getF32Type(), Rounding::rtne), to, rounding);
  if (fromBits < toBits)
    return LLVM::FPExtOp::create(b, loc, to, x);
  if (rounding == Rounding::rtz && (to.isF16() || to.isBF16())) {
    if (!from.isF32())
      x = LLVM::FPTruncOp::create(b, loc, b.getF32Type(), x);
    return in.truncateTowardZero(x, to);
  }
  return LLVM::FPTruncOp::create(b, loc, to, x);
}
