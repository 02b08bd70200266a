//===- Creation.cpp - functions that make tensors -------------------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Filled.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

std::unique_ptr<eval::EvalError> host::readDType(const PyValue &value, DType fallback, DType &out) {
  out = fallback;
  if (value.isNone())
    return nullptr;
  if (!value.is(Kind::DType) || value.asDType().isPointer() || value.asDType().isVoid() ||
      value.asDType().isBlock())
    return fail(formatted("`dtype` must be an element type such as `tl.float16`, got {}",
                          eval::repr(value)));
  out = value.asDType();
  return nullptr;
}

std::unique_ptr<eval::EvalError> host::readShapeAndType(const PyValue &shapeValue,
                                                        const PyValue &typeValue, DType fallback,
                                                        Shape &shape, DType &type) {
  if (auto error = toShape(shapeValue, shape))
    return error;
  return readDType(typeValue, fallback, type);
}

uint64_t host::encode(const DType &type, double value) {
  return type.isFloating() ? encodeFloat(type.kind(), value)
                           : encodeInt(type, floatToInt(type, value));
}

static Result empty(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("empty", args, {"shape", "dtype"}, 1);
  NewTensor made;
  if (auto error = made.read(r))
    return error;
  return Tensor::create(context, made.type, made.shape);
}

template <int value> static Result constant(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(value ? "ones" : "zeros", args, {"shape", "dtype"}, 1);
  NewTensor made;
  if (auto error = made.read(r))
    return error;
  uint64_t bits = encode(made.type, value);
  return filled(context, made.type, made.shape, [&](int64_t) { return bits; });
}

static Result full(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("full", args, {"shape", "value", "dtype"}, 2);
  if (!r)
    return r.error();
  Shape shape;
  if (auto error = toShape(r[0], shape))
    return error;
  Array value;
  if (auto error = toArray(r[1], value))
    return error;
  if (value.size() != 1)
    return fail("`full` needs one number");
  DType type;
  DType::Kind own = value.kind == Array::Kind::Bool  ? DType::Kind::Int1
                    : value.kind == Array::Kind::Int ? DType::Kind::Int64
                                                     : DType::Kind::Float32;
  if (auto error = readDType(r.get(2), own, type))
    return error;
  uint64_t bits = type.isFloating() || value.isFloat() ? encode(type, value.real(0))
                                                       : encodeInt(type, value.ints[0]);
  return filled(context, type, shape, [&](int64_t) { return bits; });
}

enum class Like { Empty, Zeros, Ones, Rand, Randn };

/// A tensor with the shape of another one, and its type unless told.
template <Like what> static Result like(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(context->function, args, {"x", "dtype"}, 1);
  if (!r)
    return r.error();
  auto *x = r[0].dynExtension<Tensor>();
  if (!x)
    return fail(formatted("`{}` needs a tensor", context->function));
  DType type;
  if (auto error = readDType(r.get(1), x->type(), type))
    return error;
  if (what == Like::Empty)
    return Tensor::create(context, type, x->shape());
  if (what == Like::Rand || what == Like::Randn) {
    std::vector<PyValue> dims;
    for (int64_t size : x->shape())
      dims.push_back(PyValue::integer(size));
    CallArgs made{{PyValue::tuple(std::move(dims)), PyValue::dtype(type)}, {}};
    return findFunction(what == Like::Rand ? "rand" : "randn")->fn(context, made);
  }
  uint64_t bits = encode(type, what == Like::Ones);
  return filled(context, type, Shape(x->shape()), [&](int64_t) { return bits; });
}

static Result emptyStrided(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("empty_strided", args, {"shape", "strides", "dtype"}, 2);
  if (!r)
    return r.error();
  Shape shape, strides;
  DType type;
  if (auto error = toShape(r[0], shape))
    return error;
  if (auto error = toStrides(r[1], strides))
    return error;
  if (auto error = readDType(r.get(2), DType::Kind::Float32, type))
    return error;
  if (shape.size() != strides.size())
    return fail("`empty_strided` needs one stride a dimension", "ValueError");
  Extent reach = reachOf(shape, strides);
  if (!reach.fits())
    return fail(formatted("a tensor of shape {} with strides {} reaches beyond 2^63 elements",
                          toString(shape), toString(strides)),
                "ValueError");
  if (auto error = checkRoom(context->memory, {*reach}, type.itemSize()))
    return error;
  auto storage = std::make_shared<Storage>(context, uint64_t(*reach) * type.itemSize());
  return Tensor::create(storage, type, shape, strides);
}

static std::unique_ptr<eval::EvalError> beyondInt32(llvm::StringRef function,
                                                    const llvm::APInt &value) {
  return fail(formatted("`{}` of ints makes `int32`, which cannot hold {}: give it "
                        "`dtype=tl.int64`",
                        function, llvm::toString(value, 10, /*Signed=*/true)),
              "ValueError");
}

/// Of whole numbers, which have more digits than a float.
static Result arangeOfInts(const ContextPtr &context, llvm::ArrayRef<PyValue> bounds,
                           std::optional<DType> given) {
  constexpr unsigned kRoom = 2; // for the distance of two numbers, and its sign
  unsigned bits = 64;
  for (const PyValue &bound : bounds)
    bits = std::max(bits, bound.asInt().getBitWidth());
  auto wide = [&](size_t i) { return bounds[i].asInt().sext(bits + kRoom); };
  llvm::APInt start = bounds.size() == 1 ? llvm::APInt(bits + kRoom, 0) : wide(0);
  llvm::APInt stop = bounds.size() == 1 ? wide(0) : wide(1);
  llvm::APInt step = bounds.size() == 3 ? wide(2) : llvm::APInt(bits + kRoom, 1);
  llvm::APInt way = step.isNegative() ? start - stop : stop - start;
  llvm::APInt count = way.isStrictlyPositive() ? (way - 1).udiv(step.abs()) + 1 : way * 0;
  if (!count.isSignedIntN(64))
    return fail(formatted("`arange` has {} elements", llvm::toString(count, 10, /*Signed=*/true)),
                "ValueError");
  DType type = given.value_or(DType::Kind::Int32);
  llvm::APInt last = start + (count - 1).trunc(64).sext(bits + kRoom) * step;
  if (!given && !count.isZero())
    for (const llvm::APInt &value : {start, last})
      if (!value.isSignedIntN(32))
        return beyondInt32("arange", value);
  uint64_t first = start.trunc(64).getZExtValue(), by = step.trunc(64).getZExtValue();
  return filled(context, type, {count.getSExtValue()}, [&](int64_t i) {
    return encodeInt(type, int64_t(first + uint64_t(i) * by)); // the lowest bits are exact
  });
}

static Result arange(const ContextPtr &context, const CallArgs &args) {
  CallArgs positions{args.positional, {}};
  const PyValue *dtype = args.keyword("dtype");
  if (args.keywords.size() > size_t(dtype != nullptr) || positions.positional.empty() ||
      positions.positional.size() > 3)
    return fail("`arange` takes ([start,] stop[, step], dtype=)");
  double bounds[3] = {0, 0, 1};
  bool isFloat = false;
  for (size_t i = 0; i < positions.positional.size(); ++i) {
    std::optional<double> number = positions.positional[i].toDouble();
    if (!number)
      return fail(formatted("`arange` needs numbers, got {}", eval::repr(positions.positional[i])));
    isFloat |= positions.positional[i].is(Kind::Float);
    bounds[i] = *number;
  }
  if (positions.positional.size() == 1)
    std::swap(bounds[0], bounds[1]);
  if (bounds[2] == 0)
    return fail("the step of `arange` cannot be zero", "ValueError");
  DType type;
  if (auto error = readDType(dtype ? *dtype : PyValue(),
                             isFloat ? DType::Kind::Float32 : DType::Kind::Int32, type))
    return error;
  bool areInts =
      llvm::all_of(positions.positional, [](const PyValue &v) { return v.is(Kind::Int); });
  if (areInts && type.isInt())
    return arangeOfInts(context, positions.positional,
                        dtype && !dtype->isNone() ? std::optional(type) : std::nullopt);
  double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count < 0x1p63)) // a NaN is not, either
    return fail(formatted("`arange` from {} to {} by {} has no number of elements",
                          eval::reprFloat(bounds[0]), eval::reprFloat(bounds[1]),
                          eval::reprFloat(bounds[2])),
                "ValueError");
  return filled(context, type, {int64_t(std::max(count, 0.0))},
                [&](int64_t i) { return encode(type, bounds[0] + double(i) * bounds[2]); });
}

static Result tensor(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("tensor", args, {"values", "dtype"}, 1);
  if (!r)
    return r.error();
  Array &values = r.array();
  DType natural = values.isFloat()                   ? DType::Kind::Float32
                  : values.kind == Array::Kind::Bool ? DType::Kind::Int1
                                                     : DType::Kind::Int32;
  DType type;
  if (auto error = readDType(r.get(1), natural, type))
    return error;
  if (r.get(1).isNone() && values.kind == Array::Kind::Int)
    for (int64_t value : values.ints)
      if (value != int32_t(value))
        return beyondInt32("tensor", llvm::APInt(64, value, /*isSigned=*/true));
  return Tensor::create(context, type, values);
}

namespace tile::host {

ArrayRef<FunctionEntry> creationFunctions() {
  static const FunctionEntry table[] = {
      {"empty", empty, false},
      {"zeros", constant<0>, false},
      {"ones", constant<1>, false},
      {"full", full, false},
      {"empty_like", like<Like::Empty>, false},
      {"zeros_like", like<Like::Zeros>, false},
      {"ones_like", like<Like::Ones>, false},
      {"rand_like", like<Like::Rand>, false},
      {"randn_like", like<Like::Randn>, false},
      {"empty_strided", emptyStrided, false},
      {"arange", arange, false},
      {"tensor", tensor, false},
  };
  return table;
}

} // namespace tile::host
