//===- Reductions.cpp - reductions and scans over axes --------------------===//
//
// A reduction moves the reduced axes to the end, so that each result comes from
// one contiguous run, and hands the run to a plain function.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// What is reduced
//===----------------------------------------------------------------------===//

namespace {
/// The operand with the reduced axes last.
struct Reduction {
  Array runs;  ///< `outer` runs of `length` elements
  Shape shape; ///< of the result
  int64_t outer = 0, length = 1;

  /// Zeros for the result: of empty runs there may be any number.
  std::unique_ptr<eval::EvalError> makeResult(const ContextPtr &context, Array::Kind kind,
                                              Array &out) {
    if (auto error = Array::make(context->memory, kind, shape, out))
      return error;
    outer = out.size();
    return nullptr;
  }
};
} // namespace

/// The axes to reduce: None (all), an int, or a tuple.
static std::unique_ptr<eval::EvalError> readAxes(const PyValue &value, size_t rank, Shape &axes) {
  if (value.isNone() || (value.isSequence() && value.elements().empty())) { // as PyTorch has it
    for (size_t d = 0; d < rank; ++d)
      axes.push_back(d);
    return nullptr;
  }
  ArrayRef<PyValue> given = value.isSequence() ? value.elements() : ArrayRef<PyValue>(value);
  for (const PyValue &axis : given) {
    std::optional<int64_t> a = axis.toInt64();
    if (!a)
      return fail(formatted("an axis is an integer, got {}", eval::repr(axis)));
    if (auto error = normalizeAxis(*a, rank))
      return error;
    axes.push_back(*a);
  }
  return nullptr;
}

static std::unique_ptr<eval::EvalError> prepare(const PyValue &x, const PyValue &axis, bool keepdim,
                                                Reduction &out) {
  Array array;
  if (auto error = toArray(x, array))
    return error;
  Shape axes, order;
  if (auto error = readAxes(axis, array.shape.size(), axes))
    return error;
  for (int64_t d = 0; d < int64_t(array.shape.size()); ++d) {
    bool reduced = llvm::is_contained(axes, d);
    if (!reduced)
      order.push_back(d);
    if (!reduced || keepdim)
      out.shape.push_back(reduced ? 1 : array.shape[d]);
  }
  for (int64_t d = 0; d < int64_t(array.shape.size()); ++d)
    if (llvm::is_contained(axes, d)) {
      order.push_back(d);
      out.length *= array.shape[d];
    }
  out.runs = array.permuted(order);
  return nullptr;
}

/// Reads (x, axis, keepdim).
static std::unique_ptr<eval::EvalError> readArguments(StringRef name, const CallArgs &args,
                                                      Reduction &out) {
  ArgReader r(name, args, {"x", "axis", "keepdim"}, 1);
  if (!r)
    return r.error();
  Result keepdim = eval::truth(r.get(2));
  if (!keepdim)
    return keepdim.takeError();
  return prepare(r[0], r.get(1), keepdim->asBool(), out);
}

//===----------------------------------------------------------------------===//
// Reductions to floats
//===----------------------------------------------------------------------===//

using Run = ArrayRef<double>;

template <double (*fn)(Run)>
static Result realReduction(const ContextPtr &context, const CallArgs &args) {
  Reduction reduction;
  if (auto error = readArguments(context->function, args, reduction))
    return error;
  Array runs = reduction.runs.toFloat(), out;
  if (auto error = reduction.makeResult(context, Array::Kind::Float, out))
    return error;
  for (int64_t i = 0; i < reduction.outer; ++i)
    out.reals[i] = fn(Run(runs.reals.data() + i * reduction.length, reduction.length));
  return Tensor::value(context, out);
}

/// Reductions that keep integers exact.
template <double (*fn)(Run), int64_t (*integerFn)(ArrayRef<int64_t>)>
static Result keepingReduction(const ContextPtr &context, const CallArgs &args) {
  Reduction reduction;
  if (auto error = readArguments(context->function, args, reduction))
    return error;
  if (reduction.runs.isFloat())
    return realReduction<fn>(context, args);
  Array out;
  if (auto error = reduction.makeResult(context, Array::Kind::Int, out))
    return error;
  for (int64_t i = 0; i < reduction.outer; ++i)
    out.ints[i] =
        integerFn({reduction.runs.ints.data() + i * reduction.length, size_t(reduction.length)});
  return Tensor::value(context, out);
}

/// Compensated, so that the reference is better than what it checks.
static double sum(Run values) {
  double total = 0, lost = 0;
  for (double x : values) {
    double next = total + x;
    if (std::isfinite(next))
      lost += std::fabs(total) >= std::fabs(x) ? (total - next) + x : (x - next) + total;
    total = next;
  }
  return std::isfinite(total) ? total + lost : total;
}
static double product(Run values) {
  double total = 1;
  for (double x : values)
    total *= x;
  return total;
}
static double mean(Run values) { return sum(values) / double(values.size()); }
static double largest(Run values) {
  double best = -HUGE_VAL;
  for (double x : values)
    best = std::isnan(x) || std::isnan(best) ? std::nan("") : std::max(best, x);
  return best;
}
static double smallest(Run values) {
  double best = HUGE_VAL;
  for (double x : values)
    best = std::isnan(x) || std::isnan(best) ? std::nan("") : std::min(best, x);
  return best;
}
static double logSumExp(Run values) {
  double top = largest(values);
  if (!std::isfinite(top))
    return top;
  double total = 0;
  for (double x : values)
    total += std::exp(x - top);
  return top + std::log(total);
}

static int64_t sumInt(ArrayRef<int64_t> values) {
  uint64_t total = 0;
  for (int64_t x : values)
    total += uint64_t(x);
  return int64_t(total);
}
static int64_t productInt(ArrayRef<int64_t> values) {
  uint64_t total = 1;
  for (int64_t x : values)
    total *= uint64_t(x);
  return int64_t(total);
}
static int64_t largestInt(ArrayRef<int64_t> values) {
  return values.empty() ? INT64_MIN : *llvm::max_element(values);
}
static int64_t smallestInt(ArrayRef<int64_t> values) {
  return values.empty() ? INT64_MAX : *llvm::min_element(values);
}

template <bool squareRoot> static Result variance(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("var", args, {"x", "axis", "keepdim", "correction"}, 1);
  if (!r)
    return r.error();
  Result keepdim = eval::truth(r.get(2));
  if (!keepdim)
    return keepdim;
  Reduction reduction;
  if (auto error = prepare(r[0], r.get(1), keepdim->asBool(), reduction))
    return error;
  double correction = r.has(3) ? r[3].toDouble().value_or(0) : 0;
  Array runs = reduction.runs.toFloat(), out;
  if (auto error = reduction.makeResult(context, Array::Kind::Float, out))
    return error;
  for (int64_t i = 0; i < reduction.outer; ++i) {
    Run run(runs.reals.data() + i * reduction.length, reduction.length);
    double center = mean(run), total = 0;
    for (double x : run)
      total += (x - center) * (x - center);
    double value = total / (double(reduction.length) - correction);
    out.reals[i] = squareRoot ? std::sqrt(value) : value;
  }
  return Tensor::value(context, out);
}

//===----------------------------------------------------------------------===//
// Reductions to positions and booleans
//===----------------------------------------------------------------------===//

/// The first position of the extremum; a NaN counts as the extremum.
template <bool wantMax> static Result argExtremum(const ContextPtr &context, const CallArgs &args) {
  Reduction reduction;
  if (auto error = readArguments(context->function, args, reduction))
    return error;
  Array out;
  if (auto error = reduction.makeResult(context, Array::Kind::Int, out))
    return error;
  if (reduction.length == 0)
    return fail(formatted("`{}` of 0 elements has no first one", context->function), "ValueError");
  for (int64_t i = 0; i < reduction.outer; ++i) {
    int64_t first = i * reduction.length, best = 0;
    auto better = [&](int64_t candidate) {
      const Array &x = reduction.runs;
      if (!x.isFloat())
        return wantMax ? x.ints[first + candidate] > x.ints[first + best]
                       : x.ints[first + candidate] < x.ints[first + best];
      double a = x.reals[first + candidate], b = x.reals[first + best];
      return !std::isnan(b) && (std::isnan(a) || (wantMax ? a > b : a < b));
    };
    for (int64_t candidate = 1; candidate < reduction.length; ++candidate)
      if (better(candidate))
        best = candidate;
    out.ints[i] = best;
  }
  return Tensor::value(context, out);
}

template <bool any> static Result quantifier(const ContextPtr &context, const CallArgs &args) {
  Reduction reduction;
  if (auto error = readArguments(any ? "any" : "all", args, reduction))
    return error;
  Array out;
  if (auto error = reduction.makeResult(context, Array::Kind::Bool, out))
    return error;
  for (int64_t i = 0; i < reduction.outer; ++i) {
    out.ints[i] = !any;
    for (int64_t j = 0; j < reduction.length; ++j)
      if (reduction.runs.truth(i * reduction.length + j) == any)
        out.ints[i] = any;
  }
  return Tensor::value(context, out);
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

/// Reads (x, axis); the axis has no default here.
static std::unique_ptr<eval::EvalError> readAlong(StringRef name, const CallArgs &args, Array &x,
                                                  int64_t &axis, int64_t fallback) {
  ArgReader r(name, args, {"x", "axis"}, 1);
  if (!r)
    return r.error();
  if (auto error = toArray(r[0], x))
    return error;
  axis = r.has(1) ? r[1].toInt64().value_or(INT64_MAX) : fallback;
  return normalizeAxis(axis, x.shape.size());
}

template <bool logarithm> static Result softmax(const ContextPtr &context, const CallArgs &args) {
  Array x;
  int64_t axis;
  if (auto error = readAlong(context->function, args, x, axis, -1))
    return error;
  x = x.toFloat();
  AxisView view(x.shape, axis);
  std::vector<double> run(view.outer ? view.length : 0);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      for (int64_t i = 0; i < view.length; ++i)
        run[i] = x.reals[view.at(o, i, n)];
      double top = largest(run), total = 0;
      for (double value : run)
        total += std::exp(value - top);
      for (int64_t i = 0; i < view.length; ++i)
        x.reals[view.at(o, i, n)] =
            logarithm ? run[i] - top - std::log(total) : std::exp(run[i] - top) / total;
    }
  return Tensor::value(context, x);
}

static double addReal(double a, double b) { return a + b; }
static double mulReal(double a, double b) { return a * b; }
static double maxReal(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
static double minReal(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}
static double logAddReal(double a, double b) {
  double top = maxReal(a, b);
  return std::isfinite(top) ? top + std::log1p(std::exp(-std::fabs(a - b))) : top;
}
static int64_t addInt(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t mulInt(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
static int64_t maxInt(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t minInt(int64_t a, int64_t b) { return std::min(a, b); }

template <double (*fn)(double, double), int64_t (*integerFn)(int64_t, int64_t)>
static Result scan(const ContextPtr &context, const CallArgs &args) {
  Array x;
  int64_t axis;
  if (auto error = readAlong(context->function, args, x, axis, 0))
    return error;
  constexpr bool keepsIntegers = integerFn != static_cast<int64_t (*)(int64_t, int64_t)>(nullptr);
  if (!keepsIntegers)
    x = x.toFloat();
  if (x.kind == Array::Kind::Bool)
    x.kind = Array::Kind::Int;
  AxisView view(x.shape, axis);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 1; i < view.length; ++i)
      for (int64_t n = 0; n < view.inner; ++n) {
        int64_t at = view.at(o, i, n), before = view.at(o, i - 1, n);
        if (x.isFloat())
          x.reals[at] = fn(x.reals[before], x.reals[at]);
        else if constexpr (keepsIntegers)
          x.ints[at] = integerFn(x.ints[before], x.ints[at]);
      }
  return Tensor::value(context, x);
}

namespace tile::host {

ArrayRef<FunctionEntry> reductionFunctions() {
  static const FunctionEntry table[] = {
      {"sum", keepingReduction<sum, sumInt>, true},
      {"prod", keepingReduction<product, productInt>, true},
      {"max", keepingReduction<largest, largestInt>, true},
      {"min", keepingReduction<smallest, smallestInt>, true},
      {"mean", realReduction<mean>, true},
      {"logsumexp", realReduction<logSumExp>, true},
      {"var", variance<false>, true},
      {"std", variance<true>, true},
      {"argmax", argExtremum<true>, true},
      {"argmin", argExtremum<false>, true},
      {"any", quantifier<true>, true},
      {"all", quantifier<false>, true},
      {"softmax", softmax<false>, true},
      {"log_softmax", softmax<true>, true},
      {"cumsum", scan<addReal, addInt>, true},
      {"cumprod", scan<mulReal, mulInt>, true},
      {"cummax", scan<maxReal, maxInt>, true},
      {"cummin", scan<minReal, minInt>, true},
      {"logcumsumexp", scan<logAddReal, nullptr>, true},
  };
  return table;
}

} // namespace tile::host
