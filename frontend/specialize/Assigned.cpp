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

static void collectOptional(const ast::ExprPtr &expr, AssignedNames &names) {
  if (expr)
    collectAssigned(*expr, names);
}

/// Only `:=` binds within an expression, but it may sit anywhere.
void collectAssigned(const ast::Expr &expr, AssignedNames &names) {
  using EK = ast::Expr::Kind;
  auto visit = [&](const ast::ExprPtr &e) { collectOptional(e, names); };
  switch (expr.kind) {
  case EK::NamedExpr: {
    auto &node = cast<ast::NamedExpr>(expr);
    visit(node.value);
    names[node.name] = node.nameRange;
    return;
  }
  case EK::Tuple:
  case EK::List:
  case EK::Set:
    for (const ast::ExprPtr &e : cast<ast::Sequence>(expr).elements)
      visit(e);
    return;
  case EK::Unary:
    return visit(cast<ast::Unary>(expr).operand);
  case EK::Binary:
    visit(cast<ast::Binary>(expr).lhs);
    return visit(cast<ast::Binary>(expr).rhs);
  case EK::BoolOp:
    for (const ast::ExprPtr &e : cast<ast::BoolOp>(expr).values)
      visit(e);
    return;
  case EK::Compare:
    visit(cast<ast::Compare>(expr).first);
    for (const ast::ExprPtr &e : cast<ast::Compare>(expr).rest)
      visit(e);
    return;
  case EK::Conditional:
    visit(cast<ast::Conditional>(expr).condition);
    visit(cast<ast::Conditional>(expr).then);
    return visit(cast<ast::Conditional>(expr).otherwise);
  case EK::Call:
    visit(cast<ast::Call>(expr).callee);
    for (const ast::ExprPtr &e : cast<ast::Call>(expr).args)
      visit(e);
    for (const ast::Keyword &keyword : cast<ast::Call>(expr).keywords)
      visit(keyword.value);
    return;
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
  default:
    return;
  }
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
