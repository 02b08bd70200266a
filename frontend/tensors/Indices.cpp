//===- Indices.cpp - numbers along dimensions, and what is made of them ---===//
#include "frontend/eval/Synonyms.h"
#include "frontend/tensors/Library.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

/// A size, or a number that is one.
static std::unique_ptr<EvalError> readSize(StringRef name, const PyValue &value, Size &out) {
  if (auto *size = value.dynExtension<SizeValue>()) {
    out = size->size;
    return nullptr;
  }
  std::optional<int64_t> number = value.toInt64();
  if (!number || *number < 0)
    return fail(formatted("`{}` needs a size, got {}", name, eval::repr(value)));
  out = Size(*number);
  return nullptr;
}

/// Elements are of 32 bits, whatever a kernel counts with.
static std::unique_ptr<EvalError> checkLast(StringRef name, const Size &end) {
  if (end.constant().value_or(0) <= int64_t(1) << 31)
    return nullptr;
  return fail(formatted("`{}` up to {}: its elements have 32 bits; add to it what is 64 bits wide",
                        name, end.str()),
              "ValueError");
}

/// From `start` on every so many, forwards or backwards, up to `end`.
static Result everyStep(Tracer &tracer, StringRef name, const Size &start, const Size &end,
                        const PyValue &by) {
  std::optional<int64_t> step = by.toInt64();
  if (!step || *step == 0 || *step != int32_t(*step))
    return fail(
        formatted("the step of `{}` is a whole number that is not 0, got {}", name, eval::repr(by)),
        "ValueError");
  Size way = *step > 0 ? end - start : start - end;
  std::optional<Size> count = way.dividedUpBy(std::abs(*step));
  if (!count)
    return fail(formatted("every {} of `{}` numbers is not a formula: only what divides whatever "
                          "the sizes are can be taken; write sizes as multiples, such as `{}*N`",
                          std::abs(*step), way.str(), std::abs(*step)),
                "ValueError");
  if (count->constant().value_or(0) < 0)
    count = Size(0);
  tracer.require(way, formatted("`{}` ends before it starts", name));
  Result steps = tracer.map(MapKind::mul, name,
                            {tracer.wrap(tracer.indices(*count)), PyValue::integer(*step)});
  return steps ? tracer.map(MapKind::add, name, {*steps, tracer.sizeValue(start)})
               : std::move(steps);
}

/// arange(n), arange(start, end), arange(start, end, step)
static Result placesFrom(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"start", "end", "step"}, 1);
  Size size;
  if (!r)
    return r.error();
  if (!r.has(1)) {
    if (auto error = readSize(name, r[0], size))
      return error;
    return tracer.wrap(tracer.indices(size));
  }
  std::optional<Size> start = sizeOf(r[0]), end = sizeOf(r[1]);
  if (!start || !end)
    return fail(
        formatted("`arange` needs sizes, got {} and {}", eval::repr(r[0]), eval::repr(r[1])));
  for (const Size &last : {*start, *end})
    if (auto error = r.get(2).isNone() ? nullptr : checkLast(name, last))
      return error;
  if (!r.get(2).isNone())
    return everyStep(tracer, name, *start, *end, r[2]);
  size = *end - *start;
  std::string text = formatted("`arange` from `{}` to `{}`", start->str(), end->str());
  if (std::optional<int64_t> count = size.constant(); count && *count < 0)
    return fail(formatted("{} has no elements: the end lies before the start", text), "ValueError");
  if (auto error = checkLast(name, *end))
    return error;
  tracer.require(size, formatted("{} ends before it starts", text));
  return tracer.map(MapKind::add, name,
                    {tracer.wrap(tracer.indices(size)), tracer.sizeValue(*start)});
}

static Result arange(Tracer &tracer, StringRef name, const CallArgs &args) {
  CallArgs places = args;
  PyValue type;
  for (size_t i = 0; i < places.keywords.size(); ++i)
    if (places.keywords[i].first == "dtype") {
      type = places.keywords[i].second;
      places.keywords.erase(places.keywords.begin() + i);
      places.keywordRanges.clear();
      break;
    }
  Result made = placesFrom(tracer, name, places);
  if (!made || type.isNone())
    return made;
  return tracer.callNamed("to", {{*made, type}, {}}).value();
}

static Result philoxRand(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"seed", "offsets"}, 2);
  if (!r)
    return r.error();
  for (size_t i = 0; i < 2; ++i) {
    Operand x;
    if (auto error = tracer.operand(name, r[i], x))
      return error;
    if (!mlir::isa<mlir::IntegerType>(x.type().getElement()))
      return fail(formatted("`{}` needs an integer seed and integer offsets", name));
  }
  return tracer.map(MapKind::philox, name, {r[0], r[1]});
}

/// The position of each element among those along some axes, in order, as int64.
static Result positions(Tracer &tracer, ArrayRef<Size> sizes, ArrayRef<int64_t> axes) {
  Result sum = PyValue::integer(0);
  Size behind(1);
  for (int64_t axis : llvm::reverse(axes)) {
    llvm::SmallVector<int64_t> dims(sizes.size() - axis, -1);
    dims[0] = 0;
    Result along = tracer.rearrange({tracer.indices(sizes[axis]), "", false}, dims);
    if (along)
      along = tracer.cast(*along, tracer.builder.getI64Type());
    if (along)
      along = tracer.map(MapKind::mul, {*along, tracer.sizeValue(behind)});
    sum = along ? tracer.map(MapKind::add, {*sum, *along}) : std::move(along);
    if (!sum)
      return sum;
    behind = behind * sizes[axis];
  }
  return sum;
}

/// argmax(x, axis=None, keepdim=False): the first of several; a NaN wins. Over several axes it is
/// the position among all elements along them.
template <ReduceKind kind>
static Result argument(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis", "keepdim"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  CallArgs along{{}, {{"axis", r.get(1)}, {"keepdim", PyValue::boolean(true)}}};
  CallArgs ofValue = along;
  ofValue.positional = {r[0]};
  Result best = tracer.callNamed(kind == ReduceKind::max ? "max" : "min", ofValue).value();
  Result isBest = best ? tracer.map(MapKind::eq, name, {r[0], *best}) : std::move(best);
  if (isBest && mlir::isa<mlir::FloatType>(x.type().getElement())) {
    Result isNan = tracer.map(MapKind::isnan, name, {r[0]});
    isBest = isNan ? tracer.map(MapKind::bit_or, name, {*isBest, *isNan}) : std::move(isNan);
  }
  if (!isBest)
    return isBest;
  llvm::SmallVector<int64_t> axes;
  if (auto error = readAxes(name, r.get(1), sizes.size(), axes))
    return error;
  Result index = PyValue();
  if (axes.size() == 1) {
    llvm::SmallVector<int64_t> dims(sizes.size() - axes[0], -1);
    dims[0] = 0;
    index = tracer.rearrange({tracer.indices(sizes[axes[0]]), "", false}, dims);
  } else {
    index = positions(tracer, sizes, axes);
  }
  Size count(1);
  for (int64_t axis : axes)
    count = count * sizes[axis];
  std::string text = formatted("`{}` of `{}` elements has no first one", name, count.str());
  if (count == Size(0))
    return fail(text, "ValueError");
  tracer.require(count - Size(1), text);
  Result end = tracer.sizeValue(count);
  Result first =
      index ? tracer.map(MapKind::select, name, {*isBest, *index, *end}) : std::move(index);
  if (!first)
    return first;
  ofValue = {{*first}, {{"axis", r.get(1)}, {"keepdim", r.get(2)}}};
  Result found = tracer.callNamed("min", ofValue).value();
  return found ? tracer.cast(*found, tracer.builder.getI64Type()) : std::move(found);
}

/// dropout(x, p=0.5, seed=0): the same elements for the same seed, whatever the kernels are.
static Result dropout(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "p", "seed"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  PyValue p = r.has(1) ? r[1] : PyValue::number(0.5);
  PyValue seed = r.has(2) ? r[2] : PyValue::integer(0);
  if (std::optional<double> share = p.toDouble(); share && !(*share >= 0 && *share <= 1))
    return fail(
        formatted("`p` of `dropout` is the share that becomes 0, 0 to 1, got {}", eval::repr(p)),
        "ValueError");
  if (p.toDouble() == 0.0)
    return r[0];
  Result random = positions(tracer, x.type().sizes(), inOrder(x.type().sizes().size()));
  if (random)
    random = tracer.map(MapKind::philox, name, {seed, *random});
  Result stays = random ? tracer.map(MapKind::ge, name, {*random, p}) : std::move(random);
  if (!stays)
    return stays;
  Result share = eval::binary(ast::BinaryOp::Sub, PyValue::number(1), p);
  Result scaled = share ? tracer.map(MapKind::div, name, {r[0], *share}) : std::move(share);
  return scaled ? tracer.map(MapKind::select, name, {*stays, *scaled, PyValue::number(0)})
                : std::move(scaled);
}

/// x[..., i[...]]. Of what lies in memory one element a row is taken; of what is computed, so
/// that it need not be stored for this, the sum of the row with 0 everywhere else.
static Result pick(Tracer &tracer, StringRef name, const Operand &x, const Operand &at) {
  Sizes sizes = x.type().sizes();
  size_t rank = sizes.size() - 1;
  bool isStored = !x.value.getDefiningOp() || mlir::isa<graph::MatmulOp>(x.value.getDefiningOp());
  if (isStored) {
    llvm::SmallVector<mlir::Value> indices;
    for (size_t i = 0; i < rank; ++i) {
      llvm::SmallVector<int64_t> dims(rank - i, -1);
      dims[0] = 0;
      Operand along;
      Result index = tracer.rearrange({tracer.indices(sizes[i]), "", false}, dims);
      if (auto error = tracer.operand(name, *index, along))
        return error;
      indices.push_back(along.value);
    }
    indices.push_back(at.value);
    return tracer.gather(x.value, indices, /*guarded=*/true);
  }
  llvm::SmallVector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i)
    dims.push_back(i);
  dims.push_back(-1);
  Result column = tracer.rearrange(at, dims);
  Result isThere =
      tracer.map(MapKind::eq, name, {tracer.wrap(tracer.indices(sizes.back())), *column});
  Result only = isThere ? tracer.map(MapKind::select, name,
                                     {*isThere, tracer.wrap(x.value), PyValue::number(0)})
                        : std::move(isThere);
  return only ? tracer.callNamed("sum", {{*only}, {{"axis", PyValue::integer(-1)}}}).value()
              : std::move(only);
}

/// What the label has, and in part what all have on average.
static Result smoothed(Tracer &tracer, StringRef name, const PyValue &logits, const PyValue &picked,
                       const PyValue &share) {
  Result all = tracer.callNamed("mean", {{logits}, {{"axis", PyValue::integer(-1)}}}).value();
  Result apart = all ? tracer.map(MapKind::sub, name, {*all, picked}) : std::move(all);
  Result part = apart ? tracer.map(MapKind::mul, name, {*apart, share}) : std::move(apart);
  return part ? tracer.map(MapKind::add, name, {picked, *part}) : std::move(part);
}

namespace {
/// Which rows count: all but those whose label is `index`. None: all of them.
struct Ignored {
  Operand labels;
  PyValue index;
  Result compare(Tracer &tracer, MapKind kind) const {
    return tracer.map(kind, "cross_entropy", {tracer.wrap(labels.value), index});
  }
};
} // namespace

static Ignored ignoredBy(const Operand &labels, const PyValue &index) {
  bool isNegative = index.toInt64().value_or(0) < 0;
  return {labels, isNegative && isNeverNegative(labels.value) ? PyValue() : index};
}

/// How many count. Gradients need the number before anything else: it has a kernel of its own then,
/// and what each row has is not stored until it is known.
static Result countOf(Tracer &tracer, const Ignored &ignored) {
  Result count = PyValue();
  if (tracer.evaluator.gradients > 0 && ignored.index.toInt64()) {
    tracer.withoutGradients([&] {
      count = callLibrary(tracer, "how_many_unlike",
                          {tracer.wrap(ignored.labels.value), ignored.index});
    });
    return count;
  }
  Result isCounted = ignored.compare(tracer, MapKind::ne);
  Result ones = isCounted ? tracer.map(MapKind::select, "mean",
                                       {*isCounted, PyValue::number(1), PyValue::number(0)})
                          : std::move(isCounted);
  return ones ? *tracer.callNamed("sum", {{*ones}, {}}) : std::move(ones);
}

/// Losses of rows, 0 of those that are ignored, as one number. The mean is of the others: what is
/// counted has no say in its type.
static Result together(Tracer &tracer, StringRef how, Result loss, const Ignored &ignored) {
  bool counts = !ignored.index.isNone();
  if (loss && counts) {
    Result isCounted = ignored.compare(tracer, MapKind::ne);
    loss = isCounted ? tracer.map(MapKind::select, "mean", {*isCounted, *loss, PyValue::number(0)})
                     : std::move(isCounted);
  }
  if (!loss || how == "none")
    return loss;
  if (how == "sum" || !counts)
    return *tracer.callNamed(how, {{*loss}, {}});
  Result total = *tracer.callNamed("sum", {{*loss}, {}}), count = countOf(tracer, ignored);
  Result mean = total && count ? tracer.map(MapKind::div, "mean", {*total, *count}) : PyValue();
  for (Result *made : {&total, &count, &mean})
    if (!*made)
      return std::move(*made);
  return tracer.cast(*mean, total->dynExtension<TensorValue>()->type().getElement());
}

/// cross_entropy(logits, labels, reduction="mean", label_smoothing=0, ignore_index=-100): of logits
/// (..., N) and labels (...), or of (N, C, ...) and (N, ...).
static Result crossEntropy(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"logits", "labels", "reduction", "label_smoothing", "ignore_index"}, 2);
  Operand logits, labels;
  if (!r)
    return r.error();
  Result x = r[0];
  if (eval::classesComeSecond(r[0], r[1]))
    x = *tracer.callNamed("movedim", {{r[0], PyValue::integer(1), PyValue::integer(-1)}, {}});
  if (!x)
    return x;
  if (auto error = tracer.operand(name, *x, logits))
    return error;
  if (auto error = tracer.operand(name, r[1], labels))
    return error;
  Sizes sizes = logits.type().sizes(), rows = labels.type().sizes();
  if (sizes.empty() || ArrayRef(sizes).drop_back() != ArrayRef(rows) ||
      !mlir::isa<mlir::IntegerType>(labels.type().getElement()))
    return fail(formatted("`cross_entropy` needs logits of shape (..., N) and integer labels of "
                          "shape (...), or (N, C, ...) and (N, ...), got {} and {}",
                          graph::shapeText(sizes), graph::shapeText(rows)),
                "ValueError");
  std::string how = r.has(2) && r[2].isStr() ? r[2].asStr() : "mean";
  if (how != "mean" && how != "none" && how != "sum")
    return fail("`reduction` of `cross_entropy` is \"mean\", \"sum\" or \"none\"");
  // log(sum(exp(x))) - x[label]: everything is known after one pass over the row.
  Result total = tracer.callNamed("logsumexp", {{*x}, {{"axis", PyValue::integer(-1)}}}).value();
  Result picked = total ? pick(tracer, name, logits, labels) : Result(total.takeError());
  if (picked && !r.get(3).isNone())
    picked = smoothed(tracer, name, *x, *picked, r[3]);
  Result loss = picked ? tracer.map(MapKind::sub, name, {*total, *picked}) : std::move(picked);
  Ignored ignored = ignoredBy(labels, r.has(4) ? r[4] : PyValue::integer(-100));
  return together(tracer, how, std::move(loss), ignored);
}

ArrayRef<TracedEntry> tensors::tracedIndices() {
  static const TracedEntry table[] = {
      {"arange", arange},
      {"philox_rand", philoxRand},
      {"dropout", dropout},
      {"argmax", argument<ReduceKind::max>},
      {"argmin", argument<ReduceKind::min>},
      {"cross_entropy", crossEntropy},
  };
  return table;
}
