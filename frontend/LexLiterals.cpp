//===- LexLiterals.cpp - numbers, strings and f-strings -------------------===//
#include "frontend/LexerImpl.h"
#include "text/Format.h"

namespace tile::frontend {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The end of digits with single underscores between (or before) them.
uint32_t Lexer::skipDigits(uint32_t at, bool (*isDigit)(char)) {
  while (isDigit(peekAt(at)) || (peekAt(at) == '_' && isDigit(peekAt(at + 1))))
    ++at;
  return at;
}

void Lexer::lexNumber() {
  auto decimal = [](char c) { return llvm::isDigit(c); };
  char base = llvm::toLower(peekAt(pos + 1));
  if (text[pos] == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    bool (*isDigit)(char) = [](char c) { return llvm::isHexDigit(c); };
    if (base == 'o')
      isDigit = [](char c) { return c >= '0' && c <= '7'; };
    else if (base == 'b')
      isDigit = [](char c) { return c == '0' || c == '1'; };
    const char *name = base == 'x' ? "hexadecimal" : base == 'o' ? "octal" : "binary";
    uint32_t end = skipDigits(pos + 2, isDigit);
    if (end == pos + 2) {
      while (unsigned length = identifierLength(end, /*first=*/false))
        end += length;
      return fail({pos, end}, end, formatted("invalid {} number", name));
    }
    return finishNumber(end, name);
  }

  bool integer = true;
  uint32_t end = text[pos] == '.' ? pos : skipDigits(pos, decimal);
  if (peekAt(end) == '.') {
    integer = false;
    ++end;
    if (llvm::isDigit(peekAt(end)))
      end = skipDigits(end, decimal);
  }
  if (llvm::toLower(peekAt(end)) == 'e') {
    uint32_t digits = end + 1 + (peekAt(end + 1) == '+' || peekAt(end + 1) == '-');
    if (llvm::isDigit(peekAt(digits))) {
      integer = false;
      end = skipDigits(digits, decimal);
    }
  }
  if (llvm::toLower(peekAt(end)) == 'j')
    return finishNumber(end + 1, "imaginary");
  llvm::StringRef digits = text.slice(pos, end);
  if (integer && digits.starts_with("0") && digits.find_first_not_of("0_") != llvm::StringRef::npos)
    return fail({pos, end}, end,
                "a decimal number cannot begin with 0; octal is written `0o` and the digits");
  finishNumber(end, "decimal");
}

/// Emits [pos, end) unless letters follow without a space. Python lets a
/// keyword that continues an expression follow, as in `1if x else 2`.
void Lexer::finishNumber(uint32_t end, const char *kind) {
  uint32_t after = end;
  while (unsigned length = identifierLength(after, /*first=*/after == end))
    after += length;
  if (after == end && llvm::isDigit(peekAt(end)))
    ++after;
  llvm::StringRef suffix = text.slice(end, after);
  bool keyword = false;
  for (llvm::StringRef word : {"and", "else", "for", "if", "in", "is", "not", "or"})
    keyword |= suffix.starts_with(word);
  if (!suffix.empty() && !keyword)
    return fail({pos, after}, after, formatted("`{}` cannot follow a {} number", suffix, kind));
  constexpr unsigned maxLength = 16384;
  if (end - pos > maxLength)
    return fail({pos, end}, end, formatted("a number may have at most {} characters", maxLength));
  emit(Tok::Number, pos, end);
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

static bool isTriple(llvm::StringRef text, uint32_t quoteAt) {
  char quote = text[quoteAt];
  return text.substr(quoteAt, 3) == std::string(3, quote);
}

/// Reads a plain string whose prefix begins at `pos` and quote at `quoteAt`.
/// A backslash hides the next character, in raw strings as well.
void Lexer::lexString(uint32_t quoteAt) {
  bool triple = isTriple(text, quoteAt);
  char quote = text[quoteAt];
  uint32_t at = quoteAt + (triple ? 3 : 1);
  while (at < text.size()) {
    if (text[at] == '\\') {
      ++at;
      at += std::max(newlineLength(at), 1u);
    } else if (!triple && newlineLength(at)) {
      break;
    } else if (text[at] == quote && (!triple || isTriple(text, at))) {
      return emit(Tok::String, pos, at + (triple ? 3 : 1));
    } else {
      ++at;
    }
  }
  uint32_t end = std::min<uint32_t>(at, text.size());
  for (const Open &o : open)
    if (o.kind == Open::Field)
      return unterminatedFString(end);
  if (triple)
    return fail({pos, quoteAt + 3}, end, "this triple-quoted string is never closed");
  fail({pos, end}, end, formatted("this string is not closed with {}", quote));
}

//===----------------------------------------------------------------------===//
// F-strings
//===----------------------------------------------------------------------===//

void Lexer::startFString(uint32_t quoteAt, bool raw) {
  Open string{Open::FString, text[quoteAt], pos};
  string.quote = text[quoteAt];
  string.triple = isTriple(text, quoteAt);
  string.raw = raw;
  emit(Tok::FStringStart, pos, quoteAt + (string.triple ? 3 : 1));
  open.push_back(string);
}

/// The end of the escape sequence at a backslash. A brace after it still opens
/// a field, except in `\N{...}`.
uint32_t Lexer::skipEscape(uint32_t at, bool raw) const {
  char next = peekAt(at + 1);
  if (next == '{' || next == '}')
    return at + 1;
  if (!raw && next == 'N' && peekAt(at + 2) == '{') {
    size_t close = text.find_first_of("}\r\n\"'", at);
    return close != llvm::StringRef::npos && text[close] == '}' ? close + 1 : at + 2;
  }
  return at + 1 + std::max(newlineLength(at + 1), 1u);
}

/// Reads literal text of the innermost f-string, or of a format spec in it, up
/// to and including the next brace or quote that ends it.
void Lexer::lexFStringText() {
  bool spec = open.back().kind == Open::Spec;
  size_t index = open.size() - 1;
  while (open[index].kind != Open::FString)
    --index;
  const Open string = open[index];
  uint32_t at = pos;
  auto flush = [&] {
    if (at > pos)
      emit(Tok::FStringMiddle, pos, at);
  };
  while (at < text.size()) {
    char c = text[at];
    bool doubled = !spec && peekAt(at + 1) == c;
    if (c == '\\') {
      at = std::min<uint32_t>(skipEscape(at, string.raw), text.size());
    } else if (!string.triple && newlineLength(at)) {
      break;
    } else if (c == string.quote && (!string.triple || isTriple(text, at))) {
      if (spec)
        break;
      flush();
      open.pop_back();
      return emit(Tok::FStringEnd, at, at + (string.triple ? 3 : 1));
    } else if ((c == '{' || c == '}') && doubled) {
      at += 2;
    } else if (c == '{') {
      flush();
      emit(Tok::LBrace, at, at + 1);
      return open.push_back({Open::Field, '{', at});
    } else if (c == '}' && spec) {
      flush();
      open.resize(open.size() - 2, open.back());
      return emit(Tok::RBrace, at, at + 1);
    } else if (c == '}') {
      flush();
      return fail({at, at + 1}, at + 1, "a single `}` in an f-string is written `}}`");
    } else {
      ++at;
    }
  }
  unterminatedFString(at);
}

/// Gives up on the outermost f-string that is open.
void Lexer::unterminatedFString(uint32_t at) {
  size_t outer = 0;
  while (open[outer].kind != Open::FString)
    ++outer;
  Open string = open[outer];
  bool inField = open.size() > outer + 1;
  open.resize(outer, string);
  uint32_t quotes = text.find(string.quote, string.offset) + (string.triple ? 3 : 1);
  fail({string.offset, quotes}, at,
       inField ? "this f-string is not closed, or a `}` is missing in it"
               : "this f-string is not closed");
}

} // namespace tile::frontend
