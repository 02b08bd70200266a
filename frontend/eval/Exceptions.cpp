//===- Exceptions.cpp - assert, raise, try and except ---------------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

Flow StatementRunner::runAssert(const ast::Assert &stmt, const ScopePtr &scope) {
  Result yes = condition(*stmt.condition, scope);
  if (!yes)
    return yes.takeError();
  if (yes->asBool())
    return {};
  std::string message = "assertion failed";
  if (stmt.message) {
    Result text = evaluator.evaluate(*stmt.message, scope);
    if (!text)
      return text.takeError();
    message += formatted(": {}", str(*text));
  } else if (auto *comparison = llvm::dyn_cast<ast::Compare>(stmt.condition.get())) {
    // Say what was compared; the operands have been evaluated once without error.
    Result lhs = evaluator.evaluate(*comparison->first, scope);
    Result rhs = evaluator.evaluate(*comparison->rest[0], scope);
    if (lhs && rhs)
      message += formatted(": {} {} {}", repr(*lhs), ast::spelling(comparison->ops[0]), repr(*rhs));
  }
  return errorAt(fail(message, "AssertionError"), scope, stmt.condition->range);
}

/// The exception types an `except` clause names.
static Result exceptionNames(const PyValue &type, std::vector<std::string> &names) {
  if (type.is(Kind::Tuple)) {
    for (const PyValue &element : type.elements())
      if (Result ok = exceptionNames(element, names); !ok)
        return ok;
    return PyValue();
  }
  if (!type.is(Kind::Symbol))
    return fail(formatted("`except` needs an exception type, got `{}`", typeName(type)));
  names.push_back(type.asSymbol());
  return PyValue();
}

/// Triton's modules and what is in them, by the names they have in `scope`.
static std::vector<std::pair<std::string, PyValue>> namesOfTriton(const Scope &scope) {
  std::vector<std::pair<std::string, PyValue>> out;
  for (auto &variable : scope.variables) {
    const PyValue &value = variable.second;
    StringRef name = value.is(Kind::Symbol) ? StringRef(value.asSymbol())
                     : value.is(Kind::Module) && !value.asModule().env
                         ? StringRef(value.asModule().name)
                         : StringRef();
    StringRef top = name.split('.').first;
    if (top == "triton" || top == "tl")
      out.push_back({variable.first().str(), value});
  }
  return out;
}

/// What `str` says of an exception: its message, without the type that a report begins with.
static StringRef textOf(const EvalError &error) {
  StringRef text = error.diagnostic.message;
  if (text == error.type)
    return "";
  StringRef rest = text;
  if (rest.consume_front(error.type) && rest.consume_front(": "))
    return rest;
  if (error.type == "AssertionError")
    text.consume_front("assertion failed: ");
  return text;
}

Flow StatementRunner::runHandlers(const ast::Try &stmt, Flow failed, const ScopePtr &scope) {
  // What is not supported, or does not end, is not the program's to handle.
  if (failed.error->diagnostic.unsupported || failed.error->type == "LimitError")
    return failed;
  for (const ast::Try::Handler &handler : stmt.handlers) {
    bool matches = !handler.type;
    if (handler.type) {
      Result type = evaluator.evaluate(*handler.type, scope);
      std::vector<std::string> names;
      if (type)
        type = exceptionNames(*type, names).at(scope->module->source(), handler.type->range);
      if (!type)
        return type.takeError();
      matches = llvm::any_of(names, [&](const std::string &name) {
        return exceptionMatches(failed.error->type, name);
      });
    }
    if (!matches)
      continue;
    if (!handler.name.empty())
      scope->variables[handler.name] = PyValue::string(textOf(*failed.error).str());
    // `triton = None` is for machines without it. What imported it failed further on.
    std::vector<std::pair<std::string, PyValue>> there = namesOfTriton(*scope);
    Flow flow = run(handler.body, scope);
    for (auto &[name, value] : there)
      if (PyValue &now = scope->variables[name]; now.is(Kind::None))
        now = value;
    return flow;
  }
  return failed;
}

Flow StatementRunner::runTry(const ast::Try &stmt, const ScopePtr &scope) {
  ++scope->inTry;
  Flow flow = run(stmt.body, scope);
  --scope->inTry;
  if (flow.kind == Flow::Kind::Error)
    flow = runHandlers(stmt, std::move(flow), scope);
  else if (flow.kind == Flow::Kind::Next)
    flow = run(stmt.otherwise, scope);
  Flow last = run(stmt.finally, scope);
  return last.kind == Flow::Kind::Next ? std::move(flow) : std::move(last);
}

Flow StatementRunner::runRaise(const ast::Raise &stmt, const ScopePtr &scope) {
  if (!stmt.value)
    return errorAt(unsupported("`raise` needs an exception here"), scope, stmt.range);
  Result value = evaluator.evaluate(*stmt.value, scope);
  if (!value)
    return value.takeError();
  std::string type, message;
  if (value->is(Kind::Symbol)) {
    type = value->asSymbol();
  } else if (value->is(Kind::Tuple) && value->asTuple().type) {
    type = value->asTuple().type->name;
    for (const PyValue &arg : value->asTuple().elements[0].elements())
      message += (message.empty() ? ": " : ", ") + str(arg);
  }
  if (!isExceptionType(type))
    return errorAt(fail(formatted("`raise` needs an exception, got `{}`", typeName(*value))), scope,
                   stmt.value->range);
  return errorAt(fail(type + message, type), scope, stmt.range);
}
