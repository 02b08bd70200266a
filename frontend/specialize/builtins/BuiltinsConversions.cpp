//===- BuiltinsConversions.cpp - libdevice: conversions, bits, compositions ===//
//
// What can be said exactly in a few operations of the dialects. A conversion
// with a direction converts to nearest first, and then takes one step back if
// that went the wrong way.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Steps between neighbouring floats
//===----------------------------------------------------------------------===//

static DType bitsOf(const DType &type) { return type.bitWidth() == 64 ? Kind::Int64 : Kind::Int32; }

/// The next float above or below x; x is not NaN.
static Tensor neighbour(Specializer &s, const Tensor &x, bool above) {
  Tensor bits = s.bitcast(x, bitsOf(x.type));
  auto number = [&](int64_t v) { return s.intConstant(v, bits.type, x.shape()); };
  Tensor positive = s.compareSame(CompareOp::Ge, bits, number(0));
  // Away from zero the bits grow, whatever the sign.
  Tensor step =
      above ? s.select(positive, number(1), number(-1)) : s.select(positive, number(-1), number(1));
  Tensor moved = s.bitcast(s.arithmetic(BinaryOp::Add, bits, step), x.type);
  Tensor zero = s.floatConstant(0, x.type, x.shape());
  Tensor smallest = s.bitcast(number(1), x.type);
  if (!above)
    smallest = {s.create<arith::NegFOp>(smallest.value), x.type};
  return s.select(s.compareSame(CompareOp::Eq, x, zero), smallest, moved);
}

/// `nearest` moved to the side that `mode` asks for, given whether it lies
/// above or below the exact value.
static Tensor correct(Specializer &s, const Tensor &nearest, const Tensor &tooHigh,
                      const Tensor &tooLow, StringRef mode) {
  Tensor down = s.select(tooHigh, neighbour(s, nearest, false), nearest);
  Tensor up = s.select(tooLow, neighbour(s, nearest, true), nearest);
  if (mode == "rd")
    return down;
  if (mode == "ru")
    return up;
  Tensor zero = s.floatConstant(0, nearest.type, nearest.shape());
  return s.select(s.compareSame(CompareOp::Lt, nearest, zero), up, down);
}

static PyValue nextAfter(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0), y = fp32Or64(c, 1);
  if (!x || !y || !c.s.unify(x, y))
    return PoisonValue::get();
  Specializer &s = c.s;
  Tensor moved =
      s.select(s.compareSame(CompareOp::Lt, x, y), neighbour(s, x, true), neighbour(s, x, false));
  moved = s.select(s.compareSame(CompareOp::Eq, x, y), y, moved);
  Tensor sum = s.arithmetic(BinaryOp::Add, x, y);
  return s.wrap(s.select(s.compareSame(CompareOp::Ne, sum, sum), sum, moved));
}

//===----------------------------------------------------------------------===//
// Conversions: FROM2TO_MODE
//===----------------------------------------------------------------------===//

static std::optional<DType> typeNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Case("double", Kind::Float64)
      .Case("float", Kind::Float32)
      .Case("int", Kind::Int32)
      .Case("uint", Kind::UInt32)
      .Case("ll", Kind::Int64)
      .Case("ull", Kind::UInt64)
      .Default(std::nullopt);
}

static Tensor floatToInteger(Specializer &s, const Tensor &x, const DType &to, StringRef mode) {
  Value rounded = x.value; // the conversion itself goes towards zero
  if (mode == "rn")
    rounded = s.create<math::RoundEvenOp>(x.value);
  else if (mode == "rd")
    rounded = s.create<math::FloorOp>(x.value);
  else if (mode == "ru")
    rounded = s.create<math::CeilOp>(x.value);
  return s.cast({rounded, x.type}, to);
}

static Tensor integerToFloat(Specializer &s, const Tensor &x, const DType &to, StringRef mode) {
  Tensor nearest = s.cast(x, to);
  if (mode == "rn")
    return nearest;
  unsigned bits = x.type.bitWidth() - x.type.isSigned();
  Tensor limit = s.floatConstant(std::ldexp(1.0, bits), to, x.shape());
  Tensor beyond = s.compareSame(CompareOp::Ge, nearest, limit); // does not convert back
  Tensor back = s.cast(s.select(beyond, s.floatConstant(0, to, x.shape()), nearest), x.type);
  Tensor high = s.arithmetic(BinaryOp::Or, beyond, s.compareSame(CompareOp::Gt, back, x));
  Tensor low =
      s.arithmetic(BinaryOp::And, s.logicalNot(beyond), s.compareSame(CompareOp::Lt, back, x));
  return correct(s, nearest, high, low, mode);
}

static Tensor doubleToFloat(Specializer &s, const Tensor &x, StringRef mode) {
  Tensor nearest = s.cast(x, Kind::Float32);
  if (mode == "rn")
    return nearest;
  Tensor back = s.cast(nearest, Kind::Float64);
  return correct(s, nearest, s.compareSame(CompareOp::Gt, back, x),
                 s.compareSame(CompareOp::Lt, back, x), mode);
}

static PyValue convert(BuiltinCall &c) {
  auto [from, rest] = StringRef(c.builtin.name).rsplit('.').second.split('2');
  auto [to, mode] = rest.split('_');
  DType source = *typeNamed(from), target = *typeNamed(to);
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  if (x.type != source)
    return c.fail(formatted("needs {}, got {}", source.str(), describe(c[0])));
  if (target.isInt())
    return c.s.wrap(floatToInteger(c.s, x, target, mode));
  return c.s.wrap(source.isInt() ? integerToFloat(c.s, x, target, mode)
                                 : doubleToFloat(c.s, x, mode));
}

/// The halves of a double.
template <bool high> static PyValue halfOfDouble(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x || x.type.kind() != Kind::Float64)
    return x ? c.fail(formatted("needs fp64, got {}", describe(c[0]))) : PoisonValue::get();
  Tensor bits = c.s.bitcast(x, Kind::Int64);
  if (high)
    bits = c.s.arithmetic(BinaryOp::RShift, bits, c.s.intConstant(32, bits.type, x.shape()));
  return c.s.wrap(c.s.cast(bits, Kind::Int32));
}

static PyValue doubleOfHalves(BuiltinCall &c) {
  Specializer &s = c.s;
  Tensor high = c.tensor(0), low = c.tensor(1);
  if (!high || !low || !s.broadcast({&high, &low}))
    return PoisonValue::get();
  Tensor wide = s.cast(high, Kind::Int64);
  wide = s.arithmetic(BinaryOp::LShift, wide, s.intConstant(32, wide.type, wide.shape()));
  Tensor rest = s.cast(s.bitcast(low, Kind::UInt32), Kind::Int64);
  return s.wrap(s.bitcast(s.arithmetic(BinaryOp::Or, wide, rest), Kind::Float64));
}

//===----------------------------------------------------------------------===//
// Compositions of floats
//===----------------------------------------------------------------------===//

static Tensor reciprocal(Specializer &s, const Tensor &x) {
  return divideFloats(s, s.floatConstant(1, x.type, x.shape()), x, /*exact=*/true);
}

static PyValue inverseCubeRoot(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap(reciprocal(c.s, {c.s.create<math::CbrtOp>(x.value), x.type}))
           : PoisonValue::get();
}

static PyValue positiveDifference(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0), y = fp32Or64(c, 1);
  if (!x || !y || !c.s.unify(x, y))
    return PoisonValue::get();
  Tensor zero = c.s.floatConstant(0, x.type, x.shape());
  return c.s.wrap(
      c.s.select(c.s.compareSame(CompareOp::Le, x, y), zero, c.s.arithmetic(BinaryOp::Sub, x, y)));
}

/// sin(pi x) or cos(pi x): the turn is taken off exactly before pi comes in.
template <bool cosine> static PyValue sineOfPi(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Specializer &s = c.s;
  auto number = [&](double v) { return s.floatConstant(v, x.type, x.shape()); };
  auto minus = [&](const Tensor &a, const Tensor &b) { return s.arithmetic(BinaryOp::Sub, a, b); };
  Tensor half = s.arithmetic(BinaryOp::Mul, x, number(0.5));
  Tensor turns{s.create<math::RoundEvenOp>(half.value), x.type};
  Tensor rest = minus(x, s.arithmetic(BinaryOp::Mul, turns, number(2))); // in [-1, 1]
  Tensor magnitude{s.create<math::AbsFOp>(rest.value), x.type};
  Tensor angle;
  if (cosine) {
    angle = minus(number(0.5), magnitude);
  } else {
    Tensor folded = minus(number(1), magnitude);
    folded = {s.create<math::CopySignOp>(folded.value, rest.value), x.type};
    angle = s.select(s.compareSame(CompareOp::Gt, magnitude, number(0.5)), folded, rest);
  }
  Tensor scaled = s.arithmetic(BinaryOp::Mul, angle, number(M_PI));
  return s.wrap({s.create<math::SinOp>(scaled.value), x.type});
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static bool twoIntegers(BuiltinCall &c, Tensor &x, Tensor &y) {
  x = c.tensor(0);
  y = c.tensor(1);
  if (!x || !y || !c.s.unify(x, y))
    return false;
  if (x.type.isInt())
    return true;
  c.fail(formatted("needs integers, got {}", describe(c[0])));
  return false;
}

/// (x + y) / 2 without overflow, rounded down or up.
template <bool up> static PyValue average(BuiltinCall &c) {
  Tensor x, y;
  if (!twoIntegers(c, x, y))
    return PoisonValue::get();
  Specializer &s = c.s;
  Tensor different = s.arithmetic(BinaryOp::RShift, s.arithmetic(BinaryOp::Xor, x, y),
                                  s.intConstant(1, x.type, x.shape()));
  return s.wrap(up ? s.arithmetic(BinaryOp::Sub, s.arithmetic(BinaryOp::Or, x, y), different)
                   : s.arithmetic(BinaryOp::Add, s.arithmetic(BinaryOp::And, x, y), different));
}

/// |x - y| + z
static PyValue absoluteDifference(BuiltinCall &c) {
  Tensor x, y;
  if (!twoIntegers(c, x, y))
    return PoisonValue::get();
  Specializer &s = c.s;
  Tensor difference =
      s.select(s.compareSame(CompareOp::Gt, x, y), s.arithmetic(BinaryOp::Sub, x, y),
               s.arithmetic(BinaryOp::Sub, y, x));
  return s.binary(BinaryOp::Add, s.wrap(difference), c[2]);
}

/// The product of the low 24 bits.
static PyValue multiply24(BuiltinCall &c) {
  Tensor x, y;
  if (!twoIntegers(c, x, y))
    return PoisonValue::get();
  Specializer &s = c.s;
  Tensor eight = s.intConstant(8, x.type, x.shape());
  auto low = [&](const Tensor &t) {
    return s.arithmetic(BinaryOp::RShift, s.arithmetic(BinaryOp::LShift, t, eight), eight);
  };
  return s.wrap(s.arithmetic(BinaryOp::Mul, low(x), low(y)));
}

/// The bits in reverse order: halves change places, then their halves.
static PyValue reverseBits(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x || !x.type.isInt() || x.type.bitWidth() < 32)
    return x ? c.fail(formatted("needs a 32- or 64-bit integer, got {}", describe(c[0])))
             : PoisonValue::get();
  Specializer &s = c.s;
  unsigned width = x.type.bitWidth();
  DType type = x.type;
  x = s.bitcast(x, width == 64 ? Kind::UInt64 : Kind::UInt32);
  for (unsigned half = width / 2; half; half /= 2) {
    // The low `half` bits of each group of 2 * half.
    uint64_t bits = ~uint64_t(0) / ((uint64_t(1) << half) + 1);
    if (width == 32)
      bits &= 0xffffffff;
    Tensor mask = s.constant(PyValue::integerUnsigned(bits), x.type, x.shape());
    Tensor count = s.intConstant(half, x.type, x.shape());
    Tensor low = s.arithmetic(BinaryOp::LShift, s.arithmetic(BinaryOp::And, x, mask), count);
    Tensor high = s.arithmetic(BinaryOp::And, s.arithmetic(BinaryOp::RShift, x, count), mask);
    x = s.arithmetic(BinaryOp::Or, low, high);
  }
  return s.wrap(s.bitcast(x, type));
}

/// Four bytes chosen from the eight of (x, y) by the nibbles of a selector.
static PyValue permuteBytes(BuiltinCall &c) {
  Specializer &s = c.s;
  Tensor x = c.tensor(0), y = c.tensor(1), selector = c.tensor(2);
  if (!x || !y || !selector || !s.broadcast({&x, &y, &selector}))
    return PoisonValue::get();
  auto wide = [&](const Tensor &t) { return s.cast(s.bitcast(t, Kind::UInt32), Kind::UInt64); };
  auto number = [&](int64_t v) { return s.intConstant(v, Kind::UInt64, x.shape()); };
  Tensor both =
      s.arithmetic(BinaryOp::Or, wide(x), s.arithmetic(BinaryOp::LShift, wide(y), number(32)));
  Tensor which = wide(selector), result = number(0);
  for (unsigned i = 0; i < 4; ++i) {
    Tensor index = s.arithmetic(BinaryOp::And, s.arithmetic(BinaryOp::RShift, which, number(4 * i)),
                                number(7));
    Tensor shift = s.arithmetic(BinaryOp::LShift, index, number(3));
    Tensor byte =
        s.arithmetic(BinaryOp::And, s.arithmetic(BinaryOp::RShift, both, shift), number(255));
    result =
        s.arithmetic(BinaryOp::Or, result, s.arithmetic(BinaryOp::LShift, byte, number(8 * i)));
  }
  return s.wrap(s.cast(result, Kind::Int32));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static void addConversions(BuiltinTable &t) {
  auto rows = [&](ArrayRef<StringRef> from, ArrayRef<StringRef> to, ArrayRef<StringRef> modes) {
    for (StringRef source : from)
      for (StringRef target : to)
        for (StringRef mode : modes)
          t.add(formatted("libdevice.{}2{}_{}", source, target, mode), "x", convert);
  };
  constexpr StringRef all[] = {"rn", "rz", "rd", "ru"};
  rows({"double", "float"}, {"int", "uint", "ll", "ull"}, all);
  rows({"int", "uint", "ll", "ull"}, {"float"}, all);
  rows({"ll", "ull"}, {"double"}, all);
  rows({"int", "uint"}, {"double"}, {"rn"});
  rows({"double"}, {"float"}, all);
  t.add("libdevice.double2loint", "x", halfOfDouble<false>);
  t.add("libdevice.double2hiint", "x", halfOfDouble<true>);
  t.add("libdevice.hiloint2double", "hi, lo", doubleOfHalves);
}

void addConversionBuiltins(BuiltinTable &t) {
  addConversions(t);
  t.add("libdevice.nextafter", "x, y", nextAfter);
  t.add("libdevice.fdim", "x, y", positiveDifference);
  t.add("libdevice.sinpi", "x", sineOfPi<false>);
  t.add("libdevice.cospi", "x", sineOfPi<true>);
  t.add("libdevice.rcbrt", "x", inverseCubeRoot);
  t.add("libdevice.hadd", "x, y", average<false>);
  t.add("libdevice.rhadd", "x, y", average<true>);
  t.add("libdevice.sad", "x, y, z", absoluteDifference);
  t.add("libdevice.mul24", "x, y", multiply24);
  t.add("libdevice.brev", "x", reverseBits);
  t.add("libdevice.byte_perm", "x, y, s", permuteBytes);
}

} // namespace tile::specialize
