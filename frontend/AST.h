//===- AST.h - syntax trees of Python as kernels use it -------------------===//
//
// The tree is close to Python's own `ast`: nothing is resolved or desugared
// here, so that one parser serves kernels, helper functions, constants and
// host functions alike. Nodes are owned by their parents, carry the exact
// range they were read from, and are immutable once parsed. Dispatch with
// `llvm::isa/cast/dyn_cast` or a switch on `kind`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_AST_H
#define TILE_FRONTEND_AST_H

#include "frontend/Source.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/Casting.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tile::ast {

using frontend::SourceRange;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Expr {
  enum class Kind {
    Name,
    Constant,
    FString,
    Tuple,
    List,
    Set,
    Dict,
    Unary,
    Binary,
    BoolOp,
    Compare,
    Conditional,
    Call,
    Attribute,
    Subscript,
    Slice,
    Starred,
    Lambda,
    NamedExpr,
    Comprehension,
    Await,
    Yield
  };
  const Kind kind;
  SourceRange range;
  virtual ~Expr() = default;

protected:
  Expr(Kind kind, SourceRange range) : kind(kind), range(range) {}
};
using ExprPtr = std::unique_ptr<Expr>;

struct Name : Expr {
  std::string id;
  Name(SourceRange r, std::string id) : Expr(Kind::Name, r), id(std::move(id)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }
};

/// A literal: None, True, False, `...`, an integer of any size, a float, a
/// string or bytes (adjacent string literals are joined).
struct Constant : Expr {
  enum class Type { None, Bool, Ellipsis, Int, Float, Imaginary, String, Bytes };
  Type type;
  bool boolean = false;
  llvm::APInt integer; ///< non-negative, as wide as needed
  double number = 0;   ///< Float, Imaginary
  std::string text;    ///< String, Bytes: the decoded characters
  Constant(SourceRange r, Type type) : Expr(Kind::Constant, r), type(type) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Constant; }
};

/// f"literal {expr!r:spec} ..."
struct FString : Expr {
  struct Part {
    std::string literal; ///< when !expr
    ExprPtr expr;
    char conversion = 0;             ///< 'r', 's', 'a' or 0
    std::unique_ptr<FString> format; ///< the spec after ':', may be null
    bool debug = false;              ///< {expr=}
    std::string debugText;           ///< the source text of {expr=}
  };
  std::vector<Part> parts;
  explicit FString(SourceRange r) : Expr(Kind::FString, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::FString; }
};

/// (a, b), [a, b] and {a, b} share one node type.
struct Sequence : Expr {
  std::vector<ExprPtr> elements;
  Sequence(Kind kind, SourceRange r) : Expr(kind, r) {}
  static bool classof(const Expr *e) {
    return e->kind == Kind::Tuple || e->kind == Kind::List || e->kind == Kind::Set;
  }
};

struct Dict : Expr {
  struct Item {
    ExprPtr key; ///< null for `**value`
    ExprPtr value;
  };
  std::vector<Item> items;
  explicit Dict(SourceRange r) : Expr(Kind::Dict, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Dict; }
};

enum class UnaryOp { Neg, Pos, Invert, Not };
struct Unary : Expr {
  UnaryOp op;
  ExprPtr operand;
  Unary(SourceRange r, UnaryOp op, ExprPtr operand)
      : Expr(Kind::Unary, r), op(op), operand(std::move(operand)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }
};

enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  MatMul,
  LShift,
  RShift,
  And,
  Or,
  Xor
};
struct Binary : Expr {
  BinaryOp op;
  ExprPtr lhs, rhs;
  Binary(SourceRange r, BinaryOp op, ExprPtr lhs, ExprPtr rhs)
      : Expr(Kind::Binary, r), op(op), lhs(std::move(lhs)), rhs(std::move(rhs)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }
};

/// `a and b and c` or `a or b or c`.
struct BoolOp : Expr {
  bool isAnd;
  std::vector<ExprPtr> values;
  BoolOp(SourceRange r, bool isAnd) : Expr(Kind::BoolOp, r), isAnd(isAnd) {}
  static bool classof(const Expr *e) { return e->kind == Kind::BoolOp; }
};

enum class CompareOp { Eq, Ne, Lt, Le, Gt, Ge, Is, IsNot, In, NotIn };
/// `first op[0] rest[0] op[1] rest[1] ...`
struct Compare : Expr {
  ExprPtr first;
  std::vector<CompareOp> ops;
  std::vector<ExprPtr> rest;
  explicit Compare(SourceRange r) : Expr(Kind::Compare, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Compare; }
};

/// `then if condition else otherwise`
struct Conditional : Expr {
  ExprPtr condition, then, otherwise;
  explicit Conditional(SourceRange r) : Expr(Kind::Conditional, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Conditional; }
};

struct Keyword {
  std::string name; ///< empty for `**value`
  SourceRange nameRange;
  ExprPtr value;
};

struct Call : Expr {
  ExprPtr callee;
  std::vector<ExprPtr> args; ///< may hold Starred
  std::vector<Keyword> keywords;
  explicit Call(SourceRange r) : Expr(Kind::Call, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }
};

struct Attribute : Expr {
  ExprPtr value;
  std::string name;
  SourceRange nameRange;
  explicit Attribute(SourceRange r) : Expr(Kind::Attribute, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Attribute; }
};

/// value[index]; several indices are a Tuple.
struct Subscript : Expr {
  ExprPtr value, index;
  explicit Subscript(SourceRange r) : Expr(Kind::Subscript, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Subscript; }
};

/// lower:upper:step inside a subscript; each may be null.
struct Slice : Expr {
  ExprPtr lower, upper, step;
  explicit Slice(SourceRange r) : Expr(Kind::Slice, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Slice; }
};

struct Starred : Expr {
  ExprPtr value;
  explicit Starred(SourceRange r) : Expr(Kind::Starred, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Starred; }
};

struct NamedExpr : Expr { ///< (name := value)
  std::string name;
  SourceRange nameRange;
  ExprPtr value;
  explicit NamedExpr(SourceRange r) : Expr(Kind::NamedExpr, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::NamedExpr; }
};

struct Comprehension : Expr {
  enum class Type { List, Set, Dict, Generator };
  struct Clause {
    ExprPtr target, iterable;
    std::vector<ExprPtr> conditions;
    bool isAsync = false;
  };
  Type type = Type::List;
  ExprPtr element; ///< the key, for Dict
  ExprPtr value;   ///< Dict only
  std::vector<Clause> clauses;
  explicit Comprehension(SourceRange r) : Expr(Kind::Comprehension, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Comprehension; }
};

/// `await value`, and `yield [from] value`.
struct Await : Expr {
  ExprPtr value;
  explicit Await(SourceRange r) : Expr(Kind::Await, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Await; }
};
struct Yield : Expr {
  ExprPtr value; ///< may be null
  bool from = false;
  explicit Yield(SourceRange r) : Expr(Kind::Yield, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Yield; }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

struct Parameter {
  enum class Kind { PositionalOnly, Normal, VarArgs, KeywordOnly, KwArgs };
  Kind kind = Kind::Normal;
  std::string name;
  SourceRange range; ///< the name
  ExprPtr annotation, defaultValue;
};

struct Lambda : Expr {
  std::vector<Parameter> params;
  ExprPtr body;
  explicit Lambda(SourceRange r) : Expr(Kind::Lambda, r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Lambda; }
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum class Kind {
    Expr,
    Assign,
    AugAssign,
    AnnAssign,
    Return,
    If,
    For,
    While,
    Break,
    Continue,
    Pass,
    FunctionDef,
    ClassDef,
    Import,
    ImportFrom,
    Assert,
    Raise,
    Try,
    With,
    Delete,
    Global,
    Nonlocal,
    Match,
    TypeAlias
  };
  const Kind kind;
  SourceRange range; ///< a compound statement's range covers its whole body
  virtual ~Stmt() = default;

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}
};
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct ExprStmt : Stmt {
  ExprPtr value;
  explicit ExprStmt(SourceRange r) : Stmt(Kind::Expr, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Expr; }
};
struct Assign : Stmt { ///< a = b = value has two targets
  std::vector<ExprPtr> targets;
  ExprPtr value;
  explicit Assign(SourceRange r) : Stmt(Kind::Assign, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assign; }
};
struct AugAssign : Stmt {
  ExprPtr target, value;
  BinaryOp op = BinaryOp::Add;
  explicit AugAssign(SourceRange r) : Stmt(Kind::AugAssign, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::AugAssign; }
};
struct AnnAssign : Stmt { ///< target: annotation [= value]
  ExprPtr target, annotation, value;
  explicit AnnAssign(SourceRange r) : Stmt(Kind::AnnAssign, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::AnnAssign; }
};
struct Return : Stmt {
  ExprPtr value; ///< may be null
  explicit Return(SourceRange r) : Stmt(Kind::Return, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Return; }
};
struct If : Stmt { ///< elif is an If alone in `otherwise`
  ExprPtr condition;
  Body then, otherwise;
  explicit If(SourceRange r) : Stmt(Kind::If, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::If; }
};
struct For : Stmt {
  ExprPtr target, iterable;
  Body body, otherwise;
  bool isAsync = false;
  explicit For(SourceRange r) : Stmt(Kind::For, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::For; }
};
struct While : Stmt {
  ExprPtr condition;
  Body body, otherwise;
  explicit While(SourceRange r) : Stmt(Kind::While, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::While; }
};
/// break, continue and pass.
struct SimpleStmt : Stmt {
  SimpleStmt(Kind kind, SourceRange r) : Stmt(kind, r) {}
  static bool classof(const Stmt *s) {
    return s->kind == Kind::Break || s->kind == Kind::Continue || s->kind == Kind::Pass;
  }
};
struct FunctionDef : Stmt {
  std::string name;
  SourceRange nameRange;
  std::vector<ExprPtr> decorators;
  std::vector<Parameter> params;
  ExprPtr returns;
  Body body;
  bool isAsync = false;
  explicit FunctionDef(SourceRange r) : Stmt(Kind::FunctionDef, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::FunctionDef; }
};
struct ClassDef : Stmt {
  std::string name;
  SourceRange nameRange;
  std::vector<ExprPtr> decorators, bases;
  std::vector<Keyword> keywords;
  Body body;
  explicit ClassDef(SourceRange r) : Stmt(Kind::ClassDef, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::ClassDef; }
};
struct ImportAlias {
  std::string name; ///< dotted; "*" in `from m import *`
  std::string asName;
  SourceRange range;
};
struct Import : Stmt {
  std::vector<ImportAlias> names;
  explicit Import(SourceRange r) : Stmt(Kind::Import, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Import; }
};
struct ImportFrom : Stmt {
  std::string module;
  unsigned level = 0; ///< leading dots
  std::vector<ImportAlias> names;
  explicit ImportFrom(SourceRange r) : Stmt(Kind::ImportFrom, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::ImportFrom; }
};
struct Assert : Stmt {
  ExprPtr condition, message;
  explicit Assert(SourceRange r) : Stmt(Kind::Assert, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assert; }
};
struct Raise : Stmt {
  ExprPtr value, cause;
  explicit Raise(SourceRange r) : Stmt(Kind::Raise, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Raise; }
};
struct Try : Stmt {
  struct Handler {
    ExprPtr type; ///< null for a bare except
    std::string name;
    Body body;
  };
  Body body, otherwise, finally;
  std::vector<Handler> handlers;
  explicit Try(SourceRange r) : Stmt(Kind::Try, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Try; }
};
struct With : Stmt {
  struct Item {
    ExprPtr context, target;
  };
  std::vector<Item> items;
  Body body;
  bool isAsync = false;
  explicit With(SourceRange r) : Stmt(Kind::With, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::With; }
};
struct Delete : Stmt {
  std::vector<ExprPtr> targets;
  explicit Delete(SourceRange r) : Stmt(Kind::Delete, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Delete; }
};
/// global and nonlocal.
struct ScopeStmt : Stmt {
  std::vector<std::string> names;
  ScopeStmt(Kind kind, SourceRange r) : Stmt(kind, r) {}
  static bool classof(const Stmt *s) {
    return s->kind == Kind::Global || s->kind == Kind::Nonlocal;
  }
};
/// match and type statements: recognised, kept as their extent only.
struct OpaqueStmt : Stmt {
  OpaqueStmt(Kind kind, SourceRange r) : Stmt(kind, r) {}
  static bool classof(const Stmt *s) {
    return s->kind == Kind::Match || s->kind == Kind::TypeAlias;
  }
};

/// A whole file. Holds no pointer to the source; pass both around together.
struct Module {
  Body body;
};

/// Prints the tree as indented text, one node a line (`tilec --emit ast`).
void print(const Module &module, llvm::raw_ostream &os);
/// Spellings for messages: "+", "//", "not in".
llvm::StringRef spelling(BinaryOp op);
llvm::StringRef spelling(UnaryOp op);
llvm::StringRef spelling(CompareOp op);

} // namespace tile::ast

#endif // TILE_FRONTEND_AST_H
