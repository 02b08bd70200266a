//===- Tensor.cpp - run-time values as Python values ----------------------===//
#include "frontend/specialize/Tensor.h"
#include "frontend/eval/OtherNames.h"
#include "frontend/eval/WorkMeter.h"
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Specializer.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"

namespace tile::specialize {

char TensorValue::id = 0;
char PoisonValue::id = 0;

const PyValue &PoisonValue::get() {
  static const PyValue poison = PyValue::extension(std::make_shared<PoisonValue>());
  return poison;
}

PyValue Emitter::wrap(Tensor tensor) {
  if (!tensor)
    return PoisonValue::get();
  return PyValue::extension(
      std::make_shared<TensorValue>(static_cast<Specializer &>(*this), std::move(tensor)));
}

//===----------------------------------------------------------------------===//
// What the evaluator may do with a tensor
//===----------------------------------------------------------------------===//

static PyValue self(TensorValue &value) { return PyValue::extension(value.shared_from_this()); }

std::string TensorValue::repr() const { return describe(tensor.type, tensor.shape()); }

Result TensorValue::unary(ast::UnaryOp op) { return owner.unary(op, self(*this)); }

Result TensorValue::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  PyValue me = self(*this);
  return reflected ? owner.binary(op, other, me) : owner.binary(op, me, other);
}

Result TensorValue::compare(ast::CompareOp op, const PyValue &other) {
  return owner.compare(op, self(*this), other);
}

Result TensorValue::truth() {
  return eval::fail("the truth of a tensor is not known at compile time");
}

Result TensorValue::length() {
  if (!tensor.isBlock())
    return eval::fail("a scalar tensor has no length");
  return PyValue::integer(tensor.shape()[0]);
}

Result TensorValue::iterate(std::vector<PyValue> &) {
  return eval::fail(formatted("cannot iterate over a tensor ({}): {}", repr(),
                              tensor.isBlock() ? "functions such as `tl.sum` and `tl.max` work on "
                                                 "all of a block, `tl.sort` orders it"
                                               : "count up to it with `range(n)`"));
}

Result TensorValue::subscript(eval::Evaluator *, const PyValue &index) {
  return owner.indexTensor(tensor, index);
}

Result TensorValue::attribute(llvm::StringRef name) {
  if (name == "dtype")
    return PyValue::dtype(tensor.type);
  if (name == "type")
    return PyValue::dtype(tensor.isBlock() ? DType::block(tensor.type, tensor.shape())
                                           : tensor.type);
  if (name == "shape") {
    std::vector<PyValue> dims;
    for (int64_t dim : tensor.shape())
      dims.push_back(PyValue::integer(dim));
    return PyValue::tuple(std::move(dims));
  }
  if (name == "numel")
    return PyValue::integer(tensor.isBlock() ? tensor.blockType().getNumElements() : 1);
  if (name == "T") {
    if (tensor.rank() != 2)
      return eval::fail(formatted("`.T` needs a two-dimensional block, got {}", repr()));
    return owner.wrap(owner.permute(tensor, {1, 0}));
  }
  const BuiltinTable &table = BuiltinTable::get();
  if (table.findMember(name))
    return PyValue::method(self(*this), name.str());
  llvm::StringRef near = frontend::nearestName(name, table.memberNames());
  llvm::StringRef known = eval::inKernels(name);
  return eval::fail(formatted("a tensor has no attribute `{}`{}", name,
                              !known.empty() ? formatted("; {}", known)
                              : near.empty() ? ""
                                             : formatted("; did you mean `{}`?", near)),
                    "AttributeError");
}

Result TensorValue::callMethod(eval::Evaluator &, llvm::StringRef name,
                               const eval::CallArgs &args) {
  return owner.callMethod(self(*this), name, args);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

bool holdsTensor(const PyValue &value) {
  return tensorIn(value) || llvm::any_of(value.elements(), holdsTensor);
}

bool holdsPoison(const PyValue &value) {
  return isPoison(value) || llvm::any_of(value.elements(), holdsPoison);
}

/// Takes the number of values in `value` from `left`, as far as that goes.
static void countValues(const PyValue &value, size_t &left) {
  eval::Nesting nesting;
  if (nesting.isTooDeep())
    left = 0;
  for (const PyValue &element : value.elements()) {
    if (left == 0)
      return;
    --left;
    countValues(element, left);
  }
}

bool holdsMoreThan(const PyValue &value, size_t count) {
  size_t left = count + 1;
  countValues(value, left);
  return left == 0;
}

void flatten(const PyValue &value, llvm::SmallVectorImpl<Tensor> &leaves) {
  if (const Tensor *t = tensorIn(value))
    leaves.push_back(*t);
  for (const PyValue &element : value.elements())
    flatten(element, leaves);
}

PyValue rebuild(Emitter &emitter, const PyValue &shape, llvm::ArrayRef<mlir::Value> &leaves) {
  if (const Tensor *t = tensorIn(shape)) {
    mlir::Value value = leaves.front();
    leaves = leaves.drop_front();
    return emitter.wrap({value, t->type});
  }
  if (!holdsTensor(shape))
    return shape;
  std::vector<PyValue> elements;
  for (const PyValue &element : shape.elements())
    elements.push_back(rebuild(emitter, element, leaves));
  return tupleLike(shape, std::move(elements));
}

static const eval::ClassObject *typeOf(const PyValue &value) {
  return value.is(PyValue::Kind::Tuple) ? value.asTuple().type.get() : nullptr;
}

PyValue tupleLike(const PyValue &like, std::vector<PyValue> elements) {
  return typeOf(like) ? PyValue::namedTuple(like.asTuple().type, std::move(elements))
                      : PyValue::tuple(std::move(elements));
}

bool sameStructure(const PyValue &a, const PyValue &b) {
  return a.isSequence() && b.isSequence() && a.elements().size() == b.elements().size() &&
         typeOf(a) == typeOf(b);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string describeShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + "]";
}

std::string describe(const DType &type, llvm::ArrayRef<int64_t> shape) {
  return type.str() + (shape.empty() ? "" : describeShape(shape));
}

/// Blocks as signatures spell them: "fp32[64]".
static std::string describeBlock(const PyValue &type) {
  return describe(type.asDType().element(), type.asDType().shape());
}

std::string describe(const PyValue &value) {
  if (const Tensor *t = tensorIn(value))
    return describe(t->type, t->shape());
  if (isTensorDescriptor(value) || isBlockPointer(value)) {
    const PyValue &block = *llvm::find_if(
        value.elements(), [](const PyValue &part) { return part.is(PyValue::Kind::DType); });
    return isBlockPointer(value) ? formatted("block pointer to {}", describeBlock(block))
                                 : formatted("tensordesc<{}>", describeBlock(block));
  }
  if (value.isNone())
    return "None";
  if (value.is(PyValue::Kind::Tuple)) {
    const auto *type = eval::classOf(value);
    std::string text = formatted("{}(", type ? (*type)->name : "");
    for (auto [i, element] : llvm::enumerate(value.elements()))
      text += (i ? ", " : "") + describe(element);
    return text + ")";
  }
  if (value.isScalarConstant())
    return formatted("{} {}", eval::typeName(value), eval::repr(value));
  if (value.is(PyValue::Kind::DType))
    return formatted("dtype {}", value.asDType());
  if (value.is(PyValue::Kind::Symbol))
    return formatted("builtin `{}`", value.asSymbol());
  if (value.is(PyValue::Kind::Function))
    return formatted("function `{}`", value.asFunction().name());
  return eval::typeName(value);
}

} // namespace tile::specialize
