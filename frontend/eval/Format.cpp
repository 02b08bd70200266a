//===- Format.cpp - Python's format specification -------------------------===//
//
// [[fill]align][sign][#][0][width][,_][.precision][type], applied to the text
// of a number or a string; what Python refuses is refused.
//
//===----------------------------------------------------------------------===//
#include "text/Format.h"
#include "frontend/Literals.h"
#include "frontend/eval/Characters.h"
#include "frontend/eval/Operators.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
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
  char sign = 0;  ///< one of + - space, or 0: not said, which is as -
  bool alternate = false;
  bool zeros = false; ///< a width that begins with 0
  unsigned width = 0;
  char grouping = 0; ///< ',' or '_'
  int precision = -1;
  char type = 0;
};
/// A formatted number in pieces, so that zeros can go between sign and digits.
struct Pieces {
  std::string sign, prefix, digits;
  size_t whole = 0; ///< of the digits, those that are grouped
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
  bool ownFill = false;
  // The fill may be any character, so the align is looked for first.
  size_t fill = text.empty() ? 0 : firstCharacter(text).size();
  if (text.size() > fill && isAlign(text[fill])) {
    spec.fill = text.take_front(fill).str();
    spec.align = text[fill];
    ownFill = true;
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
  if (!ownFill && text.consume_front("0")) {
    spec.fill = "0";
    spec.zeros = true;
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

/// Puts separators between groups of `every` digits, and zeros in front up to `width`: as many as
/// make it no narrower and no group empty.
static std::string group(StringRef digits, char separator, int64_t every, int64_t width) {
  std::string out;
  for (;;) {
    int64_t left = digits.size(), size = std::min(every, std::max({left, width, int64_t(1)}));
    int64_t taken = std::min(left, size);
    out = std::string(size - taken, '0') + digits.take_back(taken).str() + out;
    digits = digits.drop_back(taken);
    width -= size;
    if (digits.empty() && width <= 0)
      return out;
    out = separator + out;
    --width;
  }
}

static void groupWhole(Pieces &pieces, const Spec &spec, unsigned every) {
  if (!spec.grouping || !pieces.whole)
    return;
  std::string rest = pieces.digits.substr(pieces.whole);
  bool fills = spec.fill == "0" && spec.align == '=';
  size_t others = pieces.sign.size() + pieces.prefix.size() + rest.size();
  int64_t width = fills ? int64_t(spec.width) - int64_t(others) : 0;
  pieces.digits =
      group(StringRef(pieces.digits).take_front(pieces.whole), spec.grouping, every, width) + rest;
}

static std::string pad(const Pieces &pieces, const Spec &spec) {
  size_t size = pieces.sign.size() + pieces.prefix.size() + countCharacters(pieces.digits);
  size_t missing = spec.width > size ? spec.width - size : 0;
  auto filling = [&](size_t count) {
    std::string text;
    while (count-- > 0)
      text += spec.fill;
    return text;
  };
  std::string head = pieces.sign + pieces.prefix;
  switch (spec.align) {
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
  return spec.sign == '-' || !spec.sign ? "" : std::string(1, spec.sign);
}

using Digits = std::chars_format;
static std::string digitsOf(double magnitude, Digits digits, int precision, bool alternate) {
  char buffer[1000];
  auto end = std::to_chars(buffer, std::end(buffer), magnitude, digits, precision);
  std::string text(buffer, end.ptr);
  if (alternate && precision == 0)
    text.insert(std::min(text.find('e'), text.size()), ".");
  return text;
}

/// So many digits, without zeros behind them unless `alternate`: with an exponent where that is
/// shorter. `.0` makes what has no fraction look like a float, which costs one digit.
static std::string generalDigits(double magnitude, int precision, bool alternate, bool isFloat) {
  precision = std::max(precision, 1);
  std::string text = digitsOf(magnitude, Digits::scientific, precision - 1, false);
  auto [mantissa, exponent] = StringRef(text).split('e');
  int point = 1 + std::atoi(exponent.str().c_str());
  std::string digits =
      mantissa.take_front(1).str() + mantissa.drop_front(1).drop_front(mantissa.size() > 1).str();
  if (!alternate)
    digits.resize(std::max<size_t>(StringRef(digits).rtrim('0').size(), 1));
  bool scientific = point <= -4 || point > precision - isFloat;
  int whole = scientific ? 1 : point;
  if (whole <= 0)
    digits.insert(0, 1 - whole, '0');
  else if (digits.size() < size_t(whole))
    digits.append(whole - digits.size(), '0');
  digits.insert(std::max(whole, 1), ".");
  if (scientific)
    return (alternate ? digits : StringRef(digits).rtrim('.').str()) + "e" + exponent.str();
  if (digits.back() != '.' || alternate)
    return digits;
  return isFloat ? digits + "0" : digits.substr(0, digits.size() - 1);
}

static std::string digitsOf(double magnitude, const Spec &spec) {
  char type = llvm::toLower(spec.type);
  std::string behind = type == '%' ? "%" : "";
  if (!std::isfinite(magnitude))
    return (std::isnan(magnitude) ? "nan" : "inf") + behind;
  int precision = spec.precision < 0 ? 6 : spec.precision;
  if (type == 'e')
    return digitsOf(magnitude, Digits::scientific, precision, spec.alternate);
  if (type == 'f' || type == '%') {
    magnitude *= type == '%' ? 100 : 1;
    if (std::isinf(magnitude))
      return "inf" + behind;
    return digitsOf(magnitude, Digits::fixed, precision, spec.alternate) + behind;
  }
  if (type || spec.precision >= 0)
    return generalDigits(magnitude, precision, spec.alternate, !type);
  std::string text = reprFloat(magnitude);
  if (spec.alternate && text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".");
  return text;
}

static Result doesNotApply(const Spec &spec, StringRef what) {
  return fail(formatted("format code `{}` does not apply to {}", spec.type, what), "ValueError");
}

/// Groups of digits, which only decimal numbers separate by commas, and binary ones by fours.
static std::unique_ptr<EvalError> checkGrouping(const Spec &spec) {
  StringRef types = spec.grouping == ',' ? "defgEFG%" : "defgEFG%boxX";
  if (!spec.grouping || !spec.type || types.contains(spec.type))
    return nullptr;
  return fail(formatted("`{}` cannot be used with `{}`", spec.grouping, spec.type), "ValueError");
}

static Result formatFloat(double value, Spec spec) {
  if (spec.type && !StringRef("eEfFgGn%").contains(spec.type))
    return doesNotApply(spec, "a float");
  if (auto error = checkGrouping(spec))
    return error;
  Pieces pieces;
  pieces.sign = signOf(std::signbit(value) && !std::isnan(value), spec);
  pieces.digits = digitsOf(std::fabs(value), spec);
  if (llvm::isUpper(spec.type))
    pieces.digits = StringRef(pieces.digits).upper();
  pieces.whole = StringRef(pieces.digits).take_while(llvm::isDigit).size();
  groupWhole(pieces, spec, 3);
  return PyValue::string(pad(pieces, spec));
}

static Result formatCharacter(const llvm::APInt &value, const Spec &spec) {
  if (spec.sign || spec.alternate || spec.precision >= 0)
    return fail("a sign, `#` or a precision cannot be used with `c`", "ValueError");
  if (value.isNegative() || value.ugt(0x10ffff))
    return fail("`c` needs the number of a character, below 0x110000", "OverflowError");
  std::string text;
  tile::frontend::appendUtf8(uint32_t(value.getZExtValue()), text);
  return PyValue::string(pad({"", "", text}, spec));
}

static Result formatInteger(const llvm::APInt &value, const Spec &spec) {
  if (spec.type && StringRef("eEfFgG%").contains(spec.type))
    return formatFloat(toDouble(value), spec);
  unsigned radix = llvm::StringSwitch<unsigned>(StringRef(&spec.type, spec.type ? 1 : 0))
                       .Cases({"", "d", "n", "c"}, 10)
                       .Case("b", 2)
                       .Case("o", 8)
                       .Cases({"x", "X"}, 16)
                       .Default(0);
  if (!radix)
    return doesNotApply(spec, "an int");
  if (auto error = checkGrouping(spec))
    return error;
  if (spec.type == 'c')
    return formatCharacter(value, spec);
  if (spec.precision >= 0)
    return fail("an integer has no precision", "ValueError");
  Pieces pieces;
  pieces.sign = signOf(value.isNegative(), spec);
  if (spec.alternate && radix != 10)
    pieces.prefix = {'0', spec.type};
  pieces.digits = llvm::toString(value.abs(), radix, /*Signed=*/false, /*formatAsCLiteral=*/false,
                                 /*UpperCase=*/spec.type == 'X');
  pieces.whole = pieces.digits.size();
  groupWhole(pieces, spec, radix == 10 ? 3 : 4);
  return PyValue::string(pad(pieces, spec));
}

static Result formatText(const PyValue &value, const Spec &spec) {
  if (spec.type && spec.type != 's')
    return doesNotApply(spec, formatted("`{}`", typeName(value)));
  if (spec.sign || spec.alternate || spec.grouping || spec.align == '=')
    return fail("a sign, `#`, `=` or a separator cannot be used with text", "ValueError");
  std::string out = str(value);
  if (spec.precision >= 0)
    out = firstCharacters(out, spec.precision);
  return PyValue::string(pad({"", "", out}, spec));
}

namespace tile::eval {

Result format(const PyValue &value, StringRef text) {
  if (text.empty())
    return PyValue::string(str(value));
  Spec spec;
  if (!parseSpec(text, spec))
    return fail(formatted("cannot read the format `{}`", text), "ValueError");
  bool isInteger = value.is(Kind::Int) || value.is(Kind::Bool);
  bool isNumber = isInteger || value.is(Kind::Float);
  if (!spec.align)
    spec.align = !isNumber ? '<' : spec.zeros ? '=' : '>';
  if (!isNumber)
    return formatText(value, spec);
  if (!isInteger)
    return formatFloat(value.asFloat(), spec);
  return formatInteger(value.is(Kind::Bool) ? llvm::APInt(64, value.asBool()) : value.asInt(),
                       spec);
}

} // namespace tile::eval
