//===- LexerImpl.h - the state of the lexer -------------------------------===//
//
// Private to Lexer.cpp (layout, names, punctuation) and LexLiterals.cpp
// (numbers, strings, f-strings).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_LEXERIMPL_H
#define TILE_FRONTEND_LEXERIMPL_H

#include "frontend/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace tile::frontend {

/// A decoded character; length 0 if the bytes are not UTF-8.
struct CodePoint {
  uint32_t value;
  unsigned length;
};
CodePoint decodeUtf8(llvm::StringRef text);

class Lexer {
public:
  explicit Lexer(llvm::StringRef text);
  TokenList run();

private:
  /// Something that is open at this point of the text.
  struct Open {
    enum Kind { Bracket, FString, Field, Spec } kind;
    char character;  ///< as a message names it
    uint32_t offset; ///< of the opening character
    // FString only:
    char quote = 0;
    bool triple = false, raw = false;
  };
  /// A line's indentation, with tabs to multiples of 8 and with tabs as one.
  struct Indentation {
    unsigned column = 0, characters = 0;
  };

  char peekAt(uint32_t at) const { return at < text.size() ? text[at] : '\0'; }
  unsigned identifierLength(uint32_t at, bool first) const;
  uint32_t newlineLength(uint32_t at) const;
  uint32_t lineEnd(uint32_t at) const;
  bool firstOnLine() const;

  void emit(Tok kind, uint32_t begin, uint32_t end);
  /// Emits an Error token that a message underlines as `at`, and goes to `end`.
  void fail(SourceRange at, uint32_t end, std::string message);

  void startLine();
  void endLine(uint32_t end);
  void changeIndentation(Indentation here, uint32_t begin);

  void lexToken();
  void lexContinuation();
  void lexNameOrString();
  void lexPunctuation();
  void trackBracket(Tok kind);
  void failOnCharacter();
  void endInsideBrackets();
  uint32_t resumePoint(uint32_t opener);

  void lexNumber();
  uint32_t skipDigits(uint32_t at, bool (*isDigit)(char));
  void finishNumber(uint32_t end, const char *kind);
  void lexString(uint32_t quoteAt);
  void startFString(uint32_t quoteAt, bool raw);
  void lexFStringText();
  uint32_t skipEscape(uint32_t at, bool raw) const;
  void unterminatedFString(uint32_t at);

  llvm::StringRef text;
  uint32_t pos = 0;
  unsigned statementColumn = 0; ///< indentation of the current statement
  unsigned resumed = 0;
  std::vector<Indentation> indents;
  std::vector<Open> open;
  TokenList list;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_LEXERIMPL_H
