//===- ParseFunction.cpp - functions, classes and their parameters ------===//
#include "frontend/ParserImpl.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tile::frontend {

using namespace ast;

StmtPtr Parser::parseDecorated() {
  std::vector<ExprPtr> decorators;
  while (accept(Tok::At)) {
    ExprPtr decorator = parseNamedExpr();
    if (!decorator || !expect(Tok::Newline, "the decorator"))
      return nullptr;
    decorators.push_back(std::move(decorator));
  }
  uint32_t begin = peek().begin;
  if (at(Tok::KwClass))
    return parseClass(std::move(decorators));
  bool isAsync = accept(Tok::KwAsync);
  if (!at(Tok::KwDef))
    return failHere("a function or class after the decorator");
  return parseFunction(begin, isAsync, std::move(decorators));
}

StmtPtr Parser::parseFunction(uint32_t begin, bool isAsync, std::vector<ExprPtr> decorators) {
  take();
  auto node = std::make_unique<FunctionDef>(SourceRange{begin, begin});
  node->isAsync = isAsync;
  node->decorators = std::move(decorators);
  Token name = peek();
  if (!expect(Tok::Name, "`def`"))
    return nullptr;
  node->name = text(name.range()).str();
  node->nameRange = name.range();
  if (!skipTypeParameters() || !expect(Tok::LParen, "the name of the function") ||
      !parseParameters(node->params, Tok::RParen, /*annotations=*/true))
    return nullptr;
  if (!accept(Tok::RParen))
    return failHere("`,` or `)`");
  if (accept(Tok::Arrow) && !(node->returns = parseExprList()))
    return nullptr;
  if (!parseBlock(node->body, "the head of the function", 0))
    return nullptr;
  return finish(std::move(node));
}

StmtPtr Parser::parseClass(std::vector<ExprPtr> decorators) {
  auto node = std::make_unique<ClassDef>(take().range());
  node->decorators = std::move(decorators);
  Token name = peek();
  if (!expect(Tok::Name, "`class`"))
    return nullptr;
  node->name = text(name.range()).str();
  node->nameRange = name.range();
  if (!skipTypeParameters())
    return nullptr;
  if (at(Tok::LParen) && !parseArguments(node->bases, node->keywords))
    return nullptr;
  if (!parseBlock(node->body, "the head of the class", 0))
    return nullptr;
  return finish(std::move(node));
}

/// `[T, *Ts, **P, U: bound = default]`: accepted and dropped.
bool Parser::skipTypeParameters() {
  if (!accept(Tok::LSquare))
    return true;
  do {
    if (at(Tok::RSquare))
      break;
    if (!accept(Tok::Star))
      accept(Tok::DoubleStar);
    if (!expect(Tok::Name, "`[`") || (accept(Tok::Colon) && !parseExpr()) ||
        (accept(Tok::Equal) && !parseStarredOr(&Parser::parseExpr)))
      return false;
  } while (accept(Tok::Comma));
  return expect(Tok::RSquare, "the type parameters");
}

/// Parameters up to `close`, which is not taken.
bool Parser::parseParameters(std::vector<Parameter> &params, Tok close, bool annotations) {
  using Kind = Parameter::Kind;
  bool keywordOnly = false, bareStar = false, slash = false;
  for (; !at(close);) {
    if (!params.empty() && params.back().kind == Kind::KwArgs) {
      fail(peek().range(), "no parameter can follow `**`");
      return false;
    }
    if (at(Tok::Slash) && !params.empty() && !keywordOnly && !slash) {
      take();
      slash = true;
      for (Parameter &param : params)
        param.kind = Kind::PositionalOnly;
    } else if (at(Tok::Star)) {
      Token star = take();
      if (keywordOnly) {
        fail(star.range(), "only one `*` can stand among the parameters");
        return false;
      }
      keywordOnly = true;
      bareStar = at(Tok::Comma) || at(close);
      if (!bareStar && !parseParameter(params, Kind::VarArgs, annotations))
        return false;
    } else {
      Kind kind = accept(Tok::DoubleStar) ? Kind::KwArgs
                  : keywordOnly           ? Kind::KeywordOnly
                                          : Kind::Normal;
      if (kind == Kind::KwArgs && bareStar && params.empty()) {
        fail(peek().range(), "a parameter must follow `*` before `**`");
        return false;
      }
      if (!parseParameter(params, kind, annotations))
        return false;
    }
    if (!accept(Tok::Comma))
      break;
  }
  if (bareStar && (params.empty() || params.back().kind < Kind::KeywordOnly)) {
    fail(peek().range(), "a parameter must follow `*`");
    return false;
  }
  llvm::StringSet<> names;
  for (const Parameter &param : params) {
    if (!names.insert(param.name).second) {
      fail(param.range, formatted("two parameters are named `{}`", param.name));
      return false;
    }
  }
  return true;
}

bool Parser::parseParameter(std::vector<Parameter> &params, Parameter::Kind kind,
                            bool annotations) {
  Parameter param;
  param.kind = kind;
  Token name = peek();
  if (!at(Tok::Name)) {
    failHere("a parameter");
    return false;
  }
  take();
  param.name = text(name.range()).str();
  param.range = name.range();
  if (annotations && accept(Tok::Colon)) {
    param.annotation =
        kind == Parameter::Kind::VarArgs ? parseStarredOr(&Parser::parseExpr) : parseExpr();
    if (!param.annotation)
      return false;
  }
  bool variadic = kind == Parameter::Kind::VarArgs || kind == Parameter::Kind::KwArgs;
  if (!variadic && accept(Tok::Equal)) {
    if (!(param.defaultValue = parseExpr()))
      return false;
  } else if (kind == Parameter::Kind::Normal && !params.empty() && params.back().defaultValue) {
    fail(param.range, formatted("`{}` needs a default value, since the parameter before it has one",
                                param.name));
    return false;
  }
  params.push_back(std::move(param));
  return true;
}

} // namespace tile::frontend
