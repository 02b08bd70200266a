//===- Indexing.cpp - tensors by index ------------------------------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

/// How many dimensions they name, one each; not more than `rank`, with one `...` at most.
static std::unique_ptr<EvalError> countNamed(ArrayRef<PyValue> indices, size_t rank,
                                             size_t &named) {
  named = llvm::count_if(indices,
                         [](const PyValue &i) { return !i.isNone() && !i.is(Kind::Ellipsis); });
  if (named > rank)
    return fail(formatted("too many indices: {} for a tensor of rank {}", named, rank),
                "IndexError");
  if (llvm::count_if(indices, [](const PyValue &i) { return i.is(Kind::Ellipsis); }) > 1)
    return fail("an index has one `...` at most", "IndexError");
  return nullptr;
}

/// Integers, slices, None and `...`: a view.
Result Tensor::basicIndex(ArrayRef<PyValue> indices) const {
  size_t consumed;
  if (auto error = countNamed(indices, rank(), consumed))
    return error;
  Shape shape, strides;
  Extent offset = start;
  size_t dim = 0;
  auto keep = [&] {
    shape.push_back(dims[dim]);
    strides.push_back(steps[dim++]);
  };
  for (const PyValue &index : indices) {
    if (index.isNone()) {
      shape.push_back(1);
      strides.push_back(0);
    } else if (index.is(Kind::Ellipsis)) {
      for (size_t left = rank() - consumed; left > 0; --left)
        keep();
    } else if (index.is(Kind::Slice)) {
      eval::SliceBounds bounds;
      if (auto error = eval::resolveSlice(index.asSlice(), dims[dim], bounds))
        return error;
      if (bounds.count)
        offset = offset + Extent(bounds.start) * steps[dim];
      // What has one element, or none, may have any stride.
      Extent stride = Extent(steps[dim]) * bounds.step;
      shape.push_back(bounds.count);
      strides.push_back(stride.fits() ? *stride : steps[dim]);
      ++dim;
    } else {
      std::optional<int64_t> i = index.toInt64();
      if (!i)
        return fail(formatted(
            "a tensor is indexed by integers, slices, None, `...` or one tensor, got `{}`",
            eval::typeName(index)));
      int64_t position = *i < 0 ? *i + dims[dim] : *i;
      if (position < 0 || position >= dims[dim])
        return fail(
            formatted("index {} is out of range for dimension {} of size {}", *i, dim, dims[dim]),
            "IndexError");
      offset = offset + Extent(position) * steps[dim++];
    }
  }
  while (dim < rank())
    keep();
  return view(shape, strides, offset);
}

/// x[index tensor]: rows by number, or the elements where a mask is true.
Result Tensor::selectRows(const Tensor &index) const {
  Array from, which;
  if (auto error = values(from))
    return error;
  if (auto error = index.values(which))
    return error;
  std::vector<int64_t> rows;
  Shape shape;
  ArrayRef<int64_t> rest = dims;
  if (which.kind == Array::Kind::Bool) {
    if (ArrayRef<int64_t>(which.shape) != rest.take_front(which.shape.size()))
      return fail(formatted("a mask of shape {} does not fit shape {}", toString(which.shape),
                            toString(dims)),
                  "IndexError");
    for (int64_t i = 0; i < which.size(); ++i)
      if (which.ints[i])
        rows.push_back(i);
    shape.push_back(rows.size());
    rest = rest.drop_front(which.shape.size());
  } else {
    if (which.isFloat() || rank() == 0)
      return fail("a tensor is indexed by a tensor of integers or booleans");
    for (int64_t row : which.ints) {
      if (row < -dims[0] || row >= dims[0])
        return fail(formatted("index {} is out of range for dimension 0 of size {}", row, dims[0]),
                    "IndexError");
      rows.push_back(row < 0 ? row + dims[0] : row);
    }
    shape = which.shape;
    rest = rest.drop_front();
  }
  shape.append(rest.begin(), rest.end());
  Array out;
  if (auto error = Array::make(context()->memory, from.kind, shape, out))
    return error;
  int64_t inner = numElements(rest);
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t i = 0; i < inner; ++i)
      out.copyElement(r * inner + i, from, rows[r] * inner + i);
  return create(context(), elementType, out);
}

namespace {
/// Tensors of indices side by side, broadcast.
struct IndexTensors {
  size_t first = 0; ///< the dimension of the first, in what they index
  std::vector<Array> arrays;
  Shape shape;
};
} // namespace

/// Of the dimensions that are indexed, as one: where an element of the broadcast shape is.
static Result placeOf(const IndexTensors &by, ArrayRef<int64_t> dims, int64_t element) {
  int64_t place = 0;
  for (auto [i, array] : llvm::enumerate(by.arrays)) {
    int64_t index = array.ints[element], size = dims[by.first + i];
    if (index < -size || index >= size)
      return fail(formatted("index {} is out of range for dimension {} of size {}", index,
                            by.first + i, size),
                  "IndexError");
    place = place * size + (index < 0 ? index + size : index);
  }
  return PyValue::integer(place);
}

/// The tensors among the indices of a tensor of `rank` dimensions; `slices` gets a whole slice for
/// each: slices and numbers come first, and leave the dimensions that tensors index.
static std::unique_ptr<EvalError> readIndices(ArrayRef<PyValue> indices, size_t rank,
                                              std::vector<PyValue> &slices, IndexTensors &by) {
  size_t kept = 0, last = 0, named;
  if (auto error = countNamed(indices, rank, named))
    return error;
  for (auto [i, index] : llvm::enumerate(indices)) {
    auto *tensor = index.dynExtension<Tensor>();
    if (!tensor) {
      kept += index.is(Kind::Ellipsis) ? rank - named : !index.toInt64();
      continue;
    }
    if (by.arrays.empty())
      by.first = kept;
    bool isBeside =
        by.arrays.empty() || llvm::all_of(indices.slice(last, i - last), [](auto &part) {
          return part.template dynExtension<Tensor>() || part.toInt64();
        });
    if (!isBeside)
      return eval::unsupported("tensors of indices that do not stand side by side");
    last = i;
    Array &array = by.arrays.emplace_back();
    if (auto error = tensor->values(array))
      return error;
    if (array.isFloat() || array.kind == Array::Kind::Bool)
      return fail("a tensor beside other indices holds integers", "IndexError");
    slices[i] = PyValue::slice({}, {}, {});
    ++kept;
    std::optional<Shape> both = broadcastShapes(by.shape, array.shape);
    if (!both)
      return fail(formatted("indices of shapes {} and {} do not broadcast", toString(by.shape),
                            toString(array.shape)),
                  "IndexError");
    by.shape = *both;
  }
  return nullptr;
}

/// x[..., i, j, ...] with tensors of integers side by side: their dimensions take the place of
/// those that they index.
Result Tensor::selectElements(ArrayRef<PyValue> indices) const {
  std::vector<PyValue> slices(indices.begin(), indices.end());
  IndexTensors by;
  if (auto error = readIndices(indices, rank(), slices, by))
    return error;
  for (Array &array : by.arrays) {
    Array whole;
    if (auto error = array.broadcastTo(context()->memory, by.shape, whole))
      return error;
    array = std::move(whole);
  }
  Result sliced = basicIndex(slices);
  if (!sliced)
    return sliced;
  const Tensor &base = *sliced->dynExtension<Tensor>();
  Array from, out;
  if (auto error = base.values(from))
    return error;
  ArrayRef<int64_t> sizes = base.dims, behind = sizes.drop_front(by.first + by.arrays.size());
  ArrayRef<int64_t> taken = sizes.slice(by.first, by.arrays.size());
  Shape shape(sizes.begin(), sizes.begin() + by.first);
  shape.append(by.shape.begin(), by.shape.end());
  shape.append(behind.begin(), behind.end());
  if (auto error = Array::make(context()->memory, from.kind, shape, out))
    return error;
  int64_t outer = numElements(sizes.take_front(by.first)), middle = numElements(by.shape);
  int64_t inner = numElements(behind), whole = numElements(taken);
  for (int64_t m = 0; m < middle; ++m) {
    Result place = placeOf(by, sizes, m);
    if (!place)
      return place;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        out.copyElement((o * middle + m) * inner + i, from,
                        (o * whole + *place->toInt64()) * inner + i);
  }
  return create(context(), elementType, out);
}

Result Tensor::subscript(Evaluator *, const PyValue &index) {
  if (std::optional<Result> found = extrema ? extrema->subscript(index) : std::nullopt)
    return std::move(*found);
  return part(index);
}

Result Tensor::part(const PyValue &index) const {
  if (auto *tensor = index.dynExtension<Tensor>())
    if (tensor->rank() > 0)
      return selectRows(*tensor);
  std::vector<PyValue> indices = {index};
  if (index.is(Kind::Tuple))
    indices = index.asTuple().elements;
  bool hasTensors = llvm::any_of(indices, [](const PyValue &i) {
    auto *tensor = i.dynExtension<Tensor>();
    return tensor && tensor->rank() > 0;
  });
  if (hasTensors)
    return selectElements(indices);
  for (PyValue &i : indices)
    if (auto *tensor = i.dynExtension<Tensor>(); tensor && tensor->size() == 1) {
      Result number = tensor->onlyValue();
      if (!number)
        return number;
      i = number.take();
    }
  return basicIndex(indices);
}

/// x[mask] = value: a number, or what has the shape of x[mask], or repeats to it.
Result Tensor::assignMasked(const Tensor &mask, const Array &given) {
  Result taken = selectRows(mask);
  Array all, where, values;
  if (!taken)
    return taken;
  if (auto error = this->values(all))
    return error;
  if (auto error = mask.values(where))
    return error;
  if (auto error =
          given.broadcastTo(context()->memory, taken->dynExtension<Tensor>()->shape(), values))
    return error;
  if (given.isFloat() && !all.isFloat())
    all = all.toFloat();
  if (all.isFloat())
    values = values.toFloat();
  int64_t inner = where.size() ? all.size() / where.size() : 0;
  for (int64_t i = 0, next = 0; i < where.size(); ++i)
    for (int64_t j = 0; where.ints[i] && j < inner; ++j)
      all.copyElement(i * inner + j, values, next++);
  if (auto error = assign(all))
    return error;
  return PyValue();
}

Result Tensor::assignSubscript(const PyValue &index, const PyValue &given) {
  extrema = nullptr;
  Array array;
  if (auto error = toArray(given, array))
    return error;
  auto *mask = index.dynExtension<Tensor>();
  if (mask && mask->type().isBool() && mask->rank() > 0)
    return assignMasked(*mask, array);
  Result target = part(index);
  if (!target)
    return target;
  bool byTensors = mask && mask->rank() > 0;
  if (index.is(Kind::Tuple))
    byTensors |= llvm::any_of(index.asTuple().elements, [](const PyValue &i) {
      auto *tensor = i.dynExtension<Tensor>();
      return tensor && tensor->rank() > 0;
    });
  if (byTensors)
    return eval::unsupported("assigning through a tensor of indices is not supported");
  if (auto error = target->dynExtension<Tensor>()->assign(array))
    return error;
  return PyValue();
}
