//===- Attributes.cpp - attributes of values ----------------------------===//
#include "frontend/eval/Characters.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

namespace tile::eval {

static std::optional<Result> functionAttribute(const PyValue &value, StringRef name) {
  const FunctionObject &function = value.asFunction();
  // What tuning chose: whoever launches knows it.
  if (name == "best_config" && function.findDecorator("triton.autotune")) {
    Evaluator &evaluator = function.module->owner().evaluator();
    if (evaluator.hooks)
      return evaluator.hooks->callSymbol(evaluator, "triton.jit.best_config",
                                         CallArgs{{value}, {}});
  }
  if (name == "__name__" || name == "__qualname__")
    return PyValue::string(function.name());
  if (name == "arg_names") {
    std::vector<PyValue> names;
    for (const ast::Parameter &param : function.params())
      names.push_back(PyValue::string(param.name));
    return PyValue::list(std::move(names));
  }
  return std::nullopt;
}

/// What the body of a class binds to a name: a constant, a function, or the
/// member of an enumeration. Evaluated when asked for; what else the body does
/// is host code.
static std::optional<Result> classAttribute(const ClassObject &type, StringRef name) {
  if (!type.def || !type.module)
    return std::nullopt;
  Evaluator &evaluator = type.module->owner().evaluator();
  std::shared_ptr<Scope> scope =
      Evaluator::makeScope(*type.module, StatementRunner::scopeAt(*type.module, type.def->range));
  scope->isTopLevel = true;
  int64_t number = 0; // what auto() gives
  std::optional<Result> found;
  for (const ast::StmtPtr &stmt : type.def->body) {
    if (auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt.get()); def && def->name == name) {
      found = evaluator.makeFunction(*def, scope);
      continue;
    }
    const ast::Expr *target = nullptr, *value = nullptr;
    if (auto *assign = llvm::dyn_cast<ast::Assign>(stmt.get()))
      target = assign->targets.size() == 1 ? assign->targets[0].get() : nullptr,
      value = assign->value.get();
    else if (auto *annotated = llvm::dyn_cast<ast::AnnAssign>(stmt.get()))
      target = annotated->target.get(), value = annotated->value.get();
    auto *bound = llvm::dyn_cast_or_null<ast::Name>(target);
    if (!bound || !value)
      continue;
    auto *call = llvm::dyn_cast<ast::Call>(value);
    bool isAuto = type.isEnum && call && call->args.empty();
    Result known = isAuto ? Result(PyValue::integer(++number)) : evaluator.evaluate(*value, scope);
    if (known && known->toInt64())
      number = *known->toInt64();
    if (known)
      scope->variables[bound->id] = *known;
    if (bound->id == name)
      found = std::move(known);
  }
  for (const std::shared_ptr<const ClassObject> &base : type.bases)
    if (!found)
      found = classAttribute(*base, name);
  if (!found || !*found || !type.isEnum || type.isNumberEnum || (*found)->is(Kind::Function))
    return found;
  auto member = std::make_shared<ClassObject>();
  member->name = type.name;
  member->isNamedTuple = true;
  member->fields = {"value", "name"};
  return Result(PyValue::namedTuple(member, {**found, PyValue::string(name.str())}));
}

/// What the outermost of autotune and heuristics is around. The plain function
/// behind a jit function is the same value as the jit function.
static PyValue unwrapped(const PyValue &value) {
  auto wraps = [](const Decorator &decorator) {
    return decorator.name == "triton.autotune" || decorator.name == "triton.heuristics";
  };
  const std::vector<Decorator> &decorators = value.asFunction().decorators;
  auto outermost = llvm::find_if(decorators, wraps);
  if (outermost == decorators.end())
    return value;
  auto inner = std::make_shared<FunctionObject>(value.asFunction());
  inner->decorators.assign(std::next(outermost), decorators.end());
  return PyValue::function(std::move(inner));
}

static std::optional<Result> plainAttribute(const PyValue &value, StringRef name) {
  switch (value.kind()) {
  case Kind::DType:
    return dtypeAttribute(value, name);
  case Kind::Function:
    if (name == "fn")
      return unwrapped(value);
    if (name == "eager" && value.asFunction().findDecorator("tile.function")) {
      auto eager = std::make_shared<FunctionObject>(value.asFunction());
      eager->decorators.push_back({"tile.function.eager", true, nullptr, {}});
      return PyValue::function(std::move(eager));
    }
    if (name == "warmup" && value.asFunction().isJit)
      return PyValue::method(value, name.str());
    return functionAttribute(value, name);
  case Kind::Class:
    if (name == "__name__")
      return PyValue::string(value.asClass()->name);
    if (name == "_fields" && value.asClass()->isNamedTuple) {
      std::vector<PyValue> fields;
      for (const std::string &field : value.asClass()->fields)
        fields.push_back(PyValue::string(field));
      return PyValue::tuple(std::move(fields));
    }
    return classAttribute(*value.asClass(), name);
  case Kind::Tuple:
    if (const ClassObject *type = value.asTuple().type.get()) {
      for (size_t i = 0; i < type->fields.size(); ++i)
        if (type->fields[i] == name)
          return value.asTuple().elements[i];
      if (name == "_fields")
        return plainAttribute(PyValue::classType(value.asTuple().type), name);
    }
    return std::nullopt;
  case Kind::Slice:
    if (name == "start")
      return value.asSlice().lower;
    if (name == "stop")
      return value.asSlice().upper;
    if (name == "step")
      return value.asSlice().step;
    return std::nullopt;
  case Kind::Float:
  case Kind::Int:
  case Kind::Bool:
    if (name == "real")
      return value;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Whether a function is a benchmark of Triton's, which has a `run` there.
static bool isReport(const PyValue &value) {
  return value.is(Kind::Function) &&
         llvm::any_of(value.asFunction().decorators, [](const Decorator &decorator) {
           return decorator.name == "triton.testing.perf_report";
         });
}

Result attribute(const PyValue &value, StringRef name) {
  if (value.is(Kind::Extension))
    return value.asExtension()->attribute(name);
  if (value.is(Kind::Module)) {
    const ModuleRef &module = value.asModule();
    if (module.env)
      return module.env->member(name);
    if (module.importer)
      return module.importer->importMember(module.name, name);
    return moduleMember(module.name, name);
  }
  if (value.is(Kind::Symbol))
    return symbolAttribute(value.asSymbol(), name);
  if (value.is(Kind::Tuple) && value.asTuple().type && value.asTuple().type->attribute)
    if (std::optional<PyValue> result = value.asTuple().type->attribute(value, name))
      return std::move(*result);
  if (std::optional<Result> result = plainAttribute(value, name))
    return std::move(*result);
  if (hasMethod(value, name))
    return PyValue::method(value, name.str());
  // Code written for Triton unwraps constexprs; here they are never wrapped.
  if (name == "value" && (value.isScalarConstant() || value.is(Kind::DType) ||
                          value.is(Kind::Tuple) || value.is(Kind::Function)))
    return value;
  if (name == "type" &&
      (value.isScalarConstant() || value.is(Kind::DType) || value.is(Kind::Function)))
    return constexprType(value);
  std::string message =
      formatted("a value of type `{}` has no attribute `{}`", typeName(value), name);
  std::vector<StringRef> candidates = methodNames(value);
  if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  else if (name == "run" && isReport(value))
    message += ": `tilec bench` runs the file's benchmarks, and writes what they measure";
  return fail(message, "AttributeError");
}

} // namespace tile::eval
