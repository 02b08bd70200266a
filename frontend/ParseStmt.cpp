//===- ParseStmt.cpp - the statement loop and simple statements -----------===//
#include "frontend/ParserImpl.h"
#include "text/Format.h"

namespace tile::frontend {

using namespace ast;

/// Parses one statement, or one line of simple statements, into `body`; after
/// an error skips to where the next statement begins.
void Parser::parseStatement(Body &body) {
  failed = false;
  nesting = 0;
  height = 0;
  if (accept(Tok::Newline)) // of a line that was skipped up to its end
    return;
  if (at(Tok::Indent)) {
    fail({peek().end, peek().end + 1}, "this line is indented, but nothing above it opens a block");
    take();
    return parseIndented(body);
  }
  if (!atCompound()) {
    if (!parseSimpleLine(body))
      recover();
    return;
  }
  if (StmtPtr statement = parseCompound())
    body.push_back(std::move(statement));
  else
    recover();
}

/// Skips the rest of the line and the block under it, if there is one (its
/// errors are reported, its statements dropped), and clauses like `else`.
void Parser::recover() {
  do {
    skipLine();
    if (accept(Tok::Indent)) {
      Body dropped;
      parseIndented(dropped);
    }
  } while (atAny({Tok::KwElif, Tok::KwElse, Tok::KwExcept, Tok::KwFinally}));
}

void Parser::skipLine() {
  while (!atAny({Tok::Newline, Tok::EndOfFile, Tok::Indent, Tok::Dedent}))
    take();
  accept(Tok::Newline);
}

/// Simple statements separated by semicolons.
bool Parser::parseSimpleLine(Body &body) {
  do {
    if (at(Tok::Newline))
      break;
    StmtPtr statement = parseSimple();
    if (!statement)
      return false;
    body.push_back(std::move(statement));
  } while (accept(Tok::Semicolon));
  if (accept(Tok::Newline) || at(Tok::EndOfFile))
    return true;
  const Token &before = list.tokens[pos ? pos - 1 : 0];
  llvm::StringRef word = text(before.range());
  if (before.kind == Tok::Name && (word == "print" || word == "exec"))
    fail(before.range(), formatted("`{0}` is a function; write `{0}(...)`", word));
  else
    failHere("the end of the statement");
  return false;
}

StmtPtr Parser::parseSimple() {
  auto bare = [&](Stmt::Kind kind) -> StmtPtr {
    return std::make_unique<SimpleStmt>(kind, take().range());
  };
  auto inLoop = [&](Stmt::Kind kind) -> StmtPtr {
    // The head of the loop may be what could not be read before.
    if (loops == 0 && !diagnostics.hasErrors())
      return fail(peek().range(), formatted("`{}` stands outside of a loop", text(peek().range())));
    return bare(kind);
  };
  switch (peek().kind) {
  case Tok::KwPass:
    return bare(Stmt::Kind::Pass);
  case Tok::KwBreak:
    return inLoop(Stmt::Kind::Break);
  case Tok::KwContinue:
    return inLoop(Stmt::Kind::Continue);
  case Tok::KwReturn:
    return parseReturn();
  case Tok::KwImport:
    return parseImport();
  case Tok::KwFrom:
    return parseImportFrom();
  case Tok::KwAssert:
    return parseAssert();
  case Tok::KwRaise:
    return parseRaise();
  case Tok::KwDel:
    return parseDelete();
  case Tok::KwGlobal:
    return parseScope(Stmt::Kind::Global);
  case Tok::KwNonlocal:
    return parseScope(Stmt::Kind::Nonlocal);
  case Tok::KwElif:
  case Tok::KwElse:
    fail(peek().range(),
         formatted("{} without an `if` or loop at this indentation", describe(peek().kind)));
    return nullptr;
  case Tok::KwExcept:
  case Tok::KwFinally:
    fail(peek().range(),
         formatted("{} without a `try` at this indentation", describe(peek().kind)));
    return nullptr;
  default:
    // `type X = ...`; otherwise `type` is an ordinary name.
    if (atName("type") && at(Tok::Name, 1))
      return parseTypeAlias();
    return parseExprStatement();
  }
}

//===----------------------------------------------------------------------===//
// Expressions and assignments
//===----------------------------------------------------------------------===//

static std::optional<BinaryOp> augmented(Tok kind) {
  switch (kind) {
  case Tok::PlusEqual:
    return BinaryOp::Add;
  case Tok::MinusEqual:
    return BinaryOp::Sub;
  case Tok::StarEqual:
    return BinaryOp::Mul;
  case Tok::SlashEqual:
    return BinaryOp::Div;
  case Tok::DoubleSlashEqual:
    return BinaryOp::FloorDiv;
  case Tok::PercentEqual:
    return BinaryOp::Mod;
  case Tok::DoubleStarEqual:
    return BinaryOp::Pow;
  case Tok::AtEqual:
    return BinaryOp::MatMul;
  case Tok::LessLessEqual:
    return BinaryOp::LShift;
  case Tok::GreaterGreaterEqual:
    return BinaryOp::RShift;
  case Tok::AmpEqual:
    return BinaryOp::And;
  case Tok::PipeEqual:
    return BinaryOp::Or;
  case Tok::CaretEqual:
    return BinaryOp::Xor;
  default:
    return std::nullopt;
  }
}

StmtPtr Parser::parseExprStatement() {
  uint32_t begin = peek().begin;
  ExprPtr first = parseStarredOr(&Parser::parseYieldOrExprList);
  // `*a, b = c`: the star belongs to the first element of a tuple.
  if (first && llvm::isa<Starred>(*first)) {
    if (!at(Tok::Comma))
      return fail(first->range, "a starred value can only stand in a list, tuple, set or call");
    first = parseTupleFrom(begin, std::move(first));
  }
  if (!first)
    return nullptr;
  StmtPtr statement;
  if (at(Tok::Equal)) {
    statement = parseAssign(std::move(first));
  } else if (at(Tok::Colon)) {
    statement = parseAnnotated(std::move(first));
  } else if (std::optional<BinaryOp> op = augmented(peek().kind)) {
    auto node = std::make_unique<AugAssign>(SourceRange{});
    if (llvm::isa<Sequence>(*first))
      return fail(first->range, "`op=` assigns to a single target");
    if (!checkTarget(*first, "assign to"))
      return nullptr;
    take();
    node->op = *op;
    node->target = std::move(first);
    if (!(node->value = parseYieldOrExprList()))
      return nullptr;
    statement = std::move(node);
  } else {
    auto node = std::make_unique<ExprStmt>(SourceRange{});
    node->value = std::move(first);
    statement = std::move(node);
  }
  if (statement)
    statement->range = since(begin);
  return statement;
}

StmtPtr Parser::parseAssign(ExprPtr first) {
  auto node = std::make_unique<Assign>(SourceRange{});
  node->value = std::move(first);
  while (accept(Tok::Equal)) {
    if (!checkTarget(*node->value, "assign to"))
      return nullptr;
    node->targets.push_back(std::move(node->value));
    if (!(node->value = parseYieldOrExprList()))
      return nullptr;
  }
  return node;
}

StmtPtr Parser::parseAnnotated(ExprPtr target) {
  if (!llvm::isa<Name, Attribute, Subscript>(*target)) {
    const Token &before = list.tokens[pos - 1];
    // `else if x:` and misspelt keywords end up here as well.
    if (before.kind == Tok::Name || before.kind == Tok::RParen || llvm::isa<Sequence>(*target))
      return fail(peek().range(), "unexpected `:`; only a single name, attribute or element "
                                  "can be annotated");
    return failHere("the end of the statement");
  }
  take();
  auto node = std::make_unique<AnnAssign>(SourceRange{});
  node->target = std::move(target);
  if (!(node->annotation = parseExpr()))
    return nullptr;
  if (accept(Tok::Equal) && !(node->value = parseYieldOrExprList()))
    return nullptr;
  return node;
}

/// Whether something can be assigned to or deleted; says why not.
bool Parser::checkTarget(const Expr &target, llvm::StringRef verb, bool starAllowed) {
  switch (target.kind) {
  case Expr::Kind::Name:
  case Expr::Kind::Attribute:
  case Expr::Kind::Subscript:
    return true;
  case Expr::Kind::Tuple:
  case Expr::Kind::List:
    for (const ExprPtr &element : llvm::cast<Sequence>(target).elements)
      if (!checkTarget(*element, verb, /*starAllowed=*/true))
        return false;
    return true;
  case Expr::Kind::Starred:
    if (starAllowed)
      return checkTarget(*llvm::cast<Starred>(target).value, verb);
    fail(target.range, formatted("cannot {} a starred value alone", verb));
    return false;
  case Expr::Kind::Compare:
    fail(target.range, formatted("cannot {} a comparison; an assignment has one `=`", verb));
    return false;
  default:
    break;
  }
  bool literal = llvm::isa<Constant, FString>(target);
  fail(target.range, formatted("cannot {} {}", verb,
                               literal                          ? "a literal"
                               : llvm::isa<Call>(target)        ? "the result of a call"
                               : llvm::isa<NamedExpr>(target)   ? "an assignment expression"
                               : llvm::isa<Conditional>(target) ? "a conditional expression"
                                                                : "an expression"));
  return false;
}

//===----------------------------------------------------------------------===//
// The other simple statements
//===----------------------------------------------------------------------===//

StmtPtr Parser::parseReturn() {
  auto node = std::make_unique<Return>(take().range());
  if (!at(Tok::Newline) && !at(Tok::Semicolon) && !at(Tok::EndOfFile) &&
      !(node->value = parseExprList()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseAssert() {
  auto node = std::make_unique<Assert>(take().range());
  if (!(node->condition = parseExpr()))
    return nullptr;
  if (accept(Tok::Comma) && !(node->message = parseExpr()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseRaise() {
  auto node = std::make_unique<Raise>(take().range());
  if (at(Tok::Newline) || at(Tok::Semicolon) || at(Tok::EndOfFile))
    return node;
  if (!(node->value = parseExpr()))
    return nullptr;
  if (accept(Tok::KwFrom) && !(node->cause = parseExpr()))
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseDelete() {
  auto node = std::make_unique<Delete>(take().range());
  do {
    if (!node->targets.empty() && atExprEnd())
      break;
    ExprPtr target = parseArithmetic();
    if (!target || !checkTarget(*target, "delete"))
      return nullptr;
    node->targets.push_back(std::move(target));
  } while (accept(Tok::Comma));
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseScope(Stmt::Kind kind) {
  auto node = std::make_unique<ScopeStmt>(kind, take().range());
  do {
    Token name = peek();
    if (!expect(Tok::Name, ""))
      return nullptr;
    node->names.push_back(text(name.range()).str());
  } while (accept(Tok::Comma));
  node->range.end = previousEnd;
  return node;
}

StmtPtr Parser::parseTypeAlias() {
  auto node = std::make_unique<OpaqueStmt>(Stmt::Kind::TypeAlias, take().range());
  take();
  if (!skipTypeParameters() || !expect(Tok::Equal, "the name of the type") || !parseExpr())
    return nullptr;
  node->range.end = previousEnd;
  return node;
}

} // namespace tile::frontend
