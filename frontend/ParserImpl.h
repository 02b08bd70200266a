//===- ParserImpl.h - the state of the parser -----------------------------===//
//
// Recursive descent over the token vector, private to Parser.cpp,
// ParseExpr.cpp, ParseAtom.cpp, ParseStmt.cpp and ParseCompound.cpp.
//
// A function that parses something returns null (or false) after reporting an
// error. Only the first error of a statement is reported; the statement loop
// then skips to the end of the line and goes on.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_PARSERIMPL_H
#define TILE_FRONTEND_PARSERIMPL_H

#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include <algorithm>
#include <initializer_list>

namespace tile::frontend {

/// Brackets, lambdas, conditionals and prefix operators inside one another.
constexpr unsigned maxNesting = 256;
/// The longest path from the root of an expression or `elif` chain to a leaf;
/// long operator chains make deep trees without any nesting in the text.
constexpr unsigned maxTreeDepth = 1000;

class Parser {
public:
  Parser(const SourceFile &file, DiagnosticEngine &diagnostics);
  ast::Module parseModule();
  ast::ExprPtr parseSingleExpression();

private:
  //===--- Tokens and errors (Parser.cpp) ---------------------------------===//
  const Token &peek(unsigned ahead = 0) const {
    return list.tokens[std::min(pos + ahead, list.tokens.size() - 1)];
  }
  bool at(Tok kind, unsigned ahead = 0) const { return peek(ahead).kind == kind; }
  bool atAny(std::initializer_list<Tok> kinds) const;
  bool atName(llvm::StringRef soft) const;
  Token take();
  bool accept(Tok kind);
  /// Takes a token of this kind or reports that it is missing `after`.
  bool expect(Tok kind, llvm::StringRef after);
  llvm::StringRef text(SourceRange range) const;
  SourceRange since(uint32_t begin) const { return {begin, previousEnd}; }

  std::nullptr_t fail(SourceRange range, std::string message);
  /// Reports that `wanted` should stand here, with a hint where a likely
  /// mistake is recognised.
  std::nullptr_t failHere(llvm::StringRef wanted);
  std::string hintHere() const;

  /// Counts nesting while it lives; tests as false where it is too deep.
  class Nest {
  public:
    explicit Nest(Parser &p) : parser(p), savedHeight(p.height) {
      ++p.nesting;
      p.height = 0;
    }
    ~Nest() {
      --parser.nesting;
      parser.height = std::max(savedHeight, parser.height + 1);
    }
    Nest(const Nest &) = delete;
    explicit operator bool() { return parser.checkNesting(); }

  private:
    Parser &parser;
    unsigned savedHeight;
  };
  /// Keeps the height of what was parsed before apart while it lives.
  class Side {
  public:
    explicit Side(Parser &p) : parser(p), savedHeight(p.height) { p.height = 0; }
    ~Side() { parser.height = std::max(savedHeight, parser.height); }
    Side(const Side &) = delete;

  private:
    Parser &parser;
    unsigned savedHeight;
  };
  bool checkNesting();
  /// Notes that the tree grew by one level above what was parsed last.
  bool grow();

  //===--- Expressions (ParseExpr.cpp) ------------------------------------===//
  ast::ExprPtr parseExpr();      ///< conditional, lambda
  ast::ExprPtr parseNamedExpr(); ///< also `name := expr`
  ast::ExprPtr parseStarredOr(ast::ExprPtr (Parser::*parse)());
  /// One expression, or a tuple without parentheses; elements may be starred.
  ast::ExprPtr parseExprList();
  /// The rest of a tuple without parentheses, behind its first element.
  ast::ExprPtr parseTupleFrom(uint32_t begin, ast::ExprPtr first);
  ast::ExprPtr parseYieldOrExprList();
  ast::ExprPtr parseYield();
  ast::ExprPtr parseLambda();
  ast::ExprPtr parseConditionalTail(ast::ExprPtr then);
  ast::ExprPtr parseDisjunction();
  ast::ExprPtr parseArithmetic(); ///< whatever binds tighter than a comparison
  ast::ExprPtr parseOperators(unsigned minPrecedence);
  ast::ExprPtr parseBoolOp(ast::ExprPtr first, bool isAnd);
  ast::ExprPtr parseComparison(ast::ExprPtr first);
  bool parseCompareOp(ast::CompareOp &op);
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePrefix(ast::UnaryOp op, unsigned operandPrecedence);
  ast::ExprPtr parsePower();
  /// The targets of `for` or `del`, up to a token that ends them.
  ast::ExprPtr parseTargetList(llvm::StringRef what);
  bool atExprEnd() const;

  //===--- Atoms and what follows them (ParseAtom.cpp) --------------------===//
  ast::ExprPtr parsePostfix();
  ast::ExprPtr parseCall(ast::ExprPtr callee);
  bool parseArguments(std::vector<ast::ExprPtr> &args, std::vector<ast::Keyword> &keywords);
  bool parseArgument(std::vector<ast::ExprPtr> &args, std::vector<ast::Keyword> &keywords);
  ast::ExprPtr parseSubscript(ast::ExprPtr value);
  ast::ExprPtr parseSliceOrIndex();
  ast::ExprPtr parseAtom();
  ast::ExprPtr parseNumber();
  ast::ExprPtr parseParen();
  ast::ExprPtr parseList();
  ast::ExprPtr parseBraces();
  bool parseDictItem(ast::Dict::Item &item);
  ast::ExprPtr parseDictRest(uint32_t begin, ast::Dict::Item first);
  bool parseSequenceRest(std::vector<ast::ExprPtr> &elements, Tok close);
  ast::ExprPtr parseComprehension(uint32_t begin, ast::Comprehension::Type type,
                                  ast::ExprPtr element, ast::ExprPtr value, Tok close);
  bool atComprehension() const;
  bool closeBracket(Tok close, uint32_t opener);

  //===--- Strings (ParseString.cpp) --------------------------------------===//
  ast::ExprPtr parseStrings();
  bool decodeInto(SourceRange range, bool raw, bool bytes, bool fstring, std::string &out);
  bool parseStringToken(std::string &out, bool &bytes);
  bool parseFString(std::vector<ast::FString::Part> &parts);
  bool parseFStringParts(std::vector<ast::FString::Part> &parts, Tok end, bool raw);
  bool parseFStringField(ast::FString::Part &part, bool raw);

  //===--- Simple statements (ParseStmt.cpp) ------------------------------===//
  void parseStatement(ast::Body &body);
  bool parseSimpleLine(ast::Body &body);
  ast::StmtPtr parseSimple();
  ast::StmtPtr parseExprStatement();
  ast::StmtPtr parseAnnotated(ast::ExprPtr target);
  ast::StmtPtr parseAssign(ast::ExprPtr first);
  ast::StmtPtr parseReturn();
  ast::StmtPtr parseImport();
  ast::StmtPtr parseImportFrom();
  bool parseDottedName(std::string &name);
  bool parseAlias(ast::ImportAlias &alias, bool dotted);
  ast::StmtPtr parseAssert();
  ast::StmtPtr parseRaise();
  ast::StmtPtr parseDelete();
  ast::StmtPtr parseScope(ast::Stmt::Kind kind);
  ast::StmtPtr parseTypeAlias();
  bool checkTarget(const ast::Expr &target, llvm::StringRef verb, bool starAllowed = false);
  void skipLine();
  void recover();

  //===--- Compound statements (ParseCompound.cpp) ------------------------===//
  bool atCompound() const;
  ast::StmtPtr parseCompound();
  bool parseBlock(ast::Body &body, llvm::StringRef after);
  /// The same, within so many loops.
  bool parseBlock(ast::Body &body, llvm::StringRef after, unsigned loopsAround);
  void parseIndented(ast::Body &body);
  ast::StmtPtr parseIf();
  ast::StmtPtr parseWhile();
  ast::StmtPtr parseFor(uint32_t begin, bool isAsync);
  ast::StmtPtr parseTry();
  bool parseHandler(ast::Try &node);
  ast::StmtPtr parseWith(uint32_t begin, bool isAsync);
  bool parseWithItems(std::vector<ast::With::Item> &items);
  bool withParenthesesHoldItems() const;
  ast::StmtPtr parseDecorated();
  ast::StmtPtr parseFunction(uint32_t begin, bool isAsync, std::vector<ast::ExprPtr> decorators);
  ast::StmtPtr parseClass(std::vector<ast::ExprPtr> decorators);
  bool skipTypeParameters();
  bool parseParameters(std::vector<ast::Parameter> &params, Tok close, bool annotations);
  bool parseParameter(std::vector<ast::Parameter> &params, ast::Parameter::Kind kind,
                      bool annotations);
  bool atMatch() const;
  ast::StmtPtr parseMatch();
  template <typename Node> ast::StmtPtr finish(std::unique_ptr<Node> node) {
    node->range.end = previousEnd;
    return node;
  }

  const SourceFile &file;
  DiagnosticEngine &diagnostics;
  TokenList list;
  size_t pos = 0;
  uint32_t previousEnd = 0;
  unsigned nesting = 0;
  unsigned height = 0; ///< of the tree parsed last
  unsigned loops = 0;  ///< around the statement, within its function
  bool failed = false; ///< an error of this statement has been reported
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_PARSERIMPL_H
