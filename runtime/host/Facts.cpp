//===- Facts.cpp - attributes and facts of tensors, and their values ------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Synonyms.h"
#include "frontend/eval/WorkMeter.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static PyValue toTuple(ArrayRef<int64_t> values) {
  std::vector<PyValue> elements;
  for (int64_t value : values)
    elements.push_back(PyValue::integer(value));
  return PyValue::tuple(std::move(elements));
}

static bool isMethod(StringRef name) {
  const FunctionEntry *entry = findFunction(name);
  return entry && entry->isMethod;
}

Result Tensor::attribute(StringRef name) {
  if (std::optional<Result> part = extrema ? extrema->attribute(name) : std::nullopt)
    return std::move(*part);
  if (name == "shape")
    return toTuple(dims);
  if (name == "dtype")
    return PyValue::dtype(elementType);
  if (name == "numel")
    return PyValue::integer(size());
  if (name == "ndim")
    return PyValue::integer(rank());
  if (name == "itemsize")
    return PyValue::integer(elementType.itemSize());
  if (name == "nbytes")
    return PyValue::integer(size() * elementType.itemSize());
  if (name == "device")
    return eval::torchDevice();
  if (name == "is_cuda" || name == "requires_grad")
    return PyValue::boolean(name == "is_cuda");
  if (name == "T") {
    Shape shape(llvm::reverse(dims)), strides(llvm::reverse(steps));
    return view(shape, strides, start);
  }
  if (name == "mT" && rank() >= 2) {
    Shape shape(dims), strides(steps);
    std::swap(shape[rank() - 2], shape[rank() - 1]);
    std::swap(strides[rank() - 2], strides[rank() - 1]);
    return view(shape, strides, start);
  }
  const FunctionEntry *entry = findFunction(name);
  if ((entry && entry->isMethod) || eval::isInPlaceMethod(name, isMethod))
    return PyValue::method(PyValue::extension(shared_from_this()), name.str());
  std::vector<StringRef> candidates = functionNames(/*methodsOnly=*/true);
  llvm::append_range(candidates, ArrayRef<StringRef>{"shape", "dtype", "numel", "ndim", "itemsize",
                                                     "nbytes", "device", "is_cuda"});
  std::string message = formatted("a tensor has no attribute `{}`", name);
  if (llvm::is_contained({"cuda", "cpu"}, name))
    message += "; it is where `--device` says";
  else if (llvm::is_contained({"grad", "backward"}, name))
    message += "; tensors have no gradients here";
  else if (llvm::is_contained({"values", "indices"}, name))
    message += "; `max`, `sort` and their like give values only with `axis=`, and pairs with "
               "`dim=`; `argmax`, `argmin` and `argsort` give places";
  else if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message, "AttributeError");
}

Result Tensor::callMethod(Evaluator &, StringRef name, const CallArgs &args) {
  if (!isMethod(name))
    return eval::callInPlace(PyValue::extension(shared_from_this()), name, args,
                             [&](StringRef plain, const CallArgs &all) {
                               Result value = callFunction(*findFunction(plain), context(), all);
                               auto *made = value ? value->dynExtension<Tensor>() : nullptr;
                               if (made && made->shape() != shape())
                                 return eval::shapeChanges(name);
                               return value;
                             });
  CallArgs all = args;
  Result self = extrema ? view(dims, steps, start) : Result(PyValue::extension(shared_from_this()));
  if (!self)
    return self;
  all.positional.insert(all.positional.begin(), *self);
  Result meant = eval::usualMethod(name, all);
  return meant ? callWritten(meant->asStr(), context(), all, /*isMethod=*/true) : std::move(meant);
}

//===----------------------------------------------------------------------===//
// As methods
//===----------------------------------------------------------------------===//

Tensor *host::self(const CallArgs &args) {
  return args.positional.empty() ? nullptr : args.positional[0].dynExtension<Tensor>();
}

std::unique_ptr<eval::EvalError> host::needTensor(StringRef name) {
  return fail(formatted("`{}` needs a tensor first", name));
}

/// `x.NAME()` and `x.NAME(dim)`: one number for each dimension, or that of one.
static Result ofDimensions(StringRef name, const CallArgs &args,
                           llvm::function_ref<ArrayRef<int64_t>(Tensor &)> get) {
  ArgReader r(name, args, {"self", "dim"}, 1);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor(name);
  if (!r.has(1))
    return toTuple(get(*x));
  int64_t axis = r[1].toInt64().value_or(INT64_MAX);
  if (auto error = normalizeAxis(axis, x->rank()))
    return error;
  return PyValue::integer(get(*x)[axis]);
}

static Result stride(const ContextPtr &, const CallArgs &args) {
  return ofDimensions("stride", args, [](Tensor &x) { return x.strides(); });
}

static Result size(const ContextPtr &, const CallArgs &args) {
  return ofDimensions("size", args, [](Tensor &x) { return x.shape(); });
}

static Result isContiguous(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  return x ? Result(PyValue::boolean(x->isContiguous())) : needTensor("is_contiguous");
}

static Result dataPtr(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("data_ptr");
  x->storage().expose();
  return PyValue::integerUnsigned(x->devicePointer());
}

static Result item(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("item");
  if (x->size() != 1)
    return fail(
        formatted("`item` needs a tensor of one element, got shape {}", toString(x->shape())),
        "ValueError");
  return x->onlyValue();
}

static PyValue nested(const Array &values, DType type, size_t dim, int64_t first) {
  if (dim == values.shape.size())
    return elementValue(values, first, type);
  int64_t inner = numElements(ArrayRef<int64_t>(values.shape).drop_front(dim + 1));
  std::vector<PyValue> elements;
  for (int64_t i = 0; i < values.shape[dim]; ++i)
    elements.push_back(nested(values, type, dim + 1, first + i * inner));
  return PyValue::list(std::move(elements));
}

static Result tolist(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("tolist");
  // Lists of each dimension, also where the last ones are empty.
  Extent made = 1, lists = 1;
  for (int64_t dim : x->shape()) {
    made = made * dim;
    lists = lists + made;
  }
  if (auto error = eval::Work::checkLength(lists.fits() ? uint64_t(*lists) : UINT64_MAX))
    return error;
  if (!eval::Work::spend(*lists))
    return eval::Work::error();
  Array values;
  if (auto error = x->values(values))
    return error;
  return nested(values, x->type(), 0, 0);
}

/// The values of a tensor in a new one.
static Result copied(const ContextPtr &context, const Tensor &x, const DType &type) {
  Array values;
  if (auto error = x.values(values))
    return error;
  return Tensor::create(context, type, values);
}

static Result clone(const ContextPtr &context, const CallArgs &args) {
  Tensor *x = self(args);
  return x ? copied(context, *x, x->type()) : needTensor("clone");
}

static Result contiguous(const ContextPtr &context, const CallArgs &args) {
  Tensor *x = self(args);
  return x && x->isContiguous() ? Result(args.positional[0]) : clone(context, args);
}

static Result to(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("to", args, {"self", "dtype"}, 2);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor("to");
  if (!r[1].is(Kind::DType))
    return fail(
        formatted("`to` needs a dtype such as `tl.float16`, got `{}`", eval::typeName(r[1])));
  return copied(context, *x, r[1].asDType());
}

/// `x.half()` is `x.to(tl.float16)`.
template <DType::Kind kind>
static Result converted(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(context->function, args, {"self"}, 1);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor(context->function);
  return copied(context, *x, DType(kind));
}

/// What PyTorch asks a method for, and is an attribute here.
template <int64_t (*fact)(const Tensor &)>
static Result factOf(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(context->function, args, {"self"}, 1);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor(context->function);
  return PyValue::integer(fact(*x));
}
static int64_t rankOf(const Tensor &x) { return int64_t(x.rank()); }
static int64_t itemSizeOf(const Tensor &x) { return int64_t(x.type().itemSize()); }
static int64_t sizeOf(const Tensor &x) { return x.size(); }

namespace tile::host {

ArrayRef<FunctionEntry> factFunctions() {
  static const FunctionEntry table[] = {
      {"stride", stride, true},
      {"size", size, true},
      {"is_contiguous", isContiguous, true},
      {"data_ptr", dataPtr, true},
      {"item", item, true},
      {"tolist", tolist, true},
      {"clone", clone, true},
      {"contiguous", contiguous, true},
      {"to", to, true},
      {"half", converted<DType::Kind::Float16>, true},
      {"bfloat16", converted<DType::Kind::BFloat16>, true},
      {"float", converted<DType::Kind::Float32>, true},
      {"double", converted<DType::Kind::Float64>, true},
      {"char", converted<DType::Kind::Int8>, true},
      {"short", converted<DType::Kind::Int16>, true},
      {"int", converted<DType::Kind::Int32>, true},
      {"long", converted<DType::Kind::Int64>, true},
      {"bool", converted<DType::Kind::Int1>, true},
      {"dim", factOf<rankOf>, true},
      {"element_size", factOf<itemSizeOf>, true},
      {"nelement", factOf<sizeOf>, true},
  };
  return table;
}

} // namespace tile::host
