//===- FormulasElements.cpp - formulas element by element ------------------===//
//
// Where a branch is not taken its derivative is 0 times something: that must be finite, too.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/FormulaTerms.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace tile;
using namespace tile::eval;
using ast::BinaryOp;
using ast::CompareOp;

template <BinaryOp op> static Term binaryOf(Formula &f) { return apply(op, f[0], f[1]); }
template <CompareOp op> static Term compareOf(Formula &f) { return compared(op, f[0], f[1]); }

static Term add(Formula &f) { return f[0] + (f.has(2) ? f[1] * f[2] : f[1]); }
static Term subtract(Formula &f) { return f[0] - (f.has(2) ? f[1] * f[2] : f[1]); }
/// `//` or `%` towards zero: of positive numbers it is what Python has, and exact, which a quotient
/// that is rounded first is not.
static Term ofSizes(BinaryOp op, const Term &x, const Term &y, const Term &isNegative) {
  auto size = [](const Term &z) { return where(z < 0, negative(z), z); };
  Term positive = apply(op, size(x), size(y));
  return where(isNegative, negative(positive), positive);
}
/// Where the lower whole number is not the one towards zero. The least integer has no size.
static Term isBelow(const Term &x, const Term &y) {
  Term rest = apply(BinaryOp::Mod, x, y);
  return compared(CompareOp::Ne, rest, x.in->integer(0)) & apply(BinaryOp::Xor, x < 0, y < 0);
}
static Term truncatedQuotient(const Term &x, const Term &y) {
  if (isFloat(x) || isFloat(y))
    return ofSizes(BinaryOp::FloorDiv, x, y, apply(BinaryOp::Xor, x < 0, y < 0));
  Term lower = apply(BinaryOp::FloorDiv, x, y);
  return where(isBelow(x, y), lower + x.in->integer(1), lower);
}
static Term truncatedRest(Formula &f) {
  Term x = f[0], y = f[1];
  if (isFloat(x) || isFloat(y))
    return ofSizes(BinaryOp::Mod, x, y, x < 0);
  Term rest = apply(BinaryOp::Mod, x, y);
  return where(isBelow(x, y), rest - y, rest);
}
static Term divide(Formula &f) {
  std::string mode = f.word(2, {"", "floor", "trunc"});
  if (mode == "floor")
    return apply(BinaryOp::FloorDiv, f[0], f[1]);
  return mode == "trunc" ? truncatedQuotient(f[0], f[1]) : f[0] / f[1];
}

static Term lerp(Formula &f) { return f[0] + f[2] * (f[1] - f[0]); }
static Term addcmul(Formula &f) { return f[0] + f.or_(3, 1) * f[1] * f[2]; }
static Term addcdiv(Formula &f) { return f[0] + f.or_(3, 1) * f[1] / f[2]; }
/// By the longer side: squares overflow, and vanish, long before lengths do.
static Term hypot(Formula &f) {
  Term x = of("abs", f[0]), y = of("abs", f[1]), side = larger(x, y), other = smaller(x, y);
  Term isEnd = same(side, 0) | of("isinf", side);
  Term share = other / where(isEnd, f.number(1), side);
  return where(isEnd, side, side * of("sqrt", share * share + 1));
}
static Term maskedFill(Formula &f) { return where(f[1], f[2], f[0]); }
static Term fraction(Formula &f) { return f[0] - of("trunc", f[0]); }
static Term logAddExp(Formula &f) {
  Term rest = of("log1p", of("exp", negative(apartBy(f[0], f[1]))));
  return larger(f[0], f[1]) + rest;
}
static Term isClose(Formula &f) {
  return of("abs", f[0] - f[1]) <= f.or_(3, 1e-8) + f.or_(2, 1e-5) * of("abs", f[1]);
}
static Term atLeast(Formula &f) { return larger(f[0], f[1]); }
static Term atMost(Formula &f) { return smaller(f[0], f[1]); }
template <bool wantMax> static Term extremumOfNumbers(Formula &f) {
  Term best = wantMax ? larger(f[0], f[1]) : smaller(f[0], f[1]);
  return where(of("isnan", f[0]), f[1], where(of("isnan", f[1]), f[0], best));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// From here on both area functions are log(2 x) to the last bit of a double; squares overflow
/// later.
constexpr double kOfTwice = 1e9;
static Term logarithmOfTwice(const Term &x, const Term &isLarge) {
  return of("log", where(isLarge, x, x.in->number(1))) + std::numbers::ln2;
}
/// By the absolute value, with the sign back: near 0 nothing is lost.
static Term asinh(Formula &f) {
  Term x = of("abs", f[0]), isLarge = x > kOfTwice;
  Term small = where(isLarge, f.number(1), x), squared = small * small;
  Term root = of("sqrt", squared + 1) + 1;
  Term size = where(isLarge, logarithmOfTwice(x, isLarge), of("log1p", small + squared / root));
  return of("sign", f[0]) * size;
}
static Term acosh(Formula &f) {
  Term isLarge = f[0] > kOfTwice, above = where(isLarge, f.number(1), f[0]) + -1;
  Term root = of("sqrt", above * (above + 2));
  return where(isLarge, logarithmOfTwice(f[0], isLarge), of("log1p", above + root));
}
static Term atanh(Formula &f) { return of("log1p", f[0] * 2 / (f.number(1) - f[0])) * 0.5; }
static Term sinc(Formula &f) {
  Term isZero = same(f[0], 0);
  Term angle = where(isZero, f.number(1), f[0] * std::numbers::pi);
  return where(isZero, f.number(1), of("sin", angle) / angle);
}
static Term logit(Formula &f) {
  Term x = f[0], one = f.number(1);
  if (f.has(1))
    x = f.call("clamp", {x, f[1], one - f[1]});
  return of("log", x / (one - x));
}
static Term xlogy(Formula &f) {
  Term isZero = same(f[0], 0);
  return where(isZero, f.number(0), f[0] * of("log", where(isZero, f.number(1), f[1])));
}
static Term toRadians(Formula &f) { return f[0] * (std::numbers::pi / 180); }
static Term toDegrees(Formula &f) { return f[0] * (180 / std::numbers::pi); }
static Term heaviside(Formula &f) {
  Term step = where(f[0] > 0, f.number(1), where(f[0] < 0, f.number(0), f[0]));
  return where(same(f[0], 0), f[1], step);
}
/// A zero has a sign as well, which its reciprocal shows.
static Term copySign(Formula &f) {
  Term x = of("abs", f[0]), one = f.number(1), y = f[1];
  Term below = of("logical_not", y > 0) & (where(same(y, 0), one / y, y) < 0);
  return where(below, negative(x), x);
}

/// The largest finite number of a tensor's type.
static double largest(const Term &x) {
  PyValue type = typeOf(x).value;
  if (!type.is(PyValue::Kind::DType))
    return std::numeric_limits<double>::max();
  switch (type.asDType().kind()) {
  case DType::Kind::Float16:
    return 65504;
  case DType::Kind::BFloat16:
    return 0x1.fep127;
  case DType::Kind::Float64:
    return std::numeric_limits<double>::max();
  default:
    return std::numeric_limits<float>::max();
  }
}
static Term nanToNumber(Formula &f) {
  double most = largest(f[0]);
  Term infinite = where(f[0] > 0, f.or_(2, most), f.or_(3, -most));
  return where(of("isnan", f[0]), f.or_(1, 0), where(of("isinf", f[0]), infinite, f[0]));
}

static Term typeAs(Formula &f) { return f.call("to", {f[0], typeOf(f[1])}); }
/// Whether an element is one of those.
static Term isIn(Formula &f) {
  Term values = reshaped(f[1], {productOf(f, shapeOf(f[1]))});
  return f.reduce("any", same(unsqueezed(f[0], -1), values), int64_t(-1));
}

llvm::ArrayRef<FormulaEntry> eval::elementFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"add", add, 2, {"x", "y", "alpha"}},
      {"sub", subtract, 2, {"x", "y", "alpha"}},
      {"mul", binaryOf<BinaryOp::Mul>, 2, {"x", "y"}},
      {"div", divide, 2, {"x", "y", "rounding_mode"}},
      {"floor_divide", binaryOf<BinaryOp::FloorDiv>, 2, {"x", "y"}},
      {"remainder", binaryOf<BinaryOp::Mod>, 2, {"x", "y"}},
      {"eq", compareOf<CompareOp::Eq>, 2, {"x", "y"}},
      {"ne", compareOf<CompareOp::Ne>, 2, {"x", "y"}},
      {"lt", compareOf<CompareOp::Lt>, 2, {"x", "y"}},
      {"le", compareOf<CompareOp::Le>, 2, {"x", "y"}},
      {"gt", compareOf<CompareOp::Gt>, 2, {"x", "y"}},
      {"ge", compareOf<CompareOp::Ge>, 2, {"x", "y"}},
      {"bitwise_and", binaryOf<BinaryOp::And>, 2, {"x", "y"}},
      {"bitwise_or", binaryOf<BinaryOp::Or>, 2, {"x", "y"}},
      {"bitwise_xor", binaryOf<BinaryOp::Xor>, 2, {"x", "y"}},
      {"bitwise_left_shift", binaryOf<BinaryOp::LShift>, 2, {"x", "y"}},
      {"bitwise_right_shift", binaryOf<BinaryOp::RShift>, 2, {"x", "y"}},
      {"left_shift", binaryOf<BinaryOp::LShift>, 2, {"x", "y"}},
      {"right_shift", binaryOf<BinaryOp::RShift>, 2, {"x", "y"}},
      {"lerp", lerp, 3, {"x", "end", "weight"}},
      {"addcmul", addcmul, 3, {"x", "tensor1", "tensor2", "value"}},
      {"addcdiv", addcdiv, 3, {"x", "tensor1", "tensor2", "value"}},
      {"hypot", hypot, 2, {"x", "y"}},
      {"masked_fill", maskedFill, 3, {"x", "mask", "value"}},
      {"fmod", truncatedRest, 2, {"x", "y"}},
      {"frac", fraction, 1, {"x"}},
      {"logaddexp", logAddExp, 2, {"x", "y"}},
      {"isclose", isClose, 2, {"x", "y", "rtol", "atol"}},
      {"clamp_min", atLeast, 2, {"x", "lo"}},
      {"clamp_max", atMost, 2, {"x", "hi"}},
      {"fmax", extremumOfNumbers<true>, 2, {"x", "y"}},
      {"fmin", extremumOfNumbers<false>, 2, {"x", "y"}},
      {"asinh", asinh, 1, {"x"}},
      {"acosh", acosh, 1, {"x"}},
      {"atanh", atanh, 1, {"x"}},
      {"sinc", sinc, 1, {"x"}},
      {"logit", logit, 1, {"x", "eps"}},
      {"xlogy", xlogy, 2, {"x", "y"}},
      {"deg2rad", toRadians, 1, {"x"}},
      {"rad2deg", toDegrees, 1, {"x"}},
      {"heaviside", heaviside, 2, {"x", "y"}},
      {"copysign", copySign, 2, {"x", "y"}},
      {"type_as", typeAs, 2, {"x", "y"}},
      {"isin", isIn, 2, {"x", "values"}},
      {"nan_to_num", nanToNumber, 1, {"x", "nan", "posinf", "neginf"}},
  };
  return table;
}
