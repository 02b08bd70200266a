//===- Shapes.cpp - broadcasting and movement of blocks -------------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/Emitter.h"
#include "mlir/IR/Matchers.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

Tensor Emitter::splat(const Tensor &x, ArrayRef<int64_t> shape) {
  if (!x || shape.empty())
    return x;
  // A constant stays one, so that folding needs no pass.
  Attribute value;
  if (matchPattern(x.value, m_Constant(&value)) && isa<IntegerAttr, FloatAttr>(value)) {
    auto type = cast<RankedTensorType>(irType(x.type, shape));
    return {create<arith::ConstantOp>(TypedAttr(DenseElementsAttr::get(type, value))), x.type};
  }
  return {create<SplatOp>(irType(x.type, shape), x.value), x.type};
}

Tensor Emitter::unsplat(const Tensor &x) {
  if (!x || !x.isBlock())
    return x;
  return {create<UnsplatOp>(irType(x.type), x.value), x.type};
}

Tensor Emitter::expandDims(const Tensor &x, int64_t axis) {
  if (!x)
    return {};
  if (!x.isBlock())
    return splat(x, {1});
  SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin() + axis, 1);
  return {create<ExpandDimsOp>(irType(x.type, shape), x.value, builder.getI32IntegerAttr(axis)),
          x.type};
}

Tensor Emitter::broadcastTo(const Tensor &x, ArrayRef<int64_t> shape) {
  if (!x || x.shape() == shape)
    return x;
  if (!x.isBlock())
    return splat(x, shape);
  Tensor t = x;
  while (t.rank() < int64_t(shape.size()))
    t = expandDims(t, 0);
  if (t.shape() == shape)
    return t;
  bool grows = t.rank() == int64_t(shape.size());
  for (auto [from, to] : llvm::zip(t.shape(), shape))
    grows &= from == to || from == 1;
  if (!grows)
    return poison(formatted("cannot broadcast {} to shape {}: only dimensions of size 1 grow",
                            describe(x.type, x.shape()), describeShape(shape)));
  return {create<BroadcastOp>(irType(x.type, shape), t.value), x.type};
}

bool Emitter::broadcast(ArrayRef<Tensor *> tensors) {
  SmallVector<int64_t> shape;
  for (Tensor *t : tensors) {
    if (!*t)
      return false;
    SmallVector<int64_t> merged;
    std::string problem;
    if (!broadcastShapes(shape, t->shape(), merged, problem)) {
      error(problem);
      return false;
    }
    shape = std::move(merged);
  }
  std::string problem;
  if (!checkShape(shape, problem)) {
    error(problem);
    return false;
  }
  for (Tensor *t : tensors)
    *t = broadcastTo(*t, shape);
  return true;
}

Tensor Emitter::reshape(const Tensor &x, ArrayRef<int64_t> shape, bool reorder) {
  if (!x || x.shape() == shape)
    return x;
  std::string problem;
  if (!checkShape(shape, problem))
    return poison(problem);
  int64_t from = x.isBlock() ? x.blockType().getNumElements() : 1, to = 1;
  for (int64_t dim : shape)
    to *= dim;
  if (from != to)
    return poison(formatted("cannot reshape {} of {} elements to {} of {}",
                            describe(x.type, x.shape()), from, describeShape(shape), to));
  if (shape.empty())
    return unsplat(x);
  if (!x.isBlock())
    return splat(x, shape);
  return {create<ReshapeOp>(irType(x.type, shape), x.value, reorder), x.type};
}

Tensor Emitter::permute(const Tensor &x, ArrayRef<int32_t> order) {
  if (!x)
    return {};
  SmallVector<bool> seen(x.rank());
  bool valid = int64_t(order.size()) == x.rank();
  for (int32_t d : order) {
    valid &= d >= 0 && d < x.rank() && !seen[d];
    if (!valid)
      break;
    seen[d] = true;
  }
  if (!valid)
    return poison(formatted("the dimensions must be a permutation of the {} of {}", x.rank(),
                            describe(x.type, x.shape())));
  if (llvm::is_sorted(order))
    return x;
  SmallVector<int64_t> shape;
  for (int32_t d : order)
    shape.push_back(x.shape()[d]);
  return {create<TransOp>(irType(x.type, shape), x.value, order), x.type};
}

Tensor Emitter::join(const Tensor &lhs, const Tensor &rhs) {
  Tensor a = lhs, b = rhs;
  if (!a || !b)
    return {};
  if (irType(a.type) != irType(b.type))
    return poison(formatted("cannot join {} and {}: cast one with `.to()`",
                            describe(a.type, a.shape()), describe(b.type, b.shape())));
  if (!broadcast({&a, &b}))
    return {};
  bool scalars = !a.isBlock();
  if (scalars) {
    a = splat(a, {1});
    b = splat(b, {1});
  }
  SmallVector<int64_t> shape(a.shape());
  shape.push_back(2);
  std::string problem;
  if (!checkShape(shape, problem))
    return poison(problem);
  Tensor joined{create<JoinOp>(irType(a.type, shape), a.value, b.value), a.type};
  return scalars ? reshape(joined, {2}) : joined;
}

std::pair<Tensor, Tensor> Emitter::split(const Tensor &x) {
  if (!x)
    return {};
  if (!x.isBlock() || x.shape().back() != 2) {
    error(formatted("split needs a last dimension of 2, got {}", describe(x.type, x.shape())));
    return {};
  }
  bool scalars = x.rank() == 1;
  Tensor source = scalars ? reshape(x, {1, 2}) : x;
  Type half = irType(x.type, source.shape().drop_back());
  auto op = SplitOp::create(builder, loc(), half, half, source.value);
  Tensor a{op.getLhs(), x.type}, b{op.getRhs(), x.type};
  if (scalars)
    return {unsplat(a), unsplat(b)};
  return {a, b};
}

PyValue Emitter::indexTensor(const Tensor &x, const PyValue &index) {
  SmallVector<PyValue> parts;
  if (index.is(PyValue::Kind::Tuple))
    parts.assign(index.elements().begin(), index.elements().end());
  else
    parts.push_back(index);
  int64_t given = llvm::count_if(parts, [](const PyValue &p) { return !p.isNone(); });
  // A `:` beyond the last dimension says nothing, as in the reference: `pid[:, None]`.
  Tensor result = x;
  int64_t axis = 0;
  for (const PyValue &part : parts) {
    if (part.isNone()) {
      axis = std::min(axis, result.rank());
      result = expandDims(result, axis++);
      continue;
    }
    if (part.is(PyValue::Kind::Ellipsis)) {
      axis += std::max<int64_t>(x.rank() - (given - 1), 0);
      continue;
    }
    bool whole = part.is(PyValue::Kind::Slice) && part.asSlice().lower.isNone() &&
                 part.asSlice().upper.isNone() && part.asSlice().step.isNone();
    if (!whole)
      return fail(formatted("a block can only be indexed with `:` and `None`, got {}; select "
                            "elements with a mask, `tl.where` or `tl.gather`",
                            describe(part)));
    ++axis;
  }
  return wrap(result);
}

} // namespace tile::specialize
