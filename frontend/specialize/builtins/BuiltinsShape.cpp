//===- BuiltinsShape.cpp - broadcasting and movement of blocks ------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/Builtins.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

static PyValue pair(Specializer &s, const Tensor &a, const Tensor &b) {
  if (!a || !b)
    return PoisonValue::get();
  return PyValue::tuple({s.wrap(a), s.wrap(b)});
}

static PyValue broadcast(BuiltinCall &c) {
  Tensor a = c.tensor(0), b = c.tensor(1);
  if (!a || !b || !c.s.broadcast({&a, &b}))
    return PoisonValue::get();
  return pair(c.s, a, b);
}

static PyValue broadcastTo(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  auto shape = c.shape(1);
  if (!x || !shape)
    return PoisonValue::get();
  if (x.isBlock() && x.rank() != int64_t(shape->size()))
    return c.fail(formatted("{} has {}, the new shape {} has {}: add some with `x[None, :]`",
                            describe(x.type, x.shape()), counted(uint64_t(x.rank()), "dimension"),
                            describeShape(*shape), shape->size()));
  return c.s.wrap(c.s.broadcastTo(x, *shape));
}

static PyValue expandDims(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  auto axes = c.integers(1);
  if (!x || !axes)
    return PoisonValue::get();
  int64_t rank = x.rank() + axes->size();
  for (int64_t &axis : *axes) {
    if (axis < -rank || axis >= rank)
      return c.fail(formatted("axis {} is outside of {} to {}", axis, -rank, rank - 1));
    axis += axis < 0 ? rank : 0;
  }
  llvm::sort(*axes);
  if (llvm::adjacent_find(*axes) != axes->end())
    return c.fail("an axis is given twice");
  Tensor result = x;
  for (int64_t axis : *axes)
    result = c.s.expandDims(result, axis);
  return c.s.wrap(result);
}

static PyValue reshapeTo(BuiltinCall &c, bool reorder) {
  Tensor x = c.tensor(0);
  auto shape = c.shape(1);
  return x && shape ? c.s.wrap(c.s.reshape(x, *shape, reorder)) : PoisonValue::get();
}
static PyValue reshape(BuiltinCall &c) { return reshapeTo(c, c.flag(2)); }
static PyValue view(BuiltinCall &c) { return reshapeTo(c, true); }

static PyValue ravel(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  int64_t count = x.isBlock() ? x.blockType().getNumElements() : 1;
  return c.s.wrap(c.s.reshape(x, {count}, c.flag(1)));
}

static PyValue squeeze(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  auto axis = x ? c.axis(1, x.rank()) : std::nullopt;
  if (!axis)
    return PoisonValue::get();
  if (x.shape()[*axis] != 1)
    return c.fail(formatted("dimension {} of {} is not 1", *axis, describe(x.type, x.shape())));
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + *axis);
  return c.s.wrap(c.s.reshape(x, shape));
}

static PyValue permuteBy(BuiltinCall &c, ArrayRef<int64_t> dims) {
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  SmallVector<int32_t> order;
  for (int64_t dim : dims)
    order.push_back(dim < 0 ? dim + x.rank() : dim);
  return c.s.wrap(c.s.permute(x, order));
}

static PyValue permute(BuiltinCall &c) {
  auto dims = c.integers(1);
  return dims ? permuteBy(c, *dims) : PoisonValue::get();
}

static PyValue trans(BuiltinCall &c) {
  auto dims = c.integers(1);
  Tensor x = c.tensor(0);
  if (!dims || !x)
    return PoisonValue::get();
  if (dims->empty()) {
    if (x.rank() < 2)
      return c.fail(
          formatted("at least two dimensions are needed, got {}", describe(x.type, x.shape())));
    for (int64_t i = 0; i < x.rank(); ++i)
      dims->push_back(i);
    std::swap((*dims)[x.rank() - 1], (*dims)[x.rank() - 2]);
  }
  return permuteBy(c, *dims);
}

static PyValue join(BuiltinCall &c) { return c.s.wrap(c.s.join(c.tensor(0), c.tensor(1))); }

static PyValue split(BuiltinCall &c) {
  auto [a, b] = c.s.split(c.tensor(0));
  return pair(c.s, a, b);
}

static PyValue interleave(BuiltinCall &c) {
  Tensor joined = c.s.join(c.tensor(0), c.tensor(1));
  if (!joined || joined.rank() == 1)
    return c.s.wrap(joined);
  SmallVector<int64_t> shape(joined.shape().drop_back());
  shape.back() *= 2;
  return c.s.wrap(c.s.reshape(joined, shape));
}

/// a then b along `dim`: joined in a new dimension, which is moved in front of
/// `dim` and merged with it.
static PyValue cat(BuiltinCall &c) {
  Tensor a = c.tensor(0), b = c.tensor(1);
  if (!a || !b)
    return PoisonValue::get();
  if (!a.isBlock() || a.shape() != b.shape() || c.s.irType(a.type) != c.s.irType(b.type))
    return c.fail(formatted("both inputs must be blocks of one type and shape, got {} and {}",
                            describe(a.type, a.shape()), describe(b.type, b.shape())));
  int64_t dim = 0;
  if (c.has(3)) {
    auto axis = c.axis(3, a.rank());
    if (!axis)
      return PoisonValue::get();
    dim = *axis;
  }
  SmallVector<int64_t> shape(a.shape());
  shape[dim] *= 2;
  Tensor joined = c.s.join(a, b);
  if (!joined)
    return PoisonValue::get();
  if (c.flag(2)) // any order of elements will do
    return c.s.wrap(c.s.reshape(joined, shape, /*reorder=*/true));
  SmallVector<int32_t> order;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (i == dim)
      order.push_back(a.rank());
    order.push_back(i);
  }
  return c.s.wrap(c.s.reshape(c.s.permute(joined, order), shape));
}

static PyValue item(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (x && x.isBlock() && x.blockType().getNumElements() != 1)
    return c.fail(formatted("needs a block of one element, got {}", describe(c[0])));
  return c.s.wrap(c.s.unsplat(x));
}

/// The position of program (i, j) when rows are taken in groups of `size_g`,
/// column by column within a group.
static PyValue swizzle2d(BuiltinCall &c) {
  Specializer &s = c.s;
  auto op = [&](BinaryOp o, const PyValue &a, const PyValue &b) { return s.binary(o, a, b); };
  const PyValue &i = c[0], &j = c[1], &sizeI = c[2], &sizeJ = c[3], &sizeG = c[4];
  PyValue linear = op(BinaryOp::Add, op(BinaryOp::Mul, i, sizeJ), j);
  PyValue perGroup = op(BinaryOp::Mul, sizeG, sizeJ);
  PyValue group = op(BinaryOp::FloorDiv, linear, perGroup);
  PyValue first = op(BinaryOp::Mul, group, sizeG);
  PyValue rows = op(BinaryOp::Sub, sizeI, first);
  if (tensorIn(rows) || tensorIn(sizeG))
    rows = s.wrap(s.minMax(MinMax::Min, s.tensor(rows), s.tensor(sizeG), false));
  else
    rows = s.call(PyValue::symbol("min"), {rows, sizeG});
  PyValue inGroup = op(BinaryOp::Mod, linear, perGroup);
  PyValue newI = op(BinaryOp::Add, first, op(BinaryOp::Mod, inGroup, rows));
  PyValue newJ = op(BinaryOp::FloorDiv, inGroup, rows);
  return PyValue::tuple({newI, newJ});
}

void addShapeBuiltins(BuiltinTable &t) {
  t.add("tl.broadcast", "input, other", broadcast);
  t.add("tl.broadcast_to", "input, *shape", broadcastTo);
  t.add("tl.expand_dims", "input, axis", expandDims);
  t.add("tl.unsqueeze", "input, dim", expandDims);
  t.add("tl.squeeze", "input, dim", squeeze);
  t.add("tl.reshape", "input, *shape, can_reorder=", reshape);
  t.add("tl.view", "input, *shape", view);
  t.add("tl.ravel", "x, can_reorder=", ravel);
  t.add("tl.permute", "input, *dims", permute);
  t.add("tl.trans", "input, *dims", trans);
  t.add("tl.join", "a, b", join);
  t.add("tl.split", "a", split);
  t.add("tl.interleave", "a, b", interleave);
  t.add("tl.cat", "input, other, can_reorder=, dim=", cat);
  t.add("tl.item", "x", item);
  t.add("tl.swizzle2d", "i, j, size_i, size_j, size_g", swizzle2d);
}

} // namespace tile::specialize
