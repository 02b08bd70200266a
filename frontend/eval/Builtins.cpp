//===- Builtins.cpp - functions on types and attributes; finding builtins -===//
//
// The other functions are grouped in files of their own, each with a table.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/BuiltinTables.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static bool hasType(const PyValue &value, StringRef type) {
  if (type == "object" || typeName(value) == type)
    return true;
  if (type == "int")
    return value.is(Kind::Bool);
  if (type == "tl.constexpr_type")
    return typeName(value) == kConstexprType;
  if (type == "tuple" || type == "tl.tuple")
    return value.is(Kind::Tuple) && typeName(value) != kConstexprType;
  if (type == "tl.dtype" || type == "tl.core.dtype")
    return value.is(Kind::DType);
  if (type == "tl.pointer_type")
    return value.is(Kind::DType) && value.asDType().isPointer();
  if (type == "tl.block_type")
    return value.is(Kind::DType) && value.asDType().isBlock();
  // Constants are never wrapped here; code that asks means "known at compile time".
  if (type == "tl.constexpr")
    return !value.is(Kind::Extension);
  if (type == "tl.tensor")
    return value.is(Kind::Extension) && typeName(value) == "tensor";
  if (type == "tl.tensor_descriptor" || type == "tl.tensor_descriptor_base")
    return value.is(Kind::Tuple) && typeName(value) == "tensor_descriptor";
  return false;
}

static Result isInstance(Evaluator &, const CallArgs &args) {
  ArgReader r("isinstance", args, {"object", "type"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> types = {r[1]};
  if (r[1].is(Kind::Tuple))
    types = r[1].asTuple().elements;
  for (const PyValue &type : types) {
    bool matches = false;
    if (type.is(Kind::Symbol))
      matches = hasType(r[0], type.asSymbol());
    else if (type.is(Kind::Class))
      matches = r[0].is(Kind::Tuple) && r[0].asTuple().type &&
                r[0].asTuple().type->name == type.asClass()->name;
    else
      return fail(formatted("`isinstance` needs a type on the right, got `{}`", typeName(type)));
    if (matches)
      return PyValue::boolean(true);
  }
  return PyValue::boolean(false);
}

static Result typeOf(Evaluator &, const CallArgs &args) {
  ArgReader r("type", args, {"object"}, 1);
  if (!r)
    return r.error();
  if (r[0].is(Kind::Tuple) && r[0].asTuple().type)
    return PyValue::classType(r[0].asTuple().type);
  if (r[0].is(Kind::DType))
    return PyValue::symbol("tl.dtype");
  return PyValue::symbol(typeName(r[0]));
}

static Result getAttr(Evaluator &, const CallArgs &args) {
  ArgReader r("getattr", args, {"object", "name", "default"}, 2);
  if (!r)
    return r.error();
  if (!r[1].isStr())
    return fail("`getattr` needs the name as a string");
  Result found = attribute(r[0], r[1].asStr());
  return found || !r.has(2) ? std::move(found) : Result(r[2]);
}

static Result hasAttr(Evaluator &, const CallArgs &args) {
  ArgReader r("hasattr", args, {"object", "name"}, 2);
  if (!r)
    return r.error();
  if (!r[1].isStr())
    return fail("`hasattr` needs the name as a string");
  return PyValue::boolean(bool(attribute(r[0], r[1].asStr())));
}

static Result callableBuiltin(Evaluator &, const CallArgs &args) {
  ArgReader r("callable", args, {"object"}, 1);
  if (!r)
    return r.error();
  return PyValue::boolean(r[0].is(Kind::Function) || r[0].is(Kind::Symbol) ||
                          r[0].is(Kind::Class) || r[0].is(Kind::Method));
}

static Result print(Evaluator &evaluator, const CallArgs &args) {
  const PyValue *separator = args.keyword("sep"), *end = args.keyword("end");
  std::string text;
  for (size_t i = 0; i < args.positional.size(); ++i)
    text += (i ? (separator ? str(*separator) : " ") : "") + str(args.positional[i]);
  text += end ? str(*end) : "\n";
  if (evaluator.hooks)
    evaluator.hooks->print(text);
  return PyValue();
}

static const BuiltinEntry typeBuiltins[] = {
    {"isinstance", isInstance},    {"type", typeOf}, {"getattr", getAttr}, {"hasattr", hasAttr},
    {"callable", callableBuiltin}, {"print", print},
};

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

static std::array<llvm::ArrayRef<BuiltinEntry>, 5> allTables() {
  return {typeBuiltins, numberBuiltins(), sequenceBuiltins(), tritonBuiltins(), hostBuiltins()};
}

static const BuiltinEntry *findEntry(StringRef name) {
  for (llvm::ArrayRef<BuiltinEntry> table : allTables())
    for (const BuiltinEntry &entry : table)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

// Name and the exception it is a kind of.
static constexpr std::pair<StringRef, StringRef> exceptions[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"ArithmeticError", "Exception"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"AssertionError", "Exception"},
    {"AttributeError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"MemoryError", "Exception"},
    {"NameError", "Exception"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"},
};

namespace tile::eval {

bool isExceptionType(StringRef name) {
  return llvm::any_of(exceptions, [&](auto &entry) { return entry.first == name; });
}

bool exceptionMatches(StringRef raised, StringRef caught) {
  while (!raised.empty()) {
    if (raised == caught)
      return true;
    auto it = llvm::find_if(exceptions, [&](auto &entry) { return entry.first == raised; });
    raised = it == std::end(exceptions) ? "" : it->second;
  }
  return false;
}

std::optional<Result> callBuiltin(Evaluator &evaluator, StringRef name, const CallArgs &args) {
  if (const BuiltinEntry *entry = findEntry(name))
    return entry->fn(evaluator, args);
  StringRef function = name;
  if (function.consume_front("math.")) {
    // Of sizes, which are numbers when a function runs.
    bool isLater = llvm::any_of(args.positional,
                                [](const PyValue &value) { return value.is(Kind::Extension); });
    if (isLater && evaluator.hooks)
      if (std::optional<Result> result = evaluator.hooks->callSymbol(evaluator, name, args))
        return result;
    return callMath(function, args);
  }
  if (isExceptionType(name)) {
    auto type = std::make_shared<ClassObject>();
    type->name = name.str();
    type->isNamedTuple = true;
    type->fields = {"args"};
    return PyValue::namedTuple(type, {PyValue::tuple(args.positional)});
  }
  return std::nullopt;
}

bool isEvaluableBuiltin(StringRef name) {
  if (findEntry(name))
    return true;
  return name.consume_front("math.") ? llvm::is_contained(mathNames(), name)
                                     : isExceptionType(name);
}

std::optional<PyValue> findBuiltin(StringRef name) {
  bool isVisible = !name.contains('.') && findEntry(name);
  if (isVisible || isExceptionType(name) || name == "object")
    return PyValue::symbol(name.str());
  return std::nullopt;
}

std::vector<StringRef> builtinNames() {
  std::vector<StringRef> names;
  for (llvm::ArrayRef<BuiltinEntry> table : allTables())
    for (const BuiltinEntry &entry : table)
      if (!entry.name.contains('.'))
        names.push_back(entry.name);
  return names;
}

} // namespace tile::eval
