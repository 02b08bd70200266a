//===- Format.cpp - Python's format specification -------------------------===//
//
// [[fill]align][sign][#][0][width][,_][.precision][type], applied to the text
// of a number or a string.
//
//===----------------------------------------------------------------------===//
#include "text/Format.h"
#include "frontend/eval/Characters.h"
#include "frontend/eval/Operators.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace tile::eval;
using llvm::StringRef;
using tile::formatted;
using Kind = PyValue::Kind;

namespace {
struct Spec {
  std::string fill = " ";
  char align = 0; ///< one of < > = ^, or 0 for the type's own
  char sign = '-';
  bool alternate = false;
  unsigned width = 0;
  char grouping = 0; ///< ',' or '_'
  int precision = -1;
  char type = 0;
};
/// A formatted number in pieces, so that zeros can go between sign and digits.
struct Pieces {
  std::string sign, prefix, digits;
};
} // namespace

constexpr unsigned maxWidth = 10000;

static std::string firstCharacters(StringRef text, size_t count) {
  std::string out;
  for (; count > 0 && !text.empty(); --count) {
    out += firstCharacter(text);
    text = text.drop_front(firstCharacter(text).size());
  }
  return out;
}

static bool isAlign(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

static bool parseSpec(StringRef text, Spec &spec) {
  // The fill may be any character, so the align is looked for first.
  size_t fill = text.empty() ? 0 : firstCharacter(text).size();
  if (text.size() > fill && isAlign(text[fill])) {
    spec.fill = text.take_front(fill).str();
    spec.align = text[fill];
    text = text.drop_front(fill + 1);
  } else if (!text.empty() && isAlign(text[0])) {
    spec.align = text[0];
    text = text.drop_front();
  }
  if (!text.empty() && StringRef("+- ").contains(text[0])) {
    spec.sign = text[0];
    text = text.drop_front();
  }
  spec.alternate = text.consume_front("#");
  if (text.consume_front("0") && !spec.align) {
    spec.fill = "0";
    spec.align = '=';
  }
  StringRef width = text.take_while(llvm::isDigit);
  text = text.drop_front(width.size());
  if (!width.empty() && (width.getAsInteger(10, spec.width) || spec.width > maxWidth))
    return false;
  if (!text.empty() && (text[0] == ',' || text[0] == '_')) {
    spec.grouping = text[0];
    text = text.drop_front();
  }
  if (text.consume_front(".")) {
    StringRef precision = text.take_while(llvm::isDigit);
    text = text.drop_front(precision.size());
    if (precision.getAsInteger(10, spec.precision) || spec.precision > 500)
      return false;
  }
  if (!text.empty()) {
    spec.type = text[0];
    text = text.drop_front();
  }
  return text.empty();
}

static std::string group(const std::string &digits, char separator, unsigned every) {
  size_t whole = digits.find_first_not_of("0123456789abcdefABCDEF");
  whole = std::min(whole, digits.size());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i && (whole - i) % every == 0)
      out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

static std::string pad(const Pieces &pieces, const Spec &spec, char ownAlign) {
  size_t size = pieces.sign.size() + pieces.prefix.size() + countCharacters(pieces.digits);
  size_t missing = spec.width > size ? spec.width - size : 0;
  auto filling = [&](size_t count) {
    std::string text;
    while (count-- > 0)
      text += spec.fill;
    return text;
  };
  std::string head = pieces.sign + pieces.prefix;
  switch (spec.align ? spec.align : ownAlign) {
  case '<':
    return head + pieces.digits + filling(missing);
  case '^':
    return filling(missing / 2) + head + pieces.digits + filling(missing - missing / 2);
  case '=':
    return head + filling(missing) + pieces.digits;
  default:
    return filling(missing) + head + pieces.digits;
  }
}

static std::string signOf(bool negative, const Spec &spec) {
  if (negative)
    return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

static std::string digitsOf(double magnitude, const Spec &spec) {
  if (std::isnan(magnitude))
    return "nan";
  if (std::isinf(magnitude))
    return "inf";
  char type = llvm::toLower(spec.type);
  int precision = spec.precision < 0 ? 6 : spec.precision;
  char buffer[1000];
  std::to_chars_result end{};
  switch (type) {
  case 'e':
    end = std::to_chars(buffer, std::end(buffer), magnitude, std::chars_format::scientific,
                        precision);
    break;
  case 'f':
    end = std::to_chars(buffer, std::end(buffer), magnitude, std::chars_format::fixed, precision);
    break;
  case '%':
    end = std::to_chars(buffer, std::end(buffer), magnitude * 100, std::chars_format::fixed,
                        precision);
    break;
  default:
    if (!type && spec.precision < 0)
      return reprFloat(magnitude);
    end = std::to_chars(buffer, std::end(buffer), magnitude, std::chars_format::general,
                        std::max(precision, 1));
  }
  std::string text(buffer, end.ptr);
  if (!type && text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return type == '%' ? text + "%" : text;
}

static Result formatFloat(double value, const Spec &spec) {
  if (spec.type && !StringRef("eEfFgGn%").contains(spec.type))
    return fail(formatted("format code `{}` does not apply to a float", spec.type), "ValueError");
  Pieces pieces;
  pieces.sign = signOf(std::signbit(value) && !std::isnan(value), spec);
  pieces.digits = digitsOf(std::fabs(value), spec);
  if (llvm::isUpper(spec.type))
    pieces.digits = StringRef(pieces.digits).upper();
  if (spec.grouping)
    pieces.digits = group(pieces.digits, spec.grouping, 3);
  return PyValue::string(pad(pieces, spec, '>'));
}

static Result formatInteger(const llvm::APInt &value, const Spec &spec) {
  unsigned radix = 10;
  const char *prefix = "";
  switch (spec.type) {
  case 0:
  case 'd':
  case 'n':
    break;
  case 'b':
    radix = 2;
    prefix = "0b";
    break;
  case 'o':
    radix = 8;
    prefix = "0o";
    break;
  case 'x':
  case 'X':
    radix = 16;
    prefix = spec.type == 'x' ? "0x" : "0X";
    break;
  case 'c':
    return PyValue::string(std::string(1, char(value.getLimitedValue(127))));
  default:
    if (StringRef("eEfFgG%").contains(spec.type))
      return formatFloat(toDouble(value), spec);
    return fail(formatted("format code `{}` does not apply to an int", spec.type), "ValueError");
  }
  Pieces pieces;
  pieces.sign = signOf(value.isNegative(), spec);
  pieces.prefix = spec.alternate ? prefix : "";
  pieces.digits = llvm::toString(value.abs(), radix, /*Signed=*/false, /*formatAsCLiteral=*/false,
                                 /*UpperCase=*/spec.type == 'X');
  if (spec.grouping)
    pieces.digits = group(pieces.digits, spec.grouping, radix == 10 ? 3 : 4);
  return PyValue::string(pad(pieces, spec, '>'));
}

namespace tile::eval {

Result format(const PyValue &value, StringRef text) {
  if (text.empty())
    return PyValue::string(str(value));
  Spec spec;
  if (!parseSpec(text, spec))
    return fail(formatted("cannot read the format `{}`", text), "ValueError");
  if (value.is(Kind::Float))
    return formatFloat(value.asFloat(), spec);
  if (value.is(Kind::Int) || (value.is(Kind::Bool) && spec.type))
    return formatInteger(value.is(Kind::Bool) ? llvm::APInt(64, value.asBool()) : value.asInt(),
                         spec);
  if (spec.type && spec.type != 's')
    return fail(formatted("format code `{}` does not apply to `{}`", spec.type, typeName(value)),
                "ValueError");
  std::string out = str(value);
  if (spec.precision >= 0)
    out = firstCharacters(out, spec.precision);
  return PyValue::string(pad({"", "", out}, spec, '<'));
}

} // namespace tile::eval
