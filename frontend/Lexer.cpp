//===- Lexer.cpp - layout, brackets and punctuation -----------------------===//
//
// The lexer keeps one stack of what is open: brackets, f-strings, and the
// replacement fields and format specs inside f-strings. Its top decides how the
// next character is read; newlines end a line only while it is empty.
//
// A bracket that is never closed would swallow the rest of the file. No
// statement keyword can stand inside brackets, so one found there (or the end
// of the file) proves the mistake; lexing then resumes at the first line that
// is indented no deeper than the statement with the open bracket.
//
//===----------------------------------------------------------------------===//
#include "frontend/LexerImpl.h"
#include "frontend/NormalForm.h"
#include "text/Format.h"
#include "llvm/Support/ConvertUTF.h"
#include <algorithm>
#include <array>

namespace tile::frontend {

std::string describe(Tok kind) {
  switch (kind) {
  case Tok::EndOfFile:
    return "end of file";
  case Tok::Newline:
    return "end of line";
  case Tok::Indent:
    return "indentation";
  case Tok::Dedent:
    return "end of block";
  case Tok::Error:
    return "invalid text";
  case Tok::Name:
    return "name";
  case Tok::Number:
    return "number";
  case Tok::String:
  case Tok::FStringStart:
  case Tok::FStringMiddle:
  case Tok::FStringEnd:
    return "string";
#define TILE_PUNCT(name, text)                                                                     \
  case Tok::name:                                                                                  \
    return "`" text "`";
#define TILE_KEYWORD(name, text)                                                                   \
  case Tok::name:                                                                                  \
    return "`" text "`";
#include "frontend/Tokens.def"
  }
  llvm_unreachable("covered switch");
}

namespace {
struct Spelling {
  Tok kind;
  llvm::StringLiteral text;
};

/// The spellings of a table by their first character, each list in the table's order: most
/// names and signs are told from all others by it.
template <size_t N> struct ByFirstCharacter {
  static_assert(N < 255);
  static constexpr uint8_t none = 255;
  std::array<uint8_t, 128> first{};
  std::array<uint8_t, N> next{};

  constexpr explicit ByFirstCharacter(const Spelling (&table)[N]) {
    for (uint8_t &index : first)
      index = none;
    for (size_t i = N; i-- > 0;) {
      uint8_t &head = first[static_cast<unsigned char>(table[i].text.data()[0])];
      next[i] = head;
      head = static_cast<uint8_t>(i);
    }
  }
  uint8_t begin(char c) const {
    auto index = static_cast<unsigned char>(c);
    return index < first.size() ? first[index] : none;
  }
};
} // namespace

static constexpr Spelling keywords[] = {
#define TILE_KEYWORD(name, text) {Tok::name, text},
#include "frontend/Tokens.def"
};
static constexpr ByFirstCharacter keywordsByFirst(keywords);

static constexpr Spelling signs[] = {
#define TILE_PUNCT(name, text) {Tok::name, text},
#include "frontend/Tokens.def"
};
static constexpr ByFirstCharacter signsByFirst(signs);

static Tok keywordOrName(llvm::StringRef word) {
  for (uint8_t i = keywordsByFirst.begin(word.front()); i != keywordsByFirst.none;
       i = keywordsByFirst.next[i])
    if (word == keywords[i].text)
      return keywords[i].kind;
  return Tok::Name;
}

/// Keywords that begin a statement and can never stand inside brackets.
static bool onlyBeginsStatements(Tok kind) {
  switch (kind) {
  case Tok::KwAssert:
  case Tok::KwBreak:
  case Tok::KwClass:
  case Tok::KwContinue:
  case Tok::KwDef:
  case Tok::KwDel:
  case Tok::KwElif:
  case Tok::KwExcept:
  case Tok::KwFinally:
  case Tok::KwGlobal:
  case Tok::KwImport:
  case Tok::KwNonlocal:
  case Tok::KwPass:
  case Tok::KwRaise:
  case Tok::KwReturn:
  case Tok::KwTry:
  case Tok::KwWhile:
  case Tok::KwWith:
    return true;
  default:
    return false;
  }
}

/// Code points beyond ASCII that are signs, spaces or symbols, not letters.
static bool isSymbol(uint32_t c) {
  static constexpr std::pair<uint32_t, uint32_t> ranges[] = {
      {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},      {0xBB, 0xBF},
      {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2000, 0x203E}, {0x2041, 0x2053},  {0x2055, 0x2070},
      {0x2074, 0x207E}, {0x2080, 0x208E}, {0x20A0, 0x20CF}, {0x2190, 0x2BFF},  {0x3000, 0x3004},
      {0x3008, 0x3020}, {0xD800, 0xF8FF}, {0xFE10, 0xFE1F}, {0xFEFF, 0xFEFF},  {0xFF01, 0xFF0F},
      {0xFF1A, 0xFF20}, {0xFF5B, 0xFF65}, {0xFFF0, 0xFFFF}, {0x1F000, 0x1FAFF}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](auto range) { return c >= range.first && c <= range.second; });
}

CodePoint decodeUtf8(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  const auto *next = begin;
  llvm::UTF32 value = 0;
  if (llvm::convertUTF8Sequence(&next, end, &value, llvm::strictConversion) != llvm::conversionOK)
    return {0, 0};
  return {value, static_cast<unsigned>(next - begin)};
}

/// Of ASCII; what may begin a name is all of them but digits.
static bool isWordCharacter(char c) {
  static constexpr auto table = [] {
    std::array<bool, 256> word{};
    for (int i = 0; i < 26; ++i)
      word['a' + i] = word['A' + i] = true;
    for (int i = 0; i < 10; ++i)
      word['0' + i] = true;
    word['_'] = true;
    return word;
  }();
  return table[static_cast<unsigned char>(c)];
}

unsigned Lexer::identifierLength(uint32_t at, bool first) const {
  char c = peekAt(at);
  if (isWordCharacter(c))
    return !first || !llvm::isDigit(c);
  if (static_cast<unsigned char>(c) < 0x80)
    return 0;
  CodePoint point = decodeUtf8(text.substr(at));
  return point.length && !isSymbol(point.value) ? point.length : 0;
}

Lexer::Lexer(llvm::StringRef text) : text(text) { indents.push_back({0, 0}); }

TokenList Lexer::run() {
  startLine();
  while (pos < text.size() || !open.empty()) {
    if (pos >= text.size()) {
      endInsideBrackets();
      continue;
    }
    if (!open.empty() && (open.back().kind == Open::FString || open.back().kind == Open::Spec))
      lexFStringText();
    else
      lexToken();
  }
  endLine(pos);
  for (; indents.size() > 1; indents.pop_back())
    emit(Tok::Dedent, pos, pos);
  emit(Tok::EndOfFile, pos, pos);
  return std::move(list);
}

void Lexer::emit(Tok kind, uint32_t begin, uint32_t end) {
  list.tokens.push_back({kind, begin, end});
  pos = end;
}

void Lexer::fail(SourceRange at, uint32_t end, std::string message) {
  Token token{Tok::Error, at.begin, std::max(at.end, end)};
  token.message = list.errors.size();
  list.errors.push_back({at, std::move(message)});
  list.tokens.push_back(token);
  pos = end;
}

void Lexer::endLine(uint32_t end) {
  if (list.tokens.empty())
    return;
  switch (list.tokens.back().kind) {
  case Tok::Newline:
  case Tok::Indent:
  case Tok::Dedent:
    return;
  default:
    list.tokens.push_back({Tok::Newline, pos, end});
  }
}

uint32_t Lexer::newlineLength(uint32_t at) const {
  if (peekAt(at) == '\n')
    return 1;
  if (at < text.size() && text[at] == '\r')
    return peekAt(at + 1) == '\n' ? 2 : 1;
  return 0;
}

uint32_t Lexer::lineEnd(uint32_t at) const {
  return std::min<size_t>(text.find_first_of("\r\n", at), text.size());
}

/// Reads the indentation of the next line that is not blank; emits Indent or
/// Dedents. Tabs go to the next multiple of 8; counting them as one column as
/// well tells apart mixtures whose meaning depends on the width of a tab.
void Lexer::startLine() {
  for (;;) {
    Indentation here;
    uint32_t begin = pos;
    for (; pos < text.size(); ++pos) {
      char c = text[pos];
      if (c == ' ')
        ++here.column, ++here.characters;
      else if (c == '\t')
        here.column = (here.column / 8 + 1) * 8, ++here.characters;
      else if (c == '\f')
        here = {};
      else
        break;
    }
    if (pos < text.size() && text[pos] == '#')
      pos = lineEnd(pos);
    if (uint32_t length = newlineLength(pos)) {
      pos += length;
      continue;
    }
    if (pos >= text.size())
      return;
    statementColumn = here.column;
    return changeIndentation(here, begin);
  }
}

void Lexer::changeIndentation(Indentation here, uint32_t begin) {
  Indentation current = indents.back();
  if (here.column == current.column) {
    if (here.characters != current.characters)
      fail({begin, pos}, pos, "inconsistent use of tabs and spaces in indentation");
    return;
  }
  if (here.column > current.column) {
    if (here.characters <= current.characters)
      return fail({begin, pos}, pos, "inconsistent use of tabs and spaces in indentation");
    if (indents.size() > maxIndentation)
      return fail({begin, pos}, text.size(), // all that follows would be as deep
                  formatted("blocks are nested more than {} deep", maxIndentation));
    indents.push_back(here);
    return emit(Tok::Indent, begin, pos);
  }
  while (here.column < indents.back().column) {
    indents.pop_back();
    list.tokens.push_back({Tok::Dedent, pos, pos});
  }
  if (here.column != indents.back().column)
    fail({begin, pos}, pos, "indentation does not match any enclosing block");
  else if (here.characters != indents.back().characters)
    fail({begin, pos}, pos, "inconsistent use of tabs and spaces in indentation");
}

void Lexer::lexToken() {
  char c = text[pos];
  if (c == ' ' || c == '\t' || c == '\f') {
    do
      ++pos;
    while (peekAt(pos) == ' ');
  } else if (c == '#') {
    pos = lineEnd(pos);
  } else if (uint32_t length = newlineLength(pos)) {
    if (open.empty())
      endLine(pos + length);
    pos += length;
    if (open.empty())
      startLine();
  } else if (c == '\\') {
    lexContinuation();
  } else if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peekAt(pos + 1)))) {
    lexNumber();
  } else if (c == '"' || c == '\'') {
    lexString(pos);
  } else if (identifierLength(pos, /*first=*/true)) {
    lexNameOrString();
  } else {
    lexPunctuation();
  }
}

void Lexer::lexContinuation() {
  uint32_t length = newlineLength(pos + 1);
  if (length && pos + 1 + length < text.size())
    pos += 1 + length;
  else if (length || pos + 1 == text.size())
    fail({pos, pos + 1}, text.size(), "the file ends after a line continuation `\\`");
  else
    fail({pos, pos + 1}, pos + 1,
         "a line continuation `\\` must be the last character of its line");
}

void Lexer::lexNameOrString() {
  uint32_t end = pos;
  while (end < text.size() && isWordCharacter(text[end]))
    ++end;
  uint32_t ascii = end;
  while (unsigned length = identifierLength(end, /*first=*/end == pos))
    end += length;
  llvm::StringRef word = text.slice(pos, end);
  for (llvm::StringRef rest = text.slice(ascii, end); !rest.empty();) {
    CodePoint letter = decodeUtf8(rest);
    uint32_t at = end - uint32_t(rest.size());
    if (changesInNames(letter.value))
      return fail({at, at + letter.length}, end,
                  formatted("Python replaces U+{:04X} in names by what it is in Unicode's normal "
                            "form NFKC; write the name in that form",
                            letter.value));
    rest = rest.drop_front(letter.length);
  }
  char quote = peekAt(end);
  if ((quote == '"' || quote == '\'') && word.size() <= 2) {
    std::string prefix = word.lower();
    bool raw = prefix.find('r') != std::string::npos;
    if (prefix == "r" || prefix == "u" || prefix == "b" || prefix == "br" || prefix == "rb")
      return lexString(end);
    if (prefix == "f" || prefix == "fr" || prefix == "rf")
      return startFString(end, raw);
  }
  Tok kind = keywordOrName(word);
  // A statement keyword inside brackets, first on its line: the bracket was
  // never closed.
  if (!open.empty() && onlyBeginsStatements(kind) && firstOnLine())
    return endInsideBrackets();
  emit(kind, pos, end);
}

bool Lexer::firstOnLine() const {
  size_t at = pos;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
    --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

void Lexer::lexPunctuation() {
  llvm::StringRef rest = text.substr(pos, 3);
  bool inField = !open.empty() && open.back().kind == Open::Field;
  for (uint8_t i = signsByFirst.begin(rest.front()); i != signsByFirst.none;
       i = signsByFirst.next[i]) {
    const auto &[kind, spelling] = signs[i];
    if (!rest.starts_with(spelling))
      continue;
    // `{x:=5}` in an f-string is a format spec, and `{x!r:` a conversion.
    if (inField && kind == Tok::Walrus)
      continue;
    if (kind == Tok::Bang && !inField)
      break;
    emit(kind, pos, pos + spelling.size());
    return trackBracket(kind);
  }
  failOnCharacter();
}
TokenList lex(llvm::StringRef text) { return Lexer(text).run(); }

} // namespace tile::frontend
