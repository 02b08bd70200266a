//===- PercentFormat.cpp - "..." % values ---------------------------------===//
//
// %[flags][width][.precision]conversion, as Python has it: zeros go between
// sign and digits, `-` is more than `0`, and the precision of an integer is the
// least number of its digits. Names in parentheses, `*` and lengths are not read.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/PercentFormat.h"
#include "frontend/eval/Characters.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile::eval;
using llvm::StringRef;
using tile::formatted;
using Kind = PyValue::Kind;

namespace {
struct Conversion {
  bool left = false, plus = false, space = false, alternate = false, zeros = false;
  unsigned width = 0;
  int precision = -1;
  char type = 0;

  bool isNumber() const { return StringRef("diuxXoeEfFgG").contains(type); }
};
} // namespace

constexpr unsigned maxWidth = 10000, maxPrecision = 500;

/// What stands between `%` and the end of the conversion.
static bool readConversion(StringRef text, Conversion &out) {
  StringRef flags = text.take_while([](char c) { return StringRef("+- #0").contains(c); });
  out.left = flags.contains('-');
  out.plus = flags.contains('+');
  out.space = flags.contains(' ');
  out.alternate = flags.contains('#');
  out.zeros = flags.contains('0') && !out.left;
  text = text.drop_front(flags.size());
  StringRef width = text.take_while(llvm::isDigit);
  text = text.drop_front(width.size());
  if (!width.empty() && (width.getAsInteger(10, out.width) || out.width > maxWidth))
    return false;
  if (text.consume_front(".")) {
    StringRef precision = text.take_while(llvm::isDigit);
    text = text.drop_front(precision.size());
    out.precision = 0;
    if (!precision.empty() &&
        (precision.getAsInteger(10, out.precision) || out.precision > int(maxPrecision)))
      return false;
  }
  out.type = text.size() == 1 ? text[0] : 0;
  return text.size() == 1;
}

static std::string padded(std::string head, std::string body, const Conversion &how) {
  size_t size = countCharacters(head) + countCharacters(body);
  size_t missing = how.width > size ? how.width - size : 0;
  if (how.left)
    return head + body + std::string(missing, ' ');
  if (how.zeros && how.isNumber())
    return head + std::string(missing, '0') + body;
  return std::string(missing, ' ') + head + body;
}

/// The value as an integer; `d` cuts the fraction off.
static Result integerOf(const PyValue &value, char type) {
  bool isDecimal = StringRef("diu").contains(type);
  if (value.is(Kind::Float) && isDecimal)
    return integerFromDouble(std::trunc(value.asFloat()));
  if (value.is(Kind::Int) || value.is(Kind::Bool))
    return value;
  return fail(formatted("`%{}` needs {}, got `{}`", type, isDecimal ? "a number" : "an integer",
                        typeName(value)));
}

static Result formatNumber(const PyValue &value, const Conversion &how) {
  bool isInteger = StringRef("diuxXo").contains(how.type);
  Result number = isInteger ? integerOf(value, how.type) : Result(value);
  if (!number)
    return number;
  if (!number->toDouble() && !isInteger)
    return fail(formatted("`%{}` needs a number, got `{}`", how.type, typeName(value)));
  std::string spec = how.plus ? "+" : how.space ? " " : "";
  spec += how.alternate ? "#" : "";
  if (!isInteger && how.precision >= 0)
    spec += "." + std::to_string(how.precision);
  Result piece = format(*number, spec + (StringRef("iu").contains(how.type) ? 'd' : how.type));
  if (!piece)
    return piece;
  StringRef text = piece->asStr();
  size_t head = !text.empty() && StringRef("+- ").contains(text[0]);
  if (how.alternate && StringRef("xXo").contains(how.type))
    head += 2; // 0x
  std::string digits = text.drop_front(head).str();
  if (isInteger && digits.size() < size_t(std::max(how.precision, 0)))
    digits.insert(0, how.precision - digits.size(), '0');
  return PyValue::string(padded(text.take_front(head).str(), digits, how));
}

static Result formatItem(const PyValue &value, const Conversion &how) {
  if (how.isNumber())
    return formatNumber(value, how);
  if (how.type == 'c') {
    if (value.isStr() && countCharacters(value.asStr()) == 1)
      return PyValue::string(padded("", value.asStr(), how));
    if (!value.is(Kind::Int))
      return fail("`%c` needs an integer or one character");
    Result piece = format(value, "c");
    return piece ? PyValue::string(padded("", piece->asStr(), how)) : std::move(piece);
  }
  if (how.type != 's' && how.type != 'r')
    return fail(formatted("`%{}` is not a conversion", how.type), "ValueError");
  std::string text = how.type == 's' ? str(value) : repr(value);
  if (how.precision >= 0) {
    std::vector<StringRef> each = characters(text);
    if (each.size() > size_t(how.precision))
      text.resize(each[how.precision].data() - text.data());
  }
  return PyValue::string(padded("", text, how));
}

Result tile::eval::percentFormat(const std::string &text, const PyValue &value) {
  std::vector<PyValue> single = {value};
  llvm::ArrayRef<PyValue> values = single;
  if (value.is(Kind::Tuple))
    values = value.elements();
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    size_t end = text.find_first_not_of("0123456789.+- #", i + 1);
    if (end == std::string::npos)
      return fail("incomplete format after `%`", "ValueError");
    Conversion how;
    StringRef spec = StringRef(text).slice(i + 1, end + 1);
    if (!readConversion(spec, how))
      return fail(formatted("cannot read the format `%{}`", spec), "ValueError");
    i = end;
    if (how.type == '%') {
      out += '%';
      continue;
    }
    if (used == values.size())
      return fail("not enough values for the format string");
    Result piece = formatItem(values[used++], how);
    if (!piece)
      return piece;
    if (auto error = Work::append(out, piece->asStr()))
      return error;
  }
  if (used != values.size() && !value.is(Kind::List) && !value.is(Kind::Dict))
    return fail("more values than the format string uses");
  return PyValue::string(out);
}
