//===- Signature.cpp - argument types as text -----------------------------===//
#include "frontend/specialize/Signature.h"
#include "frontend/Literals.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <limits>

using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

bool splitSignature(StringRef text, std::vector<std::string> &entries, std::string &error) {
  std::string closers;
  std::string entry;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      entry += c;
      if (c == '\\' && i + 1 < text.size())
        entry += text[++i];
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == ',' && closers.empty()) {
      entries.push_back(StringRef(entry).trim().str());
      entry.clear();
      continue;
    }
    if (c == '"' || c == '\'')
      quote = c;
    else if (c == '(' || c == '[' || c == '<')
      closers += c == '(' ? ')' : c == '[' ? ']' : '>';
    else if (c == ')' || c == ']' || c == '>') {
      if (closers.empty() || closers.back() != c) {
        error = formatted("unexpected `{}` in `{}`", c, text);
        return false;
      }
      closers.pop_back();
    }
    entry += c;
  }
  if (quote || !closers.empty()) {
    error = formatted("`{}` is missing at the end of `{}`", quote ? quote : closers.back(), text);
    return false;
  }
  if (!StringRef(entry).trim().empty() || !entries.empty())
    entries.push_back(StringRef(entry).trim().str());
  return true;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static bool isName(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Takes `NAME=` off an element of a named tuple.
static StringRef takeField(StringRef &part) {
  auto [name, type] = part.split('=');
  name = name.trim();
  if (!isName(name) || name == "const" || name.size() == part.size())
    return {};
  part = type;
  return name;
}

static std::optional<ArgumentType> parseTuple(StringRef inner, std::string &error) {
  ArgumentType result;
  result.kind = ArgumentType::Kind::Tuple;
  std::vector<std::string> parts;
  if (!splitSignature(inner, parts, error))
    return std::nullopt;
  if (!parts.empty() && parts.back().empty())
    parts.pop_back(); // (i32,)
  for (StringRef part : parts) {
    if (StringRef field = takeField(part); !field.empty())
      result.fields.push_back(field.str());
    std::optional<ArgumentType> element = parseArgumentType(part, error);
    if (!element)
      return std::nullopt;
    result.elements.push_back(std::move(*element));
  }
  if (!result.fields.empty() && result.fields.size() != result.elements.size()) {
    error = formatted("`({})` names some elements and others not", inner);
    return std::nullopt;
  }
  return result;
}

static std::optional<ArgumentType> parseDescriptor(StringRef inner, std::string &error) {
  ArgumentType result;
  result.kind = ArgumentType::Kind::Descriptor;
  auto [typeText, rest] = inner.split('[');
  auto [shapeText, padding] = rest.split(']');
  std::optional<DType> type = DType::parse(typeText.trim());
  padding = padding.trim();
  result.padNan = padding.consume_front(",") && padding.trim() == "nan";
  bool valid = type && rest.contains(']') && (padding.empty() || result.padNan);
  llvm::SmallVector<StringRef> dims;
  shapeText.split(dims, ',');
  for (StringRef dim : dims) {
    int64_t size = 0;
    valid &= !dim.trim().getAsInteger(10, size);
    result.block.push_back(size);
  }
  if (!valid) {
    error = formatted(
        "`tensordesc<{}>` is not a descriptor type such as `tensordesc<fp16[128,64]>`", inner);
    return std::nullopt;
  }
  result.type = *type;
  return result;
}

/// The spelling that `text` stands for elsewhere, or is near to; empty if none is.
static std::string typeMeantBy(StringRef text) {
  bool isPointer = text.consume_front("*") || text.consume_back("*");
  text = text.trim();
  StringRef known = llvm::StringSwitch<StringRef>(text)
                        .Cases({"f32", "float"}, "fp32")
                        .Cases({"f64", "double"}, "fp64")
                        .Cases({"f16", "half"}, "fp16")
                        .Cases({"int", "int32_t"}, "i32")
                        .Cases({"long", "int64_t"}, "i64")
                        .Case("bool", "i1")
                        .Default("");
  static const std::vector<StringRef> types = {"fp16", "bf16", "fp32", "fp64", "i1",  "i8", "i16",
                                               "i32",  "i64",  "u8",   "u16",  "u32", "u64"};
  if (llvm::is_contained(types, text)) // `fp32*`
    known = text;
  if (known.empty())
    known = frontend::nearestName(text, types);
  return known.empty() ? "" : formatted("{}{}", isPointer ? "*" : "", known);
}

std::optional<ArgumentType> parseArgumentType(StringRef text, std::string &error) {
  text = text.trim();
  ArgumentType result;
  if (text == "none" || text == "None") {
    result.kind = ArgumentType::Kind::None;
    return result;
  }
  StringRef rest = text;
  if (rest.consume_front("const=")) {
    result.kind = ArgumentType::Kind::Constant;
    result.constant = rest.str();
    return result;
  }
  if (auto [name, inner] = rest.split('(');
      rest.contains('(') && inner.consume_back(")") && (name.empty() || isName(name.trim()))) {
    std::optional<ArgumentType> tuple = parseTuple(inner, error);
    if (tuple)
      tuple->className = name.trim().str();
    return tuple;
  }
  if (rest.consume_front("tensordesc<") && rest.consume_back(">"))
    return parseDescriptor(rest, error);

  auto [spelling, hint] = text.split(':');
  std::optional<DType> type = DType::parse(spelling.trim());
  if (!type || type->isVoid() || type->isBlock()) {
    std::string meant = typeMeantBy(spelling.trim());
    error = meant.empty()
                ? formatted("`{}` is not an argument type: use `*fp32` (pointer), `i32`, `i64`, "
                            "`u8`, `i1`, `fp16`, `bf16`, `fp32`, `fp64`, ..., "
                            "`tensordesc<fp16[64,64]>`, `none`, a tuple in parentheses, or "
                            "`const=VALUE`",
                            text)
                : formatted("`{}` is not an argument type; did you mean `{}`?", text, meant);
    return std::nullopt;
  }
  result.type = *type;
  if (!text.contains(':'))
    return result;
  bool isInteger = type->isInt() && !type->isBool();
  int64_t number = 0;
  bool isNumber = !hint.trim().getAsInteger(10, number);
  bool isMultiple = number >= 2 && number <= 16 && llvm::isPowerOf2_64(number);
  bool valid =
      isNumber && ((number == 1 && isInteger) || (isMultiple && (isInteger || type->isPointer())));
  if (!valid) {
    error = formatted("`:{}` means nothing for {}: `:16` is a multiple of 16 (pointers and "
                      "integers; `:8`, `:4` and `:2` likewise), `:1` is equal to 1 (integers)",
                      hint, type->str());
    return std::nullopt;
  }
  result.isOne = number == 1;
  result.divisibility = number;
  return result;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// JSON as Python reads it: integers stay integers of any size.
class ConstantReader {
public:
  explicit ConstantReader(StringRef text) : text(text) {}
  std::optional<PyValue> readAll() {
    std::optional<PyValue> value = read(0);
    skipSpace();
    return text.empty() ? value : std::nullopt;
  }

private:
  void skipSpace() { text = text.ltrim(); }
  std::optional<PyValue> read(unsigned depth);
  std::optional<PyValue> readList(unsigned depth);
  std::optional<PyValue> readString();
  std::optional<PyValue> readWord();
  StringRef text;
};
} // namespace

std::optional<PyValue> ConstantReader::readList(unsigned depth) {
  std::vector<PyValue> elements;
  skipSpace();
  if (text.consume_front("]"))
    return PyValue::tuple({});
  while (true) {
    std::optional<PyValue> element = read(depth + 1);
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
    skipSpace();
    if (text.consume_front("]"))
      return PyValue::tuple(std::move(elements));
    if (!text.consume_front(","))
      return std::nullopt;
  }
}

std::optional<PyValue> ConstantReader::readString() {
  size_t end = 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size())
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text.take_front(end + 1));
  text = text.drop_front(end + 1);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  if (std::optional<StringRef> decoded = value->getAsString())
    return PyValue::string(decoded->str());
  return std::nullopt;
}

std::optional<PyValue> ConstantReader::readWord() {
  StringRef word = text.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '+' || c == '-' || c == '.' || c == '_'; });
  text = text.drop_front(word.size());
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (word == "true" || word == "True" || word == "false" || word == "False")
    return PyValue::boolean(word.lower() == "true");
  if (word == "null" || word == "None")
    return PyValue::none();
  if (word == "inf" || word == "-inf")
    return PyValue::number(word == "inf" ? inf : -inf);
  if (word == "nan")
    return PyValue::number(std::nan(""));
  StringRef digits = word;
  bool negative = digits.consume_front("-");
  if (!digits.empty() && llvm::all_of(digits, llvm::isDigit)) {
    constexpr size_t maxDigits = 2000;
    if (digits.size() > maxDigits)
      return std::nullopt;
    llvm::APInt value(digits.size() * 4 + 2, digits, 10);
    return PyValue::integer(negative ? -value : value);
  }
  if (std::optional<double> number = frontend::decodeDecimal(digits))
    return PyValue::number(negative ? -*number : *number);
  return std::nullopt;
}

std::optional<PyValue> ConstantReader::read(unsigned depth) {
  constexpr unsigned maxDepth = 32;
  skipSpace();
  if (depth > maxDepth)
    return std::nullopt;
  if (text.consume_front("["))
    return readList(depth);
  return text.starts_with("\"") ? readString() : readWord();
}

std::optional<PyValue> parseConstant(StringRef text, eval::ModuleEnv &module, std::string &error) {
  text = text.trim();
  StringRef rest = text;
  if (rest.consume_front("@")) {
    eval::Result value = module.lookup(rest);
    if (value && value->is(PyValue::Kind::Function))
      return value.take();
    error = value ? formatted("`{}` is not a function of the file", rest)
                  : value.error().diagnostic.message;
    return std::nullopt;
  }
  if (rest.consume_front("tl.") || rest.consume_front("triton.language."))
    if (std::optional<DType> type = DType::parse(rest))
      return PyValue::dtype(*type);
  if (std::optional<PyValue> value = ConstantReader(text).readAll())
    return value;
  error = formatted("`{}` is not a value: use JSON (128, 0.5, true, null, \"relu\", [1,2]), "
                    "`tl.float16`, `@function`, inf, -inf or nan",
                    text);
  return std::nullopt;
}

} // namespace tile::specialize
