//===- Statements.cpp - runs statements at compile time -------------------===//
#include "frontend/eval/Statements.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

Flow StatementRunner::errorAt(std::unique_ptr<EvalError> error, const ScopePtr &scope,
                              SourceRange range) {
  return Result(std::move(error)).at(scope->module->source(), range).takeError();
}

void StatementRunner::keepClosure(const ScopePtr &scope) {
  for (ScopePtr s = scope; s && !s->isTopLevel; s = s->parent) {
    if (evaluator.arena) {
      if (s->isComprehension) // calls' scopes are there
        evaluator.arena->add(s);
      continue;
    }
    std::vector<ScopePtr> &kept = s->module->insideFunctions;
    if (!kept.empty() && kept.back() == s)
      return;
    if (kept.size() >= 1024 && llvm::isPowerOf2_64(kept.size()))
      llvm::erase_if(kept, [](const ScopePtr &other) { return other.use_count() == 1; });
    kept.push_back(s);
  }
}

Result StatementRunner::runBody(const ast::Body &body, const ScopePtr &scope) {
  Flow flow = run(body, scope);
  if (flow.kind == Flow::Kind::Error)
    return std::move(flow.error);
  return flow.kind == Flow::Kind::Return ? flow.value : PyValue();
}

Flow StatementRunner::run(const ast::Body &body, const ScopePtr &scope) {
  for (const ast::StmtPtr &stmt : body)
    if (Flow flow = run(*stmt, scope); flow.kind != Flow::Kind::Next)
      return flow;
  return {};
}

Result StatementRunner::condition(const ast::Expr &expr, const ScopePtr &scope) {
  Result value = evaluator.evaluate(expr, scope);
  return value ? truth(*value).at(scope->module->source(), expr.range) : std::move(value);
}

static const char *nameOf(ast::Stmt::Kind kind) {
  switch (kind) {
  case ast::Stmt::Kind::With:
    return "with";
  case ast::Stmt::Kind::Match:
    return "match";
  case ast::Stmt::Kind::TypeAlias:
    return "type";
  default:
    return "global";
  }
}

Flow StatementRunner::run(const ast::Stmt &stmt, const ScopePtr &scope) {
  if (Result ok = evaluator.countStep(*scope, stmt.range); !ok)
    return ok.takeError();
  Work work(evaluator.steps, evaluator.limits.steps);
  switch (stmt.kind) {
  case ast::Stmt::Kind::Expr: {
    Result value = evaluator.evaluate(*llvm::cast<ast::ExprStmt>(stmt).value, scope);
    return value ? Flow() : Flow(value.takeError());
  }
  case ast::Stmt::Kind::Assign:
    return runAssign(llvm::cast<ast::Assign>(stmt), scope);
  case ast::Stmt::Kind::AugAssign:
    return runAugAssign(llvm::cast<ast::AugAssign>(stmt), scope);
  case ast::Stmt::Kind::AnnAssign:
    return runAnnAssign(llvm::cast<ast::AnnAssign>(stmt), scope);
  case ast::Stmt::Kind::Return:
    return runReturn(llvm::cast<ast::Return>(stmt), scope);
  case ast::Stmt::Kind::If:
    return runIf(llvm::cast<ast::If>(stmt), scope);
  case ast::Stmt::Kind::For:
  case ast::Stmt::Kind::While:
    return runLoop(stmt, scope);
  case ast::Stmt::Kind::Break:
    return Flow::Kind::Break;
  case ast::Stmt::Kind::Continue:
    return Flow::Kind::Continue;
  case ast::Stmt::Kind::Pass:
    return {};
  case ast::Stmt::Kind::FunctionDef: {
    auto &def = llvm::cast<ast::FunctionDef>(stmt);
    scope->variables[def.name] = evaluator.makeFunction(def, scope);
    return {};
  }
  case ast::Stmt::Kind::ClassDef:
    return runClassDef(llvm::cast<ast::ClassDef>(stmt), scope);
  case ast::Stmt::Kind::Import:
    return runImport(llvm::cast<ast::Import>(stmt), scope);
  case ast::Stmt::Kind::ImportFrom:
    return runImportFrom(llvm::cast<ast::ImportFrom>(stmt), scope);
  case ast::Stmt::Kind::Assert:
    return runAssert(llvm::cast<ast::Assert>(stmt), scope);
  case ast::Stmt::Kind::Raise:
    return runRaise(llvm::cast<ast::Raise>(stmt), scope);
  case ast::Stmt::Kind::Try:
    return runTry(llvm::cast<ast::Try>(stmt), scope);
  case ast::Stmt::Kind::Delete:
    return runDelete(llvm::cast<ast::Delete>(stmt), scope);
  case ast::Stmt::Kind::Nonlocal:
    llvm::append_range(scope->nonlocals, llvm::cast<ast::ScopeStmt>(stmt).names);
    return {};
  case ast::Stmt::Kind::Global:
  case ast::Stmt::Kind::With:
  case ast::Stmt::Kind::Match:
  case ast::Stmt::Kind::TypeAlias:
    return errorAt(
        unsupported(formatted("a `{}` statement cannot run at compile time", nameOf(stmt.kind))),
        scope, stmt.range);
  }
  return {};
}

Flow StatementRunner::runReturn(const ast::Return &stmt, const ScopePtr &scope) {
  Result value = stmt.value ? evaluator.evaluate(*stmt.value, scope) : Result(PyValue());
  if (!value)
    return value.takeError();
  Flow flow(Flow::Kind::Return);
  flow.value = value.take();
  return flow;
}

Flow StatementRunner::runClassDef(const ast::ClassDef &stmt, const ScopePtr &scope) {
  Result type = evaluator.makeClass(stmt, scope);
  if (!type)
    return type.takeError();
  scope->variables[stmt.name] = type.take();
  return {};
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

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

Flow StatementRunner::runAugAssign(const ast::AugAssign &stmt, const ScopePtr &scope) {
  Result current = evaluator.evaluate(*stmt.target, scope);
  if (!current)
    return current.takeError();
  Result operand = evaluator.evaluate(*stmt.value, scope);
  if (!operand)
    return operand.takeError();
  // `list += ...` changes the list itself.
  if (current->is(Kind::List) && stmt.op == ast::BinaryOp::Add) {
    std::vector<PyValue> elements;
    if (Result ok = iterate(*operand, elements); !ok)
      return errorAt(ok.takeError(), scope, stmt.value->range);
    if (auto error = Work::checkLength(current->asList().elements.size() + elements.size()))
      return errorAt(std::move(error), scope, stmt.range);
    llvm::append_range(current->asList().elements, elements);
    return {};
  }
  AtPlace here({&scope->module->source(), stmt.range});
  Result result = binary(stmt.op, *current, *operand).at(scope->module->source(), stmt.range);
  if (result && InPlace::covers(*current))
    result = assignSubscript(*current, PyValue::ellipsis(), *result)
                 .at(scope->module->source(), stmt.range);
  else if (result)
    result = evaluator.assign(*stmt.target, *result, scope);
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

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Flow StatementRunner::runIf(const ast::If &stmt, const ScopePtr &scope) {
  Result yes = condition(*stmt.condition, scope);
  if (!yes)
    return yes.takeError();
  const ast::Body &body = yes->asBool() ? stmt.then : stmt.otherwise;
  if (!scope->isTopLevel || scope->inTry)
    return run(body, scope);
  // A file's statements do not depend on each other here, and those of a
  // branch that is taken are the file's.
  Flow first;
  for (const ast::StmtPtr &inner : body)
    if (Flow flow = run(*inner, scope); first.kind == Flow::Kind::Next)
      first = std::move(flow);
  return first;
}

/// A loop of a file that fails on the way has not computed what its names say:
/// they are as they were before it. The functions that it defines stay.
Flow StatementRunner::runLoop(const ast::Stmt &stmt, const ScopePtr &scope) {
  auto runIt = [&] {
    auto *loop = llvm::dyn_cast<ast::For>(&stmt);
    return loop ? runFor(*loop, scope) : runWhile(llvm::cast<ast::While>(stmt), scope);
  };
  if (!scope->isTopLevel || scope->inTry)
    return runIt();
  llvm::StringMap<PyValue> before = scope->variables;
  Flow flow = runIt();
  if (flow.kind != Flow::Kind::Error)
    return flow;
  for (auto &variable : scope->variables)
    if (variable.second.is(Kind::Function))
      before.insert_or_assign(variable.first(), variable.second);
  scope->variables = std::move(before);
  return flow;
}

/// Runs a range without building it.
static bool nextOfRange(const RangeObject &range, int64_t index, PyValue &out) {
  if (index >= range.size())
    return false;
  out = PyValue::integer(range.at(index));
  return true;
}

Flow StatementRunner::runFor(const ast::For &stmt, const ScopePtr &scope) {
  if (stmt.isAsync)
    return errorAt(unsupported("`async for` is not supported"), scope, stmt.range);
  Result iterable = evaluator.evaluate(*stmt.iterable, scope);
  if (!iterable)
    return iterable.takeError();
  bool isRange = iterable->is(Kind::Range);
  std::vector<PyValue> elements;
  if (!isRange)
    if (Result ok = iterate(*iterable, elements); !ok)
      return errorAt(ok.takeError(), scope, stmt.iterable->range);
  PyValue element;
  for (int64_t i = 0;; ++i) {
    if (isRange ? !nextOfRange(iterable->asRange(), i, element) : i >= int64_t(elements.size()))
      break;
    if (!isRange)
      element = elements[i];
    if (Result ok = evaluator.countStep(*scope, stmt.iterable->range); !ok)
      return ok.takeError();
    if (Result ok = evaluator.assign(*stmt.target, element, scope); !ok)
      return ok.takeError();
    Flow flow = run(stmt.body, scope);
    if (flow.kind == Flow::Kind::Break)
      return {};
    if (flow.kind == Flow::Kind::Return || flow.kind == Flow::Kind::Error)
      return flow;
  }
  return run(stmt.otherwise, scope);
}

Flow StatementRunner::runWhile(const ast::While &stmt, const ScopePtr &scope) {
  while (true) {
    Result yes = condition(*stmt.condition, scope);
    if (!yes)
      return yes.takeError();
    if (!yes->asBool())
      return run(stmt.otherwise, scope);
    Flow flow = run(stmt.body, scope);
    if (flow.kind == Flow::Kind::Break)
      return {};
    if (flow.kind == Flow::Kind::Return || flow.kind == Flow::Kind::Error)
      return flow;
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

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
      scope->variables[handler.name] = PyValue::string(failed.error->diagnostic.message);
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

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

/// A module that cannot be found is an error at once inside `try`, which may
/// have a handler; elsewhere only when it is used.
Flow StatementRunner::runImport(const ast::Import &stmt, const ScopePtr &scope) {
  for (const ast::ImportAlias &alias : stmt.names) {
    // `import a.b` binds `a`; `import a.b as c` binds the module itself.
    StringRef dotted = alias.name;
    StringRef target = alias.asName.empty() ? dotted.split('.').first : dotted;
    StringRef name = alias.asName.empty() ? target : StringRef(alias.asName);
    Result module = scope->module->resolveModule(dotted, 0);
    if (!module && module.error().type == "ModuleNotFoundError") {
      if (scope->inTry)
        return errorAt(module.takeError(), scope, alias.range);
      scope->variables[name] = PyValue::module(target.str(), nullptr, scope->module);
      continue;
    }
    if (module && target != dotted) {
      Result root = scope->module->resolveModule(target, 0);
      module =
          root ? std::move(root) : Result(PyValue::module(target.str(), nullptr, scope->module));
    }
    if (!module)
      return errorAt(module.takeError(), scope, alias.range);
    scope->variables[name] = module.take();
  }
  return {};
}

/// A name that cannot be imported does not keep the others of the statement
/// from being bound, unless a `try` waits for the error.
Flow StatementRunner::runImportFrom(const ast::ImportFrom &stmt, const ScopePtr &scope) {
  Flow flow;
  Result module = scope->module->resolveModule(stmt.module, stmt.level);
  for (const ast::ImportAlias &alias : stmt.names) {
    if (alias.name == "*")
      continue; // looked up through ModuleEnv::starImports
    Result value = PyValue();
    if (module) {
      value = attribute(*module, alias.name);
    } else {
      // The name may itself be a file: `from package import part`.
      std::string dotted = stmt.module.empty() ? alias.name : stmt.module + "." + alias.name;
      value = scope->module->resolveModule(dotted, stmt.level);
      if (!value && value.error().type == "ModuleNotFoundError")
        value = std::make_unique<EvalError>(module.error());
    }
    if (value) {
      scope->variables[alias.asName.empty() ? alias.name : alias.asName] = value.take();
      continue;
    }
    Flow failed = errorAt(value.takeError(), scope, alias.range);
    if (scope->inTry)
      return failed;
    if (flow.kind != Flow::Kind::Error)
      flow = std::move(failed);
  }
  return flow;
}
