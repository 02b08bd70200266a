//===- Values.cpp - tensors and sizes while they are traced ---------------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Synonyms.h"
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tile;
using namespace tile::tensors;

char SizeValue::id = 0;
char TensorValue::id = 0;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<Size> tensors::sizeOf(const PyValue &value) {
  if (auto *size = value.dynExtension<SizeValue>())
    return size->size;
  if (std::optional<int64_t> number = value.toInt64(); number && !value.is(PyValue::Kind::Bool))
    return Size(*number);
  return std::nullopt;
}

/// Tensors of a result that is not a size.
static Result asTensors(Tracer &tracer, ast::BinaryOp op, const PyValue &lhs, const PyValue &rhs);

Result SizeValue::unary(ast::UnaryOp op) {
  if (op == ast::UnaryOp::Neg)
    return tracer.sizeValue(Size(0) - size);
  if (op == ast::UnaryOp::Pos)
    return tracer.sizeValue(size);
  return fail(formatted("`{}` of the size `{}` has no meaning", ast::spelling(op), size));
}

Result SizeValue::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  std::optional<Size> right = sizeOf(other);
  if (right && op == ast::BinaryOp::Add)
    return tracer.sizeValue(size + *right);
  if (right && op == ast::BinaryOp::Mul)
    return tracer.sizeValue(size * *right);
  if (right && op == ast::BinaryOp::Sub)
    return tracer.sizeValue(reflected ? *right - size : size - *right);
  if (right && op == ast::BinaryOp::FloorDiv) {
    const Size &divisor = reflected ? size : *right;
    if (std::optional<Size> quotient = (reflected ? *right : size).dividedBy(divisor))
      return tracer.sizeValue(*quotient);
    // A quotient rounds down to 0 at least, which is Python's of what is never negative.
    std::optional<int64_t> by = reflected ? std::nullopt : right->constant();
    if (by && *by > 0 && size.isNeverNegative())
      return tracer.sizeValue(*(size - Size(*by - 1)).dividedUpBy(*by));
    return fail(formatted("`{} // {}` is not a formula: a number from 1 on divides sizes, and what "
                          "may be negative only if it does whatever the sizes are",
                          (reflected ? *right : size), divisor));
  }
  PyValue self = PyValue::extension(shared_from_this());
  return asTensors(tracer, op, reflected ? other : self, reflected ? self : other);
}

/// A comparison of numbers; nothing of `is` and `in`.
static std::optional<MapKind> compareKind(ast::CompareOp op) {
  switch (op) {
  case ast::CompareOp::Eq:
    return MapKind::eq;
  case ast::CompareOp::Ne:
    return MapKind::ne;
  case ast::CompareOp::Lt:
    return MapKind::lt;
  case ast::CompareOp::Le:
    return MapKind::le;
  case ast::CompareOp::Gt:
    return MapKind::gt;
  case ast::CompareOp::Ge:
    return MapKind::ge;
  default:
    return std::nullopt;
  }
}

Result SizeValue::compare(ast::CompareOp op, const PyValue &other) {
  std::optional<MapKind> kind = compareKind(op);
  if (kind && other.dynExtension<TensorValue>())
    return tracer.map(*kind, ast::spelling(op), {PyValue::extension(shared_from_this()), other});
  std::optional<Size> right = sizeOf(other);
  std::optional<int64_t> apart = right ? (size - *right).constant() : std::nullopt;
  if (!apart)
    return fail(formatted("whether `{}` is {} {} is not known when the function is compiled: one "
                          "compilation serves all sizes",
                          size, ast::spelling(op), eval::repr(other)));
  return eval::compare(op, PyValue::integer(*apart), PyValue::integer(0));
}

Result SizeValue::truth() {
  return fail(
      formatted("whether the size `{}` is zero is not known when the function is compiled", size));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string TensorValue::repr() const {
  return formatted("tensor[\"{}\", {}]", type().getDims(), graph::spelledType(type().getElement()));
}

static std::optional<MapKind> binaryKind(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return MapKind::add;
  case ast::BinaryOp::Sub:
    return MapKind::sub;
  case ast::BinaryOp::Mul:
    return MapKind::mul;
  case ast::BinaryOp::Div:
    return MapKind::div;
  case ast::BinaryOp::Pow:
    return MapKind::pow;
  case ast::BinaryOp::FloorDiv:
    return MapKind::floordiv;
  case ast::BinaryOp::Mod:
    return MapKind::mod;
  case ast::BinaryOp::And:
    return MapKind::bit_and;
  case ast::BinaryOp::Or:
    return MapKind::bit_or;
  case ast::BinaryOp::Xor:
    return MapKind::bit_xor;
  case ast::BinaryOp::LShift:
    return MapKind::shift_left;
  case ast::BinaryOp::RShift:
    return MapKind::shift_right;
  default:
    return std::nullopt;
  }
}

static bool isInteger(const PyValue &value) {
  auto *tensor = value.dynExtension<TensorValue>();
  return tensor ? mlir::isa<mlir::IntegerType>(tensor->type().getElement())
                : value.is(PyValue::Kind::Int) || value.is(PyValue::Kind::Bool);
}

/// Products of the base with itself. What is no whole number, and exponents that only a call knows,
/// are for floats.
static Result powerOfIntegers(Tracer &tracer, PyValue base, const PyValue &power) {
  std::optional<int64_t> left = power.toInt64();
  if (!left)
    return eval::unsupported("powers of integers by exponents that are not written are not "
                             "supported; convert with `.to(tl.float32)`");
  if (*left < 0)
    return fail(formatted("an integer to the power of {} is no integer; convert with "
                          "`.to(tl.float32)`",
                          *left),
                "ValueError");
  // Of bits of any type the power of 63 is at its limit; more turns come from mistakes.
  if (*left > 64)
    return fail(formatted("an integer to the power of {} fits no type; convert with "
                          "`.to(tl.float32)`",
                          *left),
                "ValueError");
  Result product = PyValue();
  for (int64_t rest = *left;;) {
    if (rest & 1)
      product = product->isNone() ? Result(base) : tracer.map(MapKind::mul, "**", {*product, base});
    rest >>= 1;
    if (!product || rest == 0)
      break;
    Result squared = tracer.map(MapKind::square, "**", {base});
    if (!squared)
      return squared;
    base = squared.take();
  }
  return product && product->isNone() ? tracer.callNamed("ones_like", {{base}, {}}).value()
                                      : std::move(product);
}

static Result asTensors(Tracer &tracer, ast::BinaryOp op, const PyValue &lhs, const PyValue &rhs) {
  StringRef spelled = ast::spelling(op);
  if (op == ast::BinaryOp::MatMul)
    return tracer.matmul(lhs, rhs);
  if (op == ast::BinaryOp::Pow) {
    if (std::optional<double> power = rhs.toDouble()) {
      if (*power == 2)
        return tracer.map(MapKind::square, spelled, {lhs});
      if (*power == 0.5)
        return tracer.map(MapKind::sqrt, spelled, {lhs});
    }
    if (isInteger(lhs) && isInteger(rhs))
      return powerOfIntegers(tracer, lhs, rhs);
  }
  if (std::optional<MapKind> kind = binaryKind(op)) {
    bool isBits = *kind == MapKind::bit_and || *kind == MapKind::bit_or ||
                  *kind == MapKind::bit_xor || graph::isShift(*kind);
    if (isBits && (!isInteger(lhs) || !isInteger(rhs)))
      return fail(formatted("`{}` needs integers or bools, got {} and {}", spelled, eval::repr(lhs),
                            eval::repr(rhs)));
    return tracer.map(*kind, spelled, {lhs, rhs});
  }
  return eval::unsupported(formatted("`{}` of tensors is not supported", spelled));
}

Result TensorValue::unary(ast::UnaryOp op) {
  PyValue self = PyValue::extension(shared_from_this());
  switch (op) {
  case ast::UnaryOp::Neg:
    return tracer.map(MapKind::neg, "-", {self});
  case ast::UnaryOp::Pos:
    return self;
  case ast::UnaryOp::Invert:
    if (!isInteger(self))
      return fail(formatted("`~` needs integers or bools, got {}", eval::repr(self)));
    return tracer.map(MapKind::invert, "~", {self});
  case ast::UnaryOp::Not:
    return truth();
  }
  return truth();
}

Result TensorValue::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  PyValue self = PyValue::extension(shared_from_this());
  return asTensors(tracer, op, reflected ? other : self, reflected ? self : other);
}

Result TensorValue::compare(ast::CompareOp op, const PyValue &other) {
  PyValue self = PyValue::extension(shared_from_this());
  StringRef spelled = ast::spelling(op);
  if (std::optional<MapKind> kind = compareKind(op))
    return tracer.map(*kind, spelled, {self, other});
  return fail(formatted("`{}` of a tensor has no meaning here", spelled));
}

Result TensorValue::truth() {
  return fail("what a tensor holds is not known when the function is compiled: use "
              "`tile.where(condition, x, y)` in the place of `if`");
}

Result TensorValue::length() {
  if (sizes().empty())
    return fail("a tensor without dimensions has no length");
  return tracer.sizeValue(sizes()[0]);
}

/// Parts along the first dimension, if their number is known. Who takes two of them apart may want
/// what PyTorch gives.
Result TensorValue::iterate(std::vector<PyValue> &elements) {
  if (extrema)
    return extrema->iterate(elements);
  Sizes shape = sizes();
  if (shape.empty() || !shape[0].constant())
    return fail(formatted(
        "how many parts a tensor of shape {} has along its first dimension is not "
        "known when the function is compiled; `max`, `min`, `sort` and `median` give pairs if "
        "`dim=` says so",
        graph::shapeText(shape)));
  CallArgs self;
  self.prepend(PyValue::extension(shared_from_this()));
  Result parts = *tracer.callNamed("unbind", self);
  if (!parts)
    return parts;
  llvm::append_range(elements, parts->asTuple().elements);
  return PyValue();
}

/// What becomes of a method that PyTorch's tensors have, and these cannot; empty: no such method.
static std::string adviceFor(StringRef method) {
  if (method == "item" || method == "tolist" || method == "numpy")
    return "what a tensor holds is not known when the function is compiled; one without dimensions "
           "may stand where a number does";
  if (method == "values" || method == "indices")
    return "`max`, `sort` and their like give values only with `axis=`, and pairs with `dim=`; "
           "`argmax`, `argmin` and `argsort` give places";
  return "";
}

Result TensorValue::attribute(StringRef attribute) {
  if (std::optional<Result> part = extrema ? extrema->attribute(attribute) : std::nullopt)
    return std::move(*part);
  Sizes shape = sizes();
  if (attribute == "shape") {
    std::vector<PyValue> parts;
    for (const Size &size : shape)
      parts.push_back(tracer.sizeValue(size));
    return PyValue::tuple(std::move(parts));
  }
  if (attribute == "dtype")
    return PyValue::dtype(dtypeOf(type().getElement()));
  if (attribute == "ndim")
    return PyValue::integer(shape.size());
  if (attribute == "device") // to be passed on
    return eval::torchDevice();
  if (attribute == "is_cuda" || attribute == "requires_grad")
    return PyValue::boolean(attribute == "is_cuda");
  if (attribute == "numel")
    return tracer.sizeValue(graph::product(shape));
  if (attribute == "T") {
    llvm::SmallVector<int64_t> dims;
    for (size_t i = shape.size(); i-- > 0;)
      dims.push_back(i);
    return tracer.rearrange({value, name, isWeak}, dims);
  }
  if (attribute == "mT" && shape.size() >= 2) {
    llvm::SmallVector<int64_t> dims = inOrder(shape.size());
    std::swap(dims[shape.size() - 2], dims.back());
    return tracer.rearrange({value, name, isWeak}, dims);
  }
  if (Tracer::hasNamed(attribute) || eval::isInPlaceMethod(attribute, Tracer::hasNamed))
    return PyValue::method(PyValue::extension(shared_from_this()), attribute.str());
  std::vector<StringRef> candidates = Tracer::names();
  for (StringRef more : {"shape", "dtype", "ndim", "numel", "T", "mT"})
    candidates.push_back(more);
  std::string message = formatted("a tensor has no attribute `{}`", attribute);
  if (std::string advice = adviceFor(attribute); !advice.empty())
    return fail(formatted("{}: {}", message, advice), "AttributeError");
  if (StringRef near = frontend::nearestName(attribute, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message, "AttributeError");
}

Result TensorValue::callMethod(eval::Evaluator &, StringRef method, const CallArgs &args) {
  if (!Tracer::hasNamed(method))
    return eval::callInPlace(PyValue::extension(shared_from_this()), method, args,
                             [&](StringRef plain, const CallArgs &all) {
                               Result value = *tracer.callNamed(plain, all);
                               auto *made = value ? value->dynExtension<TensorValue>() : nullptr;
                               if (made && made->sizes() != sizes())
                                 return eval::shapeChanges(method);
                               return value;
                             });
  CallArgs all = args;
  all.prepend(extrema ? tracer.wrap(value) : PyValue::extension(shared_from_this()));
  Result meant = eval::usualMethod(method, all);
  return meant ? *tracer.callWritten(meant->asStr(), all, /*isMethod=*/true) : std::move(meant);
}
