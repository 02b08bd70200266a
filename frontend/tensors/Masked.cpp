//===- Masked.cpp - elements of a tensor where a mask is true -------------===//
#include "frontend/tensors/Masked.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::tensors;

char MaskedValue::id = 0;

std::unique_ptr<EvalError> tensors::hasNoShape() {
  return fail("a mask takes as many elements as are true, which the shape of a result cannot "
              "depend on: of `x[mask]` there are sums, means and what is computed element by "
              "element; `tile.where(mask, x, 0)` keeps the others as 0",
              "IndexError");
}

static MaskedValue *masked(const PyValue &value) { return value.dynExtension<MaskedValue>(); }

std::string MaskedValue::repr() const {
  return formatted("the elements of {} where a mask is true", eval::repr(whole));
}

bool tensors::isMask(const PyValue &index) {
  auto *tensor = index.dynExtension<TensorValue>();
  return tensor && tensor->type().getElement().isInteger(1) && !tensor->sizes().empty();
}

Result tensors::takeByMask(Tracer &tracer, const PyValue &x, const PyValue &mask) {
  Sizes sizes = x.dynExtension<TensorValue>()->sizes();
  Sizes own = mask.dynExtension<TensorValue>()->sizes();
  if (own.size() > sizes.size() || ArrayRef(sizes).take_front(own.size()) != ArrayRef(own))
    return fail(formatted("a mask of shape {} does not fit {}: it has the first dimensions of what "
                          "it is a mask of",
                          graph::shapeText(own), graph::shapeText(sizes)),
                "IndexError");
  return PyValue::extension(std::make_shared<MaskedValue>(tracer, x, mask));
}

Result tensors::maskFor(Tracer &tracer, const PyValue &mask, size_t rank) {
  Operand x;
  if (auto error = tracer.operand("[]", mask, x))
    return error;
  llvm::SmallVector<int64_t> dims = inOrder(x.type().sizes().size());
  if (dims.size() == rank)
    return mask;
  dims.resize(rank, -1);
  return tracer.rearrange(x, dims);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// What all arguments that have a mask are of, in the place of them; they must have the same mask.
static std::unique_ptr<EvalError> withWholes(std::vector<PyValue> &values, const PyValue *&mask) {
  for (PyValue &value : values) {
    MaskedValue *part = masked(value);
    if (!part) {
      auto *tensor = value.dynExtension<TensorValue>();
      if (tensor && !tensor->sizes().empty())
        return hasNoShape();
      continue;
    }
    if (mask &&
        mask->dynExtension<TensorValue>()->value != part->mask.dynExtension<TensorValue>()->value)
      return fail("parts of tensors by two masks: give the mask a name, and take both by that",
                  "IndexError");
    mask = &part->mask;
    value = PyValue(part->whole);
  }
  return nullptr;
}

static Result elementwise(Tracer &tracer, std::vector<PyValue> values,
                          llvm::function_ref<Result(ArrayRef<PyValue>)> compute) {
  std::vector<PyValue> before = values; // which keeps the mask
  const PyValue *mask = nullptr;
  if (auto error = withWholes(values, mask))
    return error;
  Result all = compute(values);
  return all ? Result(PyValue::extension(std::make_shared<MaskedValue>(tracer, *all, *mask)))
             : std::move(all);
}

Result MaskedValue::unary(ast::UnaryOp op) {
  return elementwise(tracer, {PyValue::extension(shared_from_this())},
                     [&](ArrayRef<PyValue> of) { return eval::unary(op, of[0]); });
}

Result MaskedValue::binary(ast::BinaryOp op, const PyValue &other, bool reflected) {
  if (op == ast::BinaryOp::MatMul)
    return hasNoShape();
  PyValue self = PyValue::extension(shared_from_this());
  return elementwise(tracer, reflected ? std::vector{other, self} : std::vector{self, other},
                     [&](ArrayRef<PyValue> of) { return eval::binary(op, of[0], of[1]); });
}

Result MaskedValue::compare(ast::CompareOp op, const PyValue &other) {
  return elementwise(tracer, {PyValue::extension(shared_from_this()), other},
                     [&](ArrayRef<PyValue> of) { return eval::compare(op, of[0], of[1]); });
}

//===----------------------------------------------------------------------===//
// Sums and means
//===----------------------------------------------------------------------===//

/// The dimensions that are reduced: all, or those of the mask, which are the first of `x[mask]`.
static std::unique_ptr<EvalError> axesOf(const MaskedValue &part, StringRef name,
                                         const CallArgs &args, PyValue &axes) {
  eval::ArgReader r(name, args, {"x", "axis"}, 1);
  if (!r)
    return r.error();
  axes = PyValue();
  if (r.get(1).isNone())
    return nullptr;
  if (r[1].toInt64() != 0)
    return hasNoShape();
  std::vector<PyValue> first;
  for (size_t i = 0; i < part.mask.dynExtension<TensorValue>()->sizes().size(); ++i)
    first.push_back(PyValue::integer(i));
  axes = PyValue::tuple(std::move(first));
  return nullptr;
}

/// What changes nothing in a reduction; None if there is no such number of that type.
static PyValue neutralOf(StringRef name, mlir::Type element) {
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  if (name == "sum" || name == "mean" || name == "any")
    return element.isInteger(1) ? PyValue::boolean(false) : PyValue::integer(0);
  if (name == "prod" || name == "all")
    return element.isInteger(1) ? PyValue::boolean(true) : PyValue::integer(1);
  if (isFloat && (name == "max" || name == "min"))
    return PyValue::number(name == "max" ? -INFINITY : INFINITY);
  return {};
}

static Result reduced(const MaskedValue &part, StringRef name, const CallArgs &args) {
  Tracer &tracer = part.tracer;
  PyValue axes;
  if (auto error = axesOf(part, name, args, axes))
    return error;
  auto *whole = part.whole.dynExtension<TensorValue>();
  mlir::Type element = whole->type().getElement();
  PyValue neutral = neutralOf(name, element);
  if (neutral.isNone())
    return eval::unsupported(formatted("`{}` of integers where a mask is true; convert with "
                                       "`.to(tl.float32)`",
                                       name));
  Result mask = maskFor(tracer, part.mask, whole->sizes().size());
  Result only = mask ? tracer.map(MapKind::select, name, {*mask, part.whole, neutral})
                     : Result(mask.takeError());
  auto sumOf = [&](const PyValue &x, StringRef how) {
    return *tracer.callNamed(how, {{x}, {{"axis", axes}}});
  };
  if (!only || name != "mean")
    return only ? sumOf(*only, name) : std::move(only);
  Result ones = tracer.map(MapKind::select, name, {*mask, PyValue::number(1), PyValue::number(0)});
  ones = ones && axes.isNone() ? tracer.expand(*ones, whole->sizes()) : std::move(ones);
  Result total = sumOf(*only, "sum"), count = ones ? sumOf(*ones, "sum") : std::move(ones);
  Result mean = total && count ? tracer.map(MapKind::div, name, {*total, *count}) : PyValue();
  for (Result *made : {&total, &count, &mean})
    if (!*made)
      return std::move(*made);
  return mlir::isa<mlir::FloatType>(element) ? tracer.cast(*mean, element) : std::move(mean);
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

static bool isReduction(StringRef name) {
  return llvm::is_contained({"sum", "mean", "prod", "max", "min", "any", "all"}, name);
}

static bool isOfElements(StringRef name) {
  if (name == "matmul" || name == "where")
    return false;
  if (llvm::is_contained({"float", "half", "double", "bfloat16", "softplus", "logsigmoid", "add",
                          "sub", "mul", "div", "detach", "hypot", "lerp", "xlogy"},
                         name))
    return true;
  return llvm::any_of(tracedElementwise(), [&](auto &entry) { return entry.name == name; });
}

/// Losses of elements, which `reduction` says what becomes of.
static bool isLoss(StringRef name) {
  return llvm::is_contained({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
                             "binary_cross_entropy", "binary_cross_entropy_with_logits"},
                            name);
}

static Result lossOf(Tracer &tracer, StringRef name, CallArgs args) {
  PyValue how = PyValue::string("mean");
  for (auto &[keyword, value] : args.keywords)
    if (keyword == "reduction")
      std::swap(how, value);
  if (!args.keyword("reduction"))
    args.keywords.emplace_back("reduction", PyValue());
  for (auto &[keyword, value] : args.keywords)
    if (keyword == "reduction")
      value = PyValue::string("none");
  args.keywordRanges.clear();
  Result each = elementwise(tracer, args.positional, [&](ArrayRef<PyValue> of) {
    return *tracer.callNamed(name, {of.vec(), args.keywords});
  });
  bool isSum = how.isStr() && how.asStr() == "sum", isMean = how.isStr() && how.asStr() == "mean";
  return each && (isSum || isMean) ? reduced(*masked(*each), how.asStr(), {{*each}, {}})
                                   : std::move(each);
}

std::optional<Result> tensors::callMasked(Tracer &tracer, StringRef name, const CallArgs &args) {
  if (llvm::none_of(args.positional, masked))
    return std::nullopt;
  if (isReduction(name) && masked(args.positional[0]))
    return reduced(*masked(args.positional[0]), name, args);
  if (isLoss(name))
    return lossOf(tracer, name, args);
  if (!isOfElements(name))
    return Result(hasNoShape());
  return elementwise(tracer, args.positional, [&](ArrayRef<PyValue> of) {
    return *tracer.callNamed(name, {of.vec(), args.keywords});
  });
}

Result MaskedValue::attribute(StringRef name) {
  if (name == "dtype" || name == "device" || name == "ndim")
    return eval::attribute(whole, name);
  if (Tracer::hasNamed(name))
    return PyValue::method(PyValue::extension(shared_from_this()), name.str());
  return hasNoShape();
}

Result MaskedValue::callMethod(eval::Evaluator &, StringRef name, const CallArgs &args) {
  CallArgs all = args;
  all.prepend(PyValue::extension(shared_from_this()));
  return *tracer.callNamed(name, all);
}
