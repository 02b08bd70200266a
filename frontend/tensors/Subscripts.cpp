//===- Subscripts.cpp - parts of tensors by slices and numbers ------------===//
#include "frontend/tensors/Subscripts.h"
#include "frontend/tensors/Masked.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;

using Dims = llvm::SmallVector<int64_t>;

/// A bound of a slice along a dimension, counted from its beginning.
static std::unique_ptr<EvalError> readBound(const PyValue &value, const Size &along,
                                            const Size &otherwise, Size &out) {
  out = otherwise;
  if (value.isNone())
    return nullptr;
  std::optional<Size> given = sizeOf(value);
  if (!given)
    return fail(formatted("a bound of a slice is a number or a size, got {}", eval::repr(value)));
  std::optional<int64_t> number = given->constant();
  out = number && *number < 0 ? along + *given : *given;
  return nullptr;
}

/// One `a:b:c` or number; the next dimension is what it is of.
static std::unique_ptr<EvalError> readPart(Tracer &tracer, const PyValue &part, const Size &along,
                                           Subscript &out) {
  Size start, end;
  int64_t step = 1;
  size_t dim = out.starts.size();
  if (part.is(PyValue::Kind::Slice)) {
    const auto &slice = part.asSlice();
    if (auto error = readBound(slice.lower, along, Size(0), start))
      return error;
    if (auto error = readBound(slice.upper, along, along, end))
      return error;
    step = slice.step.isNone() ? 1 : slice.step.toInt64().value_or(0);
    bool isReversed = step == -1 && slice.lower.isNone() && slice.upper.isNone();
    if (step < 1 && !isReversed)
      return eval::unsupported("a step of a slice is a whole number from 1 on, or -1 of all of a "
                               "dimension");
    out.dims.push_back(dim);
  } else {
    if (auto error = readBound(part, along, Size(0), start))
      return error;
    end = start + Size(1);
  }
  Size count = end - start;
  if (step > 1) {
    std::optional<Size> each = count.dividedUpBy(step);
    if (!each)
      return fail(formatted("every {} of `{}` elements is not a formula: only what divides "
                            "whatever the sizes are can be taken; write sizes as multiples, such "
                            "as `{}*N`",
                            step, count, step));
    count = *each;
  }
  std::string to = part.is(PyValue::Kind::Slice) ? formatted(":{}", end) : std::string();
  std::string text = formatted("`{}{}` of a dimension `{}`", start, to, along);
  std::optional<int64_t> length = count.constant(), over = (end - along).constant();
  if ((length && *length < 0) || (over && *over > 0))
    return fail(formatted("{} does not lie in it", text), "IndexError");
  for (const Size &size : {start, count, along - end})
    tracer.require(size, formatted("{} does not lie in it", text));
  out.starts.push_back(step < 0 ? along - Size(1) : start);
  out.sizes.push_back(count);
  out.steps.push_back(step);
  return nullptr;
}

/// What the steps leave, by indices.
Result tensors::everySo(Tracer &tracer, const Operand &x, const Subscript &at) {
  llvm::SmallVector<mlir::Value> indices;
  size_t rank = at.starts.size();
  for (size_t i = 0; i < rank; ++i) {
    Dims dims(rank - i, -1);
    dims[0] = 0;
    Result along = tracer.rearrange({tracer.indices(at.sizes[i]), "", false}, dims);
    if (along && at.steps[i] != 1)
      along = tracer.map(MapKind::mul, {*along, PyValue::integer(at.steps[i])});
    if (along && at.starts[i] != Size(0))
      along = tracer.map(MapKind::add, {*along, tracer.sizeValue(at.starts[i])});
    Operand index;
    if (!along)
      return along;
    if (auto error = tracer.operand("[]", *along, index))
      return error;
    indices.push_back(index.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/false);
}

std::unique_ptr<EvalError> tensors::readSubscript(Tracer &tracer, ArrayRef<PyValue> parts,
                                                  ArrayRef<Size> shape, const std::string &what,
                                                  Subscript &at) {
  size_t named = 0, rank = shape.size();
  for (const PyValue &part : parts)
    named += !part.isNone() && !part.is(PyValue::Kind::Ellipsis);
  if (named > rank)
    return fail(formatted("an index of {} dimensions into {}", named, what), "IndexError");
  auto whole = [&] {
    at.dims.push_back(at.starts.size());
    at.sizes.push_back(shape[at.starts.size()]);
    at.starts.push_back(Size(0));
    at.steps.push_back(1);
  };
  bool sawEllipsis = false;
  for (const PyValue &part : parts) {
    if (part.isNone()) {
      at.dims.push_back(-1);
    } else if (part.is(PyValue::Kind::Ellipsis) && !sawEllipsis) {
      sawEllipsis = true;
      for (size_t i = named; i < rank; ++i)
        whole();
    } else if (part.is(PyValue::Kind::Slice) || sizeOf(part)) {
      if (auto error = readPart(tracer, part, shape[at.starts.size()], at))
        return error;
    } else {
      return fail(formatted("a tensor is indexed with numbers, slices, `None`, `...` or one tensor "
                            "of row numbers, got {}",
                            eval::repr(part)));
    }
  }
  while (at.starts.size() < rank)
    whole();
  return nullptr;
}

Result TensorValue::subscript(eval::Evaluator *, const PyValue &index) {
  if (std::optional<Result> part = extrema ? extrema->subscript(index) : std::nullopt)
    return std::move(*part);
  if (isMask(index))
    return takeByMask(tracer, PyValue::extension(shared_from_this()), index);
  std::vector<PyValue> parts = {index};
  if (index.is(PyValue::Kind::Tuple))
    parts = index.elements().vec();
  if (llvm::any_of(parts, [](const PyValue &part) { return part.dynExtension<TensorValue>(); }))
    return takeElements(tracer, PyValue::extension(shared_from_this()), parts);
  Subscript at;
  Sizes shape = sizes();
  if (auto error = readSubscript(tracer, parts, shape, repr(), at))
    return error;
  Operand x{value, name, isWeak};
  bool moves = at.sizes != shape || llvm::any_of(at.starts, [](auto &s) { return s != Size(0); });
  bool steps = llvm::any_of(at.steps, [](int64_t step) { return step != 1; });
  Result part = steps   ? everySo(tracer, x, at)
                : moves ? tracer.window(x, at.starts, at.sizes, /*inside=*/true, /*loose=*/false)
                        : Result(tracer.wrap(value, isWeak, name));
  if (!part)
    return part;
  if (auto error = tracer.operand("[]", *part, x))
    return error;
  return tracer.rearrange(x, at.dims);
}
