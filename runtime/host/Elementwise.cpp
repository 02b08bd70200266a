//===- Elementwise.cpp - elementwise functions and operators --------------===//
//
// Floats are doubles, integers wrap at 64 bits, comparisons give booleans.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/Synonyms.h"
#include "runtime/host/Functions.h"
#include "runtime/host/InverseErf.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using ast::BinaryOp;
using ast::CompareOp;
using eval::ArgReader;
using eval::fail;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The remainder with the divisor's sign, as Python's `%`.
static double floorMod(double x, double y) {
  double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double realOp(BinaryOp op, double x, double y) {
  switch (op) {
  case BinaryOp::Add:
    return x + y;
  case BinaryOp::Sub:
    return x - y;
  case BinaryOp::Mul:
    return x * y;
  case BinaryOp::Div:
    return x / y;
  case BinaryOp::FloorDiv:
    return std::floor(x / y);
  case BinaryOp::Mod:
    return floorMod(x, y);
  default:
    return std::pow(x, y);
  }
}

/// Wrapping arithmetic; a division by zero gives 0.
static int64_t integerOp(BinaryOp op, int64_t x, int64_t y) {
  uint64_t a = x, b = y;
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mul:
    return a * b;
  case BinaryOp::And:
    return x & y;
  case BinaryOp::Or:
    return x | y;
  case BinaryOp::Xor:
    return x ^ y;
  case BinaryOp::LShift:
    return b < 64 ? a << b : 0;
  case BinaryOp::RShift:
    return x >> std::min<uint64_t>(b, 63);
  case BinaryOp::FloorDiv:
    if (y == 0 || y == -1)
      return y ? 0 - a : 0;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
  case BinaryOp::Mod:
    if (y == 0 || y == -1)
      return 0;
    return x % y != 0 && (x < 0) != (y < 0) ? x % y + y : x % y;
  default: { // Pow
    uint64_t result = 1;
    for (; b; b >>= 1, a *= a)
      if (b & 1)
        result *= a;
    return result;
  }
  }
}

static bool isBitwise(BinaryOp op) {
  return op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor ||
         op == BinaryOp::LShift || op == BinaryOp::RShift;
}

/// Integers as what wraps.
static uint64_t *unsignedWords(Array &array, int64_t first) {
  return reinterpret_cast<uint64_t *>(&array.ints[first]);
}

template <typename T>
static void multiplyMatrices(const T *a, const T *b, T *out, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        out[i * n + j] += a[i * k + l] * b[l * n + j];
}

/// [batch..., M, K] @ [batch..., K, N], batch dimensions broadcast.
static Result multiplyBatches(const ContextPtr &context, const Array &lhs, const Array &rhs) {
  size_t p = lhs.shape.size(), q = rhs.shape.size();
  if (p < 2 || q < 2 || lhs.shape[p - 1] != rhs.shape[q - 2])
    return fail(formatted("`@` needs shapes (..., M, K) and (..., K, N), got {} and {}",
                          toString(lhs.shape), toString(rhs.shape)),
                "ValueError");
  int64_t m = lhs.shape[p - 2], k = lhs.shape[p - 1], n = rhs.shape[q - 1];
  llvm::ArrayRef<int64_t> batchL(lhs.shape.data(), p - 2), batchR(rhs.shape.data(), q - 2);
  std::optional<Shape> batch = broadcastShapes(batchL, batchR);
  if (!batch)
    return fail(formatted("the batch dimensions of `@` do not broadcast: {} and {}",
                          toString(lhs.shape), toString(rhs.shape)),
                "ValueError");
  Shape shapeL = *batch, shapeR = *batch, shape = *batch;
  shapeL.append({m, k});
  shapeR.append({k, n});
  shape.append({m, n});
  bool real = lhs.isFloat() || rhs.isFloat();
  Array a, b, out;
  if (auto error = (real ? lhs.toFloat() : lhs).broadcastTo(context->memory, shapeL, a))
    return error;
  if (auto error = (real ? rhs.toFloat() : rhs).broadcastTo(context->memory, shapeR, b))
    return error;
  Array::Kind kind = real ? Array::Kind::Float : Array::Kind::Int;
  if (auto error = Array::make(context->memory, kind, shape, out))
    return error;
  // Where launches are only looked at, nobody reads a reference: large ones would take minutes.
  constexpr double large = 1 << 26; // multiplications
  if (context->skipsLargeRandom && double(out.size()) * double(k) > large)
    return Tensor::value(context, out);
  for (int64_t t = 0, batches = out.size() && k ? numElements(*batch) : 0; t < batches; ++t)
    if (real)
      multiplyMatrices<double>(&a.reals[t * m * k], &b.reals[t * k * n], &out.reals[t * m * n], m,
                               k, n);
    else // wrapping
      multiplyMatrices<uint64_t>(unsignedWords(a, t * m * k), unsignedWords(b, t * k * n),
                                 unsignedWords(out, t * m * n), m, k, n);
  return Tensor::value(context, out);
}

/// A vector is a row on the left and a column on the right, and the dimension it lacks goes again.
static Result matmul(const ContextPtr &context, Array lhs, Array rhs) {
  bool isRow = lhs.shape.size() == 1, isColumn = rhs.shape.size() == 1;
  if (isRow)
    lhs.shape.insert(lhs.shape.begin(), 1);
  if (isColumn)
    rhs.shape.push_back(1);
  Result product = multiplyBatches(context, lhs, rhs);
  auto *whole = product ? product->dynExtension<Tensor>() : nullptr;
  if (!whole || (!isRow && !isColumn))
    return product;
  Shape shape(whole->shape()), strides(whole->strides());
  auto drop = [&](size_t dim) {
    shape.erase(shape.begin() + dim);
    strides.erase(strides.begin() + dim);
  };
  if (isColumn)
    drop(shape.size() - 1);
  if (isRow)
    drop(shape.size() - (isColumn ? 1 : 2));
  return whole->view(shape, strides, Extent(whole->offset()));
}

namespace tile::host {

Result arrayBinary(const ContextPtr &context, BinaryOp op, Array lhs, Array rhs) {
  if (op == BinaryOp::MatMul)
    return matmul(context, lhs, rhs);
  if (auto error = broadcastTogether(context->memory, lhs, rhs))
    return error;
  bool real = lhs.isFloat() || rhs.isFloat();
  if (real && isBitwise(op))
    return fail(formatted("`{}` needs tensors of integers or booleans", ast::spelling(op)));
  bool negativePower = op == BinaryOp::Pow && !real &&
                       llvm::any_of(rhs.ints, [](int64_t exponent) { return exponent < 0; });
  if (real || op == BinaryOp::Div || negativePower) {
    Array out = lhs.zerosLike(Array::Kind::Float);
    for (int64_t i = 0; i < out.size(); ++i)
      out.reals[i] = realOp(op, lhs.real(i), rhs.real(i));
    return Tensor::value(context, out);
  }
  bool logical = lhs.kind == Array::Kind::Bool && rhs.kind == Array::Kind::Bool &&
                 (op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor);
  Array out = lhs.zerosLike(logical ? Array::Kind::Bool : Array::Kind::Int);
  for (int64_t i = 0; i < out.size(); ++i)
    out.ints[i] = integerOp(op, lhs.ints[i], rhs.ints[i]);
  return Tensor::value(context, out);
}

template <typename T> static bool compareOne(CompareOp op, T x, T y) {
  switch (op) {
  case CompareOp::Eq:
    return x == y;
  case CompareOp::Ne:
    return x != y;
  case CompareOp::Lt:
    return x < y;
  case CompareOp::Le:
    return x <= y;
  case CompareOp::Gt:
    return x > y;
  default:
    return x >= y;
  }
}

Result arrayCompare(const ContextPtr &context, CompareOp op, Array lhs, Array rhs) {
  if (auto error = broadcastTogether(context->memory, lhs, rhs))
    return error;
  Array out = lhs.zerosLike(Array::Kind::Bool);
  bool real = lhs.isFloat() || rhs.isFloat();
  for (int64_t i = 0; i < out.size(); ++i)
    out.ints[i] =
        real ? compareOne(op, lhs.real(i), rhs.real(i)) : compareOne(op, lhs.ints[i], rhs.ints[i]);
  return Tensor::value(context, out);
}

} // namespace tile::host

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
  ArrayReader r(context->function, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  Array &x = r.array();
  Array y;
  if (auto error = toArray(r[1], y))
    return error;
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
  ArrayReader r("pow", args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  Array &x = r.array();
  Array y;
  if (auto error = toArray(r[1], y))
    return error;
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
      {"where", where, false},
      {"clamp", clamp, true},
  };
  return table;
}

} // namespace tile::host
