//===- ParseImport.cpp - imports ----------------------------------------===//
#include "frontend/ParserImpl.h"
#include "text/Format.h"

namespace tile::frontend {

using namespace ast;

bool Parser::parseDottedName(std::string &name) {
  do {
    Token part = peek();
    if (!expect(Tok::Name, name.empty() ? "" : "`.`"))
      return false;
    name += (name.empty() ? "" : ".") + text(part.range()).str();
  } while (accept(Tok::Dot));
  return true;
}

bool Parser::parseAlias(ImportAlias &alias, bool dotted) {
  uint32_t begin = peek().begin;
  if (dotted) {
    if (!parseDottedName(alias.name))
      return false;
  } else {
    Token name = peek();
    if (!expect(Tok::Name, ""))
      return false;
    alias.name = text(name.range()).str();
  }
  if (accept(Tok::KwAs)) {
    Token name = peek();
    if (!expect(Tok::Name, "`as`"))
      return false;
    alias.asName = text(name.range()).str();
  }
  alias.range = since(begin);
  return true;
}

StmtPtr Parser::parseImport() {
  auto node = std::make_unique<Import>(take().range());
  do {
    if (!parseAlias(node->names.emplace_back(), /*dotted=*/true))
      return nullptr;
  } while (accept(Tok::Comma));
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseImportFrom() {
  auto node = std::make_unique<ImportFrom>(take().range());
  for (; at(Tok::Dot) || at(Tok::Dots); take())
    node->level += at(Tok::Dot) ? 1 : 3;
  if ((!node->level || at(Tok::Name)) && !parseDottedName(node->module))
    return nullptr;
  if (!expect(Tok::KwImport, "the name of the module"))
    return nullptr;
  bool parenthesised = false;
  if (at(Tok::Star)) {
    Token star = take();
    node->names.push_back({"*", "", star.range()});
  } else {
    parenthesised = accept(Tok::LParen);
    do {
      if (parenthesised && at(Tok::RParen) && !node->names.empty())
        break;
      if (!parseAlias(node->names.emplace_back(), /*dotted=*/false))
        return nullptr;
    } while (accept(Tok::Comma));
  }
  if (parenthesised && !expect(Tok::RParen, "the imported names"))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

} // namespace tile::frontend
