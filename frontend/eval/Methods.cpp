//===- Methods.cpp - methods of strings, containers and dtypes ------------===//
//
// One table a type: name -> implementation. A method is looked up by name both
// when the attribute is taken and when it is called.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

using MethodFn = Result (*)(Evaluator &, const PyValue &self, const CallArgs &args);
struct MethodEntry {
  StringRef name;
  MethodFn fn;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

ArgReader::ArgReader(StringRef function, const CallArgs &args, llvm::ArrayRef<StringRef> names,
                     size_t required)
    : values(names.size()) {
  if (args.positional.size() > names.size()) {
    failure = fail("`" + function.str() + "` takes at most " + std::to_string(names.size()) +
                   " arguments, got " + std::to_string(args.positional.size()));
    return;
  }
  for (size_t i = 0; i < args.positional.size(); ++i)
    values[i] = &args.positional[i];
  for (auto &[name, value] : args.keywords) {
    auto it = llvm::find(names, name);
    if (it == names.end()) {
      failure = fail("`" + function.str() + "` has no parameter `" + name + "`");
      return;
    }
    if (values[it - names.begin()]) {
      failure = fail("`" + function.str() + "` got `" + name + "` twice");
      return;
    }
    values[it - names.begin()] = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!values[i]) {
      failure = fail("`" + function.str() + "` needs its argument `" + names[i].str() + "`");
      return;
    }
}

static Result needString(StringRef method, const PyValue &value) {
  if (value.isStr())
    return value;
  return fail("`" + method.str() + "` needs a string, got `" + typeName(value) + "`");
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

/// A method without arguments that maps text to text.
template <std::string (*fn)(StringRef)>
static Result textMethod(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("str method", args, {}, 0);
  if (!r)
    return r.error();
  return PyValue::string(fn(self.asStr()));
}

/// A method that asks something of the text and one string argument.
template <bool (*fn)(StringRef, StringRef)>
static Result textPredicate(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("str method", args, {"prefix"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> choices = {r[0]};
  if (r[0].is(Kind::Tuple))
    choices = r[0].asTuple().elements;
  for (const PyValue &choice : choices) {
    Result text = needString("startswith/endswith", choice);
    if (!text)
      return text;
    if (fn(self.asStr(), text->asStr()))
      return PyValue::boolean(true);
  }
  return PyValue::boolean(false);
}

template <bool (*fn)(char)>
static Result everyChar(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean(!self.asStr().empty() && llvm::all_of(self.asStr(), fn));
}

static std::string capitalized(StringRef text) {
  std::string out = text.lower();
  if (!out.empty())
    out[0] = llvm::toUpper(out[0]);
  return out;
}

enum class Side { Both, Left, Right };
template <Side side> static Result strip(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("strip", args, {"chars"}, 0);
  if (!r)
    return r.error();
  std::string chars = " \t\n\r\f\v";
  if (!r.get(0).isNone()) {
    if (Result ok = needString("strip", r[0]); !ok)
      return ok;
    chars = r[0].asStr();
  }
  StringRef text = self.asStr();
  if (side != Side::Right)
    text = text.ltrim(chars);
  if (side != Side::Left)
    text = text.rtrim(chars);
  return PyValue::string(text.str());
}

static Result split(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("split", args, {"sep", "maxsplit"}, 0);
  if (!r)
    return r.error();
  int64_t limit = r.has(1) ? r[1].toInt64().value_or(-1) : -1;
  llvm::SmallVector<StringRef> pieces;
  StringRef text = self.asStr();
  if (r.get(0).isNone()) {
    llvm::SplitString(text, pieces, " \t\n\r\f\v");
  } else {
    if (Result ok = needString("split", r[0]); !ok)
      return ok;
    if (r[0].asStr().empty())
      return fail("`split` needs a separator that is not empty", "ValueError");
    text.split(pieces, r[0].asStr(), limit);
  }
  std::vector<PyValue> out;
  for (StringRef piece : pieces)
    out.push_back(PyValue::string(piece.str()));
  return PyValue::list(std::move(out));
}

static Result join(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("join", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  std::string out;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (Result ok = needString("join", elements[i]); !ok)
      return ok;
    out += (i ? self.asStr() : "") + elements[i].asStr();
  }
  return PyValue::string(out);
}

static Result replace(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("replace", args, {"old", "new"}, 2);
  if (!r)
    return r.error();
  for (size_t i : {0, 1})
    if (Result ok = needString("replace", r[i]); !ok)
      return ok;
  const std::string &from = r[0].asStr(), &to = r[1].asStr();
  std::string text = self.asStr();
  if (from.empty())
    return fail("`replace` needs text to look for", "ValueError");
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return PyValue::string(text);
}

template <bool mustFind>
static Result findText(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("find", args, {"sub"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("find", r[0]); !ok)
    return ok;
  size_t at = self.asStr().find(r[0].asStr());
  if (mustFind && at == std::string::npos)
    return fail("substring not found", "ValueError");
  return PyValue::integer(at == std::string::npos ? -1 : int64_t(at));
}

static Result countText(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("count", args, {"sub"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("count", r[0]); !ok)
    return ok;
  return PyValue::integer(StringRef(self.asStr()).count(r[0].asStr()));
}

template <char align>
static Result justify(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("justify", args, {"width", "fillchar"}, 1);
  if (!r)
    return r.error();
  std::optional<int64_t> width = r[0].toInt64();
  if (!width || *width > 10000)
    return fail("the width must be an integer of at most 10000");
  std::string fill = r.has(1) && r[1].isStr() ? r[1].asStr() : " ";
  return format(self, fill + align + std::to_string(std::max<int64_t>(*width, 0)));
}

static Result zeroFill(Evaluator &, const PyValue &self, const CallArgs &args) {
  std::optional<int64_t> width = args.positional.empty() ? 0 : args.positional[0].toInt64();
  std::string text = self.asStr();
  bool hasSign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (width && *width <= 10000 && int64_t(text.size()) < *width)
    text.insert(hasSign ? 1 : 0, *width - text.size(), '0');
  return PyValue::string(text);
}

/// "{} {name} {0:spec}".format(...)
static Result formatMethod(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  StringRef text = self.asStr();
  std::string out;
  size_t automatic = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c != '{') {
      out += c;
      continue;
    }
    size_t close = text.find('}', i);
    if (close == StringRef::npos)
      return fail("`format` string has a `{` without `}`", "ValueError");
    auto [field, spec] = text.slice(i + 1, close).split(':');
    const PyValue *value = nullptr;
    size_t index = automatic;
    if (field.empty() || !field.getAsInteger(10, index)) {
      automatic += field.empty();
      value = index < args.positional.size() ? &args.positional[index] : nullptr;
    } else {
      value = args.keyword(field);
    }
    if (!value)
      return fail("`format` has no argument for `{" + field.str() + "}`", "IndexError");
    Result piece = format(*value, spec);
    if (!piece)
      return piece;
    out += piece->asStr();
    i = close;
  }
  return PyValue::string(out);
}

static std::string lower(StringRef s) { return s.lower(); }
static std::string upper(StringRef s) { return s.upper(); }
static bool startsWith(StringRef s, StringRef p) { return s.starts_with(p); }
static bool endsWith(StringRef s, StringRef p) { return s.ends_with(p); }
static bool isDigit(char c) { return llvm::isDigit(c); }
static bool isAlpha(char c) { return llvm::isAlpha(c); }
static bool isAlnum(char c) { return llvm::isAlnum(c); }

template <bool prefix>
static Result removeAffix(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("removeprefix", args, {"affix"}, 1);
  if (!r)
    return r.error();
  if (Result ok = needString("removeprefix", r[0]); !ok)
    return ok;
  StringRef text = self.asStr();
  prefix ? text.consume_front(r[0].asStr()) : text.consume_back(r[0].asStr());
  return PyValue::string(text.str());
}

static const MethodEntry stringMethods[] = {
    {"lower", textMethod<lower>},
    {"upper", textMethod<upper>},
    {"capitalize", textMethod<capitalized>},
    {"startswith", textPredicate<startsWith>},
    {"endswith", textPredicate<endsWith>},
    {"isdigit", everyChar<isDigit>},
    {"isalpha", everyChar<isAlpha>},
    {"isalnum", everyChar<isAlnum>},
    {"strip", strip<Side::Both>},
    {"lstrip", strip<Side::Left>},
    {"rstrip", strip<Side::Right>},
    {"split", split},
    {"join", join},
    {"replace", replace},
    {"find", findText<false>},
    {"index", findText<true>},
    {"count", countText},
    {"ljust", justify<'<'>},
    {"rjust", justify<'>'>},
    {"center", justify<'^'>},
    {"zfill", zeroFill},
    {"format", formatMethod},
    {"removeprefix", removeAffix<true>},
    {"removesuffix", removeAffix<false>},
};

//===----------------------------------------------------------------------===//
// Tuples and lists
//===----------------------------------------------------------------------===//

static Result indexOfElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("index", args, {"value"}, 1);
  if (!r)
    return r.error();
  for (auto [i, element] : llvm::enumerate(self.elements()))
    if (equal(element, r[0]))
      return PyValue::integer(i);
  return fail(repr(r[0]) + " is not in the " + typeName(self), "ValueError");
}

static Result countElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("count", args, {"value"}, 1);
  if (!r)
    return r.error();
  return PyValue::integer(
      llvm::count_if(self.elements(), [&](const PyValue &e) { return equal(e, r[0]); }));
}

static Result append(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("append", args, {"object"}, 1);
  if (!r)
    return r.error();
  self.asList().elements.push_back(r[0]);
  return PyValue();
}

static Result extend(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("extend", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  llvm::append_range(self.asList().elements, elements);
  return PyValue();
}

static Result insert(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("insert", args, {"index", "object"}, 2);
  if (!r)
    return r.error();
  std::optional<int64_t> i = r[0].toInt64();
  if (!i)
    return fail("`insert` needs an integer index");
  std::vector<PyValue> &elements = self.asList().elements;
  int64_t size = elements.size();
  elements.insert(elements.begin() + std::clamp<int64_t>(*i < 0 ? *i + size : *i, 0, size), r[1]);
  return PyValue();
}

static Result popElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("pop", args, {"index"}, 0);
  if (!r)
    return r.error();
  std::vector<PyValue> &elements = self.asList().elements;
  Result popped = subscript(self, r.has(0) ? r[0] : PyValue::integer(-1));
  if (popped) {
    int64_t i = r.has(0) ? *r[0].toInt64() : -1;
    elements.erase(elements.begin() + (i < 0 ? i + int64_t(elements.size()) : i));
  }
  return popped;
}

static Result removeElement(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  Result at = indexOfElement(evaluator, self, args);
  if (!at)
    return at;
  self.asList().elements.erase(self.asList().elements.begin() + *at->toInt64());
  return PyValue();
}

static Result reverseList(Evaluator &, const PyValue &self, const CallArgs &) {
  std::reverse(self.asList().elements.begin(), self.asList().elements.end());
  return PyValue();
}

static Result sortList(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  CallArgs forSorted = args;
  forSorted.positional.insert(forSorted.positional.begin(), self);
  std::optional<Result> sorted = callBuiltin(evaluator, "sorted", forSorted);
  if (!*sorted)
    return std::move(*sorted);
  self.asList().elements = (*sorted)->asList().elements;
  return PyValue();
}

static Result copyList(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::list(self.asList().elements);
}

static Result clearList(Evaluator &, const PyValue &self, const CallArgs &) {
  self.asList().elements.clear();
  return PyValue();
}

static const MethodEntry tupleMethods[] = {{"index", indexOfElement}, {"count", countElement}};
static const MethodEntry listMethods[] = {
    {"index", indexOfElement}, {"count", countElement},  {"append", append},
    {"extend", extend},        {"insert", insert},       {"pop", popElement},
    {"remove", removeElement}, {"reverse", reverseList}, {"sort", sortList},
    {"copy", copyList},        {"clear", clearList},
};

static Result replaceFields(Evaluator &, const PyValue &self, const CallArgs &args) {
  const TupleObject &tuple = self.asTuple();
  std::vector<PyValue> elements = tuple.elements;
  for (auto &[name, value] : args.keywords) {
    auto it = llvm::find(tuple.type->fields, name);
    if (it == tuple.type->fields.end())
      return fail("`" + tuple.type->name + "` has no field `" + name + "`");
    elements[it - tuple.type->fields.begin()] = value;
  }
  return PyValue::namedTuple(tuple.type, std::move(elements));
}

static Result fieldsAsDict(Evaluator &, const PyValue &self, const CallArgs &) {
  const TupleObject &tuple = self.asTuple();
  std::vector<std::pair<PyValue, PyValue>> items;
  for (size_t i = 0; i < tuple.elements.size(); ++i)
    items.emplace_back(PyValue::string(tuple.type->fields[i]), tuple.elements[i]);
  return PyValue::dict(std::move(items));
}

static const MethodEntry namedTupleMethods[] = {{"index", indexOfElement},
                                                {"count", countElement},
                                                {"_replace", replaceFields},
                                                {"_asdict", fieldsAsDict}};

//===----------------------------------------------------------------------===//
// Dicts and sets
//===----------------------------------------------------------------------===//

static Result getItem(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("get", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  PyValue *found = self.asDict().find(r[0]);
  return found ? *found : r.get(1);
}

static Result setDefault(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("setdefault", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  if (PyValue *found = self.asDict().find(r[0]))
    return *found;
  self.asDict().set(r[0], r.get(1));
  return r.get(1);
}

static Result popItem(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("pop", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  auto &items = self.asDict().items;
  auto it = llvm::find_if(items, [&](auto &item) { return equal(item.first, r[0]); });
  if (it == items.end())
    return r.has(1) ? Result(r[1]) : fail("the dict has no key " + repr(r[0]), "KeyError");
  PyValue value = it->second;
  items.erase(it);
  return value;
}

enum class Part { Keys, Values, Items };
template <Part part> static Result listItems(Evaluator &, const PyValue &self, const CallArgs &) {
  std::vector<PyValue> out;
  for (auto &[key, value] : self.asDict().items)
    out.push_back(part == Part::Keys     ? key
                  : part == Part::Values ? value
                                         : PyValue::tuple({key, value}));
  return PyValue::list(std::move(out));
}

static Result updateDict(Evaluator &, const PyValue &self, const CallArgs &args) {
  for (const PyValue &other : args.positional) {
    if (!other.is(Kind::Dict))
      return fail("`update` needs a dict, got `" + typeName(other) + "`");
    for (auto &[key, value] : std::vector(other.asDict().items))
      self.asDict().set(key, value);
  }
  for (auto &[name, value] : args.keywords)
    self.asDict().set(PyValue::string(name), value);
  return PyValue();
}

static Result copyDict(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::dict(self.asDict().items);
}

static const MethodEntry dictMethods[] = {
    {"get", getItem},
    {"setdefault", setDefault},
    {"pop", popItem},
    {"keys", listItems<Part::Keys>},
    {"values", listItems<Part::Values>},
    {"items", listItems<Part::Items>},
    {"update", updateDict},
    {"copy", copyDict},
};

static Result addElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("add", args, {"element"}, 1);
  if (!r)
    return r.error();
  self.asSet().insert(r[0]);
  return PyValue();
}

template <tile::ast::BinaryOp op>
static Result setOperation(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("set method", args, {"other"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  return binary(op, self, PyValue::set(std::move(elements)));
}

static const MethodEntry setMethods[] = {
    {"add", addElement},
    {"union", setOperation<tile::ast::BinaryOp::Or>},
    {"intersection", setOperation<tile::ast::BinaryOp::And>},
    {"difference", setOperation<tile::ast::BinaryOp::Sub>},
};

//===----------------------------------------------------------------------===//
// Numbers and dtypes
//===----------------------------------------------------------------------===//

static Result bitLength(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::integer(self.asInt().abs().getActiveBits());
}
static Result isInteger(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean(self.asFloat() == std::floor(self.asFloat()) &&
                          std::isfinite(self.asFloat()));
}
static const MethodEntry intMethods[] = {{"bit_length", bitLength}};
static const MethodEntry floatMethods[] = {{"is_integer", isInteger}};

template <bool (DType::*predicate)() const>
static Result dtypeIs(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean((self.asDType().*predicate)());
}
template <DType::Kind kind>
static Result dtypeIsKind(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean(self.asDType().kind() == kind);
}

template <bool wantMax> static Result intLimit(Evaluator &, const PyValue &self, const CallArgs &) {
  const DType &type = self.asDType();
  if (!type.isInt())
    return fail("`" + type.name() + "` is not an integer type");
  unsigned bits = type.bitWidth();
  using llvm::APInt;
  if (type.isSigned())
    return PyValue::integer(wantMax ? APInt::getSignedMaxValue(bits)
                                    : APInt::getSignedMinValue(bits));
  return PyValue::integer(wantMax ? APInt::getMaxValue(bits).zext(bits + 1) : APInt(8, 0));
}

static const MethodEntry dtypeMethods[] = {
    {"is_floating", dtypeIs<&DType::isFloating>},
    {"is_standard_floating", dtypeIs<&DType::isStandardFloating>},
    {"is_int", dtypeIs<&DType::isInt>},
    {"is_int_signed", dtypeIs<&DType::isSigned>},
    {"is_int_unsigned", dtypeIs<&DType::isUnsigned>},
    {"is_bool", dtypeIs<&DType::isBool>},
    {"is_fp8", dtypeIs<&DType::isFp8>},
    {"is_ptr", dtypeIs<&DType::isPointer>},
    {"is_const", dtypeIs<&DType::isConstPointer>},
    {"is_block", dtypeIs<&DType::isBlock>},
    {"is_void", dtypeIs<&DType::isVoid>},
    {"is_int1", dtypeIsKind<DType::Kind::Int1>},
    {"is_int8", dtypeIsKind<DType::Kind::Int8>},
    {"is_int16", dtypeIsKind<DType::Kind::Int16>},
    {"is_int32", dtypeIsKind<DType::Kind::Int32>},
    {"is_int64", dtypeIsKind<DType::Kind::Int64>},
    {"is_uint8", dtypeIsKind<DType::Kind::UInt8>},
    {"is_uint16", dtypeIsKind<DType::Kind::UInt16>},
    {"is_uint32", dtypeIsKind<DType::Kind::UInt32>},
    {"is_uint64", dtypeIsKind<DType::Kind::UInt64>},
    {"is_fp8e5", dtypeIsKind<DType::Kind::Float8E5>},
    {"is_fp8e4nv", dtypeIsKind<DType::Kind::Float8E4NV>},
    {"is_fp8e4b15", dtypeIsKind<DType::Kind::Float8E4B15>},
    {"is_fp8e4b8", dtypeIsKind<DType::Kind::Float8E4B8>},
    {"is_fp8e5b16", dtypeIsKind<DType::Kind::Float8E5B16>},
    {"is_fp16", dtypeIsKind<DType::Kind::Float16>},
    {"is_bf16", dtypeIsKind<DType::Kind::BFloat16>},
    {"is_fp32", dtypeIsKind<DType::Kind::Float32>},
    {"is_fp64", dtypeIsKind<DType::Kind::Float64>},
    {"get_int_max_value", intLimit<true>},
    {"get_int_min_value", intLimit<false>},
};

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

static llvm::ArrayRef<MethodEntry> methodsOf(const PyValue &value) {
  switch (value.kind()) {
  case Kind::Str:
    return stringMethods;
  case Kind::Tuple:
    if (value.asTuple().type)
      return namedTupleMethods;
    return tupleMethods;
  case Kind::List:
    return listMethods;
  case Kind::Dict:
    return dictMethods;
  case Kind::Set:
    return setMethods;
  case Kind::Int:
    return intMethods;
  case Kind::Float:
    return floatMethods;
  case Kind::DType:
    return dtypeMethods;
  default:
    return {};
  }
}

static const MethodEntry *findMethod(const PyValue &value, StringRef name) {
  for (const MethodEntry &entry : methodsOf(value))
    if (entry.name == name)
      return &entry;
  return nullptr;
}

namespace tile::eval {

bool hasMethod(const PyValue &value, StringRef name) { return findMethod(value, name) != nullptr; }

std::vector<StringRef> methodNames(const PyValue &value) {
  std::vector<StringRef> names;
  for (const MethodEntry &entry : methodsOf(value))
    names.push_back(entry.name);
  if (value.is(Kind::DType))
    llvm::append_range(names, llvm::ArrayRef<StringRef>{"primitive_bitwidth", "itemsize", "name",
                                                        "scalar", "element_ty"});
  return names;
}

Result callMethod(Evaluator &evaluator, const PyValue &self, StringRef name, const CallArgs &args) {
  if (self.is(Kind::Extension))
    return self.asExtension()->callMethod(evaluator, name, args);
  if (const MethodEntry *entry = findMethod(self, name))
    return entry->fn(evaluator, self, args);
  return fail("a value of type `" + typeName(self) + "` has no method `" + name.str() + "`",
              "AttributeError");
}

std::optional<Result> dtypeAttribute(const PyValue &self, StringRef name) {
  const DType &type = self.asDType();
  if (name == "name")
    return PyValue::string(type.str());
  if (name == "primitive_bitwidth" || name == "int_bitwidth")
    return PyValue::integer(type.scalar().bitWidth());
  if (name == "itemsize")
    return PyValue::integer(type.scalar().itemSize());
  if (name == "fp_mantissa_width")
    return PyValue::integer(type.mantissaWidth());
  if (name == "exponent_bias")
    return PyValue::integer(type.exponentBias());
  if (name == "scalar")
    return PyValue::dtype(type.scalar());
  if (name == "int_signedness")
    return PyValue::string(type.isSigned() ? "signed" : "unsigned");
  if (name == "element_ty" && (type.isPointer() || type.isBlock()))
    return PyValue::dtype(type.element());
  if (name == "shape" && type.isBlock()) {
    std::vector<PyValue> shape;
    for (int64_t dim : type.shape())
      shape.push_back(PyValue::integer(dim));
    return PyValue::tuple(std::move(shape));
  }
  return std::nullopt;
}

} // namespace tile::eval
