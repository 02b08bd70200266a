//===- Operators.cpp - operators on tensors -------------------------------===//
//
// Floats are doubles, integers wrap at 64 bits, comparisons give booleans.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/FloorDivision.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using ast::BinaryOp;
using ast::CompareOp;
using eval::fail;

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
    return eval::floorQuotient(x, y);
  case BinaryOp::Mod:
    return eval::floorModulo(x, y);
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
  if (auto error = spendSteps(countElements(*batch) * Extent(m) * Extent(k) * Extent(n)))
    return error;
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
  bool areBools = lhs.kind == Array::Kind::Bool && rhs.kind == Array::Kind::Bool;
  if (areBools && op == BinaryOp::Sub)
    return fail(
        "`-` of bools has no meaning: `x ^ y` is where they differ, and `x & ~y` where only "
        "the first holds");
  if (areBools && (op == BinaryOp::Add || op == BinaryOp::Mul)) // either, and both
    op = op == BinaryOp::Add ? BinaryOp::Or : BinaryOp::And;
  bool logical = areBools && (op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor);
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
