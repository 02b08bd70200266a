//===- ParseCompound.cpp - statements that hold blocks --------------------===//
#include "frontend/ParserImpl.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tile::frontend {

using namespace ast;

bool Parser::atCompound() const {
  switch (peek().kind) {
  case Tok::At:
  case Tok::KwAsync:
  case Tok::KwClass:
  case Tok::KwDef:
  case Tok::KwFor:
  case Tok::KwIf:
  case Tok::KwTry:
  case Tok::KwWhile:
  case Tok::KwWith:
    return true;
  default:
    return atMatch();
  }
}

StmtPtr Parser::parseCompound() {
  uint32_t begin = peek().begin;
  switch (peek().kind) {
  case Tok::At:
    return parseDecorated();
  case Tok::KwClass:
    return parseClass({});
  case Tok::KwDef:
    return parseFunction(begin, /*isAsync=*/false, {});
  case Tok::KwFor:
    return parseFor(begin, /*isAsync=*/false);
  case Tok::KwIf:
    return parseIf();
  case Tok::KwTry:
    return parseTry();
  case Tok::KwWhile:
    return parseWhile();
  case Tok::KwWith:
    return parseWith(begin, /*isAsync=*/false);
  case Tok::KwAsync:
    take();
    if (at(Tok::KwDef))
      return parseFunction(begin, /*isAsync=*/true, {});
    if (at(Tok::KwFor))
      return parseFor(begin, /*isAsync=*/true);
    if (at(Tok::KwWith))
      return parseWith(begin, /*isAsync=*/true);
    failHere("`def`, `for` or `with` after `async`");
    return nullptr;
  default:
    return parseMatch();
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// `:` and then simple statements on the same line, or an indented block.
bool Parser::parseBlock(Body &body, llvm::StringRef after, unsigned loopsAround) {
  llvm::SaveAndRestore<unsigned> around(loops, loopsAround);
  return parseBlock(body, after);
}

bool Parser::parseBlock(Body &body, llvm::StringRef after) {
  if (!at(Tok::Colon)) {
    failHere(formatted("`:` after {}", after));
    return false;
  }
  take();
  if (!at(Tok::Newline))
    return parseSimpleLine(body);
  Token newline = take();
  if (!accept(Tok::Indent)) {
    if (at(Tok::Error))
      failHere("");
    else
      fail({newline.begin, newline.begin + 1},
           formatted("expected an indented block after {}", after));
    // The line has ended already: nothing is left to skip.
    --pos;
    return false;
  }
  parseIndented(body);
  return true;
}

/// Statements up to the Dedent that closes their block.
void Parser::parseIndented(Body &body) {
  unsigned outerNesting = nesting;
  while (!at(Tok::Dedent) && !at(Tok::EndOfFile))
    parseStatement(body);
  accept(Tok::Dedent);
  failed = false;
  nesting = outerNesting;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

StmtPtr Parser::parseIf() {
  auto first = std::make_unique<If>(peek().range());
  std::vector<If *> chain;
  for (If *node = first.get(); node;) {
    chain.push_back(node);
    std::string keyword = describe(take().kind);
    if (chain.size() > maxTreeDepth)
      return fail(node->range, formatted("more than {} `elif` follow one another", maxTreeDepth));
    if (!(node->condition = parseNamedExpr()) || !parseBlock(node->then, keyword))
      return nullptr;
    If *next = nullptr;
    if (at(Tok::KwElif)) {
      auto elif = std::make_unique<If>(peek().range());
      next = elif.get();
      node->otherwise.push_back(std::move(elif));
    } else if (accept(Tok::KwElse) && !parseBlock(node->otherwise, "`else`")) {
      return nullptr;
    }
    node = next;
  }
  for (If *node : chain)
    node->range.end = previousEnd;
  return first;
}

StmtPtr Parser::parseWhile() {
  auto node = std::make_unique<While>(take().range());
  if (!(node->condition = parseNamedExpr()) || !parseBlock(node->body, "`while`", loops + 1))
    return nullptr;
  if (accept(Tok::KwElse) && !parseBlock(node->otherwise, "`else`"))
    return nullptr;
  return finish(std::move(node));
}

StmtPtr Parser::parseFor(uint32_t begin, bool isAsync) {
  take();
  auto node = std::make_unique<For>(SourceRange{begin, begin});
  node->isAsync = isAsync;
  if (!(node->target = parseTargetList("assign to")) || !expect(Tok::KwIn, "the target of `for`") ||
      !(node->iterable = parseExprList()) || !parseBlock(node->body, "`for`", loops + 1))
    return nullptr;
  if (accept(Tok::KwElse) && !parseBlock(node->otherwise, "`else`"))
    return nullptr;
  return finish(std::move(node));
}

StmtPtr Parser::parseTry() {
  uint32_t begin = peek().begin;
  auto node = std::make_unique<Try>(take().range());
  if (!parseBlock(node->body, "`try`"))
    return nullptr;
  if (!at(Tok::KwExcept) && !at(Tok::KwFinally)) {
    fail({begin, begin + 3}, "`try` needs an `except` or a `finally`");
    failed = false; // the block has ended: nothing is left to skip
  }
  while (at(Tok::KwExcept))
    if (!parseHandler(*node))
      return nullptr;
  if (!node->handlers.empty() && accept(Tok::KwElse) && !parseBlock(node->otherwise, "`else`"))
    return nullptr;
  if (accept(Tok::KwFinally) && !parseBlock(node->finally, "`finally`"))
    return nullptr;
  return finish(std::move(node));
}

bool Parser::parseHandler(Try &node) {
  Try::Handler handler;
  take();
  accept(Tok::Star); // `except*`
  if (!at(Tok::Colon) && !(handler.type = parseExprList()))
    return false;
  if (accept(Tok::KwAs)) {
    Token name = peek();
    if (!expect(Tok::Name, "`as`"))
      return false;
    handler.name = text(name.range()).str();
  }
  if (!parseBlock(handler.body, "`except`"))
    return false;
  node.handlers.push_back(std::move(handler));
  return true;
}

//===----------------------------------------------------------------------===//
// With
//===----------------------------------------------------------------------===//

StmtPtr Parser::parseWith(uint32_t begin, bool isAsync) {
  take();
  auto node = std::make_unique<With>(SourceRange{begin, begin});
  node->isAsync = isAsync;
  if (withParenthesesHoldItems()) {
    take();
    if (!parseWithItems(node->items) || !expect(Tok::RParen, "the items of `with`"))
      return nullptr;
  } else if (!parseWithItems(node->items)) {
    return nullptr;
  }
  if (!parseBlock(node->body, "`with`"))
    return nullptr;
  return finish(std::move(node));
}

bool Parser::parseWithItems(std::vector<With::Item> &items) {
  do {
    if (!items.empty() && at(Tok::RParen))
      break;
    With::Item item;
    if (!(item.context = parseExpr()))
      return false;
    if (accept(Tok::KwAs)) {
      if (!(item.target = parseStarredOr(&Parser::parseArithmetic)) ||
          !checkTarget(*item.target, "assign to"))
        return false;
    }
    items.push_back(std::move(item));
  } while (accept(Tok::Comma));
  return true;
}

/// Whether a parenthesis here encloses the items of `with`, rather than
/// belonging to the first item: it reaches up to the `:`, and holds an `as` or
/// a comma of its own.
bool Parser::withParenthesesHoldItems() const {
  if (!at(Tok::LParen))
    return false;
  unsigned depth = 0;
  bool items = false;
  for (size_t i = pos; i < list.tokens.size(); ++i) {
    switch (list.tokens[i].kind) {
    case Tok::LParen:
    case Tok::LSquare:
    case Tok::LBrace:
      ++depth;
      break;
    case Tok::RParen:
    case Tok::RSquare:
    case Tok::RBrace:
      if (--depth == 0)
        return items && list.tokens[i + 1].kind == Tok::Colon;
      break;
    case Tok::KwAs:
    case Tok::Comma:
      items |= depth == 1;
      break;
    case Tok::KwFor: // a generator, whose targets may have commas
    case Tok::KwYield:
      if (depth == 1 && !items)
        return false;
      break;
    case Tok::Walrus: // only an expression, here a tuple, may hold these
    case Tok::Star:
      if (depth == 1 && (list.tokens[i].kind == Tok::Walrus ||
                         list.tokens[i - 1].kind == Tok::Comma || i - 1 == pos))
        return false;
      break;
    case Tok::Newline:
    case Tok::EndOfFile:
      return false;
    default:
      break;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Match
//===----------------------------------------------------------------------===//

/// `match` is a keyword only where a block with `case` follows its line.
bool Parser::atMatch() const {
  if (!atName("match"))
    return false;
  size_t i = pos + 1;
  while (list.tokens[i].kind != Tok::Newline && list.tokens[i].kind != Tok::EndOfFile)
    ++i;
  return list.tokens[i].kind == Tok::Newline && list.tokens[i - 1].kind == Tok::Colon &&
         i - 1 > pos + 1 && list.tokens[i + 1].kind == Tok::Indent &&
         text(list.tokens[i + 2].range()) == "case";
}

/// Skips the whole statement.
StmtPtr Parser::parseMatch() {
  auto node = std::make_unique<OpaqueStmt>(Stmt::Kind::Match, take().range());
  while (!at(Tok::Newline)) {
    if (at(Tok::Error))
      return failHere("");
    take();
  }
  take();
  unsigned depth = 0;
  do {
    if (at(Tok::Error))
      failHere("");
    depth += at(Tok::Indent);
    depth -= at(Tok::Dedent);
    take();
  } while (depth && !at(Tok::EndOfFile));
  return finish(std::move(node));
}

} // namespace tile::frontend
