//===- Tensor.cpp - tensors of host functions -----------------------------===//
#include "runtime/host/Tensor.h"
#include "frontend/eval/WorkMeter.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

char Tensor::id = 0;

Tensor::Tensor(Checked, std::shared_ptr<Storage> storage, DType type, ArrayRef<int64_t> shape,
               ArrayRef<int64_t> strides, int64_t offset)
    : Extension(&id), memory(std::move(storage)), elementType(std::move(type)), dims(shape),
      steps(strides), start(offset) {}

static std::unique_ptr<eval::EvalError> checkElement(const DType &type) {
  if (!type.isPointer() && !type.isVoid() && !type.isBlock())
    return nullptr;
  return fail(formatted("a tensor is made of elements such as `tl.float16`, not of `{}`", type));
}

Result Tensor::create(std::shared_ptr<Storage> storage, const DType &type, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> strides, int64_t offset) {
  if (auto error = checkElement(type))
    return error;
  if (auto error = checkShape(shape, type.itemSize()))
    return error;
  if (auto error = checkView(shape, strides, offset, storage->size() / type.itemSize()))
    return error;
  return PyValue::extension(
      std::make_shared<Tensor>(Checked(), std::move(storage), type, shape, strides, offset));
}

Result Tensor::create(const ContextPtr &context, const DType &type, ArrayRef<int64_t> shape) {
  if (auto error = checkElement(type))
    return error;
  if (auto error = checkRoom(context->memory, shape, type.itemSize()))
    return error;
  uint64_t bytes = uint64_t(numElements(shape)) * type.itemSize();
  return create(std::make_shared<Storage>(context, bytes), type, shape, rowMajorStrides(shape));
}

Result Tensor::create(const ContextPtr &context, const DType &type, const Array &values) {
  Result made = create(context, type, values.shape);
  if (!made)
    return made;
  auto *tensor = made->dynExtension<Tensor>();
  tensor->memory->overwrite();
  if (auto error = tensor->assign(values)) // no room: the shapes agree
    return error;
  return made;
}

static DType typeOf(const Array &values) {
  return values.kind == Array::Kind::Float ? DType::Kind::Float64
         : values.kind == Array::Kind::Int ? DType::Kind::Int64
                                           : DType::Kind::Int1;
}

Result Tensor::value(const ContextPtr &context, const Array &values) {
  return create(context, typeOf(values), values);
}

Result Tensor::view(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, Extent offset) const {
  // Of no elements none is the first: where the others would begin may lie outside.
  if (llvm::is_contained(shape, 0))
    offset = start;
  if (!offset.fits())
    return fail(formatted("a view of shape {} begins beyond 2^63 elements", toString(shape)),
                "ValueError");
  return create(memory, elementType, shape, strides, *offset);
}

bool Tensor::isContiguous() const {
  if (size() == 0)
    return true;
  int64_t expected = 1;
  for (size_t d = rank(); d-- > 0;) {
    if (dims[d] != 1 && steps[d] != expected)
      return false;
    expected *= dims[d];
  }
  return true;
}

runtime::DevicePtr Tensor::devicePointer() const {
  runtime::DevicePtr base = memory->devicePointer();
  return base ? base + start * elementType.itemSize() : 0;
}

//===----------------------------------------------------------------------===//
// Reading and writing elements
//===----------------------------------------------------------------------===//

/// Calls `visit(position, element offset)` for every element, in row-major order.
template <typename Fn> static void forEachElement(const Tensor &tensor, Fn visit) {
  ArrayRef<int64_t> shape = tensor.shape(), strides = tensor.strides();
  Shape index(shape.size());
  int64_t at = tensor.offset();
  for (int64_t p = 0, n = tensor.size(); p < n; ++p) {
    visit(p, at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (shape[d] == 1)
        continue; // whatever its stride
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

static std::unique_ptr<eval::EvalError> noRoom(ArrayRef<int64_t> shape) {
  return fail(formatted("there is no memory for a tensor of shape {}", toString(shape)),
              "MemoryError");
}

std::unique_ptr<eval::EvalError> Tensor::values(Array &out) const {
  bool isFloat = elementType.isFloating();
  Array::Kind kind = isFloat                ? Array::Kind::Float
                     : elementType.isBool() ? Array::Kind::Bool
                                            : Array::Kind::Int;
  if (auto error = Array::make(context()->memory, kind, dims, out))
    return error;
  const uint8_t *bytes = memory->read();
  if (!bytes)
    return noRoom(dims);
  unsigned width = elementType.itemSize();
  forEachElement(*this, [&](int64_t position, int64_t at) {
    uint64_t bits = loadBits(bytes + at * width, width);
    if (isFloat)
      out.reals[position] = decodeFloat(elementType.kind(), bits);
    else
      out.ints[position] = decodeInt(elementType, bits);
  });
  return nullptr;
}

Result Tensor::onlyValue() const {
  Array array;
  if (auto error = values(array))
    return error;
  return elementValue(array, 0, elementType);
}

std::unique_ptr<eval::EvalError> Tensor::assign(const Array &given) {
  std::optional<Shape> shape = broadcastShapes(given.shape, dims);
  if (!shape || *shape != dims)
    return fail(formatted("values of shape {} do not fit a tensor of shape {}",
                          toString(given.shape), toString(dims)),
                "ValueError");
  Array values;
  if (auto error = given.broadcastTo(context()->memory, dims, values))
    return error;
  uint8_t *bytes = memory->write();
  if (!bytes)
    return noRoom(dims);
  unsigned width = elementType.itemSize();
  forEachElement(*this, [&](int64_t position, int64_t at) {
    uint64_t bits;
    if (elementType.isFloating())
      bits = encodeFloat(elementType.kind(), values.real(position));
    else if (values.isFloat())
      bits = encodeInt(elementType, floatToInt(elementType, values.reals[position]));
    else
      bits = encodeInt(elementType, values.ints[position]);
    storeBits(bytes + at * width, bits, width);
    memory->wrote(at * width, width);
  });
  return nullptr;
}

namespace tile::host {

PyValue elementValue(const Array &array, int64_t i, DType type) {
  switch (array.kind) {
  case Array::Kind::Bool:
    return PyValue::boolean(array.ints[i] != 0);
  case Array::Kind::Int:
    return type.isUnsigned() ? PyValue::integerUnsigned(uint64_t(array.ints[i]))
                             : PyValue::integer(array.ints[i]);
  case Array::Kind::Float:
    return PyValue::number(array.reals[i]);
  }
  return PyValue();
}

/// Appends the numbers of nested sequences and finds their shape.
static std::unique_ptr<eval::EvalError> flatten(const PyValue &value, Shape &shape, size_t depth,
                                                std::vector<PyValue> &out) {
  if (depth > maxRank)
    return fail(
        formatted("sequences nest deeper than the {} dimensions that a tensor may have", maxRank),
        "ValueError");
  if (!eval::Work::spend(1))
    return eval::Work::error();
  if (!value.isSequence()) {
    if (!value.isNumber())
      return fail(formatted("a tensor is made of numbers, got `{}`", eval::typeName(value)));
    if (depth != shape.size())
      return fail("nested sequences must have the same depth everywhere", "ValueError");
    out.push_back(value);
    return nullptr;
  }
  int64_t size = value.elements().size();
  if (depth == shape.size() && out.empty())
    shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size)
    return fail("nested sequences must have the same length everywhere", "ValueError");
  for (const PyValue &element : value.elements())
    if (auto error = flatten(element, shape, depth + 1, out))
      return error;
  return nullptr;
}

std::unique_ptr<eval::EvalError> toArray(const PyValue &value, Array &out) {
  if (auto *tensor = value.dynExtension<Tensor>()) {
    return tensor->values(out);
  }
  Shape shape;
  std::vector<PyValue> numbers;
  if (auto error = flatten(value, shape, 0, numbers))
    return error;
  Array::Kind kind = Array::Kind::Bool;
  for (const PyValue &number : numbers)
    if (number.is(Kind::Float))
      kind = Array::Kind::Float;
    else if (number.is(Kind::Int) && kind == Array::Kind::Bool)
      kind = Array::Kind::Int;
  if (numbers.empty())
    kind = Array::Kind::Float;
  constexpr Memory lists = {eval::maxElements * sizeof(int64_t)};
  if (auto error = Array::make(lists, kind, shape, out))
    return error;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (kind == Array::Kind::Float) {
      out.reals[i] = *numbers[i].toDouble();
      continue;
    }
    // 64 bits, signed or not: uint64 wraps.
    const PyValue &number = numbers[i];
    if (number.is(Kind::Int) && number.asInt().getActiveBits() > 64 &&
        number.asInt().getSignificantBits() > 64)
      return fail(formatted("integer {} needs more than 64 bits", eval::repr(number)),
                  "OverflowError");
    out.ints[i] = number.is(Kind::Bool) ? number.asBool()
                                        : int64_t(number.asInt().extractBitsAsZExtValue(64, 0));
  }
  return nullptr;
}

std::unique_ptr<eval::EvalError> toShape(const PyValue &value, Shape &out) {
  ArrayRef<PyValue> dims = value.isSequence() ? value.elements() : ArrayRef<PyValue>(value);
  for (const PyValue &dim : dims) {
    std::optional<int64_t> size = dim.toInt64();
    if (!size || *size < 0)
      return fail(formatted("a shape is made of integers that are not negative, got {}",
                            eval::repr(value)));
    out.push_back(*size);
  }
  return checkShape(out, 1);
}

std::unique_ptr<eval::EvalError> toStrides(const PyValue &value, Shape &out) {
  ArrayRef<PyValue> strides = value.isSequence() ? value.elements() : ArrayRef<PyValue>(value);
  for (const PyValue &given : strides) {
    std::optional<int64_t> stride = given.toInt64();
    if (!stride)
      return fail(formatted("strides are integers of 64 bits, got {}", eval::repr(value)));
    out.push_back(*stride);
  }
  return nullptr;
}

} // namespace tile::host

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Longer dimensions show this many elements at each end.
constexpr int64_t shownAtEachEnd = 4;

static std::string showElement(const Array &values, int64_t i, DType type) {
  if (values.kind != Array::Kind::Float)
    return eval::repr(elementValue(values, i, type));
  // Six digits, as they are read at a glance.
  Result text = eval::format(PyValue::number(values.reals[i]), ".6");
  return text->asStr();
}

static std::string showDimension(const Array &values, size_t dim, int64_t first, size_t indent,
                                 DType type) {
  if (dim == values.shape.size())
    return showElement(values, first, type);
  int64_t size = values.shape[dim];
  int64_t inner = numElements(ArrayRef<int64_t>(values.shape).drop_front(dim + 1));
  bool last = dim + 1 == values.shape.size();
  std::string text = "[";
  for (int64_t i = 0; i < size && eval::Work::spend(1); ++i) {
    if (i)
      text += last ? ", " : formatted(",\n{}", std::string(indent + 1, ' '));
    if (size > 2 * shownAtEachEnd && i == shownAtEachEnd) {
      text += "...";
      i = size - shownAtEachEnd - 1;
      continue;
    }
    text += showDimension(values, dim + 1, first + i * inner, indent + 1, type);
  }
  return text + "]";
}

std::string Tensor::repr() const {
  Array array;
  if (values(array)) // no room for them
    return formatted("tensor(shape {}, {})", toString(dims), elementType);
  return formatted("tensor({}, {})", showDimension(array, 0, 0, 7, elementType), elementType);
}
