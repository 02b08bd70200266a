//===- Access.cpp - indexing, attributes, lengths and iteration -----------===//
#include "frontend/eval/Characters.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile::eval;
using llvm::StringRef;
using tile::formatted;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

namespace tile::eval {

std::unique_ptr<EvalError> resolveSlice(const SliceObject &slice, int64_t size, SliceBounds &out) {
  auto read = [](const PyValue &value, int64_t fallback, int64_t &bound) {
    std::optional<int64_t> i = value.isNone() ? fallback : value.toInt64();
    bound = i.value_or(0);
    return i.has_value();
  };
  if (!read(slice.step, 1, out.step))
    return fail(formatted("a slice step must be an integer, got `{}`", typeName(slice.step)));
  if (out.step == 0)
    return fail("a slice step cannot be zero", "ValueError");
  bool down = out.step < 0;
  int64_t lower, upper;
  if (!read(slice.lower, down ? size - 1 : 0, lower) ||
      !read(slice.upper, down ? -size - 1 : size, upper))
    return fail("slice bounds must be integers or None");
  auto clamp = [&](int64_t i) {
    if (i < 0)
      i = std::max(i + size, down ? int64_t(-1) : int64_t(0));
    return std::min(i, down ? size - 1 : size);
  };
  out.start = clamp(lower);
  out.count = RangeObject{out.start, clamp(upper), out.step}.size();
  return nullptr;
}

} // namespace tile::eval

static Result indexOf(const PyValue &index, int64_t size, const std::string &what, int64_t &out) {
  std::optional<int64_t> i = index.toInt64();
  if (!i)
    return fail(formatted("an index into a {} must be an integer or a slice, got `{}`", what,
                          typeName(index)));
  out = *i < 0 ? *i + size : *i;
  if (out < 0 || out >= size)
    return fail(formatted("index {} is out of range for a {} of length {}", *i, what, size),
                "IndexError");
  return PyValue();
}

static Result subscriptElements(const PyValue &value, const PyValue &index) {
  llvm::ArrayRef<PyValue> elements = value.elements();
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), elements.size(), bounds))
      return error;
    if (!Work::spend(bounds.count))
      return Work::error();
    std::vector<PyValue> out;
    for (int64_t i = 0; i < bounds.count; ++i)
      out.push_back(elements[bounds.start + i * bounds.step]);
    return value.is(Kind::Tuple) ? PyValue::tuple(std::move(out)) : PyValue::list(std::move(out));
  }
  int64_t i;
  if (Result ok = indexOf(index, elements.size(), typeName(value), i); !ok)
    return ok;
  return elements[i];
}

static Result subscriptString(const std::string &text, const PyValue &index) {
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), countCharacters(text), bounds))
      return error;
    if (!Work::spendBytes(text.size()))
      return Work::error();
    std::vector<StringRef> each = characters(text);
    std::string out;
    for (int64_t i = 0; i < bounds.count; ++i)
      out += each[bounds.start + i * bounds.step];
    return PyValue::string(out);
  }
  int64_t i;
  if (Result ok = indexOf(index, countCharacters(text), "string", i); !ok)
    return ok;
  if (!Work::spendBytes(text.size()))
    return Work::error();
  return PyValue::string(
      (isAscii(text) ? StringRef(text).substr(i, 1) : characters(text)[i]).str());
}

static Result subscriptRange(const RangeObject &range, const PyValue &index) {
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), range.size(), bounds))
      return error;
    // Of what is left, all elements are in the range; its end and step need not be.
    using Wide = __int128;
    Wide start = range.start + Wide(bounds.start) * range.step;
    Wide step = Wide(range.step) * bounds.step, stop = start + bounds.count * step;
    auto clamp = [](Wide x) { return int64_t(std::clamp<Wide>(x, INT64_MIN, INT64_MAX)); };
    return PyValue::range({clamp(start), clamp(stop), clamp(step)});
  }
  int64_t i;
  if (Result ok = indexOf(index, range.size(), "range", i); !ok)
    return ok;
  return PyValue::integer(range.at(i));
}

namespace tile::eval {

Result subscript(const PyValue &value, const PyValue &index, Evaluator *evaluator) {
  switch (value.kind()) {
  case Kind::Tuple:
  case Kind::List:
    return subscriptElements(value, index);
  case Kind::Str:
    return subscriptString(value.asStr(), index);
  case Kind::Range:
    return subscriptRange(value.asRange(), index);
  case Kind::Dict:
    if (PyValue *found = value.asDict().find(index))
      return *found;
    return fail(formatted("the dict has no key {}", repr(index)), "KeyError");
  case Kind::Extension:
    return value.asExtension()->subscript(evaluator, index);
  case Kind::Function:
    if (evaluator && evaluator->hooks)
      if (std::optional<Result> result =
              evaluator->hooks->subscriptKernel(*evaluator, value, index)) {
        if (!value.asFunction().isJit)
          return fail(formatted(
              "`{}` is not a kernel: only functions with `@triton.jit` are launched with `[grid]`",
              value.asFunction().name()));
        return std::move(*result);
      }
    return fail(formatted("`{}[...]` launches a kernel, and there is nothing to launch it on here",
                          value.asFunction().name()));
  default:
    return fail(formatted("a value of type `{}` cannot be indexed", typeName(value)));
  }
}

Result assignSubscript(const PyValue &container, const PyValue &index, const PyValue &value) {
  switch (container.kind()) {
  case Kind::List: {
    std::vector<PyValue> &elements = container.asList().elements;
    if (index.is(Kind::Slice))
      return unsupported("assigning to a slice of a list is not supported");
    int64_t i;
    if (Result ok = indexOf(index, elements.size(), "list", i); !ok)
      return ok;
    elements[i] = value;
    return PyValue();
  }
  case Kind::Dict:
    container.asDict().set(index, value);
    return PyValue();
  case Kind::Extension:
    return container.asExtension()->assignSubscript(index, value);
  default:
    return fail(formatted("elements of a `{}` cannot be assigned", typeName(container)));
  }
}

/// Of what host functions make, only descriptors change: hooks of configurations
/// set the blocks of those that they are given.
Result assignAttribute(const PyValue &object, StringRef name, const PyValue &value) {
  if (typeName(object) != "TensorDescriptor")
    return unsupported(formatted("attributes of a `{}` cannot be assigned", typeName(object)));
  TupleObject &descriptor = object.asTuple();
  auto field = llvm::find(descriptor.type->fields, name);
  if (field == descriptor.type->fields.end())
    return fail(formatted("a `TensorDescriptor` has no attribute `{}`", name), "AttributeError");
  std::vector<PyValue> fields = descriptor.elements;
  fields[field - descriptor.type->fields.begin()] = value;
  Result changed = makeTensorDescriptor(CallArgs{std::move(fields), {}});
  if (!changed)
    return changed;
  descriptor.elements = changed->asTuple().elements;
  return PyValue();
}

//===----------------------------------------------------------------------===//
// Lengths and iteration
//===----------------------------------------------------------------------===//

Result length(const PyValue &value) {
  switch (value.kind()) {
  case Kind::Str:
    return PyValue::integer(countCharacters(value.asStr()));
  case Kind::Tuple:
  case Kind::List:
    return PyValue::integer(value.elements().size());
  case Kind::Dict:
    return PyValue::integer(value.asDict().items.size());
  case Kind::Set:
    return PyValue::integer(value.asSet().elements.size());
  case Kind::Range:
    return PyValue::integer(value.asRange().size());
  case Kind::Extension:
    return value.asExtension()->length();
  default:
    return fail(formatted("a value of type `{}` has no length", typeName(value)));
  }
}

/// The number of elements of what can be iterated.
static uint64_t lengthOf(const PyValue &value) {
  Result size = value.is(Kind::Extension) ? Result(PyValue()) : length(value);
  return size && size->toInt64() ? uint64_t(*size->toInt64()) : 0;
}

Result iterate(const PyValue &value, std::vector<PyValue> &elements) {
  elements.clear();
  if (!value.is(Kind::Range) && !Work::spend(lengthOf(value)))
    return Work::error();
  switch (value.kind()) {
  case Kind::Str:
    for (StringRef character : characters(value.asStr()))
      elements.push_back(PyValue::string(character.str()));
    return PyValue();
  case Kind::Tuple:
  case Kind::List:
    elements = value.elements().vec();
    return PyValue();
  case Kind::Dict:
    for (auto &[key, item] : value.asDict().items)
      elements.push_back(key);
    return PyValue();
  case Kind::Set:
    elements = value.asSet().elements;
    return PyValue();
  case Kind::Range: {
    const RangeObject &range = value.asRange();
    int64_t size = range.size();
    if (size > int64_t(maxElements))
      return fail(formatted("this range has {} elements; at most {} are visited at compile time",
                            size, maxElements),
                  "MemoryError");
    if (!Work::spend(size))
      return Work::error();
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(PyValue::integer(range.at(i)));
    return PyValue();
  }
  case Kind::Extension:
    return value.asExtension()->iterate(elements);
  default:
    return fail(formatted("a value of type `{}` cannot be iterated", typeName(value)));
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

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
