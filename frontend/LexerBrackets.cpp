//===- LexerBrackets.cpp - brackets, and where a line without one goes on -===//
#include "frontend/LexerImpl.h"
#include "frontend/NormalForm.h"
#include "text/Format.h"
#include "llvm/Support/ConvertUTF.h"
#include <algorithm>
#include <array>

namespace tile::frontend {

void Lexer::trackBracket(Tok kind) {
  uint32_t at = list.tokens.back().begin;
  switch (kind) {
  case Tok::LParen:
  case Tok::LSquare:
  case Tok::LBrace:
    open.push_back({Open::Bracket, text[at], at});
    return;
  case Tok::Colon:
    if (!open.empty() && open.back().kind == Open::Field)
      open.push_back({Open::Spec, ':', at});
    return;
  case Tok::RParen:
  case Tok::RSquare:
  case Tok::RBrace:
    break;
  default:
    return;
  }
  char opener = kind == Tok::RParen ? '(' : kind == Tok::RSquare ? '[' : '{';
  if (!open.empty() && open.back().kind != Open::FString && open.back().character == opener) {
    open.pop_back();
    return;
  }
  list.tokens.pop_back();
  if (open.empty())
    return fail({at, at + 1}, at + 1, formatted("`{}` closes nothing", text[at]));
  fail({at, at + 1}, at + 1,
       formatted("`{}` does not close `{}`", text[at], open.back().character));
}

void Lexer::failOnCharacter() {
  char c = text[pos];
  if (c == '!')
    return fail({pos, pos + 1}, pos + 1, "unexpected `!`; write `not x` or `x != y`");
  if (c == '$' || c == '?' || c == '`')
    return fail({pos, pos + 1}, pos + 1, formatted("unexpected character '{}'", c));
  if (static_cast<unsigned char>(c) < 0x80)
    return fail({pos, pos + 1}, pos + 1,
                formatted("unexpected control character 0x{:02x}", static_cast<unsigned>(c)));
  CodePoint point = decodeUtf8(text.substr(pos));
  if (!point.length)
    return fail({pos, pos + 1}, pos + 1, "invalid UTF-8; save the file as UTF-8");
  std::string hint;
  if (point.value >= 0x2018 && point.value <= 0x201F)
    hint = "; strings are quoted with ' or \"";
  else if (point.value == 0xA0 || point.value == 0x3000 || point.value == 0xFEFF ||
           (point.value >= 0x2000 && point.value <= 0x200F))
    hint = "; it looks like a space, but is none";
  else if (point.value == 0x2212 || point.value == 0x2013 || point.value == 0x2014)
    hint = "; write `-`";
  fail({pos, pos + point.length}, pos + point.length,
       formatted("unexpected character U+{:04X}{}", point.value, hint));
}

/// Inside brackets (or an f-string field), where the file or a statement ends.
void Lexer::endInsideBrackets() {
  Open innermost = open.back();
  uint32_t resume = resumePoint(open.front().offset);
  open.clear();
  auto &tokens = list.tokens;
  while (!tokens.empty() && tokens.back().begin >= resume)
    tokens.pop_back();
  fail({innermost.offset, innermost.offset + 1}, resume,
       formatted("`{}` is never closed", innermost.character));
  endLine(resume);
  pos = text.substr(0, resume).find_last_of("\r\n") + 1;
  if (resume >= text.size())
    pos = text.size();
  else
    startLine();
}

static unsigned columnAfter(llvm::StringRef indentation) {
  unsigned column = 0;
  for (char c : indentation)
    column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
  return column;
}

/// Whether an expression may end in this token, so that the next line is
/// probably no continuation of it.
static bool endsExpression(Tok kind) {
  switch (kind) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::FStringEnd:
  case Tok::RParen:
  case Tok::RSquare:
  case Tok::RBrace:
  case Tok::Colon:
    return true;
  default:
    return false;
  }
}

/// Where the next statement probably begins after an `opener` that is never
/// closed: the first line that is indented no deeper than the statement, or
/// else than the line of the keyword that gave the mistake away, if the line
/// before it looks complete; at the latest, here.
uint32_t Lexer::resumePoint(uint32_t opener) {
  // Lexing the same text again and again must not become quadratic.
  if (++resumed > 20)
    return text.size();
  llvm::StringRef lineHere = text.substr(text.substr(0, pos).find_last_of("\r\n") + 1);
  unsigned columnHere =
      columnAfter(lineHere.take_while([](char c) { return c == ' ' || c == '\t'; }));
  auto after = std::partition_point(list.tokens.begin(), list.tokens.end(),
                                    [&](const Token &t) { return t.begin <= opener; });
  uint32_t previous = opener;
  uint32_t likely = pos;
  for (auto token = after; token != list.tokens.end(); ++token) {
    llvm::StringRef gap = text.slice(previous, token->begin);
    previous = token->end;
    size_t newline = gap.find_last_of("\r\n");
    if (newline == llvm::StringRef::npos || token->kind == Tok::FStringMiddle ||
        token->kind == Tok::FStringEnd || llvm::StringRef(")]}").contains(text[token->begin]))
      continue;
    unsigned column = columnAfter(gap.drop_front(newline + 1));
    if (column <= statementColumn)
      return token->begin;
    if (likely == pos && column <= columnHere && endsExpression((token - 1)->kind))
      likely = token->begin;
  }
  return likely;
}

} // namespace tile::frontend
