//===- Literals.cpp - the values of literals ------------------------------===//
#include "frontend/Literals.h"
#include "text/Format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Unicode.h"

namespace tile::frontend {

void appendUtf8(uint32_t c, std::string &out) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80)
    return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

uint32_t codePointOf(llvm::StringRef character) {
  auto lead = static_cast<unsigned char>(character[0]);
  uint32_t value = character.size() == 1 ? lead : lead & (0x7F >> character.size());
  for (char c : character.drop_front())
    value = value << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return value;
}

namespace {

class StringDecoder {
public:
  StringDecoder(llvm::StringRef body, StringForm form, std::string &out)
      : body(body), form(form), out(out) {}

  std::optional<LiteralError> run() {
    while (pos < body.size() && !error) {
      if (!form.bytes && takePlain())
        continue;
      char c = body[pos];
      bool brace = c == '{' || c == '}';
      if (c == '\\' && !form.raw && pos + 1 < body.size()) {
        escape();
      } else if (c == '\r') { // every end of line reads as \n
        out.push_back('\n');
        pos += body.substr(pos).starts_with("\r\n") ? 2 : 1;
      } else if (form.fstring && brace && body.substr(pos + 1).starts_with(body.substr(pos, 1))) {
        out.push_back(c);
        pos += 2;
      } else if (form.bytes && static_cast<unsigned char>(c) >= 0x80) {
        fail(pos, pos + 1, "a bytes literal holds only ASCII characters; write `\\x` escapes");
      } else {
        out.push_back(c);
        ++pos;
      }
    }
    return std::move(error);
  }

private:
  /// Takes what stands for itself, at once.
  bool takePlain() {
    llvm::StringRef plain = body.slice(pos, body.find_first_of("\\\r{}", pos));
    out.append(plain.data(), plain.size());
    pos += plain.size();
    return !plain.empty();
  }

  void fail(size_t begin, size_t end, std::string message) {
    error = LiteralError{{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)},
                         std::move(message)};
  }

  void put(uint32_t value) {
    if (form.bytes)
      out.push_back(static_cast<char>(value));
    else
      appendUtf8(value, out);
  }

  void escape() {
    size_t begin = pos;
    char c = body[pos + 1];
    pos += 2;
    static constexpr llvm::StringLiteral letters("\\'\"abfnrtv"), values("\\'\"\a\b\f\n\r\t\v");
    if (size_t index = letters.find(c); index != llvm::StringRef::npos)
      return out.push_back(values[index]);
    if (c == '\n')
      return;
    if (c == '\r') {
      pos += body.substr(pos).starts_with("\n");
      return;
    }
    if (c >= '0' && c <= '7')
      return octal(c);
    if (c == 'x')
      return hexadecimal(begin, 2);
    if (!form.bytes && c == 'u')
      return hexadecimal(begin, 4);
    if (!form.bytes && c == 'U')
      return hexadecimal(begin, 8);
    if (!form.bytes && c == 'N')
      return named(begin);
    // Unknown escapes stand for themselves.
    out.push_back('\\');
    --pos;
  }

  void octal(char first) {
    uint32_t value = first - '0';
    for (int i = 0; i < 2 && pos < body.size() && body[pos] >= '0' && body[pos] <= '7'; ++i)
      value = value * 8 + (body[pos++] - '0');
    put(value);
  }

  void hexadecimal(size_t begin, size_t count) {
    llvm::StringRef digits = body.substr(pos, count);
    uint32_t value = 0;
    if (digits.size() != count || !llvm::all_of(digits, llvm::isHexDigit) ||
        digits.getAsInteger(16, value))
      return fail(begin, pos, formatted("this escape needs {} hexadecimal digits", count));
    if (value > 0x10FFFF)
      return fail(begin, pos + count, "there is no character beyond \\U0010ffff");
    pos += count;
    put(value);
  }

  void named(size_t begin) {
    size_t close = body.find('}', pos);
    if (pos >= body.size() || body[pos] != '{' || close == llvm::StringRef::npos)
      return fail(begin, pos, "`\\N` is followed by the name of a character in braces");
    std::string name = body.slice(pos + 1, close).upper();
    std::optional<char32_t> value = llvm::sys::unicode::nameToCodepointStrict(name);
    if (!value)
      return fail(begin, close + 1, formatted("no character is named `{}`", name));
    pos = close + 1;
    put(*value);
  }

  llvm::StringRef body;
  StringForm form;
  std::string &out;
  size_t pos = 0;
  std::optional<LiteralError> error;
};

} // namespace

std::optional<LiteralError> decodeString(llvm::StringRef body, StringForm form, std::string &out) {
  return StringDecoder(body, form, out).run();
}

static double toDouble(llvm::StringRef digits) {
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  auto status = value.convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return 0;
  }
  return value.convertToDouble();
}

std::optional<double> decodeDecimal(llvm::StringRef text) {
  llvm::StringRef rest = text;
  auto takeDigits = [&rest] {
    size_t before = rest.size();
    rest = rest.drop_while(llvm::isDigit);
    return before - rest.size();
  };
  size_t digits = takeDigits();
  if (rest.consume_front("."))
    digits += takeDigits();
  if (digits == 0)
    return std::nullopt;
  if (rest.consume_front_insensitive("e")) {
    if (!rest.consume_front("-"))
      rest.consume_front("+");
    if (takeDigits() == 0)
      return std::nullopt;
  }
  return rest.empty() ? std::optional(toDouble(text)) : std::nullopt;
}

std::optional<LiteralError> decodeNumber(llvm::StringRef spelling, ast::Constant &constant) {
  std::string text = spelling.lower();
  std::erase(text, '_');
  llvm::StringRef digits = text;
  using Type = ast::Constant::Type;
  unsigned radix = digits.starts_with("0x")   ? 16
                   : digits.starts_with("0o") ? 8
                   : digits.starts_with("0b") ? 2
                                              : 10;
  if (radix == 10 && digits.consume_back("j")) {
    constant.type = Type::Imaginary;
    constant.number = toDouble(digits);
    return std::nullopt;
  }
  if (radix == 10 && digits.find_first_of(".e") != llvm::StringRef::npos) {
    constant.type = Type::Float;
    constant.number = toDouble(digits);
    return std::nullopt;
  }
  constant.type = Type::Int;
  constexpr size_t maxDecimalDigits = 4300; // as in Python
  if (radix == 10 && digits.size() > maxDecimalDigits)
    return LiteralError{
        {0, static_cast<uint32_t>(spelling.size())},
        formatted("a decimal number may have at most {} digits; hexadecimal ones may have more",
                  maxDecimalDigits)};
  if (radix != 10)
    digits = digits.drop_front(2);
  bool failed = digits.getAsInteger(radix, constant.integer);
  assert(!failed && "the lexer checked the digits");
  (void)failed;
  // As wide as needed, and one bit more so that it is non-negative.
  constant.integer = constant.integer.zextOrTrunc(std::max(
      64u, static_cast<unsigned>(llvm::alignTo(constant.integer.getActiveBits() + 1, 64))));
  return std::nullopt;
}

} // namespace tile::frontend
