//===- JitFormulas.cpp - a kernel's grid, configurations and heuristics ---===//
#include "frontend/Parser.h"
#include "frontend/eval/Annotations.h"
#include "runtime/Error.h"
#include "runtime/jit/JitFile.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using namespace tile::jit;
using eval::PyValue;
using eval::Result;
using runtime::ErrorCode;
using runtime::makeError;
using Kind = PyValue::Kind;
using dispatch::Parameter;

llvm::Error JitFile::readGrid() {
  llvm::StringRef wanted = llvm::StringRef(settings.grid).trim();
  Result value = PyValue();
  if (wanted.empty()) {
    std::string usual = kernel() + "_grid";
    if (!module->binds(usual))
      return llvm::Error::success();
    value = module->lookup(usual);
  } else if (module->binds(wanted)) {
    value = module->lookup(wanted);
  } else {
    gridText = std::make_unique<frontend::SourceFile>("<grid>", wanted.str());
    frontend::DiagnosticEngine diagnostics;
    gridExpr = frontend::parseExpression(*gridText, diagnostics);
    if (!gridExpr || diagnostics.hasErrors())
      return jit::toError(diagnostics);
    value = program.evaluator().evaluate(*gridExpr, eval::Evaluator::makeScope(*module));
  }
  if (!value) {
    std::unique_ptr<eval::EvalError> error = value.takeError();
    if (gridText) // the evaluator takes every place for one in the module's file
      error->diagnostic.file = gridText.get();
    return toError(std::move(error), formatted("the grid of `{}`", kernel()));
  }
  if (!value->is(Kind::Function) || value->asFunction().isJit)
    return toError(
        eval::fail(formatted("the grid of `{}` has to be a function of the arguments, got {}",
                             kernel(), eval::repr(*value))));
  for (Configuration &configuration : choices.configurations) {
    Formula formula;
    if (auto error = compileFormula(program.evaluator(), value->asFunction(), gridText.get(),
                                    namesFor(configuration), formula))
      return toError(std::move(error), formatted("the grid of `{}`", kernel()));
    if (formula.results < 1 || formula.results > 3)
      return toError(
          eval::fail(formatted("the grid of `{}` has {} dimensions: one to three are possible",
                               kernel(), formula.results)));
    configuration.grid = std::move(formula);
  }
  hasGrid = true;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Configurations and heuristics
//===----------------------------------------------------------------------===//

/// What formulas know by name where a configuration is chosen.
FormulaNames JitFile::namesFor(const Configuration &configuration) const {
  FormulaNames all = names;
  if (choices.isTuned) {
    for (auto &[name, value] : configuration.value.asTuple().elements[0].asDict().items)
      all.constants[eval::str(name)] = value;
    all.constants["num_warps"] = PyValue::integer(configuration.tune.numWarps);
    all.constants["num_stages"] = PyValue::integer(configuration.tune.numStages);
  }
  return all;
}

llvm::Error JitFile::readHeuristics() {
  for (Configuration &configuration : choices.configurations)
    for (const auto &[parameter, rule] : choices.heuristics) {
      Heuristic &heuristic = configuration.heuristics.emplace_back();
      heuristic.parameter = parameter;
      std::string where = formatted("the heuristic `{}` of `{}`", parameter, kernel());
      if (auto error = compileFormula(program.evaluator(), rule.asFunction(), nullptr,
                                      namesFor(configuration), heuristic.formula))
        return toError(std::move(error), where);
      if (heuristic.formula.results != 1)
        return toError(eval::fail(formatted("{} has to compute one value", where)));
    }
  for (const std::string &name : choices.key) {
    std::optional<unsigned> index = find(name);
    if (!index && !isFixed(name))
      if (llvm::Error error = checkNames({name}, "`key` of `@triton.autotune`"))
        return error;
    if (index)
      key.push_back(*index);
  }
  return llvm::Error::success();
}

/// A launch's value, for the author's own functions; None for an address, of which they can
/// ask nothing.
static PyValue pythonValue(const tile_value &value) {
  switch (value.kind) {
  case TILE_VALUE_INT:
    return PyValue::integer(value.as.integer);
  case TILE_VALUE_UINT:
    return PyValue::integerUnsigned(value.as.bits);
  case TILE_VALUE_FLOAT:
    return PyValue::number(value.as.real);
  case TILE_VALUE_BOOL:
    return PyValue::boolean(value.as.bits != 0);
  case TILE_VALUE_TEXT:
    return PyValue::string(value.as.text);
  default:
    return PyValue();
  }
}

llvm::Expected<std::vector<unsigned>> JitFile::prune(const tile_value *values) const {
  std::lock_guard<std::mutex> lock(mutex);
  eval::CallArgs arguments;
  for (size_t i = 0; i < parameters.size(); ++i)
    arguments.keywords.emplace_back(parameters[i].name, pythonValue(values[i]));
  std::vector<unsigned> left;
  if (auto error = pruneConfigurations(program.evaluator(), choices, arguments, left))
    return toError(std::move(error));
  return left;
}

std::string JitFile::keyText(const tile_value *values) const {
  std::string text;
  for (unsigned index : key)
    text += formatted("{}{}={}", text.empty() ? "" : ", ", parameters[index].name,
                      values[index].kind == TILE_VALUE_POINTER
                          ? "pointer"
                          : eval::repr(pythonValue(values[index])));
  for (size_t i = 0; i < parameters.size(); ++i)
    if (values[i].kind == TILE_VALUE_POINTER || values[i].kind == TILE_VALUE_DESCRIPTOR)
      text += formatted("{}{}: *{}", text.empty() ? "" : ", ", parameters[i].name,
                        dispatch::nameOf(values[i].dtype));
  return text;
}

std::string JitFile::identity() const {
  std::lock_guard<std::mutex> lock(mutex);
  eval::readImports(*module);
  return runtime::identityOf(file->text(), program.dependencies());
}
