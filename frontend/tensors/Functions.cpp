//===- Functions.cpp - functions of `tile`, element by element ------------===//
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Synonyms.h"
#include "frontend/tensors/Masked.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

/// `tile.exp(x)`: the name is the operation's.
static Result unary(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x"}, 1);
  if (!r)
    return r.error();
  return tracer.map(*graph::symbolizeMapKind(name), name, {r[0]});
}

static Result binary(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  return tracer.map(*graph::symbolizeMapKind(name), name, {r[0], r[1]});
}

static Result matmul(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "y"}, 2);
  return r ? tracer.matmul(r[0], r[1]) : Result(r.error());
}

static Result power(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  return eval::binary(ast::BinaryOp::Pow, r[0], r[1]);
}

static Result where(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"condition", "x", "y"}, 3);
  if (!r)
    return r.error();
  auto *condition = r[0].dynExtension<TensorValue>();
  if (condition && !condition->type().getElement().isInteger(1)) {
    Result isTrue = tracer.map(MapKind::ne, name, {r[0], PyValue::integer(0)});
    return isTrue ? tracer.map(MapKind::select, name, {*isTrue, r[1], r[2]}) : std::move(isTrue);
  }
  return tracer.map(MapKind::select, name, {r[0], r[1], r[2]});
}

static Result clamp(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "lo", "hi"}, 1);
  if (!r)
    return r.error();
  Result value = r[0];
  if (!r.get(1).isNone())
    value = tracer.map(MapKind::maximum, name, {*value, r[1]});
  if (value && !r.get(2).isNone())
    value = tracer.map(MapKind::minimum, name, {*value, r[2]});
  return value;
}

/// gelu(x, approximate="none"), as PyTorch has it.
static Result gelu(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "approximate"}, 1);
  if (!r)
    return r.error();
  Result byTanh = eval::geluByTanh(r);
  if (!byTanh)
    return byTanh;
  return tracer.map(byTanh->asBool() ? MapKind::gelu_tanh : MapKind::gelu, name, {r[0]});
}

static Result to(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "dtype"}, 2);
  if (!r)
    return r.error();
  if (!r[1].is(PyValue::Kind::DType))
    return fail(formatted("`to` needs a type, such as `tl.float16`, got {}", eval::repr(r[1])));
  mlir::Type element = elementType(tracer.builder.getContext(), r[1].asDType());
  if (!element)
    return eval::unsupported(formatted("tensors cannot be converted to {}", r[1].asDType()));
  if (element.isInteger(1))
    return tracer.map(MapKind::ne, name, {r[0], PyValue::integer(0)});
  return tracer.cast(r[0], element);
}

ArrayRef<TracedEntry> tensors::tracedElementwise() {
  static const TracedEntry table[] = {
      {"abs", unary},         {"neg", unary},    {"exp", unary},      {"exp2", unary},
      {"expm1", unary},       {"log", unary},    {"log2", unary},     {"log10", unary},
      {"log1p", unary},       {"sqrt", unary},   {"rsqrt", unary},    {"sin", unary},
      {"cos", unary},         {"tan", unary},    {"tanh", unary},     {"sigmoid", unary},
      {"relu", unary},        {"silu", unary},   {"erf", unary},      {"erfc", unary},
      {"asin", unary},        {"acos", unary},   {"atan", unary},     {"floor", unary},
      {"ceil", unary},        {"round", unary},  {"trunc", unary},    {"sign", unary},
      {"isnan", unary},       {"isinf", unary},  {"square", unary},   {"reciprocal", unary},
      {"logical_not", unary}, {"gelu", gelu},    {"maximum", binary}, {"minimum", binary},
      {"lgamma", unary},      {"erfinv", unary}, {"atan2", binary},   {"matmul", matmul},
      {"pow", power},         {"where", where},  {"clamp", clamp},    {"to", to},
  };
  return table;
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

static const TracedEntry *find(StringRef given) {
  StringRef name = eval::usualName(given);
  for (ArrayRef<TracedEntry> table : tracedFunctions())
    for (const TracedEntry &entry : table)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

bool Tracer::hasNamed(StringRef name) { return find(name); }

std::vector<StringRef> Tracer::names() {
  std::vector<StringRef> out;
  for (ArrayRef<TracedEntry> table : tracedFunctions())
    for (const TracedEntry &entry : table)
      out.push_back(entry.name);
  return out;
}

/// What is added up or normalised as another type is converted first.
static Result inType(Tracer &tracer, StringRef name, CallArgs &args) {
  static constexpr StringRef takes[] = {"sum",         "prod",   "mean",   "softmax",
                                        "log_softmax", "cumsum", "cumprod"};
  auto isType = [](const auto &keyword) { return keyword.first == "dtype"; };
  auto type = llvm::find_if(args.keywords, isType);
  if (type == args.keywords.end() || !llvm::is_contained(takes, name) || args.positional.empty())
    return PyValue();
  PyValue given = type->second;
  args.keywords.erase(type);
  args.keywordRanges.clear();
  if (given.isNone())
    return PyValue();
  Result x = tracer.callNamed("to", {{args.positional[0], given}, {}}).value();
  if (x)
    args.positional[0] = *x;
  return x;
}

std::optional<Result> Tracer::callNamed(StringRef name, const CallArgs &args) {
  const TracedEntry *entry = find(eval::usualFunction(name, args));
  if (!entry)
    return std::nullopt;
  auto again = [&](StringRef plain, const CallArgs &all) { return *callNamed(plain, all); };
  if (std::optional<Result> written = eval::callByInPlace(name, args, again))
    return written;
  CallArgs given = args;
  if (Result converted = inType(*this, entry->name, given); !converted)
    return converted;
  for (auto &[keyword, value] : given.keywords)
    keyword = eval::usualKeyword(keyword).str();
  if (std::optional<Result> ofParts = callMasked(*this, entry->name, given))
    return ofParts;
  if (auto error = eval::useUsualForms(entry->name, given))
    return Result(std::move(error));
  return entry->fn(*this, entry->name, given);
}

/// `maximum(x, y)` and `minimum`, of which equals share the gradient; those inside of others, such
/// as `clamp`, give it to the first.
static void noteShares(Tracer &tracer, StringRef function, const Result &made) {
  bool isExtremum = function == "maximum" || function == "minimum";
  auto *value = isExtremum && made ? made->dynExtension<TensorValue>() : nullptr;
  if (value && tracer.evaluator.gradients > 0)
    tracer.sharing.insert(value->value.getDefiningOp());
}

std::optional<Result> Tracer::callWritten(StringRef name, const CallArgs &args, bool isMethod) {
  std::optional<Result> made = callNamed(name, args);
  if (made)
    noteShares(*this, eval::usualFunction(name, args), *made);
  std::optional<eval::Extrema> asked =
      made && *made ? eval::Extrema::of(name, args, isMethod) : std::nullopt;
  auto *values = asked ? (*made)->dynExtension<TensorValue>() : nullptr;
  if (!values)
    return made;
  CallArgs again = args; // of the value that the operand has now
  if (auto *x =
          again.positional.empty() ? nullptr : again.positional[0].dynExtension<TensorValue>())
    again.positional[0] = wrap(x->value, x->isWeak, x->name);
  PyValue plain = wrap(values->value);
  asked->both = [this, plain, again, places = asked->placesName().str()]() -> Result {
    Result at = *callNamed(places, again);
    return at ? Result(PyValue::tuple({plain, *at})) : std::move(at);
  };
  values->extrema = std::make_shared<eval::Extrema>(std::move(*asked));
  return made;
}

/// Names of what draws random numbers elsewhere, from a state that a function has not.
static bool drawsNumbers(StringRef name) {
  static constexpr StringRef names[] = {"rand",       "randn",    "randint",       "rand_like",
                                        "randn_like", "randperm", "bernoulli",     "multinomial",
                                        "normal",     "uniform",  "gumbel_softmax"};
  return llvm::is_contained(names, name);
}

std::optional<Result> Tracer::callSymbol(eval::Evaluator &, StringRef name, const CallArgs &args) {
  StringRef function = name;
  if (function.consume_front("math."))
    return callNamed(function, args);
  bool isTl = function.consume_front("tl.");
  if (!isTl && !function.consume_front("tile."))
    return std::nullopt;
  if (std::optional<Result> result = callWritten(function, args))
    return result;
  std::string message = formatted("`{}` is not supported in a function of whole tensors", name);
  if (drawsNumbers(function))
    return Result(eval::unsupported(formatted(
        "{}; `tile.philox_rand(seed, offsets)` and `tile.dropout(x, p, seed)` draw numbers that "
        "are the same each time",
        message)));
  if (StringRef near = frontend::nearestName(function, names()); !near.empty())
    message += formatted("; did you mean `tile.{}`?", near);
  return Result(eval::unsupported(message));
}
