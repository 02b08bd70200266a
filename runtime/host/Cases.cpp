//===- Cases.cpp - for which arguments host functions run -----------------===//
//
// The decorators of tests, benches and examples: sweeps, lists of cases, and Triton's benchmarks.
//
//===----------------------------------------------------------------------===//
#include "frontend/Counted.h"
#include "frontend/eval/Methods.h"
#include "runtime/host/Suite.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

StringRef host::decoratorName(Purpose purpose) {
  switch (purpose) {
  case Purpose::Test:
    return "tile.test";
  case Purpose::Bench:
    return "tile.bench";
  case Purpose::Example:
    return "tile.example";
  }
  return "";
}

bool host::isOf(const eval::Decorator &decorator, Purpose purpose) {
  return decorator.name == decoratorName(purpose) ||
         (purpose == Purpose::Bench && decorator.name == "triton.testing.perf_report");
}

bool host::hasParameter(const eval::FunctionObject &function, StringRef name) {
  return llvm::any_of(function.params(), [&](auto &param) { return param.name == name; });
}

std::string host::describeUnknownParameter(const eval::FunctionObject &function, StringRef name) {
  std::vector<StringRef> names;
  for (auto &param : function.params())
    names.push_back(param.name);
  std::string text = formatted("`{}` has no parameter `{}`", function.name(), name);
  if (StringRef near = frontend::nearestName(name, names); !near.empty())
    return formatted("{}; did you mean `{}`?", text, near);
  return names.empty() ? text : formatted("{}; it has `{}`", text, llvm::join(names, "`, `"));
}

/// One element of `cases=`: a dict by name, a tuple by position, or one value.
static std::unique_ptr<EvalError> readCase(const eval::FunctionObject &function,
                                           const PyValue &value, Case &out) {
  const auto &params = function.params();
  if (value.is(Kind::Dict)) {
    for (auto &[name, item] : value.asDict().items) {
      if (!name.isStr() || !hasParameter(function, name.asStr()))
        return fail(formatted("`{}` has no parameter {}", function.name(), eval::repr(name)));
      out.parameters.emplace_back(name.asStr(), item);
    }
    return nullptr;
  }
  std::vector<PyValue> values = {value};
  if (value.is(Kind::Tuple))
    values = value.asTuple().elements;
  if (values.size() > params.size())
    return fail(formatted("a case has {}, but `{}` has {}", counted(values.size(), "value"),
                          function.name(), counted(params.size(), "parameter")));
  for (size_t i = 0; i < values.size(); ++i)
    out.parameters.emplace_back(params[i].name, values[i]);
  return nullptr;
}

/// Multiplies the cases by the values of one parameter.
static std::unique_ptr<EvalError> multiply(std::vector<Case> &cases, const std::string &name,
                                           const PyValue &values) {
  std::vector<PyValue> elements;
  if (values.isStr() || !eval::iterate(values, elements))
    return fail(formatted("`{}` needs a list of values, got {}", name, eval::repr(values)));
  constexpr size_t maxCases = 100000;
  if (!cases.empty() && elements.size() > maxCases / cases.size())
    return fail(formatted("this sweep has more than {} cases", maxCases));
  std::vector<Case> product;
  for (const Case &c : cases)
    for (const PyValue &element : elements) {
      product.push_back(c);
      llvm::erase_if(product.back().parameters, [&](auto &p) { return p.first == name; });
      product.back().parameters.emplace_back(name, element);
    }
  cases = std::move(product);
  return nullptr;
}

/// Keeps the cases for which `where` holds. It is given the parameters it names.
static std::unique_ptr<EvalError> filter(Evaluator &evaluator, const PyValue &where,
                                         std::vector<Case> &cases) {
  if (!where.is(Kind::Function))
    return fail("`where` needs a function of the parameters");
  std::vector<Case> kept;
  for (Case &c : cases) {
    CallArgs args;
    for (auto &[name, value] : c.parameters)
      if (hasParameter(where.asFunction(), name))
        args.keywords.emplace_back(name, value);
    Result yes = evaluator.call(where, args);
    if (yes)
      yes = eval::truth(*yes);
    if (!yes)
      return yes.takeError();
    if (yes->asBool())
      kept.push_back(std::move(c));
  }
  cases = std::move(kept);
  return nullptr;
}

/// Replaces a sweep by the values given for its parameters.
static void applyOverrides(std::vector<Case> &cases, const Parameters &overrides) {
  for (Case &c : cases)
    for (auto &[name, value] : overrides) {
      llvm::erase_if(c.parameters, [&](auto &p) { return p.first == name; });
      c.parameters.emplace_back(name, value);
    }
}

/// Cases that differed only in parameters that were replaced are one.
static void dropRepeated(std::vector<Case> &cases) {
  std::vector<Case> out;
  for (Case &c : cases)
    if (llvm::none_of(out, [&](const Case &other) {
          return other.str() == c.str() && other.device == c.device;
        }))
      out.push_back(std::move(c));
  cases = std::move(out);
}

std::unique_ptr<EvalError> Suite::sweep(const eval::FunctionObject &function,
                                        const eval::Decorator &decorator,
                                        const Parameters &overrides, std::vector<Case> &out) {
  CallArgs args;
  if (Result ok = evaluator.decoratorArguments(function, decorator, args); !ok)
    return ok.takeError();
  if (!args.positional.empty())
    return fail(formatted("`@{}` takes keywords only: `n=[1, 2]`, `cases=[...]`", decorator.name));
  std::vector<Case> cases;
  if (const PyValue *given = args.keyword("cases")) {
    std::vector<PyValue> elements;
    if (Result ok = eval::iterate(*given, elements); !ok)
      return ok.takeError();
    for (const PyValue &element : elements)
      if (auto error = readCase(function, element, cases.emplace_back()))
        return error;
  } else {
    cases.emplace_back();
  }
  std::string device;
  for (auto &[name, value] : args.keywords) {
    if (name == "cases" || name == "where")
      continue;
    if (name == "device") {
      for (const PyValue &one : value.isSequence() ? value.elements() : llvm::ArrayRef(value))
        device += (device.empty() ? "" : " ") + eval::str(one);
      continue;
    }
    if (!hasParameter(function, name))
      return fail(describeUnknownParameter(function, name));
    if (auto error = multiply(cases, name, value))
      return error;
  }
  applyOverrides(cases, overrides);
  if (const PyValue *where = args.keyword("where"))
    if (auto error = filter(evaluator, *where, cases))
      return error;
  for (Case &c : cases)
    c.device = device;
  std::move(cases.begin(), cases.end(), std::back_inserter(out));
  return nullptr;
}

/// The cases of `@triton.testing.perf_report(Benchmark(...))`, or of a list of them.
std::unique_ptr<EvalError> Suite::plan(const eval::FunctionObject &function,
                                       const eval::Decorator &decorator,
                                       const Parameters &overrides, std::vector<Case> &out) {
  CallArgs args;
  if (Result ok = evaluator.decoratorArguments(function, decorator, args); !ok)
    return ok.takeError();
  eval::ArgReader r("triton.testing.perf_report", args, {"benchmarks"}, 1);
  if (!r)
    return r.error();
  for (const PyValue &one : r[0].is(Kind::List) ? r[0].elements() : ArrayRef<PyValue>(r[0])) {
    BenchmarkPlan plan;
    if (auto error = readBenchmark(one, plan))
      return error;
    std::vector<Case> cases;
    for (auto &point : plan.points)
      cases.push_back({std::move(point), "", plan.lines});
    applyOverrides(cases, overrides);
    std::move(cases.begin(), cases.end(), std::back_inserter(out));
  }
  return nullptr;
}

ArrayRef<StringRef> host::hostDecorators() {
  static constexpr StringRef known[] = {"tile.test", "tile.bench", "tile.example", "tile.function",
                                        "triton.testing.perf_report"};
  return known;
}

/// Decorators that nobody here knows change what a function does, so it is not run without them.
std::unique_ptr<EvalError> Suite::checkDecorators(const eval::FunctionObject &function) {
  std::vector<StringRef> known = hostDecorators().vec();
  for (const eval::Decorator &decorator : function.decorators) {
    bool isOurs = StringRef(decorator.name).starts_with("tile.");
    if (llvm::is_contained(known, decorator.name) || (decorator.known && !isOurs))
      continue;
    std::string message =
        formatted("the decorator `{}` is not known to host functions", decorator.name);
    if (StringRef near = frontend::nearestName(decorator.name, known); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    else
      message += ": they have `tile.test`, `tile.bench`, `tile.example`, "
                 "`tile.function` and `triton.testing.perf_report`";
    return Result(fail(message, "NameError")).at(file.source(), decorator.range).takeError();
  }
  return nullptr;
}

std::unique_ptr<EvalError> Suite::cases(const eval::FunctionObject &function, Purpose purpose,
                                        const Parameters &overrides, std::vector<Case> &out) {
  if (auto error = checkDecorators(function))
    return error;
  for (const eval::Decorator &decorator : function.decorators)
    if (isOf(decorator, purpose))
      if (auto error = decorator.name == "triton.testing.perf_report"
                           ? plan(function, decorator, overrides, out)
                           : sweep(function, decorator, overrides, out))
        return Result(std::move(error)).at(file.source(), decorator.range).takeError();
  if (!overrides.empty())
    dropRepeated(out);
  return nullptr;
}
