//===- ExplainFunctions.cpp - tilec explain, of functions of whole tensors ===//
#include "tools/tilec/ExplainFunctions.h"
#include "compiler/functions/DrawFunction.h"
#include "frontend/Parser.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"

using namespace tilec;
using namespace tile;
using eval::EvalError;

namespace {
/// One file and what its errors are reported to.
class Explainer {
public:
  Explainer(const frontend::SourceFile &source, const FunctionsToExplain &what,
            llvm::raw_ostream &os, llvm::json::Array *json, std::vector<std::string> *parts)
      : source(source), what(what), os(os), json(json), parts(parts), program(what.includePaths) {}
  int run();
  std::set<std::string> sizes();

private:
  std::vector<std::shared_ptr<eval::FunctionObject>> functions(const ast::Module &module);
  std::unique_ptr<EvalError> explain(const std::shared_ptr<eval::FunctionObject> &function);
  std::unique_ptr<EvalError> typesOf(const eval::FunctionObject &function,
                                     const tensors::Signature &signature,
                                     std::vector<tensors::Argument> &arguments);

  const frontend::SourceFile &source;
  const FunctionsToExplain &what;
  llvm::raw_ostream &os;
  llvm::json::Array *json;
  std::vector<std::string> *parts;
  eval::Program program;
  bool first = true;
};
} // namespace

/// What a call that says nothing of types and constants would have.
std::unique_ptr<EvalError> Explainer::typesOf(const eval::FunctionObject &function,
                                              const tensors::Signature &signature,
                                              std::vector<tensors::Argument> &arguments) {
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    tensors::Argument &argument = arguments.emplace_back();
    if (parameter.kind == tensors::Parameter::Kind::Tensor)
      argument.element = parameter.element.value_or(*eval::DType::parse(what.dtype));
    if (parameter.kind != tensors::Parameter::Kind::Constant)
      continue;
    if (!function.params()[i].defaultValue)
      return eval::fail(
          function.def->params[i].annotation
              ? formatted("`{}` of `{}` is a constant without a default: what the function "
                          "compiles to depends on it",
                          parameter.name, function.name())
              : formatted("`{}` of `{}` has no annotation, so it is a constant, and no default: a "
                          "tensor says its shape, as in `{}: tensor[\"M, N\"]`",
                          parameter.name, function.name(), parameter.name));
    eval::Result value = program.evaluator().defaultValue(function, i);
    if (!value)
      return value.takeError();
    argument.constant = value.take();
  }
  return nullptr;
}

std::unique_ptr<EvalError>
Explainer::explain(const std::shared_ptr<eval::FunctionObject> &function) {
  tensors::Signature signature;
  if (auto error = tensors::readSignature(program.evaluator(), *function, signature))
    return error;
  std::vector<tensors::Argument> arguments;
  if (auto error = typesOf(*function, signature, arguments))
    return error;
  std::unique_ptr<EvalError> error;
  std::unique_ptr<TensorProgram> compiled = TensorProgram::create(
      program.evaluator(), eval::PyValue::function(function), signature, arguments, error);
  if (!compiled)
    return error;
  graph::Bindings values;
  for (auto &[name, value] : what.values)
    values[name] = value;
  const Target &target = targetNamed(what.target);
  TensorProgram &chosen = compiled->forSizes(values, target);
  FunctionExplanation explanation{function->name(), chosen, signature, values};
  chosen.chooseParts(explanation.values, target);
  if (parts)
    parts->push_back(drawFunction(explanation));
  if (json) {
    json->push_back(explanation.toJson());
    return nullptr;
  }
  os << (first ? "" : "\n");
  first = false;
  if (what.show == "graph")
    os << compiled->tracedText();
  else if (what.show == "groups")
    os << chosen.groupedText();
  else
    explanation.print(os);
  return nullptr;
}

std::vector<std::shared_ptr<eval::FunctionObject>> Explainer::functions(const ast::Module &module) {
  auto all = program.add(source, module).functions();
  llvm::erase_if(all, [&](const std::shared_ptr<eval::FunctionObject> &function) {
    return !function->findDecorator("tile.function") ||
           (!what.only.empty() && function->name() != what.only);
  });
  return all;
}

std::set<std::string> Explainer::sizes() {
  std::set<std::string> names;
  frontend::DiagnosticEngine ignored;
  ast::Module module = frontend::parse(source, ignored);
  if (ignored.hasErrors())
    return names;
  for (const std::shared_ptr<eval::FunctionObject> &function : functions(module)) {
    tensors::Signature signature;
    if (!tensors::readSignature(program.evaluator(), *function, signature))
      for (const tensors::Parameter &parameter : signature.parameters)
        for (const graph::Size &size : parameter.sizes)
          size.collectNames(names);
  }
  return names;
}

int Explainer::run() {
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(source, diagnostics);
  int count = 0;
  if (!diagnostics.hasErrors()) {
    for (const std::shared_ptr<eval::FunctionObject> &function : functions(module)) {
      ++count;
      program.evaluator().resetSteps();
      if (std::unique_ptr<EvalError> error = explain(function)) {
        if (!error->diagnostic.file) {
          error->diagnostic.file = &source;
          error->diagnostic.range = function->range();
        }
        eval::report(*error, diagnostics);
      }
    }
  }
  diagnostics.print(llvm::errs(), colorMessages());
  return diagnostics.hasErrors() ? -1 : count;
}

std::set<std::string> tilec::sizesOf(const frontend::SourceFile &source,
                                     const FunctionsToExplain &what) {
  return Explainer(source, what, llvm::nulls(), nullptr, nullptr).sizes();
}

int tilec::explainFunctions(const frontend::SourceFile &source, const FunctionsToExplain &what,
                            llvm::raw_ostream &os, llvm::json::Array *json,
                            std::vector<std::string> *parts) {
  return Explainer(source, what, os, json, parts).run();
}
