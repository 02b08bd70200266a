//===- TakeElements.cpp - elements by indices that tensors hold -----------===//
//
// As NumPy has it: tensors of indices that stand side by side broadcast, and their dimensions take
// the place of those that they index.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;

using Dims = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// From the end
//===----------------------------------------------------------------------===//

/// Of an operation of elements: what it gives of numbers that are not below zero.
static bool mapIsNeverNegative(graph::MapOp op) {
  auto of = [&](unsigned i) { return isNeverNegative(op.getOperand(i)); };
  switch (op.getKind()) {
  case MapKind::add:
  case MapKind::mul:
  case MapKind::floordiv:
  case MapKind::minimum:
    return of(0) && of(1);
  case MapKind::maximum:
  case MapKind::bit_and:
    return of(0) || of(1);
  case MapKind::mod: // has the divisor's sign
    return of(1);
  case MapKind::select:
    return of(1) && of(2);
  case MapKind::shift_right:
    return of(0);
  case MapKind::abs:
  case MapKind::square:
    return true;
  default:
    return false;
  }
}

bool tensors::isNeverNegative(mlir::Value v) {
  mlir::Type element = graph::typeOf(v).getElement();
  if (element.isUnsignedInteger() || element.isInteger(1))
    return true;
  mlir::Operation *op = v.getDefiningOp();
  if (!op)
    return false;
  if (auto number = mlir::dyn_cast<graph::ConstantOp>(op)) {
    auto whole = mlir::dyn_cast<mlir::IntegerAttr>(number.getValue());
    auto real = mlir::dyn_cast<mlir::FloatAttr>(number.getValue());
    return (whole && whole.getInt() >= 0) || (real && real.getValueAsDouble() >= 0);
  }
  if (auto map = mlir::dyn_cast<graph::MapOp>(op))
    return mapIsNeverNegative(map);
  if (mlir::isa<graph::IndexOp>(op))
    return true;
  if (auto cast = mlir::dyn_cast<graph::CastOp>(op)) { // what has no sign may get one
    mlir::Type from = graph::typeOf(cast.getSrc()).getElement();
    if (from.isIntOrFloat() && element.isIntOrFloat() && !from.isInteger(1) &&
        from.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth() && from.isUnsignedInteger())
      return false;
  }
  bool keeps = mlir::isa<graph::CastOp, graph::RearrangeOp, graph::ReshapeOp, graph::WindowOp,
                         graph::ReduceOp, graph::ScanOp, graph::JoinOp>(op);
  return keeps && llvm::all_of(op->getOperands(), isNeverNegative);
}

/// Indices that count from the end where they are negative. What cannot be stays as it is.
static Result fromEnd(Tracer &tracer, const Operand &at, const Size &size) {
  PyValue index = tracer.wrap(at.value, at.isWeak);
  if (isNeverNegative(at.value) || at.isWeak)
    return index;
  if (at.type().getElement().getIntOrFloatBitWidth() < 32) { // sizes are more than those have
    Result wide = tracer.cast(index, tracer.builder.getI32Type());
    if (!wide)
      return wide;
    index = std::move(*wide);
  }
  Result isBehind = tracer.map(MapKind::lt, "[]", {index, PyValue::integer(0)});
  Result moved = tracer.map(MapKind::add, "[]", {index, tracer.sizeValue(size)});
  if (!isBehind || !moved)
    return !isBehind ? std::move(isBehind) : std::move(moved);
  Result place = tracer.map(MapKind::select, "[]", {*isBehind, *moved, index});
  mlir::Attribute number = tracer.builder.getI64IntegerAttr(tracer.indicesFromEnd++);
  for (Result *made : {&isBehind, &moved, &place})
    if (auto *value = *made ? (*made)->dynExtension<TensorValue>() : nullptr)
      value->value.getDefiningOp()->setAttr(graph::kOwnAttr, number);
  return place;
}

/// `x[index]` with a tensor of whole numbers: rows.
Result tensors::takeRows(Tracer &tracer, StringRef name, const PyValue &value, const PyValue &index,
                         bool wraps) {
  Operand x, at;
  if (auto error = tracer.operand(name, value, x))
    return error;
  if (auto error = tracer.operand(name, index, at))
    return error;
  Sizes sizes = x.type().sizes();
  if (sizes.empty() || !mlir::isa<mlir::IntegerType>(at.type().getElement()) ||
      at.type().getElement().isInteger(1))
    return fail(formatted("`{}` needs a tensor and whole numbers for its rows, got {} and {}", name,
                          eval::repr(value), eval::repr(index)));
  if (wraps) {
    Result wrapped = fromEnd(tracer, at, sizes[0]);
    if (!wrapped)
      return wrapped;
    if (auto error = tracer.operand(name, *wrapped, at))
      return error;
  }
  llvm::SmallVector<mlir::Value> indices;
  Dims dims = inOrder(at.type().sizes().size());
  dims.append(sizes.size() - 1, -1);
  Result rows = tracer.rearrange(at, dims);
  Operand part;
  if (auto error = tracer.operand(name, *rows, part))
    return error;
  indices.push_back(part.value);
  for (size_t i = 1; i < sizes.size(); ++i) {
    Dims along(sizes.size() - i, -1);
    along[0] = 0;
    Result other = tracer.rearrange({tracer.indices(sizes[i]), "", false}, along);
    if (auto error = tracer.operand(name, *other, part))
      return error;
    indices.push_back(part.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/true);
}

//===----------------------------------------------------------------------===//
// Several tensors, and slices beside them
//===----------------------------------------------------------------------===//

static PyValue wholeSlice() { return PyValue::slice({}, {}, {}); }

/// Whether a part takes all of its dimension.
static bool isAll(const PyValue &part) {
  if (!part.is(PyValue::Kind::Slice))
    return false;
  const auto &slice = part.asSlice();
  return slice.lower.isNone() && slice.upper.isNone() && slice.step.isNone();
}

static bool isIndex(const PyValue &part) {
  return part.dynExtension<TensorValue>() || sizeOf(part);
}

static std::unique_ptr<EvalError> checkIndex(const Operand &at) {
  mlir::Type element = at.type().getElement();
  if (element.isInteger(1))
    return fail("a mask takes as many elements as are true, which the shape of a result cannot "
                "depend on; `tile.where(mask, x, 0)` keeps the others as 0",
                "IndexError");
  if (!mlir::isa<mlir::IntegerType>(element))
    return fail(formatted("an index is a tensor of whole numbers, not of `{}`",
                          graph::spelledType(element)),
                "IndexError");
  return nullptr;
}

/// One for each dimension: `...` is as many whole slices as are missing.
static std::vector<PyValue> withoutEllipsis(ArrayRef<PyValue> parts, size_t rank) {
  std::vector<PyValue> out;
  auto named = size_t(llvm::count_if(parts, [](const PyValue &part) {
    return !part.isNone() && !part.is(PyValue::Kind::Ellipsis);
  }));
  bool sawEllipsis = false;
  for (const PyValue &part : parts) {
    bool isFirst = part.is(PyValue::Kind::Ellipsis) && !std::exchange(sawEllipsis, true);
    if (isFirst)
      out.insert(out.end(), rank - std::min(named, rank), wholeSlice());
    else
      out.push_back(part);
  }
  while (!sawEllipsis && named++ < rank)
    out.push_back(wholeSlice());
  return out;
}

namespace {
/// Tensors and numbers side by side, from one dimension of what they index to another.
struct Indexed {
  size_t first = 0, end = 0;
  std::vector<Operand> at;
  Sizes shape; ///< that they broadcast to
};
} // namespace

static std::unique_ptr<EvalError> readIndices(Tracer &tracer, ArrayRef<PyValue> parts,
                                              ArrayRef<Size> sizes, Indexed &out) {
  out.first = llvm::find_if(parts, isIndex) - parts.begin();
  out.end = out.first;
  while (out.end < parts.size() && isIndex(parts[out.end]))
    ++out.end;
  if (llvm::any_of(parts.drop_front(out.end), isIndex))
    return eval::unsupported("tensors of indices stand side by side: with a slice between them the "
                             "result would have their dimensions in front; transpose first");
  for (size_t i = out.first; i < out.end; ++i) {
    PyValue part = parts[i];
    if (std::optional<int64_t> number = part.toInt64(); number && *number < 0)
      part = tracer.sizeValue(sizes[i] + Size(*number));
    Operand &at = out.at.emplace_back();
    if (auto error = tracer.operand("[]", part, at))
      return error;
    if (auto error = checkIndex(at))
      return error;
    Result wrapped = fromEnd(tracer, at, sizes[i]);
    if (!wrapped)
      return wrapped.takeError();
    if (auto error = tracer.operand("[]", *wrapped, at))
      return error;
    unsigned dim;
    Sizes own = at.type().sizes();
    std::optional<Sizes> both = graph::broadcast(out.shape, own, dim);
    if (!both)
      return fail(formatted("indices of shapes {} and {} do not broadcast",
                            graph::shapeText(out.shape), graph::shapeText(own)),
                  "IndexError");
    out.shape = *both;
  }
  return nullptr;
}

Result tensors::takeElements(Tracer &tracer, const PyValue &value, ArrayRef<PyValue> given) {
  if (given.size() == 1)
    if (auto *index = given[0].dynExtension<TensorValue>();
        !index->type().getElement().isInteger(1))
      return takeRows(tracer, "[]", value, given[0], /*wraps=*/true);
  Operand x;
  if (auto error = tracer.operand("[]", value, x))
    return error;
  std::vector<PyValue> parts = withoutEllipsis(given, x.type().sizes().size());
  auto isPlain = [](const PyValue &part) { return isAll(part) || isIndex(part); };
  if (!llvm::all_of(parts, isPlain)) {
    // Slices first, and new dimensions: what is left of them is whole.
    std::vector<PyValue> slices = parts;
    for (PyValue &part : slices)
      if (isIndex(part))
        part = wholeSlice();
    for (PyValue &part : parts)
      if (!isIndex(part))
        part = wholeSlice();
    Result sliced = value.dynExtension<TensorValue>()->subscript(nullptr, PyValue::tuple(slices));
    return sliced ? takeElements(tracer, *sliced, parts) : std::move(sliced);
  }
  Sizes sizes = x.type().sizes();
  if (parts.size() != sizes.size())
    return fail(formatted("an index of {} dimensions into {}", parts.size(), eval::repr(value)),
                "IndexError");
  Indexed by;
  if (auto error = readIndices(tracer, parts, sizes, by))
    return error;
  size_t behind = sizes.size() - by.end, rank = by.first + by.shape.size() + behind;
  llvm::SmallVector<mlir::Value> indices;
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool isOwn = i >= by.first && i < by.end;
    size_t place = i < by.first ? i : rank - sizes.size() + i; // of a dimension that stays
    Dims dims(rank - place, -1);
    dims[0] = 0;
    Operand line{isOwn ? mlir::Value() : tracer.indices(sizes[i]), "", false};
    if (isOwn) {
      line = by.at[i - by.first];
      dims = inOrder(line.type().sizes().size());
      dims.append(behind, -1);
    }
    Result index = tracer.rearrange(line, dims);
    Operand at;
    if (!index)
      return index;
    if (auto error = tracer.operand("[]", *index, at))
      return error;
    indices.push_back(at.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/true);
}
