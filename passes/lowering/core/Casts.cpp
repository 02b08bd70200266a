//===- Casts.cpp - conversions between element types ----------------------===//
#include "passes/lowering/core/Casts.h"
#include "ir/Attributes.h"
#include "passes/lowering/instructions/PtxText.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Value Casts::emit(Operation *op, ValueRange v) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return {};
  Location loc = in.getLoc();
  Type to = core.llvmType(getElementType(op->getResult(0).getType()));
  auto plain = [&](auto tag) -> Value { return decltype(tag)::create(b, loc, to, v[0]); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::ExtSIOp>([&](auto) { return plain(LLVM::SExtOp()); })
      .Case<arith::ExtUIOp>([&](auto) { return plain(LLVM::ZExtOp()); })
      .Case<arith::TruncIOp>([&](auto) { return plain(LLVM::TruncOp()); })
      .Case<arith::SIToFPOp>([&](auto) { return plain(LLVM::SIToFPOp()); })
      .Case<arith::UIToFPOp>([&](auto) { return plain(LLVM::UIToFPOp()); })
      .Case<arith::FPToSIOp>([&](auto) { return emitToInteger(v[0], to, /*isSigned=*/true); })
      .Case<arith::FPToUIOp>([&](auto) { return emitToInteger(v[0], to, /*isSigned=*/false); })
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

/// Whether LLVM may compute, of a conversion of `x`, what it is of numbers in range alone.
static bool mayFoldConversion(Value x) {
  Operation *op = x.getDefiningOp();
  return !op || isa<LLVM::ConstantOp, LLVM::SelectOp, LLVM::SIToFPOp, LLVM::UIToFPOp>(op);
}

/// `x` as 16 bits, behind LLVM's back.
Value Casts::emitToHalfWord(Value x, bool isSigned) {
  if (x.getType().isF32())
    return in.inlineAsm(isSigned ? ptx::kSignedHalfWord : ptx::kUnsignedHalfWord, "=h,f",
                        b.getI16Type(), x, /*sideEffects=*/false);
  Location loc = in.getLoc();
  Value word = in.toIntegerTowardZero(x, b.getI32Type(), isSigned);
  if (isSigned) {
    word = LLVM::SMaxOp::create(b, loc, word, in.i32(int32_t(llvm::minIntN(16))));
    word = LLVM::SMinOp::create(b, loc, word, in.i32(int32_t(llvm::maxIntN(16))));
  } else {
    word = LLVM::UMinOp::create(b, loc, word, in.i32(int32_t(llvm::maxUIntN(16))));
    // The highest bit alone, which may be a number in 32 bits.
    Value isNaN = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, x, x);
    word = LLVM::SelectOp::create(b, loc, isNaN, in.i32(1 << 15), word);
  }
  return LLVM::TruncOp::create(b, loc, b.getI16Type(), word);
}

/// Numbers outside of the type become its nearest. There are instructions for 16 bits and more;
/// 8 bits are the lower half of 16.
Value Casts::emitToInteger(Value x, Type to, bool isSigned) {
  Location loc = in.getLoc();
  if (x.getType().getIntOrFloatBitWidth() < 32)
    x = LLVM::FPExtOp::create(b, loc, b.getF32Type(), x);
  bool isAlgebraic = core.module->hasAttr(kAlgebraicAttr); // nothing is out of range
  unsigned width = std::max(to.getIntOrFloatBitWidth(), 16u);
  Type converted = b.getIntegerType(width);
  Value result;
  if (mayFoldConversion(x) && !isAlgebraic)
    result =
        width == 16 ? emitToHalfWord(x, isSigned) : in.toIntegerTowardZero(x, converted, isSigned);
  else if (isSigned)
    result = LLVM::FPToSIOp::create(b, loc, converted, x);
  else
    result = LLVM::FPToUIOp::create(b, loc, converted, x);
  return converted == to ? result : LLVM::TruncOp::create(b, loc, to, result).getResult();
}

Value Casts::widenFp8(Value x, bool e4m3) {
  if (!in.target().has(Feature::ConvertFp8))
    return core.callDevice(e4m3 ? "__tile_e4m3_to_f32" : "__tile_e5m2_to_f32", b.getF32Type(), x);
  Value wide = LLVM::ZExtOp::create(b, in.getLoc(), b.getI16Type(), x);
  return in.fp8x2ToF16(wide, e4m3).first;
}

Value Casts::widen(Value x, Type from, Type to) {
  if (isa<IntegerType>(from))
    return LLVM::SExtOp::create(b, in.getLoc(), to, x);
  if (from.getIntOrFloatBitWidth() != 8)
    return emitFpCast(x, to, Rounding::rtne);
  return emitFpCast(widenFp8(x, isa<Float8E4M3FNType>(from)), to, Rounding::rtne);
}

Value Casts::emitFpCast(Value x, Type to, Rounding rounding) {
  Location loc = in.getLoc();
  Type from = x.getType();
  if (from == to)
    return x;
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (toBits == 8) {
    bool e4m3 = isa<Float8E4M3FNType>(to);
    if (!from.isF32())
      x = emitFpCast(x, b.getF32Type(), Rounding::rtne);
    if (rounding == Rounding::rtz && !e4m3 && !core.module->hasAttr(kAlgebraicAttr)) {
      // Truncating the f16 pattern to its upper byte rounds toward zero.
      Value half = emitFpCast(x, b.getF16Type(), Rounding::rtz);
      Value bits = LLVM::BitcastOp::create(b, loc, b.getI16Type(), half);
      Value high =
          LLVM::LShrOp::create(b, loc, bits, in.constant(b.getI16Type(), b.getI16IntegerAttr(8)));
      return LLVM::TruncOp::create(b, loc, b.getI8Type(), high);
    }
    if (!in.target().has(Feature::ConvertFp8))
      return core.callDevice(e4m3 ? "__tile_f32_to_e4m3" : "__tile_f32_to_e5m2", b.getI8Type(), x);
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
