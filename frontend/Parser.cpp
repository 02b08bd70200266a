//===- Parser.cpp - entry points, tokens and error reports ----------------===//
#include "frontend/ParserImpl.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"

namespace tile::frontend {

Parser::Parser(const SourceFile &file, DiagnosticEngine &diagnostics)
    : file(file), diagnostics(diagnostics), list(lex(file.text())) {}

ast::Module Parser::parseModule() {
  ast::Module module;
  while (!at(Tok::EndOfFile)) {
    if (accept(Tok::Dedent)) // closes a block that began by mistake
      continue;
    parseStatement(module.body);
  }
  return module;
}

ast::ExprPtr Parser::parseSingleExpression() {
  accept(Tok::Indent);
  ast::ExprPtr value = parseExprList();
  if (!value)
    return nullptr;
  accept(Tok::Newline);
  accept(Tok::Dedent);
  if (!at(Tok::EndOfFile))
    return failHere("the end of the expression");
  return value;
}

bool Parser::atAny(std::initializer_list<Tok> kinds) const {
  return llvm::is_contained(kinds, peek().kind);
}

bool Parser::atName(llvm::StringRef soft) const {
  return at(Tok::Name) && text(peek().range()) == soft;
}

Token Parser::take() {
  Token token = peek();
  if (token.kind != Tok::EndOfFile)
    ++pos;
  if (token.kind != Tok::Newline && token.kind != Tok::Indent && token.kind != Tok::Dedent)
    previousEnd = token.end;
  return token;
}

bool Parser::accept(Tok kind) {
  if (!at(kind))
    return false;
  take();
  return true;
}

bool Parser::expect(Tok kind, llvm::StringRef after) {
  if (accept(kind))
    return true;
  failHere(describe(kind) + (after.empty() ? "" : formatted(" after {}", after)));
  return false;
}

llvm::StringRef Parser::text(SourceRange range) const {
  return file.text().slice(range.begin, range.end);
}

std::nullptr_t Parser::fail(SourceRange range, std::string message) {
  // The token that stopped one statement may stop the next one as well.
  const auto &all = diagnostics.all();
  bool repeated = !all.empty() && all.back().file == &file && all.back().range == range &&
                  all.back().message == message;
  if (!failed && !repeated)
    diagnostics.error(&file, range, std::move(message));
  failed = true;
  return nullptr;
}

std::nullptr_t Parser::failHere(llvm::StringRef wanted) {
  if (failed)
    return nullptr;
  const Token &token = peek();
  if (token.kind == Tok::Error) {
    const LexError &error = list.errors[token.message];
    return fail(error.range, error.message);
  }
  // A bracket that is never closed explains whatever went wrong after it.
  for (size_t i = pos; i < list.tokens.size() && list.tokens[i].kind != Tok::Newline; ++i) {
    const Token &later = list.tokens[i];
    if (later.kind != Tok::Error)
      continue;
    const LexError &error = list.errors[later.message];
    if (error.range.begin < token.begin)
      return fail(error.range, error.message);
    break;
  }
  std::string hint = hintHere();
  bool named = token.kind == Tok::Name || token.kind == Tok::Number || token.kind == Tok::String;
  llvm::StringRef spelling = text(token.range()).take_until([](char c) { return c == '\n'; });
  std::string found = named && spelling.size() <= 40 ? formatted("`{}`", spelling.rtrim('\r'))
                                                     : describe(token.kind);
  // Where something is missing at the end of a line, point just behind it.
  SourceRange range = token.range();
  if (token.kind == Tok::Newline || token.kind == Tok::EndOfFile)
    range = {previousEnd, previousEnd + 1};
  else if (token.kind == Tok::Indent || token.kind == Tok::Dedent)
    range = {token.end, token.end + 1};
  return fail(range, formatted("expected {}, found {}{}", wanted, found, hint));
}

/// Explains what people who come from other languages tend to write.
std::string Parser::hintHere() const {
  const Token before = pos ? list.tokens[pos - 1] : peek();
  bool adjacent = before.end == peek().begin;
  switch (peek().kind) {
  case Tok::Equal:
    return "; comparison is written `==`";
  case Tok::Amp:
    return before.kind == Tok::Amp && adjacent ? "; write `and` for `&&`" : "";
  case Tok::Pipe:
    return before.kind == Tok::Pipe && adjacent ? "; write `or` for `||`" : "";
  case Tok::DoubleSlash:
    return "; a comment begins with `#`";
  case Tok::KwIf:
    return before.kind == Tok::KwElse ? "; write `elif` for `else if`" : "";
  case Tok::Newline:
    if (pos >= 2 && (before.kind == Tok::Plus || before.kind == Tok::Minus) &&
        list.tokens[pos - 2].kind == before.kind)
      return formatted("; write `{0}= 1` for `{0}{0}`", text(before.range()));
    return "";
  default:
    return "";
  }
}

bool Parser::checkNesting() {
  if (nesting <= maxNesting)
    return true;
  fail(peek().range(), formatted("this is nested more than {} deep", maxNesting));
  return false;
}

bool Parser::grow() {
  if (++height <= maxTreeDepth)
    return true;
  fail(peek().range(),
       formatted("more than {} operations are chained here; split them over several statements",
                 maxTreeDepth));
  return false;
}

ast::Module parse(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return Parser(file, diagnostics).parseModule();
}

ast::ExprPtr parseExpression(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return Parser(file, diagnostics).parseSingleExpression();
}

} // namespace tile::frontend
