//===- Composed.cpp - formulas that have a name ---------------------------===//
//
// What the fusion sees is the formula, as if it had been written out.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Formulas.h"
#include "frontend/tensors/Convolutions.h"
#include "frontend/tensors/Library.h"
#include "text/Format.h"
#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

static Result call(Tracer &tracer, StringRef name, std::vector<PyValue> args) {
  return tracer.callNamed(name, {std::move(args), {}}).value();
}

/// rope(x, cos, sin): the halves of the last dimension are the coordinates that are turned.
static Result rope(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "cos", "sin"}, 3);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  std::optional<Size> half = sizes.empty() ? std::nullopt : sizes.back().dividedBy(Size(2));
  if (!half)
    return fail(formatted("`rope` turns pairs: the last dimension of {} must be even whatever the "
                          "sizes are, such as `2*D`",
                          graph::shapeText(sizes)),
                "ValueError");
  sizes.back() = *half;
  Sizes starts(sizes.size(), Size(0));
  Result first = tracer.window(x, starts, sizes, /*inside=*/true, /*loose=*/false);
  starts.back() = *half;
  Result second = tracer.window(x, starts, sizes, /*inside=*/true, /*loose=*/false);
  Result negative = second ? tracer.map(MapKind::neg, name, {*second}) : std::move(second);
  if (!first || !negative)
    return !first ? std::move(first) : std::move(negative);
  Result turned = call(tracer, "cat", {PyValue::list({*negative, *first}), PyValue::integer(-1)});
  Result along = tracer.map(MapKind::mul, name, {r[0], r[1]});
  Result across = turned ? tracer.map(MapKind::mul, name, {*turned, r[2]}) : std::move(turned);
  return along && across ? tracer.map(MapKind::add, name, {*along, *across})
                         : std::move(along ? across : along);
}

/// any(x, axis=None, keepdim=False), all(...)
template <ReduceKind kind>
static Result decided(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "axis", "keepdim"}, 1);
  if (!r)
    return r.error();
  Result is = tracer.map(MapKind::ne, name, {r[0], PyValue::integer(0)});
  if (is)
    is = tracer.cast(*is, tracer.builder.getI32Type());
  if (!is)
    return is;
  CallArgs rest{{*is}, {{"axis", r.get(1)}, {"keepdim", r.get(2)}}};
  Result found = tracer.callNamed(kind == ReduceKind::max ? "max" : "min", rest).value();
  // Of no elements they are the lowest and the highest number.
  return found ? tracer.map(MapKind::gt, name, {*found, PyValue::integer(0)}) : std::move(found);
}

/// isfinite(x): what less itself is 0.
static Result isFinite(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x"}, 1);
  if (!r)
    return r.error();
  Result none = tracer.map(MapKind::sub, name, {r[0], r[0]});
  return none ? tracer.map(MapKind::eq, name, {*none, PyValue::integer(0)}) : std::move(none);
}

/// sinh(x), cosh(x): half of e^x and, less or more, e^-x. Near 0 the difference is of what is
/// behind the 1.
template <bool isSine>
static Result hyperbolic(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x"}, 1);
  if (!r)
    return r.error();
  MapKind power = isSine ? MapKind::expm1 : MapKind::exp;
  Result back = tracer.map(MapKind::neg, name, {r[0]});
  Result up = tracer.map(power, name, {r[0]}),
         down = back ? tracer.map(power, name, {*back}) : std::move(back);
  if (!up || !down)
    return !up ? std::move(up) : std::move(down);
  Result both = tracer.map(isSine ? MapKind::sub : MapKind::add, name, {*up, *down});
  return both ? tracer.map(MapKind::mul, name, {*both, PyValue::number(0.5)}) : std::move(both);
}

/// Scores where nothing may be seen are -inf. Places come last: whoever adds to scores does not
/// change which of them are seen.
static Result masked(Tracer &tracer, StringRef name, Result scores, const PyValue &mask,
                     bool isCausal) {
  auto *given = mask.dynExtension<TensorValue>();
  if (given && given->type().getElement().isInteger(1))
    scores = tracer.map(MapKind::select, name, {mask, *scores, PyValue::number(-INFINITY)});
  else if (!mask.isNone())
    scores = tracer.map(MapKind::add, name, {*scores, mask});
  Operand x;
  if (!scores || !isCausal)
    return scores;
  if (auto error = tracer.operand(name, *scores, x))
    return error;
  Sizes sizes = x.type().sizes();
  Result row = tracer.rearrange({tracer.indices(sizes[sizes.size() - 2]), "", false}, {0, -1});
  Result sees = tracer.map(MapKind::ge, name, {*row, tracer.wrap(tracer.indices(sizes.back()))});
  return tracer.map(MapKind::select, name, {*sees, *scores, PyValue::number(-INFINITY)});
}

/// What stands before queries and before keys is the same, or 1.
static bool haveSameHeads(const Sizes &queries, const Sizes &keys) {
  unsigned dim;
  return graph::broadcast(llvm::ArrayRef(queries).drop_back(2), llvm::ArrayRef(keys).drop_back(2),
                          dim)
      .has_value();
}

/// Every query is as long as a key, and every key has a value.
static std::unique_ptr<EvalError> checkHeads(Tracer &tracer, StringRef name, const Operand &q,
                                             const PyValue &keys, const PyValue &values) {
  Operand k, v;
  if (auto error = tracer.operand(name, keys, k))
    return error;
  if (auto error = tracer.operand(name, values, v))
    return error;
  Sizes of[] = {q.type().sizes(), k.type().sizes(), v.type().sizes()};
  bool areMatrices = llvm::all_of(of, [](const Sizes &sizes) { return sizes.size() >= 2; });
  bool agree = areMatrices && of[0].back() == of[1].back() && of[1].end()[-2] == of[2].end()[-2];
  if (agree && haveSameHeads(of[0], of[1]) && haveSameHeads(of[0], of[2]))
    return nullptr;
  return fail(formatted("`{}` needs queries (..., S, D), keys (..., T, D) and values (..., T, E), "
                        "got {}, {} and {}{}",
                        name, graph::shapeText(of[0]), graph::shapeText(of[1]),
                        graph::shapeText(of[2]),
                        agree ? ": what stands before the last two must be the same, or 1; "
                                "`enable_gqa=True` lets several heads of queries share one of keys"
                              : ""),
              "ValueError");
}

/// Keys or values with a head for each of the queries: `enable_gqa` lets several share one.
static Result headOfEach(Tracer &tracer, StringRef name, const Operand &q, const PyValue &value) {
  Operand x;
  if (auto error = tracer.operand(name, value, x))
    return error;
  Sizes queries = q.type().sizes(), own = x.type().sizes();
  if (queries.size() < 3 || own.size() < 3)
    return value; // there are no heads
  const Size &wanted = queries.end()[-3], &heads = own.end()[-3];
  std::optional<Size> times = wanted.dividedBy(heads);
  std::optional<int64_t> count = times ? times->constant() : std::nullopt;
  if (!count)
    return fail(
        formatted("`enable_gqa` of {} heads of queries and {} of keys or values: it must be "
                  "known how many share one, such as 4 of `4*K` and `K`",
                  wanted, heads),
        "ValueError");
  return *count == 1 ? Result(value)
                     : call(tracer, "repeat_interleave",
                            {value, PyValue::integer(*count), PyValue::integer(-3)});
}

/// scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False, scale=None, dropout_p=0,
/// seed=0, enable_gqa=False)
static Result attention(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(
      tracer, name, args,
      {"q", "k", "v", "attn_mask", "is_causal", "scale", "dropout_p", "seed", "enable_gqa"}, 3);
  if (!r)
    return r.error();
  const Operand &q = r.tensor();
  Result isCausal = eval::truth(r.get(4)), isGrouped = eval::truth(r.get(8));
  if (!isCausal || !isGrouped)
    return !isCausal ? std::move(isCausal) : std::move(isGrouped);
  bool repeats = isGrouped->asBool();
  Result k = repeats ? headOfEach(tracer, name, q, r[1]) : Result(r[1]);
  Result v = repeats ? headOfEach(tracer, name, q, r[2]) : Result(r[2]);
  if (!k || !v)
    return !k ? std::move(k) : std::move(v);
  if (auto error = checkHeads(tracer, name, q, *k, *v))
    return error;
  Result scale = r.get(5);
  if (r.get(5).isNone())
    scale = tracer.map(MapKind::rsqrt, name, {tracer.sizeValue(q.type().sizes().back())});
  Result keys = call(tracer, "transpose", {*k, PyValue::integer(-2), PyValue::integer(-1)});
  Result scores = keys ? tracer.matmul(r[0], *keys) : std::move(keys);
  if (scores)
    scores = tracer.map(MapKind::mul, name, {*scores, *scale});
  if (scores)
    scores = masked(tracer, name, std::move(scores), r.get(3), isCausal->asBool());
  if (scores)
    scores = call(tracer, "softmax", {*scores, PyValue::integer(-1)});
  bool drops = r.has(6) && r[6].toDouble() != 0.0;
  if (scores && drops)
    scores = call(tracer, "dropout", {*scores, r[6], r.has(7) ? r[7] : PyValue::integer(0)});
  return scores ? tracer.matmul(*scores, *v) : std::move(scores);
}

/// What has been taken is -inf, and so may be what is left of a row (masked scores): places are
/// looked for in a copy where -inf is the least finite number, and that is the next one.
static Result orderOfWhatIsLeft(Tracer &tracer, StringRef name, const PyValue &x,
                                mlir::Type element) {
  bool isDouble = element.isF64();
  // Narrower floats are compared as f32, where they have no least number of their own.
  Result wide = isDouble ? Result(x) : tracer.cast(x, tracer.builder.getF32Type());
  if (!wide)
    return wide;
  double least = isDouble ? std::numeric_limits<double>::lowest()
                          : double(std::numeric_limits<float>::lowest());
  double next = isDouble ? std::nextafter(least, 0.0) : double(std::nextafter(float(least), 0.0F));
  Result isLeast = tracer.map(MapKind::eq, name, {*wide, PyValue::number(least)});
  Result finite = tracer.map(MapKind::maximum, name, {*wide, PyValue::number(least)});
  if (!isLeast || !finite)
    return !isLeast ? std::move(isLeast) : std::move(finite);
  return tracer.map(MapKind::select, name, {*isLeast, PyValue::number(next), *finite});
}

/// Elements that are looked for one by one, at most: of more a kernel of the library makes fewer
/// turns through the rows.
static constexpr int64_t kFewTaken = 8;
/// As many as one program of it sorts.
static constexpr int64_t kMostTaken = 1024;

static PyValue inPairs(const PyValue &values, const PyValue &places) {
  return eval::namedPair("topk", {"values", "indices"}, values, places);
}

/// topk(x, k, axis=-1): the greatest in order, and where they are; of equal ones the first.
static Result topk(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "k", "axis", "largest", "sorted"}, 2);
  if (!r)
    return r.error();
  Result largest = r.get(3).isNone() ? Result(PyValue::boolean(true)) : eval::truth(r[3]);
  if (!largest)
    return largest;
  if (!largest->asBool()) { // of what is negative the greatest
    Result less = tracer.map(MapKind::neg, name, {r[0]});
    Result both = less ? topk(tracer, name, {{*less, r[1], r.get(2)}, {}}) : std::move(less);
    if (!both)
      return both;
    Result values = tracer.map(MapKind::neg, name, {both->elements()[0]});
    return values ? Result(inPairs(*values, both->elements()[1])) : std::move(values);
  }
  const Operand &x = r.tensor();
  std::optional<int64_t> count = r[1].toInt64();
  PyValue axis = r.get(2).isNone() ? PyValue::integer(-1) : r[2];
  std::optional<int64_t> given = axis.toInt64();
  int64_t rank = x.type().sizes().size();
  if (!count || *count < 1 || *count > kMostTaken || !given || *given < -rank || *given >= rank)
    return fail(formatted("`topk` needs a number of elements, 1 to {}, and an axis, got {} and {}",
                          kMostTaken, eval::repr(r[1]), eval::repr(axis)));
  if (!mlir::isa<mlir::FloatType>(x.type().getElement()))
    return eval::unsupported("`topk` of integers is not supported; convert with `.to(tl.float32)`");
  int64_t dim = *given < 0 ? *given + rank : *given;
  llvm::SmallVector<int64_t> dims(rank - dim, -1);
  dims[0] = 0;
  Size size = x.type().sizes()[dim];
  std::string tooFew = formatted("`topk` of {} elements cannot give {}", size, *count);
  if (size.constant().value_or(*count) < *count)
    return fail(tooFew);
  tracer.require(size - Size(*count), tooFew);
  if (*count > kFewTaken && !x.type().getElement().isF64()) {
    Result at = callLibrary(tracer, "places_of_greatest",
                            {r[0], PyValue::integer(*count), PyValue::integer(dim)});
    Result best =
        at ? call(tracer, "take_along_dim", {r[0], *at, PyValue::integer(dim)}) : Result(PyValue());
    if (!at || !best)
      return !at ? std::move(at) : std::move(best);
    return inPairs(*best, *at);
  }
  Result place = tracer.rearrange({tracer.indices(size), "", false}, dims);
  std::vector<PyValue> values, indices;
  Result left = r[0], order = orderOfWhatIsLeft(tracer, name, r[0], x.type().getElement());
  CallArgs along{{}, {{"axis", axis}, {"keepdim", PyValue::boolean(true)}}};
  for (int64_t i = 0; i < *count && left && order && place; ++i) {
    along.positional = {*left};
    Result best = tracer.callNamed("max", along).value();
    along.positional = {*order};
    Result at = best ? tracer.callNamed("argmax", along).value() : Result(PyValue());
    if (!best || !at)
      return !best ? std::move(best) : std::move(at);
    values.push_back(*best);
    indices.push_back(*at);
    Result isTaken = tracer.map(MapKind::eq, name, {*place, *at});
    if (!isTaken)
      return isTaken;
    left = tracer.map(MapKind::select, name, {*isTaken, PyValue::number(-INFINITY), *left});
    order = tracer.map(MapKind::select, name, {*isTaken, PyValue::number(-INFINITY), *order});
  }
  Result best = call(tracer, "cat", {PyValue::list(std::move(values)), axis});
  Result at = call(tracer, "cat", {PyValue::list(std::move(indices)), axis});
  if (!best || !at)
    return !best ? std::move(best) : std::move(at);
  return inPairs(*best, *at);
}

/// ordered_places(x, axis, descending): where the elements of rows are, in order; stable. What 32
/// bits do not hold is ordered by its lower half, and then by the upper one.
static Result orderedPlaces(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis", "descending"}, 3);
  if (!r)
    return r.error();
  auto whole = mlir::dyn_cast<mlir::IntegerType>(r.tensor().type().getElement());
  auto by = [&](const PyValue &keys) {
    return callLibrary(tracer, "ordered_places", {keys, r[1], r[2]});
  };
  bool isWide = whole && (whole.getWidth() == 64 || (whole.getWidth() == 32 && whole.isUnsigned()));
  if (!isWide)
    return by(r[0]);
  // A half of each number, as 32 bits with a sign, in the same order.
  auto half = [&](MapKind kind, int64_t number, bool isUnsigned) -> Result {
    Result wide = tracer.cast(r[0], tracer.builder.getI64Type());
    Result part =
        wide ? tracer.map(kind, name, {*wide, PyValue::integer(number)}) : std::move(wide);
    if (part && isUnsigned)
      part = tracer.map(MapKind::sub, name, {*part, PyValue::integer(int64_t(1) << 31)});
    return part ? tracer.cast(*part, tracer.builder.getI32Type()) : std::move(part);
  };
  Result low = half(MapKind::bit_and, 0xffffffff, true);
  Result high = half(MapKind::shift_right, 32, whole.isUnsigned() && whole.getWidth() == 64);
  if (!low || !high)
    return low ? std::move(high) : std::move(low);
  Result first = by(*low);
  Result upper = first ? call(tracer, "take_along_dim", {*high, *first, r[1]}) : Result(PyValue());
  Result second = first && upper ? by(*upper) : Result(PyValue());
  if (!first || !upper || !second)
    return !first ? std::move(first) : !upper ? std::move(upper) : std::move(second);
  return call(tracer, "take_along_dim", {*first, *second, r[1]});
}

/// searched_places(ordered, values, right): how many of ordered rows are less than each value.
static Result searchedPlaces(Tracer &tracer, StringRef name, const CallArgs &args) {
  return callLibrary(tracer, name, args.positional);
}

namespace {
/// What formulas call while they are traced.
struct TracedCalls : eval::FormulaCalls {
  explicit TracedCalls(Tracer &tracer) : tracer(tracer) {}
  Result call(StringRef name, const CallArgs &args) override {
    return tracer.callNamed(name, args).value();
  }
  bool computes() const override { return false; }
  bool differentiates() const override { return tracer.evaluator.gradients > 0; }
  Tracer &tracer;
};
} // namespace

static Result formula(Tracer &tracer, StringRef name, const CallArgs &args) {
  TracedCalls calls(tracer);
  return eval::callFormula(calls, name, args);
}

/// scatter(x, axis, index, src) of more than a few: which element of the index is the last that
/// names a place is found by a kernel; it, or what was there, is taken from then on. (As a formula
/// each place would be compared with each element.)
static Result scatter(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis", "index", "src"}, 4);
  if (!r)
    return r.error();
  Operand index, source;
  if (auto error = tracer.operand(name, r[2], index))
    return error;
  if (auto error = tracer.operand(name, r[3], source))
    return error;
  Sizes own = r.tensor().type().sizes(), sent = index.type().sizes();
  int64_t axis;
  if (auto error = readAxis(name, r[1], own.size(), axis))
    return error;
  bool isWhole =
      own.size() == sent.size() && !source.isWeak && source.type().sizes().size() == sent.size();
  for (size_t i = 0; isWhole && i < own.size(); ++i)
    isWhole = int64_t(i) == axis || own[i] == sent[i];
  if (!isWhole || sent[axis].constant().value_or(kFewTaken + 1) <= kFewTaken)
    return formula(tracer, name, args);
  PyValue along = PyValue::integer(axis);
  Result values = r[3]; // as many as the index has, the first
  Sizes given = source.type().sizes();
  for (size_t i = 0; i < sent.size(); ++i)
    tracer.require(given[i] - sent[i],
                   formatted("`scatter` sends `{}` elements of `{}`", sent[i], given[i]));
  if (given != sent)
    values = tracer.window(source, Sizes(sent.size(), Size(0)), sent, /*inside=*/true,
                           /*loose=*/false);
  if (!values)
    return values;
  Result last = callLibrary(tracer, "last_sent", {r[2], tracer.sizeValue(own[axis]), along});
  Result isSent = last ? tracer.map(MapKind::ge, name, {*last, PyValue::integer(0)}) : PyValue();
  Result at = last ? tracer.map(MapKind::maximum, name, {*last, PyValue::integer(0)}) : PyValue();
  Result value = at ? call(tracer, "gather", {*values, along, *at}) : PyValue();
  Result typed = value ? tracer.cast(*value, r.tensor().type().getElement()) : PyValue();
  for (Result *made : {&last, &isSent, &at, &value, &typed})
    if (!*made)
      return std::move(*made);
  return tracer.map(MapKind::select, name, {*isSent, *typed, r[0]});
}

ArrayRef<TracedEntry> tensors::tracedComposed() {
  static const std::vector<TracedEntry> all = [] {
    std::vector<TracedEntry> table = {
        {"rope", rope},
        {"any", decided<ReduceKind::max>},
        {"all", decided<ReduceKind::min>},
        {"scaled_dot_product_attention", attention},
        {"topk", topk},
        {"ordered_places", orderedPlaces},
        {"searched_places", searchedPlaces},
        {"scatter", scatter},
        {"conv2d", conv2d},
        {"isfinite", isFinite},
        {"sinh", hyperbolic<true>},
        {"cosh", hyperbolic<false>},
    };
    for (StringRef name : eval::formulaNames())
      table.push_back({name, formula});
    return table;
  }();
  return all;
}
