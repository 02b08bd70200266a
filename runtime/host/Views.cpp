//===- Views.cpp - other views of the elements of a tensor ----------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/WorkMeter.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

/// `x.f(2, 3)` and `x.f((2, 3))` alike; -1 is allowed.
static std::unique_ptr<eval::EvalError> readInts(const CallArgs &args, Shape &out) {
  std::vector<PyValue> values(args.positional.begin() + 1, args.positional.end());
  if (values.size() == 1 && values[0].isSequence())
    values = values[0].elements().vec();
  for (const PyValue &value : values) {
    std::optional<int64_t> i = value.toInt64();
    if (!i)
      return fail(formatted("expected integers, got {}", eval::repr(value)));
    out.push_back(*i);
  }
  return nullptr;
}

/// Fills in the one dimension given as -1.
static std::unique_ptr<eval::EvalError> completeShape(Shape &shape, int64_t size) {
  auto unknown = llvm::find(shape, -1);
  Shape rest = shape;
  if (unknown != shape.end()) {
    rest[unknown - shape.begin()] = 1;
    Extent known = countElements(rest);
    rest[unknown - shape.begin()] = known.fits() && *known ? size / *known : 0;
  }
  Extent count = countElements(rest);
  if (!count.fits() || *count != size || llvm::any_of(rest, [](int64_t d) { return d < 0; }))
    return fail(formatted("cannot view {} elements as {}", size, toString(shape)), "ValueError");
  shape = rest;
  return nullptr;
}

static Result reshape(const ContextPtr &context, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("reshape");
  Shape shape;
  if (auto error = readInts(args, shape))
    return error;
  if (auto error = completeShape(shape, x->size()))
    return error;
  if (x->isContiguous())
    return x->view(shape, rowMajorStrides(shape), x->offset());
  Array values;
  if (auto error = x->values(values))
    return error;
  return Tensor::create(context, x->type(), values.reshaped(shape));
}

/// x.view(shape), or x.view(dtype) to reinterpret the bits.
static Result viewAs(const ContextPtr &context, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("view");
  if (args.positional.size() != 2 || !args.positional[1].is(Kind::DType)) {
    if (!x->isContiguous())
      return fail("`view` needs a contiguous tensor; `reshape` copies", "ValueError");
    return reshape(context, args);
  }
  const DType &type = args.positional[1].asDType();
  if (type.itemSize() != x->type().itemSize())
    return fail(formatted("`view` reinterprets elements of {} bytes; `{}` has {}",
                          x->type().itemSize(), type.name(), type.itemSize()),
                "ValueError");
  return Tensor::create(x->sharedStorage(), type, x->shape(), x->strides(), x->offset());
}

/// flatten(x, start_dim=0, end_dim=-1)
static Result flatten(const ContextPtr &context, const CallArgs &args) {
  eval::ArgReader r("flatten", args, {"x", "start_dim", "end_dim"}, 1);
  if (!r)
    return r.error();
  Tensor *x = self(args);
  if (!x)
    return needTensor("flatten");
  int64_t first = r.has(1) ? r[1].toInt64().value_or(INT64_MAX) : 0;
  int64_t last = r.has(2) ? r[2].toInt64().value_or(INT64_MAX) : -1;
  CallArgs shaped{{r[0]}, {}};
  if (x->rank() == 0) {
    shaped.positional.push_back(PyValue::integer(1));
    return reshape(context, shaped);
  }
  for (int64_t *dim : {&first, &last})
    if (auto error = normalizeAxis(*dim, x->rank()))
      return error;
  if (last < first)
    return fail(formatted("`flatten` goes from a dimension to one behind it, not from {} to {}",
                          first, last),
                "ValueError");
  int64_t together = 1;
  for (int64_t i = 0; i < int64_t(x->rank()); ++i) {
    if (i < first || i > last)
      shaped.positional.push_back(PyValue::integer(x->shape()[i]));
    else if (together *= x->shape()[i]; i == last)
      shaped.positional.push_back(PyValue::integer(together));
  }
  return reshape(context, shaped);
}

static Result permute(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("permute");
  Shape order, shape, strides;
  if (auto error = readInts(args, order))
    return error;
  std::vector<bool> seen(x->rank());
  for (int64_t &d : order) {
    if (auto error = normalizeAxis(d, x->rank()))
      return error;
    seen[d] = true;
    shape.push_back(x->shape()[d]);
    strides.push_back(x->strides()[d]);
  }
  if (order.size() != x->rank() || llvm::is_contained(seen, false))
    return fail(formatted("`permute` needs each dimension once, got {}", toString(order)),
                "ValueError");
  return x->view(shape, strides, x->offset());
}

static Result transpose(const ContextPtr &context, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("transpose");
  Shape axes;
  if (auto error = readInts(args, axes))
    return error;
  bool isOrder = args.positional.size() == 2 && args.positional[1].isSequence();
  if (axes.size() > 2 || isOrder)
    return permute(context, args);
  if (axes.empty())
    axes = {-2, -1};
  if (axes.size() != 2)
    return fail("`transpose` needs two dimensions");
  for (int64_t &axis : axes)
    if (auto error = normalizeAxis(axis, x->rank()))
      return error;
  Shape shape(x->shape()), strides(x->strides());
  std::swap(shape[axes[0]], shape[axes[1]]);
  std::swap(strides[axes[0]], strides[axes[1]]);
  return x->view(shape, strides, x->offset());
}

static Result unsqueeze(const ContextPtr &, const CallArgs &args) {
  ArgReader r("unsqueeze", args, {"self", "dim"}, 2);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor("unsqueeze");
  int64_t axis = r[1].toInt64().value_or(INT64_MAX);
  if (auto error = normalizeAxis(axis, x->rank() + 1))
    return error;
  Shape shape(x->shape()), strides(x->strides());
  shape.insert(shape.begin() + axis, 1);
  strides.insert(strides.begin() + axis, 0);
  return x->view(shape, strides, x->offset());
}

static Result squeeze(const ContextPtr &, const CallArgs &args) {
  ArgReader r("squeeze", args, {"self", "dim"}, 1);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor("squeeze");
  int64_t axis = -1;
  if (r.has(1)) {
    axis = r[1].toInt64().value_or(INT64_MAX);
    if (auto error = normalizeAxis(axis, x->rank()))
      return error;
  }
  Shape shape, strides;
  for (int64_t d = 0; d < int64_t(x->rank()); ++d)
    if (x->shape()[d] != 1 || (r.has(1) && d != axis)) {
      shape.push_back(x->shape()[d]);
      strides.push_back(x->strides()[d]);
    }
  return x->view(shape, strides, x->offset());
}

static Result expand(const ContextPtr &, const CallArgs &args) {
  Tensor *x = self(args);
  if (!x)
    return needTensor("expand");
  Shape shape;
  if (auto error = readInts(args, shape))
    return error;
  if (shape.size() < x->rank())
    return fail("`expand` cannot drop dimensions", "ValueError");
  size_t lead = shape.size() - x->rank();
  Shape strides(shape.size(), 0);
  for (size_t d = 0; d < x->rank(); ++d) {
    int64_t &target = shape[lead + d];
    if (target == -1)
      target = x->shape()[d];
    if (target != x->shape()[d] && x->shape()[d] != 1)
      return fail(formatted("cannot expand shape {} to {}", toString(x->shape()), toString(shape)),
                  "ValueError");
    strides[lead + d] = target == x->shape()[d] ? x->strides()[d] : 0;
  }
  return x->view(shape, strides, x->offset());
}

static Result asStrided(const ContextPtr &, const CallArgs &args) {
  ArgReader r("as_strided", args, {"self", "shape", "strides", "offset"}, 3);
  Tensor *x = self(args);
  if (!r || !x)
    return x ? r.error() : needTensor("as_strided");
  Shape shape, strides;
  if (auto error = toShape(r[1], shape))
    return error;
  if (auto error = toStrides(r[2], strides))
    return error;
  if (strides.size() != shape.size())
    return fail("`as_strided` needs one stride a dimension", "ValueError");
  std::optional<int64_t> offset = r.has(3) ? r[3].toInt64() : 0;
  if (!offset)
    return fail(
        formatted("the offset of `as_strided` is an integer of 64 bits, got {}", eval::repr(r[3])));
  Extent first = Extent(x->offset()) + *offset;
  // The place is the caller's own choice here, and is to lie inside of a view of no elements, too.
  if (llvm::is_contained(shape, 0) && first.fits())
    if (auto error =
            checkView(shape, strides, *first, x->sharedStorage()->size() / x->type().itemSize()))
      return error;
  return x->view(shape, strides, first);
}

namespace tile::host {

ArrayRef<FunctionEntry> viewFunctions() {
  static const FunctionEntry table[] = {
      {"reshape", reshape, true}, {"view", viewAs, true},         {"flatten", flatten, true},
      {"permute", permute, true}, {"transpose", transpose, true}, {"unsqueeze", unsqueeze, true},
      {"squeeze", squeeze, true}, {"expand", expand, true},       {"as_strided", asStrided, true},
  };
  return table;
}

} // namespace tile::host
