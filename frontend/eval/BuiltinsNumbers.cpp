//===- BuiltinsNumbers.cpp - conversions and arithmetic functions ---------===//
#include "frontend/Literals.h"
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/Characters.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::eval;
using llvm::APInt;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ast::BinaryOp;
using ast::CompareOp;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

// `base` 0 reads the base off the prefix, as in a program.
static Result parseInteger(StringRef text, unsigned base) {
  std::string digits = text.trim().str();
  llvm::erase(digits, '_');
  StringRef body = digits;
  bool negative = body.consume_front("-");
  if (!negative)
    body.consume_front("+");
  auto prefix = [&](unsigned prefixBase, StringRef name) {
    if ((base == 0 || base == prefixBase) && body.consume_front_insensitive(name))
      base = prefixBase;
  };
  prefix(16, "0x");
  prefix(2, "0b");
  prefix(8, "0o");
  if (base == 0)
    base = 10;
  APInt value;
  if (body.empty() || body.size() > 1000 || body.getAsInteger(base, value))
    return fail(formatted("cannot read \"{}\" as an integer", text), "ValueError");
  value = value.zext(value.getBitWidth() + 2);
  return PyValue::integer(negative ? -value : value);
}

/// What an extension stands for, anything else as it is.
static Result numberOf(const PyValue &value) {
  return value.is(Kind::Extension) ? value.asExtension()->number() : Result(value);
}

/// The number of the first argument, if it is one; 0 if there is none.
static Result firstOf(ArgReader &r) {
  if (!r)
    return r.error();
  return r.has(0) ? numberOf(r[0]) : Result(PyValue::integer(0));
}

static Result toInteger(Evaluator &, const CallArgs &args) {
  ArgReader r("int", args, {"x", "base"}, 0);
  Result given = firstOf(r);
  if (!given)
    return given;
  PyValue value = given.take();
  if (value.is(Kind::Int) || value.is(Kind::Bool))
    return unary(ast::UnaryOp::Pos, value);
  if (value.is(Kind::Float))
    return integerFromDouble(std::trunc(value.asFloat()));
  if (value.isStr()) {
    std::optional<int64_t> base = r.has(1) ? r[1].toInt64() : 10;
    if (!base || *base < 0 || *base == 1 || *base > 36)
      return fail("the base of `int` must be 0 or 2 to 36", "ValueError");
    return parseInteger(value.asStr(), *base);
  }
  return fail(formatted("`int` needs a number or a string, got `{}`", typeName(value)));
}

static Result toFloat(Evaluator &, const CallArgs &args) {
  ArgReader r("float", args, {"x"}, 0);
  Result given = firstOf(r);
  if (!given)
    return given;
  PyValue value = given.take();
  if (std::optional<double> number = value.toDouble())
    return PyValue::number(*number);
  if (typeName(value) == "size") // known when the function runs
    return binary(ast::BinaryOp::Mul, value, PyValue::number(1));
  if (!value.isStr())
    return fail(formatted("`float` needs a number or a string, got `{}`", typeName(value)));
  std::string text = StringRef(value.asStr()).trim().lower();
  StringRef body = text;
  bool negative = body.consume_front("-");
  if (!negative)
    body.consume_front("+");
  std::optional<double> number = frontend::decodeDecimal(body);
  if (body == "inf" || body == "infinity")
    number = HUGE_VAL;
  else if (body == "nan")
    number = std::nan("");
  if (!number)
    return fail(formatted("cannot read \"{}\" as a float", value.asStr()), "ValueError");
  return PyValue::number(negative ? -*number : *number);
}

static Result toBool(Evaluator &, const CallArgs &args) {
  ArgReader r("bool", args, {"x"}, 0);
  if (!r)
    return r.error();
  return truth(r.get(0));
}

static Result toStr(Evaluator &, const CallArgs &args) {
  ArgReader r("str", args, {"object"}, 0);
  if (!r)
    return r.error();
  return PyValue::string(r.has(0) ? str(r[0]) : "");
}

static Result toRepr(Evaluator &, const CallArgs &args) {
  ArgReader r("repr", args, {"object"}, 1);
  if (!r)
    return r.error();
  return PyValue::string(repr(r[0]));
}

template <PyValue (*make)(std::vector<PyValue>)>
static Result toContainer(Evaluator &, const CallArgs &args) {
  ArgReader r("tuple/list/set", args, {"iterable"}, 0);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (r.has(0))
    if (Result ok = iterate(r[0], elements); !ok)
      return ok;
  return make(std::move(elements));
}

static Result toDict(Evaluator &, const CallArgs &args) {
  PyValue out = PyValue::dict({});
  if (args.positional.size() > 1)
    return fail("`dict` takes at most one positional argument");
  if (!args.positional.empty() && args.positional[0].is(Kind::Dict)) {
    out = PyValue::dict(args.positional[0].asDict().items);
  } else if (!args.positional.empty()) {
    std::vector<PyValue> pairs;
    if (Result ok = iterate(args.positional[0], pairs); !ok)
      return ok;
    for (const PyValue &pair : pairs) {
      if (pair.elements().size() != 2)
        return fail(formatted("`dict` needs pairs, got {}", repr(pair)), "ValueError");
      out.asDict().set(pair.elements()[0], pair.elements()[1]);
    }
  }
  for (auto &[name, value] : args.keywords)
    out.asDict().set(PyValue::string(name), value);
  return out;
}

template <char code> static Result inRadix(Evaluator &, const CallArgs &args) {
  ArgReader r("hex/bin/oct", args, {"number"}, 1);
  if (!r)
    return r.error();
  return format(r[0], std::string("#") + code);
}

static Result ordinal(Evaluator &, const CallArgs &args) {
  ArgReader r("ord", args, {"c"}, 1);
  if (!r)
    return r.error();
  if (!r[0].isStr() || countCharacters(r[0].asStr()) != 1)
    return fail(formatted("`ord` needs a string of one character, got {}", repr(r[0])));
  return PyValue::integer(frontend::codePointOf(r[0].asStr()));
}

static Result character(Evaluator &, const CallArgs &args) {
  ArgReader r("chr", args, {"i"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> code = r[0].toInt64();
  if (!code || *code < 0 || *code > 0x10FFFF)
    return fail(formatted("`chr` takes 0 to 0x10FFFF, got {}", repr(r[0])), "ValueError");
  std::string text;
  frontend::appendUtf8(uint32_t(*code), text);
  return PyValue::string(text);
}

static Result formatBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("format", args, {"value", "spec"}, 1);
  if (!r)
    return r.error();
  return format(r[0], r.has(1) && r[1].isStr() ? StringRef(r[1].asStr()) : "");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Result absolute(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("abs", args, {"x"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::Extension))
    return callMethod(evaluator, r[0], "abs", {});
  if (r[0].is(Kind::Float))
    return PyValue::number(std::fabs(r[0].asFloat()));
  Result negative = compare(CompareOp::Lt, r[0], PyValue::integer(0));
  if (!negative)
    return fail(formatted("`abs` needs a number, got `{}`", typeName(r[0])));
  return unary(negative->asBool() ? ast::UnaryOp::Neg : ast::UnaryOp::Pos, r[0]);
}

template <bool wantMax> static Result extremum(Evaluator &evaluator, const CallArgs &args) {
  const char *name = wantMax ? "max" : "min";
  std::vector<PyValue> elements = args.positional;
  if (elements.size() == 1)
    if (Result ok = iterate(args.positional[0], elements); !ok)
      return ok;
  const PyValue *key = args.keyword("key");
  if (elements.empty()) {
    if (const PyValue *fallback = args.keyword("default"))
      return *fallback;
    return fail(formatted("`{}` of nothing", name), "ValueError");
  }
  auto keyOf = [&](const PyValue &value) {
    return key && !key->isNone() ? evaluator.call(*key, CallArgs{{value}, {}}) : Result(value);
  };
  PyValue best = elements[0];
  Result bestKey = keyOf(best);
  for (size_t i = 1; i < elements.size() && bestKey; ++i) {
    Result nextKey = keyOf(elements[i]);
    if (!nextKey)
      return nextKey;
    Result better = compare(wantMax ? CompareOp::Gt : CompareOp::Lt, *nextKey, *bestKey);
    if (!better)
      return better;
    Result yes = truth(*better);
    if (!yes)
      return yes;
    if (yes->asBool()) {
      best = elements[i];
      bestKey = std::move(nextKey);
    }
  }
  return bestKey ? Result(best) : std::move(bestKey);
}

static Result sum(Evaluator &, const CallArgs &args) {
  ArgReader r("sum", args, {"iterable", "start"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  Result total = r.has(1) ? r[1] : PyValue::integer(0);
  for (size_t i = 0; i < elements.size() && total; ++i)
    total = binary(BinaryOp::Add, *total, elements[i]);
  return total;
}

/// An integer to a multiple of a power of ten.
static Result roundToTens(const PyValue &number, int64_t zeros) {
  std::unique_ptr<EvalError> error;
  auto of = [&](BinaryOp op, const PyValue &lhs, const PyValue &rhs) {
    Result result = binary(op, lhs, rhs);
    if (result)
      return *result;
    error = result.takeError();
    return PyValue::integer(1);
  };
  PyValue tens = of(BinaryOp::Pow, PyValue::integer(10), PyValue::integer(zeros));
  PyValue over = of(BinaryOp::Mod, number, tens), below = of(BinaryOp::Sub, number, over);
  PyValue isOdd = of(BinaryOp::Mod, of(BinaryOp::FloorDiv, below, tens), PyValue::integer(2));
  // More than half of the next one, or half of it behind an odd one.
  PyValue least = of(BinaryOp::Sub, tens, isOdd);
  PyValue above = of(BinaryOp::Sub, of(BinaryOp::Add, over, over), least);
  if (error)
    return error;
  Result isUp = compare(CompareOp::Gt, above, PyValue::integer(0));
  if (!isUp)
    return isUp;
  return isUp->asBool() ? of(BinaryOp::Add, below, tens) : below;
}

/// Halves go to the even neighbour; with digits, the decimal text decides.
static Result roundBuiltin(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("round", args, {"number", "ndigits"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::Extension)) {
    bool isWhole = r.get(1).isNone();
    return callMethod(evaluator, r[0], "round",
                      {isWhole ? std::vector<PyValue>() : std::vector{r[1]}, {}});
  }
  if (!r[0].isNumber())
    return fail(formatted("`round` needs a number, got `{}`", typeName(r[0])));
  if (!r[0].is(Kind::Float)) {
    std::optional<int64_t> digits = r.get(1).isNone() ? 0 : r[1].toInt64();
    constexpr int64_t kMostZeros = 1000;
    if (!digits || *digits < -kMostZeros)
      return fail(formatted("`round` takes digits from -{}", kMostZeros), "ValueError");
    Result number = unary(ast::UnaryOp::Pos, r[0]);
    if (number && *digits < 0)
      return roundToTens(*number, -*digits);
    return number;
  }
  double value = r[0].asFloat();
  if (r.get(1).isNone())
    return integerFromDouble(std::nearbyint(value));
  std::optional<int64_t> digits = r[1].toInt64();
  if (!digits || *digits < -300 || *digits > 300)
    return fail("`round` takes -300 to 300 digits", "ValueError");
  if (!std::isfinite(value))
    return r[0];
  if (*digits < 0) {
    double scale = std::pow(10.0, -*digits);
    return PyValue::number(std::nearbyint(value / scale) * scale);
  }
  Result text = format(r[0], formatted(".{}f", *digits));
  if (!text)
    return text;
  double rounded = 0;
  StringRef(text->asStr()).getAsDouble(rounded);
  return PyValue::number(rounded);
}

static Result divmodBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("divmod", args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  Result quotient = binary(BinaryOp::FloorDiv, r[0], r[1]);
  if (!quotient)
    return quotient;
  Result remainder = binary(BinaryOp::Mod, r[0], r[1]);
  if (!remainder)
    return remainder;
  return PyValue::tuple({*quotient, *remainder});
}

static Result powBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("pow", args, {"base", "exp"}, 2);
  if (!r)
    return r.error();
  return binary(BinaryOp::Pow, r[0], r[1]);
}

llvm::ArrayRef<BuiltinEntry> eval::numberBuiltins() {
  static const BuiltinEntry table[] = {
      {"int", toInteger},
      {"float", toFloat},
      {"bool", toBool},
      {"str", toStr},
      {"repr", toRepr},
      {"tuple", toContainer<PyValue::tuple>},
      {"tl.tuple", toContainer<PyValue::tuple>},
      {"list", toContainer<PyValue::list>},
      {"set", toContainer<PyValue::set>},
      {"frozenset", toContainer<PyValue::set>},
      {"dict", toDict},
      {"hex", inRadix<'x'>},
      {"bin", inRadix<'b'>},
      {"oct", inRadix<'o'>},
      {"ord", ordinal},
      {"chr", character},
      {"format", formatBuiltin},
      {"min", extremum<false>},
      {"max", extremum<true>},
      {"abs", absolute},
      {"sum", sum},
      {"round", roundBuiltin},
      {"divmod", divmodBuiltin},
      {"pow", powBuiltin},
  };
  return table;
}
