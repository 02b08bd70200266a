//===- ParseExpr.cpp - operators, conditionals, lambdas -------------------===//
//
// Binary operators are parsed by precedence climbing; loops, not recursion,
// follow left-associative chains.
//
//===----------------------------------------------------------------------===//
#include "frontend/ParserImpl.h"

namespace tile::frontend {

using namespace ast;

namespace {
/// How tightly operators bind, from `or` to prefix operators.
enum Precedence : unsigned {
  precOr = 1,
  precAnd,
  precNot,
  precCompare,
  precBitOr,
  precBitXor,
  precBitAnd,
  precShift,
  precSum,
  precProduct,
};

struct BinaryInfo {
  unsigned precedence;
  BinaryOp op;
};

std::optional<BinaryInfo> binaryInfo(Tok kind) {
  switch (kind) {
  case Tok::Pipe:
    return BinaryInfo{precBitOr, BinaryOp::Or};
  case Tok::Caret:
    return BinaryInfo{precBitXor, BinaryOp::Xor};
  case Tok::Amp:
    return BinaryInfo{precBitAnd, BinaryOp::And};
  case Tok::LessLess:
    return BinaryInfo{precShift, BinaryOp::LShift};
  case Tok::GreaterGreater:
    return BinaryInfo{precShift, BinaryOp::RShift};
  case Tok::Plus:
    return BinaryInfo{precSum, BinaryOp::Add};
  case Tok::Minus:
    return BinaryInfo{precSum, BinaryOp::Sub};
  case Tok::Star:
    return BinaryInfo{precProduct, BinaryOp::Mul};
  case Tok::Slash:
    return BinaryInfo{precProduct, BinaryOp::Div};
  case Tok::DoubleSlash:
    return BinaryInfo{precProduct, BinaryOp::FloorDiv};
  case Tok::Percent:
    return BinaryInfo{precProduct, BinaryOp::Mod};
  case Tok::At:
    return BinaryInfo{precProduct, BinaryOp::MatMul};
  default:
    return std::nullopt;
  }
}
} // namespace

bool Parser::atExprEnd() const {
  return atAny({Tok::Newline,        Tok::EndOfFile,        Tok::RParen,
                Tok::RSquare,        Tok::RBrace,           Tok::Equal,
                Tok::Colon,          Tok::Semicolon,        Tok::KwIn,
                Tok::KwFor,          Tok::KwAsync,          Tok::Bang,
                Tok::PlusEqual,      Tok::MinusEqual,       Tok::StarEqual,
                Tok::SlashEqual,     Tok::DoubleSlashEqual, Tok::PercentEqual,
                Tok::AtEqual,        Tok::AmpEqual,         Tok::PipeEqual,
                Tok::CaretEqual,     Tok::LessLessEqual,    Tok::GreaterGreaterEqual,
                Tok::DoubleStarEqual});
}

ExprPtr Parser::parseExpr() {
  Nest nest(*this);
  if (!nest)
    return nullptr;
  if (at(Tok::KwLambda))
    return parseLambda();
  uint32_t begin = peek().begin;
  ExprPtr then = parseDisjunction();
  if (!then || !at(Tok::KwIf))
    return then;
  ExprPtr conditional = parseConditionalTail(std::move(then));
  if (conditional)
    conditional->range.begin = begin;
  return conditional;
}

ExprPtr Parser::parseConditionalTail(ExprPtr then) {
  auto node = std::make_unique<Conditional>(then->range);
  node->then = std::move(then);
  take();
  if (!(node->condition = parseDisjunction()))
    return nullptr;
  if (!expect(Tok::KwElse, "the condition (`a if condition else b`)"))
    return nullptr;
  if (!(node->otherwise = parseExpr()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

ExprPtr Parser::parseNamedExpr() {
  if (!at(Tok::Name) || !at(Tok::Walrus, 1))
    return parseExpr();
  Token name = take();
  take();
  auto node = std::make_unique<NamedExpr>(name.range());
  node->name = text(name.range()).str();
  node->nameRange = name.range();
  if (!(node->value = parseExpr()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

ExprPtr Parser::parseStarredOr(ExprPtr (Parser::*parse)()) {
  if (!at(Tok::Star))
    return (this->*parse)();
  Token star = take();
  auto node = std::make_unique<Starred>(star.range());
  if (!(node->value = parseArithmetic()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

ExprPtr Parser::parseExprList() {
  uint32_t begin = peek().begin;
  ExprPtr first = parseStarredOr(&Parser::parseExpr);
  if (!first)
    return nullptr;
  if (!at(Tok::Comma)) {
    if (llvm::isa<Starred>(*first))
      return fail(first->range, "a starred value can only stand in a list, tuple, set or call; "
                                "write `*x,` for a tuple");
    return first;
  }
  return parseTupleFrom(begin, std::move(first));
}

ExprPtr Parser::parseTupleFrom(uint32_t begin, ExprPtr first) {
  auto tuple = std::make_unique<Sequence>(Expr::Kind::Tuple, SourceRange{});
  tuple->elements.push_back(std::move(first));
  while (accept(Tok::Comma) && !atExprEnd()) {
    ExprPtr next = parseStarredOr(&Parser::parseExpr);
    if (!next)
      return nullptr;
    tuple->elements.push_back(std::move(next));
  }
  tuple->range = since(begin);
  return tuple;
}

ExprPtr Parser::parseYieldOrExprList() { return at(Tok::KwYield) ? parseYield() : parseExprList(); }

ExprPtr Parser::parseYield() {
  auto node = std::make_unique<Yield>(take().range());
  node->from = accept(Tok::KwFrom);
  if (node->from)
    node->value = parseExpr();
  else if (!atExprEnd())
    node->value = parseExprList();
  if (failed)
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

ExprPtr Parser::parseLambda() {
  auto node = std::make_unique<Lambda>(take().range());
  if (!parseParameters(node->params, Tok::Colon, /*annotations=*/false) ||
      !expect(Tok::Colon, "the parameters of `lambda`"))
    return nullptr;
  if (!(node->body = parseExpr()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

ExprPtr Parser::parseDisjunction() { return parseOperators(precOr); }

ExprPtr Parser::parseArithmetic() {
  Nest nest(*this); // `(*(*(` and `{**{**{` come by no other way
  return nest ? parseOperators(precBitOr) : nullptr;
}

ExprPtr Parser::parseOperators(unsigned minPrecedence) {
  Side side(*this);
  uint32_t begin = peek().begin;
  ExprPtr lhs = at(Tok::KwNot) && minPrecedence <= precNot ? parsePrefix(UnaryOp::Not, precNot)
                                                           : parseUnary();
  while (lhs) {
    CompareOp ignored;
    if (std::optional<BinaryInfo> info = binaryInfo(peek().kind)) {
      if (info->precedence < minPrecedence)
        break;
      take();
      ExprPtr rhs = parseOperators(info->precedence + 1);
      if (!rhs || !grow())
        return nullptr;
      lhs = std::make_unique<Binary>(since(begin), info->op, std::move(lhs), std::move(rhs));
      continue;
    }
    size_t here = pos;
    if (minPrecedence <= precCompare && parseCompareOp(ignored)) {
      pos = here;
      lhs = parseComparison(std::move(lhs));
    } else if (minPrecedence <= precAnd && at(Tok::KwAnd)) {
      lhs = parseBoolOp(std::move(lhs), /*isAnd=*/true);
    } else if (minPrecedence <= precOr && at(Tok::KwOr)) {
      lhs = parseBoolOp(std::move(lhs), /*isAnd=*/false);
    } else {
      break;
    }
    if (!lhs || !grow())
      return nullptr;
    lhs->range = since(begin);
  }
  return lhs;
}

ExprPtr Parser::parseBoolOp(ExprPtr first, bool isAnd) {
  auto node = std::make_unique<BoolOp>(first->range, isAnd);
  node->values.push_back(std::move(first));
  while (accept(isAnd ? Tok::KwAnd : Tok::KwOr)) {
    ExprPtr value = parseOperators(isAnd ? precNot : precAnd);
    if (!value)
      return nullptr;
    node->values.push_back(std::move(value));
  }
  return node;
}

ExprPtr Parser::parseComparison(ExprPtr first) {
  auto node = std::make_unique<Compare>(first->range);
  node->first = std::move(first);
  CompareOp op;
  while (parseCompareOp(op)) {
    ExprPtr value = parseArithmetic();
    if (!value)
      return nullptr;
    node->ops.push_back(op);
    node->rest.push_back(std::move(value));
  }
  return node;
}

/// Takes a comparison operator, if there is one.
bool Parser::parseCompareOp(CompareOp &op) {
  switch (peek().kind) {
  case Tok::EqualEqual:
    op = CompareOp::Eq;
    break;
  case Tok::NotEqual:
    op = CompareOp::Ne;
    break;
  case Tok::Less:
    op = CompareOp::Lt;
    break;
  case Tok::LessEqual:
    op = CompareOp::Le;
    break;
  case Tok::Greater:
    op = CompareOp::Gt;
    break;
  case Tok::GreaterEqual:
    op = CompareOp::Ge;
    break;
  case Tok::KwIn:
    op = CompareOp::In;
    break;
  case Tok::KwIs:
    take();
    op = accept(Tok::KwNot) ? CompareOp::IsNot : CompareOp::Is;
    return true;
  case Tok::KwNot:
    if (!at(Tok::KwIn, 1))
      return false;
    take();
    op = CompareOp::NotIn;
    break;
  default:
    return false;
  }
  take();
  return true;
}

ExprPtr Parser::parseUnary() {
  switch (peek().kind) {
  case Tok::Minus:
    return parsePrefix(UnaryOp::Neg, precProduct + 1);
  case Tok::Plus:
    return parsePrefix(UnaryOp::Pos, precProduct + 1);
  case Tok::Tilde:
    return parsePrefix(UnaryOp::Invert, precProduct + 1);
  default:
    return parsePower();
  }
}

ExprPtr Parser::parsePrefix(UnaryOp op, unsigned operandPrecedence) {
  Nest nest(*this);
  if (!nest)
    return nullptr;
  uint32_t begin = take().begin;
  ExprPtr operand = parseOperators(operandPrecedence);
  if (!operand)
    return nullptr;
  return std::make_unique<Unary>(since(begin), op, std::move(operand));
}

ExprPtr Parser::parsePower() {
  uint32_t begin = peek().begin;
  ExprPtr base;
  if (at(Tok::KwAwait)) {
    take();
    auto node = std::make_unique<Await>(SourceRange{});
    node->value = parsePostfix();
    if (!node->value)
      return nullptr;
    node->range = since(begin);
    base = std::move(node);
  } else {
    base = parsePostfix();
  }
  if (!base || !at(Tok::DoubleStar))
    return base;
  Nest nest(*this);
  if (!nest)
    return nullptr;
  take();
  ExprPtr exponent = parseUnary();
  if (!exponent)
    return nullptr;
  return std::make_unique<Binary>(since(begin), BinaryOp::Pow, std::move(base),
                                  std::move(exponent));
}

ExprPtr Parser::parseTargetList(llvm::StringRef what) {
  uint32_t begin = peek().begin;
  std::vector<ExprPtr> elements;
  bool comma = false;
  do {
    if (comma && atExprEnd())
      break;
    ExprPtr element = parseStarredOr(&Parser::parseArithmetic);
    if (!element || !checkTarget(*element, what, /*starAllowed=*/true))
      return nullptr;
    elements.push_back(std::move(element));
    comma |= at(Tok::Comma);
  } while (accept(Tok::Comma));
  if (!comma && !llvm::isa<Starred>(*elements.front()))
    return std::move(elements.front());
  auto tuple = std::make_unique<Sequence>(Expr::Kind::Tuple, since(begin));
  tuple->elements = std::move(elements);
  return tuple;
}

} // namespace tile::frontend
