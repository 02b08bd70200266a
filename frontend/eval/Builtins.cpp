//===- Builtins.cpp - Python's and Triton's compile-time functions --------===//
//
// One table: canonical name -> implementation. A name without a dot is visible
// everywhere; the others are reached through their modules.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile;
using namespace tile::eval;
using llvm::APInt;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ast::BinaryOp;
using ast::CompareOp;

using BuiltinFn = Result (*)(Evaluator &, const CallArgs &args);
struct BuiltinEntry {
  StringRef name;
  BuiltinFn fn;
};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Result parseInteger(StringRef text, unsigned base) {
  std::string digits = text.trim().str();
  llvm::erase(digits, '_');
  StringRef body = digits;
  bool negative = body.consume_front("-");
  if (!negative)
    body.consume_front("+");
  if (base == 16)
    body.consume_front("0x") || body.consume_front("0X");
  APInt value;
  if (body.empty() || body.size() > 1000 || body.getAsInteger(base, value))
    return fail("cannot read \"" + text.str() + "\" as an integer", "ValueError");
  value = value.zext(value.getBitWidth() + 2);
  return PyValue::integer(negative ? -value : value);
}

static Result toInteger(Evaluator &, const CallArgs &args) {
  ArgReader r("int", args, {"x", "base"}, 0);
  if (!r)
    return r.error();
  PyValue value = r.has(0) ? r[0] : PyValue::integer(0);
  if (value.is(Kind::Int) || value.is(Kind::Bool))
    return unary(ast::UnaryOp::Pos, value);
  if (value.is(Kind::Float))
    return integerFromDouble(std::trunc(value.asFloat()));
  if (value.isStr())
    return parseInteger(value.asStr(), r.has(1) ? r[1].toInt64().value_or(10) : 10);
  return fail("`int` needs a number or a string, got `" + typeName(value) + "`");
}

static Result toFloat(Evaluator &, const CallArgs &args) {
  ArgReader r("float", args, {"x"}, 0);
  if (!r)
    return r.error();
  PyValue value = r.has(0) ? r[0] : PyValue::integer(0);
  if (std::optional<double> number = value.toDouble())
    return PyValue::number(*number);
  if (!value.isStr())
    return fail("`float` needs a number or a string, got `" + typeName(value) + "`");
  std::string text = StringRef(value.asStr()).trim().lower();
  StringRef body = text;
  bool negative = body.consume_front("-");
  if (!negative)
    body.consume_front("+");
  double number;
  if (body == "inf" || body == "infinity")
    number = HUGE_VAL;
  else if (body == "nan")
    number = std::nan("");
  else if (body.getAsDouble(number))
    return fail("cannot read \"" + value.asStr() + "\" as a float", "ValueError");
  return PyValue::number(negative ? -number : number);
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
        return fail("`dict` needs pairs, got " + repr(pair), "ValueError");
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
  if (!r[0].isStr() || r[0].asStr().size() != 1)
    return fail("`ord` needs a string of one ASCII character");
  return PyValue::integer(static_cast<unsigned char>(r[0].asStr()[0]));
}

static Result character(Evaluator &, const CallArgs &args) {
  ArgReader r("chr", args, {"i"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> code = r[0].toInt64();
  if (!code || *code < 0 || *code > 127)
    return fail("`chr` takes 0 to 127", "ValueError");
  return PyValue::string(std::string(1, char(*code)));
}

static Result formatBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("format", args, {"value", "spec"}, 1);
  if (!r)
    return r.error();
  return format(r[0], r.has(1) && r[1].isStr() ? StringRef(r[1].asStr()) : "");
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static Result len(Evaluator &, const CallArgs &args) {
  ArgReader r("len", args, {"object"}, 1);
  if (!r)
    return r.error();
  return length(r[0]);
}

static Result makeRange(Evaluator &, const CallArgs &args) {
  if (args.positional.empty() || args.positional.size() > 3 || !args.keywords.empty())
    return fail("`range` takes one to three integers");
  int64_t bounds[3] = {0, 0, 1};
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    std::optional<int64_t> bound = value.toInt64();
    if (!bound)
      return fail("`range` needs integers of at most 64 bits, got " + repr(value));
    bounds[i] = *bound;
  }
  if (args.positional.size() == 1)
    std::swap(bounds[0], bounds[1]);
  if (bounds[2] == 0)
    return fail("the step of a `range` cannot be zero", "ValueError");
  return PyValue::range({bounds[0], bounds[1], bounds[2]});
}

static Result makeSlice(Evaluator &, const CallArgs &args) {
  size_t n = args.positional.size();
  if (n == 0 || n > 3)
    return fail("`slice` takes one to three arguments");
  const auto &p = args.positional;
  return n == 1 ? PyValue::slice({}, p[0], {})
                : PyValue::slice(p[0], p[1], n == 3 ? p[2] : PyValue());
}

static Result enumerate(Evaluator &, const CallArgs &args) {
  ArgReader r("enumerate", args, {"iterable", "start"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements, out;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  int64_t start = r.has(1) ? r[1].toInt64().value_or(0) : 0;
  for (PyValue &element : elements)
    out.push_back(PyValue::tuple({PyValue::integer(start++), std::move(element)}));
  return PyValue::list(std::move(out));
}

/// The elements of every positional argument.
static Result iterateAll(const CallArgs &args, std::vector<std::vector<PyValue>> &columns) {
  for (const PyValue &value : args.positional)
    if (Result ok = iterate(value, columns.emplace_back()); !ok)
      return ok;
  return PyValue();
}

static Result zip(Evaluator &, const CallArgs &args) {
  std::vector<std::vector<PyValue>> columns;
  if (Result ok = iterateAll(args, columns); !ok)
    return ok;
  size_t size = columns.empty() ? 0 : SIZE_MAX;
  for (auto &column : columns)
    size = std::min(size, column.size());
  std::vector<PyValue> out;
  for (size_t i = 0; i < size; ++i) {
    std::vector<PyValue> row;
    for (auto &column : columns)
      row.push_back(column[i]);
    out.push_back(PyValue::tuple(std::move(row)));
  }
  return PyValue::list(std::move(out));
}

static Result cartesianProduct(Evaluator &, const CallArgs &args) {
  std::vector<std::vector<PyValue>> columns;
  if (Result ok = iterateAll(args, columns); !ok)
    return ok;
  std::vector<std::vector<PyValue>> rows = {{}};
  for (auto &column : columns) {
    std::vector<std::vector<PyValue>> longer;
    for (auto &row : rows)
      for (auto &value : column) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    if (longer.size() > (1 << 20))
      return fail("the product has more than a million elements", "MemoryError");
    rows = std::move(longer);
  }
  std::vector<PyValue> out;
  for (auto &row : rows)
    out.push_back(PyValue::tuple(std::move(row)));
  return PyValue::list(std::move(out));
}

static Result reversed(Evaluator &, const CallArgs &args) {
  ArgReader r("reversed", args, {"sequence"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  std::reverse(elements.begin(), elements.end());
  return PyValue::list(std::move(elements));
}

/// Sorts without std::sort, whose behaviour is undefined when comparison fails.
static Result mergeSort(std::vector<std::pair<PyValue, PyValue>> &items, bool descending) {
  for (size_t width = 1; width < items.size(); width *= 2) {
    std::vector<std::pair<PyValue, PyValue>> merged;
    merged.reserve(items.size());
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size());
      size_t end = std::min(begin + 2 * width, items.size());
      size_t i = begin, j = middle;
      while (i < middle || j < end) {
        bool takeRight = i == middle;
        if (i < middle && j < end) {
          Result less = descending ? compare(CompareOp::Lt, items[i].first, items[j].first)
                                   : compare(CompareOp::Lt, items[j].first, items[i].first);
          if (!less)
            return less;
          takeRight = less->is(Kind::Bool) && less->asBool();
        }
        merged.push_back(items[takeRight ? j++ : i++]);
      }
    }
    items = std::move(merged);
  }
  return PyValue();
}

static Result sorted(Evaluator &evaluator, const CallArgs &args) {
  CallArgs rest = args;
  ArgReader r("sorted", rest, {"iterable", "key", "reverse"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  Result descending = truth(r.get(2));
  if (!descending)
    return descending;
  std::vector<std::pair<PyValue, PyValue>> items;
  for (PyValue &element : elements) {
    Result key =
        r.get(1).isNone() ? Result(element) : evaluator.call(r[1], CallArgs{{element}, {}});
    if (!key)
      return key;
    items.emplace_back(*key, std::move(element));
  }
  if (Result ok = mergeSort(items, descending->asBool()); !ok)
    return ok;
  std::vector<PyValue> out;
  for (auto &[key, value] : items)
    out.push_back(std::move(value));
  return PyValue::list(std::move(out));
}

template <bool keepTrue> static Result quantifier(Evaluator &, const CallArgs &args) {
  ArgReader r(keepTrue ? "any" : "all", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  for (const PyValue &element : elements) {
    Result yes = truth(element);
    if (!yes || yes->asBool() == keepTrue)
      return yes;
  }
  return PyValue::boolean(!keepTrue);
}

static Result mapBuiltin(Evaluator &evaluator, const CallArgs &args) {
  if (args.positional.size() < 2)
    return fail("`map` needs a function and an iterable");
  CallArgs iterables{{args.positional.begin() + 1, args.positional.end()}, {}};
  Result rows = zip(evaluator, iterables);
  if (!rows)
    return rows;
  std::vector<PyValue> out;
  for (const PyValue &row : rows->elements()) {
    Result value = evaluator.call(args.positional[0], CallArgs{row.elements().vec(), {}});
    if (!value)
      return value;
    out.push_back(value.take());
  }
  return PyValue::list(std::move(out));
}

static Result filterBuiltin(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("filter", args, {"function", "iterable"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> elements, out;
  if (Result ok = iterate(r[1], elements); !ok)
    return ok;
  for (PyValue &element : elements) {
    Result value = r[0].isNone() ? Result(element) : evaluator.call(r[0], CallArgs{{element}, {}});
    if (!value)
      return value;
    Result yes = truth(*value);
    if (!yes)
      return yes;
    if (yes->asBool())
      out.push_back(std::move(element));
  }
  return PyValue::list(std::move(out));
}

static Result reduceBuiltin(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("reduce", args, {"function", "sequence", "initial"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[1], elements); !ok)
    return ok;
  if (r.has(2))
    elements.insert(elements.begin(), r[2]);
  if (elements.empty())
    return fail("`reduce` of an empty sequence needs an initial value");
  Result total = elements[0];
  for (size_t i = 1; i < elements.size() && total; ++i)
    total = evaluator.call(r[0], CallArgs{{*total, elements[i]}, {}});
  return total;
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
    return fail("`abs` needs a number, got `" + typeName(r[0]) + "`");
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
    return fail(std::string("`") + name + "` of nothing", "ValueError");
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

/// Halves go to the even neighbour; with digits, the decimal text decides.
static Result roundBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("round", args, {"number", "ndigits"}, 1);
  if (!r)
    return r.error();
  if (!r[0].isNumber())
    return fail("`round` needs a number, got `" + typeName(r[0]) + "`");
  if (!r[0].is(Kind::Float))
    return unary(ast::UnaryOp::Pos, r[0]);
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
  Result text = format(r[0], "." + std::to_string(*digits) + "f");
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

static Result cdiv(Evaluator &, const CallArgs &args) {
  ArgReader r("cdiv", args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  if (!r[0].toInt64() || !r[1].toInt64())
    return fail("`cdiv` needs two integers, got `" + typeName(r[0]) + "` and `" + typeName(r[1]) +
                "`");
  Result raised = binary(BinaryOp::Add, r[0], r[1]);
  raised = binary(BinaryOp::Sub, *raised, PyValue::integer(1));
  return binary(BinaryOp::FloorDiv, *raised, r[1]);
}

static Result nextPowerOf2(Evaluator &, const CallArgs &args) {
  ArgReader r("next_power_of_2", args, {"n"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> n = r[0].toInt64();
  if (!n)
    return fail("`next_power_of_2` needs an integer, got `" + typeName(r[0]) + "`");
  if (*n <= 1)
    return PyValue::integer(*n == 1 ? 1 : 0);
  return PyValue::integerUnsigned(llvm::PowerOf2Ceil(*n));
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static bool hasType(const PyValue &value, StringRef type) {
  if (type == "object" || typeName(value) == type)
    return true;
  if (type == "int")
    return value.is(Kind::Bool);
  if (type == "tuple" || type == "tl.tuple")
    return value.is(Kind::Tuple);
  if (type == "tl.dtype" || type == "tl.core.dtype")
    return value.is(Kind::DType);
  if (type == "tl.pointer_type")
    return value.is(Kind::DType) && value.asDType().isPointer();
  if (type == "tl.block_type")
    return value.is(Kind::DType) && value.asDType().isBlock();
  // Constants are never wrapped here; code that asks means "known at compile time".
  if (type == "tl.constexpr")
    return !value.is(Kind::Extension);
  if (type == "tl.tensor")
    return value.is(Kind::Extension) && typeName(value) == "tensor";
  return false;
}

static Result isInstance(Evaluator &, const CallArgs &args) {
  ArgReader r("isinstance", args, {"object", "type"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> types = {r[1]};
  if (r[1].is(Kind::Tuple))
    types = r[1].asTuple().elements;
  for (const PyValue &type : types) {
    bool matches = false;
    if (type.is(Kind::Symbol))
      matches = hasType(r[0], type.asSymbol());
    else if (type.is(Kind::Class))
      matches = r[0].is(Kind::Tuple) && r[0].asTuple().type &&
                r[0].asTuple().type->name == type.asClass()->name;
    else
      return fail("`isinstance` needs a type on the right, got `" + typeName(type) + "`");
    if (matches)
      return PyValue::boolean(true);
  }
  return PyValue::boolean(false);
}

static Result typeOf(Evaluator &, const CallArgs &args) {
  ArgReader r("type", args, {"object"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::Tuple) && r[0].asTuple().type)
    return PyValue::classType(r[0].asTuple().type);
  if (r[0].is(Kind::DType))
    return PyValue::symbol("tl.dtype");
  return PyValue::symbol(typeName(r[0]));
}

static Result getAttr(Evaluator &, const CallArgs &args) {
  ArgReader r("getattr", args, {"object", "name", "default"}, 2);
  if (!r)
    return r.error();
  if (!r[1].isStr())
    return fail("`getattr` needs the name as a string");
  Result found = attribute(r[0], r[1].asStr());
  return found || !r.has(2) ? std::move(found) : Result(r[2]);
}

static Result hasAttr(Evaluator &, const CallArgs &args) {
  ArgReader r("hasattr", args, {"object", "name"}, 2);
  if (!r)
    return r.error();
  if (!r[1].isStr())
    return fail("`hasattr` needs the name as a string");
  return PyValue::boolean(bool(attribute(r[0], r[1].asStr())));
}

static Result callableBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("callable", args, {"object"}, 1);
  if (!r)
    return r.error();
  return PyValue::boolean(r[0].is(Kind::Function) || r[0].is(Kind::Symbol) ||
                          r[0].is(Kind::Class) || r[0].is(Kind::Method));
}

static Result print(Evaluator &evaluator, const CallArgs &args) {
  const PyValue *separator = args.keyword("sep"), *end = args.keyword("end");
  std::string text;
  for (size_t i = 0; i < args.positional.size(); ++i)
    text += (i ? (separator ? str(*separator) : " ") : "") + str(args.positional[i]);
  text += end ? str(*end) : "\n";
  if (evaluator.hooks)
    evaluator.hooks->print(text);
  return PyValue();
}

//===----------------------------------------------------------------------===//
// Triton's types and configurations
//===----------------------------------------------------------------------===//

static Result constexprBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("constexpr", args, {"value"}, 1);
  if (!r)
    return r.error();
  return r[0];
}

static Result pointerType(Evaluator &, const CallArgs &args) {
  ArgReader r("pointer_type", args, {"element_ty", "address_space", "const"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::DType))
    return fail("`pointer_type` needs a dtype, got `" + typeName(r[0]) + "`");
  Result isConst = truth(r.get(2));
  if (!isConst)
    return isConst;
  return PyValue::dtype(DType::pointer(r[0].asDType(), isConst->asBool()));
}

static Result blockType(Evaluator &, const CallArgs &args) {
  ArgReader r("block_type", args, {"element_ty", "shape"}, 2);
  if (!r)
    return r.error();
  llvm::SmallVector<int64_t> shape;
  for (const PyValue &dim : r[1].elements())
    shape.push_back(dim.toInt64().value_or(-1));
  if (!r[0].is(Kind::DType) || !r[1].isSequence() || llvm::is_contained(shape, -1))
    return fail("`block_type` needs a dtype and a list of integers");
  return PyValue::dtype(DType::block(r[0].asDType(), shape));
}

static Result dtypeBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("dtype", args, {"name"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::DType))
    return r[0];
  std::optional<DType> type = r[0].isStr() ? DType::parse(r[0].asStr()) : std::nullopt;
  if (!type)
    return fail("`dtype` needs a type's name such as \"fp32\", got " + repr(r[0]), "ValueError");
  return PyValue::dtype(*type);
}

static Result tlTuple(Evaluator &evaluator, const CallArgs &args) {
  return toContainer<PyValue::tuple>(evaluator, args);
}

static Result config(Evaluator &, const CallArgs &args) {
  static const std::shared_ptr<const ClassObject> type = [] {
    auto object = std::make_shared<ClassObject>();
    object->name = "triton.Config";
    object->isNamedTuple = true;
    object->fields = {"kwargs",  "num_warps", "num_stages", "num_ctas",
                      "maxnreg", "pre_hook",  "ir_override"};
    return object;
  }();
  ArgReader r(
      "triton.Config", args,
      {"kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Dict))
    return fail("`triton.Config` needs a dict of constexprs first, got `" + typeName(r[0]) + "`");
  int64_t defaults[] = {4, 3, 1};
  std::vector<PyValue> elements = {r[0]};
  for (size_t i = 1; i < type->fields.size(); ++i)
    elements.push_back(r.has(i) ? r[i] : i <= 3 ? PyValue::integer(defaults[i - 1]) : PyValue());
  return PyValue::namedTuple(type, std::move(elements));
}

static Result jit(Evaluator &, const CallArgs &args) {
  ArgReader r("triton.jit", args, {"fn"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::Function))
    return fail("`triton.jit` needs a function, got `" + typeName(r[0]) + "`");
  auto function = std::make_shared<FunctionObject>(r[0].asFunction());
  function->isJit = true;
  return PyValue::function(std::move(function));
}

static Result namedTupleFactory(Evaluator &, const CallArgs &args) {
  ArgReader r("namedtuple", args, {"typename", "field_names", "defaults"}, 2);
  if (!r)
    return r.error();
  auto type = std::make_shared<ClassObject>();
  type->isNamedTuple = true;
  type->name = str(r[0]);
  if (r[1].isStr()) {
    std::string text = r[1].asStr();
    std::replace(text.begin(), text.end(), ',', ' ');
    llvm::SmallVector<StringRef> names;
    llvm::SplitString(text, names);
    for (StringRef name : names)
      type->fields.push_back(name.str());
  } else {
    for (const PyValue &name : r[1].elements())
      type->fields.push_back(str(name));
  }
  if (r.has(2))
    type->defaults = r[2].elements().vec();
  if (type->defaults.size() > type->fields.size())
    return fail("`namedtuple` has more defaults than fields");
  return PyValue::classType(std::move(type));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const BuiltinEntry builtins[] = {
    {"len", len},
    {"range", makeRange},
    {"slice", makeSlice},
    {"min", extremum<false>},
    {"max", extremum<true>},
    {"abs", absolute},
    {"int", toInteger},
    {"float", toFloat},
    {"bool", toBool},
    {"str", toStr},
    {"repr", toRepr},
    {"tuple", toContainer<PyValue::tuple>},
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
    {"enumerate", enumerate},
    {"zip", zip},
    {"reversed", reversed},
    {"sorted", sorted},
    {"any", quantifier<true>},
    {"all", quantifier<false>},
    {"map", mapBuiltin},
    {"filter", filterBuiltin},
    {"sum", sum},
    {"round", roundBuiltin},
    {"divmod", divmodBuiltin},
    {"pow", powBuiltin},
    {"isinstance", isInstance},
    {"type", typeOf},
    {"getattr", getAttr},
    {"hasattr", hasAttr},
    {"callable", callableBuiltin},
    {"print", print},
    {"triton.cdiv", cdiv},
    {"tl.cdiv", cdiv},
    {"triton.next_power_of_2", nextPowerOf2},
    {"tl.next_power_of_2", nextPowerOf2},
    {"triton.Config", config},
    {"triton.jit", jit},
    {"tl.constexpr", constexprBuiltin},
    {"tl.pointer_type", pointerType},
    {"tl.block_type", blockType},
    {"tl.dtype", dtypeBuiltin},
    {"tl.tuple", tlTuple},
    {"collections.namedtuple", namedTupleFactory},
    {"itertools.product", cartesianProduct},
    {"functools.reduce", reduceBuiltin},
};

// Name and the exception it is a kind of.
static constexpr std::pair<StringRef, StringRef> exceptions[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"ArithmeticError", "Exception"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"AssertionError", "Exception"},
    {"AttributeError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"MemoryError", "Exception"},
    {"NameError", "Exception"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"},
};

namespace tile::eval {

bool isExceptionType(StringRef name) {
  return llvm::any_of(exceptions, [&](auto &entry) { return entry.first == name; });
}

bool exceptionMatches(StringRef raised, StringRef caught) {
  while (!raised.empty()) {
    if (raised == caught)
      return true;
    auto it = llvm::find_if(exceptions, [&](auto &entry) { return entry.first == raised; });
    raised = it == std::end(exceptions) ? "" : it->second;
  }
  return false;
}

std::optional<Result> callBuiltin(Evaluator &evaluator, StringRef name, const CallArgs &args) {
  for (const BuiltinEntry &entry : builtins)
    if (entry.name == name)
      return entry.fn(evaluator, args);
  StringRef function = name;
  if (function.consume_front("math."))
    return callMath(function, args);
  if (isExceptionType(name)) {
    auto type = std::make_shared<ClassObject>();
    type->name = name.str();
    type->isNamedTuple = true;
    type->fields = {"args"};
    return PyValue::namedTuple(type, {PyValue::tuple(args.positional)});
  }
  return std::nullopt;
}

bool isEvaluableBuiltin(StringRef name) {
  if (llvm::any_of(builtins, [&](auto &entry) { return entry.name == name; }))
    return true;
  return name.consume_front("math.") ? llvm::is_contained(mathNames(), name)
                                     : isExceptionType(name);
}

std::optional<PyValue> findBuiltin(StringRef name) {
  if (name == "object")
    return PyValue::symbol("object");
  bool visible = llvm::any_of(
      builtins, [&](auto &entry) { return entry.name == name && !entry.name.contains('.'); });
  if (visible || isExceptionType(name))
    return PyValue::symbol(name.str());
  return std::nullopt;
}

std::vector<StringRef> builtinNames() {
  std::vector<StringRef> names;
  for (const BuiltinEntry &entry : builtins)
    if (!entry.name.contains('.'))
      names.push_back(entry.name);
  return names;
}

} // namespace tile::eval
