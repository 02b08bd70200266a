//===- Array.cpp - the dense values that references compute with ----------===//
#include "runtime/host/Array.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using llvm::ArrayRef;

namespace tile::host {

int64_t numElements(ArrayRef<int64_t> shape) { return *countElements(shape); }

Shape rowMajorStrides(ArrayRef<int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::optional<Shape> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    // Aligned at the last dimension.
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Shape unravel(int64_t position, ArrayRef<int64_t> shape) {
  Shape index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

std::unique_ptr<eval::EvalError> Array::make(const Memory &memory, Kind kind,
                                             ArrayRef<int64_t> shape, Array &out) {
  if (auto error = checkRoom(memory, shape, sizeof(int64_t)))
    return error;
  uint64_t bytes = numElements(shape) * sizeof(int64_t), left = memory.left();
  if (bytes > left / 2)
    return eval::fail(
        formatted("a tensor of shape {} is too large to compute with: it takes {} "
                  "bytes on the host, and its result as many, where {} of {} are left",
                  toString(shape), bytes, left, memory.limit),
        "MemoryError");
  out = Array();
  out.kind = kind;
  out.shape = Shape(shape);
  out.resize();
  return nullptr;
}

void Array::resize() {
  if (isFloat())
    reals.resize(numElements(shape));
  else
    ints.resize(numElements(shape));
}

Array Array::zerosLike(Kind kind) const {
  Array out;
  out.kind = kind;
  out.shape = shape;
  out.resize();
  return out;
}

Array Array::scalar(double value) {
  Array out;
  out.reals = {value};
  return out;
}

Array Array::scalar(int64_t value, Kind kind) {
  Array out;
  out.kind = kind;
  out.ints = {value};
  return out;
}

void Array::copyElement(int64_t to, const Array &other, int64_t from) {
  if (isFloat())
    reals[to] = other.reals[from];
  else
    ints[to] = other.ints[from];
}

Array Array::toFloat() const {
  if (isFloat())
    return *this;
  Array out = zerosLike(Kind::Float);
  for (int64_t i = 0; i < size(); ++i)
    out.reals[i] = double(ints[i]);
  return out;
}

/// Copies elements so that position p of `out` is at sum(index * strides).
static void gather(const Array &from, ArrayRef<int64_t> strides, Array &out) {
  ArrayRef<int64_t> shape = out.shape;
  Shape index(shape.size());
  int64_t source = 0;
  for (int64_t p = 0, n = out.size(); p < n; ++p) {
    out.copyElement(p, from, source);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d])
        break;
      source -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

std::unique_ptr<eval::EvalError> Array::broadcastTo(const Memory &memory, ArrayRef<int64_t> target,
                                                    Array &out) const {
  if (ArrayRef<int64_t>(shape) == target) {
    out = *this;
    return nullptr;
  }
  Array wide;
  if (auto error = make(memory, kind, target, wide))
    return error;
  Shape own = rowMajorStrides(shape), strides(target.size());
  size_t lead = target.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  gather(*this, strides, wide);
  out = std::move(wide);
  return nullptr;
}

Array Array::reshaped(ArrayRef<int64_t> target) const {
  Array out = *this;
  out.shape = Shape(target);
  return out;
}

Array Array::permuted(ArrayRef<int64_t> order) const {
  Shape own = rowMajorStrides(shape), strides;
  Array out = zerosLike(kind);
  for (auto [i, d] : llvm::enumerate(order)) {
    out.shape[i] = shape[d];
    strides.push_back(own[d]);
  }
  gather(*this, strides, out);
  return out;
}

std::unique_ptr<eval::EvalError> broadcastTogether(const Memory &memory, Array &a, Array &b) {
  std::optional<Shape> shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    return eval::fail(formatted("shapes {} and {} do not broadcast together", toString(a.shape),
                                toString(b.shape)),
                      "ValueError");
  if (auto error = a.broadcastTo(memory, *shape, a))
    return error;
  return b.broadcastTo(memory, *shape, b);
}

std::unique_ptr<eval::EvalError> normalizeAxis(int64_t &axis, size_t rank) {
  int64_t given = axis;
  if (axis < 0)
    axis += rank;
  if (axis >= 0 && axis < int64_t(rank))
    return nullptr;
  return eval::fail(formatted("axis {} is out of range for a tensor of rank {}", given, rank),
                    "IndexError");
}

AxisView::AxisView(ArrayRef<int64_t> shape, int64_t axis) {
  if (numElements(shape) == 0) {
    outer = 0;
    length = shape[axis];
    return;
  }
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    (d < axis ? outer : d == axis ? length : inner) *= shape[d];
}

} // namespace tile::host
