//===- Comprehensions.cpp - comprehensions and f-strings ----------------===//
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

Result Evaluator::runClauses(const ast::Comprehension &comprehension, size_t index,
                             const ScopePtr &scope, std::vector<std::pair<PyValue, PyValue>> &out) {
  if (index == comprehension.clauses.size()) {
    Result element = evaluate(*comprehension.element, scope);
    if (!element)
      return element;
    Result value = comprehension.value ? evaluate(*comprehension.value, scope) : Result(PyValue());
    if (value)
      out.emplace_back(element.take(), *value);
    if (auto error = Work::checkLength(out.size()))
      return error;
    return value;
  }
  const ast::Comprehension::Clause &clause = comprehension.clauses[index];
  if (clause.isAsync)
    return unsupported("`async for` is not supported");
  Result iterable = evaluate(*clause.iterable, scope);
  if (!iterable)
    return iterable;
  std::vector<PyValue> elements;
  if (Result ok = iterate(*iterable, elements); !ok)
    return std::move(ok).at(scope->module->source(), clause.iterable->range);
  for (const PyValue &element : elements) {
    if (Result ok = assign(*clause.target, element, scope); !ok)
      return ok;
    bool keep = true;
    for (const ast::ExprPtr &condition : clause.conditions) {
      Result value = evaluate(*condition, scope);
      if (value)
        value = truth(*value).at(scope->module->source(), condition->range);
      if (!value)
        return value;
      if (!(keep = value->asBool()))
        break;
    }
    if (keep)
      if (Result ok = runClauses(comprehension, index + 1, scope, out); !ok)
        return ok;
  }
  return PyValue();
}

Result Evaluator::evaluateComprehension(const ast::Comprehension &comprehension,
                                        const ScopePtr &scope) {
  ScopePtr inner = makeScope(*scope->module, scope);
  inner->isComprehension = true;
  std::vector<std::pair<PyValue, PyValue>> items;
  if (Result ok = runClauses(comprehension, 0, inner, items); !ok)
    return ok;
  if (comprehension.type == ast::Comprehension::Type::Dict)
    return PyValue::dict(std::move(items));
  std::vector<PyValue> elements;
  for (auto &[element, value] : items)
    elements.push_back(std::move(element));
  // A generator is a list here: nothing can tell the difference but its type.
  return comprehension.type == ast::Comprehension::Type::Set ? PyValue::set(std::move(elements))
                                                             : PyValue::list(std::move(elements));
}

Result Evaluator::formatString(const ast::FString &string, const ScopePtr &scope) {
  std::string out;
  for (const ast::FString::Part &part : string.parts) {
    if (!part.expr) {
      out += part.literal;
      continue;
    }
    Result value = evaluate(*part.expr, scope);
    if (!value)
      return value;
    std::string spec;
    if (part.format) {
      Result text = formatString(*part.format, scope);
      if (!text)
        return text;
      spec = text->asStr();
    }
    // `{x=}` shows repr unless a format or a conversion is given.
    char conversion = part.debug && !part.conversion && spec.empty() ? 'r' : part.conversion;
    if (conversion)
      value = PyValue::string(conversion == 's' ? str(*value) : repr(*value));
    Result text = format(*value, spec).at(scope->module->source(), part.expr->range);
    if (!text)
      return text;
    out += (part.debug ? part.debugText : "") + text->asStr();
    if (auto error = Work::checkLength(out.size()))
      return error;
    if (!Work::spendBytes(text->asStr().size()))
      return Work::error();
  }
  return PyValue::string(std::move(out));
}
