//===- BuiltinsDotScaled.cpp - products of block-scaled operands ----------===//
//
// `tl.dot_scaled` in terms of the rest: each operand is decoded to a 16-bit
// float (bf16, or fp16 beside an fp16 operand), multiplied by its scales, and
// the two are multiplied with `tile.dot`. A scale belongs to a group of 16 or
// 32 elements along the inner dimension.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Builtins.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace tile::specialize {

namespace {
enum class Format { E2M1, E4M3, E5M2, FP16, BF16 };

/// One operand of the product, as it is given and as it is decoded.
struct ScaledOperand {
  unsigned value, scale, format, pack; ///< argument numbers
  bool isLeft;
  Format kind = Format::BF16;
  Tensor x, scales;

  /// The inner dimension of the operand, counted from the end.
  int64_t inner(int64_t rank) const { return isLeft ? rank - 1 : rank - 2; }
  int64_t outer(int64_t rank) const { return isLeft ? rank - 2 : rank - 1; }
};

struct DotScaled {
  BuiltinCall &c;
  Specializer &s = c.s;
  ScaledOperand left, right;
  DType type; ///< of the decoded operands
  bool fastMath = false;

  explicit DotScaled(BuiltinCall &c) : c(c), left(), right() {
    left.value = 0, left.scale = 1, left.format = 2, left.pack = 8, left.isLeft = true;
    right.value = 3, right.scale = 4, right.format = 5, right.pack = 9, right.isLeft = false;
  }
  bool fail(std::string message) {
    c.fail(std::move(message));
    return false;
  }
  bool read(ScaledOperand &o);
  Tensor unpacked(const ScaledOperand &o);
  Tensor decoded(const ScaledOperand &o);
  Tensor scaleValues(const Tensor &scales, const DType &to);
  Tensor spread(const ScaledOperand &o, const Tensor &scales, int64_t depth);
  Tensor scaled(const ScaledOperand &o);
  PyValue run();
};
} // namespace

static std::string described(const Tensor &x) { return describe(x.type, x.shape()); }

static SmallVector<int64_t> dims(const Tensor &x) { return SmallVector<int64_t>(x.shape()); }

/// Reads and checks one operand with its format and scales.
bool DotScaled::read(ScaledOperand &o) {
  auto name = c.string(o.format);
  o.x = c.tensor(o.value);
  if (!name || !o.x)
    return false;
  auto found = llvm::StringSwitch<std::optional<Format>>(*name)
                   .Case("e2m1", Format::E2M1)
                   .Case("e4m3", Format::E4M3)
                   .Case("e5m2", Format::E5M2)
                   .Case("fp16", Format::FP16)
                   .Case("bf16", Format::BF16)
                   .Default(std::nullopt);
  if (!found)
    return fail(
        formatted("{} must be one of \"e2m1\", \"e4m3\", \"e5m2\", \"fp16\", \"bf16\", got \"{}\"",
                  c.parameter(o.format), *name));
  o.kind = *found;
  Kind stored = o.kind == Format::FP16   ? Kind::Float16
                : o.kind == Format::BF16 ? Kind::BFloat16
                : o.kind == Format::E4M3 ? Kind::Float8E4NV
                : o.kind == Format::E5M2 ? Kind::Float8E5
                                         : Kind::UInt8;
  bool isBytes = o.x.type.isInt() && o.x.type.bitWidth() == 8;
  bool is16 = o.kind == Format::FP16 || o.kind == Format::BF16;
  if (!o.x.isBlock() || (o.x.rank() != 2 && o.x.rank() != 3))
    return fail(formatted("{} must be a block of two or three dimensions, got {}",
                          c.parameter(o.value), described(o.x)));
  if (o.x.type.kind() != stored && (is16 || !isBytes))
    return fail(formatted("{} in format \"{}\" must be {}{}, got {}", c.parameter(o.value), *name,
                          DType(stored).str(), is16 || stored == Kind::UInt8 ? "" : " or u8",
                          described(o.x)));
  if (!c.flag(o.pack, true) && o.kind != Format::E2M1)
    return fail(
        formatted("{} is for \"e2m1\", whose bytes hold two elements", c.parameter(o.pack)));
  if (!c.has(o.scale))
    return true;
  o.scales = c.tensor(o.scale);
  if (!o.scales)
    return false;
  bool isE8 = o.scales.type.isInt() && o.scales.type.bitWidth() == 8;
  if (!o.scales.isBlock() || o.scales.rank() != o.x.rank() ||
      (!isE8 && o.scales.type.kind() != Kind::Float8E4NV))
    return fail(formatted(
        "{} must be a block of u8 exponents or fp8e4nv, of as many dimensions as {}, got {}",
        c.parameter(o.scale), c.parameter(o.value), described(o.scales)));
  return true;
}

/// Two elements a byte (the low half first) as one element a byte.
Tensor DotScaled::unpacked(const ScaledOperand &o) {
  DType byte = Kind::UInt8;
  Tensor x = s.bitcast(o.x, byte);
  SmallVector<int64_t> shape = dims(x);
  int64_t rank = x.rank(), axis = c.flag(o.pack, true) ? o.inner(rank) : o.outer(rank);
  Tensor low = s.arithmetic(BinaryOp::And, x, s.intConstant(15, byte, shape));
  Tensor high = s.arithmetic(BinaryOp::RShift, x, s.intConstant(4, byte, shape));
  Tensor both = s.join(low, high);
  SmallVector<int32_t> order;
  for (int64_t i = 0; i < rank; ++i) {
    order.push_back(int32_t(i));
    if (i == axis)
      order.push_back(int32_t(rank));
  }
  shape[axis] *= 2;
  return s.reshape(s.permute(both, order), shape);
}

/// The elements in the type of the product, exactly.
Tensor DotScaled::decoded(const ScaledOperand &o) {
  if (o.kind == Format::E4M3 || o.kind == Format::E5M2)
    return s.cast(s.bitcast(o.x, o.kind == Format::E4M3 ? Kind::Float8E4NV : Kind::Float8E5), type);
  if (o.kind != Format::E2M1)
    return s.cast(o.x, type);
  // s eem: the exponent and the fraction moved to their place in the type make a number that is
  // smaller by the difference of the biases, 2^14 or 2^126.
  bool isHalf = type.kind() == Kind::Float16;
  Tensor nibble = s.cast(unpacked(o), Kind::UInt16);
  ArrayRef<int64_t> shape = nibble.shape();
  auto bits = [&](int64_t mask, int64_t shift) {
    Tensor part = s.arithmetic(BinaryOp::And, nibble, s.intConstant(mask, nibble.type, shape));
    return s.arithmetic(BinaryOp::LShift, part, s.intConstant(shift, nibble.type, shape));
  };
  Tensor small = s.bitcast(s.arithmetic(BinaryOp::Or, bits(7, isHalf ? 9 : 6), bits(8, 12)), type);
  Tensor bias = s.floatConstant(std::ldexp(1.0, isHalf ? 14 : 126), type, shape);
  return s.arithmetic(BinaryOp::Mul, small, bias);
}

/// 2^(e - 127) for exponent bytes, NaN for 255.
Tensor DotScaled::scaleValues(const Tensor &scales, const DType &to) {
  if (scales.type.isFp8())
    return s.cast(scales, to);
  ArrayRef<int64_t> shape = scales.shape();
  Tensor e = s.cast(s.bitcast(scales, Kind::UInt8), Kind::UInt16);
  auto constant = [&](int64_t v) { return s.intConstant(v, e.type, shape); };
  Tensor bits = s.arithmetic(BinaryOp::LShift, e, constant(7)); // as bf16
  // The smallest is subnormal there.
  bits = s.select(s.compareSame(CompareOp::Eq, e, constant(0)), constant(0x40), bits);
  if (!fastMath)
    bits = s.select(s.compareSame(CompareOp::Eq, e, constant(255)), constant(0x7fc0), bits);
  return s.cast(s.bitcast(bits, Kind::BFloat16), to);
}

/// Scales [.., outer, groups] as a block of the operand's shape.
Tensor DotScaled::spread(const ScaledOperand &o, const Tensor &scales, int64_t depth) {
  int64_t rank = scales.rank(), groups = scales.shape().back();
  SmallVector<int64_t> shape = dims(scales);
  shape.push_back(depth / groups);
  Tensor wide = s.broadcastTo(s.expandDims(scales, rank), shape);
  shape.pop_back();
  shape.back() = depth;
  wide = s.reshape(wide, shape); // [.., outer, inner]
  if (o.isLeft)
    return wide;
  SmallVector<int32_t> order;
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(int32_t(i));
  std::swap(order[rank - 1], order[rank - 2]);
  return s.permute(wide, order);
}

/// The operand times its scales; nothing after a report.
Tensor DotScaled::scaled(const ScaledOperand &o) {
  Tensor x = decoded(o);
  if (!x || !o.scales)
    return x;
  SmallVector<int64_t> shape = dims(x), expected = shape;
  int64_t rank = x.rank(), depth = shape[o.inner(rank)], groups = o.scales.shape().back();
  expected[rank - 2] = shape[o.outer(rank)];
  expected[rank - 1] = groups;
  int64_t group = groups ? depth / groups : 0;
  bool isNarrow = o.scales.type.isFp8();
  if (ArrayRef<int64_t>(expected) != o.scales.shape() || depth % std::max<int64_t>(groups, 1) ||
      (group != 32 && group != 16) || (isNarrow && group != 16))
    return c.poison(formatted("{} must have one scale for each 32 (or 16) elements of {} along its "
                              "inner dimension of {}, outer dimension first; got {}",
                              c.parameter(o.scale), c.parameter(o.value), depth,
                              described(o.scales)));
  // bf16 has the range for scales; beside fp16 the product is made in fp32.
  DType wide = type.kind() == Kind::BFloat16 ? type : DType(Kind::Float32);
  Tensor factors = spread(o, scaleValues(o.scales, wide), depth);
  return s.cast(s.arithmetic(BinaryOp::Mul, s.cast(x, wide), factors), type);
}

PyValue DotScaled::run() {
  enum { Acc = 6, FastMath = 7, OutType = 10 };
  if (!read(left) || !read(right))
    return PoisonValue::get();
  fastMath = c.flag(FastMath);
  bool half = left.kind == Format::FP16 || right.kind == Format::FP16;
  type = half ? Kind::Float16 : Kind::BFloat16;
  if (c.has(OutType)) {
    auto out = c.dtype(OutType);
    if (!out)
      return PoisonValue::get();
    if (out->kind() != Kind::Float32)
      return c.fail(
          formatted("the result is fp32, not `out_dtype` {}: cast it with `.to()`", out->str()));
  }
  Tensor x = scaled(left), y = x ? scaled(right) : Tensor();
  if (!y)
    return PoisonValue::get();
  eval::CallArgs args;
  args.positional = {s.wrap(x), s.wrap(y)};
  if (c.has(Acc))
    args.positional.push_back(c[Acc]);
  return callBuiltin(s, *BuiltinTable::get().find("tl.dot"), args);
}

static PyValue dotScaled(BuiltinCall &c) { return DotScaled(c).run(); }

void addDotScaledBuiltins(BuiltinTable &t) {
  t.add("tl.dot_scaled",
        "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=, fast_math=, lhs_k_pack=, "
        "rhs_k_pack=, out_dtype=",
        dotScaled);
}

} // namespace tile::specialize
