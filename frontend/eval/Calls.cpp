//===- Calls.cpp - calls, argument binding, functions and classes ---------===//
#include "frontend/eval/BuiltinTables.h"
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
  if (member && member->name == "numel" && callee->is(Kind::Int) && args.positional.empty() &&
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
  Result result = function.lambda ? evaluate(*function.lambda->body, scope)
                                  : StatementRunner(*this).runBody(function.def->body, scope);
  --depth;
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

//===----------------------------------------------------------------------===//
// Making functions and classes
//===----------------------------------------------------------------------===//

/// Defaults of a nested function are fixed when it is made.
static Result captureDefaults(Evaluator &evaluator, FunctionObject &function,
                              const ScopePtr &scope) {
  for (const ast::Parameter &param : function.params()) {
    std::optional<PyValue> &slot = function.defaults.emplace_back();
    if (!param.defaultValue)
      continue;
    Result value = evaluator.evaluate(*param.defaultValue, scope);
    if (!value)
      return value;
    slot = value.take();
  }
  return PyValue();
}

Result Evaluator::makeLambda(const ast::Lambda &lambda, const ScopePtr &scope) {
  auto function = std::make_shared<FunctionObject>();
  function->lambda = &lambda;
  function->module = scope->module;
  if (!scope->isTopLevel) {
    function->closure = scope;
    StatementRunner(*this).keepClosure(scope);
    if (Result ok = captureDefaults(*this, *function, scope); !ok)
      return ok;
  }
  return PyValue::function(std::move(function));
}

/// The text of a dotted name; empty for any other expression.
static std::string dottedName(const ast::Expr &expr) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&expr))
    return name->id;
  auto *attribute = llvm::dyn_cast<ast::Attribute>(&expr);
  std::string base = attribute ? dottedName(*attribute->value) : "";
  return base.empty() ? "" : base + "." + attribute->name;
}

Decorator Evaluator::resolveDecorator(const ast::Expr &expr, const ScopePtr &scope) {
  Decorator decorator;
  decorator.range = expr.range;
  decorator.call = llvm::dyn_cast<ast::Call>(&expr);
  const ast::Expr &callee = decorator.call ? *decorator.call->callee : expr;
  decorator.name = dottedName(callee);
  if (decorator.name.empty())
    return decorator;
  Result value = evaluate(callee, scope);
  // `@partial(triton.jit, noinline=True)`
  if (value && value->isSymbol("functools.partial") && decorator.call &&
      decorator.call->args.size() == 1)
    value = evaluate(*decorator.call->args[0], scope);
  if (value && value->is(Kind::Symbol))
    decorator.name = value->asSymbol();
  else if (decorator.name != "triton.jit") // wherever that `triton` comes from
    return decorator;
  StringRef name = decorator.name;
  decorator.known = name.starts_with("tile.") || name == "triton.jit" ||
                    name == "triton.autotune" || name == "triton.heuristics" ||
                    name == "triton.constexpr_function" || name == "triton.must_use_result" ||
                    name == "triton.aggregate" || name == "tl.must_use_result" ||
                    name == "triton.testing.perf_report" || name == "tl.builtin";
  return decorator;
}

/// `triton.autotune(configs, key)(function)`: what a decorator does, written as
/// a call.
std::optional<Result> Evaluator::decorateByCall(const ast::Call &expr, const ScopePtr &scope) {
  auto *inner = llvm::dyn_cast<ast::Call>(expr.callee.get());
  if (!inner || expr.args.size() != 1 || !expr.keywords.empty())
    return std::nullopt;
  Decorator decorator = resolveDecorator(*inner, scope);
  if (decorator.name != "triton.jit" && decorator.name != "triton.autotune" &&
      decorator.name != "triton.heuristics")
    return std::nullopt;
  Result function = evaluate(*expr.args[0], scope);
  if (!function || !function->is(Kind::Function))
    return function;
  auto decorated = std::make_shared<FunctionObject>(function->asFunction());
  decorated->isJit |= decorator.name == "triton.jit";
  decorated->decorators.insert(decorated->decorators.begin(), decorator);
  return Result(PyValue::function(std::move(decorated)));
}

/// Steps that a definition counts for, by the time it takes.
static constexpr uint64_t kDefinitionSteps = 50;

PyValue Evaluator::makeFunction(const ast::FunctionDef &def, const ScopePtr &scope) {
  steps += kDefinitionSteps;
  auto function = std::make_shared<FunctionObject>();
  function->def = &def;
  function->module = scope->module;
  for (const ast::ExprPtr &expr : def.decorators)
    function->decorators.push_back(resolveDecorator(*expr, scope));
  function->isJit = function->findDecorator("triton.jit") != nullptr;
  function->isConstexprFunction = function->findDecorator("triton.constexpr_function") != nullptr;
  if (!scope->isTopLevel) {
    function->closure = scope;
    StatementRunner(*this).keepClosure(scope);
    // A default that fails is evaluated again, and reported, when it is needed.
    if (!captureDefaults(*this, *function, scope))
      function->defaults.clear();
  }
  return PyValue::function(std::move(function));
}

Result Evaluator::decoratorArguments(const FunctionObject &function, const Decorator &decorator,
                                     CallArgs &args) {
  if (!decorator.call)
    return PyValue();
  return evaluateArguments(*decorator.call, StatementRunner::scopeAbove(function, decorator.range),
                           args);
}

bool tile::eval::isConstexprAnnotation(const ast::Expr *annotation, ModuleEnv *module) {
  if (!annotation)
    return false;
  if (auto *name = llvm::dyn_cast<ast::Name>(annotation)) {
    if (name->id == "constexpr" || !module || !module->binds(name->id))
      return name->id == "constexpr";
    // `from triton.language import constexpr as const`
    Result value = module->lookup(name->id);
    return value && value->isSymbol("tl.constexpr");
  }
  if (auto *attribute = llvm::dyn_cast<ast::Attribute>(annotation))
    return attribute->name == "constexpr";
  if (auto *text = llvm::dyn_cast<ast::Constant>(annotation))
    return text->type == ast::Constant::Type::String && StringRef(text->text).contains("constexpr");
  // `Optional[tl.constexpr]`, `tl.constexpr | None`
  if (auto *subscript = llvm::dyn_cast<ast::Subscript>(annotation))
    return isConstexprAnnotation(subscript->value.get(), module) ||
           isConstexprAnnotation(subscript->index.get(), module);
  if (auto *either = llvm::dyn_cast<ast::Binary>(annotation))
    return isConstexprAnnotation(either->lhs.get(), module) ||
           isConstexprAnnotation(either->rhs.get(), module);
  auto *several = llvm::dyn_cast<ast::Sequence>(annotation);
  return several && llvm::any_of(several->elements, [&](const ast::ExprPtr &part) {
           return isConstexprAnnotation(part.get(), module);
         });
}

/// The fields that the body of a class declares, behind those of its bases.
static Result addFields(Evaluator &evaluator, ClassObject &type, const ScopePtr &scope) {
  for (const std::shared_ptr<const ClassObject> &base : type.bases) {
    llvm::append_range(type.fields, base->fields);
    llvm::append_range(type.defaults, base->defaults);
    llvm::append_range(type.isConstexpr, base->isConstexpr);
  }
  for (const ast::StmtPtr &stmt : type.def->body) {
    auto *field = llvm::dyn_cast<ast::AnnAssign>(stmt.get());
    auto *name = field ? llvm::dyn_cast<ast::Name>(field->target.get()) : nullptr;
    if (!name)
      continue;
    type.fields.push_back(name->id);
    type.isConstexpr.push_back(isConstexprAnnotation(field->annotation.get(), scope->module));
    if (!field->value)
      continue;
    Result value = evaluator.evaluate(*field->value, scope);
    if (!value)
      return value;
    type.defaults.push_back(value.take());
  }
  return PyValue();
}

Result Evaluator::makeClass(const ast::ClassDef &def, const ScopePtr &scope) {
  steps += kDefinitionSteps;
  auto type = std::make_shared<ClassObject>();
  type->name = def.name;
  type->def = &def;
  type->module = scope->module;
  for (const ast::ExprPtr &expr : def.decorators)
    type->decorators.push_back(resolveDecorator(*expr, scope));
  for (const ast::ExprPtr &base : def.bases) {
    std::string name = dottedName(*base);
    type->isNamedTuple |= name == "NamedTuple" || StringRef(name).ends_with(".NamedTuple");
    StringRef last = StringRef(name).rsplit('.').second;
    last = last.empty() ? StringRef(name) : last;
    type->isNumberEnum |= last == "IntEnum" || last == "IntFlag" || last == "StrEnum";
    type->isEnum |= last == "Enum" || last == "Flag" || type->isNumberEnum;
    if (Result known = evaluate(*base, scope); known && known->is(Kind::Class))
      type->bases.push_back(known->asClass());
  }
  type->isAggregate = llvm::any_of(type->decorators,
                                   [](const Decorator &d) { return d.name == "triton.aggregate"; });
  if (type->isNamedTuple || type->isAggregate)
    if (Result ok = addFields(*this, *type, scope); !ok)
      return ok;
  return PyValue::classType(std::move(type));
}

Result eval::makeAggregate(Evaluator &evaluator, const ClassObject &plain) {
  auto type = std::make_shared<ClassObject>(plain);
  if (!plain.isAggregate && !plain.isNamedTuple && plain.def) {
    ScopePtr scope = Evaluator::makeScope(*plain.module);
    scope->isTopLevel = true;
    if (Result ok = addFields(evaluator, *type, scope); !ok)
      return ok;
  }
  type->isAggregate = true;
  return PyValue::classType(std::move(type));
}

Result Evaluator::construct(const std::shared_ptr<const ClassObject> &type, const CallArgs &args) {
  if (!type->isNamedTuple && !type->isAggregate)
    return unsupported(
        formatted("only named tuples and aggregates can be made, and `{}` is another kind of class",
                  type->name));
  std::vector<StringRef> fields(type->fields.begin(), type->fields.end());
  ArgReader r(type->name, args, fields, fields.size() - type->defaults.size());
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  size_t firstDefault = fields.size() - type->defaults.size();
  for (size_t i = 0; i < fields.size(); ++i)
    elements.push_back(r.has(i) ? r[i] : type->defaults[i - firstDefault]);
  return PyValue::namedTuple(type, std::move(elements));
}
