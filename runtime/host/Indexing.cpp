//===- Indexing.cpp - tensors by index ------------------------------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

/// Integers, slices, None and `...`: a view.
Result Tensor::basicIndex(ArrayRef<PyValue> indices) const {
  size_t consumed = llvm::count_if(
      indices, [](const PyValue &i) { return !i.isNone() && !i.is(Kind::Ellipsis); });
  if (consumed > rank())
    return fail(formatted("too many indices: {} for a tensor of rank {}", consumed, rank()),
                "IndexError");
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
      consumed = rank();
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

Result Tensor::subscript(Evaluator *, const PyValue &index) {
  if (auto *tensor = index.dynExtension<Tensor>())
    if (tensor->rank() > 0)
      return selectRows(*tensor);
  std::vector<PyValue> indices = {index};
  if (index.is(Kind::Tuple))
    indices = index.asTuple().elements;
  for (PyValue &i : indices)
    if (auto *tensor = i.dynExtension<Tensor>(); tensor && tensor->size() == 1) {
      Result number = tensor->onlyValue();
      if (!number)
        return number;
      i = number.take();
    }
  return basicIndex(indices);
}

Result Tensor::assignSubscript(const PyValue &index, const PyValue &given) {
  Array array;
  if (auto error = toArray(given, array))
    return error;
  auto *mask = index.dynExtension<Tensor>();
  if (mask && mask->type().isBool()) {
    // x[mask] = scalar
    Array all, where;
    if (auto error = values(all))
      return error;
    if (auto error = mask->values(where))
      return error;
    if (array.size() != 1 || where.shape != all.shape)
      return fail("a mask assigns one number to a tensor of the mask's shape", "ValueError");
    Array filled = all.isFloat() || !array.isFloat() ? all : all.toFloat();
    for (int64_t i = 0; i < all.size(); ++i)
      if (where.ints[i]) {
        if (filled.isFloat())
          filled.reals[i] = array.real(0);
        else
          filled.ints[i] = array.ints[0];
      }
    if (auto error = assign(filled))
      return error;
    return PyValue();
  }
  Result target = subscript(nullptr, index);
  if (!target)
    return target;
  if (mask && mask->rank() > 0)
    return eval::unsupported("assigning through a tensor of indices is not supported");
  if (auto error = target->dynExtension<Tensor>()->assign(array))
    return error;
  return PyValue();
}
