//===- Lexer.h - from text to tokens --------------------------------------===//
//
// The whole file is turned into a vector of tokens up front, so that the
// parser can look ahead and go back freely. Layout becomes Newline, Indent and
// Dedent tokens; an f-string becomes FStringStart, then FStringMiddle pieces
// and `{` ... `}` fields of ordinary tokens, then FStringEnd.
//
// Text that is no token becomes an Error token that carries its message. The
// parser reports it when it gets there, so one mistake gives one message, in
// source order.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_LEXER_H
#define TILE_FRONTEND_LEXER_H

#include "frontend/Source.h"
#include <string>
#include <vector>

namespace tile::frontend {

enum class Tok : uint8_t {
  EndOfFile,
  Newline,
  Indent,
  Dedent,
  Error,
  Name,
  Number,
  String, ///< the whole literal, prefix and quotes included
  FStringStart,
  FStringMiddle,
  FStringEnd,
#define TILE_PUNCT(name, text) name,
#define TILE_KEYWORD(name, text) name,
#include "frontend/Tokens.def"
};

/// How a token kind is written in a message: "`(`", "end of file".
std::string describe(Tok kind);

struct Token {
  Tok kind;
  uint32_t begin, end;
  uint32_t message = 0; ///< Error only: index into TokenList::errors

  SourceRange range() const { return {begin, end}; }
};

struct LexError {
  SourceRange range;
  std::string message;
};

/// The tokens of a file; always ends with Newline (if there is any statement),
/// the closing Dedents and EndOfFile.
struct TokenList {
  std::vector<Token> tokens;
  std::vector<LexError> errors;
};

/// Levels of indentation that are accepted.
constexpr unsigned maxIndentation = 100;

TokenList lex(llvm::StringRef text);

} // namespace tile::frontend

#endif // TILE_FRONTEND_LEXER_H
