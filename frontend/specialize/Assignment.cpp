//===- Assignment.cpp - names that are given values ---------------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Specializer.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

/// Only the declaration itself keeps a compile-time value as it is; what is
/// assigned later is an ordinary value, and so is a declared one that only run
/// time knows.
void Specializer::bind(StringRef name, SourceRange, const PyValue &value) {
  Variable &variable = frame->vars[name];
  bool isDeclaration = variable.isConstexpr && !variable.missing.empty();
  if (!isDeclaration) {
    variable = Variable{decay(value)};
    return;
  }
  PyValue known = value;
  if (const Tensor *t = tensorIn(value))
    known = constantValue(*t).value_or(value);
  variable = Variable{known, /*isConstexpr=*/!holdsTensor(known)};
}

void Specializer::assign(const ast::Expr &target, const PyValue &value) {
  At at(*this, target.range);
  if (auto *name = llvm::dyn_cast<ast::Name>(&target)) {
    bind(name->id, name->range, value);
    return;
  }
  if (auto *starred = llvm::dyn_cast<ast::Starred>(&target)) {
    assign(*starred->value, value);
    return;
  }
  if (auto *field = llvm::dyn_cast<ast::Attribute>(&target)) {
    assignField(*field, value);
    return;
  }
  auto *sequence = llvm::dyn_cast<ast::Sequence>(&target);
  if (!sequence) {
    error(llvm::isa<ast::Subscript>(target)
              ? "values cannot be changed in place: blocks are immutable; use `tl.where`, or "
                "`tl.store` through a pointer"
              : "only names and tuples of names can be assigned");
    return;
  }
  if (isPoison(value)) {
    for (const ast::ExprPtr &part : sequence->elements)
      assign(*part, value);
    return;
  }
  std::vector<PyValue> elements;
  if (isPoison(take(eval::iterate(value, elements)))) {
    assign(target, PoisonValue::get());
    return;
  }
  // `a, *b, c = values`: the starred name takes what the others leave.
  auto isStarred = [](const ast::ExprPtr &e) { return llvm::isa<ast::Starred>(*e); };
  auto star = llvm::find_if(sequence->elements, isStarred);
  size_t names = sequence->elements.size();
  if (star != sequence->elements.end() && elements.size() + 1 >= names) {
    auto first = elements.begin() + (star - sequence->elements.begin());
    std::vector<PyValue> taken(first, first + (elements.size() + 1 - names));
    elements.erase(first, first + taken.size());
    elements.insert(elements.begin() + (star - sequence->elements.begin()),
                    PyValue::tuple(std::move(taken)));
  }
  if (elements.size() != names) {
    error(formatted("cannot unpack {} into {}", counted(elements.size(), "value"),
                    counted(names, "name")));
    assign(target, PoisonValue::get());
    return;
  }
  for (auto [part, element] : llvm::zip(sequence->elements, elements))
    assign(*part, element);
}

void Specializer::runAnnotated(const ast::AnnAssign &statement) {
  auto *name = llvm::dyn_cast<ast::Name>(statement.target.get());
  if (!name) {
    error("only names can be annotated");
    return;
  }
  if (!isConstexprAnnotation(statement.annotation.get(), frame->module)) {
    if (statement.value)
      bind(name->id, name->range, evaluate(*statement.value));
    return;
  }
  // In an unrolled or expanded body the declaration is met again: a new name.
  PyValue value = statement.value ? evaluate(*statement.value) : PyValue::none();
  Variable &variable = frame->vars[name->id];
  variable = Variable{{}, /*isConstexpr=*/true, "it is declared but not assigned yet"};
  if (statement.value)
    bind(name->id, name->range, value);
}

} // namespace tile::specialize
