//===- Lists.cpp - numbers that the source lists, as tensors --------------===//
//
// There are few of them, and they have no memory: each element chooses its number by its place.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Lists.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;

/// Each element makes so many comparisons, at most.
static constexpr size_t kMostListed = 64;

namespace {
/// What a list of lists holds, row by row.
struct Listed {
  std::vector<PyValue> numbers;
  std::vector<int64_t> shape;
};
} // namespace

static std::unique_ptr<EvalError> readList(const PyValue &value, size_t depth, Listed &out) {
  if (!value.isSequence()) {
    bool isNumber = value.is(PyValue::Kind::Float) || value.is(PyValue::Kind::Bool) ||
                    value.toInt64().has_value();
    if (!isNumber || depth != out.shape.size())
      return fail(formatted("a tensor is made of numbers, or of lists of as many numbers each, got "
                            "{}",
                            eval::repr(value)));
    out.numbers.push_back(value);
    return nullptr;
  }
  ArrayRef<PyValue> elements = value.elements();
  bool isFirst = out.numbers.empty() && depth == out.shape.size();
  if (isFirst)
    out.shape.push_back(elements.size());
  if (depth >= out.shape.size() || out.shape[depth] != int64_t(elements.size()) ||
      elements.empty() || out.numbers.size() + elements.size() > kMostListed)
    return fail(
        formatted("a tensor is made of 1 to {} numbers, in lists of one length: longer ones "
                  "are arguments of the function",
                  kMostListed),
        "ValueError");
  for (const PyValue &element : elements)
    if (auto error = readList(element, depth + 1, out))
      return error;
  return nullptr;
}

/// As PyTorch has it: floats have 32 bits, whole numbers 64.
static mlir::Type typeOfAll(Tracer &tracer, ArrayRef<PyValue> numbers) {
  auto is = [](PyValue::Kind kind) { return [=](const PyValue &x) { return x.is(kind); }; };
  if (llvm::any_of(numbers, is(PyValue::Kind::Float)))
    return tracer.builder.getF32Type();
  if (llvm::all_of(numbers, is(PyValue::Kind::Bool)))
    return tracer.builder.getI1Type();
  return tracer.builder.getI64Type();
}

/// The place of each element among all, in order.
static Result placesOf(Tracer &tracer, ArrayRef<int64_t> shape) {
  Result sum = PyValue();
  int64_t behind = 1;
  for (size_t dim = shape.size(); dim-- > 0; behind *= shape[dim]) {
    llvm::SmallVector<int64_t> dims(shape.size() - dim, -1);
    dims[0] = 0;
    Result along = tracer.rearrange({tracer.indices(Size(shape[dim])), "", false}, dims);
    if (along && behind > 1)
      along = tracer.map(MapKind::mul, {*along, PyValue::integer(behind)});
    sum = along && !sum->isNone() ? tracer.map(MapKind::add, {*sum, *along}) : std::move(along);
    if (!sum)
      return sum;
  }
  return sum;
}

Result tensors::ofList(Tracer &tracer, const PyValue &list, mlir::Type element) {
  Listed of;
  if (auto error = readList(list, 0, of))
    return error;
  if (!element)
    element = typeOfAll(tracer, of.numbers);
  auto number = [&](size_t i) -> Result {
    return element.isInteger(1)
               ? tracer.map(MapKind::ne, "tensor", {of.numbers[i], PyValue::integer(0)})
               : tracer.cast(of.numbers[i], element);
  };
  Sizes sizes;
  for (int64_t size : of.shape)
    sizes.push_back(Size(size));
  Result value = number(of.numbers.size() - 1), place = PyValue();
  for (size_t i = of.numbers.size() - 1; i-- > 0 && value;) {
    if (eval::repr(of.numbers[i]) == eval::repr(of.numbers[i + 1]))
      continue;
    if (place->isNone())
      place = placesOf(tracer, of.shape);
    Result isUpTo = place ? tracer.map(MapKind::le, "tensor", {*place, PyValue::integer(i)})
                          : Result(place.takeError());
    Result own = number(i);
    if (!isUpTo || !own)
      return !isUpTo ? std::move(isUpTo) : std::move(own);
    value = tracer.map(MapKind::select, "tensor", {*isUpTo, *own, *value});
  }
  return value ? tracer.expand(*value, sizes) : std::move(value);
}

/// tensor(numbers, dtype=None), or of a number, or of what is a tensor.
static Result tensor(Tracer &tracer, StringRef name, const CallArgs &args) {
  eval::ArgReader r(name, args, {"data", "dtype"}, 1);
  if (!r)
    return r.error();
  mlir::Type element;
  if (!r.get(1).isNone()) {
    if (r[1].is(PyValue::Kind::DType))
      element = elementType(tracer.builder.getContext(), r[1].asDType());
    if (!element)
      return fail(formatted("`dtype` of `{}` is a type, such as `tl.float16`, got {}", name,
                            eval::repr(r[1])));
  }
  if (!r[0].dynExtension<TensorValue>())
    return ofList(tracer, r[0], element);
  return *tracer.callNamed(
      "to", {{r[0], r.get(1).isNone() ? *eval::attribute(r[0], "dtype") : r[1]}, {}});
}

ArrayRef<TracedEntry> tensors::tracedLists() {
  static const TracedEntry table[] = {{"tensor", tensor}};
  return table;
}
