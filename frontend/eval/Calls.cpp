//===- Calls.cpp - calls and argument binding -----------------------------===//
#include "frontend/eval/CheckDefinition.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/InPlace.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

/// Longer chains of "called from here" help nobody.
constexpr size_t maxCallNotes = 8;

ScopeArena::ScopeArena(Evaluator &evaluator) : evaluator(evaluator), outer(evaluator.arena) {
  evaluator.arena = this;
}

ScopeArena::~ScopeArena() {
  evaluator.arena = outer;
  for (const std::weak_ptr<Scope> &weak : scopes)
    if (std::shared_ptr<Scope> scope = weak.lock())
      scope->variables.clear();
}

void ScopeArena::add(const ScopePtr &scope) {
  if (scopes.size() >= pruneAt) {
    llvm::erase_if(scopes, [](auto &weak) { return weak.expired(); });
    pruneAt = std::max<size_t>(1024, 2 * scopes.size());
  }
  scopes.push_back(scope);
}

Result Evaluator::evaluateArguments(const ast::Call &call, const ScopePtr &scope, CallArgs &args) {
  if (Result ok = evaluateElements(call.args, scope, args.positional); !ok)
    return ok;
  for (const ast::Keyword &keyword : call.keywords) {
    Result value = evaluate(*keyword.value, scope);
    if (!value)
      return value;
    if (!keyword.name.empty()) {
      args.keywords.emplace_back(keyword.name, value.take());
      continue;
    }
    if (!value->is(Kind::Dict))
      return Result(fail(formatted("`**` needs a dict, got `{}`", typeName(*value))))
          .at(scope->module->source(), keyword.value->range);
    for (auto &[key, inner] : value->asDict().items) {
      if (!key.isStr())
        return Result(fail(formatted("the keys of `**` must be strings, got {}", repr(key))))
            .at(scope->module->source(), keyword.value->range);
      args.keywords.emplace_back(key.asStr(), inner);
    }
  }
  return PyValue();
}

Result Evaluator::evaluateCall(const ast::Call &expr, const ScopePtr &scope) {
  if (std::optional<Result> kernel = decorateByCall(expr, scope))
    return std::move(*kernel);
  Result callee = evaluate(*expr.callee, scope);
  if (!callee)
    return callee;
  CallArgs args;
  if (Result ok = evaluateArguments(expr, scope, args); !ok)
    return ok;
  // The number of elements is an attribute here, and a method in PyTorch.
  auto *member = llvm::dyn_cast<ast::Attribute>(expr.callee.get());
  bool isNumber = callee->is(Kind::Int) || callee->is(Kind::Extension);
  if (member && member->name == "numel" && isNumber && args.positional.empty() &&
      args.keywords.empty())
    return callee;
  Result result = call(*callee, args);
  if (result || !result.error().diagnostic.file)
    return result;
  // The error is inside the callee: leave a trace of how it was reached.
  std::unique_ptr<EvalError> error = result.takeError();
  bool isCode = callee->is(Kind::Function) || callee->is(Kind::Extension);
  if (isCode && error->diagnostic.notes.size() < maxCallNotes) {
    Diagnostic note;
    note.severity = frontend::Severity::Note;
    note.file = &scope->module->source();
    note.range = expr.range;
    std::string name =
        callee->is(Kind::Function) ? callee->asFunction().name() : eval::repr(*callee);
    note.message = formatted("in the call of `{}` here", name);
    error->diagnostic.notes.push_back(std::move(note));
  }
  return error;
}

Result Evaluator::call(const PyValue &callee, const CallArgs &args) {
  switch (callee.kind()) {
  case Kind::Function:
    return callFunction(callee, args);
  case Kind::Class:
    return construct(callee.asClass(), args);
  case Kind::Method: {
    const MethodObject &method = callee.asMethod();
    return callMethod(*this, method.self, method.name, args);
  }
  case Kind::Extension:
    return callee.asExtension()->call(*this, args);
  case Kind::Symbol: {
    const std::string &name = callee.asSymbol();
    if (std::optional<Result> result = callBuiltin(*this, name, args))
      return std::move(*result);
    if (hooks)
      if (std::optional<Result> result = hooks->callSymbol(*this, name, args))
        return std::move(*result);
    if (StringRef(name).starts_with("tl.") || StringRef(name).starts_with("libdevice."))
      return fail(formatted(
          "`{}` works on run-time values inside a kernel; it cannot be evaluated at compile time",
          name));
    return fail(formatted("`{}` cannot be evaluated at compile time", name));
  }
  default:
    return fail(formatted("a value of type `{}` cannot be called", typeName(callee)));
  }
}

/// What a function gives once its parameters have values.
static Result resultOf(Evaluator &evaluator, const FunctionObject &function,
                       const ScopePtr &scope) {
  auto run = [&] {
    return function.lambda ? evaluator.evaluate(*function.lambda->body, scope)
                           : StatementRunner(evaluator).runBody(function.def->body, scope);
  };
  if (!function.findDecorator("torch.no_grad"))
    return run();
  Result result = PyValue();
  evaluator.withoutGradients([&] { result = run(); });
  return result;
}

Result Evaluator::callFunction(const PyValue &callee, const CallArgs &args) {
  const FunctionObject &function = callee.asFunction();
  if (function.isJit) {
    if (hooks)
      if (std::optional<Result> result = hooks->callKernel(*this, callee, args))
        return std::move(*result);
    return fail(formatted(
        "`{}` is a kernel function: call it from a kernel, or launch it with `{}[grid](...)`",
        function.name(), function.name()));
  }
  if (auto error = refuseAsync(function))
    return error;
  // What a decorator that nobody knows makes of a function is not known: in host functions, whose
  // hooks say so, it is not called without.
  for (const Decorator &decorator : function.decorators)
    if (!decorator.known && hooks)
      if (auto refused =
              hooks->callSymbol(*this, "host.decorated", {{PyValue::string(decorator.name)}, {}})) {
        std::unique_ptr<EvalError> error = refused->takeError();
        error->diagnostic.file = &function.module->source();
        error->diagnostic.range = decorator.range;
        return error;
      }
  // A function of whole tensors, which who runs host functions compiles.
  bool isEager = function.findDecorator("tile.function.eager");
  if (hooks && !isEager && !Eagerly::isOn() && function.findDecorator("tile.function"))
    if (std::optional<Result> result = hooks->callKernel(*this, callee, args))
      return std::move(*result);
  Eagerly eagerly(isEager);
  if (depth >= limits.depth)
    return fail(formatted("calls nest deeper than {}; does this recursion end?", limits.depth),
                "LimitError");
  std::vector<PyValue> bound;
  if (Result ok = bind(function, args, bound); !ok)
    return ok;
  InPlace inPlace(isEager ? llvm::ArrayRef<PyValue>(bound) : llvm::ArrayRef<PyValue>());
  ScopePtr scope = makeScope(*function.module, function.closure);
  if (arena)
    arena->add(scope);
  for (size_t i = 0; i < bound.size(); ++i)
    scope->variables[function.params()[i].name] = std::move(bound[i]);
  ++depth;
  Result result = resultOf(*this, function, scope);
  --depth;
  // As what comes back from kernels.
  if (isEager && result)
    for (const PyValue &value : result->isSequence() ? result->elements() : llvm::ArrayRef(*result))
      if (value.is(PyValue::Kind::Extension))
        value.asExtension()->forgetOrigin();
  return result;
}

//===----------------------------------------------------------------------===//
// Binding arguments
//===----------------------------------------------------------------------===//

static std::unique_ptr<EvalError> unknownKeyword(const FunctionObject &function, StringRef name) {
  std::vector<StringRef> candidates;
  for (const ast::Parameter &param : function.params())
    candidates.push_back(param.name);
  std::string message = formatted("`{}` has no parameter `{}`", function.name(), name);
  if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message);
}

/// Puts positional arguments in place; what is left over goes to `*args`.
static Result bindPositional(const FunctionObject &function, const CallArgs &args,
                             std::vector<std::optional<PyValue>> &slots) {
  using ParamKind = ast::Parameter::Kind;
  const auto &params = function.params();
  size_t next = 0;
  std::vector<PyValue> extra;
  for (const PyValue &value : args.positional) {
    while (next < params.size() && params[next].kind != ParamKind::Normal &&
           params[next].kind != ParamKind::PositionalOnly &&
           params[next].kind != ParamKind::VarArgs)
      ++next;
    if (next == params.size())
      return fail(formatted("`{}` takes {} positional arguments, got {}", function.name(),
                            llvm::count_if(params,
                                           [](auto &p) {
                                             return p.kind == ParamKind::Normal ||
                                                    p.kind == ParamKind::PositionalOnly;
                                           }),
                            args.positional.size()));
    if (params[next].kind == ParamKind::VarArgs)
      extra.push_back(value);
    else
      slots[next++] = value;
  }
  auto rest = llvm::find_if(params, [](auto &param) { return param.kind == ParamKind::VarArgs; });
  if (rest != params.end())
    slots[rest - params.begin()] = PyValue::tuple(std::move(extra));
  return PyValue();
}

static Result bindKeywords(const FunctionObject &function, const CallArgs &args,
                           std::vector<std::optional<PyValue>> &slots) {
  using ParamKind = ast::Parameter::Kind;
  const auto &params = function.params();
  PyValue rest = PyValue::dict({});
  std::optional<size_t> restIndex;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].kind == ParamKind::KwArgs)
      restIndex = i;
  for (auto &[name, value] : args.keywords) {
    auto it = llvm::find_if(params, [&](const ast::Parameter &param) {
      return param.name == name &&
             (param.kind == ParamKind::Normal || param.kind == ParamKind::KeywordOnly);
    });
    if (it == params.end()) {
      if (!restIndex)
        return unknownKeyword(function, name);
      rest.asDict().set(PyValue::string(name), value);
      continue;
    }
    std::optional<PyValue> &slot = slots[it - params.begin()];
    if (slot)
      return fail(formatted("`{}` got its argument `{}` twice", function.name(), name));
    slot = value;
  }
  if (restIndex)
    slots[*restIndex] = rest;
  return PyValue();
}

Result Evaluator::bind(const FunctionObject &function, const CallArgs &args,
                       std::vector<PyValue> &bound) {
  const auto &params = function.params();
  std::vector<std::optional<PyValue>> slots(params.size());
  if (Result ok = bindPositional(function, args, slots); !ok)
    return ok;
  if (Result ok = bindKeywords(function, args, slots); !ok)
    return ok;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!slots[i] && params[i].defaultValue) {
      Result value = defaultValue(function, i);
      if (!value)
        return value;
      slots[i] = value.take();
    }
    if (!slots[i])
      return fail(formatted("`{}` needs its argument `{}`", function.name(), params[i].name));
    bound.push_back(std::move(*slots[i]));
  }
  return PyValue();
}

Result Evaluator::defaultValue(const FunctionObject &function, size_t index) {
  if (index < function.defaults.size() && function.defaults[index])
    return *function.defaults[index];
  const ast::Expr &value = *function.params()[index].defaultValue;
  return evaluate(value, StatementRunner::scopeAbove(function, value.range));
}
