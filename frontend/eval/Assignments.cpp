//===- Assignments.cpp - what names and places are given ------------------===//
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

static void assignName(StringRef name, const PyValue &value, Scope &scope) {
  Scope *target = &scope;
  if (llvm::is_contained(scope.nonlocals, name))
    for (Scope *s = scope.parent.get(); s; s = s->parent.get())
      if (s->variables.contains(name)) {
        target = s;
        break;
      }
  target->variables[name] = value;
}

static Result assignElements(Evaluator &evaluator, const ast::Sequence &target,
                             const PyValue &value, const ScopePtr &scope) {
  std::vector<PyValue> values;
  if (Result ok = iterate(value, values); !ok)
    return ok;
  size_t count = target.elements.size(), starAt = count;
  for (size_t i = 0; i < count; ++i)
    if (llvm::isa<ast::Starred>(*target.elements[i]))
      starAt = i;
  bool hasStar = starAt != count;
  if (hasStar ? values.size() + 1 < count : values.size() != count)
    return fail(formatted("cannot unpack {} values into {} targets", values.size(), count),
                "ValueError");
  size_t extra = hasStar ? values.size() + 1 - count : 0;
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const ast::Expr *element = target.elements[i].get();
    Result ok = PyValue();
    if (i == starAt) {
      std::vector<PyValue> rest(values.begin() + next, values.begin() + next + extra);
      next += extra;
      ok = evaluator.assign(*llvm::cast<ast::Starred>(element)->value,
                            PyValue::list(std::move(rest)), scope);
    } else {
      ok = evaluator.assign(*element, values[next++], scope);
    }
    if (!ok)
      return ok;
  }
  return PyValue();
}

Result Evaluator::assign(const ast::Expr &target, const PyValue &value, const ScopePtr &scope) {
  Result result = PyValue();
  if (auto *name = llvm::dyn_cast<ast::Name>(&target)) {
    assignName(name->id, value, *scope);
  } else if (auto *sequence = llvm::dyn_cast<ast::Sequence>(&target)) {
    result = assignElements(*this, *sequence, value, scope);
  } else if (auto *access = llvm::dyn_cast<ast::Subscript>(&target)) {
    Result container = evaluate(*access->value, scope);
    if (!container)
      return container;
    Result index = evaluate(*access->index, scope);
    if (!index)
      return index;
    AtPlace here({&scope->module->source(), target.range});
    result = assignSubscript(*container, *index, value);
  } else if (auto *access = llvm::dyn_cast<ast::Attribute>(&target)) {
    Result object = evaluate(*access->value, scope);
    if (!object)
      return object;
    result = assignAttribute(*object, access->name, value);
  } else {
    result = fail("this cannot be assigned to", "SyntaxError");
  }
  return std::move(result).at(scope->module->source(), target.range);
}

Flow StatementRunner::runAnnAssign(const ast::AnnAssign &stmt, const ScopePtr &scope) {
  if (!stmt.value)
    return {};
  Result value = evaluator.evaluate(*stmt.value, scope);
  if (value)
    value = evaluator.assign(*stmt.target, *value, scope);
  return value ? Flow() : Flow(value.takeError());
}

Flow StatementRunner::runAssign(const ast::Assign &stmt, const ScopePtr &scope) {
  Result value = evaluator.evaluate(*stmt.value, scope);
  if (!value)
    return value.takeError();
  for (const ast::ExprPtr &target : stmt.targets)
    if (Result ok = evaluator.assign(*target, *value, scope); !ok)
      return ok.takeError();
  return {};
}

namespace {
/// The place of `a[i] op= x`: `a` and `i` are computed once, however often they are used.
struct Element {
  PyValue container, index;
};
} // namespace

static Result currentOf(Evaluator &evaluator, const ast::Expr &target, const ScopePtr &scope,
                        std::optional<Element> &element) {
  auto *access = llvm::dyn_cast<ast::Subscript>(&target);
  if (!access)
    return evaluator.evaluate(target, scope);
  Result container = evaluator.evaluate(*access->value, scope);
  if (!container)
    return container;
  Result index = evaluator.evaluate(*access->index, scope);
  if (!index)
    return index;
  element = {*container, *index};
  AtPlace here({&scope->module->source(), target.range});
  return subscript(*container, *index, &evaluator).at(scope->module->source(), target.range);
}

/// Containers change themselves, for all who hold them: gives `current` what `result` has.
static bool changeItself(const PyValue &current, const PyValue &result) {
  if (current.is(Kind::List) && result.is(Kind::List))
    current.asList().elements = result.asList().elements;
  else if (current.is(Kind::Set) && result.is(Kind::Set))
    current.asSet().elements = result.asSet().elements;
  else if (current.is(Kind::Dict) && result.is(Kind::Dict))
    current.asDict().items = result.asDict().items;
  else
    return false;
  return true;
}

/// A name gets a new value, and who runs this is told which one it had.
static Result rebind(Evaluator &evaluator, const ast::Expr &target, const PyValue &before,
                     const PyValue &value, const ScopePtr &scope) {
  if (evaluator.hooks)
    evaluator.hooks->augmented(before);
  return evaluator.assign(target, value, scope);
}

Flow StatementRunner::runAugAssign(const ast::AugAssign &stmt, const ScopePtr &scope) {
  std::optional<Element> element;
  Result current = currentOf(evaluator, *stmt.target, scope, element);
  if (!current)
    return current.takeError();
  Result operand = evaluator.evaluate(*stmt.value, scope);
  if (!operand)
    return operand.takeError();
  // `list += ...` takes anything that can be iterated.
  if (current->is(Kind::List) && stmt.op == ast::BinaryOp::Add) {
    std::vector<PyValue> elements;
    if (Result ok = iterate(*operand, elements); !ok)
      return errorAt(ok.takeError(), scope, stmt.value->range);
    if (auto error = Work::checkLength(current->asList().elements.size() + elements.size()))
      return errorAt(std::move(error), scope, stmt.range);
    llvm::append_range(current->asList().elements, elements);
    return {};
  }
  const frontend::SourceFile &source = scope->module->source();
  AtPlace here({&source, stmt.range});
  Result result = binary(stmt.op, *current, *operand).at(source, stmt.range);
  if (!result)
    return result.takeError();
  if (changeItself(*current, *result))
    return {};
  if (InPlace::covers(*current))
    result = assignSubscript(*current, PyValue::ellipsis(), *result).at(source, stmt.range);
  else if (element)
    result = assignSubscript(element->container, element->index, *result).at(source, stmt.range);
  else
    result = rebind(evaluator, *stmt.target, *current, *result, scope);
  return result ? Flow() : Flow(result.takeError());
}

Flow StatementRunner::runDelete(const ast::Delete &stmt, const ScopePtr &scope) {
  for (const ast::ExprPtr &target : stmt.targets) {
    auto *name = llvm::dyn_cast<ast::Name>(target.get());
    if (!name)
      return errorAt(unsupported("only names can be deleted at compile time"), scope,
                     target->range);
    if (!scope->variables.erase(name->id))
      return errorAt(fail(formatted("name `{}` is not defined here", name->id), "NameError"), scope,
                     target->range);
  }
  return {};
}
