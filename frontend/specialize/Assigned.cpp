//===- Assigned.cpp - what a loop body does, by its syntax alone ----------===//
#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/Specializer.h"

using llvm::cast;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void collectTargets(const ast::Expr &target, AssignedNames &names) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&target))
    names[name->id] = name->range;
  else if (auto *sequence = llvm::dyn_cast<ast::Sequence>(&target))
    for (const ast::ExprPtr &part : sequence->elements)
      collectTargets(*part, names);
  else if (auto *starred = llvm::dyn_cast<ast::Starred>(&target))
    collectTargets(*starred->value, names);
  else if (auto *field = llvm::dyn_cast<ast::Attribute>(&target)) // binds the object anew
    collectTargets(*field->value, names);
}

using ExprVisitor = llvm::function_ref<void(const ast::Expr &)>;

static void forEachPart(const ast::FString &string, ExprVisitor visit) {
  for (const ast::FString::Part &part : string.parts) {
    if (part.expr)
      visit(*part.expr);
    if (part.format)
      forEachPart(*part.format, visit);
  }
}

static void forEachPart(const ast::Comprehension &comprehension, ExprVisitor visit) {
  for (const ast::Comprehension::Clause &clause : comprehension.clauses) {
    visit(*clause.iterable);
    for (const ast::ExprPtr &condition : clause.conditions)
      visit(*condition);
  }
  visit(*comprehension.element);
  if (comprehension.value)
    visit(*comprehension.value);
}

static void forEachPart(const ast::Dict &dict, ExprVisitor visitor) {
  for (const ast::Dict::Item &item : dict.items)
    for (const ast::ExprPtr *part : {&item.key, &item.value})
      if (*part)
        visitor(**part);
}

static void forEachPart(const ast::Call &call, ExprVisitor visitor) {
  auto visit = [&](const ast::ExprPtr &e) {
    if (e)
      visitor(*e);
  };
  visit(call.callee);
  llvm::for_each(call.args, visit);
  for (const ast::Keyword &keyword : call.keywords)
    visit(keyword.value);
}

/// The expressions that make up `expr`; names that it binds for itself are none.
static void forEachPart(const ast::Expr &expr, ExprVisitor visitor) {
  using EK = ast::Expr::Kind;
  auto visit = [&](const ast::ExprPtr &e) {
    if (e)
      visitor(*e);
  };
  switch (expr.kind) {
  case EK::Name:
  case EK::Constant:
    return;
  case EK::FString:
    return forEachPart(cast<ast::FString>(expr), visitor);
  case EK::Tuple:
  case EK::List:
  case EK::Set:
    llvm::for_each(cast<ast::Sequence>(expr).elements, visit);
    return;
  case EK::Dict:
    return forEachPart(cast<ast::Dict>(expr), visitor);
  case EK::Unary:
    return visit(cast<ast::Unary>(expr).operand);
  case EK::Binary:
    visit(cast<ast::Binary>(expr).lhs);
    return visit(cast<ast::Binary>(expr).rhs);
  case EK::BoolOp:
    llvm::for_each(cast<ast::BoolOp>(expr).values, visit);
    return;
  case EK::Compare:
    visit(cast<ast::Compare>(expr).first);
    llvm::for_each(cast<ast::Compare>(expr).rest, visit);
    return;
  case EK::Conditional:
    visit(cast<ast::Conditional>(expr).condition);
    visit(cast<ast::Conditional>(expr).then);
    return visit(cast<ast::Conditional>(expr).otherwise);
  case EK::Call:
    return forEachPart(cast<ast::Call>(expr), visitor);
  case EK::Attribute:
    return visit(cast<ast::Attribute>(expr).value);
  case EK::Subscript:
    visit(cast<ast::Subscript>(expr).value);
    return visit(cast<ast::Subscript>(expr).index);
  case EK::Slice:
    visit(cast<ast::Slice>(expr).lower);
    visit(cast<ast::Slice>(expr).upper);
    return visit(cast<ast::Slice>(expr).step);
  case EK::Starred:
    return visit(cast<ast::Starred>(expr).value);
  case EK::Lambda:
    return visit(cast<ast::Lambda>(expr).body);
  case EK::NamedExpr:
    return visit(cast<ast::NamedExpr>(expr).value);
  case EK::Comprehension:
    return forEachPart(cast<ast::Comprehension>(expr), visitor);
  case EK::Await:
    return visit(cast<ast::Await>(expr).value);
  case EK::Yield:
    return visit(cast<ast::Yield>(expr).value);
  }
}

/// Only `:=` binds within an expression, but it may sit anywhere.
void collectAssigned(const ast::Expr &expr, AssignedNames &names) {
  forEachPart(expr, [&](const ast::Expr &part) { collectAssigned(part, names); });
  if (auto *named = llvm::dyn_cast<ast::NamedExpr>(&expr))
    names[named->name] = named->nameRange;
}

static void collectOptional(const ast::ExprPtr &expr, AssignedNames &names) {
  if (expr)
    collectAssigned(*expr, names);
}

static void collectAssigned(const ast::Stmt &statement, AssignedNames &names) {
  using SK = ast::Stmt::Kind;
  switch (statement.kind) {
  case SK::Expr:
    return collectAssigned(*cast<ast::ExprStmt>(statement).value, names);
  case SK::Assign:
    collectAssigned(*cast<ast::Assign>(statement).value, names);
    for (const ast::ExprPtr &target : cast<ast::Assign>(statement).targets)
      collectTargets(*target, names);
    return;
  case SK::AugAssign:
    collectAssigned(*cast<ast::AugAssign>(statement).value, names);
    return collectTargets(*cast<ast::AugAssign>(statement).target, names);
  case SK::AnnAssign: {
    auto &node = cast<ast::AnnAssign>(statement);
    collectOptional(node.value, names);
    if (!isConstexprAnnotation(node.annotation.get()))
      collectTargets(*node.target, names);
    return;
  }
  case SK::Return:
    return collectOptional(cast<ast::Return>(statement).value, names);
  case SK::If:
    collectAssigned(*cast<ast::If>(statement).condition, names);
    collectAssigned(cast<ast::If>(statement).then, names);
    return collectAssigned(cast<ast::If>(statement).otherwise, names);
  case SK::For:
    collectAssigned(*cast<ast::For>(statement).iterable, names);
    collectTargets(*cast<ast::For>(statement).target, names);
    collectAssigned(cast<ast::For>(statement).body, names);
    return collectAssigned(cast<ast::For>(statement).otherwise, names);
  case SK::While:
    collectAssigned(*cast<ast::While>(statement).condition, names);
    collectAssigned(cast<ast::While>(statement).body, names);
    return collectAssigned(cast<ast::While>(statement).otherwise, names);
  case SK::With:
    for (const ast::With::Item &item : cast<ast::With>(statement).items)
      if (item.target)
        collectTargets(*item.target, names);
    return collectAssigned(cast<ast::With>(statement).body, names);
  default:
    return;
  }
}

void collectAssigned(const ast::Body &body, AssignedNames &names) {
  for (const ast::StmtPtr &statement : body)
    collectAssigned(*statement, names);
}

//===----------------------------------------------------------------------===//
// Reads behind loops
//===----------------------------------------------------------------------===//

namespace {
/// Collects the names that are read where no loop binds them as its variable.
class FreeReads {
public:
  explicit FreeReads(NameSet &names) : names(names) {}
  void visit(const ast::Body &body) {
    for (const ast::StmtPtr &statement : body)
      visit(*statement);
  }

private:
  void visit(const ast::Stmt &statement);
  void visit(const ast::For &loop);
  void visit(const ast::Expr &expr) {
    if (auto *name = llvm::dyn_cast<ast::Name>(&expr)) {
      if (!bound.contains(name->id))
        names.insert(name->id);
      return;
    }
    forEachPart(expr, [&](const ast::Expr &part) { visit(part); });
  }
  void visit(const ast::ExprPtr &expr) {
    if (expr)
      visit(*expr);
  }
  /// A name that is bound is not read; what is indexed, or has a field bound, is.
  void visitTarget(const ast::Expr &target) {
    if (auto *sequence = llvm::dyn_cast<ast::Sequence>(&target)) {
      for (const ast::ExprPtr &part : sequence->elements)
        visitTarget(*part);
      return;
    }
    if (auto *starred = llvm::dyn_cast<ast::Starred>(&target))
      return visitTarget(*starred->value);
    if (!llvm::isa<ast::Name>(target))
      visit(target);
  }

  NameSet &names;
  AssignedNames bound; ///< by the loops around
};
} // namespace

void FreeReads::visit(const ast::For &loop) {
  visit(loop.iterable);
  AssignedNames around = bound;
  collectTargets(*loop.target, bound);
  visit(loop.body);
  bound = std::move(around);
}

void FreeReads::visit(const ast::Stmt &statement) {
  using SK = ast::Stmt::Kind;
  switch (statement.kind) {
  case SK::Expr:
    return visit(cast<ast::ExprStmt>(statement).value);
  case SK::Assign:
    visit(cast<ast::Assign>(statement).value);
    for (const ast::ExprPtr &target : cast<ast::Assign>(statement).targets)
      visitTarget(*target);
    return;
  case SK::AugAssign:
    visit(cast<ast::AugAssign>(statement).target);
    return visit(cast<ast::AugAssign>(statement).value);
  case SK::AnnAssign:
    return visit(cast<ast::AnnAssign>(statement).value);
  case SK::Return:
    return visit(cast<ast::Return>(statement).value);
  case SK::If:
    visit(cast<ast::If>(statement).condition);
    visit(cast<ast::If>(statement).then);
    return visit(cast<ast::If>(statement).otherwise);
  case SK::For:
    return visit(cast<ast::For>(statement));
  case SK::While:
    visit(cast<ast::While>(statement).condition);
    return visit(cast<ast::While>(statement).body);
  case SK::Assert:
    visit(cast<ast::Assert>(statement).condition);
    return visit(cast<ast::Assert>(statement).message);
  case SK::With:
    for (const ast::With::Item &item : cast<ast::With>(statement).items)
      visit(item.context);
    return visit(cast<ast::With>(statement).body);
  default:
    return;
  }
}

void collectReadBehindLoops(const ast::Body &body, NameSet &names) { FreeReads(names).visit(body); }

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

bool hasBreak(const ast::Body &body) {
  return llvm::any_of(body, [](const ast::StmtPtr &statement) {
    if (statement->kind == ast::Stmt::Kind::Break)
      return true;
    if (auto *branch = llvm::dyn_cast<ast::If>(statement.get()))
      return hasBreak(branch->then) || hasBreak(branch->otherwise);
    if (auto *with = llvm::dyn_cast<ast::With>(statement.get()))
      return hasBreak(with->body);
    return false;
  });
}

bool hasReturn(const ast::Body &body) {
  return llvm::any_of(body, [](const ast::StmtPtr &statement) {
    if (statement->kind == ast::Stmt::Kind::Return)
      return true;
    if (auto *branch = llvm::dyn_cast<ast::If>(statement.get()))
      return hasReturn(branch->then) || hasReturn(branch->otherwise);
    if (auto *with = llvm::dyn_cast<ast::With>(statement.get()))
      return hasReturn(with->body);
    if (auto *loop = llvm::dyn_cast<ast::For>(statement.get()))
      return hasReturn(loop->body);
    if (auto *loop = llvm::dyn_cast<ast::While>(statement.get()))
      return hasReturn(loop->body);
    return false;
  });
}

} // namespace tile::specialize
