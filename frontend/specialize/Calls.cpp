//===- Calls.cpp - builtins, functions expanded in place ------------------===//
#include "frontend/eval/CheckDefinition.h"
#include "frontend/eval/OtherNames.h"
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/Specializer.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

static bool holdsPoison(const eval::CallArgs &args) {
  return llvm::any_of(args.positional,
                      [](const PyValue &v) { return specialize::holdsPoison(v); }) ||
         llvm::any_of(args.keywords, [](auto &k) { return specialize::holdsPoison(k.second); });
}
static bool holdsTensor(const eval::CallArgs &args) {
  return llvm::any_of(args.positional,
                      [](const PyValue &v) { return specialize::holdsTensor(v); }) ||
         llvm::any_of(args.keywords, [](auto &k) { return specialize::holdsTensor(k.second); });
}

bool Specializer::evaluateArguments(const ast::Call &call, eval::CallArgs &args) {
  bool valid = true;
  args.positional.reserve(call.args.size());
  for (const ast::ExprPtr &arg : call.args) {
    auto *starred = llvm::dyn_cast<ast::Starred>(arg.get());
    PyValue value = evaluate(starred ? *starred->value : *arg);
    valid &= !specialize::holdsPoison(value);
    if (!starred) {
      args.positional.push_back(std::move(value));
      args.positionalRanges.push_back(arg->range);
      continue;
    }
    std::vector<PyValue> elements;
    if (isPoison(value) || isPoison(take(eval::iterate(value, elements))))
      return false;
    args.positional.insert(args.positional.end(), elements.begin(), elements.end());
    args.positionalRanges.resize(args.positional.size(), arg->range);
  }
  for (const ast::Keyword &keyword : call.keywords) {
    PyValue value = evaluate(*keyword.value);
    valid &= !specialize::holdsPoison(value);
    if (!keyword.name.empty()) {
      args.keywords.emplace_back(keyword.name, std::move(value));
      args.keywordRanges.push_back({keyword.nameRange.begin, keyword.value->range.end});
      continue;
    }
    if (isPoison(value))
      return false;
    if (!value.is(PyValue::Kind::Dict)) {
      error(formatted("`**` needs a dict, got {}", describe(value)));
      return false;
    }
    for (auto &[key, item] : value.asDict().items)
      args.keywords.emplace_back(eval::str(key), item);
    args.keywordRanges.resize(args.keywords.size(), keyword.value->range);
  }
  return valid;
}

PyValue Specializer::evaluateCall(const ast::Call &call) {
  PyValue callee, self;
  bool isMethod = false;
  const auto *member = llvm::dyn_cast<ast::Attribute>(call.callee.get());
  if (member) {
    self = evaluate(*member->value);
    // An argument that was folded to a number (`i32:1`) still has the methods
    // of a tensor.
    isMethod = tensorIn(self) || (self.isNumber() && BuiltinTable::get().findMember(member->name));
    if (!isMethod)
      callee = attribute(self, member->name, member->nameRange);
  } else {
    callee = evaluate(*call.callee);
  }
  eval::CallArgs args;
  if (!evaluateArguments(call, args) || isPoison(callee))
    return PoisonValue::get();
  if (isMethod)
    return callMethod(self, member->name, std::move(args), member->value->range);
  return this->call(callee, args);
}

PyValue Specializer::callMethod(const PyValue &self, StringRef name, eval::CallArgs args,
                                SourceRange selfRange) {
  const BuiltinTable &table = BuiltinTable::get();
  const Builtin *builtin = table.findMember(name);
  if (!builtin) {
    StringRef near = frontend::nearestName(name, table.memberNames());
    StringRef known = eval::inKernels(name);
    return fail(formatted("a tensor has no method `{}`{}", name,
                          !known.empty() ? formatted("; {}", known)
                          : near.empty() ? ""
                                         : formatted("; did you mean `{}`?", near)));
  }
  args.prepend(self, selfRange);
  return callBuiltin(*this, *builtin, args, /*isMember=*/true);
}

PyValue Specializer::call(const PyValue &callee, llvm::ArrayRef<PyValue> args) {
  eval::CallArgs bound;
  bound.positional.assign(args.begin(), args.end());
  return call(callee, bound);
}

/// A method of a descriptor or a block pointer.
static PyValue callOwnMethod(Specializer &s, const eval::MethodObject &method,
                             const eval::CallArgs &args) {
  eval::CallArgs bound = args;
  bound.prepend(method.self);
  const Builtin *builtin = isBlockPointer(method.self) ? BuiltinTable::get().find("tl.advance")
                                                       : findTensorDescriptorMethod(method.name);
  return callBuiltin(s, *builtin, bound);
}

/// A function of the language or of Python that the front end knows by name.
static PyValue callKnown(Specializer &s, const PyValue &callee, const eval::CallArgs &args) {
  const std::string &name = callee.asSymbol();
  const Builtin *builtin = BuiltinTable::get().find(name);
  // print() in a kernel runs on the device, whatever it prints.
  bool isOurs = builtin && (holdsTensor(args) || name == "print");
  if (eval::isEvaluableBuiltin(name) && !isOurs)
    return s.take(s.program.evaluator().call(callee, args));
  if (builtin)
    return callBuiltin(s, *builtin, args);
  if (name == "tl.aggregate_replace")
    return s.replaceFields(args);
  if (StringRef function = name; function.consume_front("libdevice."))
    return s.fail(formatted("libdevice has no function `{}`", function));
  if (name == "tl.range" || name == "tl.static_range")
    return s.fail(formatted("`{}` counts in a `for` statement only: elsewhere write `range` of "
                            "numbers that are known when the kernel is compiled",
                            name));
  s.unsupported(formatted("`{}` is not supported in kernels yet", name));
  return PoisonValue::get();
}

PyValue Specializer::call(const PyValue &callee, const eval::CallArgs &args) {
  if (isPoison(callee) || holdsPoison(args))
    return PoisonValue::get();
  eval::Evaluator &evaluator = program.evaluator();
  switch (callee.kind()) {
  case PyValue::Kind::Symbol:
    return callKnown(*this, callee, args);
  case PyValue::Kind::Function: {
    const eval::FunctionObject &function = callee.asFunction();
    if (function.isJit)
      return expand(function, args);
    if (function.isConstexprFunction || function.lambda || !holdsTensor(args))
      return take(evaluator.call(callee, args));
    return fail(formatted(
        "`{}` is plain Python and cannot take run-time values: decorate it with `@triton.jit`",
        function.name()));
  }
  case PyValue::Kind::Class:
    if (callee.asClass()->isNamedTuple)
      return take(evaluator.call(callee, args));
    if (callee.asClass()->isAggregate)
      return makeObject(callee.asClass(), args);
    unsupported(formatted("objects of class `{}` are not supported in kernels: decorate it with "
                          "`@triton.aggregate`, or use a named tuple",
                          callee.asClass()->name));
    return PoisonValue::get();
  case PyValue::Kind::Method:
    if (tensorIn(callee.asMethod().self))
      return callMethod(callee.asMethod().self, callee.asMethod().name, args);
    if (const PyValue &self = callee.asMethod().self;
        isTensorDescriptor(self) || isBlockPointer(self))
      return callOwnMethod(*this, callee.asMethod(), args);
    if (std::optional<PyValue> result =
            callObjectMethod(callee.asMethod().self, callee.asMethod().name, args))
      return *result;
    return take(evaluator.call(callee, args));
  case PyValue::Kind::Tuple:
    if (std::optional<PyValue> result = callObjectMethod(callee, "__call__", args))
      return *result;
    return fail(formatted("{} cannot be called", describe(callee)));
  case PyValue::Kind::DType: { // tl.float32(x)
    if (args.positional.size() != 1 || !args.keywords.empty())
      return fail(formatted("`tl.{}(x)` converts one value", callee.asDType().name()));
    return call(PyValue::symbol("tl.cast"), {args.positional[0], callee});
  }
  default:
    return fail(formatted("{} cannot be called", describe(callee)));
  }
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

PyValue Specializer::expand(const eval::FunctionObject &function, const eval::CallArgs &args,
                            PyValue *constructed) {
  constexpr unsigned maxDepth = 128, maxExpansions = 50000;
  if (expansions >= maxExpansions)
    return PoisonValue::get(); // reported
  if (++expansions == maxExpansions)
    return fail(formatted("more than {} calls are expanded: `{}` is called over and over",
                          maxExpansions, function.name()));
  if (frame->depth >= maxDepth) {
    expansions = maxExpansions; // two calls a level would take forever to end
    return fail(formatted("calls are nested more than {} deep: `{}` seems to call itself without "
                          "an end that is known at compile time",
                          maxDepth, function.name()));
  }
  if (auto error = eval::checkDefinition(program.evaluator(), function))
    return take(std::move(error));
  std::vector<PyValue> bound;
  if (isPoison(take(program.evaluator().bind(function, args, bound))))
    return PoisonValue::get();
  Frame callee;
  callee.function = &function;
  callee.module = function.module;
  callee.caller = frame;
  callee.depth = frame->depth + 1;
  callee.place.file = &function.module->source();
  callee.place.range = function.range();
  callee.place.caller = place;
  callee.place.function = function.name();
  callee.place.fileName = builder.getStringAttr(callee.place.file->name());
  for (auto [parameter, value] : llvm::zip(function.params(), bound)) {
    value = ofHost(value);
    if (isConstexprAnnotation(parameter.annotation.get(), function.module) &&
        specialize::holdsTensor(value)) {
      // One that is only known at run time is what it is: the annotation of a
      // helper function is a wish.
      if (const Tensor *t = tensorIn(value))
        value = constantValue(*t).value_or(value);
    }
    callee.vars[parameter.name] = Variable{value};
  }
  if (constructed && !function.params().empty())
    callee.constructed = function.params().front().name;
  frame = &callee;
  place = &callee.place;
  run(function.def->body);
  const PyValue *value = find(kReturnValue);
  PyValue result = value ? *value : PyValue::none();
  if (!result.isNone() && hasLeft(callee.vars) != Leave::Return &&
      !specialize::holdsPoison(result) && !isPoison(leftFlag()) && fallsThrough(function.def->body))
    result = fail(formatted("`{}` may reach its end without the value that it returns elsewhere, "
                            "which Python makes None there: return a value on every path",
                            function.name()));
  if (constructed) {
    const PyValue *object = find(callee.constructed);
    *constructed = object ? *object : PoisonValue::get();
  }
  frame = callee.caller;
  place = const_cast<Place *>(callee.place.caller);
  return result;
}

//===----------------------------------------------------------------------===//
// Calls that the evaluator leaves open
//===----------------------------------------------------------------------===//

std::optional<Result> Specializer::callSymbol(eval::Evaluator &, StringRef name,
                                              const eval::CallArgs &args) {
  const Builtin *builtin = BuiltinTable::get().find(name);
  // Defaults and annotations are read before there is a kernel to put code into.
  if (!builtin || !place)
    return std::nullopt;
  return Result(callBuiltin(*this, *builtin, args));
}

std::optional<Result> Specializer::callKernel(eval::Evaluator &, const PyValue &kernel,
                                              const eval::CallArgs &args) {
  if (!place)
    return std::nullopt;
  return Result(expand(kernel.asFunction(), args));
}

void Specializer::print(StringRef text) {
  if (options.print)
    options.print(text);
}

} // namespace tile::specialize
