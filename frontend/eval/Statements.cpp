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
  case ast::Stmt::Kind::With:
    return runWith(llvm::cast<ast::With>(stmt), scope);
  case ast::Stmt::Kind::Global:
  case ast::Stmt::Kind::Match:
  case ast::Stmt::Kind::TypeAlias:
    return errorAt(
        unsupported(formatted("a `{}` statement cannot run at compile time", nameOf(stmt.kind))),
        scope, stmt.range);
  }
  return {};
}

/// `with torch.no_grad():` says of a body what is so everywhere but in what is differentiated.
Flow StatementRunner::runWith(const ast::With &stmt, const ScopePtr &scope) {
  for (const ast::With::Item &item : stmt.items) {
    auto *call = llvm::dyn_cast<ast::Call>(item.context.get());
    std::string context = call ? dottedName(*call->callee) : "";
    if (isWithoutGradients(context) && !item.target && !stmt.isAsync)
      continue;
    if (StringRef(context).ends_with("autocast"))
      return errorAt(
          unsupported(formatted("`{}` is not supported: what is computed has the type that the "
                                "function says; convert with `.to(tl.float16)` and its like",
                                context)),
          scope, item.context->range);
    return errorAt(unsupported("a `with` statement cannot run at compile time"), scope, stmt.range);
  }
  Flow flow;
  evaluator.withoutGradients([&] { flow = run(stmt.body, scope); });
  return flow;
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
