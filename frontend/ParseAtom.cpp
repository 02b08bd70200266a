//===- ParseAtom.cpp - atoms, calls, subscripts, displays -----------------===//
#include "frontend/Literals.h"
#include "frontend/ParserImpl.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"

namespace tile::frontend {

using namespace ast;

/// An atom and the calls, subscripts and attributes that follow it.
ExprPtr Parser::parsePostfix() {
  uint32_t begin = peek().begin;
  ExprPtr value = parseAtom();
  while (value && atAny({Tok::Dot, Tok::LParen, Tok::LSquare})) {
    if (at(Tok::LParen)) {
      value = parseCall(std::move(value));
    } else if (at(Tok::LSquare)) {
      value = parseSubscript(std::move(value));
    } else {
      take();
      auto node = std::make_unique<Attribute>(SourceRange{});
      Token name = peek();
      if (!at(Tok::Name))
        return failHere("a name after `.`");
      take();
      node->value = std::move(value);
      node->name = text(name.range()).str();
      node->nameRange = name.range();
      value = std::move(node);
    }
    if (!value || !grow())
      return nullptr;
    value->range = since(begin);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Calls and subscripts
//===----------------------------------------------------------------------===//

ExprPtr Parser::parseCall(ExprPtr callee) {
  auto node = std::make_unique<Call>(callee->range);
  node->callee = std::move(callee);
  if (!parseArguments(node->args, node->keywords))
    return nullptr;
  return node;
}

/// `( arguments )`
bool Parser::parseArguments(std::vector<ExprPtr> &args, std::vector<Keyword> &keywords) {
  uint32_t opener = take().begin;
  while (!at(Tok::RParen)) {
    uint32_t begin = peek().begin;
    if (!parseArgument(args, keywords))
      return false;
    if (atComprehension() && !args.empty()) {
      bool alone = args.size() == 1 && keywords.empty();
      ExprPtr element = std::move(args.back());
      args.back() = parseComprehension(begin, Comprehension::Type::Generator, std::move(element),
                                       nullptr, Tok::Comma);
      if (!args.back())
        return false;
      if (!alone || (at(Tok::Comma) && !at(Tok::RParen, 1))) {
        fail(args.back()->range, "a generator among other arguments needs parentheses");
        return false;
      }
    }
    if (!accept(Tok::Comma))
      break;
  }
  if (!closeBracket(Tok::RParen, opener))
    return false;
  llvm::StringSet<> names;
  for (const Keyword &keyword : keywords) {
    if (!keyword.name.empty() && !names.insert(keyword.name).second) {
      fail(keyword.nameRange, formatted("keyword argument `{}` is given twice", keyword.name));
      return false;
    }
  }
  return true;
}

bool Parser::parseArgument(std::vector<ExprPtr> &args, std::vector<Keyword> &keywords) {
  uint32_t begin = peek().begin;
  if (at(Tok::DoubleStar) || (at(Tok::Name) && at(Tok::Equal, 1))) {
    Keyword keyword;
    Token first = take();
    keyword.nameRange = first.range();
    if (first.kind == Tok::Name) {
      keyword.name = text(first.range()).str();
      take();
    }
    if (!(keyword.value = parseExpr()))
      return false;
    keywords.push_back(std::move(keyword));
    return true;
  }
  ExprPtr value;
  if (accept(Tok::Star)) {
    auto starred = std::make_unique<Starred>(SourceRange{});
    if (!(starred->value = parseExpr()))
      return false;
    starred->range = since(begin);
    value = std::move(starred);
  } else if (!(value = parseNamedExpr())) {
    return false;
  }
  bool starred = llvm::isa<Starred>(*value);
  for (const Keyword &keyword : keywords) {
    if (keyword.name.empty() || !starred) {
      fail(value->range, "a positional argument cannot follow a keyword argument");
      return false;
    }
  }
  args.push_back(std::move(value));
  return true;
}

ExprPtr Parser::parseSubscript(ExprPtr value) {
  auto node = std::make_unique<Subscript>(value->range);
  node->value = std::move(value);
  uint32_t opener = take().begin, begin = peek().begin;
  if (at(Tok::RSquare))
    return failHere("an index");
  ExprPtr index = parseSliceOrIndex();
  if (!index)
    return nullptr;
  if (at(Tok::Comma) || llvm::isa<Starred>(*index)) {
    auto tuple = std::make_unique<Sequence>(Expr::Kind::Tuple, SourceRange{});
    tuple->elements.push_back(std::move(index));
    while (accept(Tok::Comma) && !at(Tok::RSquare)) {
      if (!(index = parseSliceOrIndex()))
        return nullptr;
      tuple->elements.push_back(std::move(index));
    }
    tuple->range = since(begin);
    index = std::move(tuple);
  }
  if (!closeBracket(Tok::RSquare, opener))
    return nullptr;
  node->index = std::move(index);
  return node;
}

ExprPtr Parser::parseSliceOrIndex() {
  uint32_t begin = peek().begin;
  ExprPtr lower;
  if (!at(Tok::Colon) && !(lower = parseStarredOr(&Parser::parseNamedExpr)))
    return nullptr;
  if (!at(Tok::Colon))
    return lower;
  auto node = std::make_unique<Slice>(SourceRange{});
  node->lower = std::move(lower);
  take();
  auto absent = [&] { return atAny({Tok::Colon, Tok::Comma, Tok::RSquare}); };
  if (!absent() && !(node->upper = parseExpr()))
    return nullptr;
  if (accept(Tok::Colon) && !absent() && !(node->step = parseExpr()))
    return nullptr;
  node->range = since(begin);
  return node;
}

bool Parser::closeBracket(Tok close, uint32_t opener) {
  if (accept(close))
    return true;
  if (at(Tok::Equal) && text({opener, opener + 1}) == "(") {
    fail(peek().range(), "unexpected `=`; a keyword argument is `name=value`, "
                         "and comparison is written `==`");
    return false;
  }
  failHere(formatted("`,` or {}", describe(close)));
  return false;
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

ExprPtr Parser::parseAtom() {
  Token token = peek();
  auto constant = [&](Constant::Type type) {
    take();
    return std::make_unique<Constant>(token.range(), type);
  };
  switch (token.kind) {
  case Tok::Name:
    take();
    return std::make_unique<Name>(token.range(), text(token.range()).str());
  case Tok::Number:
    return parseNumber();
  case Tok::String:
  case Tok::FStringStart:
    return parseStrings();
  case Tok::KwNone:
    return constant(Constant::Type::None);
  case Tok::KwTrue:
  case Tok::KwFalse: {
    auto node = constant(Constant::Type::Bool);
    node->boolean = token.kind == Tok::KwTrue;
    return node;
  }
  case Tok::Dots:
    return constant(Constant::Type::Ellipsis);
  case Tok::LParen:
    return parseParen();
  case Tok::LSquare:
    return parseList();
  case Tok::LBrace:
    return parseBraces();
  default:
    return failHere("an expression");
  }
}

ExprPtr Parser::parseNumber() {
  Token token = take();
  auto node = std::make_unique<Constant>(token.range(), Constant::Type::Int);
  if (auto error = decodeNumber(text(token.range()), *node))
    return fail(token.range(), error->message);
  return node;
}

bool Parser::atComprehension() const {
  return at(Tok::KwFor) || (at(Tok::KwAsync) && at(Tok::KwFor, 1));
}

/// `()`, `(a)`, `(a, b)`, `(a for ...)`, `(yield a)`. Parentheses that only
/// group leave no trace: the node keeps its own range.
ExprPtr Parser::parseParen() {
  uint32_t begin = take().begin;
  if (accept(Tok::RParen))
    return std::make_unique<Sequence>(Expr::Kind::Tuple, since(begin));
  if (at(Tok::KwYield)) {
    ExprPtr yield = parseYield();
    return yield && closeBracket(Tok::RParen, begin) ? std::move(yield) : nullptr;
  }
  ExprPtr first = parseStarredOr(&Parser::parseNamedExpr);
  if (!first)
    return nullptr;
  if (atComprehension())
    return parseComprehension(begin, Comprehension::Type::Generator, std::move(first), nullptr,
                              Tok::RParen);
  if (!at(Tok::Comma)) {
    if (!closeBracket(Tok::RParen, begin))
      return nullptr;
    if (llvm::isa<Starred>(*first))
      return fail(first->range, "a starred value in parentheses needs a comma to be a tuple");
    return first;
  }
  auto tuple = std::make_unique<Sequence>(Expr::Kind::Tuple, SourceRange{});
  tuple->elements.push_back(std::move(first));
  if (!parseSequenceRest(tuple->elements, Tok::RParen) || !closeBracket(Tok::RParen, begin))
    return nullptr;
  tuple->range = since(begin);
  return tuple;
}

/// `, b, c [,]` before `close`.
bool Parser::parseSequenceRest(std::vector<ExprPtr> &elements, Tok close) {
  while (accept(Tok::Comma) && !at(close)) {
    ExprPtr element = parseStarredOr(&Parser::parseNamedExpr);
    if (!element)
      return false;
    elements.push_back(std::move(element));
  }
  return true;
}

ExprPtr Parser::parseList() {
  uint32_t begin = take().begin;
  auto list = std::make_unique<Sequence>(Expr::Kind::List, SourceRange{});
  if (!at(Tok::RSquare)) {
    ExprPtr first = parseStarredOr(&Parser::parseNamedExpr);
    if (!first)
      return nullptr;
    if (atComprehension())
      return parseComprehension(begin, Comprehension::Type::List, std::move(first), nullptr,
                                Tok::RSquare);
    list->elements.push_back(std::move(first));
    if (!parseSequenceRest(list->elements, Tok::RSquare))
      return nullptr;
  }
  if (!closeBracket(Tok::RSquare, begin))
    return nullptr;
  list->range = since(begin);
  return list;
}

/// A dict or a set, displayed or comprehended.
ExprPtr Parser::parseBraces() {
  uint32_t begin = take().begin;
  if (accept(Tok::RBrace))
    return std::make_unique<Dict>(since(begin));
  if (at(Tok::DoubleStar)) {
    Dict::Item item;
    return parseDictItem(item) ? parseDictRest(begin, std::move(item)) : nullptr;
  }
  ExprPtr first = parseStarredOr(&Parser::parseNamedExpr);
  if (!first)
    return nullptr;
  if (accept(Tok::Colon)) {
    Dict::Item item{std::move(first), parseExpr()};
    if (!item.value)
      return nullptr;
    if (atComprehension())
      return parseComprehension(begin, Comprehension::Type::Dict, std::move(item.key),
                                std::move(item.value), Tok::RBrace);
    return parseDictRest(begin, std::move(item));
  }
  if (atComprehension())
    return parseComprehension(begin, Comprehension::Type::Set, std::move(first), nullptr,
                              Tok::RBrace);
  auto set = std::make_unique<Sequence>(Expr::Kind::Set, SourceRange{});
  set->elements.push_back(std::move(first));
  if (!parseSequenceRest(set->elements, Tok::RBrace) || !closeBracket(Tok::RBrace, begin))
    return nullptr;
  set->range = since(begin);
  return set;
}

bool Parser::parseDictItem(Dict::Item &item) {
  if (accept(Tok::DoubleStar))
    return (item.value = parseArithmetic()) != nullptr;
  return (item.key = parseExpr()) && expect(Tok::Colon, "the key") && (item.value = parseExpr());
}

ExprPtr Parser::parseDictRest(uint32_t begin, Dict::Item first) {
  auto dict = std::make_unique<Dict>(SourceRange{});
  dict->items.push_back(std::move(first));
  while (accept(Tok::Comma) && !at(Tok::RBrace)) {
    Dict::Item item;
    if (!parseDictItem(item))
      return nullptr;
    dict->items.push_back(std::move(item));
  }
  if (!closeBracket(Tok::RBrace, begin))
    return nullptr;
  dict->range = since(begin);
  return dict;
}

/// The clauses, then `close`; a generator that is the argument of a call takes
/// no parenthesis of its own (`close` is Comma).
ExprPtr Parser::parseComprehension(uint32_t begin, Comprehension::Type type, ExprPtr element,
                                   ExprPtr value, Tok close) {
  if (llvm::isa<Starred>(*element))
    return fail(element->range, "a comprehension cannot unpack its element with `*`");
  auto node = std::make_unique<Comprehension>(SourceRange{});
  node->type = type;
  node->element = std::move(element);
  node->value = std::move(value);
  while (atComprehension()) {
    Comprehension::Clause clause;
    clause.isAsync = accept(Tok::KwAsync);
    take();
    if (!(clause.target = parseTargetList("assign to")) ||
        !expect(Tok::KwIn, "the target of `for`") || !(clause.iterable = parseDisjunction()))
      return nullptr;
    while (accept(Tok::KwIf)) {
      ExprPtr condition = parseDisjunction();
      if (!condition)
        return nullptr;
      clause.conditions.push_back(std::move(condition));
    }
    node->clauses.push_back(std::move(clause));
  }
  if (close != Tok::Comma && !closeBracket(close, begin))
    return nullptr;
  node->range = since(begin);
  return node;
}

} // namespace tile::frontend
