//===- Elementwise.cpp - elementwise functions ----------------------------===//
//
// Floats are doubles, integers wrap at 64 bits, comparisons give booleans.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/Synonyms.h"
#include "runtime/host/Functions.h"
#include "runtime/host/InverseErf.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using ast::BinaryOp;
using eval::ArgReader;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Functions of one argument
//===----------------------------------------------------------------------===//

static Result unaryArgument(StringRef name, const CallArgs &args, Array &out) {
  ArgReader r(name, args, {"x"}, 1);
  if (!r)
    return r.error();
  if (auto error = toArray(r[0], out))
    return error;
  return PyValue();
}

template <double (*fn)(double)>
static Result realFunction(const ContextPtr &context, const CallArgs &args) {
  Array x;
  if (Result ok = unaryArgument(context->function, args, x); !ok)
    return ok;
  x = x.toFloat();
  x.kind = Array::Kind::Float;
  for (double &value : x.reals)
    value = fn(value);
  return Tensor::value(context, x);
}

/// Functions that keep integers integers.
template <double (*fn)(double), int64_t (*integerFn)(int64_t)>
static Result keepingFunction(const ContextPtr &context, const CallArgs &args) {
  Array x;
  if (Result ok = unaryArgument(context->function, args, x); !ok)
    return ok;
  for (double &value : x.reals)
    value = fn(value);
  for (int64_t &value : x.ints)
    value = integerFn(value);
  if (x.kind == Array::Kind::Bool)
    x.kind = Array::Kind::Int;
  return Tensor::value(context, x);
}

template <bool (*fn)(double)>
static Result predicate(const ContextPtr &context, const CallArgs &args) {
  Array x;
  if (Result ok = unaryArgument(context->function, args, x); !ok)
    return ok;
  Array out = x.zerosLike(Array::Kind::Bool);
  for (int64_t i = 0; i < x.size(); ++i)
    out.ints[i] = fn(x.real(i));
  return Tensor::value(context, out);
}

static double rsqrt(double x) { return 1 / std::sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double silu(double x) { return x / (1 + std::exp(-x)); }
static double gelu(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
static double geluByTanh(double x) {
  return 0.5 * x * (1 + std::tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x)));
}
static double relu(double x) { return x < 0 ? 0 : x; }
static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double reciprocal(double x) { return 1 / x; }
static double square(double x) { return x * x; }
static double negate(double x) { return -x; }
static double logGamma(double x) { return std::lgamma(x); }
static int64_t same(int64_t x) { return x; }
static int64_t absInt(int64_t x) { return x < 0 ? int64_t(0 - uint64_t(x)) : x; }
static int64_t reluInt(int64_t x) { return std::max<int64_t>(x, 0); }
static int64_t signInt(int64_t x) { return (x > 0) - (x < 0); }
static int64_t squareInt(int64_t x) { return int64_t(uint64_t(x) * uint64_t(x)); }
static int64_t negateInt(int64_t x) { return int64_t(0 - uint64_t(x)); }
static bool isNan(double x) { return std::isnan(x); }
static bool isInf(double x) { return std::isinf(x); }
static bool isFinite(double x) { return std::isfinite(x); }
static bool isZero(double x) { return x == 0; }

//===----------------------------------------------------------------------===//
// Functions of two and three arguments
//===----------------------------------------------------------------------===//

static double maximum(double x, double y) {
  return std::isnan(x) || std::isnan(y)          ? std::nan("")
         : x > y || (x == y && !std::signbit(x)) ? x
                                                 : y;
}
static double minimum(double x, double y) {
  return std::isnan(x) || std::isnan(y)         ? std::nan("")
         : x < y || (x == y && std::signbit(x)) ? x
                                                : y;
}
static double fmaxOp(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : maximum(x, y);
}
static double fminOp(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : minimum(x, y);
}

template <double (*fn)(double, double), int64_t (*integerFn)(int64_t, int64_t)>
static Result binaryFunction(const ContextPtr &context, const CallArgs &args) {
  PairReader r(context->function, args, {"x", "y"});
  if (!r)
    return r.error();
  Array &x = r.array(), &y = r.other();
  if (auto error = broadcastTogether(context->memory, x, y))
    return error;
  constexpr bool keepsIntegers = integerFn != static_cast<int64_t (*)(int64_t, int64_t)>(nullptr);
  bool real = x.isFloat() || y.isFloat() || !keepsIntegers;
  Array out = x.zerosLike(real ? Array::Kind::Float : Array::Kind::Int);
  for (int64_t i = 0; i < out.size(); ++i)
    if (real)
      out.reals[i] = fn(x.real(i), y.real(i));
    else if constexpr (keepsIntegers)
      out.ints[i] = integerFn(x.ints[i], y.ints[i]);
  return Tensor::value(context, out);
}

static int64_t maxInt(int64_t x, int64_t y) { return std::max(x, y); }
static int64_t minInt(int64_t x, int64_t y) { return std::min(x, y); }
static int64_t truncatingMod(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/// gelu(x, approximate="none"), as PyTorch has it.
static Result geluFunction(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("gelu", args, {"x", "approximate"}, 1);
  if (!r)
    return r.error();
  Result byTanh = eval::geluByTanh(r);
  if (!byTanh)
    return byTanh;
  CallArgs only{{r[0]}, {}};
  return byTanh->asBool() ? realFunction<geluByTanh>(context, only)
                          : realFunction<gelu>(context, only);
}

static Result power(const ContextPtr &context, const CallArgs &args) {
  PairReader r("pow", args, {"x", "y"});
  if (!r)
    return r.error();
  Array &x = r.array(), &y = r.other();
  return arrayBinary(context, BinaryOp::Pow, std::move(x), std::move(y));
}

static Result where(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("where", args, {"condition", "x", "y"}, 3);
  if (!r)
    return r.error();
  Array &c = r.array();
  Array x, y;
  if (auto error = toArray(r[1], x))
    return error;
  if (auto error = toArray(r[2], y))
    return error;
  if (auto error = broadcastTogether(context->memory, x, y))
    return error;
  if (auto error = broadcastTogether(context->memory, c, x))
    return error;
  if (auto error = y.broadcastTo(context->memory, x.shape, y))
    return error;
  if (x.isFloat() || y.isFloat()) {
    x = x.toFloat();
    y = y.toFloat();
  }
  Array out = x.zerosLike(x.kind == y.kind ? x.kind : Array::Kind::Int);
  for (int64_t i = 0; i < out.size(); ++i)
    out.copyElement(i, c.truth(i) ? x : y, i);
  return Tensor::value(context, out);
}

static Result clamp(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("clamp", args, {"x", "lo", "hi"}, 1);
  if (!r)
    return r.error();
  Result value = r[0];
  if (!r.get(1).isNone())
    value = binaryFunction<maximum, maxInt>(context, CallArgs{{*value, r[1]}, {}});
  if (value && !r.get(2).isNone())
    value = binaryFunction<minimum, minInt>(context, CallArgs{{*value, r[2]}, {}});
  return value;
}

namespace tile::host {

llvm::ArrayRef<FunctionEntry> elementwiseFunctions() {
  static const FunctionEntry table[] = {
      {"abs", keepingFunction<std::fabs, absInt>, true},
      {"neg", keepingFunction<negate, negateInt>, true},
      {"square", keepingFunction<square, squareInt>, true},
      {"relu", keepingFunction<relu, reluInt>, true},
      {"sign", keepingFunction<sign, signInt>, true},
      {"floor", keepingFunction<std::floor, same>, true},
      {"ceil", keepingFunction<std::ceil, same>, true},
      {"trunc", keepingFunction<std::trunc, same>, true},
      {"round", keepingFunction<std::nearbyint, same>, true},
      {"exp", realFunction<std::exp>, true},
      {"exp2", realFunction<std::exp2>, true},
      {"expm1", realFunction<std::expm1>, true},
      {"log", realFunction<std::log>, true},
      {"log2", realFunction<std::log2>, true},
      {"log10", realFunction<std::log10>, true},
      {"log1p", realFunction<std::log1p>, true},
      {"sqrt", realFunction<std::sqrt>, true},
      {"rsqrt", realFunction<rsqrt>, true},
      {"sin", realFunction<std::sin>, true},
      {"cos", realFunction<std::cos>, true},
      {"tan", realFunction<std::tan>, true},
      {"sinh", realFunction<std::sinh>, true},
      {"cosh", realFunction<std::cosh>, true},
      {"tanh", realFunction<std::tanh>, true},
      {"asin", realFunction<std::asin>, true},
      {"acos", realFunction<std::acos>, true},
      {"atan", realFunction<std::atan>, true},
      {"erf", realFunction<std::erf>, true},
      {"erfc", realFunction<std::erfc>, true},
      {"lgamma", realFunction<logGamma>, true},
      {"erfinv", realFunction<inverseErf>, true},
      {"sigmoid", realFunction<sigmoid>, true},
      {"silu", realFunction<silu>, true},
      {"gelu", geluFunction, true},
      {"reciprocal", realFunction<reciprocal>, true},
      {"isnan", predicate<isNan>, true},
      {"isinf", predicate<isInf>, true},
      {"isfinite", predicate<isFinite>, true},
      {"logical_not", predicate<isZero>, true},
      {"maximum", binaryFunction<maximum, maxInt>, true},
      {"minimum", binaryFunction<minimum, minInt>, true},
      {"fmax", binaryFunction<fmaxOp, maxInt>, true},
      {"fmin", binaryFunction<fminOp, minInt>, true},
      {"fmod", binaryFunction<std::fmod, truncatingMod>, true},
      {"atan2", binaryFunction<std::atan2, nullptr>, true},
      {"pow", power, true},
      {"where", where, true},
      {"clamp", clamp, true},
  };
  return table;
}

} // namespace tile::host
