//===- Rearranging.cpp - functions that move elements ---------------------===//
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Synonyms.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>
#include <numeric>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;

/// Keeps the element type of a tensor operand, so that a rearranged tensor can
/// be given to a kernel.
static Result likeOperand(const ContextPtr &context, const PyValue &operand, const Array &values) {
  auto *tensor = operand.dynExtension<Tensor>();
  return tensor ? Tensor::create(context, tensor->type(), values) : Tensor::value(context, values);
}

static std::unique_ptr<eval::EvalError> readAxis(const PyValue &value, size_t rank,
                                                 int64_t fallback, int64_t &axis) {
  axis = value.isNone() ? fallback : value.toInt64().value_or(INT64_MAX);
  return normalizeAxis(axis, rank);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// The order that sorts a run: stable, NaN last (first when descending).
static std::vector<int64_t> sortedOrder(const Array &x, const AxisView &view, int64_t o, int64_t n,
                                        bool descending) {
  std::vector<int64_t> order(view.length);
  std::iota(order.begin(), order.end(), 0);
  auto less = [&](int64_t a, int64_t b) {
    int64_t i = view.at(o, a, n), j = view.at(o, b, n);
    if (!x.isFloat())
      return x.ints[i] < x.ints[j];
    if (std::isnan(x.reals[i]) || std::isnan(x.reals[j]))
      return !std::isnan(x.reals[i]) && std::isnan(x.reals[j]);
    return x.reals[i] < x.reals[j];
  };
  // Equal elements keep their order.
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    bool before = descending ? less(b, a) : less(a, b);
    bool after = descending ? less(a, b) : less(b, a);
    return before || (!after && a < b);
  });
  return order;
}

template <bool positions> static Result sort(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("sort", args, {"x", "axis", "descending", "stable"}, 1); // it always is
  if (!r)
    return r.error();
  Array &x = r.array();
  int64_t axis;
  if (auto error = readAxis(r.get(1), x.shape.size(), -1, axis))
    return error;
  Result descending = eval::truth(r.get(2));
  if (!descending)
    return descending;
  AxisView view(x.shape, axis);
  // Each element is compared some dozens of times, far from the next.
  if (auto error = spendSteps(Extent(x.size()) * 1024))
    return error;
  Array out = x.zerosLike(positions ? Array::Kind::Int : x.kind);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      std::vector<int64_t> order = sortedOrder(x, view, o, n, descending->asBool());
      for (int64_t i = 0; i < view.length; ++i)
        if (positions)
          out.ints[view.at(o, i, n)] = order[i];
        else
          out.copyElement(view.at(o, i, n), x, view.at(o, order[i], n));
    }
  return positions ? Tensor::value(context, out) : likeOperand(context, r[0], out);
}

static Array flipped(const Array &x, int64_t axis) {
  AxisView view(x.shape, axis);
  Array out = x.zerosLike(x.kind);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.length; ++i)
      for (int64_t n = 0; n < view.inner; ++n)
        out.copyElement(view.at(o, i, n), x, view.at(o, view.length - 1 - i, n));
  return out;
}

/// flip(x, axis=None): one, several, or all.
static Result flip(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("flip", args, {"x", "axis"}, 1);
  if (!r)
    return r.error();
  Array x = r.array();
  std::vector<PyValue> axes = {r.get(1)};
  if (r.get(1).isSequence())
    axes = r[1].elements().vec();
  if (r.get(1).isNone()) {
    axes.clear();
    for (size_t dim = 0; dim < x.shape.size(); ++dim)
      axes.push_back(PyValue::integer(int64_t(dim)));
  }
  for (const PyValue &value : axes) {
    int64_t axis;
    if (auto error = readAxis(value, x.shape.size(), -1, axis))
      return error;
    x = flipped(x, axis);
  }
  return likeOperand(context, r[0], x);
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

static Result joinAlong(const ContextPtr &context, const PyValue &list, std::vector<Array> &parts,
                        int64_t axis) {
  Shape shape = parts[0].shape;
  Extent length = 0;
  Array::Kind kind = Array::Kind::Bool;
  for (Array &part : parts) {
    if (part.shape.size() != shape.size())
      return fail("`cat` needs tensors of one rank", "ValueError");
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      if (d != axis && part.shape[d] != shape[d])
        return fail(formatted("`cat` cannot join shapes {} and {} along axis {}",
                              toString(parts[0].shape), toString(part.shape), axis),
                    "ValueError");
    length = length + part.shape[axis];
    kind = std::max(kind, part.kind);
  }
  if (!length.fits())
    return fail(formatted("`cat` gives more than 2^63 elements along axis {}", axis), "ValueError");
  shape[axis] = *length;
  Array out;
  if (auto error = Array::make(context->memory, kind, shape, out))
    return error;
  AxisView whole(shape, axis);
  int64_t done = 0;
  for (Array &part : parts) {
    if (kind == Array::Kind::Float)
      part = part.toFloat();
    AxisView view(part.shape, axis);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.length; ++i)
        for (int64_t n = 0; n < view.inner; ++n)
          out.copyElement(whole.at(o, done + i, n), part, view.at(o, i, n));
    done += view.length;
  }
  return likeOperand(context, list.elements()[0], out);
}

template <bool stacks> static Result join(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(stacks ? "stack" : "cat", args, {"tensors", "axis"}, 1);
  if (!r)
    return r.error();
  if (r[0].elements().empty())
    return fail("`cat` and `stack` need a list of tensors");
  std::vector<Array> parts;
  for (const PyValue &element : r[0].elements())
    if (auto error = toArray(element, parts.emplace_back()))
      return error;
  int64_t axis;
  if (auto error = readAxis(r.get(1), parts[0].shape.size() + stacks, 0, axis))
    return error;
  if (stacks)
    for (Array &part : parts) {
      if (part.shape.size() < size_t(axis))
        return fail("`stack` needs tensors of one shape", "ValueError");
      part.shape.insert(part.shape.begin() + axis, 1);
    }
  return joinAlong(context, r[0], parts, axis);
}

static Result broadcastTo(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("broadcast_to", args, {"x", "shape"}, 2);
  if (!r)
    return r.error();
  Array &x = r.array();
  Shape shape;
  if (auto error = toShape(r[1], shape))
    return error;
  std::optional<Shape> target = broadcastShapes(x.shape, shape);
  if (!target || *target != shape)
    return fail(formatted("shape {} does not broadcast to {}", toString(x.shape), toString(shape)),
                "ValueError");
  if (auto error = x.broadcastTo(context->memory, shape, x))
    return error;
  return likeOperand(context, r[0], x);
}

//===----------------------------------------------------------------------===//
// Indexing by tensors
//===----------------------------------------------------------------------===//

static std::unique_ptr<eval::EvalError> readIndices(const PyValue &value, Array &out) {
  if (auto error = toArray(value, out))
    return error;
  return out.isFloat() ? fail("indices must be integers") : nullptr;
}

static std::unique_ptr<eval::EvalError> outOfRange(int64_t index, int64_t size) {
  return fail(formatted("index {} is out of range for size {}", index, size), "IndexError");
}

/// out[o, i, n] = x[o, index[o, i, n], n]
static Result gather(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("gather", args, {"x", "index", "axis"}, 3);
  if (!r)
    return r.error();
  Array &x = r.array();
  Array index;
  if (auto error = readIndices(r[1], index))
    return error;
  int64_t axis;
  if (auto error = readAxis(r[2], x.shape.size(), 0, axis))
    return error;
  Shape expected = x.shape;
  if (index.shape.size() == expected.size())
    expected[axis] = index.shape[axis];
  if (index.shape != expected)
    return fail(
        formatted("`gather` needs an index of the tensor's shape but for the axis; got {} for {}",
                  toString(index.shape), toString(x.shape)),
        "ValueError");
  AxisView from(x.shape, axis), to(index.shape, axis);
  Array out = index.zerosLike(x.kind);
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t i = 0; i < to.length; ++i)
      for (int64_t n = 0; n < to.inner; ++n) {
        int64_t at = to.at(o, i, n), which = index.ints[at];
        if (which < 0 || which >= from.length)
          return outOfRange(which, from.length);
        out.copyElement(at, x, from.at(o, which, n));
      }
  return likeOperand(context, r[0], out);
}

/// take(x, index): of all elements in order.
static Result take(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("take", args, {"x", "index"}, 2);
  if (!r)
    return r.error();
  auto *tensor = r[0].dynExtension<Tensor>();
  if (!tensor)
    return fail("`take` needs a tensor first");
  Array index;
  if (auto error = readIndices(r[1], index))
    return error;
  Result places = Tensor::value(context, index), row = r[0];
  if (tensor->rank() != 1)
    row = callFunction(*findFunction("ravel"), context, {{r[0]}, {}});
  if (!places || !row)
    return !places ? std::move(places) : std::move(row);
  return row->dynExtension<Tensor>()->subscript(nullptr, *places);
}

static Result oneHot(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("one_hot", args, {"index", "classes"}, 2);
  if (!r)
    return r.error();
  Array index;
  if (auto error = readIndices(r[0], index))
    return error;
  int64_t classes = r[1].toInt64().value_or(0);
  if (classes <= 0)
    return fail("`one_hot` needs a positive number of classes", "ValueError");
  Shape shape = index.shape;
  shape.push_back(classes);
  Array out;
  if (auto error = Array::make(context->memory, Array::Kind::Int, shape, out))
    return error;
  for (int64_t i = 0; i < index.size(); ++i) {
    if (index.ints[i] < 0 || index.ints[i] >= classes)
      return outOfRange(index.ints[i], classes);
    out.ints[i * classes + index.ints[i]] = 1;
  }
  return Tensor::value(context, out);
}

/// Counts of 0 .. bins-1; other values are not counted.
/// bincount(x, bins, weights=None)
static Result bincount(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("bincount", args, {"x", "bins", "weights", "minlength"}, 1);
  if (!r)
    return r.error();
  Array x, weights;
  if (!r.get(2).isNone())
    if (auto error = toArray(r[2], weights))
      return error;
  if (auto error = readIndices(r[0], x))
    return error;
  int64_t bins = r.get(1).toInt64().value_or(-1);
  if (bins < 0)
    return fail("`bincount` needs the number of bins, `bincount(x, bins)` or `bincount(x, bins, "
                "weights=w)`",
                "ValueError");
  bool weighs = !r.get(2).isNone();
  if (weighs && weights.size() != x.size())
    return fail("`bincount` needs a weight for each element", "ValueError");
  Array out;
  Array::Kind kind = weighs ? Array::Kind::Float : Array::Kind::Int;
  if (auto error = Array::make(context->memory, kind, {bins}, out))
    return error;
  for (auto [i, value] : llvm::enumerate(x.ints))
    if (value >= 0 && value < bins && weighs)
      out.reals[value] += weights.real(i);
    else if (value >= 0 && value < bins)
      ++out.ints[value];
  return Tensor::value(context, out);
}

template <bool lower> static Result triangle(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r(lower ? "tril" : "triu", args, {"x", "diagonal"}, 1);
  if (!r)
    return r.error();
  Array &x = r.array();
  if (x.shape.size() < 2)
    return fail("a triangle needs a tensor of rank 2 or more", "ValueError");
  int64_t diagonal = r.has(1) ? r[1].toInt64().value_or(0) : 0;
  int64_t rows = x.shape[x.shape.size() - 2], columns = x.shape.back();
  Array zero = x.isFloat() ? Array::scalar(0.0) : Array::scalar(int64_t(0), x.kind);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t row = i / columns % rows, column = i % columns;
    if (lower ? column - row > diagonal : column - row < diagonal)
      x.copyElement(i, zero, 0);
  }
  return likeOperand(context, r[0], x);
}

namespace tile::host {

ArrayRef<FunctionEntry> rearrangingFunctions() {
  static const FunctionEntry table[] = {
      {"sort", sort<false>, true},    {"argsort", sort<true>, true},
      {"flip", flip, true},           {"cat", join<false>, false},
      {"stack", join<true>, false},   {"broadcast_to", broadcastTo, true},
      {"gather", gather, true},       {"take", take, true},
      {"one_hot", oneHot, false},     {"bincount", bincount, true},
      {"tril", triangle<true>, true}, {"triu", triangle<false>, true},
  };
  return table;
}

static ArrayRef<ArrayRef<FunctionEntry>> allFunctions() {
  static const ArrayRef<FunctionEntry> tables[] = {
      factFunctions(),      viewFunctions(),     elementwiseFunctions(), reductionFunctions(),
      referenceFunctions(), composedFunctions(), convolutionFunctions(), rearrangingFunctions(),
      creationFunctions(),  randomFunctions(),   formulaFunctions()};
  return tables;
}

const FunctionEntry *findFunction(StringRef given) {
  StringRef name = eval::usualName(given);
  for (ArrayRef<FunctionEntry> table : allFunctions())
    for (const FunctionEntry &entry : table)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

Result callFunction(const FunctionEntry &entry, const ContextPtr &context, const CallArgs &args) {
  if (StringRef meant = eval::usualFunction(entry.name, args); meant != entry.name)
    return callFunction(*findFunction(meant), context, args);
  auto again = [&](StringRef plain, const CallArgs &all) {
    return callFunction(*findFunction(plain), context, all);
  };
  if (std::optional<Result> written = eval::callByInPlace(entry.name, args, again))
    return std::move(*written);
  context->function = entry.name;
  CallArgs own = args;
  if (auto error = useOwnNames(entry, own))
    return error;
  static constexpr StringRef sums[] = {"sum",         "prod",   "mean",   "softmax",
                                       "log_softmax", "cumsum", "cumprod"};
  if (!llvm::is_contained(sums, entry.name))
    return entry.fn(context, own);
  // In double precision, whatever the type, and converted in the end.
  auto isType = [](const auto &keyword) { return keyword.first == "dtype"; };
  auto type = llvm::find_if(own.keywords, isType);
  if (type == own.keywords.end())
    return entry.fn(context, own);
  PyValue given = type->second;
  own.keywords.erase(type);
  own.keywordRanges.clear();
  Result value = entry.fn(context, own);
  return value && !given.isNone()
             ? callFunction(*findFunction("to"), context, {{*value, given}, {}})
             : std::move(value);
}

Result callWritten(StringRef name, const ContextPtr &context, const CallArgs &args, bool isMethod) {
  Result made = callFunction(*findFunction(name), context, args);
  std::optional<eval::Extrema> asked =
      made ? eval::Extrema::of(name, args, isMethod) : std::nullopt;
  auto *values = asked ? made->dynExtension<Tensor>() : nullptr;
  if (!values)
    return made;
  // At once: the operand may be written later.
  Result places = callFunction(*findFunction(asked->placesName()), context, args);
  Result plain = values->view(values->shape(), values->strides(), values->offset());
  if (!places || !plain)
    return made;
  asked->both = [pair = PyValue::tuple({*plain, *places})]() -> Result { return pair; };
  values->extrema = std::make_shared<eval::Extrema>(std::move(*asked));
  return made;
}

std::vector<StringRef> functionNames(bool methodsOnly) {
  std::vector<StringRef> names;
  for (ArrayRef<FunctionEntry> table : allFunctions())
    for (const FunctionEntry &entry : table)
      if (!methodsOnly || entry.isMethod)
        names.push_back(entry.name);
  return names;
}

} // namespace tile::host
