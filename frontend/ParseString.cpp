//===- ParseString.cpp - string literals and f-strings --------------------===//
#include "frontend/Literals.h"
#include "frontend/ParserImpl.h"

namespace tile::frontend {

using namespace ast;

namespace {
/// A string token taken apart: prefix, quotes, text.
struct Quoted {
  bool raw, bytes;
  uint32_t bodyBegin, bodyEnd; ///< relative to the token
};

Quoted takeApart(llvm::StringRef token) {
  size_t prefix = token.find_first_of("'\"");
  std::string letters = token.take_front(prefix).lower();
  llvm::StringRef quoted = token.drop_front(prefix);
  bool triple = quoted.starts_with("'''") || quoted.starts_with("\"\"\"");
  uint32_t quotes = triple ? 3 : 1;
  Quoted parts{llvm::StringRef(letters).contains('r'), llvm::StringRef(letters).contains('b'),
               static_cast<uint32_t>(prefix + quotes), static_cast<uint32_t>(token.size())};
  if (token.size() >= prefix + 2 * quotes && letters.find('f') == std::string::npos)
    parts.bodyEnd -= quotes;
  return parts;
}
} // namespace

/// Adjacent literals, joined: a Constant, or an FString if any of them is one.
ExprPtr Parser::parseStrings() {
  uint32_t begin = peek().begin;
  std::vector<FString::Part> parts;
  std::optional<bool> bytes;
  bool anyFString = false;
  while (at(Tok::String) || at(Tok::FStringStart)) {
    SourceRange range = peek().range();
    bool theseBytes = false;
    if (at(Tok::FStringStart)) {
      anyFString = true;
      if (!parseFString(parts))
        return nullptr;
    } else {
      if (parts.empty() || parts.back().expr)
        parts.emplace_back();
      if (!parseStringToken(parts.back().literal, theseBytes))
        return nullptr;
    }
    if (bytes && *bytes != theseBytes)
      return fail(range, "bytes and strings cannot be joined");
    bytes = theseBytes;
  }
  if (anyFString) {
    auto node = std::make_unique<FString>(since(begin));
    node->parts = std::move(parts);
    return node;
  }
  auto node = std::make_unique<Constant>(since(begin),
                                         *bytes ? Constant::Type::Bytes : Constant::Type::String);
  node->text = std::move(parts.front().literal);
  return node;
}

bool Parser::decodeInto(SourceRange range, bool raw, bool bytes, bool fstring, std::string &out) {
  StringForm form{raw, bytes, fstring};
  auto error = decodeString(text(range), form, out);
  if (error)
    fail({range.begin + error->range.begin, range.begin + error->range.end}, error->message);
  return !error;
}

bool Parser::parseStringToken(std::string &out, bool &bytes) {
  Token token = take();
  Quoted quoted = takeApart(text(token.range()));
  bytes = quoted.bytes;
  return decodeInto({token.begin + quoted.bodyBegin, token.begin + quoted.bodyEnd}, quoted.raw,
                    quoted.bytes, /*fstring=*/false, out);
}

bool Parser::parseFString(std::vector<FString::Part> &parts) {
  Token start = take();
  bool raw = takeApart(text(start.range())).raw;
  return parseFStringParts(parts, Tok::FStringEnd, raw) && expect(Tok::FStringEnd, "");
}

/// Literal pieces and fields up to `end`, which is not taken: the end of the
/// string, or the brace that closes a format spec.
bool Parser::parseFStringParts(std::vector<FString::Part> &parts, Tok end, bool raw) {
  while (!at(end)) {
    if (at(Tok::FStringMiddle)) {
      if (parts.empty() || parts.back().expr)
        parts.emplace_back();
      bool spec = end == Tok::RBrace;
      if (!decodeInto(take().range(), raw, /*bytes=*/false, !spec, parts.back().literal))
        return false;
      continue;
    }
    if (!at(Tok::LBrace)) {
      failHere("the end of the f-string");
      return false;
    }
    FString::Part part;
    if (!parseFStringField(part, raw))
      return false;
    parts.push_back(std::move(part));
  }
  return true;
}

/// `{` expr [`=`] [`!` conversion] [`:` spec] `}`
bool Parser::parseFStringField(FString::Part &part, bool raw) {
  Nest nest(*this);
  if (!nest)
    return false;
  uint32_t begin = take().end;
  if (at(Tok::RBrace) || at(Tok::Bang) || at(Tok::Colon)) {
    failHere("an expression in the f-string");
    return false;
  }
  if (!(part.expr = parseYieldOrExprList()))
    return false;
  if (accept(Tok::Equal)) {
    part.debug = true;
    part.debugText = text({begin, peek().begin}).str();
  }
  if (accept(Tok::Bang)) {
    Token conversion = peek();
    llvm::StringRef letter = text(conversion.range());
    if (conversion.kind != Tok::Name || (letter != "r" && letter != "s" && letter != "a")) {
      failHere("a conversion (`!r`, `!s` or `!a`)");
      return false;
    }
    take();
    part.conversion = letter.front();
  }
  if (accept(Tok::Colon)) {
    part.format = std::make_unique<FString>(SourceRange{previousEnd, previousEnd});
    if (!parseFStringParts(part.format->parts, Tok::RBrace, raw))
      return false;
    part.format->range.end = previousEnd;
  }
  if (at(Tok::RBrace)) {
    take();
    return true;
  }
  failHere("`}` in the f-string");
  return false;
}

} // namespace tile::frontend
