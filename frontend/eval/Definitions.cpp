//===- Definitions.cpp - making functions and classes ---------------------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/CheckDefinition.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

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

std::string eval::dottedName(const ast::Expr &expr) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&expr))
    return name->id;
  auto *attribute = llvm::dyn_cast<ast::Attribute>(&expr);
  std::string base = attribute ? dottedName(*attribute->value) : "";
  return base.empty() ? "" : base + "." + attribute->name;
}

bool eval::isWithoutGradients(StringRef context) {
  StringRef name = context.rsplit('.').second;
  if (name.empty())
    name = context;
  return name == "no_grad" || name == "inference_mode";
}

Decorator Evaluator::resolveDecorator(const ast::Expr &expr, const ScopePtr &scope) {
  Decorator decorator;
  decorator.range = expr.range;
  decorator.call = llvm::dyn_cast<ast::Call>(&expr);
  const ast::Expr &callee = decorator.call ? *decorator.call->callee : expr;
  decorator.name = dottedName(callee);
  if (isWithoutGradients(decorator.name)) { // as everything is here
    decorator.known = true;
    decorator.name = "torch.no_grad";
  }
  if (decorator.name.empty() || decorator.known)
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
  if (auto error = checkDecorator(*this, function, decorator))
    return error;
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
