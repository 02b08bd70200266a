//===- BlockPointer.cpp - make_block_ptr and advance ----------------------===//
#include "frontend/specialize/BlockPointer.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

enum Field { Base, Shape, Strides, Offsets, BlockType };

/// The type of block pointers, as that of a named tuple, so that they pass
/// through branches, loops and calls like any other tuple.
static const std::shared_ptr<const eval::ClassObject> &blockPointerClass() {
  static const std::shared_ptr<const eval::ClassObject> type = [] {
    auto object = std::make_shared<eval::ClassObject>();
    object->name = "block_pointer";
    object->isNamedTuple = true;
    object->fields = {"base", "shape", "strides", "offsets", "type"};
    return object;
  }();
  return type;
}

bool isBlockPointer(const PyValue &value) {
  return value.is(PyValue::Kind::Tuple) && value.asTuple().type == blockPointerClass();
}

PyValue blockPointerType(const PyValue &pointer) {
  return PyValue::dtype(DType::pointer(pointer.elements()[BlockType].asDType().element()));
}

/// A value that stands for a tuple of one: `(K)` is meant as `(K,)`.
static ArrayRef<PyValue> elementsOf(const PyValue &value) {
  return value.isSequence() ? ArrayRef<PyValue>(value.elements()) : ArrayRef<PyValue>(value);
}

/// A tuple of scalars as int64 tensors; empty after an error.
static std::optional<PyValue> wideScalars(BuiltinCall &c, unsigned i, size_t rank) {
  ArrayRef<PyValue> elements = elementsOf(c[i]);
  if (elements.size() != rank) {
    c.fail(formatted("{} must be a tuple of {} integers, got {}", c.parameter(i), rank,
                     describe(c[i])));
    return std::nullopt;
  }
  std::vector<PyValue> wide;
  for (const PyValue &element : elements) {
    Tensor t = c.s.tensor(element);
    if (!t)
      return std::nullopt;
    if (t.isBlock() || !t.type.isInt()) {
      c.fail(formatted("{} must be scalar integers, got {}", c.parameter(i), describe(element)));
      return std::nullopt;
    }
    wide.push_back(c.s.wrap(c.s.cast(t, Kind::Int64)));
  }
  return PyValue::tuple(std::move(wide));
}

static PyValue makeBlockPointer(BuiltinCall &c) {
  const Tensor *base = tensorIn(c[0]);
  if (!base || base->isBlock() || !base->type.isPointer())
    return c.fail(formatted("`base` must be a scalar pointer, got {}", describe(c[0])));
  auto block = c.shape(4);
  auto order = c.integers(5);
  if (!block || !order)
    return PoisonValue::get();
  SmallVector<int64_t> sorted(*order);
  llvm::sort(sorted);
  bool isPermutation = sorted.size() == block->size();
  for (size_t d = 0; isPermutation && d < sorted.size(); ++d)
    isPermutation = sorted[d] == int64_t(d);
  if (!isPermutation)
    return c.fail(formatted("`order` must be a permutation of the {} dimensions", block->size()));
  auto shape = wideScalars(c, 1, block->size());
  auto strides = wideScalars(c, 2, block->size());
  auto offsets = wideScalars(c, 3, block->size());
  if (!shape || !strides || !offsets)
    return PoisonValue::get();
  // As a type, the block shape stays a compile-time value through assignments.
  PyValue type = PyValue::dtype(DType::block(base->type.element(), *block));
  return PyValue::namedTuple(blockPointerClass(), {c[0], *shape, *strides, *offsets, type});
}

static PyValue advance(BuiltinCall &c) {
  if (!isBlockPointer(c[0]))
    return c.fail(formatted("`base` must be a block pointer, got {}", describe(c[0])));
  std::vector<PyValue> fields = c[0].elements();
  std::vector<PyValue> offsets = fields[Offsets].elements();
  auto steps = wideScalars(c, 1, offsets.size());
  if (!steps)
    return PoisonValue::get();
  for (auto [offset, step] : llvm::zip(offsets, steps->elements()))
    offset = c.s.binary(BinaryOp::Add, offset, step);
  fields[Offsets] = PyValue::tuple(std::move(offsets));
  return PyValue::namedTuple(blockPointerClass(), std::move(fields));
}

/// Positions along dimension `d` of a block, with the rank of the block.
static Tensor positionsAlong(Specializer &s, ArrayRef<int64_t> block, size_t d,
                             const Tensor &offset) {
  int64_t length = block[d];
  Value range =
      s.create<MakeRangeOp>(s.irType(Kind::Int32, {length}), s.builder.getI32IntegerAttr(0),
                            s.builder.getI32IntegerAttr(length));
  Tensor wide = s.cast({range, DType(Kind::Int32)}, Kind::Int64);
  Tensor positions = s.arithmetic(BinaryOp::Add, wide, offset);
  for (size_t other = 0; other < block.size(); ++other)
    if (other != d)
      positions = s.expandDims(positions, other);
  return positions;
}

std::optional<BlockAccess> expandBlockPointer(BuiltinCall &c, const PyValue &pointer,
                                              const PyValue &boundary) {
  Specializer &s = c.s;
  ArrayRef<PyValue> fields = pointer.elements();
  ArrayRef<int64_t> block = fields[BlockType].asDType().shape();
  SmallVector<bool> checked(block.size());
  for (const PyValue &dim : boundary.isNone() ? ArrayRef<PyValue>() : elementsOf(boundary)) {
    std::optional<int64_t> d = dim.toInt64();
    if (!d || *d < 0 || *d >= int64_t(block.size())) {
      c.fail(formatted("`boundary_check` must be dimensions below {}, got {}", block.size(),
                       describe(dim)));
      return std::nullopt;
    }
    checked[*d] = true;
  }
  BlockAccess access;
  access.pointers = *tensorIn(fields[Base]);
  for (size_t d = 0; d < block.size(); ++d) {
    auto field = [&](Field f) { return *tensorIn(fields[f].elements()[d]); };
    Tensor at = positionsAlong(s, block, d, field(Offsets));
    if (!at)
      return std::nullopt;
    access.pointers =
        s.offsetPointer(access.pointers, s.arithmetic(BinaryOp::Mul, at, field(Strides)), false);
    if (!checked[d])
      continue;
    Tensor size = s.splat(field(Shape), at.shape());
    Tensor inside =
        s.arithmetic(BinaryOp::And, s.compareSame(CompareOp::Lt, at, size),
                     s.compareSame(CompareOp::Ge, at, s.intConstant(0, Kind::Int64, at.shape())));
    access.mask = access.mask ? s.arithmetic(BinaryOp::And, access.mask, inside) : inside;
  }
  access.pointers = s.broadcastTo(access.pointers, block);
  if (access.mask)
    access.mask = s.broadcastTo(access.mask, block);
  if (!access.pointers)
    return std::nullopt;
  return access;
}

std::optional<PyValue> blockPointerMethod(const PyValue &pointer, StringRef name) {
  if (name != "advance")
    return std::nullopt;
  return PyValue::method(pointer, name.str());
}

void addBlockPointerBuiltins(BuiltinTable &t) {
  t.add("tl.make_block_ptr", "base, shape, strides, offsets, block_shape, order", makeBlockPointer);
  t.add("tl.advance", "base, offsets", advance);
}

} // namespace tile::specialize
