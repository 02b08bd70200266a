//===- MathFunctions.cpp - Python's math module ---------------------------===//
#include "frontend/eval/Methods.h"
#include "text/Format.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <numbers>

using namespace tile;
using namespace tile::eval;
using llvm::APInt;
using llvm::StringRef;
using Kind = PyValue::Kind;

namespace {
struct RealFunction {
  StringRef name;
  double (*fn)(double);
};
struct RealFunction2 {
  StringRef name;
  double (*fn)(double, double);
};
} // namespace

static const RealFunction realFunctions[] = {
    {"sqrt", std::sqrt},   {"exp", std::exp},      {"exp2", std::exp2},     {"expm1", std::expm1},
    {"log2", std::log2},   {"log10", std::log10},  {"log1p", std::log1p},   {"sin", std::sin},
    {"cos", std::cos},     {"tan", std::tan},      {"asin", std::asin},     {"acos", std::acos},
    {"atan", std::atan},   {"sinh", std::sinh},    {"cosh", std::cosh},     {"tanh", std::tanh},
    {"asinh", std::asinh}, {"acosh", std::acosh},  {"atanh", std::atanh},   {"erf", std::erf},
    {"erfc", std::erfc},   {"gamma", std::tgamma}, {"lgamma", std::lgamma}, {"fabs", std::fabs},
    {"cbrt", std::cbrt},
};
static const RealFunction2 realFunctions2[] = {
    {"pow", std::pow},
    {"atan2", std::atan2},
    {"fmod", std::fmod},
    {"hypot", std::hypot},
    {"copysign", std::copysign},
    {"remainder", std::remainder},
    {"nextafter", std::nextafter},
};

static Result needReal(StringRef name, const PyValue &value, double &out) {
  std::optional<double> real = value.toDouble();
  if (!real)
    return fail(formatted("`math.{}` needs a number, got `{}`{}", name, typeName(value),
                          typeName(value) == "tensor"
                              ? "; kernels have functions of tensors in `tl` and `libdevice`"
                              : ""));
  out = *real;
  return PyValue();
}

/// A result that is not a number where the arguments are numbers is outside the domain, an infinite
/// one of finite arguments is an overflow.
static Result realResult(StringRef name, double result, llvm::ArrayRef<double> arguments) {
  bool finite = llvm::all_of(arguments, [](double x) { return std::isfinite(x); });
  if (std::isnan(result) && llvm::none_of(arguments, [](double x) { return std::isnan(x); }))
    return fail(formatted("the argument is outside the domain of `math.{}`", name), "ValueError");
  if (finite && std::isinf(result))
    return fail(formatted("the result of `math.{}` is not finite", name), "OverflowError");
  return PyValue::number(result);
}

static Result logarithm(const CallArgs &args) {
  ArgReader r("math.log", args, {"x", "base"}, 1);
  if (!r)
    return r.error();
  double x, base = std::numbers::e;
  if (Result ok = needReal("log", r[0], x); !ok)
    return ok;
  if (r.has(1))
    if (Result ok = needReal("log", r[1], base); !ok)
      return ok;
  if (x <= 0 || base <= 0 || base == 1)
    return fail("the argument is outside the domain of `math.log`", "ValueError");
  return PyValue::number(r.has(1) ? std::log(x) / std::log(base) : std::log(x));
}

static Result roundToInteger(StringRef name, const CallArgs &args) {
  ArgReader r(("math." + name).str(), args, {"x"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::Int) || r[0].is(Kind::Bool))
    return unary(ast::UnaryOp::Pos, r[0]);
  double x;
  if (Result ok = needReal(name, r[0], x); !ok)
    return ok;
  return integerFromDouble(name == "floor"  ? std::floor(x)
                           : name == "ceil" ? std::ceil(x)
                                            : std::trunc(x));
}

static Result integerFold(StringRef name, const CallArgs &args) {
  APInt result(64, 0);
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    if (!value.is(Kind::Int) && !value.is(Kind::Bool))
      return fail(formatted("`math.{}` needs integers, got `{}`", name, typeName(value)));
    std::optional<int64_t> next = value.toInt64();
    if (!next)
      return fail(formatted("`math.{}` takes integers of at most 64 bits", name), "OverflowError");
    APInt magnitude = APInt(64, *next, true).abs();
    if (i == 0) {
      result = magnitude;
      continue;
    }
    APInt divisor = llvm::APIntOps::GreatestCommonDivisor(result, magnitude);
    bool overflow = false;
    if (name == "gcd")
      result = divisor;
    else
      result = divisor.isZero() ? divisor : result.udiv(divisor).umul_ov(magnitude, overflow);
    if (overflow)
      return fail("the result of `math.lcm` needs more than 64 bits", "OverflowError");
  }
  return PyValue::integer(result.zext(128));
}

static Result integerSqrt(const CallArgs &args) {
  ArgReader r("math.isqrt", args, {"n"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Int) || r[0].asInt().isNegative())
    return fail("`math.isqrt` needs an integer that is not negative", "ValueError");
  // APInt::sqrt rounds to nearest; isqrt rounds down.
  APInt n = r[0].asInt().zext(r[0].asInt().getBitWidth() + 64), root = n.sqrt();
  if ((root * root).ugt(n))
    --root;
  return PyValue::integer(root);
}

static Result factorial(const CallArgs &args) {
  ArgReader r("math.factorial", args, {"n"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> n = r[0].toInt64();
  if (!n || *n < 0 || *n > 500)
    return fail("`math.factorial` needs an integer from 0 to 500", "ValueError");
  PyValue result = PyValue::integer(1);
  for (int64_t i = 2; i <= *n; ++i)
    result = binary(ast::BinaryOp::Mul, result, PyValue::integer(i)).take();
  return result;
}

static Result product(const CallArgs &args) {
  ArgReader r("math.prod", args, {"iterable", "start"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  Result total = r.has(1) ? r[1] : PyValue::integer(1);
  for (const PyValue &element : elements) {
    total = binary(ast::BinaryOp::Mul, *total, element);
    if (!total)
      return total;
  }
  return total;
}

/// The one argument of a function of numbers.
static Result readReal(StringRef name, const CallArgs &args, double &x) {
  ArgReader r(("math." + name).str(), args, {"x"}, 1);
  return r ? needReal(name, r[0], x) : Result(r.error());
}

static Result classify(StringRef name, const CallArgs &args) {
  double x;
  if (Result ok = readReal(name, args, x); !ok)
    return ok;
  return PyValue::boolean(name == "isnan"   ? std::isnan(x)
                          : name == "isinf" ? std::isinf(x)
                                            : std::isfinite(x));
}

namespace tile::eval {

Result integerFromDouble(double value) {
  if (!std::isfinite(value))
    return fail(formatted("cannot convert {} to an integer", reprFloat(value)),
                std::isnan(value) ? "ValueError" : "OverflowError");
  return PyValue::integer(llvm::APIntOps::RoundDoubleToAPInt(value, 1100));
}

std::optional<Result> callMath(StringRef name, const CallArgs &args) {
  if (name == "log")
    return logarithm(args);
  if (name == "floor" || name == "ceil" || name == "trunc")
    return roundToInteger(name, args);
  if (name == "gcd" || name == "lcm")
    return integerFold(name, args);
  if (name == "isqrt")
    return integerSqrt(args);
  if (name == "factorial")
    return factorial(args);
  if (name == "prod")
    return product(args);
  if (name == "isnan" || name == "isinf" || name == "isfinite")
    return classify(name, args);
  bool isRadians = name == "radians";
  if (isRadians || name == "degrees") {
    double x;
    if (Result ok = readReal(name, args, x); !ok)
      return ok;
    return PyValue::number(isRadians ? x * std::numbers::pi / 180 : x * 180 / std::numbers::pi);
  }
  for (const RealFunction &entry : realFunctions) {
    if (entry.name != name)
      continue;
    double x;
    if (Result ok = readReal(name, args, x); !ok)
      return ok;
    return realResult(name, entry.fn(x), {x});
  }
  for (const RealFunction2 &entry : realFunctions2) {
    if (entry.name != name)
      continue;
    ArgReader r(("math." + name).str(), args, {"x", "y"}, 2);
    if (!r)
      return r.error();
    double x, y;
    if (Result ok = needReal(name, r[0], x); !ok)
      return ok;
    if (Result ok = needReal(name, r[1], y); !ok)
      return ok;
    return realResult(name, entry.fn(x, y), {x, y});
  }
  return std::nullopt;
}

std::vector<StringRef> mathNames() {
  std::vector<StringRef> names = {"log",   "floor",    "ceil",      "trunc",  "gcd",
                                  "lcm",   "isqrt",    "factorial", "prod",   "isnan",
                                  "isinf", "isfinite", "radians",   "degrees"};
  for (const RealFunction &entry : realFunctions)
    names.push_back(entry.name);
  for (const RealFunction2 &entry : realFunctions2)
    names.push_back(entry.name);
  return names;
}

} // namespace tile::eval
