//===- LaunchDecorators.cpp - what decorators of a kernel ask for ---------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Launcher.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using Kind = PyValue::Kind;

/// Kernels are compiled by name, and a name means what it is bound to last.
static std::unique_ptr<EvalError> checkName(const eval::FunctionObject &kernel) {
  Result named = kernel.module->lookup(kernel.name());
  if (!named || !named->is(Kind::Function) || !named->asFunction().isJit ||
      kernel.module->isBound(kernel))
    return nullptr;
  auto line = [](const eval::FunctionObject &f) {
    return std::to_string(f.module->source().locate(f.range().begin).line);
  };
  return fail(formatted("the kernel `{}` of line {} cannot be launched: its name means the one of "
                        "line {}; give it a name of its own",
                        kernel.name(), line(kernel), line(named->asFunction())),
              "NameError");
}

Result Launcher::launch(Evaluator &evaluator, const eval::FunctionObject &kernel,
                        const PyValue &grid, const CallArgs &args) {
  return launch(evaluator, Request{kernel, grid, {}, {}, {}, {}}, args);
}

Result Launcher::warmup(Evaluator &evaluator, const CallArgs &args) {
  if (args.positional.empty() || !args.positional[0].is(Kind::Function))
    return fail("`warmup` is a method of kernels");
  PyValue kernel = args.positional[0];
  Request request{kernel.asFunction(), PyValue::integer(1), {}, {}, {}, {}};
  request.isWarmup = true;
  CallArgs rest = args;
  rest.positional.erase(rest.positional.begin());
  if (const PyValue *grid = rest.keyword("grid"))
    request.grid = *grid;
  llvm::erase_if(rest.keywords, [](auto &keyword) { return keyword.first == "grid"; });
  return launch(evaluator, std::move(request), rest);
}

Result Launcher::launch(Evaluator &evaluator, Request request, const CallArgs &args) {
  const eval::FunctionObject &kernel = request.kernel;
  if (auto error = checkName(kernel))
    return error;
  if (const eval::Decorator *jit = kernel.findDecorator("triton.jit"))
    if (auto error = readJitArguments(evaluator, *jit, request))
      return error;
  if (auto error = splitOptions(args, request))
    return error;
  return runDecorators(evaluator, std::move(request), 0);
}

Result Launcher::runDecorators(Evaluator &evaluator, Request request, size_t next) {
  const auto &decorators = request.kernel.decorators;
  for (; next < decorators.size(); ++next) {
    if (decorators[next].name == "triton.autotune")
      return autotune(evaluator, std::move(request), next);
    if (decorators[next].name == "triton.heuristics")
      if (auto error = applyHeuristics(evaluator, request, decorators[next]))
        return error;
  }
  return run(evaluator, request);
}

std::unique_ptr<EvalError> Launcher::applyHeuristics(Evaluator &evaluator, Request &request,
                                                     const eval::Decorator &decorator) {
  CallArgs rules;
  if (Result ok = evaluator.decoratorArguments(request.kernel, decorator, rules); !ok)
    return ok.takeError();
  eval::ArgReader given("triton.heuristics", rules, {"values"}, 1);
  if (!given)
    return given.error();
  if (!given[0].is(Kind::Dict))
    return fail("`triton.heuristics` needs a dict of functions");
  for (auto &[name, rule] : given[0].asDict().items) {
    Result known = namedValues(evaluator, request);
    if (!known)
      return known.takeError();
    Result value = evaluator.call(rule, CallArgs{{*known}, {}});
    if (!value)
      return value.takeError();
    CallArgs computed{{}, {{eval::str(name), value.take()}}};
    llvm::erase_if(request.args.keywords,
                   [&](auto &entry) { return entry.first == eval::str(name); });
    Request extra{request.kernel, {}, {}, request.options, {}, {}};
    if (auto error = splitOptions(computed, extra))
      return error;
    request.options = extra.options;
    llvm::append_range(request.args.keywords, extra.args.keywords);
  }
  return nullptr;
}
