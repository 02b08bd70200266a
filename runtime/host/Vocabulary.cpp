//===- Vocabulary.cpp - what other libraries call the same things ---------===//
//
// Host functions are written by people who know NumPy and PyTorch: arguments are understood by the
// names that either gives them, shapes also as numbers one after the other, and what neural
// networks are compared with has a name.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/Synonyms.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>
#include <numbers>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Our name of a keyword; the one given if it has no other.
static StringRef ownName(StringRef keyword, bool isView) {
  if (isView) // whose parameter is `dim`
    return keyword == "axis" ? "dim" : keyword;
  return eval::usualKeyword(keyword);
}

/// What makes tensors of a shape.
static constexpr StringRef makers[] = {"empty", "zeros", "ones", "rand", "randn", "special"};

/// `randn(4, 8)` is `randn((4, 8))`.
static void gatherShape(StringRef function, CallArgs &args) {
  auto isNumber = [](const PyValue &value) { return value.is(Kind::Int); };
  if (!llvm::is_contained(makers, function))
    return;
  auto end = std::find_if_not(args.positional.begin(), args.positional.end(), isNumber);
  if (end - args.positional.begin() < 2)
    return;
  PyValue shape = PyValue::tuple(std::vector<PyValue>(args.positional.begin(), end));
  args.positional.erase(args.positional.begin() + 1, end);
  args.positional.front() = std::move(shape);
}

std::unique_ptr<eval::EvalError> host::useOwnNames(const FunctionEntry &entry, CallArgs &args) {
  auto isEntry = [&](const FunctionEntry &other) { return other.name == entry.name; };
  bool isView = llvm::any_of(viewFunctions(), isEntry) || llvm::any_of(factFunctions(), isEntry);
  for (auto &[keyword, value] : args.keywords) {
    StringRef own = ownName(keyword, isView);
    if (own == keyword)
      continue;
    if (args.keyword(own))
      return fail(formatted("`{}` is another name of `{}`: give one of them", keyword, own));
    keyword = own.str();
  }
  gatherShape(entry.name, args);
  return eval::useUsualForms(entry.name, args);
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

static double gelu(double x) { return x * 0.5 * (1 + std::erf(x * std::numbers::sqrt2 / 2)); }
static double geluByTanh(double x) {
  double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x * 0.5 * (1 + std::tanh(inner));
}

static Result geluOf(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("gelu", args, {"x", "approximate"}, 1);
  if (!r)
    return r.error();
  std::string form = r.has(1) ? eval::str(r[1]) : "none";
  if (form != "none" && form != "tanh")
    return fail(formatted("`approximate` is \"none\" or \"tanh\", got {}", eval::repr(r[1])),
                "ValueError");
  Array x;
  if (auto error = toArray(r[0], x))
    return error;
  x = x.toFloat();
  for (double &value : x.reals)
    value = form == "tanh" ? geluByTanh(value) : gelu(value);
  return Tensor::value(context, x);
}

static Result silu(const ContextPtr &context, const CallArgs &args) {
  ArrayReader r("silu", args, {"x"}, 1);
  if (!r)
    return r.error();
  Array &x = r.array();
  x = x.toFloat();
  for (double &value : x.reals)
    value /= 1 + std::exp(-value);
  return Tensor::value(context, x);
}

namespace {
/// What is normalised: runs over the last dimensions, and what scales and moves them.
struct Normalization {
  Array x, weight, bias;
  bool hasWeight = false, hasBias = false;
  double eps = 0;
  int64_t length = 1;
};
} // namespace

static std::unique_ptr<eval::EvalError> readScale(const PyValue &value, StringRef name,
                                                  const Normalization &n, Array &out, bool &has) {
  has = !value.isNone();
  if (!has)
    return nullptr;
  if (auto error = toArray(value, out))
    return error;
  out = out.toFloat();
  if (out.size() == n.length)
    return nullptr;
  return fail(formatted("`{}` has shape {}, and {} elements are normalised together", name,
                        toString(out.shape), n.length),
              "ValueError");
}

/// Arguments as PyTorch takes them; `normalized_shape` may be left out, for the last dimension.
static std::unique_ptr<eval::EvalError> readNormalization(StringRef name, const CallArgs &given,
                                                          double eps, Normalization &n) {
  CallArgs args = given;
  auto isShape = [](const PyValue &v) { return v.is(Kind::Int) || v.isSequence(); };
  if (args.positional.size() > 1 && !isShape(args.positional[1]))
    args.positional.insert(args.positional.begin() + 1, PyValue());
  ArgReader r(name, args, {"x", "normalized_shape", "weight", "bias", "eps"}, 1);
  if (!r)
    return r.error();
  if (auto error = toArray(r[0], n.x))
    return error;
  n.x = n.x.toFloat();
  Shape last;
  if (r.get(1).isNone())
    last.assign(n.x.shape.end() - std::min<size_t>(1, n.x.shape.size()), n.x.shape.end());
  else if (auto error = toShape(r[1], last))
    return error;
  if (last.size() > n.x.shape.size() || !std::equal(last.rbegin(), last.rend(), n.x.shape.rbegin()))
    return fail(formatted("`normalized_shape` {} is not the end of shape {}", toString(last),
                          toString(n.x.shape)),
                "ValueError");
  n.length = numElements(last);
  n.eps = r.has(4) ? r[4].toDouble().value_or(eps) : eps;
  if (auto error = readScale(r.get(2), "weight", n, n.weight, n.hasWeight))
    return error;
  return readScale(r.get(3), "bias", n, n.bias, n.hasBias);
}

template <bool subtractsMean>
static Result normalize(const ContextPtr &context, const CallArgs &args) {
  if (args.keyword("axis")) { // not at the end of the shape
    StringRef name = subtractsMean ? "layer_norm" : "rms_norm";
    auto *composed = llvm::find_if(composedFunctions(),
                                   [&](const FunctionEntry &entry) { return entry.name == name; });
    return composed->fn(context, args);
  }
  Normalization n;
  constexpr double eps = subtractsMean ? 1e-5 : 1e-6;
  if (auto error = readNormalization(context->function, args, eps, n))
    return error;
  for (int64_t first = 0; n.length && first < n.x.size(); first += n.length) {
    llvm::MutableArrayRef<double> run(n.x.reals.data() + first, n.length);
    double center = 0, squares = 0;
    for (double value : run)
      center += subtractsMean ? value : 0;
    center /= double(n.length);
    for (double value : run)
      squares += (value - center) * (value - center);
    double scale = 1 / std::sqrt(squares / double(n.length) + n.eps);
    for (int64_t i = 0; i < n.length; ++i)
      run[i] = (run[i] - center) * scale * (n.hasWeight ? n.weight.reals[i] : 1) +
               (n.hasBias ? n.bias.reals[i] : 0);
  }
  return Tensor::value(context, n.x);
}

static Result allclose(const ContextPtr &context, const CallArgs &args) {
  PairReader r("allclose", args, {"x", "y", "rtol", "atol", "equal_nan"});
  if (!r)
    return r.error();
  Array &x = r.array(), &y = r.other();
  if (x.shape != y.shape)
    return fail(formatted("`allclose` needs two tensors of one shape, got {} and {}",
                          toString(x.shape), toString(y.shape)),
                "ValueError");
  Result equalNan = eval::truth(r.get(4));
  if (!equalNan)
    return equalNan;
  double relative = r.get(2).toDouble().value_or(1e-5),
         absolute = r.get(3).toDouble().value_or(1e-8);
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    double a = x.real(i), b = y.real(i);
    bool bothNan = std::isnan(a) && std::isnan(b) && equalNan->asBool();
    bool isClose = a == b || std::fabs(a - b) <= absolute + relative * std::fabs(b);
    if (!bothNan && (!isClose || (std::isinf(b) && a != b)))
      return PyValue::boolean(false);
  }
  return PyValue::boolean(true);
}

namespace tile::host {

ArrayRef<FunctionEntry> referenceFunctions() {
  static const FunctionEntry table[] = {
      {"gelu", geluOf, true},
      {"silu", silu, true},
      {"layer_norm", normalize<true>, true},
      {"rms_norm", normalize<false>, true},
      {"allclose", allclose, true},
  };
  return table;
}

} // namespace tile::host
