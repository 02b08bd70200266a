//===- Creation.cpp - tensors of one number, repeated elements, copies ----===//
//
// Nothing of this is stored for its own sake: what is made here is part of the kernels that
// read it.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

Result Tracer::expand(const PyValue &value, ArrayRef<Size> sizes) {
  Operand x;
  if (auto error = operand("expand", value, x))
    return error;
  if (x.type().sizes() == Sizes(sizes.begin(), sizes.end()))
    return value;
  Result isThere = PyValue();
  for (size_t i = 0; i < sizes.size(); ++i) {
    llvm::SmallVector<int64_t> dims(sizes.size() - i, -1);
    if (!sizes[i].isConstant(1))
      dims[0] = 0;
    Operand line{sizes[i].isConstant(1) ? constant(int64_t(0)) : indices(sizes[i]), "", false};
    Result along = rearrange(line, dims);
    Result here = along ? map(MapKind::ge, {*along, PyValue::integer(0)}) : std::move(along);
    if (!here)
      return here;
    isThere = isThere->isNone() ? std::move(here) : map(MapKind::bit_and, {*isThere, *here});
    if (!isThere)
      return isThere;
  }
  return map(MapKind::select, "expand", {*isThere, value, value});
}

/// Sizes one after the other, or in a tuple; with `open` -1 is a size as well.
static std::unique_ptr<EvalError> readSizes(StringRef name, ArrayRef<PyValue> given, bool open,
                                            Sizes &out) {
  if (given.size() == 1 && given[0].isSequence())
    given = given[0].elements();
  if (auto error = checkRank(given.size()))
    return error;
  for (const PyValue &value : given) {
    std::optional<Size> size = sizeOf(value);
    std::optional<int64_t> number = size ? size->constant() : std::nullopt;
    if (!size || (number && *number < 0 && !(open && *number == -1)))
      return fail(formatted("`{}` needs sizes, got {}", name, eval::repr(value)));
    out.push_back(*size);
  }
  return nullptr;
}

/// x.expand(sizes...): as many times along dimensions of size 1; -1 leaves a dimension as it is.
static Result expand(Tracer &tracer, StringRef name, const CallArgs &args) {
  Operand x;
  std::vector<PyValue> given;
  if (auto error = tracer.operandAndRest(name, args, x, given))
    return error;
  if (const PyValue *shape = args.keyword("shape"))
    given.push_back(*shape);
  Sizes own = x.type().sizes(), sizes;
  if (auto error = readSizes(name, given, /*open=*/true, sizes))
    return error;
  bool fits = sizes.size() >= own.size();
  for (size_t i = 0; fits && i < own.size(); ++i) {
    Size &to = sizes[sizes.size() - own.size() + i];
    if (to.isConstant(-1))
      to = own[i];
    fits = own[i] == to || own[i].isConstant(1);
  }
  if (!fits)
    return fail(formatted("`{}` of shape {} to {}: dimensions are counted from the last, and only "
                          "a written 1 repeats",
                          name, graph::shapeText(own), graph::shapeText(sizes)),
                "ValueError");
  return tracer.expand(args.positional[0], sizes);
}

/// A number in some shape. The type is the one given, else that of `like`, else fp32.
static Result filled(Tracer &tracer, StringRef name, const PyValue &value, ArrayRef<Size> sizes,
                     const PyValue &dtype, mlir::Type like) {
  mlir::Type element = like ? like : tracer.builder.getF32Type();
  if (!dtype.isNone()) {
    element = dtype.is(PyValue::Kind::DType)
                  ? elementType(tracer.builder.getContext(), dtype.asDType())
                  : mlir::Type();
    if (!element)
      return fail(formatted("`dtype` of `{}` is a type, such as `tl.float16`, got {}", name,
                            eval::repr(dtype)));
  }
  Result number = element.isInteger(1) ? tracer.map(MapKind::ne, name, {value, PyValue::integer(0)})
                                       : tracer.cast(value, element);
  return number ? tracer.expand(*number, sizes) : std::move(number);
}

/// zeros(shape, dtype=fp32), ones: the shape may be numbers one after the other.
template <int number> static Result all(Tracer &tracer, StringRef name, const CallArgs &args) {
  std::vector<PyValue> given = args.positional;
  PyValue dtype = args.keyword("dtype") ? *args.keyword("dtype") : PyValue();
  if (!given.empty() && given.back().is(PyValue::Kind::DType)) {
    dtype = given.back();
    given.pop_back();
  }
  if (const PyValue *shape = args.keyword("shape"))
    given.push_back(*shape);
  Sizes sizes;
  if (auto error = readSizes(name, given, /*open=*/false, sizes))
    return error;
  return filled(tracer, name, PyValue::integer(number), sizes, dtype, {});
}

/// zeros_like(x, dtype=x's), ones_like
template <int number> static Result allLike(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "dtype"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  return filled(tracer, name, PyValue::integer(number), x.type().sizes(), r.get(1),
                x.type().getElement());
}

/// empty(shape, dtype=fp32): what a kernel of the same file is to write.
static Result empty(Tracer &tracer, StringRef name, const CallArgs &args) {
  Result made = all<0>(tracer, name, args);
  if (made)
    made->dynExtension<TensorValue>()->isUnwritten = true;
  return made;
}

/// empty_like(x, dtype=x's)
static Result emptyLike(Tracer &tracer, StringRef name, const CallArgs &args) {
  Result made = allLike<0>(tracer, name, args);
  if (made)
    made->dynExtension<TensorValue>()->isUnwritten = true;
  return made;
}

/// The type of a tensor of that number: 32 bits of floats, 64 of whole numbers.
static mlir::Type typeOfNumber(Tracer &tracer, const PyValue &value) {
  if (value.is(PyValue::Kind::Bool))
    return tracer.builder.getI1Type();
  return sizeOf(value) ? mlir::Type(tracer.builder.getI64Type()) : mlir::Type();
}

/// full(shape, value, dtype=that of the value)
static Result full(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"shape", "value", "dtype"}, 2);
  Sizes sizes;
  if (!r)
    return r.error();
  if (auto error = readSizes(name, {r[0]}, /*open=*/false, sizes))
    return error;
  return filled(tracer, name, r[1], sizes, r.get(2), typeOfNumber(tracer, r[1]));
}

/// x.half() and others
template <DType::Kind kind>
static Result converted(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x"}, 1);
  if (!r)
    return r.error();
  return tracer.callNamed("to", {{r[0], PyValue::dtype(kind)}, {}}).value();
}

/// What is computed has no memory yet, and of a parameter only updates can tell a copy.
static Result same(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Result copy = tracer.cast(r[0], x.type().getElement());
  if (copy)
    copy->dynExtension<TensorValue>()->isCopy = name == "clone";
  return copy;
}

/// The size of a part, if there is a formula for it whatever the sizes are.
static std::unique_ptr<EvalError> sizeOfPart(StringRef name, const Size &whole, int64_t parts,
                                             Size &out) {
  std::optional<Size> part = whole.dividedBy(Size(parts));
  if (!part)
    return fail(formatted("`{}` makes {} parts of a dimension `{}`, which must be a multiple "
                          "whatever the sizes are, such as `{}*N`",
                          name, parts, whole, parts),
                "ValueError");
  out = *part;
  return nullptr;
}

/// chunk(x, chunks, axis=0): as many parts of one size.
static Result chunk(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "chunks", "axis"}, 2);
  int64_t axis;
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  if (auto error = readAxis(name, r.has(2) ? r[2] : PyValue::integer(0), sizes.size(), axis))
    return error;
  std::optional<int64_t> count = r[1].toInt64();
  if (!count || *count < 1)
    return fail(formatted("`chunk` needs a number of parts, got {}", eval::repr(r[1])));
  if (auto error = tracer.checkRoom(*count))
    return error;
  if (auto error = sizeOfPart(name, sizes[axis], *count, sizes[axis]))
    return error;
  Sizes starts(sizes.size(), Size(0));
  std::vector<PyValue> parts;
  for (int64_t i = 0; i < *count; ++i) {
    starts[axis] = Size(i) * sizes[axis];
    Result part = tracer.window(x, starts, sizes, /*inside=*/true, /*loose=*/false);
    if (!part)
      return part;
    parts.push_back(*part);
  }
  return PyValue::tuple(std::move(parts));
}

/// linear(x, weight, bias=None): x @ weight.T + bias
static Result linear(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "weight", "bias"}, 2);
  Operand weight;
  if (!r)
    return r.error();
  Sizes of = r.tensor().type().sizes();
  if (auto error = tracer.operand(name, r[1], weight))
    return error;
  if (weight.type().sizes().size() != 2)
    return fail(formatted("`linear` needs a weight of shape (N, K), got {}", eval::repr(r[1])),
                "ValueError");
  if (Sizes with = weight.type().sizes(); !of.empty() && with[1] != of.back())
    return fail(formatted("`linear` of shape {} with a weight of {}: the weight has a row for each "
                          "column of the result, (N, {}){}",
                          graph::shapeText(of), graph::shapeText(with), of.back(),
                          with[0] == of.back() ? "; `x @ weight` multiplies it as it is" : ""),
                "ValueError");
  Result turned = tracer.rearrange(weight, {1, 0});
  Result product = turned ? tracer.matmul(r[0], *turned) : std::move(turned);
  return product && !r.get(2).isNone() ? tracer.map(MapKind::add, name, {*product, r[2]})
                                       : std::move(product);
}

/// logical_and(x, y) and others: of what is not 0
template <MapKind kind>
static Result logical(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  Result x = tracer.map(MapKind::ne, name, {r[0], PyValue::integer(0)});
  Result y = tracer.map(MapKind::ne, name, {r[1], PyValue::integer(0)});
  return x && y ? tracer.map(kind, name, {*x, *y}) : std::move(x ? y : x);
}

ArrayRef<TracedEntry> tensors::tracedCreation() {
  using Kind = DType::Kind;
  static const TracedEntry table[] = {
      {"expand", expand},
      {"broadcast_to", expand},
      {"zeros", all<0>},
      {"ones", all<1>},
      {"full", full},
      {"empty", empty},
      {"empty_like", emptyLike},
      {"zeros_like", allLike<0>},
      {"ones_like", allLike<1>},
      {"half", converted<Kind::Float16>},
      {"bfloat16", converted<Kind::BFloat16>},
      {"float", converted<Kind::Float32>},
      {"double", converted<Kind::Float64>},
      {"bool", converted<Kind::Int1>},
      {"int", converted<Kind::Int32>},
      {"long", converted<Kind::Int64>},
      {"clone", same},
      {"contiguous", same},
      {"chunk", chunk},
      {"linear", linear},
      {"logical_and", logical<MapKind::bit_and>},
      {"logical_or", logical<MapKind::bit_or>},
      {"logical_xor", logical<MapKind::bit_xor>},
  };
  return table;
}
