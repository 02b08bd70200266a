//===- Elements.cpp - what operations of a graph do with elements ---------===//
#include "passes/graph/Elements.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::graph;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type Elements::computed(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return computeType(element);
}

Type Elements::stored(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? IntegerType::get(element.getContext(), std::max(8u, integer.getWidth()))
                 : element;
}

Value Elements::constant(Type type, double number) {
  Type element = getElementType(type);
  TypedAttr value;
  if (isa<FloatType>(element))
    value = b.getFloatAttr(element, number);
  else
    value = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), int64_t(number), true,
                                            /*implicitTrunc=*/true));
  if (auto block = dyn_cast<RankedTensorType>(type))
    value = DenseElementsAttr::get(block, value);
  return arith::ConstantOp::create(b, loc, type, value);
}

Value Elements::constant(Value like, Type element, double number) {
  return constant(withElementType(like.getType(), computed(element)), number);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value Elements::convert(Value value, Type from, Type to) {
  Type target = withElementType(value.getType(), computed(to));
  if (to.isInteger(1) && !from.isInteger(1))
    return compare(MapKind::ne, from, value, constant(value, from, 0));
  if (target == value.getType())
    return value;
  unsigned wide = computed(from).getIntOrFloatBitWidth();
  unsigned narrow = computed(to).getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return narrow < wide ? make<arith::TruncFOp>(target, value)
                         : make<arith::ExtFOp>(target, value);
  if (isa<FloatType>(to))
    return isUnsigned(from) ? make<arith::UIToFPOp>(target, value)
                            : make<arith::SIToFPOp>(target, value);
  if (isa<FloatType>(from))
    return isUnsigned(to) ? make<arith::FPToUIOp>(target, value)
                          : make<arith::FPToSIOp>(target, value);
  if (narrow < wide)
    return make<arith::TruncIOp>(target, value);
  return isUnsigned(from) ? make<arith::ExtUIOp>(target, value)
                          : make<arith::ExtSIOp>(target, value);
}

/// Narrow floats as arrays hold them, from what is computed with.
Value Elements::toMemory(Value value, Type element) {
  Type type = withElementType(value.getType(), stored(element));
  if (element.isInteger(1))
    return make<arith::ExtUIOp>(type, value);
  if (type == value.getType())
    return value;
  if (element.getIntOrFloatBitWidth() == 8)
    return make<FpCastOp>(type, value, Rounding::rtne);
  return make<arith::TruncFOp>(type, value);
}

Value Elements::fromMemory(Value value, Type element) {
  Type type = withElementType(value.getType(), computed(element));
  if (element.isInteger(1)) {
    Value zero = constant(value.getType(), 0);
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
  }
  if (type == value.getType())
    return value;
  if (element.getIntOrFloatBitWidth() == 8)
    return make<FpCastOp>(type, value, Rounding::rtne);
  return make<arith::ExtFOp>(type, value);
}

Value Elements::round(Value value, Type to) {
  bool isNarrow = isa<FloatType>(to) && computed(to) != to;
  return isNarrow ? fromMemory(toMemory(value, to), to) : value;
}

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

Value Elements::compare(MapKind kind, Type element, Value x, Value y) {
  unsigned which = unsigned(kind) - unsigned(MapKind::eq);
  if (isa<FloatType>(element)) {
    using P = arith::CmpFPredicate;
    static const P predicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return make<arith::CmpFOp>(predicates[which], x, y);
  }
  using P = arith::CmpIPredicate;
  static const P ofSigned[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  static const P ofUnsigned[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return make<arith::CmpIOp>(isUnsigned(element) ? ofUnsigned[which] : ofSigned[which], x, y);
}

/// numerator / (1 + exp(-x))
Value Elements::sigmoidOf(Type element, Value x, Value numerator) {
  Value e = make<math::ExpOp>(make<arith::NegFOp>(x));
  return make<arith::DivFOp>(numerator, make<arith::AddFOp>(constant(x, element, 1), e));
}

/// One operand, and more than an instruction.
Value Elements::mapFunction(MapKind kind, Type element, Value x) {
  auto number = [&](double value) { return constant(x, element, value); };
  auto times = [&](Value a, Value c) { return make<arith::MulFOp>(a, c); };
  auto plus = [&](Value a, Value c) { return make<arith::AddFOp>(a, c); };
  switch (kind) {
  case MapKind::sigmoid:
    return sigmoidOf(element, x, number(1));
  case MapKind::silu:
    return sigmoidOf(element, x, x);
  case MapKind::relu:
    return make<arith::MaximumFOp>(x, number(0));
  case MapKind::gelu: {
    Value part = make<math::ErfOp>(times(x, number(M_SQRT1_2)));
    return times(times(x, number(0.5)), plus(part, number(1)));
  }
  case MapKind::gelu_tanh: {
    Value cube = times(times(x, x), times(x, number(0.044715)));
    Value part = make<math::TanhOp>(times(plus(x, cube), number(M_2_SQRTPI * M_SQRT1_2)));
    return times(times(x, number(0.5)), plus(part, number(1)));
  }
  case MapKind::sign: {
    Value below = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, number(0));
    Value above = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, number(0));
    Value notAbove = make<arith::SelectOp>(below, number(-1), x);
    return make<arith::SelectOp>(above, number(1), notAbove);
  }
  case MapKind::isnan:
    return make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  case MapKind::isinf:
    return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, make<math::AbsFOp>(x), number(INFINITY));
  case MapKind::logical_not:
    return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, number(0));
  case MapKind::reciprocal:
    return make<arith::DivFOp>(number(1), x);
  case MapKind::lgamma:
  case MapKind::erfinv: {
    std::string symbol = ("__tile_" + stringifyMapKind(kind)).str();
    if (!element.isF64())
      symbol += "f";
    return make<ExternElementwiseOp>(x.getType(), symbol, "", x, /*pure=*/true);
  }
  default:
    return times(x, x); // square
  }
}

/// Functions of one number.
Value Elements::mapElementary(MapKind kind, Type element, Value x) {
  switch (kind) {
  case MapKind::exp:
    return make<math::ExpOp>(x);
  case MapKind::exp2:
    return make<math::Exp2Op>(x);
  case MapKind::expm1:
    return make<math::ExpM1Op>(x);
  case MapKind::log:
    return make<math::LogOp>(x);
  case MapKind::log2:
    return make<math::Log2Op>(x);
  case MapKind::log10:
    return make<math::Log10Op>(x);
  case MapKind::log1p:
    return make<math::Log1pOp>(x);
  case MapKind::sqrt:
    return make<math::SqrtOp>(x);
  case MapKind::rsqrt:
    return make<math::RsqrtOp>(x);
  case MapKind::sin:
    return make<math::SinOp>(x);
  case MapKind::cos:
    return make<math::CosOp>(x);
  case MapKind::tan:
    return make<math::TanOp>(x);
  case MapKind::tanh:
    return make<math::TanhOp>(x);
  case MapKind::erf:
    return make<math::ErfOp>(x);
  case MapKind::erfc:
    return make<math::ErfcOp>(x);
  case MapKind::asin:
    return make<math::AsinOp>(x);
  case MapKind::acos:
    return make<math::AcosOp>(x);
  case MapKind::atan:
    return make<math::AtanOp>(x);
  case MapKind::floor:
    return make<math::FloorOp>(x);
  case MapKind::ceil:
    return make<math::CeilOp>(x);
  case MapKind::round:
    return make<math::RoundEvenOp>(x);
  case MapKind::trunc:
    return make<math::TruncOp>(x);
  default:
    return mapFunction(kind, element, x);
  }
}

Value Elements::mapFloat(MapKind kind, Type element, ArrayRef<Value> v) {
  switch (kind) {
  case MapKind::neg:
    return make<arith::NegFOp>(v[0]);
  case MapKind::abs:
    return make<math::AbsFOp>(v[0]);
  case MapKind::atan2:
    return make<math::Atan2Op>(v[0], v[1]);
  case MapKind::add:
    return make<arith::AddFOp>(v[0], v[1]);
  case MapKind::sub:
    return make<arith::SubFOp>(v[0], v[1]);
  case MapKind::mul:
    return make<arith::MulFOp>(v[0], v[1]);
  case MapKind::div:
    return make<arith::DivFOp>(v[0], v[1]);
  case MapKind::pow:
    return make<math::PowFOp>(v[0], v[1]);
  case MapKind::maximum:
    return make<arith::MaximumFOp>(v[0], v[1]);
  case MapKind::minimum:
    return make<arith::MinimumFOp>(v[0], v[1]);
  default:
    return mapElementary(kind, element, v[0]);
  }
}

/// By as many bits as there are, or more, nothing is left but signs: what the machine does then is
/// defined for no type alike.
Value Elements::shift(Type element, Value x, Value by, bool isLeft) {
  Value most = constant(x, element, element.getIntOrFloatBitWidth() - 1);
  Value fits = make<arith::MinUIOp>(by, most);
  if (!isLeft)
    return isUnsigned(element) ? make<arith::ShRUIOp>(x, fits) : make<arith::ShRSIOp>(x, fits);
  Value isLess = make<arith::CmpIOp>(arith::CmpIPredicate::ule, by, most);
  return make<arith::SelectOp>(isLess, make<arith::ShLIOp>(x, fits), constant(x, element, 0));
}

Value Elements::mapInteger(MapKind kind, Type element, ArrayRef<Value> v) {
  bool natural = isUnsigned(element);
  Value x = v[0];
  auto number = [&](double value) { return constant(x, element, value); };
  switch (kind) {
  case MapKind::neg:
    return make<arith::SubIOp>(number(0), x);
  case MapKind::abs:
    return natural ? x : make<math::AbsIOp>(x);
  case MapKind::relu:
    return natural ? x : make<arith::MaxSIOp>(x, number(0));
  case MapKind::sign: {
    if (natural)
      return make<arith::MinUIOp>(x, number(1));
    Value least = make<arith::MaxSIOp>(x, number(-1));
    return make<arith::MinSIOp>(least, number(1));
  }
  case MapKind::square:
    return make<arith::MulIOp>(x, x);
  case MapKind::logical_not:
    return compare(MapKind::eq, element, x, number(0));
  case MapKind::invert:
    return make<arith::XOrIOp>(x, number(-1));
  case MapKind::isnan:
  case MapKind::isinf:
    return compare(MapKind::ne, element, x, x);
  case MapKind::add:
    return make<arith::AddIOp>(x, v[1]);
  case MapKind::sub:
    return make<arith::SubIOp>(x, v[1]);
  case MapKind::mul:
    return make<arith::MulIOp>(x, v[1]);
  case MapKind::maximum:
    return natural ? make<arith::MaxUIOp>(x, v[1]) : make<arith::MaxSIOp>(x, v[1]);
  case MapKind::minimum:
    return natural ? make<arith::MinUIOp>(x, v[1]) : make<arith::MinSIOp>(x, v[1]);
  case MapKind::bit_and:
    return make<arith::AndIOp>(x, v[1]);
  case MapKind::bit_or:
    return make<arith::OrIOp>(x, v[1]);
  case MapKind::bit_xor:
    return make<arith::XOrIOp>(x, v[1]);
  case MapKind::shift_left:
  case MapKind::shift_right:
    return shift(element, x, v[1], kind == MapKind::shift_left);
  default:
    return x; // floor, ceil, round, trunc
  }
}

/// The first of four random words at an offset, as a float in [0, 1): Philox4x32 in ten
/// rounds (Salmon et al. 2011), as `tl.rand` has it. Seed and offset are i64.
Value Elements::philox(Value seed, Value offset) {
  Type word = withElementType(offset.getType(), b.getI32Type());
  auto constant32 = [&](uint32_t value) { return constant(word, double(int32_t(value))); };
  auto low = [&](Value wide) { return make<arith::TruncIOp>(word, wide); };
  auto high = [&](Value wide) {
    Value shift = constant(wide.getType(), 32);
    return make<arith::TruncIOp>(word, make<arith::ShRUIOp>(wide, shift));
  };
  Value zero = constant32(0);
  Value counter[4] = {low(offset), high(offset), zero, zero};
  Value key[2] = {low(seed), high(seed)};
  Value first = constant32(0xD2511F53), second = constant32(0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    auto fold = [&](Value by, Value x, Value with, Value of) {
      return make<arith::XOrIOp>(make<arith::XOrIOp>(make<UMulHiOp>(by, x), with), of);
    };
    Value next[4] = {
        fold(second, counter[2], counter[1], key[0]), make<arith::MulIOp>(second, counter[2]),
        fold(first, counter[0], counter[3], key[1]), make<arith::MulIOp>(first, counter[0])};
    std::copy(next, next + 4, counter);
    key[0] = make<arith::AddIOp>(key[0], constant32(0x9E3779B9));
    key[1] = make<arith::AddIOp>(key[1], constant32(0xBB67AE85));
  }
  // Negative numbers fold onto the others; the scale keeps the result below 1.
  Value below = make<arith::CmpIOp>(arith::CmpIPredicate::slt, counter[0], zero);
  Value flipped = make<arith::XOrIOp>(counter[0], constant32(0xFFFFFFFF));
  Value folded = make<arith::SelectOp>(below, flipped, counter[0]);
  Type real = withElementType(word, b.getF32Type());
  return make<arith::MulFOp>(make<arith::SIToFPOp>(real, folded), constant(real, 4.6566127342e-10));
}

Value Elements::map(MapKind kind, Type element, ArrayRef<Value> v) {
  if (kind == MapKind::philox)
    return philox(v[0], v[1]);
  if (kind == MapKind::select)
    return make<arith::SelectOp>(v[0], v[1], v[2]);
  if (kind == MapKind::floordiv || kind == MapKind::mod)
    return floorDivide(element, v[0], v[1], kind == MapKind::mod);
  if (kind >= MapKind::eq)
    return compare(kind, element, v[0], v[1]);
  return isa<FloatType>(element) ? mapFloat(kind, element, v) : mapInteger(kind, element, v);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value Elements::combine(ReduceKind kind, Type element, Value x, Value y) {
  switch (kind) {
  case ReduceKind::sum:
    return map(MapKind::add, element, {x, y});
  case ReduceKind::prod:
    return map(MapKind::mul, element, {x, y});
  case ReduceKind::max:
    return map(MapKind::maximum, element, {x, y});
  case ReduceKind::min:
    return map(MapKind::minimum, element, {x, y});
  case ReduceKind::logaddexp:
    return logAddExp(element, x, y);
  }
  return x;
}

/// log(e^x + e^y), by the larger one; of infinities of one sign that.
Value Elements::logAddExp(Type element, Value x, Value y) {
  Value top = map(MapKind::maximum, element, {x, y});
  Value apart = make<math::AbsFOp>(make<arith::SubFOp>(x, y));
  Value rest = make<math::Log1pOp>(make<math::ExpOp>(make<arith::NegFOp>(apart)));
  Value isInfinite = map(MapKind::isinf, element, {top});
  return make<arith::SelectOp>(isInfinite, top, make<arith::AddFOp>(top, rest));
}

Value Elements::identity(Type type, ReduceKind kind, Type element) {
  bool isMax = kind == ReduceKind::max || kind == ReduceKind::logaddexp;
  if (kind == ReduceKind::sum || kind == ReduceKind::prod)
    return constant(type, kind == ReduceKind::prod);
  if (isa<FloatType>(element))
    return constant(type, isMax ? -INFINITY : INFINITY);
  unsigned bits = getElementType(type).getIntOrFloatBitWidth();
  APInt value = isUnsigned(element) ? isMax ? APInt::getMinValue(bits) : APInt::getMaxValue(bits)
                : isMax             ? APInt::getSignedMinValue(bits)
                                    : APInt::getSignedMaxValue(bits);
  TypedAttr number = IntegerAttr::get(getElementType(type), value);
  if (auto block = dyn_cast<RankedTensorType>(type))
    number = DenseElementsAttr::get(block, number);
  return arith::ConstantOp::create(b, loc, type, number);
}
