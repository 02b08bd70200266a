//===- Literals.h - the values of literals --------------------------------===//
#ifndef TILE_FRONTEND_LITERALS_H
#define TILE_FRONTEND_LITERALS_H

#include "frontend/AST.h"
#include "llvm/ADT/StringRef.h"

namespace tile::frontend {

/// How the text between the quotes is to be read.
struct StringForm {
  bool raw = false;
  bool bytes = false;
  bool fstring = false; ///< `{{` and `}}` stand for one brace
};

struct LiteralError {
  SourceRange range; ///< relative to the text given
  std::string message;
};

/// Appends a code point; lone surrogates in the generalised form of UTF-8.
void appendUtf8(uint32_t codePoint, std::string &out);
/// The code point of one character.
uint32_t codePointOf(llvm::StringRef character);

/// Appends the characters that `body` stands for (UTF-8, or bytes).
std::optional<LiteralError> decodeString(llvm::StringRef body, StringForm form, std::string &out);

/// Sets type and value of `constant` from the spelling of a number, which has
/// been checked by the lexer.
std::optional<LiteralError> decodeNumber(llvm::StringRef spelling, ast::Constant &constant);

/// The value of a decimal number without a sign (`1`, `.5`, `2.`, `1e-3`); nothing if `text`
/// is anything else.
std::optional<double> decodeDecimal(llvm::StringRef text);

} // namespace tile::frontend

#endif // TILE_FRONTEND_LITERALS_H
