//===- Casts.cpp - conversions between scalar types -----------------------===//
//
// One cast is at most three ops: narrow floats go through fp32 where there is
// no direct conversion with defined rounding.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Emitter.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

static bool isHalf(const DType &type) {
  return type.kind() == Kind::Float16 || type.kind() == Kind::BFloat16;
}

/// fp8e4b15 is held as bytes: it is fp16 without the upper bit of the exponent
/// and the lower seven of the mantissa. Rounded half up in magnitude, and
/// limited to 1.75, as existing kernels expect; NaN becomes 1.75 as well.
static Tensor decodeE4B15(Emitter &e, const Tensor &x) {
  DType wide = Kind::UInt16;
  Tensor bits{e.create<arith::ExtUIOp>(e.irType(wide, x.shape()), x.value), wide};
  auto constant = [&](int64_t v) { return e.intConstant(v, wide, x.shape()); };
  Tensor magnitude = e.arithmetic(BinaryOp::LShift,
                                  e.arithmetic(BinaryOp::And, bits, constant(0x7f)), constant(7));
  Tensor sign = e.arithmetic(BinaryOp::LShift, e.arithmetic(BinaryOp::And, bits, constant(0x80)),
                             constant(8));
  return e.bitcast(e.arithmetic(BinaryOp::Or, magnitude, sign), Kind::Float16);
}

static Tensor encodeE4B15(Emitter &e, const Tensor &half) {
  DType wide = Kind::UInt16;
  Tensor bits = e.bitcast(half, wide);
  auto constant = [&](int64_t v) { return e.intConstant(v, wide, half.shape()); };
  Tensor magnitude = e.arithmetic(BinaryOp::And, bits, constant(0x7fff));
  magnitude = e.minMax(MinMax::Min, magnitude, constant(0x3f00), /*propagateNan=*/false);
  magnitude = e.arithmetic(BinaryOp::LShift, magnitude, constant(1));
  magnitude = e.arithmetic(BinaryOp::Add, magnitude, constant(0x80));
  Tensor sign = e.arithmetic(BinaryOp::And, bits, constant(0x8000));
  Tensor both =
      e.arithmetic(BinaryOp::RShift, e.arithmetic(BinaryOp::Or, magnitude, sign), constant(8));
  DType to = Kind::Float8E4B15;
  return {e.create<arith::TruncIOp>(e.irType(to, half.shape()), both.value), to};
}

/// Float to float. 8-bit formats convert to and from fp32 and the two half
/// formats; anything else goes through fp32.
static Tensor castFloat(Emitter &e, const Tensor &x, const DType &to, bool towardZero) {
  if (x.type.kind() == Kind::Float8E4B15)
    return castFloat(e, decodeE4B15(e, x), to, towardZero);
  if (to.kind() == Kind::Float8E4B15)
    return encodeE4B15(e, castFloat(e, x, Kind::Float16, towardZero));
  if (x.type == to)
    return x;
  bool fp8 = x.type.isFp8() || to.isFp8();
  bool viaFp32 = (isHalf(x.type) && isHalf(to)) || (x.type.isFp8() && to.isFp8()) ||
                 (fp8 && (x.type.kind() == Kind::Float64 || to.kind() == Kind::Float64));
  if (viaFp32)
    return castFloat(e, castFloat(e, x, Kind::Float32, towardZero), to, towardZero);
  Type ir = e.irType(to, x.shape());
  bool narrows = to.bitWidth() < x.type.bitWidth();
  if (fp8 || (towardZero && narrows)) {
    Rounding rounding = towardZero && narrows ? Rounding::rtz : Rounding::rtne;
    return {e.create<FpCastOp>(ir, x.value, rounding), to};
  }
  if (narrows)
    return {e.create<arith::TruncFOp>(ir, x.value), to};
  return {e.create<arith::ExtFOp>(ir, x.value), to};
}

static Tensor castInteger(Emitter &e, const Tensor &x, const DType &to) {
  Type ir = e.irType(to, x.shape());
  unsigned from = x.type.bitWidth(), bits = to.bitWidth();
  if (from == bits)
    return {x.value, to};
  if (bits < from)
    return {e.create<arith::TruncIOp>(ir, x.value), to};
  if (x.type.isSigned())
    return {e.create<arith::ExtSIOp>(ir, x.value), to};
  return {e.create<arith::ExtUIOp>(ir, x.value), to};
}

static Tensor castFromPointer(Emitter &e, const Tensor &x, const DType &to) {
  if (to.isPointer())
    return {e.create<PtrCastOp>(e.irType(to, x.shape()), x.value), to};
  Tensor address{e.create<PtrToIntOp>(e.irType(Kind::Int64, x.shape()), x.value),
                 DType(Kind::Int64)};
  if (to.bitWidth() == 64)
    return {address.value, to};
  return e.isTrue(address); // a null test
}

Tensor Emitter::cast(const Tensor &x, const DType &to, bool towardZero) {
  if (!x)
    return {};
  const DType &from = x.type;
  if (from == to)
    return x;
  std::string reason;
  if (!supportedOn(to, target, reason))
    return poison(reason);
  if (!specialize::irType(builder.getContext(), to)) {
    unsupported(formatted("cannot convert to {}: no value can have this type", to.str()));
    return {};
  }
  if (from.isPointer()) {
    if (to.isPointer() || to.isBool() || (to.isInt() && to.bitWidth() == 64))
      return castFromPointer(*this, x, to);
    return poison(
        formatted("cannot convert pointer {} to {}; int64 and other pointers are possible",
                  from.str(), to.str()));
  }
  if (to.isPointer()) {
    if (!from.isInt())
      return poison(formatted("cannot convert {} to pointer {}", from.str(), to.str()));
    Tensor address = castInteger(*this, x, Kind::Int64);
    return {create<IntToPtrOp>(irType(to, x.shape()), address.value), to};
  }
  if (to.isBool())
    return isTrue(x);
  if (from.isFloating() && to.isFloating())
    return castFloat(*this, x, to, towardZero);
  if (from.isInt() && to.isInt())
    return castInteger(*this, x, to);
  Type ir = irType(to, x.shape());
  if (from.isInt()) {
    if (to.isFp8())
      return castFloat(*this, cast(x, Kind::Float32), to, towardZero);
    if (from.isSigned())
      return {create<arith::SIToFPOp>(ir, x.value), to};
    return {create<arith::UIToFPOp>(ir, x.value), to};
  }
  Tensor wide = isHalf(from) || from.isFp8() ? castFloat(*this, x, Kind::Float32, false) : x;
  if (to.isSigned())
    return {create<arith::FPToSIOp>(ir, wide.value), to};
  return {create<arith::FPToUIOp>(ir, wide.value), to};
}

Tensor Emitter::bitcast(const Tensor &x, const DType &to) {
  if (!x || x.type == to)
    return x;
  std::string reason;
  if (!supportedOn(to, target, reason))
    return poison(reason);
  if (x.type.isPointer() || to.isPointer())
    return cast(x, to);
  if (x.type.bitWidth() != to.bitWidth())
    return poison(formatted("cannot bitcast {} ({} bits) to {} ({} bits)",
                            describe(x.type, x.shape()), x.type.bitWidth(), to.str(),
                            to.bitWidth()));
  Type ir = irType(to, x.shape());
  if (ir == x.value.getType())
    return {x.value, to};
  return {create<arith::BitcastOp>(ir, x.value), to};
}

} // namespace tile::specialize
