//===- ValuePrinting.cpp - values as text, as Python shows them -----------===//
#include "frontend/eval/Operators.h"
#include "frontend/eval/Value.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace tile;
using llvm::APInt;

namespace tile::eval {

double toDouble(const APInt &value) {
  llvm::APFloat number(0.0);
  number.convertFromAPInt(value, /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  return number.convertToDouble();
}

std::string reprFloat(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // Python switches to an exponent below 1e-4 and from 1e16 on.
  char buffer[64];
  double magnitude = std::fabs(value);
  bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  auto end = std::to_chars(buffer, std::end(buffer), value,
                           scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  if (!scientific && text.find('.') == std::string::npos)
    text += ".0";
  return text;
}

static std::string reprString(const std::string &text) {
  char quote =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      (out += "\\x") += llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
    else
      out += c;
  }
  return out + quote;
}

/// Nesting deeper than this prints as "..."; a list can contain itself.
constexpr unsigned maxReprDepth = 30;

static std::string reprAt(const PyValue &value, unsigned depth);

/// Parts that are met many times at every depth would make a text that doubles with each.
static bool isTooLong(const std::string &text) {
  if (text.size() <= maxElements)
    return false;
  Work::spend(UINT64_MAX);
  return true;
}

static std::string reprElements(llvm::ArrayRef<PyValue> elements, unsigned depth) {
  std::string text;
  for (const PyValue &element : elements) {
    if (isTooLong(text))
      break;
    (text += text.empty() ? "" : ", ") += reprAt(element, depth);
  }
  return text;
}

static std::string reprTuple(const TupleObject &tuple, unsigned depth) {
  if (!tuple.type)
    return formatted("({}{}", reprElements(tuple.elements, depth),
                     tuple.elements.size() == 1 ? ",)" : ")");
  if (tuple.type->name == kConstexprType)
    return formatted("{}[{}]", tuple.type->name, reprElements(tuple.elements, depth));
  std::string text = tuple.type->name + "(";
  for (size_t i = 0; i < tuple.elements.size() && !isTooLong(text); ++i)
    text += formatted("{}{}={}", i ? ", " : "", tuple.type->fields[i],
                      reprAt(tuple.elements[i], depth));
  return text + ")";
}

static std::string reprDict(const DictObject &dict, unsigned depth) {
  std::string text;
  for (auto &[key, item] : dict.items) {
    if (isTooLong(text))
      break;
    text +=
        formatted("{}{}: {}", text.empty() ? "" : ", ", reprAt(key, depth), reprAt(item, depth));
  }
  return formatted("{{{}}}", text);
}

static std::string reprAt(const PyValue &value, unsigned depth) {
  if (depth > maxReprDepth || !Work::spend(1))
    return "...";
  switch (value.kind()) {
  case PyValue::Kind::None:
    return "None";
  case PyValue::Kind::Ellipsis:
    return "Ellipsis";
  case PyValue::Kind::Bool:
    return value.asBool() ? "True" : "False";
  case PyValue::Kind::Int:
    Work::spendBits(value.asInt().getBitWidth() * 8);
    return llvm::toString(value.asInt(), 10, /*Signed=*/true);
  case PyValue::Kind::Float:
    return reprFloat(value.asFloat());
  case PyValue::Kind::Str:
    Work::spendBytes(value.asStr().size());
    return reprString(value.asStr());
  case PyValue::Kind::Tuple:
    return reprTuple(value.asTuple(), depth + 1);
  case PyValue::Kind::List:
    return formatted("[{}]", reprElements(value.asList().elements, depth + 1));
  case PyValue::Kind::Set:
    if (value.asSet().elements.empty())
      return "set()";
    return formatted("{{{}}}", reprElements(value.asSet().elements, depth + 1));
  case PyValue::Kind::Dict:
    return reprDict(value.asDict(), depth + 1);
  case PyValue::Kind::Range: {
    const RangeObject &r = value.asRange();
    return formatted("range({}, {}{})", r.start, r.stop,
                     r.step == 1 ? "" : formatted(", {}", r.step));
  }
  case PyValue::Kind::Slice: {
    const SliceObject &s = value.asSlice();
    return formatted("slice({}, {}, {})", reprAt(s.lower, depth + 1), reprAt(s.upper, depth + 1),
                     reprAt(s.step, depth + 1));
  }
  case PyValue::Kind::DType:
    return value.asDType().str();
  case PyValue::Kind::Function:
    return formatted("<function {}>", value.asFunction().name());
  case PyValue::Kind::Class:
    return formatted("<class '{}'>", value.asClass()->name);
  case PyValue::Kind::Module:
    return formatted("<module '{}'>", value.asModule().name);
  case PyValue::Kind::Symbol:
    return formatted("<built-in {}>", value.asSymbol());
  case PyValue::Kind::Method:
    return formatted("<method {} of {}>", value.asMethod().name, typeName(value.asMethod().self));
  case PyValue::Kind::Extension:
    return value.asExtension()->repr();
  }
  return "";
}

std::string repr(const PyValue &value) { return reprAt(value, 0); }

/// A type as the reference writes it: "int32", "fp16", "pointer<int8>".
static std::string typeText(const DType &type) {
  if (type.isPointer())
    return formatted("{}{}>", type.isConstPointer() ? "const_pointer<" : "pointer<",
                     typeText(type.element()));
  if (type.isBlock())
    return formatted(
        "<[{}], {}>",
        llvm::join(llvm::map_range(type.shape(), [](int64_t d) { return std::to_string(d); }),
                   ", "),
        typeText(type.element()));
  return type.isInt() ? type.name() : type.str();
}

std::string str(const PyValue &value) {
  if (value.is(PyValue::Kind::DType))
    return typeText(value.asDType());
  return value.isStr() ? value.asStr() : repr(value);
}

std::string typeName(const PyValue &value) {
  switch (value.kind()) {
  case PyValue::Kind::None:
    return "NoneType";
  case PyValue::Kind::Ellipsis:
    return "ellipsis";
  case PyValue::Kind::Bool:
    return "bool";
  case PyValue::Kind::Int:
    return "int";
  case PyValue::Kind::Float:
    return "float";
  case PyValue::Kind::Str:
    return "str";
  case PyValue::Kind::Tuple:
    return value.asTuple().type ? value.asTuple().type->name : "tuple";
  case PyValue::Kind::List:
    return "list";
  case PyValue::Kind::Dict:
    return "dict";
  case PyValue::Kind::Set:
    return "set";
  case PyValue::Kind::Range:
    return "range";
  case PyValue::Kind::Slice:
    return "slice";
  case PyValue::Kind::DType:
    return "dtype";
  case PyValue::Kind::Function:
    return "function";
  case PyValue::Kind::Class:
    return "type";
  case PyValue::Kind::Module:
    return "module";
  case PyValue::Kind::Symbol:
    return "builtin";
  case PyValue::Kind::Method:
    return "method";
  case PyValue::Kind::Extension:
    return value.asExtension()->typeName();
  }
  return "";
}

} // namespace tile::eval
